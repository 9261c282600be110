//! Commands that look at the session and answer with Markdown, and small changes.

use super::SessionRunner;
use crate::table::{COMMANDS, Class, find};
use ona_api::permission_update::{Behavior, Destination, PermissionUpdate};
use ona_api::row::Memory;
use ona_api::{CallId, Group, Phase, Row};
use ona_orchestration::{RewindScope, RewindTarget, Rewinder};
use ona_runtime::session_start::SessionError;
use ona_runtime::{Failure, doctor};
use ona_store::StoredEntry;
use ona_transcript::{ExportHead, RawRow, estimate_tokens};
use std::fmt::Write as _;
use std::sync::PoisonError;

/// The text of an answer, or a sentence about what was wrong with the command.
pub(super) type Said = Result<Result<String, String>, SessionError>;

pub(super) fn help(name: &str) -> Result<String, String> {
    let name = name.trim_start_matches('/');
    if !name.is_empty() {
        let command = find(name).ok_or_else(|| format!("Unknown command: /{name}"))?;
        let aliases: Vec<_> = command.aliases.iter().map(|alias| format!("/{alias}")).collect();
        let also = if aliases.is_empty() { String::new() } else { format!("\n\nAlso: {}", aliases.join(", ")) };
        let closest = match command.class {
            Class::Local => String::new(),
            Class::Hosted(why) | Class::Omitted(why) => format!("; {why}"),
        };
        return Ok(format!("`/{} {}` {}{closest}.{also}", command.name, command.arguments, command.help));
    }
    let mut text = "| command | |\n|---|---|\n".to_owned();
    for command in COMMANDS.iter().filter(|command| command.class == Class::Local) {
        let arguments = command.arguments.replace('|', "\\|");
        let line = format!("/{} {arguments}", command.name);
        writeln!(text, "| {} | {} |", line.trim(), command.help).unwrap_or_default();
    }
    Ok(text)
}

