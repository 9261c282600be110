//! `ona -p`: turns flags into the options of `ona_headless`, and how the run ended into an
//! exit code.

use crate::args::{self, OutputFormat as FormatFlag, PermissionPrompts as PromptsFlag};
use crate::interrupt::Interrupt;
use crate::output;
use ona_headless::{HeadlessOptions, LiveStyle, Output, OutputFormat, PermissionPrompts, Prompts, RunEnd, read_prompt};
use ona_runtime::{Failure, Launch, block_on};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// `flag` is the prompt beside `-p`, `argument` the one that stands alone.
pub(crate) fn run(
    launch: &Launch,
    mut options: HeadlessOptions,
    flag: Option<&str>,
    argument: Option<&str>,
) -> Result<u8, Failure> {
    options.check(launch)?;
    let watched = std::io::stdout().is_terminal() && !options.streams_in;
    if watched && options.output_format == OutputFormat::Text {
        options.live = Some(if output::is_coloured(&launch.env) { LiveStyle::Dim } else { LiveStyle::Plain });
    }
    let options = &options;
    let stdin = std::io::stdin();
    let prompts = match (options.streams_in, options.init_only) {
        (true, _) if argument.is_some() || flag.is_some_and(|text| !text.is_empty()) => {
            return Err(Failure::usage("with --input-format stream-json prompts come on stdin, not as an argument"));
        }
        (true, _) => Prompts::Stream(Box::new(stdin)),
        (false, true) => Prompts::None,
        (false, false) => {
            let piped = (!stdin.is_terminal()).then_some(stdin);
            Prompts::One(read_prompt(launch, flag, argument, piped)?)
        }
    };
    let open = launch.open()?;
    block_on(async {
        let interrupt = Interrupt::listen();
        let stdout = Arc::new(Stdout { interrupt: interrupt.clone(), open_line: AtomicBool::new(false) });
        let end = ona_headless::run(launch, &open, options, prompts, stdout, interrupt.token()).await?;
        let code = match end {
            RunEnd::Completed => 0,
            RunEnd::Failed => 1,
        };
        Ok(interrupt.exit_code().unwrap_or(code))
    })
}

/// The program's stdout. When nobody reads it any more, the run ends.
struct Stdout {
    interrupt: Interrupt,
    /// A line was begun that a note must not be written into.
    open_line: AtomicBool,
}

impl Output for Stdout {
    fn write_line(&self, line: &str) -> std::io::Result<()> {
        output::try_line(line).inspect_err(|_| self.interrupt.stdout_closed())
    }

    fn write_text(&self, text: &str) -> std::io::Result<()> {
        self.open_line.store(!text.ends_with('\n'), Ordering::Relaxed);
        output::try_text(text).inspect_err(|_| self.interrupt.stdout_closed())
    }

    fn end_line(&self) {
        if self.open_line.swap(false, Ordering::Relaxed) {
            // Who reads it has gone: `write_text` ended the run.
            output::try_text("\n").ok();
        }
    }

    fn is_closed(&self) -> bool {
        self.interrupt.is_stdout_closed()
    }

    fn note(&self, sentence: &str) {
        self.end_line();
        output::note(sentence);
    }
}

impl args::Options {
    pub fn headless(&self) -> HeadlessOptions {
        HeadlessOptions {
            output_format: match self.output_format {
                FormatFlag::Text => OutputFormat::Text,
                FormatFlag::Json => OutputFormat::Json,
                FormatFlag::StreamJson => OutputFormat::StreamJson,
            },
            streams_in: self.streams_in(),
            live: None,
            include_partial_messages: self.include_partial_messages,
            include_hook_events: self.include_hook_events,
            replay_user_messages: self.replay_user_messages,
            forward_subagent_text: self.forward_subagent_text,
            permission_prompt_tool: self.permission_prompt_tool.clone(),
            permission_prompts: self.permission_prompts.map(|flag| match flag {
                PromptsFlag::Host => PermissionPrompts::Host,
                PromptsFlag::None => PermissionPrompts::None,
            }),
            allow_dangerously_skip_permissions: self.allow_dangerously_skip_permissions,
            init: self.init,
            init_only: self.init_only,
            maintenance: self.maintenance,
        }
    }
}
