//! `/bug` and `/heapdump`: what is needed to find a mistake of ona.
//!
//! Nothing is sent anywhere. A report is a file of the person's, without secrets.

use super::SessionRunner;
use super::answers::Said;
use ona_api::{CallId, clock};
use ona_runtime::doctor;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

impl SessionRunner<'_> {
    /// `/bug [TEXT]`
    pub(super) async fn report(&mut self, rest: &str) -> Said {
        let mut with_conversation = false;
        if self.has_person() {
            let body =
                "The report is a file below ~/.ona/reports. Nothing is sent; you decide who gets it. It has the \
                        versions, what /doctor finds and your words. Known secrets are replaced in it."
                    .to_owned();
            let options = [
                ("Write it", "without the conversation"),
                ("Write it with the conversation", "prompts, replies, calls and results"),
                ("Not now", ""),
            ];
            match self.choose("Write a report about a problem?", body, &options).await {
                Some(0) => {}
                Some(1) => with_conversation = true,
                _ => return Ok(Ok(String::new())),
            }
        }
        let mut text = format!("# Report about ona {}\n\n", env!("CARGO_PKG_VERSION"));
        if !rest.is_empty() {
            write!(text, "{rest}\n\n").unwrap_or_default();
        }
        let at = clock::utc_seconds(clock::now());
        let system = std::fs::read_to_string("/proc/version").unwrap_or_default();
        write!(
            text,
            "- written: {at} UTC\n- system: {} {}\n- {}\n\n",
            std::env::consts::OS,
            std::env::consts::ARCH,
            system.trim()
        )
        .unwrap_or_default();
        let examined = doctor::examine(self.parts.launch).await;
        text.push_str("## Checks\n\n");
        for check in &examined.checks {
            writeln!(text, "- {}", check).unwrap_or_default();
        }
        for line in examined.problems.iter().chain(&examined.remarks) {
            writeln!(text, "- {line}").unwrap_or_default();
        }
        write!(text, "\n## Process\n\n{}\n", self.memory_of_the_process()).unwrap_or_default();
        if with_conversation {
            match self.export("")? {
                Ok(conversation) => write!(text, "\n## Conversation\n\n{conversation}\n").unwrap_or_default(),
                Err(why) => write!(text, "\nThe conversation could not be added: {why}\n").unwrap_or_default(),
            }
        }
        let text = self.parts.open.redactor.apply(&text).into_owned();
        Ok(match self.write_report(&text) {
            Ok(file) => Ok(format!("The report is in {}", file.display())),
            Err(error) => Err(format!("the report could not be written: {error}")),
        })
    }

    fn write_report(&self, text: &str) -> std::io::Result<PathBuf> {
        let folder = self.home().join(".ona/reports");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let name = clock::utc_seconds(clock::now()).replace([' ', ':'], "-");
        let file = folder.join(format!("{name}-{}.md", &CallId::random().0[..8]));
        let mut opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
        opened.write_all(text.as_bytes())?;
        Ok(file)
    }

    /// `/heapdump`: what the system says of this process, and how large the database is.
    pub(super) fn memory_of_the_process(&self) -> String {
        let mut lines = Vec::new();
        let mut take = |text: &str, names: &[&str]| {
            for line in text.lines().filter(|line| names.iter().any(|name| line.starts_with(name))) {
                lines.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        };
        take(&std::fs::read_to_string("/proc/self/status").unwrap_or_default(), &["VmPeak", "VmRSS", "Threads"]);
        take(&std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default(), &["Pss:", "Private_Dirty"]);
        if let Ok(files) = std::fs::read_dir("/proc/self/fd") {
            lines.push(format!("open files: {}", files.count()));
        }
        let database = &self.parts.launch.database.path;
        for end in ["", "-wal"] {
            let mut path = database.as_os_str().to_owned();
            path.push(end);
            if let Ok(meta) = std::fs::metadata(&path) {
                lines.push(format!("{}: {} kB", PathBuf::from(&path).display(), meta.len() / 1024));
            }
        }
        format!("```\n{}\n```", lines.join("\n"))
    }
}
