//! `@path` in a prompt: which files and folders a person points at.
//!
//! A word is a mention only if something of that name exists, so that mail addresses,
//! decorators and diff headers stay what they are. A word that has the form of a path and
//! names nothing is reported as missing. Reading what is meant, and whether it may be read,
//! is decided in `said`.

use ona_tools::{ToolContext, absolute};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// More are left out, and said so.
pub(crate) const MOST: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    /// As it is written, without the sign.
    pub word: String,
    pub path: PathBuf,
    pub is_folder: bool,
    /// `#L3` or `#L3-9`: the first line and how many.
    pub lines: Option<(u64, u64)>,
}

/// What a prompt names, each once, in order.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    pub found: Vec<Mention>,
    /// Words that can only be meant as paths and name nothing, without the sign.
    pub missing: Vec<String>,
}

pub(crate) fn mentions(prompt: &str, cx: &ToolContext) -> Mentions {
    let mut mentions = Mentions::default();
    let (mut seen, mut missed) = (HashSet::new(), HashSet::new());
    for word in words(prompt) {
        match existing(word, cx) {
            Some(mention) if seen.insert((mention.path.clone(), mention.lines)) => mentions.found.push(mention),
            Some(_) => {}
            None => {
                let is_folder = |name: &str| absolute(name, cx).is_dir();
                mentions
                    .missing
                    .extend(as_path(word, is_folder).filter(|word| missed.insert(*word)).map(str::to_owned));
            }
        }
    }
    mentions
}

/// `@server:uri`: a resource of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceMention {
    pub server: String,
    pub uri: String,
}

/// What a prompt names of these servers, each once, in order. A word that names no server is left to the files.
pub(crate) fn resource_mentions(prompt: &str, servers: &[String]) -> Vec<ResourceMention> {
    let mut found = Vec::new();
    for word in words(prompt) {
        let named =
            servers.iter().filter_map(|server| Some((server, word.strip_prefix(server.as_str())?.strip_prefix(':')?)));
        let Some((server, uri)) = named.max_by_key(|(server, _)| server.len()) else { continue };
        // A mention may end a sentence.
        let uri = uri.trim_end_matches(|end: char| ENDS.contains(end)).to_owned();
        let mention = ResourceMention { server: server.clone(), uri };
        if !mention.uri.is_empty() && !found.contains(&mention) && found.len() < MOST {
            found.push(mention);
        }
    }
    found
}

/// Extensions of files people write and attach. A single word with a dot is taken for a file
/// only with one of these: decorators (`@app.route`) and names (`@john.doe`) have dots too.
const EXTENSIONS: &[&str] = &[
    "adoc", "bash", "bat", "bmp", "c", "cc", "cfg", "clj", "conf", "cpp", "cs", "css", "csv", "dart", "diff", "env",
    "ex", "exs", "gif", "go", "gradle", "h", "hpp", "hs", "htm", "html", "ini", "ipynb", "java", "jpeg", "jpg", "js",
    "json", "jsonl", "jsx", "kt", "less", "lock", "log", "lua", "md", "mdx", "mjs", "mk", "ml", "nix", "patch", "pdf",
    "php", "pl", "png", "proto", "ps1", "py", "rb", "rs", "rst", "scala", "scss", "sh", "sql", "svelte", "svg",
    "swift", "tex", "tf", "toml", "ts", "tsv", "tsx", "txt", "vue", "webp", "xml", "yaml", "yml", "zig", "zsh",
];

/// The word as a path, if it cannot be meant otherwise. Packages (`@types/node`) and handles
/// have the form of a path as well: without an extension the first folder must exist.
fn as_path(word: &str, is_folder: impl Fn(&str) -> bool) -> Option<&str> {
    let word = word.trim_end_matches(|end: char| ENDS.contains(end));
    let (name, lines) = match word.rsplit_once("#L") {
        Some((name, lines)) if range(lines).is_some() => (name, true),
        _ => (word, false),
    };
    let plain = |c: char| !c.is_control() && !"@#()<>{}[]|*?$:;,=\"'`\\&!".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return None;
    }
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let is_path = match name.split_once('/') {
        None => extension.is_some_and(|extension| EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())),
        Some(("" | "." | ".." | "~", rest)) => !rest.is_empty(),
        Some((first, rest)) => !rest.is_empty() && (extension.is_some() || is_folder(first)),
    };
    (is_path || lines).then_some(word)
}

