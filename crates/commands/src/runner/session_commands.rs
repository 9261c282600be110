//! Commands about the session itself: its name, its goal, what agents of it do, questions beside it.

use super::answers::{Said, listed};
use super::run_command::NO_MODEL;
use super::{AfterAnswer, Answer, AnsweredBy, SessionRunner, begin_turn, refused};
use crate::screen::ScreenAction;
use crate::texts;
use ona_api::permission_update::{Destination, PermissionUpdate};
use ona_api::{CallId, Entry, Group, Row, Ruling};
use ona_orchestration::{FrontMatterHooks, UserPrompt, change_folder};
use ona_permissions::printable;
use ona_runtime::session_start::{Preparation, SessionError};
use ona_tools::{TaskInfo, TaskKind, TaskState, ToolContext};
use serde_json::{Value, json};
use std::sync::Arc;

/// Characters of a session's name.
const NAME: usize = 200;
/// Characters of a recap.
const RECAP: usize = 400;
/// The name under which a goal's hook is kept.
const GOAL: &str = "goal";

impl SessionRunner<'_> {
    /// `/rename NAME`; without a name the model finds one.
    pub(super) async fn rename(&mut self, rest: &str) -> Said {
        let wanted = if rest.is_empty() {
            match self.beside_text(texts::TITLE.to_owned()).await? {
                Ok(title) => {
                    title.lines().next().unwrap_or_default().trim_matches(['"', '.', ' ', '#', '*']).to_owned()
                }
                Err(why) => return Ok(Err(format!("{why}; say a name: /rename NAME"))),
            }
        } else {
            rest.to_owned()
        };
        match self.set_name(&wanted).await? {
            Ok(name) => Ok(Ok(format!("This session is called **{name}**."))),
            Err(why) => Ok(Err(why)),
        }
    }

    pub(super) async fn set_name(&mut self, wanted: &str) -> Said {
        let clean: String = wanted.chars().map(|c| if c.is_control() { ' ' } else { c }).take(NAME).collect();
        let clean = clean.trim().to_owned();
        if clean.is_empty() {
            return Ok(Err("A name has at least one visible character.".to_owned()));
        }
        let own = &self.session.place.session;
        let others = self.sessions()?;
        let is_taken = |name: &str| others.iter().any(|line| line.id != *own && line.title.as_deref() == Some(name));
        let mut name = clean.clone();
        let mut number = 2;
        while is_taken(&name) {
            name = format!("{clean} ({number})");
            number += 1;
        }
        let row = Row::Transcript(Entry::Title(name.clone()));
        self.parts.open.store.commit(&self.session.place, Group(vec![row])).await?;
        if let Some(screen) = &self.parts.person {
            screen.act(ScreenAction::Name(name.clone()));
        }
        Ok(Ok(name))
    }

    /// `/copy [N]`: the last reply, or the N-th last.
    pub(super) fn copy(&self, rest: &str) -> Result<String, String> {
        let number: usize = match rest {
            "" => 1,
            text => match text.parse() {
                Ok(number @ 1..) => number,
                _ => return Err("/copy takes the number of a reply; 1 is the last".to_owned()),
            },
        };
        let replies: Vec<String> =
            self.last_messages(usize::MAX).into_iter().filter(|(by_user, _)| !by_user).map(|(_, text)| text).collect();
        let Some(text) = replies.len().checked_sub(number).and_then(|at| replies.get(at)) else {
            return Err(match replies.len() {
                0 => "No reply can be copied yet.".to_owned(),
                count => format!("There are only {count} replies."),
            });
        };
        self.act(ScreenAction::Copy(text.clone()))
    }

    /// `/todos`: the list of the agent.
    pub(super) fn todos(&self) -> Said {
        let place = &self.session.place;
        let row = self.parts.open.store.reader()?.state(&place.conversation, &format!("todos:{}", place.session))?;
        let items: Vec<Value> = row.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let line = |item: &Value| {
            let mark = match item["status"].as_str() {
                Some("completed") => "[x]",
                Some("in_progress") => "[>]",
                _ => "[ ]",
            };
            format!("{mark} {}", printable(item["content"].as_str().unwrap_or_default()))
        };
        if items.is_empty() {
            return Ok(Ok("The agent has no list of things to do.".to_owned()));
        }
        let done = items.iter().filter(|item| item["status"] == "completed").count();
        let lines: Vec<_> = items.iter().map(line).collect();
        Ok(Ok(format!("{done} of {} done\n\n```\n{}\n```", items.len(), lines.join("\n"))))
    }

    /// `/recap`
    pub(super) async fn recap(&mut self) -> Said {
        if self.last_messages(1).is_empty() {
            return Ok(Ok("Nothing was said in this session yet.".to_owned()));
        }
        let said = self.beside_text(texts::RECAP.to_owned()).await?;
        Ok(said.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(RECAP).collect()))
    }

    /// `/btw QUESTION`
    pub(super) async fn beside(&mut self, rest: &str) -> Said {
        if rest.is_empty() {
            return Ok(Err("/btw needs a question".to_owned()));
        }
        self.beside_text(format!("{} {rest}", texts::BESIDE)).await
    }

    /// Asks the model beside the conversation.
    pub(super) async fn beside_text(&mut self, question: String) -> Said {
        let Self { parts, session, ready, .. } = self;
        let Preparation::Ready(ready) = ready else { return Ok(Err(NO_MODEL.to_owned())) };
        begin_turn(parts, session, &mut ready.turn);
        let answer = ready.turn.ask_beside(session, &mut ready.history, question).await?;
        Ok(match answer {
            Ok(text) if text.trim().is_empty() => Err("The model gave no answer in words.".to_owned()),
            Ok(text) => Ok(text.trim().to_owned()),
            Err(failure) => Err(failure.message),
        })
    }

    /// `/goal CONDITION`: a prompt hook that judges each stop; `/goal clear` removes it (DEC-063).
    pub(super) async fn goal(&mut self, rest: &str) -> Said {
        let registrar = Arc::clone(&self.parts.runtime.registrar);
        let place = self.session.place.clone();
        let current = registrar.added(&place)?.into_iter().find(|front| front.by == GOAL);
        let current = current.and_then(|front| {
            let prompt = front.hooks["Stop"][0]["hooks"][0]["prompt"].as_str()?;
            Some(prompt.strip_prefix(texts::GOAL).unwrap_or(prompt).to_owned())
        });
        match (rest, current) {
            ("", Some(goal)) => Ok(Ok(format!("The goal is: {}\n\n`/goal clear` removes it.", printable(&goal)))),
            ("", None) => Ok(Ok("No goal is set. `/goal CONDITION` has the agent work on until it is met.".to_owned())),
            ("clear" | "off", _) => Ok(Ok(match registrar.remove_from_session(&place, GOAL).await? {
                true => "The goal is removed.".to_owned(),
                false => "No goal was set.".to_owned(),
            })),
            (condition, _) => {
                registrar.remove_from_session(&place, GOAL).await?;
                let hook = json!({"type": "prompt", "prompt": format!("{}{condition}", texts::GOAL)});
                let front = FrontMatterHooks {
                    by: GOAL.to_owned(),
                    file: std::path::PathBuf::new(),
                    dialect: "claude".to_owned(),
                    of_project: false,
                    hooks: json!({"Stop": [{"hooks": [hook]}]}),
                };
                let problems = registrar.add_for_session(&place, front).await?;
                if !problems.is_empty() {
                    return Ok(Err(problems.join("\n")));
                }
                let is_off =
                    self.parts.runtime.hooks.list().iter().any(|hook| {
                        hook.registered.as_ref().is_some_and(|one| one.by == GOAL) && hook.disabled.is_some()
                    });
                if is_off {
                    registrar.remove_from_session(&place, GOAL).await?;
                    return Ok(Err("A goal needs hooks, and hooks are switched off here.".to_owned()));
                }
                Ok(Ok(format!("The agent works on until this is met: {}", printable(condition))))
            }
        }
    }

    /// `/subtask TASK`: an agent of its own does it now; its report becomes part of the conversation.
    pub(super) async fn subtask(&mut self, rest: &str, prompt: &UserPrompt) -> Result<Answer, SessionError> {
        if rest.is_empty() {
            let outcome = refused("/subtask needs a task");
            return Ok(Answer { outcome, by: AnsweredBy::Command });
        }
        let told = self.with_recent_words(rest);
        let Self { parts, session, ready, .. } = self;
        let Preparation::Ready(ready) = ready else { return self.nobody() };
        begin_turn(parts, session, &mut ready.turn);
        let input = json!({"description": beginning(rest), "prompt": told, "run_in_background": false});
        let agent = ready.turn.pipeline.tools.get("Agent");
        let Some(agent) = agent.filter(|_| session.with_rules(|rules| !rules.hides_tool("Agent"))) else {
            return Ok(Answer { outcome: refused(NO_AGENTS), by: AnsweredBy::Command });
        };
        let denied = session.with_rules(|rules| rules.decide("Agent", &input, &[ona_api::Access::Plain], None));
        if denied.ruling == Ruling::Deny {
            return Ok(Answer { outcome: refused(denied.message), by: AnsweredBy::Command });
        }
        let cx = ToolContext { call: Some(CallId::random()), ..session.cx.clone() };
        let work = async {
            match Arc::clone(&agent).plan(&input, &cx) {
                Ok(plan) => plan.run(&cx).await,
                Err(bad) => ona_api::ToolResult::rejected(bad.to_string()),
            }
        };
        let words = UserPrompt { text: prompt.text.clone(), typed: Some(prompt.text.clone()), ..prompt.clone() };
        let outcome = ready.turn.run_aside(session, &mut ready.history, words, work).await?;
        self.answered(AnsweredBy::Command, outcome).await
    }

    /// `/background TASK`: the same, and the conversation goes on meanwhile.
    pub(super) async fn background(&mut self, rest: &str) -> Said {
        if rest.is_empty() {
            return Ok(Err("/background needs a task; /tasks lists what runs".to_owned()));
        }
        let told = self.with_recent_words(rest);
        let Some(turn) = self.turn() else { return Ok(Err(NO_MODEL.to_owned())) };
        let input = json!({"description": beginning(rest), "prompt": told, "run_in_background": true});
        let hidden = self.session.with_rules(|rules| rules.hides_tool("Agent"));
        let Some(agent) = turn.pipeline.tools.get("Agent").filter(|_| !hidden) else {
            return Ok(Err(NO_AGENTS.to_owned()));
        };
        let verdict = self.session.with_rules(|rules| rules.decide("Agent", &input, &[ona_api::Access::Plain], None));
        if verdict.ruling == Ruling::Deny {
            return Ok(Err(verdict.message));
        }
        let cx = ToolContext { call: Some(CallId::random()), ..self.session.cx.clone() };
        let result = match Arc::clone(&agent).plan(&input, &cx) {
            Ok(plan) => plan.run(&cx).await,
            Err(bad) => return Ok(Err(bad.to_string())),
        };
        Ok(if result.is_error() { Err(result.content) } else { Ok(result.content) })
    }

    /// The task, with the last words of the conversation for an agent that has not seen it.
    fn with_recent_words(&self, task: &str) -> String {
        let recent = self.last_messages(6);
        if recent.is_empty() {
            return task.to_owned();
        }
        let line = |(by_user, text): &(bool, String)| {
            let who = if *by_user { "User" } else { "Agent" };
            format!("{who}: {}", text.chars().take(2_000).collect::<String>())
        };
        let lines: Vec<_> = recent.iter().map(line).collect();
        format!("{task}\n\nWhat was said last in the conversation this task comes from:\n\n{}", lines.join("\n\n"))
    }

    /// `/list-agents`: agents of this session, and other processes that work in sessions of this project.
    pub(super) fn at_work(&self) -> Said {
        let agents = self.parts.runtime.tasks.running().into_iter().filter(|task| task.kind == TaskKind::Agent);
        let mut lines: Vec<String> =
            agents.map(|task| format!("- agent **{}** {}", task.id, printable(&task.title))).collect();
        let database = &self.parts.launch.database.path;
        for line in self.sessions()?.into_iter().filter(|line| ona_store::is_session_held(database, &line.id)) {
            let words = line.title.or(line.first_user_text).unwrap_or_default();
            let words = words.lines().next().unwrap_or_default();
            lines.push(format!("- session **{}** {} (in another process)", line.id, printable(words)));
        }
        Ok(Ok(listed(lines.into_iter(), "No agents and no other sessions of this project are at work.")))
    }

    /// `/stop [TASK]`
    pub(super) async fn stop(&mut self, rest: &str) -> Said {
        let tasks = Arc::clone(&self.parts.runtime.tasks);
        let running = tasks.running();
        let id = match (rest, running.as_slice()) {
            ("", []) => return Ok(Ok("Nothing runs in the background.".to_owned())),
            ("all", _) => {
                tasks.stop_all().await;
                return Ok(Ok(format!("{} tasks were stopped.", running.len())));
            }
            ("", [one]) => one.id.clone(),
            ("", several) => {
                let label = |task: &TaskInfo| format!("{} {}", task.id, printable(&task.title));
                if !self.has_person() {
                    let names: Vec<_> = several.iter().map(label).collect();
                    return Ok(Err(format!("say which: /stop TASK, or /stop all\n{}", names.join("\n"))));
                }
                let labels: Vec<_> = several.iter().map(label).collect();
                let mut options: Vec<(&str, &str)> = labels.iter().map(|label| (label.as_str(), "")).collect();
                options.push(("None of them", ""));
                match self.choose("Stop which task?", String::new(), &options).await.and_then(|at| several.get(at)) {
                    Some(task) => task.id.clone(),
                    None => return Ok(Ok(String::new())),
                }
            }
            (id, _) => id.to_owned(),
        };
        match tasks.list().into_iter().find(|task| task.id == id) {
            None => Ok(Err(format!("Task {id} does not exist; /tasks lists what runs"))),
            Some(task) if task.state != TaskState::Running => Ok(Err(format!("{id} is not running: {}", task.state))),
            Some(task) => {
                tasks.stop(&id);
                Ok(Ok(format!("{id} is being stopped: {}", printable(&task.title))))
            }
        }
    }

    /// `/cd FOLDER`: the session works there from now on. A folder outside of the working directories is
    /// added to them, which the person is asked first.
    pub(super) async fn cd(&mut self, rest: &str) -> Said {
        let home = self.parts.launch.env.home();
        let wanted = match rest.strip_prefix('~') {
            Some(below) if below.is_empty() || below.starts_with('/') => home.join(below.trim_start_matches('/')),
            _ => self.session.cx.cwd.join(rest),
        };
        let folder = match wanted.canonicalize() {
            Ok(folder) if !rest.is_empty() && folder.is_dir() => folder,
            _ => return Ok(Err(format!("/cd needs a folder; {} is not one", wanted.display()))),
        };
        let cx = &self.session.cx;
        let inside = std::iter::once(&cx.project).chain(&cx.extra).any(|dir| {
            let real = dir.canonicalize().unwrap_or_else(|_| dir.clone());
            folder.starts_with(&real)
        });
        if !inside {
            let title = format!("Work in {} as well?", folder.display());
            let body =
                "It is outside of this project. Files in it may then be read without asking. Its settings, hooks \
                        and servers are not used."
                    .to_owned();
            let yes = self.has_person()
                && self.choose(&title, body, &[("Yes, for this session", ""), ("No", "")]).await == Some(0);
            if !yes {
                let hint = if self.has_person() { "" } else { "; add it first: /add-dir FOLDER" };
                return Ok(Err(format!("{} is outside of the working directories{hint}", folder.display())));
            }
            let update = PermissionUpdate::AddDirectories {
                directories: vec![folder.to_string_lossy().into_owned()],
                destination: Destination::Session,
            };
            if let Err(why) = self.session.update_rules(&update) {
                return Ok(Err(why));
            }
        }
        let Self { parts, session, .. } = self;
        change_folder(&parts.open.store, &parts.runtime.hooks, session, &parts.events, folder).await?;
        Ok(Ok(format!("Works in {} from now on.", self.session.cx.cwd.display())))
    }

    /// Has the front end the session and continue it with everything read anew.
    pub(super) fn restart(&mut self, words: &str) -> Result<String, String> {
        self.after = Some(AfterAnswer::Restart);
        Ok(words.to_owned())
    }
}

const NO_AGENTS: &str = "The tool Agent is not available in this session.";

fn beginning(task: &str) -> String {
    let line = task.lines().next().unwrap_or_default();
    line.chars().take(60).collect()
}
