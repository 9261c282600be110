//! What holds after every event, read with SQLite from outside.
//!
//! The database is sound; every commit group (DEC-017) is whole or absent; what was printed as
//! final is in the rows (DEC-194); no body ran twice or without a committed decision (DEC-024).

use crate::scene::Scene;
use crate::violation::{Checked, Class};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// What was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub messages: u64,
    pub bodies: u64,
}

pub(crate) fn check(scene: &Scene) -> Checked<Seen> {
    let db = scene.connection()?;
    sound(&db)?;
    for (what, sql) in WHOLE {
        none(&db, what, sql)?;
    }
    if let Some(why) = scene.bad_request() {
        return Err(Class::Torn.of(format!("a request that no provider takes: {why}")));
    }
    Ok(Seen { messages: printed(&db, scene)?, bodies: bodies(&db, scene)? })
}

fn sound(db: &Connection) -> Checked {
    let verdict: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(Class::Damaged.of(format!("integrity_check: {verdict}")));
    }
    none(db, "a foreign key leads nowhere", "SELECT \"table\" || ' ' || rowid FROM pragma_foreign_key_check")
}

/// Each query returns one text per violation.
const WHOLE: [(&str, &str); 11] = [
    (
        "a session's sequence has a gap",
        "SELECT session_id FROM transcript_entries GROUP BY session_id
         HAVING max(sequence) - min(sequence) + 1 <> count(*)",
    ),
    (
        "a prompt without its hook row, or the other way round",
        "SELECT s.session_id FROM sessions s
         WHERE NOT EXISTS (SELECT 1 FROM state WHERE key = 'session_parent:' || s.session_id)
         AND (SELECT count(*) FROM transcript_entries t WHERE t.session_id = s.session_id AND (t.entry_type = 'user'
           OR t.entry_type = 'system' AND json_extract(t.payload_json, '$.subtype') = 'prompt_blocked'))
          <> (SELECT count(*) FROM hook_invocations h WHERE h.session_id = s.session_id AND h.hook_event = 'UserPromptSubmit')",
    ),
    (
        "an assistant row without all of its tool_use rows",
        "SELECT a.session_id || ' ' || a.sequence FROM transcript_entries a, json_each(a.payload_json, '$.message.content') block
         WHERE a.entry_type = 'assistant' AND json_extract(block.value, '$.type') = 'tool_use' AND NOT EXISTS
          (SELECT 1 FROM transcript_entries u WHERE u.session_id = a.session_id AND u.entry_type = 'tool_use'
           AND u.tool_use_id = json_extract(block.value, '$.id'))",
    ),
    (
        "a result without its call",
        "SELECT t.tool_use_id FROM transcript_entries t WHERE t.entry_type = 'tool_result' AND NOT EXISTS
         (SELECT 1 FROM transcript_entries u WHERE u.entry_type = 'tool_use' AND u.tool_use_id = t.tool_use_id
          AND u.session_id = t.session_id)",
    ),
    (
        "two results of one call",
        "SELECT tool_use_id FROM transcript_entries WHERE entry_type = 'tool_result' GROUP BY session_id, tool_use_id
         HAVING count(*) > 1",
    ),
    (
        "a result without a committed decision",
        "SELECT t.tool_use_id FROM transcript_entries t WHERE t.entry_type = 'tool_result'
         AND json_extract(t.payload_json, '$.is_error') = 0 AND (t.session_id, t.tool_use_id) NOT IN
         (SELECT session_id, json_extract(detail, '$.tool_use_id') FROM events
          WHERE event_type = 'tool_started' AND session_id IS NOT NULL AND detail ->> '$.tool_use_id' IS NOT NULL)",
    ),
    (
        "two decisions of one call",
        "SELECT json_extract(detail, '$.tool_use_id') FROM events WHERE event_type = 'tool_started'
         GROUP BY session_id, 1 HAVING count(*) > 1",
    ),
    (
        "a permission row without the result of its call",
        "SELECT p.tool_use_id FROM tool_permission_log p WHERE NOT EXISTS
         (SELECT 1 FROM transcript_entries t WHERE t.entry_type = 'tool_result' AND t.tool_use_id = p.tool_use_id
          AND t.session_id = p.session_id)",
    ),
    (
        "hook rows of a call without its result",
        "SELECT h.tool_use_id FROM hook_invocations h WHERE h.tool_use_id IS NOT NULL AND NOT EXISTS
         (SELECT 1 FROM transcript_entries t WHERE t.entry_type = 'tool_result' AND t.tool_use_id = h.tool_use_id
          AND t.session_id = h.session_id)",
    ),
    (
        "a result without all of its hook rows",
        "SELECT t.tool_use_id FROM transcript_entries t WHERE t.entry_type = 'tool_result'
         AND json_extract(t.payload_json, '$.is_error') = 0
         AND ((SELECT count(*) FROM hook_invocations h WHERE h.tool_use_id = t.tool_use_id AND h.session_id = t.session_id
           AND h.hook_event = 'PreToolUse') = 0
          OR (SELECT count(*) FROM hook_invocations h WHERE h.tool_use_id = t.tool_use_id AND h.session_id = t.session_id
           AND h.hook_event = 'PostToolUse') = 0)",
    ),
    (
        "the chain of groups has a gap",
        "SELECT 'group ' || group_id FROM sdlc_chain c WHERE group_id > 1 AND NOT EXISTS
         (SELECT 1 FROM sdlc_chain b WHERE b.group_id = c.group_id - 1)",
    ),
];

