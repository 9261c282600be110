use super::*;
use clap::Args as _;

#[test]
fn every_mode_is_in_the_first_lines() {
    for mode in super::super::Action::augment_args(clap::Command::new("ona")).get_arguments() {
        let (short, long) = (mode.get_short(), mode.get_long().unwrap());
        let flag = short.map_or_else(|| format!("--{long}"), |letter| format!("-{letter}"));
        assert!(TEMPLATE.contains(&format!(" {flag} ")), "{flag}");
    }
}
