//! The prompt of a run that has one: the argument, what is piped in, or both.

use crate::output;
use ona_api::environment;
use ona_runtime::{Failure, Launch};
use std::io::{IsTerminal, Read};
use std::sync::mpsc;
use std::time::Duration;

/// More than this is a mistake, and no model could read it.
const MOST: usize = 10_000_000;
/// With a prompt at hand, how long a silent stdin is waited for. Supervisors and CI systems
/// leave it open for ever.
const PATIENCE: Duration = Duration::from_secs(3);

pub fn read(launch: &Launch, flag: Option<&str>, argument: Option<&str>) -> Result<String, Failure> {
    let given = match (flag.map(str::trim).filter(|text| !text.is_empty()), argument.map(str::trim)) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("there are two prompts; put one of them in quotes").hint(SHAPE));
        }
        (one, other) => one.or(other).unwrap_or_default(),
    };
    let patience = match launch.env.get(environment::ONA_STDIN_WAIT_MS).and_then(|text| text.trim().parse().ok()) {
        Some(ms) => Duration::from_millis(ms),
        None => PATIENCE,
    };
    let piped = if std::io::stdin().is_terminal() {
        String::new()
    } else {
        text(piped((!given.is_empty()).then_some(patience))?)
    };
    let parts: Vec<_> = [given, piped.trim()].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(Failure::usage("there is no prompt").hint(SHAPE));
    }
    Ok(parts.join("\n"))
}

const SHAPE: &str = "ona -p 'what does this project do?'";

/// Everything on stdin. With `patience` it is optional: if not even a first byte comes, or it
/// can not be read, the run goes on without it.
fn piped(patience: Option<Duration>) -> Result<Vec<u8>, Failure> {
    enum News {
        Begun,
        Whole(std::io::Result<Vec<u8>>),
    }
    let (tell, news) = mpsc::channel();
    // A read can not be called off; the thread ends with the program.
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock().take(MOST as u64 + 1);
        let mut first = [0; 1];
        let whole = stdin.read(&mut first).and_then(|count| {
            // Without a receiver stdin is no longer wanted; the same below.
            tell.send(News::Begun).ok();
            let mut bytes = first[..count].to_vec();
            if count > 0 {
                stdin.read_to_end(&mut bytes)?;
            }
            Ok(bytes)
        });
        tell.send(News::Whole(whole)).ok();
    });
    let begun = match patience {
        Some(patience) => news.recv_timeout(patience),
        None => news.recv().map_err(Into::into),
    };
    let whole = match begun {
        Ok(News::Whole(whole)) => whole,
        Ok(News::Begun) => match news.recv() {
            Ok(News::Whole(whole)) => whole,
            Ok(News::Begun) | Err(_) => Ok(Vec::new()),
        },
        Err(_) => {
            output::note("ona: nothing came on stdin, so the run goes on without it (< /dev/null says so at once)");
            return Ok(Vec::new());
        }
    };
    match whole {
        Ok(bytes) if bytes.len() > MOST => Err(Failure::usage(format_args!(
            "there are more than {} MB on stdin; save it to a file and name that in the prompt",
            MOST / 1_000_000
        ))),
        Ok(bytes) => Ok(bytes),
        Err(error) if patience.is_some() => {
            output::note(format_args!("ona: stdin could not be read, so the run goes on without it: {error}"));
            Ok(Vec::new())
        }
        Err(error) => Err(Failure::usage(format_args!("stdin could not be read: {error}"))),
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        output::note("ona: what came on stdin is not UTF-8; what can not be read is marked with \u{fffd}");
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}
