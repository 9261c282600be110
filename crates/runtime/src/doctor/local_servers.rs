//! Model servers of this machine on the ports that such servers usually have.
//!
//! Only addresses of this machine are tried, without a credential, all at once and for a moment. What
//! answers with a list of models is offered with the command that uses it; anything else that listens
//! there is left alone.

use super::Check;
use ona_api::model::ProviderName;
use ona_api::{Env, environment};
use ona_auth::Endpoint;
use ona_auth::http::{self, HttpLimits};
use ona_permissions::printable;
use ona_providers::model_list::{self, ListedModel};
use std::time::Duration;
use tokio::task::JoinSet;

const NAME: &str = "local model";

/// LM Studio, Ollama, llama.cpp and others.
const USUAL_PORTS: [u16; 3] = [1234, 11434, 8080];

/// How long one server may take; a list comes from memory.
const WAIT: Duration = Duration::from_millis(1000);

/// How many models of a server are named.
const SHOWN: usize = 4;

/// Looks for servers beside the one in use.
pub(super) async fn check(env: &Env, in_use: Option<&Endpoint>) -> Check {
    let ports = match ports(env) {
        Ok(ports) => ports,
        Err(wrong) => {
            let variable = environment::ONA_LOCAL_MODEL_PORTS;
            return Check::broken(
                NAME,
                &format!("{variable}: {wrong:?} is not a port"),
                "numbers, separated by commas",
            );
        }
    };
    let known = in_use.filter(|endpoint| endpoint.is_loopback()).and_then(|endpoint| endpoint.url().port());
    let mut looking = JoinSet::new();
    for port in ports.iter().copied().filter(|port| Some(*port) != known) {
        looking.spawn(async move { (port, models(port).await) });
    }
    let mut found = looking.join_all().await;
    found.sort_by_key(|(port, _)| ports.iter().position(|one| one == port));
    let servers: Vec<_> = found.into_iter().filter_map(|(port, models)| Some((port, models?))).collect();
    let offer = servers.iter().find_map(|(port, models)| Some((*port, offered(models)?)));
    if servers.is_empty() {
        let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
        return Check::absent(NAME, &format!("no other server on 127.0.0.1, ports {}", ports.join(", ")), "");
    }
    let detail: Vec<_> = servers.iter().map(|(port, models)| described(*port, models)).collect();
    let remedy = match offer {
        Some((port, name)) => format!("use it: {}", command(env, port, name)),
        None => "load a model there".to_owned(),
    };
    Check { remedy, ..Check::ok(NAME, &detail.join("; ")) }
}

fn ports(env: &Env) -> Result<Vec<u16>, String> {
    let Some(text) = env.get(environment::ONA_LOCAL_MODEL_PORTS) else { return Ok(USUAL_PORTS.to_vec()) };
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| word.parse().map_err(|_| word.to_owned())).collect()
}

fn base(port: u16) -> String {
    format!("http://127.0.0.1:{port}/v1")
}

async fn models(port: u16) -> Option<Vec<ListedModel>> {
    let named = Env::new([(environment::LM_STUDIO_BASE_URL.name().into(), base(port).into())]);
    let endpoint = Endpoint::of(ProviderName::LmStudioLocal, &named).ok()?;
    let client = http::client(&endpoint, HttpLimits { connect: WAIT, read_timeout: WAIT }).ok()?;
    model_list::fetch(&client, &endpoint, &Default::default(), None, WAIT).await
}

fn described(port: u16, models: &[ListedModel]) -> String {
    let one = |model: &ListedModel| match model.context {
        Some(context) => format!("{} ({context} tokens)", printable(&model.name)),
        None => printable(&model.name),
    };
    let mut names: Vec<_> = models.iter().take(SHOWN).map(one).collect();
    if models.len() > SHOWN {
        names.push(format!("{} more", models.len() - SHOWN));
    }
    let names = if names.is_empty() { "no model".to_owned() } else { names.join(", ") };
    format!("127.0.0.1:{port} has {names}")
}

/// The first model that writes texts and whose name a shell takes as it is.
fn offered(models: &[ListedModel]) -> Option<&str> {
    let is_plain =
        |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-:/@+".contains(c));
    let mut names =
        models.iter().map(|model| model.name.as_str()).filter(is_plain).filter(|name| !name.contains("embed"));
    names.next()
}

/// What a person types to use a model of that server.
fn command(env: &Env, port: u16, name: &str) -> String {
    let is_default = env.non_empty(environment::LM_STUDIO_BASE_URL).is_none() && port == USUAL_PORTS[0];
    match is_default {
        true => format!("ona --model local/{name}"),
        false => format!("LM_STUDIO_BASE_URL={} ona --model local/{name}", base(port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_server_where_it_is_not_the_default_one() {
        let with = |pairs: &[(&str, &str)]| Env::new(pairs.iter().map(|(name, value)| (name.into(), value.into())));
        let plain = with(&[]);
        assert_eq!(command(&plain, 1234, "qwen3"), "ona --model local/qwen3");
        let command_of = |env, port| command(env, port, "a/b:7b");
        let ollama = "LM_STUDIO_BASE_URL=http://127.0.0.1:11434/v1 ona --model local/a/b:7b";
        assert_eq!(command_of(&plain, 11434), ollama);
        let elsewhere = with(&[("LM_STUDIO_BASE_URL", "http://127.0.0.1:9/v1")]);
        assert!(command_of(&elsewhere, 1234).starts_with("LM_STUDIO_BASE_URL=http://127.0.0.1:1234/v1 "));
        assert_eq!(ports(&plain), Ok(vec![1234, 11434, 8080]));
        assert_eq!(ports(&with(&[("ONA_LOCAL_MODEL_PORTS", " 5, 6 ,")])), Ok(vec![5, 6]));
        assert_eq!(ports(&with(&[("ONA_LOCAL_MODEL_PORTS", "")])), Ok(vec![]));
        assert_eq!(ports(&with(&[("ONA_LOCAL_MODEL_PORTS", "5,70000")])), Err("70000".to_owned()));
    }

    #[test]
    fn only_a_name_that_a_shell_takes_as_it_is_is_offered() {
        let listed = |name: &str| ListedModel { name: name.into(), ..ListedModel::default() };
        assert_eq!(offered(&[listed("a; rm -rf ~"), listed("text-embedding-nomic"), listed("qwen3")]), Some("qwen3"));
        assert_eq!(offered(&[listed("$(id)")]), None);
        assert!(!described(1, &[listed("a\u{1b}[2Jb")]).contains('\u{1b}'));
    }
}
