//! Contents of files as they were before a session changed them: `sdlc_file_changes` says what
//! happened to which file, `sdlc_kept_content` holds each content once, by its SHA-256.
//!
//! Content that holds a credential, known or recognised by its form, is not stored (section 2.8):
//! replacing the credential would restore another file than there was. The row then says why
//! the content is missing. Contents are deflated where that makes them smaller. What is too much is dropped,
//! the content used longest ago first, and an event says so.
//!
//! What is kept when, and what is restored, is decided by the caller.

use crate::error::StoreError;
use crate::reader::Reader;
use crate::redaction;
use crate::row_writer::{Cell, RowWriter, cells};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use ona_api::{
    BeforeChange, ChangeOrigin, ChangedFile, FileNow, KeptFile, LoggedEvent, SessionId, WhyUnkept, digest,
    path_of_text, path_text,
};
use rusqlite::Row;
use std::borrow::Cow;
use std::io::{Read, Write};
use std::path::PathBuf;

/// One row of `sdlc_file_changes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub sequence: i64,
    /// `None` if the path itself could not be stored.
    pub path: Option<PathBuf>,
    /// The path as it is stored.
    pub shown: String,
    pub before: StoredBefore,
    /// How the change left it; `None` while it runs, and if it was cut short.
    pub after: Option<FileNow>,
    /// Whether `after` is how the file was left, and not only what was planned.
    pub settled: bool,
}

/// How a file was before a change, with the digest of its kept content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredBefore {
    Absent,
    File { sha256: String, mode: u32 },
    Unkept(WhyUnkept),
}

/// Adds the first change of a prompt to a file; a later one of the same prompt changes nothing.
pub(crate) fn keep(writer: &RowWriter<'_>, kept: &KeptFile) -> Result<(), StoreError> {
    let session = kept.session.as_str();
    let sequence = sequence(writer, session, kept.origin)?;
    let path = path_text(&kept.path);
    let known = "SELECT 1 FROM sdlc_file_changes WHERE session_id = ?1 AND sequence = ?2 AND path = ?3";
    if writer.first(known, cells![session, sequence, &path], |row| row.get::<_, i64>(0))?.is_some() {
        return Ok(());
    }
    let unkept = |why: WhyUnkept| ("unkept", None, None, Some(why.as_str()));
    let (kind, sha256, mode, why) = match &kept.before {
        BeforeChange::Absent => ("absent", None, None, None),
        BeforeChange::Unkept(why) => unkept(*why),
        BeforeChange::File { .. } if matches!(writer.clean(&path), Cow::Owned(_)) => unkept(WhyUnkept::Secret),
        BeforeChange::File { content, .. } if holds_secret(writer, content) => unkept(WhyUnkept::Secret),
        BeforeChange::File { content, mode } => {
            ("file", Some(put_content(writer, content)?), Some(i64::from(*mode)), None)
        }
    };
    let sql = "INSERT INTO sdlc_file_changes(session_id, sequence, path, before_kind, before_sha256, before_mode, \
               before_why) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    writer.run(sql, cells![session, sequence, &path, kind, sha256.as_deref(), mode, why])?;
    match &kept.planned {
        Some(now) => set_after(writer, session, sequence, &path, now, 0),
        None => Ok(()),
    }
}

/// Records how a file was left. A file that was not kept has nothing to settle.
pub(crate) fn settle(writer: &RowWriter<'_>, changed: &ChangedFile) -> Result<(), StoreError> {
    let session = changed.session.as_str();
    let sequence = sequence(writer, session, changed.origin)?;
    set_after(writer, session, sequence, &path_text(&changed.path), &changed.now, 1)
}

fn set_after(
    writer: &RowWriter<'_>,
    session: &str,
    sequence: i64,
    path: &str,
    now: &FileNow,
    settled: i64,
) -> Result<(), StoreError> {
    let (kind, sha256, mode) = match now {
        FileNow::Absent => ("absent", None, None),
        FileNow::File { sha256, mode } => ("file", Some(sha256.as_str()), Some(i64::from(*mode))),
        FileNow::Other => ("other", None, None),
    };
    let sql = "UPDATE sdlc_file_changes SET after_kind = ?4, after_sha256 = ?5, after_mode = ?6, settled = ?7 \
               WHERE session_id = ?1 AND sequence = ?2 AND path = ?3";
    writer.run(sql, cells![session, sequence, path, kind, sha256, mode, settled])?;
    Ok(())
}

