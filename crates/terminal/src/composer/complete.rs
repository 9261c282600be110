//! When a menu opens, what is in it, and what choosing does to the text.

use super::edit::LastEdit;
use super::{Composer, ComposerEvent, InputMode, graphemes};
use crate::Outcome;
use crate::menus::{
    After, CommandItem, FileIndex, FileQuery, ListCursor, Menu, MenuEntry, MenuKind, match_choices, match_commands,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Something besides files that `@` can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Without the `@`: `agent-reviewer`, `server:uri`.
    pub name: String,
    pub help: String,
}

/// What menus choose from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub commands: Vec<Arc<CommandItem>>,
    pub agents: Vec<Mention>,
    pub resources: Vec<Mention>,
    pub files: Option<Arc<FileIndex>>,
    query: FileQuery,
}

impl Sources {
    /// Replaces the index of files.
    pub fn set_files(&mut self, files: Arc<FileIndex>) {
        self.files = Some(files);
        self.query.reset();
    }
}

/// What lies in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathEntry {
    pub name: String,
    pub folder: bool,
}

/// Entries of a menu; the best fifty are as good as all.
const MOST: usize = 50;

impl Composer {
    /// Whether files are being chosen, so that an index of them is of use.
    pub fn wants_files(&self) -> bool {
        self.menu.as_ref().is_some_and(|menu| menu.kind == MenuKind::Mention)
    }

    pub(super) fn close_menu(&mut self) {
        self.menu = None;
    }

    /// Opens, fills or closes the menu for what stands before the cursor.
    pub(super) fn update_menu(&mut self) {
        let at = self.buffer.cursor();
        let menu = match self.mode {
            InputMode::Prompt => {
                self.command_menu(at).or_else(|| self.argument_menu(at)).or_else(|| self.mention_menu(at))
            }
            InputMode::Shell | InputMode::Memory => None,
        };
        match menu {
            Some(menu) if self.dismissed == Some(menu.range.start) => self.menu = None,
            Some(menu) => {
                self.dismissed = None;
                self.menu = Some(menu);
            }
            None => {
                self.dismissed = None;
                self.menu = None;
            }
        }
    }

    fn command_menu(&self, at: usize) -> Option<Menu> {
        let text = self.buffer.text();
        let start = text[..at].rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let typed = text[start..at].strip_prefix('/')?;
        if typed.contains('/') || text[at..].starts_with('/') {
            return None;
        }
        // Behind the first word only skills may follow other skills.
        let stacked = start > 0;
        let skill = |word: &str| {
            let name = word.strip_prefix('/');
            self.sources.commands.iter().any(|command| command.stackable && Some(command.name.as_str()) == name)
        };
        if stacked && !text[..start].split_whitespace().all(skill) {
            return None;
        }
        let found = match_commands(&self.sources.commands, typed);
        let items = found.items.into_iter().filter(|command| command.stackable || !stacked);
        let entries: Vec<_> = items.take(MOST).map(|command| command_entry(&command)).collect();
        if entries.is_empty() && stacked {
            return None;
        }
        let list = if found.firm { ListCursor::new(entries.len()) } else { ListCursor::unselected(entries.len()) };
        let empty = format!("No commands match \"/{typed}\"");
        Some(Menu { kind: MenuKind::Command, range: start..at, entries, list, empty })
    }

    fn argument_menu(&self, at: usize) -> Option<Menu> {
        let text = self.buffer.text();
        let (name, rest) = text.strip_prefix('/')?.split_once(' ')?;
        let start = 1 + name.len() + 1;
        let typed = text.get(start..at)?;
        if typed.contains(char::is_whitespace) || rest.len() != typed.len() {
            return None;
        }
        let command = self.command(name)?;
        let choices = match_choices(&command.choices, typed);
        let entries: Vec<_> = choices
            .into_iter()
            .filter(|(value, _)| value != typed)
            .take(MOST)
            .map(|(value, help)| MenuEntry {
                label: value.clone(),
                detail: help.clone(),
                insert: value.clone(),
                after: After::Nothing,
                matched: Vec::new(),
            })
            .collect();
        // Enter sends what is typed, unless the user goes into the list.
        let list = ListCursor::unselected(entries.len());
        (!entries.is_empty()).then(|| Menu {
            kind: MenuKind::Argument,
            range: start..at,
            entries,
            list,
            empty: String::new(),
        })
    }

    /// Returns a command by its name or an alias.
    pub(super) fn command(&self, name: &str) -> Option<&Arc<CommandItem>> {
        self.sources
            .commands
            .iter()
            .find(|command| command.name == name || command.aliases.iter().any(|alias| alias == name))
    }

