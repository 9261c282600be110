//! The question that is on the screen.

use crate::component::Outcome;
use crate::front::{PermissionAsk, Question, Reply, TrustAsk};
use crate::keys::{Action, Context, Key, Keymap};
use crate::theme;
use crossterm::event::KeyCode;
use ona_api::permission_update::PermissionUpdate;
use ratatui_core::text::{Line, Span};
use serde_json::{Map, Value};

/// A title, what it is about, and numbered choices.
#[derive(Clone, Debug)]
pub(crate) struct Dialog {
    title: String,
    body: Vec<Line<'static>>,
    choices: Vec<Choice>,
    selected: usize,
    /// What Esc answers.
    cancel: Reply,
    /// A question of the model: what was answered, and what is still to be asked.
    asking: Option<ModelQuestions>,
    /// Words beside a no.
    comment: Option<String>,
}

#[derive(Clone, Debug)]
struct Choice {
    label: String,
    reply: Reply,
}

#[derive(Clone, Debug)]
struct ModelQuestions {
    input: Map<String, Value>,
    answers: Map<String, Value>,
    at: usize,
}

const NO: Reply = Reply::Deny { feedback: None };

impl Dialog {
    pub(crate) fn of(question: Question) -> Self {
        match question {
            Question::Trust(ask) => trust(ask),
            Question::Permission(ask) if ask.tool == "AskUserQuestion" => model_question(&ask),
            Question::Permission(ask) => permission(*ask),
        }
    }

    pub(crate) fn key(&mut self, key: Key, keymap: &Keymap) -> Outcome<Reply> {
        if let Some(comment) = &mut self.comment {
            if let Some(c) = key.text() {
                comment.push(c);
                return Outcome::Changed;
            }
            if key == Key::plain(KeyCode::Backspace) {
                comment.pop();
                return Outcome::Changed;
            }
            if key == Key::ENTER {
                let feedback = Some(comment.trim().to_owned()).filter(|words| !words.is_empty());
                return Outcome::Done(Reply::Deny { feedback });
            }
        }
        if let Some(digit) = key.text().and_then(|c| c.to_digit(10)) {
            let index = (digit as usize).wrapping_sub(1);
            return if index < self.choices.len() { self.choose(index) } else { Outcome::Changed };
        }
        match keymap.action(Context::Confirmation, key) {
            Some(Action::PreviousChoice) => self.selected = self.selected.saturating_sub(1),
            Some(Action::NextChoice) => self.selected = (self.selected + 1).min(self.choices.len().saturating_sub(1)),
            Some(Action::Yes) if key == Key::ENTER => return self.choose(self.selected),
            Some(Action::Yes) if self.asking.is_none() => return self.choose(0),
            Some(Action::No) => return Outcome::Done(self.cancel.clone()),
            Some(Action::Amend) if matches!(self.cancel, Reply::Deny { .. }) => {
                self.comment = Some(String::new());
            }
            _ => return Outcome::Unclaimed,
        }
        Outcome::Changed
    }

    pub(crate) fn text(&mut self, text: &str) {
        if let Some(comment) = &mut self.comment {
            comment.push_str(&text.replace('\n', " "));
        }
    }

    fn choose(&mut self, index: usize) -> Outcome<Reply> {
        let Some(choice) = self.choices.get(index) else { return Outcome::Changed };
        let Some(asking) = &mut self.asking else { return Outcome::Done(choice.reply.clone()) };
        let question = &asking.input["questions"][asking.at];
        let text = question["question"].as_str().unwrap_or_default().to_owned();
        asking.answers.insert(text, choice.label.clone().into());
        asking.at += 1;
        let done = asking.input["questions"].as_array().is_none_or(|all| asking.at >= all.len());
        if done {
            let mut input = asking.input.clone();
            input.insert("answers".into(), Value::Object(asking.answers.clone()));
            return Outcome::Done(Reply::Allow { updates: Vec::new(), input: Some(input) });
        }
        let asking = asking.clone();
        *self = show_question(asking);
        Outcome::Changed
    }

