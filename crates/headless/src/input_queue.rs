//! Everything that arrives from the driving program, while a turn runs and while none does.
//!
//! Prompts wait in a queue, answers go to the question they belong to, requests are answered at
//! once (`control`). One task both reads and works, so nothing here needs a lock.

use super::control::ControlState;
use super::host_connection::HostConnection;
use super::input::{IncomingMessage, QueuedPrompt};
use super::messages::{Level, Response, StreamMessage, UserMessage};
use super::printer::Printer;
use super::translate::informational;
use ona_api::{CallId, clock};
use ona_orchestration::UserPrompt;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::mpsc;

pub(crate) struct InputQueue {
    pub control: ControlState,
    /// `None` without input, or when it has ended.
    inbox: Option<mpsc::Receiver<IncomingMessage>>,
    /// Whether there was input at any time.
    listened: bool,
    queue: VecDeque<QueuedPrompt>,
    /// Content that is sent with the next prompt.
    held_content: HeldContent,
    host: Arc<HostConnection>,
    printer: Arc<Printer>,
    replay: bool,
    /// Whether anything arrived at all.
    pub received_any: bool,
}

#[derive(Default)]
struct HeldContent {
    text: Vec<String>,
    pictures: Vec<Vec<u8>>,
}

impl InputQueue {
    pub(crate) fn new(control: ControlState, host: Arc<HostConnection>, printer: Arc<Printer>, replay: bool) -> Self {
        Self {
            control,
            inbox: None,
            listened: false,
            queue: VecDeque::new(),
            held_content: HeldContent::default(),
            host,
            printer,
            replay,
            received_any: false,
        }
    }

    /// Adds a prompt that came from elsewhere.
    pub(crate) fn push_text(&mut self, text: String) {
        self.queue.push_back(QueuedPrompt { said: UserPrompt::from(&text), ..QueuedPrompt::default() });
    }

    pub(crate) fn listen(&mut self, inbox: mpsc::Receiver<IncomingMessage>) {
        self.inbox = Some(inbox);
        self.listened = true;
    }

    /// Whether prompts come from a program; otherwise there is a single one.
    pub(crate) fn is_driven(&self) -> bool {
        self.listened
    }

    /// Returns the next prompt, or `None` if there will be none.
    pub(crate) async fn next(&mut self) -> Option<UserPrompt> {
        let program = self.control.cancellation.program().clone();
        loop {
            if program.is_cancelled() {
                return None;
            }
            if let Some(prompt) = self.queue.pop_front() {
                return Some(self.begin_prompt(prompt));
            }
            self.inbox.as_ref()?;
            tokio::select! {
                biased;
                () = program.cancelled() => return None,
                incoming = receive(&mut self.inbox) => self.handle(incoming),
            }
        }
    }

    /// Does the work and handles what arrives in the meantime.
    pub(crate) async fn serve_while<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        self.control.busy = true;
        loop {
            tokio::select! {
                biased;
                done = &mut work => {
                    self.control.busy = false;
                    return done;
                }
                incoming = receive(&mut self.inbox) => self.handle(incoming),
            }
        }
    }

    fn begin_prompt(&mut self, mut prompt: QueuedPrompt) -> UserPrompt {
        // The row of the prompt has the id that the driving program gave, or is told: rewinds name it.
        let uuid = prompt.uuid.get_or_insert_with(|| CallId::random().0).clone();
        if self.replay {
            self.printer.send(&StreamMessage::User(UserMessage {
                message: prompt.message.take(),
                parent_tool_use_id: None,
                timestamp: clock::utc_millis(clock::now()),
                tool_use_result: None,
                is_replay: Some(true),
                uuid: prompt.uuid.clone(),
            }));
        }
        let mut held_content = std::mem::take(&mut self.held_content);
        let mut said = std::mem::take(&mut prompt.said);
        held_content.text.push(said.text);
        held_content.pictures.append(&mut said.pictures);
        UserPrompt {
            text: held_content.text.join("\n\n"),
            pictures: held_content.pictures,
            is_foreign: false,
            typed: None,
            uuid: Some(uuid),
        }
    }

    fn handle(&mut self, incoming: Option<IncomingMessage>) {
        let Some(incoming) = incoming else {
            self.inbox = None;
            // No open question will be answered.
            self.host.close();
            return;
        };
        self.received_any = true;
        match incoming {
            IncomingMessage::User(prompt) => self.enqueue(prompt),
            IncomingMessage::Response { id, answer } => self.host.answer(&id, answer),
            IncomingMessage::Request { id, request } => self.request(id, &request),
            // Requests are answered before the next line is read, so none can be cancelled.
            IncomingMessage::Cancel | IncomingMessage::KeepAlive => {}
            IncomingMessage::Invalid(why) => {
                self.printer.note(&format!("ona: {why}"));
                self.printer.send(&informational(why, Level::Error));
            }
        }
    }

    fn enqueue(&mut self, prompt: QueuedPrompt) {
        for problem in &prompt.problems {
            self.printer.note(&format!("ona: {problem}"));
            self.printer.send(&informational(problem.clone(), Level::Warning));
        }
        if prompt.held {
            self.held_content.text.push(prompt.said.text);
            self.held_content.pictures.extend(prompt.said.pictures);
        } else {
            self.queue.push_back(prompt);
        }
    }

    fn request(&mut self, id: Value, request: &Value) {
        let answer = match request["subtype"].as_str() {
            Some("interrupt") => Ok(self.interrupt(request)),
            Some("cancel_async_message") => Ok(self.cancel_queued(request)),
            Some("end_session") => {
                self.inbox = None;
                self.queue.clear();
                self.host.close();
                Ok(json!({}))
            }
            _ => self.control.answer(request),
        };
        let response = match answer {
            Ok(response) => Response::Success { request_id: id, response },
            Err(refused) => Response::Error { request_id: id, error: refused.why, error_code: refused.code },
        };
        self.printer.send(&StreamMessage::ControlResponse { response });
        self.control.announce(&self.printer);
    }

    /// Ends the running turn. Prompts that wait are listed, or cancelled with it.
    fn interrupt(&mut self, request: &Value) -> Value {
        self.control.cancellation.cancel_turn();
        let waiting = self.queue.iter().filter_map(|prompt| prompt.uuid.clone()).collect::<Vec<_>>();
        if request["cancel_queued"] == true {
            self.queue.clear();
            return json!({"still_queued": [], "cancelled": waiting});
        }
        json!({ "still_queued": waiting })
    }

    fn cancel_queued(&mut self, request: &Value) -> Value {
        let before = self.queue.len();
        self.queue.retain(|prompt| prompt.uuid.is_none() || request["message_uuid"] != json!(prompt.uuid));
        json!({"cancelled": self.queue.len() < before})
    }
}

