//! `conversations.phase` (section 8.1). The set is closed.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Idle,
    Planning,
    Implement,
    Test,
    Verify,
    Done,
}

impl Phase {
    pub const ALL: [Phase; 6] =
        [Phase::Idle, Phase::Planning, Phase::Implement, Phase::Test, Phase::Verify, Phase::Done];

    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Idle => "idle",
            Phase::Planning => "planning",
            Phase::Implement => "implement",
            Phase::Test => "test",
            Phase::Verify => "verify",
            Phase::Done => "done",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not a phase; the phases are idle, planning, implement, test, verify and done")]
pub struct UnknownPhase(pub String);

impl FromStr for Phase {
    type Err = UnknownPhase;
    fn from_str(text: &str) -> Result<Self, UnknownPhase> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == text).ok_or_else(|| UnknownPhase(text.to_owned()))
    }
}
