//! Messages on stdin, one JSON object per line (`--input-format stream-json`).
//!
//! A separate thread reads them, so that a request can be answered while a turn runs and
//! a blocked read does not keep the program alive. A line that cannot be
//! parsed becomes a value with the reason; none is dropped silently.

use super::user_content;
use ona_orchestration::UserPrompt;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use tokio::sync::mpsc;

/// Number of lines that are read ahead.
const AHEAD: usize = 64;

#[derive(Debug)]
pub(crate) enum IncomingMessage {
    User(QueuedPrompt),
    Request {
        id: Value,
        request: Value,
    },
    /// The response to one of our requests.
    Response {
        id: String,
        answer: Result<Value, String>,
    },
    /// The driving program no longer waits for a response.
    Cancel,
    KeepAlive,
    Invalid(String),
}

/// A prompt that waits for its turn.
#[derive(Debug, Default)]
pub(crate) struct QueuedPrompt {
    pub said: UserPrompt,
    pub uuid: Option<String>,
    /// `message` as it arrived, to be replayed.
    pub message: Value,
    /// A sentence for every part that cannot be used.
    pub problems: Vec<String>,
    /// To be sent with the next prompt (`shouldQuery: false`).
    pub held: bool,
}

/// Reads until the input ends; the receiver is closed then.
pub(crate) fn read(input: impl Read + Send + 'static) -> mpsc::Receiver<IncomingMessage> {
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
                    sender.blocking_send(IncomingMessage::Invalid(words)).ok();
                    return;
                }
            }
            let incoming = match parse(&line) {
                IncomingMessage::Invalid(why) => IncomingMessage::Invalid(format!("line {number} of stdin {why}")),
                incoming => incoming,
            };
            if sender.blocking_send(incoming).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Whether a line of stdin is a message a run can use. For programs that test the reader.
pub fn is_message(line: &[u8]) -> bool {
    !matches!(parse(line), IncomingMessage::Invalid(_))
}

fn parse(line: &[u8]) -> IncomingMessage {
    let mut message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return invalid(format!("is not JSON and is ignored: {error}")),
    };
    match message["type"].as_str() {
        Some("user") => user(message),
        Some("control_request") => {
            IncomingMessage::Request { id: message["request_id"].take(), request: message["request"].take() }
        }
        Some("control_response") => response(&mut message["response"]),
        Some("control_cancel_request") => IncomingMessage::Cancel,
        Some("keep_alive") => IncomingMessage::KeepAlive,
        Some(other) => invalid(format!("has the unknown type {other:?} and is ignored")),
        None => invalid("has no type and is ignored".into()),
    }
}

fn invalid(why: String) -> IncomingMessage {
    IncomingMessage::Invalid(why)
}

fn response(response: &mut Value) -> IncomingMessage {
    let Some(id) = response["request_id"].as_str().map(str::to_owned) else {
        return invalid("is an answer without a request_id and is ignored".into());
    };
    let answer = match response["subtype"].as_str() {
        Some("success") => Ok(response["response"].take()),
        Some("error") => Err(response["error"].as_str().unwrap_or("an error without words").to_owned()),
        other => Err(format!("an answer of the unknown kind {other:?}")),
    };
    IncomingMessage::Response { id, answer }
}

fn user(mut line: Value) -> IncomingMessage {
    let mut prompt = QueuedPrompt {
        uuid: line["uuid"].as_str().map(str::to_owned),
        held: line["shouldQuery"] == false,
        ..QueuedPrompt::default()
    };
    let (said, problems) = user_content::parse_content(&line["message"]["content"]);
    let Some(said) = said else { return invalid("is a user message without content and is ignored".into()) };
    (prompt.said, prompt.problems) = (said, problems);
    prompt.message = line["message"].take();
    IncomingMessage::User(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(line: &str) -> IncomingMessage {
        parse(line.as_bytes())
    }

    #[test]
    fn lines_that_cannot_be_parsed_are_named() {
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
            assert!(matches!(told(line), IncomingMessage::Invalid(_)), "{line}");
        }
        assert!(matches!(parse(b"\"\xff\""), IncomingMessage::Invalid(_)));
    }

    #[test]
    fn texts_of_a_list_are_joined_and_the_rest_is_named() {
        let line = json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": [
            {"type": "text", "text": "a"}, {"type": "image", "source": {}}, {"type": "text", "text": "b"}]}});
        let IncomingMessage::User(prompt) = told(&line.to_string()) else { panic!() };
        assert_eq!((prompt.said.text.as_str(), prompt.uuid.as_deref()), ("a\nb", Some("u")));
        assert_eq!(prompt.problems.len(), 1);
    }

    #[test]
    fn answers_carry_the_id_of_their_question() {
        let line =
            json!({"type": "control_response", "response": {"subtype": "error", "request_id": "r", "error": "no"}});
        let IncomingMessage::Response { id, answer } = told(&line.to_string()) else { panic!() };
        assert_eq!((id.as_str(), answer), ("r", Err("no".into())));
    }
}
