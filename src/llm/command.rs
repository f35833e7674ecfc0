//! The `command` provider: runs a user's program once a call, with the prompt on standard input and the answer on
//! standard output. The protocol is in `docs/formats.md`.

use super::error::{ModelError, excerpt};
use super::exchange::{Prompt, Reply, StopReason};
use super::model::{Asker, Model};
use super::retry::{self, Decision, Failure, Policy};
use super::secret::Redactor;
use super::usage::{Tokens, Usage};
use crate::config::ModelSettings;
use crate::error::ErrorKind;
use crate::platform::process::{Exit, Interrupt, Job, Output};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const PROTOCOL: u32 = 1;

#[derive(Debug)]
pub(super) struct Command {
    program: String,
    args: Vec<String>,
    dir: PathBuf,
    timeout: Duration,
    pub(super) policy: Policy,
    redactor: Redactor,
}

impl Command {
    /// Runs `command` (program, then arguments) in `dir`; `keys` never get into a text that is shown or stored.
    /// `None` when the command is empty.
    pub fn new(
        settings: &ModelSettings,
        dir: &Path,
        keys: impl IntoIterator<Item = SecretString>,
    ) -> Option<Self> {
        let (program, args) = settings.command.split_first()?;
        Some(Self {
            program: program.clone(),
            args: args.to_vec(),
            dir: dir.to_owned(),
            timeout: settings.timeout,
            policy: Policy::new(settings.retries),
            redactor: Redactor::new(keys),
        })
    }

    /// The program without its folder, which is this machine's and is nobody else's business.
    fn short(&self) -> &str {
        Path::new(&self.program).file_name().and_then(|name| name.to_str()).unwrap_or(&self.program)
    }

    fn run(&self, input: &str, interrupt: &Interrupt) -> Result<Output, ModelError> {
        let job = Job::new(&self.program).args(&self.args).dir(&self.dir).stdin(input).timeout(self.timeout);
        job.run(interrupt).map_err(|error| match error.kind() {
            ErrorKind::Interrupted => ModelError::Interrupted,
            _ => self.unreachable(error.to_string()),
        })
    }

    fn unreachable(&self, detail: String) -> ModelError {
        ModelError::Unreachable { source_name: self.name(), detail: self.redactor.clean(detail) }
    }

    /// What the program wrote, and how often it was started again before.
    fn answer(&self, input: &str, asker: &Asker) -> Result<(String, u32), ModelError> {
        for attempt in 0.. {
            let output = self.run(input, asker.interrupt)?;
            let ended = match output.exit {
                Exit::Code(0) => return Ok((self.redactor.clean(output.stdout_text()), attempt)),
                Exit::TimedOut => {
                    return Err(ModelError::TimedOut { source_name: self.name(), after: self.timeout });
                }
                Exit::Code(code) => format!("exit code {code}"),
                Exit::Signal(signal) => format!("ended by signal {signal}"),
            };
            let stderr = excerpt(&self.redactor.clean(output.stderr_text()));
            let error =
                self.unreachable(if stderr.is_empty() { ended } else { format!("{ended}: {stderr}") });
            // What a shell says of a program that cannot be found or started will not change.
            let hopeless = matches!(output.exit, Exit::Code(126 | 127));
            match retry::decide(self.policy, Failure::Transport, None, attempt, retry::jitter()) {
                Decision::Retry { after } if !hopeless => retry::wait(after, &error, asker)?,
                _ => return Err(error),
            }
        }
        unreachable!("the policy ends the loop")
    }
}

