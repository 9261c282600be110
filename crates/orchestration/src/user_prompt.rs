//! What a person says: words, pictures beside them, and the files the words point at.
//!
//! Everything but the words becomes attachment rows directly behind the user row
//! (DEC-032): a picture as a picture, a text file as Read would show it, a folder as a
//! list. Naming a file is a person's consent to reading it, so what a mode would only ask
//! about is read inside the working directories. Deny rules, ask rules and the floor under
//! them hold as for any Read: a prompt may be piped in from somewhere else.

use crate::assembly::{Profile, builtin_tools};
use crate::context;
use crate::mentions::{MOST, Mention, Mentions, ResourceMention, mentions, resource_mentions};
use crate::pipeline::{Pipeline, moved};
use crate::records::{self, object};
use crate::session::Session;
use ona_api::{
    Access, Attachment, Authority, CallId, Entry, EventName, Group, Row, Ruling, SystemEntry, ToolCall, ToolResult,
};
use ona_files::PathForms;
use ona_tools::image;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// With base64 this stays below what providers accept for a whole request.
const MAX_DOCUMENT: usize = 20 * 1024 * 1024;
/// Names of a folder that are listed.
const LISTED: usize = 500;
/// Names of a folder that are looked at.
const LOOKED_AT: usize = 10_000;

#[derive(Clone, Debug, Default)]
pub struct UserPrompt {
    pub text: String,
    /// The bytes of pictures and PDF documents.
    pub pictures: Vec<Vec<u8>>,
    /// What was typed, where the text is that of a command.
    pub typed: Option<String>,
    /// The text is a server's: files that it names are not what the person points at.
    pub is_foreign: bool,
    /// The id its row gets; a new one if absent.
    pub uuid: Option<String>,
}

impl From<&str> for UserPrompt {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

impl From<&String> for UserPrompt {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

/// The rows that follow the user row, and what the operator is to be told.
#[derive(Default)]
pub(crate) struct PromptAttachments {
    pub group: Group,
    pub messages: Vec<String>,
}

impl PromptAttachments {
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
        let entry = SystemEntry::NotAttached { message: message.clone() };
        self.group.push(Row::Transcript(Entry::System(entry)));
        self.messages.push(message);
    }
}

impl Pipeline {
    /// Everything a prompt brings along.
    pub(crate) async fn attachments(&self, session: &mut Session, said: &UserPrompt) -> PromptAttachments {
        let mut attachments = PromptAttachments::default();
        for (number, bytes) in said.pictures.iter().cloned().enumerate() {
            match shown(bytes).await {
                Ok(attachment) => attachments.attach(attachment, None),
                Err(why) => attachments.refuse(&format!("Picture {}", number + 1), &why),
            }
        }
        let words = if said.is_foreign { said.typed.as_deref().unwrap_or_default() } else { &said.text };
        self.resources(session, words, &mut attachments).await;
        let Mentions { found: mentions, missing } = mentions(words, &session.cx);
        for word in missing.iter().take(MOST) {
            attachments.refuse(&format!("@{word}"), "no such file or folder");
        }
        for mention in mentions.iter().take(MOST) {
            match self.consent(session, mention).await {
                Err(why) => attachments.refuse(&format!("@{}", mention.word), &why),
                Ok(judged) if mention.is_folder => match listing(&mention.path, &judged, session) {
                    Ok(text) => attachments.text(&mention.path, &text),
                    Err(why) => attachments.refuse(&format!("@{}", mention.word), &why),
                },
                Ok(judged) => self.read(session, mention, judged, &mut attachments).await,
            }
        }
        if mentions.len() > MOST {
            let more = mentions.len() - MOST;
            attachments.refuse(&format!("{more} of {} files", mentions.len()), &format!("at most {MOST} at a time"));
        }
        attachments
    }

    /// Resources of servers that the words point at, as `@server:uri`.
    async fn resources(&self, session: &Session, words: &str, attachments: &mut PromptAttachments) {
        const TOOL: &str = "ReadMcpResource";
        let Some(tool) = self.tools.get(TOOL) else { return };
        let servers = self.tools.resource_owners();
        for ResourceMention { server, uri } in resource_mentions(words, &servers) {
            let word = format!("@{server}:{uri}");
            let call =
                ToolCall { id: CallId::random(), name: TOOL.into(), input: json!({"server": server, "uri": uri}) };
            let verdict = session.with_rules(|rules| rules.decide(&call.name, &call.input, &[Access::Plain], None));
            let by_mode = matches!(verdict.by, Authority::Mode(_));
            let verdict = match verdict.ruling {
                Ruling::Ask if !by_mode => {
                    self.prompt_operator(session, &call, &[Access::Plain], &verdict).await.verdict
                }
                _ => verdict,
            };
            // Naming it is consent to what a mode would only ask about.
            if !verdict.is_allow() && !by_mode {
                attachments.refuse(&word, &verdict.message);
                continue;
            }
            let result = match Arc::clone(&tool).plan(&call.input, &session.cx) {
                Ok(plan) => plan.run(&session.cx).await,
                Err(bad) => ToolResult::rejected(bad.to_string()),
            };
            if result.is_error() {
                attachments.refuse(&word, &result.content);
                continue;
            }
            let text = json!({"kind": "text", "source": "mention", "path": word, "text": result.content});
            attachments.row(text);
            result.attachments.into_iter().for_each(|picture| attachments.attach(picture, None));
        }
    }

