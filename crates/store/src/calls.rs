//! Recorded calls and what was consulted about them, as they are read back.
//!
//! What a hook meant by its output is decided in `dialects`, what the record shows of
//! a call in the program.

use crate::error::StoreError;
use crate::reader::Reader;
use ona_api::{CallId, SessionId};
use rusqlite::Row;
use serde_json::Value;
use std::collections::HashMap;

/// One run of a hook, or one that was skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRun {
    pub event: String,
    pub ordinal: i64,
    pub matcher: String,
    pub command: String,
    pub stdin: Value,
    pub exit_code: Option<i64>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    pub skipped: Option<String>,
    pub milliseconds: Option<f64>,
}

/// One answer about a call.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedDecision {
    pub decision: String,
    pub reason: Value,
}

/// A call of a session as its rows tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    pub id: CallId,
    pub session: SessionId,
    /// Where in the session it was made.
    pub sequence: i64,
    pub name: String,
    pub input: Value,
    /// What ran in the place of the input, if hooks changed it.
    pub effective_input: Option<Value>,
    /// What was said about it, in order; silent allows leave none.
    pub decisions: Vec<RecordedDecision>,
    /// The row that announced it, if it ran.
    pub started: Option<Value>,
    pub result: Option<Value>,
}

/// How long the runs of one hook took.
#[derive(Clone, Debug, PartialEq)]
pub struct HookTimes {
    pub event: String,
    pub command: String,
    /// In milliseconds, ascending.
    pub milliseconds: Vec<f64>,
}

/// The calls of a session in the order they were made. Their places are known at once and their
/// contents read in parts: a long session does not fit into memory as a whole.
pub struct RecordedCalls<'r> {
    reader: &'r Reader,
    session: SessionId,
    places: Vec<CallPlace>,
    next: usize,
}

/// Where a call and what is about it stand in its session.
struct CallPlace {
    id: String,
    sequence: i64,
    about: Vec<AboutCall>,
}

enum AboutCall {
    Result(i64),
    Hook(i64),
}

impl RecordedCalls<'_> {
    /// Returns how many calls there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns the next calls, without the rows that announced them; none after the last one.
    pub fn next_part(&mut self) -> Result<Vec<RecordedCall>, StoreError> {
        let end = self.places.len().min(self.next + AT_ONCE);
        let part = &self.places[self.next..end];
        let calls = part.iter().map(|place| self.reader.call_at(&self.session, place));
        let mut calls = calls.collect::<Result<Vec<_>, _>>()?;
        self.reader.add_decisions(&self.session, &mut calls)?;
        self.next = end;
        Ok(calls)
    }
}

const TOOK: &str = "(julianday(completed_at) - julianday(started_at)) * 86400000.0";
/// Of each hook the newest runs tell enough.
const NEWEST_RUNS: i64 = 1000;
/// Calls read at once.
const AT_ONCE: usize = 200;

