//! What a person is offered who has no credential yet: a key, a login, a server of their own, a demonstration.
//!
//! It goes by what `ona doctor` goes by, and comes before the session begins.

use crate::runner::log_in_on_screen;
use crate::screen::{CommandQuestion, CommandReply, CommandScreen, ScreenOption};
use ona_auth::CredentialKind;
use ona_orchestration::Model;
use ona_process::{ChildCommand, ChildExit, OnDeath};
use ona_runtime::login::{LoginWay, log_in_with_token, missing_client, shown_place};
use ona_runtime::{Launch, OpenProject, Runtime, local_server, model_choice};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What the person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstRun {
    /// Begin the session with what there is now.
    Begin,
    /// With this model.
    Model(String),
    Leave,
}

enum Offer {
    Key,
    Browser,
    Local(String),
    Demo,
    Without,
    Leave,
}

/// Asks until something was chosen; at once if a model can be asked.
pub async fn first_run(
    launch: &Launch,
    open: &OpenProject,
    runtime: &Runtime,
    screen: &Arc<dyn CommandScreen>,
    note: &(dyn Fn(&str) + Send + Sync),
    cancel: &CancellationToken,
) -> FirstRun {
    if launch.agent_shell || has_credential(launch, open, runtime) {
        return FirstRun::Begin;
    }
    let server = local_server::find(&launch.env).await;
    loop {
        let mut offers: Vec<(Offer, ScreenOption)> = Vec::new();
        let mut offer = |offer, label: String, detail: String| {
            offers.push((offer, ScreenOption { label, detail, letter: None }));
        };
        offer(
            Offer::Key,
            "Paste an API key or token of Anthropic".to_owned(),
            "kept encrypted on this machine".to_owned(),
        );
        if missing_client(launch).is_none() {
            offer(Offer::Browser, "Log in with a browser".to_owned(), String::new());
        }
        for model in server.iter().flat_map(|server| server.models.iter().take(3)) {
            let detail = format!("answers at {}", server.as_ref().map_or("", |server| server.shown.as_str()));
            offer(
                Offer::Local(model.clone()),
                format!("Use the local model {}", ona_permissions::printable(model)),
                detail,
            );
        }
        offer(
            Offer::Demo,
            "See a demonstration".to_owned(),
            "hooks, rules and phases with a scripted model; no key".to_owned(),
        );
        offer(Offer::Without, "Go on without a model".to_owned(), "commands work; /login adds one later".to_owned());
        offer(Offer::Leave, "Leave".to_owned(), String::new());
        let question = CommandQuestion::Choose {
            title: "No model can be asked yet".to_owned(),
            body: "No credential was found: no key in the environment (`ANTHROPIC_API_KEY`, or `OPENAI_API_KEY` with \
                   `OPENAI_BASE_URL`), no helper, no stored login."
                .to_owned(),
            escape: offers.len() - 2,
            options: offers.iter().map(|(_, option)| option.clone()).collect(),
        };
        let chosen = match screen.ask(question, cancel).await {
            Some(CommandReply::Chosen(at)) => offers.into_iter().nth(at).map(|(offer, _)| offer),
            _ => None,
        };
        match chosen {
            None | Some(Offer::Without) => return FirstRun::Begin,
            Some(Offer::Leave) => return FirstRun::Leave,
            Some(Offer::Local(model)) => return FirstRun::Model(format!("local/{model}")),
            Some(Offer::Demo) => note(&demo(launch, cancel).await),
            Some(Offer::Key) => {
                let question = CommandQuestion::Input {
                    title: "API key or token of Anthropic (not shown)".to_owned(),
                    placeholder: "sk-ant-…".to_owned(),
                    text: String::new(),
                    secret: true,
                };
                let Some(CommandReply::Text(text)) = screen.ask(question, cancel).await else { continue };
                match log_in_with_token(launch, &text, cancel).await {
                    Ok(logged_in) => {
                        launch.forget_login();
                        note(&format!("It is kept in {}", shown_place(logged_in.place, launch)));
                        return FirstRun::Begin;
                    }
                    Err(failure) => note(&failure.message),
                }
            }
            Some(Offer::Browser) => {
                let screen = Arc::clone(screen);
                match log_in_on_screen(launch, LoginWay::Browser { open: true }, screen, note, cancel).await {
                    Ok(logged_in) => {
                        launch.forget_login();
                        note(&format!("Login successful. It is kept in {}", shown_place(logged_in.place, launch)));
                        return FirstRun::Begin;
                    }
                    Err(failure) => note(&failure.to_string()),
                }
            }
        }
    }
}

/// Whether something would sign a request; runs nothing. What is wrong otherwise is said when the session begins.
fn has_credential(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> bool {
    let wanted = launch.options.model.as_deref();
    match model_choice::model(launch, open, wanted, &runtime.settings, &runtime.operators) {
        Err(_) => true,
        Ok(chosen) => match chosen.choice.and_then(|choice| Model::new(choice, chosen.setup)) {
            Ok(model) => model.credential_class() != CredentialKind::None,
            Err(_) => false,
        },
    }
}

/// What `ona demo` prints.
async fn demo(launch: &Launch, cancel: &CancellationToken) -> String {
    let Ok(program) = std::env::current_exe() else { return "Run it in a shell: ona demo".to_owned() };
    let child = ChildCommand {
        program: program.into(),
        args: vec!["demo".into()],
        cwd: launch.cwd.clone(),
        env: launch.env.clone(),
        stdin: Vec::new(),
        cap: 256 * 1024,
        deadline: Some(Duration::from_secs(120)),
        grace: Duration::from_millis(500),
        on_death: OnDeath::Kill,
        wall: None,
    };
    match ona_process::run_and_clear(child, cancel).await {
        Ok(ran) if ran.end == ChildExit::Exited(0) => String::from_utf8_lossy(&ran.stdout.bytes).into_owned(),
        Ok(ran) => format!("The demonstration failed: {}", String::from_utf8_lossy(&ran.stderr.bytes)),
        Err(error) => format!("The demonstration could not be started: {error}"),
    }
}
