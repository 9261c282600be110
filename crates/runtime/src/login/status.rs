//! What would sign a request to Anthropic, and what is stored. Never a secret.
//!
//! Nothing runs: a helper is named, not asked (A6). A database is looked at if there is one,
//! because it may hold the settings that name a helper.

use crate::launch::Launch;
use crate::model_choice;
use ona_api::clock::{self, utc_seconds};
use ona_api::{Variable, environment};
use ona_auth::{CredentialKind, CredentialPlace, StoredLogin};
use serde_json::{Value, json};

/// What signs requests, as it is known without running anything.
pub struct LoginStatus {
    pub source: CredentialKind,
    /// The variable that brings the credential.
    pub variable: Option<Variable>,
    pub stored: Option<(StoredLogin, CredentialPlace)>,
    /// Why the stored login cannot be read.
    pub problem: Option<String>,
}

impl LoginStatus {
    /// Looks at the settings too; what only they could tell is left out, with a line, if they cannot be read.
    pub fn of(launch: &Launch) -> Self {
        let source = model_choice::anthropic_source(launch).unwrap_or_else(|failure| {
            launch.note(format_args!("ona: the settings were not looked at: {}", failure.message));
            model_choice::anthropic_source_of_environment(launch)
        });
        // The line about a login that cannot be read was said when `launch` looked for it.
        let stored = match launch.options.bare {
            true => Ok(None),
            false => launch.credential_store().load().map_err(|error| error.to_string()),
        };
        let (stored, problem) = match stored {
            Ok(stored) => (stored, None),
            Err(why) => (None, Some(why)),
        };
        Self { source, variable: variable(launch, source), stored, problem }
    }

    /// The variable that signs requests whatever is stored.
    pub fn variable_before_login(launch: &Launch) -> Option<Variable> {
        variable(launch, model_choice::anthropic_source_of_environment(launch))
    }

    fn is_usable(&self) -> bool {
        self.stored.as_ref().is_some_and(|(login, _)| login.is_usable(clock::now()))
    }

    pub fn is_logged_in(&self) -> bool {
        match self.source {
            CredentialKind::None => false,
            CredentialKind::Login => self.is_usable(),
            _ => true,
        }
    }

    pub fn to_json(&self, launch: &Launch) -> Value {
        json!({
            "logged_in": self.is_logged_in(),
            "source": name(self.source),
            "variable": self.variable.map(Variable::name),
            "stored_login": self.stored.as_ref().map(|(login, place)| described(login, *place, launch)),
            "problem": self.problem,
        })
    }

    /// Says it to a person, in one or two sentences.
    pub fn sentences(&self, launch: &Launch) -> Vec<String> {
        let mut lines = vec![sentence(self.variable, self.source, self.is_usable())];
        lines.extend(self.stored.as_ref().map(|(login, place)| stored_sentence(launch, login, *place, self.source)));
        lines
    }
}

/// The word for programs.
fn name(source: CredentialKind) -> &'static str {
    match source {
        CredentialKind::EnvBearer => "bearer",
        CredentialKind::EnvApiKey => "api_key",
        CredentialKind::Helper => "helper",
        CredentialKind::OauthToken => "injected_token",
        CredentialKind::Login => "stored_login",
        CredentialKind::LocalDefault | CredentialKind::None => "none",
    }
}

fn variable(launch: &Launch, source: CredentialKind) -> Option<Variable> {
    match source {
        CredentialKind::EnvBearer => Some(environment::ANTHROPIC_AUTH_TOKEN),
        CredentialKind::EnvApiKey => Some(environment::ANTHROPIC_API_KEY),
        CredentialKind::OauthToken if launch.env.non_empty(environment::CLAUDE_CODE_OAUTH_TOKEN).is_some() => {
            Some(environment::CLAUDE_CODE_OAUTH_TOKEN)
        }
        CredentialKind::OauthToken => Some(environment::CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR),
        CredentialKind::Helper | CredentialKind::Login | CredentialKind::LocalDefault | CredentialKind::None => None,
    }
}

fn sentence(variable: Option<Variable>, source: CredentialKind, usable: bool) -> String {
    let variable = variable.map_or("", Variable::name);
    match source {
        CredentialKind::EnvBearer => format!("Logged in with the bearer token of {variable}."),
        CredentialKind::EnvApiKey => format!("Logged in with the API key of {variable}."),
        CredentialKind::Helper => "Logged in with apiKeyHelper. It was not run.".to_owned(),
        CredentialKind::OauthToken => format!("Logged in with the token of {variable}."),
        CredentialKind::Login if usable => "Logged in with the stored login.".to_owned(),
        CredentialKind::Login => "Not logged in: the stored login has expired. Log in again: ona auth login".to_owned(),
        CredentialKind::LocalDefault | CredentialKind::None => {
            "Not logged in. Log in with ona auth login, or export ANTHROPIC_API_KEY".to_owned()
        }
    }
}

fn stored_sentence(launch: &Launch, login: &StoredLogin, place: CredentialPlace, source: CredentialKind) -> String {
    let kind = match login.kind {
        ona_auth::LoginKind::Oauth => "login",
        ona_auth::LoginKind::Token => "token",
        ona_auth::LoginKind::ApiKey => "API key",
    };
    let expiry = match login.expires_at {
        None => String::new(),
        Some(at) if login.is_expired(clock::now()) => format!(", expired {} UTC", utc_seconds(at)),
        Some(at) => format!(", expires {} UTC", utc_seconds(at)),
    };
    let renewal = if login.can_refresh() { ", renewed when needed" } else { "" };
    let unused = match source {
        CredentialKind::Login | CredentialKind::None => "",
        _ => ", not used because the above comes first",
    };
    format!("Stored {kind}{expiry}{renewal}{unused}: {}", shown_place(place, launch))
}

/// Describes a stored login to a program.
pub fn described(login: &StoredLogin, place: CredentialPlace, launch: &Launch) -> Value {
    let now = clock::now();
    json!({
        "kind": login.kind.as_str(),
        "place": place.as_str(),
        "file": (place == CredentialPlace::File).then(|| launch.credential_store().file().to_string_lossy().into_owned()),
        "expires_at": login.expires_at.map(utc_seconds),
        "expired": login.is_expired(now),
        "renewable": login.can_refresh(),
        "scopes": login.scopes,
        "logged_in_at": utc_seconds(login.logged_in_at),
    })
}

/// Names the place of a login to a person.
pub fn shown_place(place: CredentialPlace, launch: &Launch) -> String {
    match place {
        CredentialPlace::Keychain => "the system's keychain".to_owned(),
        CredentialPlace::File => format!("the encrypted file {}", launch.credential_store().file().display()),
    }
}
