//! `ona doctor`: looks at everything a session would rely on, and changes nothing.

use crate::failure::Failure;
use crate::findings;
use crate::mcp;
use crate::output;
use crate::pi_session::PiSession;
use crate::program::{Open, Program, Purpose};
use crate::session_hooks;
use crate::workshop;
use ona_api::{EventName, Redactor};
use ona_hookplane::{Timeouts, contract};
use ona_mcp::{Definition, Endpoint, Servers, Surroundings};
use ona_permissions::{PermissionSettings, Place, Rules};
use ona_process::find_in_path;
use ona_trust::{About, DatabaseSource, Standing};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What was looked at, and what is wrong.
#[derive(Default)]
struct Examination {
    sections: Map<String, Value>,
    problems: Vec<String>,
    remarks: Vec<String>,
    /// Commands and settings may hold credentials.
    redactor: Redactor,
}

pub fn run(program: &Program, as_json: bool) -> Result<u8, Failure> {
    let mut seen = Examination::default();
    seen.shells(program);
    match program.look() {
        Ok(open) => {
            seen.redactor = open.redactor.clone();
            seen.database(program, &open);
            seen.settings(program, &open);
        }
        Err(failure) => {
            seen.sections.insert("database".into(), json!({"path": program.database.path.to_string_lossy()}));
            seen.problems.push(failure.message);
        }
    }
    seen.redact();
    let ok = seen.problems.is_empty();
    if as_json {
        seen.sections.insert("problems".into(), json!(seen.problems));
        seen.sections.insert("remarks".into(), json!(seen.remarks));
        seen.sections.insert("ok".into(), ok.into());
        output::json(&Value::Object(seen.sections));
    } else {
        seen.print();
    }
    Ok(u8::from(!ok))
}

impl Examination {
    fn redact(&mut self) {
        self.sections.values_mut().for_each(|section| self.redactor.apply_to_json(section));
        for line in self.problems.iter_mut().chain(&mut self.remarks) {
            *line = self.redactor.apply(line).into_owned();
        }
    }

    fn shells(&mut self, program: &Program) {
        let path = program.env.get("PATH").unwrap_or_default();
        let found = |name: &str| find_in_path(path, name).map(|file| file.to_string_lossy().into_owned());
        let bash = ["/bin/bash", "/usr/bin/bash"].iter().find(|file| Path::new(file).exists());
        let bash = bash.map(|file| (*file).to_owned()).or_else(|| found("bash"));
        if bash.is_none() {
            self.problems.push("bash was not found: the Bash tool and hooks with shell bash can not run".into());
        }
        self.sections.insert(
            "shells".into(),
            json!({
                "bash": bash,
                "sh": Path::new("/bin/sh").exists().then_some("/bin/sh"),
                "powershell": found("pwsh").or_else(|| found("powershell")),
            }),
        );
    }

    fn database(&mut self, program: &Program, open: &Open) {
        let source = match program.database.source {
            DatabaseSource::Flag => "--db",
            DatabaseSource::Environment => "AGENT_SDLC_DB",
            DatabaseSource::ProjectDefault => "default of this project",
        };
        let mut section = json!({
            "path": program.database.path.to_string_lossy(),
            "named_by": source,
            "live_database_of_an_agent": program.agent_shell,
        });
        if !program.database.path.exists() {
            section["made"] = false.into();
            self.sections.insert("database".into(), section);
            return self.remarks.push("there is no database yet; the first start makes it".into());
        }
        let pragmas = |p: &ona_store::Pragmas| {
            json!({
                "foreign_keys": p.foreign_keys,
                "journal_mode": p.journal_mode,
                "busy_timeout": p.busy_timeout,
                "synchronous": p.synchronous,
            })
        };
        match open.store.pragmas() {
            Ok(report) => {
                section["pragmas"] = json!({"writer": pragmas(&report.writer), "reader": pragmas(&report.reader)});
            }
            Err(error) => self.problems.push(error.to_string()),
        }
        match open.store.reader().and_then(|reader| Ok((reader.quick_check()?, reader.counts()?))) {
            Ok((problems, counts)) => {
                self.problems.extend(problems);
                section["rows"] = counts
                    .into_iter()
                    .map(|(table, rows)| (table.to_owned(), rows.into()))
                    .collect::<Map<_, _>>()
                    .into();
            }
            Err(error) => self.problems.push(error.to_string()),
        }
        self.sections.insert("database".into(), section);
    }

    fn settings(&mut self, program: &Program, open: &Open) {
        let standing = program.standing(Some(&open.store));
        let trust = match standing {
            Standing::Trusted { recorded: true } => "trusted",
            Standing::Trusted { recorded: false } => "trusted for this run, not recorded",
            Standing::Ask { .. } => "not trusted yet",
            Standing::Withheld => "withheld",
        };
        let files: Vec<_> =
            open.found.layers.iter().filter_map(|layer| Some((layer.scope.as_str(), layer.file.as_ref()?))).collect();
        let files: Vec<_> =
            files.iter().map(|(scope, file)| json!({"scope": scope, "file": file.to_string_lossy()})).collect();
        for notice in &open.merged.notices {
            let text = open.redactor.apply(&notice.to_string()).into_owned();
            if notice.about == About::NotSettings { self.problems.push(text) } else { self.remarks.push(text) }
        }
        let mut effective = match program.effective(open, Purpose::Look) {
            Ok(effective) => effective,
            Err(failure) => return self.problems.push(failure.message),
        };
        let mut section = json!({"project": program.project.to_string_lossy(), "trust": trust, "files": files});
        match PermissionSettings::parse(&effective["permissions"]) {
            Ok((permissions, unknown)) => {
                let (_, dropped) = Rules::parse(&permissions);
                section["permission_mode"] = json!(permissions.default_mode.as_str());
                section["rules"] = json!({
                    "allow": permissions.allow.len(), "ask": permissions.ask.len(), "deny": permissions.deny.len(),
                });
                self.remarks.extend(unknown.iter().map(ToString::to_string));
                self.problems.extend(
                    dropped.iter().map(|bad| {
                        format!("the {} rule {:?} does not count: {}", bad.list.as_str(), bad.rule, bad.why)
                    }),
                );
            }
            Err(bad) => self.problems.push(bad.to_string()),
        }
        self.sections.insert("settings".into(), section);
        self.servers(program, open, &effective);
        self.hooks(program, open, &mut effective);
    }