/// Returns what arrives next; waits for ever without an inbox.
async fn receive(inbox: &mut Option<mpsc::Receiver<IncomingMessage>>) -> Option<IncomingMessage> {
    match inbox {
        Some(inbox) => inbox.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Protocol;
    use crate::input;

    /// A queue that has these lines as its input.
    fn queue(protocol: &Protocol, replay: bool, lines: &[Value]) -> InputQueue {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let (host, printer) = (Arc::clone(&protocol.host), Arc::clone(&protocol.printer));
        let mut queue = InputQueue::new(protocol.control(), host, printer, replay);
        queue.listen(input::read(std::io::Cursor::new(text)));
        queue
    }

    fn user(text: &str, uuid: &str) -> Value {
        json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": text}})
    }

    fn request(request: Value) -> Value {
        json!({"type": "control_request", "request_id": "r", "request": request})
    }

    #[tokio::test]
    async fn prompts_come_in_order_until_the_input_ends() {
        let protocol = Protocol::new();
        let mut held = user("for later", "u0");
        held["shouldQuery"] = json!(false);
        let mut queue = queue(&protocol, true, &[held, user("one", "u1"), user("two", "u2")]);
        assert_eq!(queue.next().await.unwrap().text, "for later\n\none");
        assert_eq!(queue.next().await.unwrap().text, "two");
        assert!(queue.next().await.is_none());
        let replayed: Vec<_> = protocol.output.take_messages().iter().map(|one| one["uuid"].clone()).collect();
        assert_eq!(replayed, ["u1", "u2"]);
    }

    #[tokio::test]
    async fn what_cannot_be_understood_is_named_and_the_rest_goes_on() {
        let protocol = Protocol::new();
        let mut queue = queue(&protocol, false, &[json!({"type": "dance"}), user("one", "u")]);
        assert_eq!(queue.next().await.unwrap().text, "one");
        assert!(protocol.output.notes()[0].contains("line 1 of stdin has the unknown type"));
        assert_eq!(protocol.output.take_messages()[0]["level"], "error");
    }

    #[tokio::test]
    async fn waiting_prompts_can_be_cancelled() {
        let protocol = Protocol::new();
        let cancel = request(json!({"subtype": "cancel_async_message", "message_uuid": "u1"}));
        let interrupt = request(json!({"subtype": "interrupt", "cancel_queued": true}));
        let mut queue = queue(&protocol, false, &[user("one", "u1"), user("two", "u2"), cancel, interrupt]);
        let token = queue.control.cancellation.token();
        // A turn that lasts until it is interrupted.
        queue.serve_while(token.cancelled()).await;
        assert!(queue.next().await.is_none());
        let answers: Vec<_> =
            protocol.output.take_messages().iter().map(|one| one["response"]["response"].clone()).collect();
        assert_eq!(answers, [json!({"cancelled": true}), json!({"still_queued": [], "cancelled": ["u2"]})]);
    }

    #[tokio::test]
    async fn an_answer_reaches_the_question_while_work_runs() {
        let protocol = Protocol::new();
        let (sender, inbox) = mpsc::channel(4);
        let mut queue =
            InputQueue::new(protocol.control(), Arc::clone(&protocol.host), Arc::clone(&protocol.printer), false);
        queue.listen(inbox);
        let asked = async {
            let never = tokio_util::sync::CancellationToken::new();
            let question = protocol.host.request(json!({"subtype": "can_use_tool"}), &never);
            let answered = async {
                tokio::task::yield_now().await;
                let id = protocol.output.take_messages()[0]["request_id"].as_str().unwrap().to_owned();
                sender.send(IncomingMessage::Response { id, answer: Ok(json!(7)) }).await.unwrap();
            };
            tokio::join!(question, answered).0
        };
        assert_eq!(queue.serve_while(asked).await, Ok(json!(7)));
    }

    #[tokio::test]
    async fn the_end_of_the_session_drops_what_waits() {
        let protocol = Protocol::new();
        let mut queue = queue(&protocol, false, &[request(json!({"subtype": "end_session"})), user("late", "u")]);
        assert!(queue.next().await.is_none());
        assert!(queue.received_any);
    }
}
