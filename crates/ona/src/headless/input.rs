//! Messages on stdin, one JSON object per line (`--input-format stream-json`).
//!
//! A thread of its own reads them, so that a request can be answered while a turn runs and
//! a read nobody ends does not keep the program alive. A line that can not be
//! understood becomes a value that says so; none is dropped in silence.

use super::content;
use ona_orchestration::UserPrompt;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use tokio::sync::mpsc;

/// Lines read ahead of who handles them.
const AHEAD: usize = 64;

#[derive(Debug)]
pub enum Incoming {
    User(Prompt),
    Request {
        id: Value,
        request: Value,
    },
    /// The answer to a request of ours.
    Response {
        id: String,
        answer: Result<Value, String>,
    },
    /// The other side no longer waits for this answer.
    Cancel,
    KeepAlive,
    Wrong(String),
}

/// What somebody wants done.
#[derive(Debug, Default)]
pub struct Prompt {
    pub said: UserPrompt,
    pub uuid: Option<String>,
    /// `message` as it came, for who wants it repeated.
    pub message: Value,
    /// A sentence for every part that can not be used.
    pub complaints: Vec<String>,
    /// Only to be kept for the next message (`shouldQuery: false`).
    pub only_noted: bool,
}

/// Reads until the input ends; the receiver is closed then.
pub fn read(input: impl Read + Send + 'static) -> mpsc::Receiver<Incoming> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => {}
                Err(error) => {
                    let words = format!("stdin could not be read any further: {error}");
                    // Without a receiver the run is over.
                    sender.blocking_send(Incoming::Wrong(words)).ok();
                    return;
                }
            }
            let incoming = match parse(&line) {
                Incoming::Wrong(why) => Incoming::Wrong(format!("line {number} of stdin {why}")),
                incoming => incoming,
            };
            if sender.blocking_send(incoming).is_err() {
                return;
            }
        }
    });
    receiver
}

fn parse(line: &[u8]) -> Incoming {
    let mut message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return wrong(format!("is not JSON and is left out: {error}")),
    };
    match message["type"].as_str() {
        Some("user") => user(message),
        Some("control_request") => {
            Incoming::Request { id: message["request_id"].take(), request: message["request"].take() }
        }
        Some("control_response") => response(&mut message["response"]),
        Some("control_cancel_request") => Incoming::Cancel,
        Some("keep_alive") => Incoming::KeepAlive,
        Some(other) => wrong(format!("has the unknown type {other:?} and is left out")),
        None => wrong("has no type and is left out".into()),
    }
}

fn wrong(why: String) -> Incoming {
    Incoming::Wrong(why)
}

fn response(response: &mut Value) -> Incoming {
    let Some(id) = response["request_id"].as_str().map(str::to_owned) else {
        return wrong("is an answer without a request_id and is left out".into());
    };
    let answer = match response["subtype"].as_str() {
        Some("success") => Ok(response["response"].take()),
        Some("error") => Err(response["error"].as_str().unwrap_or("an error without words").to_owned()),
        other => Err(format!("an answer of the unknown kind {other:?}")),
    };
    Incoming::Response { id, answer }
}

fn user(mut line: Value) -> Incoming {
    let mut prompt = Prompt {
        uuid: line["uuid"].as_str().map(str::to_owned),
        only_noted: line["shouldQuery"] == false,
        ..Prompt::default()
    };
    let (said, complaints) = content::said(&line["message"]["content"]);
    let Some(said) = said else { return wrong("is a user message without content and is left out".into()) };
    (prompt.said, prompt.complaints) = (said, complaints);
    prompt.message = line["message"].take();
    Incoming::User(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(line: &str) -> Incoming {
        parse(line.as_bytes())
    }

    #[test]
    fn what_can_not_be_understood_says_so() {
        for line in [
            "not json",
            "[]",
            "1",
            r#"{"type":"dance"}"#,
            r#"{"type":"user"}"#,
            r#"{"type":"user","message":{"content":" "}}"#,
            r#"{"type":"user","message":{"content":[{"type":"image"}]}}"#,
            r#"{"type":"control_response","response":{}}"#,
        ] {
            assert!(matches!(told(line), Incoming::Wrong(_)), "{line}");
        }
        assert!(matches!(parse(b"\"\xff\""), Incoming::Wrong(_)));
    }

    #[test]
    fn texts_of_a_list_are_joined_and_the_rest_is_named() {
        let line = json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": [
            {"type": "text", "text": "a"}, {"type": "image", "source": {}}, {"type": "text", "text": "b"}]}});
        let Incoming::User(prompt) = told(&line.to_string()) else { panic!() };
        assert_eq!((prompt.said.text.as_str(), prompt.uuid.as_deref()), ("a\nb", Some("u")));
        assert_eq!(prompt.complaints.len(), 1);
    }

    #[test]
    fn answers_carry_the_id_of_their_question() {
        let line =
            json!({"type": "control_response", "response": {"subtype": "error", "request_id": "r", "error": "no"}});
        let Incoming::Response { id, answer } = told(&line.to_string()) else { panic!() };
        assert_eq!((id.as_str(), answer), ("r", Err("no".into())));
    }
}
