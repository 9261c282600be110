//! Where everything from the other side arrives, while a turn runs and while none does.
//!
//! Prompts wait in a queue, answers go to whoever asked, requests are answered at once
//! (`control`). One task reads and works in turn, so that nothing here needs a lock.

use super::control::Levers;
use super::host::Host;
use super::input::{Incoming, Prompt};
use super::messages::{Level, Message, Response, User};
use super::printer::Printer;
use super::translate::informational;
use ona_api::clock;
use ona_orchestration::UserPrompt;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::mpsc;

pub struct Desk {
    pub levers: Levers,
    /// `None`: all input has been given, or has ended.
    inbox: Option<mpsc::Receiver<Incoming>>,
    queue: VecDeque<Prompt>,
    /// What only goes along with the next prompt.
    noted: Noted,
    host: Arc<Host>,
    printer: Arc<Printer>,
    replay: bool,
    /// Whether anything at all has come.
    pub heard: bool,
}

#[derive(Default)]
struct Noted {
    text: Vec<String>,
    pictures: Vec<Vec<u8>>,
}

impl Desk {
    pub fn new(levers: Levers, host: Arc<Host>, printer: Arc<Printer>, replay: bool) -> Self {
        Self {
            levers,
            inbox: None,
            queue: VecDeque::new(),
            noted: Noted::default(),
            host,
            printer,
            replay,
            heard: false,
        }
    }

    /// One prompt and nothing else.
    pub fn put(&mut self, text: String) {
        self.queue.push_back(Prompt { said: UserPrompt::from(&text), ..Prompt::default() });
    }

    pub fn listen(&mut self, inbox: mpsc::Receiver<Incoming>) {
        self.inbox = Some(inbox);
    }

    /// The next prompt; `None` if there will be none.
    pub async fn next(&mut self) -> Option<UserPrompt> {
        let program = self.levers.cancellation.program().clone();
        loop {
            if program.is_cancelled() {
                return None;
            }
            if let Some(prompt) = self.queue.pop_front() {
                return Some(self.take_up(prompt));
            }
            self.inbox.as_ref()?;
            tokio::select! {
                biased;
                () = program.cancelled() => return None,
                incoming = receive(&mut self.inbox) => self.handle(incoming),
            }
        }
    }

    /// Does the work, and sees to what arrives meanwhile.
    pub async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                incoming = receive(&mut self.inbox) => self.handle(incoming),
            }
        }
    }

    fn take_up(&mut self, mut prompt: Prompt) -> UserPrompt {
        if self.replay {
            self.printer.say(&Message::User(User {
                message: prompt.message.take(),
                parent_tool_use_id: None,
                timestamp: clock::utc_millis(clock::now()),
                tool_use_result: None,
                is_replay: Some(true),
                uuid: prompt.uuid.clone(),
            }));
        }
        let mut noted = std::mem::take(&mut self.noted);
        let mut said = std::mem::take(&mut prompt.said);
        noted.text.push(said.text);
        noted.pictures.append(&mut said.pictures);
        UserPrompt { text: noted.text.join("\n\n"), pictures: noted.pictures, typed: None }
    }

    fn handle(&mut self, incoming: Option<Incoming>) {
        let Some(incoming) = incoming else {
            self.inbox = None;
            // Whoever waits for an answer waits in vain.
            self.host.close();
            return;
        };
        self.heard = true;
        match incoming {
            Incoming::User(prompt) => self.enqueue(prompt),
            Incoming::Response { id, answer } => self.host.answer(&id, answer),
            Incoming::Request { id, request } => self.request(id, &request),
            // Requests are answered before the next line is read, so there is none to call off.
            Incoming::Cancel | Incoming::KeepAlive => {}
            Incoming::Wrong(why) => {
                self.printer.note(&format!("ona: {why}"));
                self.printer.say(&informational(why, Level::Error));
            }
        }
    }

    fn enqueue(&mut self, prompt: Prompt) {
        for complaint in &prompt.complaints {
            self.printer.note(&format!("ona: {complaint}"));
            self.printer.say(&informational(complaint.clone(), Level::Warning));
        }
        if prompt.only_noted {
            self.noted.text.push(prompt.said.text);
            self.noted.pictures.extend(prompt.said.pictures);
        } else {
            self.queue.push_back(prompt);
        }
    }

    fn request(&mut self, id: Value, request: &Value) {
        let answer = match request["subtype"].as_str() {
            Some("interrupt") => Ok(self.interrupt(request)),
            Some("cancel_async_message") => Ok(self.call_off(request)),
            Some("end_session") => {
                self.inbox = None;
                self.queue.clear();
                self.host.close();
                Ok(json!({}))
            }
            _ => self.levers.answer(request),
        };
        let response = match answer {
            Ok(response) => Response::Success { request_id: id, response },
            Err(refused) => Response::Error { request_id: id, error: refused.why, error_code: refused.code },
        };
        self.printer.say(&Message::ControlResponse { response });
        self.levers.announce(&self.printer);
    }

    /// Ends the running turn; what waits is named, or called off with it.
    fn interrupt(&mut self, request: &Value) -> Value {
        self.levers.cancellation.cancel_turn();
        let waiting = self.queue.iter().filter_map(|prompt| prompt.uuid.clone()).collect::<Vec<_>>();
        if request["cancel_queued"] == true {
            self.queue.clear();
            return json!({"still_queued": [], "cancelled": waiting});
        }
        json!({ "still_queued": waiting })
    }

    fn call_off(&mut self, request: &Value) -> Value {
        let before = self.queue.len();
        self.queue.retain(|prompt| prompt.uuid.is_none() || request["message_uuid"] != json!(prompt.uuid));
        json!({"cancelled": self.queue.len() < before})
    }
}

/// What comes next; without an inbox, nothing ever does.
async fn receive(inbox: &mut Option<mpsc::Receiver<Incoming>>) -> Option<Incoming> {
    match inbox {
        Some(inbox) => inbox.recv().await,
        None => std::future::pending().await,
    }
}
