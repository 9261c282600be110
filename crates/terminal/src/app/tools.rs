//! What menus offer, and the keys.

use super::App;
use crate::keys::{Keymap, key_help};
use crate::menus::CommandItem;
use crate::theme;
use ona_commands::{COMMANDS, Class};
use ratatui_core::text::{Line, Span};
use std::sync::Arc;

impl App {
    /// Fills the menu of commands: the built-in ones, then what skills and modules bring. None of those hides
    /// a built-in one.
    pub(super) fn offer_commands(&mut self) {
        let builtin =
            COMMANDS.iter().filter(|command| matches!(command.class, Class::Local)).map(|command| CommandItem {
                name: command.name.to_owned(),
                aliases: command.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
                arguments: command.arguments.to_owned(),
                help: command.help.to_owned(),
                ..CommandItem::default()
            });
        let others = self.session.iter().flat_map(|session| &session.commands);
        let others = others.filter(|(name, _)| ona_commands::find(name).is_none()).map(|(name, help)| CommandItem {
            name: name.clone(),
            help: help.lines().next().unwrap_or_default().to_owned(),
            stackable: true,
            ..CommandItem::default()
        });
        let commands: Vec<_> = builtin.chain(others).map(Arc::new).collect();
        self.composer.set_sources(|sources| sources.commands = commands);
    }
}

pub(super) fn key_help_lines(keymap: &Keymap) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for section in key_help(keymap) {
        lines.push(Line::default());
        lines.push(Line::styled(section.title, theme::HEADING));
        for (keys, what) in section.rows {
            lines.push(Line::from(vec![Span::styled(format!("  {keys:<26} "), theme::ACTION), Span::raw(what)]));
        }
    }
    lines
}
