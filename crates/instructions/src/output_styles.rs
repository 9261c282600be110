//! Output styles: how the agent of the main session talks, in its system prompt.
//!
//! Built-in ones, then those of plugins, of the user and of the project; the later wins by name. A
//! file is Markdown with optional front matter. A style of a file replaces our own words about the
//! work unless `keep-coding-instructions` is set. Subagents have none.

use crate::frontmatter;
use ona_files::TOO_MANY_ENTRIES;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The style that adds nothing.
pub const DEFAULT_STYLE: &str = "default";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputStyle {
    pub name: String,
    pub description: String,
    /// What is said in the system prompt; empty for the default.
    pub text: String,
    /// The words about the work stay.
    pub keeps_instructions: bool,
    /// `None` for a built-in one.
    pub file: Option<PathBuf>,
}

/// A folder of styles.
#[derive(Clone, Debug)]
pub struct StyleFolder {
    pub path: PathBuf,
    /// The plugin it belongs to, whose name precedes those of its styles.
    pub plugin: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct OutputStyles {
    known: BTreeMap<String, OutputStyle>,
    /// Files that were not read, and why: the end of a sentence that begins with the file.
    pub left_out: Vec<(PathBuf, String)>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Meta {
    name: Option<String>,
    description: Option<String>,
    keep_coding_instructions: bool,
}

/// Name, description, text.
const BUILTIN: [(&str, &str, &str); 4] = [
    (DEFAULT_STYLE, "Does the work and says what matters", ""),
    (
        "concise",
        "Answers in as few words as the matter allows",
        "Answer in as few words as the matter allows: no preamble, no summary of what was just done, no offer of more. \
         One sentence is better than three; a list is better than prose only where there are several things.",
    ),
    (
        "explanatory",
        "Explains its choices and what is worth knowing about this code base",
        "Beside doing the work, help the person to understand it. Before or after a change that taught something, add a \
         short passage under the line `Worth knowing:` with two or three points about this code base or this choice: why \
         it is done this way here, what the alternative would have cost. Prefer what is particular to this project to \
         what any textbook says. Keep explanations out of the code itself.",
    ),
    (
        "learning",
        "Leaves small, meaningful pieces of the work to the person and explains them",
        "Work so that the person learns by doing. Do the surrounding work yourself, and where a decision is worth making \
         (an algorithm, an interface, a way to handle errors) leave one small piece of two to ten lines to them: put \
         `TODO(you)` in the code, then ask for exactly that piece under the line `Your turn:`, with the file, what it \
         should do, and what to weigh. Wait for their answer before you go on there. When they have written it, say what \
         is good about it and what it could break. Do not hand over chores.",
    ),
];

impl OutputStyles {
    /// `folders` from the weakest to the strongest.
    pub fn load(folders: impl IntoIterator<Item = StyleFolder>) -> Self {
        let mut styles = Self::default();
        for (name, description, text) in BUILTIN {
            styles.add(OutputStyle {
                name: name.to_owned(),
                description: description.to_owned(),
                text: text.to_owned(),
                keeps_instructions: true,
                file: None,
            });
        }
        for folder in folders {
            styles.folder(&folder);
        }
        styles
    }

    fn folder(&mut self, folder: &StyleFolder) {
        let files = crate::rules::files(&folder.path);
        if files.truncated {
            self.left_out.push((folder.path.clone(), TOO_MANY_ENTRIES.to_owned()));
        }
        for file in files.paths {
            let read = ona_files::read_text(&file).map_err(|why| why.to_string());
            match read.and_then(|text| style(folder, &file, &text)) {
                Ok(style) => self.add(style),
                Err(why) => self.left_out.push((file, why)),
            }
        }
    }

    fn add(&mut self, style: OutputStyle) {
        self.known.insert(style.name.to_lowercase(), style);
    }

    /// By name; upper and lower case make no difference.
    pub fn get(&self, name: &str) -> Option<&OutputStyle> {
        self.known.get(&name.trim().to_lowercase())
    }

    pub fn iter(&self) -> impl Iterator<Item = &OutputStyle> {
        self.known.values()
    }
}

fn style(folder: &StyleFolder, file: &std::path::Path, text: &str) -> Result<OutputStyle, String> {
    let (meta, body) =
        frontmatter::checked::<Meta>(text).map_err(|why| format!("has front matter that cannot be read: {why}"))?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = meta.name.unwrap_or(stem);
    let name = match &folder.plugin {
        Some(plugin) => format!("{plugin}:{name}"),
        None => name,
    };
    Ok(OutputStyle {
        name,
        description: meta.description.unwrap_or_default(),
        text: body.trim().to_owned(),
        keeps_instructions: meta.keep_coding_instructions,
        file: Some(file.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_add_to_the_built_ins_and_win() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("pirate.md", "---\ndescription: arr\nkeep-coding-instructions: true\n---\nTalk like a pirate.\n");
        write("mine.md", "---\nname: Learning\n---\nMy own.\n");
        write("bad.md", "---\nname: [\n---\n");
        let styles = OutputStyles::load([StyleFolder { path: dir.path().to_owned(), plugin: None }]);
        let names: Vec<_> = styles.iter().map(|style| style.name.as_str()).collect();
        assert_eq!(names, ["concise", "default", "explanatory", "Learning", "pirate"]);
        let pirate = styles.get("Pirate").unwrap();
        assert_eq!((pirate.text.as_str(), pirate.keeps_instructions), ("Talk like a pirate.", true));
        assert_eq!(styles.get("learning").unwrap().text, "My own.");
        assert!(styles.get("default").unwrap().text.is_empty() && styles.get("none").is_none());
        assert_eq!(styles.left_out.len(), 1);
        let of_plugin = OutputStyles::load([StyleFolder { path: dir.path().to_owned(), plugin: Some("p".into()) }]);
        assert!(of_plugin.get("p:pirate").is_some());
    }
}