    fn mention_menu(&mut self, at: usize) -> Option<Menu> {
        let range = mention(self.buffer.text(), at)?;
        let typed = self.buffer.text()[range.start + 1..at].trim_start_matches('"').to_owned();
        let lower = typed.to_lowercase();
        let fits = |mention: &&Mention| {
            let name = mention.name.to_lowercase();
            name.starts_with(&lower)
                || name.split(['-', ':', '_', '/']).any(|word| !lower.is_empty() && word.starts_with(&lower))
        };
        let named = self.sources.agents.iter().chain(&self.sources.resources);
        let others: Vec<&Mention> = named.filter(fits).take(if typed.is_empty() { 3 } else { 8 }).collect();
        let files = match &self.sources.files {
            Some(index) => self.sources.query.search(index, &typed, MOST),
            None => Vec::new(),
        };
        let quoted = |name: &str| match name.contains(char::is_whitespace) {
            true => format!("@\"{name}\""),
            false => format!("@{name}"),
        };
        let mut entries: Vec<MenuEntry> = files
            .into_iter()
            .map(|file| MenuEntry {
                insert: quoted(&file.path),
                after: if file.path.ends_with('/') { After::Inside } else { After::Space },
                detail: String::new(),
                matched: file.matched,
                label: file.path,
            })
            .collect();
        let mentions = others.into_iter().map(|mention| MenuEntry {
            label: mention.name.clone(),
            detail: mention.help.clone(),
            insert: quoted(&mention.name),
            after: After::Space,
            matched: Vec::new(),
        });
        // Files first while nothing is typed; a name that fits is meant before a path that only contains the letters.
        let place = if typed.is_empty() { entries.len().min(5) } else { 0 };
        entries.splice(place..place, mentions);
        let exact = entries.iter().any(|entry| entry.insert == self.buffer.text()[range.clone()]);
        let list = if exact { ListCursor::unselected(entries.len()) } else { ListCursor::new(entries.len()) };
        let empty = match self.sources.files {
            Some(_) => format!("No files match \"{typed}\""),
            None => "Looking at the files…".to_owned(),
        };
        Some(Menu { kind: MenuKind::Mention, range, entries, list, empty })
    }

    /// Takes the chosen entry, or the first if none is chosen.
    pub(super) fn accept_completion(&mut self) {
        if let Some(menu) = &mut self.menu
            && menu.list.selected().is_none()
        {
            menu.list.next();
        }
        self.accept_completion_whole();
    }

    /// Takes the chosen entry. Returns whether the input is whole with it, so that Enter may send it.
    pub(super) fn accept_completion_whole(&mut self) -> bool {
        let Some(menu) = self.menu.take() else { return false };
        let Some(entry) = menu.selected().cloned() else { return false };
        let space = entry.after == After::Space && !self.buffer.text()[menu.range.end..].starts_with(' ');
        let insert = if space { format!("{} ", entry.insert) } else { entry.insert.clone() };
        self.buffer.begin_step();
        self.buffer.replace(menu.range.clone(), &insert);
        self.buffer.begin_step();
        self.last = LastEdit::Other;
        self.history.stop();
        if entry.after == After::Inside || menu.kind == MenuKind::Command {
            self.update_menu();
        } else {
            self.dismissed = Some(menu.range.start);
        }
        self.follow_cursor();
        let needs = |command: &Arc<CommandItem>| command.needs_arguments();
        menu.kind != MenuKind::Command || !self.command(entry.insert.trim_start_matches('/')).is_some_and(needs)
    }

    /// Tab without a menu: completes a shell line, or opens the menu that Esc closed.
    pub(super) fn complete(&mut self) -> Outcome<ComposerEvent> {
        if self.mode != InputMode::Shell {
            self.dismissed = None;
            self.update_menu();
            return if self.menu.is_some() { Outcome::Changed } else { Outcome::Unclaimed };
        }
        let at = self.buffer.cursor();
        let range = shell_word(self.buffer.text(), at);
        let typed = unescaped(&self.buffer.text()[range.clone()]);
        if range.start == 0 && !typed.contains('/') {
            let commands = self.history.shell_commands(&self.buffer.text()[..at], MOST);
            if !commands.is_empty() {
                self.open_shell_menu(
                    MenuKind::ShellHistory,
                    0..self.buffer.text().len(),
                    commands
                        .iter()
                        .map(|command| MenuEntry {
                            label: command.to_string(),
                            detail: String::new(),
                            insert: command.to_string(),
                            after: After::Nothing,
                            matched: Vec::new(),
                        })
                        .collect(),
                );
                return Outcome::Changed;
            }
        }
        let folder = typed.rfind('/').map_or("", |slash| &typed[..=slash]);
        Outcome::Done(ComposerEvent::ListFolder { folder: PathBuf::from(folder), typed: typed.clone() })
    }

