//! A copy of a session's transcript in a file, for hooks that need one
//! (`claudeCompat.transcriptPath`, DEC-062).
//!
//! The rows are the transcript; this is a copy that is never read back. It is in
//! a private folder, grows by what was committed since it was last asked
//! for, and goes with the process. Secrets were taken out when the rows were written.

use ona_api::{SessionId, digest};
use ona_hookplane::Base;
use ona_process::scratch::{self, Purpose, ScratchFolder};
use ona_store::Store;
use ona_transcript::{JsonlContext, JsonlWriter, Prices, RawRow};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub struct TranscriptFiles {
    store: Arc<Store>,
    scratch: PathBuf,
    version: String,
    prices: Prices,
    tell: Box<dyn Fn(String) + Send + Sync>,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    folder: Option<ScratchFolder>,
    by_session: HashMap<SessionId, Page>,
    is_over: bool,
    has_complained: bool,
}

struct Page {
    path: PathBuf,
    file: File,
    lines: JsonlWriter,
    /// The newest row in it.
    last: Option<i64>,
}

impl TranscriptFiles {
    /// `tell` is told once if no file can be made.
    pub fn new(
        store: Arc<Store>,
        scratch: impl Into<PathBuf>,
        version: &str,
        prices: Prices,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> Self {
        let (scratch, version) = (scratch.into(), version.to_owned());
        Self { store, scratch, version, prices, tell: Box::new(tell), pages: Mutex::default() }
    }

    /// The file of a session, brought up to date. `None` if there can be none: a hook is then
    /// told nothing, as it is without the setting.
    pub fn path(&self, base: &Base) -> Option<String> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.is_over {
            return None;
        }
        match self.update(&mut pages, base) {
            Ok(path) => path.to_str().map(str::to_owned),
            Err(error) => {
                if !std::mem::replace(&mut pages.has_complained, true) {
                    (self.tell)(format!("hooks get no transcript file: {error}"));
                }
                None
            }
        }
    }

    /// Removes everything. Later hooks get no file.
    pub fn end(&self) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.is_over = true;
        pages.by_session.clear();
        pages.folder = None;
    }

    fn update(&self, pages: &mut Pages, base: &Base) -> io::Result<PathBuf> {
        let folder = match &pages.folder {
            Some(folder) => folder.path().to_owned(),
            None => pages.folder.insert(scratch::folder(Purpose::Transcript, &self.scratch)?).path().to_owned(),
        };
        let page = match pages.by_session.get_mut(&base.session) {
            Some(page) => page,
            None => {
                let page = self.page(&folder, base)?;
                pages.by_session.entry(base.session.clone()).or_insert(page)
            }
        };
        let entries = self.store.reader().and_then(|reader| reader.history(&base.session, page.last));
        let entries = entries.map_err(io::Error::other)?;
        let rows: Vec<_> = entries
            .iter()
            .map(|entry| RawRow {
                sequence: entry.sequence,
                entry_type: &entry.entry_type,
                payload: &entry.payload,
                tool_use_id: entry.tool_use_id.as_deref(),
                created_at: &entry.created_at,
            })
            .collect();
        let lines = page.lines.take(&rows);
        page.file.write_all(lines.as_bytes())?;
        page.last = rows.last().map(|row| row.sequence).or(page.last);
        Ok(page.path.clone())
    }

    fn page(&self, folder: &Path, base: &Base) -> io::Result<Page> {
        // A chosen id may not be a valid file name.
        let id = base.session.as_str();
        let is_name = !id.is_empty() && id.len() < 100 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let name = if is_name { id.to_owned() } else { digest::sha256_hex(id.as_bytes()) };
        let path = folder.join(format!("{name}.jsonl"));
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        let lines = JsonlWriter::of(JsonlContext {
            session: base.session.clone(),
            is_subagent: base.agent_id.is_some(),
            cwd: base.cwd.to_string_lossy().into_owned(),
            version: self.version.clone(),
            prices: self.prices.clone(),
        });
        Ok(Page { path, file, lines, last: None })
    }
}

impl Drop for TranscriptFiles {
    fn drop(&mut self) {
        self.end();
    }
}
