//! Reads every settings file that counts, once, at the start of a process.
//!
//! A file that cannot be used is named in a notice, and the rest is read. A
//! notice `NotSettings` stops an import of the files (DEC-181). Two
//! kinds stop the start by themselves: a managed file, because a policy that
//! cannot be read must not become no policy (L-3), and what the operator named
//! with `--settings`. `BadFiles` says when they do not.

use crate::clean::{CleanContext, SettingsSource, clean};
use crate::discovery::{BadFiles, DiscoveryOptions, FlagSettings};
use crate::files::{self, CandidateFile};
use crate::layer::{SettingsLayer, SettingsScope, seed};
use crate::notice::{Notice, NoticeKind};
use crate::plugins;
use crate::read::{self, FileRead};
use crate::trust::{Trust, path_text};
use crate::untrusted::UnusedSetting;
use ona_api::{Env, digest};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingsError {
    #[error("the managed settings cannot be used: {}: {problem}", .file.display())]
    Managed { file: PathBuf, problem: String },
    #[error("--settings cannot be used: {0}")]
    Flag(String),
    #[error("{origin}: `model_config` may hold only `provider` and `model_id`, not `{key}`")]
    ModelConfig { origin: String, key: String },
    #[error("{origin}: `model_config` must be an object")]
    ModelConfigShape { origin: String },
}

/// The layers of this start, in the order in which their hooks run.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveredSettings {
    pub layers: Vec<SettingsLayer>,
    pub notices: Vec<Notice>,
    /// What the folder's files say that is not used, because the folder is not trusted.
    pub unused: Vec<UnusedSetting>,
    /// Over the ordered file set, the switches and the trust state (DEC-012, DEC-058).
    pub sha256: String,
    pub project_root: PathBuf,
    pub trust: Trust,
    header: String,
    file_states: Vec<FileState>,
}

/// One file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState {
    scope: SettingsScope,
    path: PathBuf,
    /// The digest of the text, or the word for what was there instead.
    state: String,
}

/// Marks a file that is not there.
pub(crate) const ABSENT: &str = "absent";

pub fn discover(how: &DiscoveryOptions, env: &Env) -> Result<DiscoveredSettings, SettingsError> {
    let header = format!("ona-settings 1\ntrust {:?}\ncompatible {:?}\n", how.trust, how.compatible);
    let home = env.home();
    let mut reader = Reader {
        context: CleanContext { trust: how.trust, home: &home, project_root: &how.project_root },
        layers: vec![seed()],
        notices: Vec::new(),
        unused: Vec::new(),
        file_states: Vec::new(),
        seen: HashSet::new(),
        bad_files: how.bad_files,
    };
    let managed = files::managed(how, env, &mut reader.notices);
    for path in reader.reported(managed)?.unwrap_or_default() {
        reader.file(&CandidateFile { scope: SettingsScope::Managed, own: true, path })?;
    }
    // A file the operator names counts as named, even if it would be found anyway.
    let named = how.settings.as_ref().and_then(FlagSettings::file).map(|path| reader.claim(path));
    for candidate in files::candidates(how, env) {
        reader.file(&candidate)?;
    }
    match &how.settings {
        None => {}
        Some(FlagSettings::File(_)) if named == Some(Claim::Taken) => {}
        Some(FlagSettings::File(path)) => {
            reader.read(&CandidateFile { scope: SettingsScope::Flag, own: true, path: path.clone() })?;
        }
        Some(FlagSettings::Json(text)) => {
            reader.mark(SettingsScope::Flag, Path::new("--settings"), digest::sha256_hex(text.as_bytes()));
            reader.text(SettingsScope::Flag, true, None, text)?;
        }
    }
    let plugins_found = plugins::load(how, env, &reader.layers);
    let plugins_found = reader.reported(plugins_found)?.unwrap_or_default();
    reader.layers.extend(plugins_found.layers);
    reader.notices.extend(plugins_found.notices);
    plugins_found.file_states.into_iter().for_each(|(scope, path, state)| reader.mark(scope, &path, state));
    let sha256 = fingerprint(&header, &reader.file_states);
    let Reader { layers, notices, unused, file_states, .. } = reader;
    let (project_root, trust) = (how.project_root.clone(), how.trust);
    Ok(DiscoveredSettings { layers, notices, unused, sha256, project_root, trust, header, file_states })
}

