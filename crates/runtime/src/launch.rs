//! How this process was started: environment, directory, project, database, options.

use crate::agent_shell;
use crate::failure::{Failure, FailureKind};
use crate::folder_trust::{self, FolderContents};
use crate::notices::Notices;
use crate::options::Options;
use ona_api::redact::secrets_of;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{ConversationId, Env, Group, LoggedEvent, Redactor, Row, SessionId, environment};
use ona_auth::{CredentialStore, LoginSource};
use ona_settings::Settings;
use ona_store::{LockError, Reader, SessionLock, SettingsLock, Store, StoreError};
use ona_trust::{
    BadFiles, Compatible, DatabasePath, DiscoveredSettings, DiscoveryOptions, FlagSettings, ImportAction, ImportMode,
    ImportRecord, Merged, NoticeKind, StoredSettings, Trust, TrustFlag, TrustState, database_path, discover, merge,
    project_root, trust_digests_key, trust_key, trust_state,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub struct Launch {
    pub env: Env,
    pub cwd: PathBuf,
    pub project: PathBuf,
    pub database: DatabasePath,
    pub options: Options,
    pub notices: Notices,
    /// Started by the agent itself on the agent's own database (DEC-071): it has
    /// none of the operator's privileges.
    pub agent_shell: bool,
    /// What becomes of settings files that are not JSON objects.
    pub bad_files: BadFiles,
    /// Whether the database is looked at for damage before it is used.
    pub looks_at_first_pages: bool,
    /// What was said on stderr.
    said: Mutex<BTreeSet<&'static str>>,
    before: OnceLock<Option<Reader>>,
    login: Mutex<Option<Option<Arc<LoginSource>>>>,
}

/// What a start may do with the settings row (DEC-180).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `-p`, a driven session: the row follows the files.
    Session,
    /// `--eval`, `--fire-hook`, `--transition` and commands that act: likewise, unless a session
    /// of another process works with the row.
    Call,
    /// Listing and checking: what the next start would use is computed, nothing is written.
    Look,
}

/// A run with its settings read and its database open.
pub struct OpenProject {
    pub store: Arc<Store>,
    pub found: DiscoveredSettings,
    pub merged: Merged,
    pub redactor: Redactor,
}

/// A hook that calls `ona` that calls hooks must end somewhere (DEC-061).
const DEEPEST_HOOK: u32 = 3;

impl Launch {
    pub fn new(env: Env, cwd: PathBuf, options: Options, notices: Notices) -> Result<Self, Failure> {
        notices.keep_out(secrets_of(&env));
        let depth = env.get(environment::ONA_HOOK_DEPTH).and_then(|text| text.parse().ok()).unwrap_or(0);
        if depth >= DEEPEST_HOOK {
            return Err(Failure::refused(format_args!("hooks call ona {depth} levels deep; that is the limit")));
        }
        let project = project_root(&cwd);
        let database = database_path(options.db.as_deref(), &env, &project)
            .map_err(|bad| Failure::usage(&bad).hint(bad.hint()))?;
        let agent_shell = agent_shell::started_by_an_agent(&env, &database.path);
        let bad_files = if options.ignore_bad_settings { BadFiles::Ignore } else { BadFiles::Refuse };
        Ok(Self {
            env,
            cwd,
            project,
            database,
            options,
            notices,
            agent_shell,
            bad_files,
            looks_at_first_pages: true,
            said: Mutex::default(),
            before: OnceLock::new(),
            login: Mutex::default(),
        })
    }

    /// A sentence for people.
    pub fn note(&self, text: impl fmt::Display) {
        self.notices.note(text);
    }

    /// Where this program lies, for children that look for it.
    pub fn own_dir(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()?.parent().map(Path::to_path_buf)
    }