    /// Where what is mentioned leads, if that may be read; if not, why.
    async fn consent(&self, session: &Session, mention: &Mention) -> Result<Vec<PathForms>, String> {
        let call = ToolCall {
            id: CallId::random(),
            name: "Read".into(),
            input: json!({"file_path": mention.path.to_string_lossy()}),
        };
        let access = [Access::Read(mention.path.clone())];
        let judge = || {
            session.with_rules(|rules| {
                let (verdict, paths) = rules.decide_with_paths(&call.name, &call.input, &access, None);
                let inside = paths.iter().all(|path| rules.is_in_working_dirs(path));
                (verdict, paths, inside)
            })
        };
        let (mut verdict, paths, inside) = judge();
        let by_mode = matches!(verdict.by, Authority::Mode(_));
        if verdict.ruling == Ruling::Allow || by_mode && inside {
            return Ok(paths);
        }
        if verdict.ruling == Ruling::Ask {
            verdict = self.prompt_operator(session, &call, &access, &verdict).await.verdict;
        }
        if !verdict.is_allow() {
            return Err(verdict.message);
        }
        let (again, now, _) = judge();
        match moved(&paths, &now) {
            Some(denied) => Err(denied.message),
            None if again.ruling == Ruling::Deny && !matches!(again.by, Authority::Mode(_)) => Err(again.message),
            None => Ok(now),
        }
    }

    /// As the Read tool does, and with what reading brings in.
    async fn read(
        &self,
        session: &mut Session,
        mention: &Mention,
        judged: Vec<PathForms>,
        attachments: &mut PromptAttachments,
    ) {
        let mut input = json!({"file_path": mention.path.to_string_lossy()});
        if let Some((first, count)) = mention.lines {
            input["offset"] = first.into();
            input["limit"] = count.into();
        }
        let tool = builtin_tools(Profile::Mention).get("Read").expect("Read is built in");
        let result = match tool.plan(&input, &session.cx) {
            Ok(mut plan) => {
                plan.judged = Some(judged.into());
                plan.run(&session.cx).await
            }
            Err(bad) => ToolResult::rejected(bad.to_string()),
        };
        if result.is_error() {
            return attachments.refuse(&format!("@{}", mention.word), &result.content);
        }
        if result.attachments.is_empty() {
            attachments.text(&mention.path, &result.content);
        }
        for attachment in result.attachments {
            attachments.attach(attachment, Some(&mention.path));
        }
        records::seen(&mut attachments.group, &result.seen, None);
        for (said, row) in context::brought_in(&self.hooks, session, &mention.path, None).await {
            records::chain(&mut attachments.group, EventName::InstructionsLoaded, None, &said);
            attachments.group.push(row);
        }
        attachments.messages.extend(session.context.left_out());
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
    match tokio::task::spawn_blocking(move || image::fit(bytes)).await {
        Ok(Ok(fitted)) => Ok(fitted.into()),
        Ok(Err(unfit)) => Err(unfit.to_string()),
        Err(_) => Err("it cannot be decoded".into()),
    }
}

/// The names in a folder that may be shown, folders with a slash. It is opened where it was judged.
fn listing(folder: &Path, judged: &[PathForms], session: &Session) -> Result<String, String> {
    let real = judged.iter().find_map(|forms| forms.real.as_deref()).ok_or("it cannot be resolved")?;
    let open = ona_files::open_dir(real).map_err(|error| format!("it cannot be listed: {error}"))?;
    let mut names: Vec<String> = ona_files::names(&open, LOOKED_AT)
        .into_iter()
        .map(|name| folder.join(name))
        .filter(|path| (session.cx.may_show)(path))
        .map(|path| {
            let slash = if path.is_dir() { "/" } else { "" };
            format!("{}{slash}", path.file_name().unwrap_or_default().to_string_lossy())
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
    Ok(text)
}
