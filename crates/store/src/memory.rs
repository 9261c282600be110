//! Memories: rows by id, a full-text table that mirrors them, and ranked search.
//!
//! The mirror is emptied and refilled by the two statements of section 4.3, once
//! per group (DEC-021). It has no id of its own, so search joins on the four
//! texts. Importing Markdown files is left to the caller.

use crate::error::StoreError;
use crate::reader::Reader;
use crate::row_writer::{RowWriter, cells};
use ona_api::row::Memory;
use rusqlite::{Row, named_params};

/// A memory with what the store keeps beside it. Times are Unix seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMemory {
    pub memory: Memory,
    pub correction_count: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub last_accessed: Option<i64>,
    pub access_count: i64,
    pub attention_score: f64,
}

pub(crate) fn put(writer: &RowWriter<'_>, memory: &Memory) -> Result<(), StoreError> {
    let sql = "INSERT INTO memories(id, type, title, content, keywords, anticipated_queries, concept_tags, \
               project_scope, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, unixepoch(), unixepoch()) \
               ON CONFLICT(id) DO UPDATE SET type = excluded.type, title = excluded.title, \
               content = excluded.content, keywords = excluded.keywords, \
               anticipated_queries = excluded.anticipated_queries, concept_tags = excluded.concept_tags, \
               project_scope = excluded.project_scope, correction_count = coalesce(correction_count, 1) + 1, \
               updated_at = excluded.updated_at";
    let Memory { id, kind, title, content, keywords, anticipated_queries, concept_tags, project_scope } = memory;
    writer.run(
        sql,
        cells![
            id,
            kind,
            title,
            content.as_ref(),
            keywords.as_ref(),
            anticipated_queries.as_ref(),
            concept_tags.as_ref(),
            project_scope.as_ref(),
        ],
    )?;
    Ok(())
}

pub(crate) fn forget(writer: &RowWriter<'_>, id: &str) -> Result<(), StoreError> {
    writer.run("DELETE FROM memories WHERE id = ?1", cells![id])?;
    Ok(())
}

pub(crate) fn accessed(writer: &RowWriter<'_>, ids: &[String]) -> Result<(), StoreError> {
    let sql =
        "UPDATE memories SET access_count = coalesce(access_count, 0) + 1, last_accessed = unixepoch() WHERE id = ?1";
    for id in ids {
        writer.run(sql, cells![id])?;
    }
    Ok(())
}

/// The two statements of section 4.3, verbatim.
const REBUILD: [&str; 2] = [
    "DELETE FROM memories_fts;",
    "INSERT INTO memories_fts(title, content, keywords, anticipated_queries)
SELECT title, content, keywords, anticipated_queries FROM memories;",
];

pub(crate) fn rebuild_index(writer: &RowWriter<'_>) -> Result<(), StoreError> {
    for statement in REBUILD {
        writer.run(statement, &[])?;
    }
    Ok(())
}

const COLUMNS: &str = "m.id, m.type, m.title, m.content, m.keywords, m.anticipated_queries, m.concept_tags, \
    m.project_scope, coalesce(m.correction_count, 1), m.created_at, m.updated_at, m.last_accessed, \
    coalesce(m.access_count, 0), coalesce(m.attention_score, 0.5)";

impl Reader {
    /// Returns the best ten memories for a text, in the order of DEC-022.
    pub fn search_memories(&self, text: &str, project_dir: &str) -> Result<Vec<StoredMemory>, StoreError> {
        let Some(query) = any_word(text) else { return Ok(Vec::new()) };
        // DISTINCT because memories with the same four texts find each other's mirror rows.
        let sql = format!(
            "SELECT DISTINCT {COLUMNS}, bm25(memories_fts, 4.0, 1.0, 2.0, 2.0) AS score \
             FROM memories_fts f JOIN memories m ON m.title IS f.title AND m.content IS f.content \
             AND m.keywords IS f.keywords AND m.anticipated_queries IS f.anticipated_queries \
             WHERE memories_fts MATCH :query \
             AND (m.project_scope IS NULL OR m.project_scope = '' OR m.project_scope = :project_dir) \
             ORDER BY bm25(memories_fts, 4.0, 1.0, 2.0, 2.0), m.attention_score DESC, m.correction_count DESC, \
             m.updated_at DESC, m.id LIMIT 10"
        );
        self.all(&sql, named_params! {":query": query, ":project_dir": project_dir}, stored)
    }

    /// Returns all memories by id.
    pub fn memories(&self) -> Result<Vec<StoredMemory>, StoreError> {
        self.all(&format!("SELECT {COLUMNS} FROM memories m ORDER BY m.id"), [], stored)
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredMemory> {
    Ok(StoredMemory {
        memory: Memory {
            id: row.get(0)?,
            kind: row.get(1)?,
            title: row.get(2)?,
            content: row.get(3)?,
            keywords: row.get(4)?,
            anticipated_queries: row.get(5)?,
            concept_tags: row.get(6)?,
            project_scope: row.get(7)?,
        },
        correction_count: row.get(8)?,
        created_at: row.get(9)?,
        updated_at: row.get(10)?,
        last_accessed: row.get(11)?,
        access_count: row.get(12)?,
        attention_score: row.get(13)?,
    })
}

/// Returns an FTS5 query for any of the words. Each is a quoted string, so nothing a
/// person types is an operator.
fn any_word(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == '\0').filter(|word| !word.is_empty());
    let quoted: Vec<_> = words.map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_joined_by_or() {
        let table = [
            ("", None),
            (" \n", None),
            ("build", Some(r#""build""#)),
            ("NOT a*", Some(r#""NOT" OR "a*""#)),
            ("say \"hi\"", Some(r#""say" OR """hi""""#)),
            ("a\0b", Some(r#""a" OR "b""#)),
        ];
        for (text, query) in table {
            assert_eq!(any_word(text).as_deref(), query, "{text:?}");
        }
    }
}