    /// The database with nothing known of settings, for `ona db` and what only reads.
    pub fn open_plain(&self) -> Result<Store, Failure> {
        let redactor = Redactor::new(secrets_of(&self.env));
        let store = Store::open_examined(&self.database.path, redactor).map_err(|error| self.store_failure(error))?;
        self.note_of(&store);
        Ok(store)
    }

    /// The same, only to be looked at.
    pub fn look_plain(&self) -> Result<Store, Failure> {
        Store::open_read_only(&self.database.path, Redactor::new(secrets_of(&self.env)))
            .map_err(|error| self.store_failure(error))
    }

    /// Settings first: the database must not be written before every secret in them is known.
    pub fn open(&self) -> Result<OpenProject, Failure> {
        self.open_by(if self.looks_at_first_pages { Store::open_examined } else { Store::open })
    }

    fn open_by(
        &self,
        store: impl FnOnce(&Path, Redactor) -> Result<Store, StoreError>,
    ) -> Result<OpenProject, Failure> {
        let found = self.discover()?;
        let merged = merge(&found, &self.env);
        let secrets: Vec<_> = secrets_of(&self.env).into_iter().chain(merged.secrets.iter()).collect();
        self.notices.keep_out(secrets.iter().copied());
        // Shared with everything that prints, so that a secret learned later counts there too.
        let redactor = self.notices.redactor();
        // A keychain may ask its user first, which only a model call is worth.
        if !self.credential_store().uses_keychain() {
            self.login();
        }
        let store = store(&self.database.path, redactor.clone()).map_err(|error| self.store_failure(error))?;
        self.note_of(&store);
        Ok(OpenProject { store: Arc::new(store), found, merged, redactor })
    }

    /// Returns where a login is kept. Only the environment of the process decides.
    pub fn credential_store(&self) -> CredentialStore {
        CredentialStore::from_env(&self.env)
    }

    /// Returns the stored login, read once. A bare run has none (DEC-087).
    pub fn login(&self) -> Option<Arc<LoginSource>> {
        let read = || {
            if self.options.bare {
                return None;
            }
            let login = LoginSource::open(self.credential_store(), self.notices.redactor());
            let login = login.inspect_err(|error| {
                self.note(format_args!("ona: the stored login is not used: {error}\n  ona auth login replaces it"));
            });
            login.ok().flatten().map(Arc::new)
        };
        self.login.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(read).clone()
    }

