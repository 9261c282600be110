//! Parses the operator's workflow commands: `/phase`, `/rate`, `/tests`.
//!
//! Their text is read into values here, without a terminal. `/phase NAME` is a
//! transition and `/verify` shows the report and asks; both use
//! `transition`.

use crate::testgen::coverage::TestRecord;
use ona_api::{Group, Phase, Row};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCommand {
    #[error("say a number from 1 to 5, and what it is for if you like: /rate 4 fixing the parser")]
    Rating,
    #[error("unknown phase {0:?}; the phases are idle, planning, implement, test, verify, done")]
    Phase(String),
}

/// What `/phase` is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseCommand {
    /// `/phase`
    Show,
    /// `/phase test`
    Go(Phase),
}

pub fn phase(argument: &str) -> Result<PhaseCommand, BadCommand> {
    match argument.trim() {
        "" => Ok(PhaseCommand::Show),
        name => name.parse().map(PhaseCommand::Go).map_err(|_| BadCommand::Phase(name.to_owned())),
    }
}

/// `/rate 1..5 [objective]`: the row of `task_ratings` (DEC-023).
pub fn rate(argument: &str) -> Result<Group, BadCommand> {
    let argument = argument.trim();
    let (number, objective) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let rating = number.parse().ok().filter(|rating| (1..=5).contains(rating)).ok_or(BadCommand::Rating)?;
    let objective = Some(objective.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(Group(vec![Row::Rating { rating, objective }]))
}

/// `/tests`: a line per case, then what is still missing.
pub fn tests(record: &TestRecord) -> Vec<String> {
    let line = |case: &crate::testgen::coverage::RecordedCase| {
        let criterion = case.case.criterion.as_deref().unwrap_or("-");
        format!("{}  {criterion}  {}  {}", case.case.id, record.status(case).word(), case.case.title)
    };
    let mut lines: Vec<String> = record.accepted().map(line).collect();
    lines.push(match record.gap() {
        None => "Every success criterion has a passing test.".to_owned(),
        Some(gap) => format!("Missing for verify: {gap}"),
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testgen::coverage::tests::record;

    #[test]
    fn a_rating_is_a_number_from_one_to_five_and_perhaps_an_objective() {
        let row = |rating, objective: Option<&str>| {
            Ok(Group(vec![Row::Rating { rating, objective: objective.map(str::to_owned) }]))
        };
        assert_eq!(rate("5"), row(5, None));
        assert_eq!(rate("  1   the  parser "), row(1, Some("the  parser")));
        for bad in ["", "0", "6", "-1", "4.5", "five", "5x", "good 5"] {
            assert_eq!(rate(bad), Err(BadCommand::Rating), "{bad}");
        }
    }

    #[test]
    fn a_phase_is_shown_or_gone_to() {
        assert_eq!(phase(" "), Ok(PhaseCommand::Show));
        assert_eq!(phase(" test "), Ok(PhaseCommand::Go(Phase::Test)));
        assert_eq!(phase("Test"), Err(BadCommand::Phase("Test".into())));
    }

    #[test]
    fn tests_are_listed_with_what_is_missing() {
        let mut record = record();
        assert_eq!(
            super::tests(&record),
            [
                "t1  SC-1  passed  title of t1",
                "t2  SC-2  passed  title of t2",
                "helper  -  passed  title of helper",
                "Every success criterion has a passing test.",
            ]
        );
        record.cases[1].run = None;
        assert_eq!(super::tests(&record).last().unwrap(), "Missing for verify: t2 was not run (SC-2)");
    }
}
