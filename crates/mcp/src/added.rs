//! Servers that come in while a run goes on: those a driving program asks for, and those of one agent.
//!
//! They go by the policy like all others, and none replaces a server that is configured.

use crate::definition::{DefinitionOrigin, DefinitionOwner, ServerDefinition};
use crate::server::{McpServer, ServerStatus};
use crate::servers::Servers;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What became of the servers that a program asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerChanges {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    /// Servers that are not used, each with the reason.
    pub errors: Vec<(String, String)>,
}

/// The servers of a run and those of one agent.
pub struct AgentServers {
    pub all: Arc<Servers>,
    own: Vec<Arc<McpServer>>,
    /// Servers that are not used, each with the reason.
    pub left_out: Vec<(String, String)>,
}

impl Servers {
    /// Replaces the servers of earlier requests by these, and begins to connect the new ones.
    pub fn replace_requested(self: &Arc<Self>, wanted: &Map<String, Value>) -> ServerChanges {
        let mut changes = ServerChanges::default();
        let mut kept = Vec::new();
        let mut new = Vec::new();
        let origin = DefinitionOrigin::Request;
        for (name, value) in wanted {
            let known = self.find(name);
            match self.permitted(name, value, origin, DefinitionOwner::Operator) {
                Err(why) => changes.errors.push((name.clone(), why)),
                Ok(definition) => match known {
                    Some(known) if known.definition.origin != origin => {
                        changes.errors.push((name.clone(), "a server of that name is configured already".into()));
                    }
                    Some(known) if known.definition == definition => kept.push(definition.slug),
                    Some(_) | None => new.push(definition),
                },
            }
        }
        let gone =
            |server: &Arc<McpServer>| server.definition.origin == origin && !kept.contains(&server.definition.slug);
        for server in self.list().into_iter().filter(gone) {
            changes.removed.push(server.definition.name.clone());
            self.take_out(&server.definition.slug);
            // How long it takes to end is not for the program to wait for.
            tokio::spawn(async move { server.forget(true).await });
        }
        for definition in new {
            changes.added.push(definition.name.clone());
            let slug = definition.slug.clone();
            self.add(definition);
            self.start(|definition| definition.slug == slug);
        }
        changes
    }

    /// Returns these servers and more, which one agent alone has; they are connected or have failed.
    pub async fn for_agent(&self, wanted: &Map<String, Value>, owner: DefinitionOwner) -> AgentServers {
        let (mut own, mut left_out) = (Vec::<Arc<McpServer>>::new(), Vec::new());
        for (name, value) in wanted {
            match self.permitted(name, value, DefinitionOrigin::Agent, owner) {
                Err(why) => left_out.push((name.clone(), why)),
                Ok(definition) => {
                    let same = |server: &Arc<McpServer>| server.definition.slug == definition.slug;
                    if self.list().iter().chain(&own).any(same) {
                        let why = "a server of that name is configured already; the agent has that one";
                        left_out.push((name.clone(), why.into()));
                    } else {
                        own.push(Arc::new(McpServer::new(definition, Arc::clone(&self.around))));
                    }
                }
            }
        }
        let all = Arc::new(self.and(&own));
        all.start(|definition| definition.origin == DefinitionOrigin::Agent);
        for server in &own {
            server.settled().await;
            let status = server.status();
            if let (ServerStatus::Failed(_) | ServerStatus::NeedsAuth(_), Some(why)) = (&status, status.error()) {
                left_out.push((server.definition.name.clone(), self.around.redactor.apply(why).into_owned()));
            }
        }
        AgentServers { all, own, left_out }
    }

    /// Returns a definition that may be used now. Its secrets are known from here on.
    fn permitted(
        &self,
        name: &str,
        value: &Value,
        origin: DefinitionOrigin,
        owner: DefinitionOwner,
    ) -> Result<ServerDefinition, String> {
        let rules = &self.around.additions;
        if let Some(why) = &rules.refused {
            return Err(why.clone());
        }
        let definition = ServerDefinition::read(name, value, origin, owner, &rules.variables)?.definition;
        if let Some(why) = rules.policy.refuses(&definition) {
            return Err(why.into());
        }
        for (name, secret) in definition.secrets() {
            self.around.redactor.learn(name, secret);
        }
        Ok(definition)
    }
}

impl AgentServers {
    /// Returns the parts of names that rules know the agent's own servers by.
    pub fn own_names(&self) -> impl Iterator<Item = String> + '_ {
        self.own.iter().map(|server| server.definition.slug.to_string())
    }

    /// Ends the agent's own servers.
    pub async fn end(&self) {
        for server in &self.own {
            server.forget(true).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Additions, Environments, ServerContext};
    use crate::policy::Policy;
    use serde_json::json;

    fn servers() -> Arc<Servers> {
        let env = Environments::one(&ona_api::Env::default().with("TOKEN", "t0ken"));
        let policy = Policy { denied: vec![json!({"serverName": "bad"})], allowed: None };
        let additions = Additions { variables: env.clone(), policy, refused: None };
        let around = ServerContext::new(env.clone(), "/".into(), Vec::new()).with_additions(additions);
        let configured = ServerDefinition::check("mine", &json!({"command": "false"}), DefinitionOrigin::Flag, &env);
        Arc::new(Servers::new(vec![configured.unwrap()], around))
    }

    fn names(servers: &Servers) -> Vec<String> {
        servers.list().iter().map(|server| server.definition.name.clone()).collect()
    }

    #[tokio::test]
    async fn a_request_replaces_the_servers_of_the_one_before() {
        let servers = servers();
        let ask = |wanted: Value| servers.replace_requested(wanted.as_object().unwrap());
        let all = json!({
            "a": {"command": "false"}, "mine": {"command": "false"}, "bad": {"command": "false"}, "broken": {"type": "x"},
        });
        let error = |name: &str, why: &str| (name.to_owned(), why.to_owned());
        assert_eq!(
            ask(all),
            ServerChanges {
                added: vec!["a".into()],
                removed: Vec::new(),
                errors: vec![
                    error("mine", "a server of that name is configured already"),
                    error("bad", "the policy denies it (deniedMcpServers)"),
                    error("broken", "unknown transport \"x\"; use stdio, http, sse or ws"),
                ],
            }
        );
        assert_eq!(ask(json!({"a": {"command": "false"}})), ServerChanges::default());
        let other = ask(json!({"a": {"command": "true"}, "b": {"command": "false"}}));
        assert_eq!((other.removed, other.added), (vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(ask(json!({})).removed, ["a", "b"]);
        assert_eq!(names(&servers), ["mine"]);
    }

    #[tokio::test]
    async fn an_agents_servers_are_its_own() {
        let servers = servers();
        let wanted = json!({"own": {"command": "/nowhere"}, "mine": {"command": "false"}, "bad": {"command": "x"}});
        let agent = servers.for_agent(wanted.as_object().unwrap(), DefinitionOwner::Operator).await;
        assert_eq!((names(&agent.all), names(&servers)), (vec!["mine".to_owned(), "own".into()], vec!["mine".into()]));
        assert_eq!(agent.own_names().collect::<Vec<_>>(), ["own"]);
        let left_out: Vec<_> = agent.left_out.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(left_out, ["mine", "bad", "own"]);
    }
}
