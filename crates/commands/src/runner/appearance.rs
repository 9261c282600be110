//! How the terminal looks and is used: themes, colours, the status line, keys.
//!
//! Here is what is chosen and where it is kept; the screen does it.

use super::SessionRunner;
use super::answers::Said;
use crate::screen::{CommandQuestion, CommandReply, ScreenAction, ScreenEntry, SettingScope};
use ona_api::environment;
use ona_settings::StatusLineSettings;
use serde_json::json;
use std::path::PathBuf;

/// Name and help of every theme, as the setting `theme` has it.
const THEMES: [(&str, &str); 5] = [
    ("auto", "the colours of your terminal"),
    ("dark", "lighter colours for a dark background"),
    ("light", "darker colours for a light background"),
    ("16", "only the 16 colours every terminal has"),
    ("plain", "no colours; bold, dim and marks stay"),
];

/// Colours around the composer.
const COLOURS: [&str; 8] = ["default", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/// A keybindings file to begin with.
const KEYBINDINGS: &str = "{\n  \"bindings\": [\n    {\n      \"context\": \"Chat\",\n      \"bindings\": {\n        \
                           \"ctrl+e\": \"chat:externalEditor\"\n      }\n    }\n  ]\n}\n";

impl SessionRunner<'_> {
    /// `/theme [NAME]`
    pub(super) async fn theme(&mut self, rest: &str) -> Said {
        let name = if rest.is_empty() {
            let now = self.parts.runtime.settings.terminal.theme.clone().unwrap_or_else(|| "auto".to_owned());
            let entries = THEMES.iter().map(|(name, help)| ScreenEntry {
                label: (*name).to_owned(),
                detail: (*help).to_owned(),
                page: format!("theme:{name}"),
                actions: Vec::new(),
            });
            let at = THEMES.iter().position(|(name, _)| *name == now).unwrap_or_default();
            let question = CommandQuestion::Pick {
                title: "Theme".to_owned(),
                empty: String::new(),
                entries: entries.collect(),
                at,
            };
            match self.ask(question).await {
                Some(CommandReply::Chosen(at)) => THEMES.get(at).map_or("auto", |(name, _)| name).to_owned(),
                _ => return Ok(Ok(String::new())),
            }
        } else {
            rest.to_owned()
        };
        let Some((name, _)) = THEMES.iter().find(|(known, _)| *known == name) else {
            let known = THEMES.map(|(name, _)| name).join(", ");
            return Ok(Err(format!("theme {name} does not exist; the themes are {known}")));
        };
        Ok(match self.write_setting(SettingScope::User, "theme", Some(json!(name))).await? {
            Ok(words) => {
                self.parts.runtime.settings.terminal.theme = Some((*name).to_owned());
                Ok(words)
            }
            Err(failure) => Self::failed(&failure),
        })
    }

    /// `/color [NAME]`: for this session.
    pub(super) async fn colour(&mut self, rest: &str) -> Said {
        let name = if rest.is_empty() {
            let options = COLOURS.map(|name| (name, ""));
            match self.choose("Colour of the lines around the composer", String::new(), &options).await {
                Some(at) => COLOURS[at.min(COLOURS.len() - 1)],
                None => return Ok(Ok(String::new())),
            }
        } else {
            match COLOURS.into_iter().find(|name| *name == rest) {
                Some(name) => name,
                None => {
                    return Ok(Err(format!("colour {rest} does not exist; the colours are {}", COLOURS.join(", "))));
                }
            }
        };
        let colour = (name != "default").then(|| name.to_owned());
        Ok(self.act(ScreenAction::Colour(colour)))
    }

    /// `/statusline [COMMAND|off]`
    pub(super) async fn status_line(&mut self, rest: &str) -> Said {
        let now = self.parts.runtime.settings.status_line.value.clone();
        let value = match rest {
            "" => {
                return Ok(Ok(match now {
                    Some(line) => format!(
                        "The status line runs `{}`, with JSON about the session on its stdin. `/statusline off` removes it.",
                        line.command
                    ),
                    None => {
                        "You have no status line of your own. `/statusline COMMAND` runs a command with JSON about \
                             the session on its stdin and shows what it prints."
                            .to_owned()
                    }
                }));
            }
            "off" | "delete" | "remove" => None,
            command => Some(json!({"type": "command", "command": command})),
        };
        let command = value.as_ref().map(|_| rest.to_owned());
        Ok(match self.write_setting(SettingScope::User, "statusLine", value).await? {
            Ok(_) => {
                self.parts.runtime.settings.status_line.value =
                    command.clone().map(|command| StatusLineSettings { command, padding: 0, refresh: None });
                self.act(ScreenAction::StatusLine(command.clone())).map(|_| match command {
                    Some(command) => format!("The status line runs `{command}` from now on."),
                    None => "Your status line is removed.".to_owned(),
                })
            }
            Err(failure) => Self::failed(&failure),
        })
    }

    /// `/keybindings`: opens the file, with something to begin with if it does not exist.
    pub(super) fn keybindings(&self) -> Result<String, String> {
        let env = &self.parts.launch.env;
        let config = env.non_empty(environment::CLAUDE_CONFIG_DIR).map(PathBuf::from).filter(|dir| dir.is_absolute());
        let folder = config.unwrap_or_else(|| self.home().join(".claude"));
        let file = folder.join("keybindings.json");
        if !file.exists() {
            let failed = |error: std::io::Error| format!("{} could not be written: {error}", file.display());
            std::fs::create_dir_all(&folder).map_err(failed)?;
            std::fs::write(&file, KEYBINDINGS).map_err(failed)?;
        }
        self.act(ScreenAction::Edit(file))
    }

    /// `/terminal-setup`
    pub(super) fn terminal_setup(&self) -> String {
        let env = &self.parts.launch.env;
        let program = env.get(environment::TERM_PROGRAM).unwrap_or_default();
        let inside_tmux = env.is_set(environment::TMUX);
        let mut text = "Ctrl+J writes a new line in every terminal, and so does `\\` before Enter.\n\n".to_owned();
        text.push_str(match program {
            "Apple_Terminal" => {
                "Terminal.app does not tell Shift+Enter from Enter. Settings, Profiles, Keyboard: switch on \"Use Option \
                 as Meta key\", and Option+Enter writes a new line."
            }
            "vscode" => {
                "For Shift+Enter in VS Code, add a key binding for the command `workbench.action.terminal.sendSequence` \
                 with the text `\\u001b\\r`."
            }
            "iTerm.app" | "WezTerm" | "ghostty" | "kitty" | "rio" => {
                "This terminal reports Shift+Enter by itself; nothing has to be set up."
            }
            _ => {
                "Whether Shift+Enter works depends on the terminal: ona asks it to report keys unambiguously (the kitty \
                 protocol). Where it does not, Alt+Enter works."
            }
        });
        if inside_tmux {
            text.push_str(
                "\n\nInside of tmux, add to ~/.tmux.conf:\n\n```\nset -s extended-keys on\nset -as terminal-features \
                 'xterm*:extkeys'\nset -s set-clipboard on\n```",
            );
        }
        text
    }
}