    /// The stored login has changed: it is read again when it is needed.
    pub fn forget_login(&self) {
        *self.login.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub fn discover(&self) -> Result<DiscoveredSettings, Failure> {
        discover(&self.discovery()?, &self.env).map_err(Failure::usage)
    }

    pub fn discovery(&self) -> Result<DiscoveryOptions, Failure> {
        let options = &self.options;
        let off = options.no_claude_settings || self.env.get(environment::ONA_CLAUDE_SETTINGS) == Some("0");
        let mut discovery = DiscoveryOptions::new(&self.project, self.trust_state().trust());
        discovery.compatible = if off { Compatible::Off } else { Compatible::On };
        discovery.bare = options.bare;
        if let Some(list) = &options.setting_sources {
            discovery.sources = list.parse().map_err(Failure::usage)?;
        }
        discovery.settings = options.settings.as_deref().map(|text| FlagSettings::parse(text, &self.cwd));
        discovery.bad_files = self.bad_files;
        discovery.plugin_dirs = options.plugin_dir.iter().map(|dir| self.cwd.join(dir)).collect();
        Ok(discovery)
    }

    /// Whether the files of this folder count, and whether that was ever recorded.
    pub fn trust_state(&self) -> TrustState {
        self.trust_state_of(&self.project)
    }

    /// The same for the root of another project, which a call names.
    pub fn trusts(&self, open: &OpenProject, root: &Path) -> bool {
        let trust = if root == self.project { open.merged.trust } else { self.trust_state_of(root).trust() };
        trust == Trust::Trusted
    }

    /// Returns what a front with a person asks about before it starts: what the folder brings that would
    /// run. `None` if the question was answered before, or there is nothing to ask. Runs nothing.
    pub fn untrusted_contents(&self) -> Result<Option<FolderContents>, Failure> {
        if self.agent_shell || !matches!(self.trust_state(), TrustState::Ask { .. }) {
            return Ok(None);
        }
        let contents = folder_trust::contents(self, &self.look()?);
        Ok((!contents.is_empty()).then_some(contents))
    }

    fn trust_state_of(&self, root: &Path) -> TrustState {
        // A database that cannot be read records no trust.
        let recorded = |key: &str| {
            let value = self.before()?.meta(key);
            value.inspect_err(|error| tracing::debug!(key, %error, "no record of trust can be read")).ok()?
        };
        if self.agent_shell {
            // Flags and environment are the agent's own here. What counts is what the operator's
            // process went by, so that the agent can neither add trust nor lose guards.
            let Ok(imported) = ImportRecord::load(|key| Ok::<_, Infallible>(recorded(key)));
            let in_use =
                imported.is_some_and(|one| one.trust == Trust::Trusted && Path::new(&one.project_root) == root);
            let env = self.env.clone().with(environment::ONA_TRUST, "");
            return match in_use {
                true => TrustState::Trusted { recorded: true },
                false => trust_state(TrustFlag::Unsaid, &env, root, recorded),
            };
        }
        let wish = match (self.options.trust, self.options.no_trust) {
            (true, _) => TrustFlag::Trust,
            (_, true) => TrustFlag::Withhold,
            (false, false) => TrustFlag::Unsaid,
        };
        trust_state(wish, &self.env, root, recorded)
    }

    /// The database as it was before this start; `None` if there was none. What cannot be
    /// read is reported when it is opened.
    fn before(&self) -> Option<&Reader> {
        self.before.get_or_init(|| Reader::open_read_only(&self.database.path).ok().flatten()).as_ref()
    }

    /// Settings and the database, only to be looked at: nothing is made or changed.
    pub fn look(&self) -> Result<OpenProject, Failure> {
        self.open_by(Store::open_read_only)
    }

    /// The settings of this start, imported first if they have to be (DEC-012, DEC-180), with
    /// secrets back in their places. Those are only ever in memory.
    pub fn effective(&self, open: &OpenProject, purpose: Purpose) -> Result<Settings, Failure> {
        let effective = self.effective_as_stored(open, purpose)?;
        Ok(Settings::read(&open.merged.secrets.restore(&effective)))
    }

    /// The same with placeholders for secrets.
    pub fn effective_as_stored(&self, open: &OpenProject, purpose: Purpose) -> Result<Value, Failure> {
        // An agent that could bring its own settings could allow itself anything, by a
        // flag or by files of a HOME of its own.
        let brings = self.options.settings.is_some() || !self.options.plugin_dir.is_empty();
        let how = match (brings, self.agent_shell) {
            (true, _) => {
                self.operator_only("settings")?;
                ImportMode::Forced
            }
            (false, true) => ImportMode::AsItStands,
            (false, false) => ImportMode::Follow,
        };
        self.import(open, how, purpose)
    }

    pub fn import(&self, open: &OpenProject, how: ImportMode, purpose: Purpose) -> Result<Value, Failure> {
        let failed = |error| self.store_failure(error);
        let reader = open.store.reader().map_err(failed)?;
        let stored = reader.settings_row().map_err(failed)?;
        let row = match stored.as_ref().map(|row| serde_json::from_str::<Value>(&row.json)).transpose() {
            Ok(row) => row,
            // Reading the files again is the way out.
            Err(_) if how == ImportMode::Forced => Some(Value::Null),
            Err(error) => {
                let what = format_args!("the settings in the database are not valid JSON: {error}");
                return Err(Failure::usage(what).hint("ona settings import"));
            }
        };
        let is_ours = stored.is_some_and(|row| row.is_ours);
        let record = ImportRecord::load(|key| reader.meta(key)).map_err(failed)?;
        let stored = row.as_ref().map(|value| StoredSettings { value, is_ours });
        let decided = ona_trust::import(stored, record.as_ref(), &open.merged, how);
        let effective = match self.without_bad_files(open, decided)? {
            ImportAction::Keep => row.unwrap_or_else(|| open.merged.effective.clone()),
            ImportAction::Operators => {
                // In a session only where there is a file that it leaves out.
                let says = match purpose {
                    Purpose::Session => !open.merged.from_files.is_empty(),
                    Purpose::Call => false,
                    Purpose::Look => true,
                };
                if says {
                    self.say_once(
                        "settings_row",
                        "ona: the settings in the database were written by an operator and count as they are; \
                         settings files are not used (ona settings import reads them again)",
                    );
                }
                let mut row = row.unwrap_or_default();
                if open.merged.trust == Trust::Withheld {
                    ona_trust::disable_imported(&mut row);
                }
                row
            }
            ImportAction::Insert { effective, .. } | ImportAction::Replace { effective, .. }
                if purpose == Purpose::Look =>
            {
                effective
            }
            ImportAction::Insert { effective, record } => self.write_settings(open, effective, &record)?,
            ImportAction::Replace { effective, record: next, moved_from } => {
                let alone = (moved_from.is_some() || purpose == Purpose::Call && how == ImportMode::Follow)
                    .then(|| SettingsLock::exclusive(&self.database.path));
                match (alone, moved_from) {
                    (Some(Err(LockError::InUse { .. })), None) => {
                        self.say_once(
                            "settings_row",
                            "ona: the settings files have changed since they were imported; their new content does \
                             not count yet, because another process runs a session in this database",
                        );
                        ona_trust::beside(&row.unwrap_or_default(), record.as_ref(), &open.merged)
                    }
                    (Some(Err(error)), owner) => return Err(settings_in_use(error, owner)),
                    (None | Some(Ok(_)), _) => self.write_settings(open, effective, &next)?,
                }
            }
        };
        if self.options.trust {
            self.operator_only("trust")?;
            if purpose != Purpose::Look {
                self.record_trust(open)?;
            }
        }
        self.mention_trust(open);
        if !effective.is_object() {
            return Err(
                Failure::usage("the settings in the database are not a JSON object").hint("ona settings import")
            );
        }
        Ok(effective)
    }

    /// A line on stderr, once in this process.
    pub(crate) fn say_once(&self, about: &'static str, line: &str) {
        if self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(about) {
            self.note(line);
        }
    }

    /// Files are imported together or not at all (DEC-181). What always runs uses the row
    /// as it stands.
    fn without_bad_files(&self, open: &OpenProject, decided: ImportAction) -> Result<ImportAction, Failure> {
        let bad: Vec<_> = open
            .merged
            .notices
            .iter()
            .filter(|one| one.about == NoticeKind::NotSettings)
            .map(ToString::to_string)
            .collect();
        match decided {
            ImportAction::Insert { .. } | ImportAction::Replace { .. } if !bad.is_empty() => match self.bad_files {
                BadFiles::Report => Ok(ImportAction::Keep),
                BadFiles::Refuse | BadFiles::Ignore => {
                    let files = if bad.len() == 1 { "a settings file" } else { "settings files" };
                    let bad = open.redactor.apply(&bad.join("\n  ")).into_owned();
                    Err(Failure::usage(format_args!("{files} cannot be read: {bad}"))
                        .hint("repair it, or go on without it: --ignore-bad-settings"))
                }
            },
            ImportAction::Insert { .. }
            | ImportAction::Replace { .. }
            | ImportAction::Keep
            | ImportAction::Operators => Ok(decided),
        }
    }

    /// Keeps the settings of this project in place while turns run (DEC-025): no process moves
    /// the database to another project until the lock is dropped. A process that did so between
    /// the import and this lock was first.
    pub fn keep_settings(&self, open: &OpenProject) -> Result<SettingsLock, Failure> {
        let reader = open.store.reader().map_err(|error| self.store_failure(error))?;
        let owner = || Ok(ImportRecord::load(|key| reader.meta(key))?.map(|record| record.project_root));
        let owner = || owner().map_err(|error| self.store_failure(error));
        let lock = match SettingsLock::shared(&self.database.path) {
            Ok(lock) => lock,
            Err(error) => return Err(settings_in_use(error, owner()?)),
        };
        match owner()? {
            // The agent's own `ona` works by the settings that are there, wherever it stands.
            Some(other) if !self.agent_shell && Path::new(&other) != open.merged.project_root => {
                Err(in_use_for(&other))
            }
            _ => Ok(lock),
        }
    }

    fn write_settings(&self, open: &OpenProject, effective: Value, record: &ImportRecord) -> Result<Value, Failure> {
        let mut group = Group::default();
        group.push(Row::ImportedSettings(effective.clone()));
        for (key, value) in record.rows() {
            group.push(Row::Meta { key: key.to_owned(), value });
        }
        group.log(LoggedEvent::SettingsImported { sha256: record.sha256.clone(), keys: record.keys.clone() });
        for notice in &open.merged.notices {
            if let Some(kind) = notice.about.event() {
                group.log(LoggedEvent::SettingsNotice { kind, why: notice.to_string() });
            }
        }
        open.store.commit_now(&nowhere(), group).map_err(|error| self.store_failure(error))?;
        Ok(effective)
    }

    fn record_trust(&self, open: &OpenProject) -> Result<(), Failure> {
        let running = json!(folder_trust::running(self, open)).to_string();
        let rows = vec![
            Row::Meta { key: trust_key(&self.project), value: "trusted".into() },
            Row::Meta { key: trust_digests_key(&self.project), value: running },
        ];
        open.store.commit_now(&nowhere(), Group(rows)).map_err(|error| self.store_failure(error))?;
        let secrets = folder_trust::secrets_read(self, open);
        if !secrets.is_empty() {
            let names = secrets.join(", ");
            self.say_once("secrets", &format!("ona: what this folder configures may read from now on: {names}"));
        }
        Ok(())
    }

    /// One line about the folder: what of it is not in use, or what has changed since it was trusted.
    fn mention_trust(&self, open: &OpenProject) {
        let line = match (open.merged.trust, self.trust_state()) {
            (Trust::Withheld, _) => folder_trust::not_in_use(self, open),
            (Trust::Trusted, TrustState::Trusted { recorded: true }) if !self.options.trust && !self.agent_shell => {
                let digests = || self.before()?.meta(&trust_digests_key(&self.project)).ok()?;
                let recorded = if self.env.get(environment::ONA_TRUST) == Some("always") { None } else { digests() };
                recorded.and_then(|recorded| folder_trust::changed_since(&recorded, &folder_trust::running(self, open)))
            }
            (Trust::Trusted, _) => None,
        };
        if let Some(line) = line {
            self.say_once("trust", &open.redactor.apply(&line));
        }
    }

    /// Refuses what only a person may do when the agent's own shell tries it.
    pub fn operator_only(&self, what: &str) -> Result<(), Failure> {
        if self.agent_shell {
            return Err(Failure::refused(format_args!(
                "{what} can be changed by the operator only, not from the agent's shell"
            )));
        }
        Ok(())
    }

    /// Refuses what belongs to the operator in every project when any agent's shell tries it:
    /// another database makes no difference.
    pub fn never_from_an_agent(&self, what: &str) -> Result<(), Failure> {
        if agent_shell::is_below_an_agent(&self.env) {
            return Err(Failure::refused(format_args!(
                "{what} can be changed by the operator only, not from the agent's shell"
            )));
        }
        Ok(())
    }

    pub fn lock_session(&self, session: &SessionId) -> Result<SessionLock, Failure> {
        SessionLock::acquire(&self.database.path, session).map_err(|error| match error {
            LockError::BadSessionId(_) | LockError::ForeignDirectory(_) => Failure::usage(&error),
            LockError::InUse { .. } | LockError::Io { .. } => Failure::refused(&error),
        })
    }

    fn note_of(&self, store: &Store) {
        for sentence in store.notices() {
            self.note(format_args!("ona: {sentence}"));
        }
    }

    /// A sentence for whatever the store says, with the path at the end.
    pub fn store_failure(&self, error: StoreError) -> Failure {
        let path = self.database.path.display();
        let remedy = error.remedy();
        let failure = match error {
            StoreError::Busy => Failure::new(FailureKind::Busy, format_args!("{error}: {path}")),
            StoreError::Lost(_) => Failure::refused(&error),
            StoreError::DiskFull
            | StoreError::InputOutput(_)
            | StoreError::PhaseMoved { .. }
            | StoreError::PlanMoved { .. }
            | StoreError::NoApprovedPlan
            | StoreError::EventMeanwhile
            | StoreError::Closed
            | StoreError::Undecided(_)
            | StoreError::Thread(_)
            | StoreError::Sqlite(_) => Failure::refused(format_args!("{error}: {path}")),
            StoreError::NotAbsolute(_)
            | StoreError::Directory(_)
            | StoreError::NotAFile(_)
            | StoreError::NoDirectory { .. }
            | StoreError::NetworkFileSystem { .. } => {
                Failure::usage(&error).hint("choose another place: export AGENT_SDLC_DB=/absolute/path/ona.db")
            }
            StoreError::ForeignOwner { uid, .. } => Failure::usage(&error).hint(format!(
                "run ona as that user (sudo -u '#{uid}' ona ...), or name another file: export AGENT_SDLC_DB=/absolute/path/ona.db"
            )),
            StoreError::LinkedCompanion(ref link) => {
                Failure::usage(&error).hint(format!("look where it leads, then remove it: rm '{}'", link.display()))
            }
            StoreError::OpenDirectory(ref directory) => {
                Failure::usage(&error).hint(format!("chmod o-w '{}'", directory.display()))
            }
            StoreError::ReadOnlyFileSystem(_) | StoreError::Emptied { .. } | StoreError::LogWithoutDatabase { .. } => {
                Failure::usage(&error)
            }
            StoreError::TooNew { .. } => Failure::usage(format_args!("{error}: {path}"))
                .hint("update ona, or use another database with --db /absolute/path/ona.db"),
            StoreError::TooOld { .. } => Failure::usage(format_args!("{error}: {path}"))
                .hint("ona db init upgrades it and keeps a backup"),
            StoreError::Backup { .. } => Failure::refused(&error)
                .hint("make room or make the directory writable, then start again"),
            StoreError::Upgrade { .. } => Failure::refused(format_args!("{error}: {path}")),
            other => Failure::usage(format_args!("{other}: {path}")),
        };
        match remedy {
            Some(remedy) => failure.hint(remedy),
            None => failure,
        }
    }
}

fn settings_in_use(error: LockError, owner: Option<String>) -> Failure {
    match (error, owner) {
        (LockError::InUse { .. }, Some(owner)) => in_use_for(&owner),
        (error, _) => Failure::usage(error),
    }
}

fn in_use_for(project: &str) -> Failure {
    Failure::usage(format_args!("the database is in use for project {project}"))
}

/// Where rows of a conversation go that belong to no session.
pub fn at(conversation: &ConversationId, session: &str) -> SessionKey {
    SessionKey { conversation: conversation.clone(), session: session.into(), start: SequenceStart::Zero }
}

/// Rows without a conversation (DEC-023).
pub fn nowhere() -> SessionKey {
    at(&"".into(), "")
}
