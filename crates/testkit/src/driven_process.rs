//! A conversation with a running program: a JSON object per line in both directions.

use crate::run::Ona;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a line that must come is waited for.
const TIMEOUT: Duration = Duration::from_secs(30);

pub struct DrivenProcess {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    requests: usize,
    /// Every line so far.
    pub seen: Vec<Value>,
}

/// A session that puts its questions to the other end of the talk.
const ATTENDED: [&str; 7] = [
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--permission-prompt-tool",
    "stdio",
];

impl Ona {
    /// Starts a driven session that asks this end before it does what needs a permission.
    pub fn attended(&self) -> DrivenProcess {
        self.talk(ATTENDED)
    }

    /// Starts the program with stdin and stdout in hand.
    pub fn talk<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> DrivenProcess {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let mut stderr = child.stderr.take().expect("stderr is a pipe");
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).ok();
            text
        });
        DrivenProcess { stdin: child.stdin.take(), child, lines, stderr: Some(stderr), requests: 0, seen: Vec::new() }
    }
}

impl DrivenProcess {
    pub fn send(&mut self, line: Value) {
        self.send_text(&format!("{line}\n"));
    }

    /// Bytes as they are, a newline included or not.
    pub fn send_text(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).expect("the program reads");
    }

    pub fn say(&mut self, text: &str) {
        self.send(json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    /// Sends a control request and waits for its answer.
    pub fn ask(&mut self, request: Value) -> Value {
        self.requests += 1;
        let id = format!("r{}", self.requests);
        self.send(json!({"type": "control_request", "request_id": id, "request": request}));
        let answer =
            self.until(|line| line["type"] == "control_response" && line["response"]["request_id"] == id.as_str());
        answer["response"].clone()
    }

    /// Answers a control request of the program.
    pub fn answer(&mut self, request: &Value, response: Value) {
        let id = &request["request_id"];
        self.send(json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": response}}));
    }

    /// Returns the next line; `None` at the end. Panics if nothing comes.
    pub fn line(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(TIMEOUT) {
            Ok(line) => {
                let value: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                self.seen.push(value.clone());
                Some(value)
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("no line in {TIMEOUT:?} after {:#?}", self.seen),
        }
    }

    pub fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        while let Some(line) = self.line() {
            if wanted(&line) {
                return line;
            }
        }
        panic!("the program ended before: {:#?}", self.seen)
    }

    pub fn until_result(&mut self) -> Value {
        self.until(|line| line["type"] == "result")
    }

    /// Waits for a control request of the program.
    pub fn until_asked(&mut self, subtype: &str) -> Value {
        self.until(|line| line["type"] == "control_request" && line["request"]["subtype"] == subtype)
    }

    /// Ends stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Ends stdin, reads what is left; the exit code and stderr.
    pub fn finish(mut self) -> (i32, String) {
        self.close();
        while self.line().is_some() {}
        let code = self.child.wait().expect("the program ends").code().unwrap_or(-1);
        let stderr = self.stderr.take().expect("read once").join().expect("a reader that only reads");
        (code, stderr)
    }
}

impl Drop for DrivenProcess {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