impl Reader {
    /// Returns the sessions in which a call of this id was made, the newest first.
    pub fn sessions_of_call(&self, call: &CallId) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT session_id, max(id) AS newest FROM transcript_entries \
                   WHERE tool_use_id = ?1 AND entry_type = 'tool_use' GROUP BY session_id ORDER BY newest DESC";
        self.all(sql, [call.as_str()], |row| Ok(SessionId(row.get(0)?)))
    }

    /// One call with everything that was said about it.
    pub fn call(&self, session: &SessionId, call: &CallId) -> Result<Option<RecordedCall>, StoreError> {
        let sql = "SELECT max(sequence) FROM transcript_entries WHERE session_id = ?1 AND tool_use_id = ?2 \
                   AND entry_type = 'tool_use'";
        let made: Option<i64> = self.first(sql, [session.as_str(), call.as_str()], |row| row.get(0))?.flatten();
        let Some(sequence) = made else { return Ok(None) };
        let about = "SELECT entry_type = 'tool_result', sequence FROM transcript_entries WHERE session_id = ?1 \
                     AND sequence > ?2 AND tool_use_id = ?3 AND entry_type IN ('tool_result', 'internal_hook') \
                     ORDER BY sequence";
        let about = self.all(about, (session.as_str(), sequence, call.as_str()), |row| {
            let at = row.get(1)?;
            Ok(if row.get(0)? { AboutCall::Result(at) } else { AboutCall::Hook(at) })
        })?;
        let mut found = self.call_at(session, &CallPlace { id: call.0.clone(), sequence, about })?;
        self.add_decisions(session, std::slice::from_mut(&mut found))?;
        let started = "SELECT detail FROM events WHERE session_id = ?1 AND event_type = 'tool_started' \
                       AND json_extract(detail, '$.tool_use_id') = ?2 ORDER BY id DESC LIMIT 1";
        found.started = self.first(started, [session.as_str(), call.as_str()], |row| json(row, 0))?;
        Ok(Some(found))
    }

    /// Returns the newest call of a project's sessions.
    pub fn last_call(&self, project_dir: &str) -> Result<Option<CallId>, StoreError> {
        let sql = "SELECT t.tool_use_id FROM transcript_entries t JOIN sessions s ON s.session_id = t.session_id \
            JOIN conversations c ON c.id = s.conversation_id \
            WHERE t.entry_type = 'tool_use' AND t.tool_use_id IS NOT NULL AND c.project_dir = ?1 \
            ORDER BY t.id DESC LIMIT 1";
        self.first(sql, [project_dir], |row| Ok(CallId(row.get(0)?)))
    }

    /// Returns the ids of the newest calls, the newest first.
    pub fn newest_calls(&self, most: usize) -> Result<Vec<CallId>, StoreError> {
        let sql = "SELECT tool_use_id FROM transcript_entries WHERE entry_type = 'tool_use' AND tool_use_id IS NOT NULL \
            GROUP BY tool_use_id ORDER BY max(id) DESC LIMIT ?1";
        self.all(sql, [most as i64], |row| Ok(CallId(row.get(0)?)))
    }

    /// Returns the calls of a session, to be read in parts.
    pub fn calls(&self, session: &SessionId) -> Result<RecordedCalls<'_>, StoreError> {
        let sql = "SELECT entry_type, tool_use_id, sequence FROM transcript_entries WHERE session_id = ?1 \
                   AND tool_use_id IS NOT NULL AND entry_type IN ('tool_use', 'tool_result', 'internal_hook') \
                   ORDER BY sequence";
        let mut places = Vec::new();
        let mut newest = HashMap::new();
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([session.as_str()])?;
        while let Some(row) = rows.next()? {
            let (kind, id, sequence) = (row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get(2)?);
            let about = match kind.as_str() {
                "tool_use" => {
                    newest.insert(id.clone(), places.len());
                    places.push(CallPlace { id, sequence, about: Vec::new() });
                    continue;
                }
                "tool_result" => AboutCall::Result(sequence),
                _ => AboutCall::Hook(sequence),
            };
            // An id that was used again is another call.
            if let Some(place) = newest.get(&id).and_then(|index| places.get_mut(*index)) {
                place.about.push(about);
            }
        }
        drop(rows);
        drop(statement);
        drop(connection);
        Ok(RecordedCalls { reader: self, session: session.clone(), places, next: 0 })
    }

    /// The call made at a place, without decisions and the row that announced it.
    fn call_at(&self, session: &SessionId, place: &CallPlace) -> Result<RecordedCall, StoreError> {
        let sql = "SELECT payload_json FROM transcript_entries WHERE session_id = ?1 AND sequence = ?2";
        let payload = |sequence: i64| -> Result<Value, StoreError> {
            let found = self.first(sql, (session.as_str(), sequence), |row| json(row, 0))?;
            Ok(found.unwrap_or_default())
        };
        let mut made = payload(place.sequence)?;
        let mut call = RecordedCall {
            id: CallId::from(place.id.as_str()),
            session: session.clone(),
            sequence: place.sequence,
            name: made["name"].as_str().unwrap_or_default().to_owned(),
            input: made["input"].take(),
            effective_input: None,
            decisions: Vec::new(),
            started: None,
            result: None,
        };
        for about in &place.about {
            match about {
                AboutCall::Result(sequence) => call.result = Some(payload(*sequence)?),
                AboutCall::Hook(sequence) => {
                    if let Some(input) = payload(*sequence)?.get_mut("effective_input") {
                        call.effective_input = Some(input.take());
                    }
                }
            }
        }
        Ok(call)
    }

    /// Adds what was said about these calls of a session.
    fn add_decisions(&self, session: &SessionId, calls: &mut [RecordedCall]) -> Result<(), StoreError> {
        let at: HashMap<_, _> = calls.iter().enumerate().map(|(index, call)| (call.id.0.clone(), index)).collect();
        let ids = serde_json::json!(calls.iter().map(|call| &call.id).collect::<Vec<_>>()).to_string();
        let log = "SELECT tool_use_id, decision, reason_json FROM tool_permission_log WHERE session_id = ?1 \
                   AND tool_use_id IN (SELECT value FROM json_each(?2)) ORDER BY id";
        for (id, decision, reason) in
            self.all(log, [session.as_str(), &ids], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, json(row, 2)?)))?
        {
            if let Some(index) = at.get(&id) {
                calls[*index].decisions.push(RecordedDecision { decision, reason });
            }
        }
        Ok(())
    }

    /// Returns what hooks did about one call, in the order they ran.
    pub fn hook_runs(&self, session: &SessionId, call: &CallId) -> Result<Vec<RecordedRun>, StoreError> {
        let sql = format!(
            "SELECT hook_event, hook_ordinal, matcher, command, input_json, exit_code, stdout_text, stderr_text, \
             skipped_reason, {TOOK} FROM hook_invocations WHERE session_id = ?1 AND tool_use_id = ?2 ORDER BY id"
        );
        self.all(&sql, [session.as_str(), call.as_str()], recorded_run)
    }

    /// Returns what a hook did when it was run last, or skipped, in any session.
    pub fn newest_hook_run(&self, event: &str, command: &str) -> Result<Option<RecordedRun>, StoreError> {
        let sql = format!(
            "SELECT hook_event, hook_ordinal, matcher, command, input_json, exit_code, stdout_text, stderr_text, \
             skipped_reason, {TOOK} FROM hook_invocations WHERE hook_event = ?1 AND command = ?2 \
             ORDER BY id DESC LIMIT 1"
        );
        self.first(&sql, [event, command], recorded_run)
    }

    /// Returns how long each hook took, of the newest runs of all sessions.
    pub fn hook_times(&self) -> Result<Vec<HookTimes>, StoreError> {
        let sql = format!(
            "SELECT hook_event, command, took FROM (SELECT hook_event, command, {TOOK} AS took, \
             row_number() OVER (PARTITION BY hook_event, command ORDER BY id DESC) AS age FROM hook_invocations \
             WHERE completed_at IS NOT NULL) WHERE age <= {NEWEST_RUNS} ORDER BY hook_event, command, took"
        );
        let mut times: Vec<HookTimes> = Vec::new();
        for (event, command, took) in
            self.all(&sql, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, f64>(2)?)))?
        {
            match times.last_mut().filter(|last| last.event == event && last.command == command) {
                Some(last) => last.milliseconds.push(took),
                None => times.push(HookTimes { event, command, milliseconds: vec![took] }),
            }
        }
        Ok(times)
    }
}

fn recorded_run(row: &Row<'_>) -> rusqlite::Result<RecordedRun> {
    Ok(RecordedRun {
        event: row.get(0)?,
        ordinal: row.get(1)?,
        matcher: row.get(2)?,
        command: row.get(3)?,
        stdin: json(row, 4)?,
        exit_code: row.get(5)?,
        stdout: row.get(6)?,
        stderr: row.get(7)?,
        skipped: row.get(8)?,
        milliseconds: row.get(9)?,
    })
}

/// Parses a column of JSON text; text that is not JSON is returned as a string.
fn json(row: &Row<'_>, column: usize) -> rusqlite::Result<Value> {
    let text: Option<String> = row.get(column)?;
    Ok(text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
}
