//! A hook that is a POST of the event to a server.

use super::{CAPTURE, blocking, label};
use ona_api::{Env, clock, text};
use ona_auth::http;
use ona_hookplane::{Exit, HandlerFuture, HookExecution, HookHandler, HookInvocation};
use serde_json::Value;
use std::sync::OnceLock;

pub struct HttpHook {
    label: String,
    url: String,
    headers: Vec<(String, String)>,
    /// The variables a header may speak of; any other is empty.
    variables: Vec<String>,
    client: OnceLock<Result<reqwest::Client, String>>,
}

impl HttpHook {
    pub fn new(url: String, headers: Vec<(String, String)>, variables: Vec<String>) -> Result<Self, String> {
        let parsed = reqwest::Url::parse(&url).map_err(|error| format!("the url {url:?} cannot be used: {error}"))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
            return Err(format!("the url {url:?} must begin with http:// or https://"));
        }
        Ok(Self { label: label("http", &url), url, headers, variables, client: OnceLock::new() })
    }

    fn client(&self) -> Result<&reqwest::Client, String> {
        let built = self.client.get_or_init(|| http::hook_client(&self.url).map_err(|error| error.to_string()));
        built.as_ref().map_err(Clone::clone)
    }

    /// Returns the answer as text, or the reason why none came.
    async fn send(&self, body: String, env: &Env) -> Result<String, Unusable> {
        let mut request = self.client()?.post(&self.url).header("content-type", "application/json").body(body);
        for (name, value) in &self.headers {
            request = request.header(name, filled(value, &self.variables, env));
        }
        let mut answer = request.send().await.map_err(http::describe_error)?;
        let status = answer.status();
        if !status.is_success() {
            return Err(format!("the server answered {status}").into());
        }
        let mut text = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(http::describe_error)? {
            text.extend_from_slice(&chunk);
            if text.len() > CAPTURE {
                let is_json = text.trim_ascii_start().starts_with(b"{");
                return Err(Unusable { why: format!("the answer is longer than {CAPTURE} bytes"), cut_json: is_json });
            }
        }
        String::from_utf8(text).map_err(|_| "the answer is not UTF-8".to_owned().into())
    }
}

/// Why no answer came.
struct Unusable {
    why: String,
    /// There was one, and it was cut off.
    cut_json: bool,
}

impl From<String> for Unusable {
    fn from(why: String) -> Self {
        Self { why, cut_json: false }
    }
}

impl HookHandler for HttpHook {
    fn label(&self) -> &str {
        &self.label
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        Box::pin(async move {
            let started = clock::utc_millis(clock::now());
            let asked = tokio::select! {
                asked = tokio::time::timeout(called.timeout, self.send(called.stdin, &called.env)) => asked,
                () = called.cancel.cancelled() => return HookExecution::ended(started, Exit::Cancelled, String::new(), String::new()),
            };
            match asked {
                Err(_) => HookExecution::ended(
                    started,
                    Exit::TimedOut { after: called.timeout },
                    String::new(),
                    String::new(),
                ),
                Ok(Err(Unusable { why, cut_json })) => {
                    HookExecution { truncated: cut_json, ..failed(started, &why, String::new()) }
                }
                Ok(Ok(text)) if text.trim().is_empty() => {
                    HookExecution::ended(started, Exit::Code(0), text, String::new())
                }
                Ok(Ok(text)) => match text::json::<Value>(&text) {
                    Ok(object @ Value::Object(_)) => match blocking(&object) {
                        Some(reason) => HookExecution::ended(started, Exit::Code(2), text, reason),
                        None => HookExecution::ended(started, Exit::Code(0), text, String::new()),
                    },
                    // Text of a server never becomes context.
                    _ => failed(started, "the answer is not a JSON object", text),
                },
            }
        })
    }
}

fn failed(started: String, why: &str, said: String) -> HookExecution {
    HookExecution::ended(started, Exit::NotStarted(format!("[SDLC] http hook: {why}")), said, String::new())
}

/// `$NAME` and `${NAME}` with the values of the variables that are allowed.
fn filled(text: &str, allowed: &[String], env: &Env) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let (braced, inner) = match rest.strip_prefix('{') {
            Some(inner) => (true, inner),
            None => (false, rest),
        };
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        let (name, after) = inner.split_at(end);
        let after = if braced { after.strip_prefix('}') } else { Some(after) };
        match after {
            Some(after) if !name.is_empty() => {
                if allowed.iter().any(|one| one == name) {
                    filled.push_str(env.lookup(name).unwrap_or_default());
                }
                rest = after;
            }
            // Not a variable at all.
            _ => filled.push('$'),
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_variables_are_filled_in() {
        let env = Env::default().with("TOKEN", "t").with("OTHER", "o");
        let allowed = ["TOKEN".to_owned()];
        let cases = [
            ("HookOwner $TOKEN", "HookOwner t"),
            ("${TOKEN}x$OTHER.", "tx."),
            ("a$ b$$TOKEN ${TOKEN", "a$ b$t ${TOKEN"),
            ("$MISSING", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(filled(text, &allowed, &env), expected, "{text}");
        }
    }
}