fn sequence(writer: &RowWriter<'_>, session: &str, origin: ChangeOrigin) -> Result<i64, StoreError> {
    match origin {
        ChangeOrigin::Prompt(sequence) => Ok(sequence),
        ChangeOrigin::NewestRow => {
            let sql = "SELECT coalesce(max(sequence), 0) FROM transcript_entries WHERE session_id = ?1";
            Ok(writer.first(sql, cells![session], |row| row.get(0))?.unwrap_or(0))
        }
    }
}

/// Whether the bytes hold what would have to be replaced in a text. Looked for in the text they are, and
/// again without zeros, which is how ASCII looks in UTF-16.
fn holds_secret(writer: &RowWriter<'_>, content: &[u8]) -> bool {
    let found = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        matches!(redaction::text(writer.redactor, &text), Cow::Owned(_))
    };
    found(content)
        || content.contains(&0) && found(&content.iter().copied().filter(|byte| *byte != 0).collect::<Vec<_>>())
}

fn put_content(writer: &RowWriter<'_>, content: &[u8]) -> Result<String, StoreError> {
    let sha256 = digest::sha256_hex(content);
    let known = "SELECT 1 FROM sdlc_kept_content WHERE sha256 = ?1";
    if writer.first(known, cells![&sha256], |row| row.get::<_, i64>(0))?.is_some() {
        return Ok(sha256);
    }
    let smaller = deflated(content);
    let stored = smaller.as_deref().unwrap_or(content);
    let length = |bytes: &[u8]| i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let sql = "INSERT INTO sdlc_kept_content(sha256, size, stored_size, deflated, content) VALUES (?1, ?2, ?3, ?4, ?5)";
    let is_deflated = i64::from(smaller.is_some());
    writer.run(
        sql,
        &[
            Cell::Text(&sha256),
            Cell::Int(length(content)),
            Cell::Int(length(stored)),
            Cell::Int(is_deflated),
            Cell::Clean(stored),
        ],
    )?;
    Ok(sha256)
}

fn deflated(content: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Writing to a vector cannot fail; if it did, the content would be stored as it is.
    let bytes = encoder.write_all(content).and_then(|()| encoder.finish()).ok()?;
    (bytes.len() < content.len()).then_some(bytes)
}

