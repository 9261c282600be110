//! An environment without the credentials of model providers.
//!
//! Commands of the agent, MCP servers and behavioural tests get such an environment;
//! hooks, modules and credential helpers get the complete one. This is not a sandbox: a
//! program of the same user can look for a credential elsewhere.

use crate::Env;
use crate::redact::{CREDENTIAL_CARRIERS, SECRET_VARIABLES, is_own_credential, secrets_of};
use std::ffi::OsStr;

/// A shorter value may be an ordinary word.
const SHORTEST_EQUAL: usize = 8;
/// A value of this length does not occur inside another by chance.
const SHORTEST_INSIDE: usize = 20;

/// Removes the providers' credentials: by name, and wherever else their values are.
/// Returns the names of the variables that were set, sorted.
pub fn remove_from(env: &mut Env) -> Vec<String> {
    let is_named = |name: &OsStr| name.to_str().is_some_and(is_own_credential);
    let values: Vec<Vec<u8>> = secrets_of(env)
        .into_iter()
        .map(|(_, value)| value)
        .filter(|value| value.len() >= SHORTEST_EQUAL && *value != "lm-studio")
        .map(|value| value.as_bytes().to_vec())
        .collect();
    let holds = |text: &OsStr| {
        let text = text.as_encoded_bytes();
        values.iter().any(|value| {
            text == value || value.len() >= SHORTEST_INSIDE && text.windows(value.len()).any(|part| part == value)
        })
    };
    let withheld: Vec<String> = env
        .iter()
        .filter(|(name, value)| !value.is_empty() && (is_named(name) || holds(value)))
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    SECRET_VARIABLES.iter().chain(&CREDENTIAL_CARRIERS).for_each(|name| env.remove(name));
    withheld.iter().for_each(|name| env.remove(name));
    withheld
}

/// Returns the withheld variables that a script reads: each that occurs in it as a word,
/// unless the script only assigns it.
pub fn read_by_script<'a>(script: &str, withheld: &'a [String]) -> Vec<&'a str> {
    let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let bytes = script.as_bytes();
    let reads = |name: &str| {
        script.match_indices(name).any(|(at, _)| {
            let (before, after) = (at.checked_sub(1).map(|at| bytes[at]), bytes.get(at + name.len()).copied());
            let expanded = matches!(before, Some(b'$' | b'{' | b'!' | b'#'));
            !is_word(before) && !is_word(after) && (expanded || after != Some(b'='))
        })
    };
    withheld.iter().map(String::as_str).filter(|name| reads(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_taken_out_by_name_and_by_value() {
        let key = "sk-ant-a-key-of-some-length";
        let mut env = Env::default()
            .with("ANTHROPIC_API_KEY", key)
            .with("OPENAI_API_KEY", "")
            .with("LM_STUDIO_API_KEY", "lm-studio")
            .with("CLAUDE_CODE_OAUTH_TOKEN", "word-like")
            .with("CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "9")
            .with("MY_KEY", key)
            .with("HEADERS", format!("x-api-key: {key}"))
            .with("TOOL", "lm-studio")
            .with("SAME", "word-like")
            .with("PATH", "/opt/word-like/bin:/bin")
            .with("GITHUB_TOKEN", "another-credential-of-the-operator");
        let withheld = remove_from(&mut env);
        assert_eq!(
            withheld,
            [
                "ANTHROPIC_API_KEY",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
                "HEADERS",
                "LM_STUDIO_API_KEY",
                "MY_KEY",
                "SAME"
            ]
        );
        let left: Vec<_> = env.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(left, ["GITHUB_TOKEN", "PATH", "TOOL"]);
    }

    #[test]
    fn a_script_names_what_it_reads_not_what_it_sets() {
        let withheld = ["OPENAI_API_KEY".to_owned(), "KEY".to_owned()];
        for script in [
            "echo $OPENAI_API_KEY",
            "curl -H \"Authorization: Bearer ${OPENAI_API_KEY:-}\" x",
            "printenv OPENAI_API_KEY",
            "[ -v OPENAI_API_KEY ]",
            "python3 -c 'import os; os.environ[\"OPENAI_API_KEY\"]'",
            "OPENAI_API_KEY=a; echo ${!OPENAI_API_KEY}",
            "echo \"$OPENAI_API_KEY=\"",
        ] {
            assert_eq!(read_by_script(script, &withheld), ["OPENAI_API_KEY"], "{script}");
        }
        for script in ["export OPENAI_API_KEY=mine", "echo $MY_OPENAI_API_KEY $OPENAI_API_KEYS", "KEY=1 make", "ls"] {
            assert!(read_by_script(script, &withheld).is_empty(), "{script}");
        }
    }
}
