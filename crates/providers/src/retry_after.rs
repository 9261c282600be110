//! How long a server asks us to wait, from its headers.

use crate::classify::RetryHints;
use ona_api::clock;
use reqwest::header::HeaderMap;
use std::time::{Duration, SystemTime};

pub(crate) fn hints(headers: &HeaderMap) -> RetryHints {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let exact = text("retry-after-ms").and_then(|value| seconds(value, 1000.0));
    let should_retry = match text("x-should-retry") {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    RetryHints {
        retry_after: exact.or_else(|| text("retry-after").and_then(|value| wait(value, clock::now()))),
        should_retry,
    }
}

/// Seconds, or a date in the form every server must send. A date in the past means not waiting.
fn wait(value: &str, now: SystemTime) -> Option<Duration> {
    seconds(value, 1.0).or_else(|| Some(date(value)?.duration_since(now).unwrap_or_default()))
}

fn seconds(value: &str, per_second: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value.parse::<f64>().ok()? / per_second).ok()
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`; the obsolete forms count as absent.
fn date(value: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let fields: Vec<&str> = value.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = fields[..] else { return None };
    let month = 1 + MONTHS.iter().position(|name| *name == month)? as u64;
    let (day, year) = (day.parse::<u64>().ok()?, year.parse::<u64>().ok()?);
    let clock: Vec<u64> = time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hour, minute, second] = clock[..] else { return None };
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Years that begin in March, so that the leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400 + hour * 3600 + minute * 60 + second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn dates_are_read_as_the_clock_writes_them() {
        for seconds in [0, 951_782_400, 951_868_799, 784_111_777, 4_107_542_399] {
            let stamp = clock::utc_seconds(at(seconds));
            let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
            let month = names[stamp[5..7].parse::<usize>().unwrap() - 1];
            let text = format!("Mon, {} {month} {} {} GMT", &stamp[8..10], &stamp[..4], &stamp[11..]);
            assert_eq!(date(&text), Some(at(seconds)), "{text}");
        }
    }

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        let now = at(784_111_777);
        for (value, expected) in [
            ("7", Some(7.0)),
            ("0.5", Some(0.5)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10.0)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0.0)),
            ("soon", None),
            ("-1", None),
            ("inf", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 06 Nov 0001 08:49:37 GMT", None),
        ] {
            assert_eq!(wait(value, now), expected.map(Duration::from_secs_f64), "{value}");
        }
    }

    #[test]
    fn the_finer_header_wins() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "2".parse().unwrap());
        assert_eq!(hints(&headers).retry_after, Some(Duration::from_secs(2)));
        headers.insert("retry-after-ms", "1500".parse().unwrap());
        headers.insert("x-should-retry", "false".parse().unwrap());
        let expected = RetryHints { retry_after: Some(Duration::from_millis(1500)), should_retry: Some(false) };
        assert_eq!(hints(&headers), expected);
    }
}
