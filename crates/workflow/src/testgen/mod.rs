//! Behavioural tests (sections 8.5 and 8.6): one bash script per case.
//!
//! `criteria` reads what a plan promises, `lint` says whether a script is a
//! behavioural test at all. Running cases and writing rows is the caller's.

pub mod criteria;
pub mod lint;