    pub(crate) fn lines(&self) -> Vec<Line<'static>> {
        let mut lines = vec![Line::styled(self.title.clone(), theme::HEADING)];
        lines.extend(self.body.iter().cloned());
        for (index, choice) in self.choices.iter().enumerate() {
            let (mark, style) = if index == self.selected { ("❯ ", theme::SELECTED) } else { ("  ", theme::TEXT) };
            lines.push(Line::from(vec![
                Span::styled(mark, style),
                Span::styled(format!("{}. {}", index + 1, choice.label), style),
            ]));
        }
        match &self.comment {
            Some(comment) => lines.push(Line::from(format!("  No, and instead: {comment}▏"))),
            None => lines.push(Line::styled("  ↑↓ Enter choose · Esc no · Tab says what to do instead", theme::DIM)),
        }
        lines
    }
}

fn choice(label: impl Into<String>, reply: Reply) -> Choice {
    Choice { label: label.into(), reply }
}

fn allow(updates: Vec<PermissionUpdate>) -> Reply {
    Reply::Allow { updates, input: None }
}

fn dim(text: impl Into<String>) -> Line<'static> {
    Line::styled(text.into(), theme::DIM)
}

fn trust(ask: TrustAsk) -> Dialog {
    let mut body = vec![Line::from(ask.folder), dim("Nothing of it has run. If you trust it, these will be used:")];
    for (kind, files) in ask.listed {
        let files = files.iter().map(|file| ona_permissions::printable(file)).collect::<Vec<_>>().join(", ");
        body.push(Line::from(format!("  {kind}: {files}")));
    }
    Dialog {
        title: "Do you trust this folder?".into(),
        body,
        choices: vec![
            choice("Yes, I trust this folder", Reply::Trust(true)),
            choice("No, continue without these", Reply::Trust(false)),
        ],
        selected: 0,
        cancel: Reply::Trust(false),
        asking: None,
        comment: None,
    }
}

fn permission(ask: PermissionAsk) -> Dialog {
    let printable = ona_permissions::printable;
    let indented = |text: &str| Line::from(format!("  {}", printable(text)));
    let mut body = Vec::new();
    match (&ask.plan, ask.input["command"].as_str()) {
        (Some(plan), _) => body.extend(plan.lines().map(indented)),
        (None, Some(command)) => body.extend(command.lines().map(indented)),
        (None, None) => body.push(indented(&brief(&ask.input))),
    }
    if let Some(agent) = &ask.agent {
        body.push(dim(format!("asked by the agent {}", printable(agent))));
    }
    if let Some((part, why)) = &ask.uncovered {
        body.push(dim(format!("not covered by a rule: {part} ({why})")));
    }
    for file in &ask.writes {
        body.push(dim(format!("changes {file}")));
    }
    if !ask.programs.is_empty() {
        body.push(dim(format!("runs {}", ask.programs.join(", "))));
    }
    if !ask.reason.is_empty() {
        body.push(dim(printable(&ask.reason)));
    }
    let mut choices = vec![choice("Yes", allow(Vec::new()))];
    let rules: Vec<_> = ask
        .always
        .iter()
        .filter_map(|update| match update {
            PermissionUpdate::AddRules { rules, .. } => Some(rules.iter().map(|rule| rule.joined())),
            _ => None,
        })
        .flatten()
        .collect();
    if !rules.is_empty() {
        choices.push(choice(format!("Yes, and from now on allow {}", rules.join(", ")), allow(ask.always.clone())));
    }
    choices.push(choice("No", NO));
    let title = match ask.plan {
        Some(_) => "Approve this plan?".to_owned(),
        None => format!("Allow {}?", printable(&ask.tool)),
    };
    Dialog { title, body, choices, selected: 0, cancel: NO, asking: None, comment: None }
}

fn model_question(ask: &PermissionAsk) -> Dialog {
    let input = ask.input.as_object().cloned().unwrap_or_default();
    show_question(ModelQuestions { input, answers: Map::new(), at: 0 })
}

fn show_question(asking: ModelQuestions) -> Dialog {
    let question = asking.input["questions"][asking.at].clone();
    let text = |value: &Value| ona_permissions::printable(value.as_str().unwrap_or_default());
    let options = question["options"].as_array().cloned().unwrap_or_default();
    Dialog {
        title: text(&question["question"]),
        body: Vec::new(),
        choices: options.iter().map(|option| choice(text(&option["label"]), NO)).collect(),
        selected: 0,
        cancel: NO,
        asking: Some(asking),
        comment: None,
    }
}

/// The input of a call in one line.
fn brief(input: &Value) -> String {
    let keys = ["file_path", "notebook_path", "path", "pattern", "url", "query"];
    let path = keys.iter().find_map(|key| input[*key].as_str());
    path.map_or_else(|| input.to_string(), str::to_owned)
}