    /// Takes what lies in the folder that was asked for. Nothing happens if the text has changed since.
    pub fn offer_paths(&mut self, typed: &str, entries: &[PathEntry]) {
        let range = shell_word(self.buffer.text(), self.buffer.cursor());
        if self.mode != InputMode::Shell || unescaped(&self.buffer.text()[range.clone()]) != typed {
            return;
        }
        let (folder, begin) = typed.split_at(typed.rfind('/').map_or(0, |slash| slash + 1));
        let fits = |entry: &&PathEntry| {
            entry.name.starts_with(begin) && (begin.starts_with('.') || !entry.name.starts_with('.'))
        };
        let mut found: Vec<&PathEntry> = entries.iter().filter(fits).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let insert = |entry: &PathEntry| {
            format!("{}{}", escaped(&format!("{folder}{}", entry.name)), if entry.folder { "/" } else { "" })
        };
        match found.as_slice() {
            [] => {}
            [only] => {
                let with = format!("{}{}", insert(only), if only.folder { "" } else { " " });
                self.replace_word(range, &with);
            }
            [first, ..] => {
                let common = found.iter().fold(first.name.as_str(), |common, entry| common_start(common, &entry.name));
                if common.len() > begin.len() {
                    self.replace_word(range, &escaped(&format!("{folder}{common}")));
                    return;
                }
                let entries = found.iter().take(MOST).map(|entry| MenuEntry {
                    label: format!("{}{}", entry.name, if entry.folder { "/" } else { "" }),
                    detail: String::new(),
                    insert: insert(entry),
                    after: if entry.folder { After::Nothing } else { After::Space },
                    matched: Vec::new(),
                });
                let entries = entries.collect();
                self.open_shell_menu(MenuKind::Path, range, entries);
            }
        }
    }

    fn replace_word(&mut self, range: Range<usize>, with: &str) {
        self.buffer.begin_step();
        self.buffer.replace(range, with);
        self.buffer.begin_step();
        self.last = LastEdit::Other;
        self.after_change();
    }

    fn open_shell_menu(&mut self, kind: MenuKind, range: Range<usize>, entries: Vec<MenuEntry>) {
        let list = ListCursor::new(entries.len());
        self.menu = Some(Menu { kind, range, entries, list, empty: String::new() });
    }
}

fn command_entry(command: &CommandItem) -> MenuEntry {
    let arguments = if command.arguments.is_empty() { String::new() } else { format!(" {}", command.arguments) };
    let aliases = match command.aliases.as_slice() {
        [] => String::new(),
        aliases => format!(" ({})", aliases.join(", ")),
    };
    MenuEntry {
        label: format!("/{}{arguments}", command.name),
        detail: format!("{}{aliases}", command.help),
        insert: format!("/{}", command.name),
        after: After::Space,
        matched: Vec::new(),
    }
}

/// Returns the token from its `@` to the cursor, if there is one.
fn mention(text: &str, at: usize) -> Option<Range<usize>> {
    let line = graphemes::line_start(text, at);
    // A quoted name may contain spaces.
    if let Some(open) = text[line..at].rfind("@\"").map(|open| line + open)
        && !text[open + 2..at].contains('"')
        && begins_word(text, open)
    {
        return Some(open..at);
    }
    let start = text[..at]
        .rfind(char::is_whitespace)
        .map_or(0, |space| space + text[space..].chars().next().map_or(1, char::len_utf8));
    let start = start + text[start..at].find('@')?;
    begins_word(text, start).then_some(start..at)
}

fn begins_word(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | ',' | '"' | '\''))
}

/// Returns the word of a shell line that ends at the cursor; escaped spaces belong to it.
fn shell_word(text: &str, at: usize) -> Range<usize> {
    let mut start = 0;
    let mut chars = text[..at].char_indices();
    while let Some((index, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | '<' | '>' | '=') => {
                start = index + c.len_utf8()
            }
            _ => {}
        }
    }
    start..at
}

fn unescaped(word: &str) -> String {
    let mut plain = String::new();
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    plain
}

fn escaped(word: &str) -> String {
    let special = |c: char| c.is_whitespace() || "\\'\"$`&|;<>()*?[]#!{}".contains(c);
    word.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

fn common_start<'a>(a: &'a str, b: &str) -> &'a str {
    let same = a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y);
    let end = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
    &a[..end]
}
