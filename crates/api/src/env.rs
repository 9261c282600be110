//! The process environment as one value, read once in the `ona` crate and
//! passed down. Library crates never look at the real one.

use crate::environment::{self, Variable};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<OsString, OsString>);

impl Env {
    pub fn new(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self(vars.into_iter().collect())
    }

    /// Returns the value as text. A value that is not UTF-8 counts as unset here, but
    /// children still inherit it.
    pub fn get(&self, variable: Variable) -> Option<&str> {
        self.lookup(variable.name())
    }

    /// Like `get`, but an empty value counts as unset.
    pub fn non_empty(&self, variable: Variable) -> Option<&str> {
        self.get(variable).filter(|value| !value.is_empty())
    }

    /// Like `get`, for a name that comes from a configuration file or another program.
    pub fn lookup(&self, name: &str) -> Option<&str> {
        self.0.get(OsStr::new(name)).and_then(|value| value.to_str())
    }

    pub fn is_set(&self, variable: Variable) -> bool {
        self.0.contains_key(OsStr::new(variable.name()))
    }

    pub fn set(&mut self, name: impl AsRef<str>, value: impl Into<OsString>) {
        self.0.insert(name.as_ref().into(), value.into());
    }

    pub fn remove(&mut self, name: impl AsRef<str>) {
        self.0.remove(OsStr::new(name.as_ref()));
    }

    pub fn with(mut self, name: impl AsRef<str>, value: impl Into<OsString>) -> Self {
        self.set(name, value);
        self
    }

    /// Without the credentials of this program's own.
    pub fn without_own_credentials(mut self) -> Self {
        self.0.retain(|name, _| !name.to_str().is_some_and(crate::redact::is_own_credential));
        self
    }

    pub fn home(&self) -> PathBuf {
        self.non_empty(environment::HOME).map_or_else(|| PathBuf::from("/"), PathBuf::from)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}
