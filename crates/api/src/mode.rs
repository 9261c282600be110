//! The permission modes of Appendix E. The set is closed; `auto` is not in it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    #[default]
    Default,
    AcceptEdits,
    BypassPermissions,
    Plan,
    DontAsk,
}

impl Mode {
    pub const ALL: [Mode; 5] = [Mode::Default, Mode::AcceptEdits, Mode::BypassPermissions, Mode::Plan, Mode::DontAsk];

    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Default => "default",
            Mode::AcceptEdits => "acceptEdits",
            Mode::BypassPermissions => "bypassPermissions",
            Mode::Plan => "plan",
            Mode::DontAsk => "dontAsk",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not a permission mode; use default, acceptEdits, bypassPermissions, plan or dontAsk")]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;
    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or_else(|| UnknownMode(text.to_owned()))
    }
}
