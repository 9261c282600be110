//! `ONA_LOG`, `--debug` and `--debug-file`: lines about what the program does, for people who
//! look for a mistake. Off unless asked for.
//!
//! The crates below say what happens through `tracing`; this file decides what is written and
//! where. Nothing is written that the redactor has not seen: each value before it is quoted,
//! where its text is still the plain one, and each line as a whole, with every secret
//! that was learned until then. stdout is never used.

use ona_api::environment::ONA_LOG;
use ona_api::{Env, Redactor, clock};
use ona_runtime::Failure;
use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::{FmtSpan, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FormatFields, MakeWriter};

/// What a bare `--debug` shows: everything our own crates say, and nothing of libraries.
const DEFAULT_FILTER: &str = "ona=debug";

const HEADING: &str = "Diagnostics";

/// The options that ask for lines.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// Write what ona does to stderr; FILTER as in ONA_LOG, such as ona_store=trace
    #[arg(
        short,
        long,
        value_name = "FILTER",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = DEFAULT_FILTER,
        global = true,
        help_heading = HEADING
    )]
    pub debug: Option<String>,

    /// Append these lines to a file instead of writing them to stderr
    #[arg(long, value_name = "PATH", global = true, help_heading = HEADING)]
    pub debug_file: Option<PathBuf>,
}

/// Starts writing lines, if the command line or the environment asks for them. To be called
/// once. Without it, a span or an event costs one comparison.
/// `redactor` knows every secret, and `stderr` writes there.
pub fn start(flags: &Flags, env: &Env, redactor: Redactor, stderr: fn(&str)) -> Result<(), Failure> {
    let (name, filter) = match (&flags.debug, env.non_empty(ONA_LOG), &flags.debug_file) {
        (Some(filter), _, _) => ("--debug", filter.as_str()),
        (None, Some(filter), _) => (ONA_LOG.name(), filter),
        (None, None, Some(_)) => ("--debug-file", DEFAULT_FILTER),
        (None, None, None) => return Ok(()),
    };
    let parsed = EnvFilter::builder().with_regex(false).parse(filter).map_err(|error| {
        Failure::usage(format_args!("{name}: {filter:?} is not a filter: {error}"))
            .hint(format!("use a level (debug), or targets with levels: {DEFAULT_FILTER},ona_store=trace"))
    })?;
    let target = match &flags.debug_file {
        Some(path) => Target::File(Arc::new(open(path).map_err(|error| {
            Failure::usage(format_args!("the debug file {} cannot be written: {error}", path.display()))
        })?)),
        None => Target::Stderr(stderr),
    };
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_timer(Clock)
        .with_span_events(FmtSpan::CLOSE)
        .fmt_fields(RedactedFields { redactor: redactor.clone() })
        .with_env_filter(parsed)
        .with_writer(RedactedLines { redactor, target })
        .finish();
    tracing::subscriber::set_global_default(subscriber).map_err(Failure::usage)
}

/// Opened for appending, and readable by this user only: lines quote what the agent works with.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    // Not for a device, whose mode is not ours to change.
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        writer.write_str(&clock::utc_millis(clock::now()))
    }
}

#[derive(Clone)]
enum Target {
    Stderr(fn(&str)),
    File(Arc<File>),
}

struct RedactedLines {
    redactor: Redactor,
    target: Target,
}

impl<'a> MakeWriter<'a> for RedactedLines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { to: self, text: Vec::new() }
    }
}

/// One event. It is gathered whole before it is redacted and written, so that no secret can
/// pass in pieces.
struct Line<'a> {
    to: &'a RedactedLines,
    text: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        let clean = self.to.redactor.apply(&text);
        match &self.to.target {
            Target::Stderr(write) => write(&clean),
            // One call, so that lines of several processes do not mix. There is nobody to
            // tell if it fails: the run goes on.
            Target::File(file) => drop((&**file).write_all(clean.as_bytes())),
        }
    }
}

/// Writes `name=value`, redacted before quotes and escapes could hide a secret. An event stays
/// one line, whatever text it quotes.
struct RedactedFields {
    redactor: Redactor,
}

impl<'w> FormatFields<'w> for RedactedFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut visitor = Visitor { writer, redactor: &self.redactor, begun: false, result: Ok(()) };
        fields.record(&mut visitor);
        visitor.result
    }
}

struct Visitor<'w, 'r> {
    writer: Writer<'w>,
    redactor: &'r Redactor,
    begun: bool,
    result: fmt::Result,
}

impl Visitor<'_, '_> {
    fn put(&mut self, field: &Field, text: &str) -> fmt::Result {
        let clean = self.redactor.apply(text);
        if std::mem::replace(&mut self.begun, true) {
            self.writer.write_char(' ')?;
        }
        if field.name() == "message" {
            return write!(self.writer, "{}", OneLine(&clean));
        }
        let plain = !clean.is_empty() && clean.chars().all(|c| c.is_alphanumeric() || "._-/:+".contains(c));
        match plain {
            true => write!(self.writer, "{}={clean}", field.name()),
            false => write!(self.writer, "{}=\"{}\"", field.name(), OneLine(&clean)),
        }
    }
}

impl Visit for Visitor<'_, '_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.result = self.result.and_then(|()| self.put(field, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.result = self.result.and_then(|()| self.put(field, &format!("{value:?}")));
    }
}

/// Text without line ends and other control characters.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .chars()
            .try_for_each(|c| if c.is_control() { write!(f, "{}", c.escape_default()) } else { f.write_char(c) })
    }
}