fn none(db: &Connection, what: &str, sql: &str) -> Checked {
    let mut statement = db.prepare(sql)?;
    let found: Result<Vec<String>, _> = statement.query_map([], |row| row.get(0))?.collect();
    match found?.as_slice() {
        [] => Ok(()),
        found => Err(Class::Torn.of(format!("{what}: {}", found.join(", ")))),
    }
}

/// Final messages are printed after their commit. Returns how many there were.
fn printed(db: &Connection, scene: &Scene) -> Checked<u64> {
    let lines = scene.printed_lines();
    if lines.is_empty() {
        return Ok(0);
    }
    let texts = column(db, "SELECT payload_json FROM transcript_entries WHERE entry_type = 'assistant'")?.join("\n");
    let ids = |kind: &str| {
        let sql = format!("SELECT tool_use_id FROM transcript_entries WHERE entry_type = '{kind}'");
        Ok::<_, crate::violation::Violation>(column(db, &sql)?.into_iter().collect::<HashSet<_>>())
    };
    let (calls, results) = (ids("tool_use")?, ids("tool_result")?);
    let mut messages = 0;
    for line in lines.iter().filter(|line| line["provisional"] != true) {
        let lost = |what: &Value| Err(Class::Lost.of(format!("printed as {} and not committed: {what}", line["type"])));
        let known = |text: &Value| text.as_str().is_none_or(|text| texts.contains(text));
        // The answer of --eval.
        if let Some(id) = line["tool_use_id"].as_str().filter(|_| line["type"].is_null()) {
            messages += 1;
            if !results.contains(id) {
                return lost(&line["tool_use_id"]);
            }
        }
        let blocks = line["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        match line["type"].as_str() {
            Some("assistant" | "user") => {
                messages += 1;
                for block in blocks {
                    let id = |name: &str| block[name].as_str().unwrap_or_default();
                    let is_there = match block["type"].as_str() {
                        Some("text") => line["type"] == "user" || known(&block["text"]),
                        Some("tool_use") => calls.contains(id("id")),
                        Some("tool_result") => results.contains(id("tool_use_id")),
                        _ => true,
                    };
                    if !is_there {
                        return lost(block);
                    }
                }
            }
            Some("result") if line["is_error"] == false => {
                messages += 1;
                if !known(&line["result"]) {
                    return lost(&line["result"]);
                }
            }
            _ => {}
        }
    }
    Ok(messages)
}

/// Each token was written at most once, by a call whose decision is committed; and by each call
/// that has a good result. Returns how many there were.
fn bodies(db: &Connection, scene: &Scene) -> Checked<u64> {
    let written = scene.tokens_written();
    let mut once = HashSet::new();
    for token in &written {
        if !once.insert(token.as_str()) {
            return Err(Class::DoubleRun.of(format!("the command that writes {token} ran twice")));
        }
    }
    let mut commands = db.prepare(
        "SELECT u.payload_json,
           (u.session_id, u.tool_use_id) IN (SELECT session_id, json_extract(detail, '$.tool_use_id') FROM events
             WHERE event_type = 'tool_started' AND session_id IS NOT NULL AND detail ->> '$.tool_use_id' IS NOT NULL),
           (u.session_id, u.tool_use_id) IN (SELECT session_id, tool_use_id FROM transcript_entries
             WHERE entry_type = 'tool_result' AND json_extract(payload_json, '$.is_error') = 0 AND tool_use_id IS NOT NULL)
         FROM transcript_entries u WHERE u.entry_type = 'tool_use'",
    )?;
    let rows = commands.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut decided = HashMap::new();
    for row in rows {
        let (command, started, good): (String, bool, bool) = row?;
        let Some(token) = token_in(&command) else { continue };
        decided.insert(token.to_owned(), started);
        if good && !once.contains(token) {
            return Err(Class::Lost.of(format!("{token} has a good result and was never written")));
        }
    }
    match written.iter().find(|token| decided.get(token.as_str()) != Some(&true)) {
        Some(token) => Err(Class::Torn.of(format!("{token} was written without a committed decision"))),
        None => Ok(written.len() as u64),
    }
}

/// `mark-7` in a command that writes it.
fn token_in(command: &str) -> Option<&str> {
    let start = command.find("mark-")?;
    let digits = command[start + 5..].find(|c: char| !c.is_ascii_digit()).unwrap_or(command.len() - start - 5);
    Some(&command[start..start + 5 + digits])
}

fn column(db: &Connection, sql: &str) -> Checked<Vec<String>> {
    let mut statement = db.prepare(sql)?;
    let values: Result<Vec<String>, _> = statement.query_map([], |row| row.get(0))?.collect();
    Ok(values?)
}

#[cfg(test)]
mod tests {
    use super::token_in;

    #[test]
    fn a_token_ends_with_its_digits() {
        assert_eq!(token_in("echo mark-12 >> marks"), Some("mark-12"));
        assert_eq!(token_in("echo mark-3"), Some("mark-3"));
        assert_eq!(token_in("echo hi"), None);
    }
}
