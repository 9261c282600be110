//! What went wrong, in one sentence, with the exit code it stands for (DEC-008).

use std::fmt;

#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    pub message: String,
    pub hint: Option<String>,
}

impl Failure {
    /// Refused or failed.
    pub fn refused(message: impl fmt::Display) -> Self {
        Self { code: 1, message: message.to_string(), hint: None }
    }

    /// Wrong use or wrong configuration.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { code: 2, message: message.to_string(), hint: None }
    }

    pub fn with_code(mut self, code: u8) -> Self {
        self.code = code;
        self
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
