//! Which rows of a session are current after rewinds.
//!
//! Rows are never deleted. Rewinding a conversation to an earlier row adds a row that says
//! so; from then on the rows between the two do not count, neither for the model nor for
//! the next step nor for a listing. They can still be read, and be returned to: a second
//! rewind may lead to a row that the first one left.

use crate::record::{Body, Record};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewinds {
    /// For each rewind the last row that counts, and the row of the rewind.
    turns: Vec<(i64, i64)>,
}

impl Rewinds {
    /// Adds a row; returns whether it is a rewind, after which the rows before it must be read again.
    pub fn push(&mut self, record: &Record) -> bool {
        match record.body {
            Body::Rewound { to } => {
                self.turns.push((to, record.sequence));
                true
            }
            _ => false,
        }
    }

    /// Returns whether this row is a rewind that was added already.
    pub fn contains(&self, record: &Record) -> bool {
        self.turns.iter().any(|(_, at)| *at == record.sequence)
    }

    /// Returns whether the row with this number counts. Read from the end: rows after the last
    /// rewind count, then those up to the row it leads to, and so on.
    pub fn is_current(&self, sequence: i64) -> bool {
        let mut end = i64::MAX;
        for (to, at) in self.turns.iter().rev() {
            if *at > end {
                // This rewind is itself no longer current.
                continue;
            }
            if sequence > *at {
                break;
            }
            end = *to;
            if sequence > end {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewinds(turns: &[(i64, i64)]) -> Rewinds {
        let mut recorded = Rewinds::default();
        for (to, at) in turns {
            assert!(recorded.push(&Record { sequence: *at, body: Body::Rewound { to: *to } }));
        }
        recorded
    }

    fn kept(turns: &[(i64, i64)], rows: i64) -> Vec<i64> {
        let recorded = rewinds(turns);
        (1..=rows).filter(|row| recorded.is_current(*row)).collect()
    }

    #[test]
    fn going_back_leaves_what_came_between() {
        assert_eq!(kept(&[], 4), [1, 2, 3, 4]);
        assert_eq!(kept(&[(2, 5)], 7), [1, 2, 6, 7]);
        assert_eq!(kept(&[(0, 3)], 5), [4, 5], "to the beginning");
    }

    #[test]
    fn a_second_turn_goes_on_from_the_first() {
        assert_eq!(kept(&[(2, 5), (6, 8)], 10), [1, 2, 6, 9, 10]);
    }

    #[test]
    fn a_turn_may_lead_back_into_what_was_left() {
        assert_eq!(kept(&[(2, 5), (4, 8)], 10), [1, 2, 3, 4, 9, 10]);
    }
}
