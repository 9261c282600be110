//! Behavioural tests (sections 8.5 and 8.6): one bash script per case.
//!
//! `criteria` reads what a plan promises, `generate` is what a model is asked for tests and
//! what its answer means, `lint` says whether a script is a behavioural test at all,
//! `touched` which files an implementation changed, `coverage` whether the results are good
//! enough, `report` shows their results. Running cases and writing rows is the caller's.

pub mod coverage;
pub mod criteria;
pub mod generate;
pub mod lint;
pub mod report;
pub mod touched;
