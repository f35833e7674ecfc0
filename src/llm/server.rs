//! A scripted HTTP server for tests: one step a connection, in order; the last one serves all that follow.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Answers.
    Answer { status: u16, headers: String, body: Vec<u8> },
    /// Promises more than it sends, and closes.
    BreakOff,
    /// Sends a byte now and then, for ever.
    Drip,
    /// Sends this many bytes.
    Flood(usize),
}

impl Step {
    pub fn status(status: u16, headers: &str, body: &str) -> Self {
        Self::Answer { status, headers: headers.into(), body: body.into() }
    }

    pub fn json(body: &str) -> Self {
        Self::status(200, "content-type: application/json\r\n", body)
    }
}

/// A server on a free port of this machine, gone with the test process.
#[derive(Debug)]
pub(super) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(steps: impl IntoIterator<Item = Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let steps: Vec<Step> = steps.into_iter().collect();
        std::thread::spawn(move || {
            for (index, stream) in listener.incoming().enumerate() {
                let Ok(mut stream) = stream else { return };
                let step = steps[index.min(steps.len() - 1)].clone();
                seen.lock().unwrap().push(read_request(&mut stream));
                // A client that goes away is part of the tests.
                std::thread::spawn(move || drop(play(&mut stream, step)));
            }
        });
        Self { port, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What came so far, headers and body.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .to_lowercase()
                .lines()
                .find_map(|l| l.strip_prefix("content-length:").and_then(|n| n.trim().parse::<usize>().ok()));
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
            _ => return text,
        }
    }
}

fn play(stream: &mut TcpStream, step: Step) -> std::io::Result<()> {
    let mut head = |status: u16, headers: &str, length: usize| {
        write!(
            stream,
            "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        )
    };
    match step {
        Step::Answer { status, headers, body } => {
            head(status, &headers, body.len())?;
            stream.write_all(&body)
        }
        Step::BreakOff => {
            head(200, "", 1_000)?;
            stream.write_all(b"{\"content\":")
        }
        Step::Drip => {
            head(200, "", 1 << 30)?;
            loop {
                stream.write_all(b" ")?;
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        Step::Flood(length) => {
            head(200, "", length)?;
            let block = vec![b' '; 1 << 16];
            (0..length.div_ceil(block.len())).try_for_each(|_| stream.write_all(&block))
        }
    }
}
