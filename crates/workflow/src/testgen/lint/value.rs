//! What is known of a text before the script runs: its letters, and where they come from.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// Where a text comes from. Nothing: it is written in the script.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Origins(u16);

impl Origins {
    pub(crate) const NONE: Self = Self(0);
    /// The exit status of a product call.
    pub(crate) const STATUS: Self = Self(1);
    /// What a product call printed.
    pub(crate) const OUTPUT: Self = Self(2);
    /// The product's database.
    pub(crate) const DATABASE: Self = Self(4);
    /// Files the product can have written.
    pub(crate) const FILES: Self = Self(8);
    /// Files only the script has written.
    pub(crate) const OWN: Self = Self(16);
    /// Source files of the implementation.
    pub(crate) const SOURCE: Self = Self(32);
    /// The machine: other programs, the environment, the clock.
    pub(crate) const AMBIENT: Self = Self(64);
    /// Beside output or database: it is about a tool's result.
    pub(crate) const RESULT: Self = Self(128);
    /// Beside output or database: it is about what a hook did.
    pub(crate) const HOOKS: Self = Self(256);
    /// The surfaces of section 8.5.2 that show what the product did.
    pub(crate) const SURFACES: Self = Self(2 | 4 | 8);

    pub(crate) fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Origins {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Origins {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:b}", self.0)
    }
}

/// A text with its origin. What only a running shell could tell is a hole: a
/// character of a private plane, another one for each place it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TrackedText {
    pub text: String,
    pub from: Origins,
}

const FIRST_HOLE: u32 = 0xF_0000;
pub(super) const MOST_HOLES: u32 = 0xFFF0;

pub(super) fn hole(number: u32) -> char {
    char::from_u32(FIRST_HOLE + number.min(MOST_HOLES)).expect("the whole range is private")
}

pub(super) fn is_hole(c: char) -> bool {
    (FIRST_HOLE..=FIRST_HOLE + MOST_HOLES).contains(&(c as u32))
}

pub(super) fn hole_number(c: char) -> Option<u32> {
    is_hole(c).then(|| c as u32 - FIRST_HOLE)
}

impl TrackedText {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), from: Origins::NONE }
    }

    /// Every letter is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.text.contains(is_hole)
    }

    pub(crate) fn push(&mut self, other: &TrackedText) {
        self.text.push_str(&other.text);
        self.from |= other.from;
    }

    /// A stretch of known letters contains this.
    pub(crate) fn says(&self, needle: &str) -> bool {
        !needle.is_empty() && !needle.contains(is_hole) && self.text.contains(needle)
    }
}