impl DiscoveredSettings {
    /// Takes note that one file was rewritten by ourselves from the state it was
    /// last known in. `None`: another process changed it since, or it was never
    /// part of this start, so the next start has to look.
    pub(crate) fn rewritten(&mut self, file: &Path, before: &str, after: &str) -> Option<()> {
        let mark = self.file_states.iter_mut().find(|mark| mark.path == file && mark.state == before)?;
        mark.state = after.to_owned();
        self.sha256 = fingerprint(&self.header, &self.file_states);
        Some(())
    }
}

fn fingerprint(header: &str, file_states: &[FileState]) -> String {
    let line = |mark: &FileState| format!("{} {} {:?}\n", mark.scope.as_str(), mark.state, path_text(&mark.path));
    let text: String = std::iter::once(header.to_owned()).chain(file_states.iter().map(line)).collect();
    digest::sha256_hex(text.as_bytes())
}

struct Reader<'a> {
    context: CleanContext<'a>,
    layers: Vec<SettingsLayer>,
    notices: Vec<Notice>,
    unused: Vec<UnusedSetting>,
    file_states: Vec<FileState>,
    /// Files already read, by their real path. Started in the home directory,
    /// the user's file is the project's as well: it counts once, as the user's.
    seen: HashSet<PathBuf>,
    bad_files: BadFiles,
}

/// Whether a file is still to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    Free,
    Taken,
}

