//! `ona sessions list|show|export`; `rewind` has a file of its own. A session is a query, never a file.

mod rewind;

use crate::args::{ExportFormat, Sessions};
use crate::output;
use ona_runtime::table::{Table, Tone, short_ids};
use ona_runtime::{Failure, Launch, ids, prices};
use ona_settings::Settings;

use ona_store::{SessionLine, StoredEntry};
use ona_transcript::{ExportHead, Prices, RawRow, UsageReport};
use serde_json::{Value, json};

pub(crate) fn run(launch: &Launch, command: &Sessions) -> Result<u8, Failure> {
    let store = launch.open_plain()?;
    let failed = |error| launch.store_failure(error);
    let reader = store.reader().map_err(failed)?;
    let (session, format, facts_only) = match command {
        Sessions::List { json } => {
            let conversation = ids::named_conversation(launch, reader)?;
            let lines = reader.sessions(conversation.as_ref()).map_err(failed)?;
            list(launch, &lines, *json);
            return Ok(0);
        }
        Sessions::Show { session, json, .. } => (session, ExportFormat::Markdown, *json),
        // Opens the database with the settings of the project, which say what may be changed.
        Sessions::Rewind(command) => return rewind::run(launch, command),
        Sessions::Export { session, format, .. } => (session, *format, false),
    };
    let id = ids::session_or_last(launch, reader, session.as_deref())?;
    let unknown = || Failure::usage(format_args!("session {id} does not exist")).hint("ona sessions list");
    let owner = ids::conversation_of(launch, reader, &id)?;
    let line = reader.sessions(Some(&owner)).map_err(failed)?.into_iter().find(|line| line.id == id);
    let line = line.ok_or_else(unknown)?;
    let account = ona_orchestration::session_usage(reader, &id).map_err(failed)?;
    let settings = reader.settings().map_err(failed)?;
    // A row nobody can read is named by the commands that need it.
    let settings = settings.and_then(|(json, _)| serde_json::from_str(&json).ok()).unwrap_or(Value::Null);
    let prices = prices(&Settings::read(&settings), &launch.notices);
    if facts_only {
        let mut facts = described(&line);
        facts["account"] = account.json(&prices);
        output::json(&facts);
        return Ok(0);
    }
    let entries = reader.history(&id, None).map_err(failed)?;
    let rows: Vec<_> = entries.iter().map(raw).collect();
    let head = head(line, account, prices);
    let text = match format {
        ExportFormat::Markdown => ona_transcript::markdown(&head, &rows),
        ExportFormat::Json => ona_transcript::json(&head, &rows),
        ExportFormat::Jsonl => ona_transcript::jsonl(&head, &rows),
    };
    output::line(text.trim_end_matches('\n'));
    Ok(0)
}

fn list(launch: &Launch, lines: &[SessionLine], as_json: bool) {
    if as_json {
        output::json(&lines.iter().map(described).collect());
        return;
    }
    let words_of = |line: &SessionLine| {
        let words = line.title.as_deref().or(line.first_user_text.as_deref()).unwrap_or("(nothing said yet)");
        ona_permissions::printable(words.lines().next().unwrap_or_default())
    };
    if let Some(style) = output::terminal_style(&launch.env).filter(|_| !lines.is_empty()) {
        let mut table = Table::new(["session", "used", "rows", "about"]);
        let ids: Vec<_> = lines.iter().map(|line| line.id.as_str()).collect();
        for (line, id) in lines.iter().zip(short_ids(&ids)) {
            let when = line.last_entry_at.as_deref().unwrap_or(&line.started_at);
            table.row([
                (id.to_owned(), Tone::Plain),
                (when.to_owned(), Tone::Secondary),
                (line.entries.to_string(), Tone::Secondary),
                (words_of(line), Tone::Plain),
            ]);
        }
        return table.lines(style).iter().for_each(output::line);
    }
    for line in lines {
        let words = words_of(line);
        let when = line.last_entry_at.as_deref().unwrap_or(&line.started_at);
        output::line(format_args!("{}  {when}  {:>5} rows  {words:.60}", line.id, line.entries));
    }
    if lines.is_empty() {
        output::note("No sessions.");
    }
}

fn described(line: &SessionLine) -> Value {
    json!({
        "session_id": line.id,
        "conversation_id": line.conversation,
        "parent": line.parent,
        "project_dir": line.project_dir,
        "started_at": line.started_at,
        "last_entry_at": line.last_entry_at,
        "entries": line.entries,
        "first_user_text": line.first_user_text,
        "title": line.title,
    })
}

fn head(line: SessionLine, account: UsageReport, prices: Prices) -> ExportHead {
    ExportHead {
        session: line.id,
        conversation: line.conversation,
        parent: line.parent,
        project_dir: line.project_dir,
        started_at: line.started_at,
        title: line.title,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        account,
        prices,
    }
}

fn raw(entry: &StoredEntry) -> RawRow<'_> {
    RawRow {
        sequence: entry.sequence,
        entry_type: &entry.entry_type,
        payload: &entry.payload,
        tool_use_id: entry.tool_use_id.as_deref(),
        created_at: &entry.created_at,
    }
}