    /// MCP servers as they are configured; none is started.
    fn servers(&mut self, program: &Program, open: &Open, effective: &Value) {
        let gathered = match mcp::gather(program, open, effective, &program.project, &program.env) {
            Ok(gathered) => gathered,
            Err(failure) => return self.problems.push(failure.message),
        };
        self.problems.extend(gathered.problems().iter().map(|text| open.redactor.apply(text).into_owned()));
        let path = program.env.get("PATH").unwrap_or_default();
        for server in &gathered.catalog.definitions {
            if let Endpoint::Stdio { command, .. } = &server.endpoint
                && !command.contains('/')
                && find_in_path(path, command).is_none()
            {
                self.problems.push(format!("the MCP server {:?} can not start: there is no {command}", server.name));
            }
        }
        let timeout = |server: &Definition| (server.name.clone(), json!(server.timeout.as_millis() as u64));
        let timeouts: Map<_, _> = gathered.catalog.definitions.iter().map(timeout).collect();
        let default = ona_mcp::CALL_TIMEOUT.as_millis() as u64;
        self.sections.insert("mcp".into(), json!({"call_timeout_ms": default, "servers": timeouts}));
    }

    fn hooks(&mut self, program: &Program, open: &Open, effective: &mut Value) {
        let place = Place {
            project: program.project.clone(),
            start: program.cwd.clone(),
            home: program.env.home(),
            extra: Vec::new(),
        };
        let pi = PiSession::read(program, open, effective);
        self.problems.extend(pi.invalid().map(|invalid| invalid.warning()));
        if pi.claude_off > 0 {
            self.remarks.push(format!("{} hook(s) of .claude files are off in this session", pi.claude_off));
        }
        let none = Surroundings::new(program.env.clone(), program.cwd.clone(), Vec::new());
        let servers = Arc::new(Servers::new(Vec::new(), none));
        let mut loaded = ona_dialects::load(effective, &place, &workshop::maker(&Arc::default(), &servers));
        session_hooks::pi(&pi, effective, &place, &mut loaded);
        self.remarks.extend(loaded.idle.iter().map(|matcher| findings::idle_matcher(matcher)));
        let (timeouts, warnings) = Timeouts::from_env(&program.env);
        let cancel = CancellationToken::new();
        let read = session_hooks::massgen(program, effective, &program.env, &place, &cancel, &mut loaded);
        self.problems.extend(read.err().map(|failure| failure.message));
        self.remarks.extend(warnings);
        self.problems
            .extend(loaded.rejected.iter().map(|bad| format!("a hook does not count: {} ({})", bad.why, bad.entry)));
        let hooks: Vec<_> = loaded
            .list
            .iter()
            .map(|hook| {
                let timeout = hook.patience(&timeouts);
                json!({
                    "hook_ordinal": hook.ordinal,
                    "hook_event": hook.event.as_str(),
                    "matcher": hook.matcher,
                    "command": hook.command(),
                    "dialect": hook.dialect.name(),
                    "source": hook.source,
                    "timeout_ms": timeout.as_millis() as u64,
                    "disabled": hook.disabled.map(|skip| skip.as_str()),
                })
            })
            .collect();
        let defaults: Map<_, _> = EventName::ALL
            .iter()
            .map(|event| {
                let timeout = timeouts.of(*event, contract::of(*event).default_timeout);
                (event.as_str().to_owned(), json!(timeout.as_millis() as u64))
            })
            .collect();
        self.sections.insert("hooks".into(), hooks.into());
        self.sections.insert("hook_timeouts_ms".into(), defaults.into());
        self.sections
            .insert("all_hooks_disabled".into(), json!(program.env.get("SDLC_DISABLE_ALL_HOOKS") == Some("1")));
    }

    fn print(&self) {
        for (name, section) in &self.sections {
            match section {
                Value::Object(fields) if name != "hook_timeouts_ms" => {
                    output::line(name);
                    for (key, value) in fields {
                        output::line(format_args!("  {key:<26} {}", plain(value)));
                    }
                }
                Value::Array(items) => {
                    output::line(format_args!("{name}  {}", items.len()));
                    for item in items {
                        output::line(format_args!(
                            "  {:>3}  {}  {:?}  {}  ({}, {})",
                            plain(&item["hook_ordinal"]),
                            plain(&item["hook_event"]),
                            plain(&item["matcher"]),
                            plain(&item["command"]),
                            plain(&item["dialect"]),
                            plain(&item["source"]),
                        ));
                    }
                }
                _ => {}
            }
        }
        self.remarks.iter().for_each(|remark| output::line(format_args!("remark: {remark}")));
        self.problems.iter().for_each(|problem| output::line(format_args!("problem: {problem}")));
        if self.problems.is_empty() {
            output::line("Everything a session relies on is in order.");
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "not found".to_owned(),
        other => other.to_string(),
    }
}
