//! `/import codex|gemini`: takes over MCP servers and instructions that another agent is configured with.
//!
//! Its files are read and never changed. Servers go into the user's settings by the same code as `ona mcp add`;
//! instructions are referred to, not copied.

use super::SessionRunner;
use ona_runtime::mcp::{NewServer, ServerScope, add};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

impl SessionRunner<'_> {
    pub(super) fn import(&self, rest: &str) -> Result<String, String> {
        let mut words = rest.split_whitespace();
        let from = words.next().unwrap_or_default();
        let (mut dry, mut unknown) = (false, None);
        for word in words {
            match word {
                "--dry-run" => dry = true,
                "--yes" => {}
                other => unknown = Some(other.to_owned()),
            }
        }
        if let Some(other) = unknown {
            return Err(format!("/import does not know {other}; it knows --dry-run and --yes"));
        }
        let home = self.home();
        let found = match from {
            "codex" => codex(&home)?,
            "gemini" => gemini(&home)?,
            "" => return Err("say from where: /import codex, or /import gemini".to_owned()),
            other => return Err(format!("/import knows codex and gemini, not {other}")),
        };
        if found.servers.is_empty() && found.instructions.is_none() {
            return Ok(format!("Nothing to take over was found in {}", found.file.display()));
        }
        let mut text = String::new();
        for (name, definition) in &found.servers {
            if dry {
                writeln!(text, "- MCP server **{name}** would be added").unwrap_or_default();
                continue;
            }
            let new = NewServer { name: name.clone(), scope: ServerScope::User, definition: definition.clone() };
            match add(self.parts.launch, &new) {
                Ok(added) => writeln!(text, "- MCP server **{name}** is added to {}", added.file.display()),
                Err(failure) => writeln!(text, "- MCP server **{name}** is left out: {}", failure.message),
            }
            .unwrap_or_default();
        }
        if let Some(file) = &found.instructions {
            match dry {
                true => writeln!(text, "- the instructions in {} would be used", file.display()).unwrap_or_default(),
                false => match refer_to(&home, file) {
                    Ok(true) => writeln!(text, "- ~/.ona/CLAUDE.md refers to {}", file.display()).unwrap_or_default(),
                    Ok(false) => {
                        writeln!(text, "- ~/.ona/CLAUDE.md refers to {} already", file.display()).unwrap_or_default();
                    }
                    Err(error) => return Err(format!("{text}\n~/.ona/CLAUDE.md could not be written: {error}")),
                },
            }
        }
        if !dry {
            text.push_str("\nIt counts from the next start.");
        }
        Ok(text)
    }
}

/// What another agent is configured with.
#[derive(Debug, PartialEq)]
struct Found {
    file: PathBuf,
    servers: Vec<(String, Value)>,
    instructions: Option<PathBuf>,
}

fn gemini(home: &Path) -> Result<Found, String> {
    let folder = home.join(".gemini");
    let file = folder.join("settings.json");
    let mut servers = Vec::new();
    if let Ok(text) = std::fs::read_to_string(&file) {
        let value: Value =
            serde_json::from_str(&text).map_err(|error| format!("{} is not valid JSON: {error}", file.display()))?;
        for (name, definition) in value["mcpServers"].as_object().into_iter().flatten() {
            servers.push((name.clone(), of_gemini(definition)));
        }
    }
    let instructions = Some(folder.join("GEMINI.md")).filter(|file| file.is_file());
    Ok(Found { file, servers, instructions })
}

/// Its `httpUrl` is streamable HTTP, and its `url` server-sent events.
fn of_gemini(definition: &Value) -> Value {
    let mut taken = Map::new();
    let address = [("httpUrl", "http"), ("url", "sse")].into_iter().find(|(key, _)| definition[*key].is_string());
    if let Some((key, kind)) = address {
        taken.insert("type".into(), kind.into());
        taken.insert("url".into(), definition[key].clone());
    }
    for key in ["command", "args", "env", "headers"] {
        if !definition[key].is_null() {
            taken.insert(key.into(), definition[key].clone());
        }
    }
    Value::Object(taken)
}

fn codex(home: &Path) -> Result<Found, String> {
    let folder = home.join(".codex");
    let file = folder.join("config.toml");
    let servers = match std::fs::read_to_string(&file) {
        Ok(text) => servers_of_toml(&text).map_err(|why| format!("{}: {why}", file.display()))?,
        Err(_) => Vec::new(),
    };
    let instructions = Some(folder.join("AGENTS.md")).filter(|file| file.is_file());
    Ok(Found { file, servers, instructions })
}

