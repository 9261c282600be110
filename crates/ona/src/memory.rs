//! `ona memory add|list|search|import|rm`.

use crate::args::Memory as Command;
use crate::output;
use crate::startup::read_text;
use ona_api::row::Memory;
use ona_api::{Group, Row};
use ona_runtime::ids::{self, IdKind};
use ona_runtime::{Failure, Launch, at, memory_import};
use ona_store::{Store, StoredMemory};
use serde_json::{Value, json};

pub(crate) fn run(launch: &Launch, command: Command) -> Result<u8, Failure> {
    let open = launch.open()?;
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
                project_scope: project.then(|| launch.project.to_string_lossy().into_owned()),
            };
            let id = memory.id.clone();
            commit(launch, store, vec![Row::Memory(memory)])?;
            output::json(&json!({ "id": id }));
        }
        Command::List { json } => {
            let found = store.reader().and_then(|reader| reader.memories());
            show(&found.map_err(|error| launch.store_failure(error))?, json);
        }
        Command::Search { words, json } => {
            let scope = launch.project.to_string_lossy();
            let found = store.reader().and_then(|reader| reader.search_memories(&words.join(" "), &scope));
            show(&found.map_err(|error| launch.store_failure(error))?, json);
        }
        Command::Import { dir } => {
            let rows = memory_import::markdown_files(launch, &launch.cwd.join(dir))?;
            let count = rows.len();
            commit(launch, store, rows)?;
            output::json(&json!({ "imported": count }));
        }
        Command::Rm { id } => {
            let all = store.reader().and_then(|reader| reader.memories());
            let all = all.map_err(|error| launch.store_failure(error))?;
            let id = ids::find(IdKind::Memory, &id, all.iter().map(|stored| stored.memory.id.as_str()))?;
            commit(launch, store, vec![Row::ForgetMemory(id.to_owned())])?;
        }
    }
    Ok(0)
}

fn commit(launch: &Launch, store: &Store, rows: Vec<Row>) -> Result<(), Failure> {
    store.commit_now(&at(&"".into(), ""), Group(rows)).map(drop).map_err(|error| launch.store_failure(error))
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
        output::note("No memories to show.");
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
