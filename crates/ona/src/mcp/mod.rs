//! `ona mcp`: configures MCP servers, shows what is configured, and logs in to servers. No server is
//! started to be looked at. What the commands do is in `ona_runtime::mcp`.

mod args;
mod login;

pub(crate) use args::Command;

use crate::output;
use args::{AddOptions, ServerArgs};
use ona_api::Redactor;
use ona_mcp::{Environments, ServerDefinition};
use ona_runtime::mcp::{
    Choice, Gathered, NewServer, ServerScope, add, choose, configured, forget_choices, gather, remove, unknown_server,
};
use ona_runtime::{Failure, Launch, Purpose};
use serde_json::{Value, json};

pub(crate) fn run(launch: &Launch, command: Command) -> Result<u8, Failure> {
    match command {
        Command::Add(options) => {
            let (definition, remark) = options.definition()?;
            let AddOptions { server, .. } = options;
            added(launch, server, definition, remark)
        }
        Command::AddJson { server, definition } => {
            let text = if definition == "-" { crate::auth::short_text()? } else { definition };
            let definition = serde_json::from_str(&text)
                .map_err(|error| Failure::usage(format_args!("the definition is not valid JSON: {error}")))?;
            added(launch, server, definition, None)
        }
        Command::Remove { name, scope, json } => {
            let removed = remove(launch, &name, scope.map(ServerScope::from))?;
            let scope = removed.scope.as_str();
            if json {
                output::json(&json!({"name": name, "removed": true, "scope": scope, "file": removed.file}));
            } else {
                output::line(format_args!(
                    "Removed the MCP server {name} from the {scope} scope ({})",
                    removed.file.display()
                ));
            }
            Ok(0)
        }
        Command::Approve { name, json } => chosen(launch, &name, Choice::Approved, json),
        Command::Reject { name, json } => chosen(launch, &name, Choice::Rejected, json),
        Command::ResetProjectChoices => {
            launch.never_from_an_agent("MCP servers")?;
            forget_choices(launch, &launch.open()?)?;
            output::line("All decisions about the MCP servers of this project are forgotten.");
            Ok(0)
        }
        Command::List { json } => list(launch, json),
        Command::Get { name, json } => get(launch, &name, json),
        Command::Login(options) => login::log_in(launch, &options),
        Command::Logout { name, json } => login::log_out(launch, &name, json),
    }
}

fn added(launch: &Launch, server: ServerArgs, definition: Value, remark: Option<String>) -> Result<u8, Failure> {
    let ServerArgs { name, scope, json } = server;
    let new = NewServer { name, scope: scope.into(), definition };
    let added = add(launch, &new)?;
    // How the next start will take it.
    let (gathered, redactor) = looked(launch)?;
    let shown = configured(launch, &gathered).into_iter().find(|one| one["name"] == new.name.as_str());
    let mut remarks: Vec<_> = remark.into_iter().chain(added.remarks).collect();
    let status = shown.as_ref().and_then(|one| one["status"].as_str()).unwrap_or("not used");
    if let Some(why) = shown.as_ref().and_then(|one| one["why"].as_str()) {
        remarks.push(format!("it is {status}: {why}"));
    } else if shown.is_none() && remarks.is_empty() {
        remarks
            .push("it is not used: this database has settings of its own (ona settings import reads the files)".into());
    }
    let scope = new.scope.as_str();
    if json {
        output::json(&json!({
            "name": new.name, "scope": scope, "file": added.file, "status": status, "remarks": remarks,
        }));
    } else {
        let endpoint = shown.as_ref().and_then(|one| one["endpoint"].as_str()).map(|one| format!(": {one}"));
        let line = format!("Added the MCP server {} to the {scope} scope{}", new.name, endpoint.unwrap_or_default());
        output::line(redactor.apply(&line));
        output::line(format_args!("File: {}", added.file.display()));
        remarks.iter().for_each(|remark| output::note(redactor.apply(&format!("ona: {remark}"))));
    }
    Ok(0)
}

fn chosen(launch: &Launch, name: &str, choice: Choice, as_json: bool) -> Result<u8, Failure> {
    launch.never_from_an_agent("MCP servers")?;
    let looked = launch.look()?;
    if choice == Choice::Approved && !launch.trusts(&looked, &launch.project) {
        let failure = Failure::refused("this folder is not trusted, so none of its MCP servers is used");
        return Err(failure.hint("trust the folder first: ona --trust ..., or ona mcp list --trust"));
    }
    choose(launch, &launch.open()?, name, choice)?;
    if as_json {
        output::json(&json!({"name": name, "choice": choice.as_str()}));
    } else {
        output::line(format_args!("The MCP server {name} of .mcp.json is {}.", choice.as_str()));
    }
    Ok(0)
}

fn list(launch: &Launch, as_json: bool) -> Result<u8, Failure> {
    let (gathered, redactor) = looked(launch)?;
    let clean = |text: String| redactor.apply(&text).into_owned();
    let servers = configured(launch, &gathered);
    if as_json {
        output::line(clean(Value::Array(servers).to_string()));
        return Ok(0);
    }
    if servers.is_empty() {
        output::note("No MCP servers. ona mcp add NAME COMMAND [ARGS...] adds one.");
    }
    for server in servers {
        let word = |key: &str| server[key].as_str().unwrap_or_default().to_owned();
        output::line(clean(format!("{}  {}  {}  {}", word("name"), word("status"), word("origin"), word("endpoint"))));
    }
    gathered.sentences().into_iter().for_each(|sentence| output::note(clean(format!("ona: {sentence}"))));
    Ok(0)
}

fn get(launch: &Launch, name: &str, as_json: bool) -> Result<u8, Failure> {
    let (gathered, redactor) = looked(launch)?;
    let clean = |text: String| redactor.apply(&text).into_owned();
    let servers = configured(launch, &gathered);
    let Some(server) = servers.iter().find(|server| server["name"] == name) else {
        return Err(unknown_server(name, servers.iter().filter_map(|server| server["name"].as_str())));
    };
    if as_json {
        output::line(clean(server.to_string()));
    } else {
        for (key, value) in server.as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output::line(clean(format!("{key:<12} {value}")));
        }
    }
    Ok(0)
}

/// What the next start would use, and a redactor that knows its secrets.
fn looked(launch: &Launch) -> Result<(Gathered, Redactor), Failure> {
    let open = launch.look()?;
    let settings = launch.effective(&open, Purpose::Look)?;
    let gathered = gather(launch, &open, &settings, &launch.project, &Environments::one(&launch.env))?;
    for (name, secret) in gathered.catalog.definitions.iter().flat_map(ServerDefinition::secrets) {
        open.redactor.learn(name, secret);
    }
    Ok((gathered, open.redactor.clone()))
}
