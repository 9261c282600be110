//! Which rows of a session are on its present course.
//!
//! Rows are never taken away. A conversation that goes back to an earlier row gets one
//! that says so; from then on the rows between the two do not count, for the model, for
//! the next step, or for anybody who walks the conversation. They are still there to be
//! read, and to be gone back to: a second such row may lead into what the first left.

use crate::record::{Body, Record};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewinds {
    /// Each turn back: the last row that counts, and the row that says so.
    turns: Vec<(i64, i64)>,
}

impl Rewinds {
    /// Takes note of a row; `true` if the rows before it have to be looked at anew.
    pub fn push(&mut self, record: &Record) -> bool {
        match record.body {
            Body::Rewound { to } => {
                self.turns.push((to, record.sequence));
                true
            }
            _ => false,
        }
    }

    /// Whether this row has been taken note of.
    pub fn knows(&self, record: &Record) -> bool {
        self.turns.iter().any(|(_, at)| *at == record.sequence)
    }

    /// Whether the row of this number counts, read from the end: what is after the last
    /// turn counts, then what the row it leads to counts, and so on.
    pub fn holds(&self, sequence: i64) -> bool {
        let mut end = i64::MAX;
        for (to, at) in self.turns.iter().rev() {
            if *at > end {
                // This turn was itself left behind.
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
        let mut course = Rewinds::default();
        for (to, at) in turns {
            assert!(course.push(&Record { sequence: *at, body: Body::Rewound { to: *to } }));
        }
        course
    }

    fn kept(turns: &[(i64, i64)], rows: i64) -> Vec<i64> {
        let course = rewinds(turns);
        (1..=rows).filter(|row| course.holds(*row)).collect()
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
