//! `/login` and `/logout` (section 2.7): the same as `ona auth`, with dialogs.

use super::answers::Said;
use super::{AfterAnswer, SessionRunner};
use crate::screen::{CommandQuestion, CommandReply, CommandScreen};
use ona_api::EventName;
use ona_auth::Revocation;
use ona_orchestration::{SessionEndReason, lifecycle};
use ona_permissions::printable;
use ona_runtime::login::{
    LoggedIn, LoginFront, LoginStatus, LoginStep, LoginWay, log_in, log_in_with_token, log_out, missing_client,
    operator_only, shown_place,
};
use ona_runtime::{Failure, Launch};
use serde_json::json;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl SessionRunner<'_> {
    pub(super) async fn login(&mut self) -> Said {
        let launch = self.parts.launch;
        if let Err(failure) = operator_only(launch) {
            return Ok(Self::failed(&failure));
        }
        let status = LoginStatus::of(launch).sentences(launch).join("\n");
        let missing = missing_client(launch);
        let not_set_up = missing.as_ref().map(|why| format!("not set up here: {why}")).unwrap_or_default();
        let options = [
            ("Paste an API key or a long-lived token", "it is stored encrypted, or in the system's keychain"),
            ("Log in with a browser", not_set_up.as_str()),
            ("Log in on another device", not_set_up.as_str()),
            ("Not now", ""),
        ];
        let way = match self.choose("Log in", status, &options).await {
            Some(0) => return self.paste_key().await,
            Some(at @ (1 | 2)) => match (missing, at) {
                (Some(why), _) => return Ok(Err(format!("{why}. An API key can be pasted instead: /login"))),
                (None, 1) => LoginWay::Browser { open: true },
                (None, _) => LoginWay::Device,
            },
            _ => return Ok(Ok(String::new())),
        };
        let Some(screen) = self.parts.person.clone() else { return Ok(Ok(String::new())) };
        let observer = Arc::clone(&self.parts.observer);
        let note = move |text: &str| observer.note(text);
        match log_in_on_screen(launch, way, screen, &note, &self.session.cx.cancel).await {
            Ok(logged_in) => self.logged_in(&shown_place(logged_in.place, launch)).await,
            Err(failure) => Ok(Self::failed(&failure)),
        }
    }

    /// Asks for a key, which is not shown, and stores it.
    pub(super) async fn paste_key(&mut self) -> Said {
        let launch = self.parts.launch;
        let Some(text) = self.input("API key or token of Anthropic (not shown)", "sk-ant-…", true).await else {
            return Ok(Ok(String::new()));
        };
        match log_in_with_token(launch, &text, &self.session.cx.cancel).await {
            Ok(logged_in) => self.logged_in(&shown_place(logged_in.place, launch)).await,
            Err(failure) => Ok(Err(failure.message)),
        }
    }

    async fn logged_in(&mut self, place: &str) -> Said {
        let launch = self.parts.launch;
        launch.forget_login();
        let Self { parts, session, .. } = self;
        let fields = json!({"notification_type": "auth_success", "message": "Login successful"});
        let (store, hooks) = (&parts.open.store, &parts.runtime.hooks);
        lifecycle(store, hooks, session, &parts.events, EventName::Notification, fields).await?;
        let mut words = format!("Login successful. It is kept in {place}");
        if let Some(variable) = LoginStatus::variable_before_login(launch) {
            words.push_str(&format!("\n\n{variable} is set and is used instead of the login."));
        }
        // The model of the session knows no other credential than that of its start.
        if self.turn().is_none() || self.refresh_model().is_err() {
            self.after = Some(AfterAnswer::Restart);
        }
        Ok(Ok(words))
    }

    /// Removes the login; the session ends with it, as SessionEnd(logout) says.
    pub(super) async fn logout(&mut self) -> Said {
        let launch = self.parts.launch;
        let report = match log_out(launch, &self.session.cx.cancel).await {
            Ok(report) => report,
            Err(failure) => return Ok(Self::failed(&failure)),
        };
        launch.forget_login();
        if let Revocation::Failed(why) = &report.revocation {
            launch.note(format_args!("ona: the login is removed here, but its server was not told: {why}"));
        }
        if let Some(variable) = LoginStatus::variable_before_login(launch) {
            launch.note(format_args!("ona: {variable} is still set and signs requests"));
        }
        if !report.removed {
            return Ok(Ok("No login was stored.".to_owned()));
        }
        self.after = Some(AfterAnswer::Leave(SessionEndReason::Logout));
        Ok(Ok("Logged out.".to_owned()))
    }

    /// Chooses the model again, with what settings and logins are now; the next request uses it.
    pub(super) fn refresh_model(&self) -> Result<(), Failure> {
        let Some(turn) = self.turn() else { return Ok(()) };
        let parts = &self.parts;
        let current = turn.current_model.clone();
        let before = current.model();
        let wanted = match before.choice.overridden {
            true => self.parts.overrides.model.clone().or_else(|| parts.launch.options.model.clone()),
            false => Some(before.choice.model_id.to_owned()),
        };
        let (settings, env) = (&parts.runtime.settings, &parts.runtime.operators);
        let chosen = ona_runtime::model_choice::model(parts.launch, parts.open, wanted.as_deref(), settings, env)?;
        let model = chosen.choice.and_then(|choice| ona_orchestration::Model::new(choice, chosen.setup));
        let model = model.map_err(|failure| Failure::refused(failure.message))?;
        let kept = before.sibling_of(&model).map_err(|failure| Failure::refused(failure.message))?;
        current.set(Arc::new(kept));
        Ok(())
    }
}

