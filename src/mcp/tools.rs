//! The tools: their names, which are those of commands, what they take, and what they answer.

use super::child::{Answer, Call, Commands};
use super::progress::{Progress, words};
use crate::error::{Error, ErrorKind};
use crate::platform::process::Interrupt;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, Implementation, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// What a client's agent is told about the tools.
const INSTRUCTIONS: &str = include_str!("instructions.md");

/// How often a client hears that a command still runs.
const BEAT: Duration = Duration::from_secs(5);

/// The tools of one session.
pub struct Server {
    commands: Commands,
    interrupt: Interrupt,
    tools: ToolRouter<Self>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Chosen {
    /// Functions or patterns, such as kit_crc32, parse_* or file.c; all functions if this is left out
    #[serde(default)]
    symbols: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    /// The function, by a name that `list` shows
    symbol: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Judged {
    /// The ports to judge: functions or patterns, such as kit_crc32, parse_* or file.c
    #[schemars(length(min = 1))]
    symbols: Vec<String>,
    /// How long each port is fuzzed, in seconds; fuzz.accept_seconds of implfuzz.toml if this is left out
    seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Explained {
    /// The code, such as E0102; a list of all codes if this is left out
    code: Option<String>,
}

#[tool_router]
impl Server {
    /// The tools, which run these commands until the interrupt is set.
    pub fn new(commands: Commands, interrupt: Interrupt) -> Self {
        Self { commands, interrupt, tools: Self::tool_router() }
    }

    /// The functions of the C library in porting order: where each is, what it calls, whether it is ported, and whether the
    /// tool can judge it.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn list(&self, chosen: Parameters<Chosen>, context: RequestContext<RoleServer>) -> CallToolResult {
        self.run(&["list"], chosen.0.symbols, context).await
    }

    /// The grade of each function and what it lacks, and the state of the whole port.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn status(
        &self,
        chosen: Parameters<Chosen>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.run(&["status"], chosen.0.symbols, context).await
    }

    /// What you need to write a port: the rules, the C text, the contract, the types and the callees.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn context(&self, one: Parameters<One>, context: RequestContext<RoleServer>) -> CallToolResult {
        self.run(&["context"], vec![one.0.symbol], context).await
    }

    /// How a function may be called, and which of its effects are compared. Brings generated files up to date.
    #[tool(annotations(read_only_hint = false, destructive_hint = false, open_world_hint = false))]
    async fn contract(&self, one: Parameters<One>, context: RequestContext<RoleServer>) -> CallToolResult {
        self.run(&["contract"], vec![one.0.symbol], context).await
    }

    /// Which ports need attention and why: unjudged, stale, refuted, or rejected by the audit. Takes milliseconds, and
    /// builds nothing.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn check(&self, chosen: Parameters<Chosen>, context: RequestContext<RoleServer>) -> CallToolResult {
        self.run(&["check"], chosen.0.symbols, context).await
    }

    /// Judge ports: audit, build, and fuzz them against C; then write the evidence. Takes minutes the first time, and
    /// `seconds` for each port every time.
    #[tool(annotations(read_only_hint = false, destructive_hint = false, open_world_hint = false))]
    async fn verify(
        &self,
        judged: Parameters<Judged>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let seconds = judged.0.seconds.map(|seconds| format!("--seconds={seconds}"));
        let words: Vec<&str> = ["verify"].into_iter().chain(seconds.as_deref()).collect();
        self.run(&words, judged.0.symbols, context).await
    }

    /// The counterexamples of a port: the arguments, what C did, and what the port did.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn findings(&self, one: Parameters<One>, context: RequestContext<RoleServer>) -> CallToolResult {
        self.run(&["findings", "list"], vec![one.0.symbol], context).await
    }

    /// What the code of an error, a problem or a finding means, and how to fix it.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn explain(
        &self,
        code: Parameters<Explained>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.run(&["explain"], code.0.code.into_iter().collect(), context).await
    }

    /// The guide for agents: the loop, all rules for ports, the grades, and how to read a counterexample. Read it before the
    /// first port.
    #[tool(name = "agent-guide", annotations(read_only_hint = true, open_world_hint = false))]
    async fn agent_guide(&self, context: RequestContext<RoleServer>) -> CallToolResult {
        self.run(&["agent-guide"], vec![], context).await
    }
}

impl Server {
    /// Runs a command until it ends, the client cancels it, or the session ends.
    async fn run(
        &self,
        words_: &[&str],
        arguments: Vec<String>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let call = Call { words: words_.iter().map(|word| (*word).to_owned()).collect(), arguments };
        let mut progress = Progress::of(&context, words_[0]);
        let (send, mut told) = tokio::sync::mpsc::unbounded_channel();
        let (commands, interrupt) = (self.commands.clone(), self.interrupt.child());
        let own = interrupt.clone();
        let mut work = tokio::task::spawn_blocking(move || {
            // Nobody listens any more when the session has ended.
            commands.run(&call, &own, &mut |event| {
                words(event).into_iter().for_each(|text| drop(send.send(text)))
            })
        });
        let mut beat = tokio::time::interval(BEAT);
        let ended = loop {
            tokio::select! {
                ended = &mut work => break ended,
                () = context.ct.cancelled(), if !interrupt.is_set() => interrupt.set(),
                Some(text) = told.recv() => progress.tell(Some(text)).await,
                _ = beat.tick() => progress.tell(None).await,
            }
        };
        let broke = |error| Error::new(ErrorKind::Internal, format!("the command's thread broke: {error}"));
        let answer = ended.map_err(broke).and_then(|answer| answer);
        result(answer.unwrap_or_else(|error| Answer::error(&error)))
    }
}

/// The object as it is, as text, too; behind it the warnings.
fn result(answer: Answer) -> CallToolResult {
    let (is_error, warnings) = (answer.is_error(), answer.warnings);
    let make = if is_error { CallToolResult::structured_error } else { CallToolResult::structured };
    let mut result = make(answer.result);
    result.content.extend(warnings.iter().map(|warning| ContentBlock::text(warning.to_string())));
    result
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("cargo-implfuzz", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;
    use serde_json::json;

    #[test]
    fn each_tool_is_a_command_and_stands_in_the_instructions() {
        let tools = Server::tool_router().list_all();
        assert_eq!(tools.len(), 9);
        for tool in tools {
            assert!(command().find_subcommand(&*tool.name).is_some(), "{}", tool.name);
            assert!(INSTRUCTIONS.contains(&format!("`{}`", tool.name)), "{}", tool.name);
            assert!(tool.description.is_some_and(|text| text.len() < 300), "{}", tool.name);
            let parameters = tool.input_schema.get("properties").and_then(|all| all.as_object());
            for (name, schema) in parameters.into_iter().flatten() {
                assert!(schema["description"].is_string(), "{}: {name}", tool.name);
            }
        }
    }

    #[test]
    fn verdicts_are_results_and_failures_are_errors_with_their_text() {
        let warnings = vec![json!({ "type": "warning", "text": "w" })];
        let verdict = Answer { result: json!({ "type": "verify", "symbols": [] }), warnings };
        let result_ = result(verdict);
        assert_eq!((result_.is_error, result_.content.len()), (Some(false), 2));
        assert_eq!(result_.structured_content, Some(json!({ "type": "verify", "symbols": [] })));
        let failed = result(Answer::error(&Error::new(ErrorKind::Usage, "no").help("mend")));
        assert_eq!(failed.is_error, Some(true));
        let text = failed.content[0].as_text().unwrap().text.clone();
        assert!(text.contains("\"message\":\"no\"") && text.contains("\"help\":\"mend\""), "{text}");
    }
}
