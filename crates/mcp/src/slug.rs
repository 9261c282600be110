//! The names under which servers and their tools are known here (DEC-136).

use ona_api::digest;
use std::fmt;

/// The server's part of `mcp__<server>__<tool>`: lower case, and nothing a provider would refuse.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

impl Slug {
    pub fn of(server: &str) -> Self {
        Self(server.to_lowercase().chars().map(|c| if fits(c) && !c.is_ascii_uppercase() { c } else { '_' }).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what every tool of the server begins with.
    pub fn prefix(&self) -> String {
        format!("mcp__{}__", self.0)
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// The longest name a provider takes.
const LONGEST: usize = 128;

/// Returns the full name of a tool. Its own part keeps its case.
pub(crate) fn tool_name(server: &Slug, tool: &str) -> String {
    let tool: String = tool.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    let name = format!("{}{tool}", server.prefix());
    if name.len() <= LONGEST {
        return name;
    }
    let digest = digest::sha256_hex(name.as_bytes());
    format!("{}_{}", &name[..LONGEST - 9], &digest[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_lower_case_and_the_tool_keeps_its_case() {
        for (server, tool, expected) in [
            ("GitHub-X", "Get_Issue", "mcp__github-x__Get_Issue"),
            ("my server.1", "a.b/c", "mcp__my_server_1__a_b_c"),
            ("Straße", "ü", "mcp__stra_e___"),
            ("plugin:p:s", "t", "mcp__plugin_p_s__t"),
        ] {
            assert_eq!(tool_name(&Slug::of(server), tool), expected);
        }
    }

    #[test]
    fn a_long_name_is_cut_and_stays_distinct() {
        let (one, other) = (format!("{}1", "t".repeat(200)), format!("{}2", "t".repeat(200)));
        let slug = Slug::of("s");
        assert_eq!(tool_name(&slug, &one).len(), LONGEST);
        assert_ne!(tool_name(&slug, &one), tool_name(&slug, &other));
    }
}
