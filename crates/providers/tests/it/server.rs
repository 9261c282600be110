//! A server of a few lines: one scripted answer per connection.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) enum Step {
    Send(String),
    /// Waits for one more request on the same connection.
    Request,
    /// Says nothing more until the client goes away.
    Hang,
}

pub(crate) struct Server {
    pub address: String,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Answers the first request with the first script, and so on, each on a connection
    /// that is closed when the script is over.
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let task = tokio::spawn(async move {
            for script in scripts {
                let (mut stream, _) = listener.accept().await.unwrap();
                listen(&mut stream, &seen).await;
                for step in script {
                    match step {
                        // A client that has gone does not want the rest.
                        Step::Send(text) => drop(stream.write_all(text.as_bytes()).await),
                        Step::Request => listen(&mut stream, &seen).await,
                        Step::Hang => drop(stream.read_to_end(&mut Vec::new()).await),
                    }
                }
            }
        });
        Self { address, requests, task }
    }

    pub(crate) async fn answering(answer: &str) -> Self {
        Self::start(vec![vec![Step::Send(answer.to_owned())]]).await
    }

    /// What was asked, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(stream: &mut TcpStream, seen: &Mutex<Vec<String>>) {
    let request = request(stream).await;
    seen.lock().unwrap().push(request);
}

async fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 16 * 1024];
        let count = stream.read(&mut buffer).await.unwrap();
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        assert!(count > 0, "the client left in the middle of its request");
    }
}

/// An answer with a length, as HTTP.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// The head of a stream; one chunk of HTTP follows per `chunk`.
pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

pub(crate) fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

pub(crate) const LAST_CHUNK: &str = "0\r\n\r\n";
