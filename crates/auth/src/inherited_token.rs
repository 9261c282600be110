//! A token that the parent process passes on a file descriptor (section 2.8).
//!
//! The variable may be stale: inherited by a grandchild in which the number is
//! closed, or is something else by now. So the descriptor is opened by its path
//! (a second handle; the number itself is never closed or owned here), read for a
//! bounded time and length, and anything but one line of visible characters is ignored.

use ona_api::{Env, environment};
use secrecy::SecretString;
use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc;
use std::time::Duration;

const MAX_BYTES: usize = 16 * 1024;
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// Reads the token. A pipe returns it once, so call this once, at start, and keep it;
/// the redactor needs it too.
pub fn inherited_token(env: &Env) -> Option<SecretString> {
    read(env.non_empty(environment::CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR)?, READ_TIMEOUT)
}

fn read(number: &str, timeout: Duration) -> Option<SecretString> {
    // 0, 1 and 2 are the standard streams.
    let number: u32 = number.trim().parse().ok().filter(|number| *number > 2)?;
    let (sender, receiver) = mpsc::channel();
    // Not a task of the runtime: a thread that hangs in `read` would hold up its end.
    std::thread::spawn(move || sender.send(first_line(number)));
    let Ok(line) = receiver.recv_timeout(timeout) else {
        tracing::debug!(number, "no token came through the descriptor");
        return None;
    };
    let line = line.inspect_err(|error| tracing::debug!(number, %error, "the token cannot be read")).ok()?;
    let token = std::str::from_utf8(&line).ok()?.trim();
    let usable = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    usable.then(|| SecretString::from(token))
}

/// Up to the first line break or the end; an error if that is too far away.
fn first_line(number: u32) -> io::Result<Vec<u8>> {
    let mut file = File::open(format!("/dev/fd/{number}"))?;
    let mut line = Vec::new();
    let mut buffer = [0; 1024];
    while line.len() <= MAX_BYTES {
        let count = file.read(&mut buffer)?;
        line.extend_from_slice(&buffer[..count]);
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return Ok(line);
        }
        if count == 0 {
            return Ok(line);
        }
    }
    Err(io::ErrorKind::FileTooLarge.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;
    use std::io::{Write, pipe};
    use std::os::fd::AsRawFd;

    const SHORT: Duration = Duration::from_millis(20);

    fn token(number: impl ToString, timeout: Duration) -> Option<String> {
        read(&number.to_string(), timeout).map(|token| token.expose_secret().to_owned())
    }

    #[test]
    fn a_pipe_hands_over_one_trimmed_line() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"  sk-ant-oat01-abc \nrest").unwrap();
        assert_eq!(token(reader.as_raw_fd(), READ_TIMEOUT).as_deref(), Some("sk-ant-oat01-abc"));
    }

    #[test]
    fn a_closed_writer_ends_the_token() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"token").unwrap();
        drop(writer);
        assert_eq!(token(reader.as_raw_fd(), READ_TIMEOUT).as_deref(), Some("token"));
    }

    #[test]
    fn a_descriptor_that_stays_silent_is_given_up() {
        let (reader, _writer) = pipe().unwrap();
        assert_eq!(token(reader.as_raw_fd(), SHORT), None);
    }

    #[test]
    fn what_is_not_a_token_counts_as_nothing() {
        for (content, why) in [(&b""[..], "empty"), (b"two words\n", "space"), (b"\xff\xfe\n", "binary")] {
            let (reader, mut writer) = pipe().unwrap();
            writer.write_all(content).unwrap();
            drop(writer);
            assert_eq!(token(reader.as_raw_fd(), READ_TIMEOUT), None, "{why}");
        }
        let endless = File::open("/dev/zero").unwrap();
        assert_eq!(token(endless.as_raw_fd(), READ_TIMEOUT), None, "endless");
    }

    #[test]
    fn stale_and_standard_numbers_are_ignored() {
        for number in ["0", "1", "2", "987654", "-4", "x", ""] {
            assert_eq!(token(number, SHORT), None, "{number}");
        }
    }
}
