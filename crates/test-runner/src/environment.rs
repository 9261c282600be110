//! The environment a case runs in: the operator's, without credentials, without their
//! own directories and without what would change how a shell starts.

use ona_api::{Env, credentials, environment};
use std::path::Path;

/// Names that say that their value is a credential (as DEC-015 has it for settings).
const SECRET_WORDS: [&str; 6] = ["key", "token", "secret", "password", "credential", "auth"];

/// Where programs look for the operator's files, what bash would read first, what
/// would be loaded into every program.
const DROPPED: [&str; 12] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "CLAUDE_CONFIG_DIR",
    "BASH_ENV",
    "ENV",
    "CDPATH",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "POSIXLY_CORRECT",
];

/// What belongs to one case.
pub(crate) struct OwnPaths<'a> {
    pub home: &'a Path,
    pub database: &'a Path,
    pub live_database: &'a Path,
    /// Where this program lies; found by tests if nothing else of its name is.
    pub program_dir: Option<&'a Path>,
}

pub(crate) fn of_case(host: &Env, own: &OwnPaths<'_>) -> Env {
    let mut host = host.clone();
    credentials::remove_from(&mut host);
    let kept = host.iter().filter(|(name, _)| name.to_str().is_none_or(is_kept));
    let mut env = Env::new(kept.map(|(name, value)| (name.to_owned(), value.to_owned())));
    for name in [environment::HOME, environment::TMPDIR, environment::SDLC_TEST_TMP] {
        env.set(name, own.home);
    }
    env.set(environment::AGENT_SDLC_DB, own.database);
    env.set(environment::ONA_AGENT_DB, own.live_database);
    if let Some(dir) = own.program_dir.and_then(Path::to_str) {
        let path = env.non_empty(environment::PATH).map_or_else(|| dir.to_owned(), |path| format!("{path}:{dir}"));
        env.set(environment::PATH, path);
    }
    env
}

fn is_kept(name: &str) -> bool {
    let small = name.to_lowercase();
    let secret = SECRET_WORDS.iter().any(|word| small.contains(word));
    !secret && !DROPPED.contains(&name) && !name.starts_with("BASH_FUNC_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_gets_its_own_places_and_no_credential() {
        let host = ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "db_password", "SSH_AUTH_SOCK", "BASH_FUNC_ls%%", "BASH_ENV"];
        let host = host.iter().fold(Env::default(), |env, name| env.with(name, "x"));
        let host = host.with("OPENAI_API_KEY", "a-credential").with("COPY", "a-credential");
        let host = host.with("LANG", "C").with("PATH", "/bin").with("HOME", "/root").with("XDG_STATE_HOME", "/root/s");
        let own = OwnPaths {
            home: Path::new("/t/home"),
            database: Path::new("/t/ona.db"),
            live_database: Path::new("/live/ona.db"),
            program_dir: Some(Path::new("/opt/ona")),
        };
        let expected = [
            ("AGENT_SDLC_DB", "/t/ona.db"),
            ("HOME", "/t/home"),
            ("LANG", "C"),
            ("ONA_AGENT_DB", "/live/ona.db"),
            ("PATH", "/bin:/opt/ona"),
            ("SDLC_TEST_TMP", "/t/home"),
            ("TMPDIR", "/t/home"),
        ];
        assert_eq!(
            of_case(&host, &own),
            expected.iter().fold(Env::default(), |env, (name, value)| env.with(name, *value))
        );
    }
}