/// Drops contents until those of the session, and then those of the database, fit; returns what was dropped.
pub(crate) fn limit(
    writer: &RowWriter<'_>,
    session: &SessionId,
    session_bytes: u64,
    database_bytes: u64,
) -> Result<Vec<LoggedEvent>, StoreError> {
    let of_session = "SELECT c.before_sha256, k.stored_size FROM (SELECT before_sha256, max(id) AS newest \
        FROM sdlc_file_changes WHERE session_id = ?1 AND before_sha256 IS NOT NULL GROUP BY before_sha256) c \
        JOIN sdlc_kept_content k ON k.sha256 = c.before_sha256 ORDER BY c.newest";
    let of_all = "SELECT k.sha256, k.stored_size FROM sdlc_kept_content k ORDER BY \
        (SELECT coalesce(max(id), 0) FROM sdlc_file_changes WHERE before_sha256 = k.sha256)";
    let total = "SELECT coalesce(sum(stored_size), 0) FROM sdlc_kept_content";
    let total: i64 = writer.first(total, &[], |row| row.get(0))?.unwrap_or(0);
    let mut events = Vec::new();
    let whose: &[Cell<'_>] = cells![session.as_str()];
    let limits = [("session", of_session, whose, session_bytes), ("database", of_all, &[], database_bytes)];
    for (limit, contents, whose, most) in limits {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        // Everything that is kept is the most that a session can have.
        if total <= most {
            continue;
        }
        let stored = writer.pairs(contents, whose)?;
        let mut left: i64 = stored.iter().map(|(_, size)| size).sum();
        let (mut count, mut bytes) = (0, 0);
        for (sha256, size) in &stored {
            if left <= most {
                break;
            }
            drop_content(writer, sha256)?;
            left -= size;
            count += 1;
            bytes += u64::try_from(*size).unwrap_or(0);
        }
        if count > 0 {
            events.push(LoggedEvent::KeptContentDropped { contents: count, bytes, limit });
        }
    }
    Ok(events)
}

fn drop_content(writer: &RowWriter<'_>, sha256: &str) -> Result<(), StoreError> {
    let marked = "UPDATE sdlc_file_changes SET before_kind = 'unkept', before_why = ?2, before_sha256 = NULL \
                  WHERE before_sha256 = ?1";
    writer.run(marked, cells![sha256, WhyUnkept::Dropped.as_str()])?;
    writer.run("DELETE FROM sdlc_kept_content WHERE sha256 = ?1", cells![sha256])?;
    Ok(())
}

const CHANGES: &str = "SELECT sequence, path, before_kind, before_sha256, before_mode, before_why, after_kind, \
    after_sha256, after_mode, settled FROM sdlc_file_changes WHERE session_id = ?1 AND sequence >= ?2 ORDER BY sequence, id";

impl Reader {
    /// Returns what a session did to files from this row of its transcript on, oldest first.
    pub fn file_changes(&self, session: &SessionId, from: i64) -> Result<Vec<FileChange>, StoreError> {
        self.all(CHANGES, (session.as_str(), from), change)
    }

    /// Returns a content that was kept; `None` if it is missing or not the one that was kept.
    pub fn kept_content(&self, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT size, deflated, content FROM sdlc_kept_content WHERE sha256 = ?1";
        let stored = self.first(sql, [sha256], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)? != 0, row.get::<_, Vec<u8>>(2)?))
        })?;
        let Some((size, is_deflated, stored)) = stored else { return Ok(None) };
        let content = if is_deflated {
            let mut content = Vec::new();
            // Only foreign SQL can have stored what inflates to something else.
            let most = u64::try_from(size).unwrap_or(0) + 1;
            DeflateDecoder::new(&stored[..]).take(most).read_to_end(&mut content).ok().map(|_| content)
        } else {
            Some(stored)
        };
        Ok(content.filter(|content| digest::sha256_hex(content) == sha256))
    }

    /// Returns the sequence number of the newest prompt or other words of the user in a session.
    pub fn newest_prompt(&self, session: &SessionId) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT sequence FROM transcript_entries WHERE session_id = ?1 AND entry_type = 'user' \
                   ORDER BY sequence DESC LIMIT 1";
        self.first(sql, [session.as_str()], |row| row.get(0))
    }
}

fn change(row: &Row<'_>) -> rusqlite::Result<FileChange> {
    let text = |column| row.get::<_, Option<String>>(column);
    let mode = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<u32>>(column)?.unwrap_or(0o600) & 0o7777);
    let shown: String = row.get(1)?;
    // What only foreign SQL can have written is not restored.
    let before = match (text(2)?.as_deref(), text(3)?) {
        (Some("absent"), _) => StoredBefore::Absent,
        (Some("file"), Some(sha256)) => StoredBefore::File { sha256, mode: mode(4)? },
        _ => StoredBefore::Unkept(text(5)?.as_deref().and_then(WhyUnkept::from_text).unwrap_or(WhyUnkept::Unreadable)),
    };
    let after = match (text(6)?.as_deref(), text(7)?) {
        (None, _) => None,
        (Some("absent"), _) => Some(FileNow::Absent),
        (Some("file"), Some(sha256)) => Some(FileNow::File { sha256, mode: mode(8)? }),
        (Some(_), _) => Some(FileNow::Other),
    };
    Ok(FileChange {
        sequence: row.get(0)?,
        path: path_of_text(&shown),
        shown,
        before,
        after,
        settled: row.get::<_, i64>(9)? != 0,
    })
}
