//! Sentences for people. The runtime prints nothing itself: the front decides where they go.

use ona_api::Redactor;
use std::fmt;
use std::sync::Arc;

/// Takes sentences for people and leaves secrets out of them: what is wrong with a setting
/// is often explained by quoting it.
#[derive(Clone)]
pub struct Notices {
    redactor: Redactor,
    write: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Notices {
    /// `redactor` learns every secret the runtime finds, so a front can share it with its own
    /// output.
    pub fn new(redactor: Redactor, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { redactor, write: Arc::new(write) }
    }

    pub fn note(&self, text: impl fmt::Display) {
        (self.write)(&self.redactor.apply(&text.to_string()));
    }

    /// The redactor that is shared with everything that prints.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }

    /// Leaves these values out from now on, given as a name and the value.
    pub(crate) fn keep_out<'a>(&self, secrets: impl IntoIterator<Item = (&'a str, &'a str)>) {
        self.redactor.learn_all(secrets);
    }
}
