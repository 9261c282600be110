//! `ona plugin`: installs, lists, shows, switches and removes plugins.

use crate::args::Plugin;
use crate::output;
use ona_runtime::plugins::{self, Candidate, ListedPlugin};
use ona_runtime::{Failure, Launch};
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal, stdin};

pub(crate) fn run(launch: &Launch, command: &Plugin, yes: bool) -> Result<u8, Failure> {
    match command {
        Plugin::Install { source, json } => install(launch, source, yes, *json),
        Plugin::List { json } => {
            let listed = plugins::list(launch)?;
            match json {
                true => output::json(&json!(listed)),
                false if listed.is_empty() => output::note("No plugins are installed."),
                false => listed.iter().for_each(|one| output::line(clean(&line(one)))),
            }
            Ok(0)
        }
        Plugin::Show { name, json } => {
            let contents = plugins::show(launch, name)?;
            match json {
                true => output::json(&json!(contents)),
                false => output::line(clean(&contents.words())),
            }
            Ok(0)
        }
        Plugin::Enable { id, json } => switch(launch, id, true, *json),
        Plugin::Disable { id, json } => switch(launch, id, false, *json),
        Plugin::Remove { id, json } => {
            let data = plugins::remove(launch, id)?;
            answer(*json, json!({"removed": id}), &format!("Removed {id}."));
            if data.exists() {
                output::note(format_args!("ona: what the plugin has stored stays in {}", data.display()));
            }
            Ok(0)
        }
    }
}

/// What it brings is shown before anything is installed.
fn install(launch: &Launch, source: &str, yes: bool, as_json: bool) -> Result<u8, Failure> {
    let candidate = plugins::fetch(launch, source)?;
    if !as_json {
        output::line(clean(&candidate.contents.words()));
        if let Some(before) = &candidate.before {
            let changed = if *before == candidate.contents.sha256 { "the same files" } else { "other files" };
            output::line(format_args!("It is installed already, with {changed}."));
        }
    }
    if !yes && !confirmed(&candidate) {
        let contents = json!(candidate.contents);
        plugins::discard(candidate);
        if as_json {
            output::json(&json!({"installed": false, "contents": contents}));
        }
        return Err(Failure::refused("nothing was installed, because nobody has confirmed it")
            .hint(format!("ona plugin install {source} --yes")));
    }
    let contents = json!(candidate.contents);
    let installed = plugins::install(launch, candidate)?;
    answer(
        as_json,
        json!({"installed": true, "plugin": installed, "contents": contents}),
        &format!("Installed {}. It counts from the next start.", installed.id),
    );
    Ok(0)
}

fn confirmed(candidate: &Candidate) -> bool {
    if !stdin().is_terminal() {
        return false;
    }
    output::note(format_args!("Install {} and run this from now on? [y/N]", candidate.contents.id));
    let mut answer = String::new();
    // What cannot be read is not a yes.
    stdin().lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn switch(launch: &Launch, id: &str, on: bool, as_json: bool) -> Result<u8, Failure> {
    plugins::switch(launch, id, on)?;
    let done = if on { "Enabled" } else { "Disabled" };
    answer(as_json, json!({"id": id, "enabled": on}), &format!("{done} {id}. It counts from the next start."));
    Ok(0)
}

fn answer(as_json: bool, value: Value, words: &str) {
    match as_json {
        true => output::json(&value),
        false => output::line(words),
    }
}

fn line(plugin: &ListedPlugin) -> String {
    let on = if plugin.enabled { "enabled" } else { "disabled" };
    format!("{}  {on}  {}  {}  {}", plugin.id, plugin.state, &plugin.sha256[..12], plugin.source)
}

/// Texts of a plugin are not ours: nothing in them moves the cursor.
fn clean(text: &str) -> String {
    text.lines().map(ona_permissions::printable).collect::<Vec<_>>().join("\n")
}