impl Model for Command {
    fn complete(&self, prompt: &Prompt, asker: &Asker) -> Result<Reply, ModelError> {
        let started = Instant::now();
        let (stdout, retries) = self.answer(&request(prompt).to_string(), asker)?;
        if stdout.trim().is_empty() {
            let why = "ended without an answer on standard output".into();
            return Err(ModelError::Garbled { source_name: self.name(), why, excerpt: String::new() });
        }
        // Whatever is not the JSON of the protocol is the answer itself.
        let (text, counts) = match serde_json::from_str::<Answer>(&stdout) {
            Ok(answer) => (answer.text, answer.usage),
            Err(_) => (stdout, None),
        };
        let usage = counts.map(|Counts { input_tokens, output_tokens }| Usage {
            input: Tokens(input_tokens),
            output: Tokens(output_tokens),
            ..Usage::default()
        });
        let usage = usage.unwrap_or_else(|| Usage::estimate(prompt.estimate(), &text));
        let (stop, model, latency) = (StopReason::End, self.short().to_owned(), started.elapsed());
        Ok(Reply { text, usage, stop, model, latency, retries, drift: None })
    }

    fn name(&self) -> String {
        format!("command/{}", self.short())
    }
}

fn request(prompt: &Prompt) -> Value {
    json!({
        "protocol": PROTOCOL,
        "role": prompt.role,
        "symbol": prompt.symbol,
        "attempt": prompt.attempt,
        "system": prompt.system_text(),
        "messages": prompt.messages,
        "max_tokens": prompt.max_tokens,
    })
}

#[derive(Deserialize)]
struct Answer {
    text: String,
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Counts {
    input_tokens: u64,
    output_tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::super::exchange::sample_prompt;
    use super::*;

    fn ask(script: &str, timeout: Duration) -> (Result<Reply, ModelError>, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let settings = ModelSettings {
            command: vec!["sh".into(), "-c".into(), script.into()],
            timeout,
            retries: 2,
            ..ModelSettings::default()
        };
        let mut model = Command::new(&settings, dir.path(), [SecretString::from("sk-canary")]).unwrap();
        model.policy.base = Duration::from_millis(1);
        (model.complete(&sample_prompt(), &Asker::silent(&Interrupt::none())), dir)
    }

    #[test]
    fn the_folder_of_a_program_is_not_told() {
        let settings =
            ModelSettings { command: vec!["/somewhere/of/mine/ask.sh".into()], ..ModelSettings::default() };
        let model = Command::new(&settings, Path::new("."), []).unwrap();
        assert_eq!(model.name(), "command/ask.sh");
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn the_prompt_arrives_and_plain_text_comes_back() {
        let (reply, dir) = ask("cat > in.json; echo hello", LONG);
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.estimated), ("hello\n", true));
        let text = std::fs::read_to_string(dir.path().join("in.json")).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let wanted = json!({"protocol": 1, "role": "prototyper", "symbol": "adler32", "attempt": 1,
            "system": "rules\n\ntypes\n\nsymbol", "messages": [{"role": "user", "content": "port it"}],
            "max_tokens": 1000});
        assert_eq!(value, wanted);
    }

    #[test]
    fn json_with_usage_is_understood() {
        let (reply, _dir) =
            ask(r#"echo '{"text": "x", "usage": {"input_tokens": 1, "output_tokens": 2}}'"#, LONG);
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.total()), ("x", Tokens(3)));
        assert!(!reply.usage.estimated);
    }

    #[test]
    fn a_failing_program_is_tried_again_and_shown_without_keys() {
        let (reply, dir) = ask("echo x >> tries; echo no sk-canary >&2; exit 3", LONG);
        let text = reply.unwrap_err().to_string();
        assert_eq!(text, "command/sh: exit code 3: no [redacted]");
        assert_eq!(std::fs::read_to_string(dir.path().join("tries")).unwrap(), "x\nx\nx\n");
        let (reply, _dir) = ask("test -e once && echo ok || { touch once; exit 1; }", LONG);
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.retries), ("ok\n", 1));
    }

    #[test]
    fn silence_time_and_missing_programs_are_told() {
        let (reply, _dir) = ask("true", LONG);
        assert!(reply.unwrap_err().to_string().contains("without an answer"));
        let (reply, _dir) = ask("sleep 30", Duration::from_millis(100));
        assert!(matches!(reply.unwrap_err(), ModelError::TimedOut { .. }));
        let (reply, _dir) = ask("no-such-program-here", LONG);
        assert!(reply.unwrap_err().to_string().contains("127"));
    }
}
