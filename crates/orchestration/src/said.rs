//! What a person says: words, pictures beside them, and the files the words point at.
//!
//! Everything but the words becomes attachment rows directly behind the user row
//! (DEC-032): a picture as a picture, a text file as Read would show it, a folder as a
//! list. Naming a file is a person's consent to reading it, so what a mode would only ask
//! about is read inside the working directories. Deny rules, ask rules and the floor under
//! them hold as for any Read: a prompt may be piped in from somewhere else.

use crate::context;
use crate::mentions::{MOST, Mention, mentions};
use crate::pipeline::Pipeline;
use crate::records::{self, object};
use crate::session::Session;
use ona_api::{Access, Attachment, Authority, CallId, Entry, EventName, Group, Row, Ruling, ToolCall, ToolResult};
use ona_tools::{ToolBox, picture};
use serde_json::{Value, json};
use std::path::Path;

/// With base64 this stays below what providers accept for a whole request.
const MAX_DOCUMENT: usize = 20 * 1024 * 1024;
/// Names of a folder that are listed.
const LISTED: usize = 500;

#[derive(Clone, Debug, Default)]
pub struct Said {
    pub text: String,
    /// The bytes of pictures and PDF documents.
    pub pictures: Vec<Vec<u8>>,
    /// What was typed, where the text is that of a command.
    pub typed: Option<String>,
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

impl From<&String> for Said {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

/// The rows that follow the user row, and what the operator is to be told.
#[derive(Default)]
pub(crate) struct Beside {
    pub group: Group,
    pub messages: Vec<String>,
}

impl Beside {
    fn attach(&mut self, attachment: Attachment, path: Option<&Path>) {
        let mut fields = json!({"kind": attachment.kind, "media_type": attachment.media_type, "data": attachment.data});
        if let Some(path) = path {
            fields["path"] = json!(path.to_string_lossy());
        }
        self.row(fields);
    }

    fn text(&mut self, path: &Path, text: &str) {
        self.row(json!({"kind": "text", "source": "mention", "path": path.to_string_lossy(), "text": text}));
    }

    fn row(&mut self, fields: Value) {
        self.group.push(Row::Transcript(Entry::Attachment { attachment: object(fields), call: None }));
    }

    fn refuse(&mut self, what: &str, why: &str) {
        let message = format!("{what} was not attached: {}", why.trim_end_matches('.'));
        let fields = object(json!({ "message": message }));
        self.group.push(Row::Transcript(Entry::System { subtype: "not_attached", fields }));
        self.messages.push(message);
    }
}

impl Pipeline {
    /// Everything a prompt brings along.
    pub(crate) async fn beside(&self, session: &mut Session, said: &Said) -> Beside {
        let mut beside = Beside::default();
        for (number, bytes) in said.pictures.iter().cloned().enumerate() {
            match shown(bytes).await {
                Ok(attachment) => beside.attach(attachment, None),
                Err(why) => beside.refuse(&format!("Picture {}", number + 1), &why),
            }
        }
        let mentions = mentions(&said.text, &session.cx);
        for mention in mentions.iter().take(MOST) {
            match self.consent(session, mention).await {
                Err(why) => beside.refuse(&format!("@{}", mention.word), &why),
                Ok(()) if mention.is_folder => beside.text(&mention.path, &listing(&mention.path, session)),
                Ok(()) => self.read(session, mention, &mut beside).await,
            }
        }
        if mentions.len() > MOST {
            let more = mentions.len() - MOST;
            beside.refuse(&format!("{more} of {} files", mentions.len()), &format!("at most {MOST} at a time"));
        }
        beside
    }

    /// Whether what is mentioned may be read; if not, why.
    async fn consent(&self, session: &Session, mention: &Mention) -> Result<(), String> {
        let call = ToolCall {
            id: CallId::random(),
            name: "Read".into(),
            input: json!({"file_path": mention.path.to_string_lossy()}),
        };
        let access = [Access::Read(mention.path.clone())];
        let (mut verdict, inside) = session
            .with_rules(|rules| (rules.decide(&call.name, &call.input, &access, None), rules.is_inside(&mention.path)));
        let by_mode = matches!(verdict.by, Authority::Mode(_));
        if verdict.ruling == Ruling::Allow || by_mode && inside {
            return Ok(());
        }
        if verdict.ruling == Ruling::Ask {
            verdict = self.put(session, &call, &access, &verdict).await.verdict;
        }
        if verdict.is_allow() { Ok(()) } else { Err(verdict.message) }
    }

    /// As the Read tool does, and with what reading brings in.
    async fn read(&self, session: &mut Session, mention: &Mention, beside: &mut Beside) {
        let mut input = json!({"file_path": mention.path.to_string_lossy()});
        if let Some((first, count)) = mention.lines {
            input["offset"] = first.into();
            input["limit"] = count.into();
        }
        let tool = ToolBox::builtin().get("Read").expect("Read is built in");
        let result = match tool.plan(&input, &session.cx) {
            Ok(plan) => plan.run(&session.cx).await,
            Err(bad) => ToolResult::rejected(bad.to_string()),
        };
        if result.is_error() {
            return beside.refuse(&format!("@{}", mention.word), &result.content);
        }
        if result.attachments.is_empty() {
            beside.text(&mention.path, &result.content);
        }
        for attachment in result.attachments {
            beside.attach(attachment, Some(&mention.path));
        }
        records::seen(&mut beside.group, &result.seen, None);
        for (said, row) in context::brought_in(&self.hooks, session, &mention.path, None).await {
            records::chain(&mut beside.group, EventName::InstructionsLoaded, None, &said);
            beside.group.push(row);
        }
    }
}

/// A picture or document as a provider takes it; scaling runs on a thread of its own.
async fn shown(bytes: Vec<u8>) -> Result<Attachment, String> {
    if bytes.starts_with(b"%PDF-") {
        return match bytes.len() <= MAX_DOCUMENT {
            true => Ok(Attachment {
                kind: "document",
                media_type: "application/pdf".into(),
                data: ona_api::digest::base64(&bytes),
            }),
            false => Err(format!("a document may have {} MiB", MAX_DOCUMENT / 1024 / 1024)),
        };
    }
    match tokio::task::spawn_blocking(move || picture::fit(bytes)).await {
        Ok(Ok(fitted)) => Ok(fitted.into()),
        Ok(Err(unfit)) => Err(unfit.to_string()),
        Err(_) => Err("it can not be decoded".into()),
    }
}

/// The names in a folder that may be shown, folders with a slash.
fn listing(folder: &Path, session: &Session) -> String {
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) => return format!("{}/ can not be listed: {error}", folder.display()),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| (session.cx.may_show)(&entry.path()))
        .map(|entry| {
            let slash = if entry.path().is_dir() { "/" } else { "" };
            format!("{}{slash}", entry.file_name().to_string_lossy())
        })
        .collect();
    names.sort();
    let total = names.len();
    names.truncate(LISTED);
    let mut text = format!("{}/ ({total} {})", folder.display(), if total == 1 { "entry" } else { "entries" });
    for name in &names {
        text.push('\n');
        text.push_str(name);
    }
    if total > LISTED {
        text.push_str(&format!("\n[{} more are not listed.]", total - LISTED));
    }
    text
}
