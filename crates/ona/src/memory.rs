//! `ona memory add|list|search|import|rm`.

use crate::args::Memory as Command;
use crate::failure::Failure;
use crate::output;
use crate::program::{Program, at, read_text};
use ona_api::row::Memory;
use ona_api::{Group, Row, digest};
use ona_store::{Store, StoredMemory};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub fn run(program: &Program, command: Command) -> Result<u8, Failure> {
    let open = program.open()?;
    let store = &open.store;
    match command {
        Command::Add { title, content, kind, keywords, project } => {
            let memory = Memory {
                id: ona_api::CallId::random().0,
                kind,
                title,
                content: Some(read_text(&content)?),
                keywords,
                anticipated_queries: None,
                concept_tags: None,
                project_scope: project.then(|| program.project.to_string_lossy().into_owned()),
            };
            let id = memory.id.clone();
            commit(program, store, vec![Row::Memory(memory)])?;
            output::json(&json!({ "id": id }));
        }
        Command::List { json } => {
            let found = store.reader().and_then(|reader| reader.memories());
            show(&found.map_err(|error| program.store_failure(error))?, json);
        }
        Command::Search { words, json } => {
            let scope = program.project.to_string_lossy();
            let found = store.reader().and_then(|reader| reader.search_memories(&words.join(" "), &scope));
            show(&found.map_err(|error| program.store_failure(error))?, json);
        }
        Command::Import { dir } => {
            let rows = markdown_files(program, &program.cwd.join(dir))?;
            let count = rows.len();
            commit(program, store, rows)?;
            output::json(&json!({ "imported": count }));
        }
        Command::Rm { id } => {
            let all = store.reader().and_then(|reader| reader.memories());
            if !all.map_err(|error| program.store_failure(error))?.iter().any(|stored| stored.memory.id == id) {
                return Err(Failure::usage(format_args!("there is no memory {id}")));
            }
            commit(program, store, vec![Row::ForgetMemory(id)])?;
        }
    }
    Ok(0)
}

fn commit(program: &Program, store: &Store, rows: Vec<Row>) -> Result<(), Failure> {
    store.commit_now(&at(&"".into(), ""), Group(rows)).map(drop).map_err(|error| program.store_failure(error))
}

/// One memory per Markdown file; the id is stable, so importing again replaces (DEC-022).
fn markdown_files(program: &Program, dir: &Path) -> Result<Vec<Row>, Failure> {
    let unreadable = |path: &Path, error: std::io::Error| Failure::usage(format_args!("{}: {error}", path.display()));
    let scope = program.project.to_string_lossy().into_owned();
    let mut pending = vec![dir.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| unreadable(&folder, error))? {
            let entry = entry.map_err(|error| unreadable(&folder, error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), error))?;
            if kind.is_dir() {
                pending.push(entry.path());
            } else if kind.is_file() && entry.path().extension().is_some_and(|ending| ending == "md") {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files
        .iter()
        .map(|file| {
            let content = std::fs::read_to_string(file).map_err(|error| unreadable(file, error))?;
            let relative = file.strip_prefix(dir).unwrap_or(file).to_string_lossy();
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

fn show(memories: &[StoredMemory], json: bool) {
    if json {
        output::json(&memories.iter().map(described).collect());
        return;
    }
    for stored in memories {
        output::line(format_args!("{}  {:<10}  {}", stored.memory.id, stored.memory.kind, stored.memory.title));
    }
    if memories.is_empty() {
        output::note("There are no memories to show.");
    }
}

fn described(stored: &StoredMemory) -> Value {
    json!({
        "id": stored.memory.id,
        "type": stored.memory.kind,
        "title": stored.memory.title,
        "content": stored.memory.content,
        "keywords": stored.memory.keywords,
        "project_scope": stored.memory.project_scope,
        "updated_at": stored.updated_at,
    })
}
