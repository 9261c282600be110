//! The one place that asks what time it is, and the two forms in which time is
//! stored (DEC-020). Only UTC, so no time-zone library is needed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn now() -> SystemTime {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    SystemTime::now()
}

/// `YYYY-MM-DD HH:MM:SS`, the form of SQLite's `datetime('now')`.
pub fn utc_seconds(at: SystemTime) -> String {
    let seconds = since_epoch(at).as_secs();
    let (year, month, day) = civil(seconds / 86_400);
    let of_day = seconds % 86_400;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

/// `YYYY-MM-DD HH:MM:SS.SSS`, the form of hook times.
pub fn utc_millis(at: SystemTime) -> String {
    format!("{}.{:03}", utc_seconds(at), since_epoch(at).subsec_millis())
}

fn since_epoch(at: SystemTime) -> Duration {
    at.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Days since 1970-01-01 to a Gregorian date, by eras of 400 years that start
/// in March, so that the leap day is the last day of a year.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_utc_in_the_form_of_sqlite() {
        let at = |s| UNIX_EPOCH + Duration::from_millis(s);
        assert_eq!(utc_seconds(at(0)), "1970-01-01 00:00:00");
        assert_eq!(utc_millis(at(951_782_399_007)), "2000-02-28 23:59:59.007");
        assert_eq!(utc_seconds(at(951_782_400_000)), "2000-02-29 00:00:00");
        assert_eq!(utc_seconds(at(1_793_000_000_000)), "2026-10-26 07:33:20");
    }
}
