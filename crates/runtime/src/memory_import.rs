//! Markdown files that become memories (DEC-022).

use crate::failure::Failure;
use crate::launch::Launch;
use ona_api::row::Memory;
use ona_api::{Row, digest};
use ona_files::Follow;
use std::path::{Path, PathBuf};

/// One memory per Markdown file; the id is stable, so importing again replaces (DEC-022).
pub fn markdown_files(launch: &Launch, dir: &Path) -> Result<Vec<Row>, Failure> {
    /// Levels of folders that are looked through.
    const DEEPEST: usize = 32;
    let scope = launch.project.to_string_lossy().into_owned();
    std::fs::read_dir(dir).map_err(|error| Failure::usage(format_args!("{}: {error}", dir.display())))?;
    let mut found = ona_files::list_below(dir, DEEPEST, Follow::Nothing);
    if found.truncated {
        return Err(Failure::usage(format_args!("{} {}", dir.display(), ona_files::TOO_MANY_ENTRIES)));
    }
    found
        .paths
        .retain(|path| path.extension().is_some_and(|ending| ending == "md") && !path.is_dir() && !path.is_symlink());
    let read = |file: &PathBuf| match ona_files::read_text(file) {
        Ok(content) => Some((file.clone(), content)),
        Err(why) => {
            launch.note(format_args!("ona: ignoring {}: it {why}", file.display()));
            None
        }
    };
    found
        .paths
        .iter()
        .filter_map(read)
        .map(|(file, content)| {
            let relative = file.strip_prefix(dir).unwrap_or(&file).to_string_lossy();
            let heading = content.lines().find_map(|line| line.strip_prefix("# "));
            Ok(Row::Memory(Memory {
                id: digest::sha256_hex(format!("{scope}{relative}").as_bytes()),
                kind: "imported".into(),
                title: heading.map_or_else(|| relative.to_string(), |heading| heading.trim().to_owned()),
                content: Some(content),
                keywords: None,
                anticipated_queries: None,
                concept_tags: None,
                project_scope: Some(scope.clone()),
            }))
        })
        .collect()
}
