//! Reads the prompt of a run that has one: the argument, what is piped in, or both.

use ona_api::environment;
use ona_runtime::{Failure, Launch};
use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

/// More than this is a mistake, and no model could read it.
const MAX_BYTES: usize = 10_000_000;
/// How long a run that has a prompt waits for a silent stdin. Supervisors and CI systems
/// leave it open for ever.
const PATIENCE: Duration = Duration::from_secs(3);

/// `flag` is the prompt beside `-p`, `argument` the one that stands alone, and `stdin` is `None`
/// where it is a terminal.
pub fn read_prompt(
    launch: &Launch,
    flag: Option<&str>,
    argument: Option<&str>,
    stdin: Option<impl Read + Send + 'static>,
) -> Result<String, Failure> {
    let given = match (flag.map(str::trim).filter(|text| !text.is_empty()), argument.map(str::trim)) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("there are two prompts; quote the prompt if it is one").hint(SHAPE));
        }
        (one, other) => one.or(other).unwrap_or_default(),
    };
    let patience = match launch.env.get(environment::ONA_STDIN_WAIT_MS).and_then(|text| text.trim().parse().ok()) {
        Some(ms) => Duration::from_millis(ms),
        None => PATIENCE,
    };
    let piped = match stdin {
        None => String::new(),
        Some(stdin) => text(launch, read_all(launch, stdin, (!given.is_empty()).then_some(patience))?),
    };
    let parts: Vec<_> = [given, piped.trim()].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(Failure::usage("the prompt is empty").hint(SHAPE));
    }
    Ok(parts.join("\n"))
}

const SHAPE: &str = "ona -p 'what does this project do?'";

/// Returns everything on stdin. With `patience` it is optional: if not even a first byte arrives,
/// or it cannot be read, the run continues without it.
fn read_all(
    launch: &Launch,
    stdin: impl Read + Send + 'static,
    patience: Option<Duration>,
) -> Result<Vec<u8>, Failure> {
    enum Progress {
        Begun,
        Whole(std::io::Result<Vec<u8>>),
    }
    let (sender, progress) = mpsc::channel();
    // A read cannot be cancelled; the thread ends with the program.
    std::thread::spawn(move || {
        let mut stdin = stdin.take(MAX_BYTES as u64 + 1);
        let mut first = [0; 1];
        let whole = stdin.read(&mut first).and_then(|count| {
            // Without a receiver nobody wants stdin any more; the same below.
            sender.send(Progress::Begun).ok();
            let mut bytes = first[..count].to_vec();
            if count > 0 {
                stdin.read_to_end(&mut bytes)?;
            }
            Ok(bytes)
        });
        sender.send(Progress::Whole(whole)).ok();
    });
    let begun = match patience {
        Some(patience) => progress.recv_timeout(patience),
        None => progress.recv().map_err(Into::into),
    };
    let whole = match begun {
        Ok(Progress::Whole(whole)) => whole,
        Ok(Progress::Begun) => match progress.recv() {
            Ok(Progress::Whole(whole)) => whole,
            Ok(Progress::Begun) | Err(_) => Ok(Vec::new()),
        },
        Err(_) => {
            launch.note("ona: nothing arrived on stdin, so the run continues without it (redirect < /dev/null to avoid the wait)");
            return Ok(Vec::new());
        }
    };
    match whole {
        Ok(bytes) if bytes.len() > MAX_BYTES => Err(Failure::usage(format_args!(
            "stdin holds more than {} MB; save it to a file and name the file in the prompt",
            MAX_BYTES / 1_000_000
        ))),
        Ok(bytes) => Ok(bytes),
        Err(error) if patience.is_some() => {
            launch.note(format_args!("ona: stdin could not be read, so the run continues without it: {error}"));
            Ok(Vec::new())
        }
        Err(error) => Err(Failure::usage(format_args!("stdin could not be read: {error}"))),
    }
}

fn text(launch: &Launch, bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        launch.note("ona: stdin is not UTF-8; bytes that cannot be read are replaced with \u{fffd}");
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}
