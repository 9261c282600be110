//! Lists with a page behind each entry: hooks, agents, skills, memories and instruction files.
//!
//! Without a person each is a text.

use super::SessionRunner;
use super::answers::{Said, listed};
use crate::screen::{CommandQuestion, CommandReply, ScreenAction, ScreenEntry};
use ona_hookplane::Hook;
use ona_permissions::printable;
use ona_runtime::session_start::Preparation;
use ona_store::{RecordedRun, StoreError};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Bytes of a hook's output that its page shows.
const SHOWN_OUTPUT: usize = 4_000;

impl SessionRunner<'_> {
    /// Shows entries until they are closed; nothing can be done with them.
    pub(super) async fn browse(&self, title: &str, empty: &str, entries: Vec<ScreenEntry>) {
        let (title, empty) = (title.to_owned(), empty.to_owned());
        self.ask(CommandQuestion::Browse { title, empty, entries, open: None }).await;
    }

    pub(super) async fn hooks_view(&self) -> Said {
        let list = self.parts.runtime.hooks.list();
        if !self.has_person() {
            let mut text = String::new();
            for hook in list.iter() {
                let run = self.last_run(hook)?;
                let ran = run.as_ref().map(|run| format!("; last: {}", result_of(run))).unwrap_or_default();
                writeln!(text, "{}{ran}", hook_line(hook)).unwrap_or_default();
            }
            return Ok(Ok(if text.is_empty() { NO_HOOKS.to_owned() } else { text }));
        }
        let mut entries = Vec::new();
        for hook in list.iter() {
            let run = self.last_run(hook)?;
            let off = hook.disabled.map(|why| format!("off: {}", why.as_str()));
            let detail = off.or_else(|| run.as_ref().map(result_of)).unwrap_or_else(|| "has not run yet".to_owned());
            entries.push(ScreenEntry {
                label: printable(&format!("{} {} {}", hook.ordinal.0, hook.event.as_str(), hook.matcher))
                    .trim_end()
                    .to_owned(),
                detail: format!("{detail} · {}", printable(&hook.source)),
                page: hook_page(hook, run.as_ref()),
                actions: Vec::new(),
            });
        }
        self.browse("Hooks, in the order they run", NO_HOOKS, entries).await;
        Ok(Ok(String::new()))
    }

    fn last_run(&self, hook: &Hook) -> Result<Option<RecordedRun>, StoreError> {
        self.parts.open.store.reader()?.newest_hook_run(hook.event.as_str(), hook.command())
    }

    pub(super) async fn agents_view(&self) -> Said {
        if !self.has_person() {
            return Ok(Ok(self.agents()));
        }
        let entry = |agent: &ona_instructions::AgentDefinition| {
            let mut page = format!("{}\n", agent.description);
            let file = &agent.origin.file;
            if !file.as_os_str().is_empty() {
                write!(page, "\n- file: `{}`", file.display()).unwrap_or_default();
            }
            if let Some(model) = &agent.model {
                write!(page, "\n- model: {model}").unwrap_or_default();
            }
            let tools = agent.tools.as_ref().map_or_else(|| "all".to_owned(), |tools| tools.join(", "));
            write!(page, "\n- tools: {tools}").unwrap_or_default();
            for unused in &agent.unused {
                write!(page, "\n- without effect: {unused}").unwrap_or_default();
            }
            if !agent.prompt.is_empty() {
                write!(page, "\n\n{}", agent.prompt).unwrap_or_default();
            }
            ScreenEntry { label: agent.name.clone(), detail: first_line(&agent.description), page, actions: Vec::new() }
        };
        let entries = self.parts.agents.iter().map(entry).collect();
        self.browse("Agents", "No agents are defined.", entries).await;
        Ok(Ok(String::new()))
    }

    pub(super) async fn skills_view(&self) -> Said {
        if !self.has_person() {
            return Ok(Ok(self.skills()));
        }
        let skills: Vec<_> = self.parts.skills.iter().collect();
        let entries = skills.iter().map(|skill| {
            let mut page = format!("{}\n\n- file: `{}`", skill.description, skill.file.display());
            let tokens = ona_transcript::estimate_tokens(skill.body.len());
            write!(page, "\n- about {tokens} tokens").unwrap_or_default();
            let who = match (skill.by_user, skill.by_model) {
                (true, true) => "you and the model",
                (true, false) => "you",
                (false, true) => "the model",
                (false, false) => "nobody",
            };
            write!(page, "\n- may be loaded by {who}\n\n{}", skill.body).unwrap_or_default();
            ScreenEntry {
                label: format!("/{}", skill.name),
                detail: first_line(&skill.description),
                page,
                actions: vec![('e', "edit the file".to_owned())],
            }
        });
        let entries: Vec<_> = entries.collect();
        let (title, empty) = ("Skills and commands".to_owned(), "No skills were found.".to_owned());
        let question = CommandQuestion::Browse { title, empty, entries, open: None };
        if let Some(CommandReply::Act { entry, letter: 'e' }) = self.ask(question).await
            && let Some(skill) = skills.get(entry)
        {
            return Ok(self.act(ScreenAction::Edit(skill.file.clone())));
        }
        Ok(Ok(String::new()))
    }

    /// `/memory`: instruction files and memories. A file is opened in the person's editor.
    pub(super) async fn memory_view(&self) -> Said {
        if !self.has_person() {
            return self.memories();
        }
        let files = self.instruction_files();
        let home = self.home();
        let shown = |file: &PathBuf| match file.strip_prefix(&home) {
            Ok(below) => format!("~/{}", below.display()),
            Err(_) => file.display().to_string(),
        };
        let mut entries: Vec<ScreenEntry> = files
            .iter()
            .map(|(file, what)| ScreenEntry {
                label: shown(file),
                detail: if file.is_file() { (*what).to_owned() } else { format!("{what} · new") },
                ..ScreenEntry::default()
            })
            .collect();
        let memories = self.parts.open.store.reader()?.memories()?;
        entries.extend(memories.iter().map(|one| ScreenEntry {
            label: printable(&one.memory.title),
            detail: "memory".to_owned(),
            ..ScreenEntry::default()
        }));
        let question = CommandQuestion::Pick {
            title: "Memory: Enter opens a file in your editor".to_owned(),
            empty: String::new(),
            entries,
            at: 0,
        };
        let Some(CommandReply::Chosen(at)) = self.ask(question).await else { return Ok(Ok(String::new())) };
        if let Some((file, _)) = files.get(at) {
            return Ok(self.act(ScreenAction::Edit(file.clone())));
        }
        let Some(one) = memories.get(at - files.len()) else { return Ok(Ok(String::new())) };
        let text = one.memory.content.clone().unwrap_or_default();
        match self.choose(&printable(&one.memory.title), text, &[("Keep it", ""), ("Forget it", "")]).await {
            Some(1) => {
                let row = ona_api::Row::ForgetMemory(one.memory.id.clone());
                self.parts.open.store.commit(&self.session.place, ona_api::Group(vec![row])).await?;
                Ok(Ok("The memory is forgotten.".to_owned()))
            }
            _ => Ok(Ok(String::new())),
        }
    }

    /// The files that tell the agent how to work here: those that are loaded, and where one may be begun.
    fn instruction_files(&self) -> Vec<(PathBuf, &'static str)> {
        let project = &self.parts.launch.project;
        let mut files = vec![
            (project.join("CLAUDE.md"), "this project, for everybody"),
            (project.join("CLAUDE.local.md"), "this project, for you"),
            (self.home().join(".ona/CLAUDE.md"), "all your projects"),
        ];
        if let Preparation::Ready(ready) = &self.ready {
            for one in &ready.instructions {
                if !files.iter().any(|(file, _)| *file == one.path) {
                    files.push((one.path.clone(), "loaded"));
                }
            }
        }
        files
    }

    /// `/reload-skills`: reads them again; the session continues with what there is now.
    pub(super) async fn reload_skills(&mut self) -> Said {
        let before = self.parts.skills.iter().count();
        let Self { parts, session, ready, .. } = self;
        parts.skills = std::sync::Arc::new(ona_runtime::skills::load(parts.launch, parts.open));
        parts.agents = match ona_runtime::agents::load(parts.launch, parts.open) {
            Ok(agents) => agents,
            Err(failure) => return Ok(Self::failed(&failure)),
        };
        parts.overrides.model = ready.model().map(|model| model.choice.model_id.to_owned());
        *ready = parts.prepare(session, "resume").await?;
        self.tell_of_files().await?;
        let count = self.parts.skills.iter().count();
        Ok(Ok(format!("{count} skills and commands, {before} before; {} agents.", self.parts.agents.iter().count())))
    }

    pub(super) fn agents(&self) -> String {
        let line = |agent: &ona_instructions::AgentDefinition| format!("- **{}**: {}", agent.name, agent.description);
        listed(self.parts.agents.iter().map(line), "No agents are defined.")
    }
}