impl SessionRunner<'_> {
    pub(super) fn models(&self) -> String {
        let current = self.ready.model();
        let mut text = String::new();
        for (id, provider, wire) in ona_api::model::MODELS {
            let mark = if current.as_ref().is_some_and(|model| model.choice.model_id == id) { " (in use)" } else { "" };
            let wire = wire.map(|wire| format!(", {wire}")).unwrap_or_default();
            writeln!(text, "- {id}: {}{wire}{mark}", provider.as_str()).unwrap_or_default();
        }
        text
    }

    pub(super) fn status(&self) -> Said {
        let (parts, session) = (&self.parts, &self.session);
        let phase = self.phase()?;
        let mut rows = vec![
            ("ona", env!("CARGO_PKG_VERSION").to_owned()),
            ("session", session.place.session.0.clone()),
            ("conversation", session.place.conversation.0.clone()),
            ("project", parts.launch.project.display().to_string()),
            ("folder", session.cx.cwd.display().to_string()),
            ("database", parts.launch.database.path.display().to_string()),
            ("phase", phase.as_str().to_owned()),
            ("mode", session.with_rules(|rules| rules.mode()).as_str().to_owned()),
        ];
        match self.ready.model() {
            Some(model) => {
                rows.push(("model", format!("{} ({})", model.choice.model_id, model.choice.wire_model)));
                rows.push(("provider", model.choice.provider.as_str().to_owned()));
                rows.push(("credential", model.credential_class().as_str().to_owned()));
            }
            None => rows.push(("model", "none can be asked; /doctor says why".to_owned())),
        }
        let servers = parts.runtime.mcp.servers.list();
        if !servers.is_empty() {
            rows.push(("MCP servers", servers.len().to_string()));
        }
        Ok(Ok(table(rows.into_iter().map(|(name, value)| (name.to_owned(), value)))))
    }

    /// The phase of the conversation.
    pub fn phase(&self) -> Result<Phase, SessionError> {
        let phase = self.parts.open.store.reader()?.phase(&self.session.place.conversation)?;
        Ok(phase.unwrap_or(Phase::Idle))
    }

    pub(super) fn usage(&self) -> Said {
        let report = ona_orchestration::session_usage(self.parts.open.store.reader()?, &self.session.place.session)?;
        let (tokens, cost) = report.words(&self.parts.runtime.prices());
        Ok(Ok(format!("{tokens}\n\n{cost}")))
    }

    pub(super) fn context_use(&self) -> Said {
        let ona_runtime::session_start::Preparation::Ready(ready) = &self.ready else {
            return Ok(Err("No model can be asked, so nothing fills a context.".to_owned()));
        };
        let asking = &ready.turn.asking;
        let tools: usize =
            asking.tools.iter().map(|tool| tool.description.len() + tool.input_schema.to_string().len()).sum();
        let parts = [
            ("system prompt", estimate_tokens(asking.system.len())),
            ("tools", estimate_tokens(tools)),
            ("messages", estimate_tokens(ready.history.approximate_size())),
        ];
        let sum: usize = parts.iter().map(|(_, tokens)| tokens).sum();
        let window = match ready.turn.current_model.model().context() {
            Some(window) => format!("{} % of {window} tokens", sum * 100 / window.max(1)),
            None => "of a window without a limit".to_owned(),
        };
        let rows = parts.into_iter().map(|(name, tokens)| (name.to_owned(), format!("about {tokens} tokens")));
        Ok(Ok(format!("{}\nAbout {sum} tokens, {window}.", table(rows))))
    }

    pub(super) fn permissions(&self) -> Said {
        let text = self.session.with_rules(|rules| {
            let mut text = format!("Mode: **{}**\n\n", rules.mode().as_str());
            for (name, behavior) in [("deny", Behavior::Deny), ("ask", Behavior::Ask), ("allow", Behavior::Allow)] {
                let listed: Vec<_> = rules.rules().list(behavior).map(|rule| format!("- `{}`", rule.text)).collect();
                let listed = if listed.is_empty() { "none".to_owned() } else { listed.join("\n") };
                writeln!(text, "**{name}**\n\n{listed}\n").unwrap_or_default();
            }
            let dirs = rules.session_dirs();
            let dirs: Vec<_> =
                std::iter::once(&dirs.project).chain(&dirs.extra).map(|dir| format!("- {}", dir.display())).collect();
            format!("{text}**working directories**\n\n{}\n", dirs.join("\n"))
        });
        Ok(Ok(text))
    }

    pub(super) fn skills(&self) -> String {
        let line = |skill: &ona_instructions::skills::Skill| format!("- **/{}**: {}", skill.name, skill.description);
        listed(self.parts.skills.iter().filter(|skill| skill.by_user).map(line), "No skills were found.")
    }

    pub(super) fn tasks(&self) -> String {
        let line = |task: ona_tools::TaskInfo| format!("- {} {} ({})", task.id, task.title, task.state);
        listed(self.parts.runtime.tasks.list().into_iter().map(line), "Nothing runs in the background.")
    }

    pub(super) fn memories(&self) -> Said {
        let memories = self.parts.open.store.reader()?.memories()?;
        let line = |one: &ona_store::StoredMemory| {
            format!("- **{}** {}", one.memory.title, one.memory.content.as_deref().unwrap_or_default())
        };
        Ok(Ok(listed(memories.iter().map(line), "No memories yet.")))
    }

    pub(super) async fn add_memory(&self, text: &str) -> Said {
        let memory = Memory {
            id: CallId::random().0,
            kind: "note".to_owned(),
            title: text.chars().take(60).collect(),
            content: Some(text.to_owned()),
            keywords: None,
            anticipated_queries: None,
            concept_tags: None,
            project_scope: Some(self.parts.launch.project.to_string_lossy().into_owned()),
        };
        self.parts.open.store.commit(&self.session.place, Group(vec![Row::Memory(memory)])).await?;
        Ok(Ok("Added to the memories of this project.".to_owned()))
    }

    pub(super) async fn rate(&self, rest: &str) -> Said {
        let (number, objective) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let Some(rating) = number.parse().ok().filter(|rating| (1..=5).contains(rating)) else {
            return Ok(Err("/rate needs a number from 1 to 5".to_owned()));
        };
        let objective = Some(objective.trim().to_owned()).filter(|text| !text.is_empty());
        self.parts.open.store.commit(&self.session.place, Group(vec![Row::Rating { rating, objective }])).await?;
        Ok(Ok(format!("Rated {rating} of 5.")))
    }

    pub(super) fn add_dir(&mut self, rest: &str) -> Said {
        let path = self.session.cx.cwd.join(rest);
        if rest.is_empty() || !path.is_dir() {
            return Ok(Err(format!("/add-dir needs a folder; {} is none", path.display())));
        }
        let update = PermissionUpdate::AddDirectories {
            directories: vec![path.to_string_lossy().into_owned()],
            destination: Destination::Session,
        };
        Ok(match self.session.update_rules(&update) {
            Ok(_) => Ok(format!("{} is a working directory of this session.", path.display())),
            Err(why) => Err(why),
        })
    }

    pub(super) fn plan(&self) -> Said {
        let plans = self.parts.open.store.reader()?.plans(&self.session.place.conversation)?;
        Ok(Ok(match plans.last() {
            Some(plan) => format!("Plan {} ({}):\n\n{}", plan.id, plan.status.as_str(), plan.content),
            None => "This conversation has no plan. `/plan TASK` has one made.".to_owned(),
        }))
    }

    pub(super) fn diff(&self) -> Said {
        let rules = self.session.rules.read().unwrap_or_else(PoisonError::into_inner);
        let rewinder = self.rewinder(&rules);
        let Some(first) = rewinder.prompts()?.into_iter().next() else {
            return Ok(Ok("This session has no prompt yet.".to_owned()));
        };
        let plan = rewinder.plan(RewindTarget::Prompt(first), RewindScope::Files)?;
        // Going back would add what the session removed.
        let line = |step: &ona_orchestration::FileStep| {
            format!("- `{}` +{} -{}", ona_permissions::printable(&step.shown), step.deletions, step.insertions)
        };
        Ok(Ok(listed(plan.changed().map(line), "This session has changed no file.")))
    }

    pub(super) fn rewinder<'r>(&'r self, rules: &'r ona_permissions::PermissionEngine) -> Rewinder<'r> {
        let limits = self.parts.runtime.keep_limits();
        Rewinder { store: &self.parts.open.store, session: &self.session.place, rules, limits }
    }

    pub(super) fn export(&self, file: &str) -> Said {
        let reader = self.parts.open.store.reader()?;
        let id = &self.session.place.session;
        let line = reader.sessions(Some(&self.session.place.conversation))?.into_iter().find(|line| line.id == *id);
        let Some(line) = line else { return Ok(Err("This session has no row yet.".to_owned())) };
        let entries = reader.history(id, None)?;
        let rows: Vec<_> = entries.iter().map(raw).collect();
        let head = ExportHead {
            session: line.id,
            conversation: line.conversation,
            parent: line.parent,
            project_dir: line.project_dir,
            started_at: line.started_at,
            title: line.title,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            account: ona_orchestration::session_usage(reader, id)?,
            prices: self.parts.runtime.prices(),
        };
        let text = ona_transcript::markdown(&head, &rows);
        if file.is_empty() {
            return Ok(Ok(text));
        }
        let path = self.session.cx.cwd.join(file);
        Ok(match std::fs::write(&path, text) {
            Ok(()) => Ok(format!("Written to {}", path.display())),
            Err(error) => Err(format!("{} could not be written: {error}", path.display())),
        })
    }

    pub(super) async fn doctor(&self) -> Said {
        let report = doctor::examine(self.parts.launch).await;
        let mut text = String::new();
        for check in &report.checks {
            let remedy = if check.remedy.is_empty() { String::new() } else { format!(" ({})", check.remedy) };
            writeln!(text, "- {}: {}{remedy}", check.name, check.detail).unwrap_or_default();
        }
        for (name, lines) in [("Problems", &report.problems), ("Remarks", &report.remarks)] {
            if !lines.is_empty() {
                let lines: Vec<_> = lines.iter().map(|line| format!("- {line}")).collect();
                writeln!(text, "\n**{name}**\n\n{}", lines.join("\n")).unwrap_or_default();
            }
        }
        Ok(Ok(text))
    }

    /// A failure in the form of an answer.
    pub(super) fn failed(failure: &Failure) -> Result<String, String> {
        Err(failure
            .hint
            .as_ref()
            .map_or_else(|| failure.message.clone(), |hint| format!("{}\n{hint}", failure.message)))
    }
}

fn raw(entry: &StoredEntry) -> RawRow<'_> {
    RawRow {
        sequence: entry.sequence,
        entry_type: &entry.entry_type,
        payload: &entry.payload,
        tool_use_id: entry.tool_use_id.as_deref(),
        created_at: &entry.created_at,
    }
}

pub(super) fn table(rows: impl Iterator<Item = (String, String)>) -> String {
    let rows: String = rows.map(|(name, value)| format!("| {name} | {value} |\n")).collect();
    format!("| | |\n|---|---|\n{rows}")
}

pub(super) fn listed(lines: impl Iterator<Item = String>, nothing: &str) -> String {
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { nothing.to_owned() } else { lines.join("\n") }
}
