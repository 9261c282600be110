//! A client of a few lines: it sends a request and keeps what comes back as it came.

use ona_scripted_model::{ModelServer, ScriptedTurn, Wire};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

pub(crate) struct Client {
    stream: TcpStream,
    path: &'static str,
}

/// An answer with its framing undone.
#[derive(Debug)]
pub(crate) struct Answer {
    pub head: String,
    /// HTTP chunks, or the one body of a stated length.
    pub chunks: Vec<Vec<u8>>,
}

/// How a connection ended for the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Reset,
}

impl Client {
    pub(crate) fn of(model: &ModelServer) -> Self {
        let stream = TcpStream::connect(model.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let path = if model.url().ends_with("/v1") { "/v1/chat/completions" } else { "/v1/messages" };
        Self { stream, path }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn post(&mut self, body: &Value) {
        let body = body.to_string();
        let head = format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", self.path, body.len());
        self.send(head + &body);
    }

    /// Asks for a stream with usage and reads the answer.
    pub(crate) fn ask(&mut self) -> Answer {
        self.post(&streaming());
        self.answer()
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn connection(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.extend(self.bytes(1));
        }
        String::from_utf8(line).unwrap()
    }

    pub(crate) fn head(&mut self) -> String {
        let mut head = String::new();
        loop {
            match self.connection().as_str() {
                "\r\n" => return head,
                line => head += line,
            }
        }
    }

    /// The next HTTP chunk; empty for the last.
    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let size = usize::from_str_radix(self.connection().trim_end(), 16).unwrap();
        let mut chunk = self.bytes(size + 2);
        assert!(chunk.ends_with(b"\r\n"));
        chunk.truncate(size);
        chunk
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let head = self.head();
        let mut answer = Answer { head, chunks: Vec::new() };
        match answer.header("content-length") {
            Some(length) => answer.chunks.push(self.bytes(length.parse().unwrap())),
            None => loop {
                match self.chunk() {
                    last if last.is_empty() => break,
                    chunk => answer.chunks.push(chunk),
                }
            },
        }
        answer
    }

    /// Everything up to the end of the connection.
    pub(crate) fn rest(&mut self) -> (Vec<u8>, End) {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Ok(_) => (bytes, End::Closed),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => (bytes, End::Reset),
            Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&bytes)),
        }
    }
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(known, _)| *known == name)
            .map(|found| found.1)
    }

    pub(crate) fn body(&self) -> String {
        String::from_utf8(self.chunks.concat()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body()).unwrap()
    }
}

pub(crate) fn streaming() -> Value {
    json!({"stream": true, "stream_options": {"include_usage": true}})
}

/// What a streaming request is answered with, when this is the server's only turn.
pub(crate) fn ask(wire: Wire, turn: ScriptedTurn) -> Answer {
    Client::of(&ModelServer::start(wire, [turn])).ask()
}

/// Every byte of the answer and how the connection ended.
pub(crate) fn ask_raw(wire: Wire, turn: ScriptedTurn) -> (Vec<u8>, End) {
    let model = ModelServer::start(wire, [turn]);
    let mut client = Client::of(&model);
    client.post(&streaming());
    client.rest()
}