/// What stands behind an `@` that begins a word: up to the next space, or between quotes.
fn words(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.match_indices('@').filter_map(|(at, _)| {
        let begins =
            prompt[..at].chars().next_back().is_none_or(|before| before.is_whitespace() || "([{\"'`".contains(before));
        let rest = &prompt[at + 1..];
        let word = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?.0,
            None => rest.split(char::is_whitespace).next()?,
        };
        (begins && !word.is_empty()).then_some(word)
    })
}

/// What may follow a mention without a space.
const ENDS: &str = ".,;:!?)]}>\"'`";

/// The longest beginning of the word that exists: a mention may end a sentence.
fn existing(word: &str, cx: &ToolContext) -> Option<Mention> {
    let mut rest = word;
    loop {
        if let Some(mention) = found(rest, None, cx) {
            return Some(mention);
        }
        if let Some((name, lines)) = rest.rsplit_once("#L")
            && let Some(lines) = range(lines)
            && let Some(mention) = found(name, Some(lines), cx)
        {
            return Some(mention);
        }
        let shorter = rest.strip_suffix(|end: char| ENDS.contains(end))?;
        rest = (!shorter.is_empty()).then_some(shorter)?;
    }
}

fn found(word: &str, lines: Option<(u64, u64)>, cx: &ToolContext) -> Option<Mention> {
    // `@.` and `@..` in prose do not ask for a whole folder.
    if word.bytes().all(|byte| byte == b'.') {
        return None;
    }
    let path = absolute(word, cx);
    let meta = std::fs::metadata(&path).ok()?;
    Some(Mention { word: word.to_owned(), path, is_folder: meta.is_dir(), lines })
}

/// `3` or `3-9` or `3-L9`.
fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.trim_start_matches('L').parse().ok()?);
    (first > 0 && first <= last).then(|| (first, last - first + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_at_sign_counts_where_a_word_begins() {
        let prompt = "@a.txt see (@b/c.png), me@here.org \"@d\" @\"with space.md\" @@ -1,2 @ @";
        assert_eq!(words(prompt).collect::<Vec<_>>(), ["a.txt", "b/c.png),", "d\"", "with space.md", "@"]);
    }

    #[test]
    fn a_resource_belongs_to_a_server_that_exists() {
        let servers = ["docs".to_owned(), "docs:x".to_owned(), "My Server".to_owned()];
        let named = |prompt: &str| {
            let found = resource_mentions(prompt, &servers);
            found.into_iter().map(|one| format!("{}|{}", one.server, one.uri)).collect::<Vec<_>>()
        };
        assert_eq!(named("see @docs:file:///a.md, (@docs:b) @docs:b"), ["docs|file:///a.md", "docs|b"]);
        assert_eq!(named("@docs:x:y and @\"My Server:res://a b\""), ["docs:x|y", "My Server|res://a b"]);
        assert_eq!(named("me@docs:a @other:a @docs @docs:"), Vec::<String>::new());
    }

    #[test]
    fn only_what_can_be_nothing_else_is_a_missing_path() {
        let missing = |word| as_path(word, |first| first == "src");
        for word in [
            "notes.txt",
            "NOTES.MD",
            "src/nothing",
            "docs/guide.md",
            "./run",
            "../a",
            "/etc/nothing",
            "~/nothing",
            "a/b.unheard",
            "main#L3-9",
            ".gitlab-ci.yml",
            "with space.md",
        ] {
            assert_eq!(missing(word), Some(word));
        }
        assert_eq!(missing("notes.txt),"), Some("notes.txt"));
        for word in [
            "john",
            "john.doe",
            "example.com",
            "app.route",
            "app.route(\"/x.html\")",
            "pytest.mark.parametrize",
            "property",
            "Override",
            "types/node",
            "angular/core",
            "org/team",
            "1.2.3",
            "@",
            "@types/node.js@1",
            "media",
            "import",
            "param",
            "src/**/*.rs",
            "user:group/x.md",
            "",
            "...",
            "/",
        ] {
            assert_eq!(missing(word), None, "{word}");
        }
    }

    #[test]
    fn lines_are_counted_from_one() {
        for (text, lines) in [
            ("3", Some((3, 1))),
            ("3-9", Some((3, 7))),
            ("3-L9", Some((3, 7))),
            ("0", None),
            ("9-3", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(range(text), lines, "{text}");
        }
    }
}
