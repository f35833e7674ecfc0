//! The MCP server, asked by a real client over standard input and output: an agent's way from the list to a verified port,
//! errors, cancellation, the end of a session, and what stands on standard output.

use crate::support::{Repo, plant};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientRequest, ProgressNotificationParam, Request};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestHandle, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MODULE: &str = "rust/src/sum.rs";

/// What a client has heard about the progress of its calls.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<ProgressNotificationParam>>>);

impl ClientHandler for Heard {
    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().push(told);
    }
}

impl Heard {
    fn messages(&self) -> Vec<String> {
        let told = self.0.lock().unwrap();
        told.iter().filter_map(|told| told.message.clone()).collect()
    }

    /// Waits until something was said since the last time.
    async fn says(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(180);
        while !self.messages().iter().any(|message| message.contains(text)) {
            assert!(Instant::now() < deadline, "no {text:?} in {:?}", self.messages());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.0.lock().unwrap().clear();
    }
}

struct Client {
    session: RunningService<RoleClient, Heard>,
    heard: Heard,
    server: u32,
}

impl Client {
    async fn of(repo: &Repo, args: &[&str]) -> Self {
        let command = repo.command(&[&["mcp"], args].concat());
        let transport = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
        let (heard, server) = (Heard::default(), transport.id().unwrap());
        let session = heard.clone().serve(transport).await.unwrap();
        Self { session, heard, server }
    }

    async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        self.session.call_tool(params(tool, arguments)).await.unwrap()
    }

    /// The object that a tool answers, which is also its text.
    async fn answer(&self, tool: &'static str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(false), "{result:?}");
        let object = result.structured_content.clone().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text(&result)).unwrap(), object);
        object
    }

    /// The message and the help of a tool that fails.
    async fn error(&self, tool: &'static str, arguments: Value) -> (String, String) {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        let object = result.structured_content.clone().unwrap();
        assert_eq!((&object["type"], &object["version"]), (&json!("error"), &json!(1)));
        let field = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
        assert!(text(&result).contains("\"help\":"), "{result:?}");
        (field("message"), field("help"))
    }

    /// A call that goes on.
    async fn begin(&self, tool: &'static str, arguments: Value) -> RequestHandle<RoleClient> {
        let request = ClientRequest::CallToolRequest(Request::new(params(tool, arguments)));
        self.session.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap()
    }
}

fn params(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone())
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

/// The processes that a process has started, directly or not, and that still run.
fn descendants(of: u32) -> BTreeSet<u32> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let mut found = BTreeSet::from([of]);
    while parents.iter().any(|(pid, parent)| found.contains(parent) && found.insert(*pid)) {}
    found.remove(&of);
    found
}

/// The parent of a process that runs.
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut words = rest.split(' ');
    (words.next()? != "Z").then(|| words.next()?.parse().ok())?
}

