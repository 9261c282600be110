//! What a settings file that comes with a folder may not say, even when the
//! folder is trusted.
//!
//! Trust lets a project run its hooks and use its rules. It does not let the
//! project choose where credentials are sent, which library every child
//! loads (P-2), or what prints the API key: for those the operator's own
//! files are the place. Each thing left out is named in a notice.

use crate::clean::SettingsSource;
use crate::layer::SettingsScope;
use crate::notice::NoticeKind;
use ona_settings::keys;
use serde_json::{Map, Value};

/// Keys that count in the operator's own files only.
const OPERATOR_ONLY: [&str; 9] = [
    // Commands that print or renew credentials.
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    // A folder cannot approve its own servers, nor loosen the sandbox it is run in.
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "sandbox",
    "skipDangerousModePermissionPrompt",
];

/// Keys that count in the operator's own files and in local ones, which are not shared.
const NOT_SHARED: [&str; 4] =
    ["passCredentials", keys::CHECKPOINTS, keys::FILE_CHECKPOINTING_ENABLED, keys::WIRE_MODELS];

/// Whether a top-level key counts in files of this scope.
pub fn counts_in(key: &str, scope: SettingsScope) -> bool {
    !scope.is_confined()
        || !(OPERATOR_ONLY.contains(&key) || (scope != SettingsScope::Local && NOT_SHARED.contains(&key)))
}

pub(crate) fn limit(source: &mut SettingsSource<'_>, value: &mut Map<String, Value>) {
    let not_shared = NOT_SHARED.into_iter().filter(|_| source.scope != SettingsScope::Local);
    let refused: Vec<_> = OPERATOR_ONLY.into_iter().chain(not_shared).collect();
    for key in refused {
        if value.shift_remove(key).is_some() {
            let scope = source.scope.as_str();
            source.note(NoticeKind::Scope, &[key], format!("`{key}` in {scope} settings is ignored"));
        }
    }
    let Some(env) = value.get_mut(keys::ENV).and_then(Value::as_object_mut) else { return };
    let refused: Vec<_> = env.keys().filter(|name| is_operators(name)).cloned().collect();
    env.retain(|name, _| !refused.contains(name));
    if !refused.is_empty() {
        let names = refused.join(", ");
        let message = format!("these variables load code or choose an endpoint; set them yourself: {names}");
        source.note(NoticeKind::Scope, &[keys::ENV], message);
    }
}

/// Variables that decide what code a child loads, where it connects, or how
/// this program itself works. A name that is not plainly a name counts too:
/// bash imports functions from variables called `BASH_FUNC_x%%`.
fn is_operators(name: &str) -> bool {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let name = name.to_ascii_uppercase();
    let any = |list: &str, fits: fn(&str, &str) -> bool| list.split_whitespace().any(|word| fits(&name, word));
    let is = |name: &str, word: &str| name == word;
    !plain
        || any(EXACT, is)
        || any(SUFFIXES, |name, suffix| name.ends_with(suffix))
        || any(PREFIXES, |name, prefix| name.starts_with(prefix)) && !any(HARMLESS, is)
}

/// Names separated by spaces.
const EXACT: &str = "PATH HOME SHELL ENV SHELLOPTS PS4 PROMPT_COMMAND IFS CDPATH ZDOTDIR TMPDIR \
    EDITOR VISUAL PAGER MANPAGER MANOPT LESS LESSOPEN LESSCLOSE BROWSER TERMINAL SSH_ASKPASS SUDO_ASKPASS \
    SSH_AUTH_SOCK GCONV_PATH GLIBC_TUNABLES LOCPATH NLSPATH HOSTALIASES NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS \
    NODE_TLS_REJECT_UNAUTHORIZED CLASSPATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS MAVEN_ARGS \
    GRADLE_OPTS PHPRC PHP_INI_SCAN_DIR LUA_PATH LUA_CPATH RUSTFLAGS GOFLAGS GOPROXY CC CXX LD AR MAKEFLAGS MAKEFILES \
    DOCKER_HOST KUBECONFIG RIPGREP_CONFIG_PATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CURL_HOME \
    GT_ROLE GT_ROOT GT_SESSION_ID_ENV";

const PREFIXES: &str = "LD_ DYLD_ BASH PYTHON PERL RUBY GEM_ BUNDLE_ GIT_ XDG_ CARGO_ RUSTC RUSTUP_ NPM_ YARN_ PIP_ \
    UV_ LUA_INIT AWS_ FZF_ ANTHROPIC_ OPENAI_ LM_STUDIO_ OTEL_ ONA_ SDLC_ AGENT_SDLC_ PI_ CLAUDE";

const SUFFIXES: &str = "_BASE_URL _PROXY _ENDPOINT _ENDPOINT_URL _ASKPASS";

/// Exceptions to `PREFIXES` that projects often set.
const HARMLESS: &str = "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED \
    CARGO_TERM_COLOR CARGO_INCREMENTAL AWS_REGION";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_load_code_or_choose_endpoints_are_the_operators() {
        let theirs = "LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES NODE_OPTIONS BASH_ENV BASH_FUNC_ls%% ENV \
            PYTHONSTARTUP PYTHONPATH PERL5OPT RUBYOPT GIT_SSH_COMMAND GIT_PAGER PATH path HTTPS_PROXY https_proxy \
            FOO_BASE_URL ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS OPENAI_API_KEY LM_STUDIO_MODEL \
            OTEL_EXPORTER_OTLP_CLIENT_KEY ONA_TRUST SDLC_DISABLE_ALL_HOOKS AGENT_SDLC_DB CLAUDE_CONFIG_DIR \
            XDG_CONFIG_HOME RUSTC_WRAPPER CARGO_HOME PI_HOOKS_JSON GT_ROOT GT_SESSION_ID_ENV a=b";
        for name in theirs.split_whitespace() {
            assert!(is_operators(name), "{name}");
        }
        assert!(is_operators(""));
        for name in ["NODE_ENV", "DATABASE_URL", "RUST_LOG", "PYTHONUNBUFFERED", "MY_TOKEN", "CI", "PORT", "LANG"] {
            assert!(!is_operators(name), "{name}");
        }
    }
}