/// Obtains a login, with its steps on a screen. Closing the question ends it.
pub(crate) async fn log_in_on_screen(
    launch: &Launch,
    way: LoginWay,
    screen: Arc<dyn CommandScreen>,
    note: &(dyn Fn(&str) + Send + Sync),
    cancel: &CancellationToken,
) -> Result<LoggedIn, Failure> {
    let cancel = cancel.child_token();
    let mut front = ScreenLogin { screen, note, cancel: cancel.clone() };
    log_in(launch, way, &mut front, &cancel).await
}

/// The steps of a login on a screen.
struct ScreenLogin<'a> {
    screen: Arc<dyn CommandScreen>,
    note: &'a (dyn Fn(&str) + Send + Sync),
    /// Ends the login when the person closes the question.
    cancel: CancellationToken,
}

impl LoginFront for ScreenLogin<'_> {
    fn show(&mut self, step: LoginStep<'_>) {
        match step {
            LoginStep::Approve { url } => {
                (self.note)(&format!("Open this address in a browser and approve the login:\n{}", printable(url)));
            }
            LoginStep::ApproveOnDevice { url, complete_url, code, expires_in } => {
                let minutes = expires_in.as_secs().div_ceil(60);
                let (url, code) = (printable(url), printable(code));
                let mut text = format!(
                    "Open this address on any device within {minutes} minutes:\n{url}\nand enter this code:\n{code}"
                );
                if let Some(complete) = complete_url {
                    text.push_str(&format!("\nThis address has the code in it:\n{}", printable(complete)));
                }
                (self.note)(&text);
            }
            LoginStep::PasteAgain { problem } => {
                (self.note)(&format!("{problem}. Make sure the whole code was copied, and paste it again."));
            }
        }
    }

    fn pasted_line(&mut self) -> Pin<Box<dyn Future<Output = String> + Send + '_>> {
        Box::pin(async move {
            let question = CommandQuestion::Input {
                title: "Approve the login in the browser, or paste the code or the address it ends at".to_owned(),
                placeholder: "waiting for the browser".to_owned(),
                text: String::new(),
                secret: false,
            };
            match self.screen.ask(question, &self.cancel).await {
                Some(CommandReply::Text(text)) => text,
                _ => {
                    self.cancel.cancel();
                    std::future::pending().await
                }
            }
        })
    }

    fn can_paste_again(&self) -> bool {
        true
    }
}
