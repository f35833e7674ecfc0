//! The `replay` provider: recorded replies, for the demo, tests and CI.

use super::error::ModelError;
use super::exchange::{Drift, Prompt, Reply};
use super::model::{Asker, Model};
use super::record::{self, Outcome, Recording};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Replay {
    dir: PathBuf,
}

impl Replay {
    /// Replays the recordings under `dir`.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }
}

impl Model for Replay {
    fn complete(&self, prompt: &Prompt, asker: &Asker) -> Result<Reply, ModelError> {
        if asker.interrupt.is_set() {
            return Err(ModelError::Interrupted);
        }
        let path = record::path(&self.dir, prompt);
        let recording = read(&path)?;
        let now = prompt.sha256();
        match recording.outcome {
            Outcome::Error { message } => Err(ModelError::Recorded { path, message }),
            Outcome::Reply { text, stop, usage, model, latency_ms } => Ok(Reply {
                text,
                usage,
                stop,
                model,
                latency: Duration::from_millis(latency_ms),
                retries: 0,
                drift: (recording.prompt_sha256 != now)
                    .then_some(Drift { recorded: recording.prompt_sha256, now }),
            }),
        }
    }

    fn name(&self) -> String {
        format!("replay/{}", self.dir.display())
    }
}

fn read(path: &Path) -> Result<Recording, ModelError> {
    let wrong = |message: String| ModelError::Recording { message };
    let text = match fs_err::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ModelError::NoRecording { path: path.to_owned() });
        }
        Err(error) => return Err(wrong(error.to_string())),
    };
    let recording: Recording = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("the recording {} is damaged: {error}", path.display())))?;
    if recording.version != record::VERSION {
        return Err(wrong(format!(
            "the recording {} has version {}, this tool reads version {}",
            path.display(),
            recording.version,
            record::VERSION
        )));
    }
    Ok(recording)
}

#[cfg(test)]
mod tests {
    use super::super::exchange::{StopReason, sample_prompt};
    use super::super::record::Recorder;
    use super::super::secret::Redactor;
    use super::super::usage::{Tokens, Usage};
    use super::*;
    use crate::platform::process::Interrupt;
    use crate::symbol::SymbolName;
    use secrecy::SecretString;

    /// Answers with what it was made with.
    struct Fixed(Result<Reply, ModelError>);

    impl Model for Fixed {
        fn complete(&self, _: &Prompt, _: &Asker) -> Result<Reply, ModelError> {
            self.0.clone()
        }

        fn name(&self) -> String {
            "fixed".into()
        }
    }

    fn reply(text: &str, stop: StopReason) -> Reply {
        Reply {
            text: text.into(),
            usage: Usage { input: Tokens(3), output: Tokens(4), ..Usage::default() },
            stop,
            model: "m".into(),
            latency: Duration::from_millis(12),
            retries: 0,
            drift: None,
        }
    }

    fn record(dir: &Path, prompt: &Prompt, result: Result<Reply, ModelError>) {
        let redactor = Redactor::new([SecretString::from("sk-canary")]);
        let recorder = Recorder::new(Box::new(Fixed(result.clone())), dir.to_owned(), redactor);
        assert_eq!(recorder.complete(prompt, &Asker::silent(&Interrupt::none())), result);
    }

    fn replay(dir: &Path, prompt: &Prompt) -> Result<Reply, ModelError> {
        Replay::new(dir.to_owned()).complete(prompt, &Asker::silent(&Interrupt::none()))
    }

    #[test]
    fn what_is_recorded_is_replayed() {
        let dir = tempfile::tempdir().unwrap();
        let prompt = sample_prompt();
        for stop in
            [StopReason::End, StopReason::MaxTokens, StopReason::Refusal, StopReason::Other("x".into())]
        {
            let said = reply("text\r\n\u{1f980}", stop);
            record(dir.path(), &prompt, Ok(said.clone()));
            assert_eq!(replay(dir.path(), &prompt), Ok(said));
        }
        assert!(dir.path().join("adler32/01-prototyper.json").is_file());
    }

    #[test]
    fn each_part_of_the_key_counts() {
        let dir = tempfile::tempdir().unwrap();
        let first = sample_prompt();
        record(dir.path(), &first, Ok(reply("one", StopReason::End)));
        let others = [
            Prompt { attempt: 2, ..first.clone() },
            Prompt { role: "enhancer".into(), ..first.clone() },
            Prompt { symbol: SymbolName::new("crc32"), ..first.clone() },
            Prompt { enlarged: true, ..first.clone() },
        ];
        for other in others {
            let error = replay(dir.path(), &other).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(&record::path(dir.path(), &other).display().to_string()), "{text}");
            assert!(error.advice().unwrap().contains("--record"));
        }
    }

    #[test]
    fn drift_is_told_and_never_fatal() {
        let dir = tempfile::tempdir().unwrap();
        let prompt = sample_prompt();
        record(dir.path(), &prompt, Ok(reply("one", StopReason::End)));
        let mut changed = prompt.clone();
        changed.messages[0].text.push('!');
        let drift = replay(dir.path(), &changed).unwrap().drift.unwrap();
        assert_eq!((drift.recorded, drift.now), (prompt.sha256(), changed.sha256()));
    }

    #[test]
    fn failures_are_recorded_and_replayed_as_failures() {
        let dir = tempfile::tempdir().unwrap();
        let prompt = sample_prompt();
        let failed = ModelError::Unreachable { source_name: "s".into(), detail: "gone".into() };
        record(dir.path(), &prompt, Err(failed));
        assert!(replay(dir.path(), &prompt).unwrap_err().to_string().contains("s: gone"));
        let dir = tempfile::tempdir().unwrap();
        record(dir.path(), &prompt, Err(ModelError::Interrupted));
        assert!(matches!(replay(dir.path(), &prompt), Err(ModelError::NoRecording { .. })));
    }

    #[test]
    fn damaged_and_newer_recordings_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let prompt = sample_prompt();
        record(dir.path(), &prompt, Ok(reply("one", StopReason::End)));
        let path = record::path(dir.path(), &prompt);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"version\": 1", "\"version\": 9")).unwrap();
        assert!(replay(dir.path(), &prompt).unwrap_err().to_string().contains("version 9"));
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        assert!(replay(dir.path(), &prompt).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn no_name_leads_out_of_the_directory_and_no_key_into_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut prompt = sample_prompt();
        prompt.symbol = SymbolName::new("../../etc/x");
        prompt.role = "a/b".into();
        prompt.messages[0].text = "my key is sk-canary".into();
        assert_eq!(record::path(Path::new("d"), &prompt), Path::new("d/______etc_x/01-a_b.json"));
        record(dir.path(), &prompt, Ok(reply("sk-canary", StopReason::End)));
        let text = std::fs::read_to_string(record::path(dir.path(), &prompt)).unwrap();
        assert!(!text.contains("canary") && text.contains("[redacted]"), "{text}");
    }
}
