//! What the database says, through a connection of its own.

use crate::run::Ona;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params};
use serde_json::Value;

impl Ona {
    fn connection(&self) -> Connection {
        #[expect(clippy::disallowed_methods, reason = "a test looks at the file as an operator would")]
        let connection = Connection::open(self.db()).expect("the database opens");
        connection.busy_timeout(std::time::Duration::from_secs(30)).expect("a timeout can be set");
        connection
    }

    pub fn execute(&self, sql: &str, params: impl Params) {
        self.connection().execute(sql, params).unwrap_or_else(|error| panic!("{error} in {sql}"));
    }

    /// Rows as arrays of JSON values.
    pub fn rows(&self, sql: &str) -> Vec<Vec<Value>> {
        let connection = self.connection();
        let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{error} in {sql}"));
        let width = statement.column_count();
        let mut rows = statement.query([]).expect("a query without parameters");
        let mut all = Vec::new();
        while let Some(row) = rows.next().expect("a readable row") {
            all.push((0..width).map(|i| value(row.get_ref(i).expect("a column"))).collect());
        }
        all
    }

    /// Returns the single value of a query.
    pub fn value(&self, sql: &str) -> Value {
        let rows = self.rows(sql);
        assert!(rows.len() == 1 && rows[0].len() == 1, "{sql} gave {rows:?}");
        rows[0][0].clone()
    }

    /// Returns the first column of every row.
    pub fn column(&self, sql: &str) -> Vec<Value> {
        self.rows(sql).into_iter().map(|mut row| row.swap_remove(0)).collect()
    }
}

fn value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}
