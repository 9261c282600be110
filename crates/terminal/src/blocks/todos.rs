//! The list of what is to be done.

use crate::text::{visible_line, wrap};
use crate::theme;
use ratatui_core::text::{Line, Span};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    pub state: TodoState,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TodoState {
    Pending,
    InProgress,
    Completed,
}

/// The list that a call of TodoWrite sets.
pub fn todos_of(input: &Value) -> Vec<Todo> {
    let entry = |todo: &Value| {
        let state = match todo["status"].as_str()? {
            "completed" => TodoState::Completed,
            "in_progress" => TodoState::InProgress,
            _ => TodoState::Pending,
        };
        let active = todo["activeForm"].as_str().filter(|_| state == TodoState::InProgress);
        Some(Todo { state, text: active.or(todo["content"].as_str())?.to_owned() })
    };
    input["todos"].as_array().into_iter().flatten().filter_map(entry).collect()
}

pub fn todo_block(todos: &[Todo], width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for todo in todos {
        let (mark, mark_style, style) = match todo.state {
            TodoState::Completed => ("✓ ", theme::ADDED, theme::DIM),
            TodoState::InProgress => ("▸ ", theme::ACTION, theme::HEADING),
            TodoState::Pending => ("○ ", theme::DIM, theme::TEXT),
        };
        let first = [Span::raw("  "), Span::styled(mark, mark_style)];
        let text = [Span::styled(visible_line(&todo.text), style)];
        lines.extend(wrap(&text, width, &first, &[Span::raw("    ")]));
    }
    lines
}
