//! Why something could not be done, in one sentence (DEC-008).

use std::fmt;

/// What kind of failure it is. A front turns the kind into an exit code or an error of its
/// protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Refused or failed.
    Refused,
    /// Wrong use or wrong configuration.
    Usage,
    /// Another process holds the database.
    Busy,
    /// Ended by the operator.
    Interrupted,
}

#[derive(Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    /// What to do about it, on a line of its own.
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), hint: None }
    }

    /// Refused or failed.
    pub fn refused(message: impl fmt::Display) -> Self {
        Self::new(FailureKind::Refused, message)
    }

    /// Wrong use or wrong configuration.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ona: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  {hint}")?;
        }
        Ok(())
    }
}
