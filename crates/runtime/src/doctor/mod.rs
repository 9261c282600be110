//! Looks at everything a session would rely on, and changes nothing.
//!
//! Fronts show the report: `ona doctor`, and a terminal.

mod checks;
mod local_servers;

pub use checks::{Check, CheckState};

use crate::guards::{self, Finding};
use crate::launch::{Launch, OpenProject, Purpose};
use crate::left_worktrees;
use crate::mcp;
use crate::runtime::Runtime;
use ona_api::permission_update::Behavior;
use ona_api::{EventName, Redactor, environment};
use ona_hookplane::{Timeouts, contract};
use ona_mcp::{Environments, ServerDefinition, ServerTransport};
use ona_process::find_in_path;
use ona_settings::Settings;
use ona_store::Reader;
use ona_trust::{DatabaseSource, NoticeKind, TrustState};
use serde_json::{Map, Value, json};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// What to do about a damaged database.
pub const DAMAGE_REMEDY: &str = "nothing was changed; save what can be read with: ona db recover /absolute/path/new.db";

/// What was looked at, and what is wrong. Nothing in it holds a secret.
#[derive(Debug, Default)]
pub struct DoctorReport {
    /// Facts by subject, for programs and for tables.
    pub sections: Map<String, Value>,
    pub checks: Vec<Check>,
    /// What is broken.
    pub problems: Vec<String>,
    pub remarks: Vec<String>,
    /// Commands and settings may hold credentials.
    redactor: Redactor,
}

/// Looks at everything; changes nothing.
pub async fn examine(launch: &Launch) -> DoctorReport {
    let mut seen = DoctorReport::default();
    seen.shells(launch);
    match launch.look() {
        Ok(open) => {
            seen.redactor = open.redactor.clone();
            seen.database(launch, &open);
            seen.settings(launch, &open).await;
        }
        Err(failure) => {
            seen.sections.insert("database".into(), json!({"path": launch.database.path.to_string_lossy()}));
            seen.problems.push(failure.message);
            if launch.database.path.is_file() && ona_store::usable(&launch.database.path).is_ok() {
                seen.integrity(launch);
            }
        }
    }
    seen.redact();
    seen
}

impl DoctorReport {
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whether something that a turn needs is not there.
    pub fn lacks_something(&self) -> bool {
        self.checks.iter().any(|check| check.state == CheckState::Missing)
    }

    pub fn to_json(&self) -> Value {
        let mut all = self.sections.clone();
        all.insert("checks".into(), self.checks.iter().map(Check::to_json).collect());
        all.insert("problems".into(), json!(self.problems));
        all.insert("remarks".into(), json!(self.remarks));
        all.insert("ok".into(), self.is_ok().into());
        Value::Object(all)
    }

    fn redact(&mut self) {
        self.sections.values_mut().for_each(|section| self.redactor.apply_to_json(section));
        let details = self.checks.iter_mut().map(|check| &mut check.detail);
        for line in self.problems.iter_mut().chain(&mut self.remarks).chain(details) {
            *line = self.redactor.apply(line).into_owned();
        }
    }

    fn shells(&mut self, launch: &Launch) {
        let path = launch.env.get(environment::PATH).unwrap_or_default();
        let found = |name: &str| find_in_path(path, name).map(|file| file.to_string_lossy().into_owned());
        let bash = ["/bin/bash", "/usr/bin/bash"].iter().find(|file| Path::new(file).exists());
        let bash = bash.map(|file| (*file).to_owned()).or_else(|| found("bash"));
        self.check(match &bash {
            Some(file) => Check::ok("bash", file),
            None => Check::broken("bash", "not found", "install bash: the Bash tool and most hooks need it"),
        });
        self.sections.insert(
            "shells".into(),
            json!({
                "bash": bash,
                "sh": Path::new("/bin/sh").exists().then_some("/bin/sh"),
                "powershell": found("pwsh").or_else(|| found("powershell")),
            }),
        );
    }

