//! `/mcp` and `/plugin`: what comes from outside, looked at and switched.

use super::SessionRunner;
use super::answers::{Said, listed};
use crate::screen::{CommandQuestion, CommandReply, CommandScreen, ScreenEntry};
use ona_mcp::{McpServer, ServerStatus, ServerTransport};
use ona_permissions::printable;
use ona_runtime::login::{LoginFront, LoginStep};
use ona_runtime::mcp::{self, Choice, ServerLogin};
use ona_runtime::{Failure, plugins};
use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl SessionRunner<'_> {
    /// `/mcp`, `/mcp reconnect NAME`, `/mcp enable|disable NAME|all`, `/mcp approve|reject NAME`, `/mcp login|logout NAME`
    pub(super) async fn mcp(&mut self, rest: &str) -> Said {
        let (verb, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let name = name.trim();
        match verb {
            "" if self.has_person() => self.mcp_view().await,
            "" => Ok(Ok(self.servers())),
            "enable" | "disable" if name.is_empty() || name == "all" => {
                for server in self.parts.runtime.mcp.servers.list() {
                    self.act_on_server(verb, &server).await?.unwrap_or_default();
                }
                Ok(Ok(self.servers()))
            }
            "reconnect" | "enable" | "disable" | "approve" | "reject" | "login" | "logout" => {
                match self.parts.runtime.mcp.servers.find(name) {
                    Some(server) => self.act_on_server(verb, &server).await,
                    None if matches!(verb, "approve" | "reject") && !name.is_empty() => Ok(self.decide(name, verb)),
                    None => {
                        let known = self.parts.runtime.mcp.servers.list();
                        let known = known.iter().map(|server| server.definition.name.as_str());
                        Ok(Self::failed(&mcp::unknown_server(name, known)))
                    }
                }
            }
            other => Ok(Err(format!(
                "/mcp does not know {other}; it knows reconnect, enable, disable, approve, reject, login and logout"
            ))),
        }
    }

    async fn mcp_view(&mut self) -> Said {
        let mut open = None;
        loop {
            let servers = self.parts.runtime.mcp.servers.list();
            let undecided = self.parts.runtime.mcp.undecided().to_vec();
            let entries = servers.iter().map(|server| server_entry(server, &undecided)).collect();
            let question = CommandQuestion::Browse {
                title: "MCP servers".to_owned(),
                empty: "No MCP servers are configured; ona mcp add NAME adds one".to_owned(),
                entries,
                open: open.take(),
            };
            let Some(CommandReply::Act { entry, letter }) = self.ask(question).await else { break };
            let Some(server) = servers.get(entry) else { continue };
            open = Some(entry);
            let verb = match letter {
                'r' => "reconnect",
                'd' => "disable",
                'e' => "enable",
                'a' => "approve",
                'x' => "reject",
                'l' => "login",
                'o' => "logout",
                _ => continue,
            };
            if let Err(why) = self.act_on_server(verb, server).await? {
                self.parts.observer.note(&why);
            }
        }
        Ok(Ok(String::new()))
    }

    async fn act_on_server(&mut self, verb: &str, server: &Arc<McpServer>) -> Said {
        let servers = Arc::clone(&self.parts.runtime.mcp.servers);
        let name = server.definition.name.clone();
        match verb {
            "reconnect" | "enable" => {
                servers.reconnect(server).await;
                let status = server.status();
                Ok(match status.error() {
                    Some(error) => Err(format!("{name}: {} ({})", status.as_str(), printable(error))),
                    None => Ok(format!("{name}: {}, {} tools.", status.as_str(), server.offered().len())),
                })
            }
            "disable" => {
                servers.switch_off(server).await;
                Ok(Ok(format!("{name} is switched off for this run.")))
            }
            "approve" => Ok(self.decide(&name, verb)),
            "reject" => {
                let said = self.decide(&name, verb);
                if said.is_ok() {
                    servers.switch_off(server).await;
                }
                Ok(said)
            }
            "login" => self.server_login(server).await,
            _ => {
                let done = mcp::log_out(self.parts.launch, &server.definition, &self.session.cx.cancel).await;
                Ok(match done {
                    Ok(report) if report.removed => Ok(format!("Logged out of {name}.")),
                    Ok(_) => Ok(format!("No login to {name} was stored.")),
                    Err(failure) => Self::failed(&failure),
                })
            }
        }
    }

    /// Records what the operator decided about a server of the project's file.
    fn decide(&self, name: &str, verb: &str) -> Result<String, String> {
        let (launch, open) = (self.parts.launch, self.parts.open);
        let choice = if verb == "approve" { Choice::Approved } else { Choice::Rejected };
        let chosen = launch.never_from_an_agent("MCP servers").and_then(|()| mcp::choose(launch, open, name, choice));
        match chosen {
            Ok(()) => Ok(format!("{name} is {}.", choice.as_str())),
            Err(failure) => Self::failed(&failure),
        }
    }

    async fn server_login(&mut self, server: &Arc<McpServer>) -> Said {
        let cancel = self.session.cx.cancel.child_token();
        let observer = Arc::clone(&self.parts.observer);
        let mut front = ServerFront {
            note: Box::new(move |text: &str| observer.note(text)),
            person: self.parts.person.clone(),
            cancel: cancel.clone(),
        };
        let how = ServerLogin { secret: None, open_browser: true };
        if let Err(failure) = mcp::log_in(self.parts.launch, &server.definition, how, &mut front, &cancel).await {
            return Ok(Self::failed(&failure));
        }
        self.parts.runtime.mcp.servers.reconnect(server).await;
        Ok(Ok(format!("Logged in to {}; it is {}.", server.definition.name, server.status().as_str())))
    }

    pub(super) fn servers(&self) -> String {
        let servers = self.parts.runtime.mcp.servers.list();
        let line = |server: &Arc<McpServer>| {
            let status = server.status();
            let error = status.error().map(|error| format!(": {error}")).unwrap_or_default();
            format!("- **{}** {}{error}, {} tools", server.definition.name, status.as_str(), server.offered().len())
        };
        listed(servers.iter().map(line), "No MCP servers are configured.")
    }

    /// `/plugin [list|install SOURCE|enable|disable|remove|show NAME]`
    pub(super) async fn plugin(&mut self, rest: &str) -> Said {
        let (verb, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let name = name.trim();
        let launch = self.parts.launch;
        if name.is_empty() && !matches!(verb, "" | "list") {
            return Ok(Err(format!("/plugin {verb} needs a name")));
        }
        let said = match verb {
            "" if self.has_person() => return self.plugin_view().await,
            "" | "list" => plugins::list(launch).map(|listed| plugin_list(&listed)),
            "show" => plugins::show(launch, name).map(|contents| fenced(&contents.words())),
            "enable" => plugins::switch(launch, name, true).map(|()| format!("Enabled {name}. {COUNTS}")),
            "disable" => plugins::switch(launch, name, false).map(|()| format!("Disabled {name}. {COUNTS}")),
            "remove" => plugins::remove(launch, name).map(|_| format!("Removed {name}. {COUNTS}")),
            "install" => return self.install_plugin(name).await,
            other => Err(Failure::usage(format_args!(
                "/plugin does not know {other}; it knows list, install, enable, disable, remove and show"
            ))),
        };
        Ok(match said {
            Ok(text) => Ok(text),
            Err(failure) => Self::failed(&failure),
        })
    }

    /// What a plugin brings is shown before it is installed.
    async fn install_plugin(&mut self, source: &str) -> Said {
        let launch = self.parts.launch;
        let candidate = match plugins::fetch(launch, source) {
            Ok(candidate) => candidate,
            Err(failure) => return Ok(Self::failed(&failure)),
        };
        let words = candidate.contents.words();
        let title = format!("Install {} and run this from now on?", printable(&candidate.contents.id));
        let yes = self.has_person()
            && self.choose(&title, fenced(&words), &[("Yes, install it", ""), ("No", "")]).await == Some(0);
        if !yes {
            plugins::discard(candidate);
            return Ok(match self.has_person() {
                true => Ok("Nothing was installed.".to_owned()),
                false => Err(format!(
                    "{}\n\nnothing was installed, because nobody has confirmed it: ona plugin install {source} --yes",
                    fenced(&words)
                )),
            });
        }
        Ok(match plugins::install(launch, candidate) {
            Ok(installed) => Ok(format!("Installed {}. {COUNTS}", installed.id)),
            Err(failure) => Self::failed(&failure),
        })
    }

    async fn plugin_view(&mut self) -> Said {
        let mut open = None;
        let mut changed = false;
        loop {
            let listed = match plugins::list(self.parts.launch) {
                Ok(listed) => listed,
                Err(failure) => return Ok(Self::failed(&failure)),
            };
            let entry = |one: &plugins::ListedPlugin| {
                let page = plugins::show(self.parts.launch, &one.id).map(|contents| fenced(&contents.words()));
                let switch = if one.enabled { ('d', "disable") } else { ('e', "enable") };
                ScreenEntry {
                    label: printable(&one.id),
                    detail: format!("{} · {}", if one.enabled { "enabled" } else { "disabled" }, printable(&one.state)),
                    page: page.unwrap_or_else(|failure| failure.message),
                    actions: [switch, ('x', "remove")].map(|(letter, word)| (letter, word.to_owned())).to_vec(),
                }
            };
            let question = CommandQuestion::Browse {
                title: "Plugins".to_owned(),
                empty: "No plugins are installed; /plugin install FOLDER, or an address of a git repository".to_owned(),
                entries: listed.iter().map(entry).collect(),
                open: open.take(),
            };
            let Some(CommandReply::Act { entry, letter }) = self.ask(question).await else { break };
            let Some(one) = listed.get(entry) else { continue };
            let done = match letter {
                'x' => plugins::remove(self.parts.launch, &one.id).map(drop),
                _ => plugins::switch(self.parts.launch, &one.id, letter == 'e'),
            };
            match done {
                Ok(()) => changed = true,
                Err(failure) => self.parts.observer.note(&failure.message),
            }
            open = (letter != 'x').then_some(entry);
        }
        Ok(Ok(if changed { COUNTS.to_owned() } else { String::new() }))
    }
}

const COUNTS: &str = "It counts from the next start; /reload-plugins starts this session anew.";

fn plugin_list(listed: &[plugins::ListedPlugin]) -> String {
    if listed.is_empty() {
        return "No plugins are installed.".to_owned();
    }
    let line = |one: &plugins::ListedPlugin| {
        let on = if one.enabled { "enabled" } else { "disabled" };
        format!("- **{}** {on}, {}, from {}", printable(&one.id), printable(&one.state), printable(&one.source))
    };
    listed.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Texts of a plugin are not ours: nothing in them moves the cursor or looks like a sentence of ours.
fn fenced(text: &str) -> String {
    let clean: Vec<_> = text.lines().map(printable).collect();
    format!("```\n{}\n```", clean.join("\n").replace("```", "'''"))
}

fn server_entry(server: &Arc<McpServer>, undecided: &[String]) -> ScreenEntry {
    let (definition, status, tools) = (&server.definition, server.status(), server.offered());
    let waits = undecided.contains(&definition.name);
    let mut page = format!("- state: {}", status.as_str());
    if let Some(error) = status.error() {
        write!(page, ": {}", printable(error)).unwrap_or_default();
    }
    match &definition.endpoint {
        ServerTransport::Stdio { command, args, .. } => {
            let line = format!("{command} {}", args.join(" "));
            write!(page, "\n- command: `{}`", printable(line.trim())).unwrap_or_default();
        }
        ServerTransport::Http(endpoint) => {
            write!(page, "\n- address: `{}`", printable(&endpoint.url)).unwrap_or_default();
        }
        ServerTransport::Host => page.push_str("\n- of the program that drives ona"),
    }
    write!(page, "\n- from: {}", definition.origin.as_str()).unwrap_or_default();
    if waits {
        page.push_str("\n- it is used because the folder is trusted; nobody has approved it by itself");
    }
    for tool in &tools {
        write!(page, "\n- tool `{}`", printable(&tool.name)).unwrap_or_default();
    }
    let mut actions = vec![('r', "reconnect")];
    match status {
        ServerStatus::Disabled => actions = vec![('e', "enable")],
        ServerStatus::NeedsAuth(_) => actions.push(('l', "log in")),
        _ => actions.push(('d', "disable")),
    }
    if matches!(definition.endpoint, ServerTransport::Http(_)) && !matches!(server.status(), ServerStatus::NeedsAuth(_))
    {
        actions.extend([('l', "log in"), ('o', "log out")]);
    }
    if waits {
        actions.extend([('a', "approve"), ('x', "reject")]);
    }
    ScreenEntry {
        label: printable(&definition.name),
        detail: format!(
            "{} · {} tools{}",
            status.as_str(),
            tools.len(),
            if waits { " · not approved yet" } else { "" }
        ),
        page,
        actions: actions.into_iter().map(|(letter, word)| (letter, word.to_owned())).collect(),
    }
}

/// The steps of a login to a server.
struct ServerFront {
    note: Box<dyn Fn(&str) + Send + Sync>,
    person: Option<Arc<dyn CommandScreen>>,
    cancel: CancellationToken,
}

impl LoginFront for ServerFront {
    fn show(&mut self, step: LoginStep<'_>) {
        match step {
            LoginStep::Approve { url } | LoginStep::ApproveOnDevice { url, .. } => {
                (self.note)(&format!("Open this address in a browser and approve the login:\n{}", printable(url)));
            }
            LoginStep::PasteAgain { problem } => (self.note)(&format!("{problem}. Paste it again.")),
        }
    }

    fn pasted_line(&mut self) -> Pin<Box<dyn Future<Output = String> + Send + '_>> {
        Box::pin(async move {
            let Some(person) = &self.person else { return std::future::pending().await };
            let question = CommandQuestion::Input {
                title: "Approve the login in the browser, or paste the address it ends at".to_owned(),
                placeholder: "waiting for the browser".to_owned(),
                text: String::new(),
                secret: false,
            };
            match person.ask(question, &self.cancel).await {
                Some(CommandReply::Text(text)) => text,
                _ => {
                    self.cancel.cancel();
                    std::future::pending().await
                }
            }
        })
    }

    fn can_paste_again(&self) -> bool {
        self.person.is_some()
    }
}