impl Reader<'_> {
    fn mark(&mut self, scope: SettingsScope, path: &Path, state: String) {
        self.file_states.push(FileState { scope, path: path.to_path_buf(), state });
    }

    fn claim(&mut self, path: &Path) -> Claim {
        let is_new = std::fs::canonicalize(path).map_or(true, |real| self.seen.insert(real));
        if is_new { Claim::Free } else { Claim::Taken }
    }

    fn file(&mut self, candidate: &CandidateFile) -> Result<(), SettingsError> {
        match self.claim(&candidate.path) {
            Claim::Free => self.read(candidate),
            Claim::Taken => Ok(()),
        }
    }

    fn read(&mut self, candidate: &CandidateFile) -> Result<(), SettingsError> {
        let CandidateFile { scope, own, path } = candidate;
        let reading = if *scope == SettingsScope::Flag { read::read_named(path) } else { read::read(path) };
        match reading {
            FileRead::Absent if matches!(scope, SettingsScope::Managed | SettingsScope::Flag) => {
                let problem = "no such file".to_owned();
                let refused = match scope {
                    SettingsScope::Managed => SettingsError::Managed { file: path.clone(), problem },
                    _ => SettingsError::Flag(format!("{}: {problem}", path.display())),
                };
                self.reported::<()>(Err(refused)).map(drop)
            }
            FileRead::Absent => {
                self.mark(*scope, path, ABSENT.to_owned());
                Ok(())
            }
            FileRead::Unreadable(problem) => {
                self.mark(*scope, path, format!("unreadable({problem})"));
                self.unusable(*scope, path, None, problem)
            }
            FileRead::Unfit(problem) if scope.is_confined() => {
                self.mark(*scope, path, format!("unfit({problem})"));
                self.left_out(path, None, problem);
                Ok(())
            }
            FileRead::Unfit(problem) => {
                self.mark(*scope, path, format!("unfit({problem})"));
                self.unusable(*scope, path, None, problem)
            }
            FileRead::Text(text) => {
                self.mark(*scope, path, digest::sha256_hex(text.as_bytes()));
                self.text(*scope, *own, Some(path), &text)
            }
        }
    }

    fn text(&mut self, scope: SettingsScope, own: bool, file: Option<&Path>, text: &str) -> Result<(), SettingsError> {
        let value = match read::parse(text) {
            Ok(value) => value,
            Err(error) => {
                return self.unusable(scope, file.unwrap_or(Path::new("")), error.line, error.message);
            }
        };
        let mut source =
            SettingsSource { scope, own, file, text: read::without_bom(text), notices: Vec::new(), unused: Vec::new() };
        let cleaned = clean(&mut source, value, &self.context);
        let Some(value) = self.reported(cleaned)? else { return Ok(()) };
        let guess =
            source.notices.iter().find(|notice| matches!(notice.about, NoticeKind::BadValue | NoticeKind::Hook));
        if scope == SettingsScope::Managed
            && let Some(notice) = guess
        {
            let file = file.unwrap_or(Path::new("")).to_path_buf();
            let at = notice.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let refused = SettingsError::Managed { file, problem: format!("{at}{}", notice.message) };
            return self.reported::<()>(Err(refused)).map(drop);
        }
        self.notices.append(&mut source.notices);
        let unused =
            source.unused.into_iter().filter_map(|kind| Some(UnusedSetting { kind, file: file?.to_path_buf() }));
        self.unused.extend(unused);
        self.layers.push(SettingsLayer { scope, file: file.map(Path::to_path_buf), own, value });
        Ok(())
    }

    /// Returns the error, unless errors are only reported; then adds a notice that stops an import.
    fn reported<T>(&mut self, result: Result<T, SettingsError>) -> Result<Option<T>, SettingsError> {
        match (result, self.bad_files) {
            (Ok(value), _) => Ok(Some(value)),
            (Err(error), BadFiles::Report) => {
                let about = NoticeKind::NotSettings;
                self.notices.push(Notice { about, file: None, line: None, message: error.to_string() });
                Ok(None)
            }
            (Err(error), BadFiles::Refuse | BadFiles::Ignore) => Err(error),
        }
    }

    /// A file that is not a JSON object.
    fn unusable(
        &mut self,
        scope: SettingsScope,
        path: &Path,
        line: Option<usize>,
        problem: String,
    ) -> Result<(), SettingsError> {
        let untrusted = scope.needs_trust() && self.context.trust == Trust::Withheld;
        if untrusted || self.bad_files == BadFiles::Ignore && scope != SettingsScope::Managed {
            // A start that reads the same file without ignoring it is another start.
            if let Some(mark) = self.file_states.last_mut() {
                mark.state = format!("ignored({})", mark.state);
            }
            self.left_out(path, line, problem);
            return Ok(());
        }
        let refused = match scope {
            SettingsScope::Managed => SettingsError::Managed { file: path.to_path_buf(), problem },
            SettingsScope::Flag if path == Path::new("") => SettingsError::Flag(problem),
            SettingsScope::Flag => SettingsError::Flag(format!("{}: {problem}", path.display())),
            SettingsScope::Seed
            | SettingsScope::User
            | SettingsScope::Project
            | SettingsScope::Local
            | SettingsScope::Town => {
                let file = Some(path.to_path_buf());
                self.notices.push(Notice { about: NoticeKind::NotSettings, file, line, message: problem });
                return Ok(());
            }
        };
        self.reported::<()>(Err(refused)).map(drop)
    }

    fn left_out(&mut self, path: &Path, line: Option<usize>, problem: String) {
        let file = Some(path.to_path_buf()).filter(|path| path != Path::new(""));
        let what = if file.is_some() { "this settings file" } else { "--settings" };
        let message = format!("{what} is not used: {problem}");
        self.notices.push(Notice { about: NoticeKind::Unreadable, file, line, message });
    }
}