/// The tables `mcp_servers.NAME` of a TOML file: strings, lists of strings and inline tables of strings.
/// What is written in another way is an error and never half a definition.
fn servers_of_toml(text: &str) -> Result<Vec<(String, Value)>, String> {
    let mut servers: Vec<(String, Map<String, Value>)> = Vec::new();
    let mut place: Option<(String, bool)> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(head) = line.strip_prefix('[').and_then(|line| line.split_once(']')).map(|(head, _)| head.trim()) {
            place = head.strip_prefix("mcp_servers.").map(|name| match name.strip_suffix(".env") {
                Some(name) => (name.trim_matches('"').to_owned(), true),
                None => (name.trim_matches('"').to_owned(), false),
            });
            if let Some((name, _)) = &place
                && !servers.iter().any(|(known, _)| known == name)
            {
                servers.push((name.clone(), Map::new()));
            }
            continue;
        }
        let Some((name, in_env)) = &place else { continue };
        let unreadable = || format!("line {} cannot be read: {line}", number + 1);
        let (key, value) = line.split_once('=').ok_or_else(unreadable)?;
        let key = key.trim().trim_matches('"');
        let wanted = *in_env || matches!(key, "command" | "args" | "env" | "url" | "http_headers");
        if !wanted {
            continue;
        }
        let value = toml_value(value.trim()).ok_or_else(unreadable)?;
        let Some((_, fields)) = servers.iter_mut().find(|(known, _)| known == name) else { continue };
        if *in_env {
            fields.entry("env").or_insert_with(|| json!({}))[key] = value;
        } else if key == "url" {
            fields.insert("type".into(), "http".into());
            fields.insert("url".into(), value);
        } else {
            fields.insert(if key == "http_headers" { "headers" } else { key }.to_owned(), value);
        }
    }
    Ok(servers
        .into_iter()
        .filter(|(_, fields)| !fields.is_empty())
        .map(|(name, fields)| (name, fields.into()))
        .collect())
}

/// A basic or literal string, a list of strings, an inline table of strings. These differ from JSON only in
/// single quotes and `=`.
fn toml_value(text: &str) -> Option<Value> {
    let mut json = String::new();
    let mut chars = text.chars().peekable();
    let mut depth = 0i32;
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                json.push('"');
                loop {
                    let c = chars.next()?;
                    json.push(c);
                    match c {
                        '\\' => json.push(chars.next()?),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '\'' => {
                let literal: String = chars.by_ref().take_while(|c| *c != '\'').collect();
                json.push_str(&Value::String(literal).to_string());
            }
            '#' if depth == 0 => break,
            '=' => json.push(':'),
            '[' | '{' => {
                depth += 1;
                json.push(c);
            }
            ']' | '}' => {
                depth -= 1;
                // TOML takes a comma at the end of a list.
                while json.ends_with([' ', ',']) {
                    json.pop();
                }
                json.push(c);
            }
            c if c.is_alphanumeric() || matches!(c, '_' | '-') => {
                let mut word = c.to_string();
                while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) {
                    word.push(next);
                }
                // Only a key may stand without quotes.
                while chars.next_if(|c| *c == ' ').is_some() {}
                if chars.peek() != Some(&'=') {
                    return None;
                }
                json.push_str(&Value::String(word).to_string());
            }
            c => json.push(c),
        }
    }
    let value: Value = serde_json::from_str(json.trim()).ok()?;
    let texts = match &value {
        Value::String(_) => true,
        Value::Array(items) => items.iter().all(Value::is_string),
        Value::Object(fields) => fields.values().all(Value::is_string),
        _ => false,
    };
    texts.then_some(value)
}

/// Adds a line to the user's instructions that brings the file in. `false`: it is there already.
fn refer_to(home: &Path, file: &Path) -> std::io::Result<bool> {
    let own = home.join(".ona/CLAUDE.md");
    let line = match file.strip_prefix(home) {
        Ok(below) => format!("@~/{}", below.display()),
        Err(_) => format!("@{}", file.display()),
    };
    let mut text = match std::fs::read_to_string(&own) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    if text.lines().any(|written| written.trim() == line) {
        return Ok(false);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("{line}\n"));
    std::fs::create_dir_all(home.join(".ona"))?;
    std::fs::write(own, text)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_a_toml_file_are_read_or_refused() {
        let text = "model = \"o3\"\n[mcp_servers.docs]\ncommand = \"npx\" # runs it\nargs = [\"-y\", 'docs-server',]\n\
                    startup_timeout_sec = 20\n[mcp_servers.docs.env]\nLEVEL = \"debug\"\n[mcp_servers.\"web site\"]\n\
                    url = \"https://example.com/mcp\"\n[other]\ncommand = \"x\"\n";
        let expected = vec![
            ("docs".to_owned(), json!({"command": "npx", "args": ["-y", "docs-server"], "env": {"LEVEL": "debug"}})),
            ("web site".to_owned(), json!({"type": "http", "url": "https://example.com/mcp"})),
        ];
        assert_eq!(servers_of_toml(text), Ok(expected));
        for bad in ["[mcp_servers.a]\ncommand = \"\"\"x", "[mcp_servers.a]\nargs = [1]", "[mcp_servers.a]\ncommand"] {
            assert!(servers_of_toml(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn inline_tables_are_read() {
        assert_eq!(toml_value("{ A = \"1\", B = 'x y' }"), Some(json!({"A": "1", "B": "x y"})));
        assert_eq!(toml_value("true"), None, "only texts are taken over");
        assert_eq!(toml_value("["), None);
    }
}