async fn all_end(processes: &BTreeSet<u32>) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while processes.iter().any(|pid| parent(*pid).is_some()) {
        assert!(Instant::now() < deadline, "{processes:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn port(repo: &Repo, body: &str) {
    let mut module = repo.read(MODULE);
    plant(&mut module, "twice", &format!("pub fn twice(x: u32) -> u32 {{\n    {body}\n}}")).unwrap();
    repo.write(MODULE, &module);
}

#[tokio::test]
async fn an_agent_ports_a_function_with_the_tools() {
    let repo = Repo::initialised();
    let client = Client::of(&repo, &["--config", "fuzz.accept_executions=20000"]).await;
    let server = client.session.peer_info().unwrap();
    let instructions = server.instructions.as_deref().unwrap();
    assert!(instructions.contains("No tool\nwrites a port") && instructions.contains("`verify`"));
    let tools = client.session.list_all_tools().await.unwrap();
    let names: BTreeSet<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let all =
        ["agent-guide", "check", "context", "contract", "explain", "findings", "list", "status", "verify"];
    assert_eq!(names, BTreeSet::from(all));

    // The tools say what the commands say.
    let list = client.answer("list", json!({})).await;
    assert_eq!(list, repo.run(&["list", "--format", "json"]).ok().json("list"));
    let twice = list["symbols"].as_array().unwrap().iter().find(|row| row["symbol"] == "twice").unwrap();
    assert_eq!(
        (&twice["file"], &twice["line"], &twice["state"]),
        (&json!("sum.c"), &json!(4), &json!("stub"))
    );
    let context = client.answer("context", json!({ "symbol": "twice" })).await;
    assert_eq!(context, repo.run(&["context", "twice", "--format", "json"]).ok().json("context"));
    assert!(context["prompt"].as_str().unwrap().contains("return x * 2u;"), "{context}");
    let contract = client.answer("contract", json!({ "symbol": "twice" })).await;
    assert_eq!(contract["symbols"][0]["params"][0]["name"], "x");

    port(&repo, "x.wrapping_mul(2) | u32::from(x > 1000)");
    let check = client.answer("check", json!({})).await;
    assert_eq!(check["symbols"][0]["trouble"], "unjudged");
    let verify = json!({ "symbols": ["twice"], "seconds": 4 });
    // A verdict is no error.
    assert_eq!(client.answer("verify", verify.clone()).await["symbols"][0]["grade"], "refuted");
    let findings = client.answer("findings", json!({ "symbol": "twice" })).await;
    let finding = &findings["findings"][0]["finding"];
    assert_eq!(finding["class"], "mismatch");
    let value = |side: &Value| side[0]["value"].as_str().unwrap().parse::<u64>().unwrap();
    let (x, of_c, of_port) = (value(&finding["args"]), value(&finding["oracle"]), value(&finding["subject"]));
    assert!(x > 1000 && of_port == of_c + 1, "{finding}");

    repo.replace(MODULE, "x.wrapping_mul(2) | u32::from(x > 1000)", "x.wrapping_mul(2)");
    client.heard.0.lock().unwrap().clear();
    assert_eq!(client.answer("verify", verify).await["symbols"][0]["grade"], "verified");
    let heard = client.heard.0.lock().unwrap().clone();
    assert!(heard.windows(2).all(|pair| pair[0].progress < pair[1].progress), "{heard:?}");
    assert!(client.heard.messages().iter().any(|text| text == "twice: verify (1 of 1)"), "{heard:?}");
    let status = client.answer("status", json!({ "symbols": ["twice"] })).await;
    assert_eq!((&status["symbols"][0]["grade"], &status["type"]), (&json!("verified"), &json!("status")));
    client.session.cancel().await.unwrap();
}

#[tokio::test]
async fn what_goes_wrong_is_an_error_with_help() {
    let repo = Repo::initialised();
    let client = Client::of(&repo, &[]).await;
    let (message, help) = client.error("context", json!({ "symbol": "twise" })).await;
    assert!(
        message.contains("the library has no function `twise`") && help.contains("twice"),
        "{message} {help}"
    );
    // No argument is an option.
    let (message, _) = client.error("context", json!({ "symbol": "--all" })).await;
    assert!(message.contains("`--all`"), "{message}");
    assert!(client.error("verify", json!({ "symbols": [] })).await.0.contains("required"));
    assert!(client.error("verify", json!({ "symbols": ["twise"] })).await.0.contains("`twise`"));
    assert!(client.error("explain", json!({ "code": "E9999" })).await.1.contains("cargo implfuzz explain"));
    assert_eq!(client.answer("explain", json!({ "code": "E0106" })).await["code"], "E0106");
    let misnamed = client.call("context", json!({ "name": "twice" })).await;
    assert!(
        misnamed.is_error == Some(true) && text(&misnamed).contains("unknown field `name`"),
        "{misnamed:?}"
    );
    client.session.cancel().await.unwrap();
}

#[tokio::test]
async fn the_options_of_the_server_hold_for_its_tools_and_warnings_follow_results() {
    let repo = Repo::initialised();
    let there = ["-C", repo.root().to_str().unwrap(), "--config", "symbols.thrise.skip=true"];
    let client = Client::of(&Repo::empty(), &there).await;
    let list = client.call("list", json!({ "symbols": ["twice"] })).await;
    assert_eq!(list.structured_content.unwrap()["symbols"].as_array().unwrap().len(), 1);
    let warning: Value = serde_json::from_str(&list.content[1].as_text().unwrap().text).unwrap();
    assert_eq!((&warning["type"], list.is_error), (&json!("warning"), Some(false)), "{warning}");
    assert!(warning["text"].as_str().unwrap().contains("thrise"), "{warning}");
    client.session.cancel().await.unwrap();
}

#[tokio::test]
async fn a_cancelled_call_and_a_session_that_ends_leave_no_process() {
    let repo = Repo::initialised();
    port(&repo, "x.wrapping_mul(2)");
    let endless = ["--config", "grade.measure=false", "--config", "fuzz.accept_executions=1000000000000"];
    let client = Client::of(&repo, &endless).await;
    let verify = json!({ "symbols": ["twice"], "seconds": 600 });
    let call = client.begin("verify", verify.clone()).await;
    client.heard.says("twice: fuzzing").await;
    let running = descendants(client.server);
    assert!(running.len() > 1, "{running:?}");
    call.cancel(Some("enough".into())).await.unwrap();
    all_end(&running).await;
    assert_eq!(descendants(client.server), BTreeSet::new());
    // The server lives on, and nobody holds the lock.
    assert_eq!(client.answer("check", json!({})).await["symbols"][0]["trouble"], "unjudged");
    let call = client.begin("verify", verify).await;
    client.heard.says("twice: fuzzing").await;
    let running = descendants(client.server);
    assert!(running.len() > 1, "{running:?}");
    drop(call);
    client.session.cancel().await.unwrap();
    all_end(&running).await;
    all_end(&BTreeSet::from([client.server])).await;
}

#[test]
fn standard_output_is_the_protocol() {
    let repo = Repo::initialised();
    let mut server = repo.command(&["mcp"]);
    server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let client = json!({ "name": "lines", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let mut input = server.stdin.take().unwrap();
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "check", "arguments": {} } }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "explain", "arguments": {} } }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    let output = server.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["jsonrpc"] == "2.0"), "{said}");
    let ids: BTreeSet<u64> = lines.iter().filter_map(|line| line["id"].as_u64()).collect();
    assert_eq!(ids, BTreeSet::from([1, 2, 3]), "{said}");
    assert!(output.status.success() && output.stderr.is_empty(), "{:?}", String::from_utf8(output.stderr));
}

#[test]
fn who_is_no_client_is_told_so() {
    Repo::empty().run(&["mcp"]).fails(2, &["no MCP session began", "docs/mcp.md"]);
}
