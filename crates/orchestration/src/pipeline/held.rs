//! Rows that wait for a commit of their call, and what may be said once they are on disk.
//!
//! A reply is committed with the first of its calls where nothing could miss it before.
//! A front must not show the reply earlier: what was shown and then lost to a kill
//! or a locked database would be a record that lies (DEC-194).

use ona_api::Group;
use ona_api::row::SessionKey;
use ona_store::{Store, StoreError};
use std::fmt;

#[derive(Default)]
pub struct HeldRows {
    rows: Group,
    then: Option<Box<dyn FnOnce() + Send>>,
}

impl HeldRows {
    /// `then` is called after the rows are committed, and not at all if they are not.
    pub(crate) fn new(rows: Group, then: impl FnOnce() + Send + 'static) -> Self {
        Self { rows, then: Some(Box::new(then)) }
    }

    /// Commits the rows, if there are any.
    pub(crate) async fn commit(self, store: &Store, at: &SessionKey) -> Result<(), StoreError> {
        self.commit_with(store, at, Group::default()).await
    }

    /// Commits the rows and `more` behind them as one group.
    pub(crate) async fn commit_with(self, store: &Store, at: &SessionKey, more: Group) -> Result<(), StoreError> {
        let Self { mut rows, then } = self;
        rows.append(more);
        store.commit(at, rows).await?;
        if let Some(then) = then {
            then();
        }
        Ok(())
    }
}

impl From<Group> for HeldRows {
    fn from(rows: Group) -> Self {
        Self { rows, then: None }
    }
}

impl fmt::Debug for HeldRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldRows").field("rows", &self.rows).finish_non_exhaustive()
    }
}
