//! From a question of the session to a dialog, and from its answer to a reply.

use super::command_dialogs;
use crate::blocks::{diff_rows, diff_texts};
use crate::dialogs::{
    AskedOption, AskedQuestion, ChoiceDialog, ChoiceOption, ChoiceQuestion, CustomDialog, Dialog, DialogReply,
    ElicitationForm, ElicitationPrompt, ElicitationReply, InputDialog, PermissionDialog, PermissionPrompt,
    PermissionReply, Picker, PickerItem, PickerReply, PlanDialog, PlanPrompt, PlanReply, QuestionDialog, QuestionReply,
    TrustDialog, TrustItem, TrustPrompt, TrustReply,
};
use crate::front::{ModuleAsk, PermissionAsk, Question, Reply};
use crate::markdown::markdown;
use crate::text::{styled_line, visible_line};
use ona_api::Mode;
use ona_api::permission_update::{Destination, PermissionUpdate};
use ratatui_core::text::Line;
use serde_json::{Map, Value};

/// Makes the dialog for a question.
pub(super) fn dialog(question: &Question, width: u16) -> Dialog {
    match question {
        Question::Trust(ask) => {
            let item = |(kind, each): &(String, Vec<String>)| TrustItem { kind: kind.clone(), each: each.clone() };
            TrustDialog::new(&TrustPrompt { folder: ask.folder.clone(), runs: ask.listed.iter().map(item).collect() })
                .into()
        }
        Question::Permission(ask) if ask.tool == "AskUserQuestion" => QuestionDialog::new(questions(&ask.input)).into(),
        Question::Permission(ask) => match &ask.plan {
            Some(plan) => PlanDialog::new(PlanPrompt { plan: markdown(plan, width), warning: String::new() }).into(),
            None => PermissionDialog::new(permission(ask, width)).into(),
        },
        Question::Elicitation(fields) => {
            let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
            let prompt = ElicitationPrompt {
                server: text("mcp_server_name").unwrap_or_default(),
                message: text("message").unwrap_or_default(),
                schema: fields.get("requested_schema").cloned(),
                url: text("url"),
            };
            ElicitationForm::new(prompt).into()
        }
        Question::Command(question) => command_dialogs::dialog(question, width),
        Question::Module(ModuleAsk::Confirm { title, message }) => {
            let option = |label: &str, letter| ChoiceOption {
                label: label.into(),
                letter: Some(letter),
                ..ChoiceOption::default()
            };
            let question = ChoiceQuestion {
                title: visible_line(title),
                source: "a hook module asks".into(),
                body: message.lines().map(|line| Line::from(visible_line(line))).collect(),
                options: vec![option("Yes", 'y'), option("No", 'n')],
                escape: 1,
                ..ChoiceQuestion::default()
            };
            ChoiceDialog::new(question).into()
        }
        Question::Module(ModuleAsk::Select { title, options }) => {
            let item = |label: &String| PickerItem { label: visible_line(label), ..PickerItem::default() };
            Picker::new(&visible_line(title), options.iter().map(item).collect()).into()
        }
        Question::Module(ModuleAsk::Input { title, placeholder, text }) => {
            InputDialog::new(&visible_line(title), placeholder, text).into()
        }
        Question::Module(ModuleAsk::Custom { lines }) => {
            CustomDialog::new(lines.iter().map(|line| styled_line(line)).collect()).into()
        }
    }
}

