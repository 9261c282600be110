//! Allow rules that allow more than they seem to.
//!
//! Such rules work as written; a front end that shows settings can show these as well.

use crate::bash::wrappers::SHELLS;
use crate::grammar::RuleTarget;
use crate::rules::Rules;
use ona_api::permission_update::Behavior;

/// An allow rule and what it amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleWarning {
    pub rule: String,
    pub why: &'static str,
}

/// Programs that run any code they are given.
const INTERPRETERS: [&str; 24] = [
    "awk", "bun", "bunx", "deno", "docker", "emacs", "env", "eval", "exec", "gdb", "lua", "make", "node", "npx",
    "perl", "php", "podman", "python", "python3", "ruby", "sudo", "vim", "xargs", "ssh",
];

/// Hosts where anyone can publish (J-6).
const OPEN_HOSTS: [&str; 12] = [
    "huggingface.co",
    "github.com",
    "raw.githubusercontent.com",
    "gist.github.com",
    "gitlab.com",
    "pastebin.com",
    "npmjs.com",
    "www.npmjs.com",
    "pypi.org",
    "medium.com",
    "docs.google.com",
    "bitbucket.org",
];

impl Rules {
    /// Returns what an operator should know about the allow list.
    pub fn warnings(&self) -> Vec<RuleWarning> {
        let warn = |text: &str, why| Some(RuleWarning { rule: text.to_owned(), why });
        self.list(Behavior::Allow)
            .filter_map(|rule| match &rule.target {
                RuleTarget::Tool(name) if name == "Bash" => warn(&rule.text, "it allows every command"),
                RuleTarget::Command(pattern) => {
                    let runs_anything = |name: &&&str| pattern.fits(&format!("{name} \u{1} \u{2}"));
                    let any = INTERPRETERS.iter().chain(&SHELLS).find(runs_anything);
                    any.and_then(|_| warn(&rule.text, "it allows a program that runs any code: full access"))
                }
                RuleTarget::Domain(domain) => {
                    let open = OPEN_HOSTS.iter().any(|host| {
                        let url = crate::domain::address(&format!("https://{host}/\u{1}"));
                        url.is_some_and(|url| domain.matches(&url))
                    });
                    open.then(|| warn(&rule.text, "anyone can publish there; name a path")).flatten()
                }
                _ => None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_settings::PermissionSettings;

    #[test]
    fn wide_rules_are_pointed_out() {
        let allow = [
            "Bash",
            "Bash(python3:*)",
            "Bash(python3 x.py)",
            "Bash(ls:*)",
            "WebFetch(domain:huggingface.co)",
            "WebFetch(domain:huggingface.co/org/*)",
            "WebFetch(domain:docs.python.org)",
        ];
        let settings = PermissionSettings { allow: allow.map(str::to_owned).to_vec(), ..Default::default() };
        let warned: Vec<_> = Rules::parse(&settings).0.warnings().into_iter().map(|warning| warning.rule).collect();
        assert_eq!(warned, ["Bash", "Bash(python3:*)", "WebFetch(domain:huggingface.co)"]);
    }
}
