//! A local model server with scripted faults.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What every request is answered with.
#[derive(Clone)]
pub enum Answer {
    /// A status and a body.
    Http(u16, String),
    /// A status, more lines of the head, and any bytes.
    Bytes(u16, &'static str, Vec<u8>),
    /// The same as another answer, after a while.
    Late(Duration, Box<Answer>),
    /// The head promises more than comes.
    CutOff,
    /// The same, and the connection is torn down.
    Reset,
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
    /// Every request gets this answer.
    pub fn start(answer: Answer) -> Self {
        Self::with(move |_, _| answer.clone())
    }

    /// One answer after the other, the last one for ever.
    pub fn script(answers: Vec<Answer>) -> Self {
        Self::with(move |_, number| answers[number.min(answers.len() - 1)].clone())
    }

    /// Answers by the request and its number, from 0.
    pub fn with(answers: impl Fn(&str, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answers) = (Arc::clone(&requests), Arc::new(answers));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, seen) = (Arc::clone(&answers), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream, &*answers, &seen));
            }
        });
        Self { address, requests }
    }

    /// The requests so far, heads included.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Where it is, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
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

fn serve(mut stream: TcpStream, answers: &dyn Fn(&str, usize) -> Answer, seen: &Mutex<Vec<String>>) {
    let request = read(&mut stream);
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    play(&mut stream, &answers(&request, number));
}

fn play(stream: &mut TcpStream, answer: &Answer) {
    // A client that has gone away is what some tests are about.
    match answer {
        Answer::Http(status, body) => respond(stream, *status, "", body.as_bytes()),
        Answer::Bytes(status, head, body) => respond(stream, *status, head, body),
        Answer::Late(time, answer) => {
            std::thread::sleep(*time);
            play(stream, answer);
        }
        Answer::CutOff => cut_off(stream),
        Answer::Reset => {
            cut_off(stream);
            // Without a rest of time to send what is left, closing is a reset.
            let linger = libc::linger { l_onoff: 1, l_linger: 0 };
            let size = libc::socklen_t::try_from(size_of::<libc::linger>()).unwrap();
            // SAFETY: a plain system call on an open socket, with a value of the size that is given.
            unsafe {
                libc::setsockopt(
                    stream.as_raw_fd(),
                    libc::SOL_SOCKET,
                    libc::SO_LINGER,
                    (&raw const linger).cast(),
                    size,
                );
            }
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

fn respond(stream: &mut TcpStream, status: u16, more: &str, body: &[u8]) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{more}connection: close\r\n\r\n");
    drop(stream.write_all(&[head.as_bytes(), body].concat()));
}

fn cut_off(stream: &mut TcpStream) {
    drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{\"choices\": [{\"mess"));
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
