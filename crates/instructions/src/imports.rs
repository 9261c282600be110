//! `@path` in an instruction file, outside code, names another file to include.

use std::path::{Path, PathBuf};

/// Returns the paths a text imports, in order, as they are written.
pub(crate) fn named(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        // Every second part stands between backticks.
        for prose in line.split('`').step_by(2) {
            let words = prose.split_whitespace().filter_map(|word| word.strip_prefix('@'));
            found.extend(
                words
                    .map(|word| word.trim_end_matches([',', ';', ':', '.', ')']).to_owned())
                    .filter(|word| !word.is_empty() && (word.contains('/') || word.contains('.'))),
            );
        }
    }
    found
}

/// Where an import leads, seen from the file that names it.
pub(crate) fn resolve(import: &str, file: &Path, home: &Path) -> PathBuf {
    match import.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => file.parent().unwrap_or(Path::new("/")).join(import),
    }
}

/// Text without block comments that start a line; code keeps its own.
pub(crate) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut fenced, mut comment) = (false, false);
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if !comment && start.starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && !comment && start.starts_with("<!--") {
            comment = true;
        }
        if !comment {
            kept.push_str(line);
        } else if line.contains("-->") {
            comment = false;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_stand_outside_code() {
        let text = "See @docs/style.md and `@not/this.md`.\n```\n@nor/this.md\n```\nmail me@here.org or @~/own.md, @README.md.\n@someone";
        assert_eq!(named(text), ["docs/style.md", "~/own.md", "README.md"]);
    }

    #[test]
    fn comments_are_left_out_except_in_code() {
        let text = "a\n<!-- one\ntwo -->\nb\n```\n<!-- code -->\n```\n";
        assert_eq!(without_comments(text), "a\nb\n```\n<!-- code -->\n```\n");
    }
}
