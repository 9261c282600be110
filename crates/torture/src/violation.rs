//! A promise that did not hold, by class.

/// What a round ends with when a promise does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub class: Class,
    pub what: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Printed as final, or run, and not in the database.
    Lost,
    /// A commit group that is neither whole nor absent.
    Torn,
    /// The body of one call ran twice.
    DoubleRun,
    /// The program or a library panicked or was aborted.
    Panic,
    /// A command of a tool outlived the program.
    ChildLeft,
    /// The database is not sound.
    Damaged,
    /// The program did not end in time.
    Hang,
    /// A law of a parser, a limit of the soak.
    Law,
}

impl Class {
    pub(crate) const ALL: [Self; 8] =
        [Self::Lost, Self::Torn, Self::DoubleRun, Self::Panic, Self::ChildLeft, Self::Damaged, Self::Hang, Self::Law];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::DoubleRun => "double runs",
            Self::Panic => "panics",
            Self::ChildLeft => "children left",
            Self::Damaged => "damaged",
            Self::Hang => "hangs",
            Self::Law => "laws broken",
        }
    }

    pub(crate) fn of(self, what: impl Into<String>) -> Violation {
        Violation { class: self, what: what.into() }
    }
}

impl From<rusqlite::Error> for Violation {
    fn from(error: rusqlite::Error) -> Self {
        Class::Damaged.of(format!("SQLite: {error}"))
    }
}

pub(crate) type Checked<T = ()> = Result<T, Violation>;
