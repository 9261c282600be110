//! What a check of the chain found, for programs.

use super::verify::{AuditDifference, AuditReport};
use crate::RecordRow;
use serde_json::{Value, json};
use std::path::Path;

impl AuditReport {
    /// Whether the record passes; with `strict`, rows of other programs count as well.
    pub fn is_ok(&self, strict: bool) -> bool {
        self.is_clean() && !(strict && self.has_foreign_rows())
    }

    /// The report for programs; with `strict`, foreign rows count as a difference.
    pub fn to_json(&self, path: &Path, strict: bool) -> Value {
        let differences: Vec<_> = self.differences.iter().map(difference).collect();
        let gone = |(table, from, to): &(&str, i64, i64)| json!({"table": table, "from": from, "to": to});
        json!({
            "path": path.to_string_lossy(),
            "ok": self.is_ok(strict),
            "database_id": self.database,
            "since": self.since,
            "groups": self.groups,
            "rows": self.rows,
            "rows_before_the_chain": self.rows_before,
            "first_difference": differences.first(),
            "difference_count": self.difference_count,
            "differences": differences,
            "foreign_count": self.foreign_count,
            "foreign": self.foreign.iter().map(|RecordRow { table, id }| json!({"table": table, "id": id})).collect::<Vec<_>>(),
            "foreign_gone": self.foreign_gone.iter().map(gone).collect::<Vec<_>>(),
        })
    }
}

fn difference(one: &AuditDifference) -> Value {
    json!({
        "kind": one.kind(),
        "table": one.row().map(|row| row.table),
        "id": one.row().map(|row| row.id),
        "group": one.group(),
        "message": one.to_string(),
    })
}