const NO_HOOKS: &str = "No hooks are configured.";

fn hook_line(hook: &Hook) -> String {
    let matcher = if hook.matcher.is_empty() { String::new() } else { format!(" `{}`", hook.matcher) };
    let off = hook.disabled.map(|why| format!(" (off: {})", why.as_str())).unwrap_or_default();
    format!("{}. {}{matcher} from {}{off}", hook.ordinal.0, hook.event.as_str(), hook.source)
}

/// How a run ended, in a few words.
fn result_of(run: &RecordedRun) -> String {
    let took = run.milliseconds.map(|took| format!(" in {took:.0} ms")).unwrap_or_default();
    match (&run.skipped, run.exit_code) {
        (Some(why), _) => format!("skipped: {}", printable(why)),
        (None, Some(0)) => format!("ok{took}"),
        (None, Some(2)) => format!("blocked{took}"),
        (None, Some(code)) => format!("exit code {code}{took}"),
        (None, None) => format!("did not end{took}"),
    }
}

fn hook_page(hook: &Hook, run: Option<&RecordedRun>) -> String {
    let mut page = format!(
        "- event: {}\n- matcher: {}\n- dialect: {}\n- from: `{}`\n",
        hook.event.as_str(),
        if hook.matcher.is_empty() { "every call".to_owned() } else { format!("`{}`", hook.matcher) },
        hook.dialect.name(),
        hook.source,
    );
    if !hook.condition.is_empty() {
        writeln!(page, "- only if: `{}`", hook.condition).unwrap_or_default();
    }
    writeln!(page, "\n```sh\n{}\n```", hook.command()).unwrap_or_default();
    let Some(run) = run else {
        page.push_str("\nIt has not run in this database.\n");
        return page;
    };
    write!(page, "\n**Last run**: {}\n", result_of(run)).unwrap_or_default();
    let part = |text: &str| text.chars().take(SHOWN_OUTPUT).collect::<String>();
    let texts =
        [("stdin", Some(format!("{:#}", run.stdin))), ("stdout", run.stdout.clone()), ("stderr", run.stderr.clone())];
    for (name, text) in texts {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            write!(page, "\n{name}\n\n```\n{}\n```\n", part(text.trim_end())).unwrap_or_default();
        }
    }
    page
}

fn first_line(text: &str) -> String {
    printable(text.lines().next().unwrap_or_default())
}
