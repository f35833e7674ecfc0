//! A model server of this machine that misbehaves as told.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What every request is answered with.
#[derive(Clone)]
pub enum Answer {
    /// A status and a body.
    Http(u16, String),
    /// The head promises more than comes.
    CutOff,
    /// The connection is closed without a word.
    HangUp,
    /// Nothing, for ever.
    Silence,
    /// One byte after the other, for ever.
    Drip,
}

/// It ends with the process.
pub struct Server {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, seen) = (answer.clone(), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream, &answer, &seen));
            }
        });
        Self { address, requests }
    }

    /// The requests so far, heads included.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits for the first request.
    pub fn wait(&self) {
        for _ in 0..3000 {
            if !self.requests().is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("nobody asked");
    }

    /// The `--config` arguments that make it the model.
    pub fn config(&self, timeout_seconds: u32) -> Vec<String> {
        config(&self.address, timeout_seconds)
    }
}

/// The `--config` arguments for an OpenAI-compatible server at this address.
pub fn config(address: &str, timeout_seconds: u32) -> Vec<String> {
    let settings = [
        "llm.provider=\"openai\"".to_owned(),
        "llm.model=\"m\"".to_owned(),
        format!("llm.base_url=\"http://{address}/v1\""),
        "llm.retries=1".to_owned(),
        format!("llm.timeout_seconds={timeout_seconds}"),
    ];
    settings.into_iter().flat_map(|setting| ["--config".to_owned(), setting]).collect()
}

/// An address where nobody listens.
pub fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn serve(mut stream: TcpStream, answer: &Answer, seen: &Mutex<Vec<String>>) {
    let request = read(&mut stream);
    seen.lock().unwrap().push(request);
    // A client that has gone away is what some tests are about.
    match answer {
        Answer::Http(status, body) => {
            let head =
                format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            drop(stream.write_all((head + body).as_bytes()));
        }
        Answer::CutOff => {
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{\"choices\": [{\"mess"));
        }
        Answer::HangUp => {}
        Answer::Silence => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        Answer::Drip => {
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n"));
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// A whole request: the head and as many bytes as it announces.
fn read(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|l| l.strip_prefix("content-length:"));
            let length: usize = length.and_then(|l| l.trim().parse().ok()).unwrap_or(0);
            if body.len() >= length {
                break;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