/// What a dialog's answer means for who asked, and words that go to the agent behind it. `None`: the dialog
/// stays.
pub(super) fn reply(question: &Question, answer: DialogReply) -> Option<(Reply, Option<String>)> {
    if let Question::Command(question) = question {
        return command_dialogs::reply(question, answer).map(|reply| (reply, None));
    }
    let allow = |updates| Reply::Allow { updates, input: None };
    Some(match (question, answer) {
        (_, DialogReply::Trust(TrustReply::Trust)) => (Reply::Trust(true), None),
        (_, DialogReply::Trust(TrustReply::Restricted)) => (Reply::Trust(false), None),
        (_, DialogReply::Trust(TrustReply::Leave)) => (Reply::Leave, None),
        (_, DialogReply::Permission(PermissionReply::Once { comment })) => (allow(Vec::new()), comment),
        (Question::Permission(ask), DialogReply::Permission(PermissionReply::Always { comment })) => {
            (allow(ask.always.clone()), comment)
        }
        (_, DialogReply::Permission(PermissionReply::Always { comment })) => (allow(Vec::new()), comment),
        (_, DialogReply::Permission(PermissionReply::No { comment })) => (Reply::Deny { feedback: comment }, None),
        (_, DialogReply::Plan(PlanReply::AcceptEdits { comment })) => {
            let mode = PermissionUpdate::SetMode { mode: Mode::AcceptEdits, destination: Destination::Session };
            (allow(vec![mode]), comment)
        }
        (_, DialogReply::Plan(PlanReply::AskForEdits { comment })) => (allow(Vec::new()), comment),
        (_, DialogReply::Plan(PlanReply::KeepPlanning { comment })) => (Reply::Deny { feedback: comment }, None),
        (_, DialogReply::Plan(PlanReply::Edit)) => return None,
        (Question::Permission(ask), DialogReply::Question(QuestionReply::Answered(answers))) => {
            let mut input = ask.input.as_object().cloned().unwrap_or_default();
            let answers: Map<String, Value> = answers.into_iter().map(|(key, text)| (key, text.into())).collect();
            input.insert("answers".into(), answers.into());
            (Reply::Allow { updates: Vec::new(), input: Some(input) }, None)
        }
        (_, DialogReply::Question(_)) => (Reply::Deny { feedback: None }, None),
        (_, DialogReply::Elicitation(ElicitationReply::Accept(content))) => (Reply::Value(content.into()), None),
        (_, DialogReply::Elicitation(ElicitationReply::Decline | ElicitationReply::Cancel)) => {
            (Reply::Value(Value::Null), None)
        }
        (_, DialogReply::Choice(choice)) => (Reply::Value((choice.option == 0).into()), None),
        (
            Question::Module(ModuleAsk::Select { options, .. }),
            DialogReply::Picker(PickerReply::Chosen { item, .. }),
        ) => (Reply::Value(options.get(item).cloned().into()), None),
        (_, DialogReply::Picker(PickerReply::Switched { .. })) => return None,
        (_, DialogReply::Picker(_)) => (Reply::Value(Value::Null), None),
        (_, DialogReply::Custom(key)) => (Reply::Value(key.into()), None),
        (_, DialogReply::Input(text)) => (Reply::Value(text.into()), None),
        (_, DialogReply::Rewind(_) | DialogReply::Viewer(_) | DialogReply::Config(_)) => return None,
    })
}

fn permission(ask: &PermissionAsk, width: u16) -> PermissionPrompt {
    let text = |key: &str| ask.input[key].as_str();
    let path = || visible_line(ask.path.as_deref().unwrap_or_default());
    let title = match ask.tool.as_str() {
        "Bash" => "Run this command?".to_owned(),
        "Edit" | "Write" | "NotebookEdit" => format!("Change {}?", path()),
        "Read" => format!("Read {}?", path()),
        "WebFetch" => "Fetch this page?".to_owned(),
        tool => format!("Use {}?", visible_line(tool)),
    };
    let preview = match (ask.tool.as_str(), text("command"), text("new_string").or_else(|| text("content"))) {
        (_, Some(command), _) => command.lines().map(|line| Line::from(visible_line(line))).collect(),
        ("Edit", _, Some(new)) => diff_rows(&diff_texts(text("old_string").unwrap_or_default(), new, 1), width),
        ("Write", _, Some(new)) => diff_rows(&diff_texts(ask.before.as_deref().unwrap_or_default(), new, 1), width),
        _ => {
            let fields = ask.input.as_object().into_iter().flatten();
            let shown = |(key, value): (&String, &Value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Line::from(format!("{}: {}", visible_line(key), visible_line(&value)))
            };
            fields.map(shown).collect()
        }
    };
    let mut details = Vec::new();
    if !ask.programs.is_empty() {
        details.push(Line::from(format!("runs {}", ask.programs.join(", "))));
    }
    details.extend(ask.writes.iter().map(|file| Line::from(format!("changes {file}"))));
    let rules = ask.always.iter().filter_map(|update| match update {
        PermissionUpdate::AddRules { rules, .. } => Some(rules.iter().map(|rule| rule.joined())),
        _ => None,
    });
    PermissionPrompt {
        title,
        source: ask.agent.as_ref().map(|agent| format!("the agent {}", visible_line(agent))).unwrap_or_default(),
        preview,
        purpose: visible_line(text("description").unwrap_or_default()),
        reason: visible_line(&ask.reason),
        details,
        remember: rules.flatten().collect(),
        remember_in: "the local settings of this project".into(),
    }
}

fn questions(input: &Value) -> Vec<AskedQuestion> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let option = |value: &Value| AskedOption {
        label: text(&value["label"]),
        description: text(&value["description"]),
        preview: text(&value["preview"]),
    };
    let question = |value: &Value| AskedQuestion {
        question: text(&value["question"]),
        header: text(&value["header"]),
        options: value["options"].as_array().into_iter().flatten().map(option).collect(),
        multiple: value["multiSelect"] == true,
    };
    input["questions"].as_array().into_iter().flatten().map(question).collect()
}
