//! The line of facts at the bottom: what the next prompt meets.

use crate::screen::text_width;
use crate::text::{cut, visible_line};
use crate::theme;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusLine {
    /// Nothing while idle: a phase is worth a word once a plan exists.
    pub phase: Option<String>,
    /// The permission mode, unless it is the default.
    pub mode: Option<String>,
    /// The mode lets calls pass without a question.
    pub mode_is_bold: bool,
    pub model: String,
    /// Part of the context window that is full, in percent.
    pub context: Option<u8>,
    pub cost: Option<f64>,
    pub session: Option<String>,
    /// What the user's own status line command printed.
    pub own: Option<String>,
    /// Keys worth knowing now.
    pub hint: String,
}

/// The facts in the order in which they matter. Where room is short the last ones go first, then
/// the others get shorter; phase and mode stay.
pub fn status_line(status: &StatusLine, width: u16) -> Line<'static> {
    let width = usize::from(width);
    let context = status.context.map(|percent| format!("{percent} % context"));
    let full = status.context.is_some_and(|percent| percent >= 80);
    let mode_style = if status.mode_is_bold { theme::FAILED } else { theme::ACTION };
    let mut parts: Vec<(String, Style, Rank)> = Vec::new();
    let mut add = |text: Option<String>, style, rank| {
        parts.extend(
            text.map(|text| visible_line(text.trim())).filter(|text| !text.is_empty()).map(|text| (text, style, rank)),
        );
    };
    add(status.phase.clone(), theme::HEADING, Rank::Always);
    add(status.mode.clone(), mode_style, Rank::Always);
    add(Some(status.model.clone()), theme::DIM, Rank::Model);
    add(context, if full { theme::FAILED } else { theme::DIM }, Rank::Context);
    add(status.cost.map(|cost| format!("${cost:.2}")), theme::DIM, Rank::Cost);
    add(status.own.clone(), theme::DIM, Rank::Own);
    add(status.session.clone(), theme::DIM, Rank::Session);
    add(Some(status.hint.clone()), theme::DIM, Rank::Hint);
    for rank in [Rank::Hint, Rank::Session, Rank::Own, Rank::Cost] {
        if columns(&parts) > width {
            parts.retain(|part| part.2 != rank);
        }
    }
    if columns(&parts) > width
        && let Some((percent, context)) = status.context.zip(parts.iter_mut().find(|part| part.2 == Rank::Context))
    {
        context.0 = format!("{percent} %");
    }
    let over = columns(&parts).saturating_sub(width);
    if let Some(model) = parts.iter_mut().find(|part| part.2 == Rank::Model).filter(|_| over > 0) {
        model.0 = cut(&model.0, text_width(&model.0).saturating_sub(over).max(6));
    }
    if columns(&parts) > width {
        parts.retain(|part| part.2 != Rank::Context);
    }
    let mut spans = vec![Span::raw(" ")];
    for (index, (text, style, _)) in parts.into_iter().enumerate() {
        if index > 0 {
            spans.push(Span::styled(" · ", theme::DIM));
        }
        spans.push(Span::styled(text, style));
    }
    crate::text::cut_line(Line::from(spans), width)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Always,
    Model,
    Context,
    Cost,
    Own,
    Session,
    Hint,
}

fn columns(parts: &[(String, Style, Rank)]) -> usize {
    1 + parts.iter().map(|part| text_width(&part.0)).sum::<usize>() + parts.len().saturating_sub(1) * 3
}