    fn database(&mut self, launch: &Launch, open: &OpenProject) {
        let source = match launch.database.source {
            DatabaseSource::Flag => "--db",
            DatabaseSource::Environment => environment::AGENT_SDLC_DB.name(),
            DatabaseSource::ProjectDefault => "default of this project",
        };
        let mut section = json!({
            "path": launch.database.path.to_string_lossy(),
            "named_by": source,
            "live_database_of_an_agent": launch.agent_shell,
        });
        if !launch.database.path.exists() {
            section["made"] = false.into();
            self.sections.insert("database".into(), section);
            return self.remarks.push("no database exists yet; the first start creates it".into());
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
        for key in ["schema_version", "sdlc_schema_version"] {
            match open.store.reader().and_then(|reader| reader.meta(key)) {
                Ok(version) => section[key] = version.into(),
                Err(error) => self.problems.push(error.to_string()),
            }
        }
        self.integrity(launch);
        match open.store.reader().and_then(Reader::counts) {
            Ok(counts) => {
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

    /// The same as `ona db check`.
    fn integrity(&mut self, launch: &Launch) {
        let report = ona_store::check(&launch.database.path);
        for problem in report.findings.iter().map(ToString::to_string) {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        if report.is_damaged() {
            self.remarks.push(DAMAGE_REMEDY.to_owned());
        }
    }

    fn check(&mut self, check: Check) {
        if check.state == CheckState::Broken {
            self.problems.push(format!("{}: {}", check.name, check.detail));
        }
        self.checks.push(check);
    }

    async fn settings(&mut self, launch: &Launch, open: &OpenProject) {
        let trust_state = launch.trust_state();
        let trust = match trust_state {
            TrustState::Trusted { recorded: true } => "trusted",
            TrustState::Trusted { recorded: false } => "trusted from now on (--trust)",
            TrustState::Ask { .. } => "not trusted yet",
            TrustState::Withheld => "withheld",
        };
        let files = open.found.layers.iter().filter_map(|layer| Some((layer.scope.as_str(), layer.file.as_ref()?)));
        let files: Vec<_> =
            files.map(|(scope, file)| json!({"scope": scope, "file": file.to_string_lossy()})).collect();
        let mut section = json!({"project": launch.project.to_string_lossy(), "trust": trust, "files": files});
        let told =
            open.merged.notices.iter().filter(|one| matches!(one.about, NoticeKind::Untrusted | NoticeKind::Policy));
        self.remarks.extend(told.map(|notice| open.redactor.apply(&notice.to_string()).into_owned()));
        let cancel = CancellationToken::new();
        let made = Runtime::new(launch, open, &launch.cwd, Purpose::Look, &cancel);
        let mut runtime = match made {
            Ok(runtime) => runtime,
            Err(failure) => {
                // What is wrong with the files is the likelier reason.
                let bad = open.merged.notices.iter().filter(|one| one.about == NoticeKind::NotSettings);
                self.problems.extend(bad.map(ToString::to_string));
                self.sections.insert("settings".into(), section);
                return self.problems.push(failure.message);
            }
        };
        if let Err(failure) = runtime.load_modules(launch, open).await {
            self.problems.push(failure.message);
        }
        let rules = runtime.settings.permissions.clone().unwrap_or_default();
        section["permission_mode"] = json!(rules.default_mode.as_str());
        section["rules"] = json!({"allow": rules.allow.len(), "ask": rules.ask.len(), "deny": rules.deny.len()});
        self.sections.insert("settings".into(), section);
        self.servers(launch, open, &runtime.settings);
        self.hooks(launch, &runtime);
        let mut findings = guards::findings(launch, open, &runtime);
        findings.extend(guards::tried(&runtime, runtime.hooks.list().iter()).await);
        self.guards(open, &findings);
        let allows = runtime.ineffective.rules.iter().filter(|bad| bad.list == Behavior::Allow);
        self.problems.extend(allows.map(|bad| format!("the allow rule {:?} has no effect: {}", bad.rule, bad.why)));
        for check in checks::all(launch, open, &runtime).await {
            self.check(check);
        }
        self.worktrees(launch, open, &runtime.settings).await;
    }

    /// Worktrees that are left over; where there are none, nothing is said.
    async fn worktrees(&mut self, launch: &Launch, open: &OpenProject, settings: &Settings) {
        match left_worktrees::list(launch, open, settings).await {
            Ok((_, known)) => {
                let left: Vec<_> = known.iter().filter(|one| !one.in_use).collect();
                self.sections.insert("worktrees".into(), left.iter().map(|one| one.to_json()).collect());
                if !left.is_empty() {
                    let words = left.iter().map(|one| format!("{} ({})", one.left.name, one.words()));
                    let remedy = match left.iter().any(|one| one.is_removable()) {
                        true => "ona worktree prune removes those with nothing to lose",
                        false => "ona worktree remove NAME",
                    };
                    let detail = words.collect::<Vec<_>>().join(", ");
                    self.check(Check::absent("worktrees", &format!("left over: {detail}"), remedy));
                }
            }
            Err(failure) => self.problems.push(failure.message),
        }
    }

    /// Guards that do not work: the list a start goes by.
    fn guards(&mut self, open: &OpenProject, findings: &[Finding]) {
        let redacted = |text: &str| open.redactor.apply(text).into_owned();
        let described = findings
            .iter()
            .map(|one| json!({"rule": one.rule, "place": redacted(&one.place), "message": redacted(&one.message)}));
        self.sections.insert("guards".into(), described.collect());
        self.problems.extend(findings.iter().map(|one| redacted(one.line())));
        self.checks.push(match findings.len() {
            0 => Check::ok("guards", "every rule, hook and module works"),
            1 => Check::broken("guards", "1 does not work", "see the problem below"),
            count => Check::broken("guards", &format!("{count} do not work"), "see the problems below"),
        });
    }

    /// MCP servers as they are configured; none is started.
    fn servers(&mut self, launch: &Launch, open: &OpenProject, effective: &Settings) {
        let env = Environments::one(&launch.env);
        let gathered = match mcp::gather(launch, open, effective, &launch.project, &env) {
            Ok(gathered) => gathered,
            Err(failure) => return self.problems.push(failure.message),
        };
        self.problems.extend(gathered.problems().iter().map(|text| open.redactor.apply(text).into_owned()));
        let path = launch.env.get(environment::PATH).unwrap_or_default();
        for server in &gathered.catalog.definitions {
            if let ServerTransport::Stdio { command, .. } = &server.endpoint
                && !command.contains('/')
                && find_in_path(path, command).is_none()
            {
                self.problems.push(format!("the MCP server {:?} cannot start: {command} was not found", server.name));
            }
        }
        let timeout = |server: &ServerDefinition| (server.name.clone(), json!(server.timeout.as_millis() as u64));
        let timeouts: Map<_, _> = gathered.catalog.definitions.iter().map(timeout).collect();
        let default = ona_mcp::CALL_TIMEOUT.as_millis() as u64;
        self.sections.insert("mcp".into(), json!({"call_timeout_ms": default, "servers": timeouts}));
    }

    fn hooks(&mut self, launch: &Launch, runtime: &Runtime) {
        if runtime.claude_off > 0 {
            self.remarks.push(format!("{} hook(s) of .claude files are off in this session", runtime.claude_off));
        }
        let (timeouts, warnings) = Timeouts::from_env(&launch.env);
        self.remarks.extend(warnings);
        let list = runtime.hooks.list();
        let hooks: Vec<_> = list
            .iter()
            .map(|hook| {
                let timeout = hook.effective_timeout(&timeouts);
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
        self.sections.insert(
            "all_hooks_disabled".into(),
            json!(launch.env.get(environment::SDLC_DISABLE_ALL_HOOKS) == Some("1")),
        );
    }
}
