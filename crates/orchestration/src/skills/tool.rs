//! The Skill tool (DEC-139): a model loads a skill by its name.

use super::SkillLoader;
use ona_api::{Access, ToolResult, ToolSpec};
use ona_instructions::skills::{LISTING_CHARACTERS, Skill, plain};
use ona_tools::{AnyTool, BadInput, BoxFuture, Offer, PlannedCall, ToolContext, parse, schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub struct SkillTool {
    loader: SkillLoader,
    /// The Agent tool, for skills that run as agents of their own.
    agent: Option<Arc<dyn AnyTool>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SkillInput {
    /// The name of the skill, as it is listed.
    skill: String,
    /// What the skill is to work on, as one text.
    args: Option<String>,
}

const DESCRIPTION: &str = "Loads a skill: instructions of this project or its people for one kind of work. Call it before \
    you begin work that a skill is for, then do what its text says. Only skills that are listed here can be loaded.";

impl SkillTool {
    pub fn new(loader: SkillLoader, agent: Option<Arc<dyn AnyTool>>) -> Self {
        Self { loader, agent }
    }

    /// The skill a model may load, or what it is told instead.
    fn find(&self, name: &str) -> Result<&Skill, String> {
        let Some(skill) = self.loader.skills.get(name) else {
            let known: Vec<_> =
                self.loader.skills.iter().filter(|skill| skill.by_model).map(|skill| skill.name.as_str()).collect();
            return Err(match known.is_empty() {
                true => format!("Unknown skill {name}; no skills are installed here."),
                false => format!("Unknown skill {name}. The skills are: {}.", known.join(", ")),
            });
        };
        if !skill.by_model {
            return Err(format!(
                "The skill {name} is for the user alone to start (disable-model-invocation). Do not carry out its steps \
                 by other means; say that the user can type /{name}."
            ));
        }
        Ok(skill)
    }

    async fn run(&self, input: SkillInput, cx: &ToolContext) -> ToolResult {
        let skill = match self.find(&input.skill) {
            Ok(skill) => skill,
            Err(why) => return ToolResult::rejected(why),
        };
        match self.loader.load(skill, input.args.as_deref().unwrap_or_default().trim(), cx).await {
            Ok(text) if skill.fork.is_some() => {
                let Some(agent) = &self.agent else {
                    return ToolResult::rejected(format!(
                        "The skill {} runs as an agent, which cannot be started here.",
                        skill.name
                    ));
                };
                let ran = super::fork::run(agent, &self.loader, skill, text, cx).await;
                ran.data(json!({"commandName": skill.name, "status": "forked"}))
            }
            Ok(text) => ToolResult::success(text).data(json!({"success": true, "commandName": skill.name})),
            Err(super::NotLoaded::Store(error)) => ToolResult::internal(error.to_string()),
            Err(refused) => ToolResult::rejected(refused.to_string()),
        }
    }
}

impl AnyTool for SkillTool {
    fn spec(&self) -> ToolSpec {
        let listing = self.loader.skills.listing(LISTING_CHARACTERS);
        let listed = if listing.is_empty() { "There are none.".to_owned() } else { format!("Skills:\n{listing}") };
        ToolSpec {
            name: "Skill".into(),
            description: format!("{DESCRIPTION}\n{listed}"),
            input_schema: schema::<SkillInput>(),
        }
    }

    fn plan(self: Arc<Self>, input: &Value, _: &ToolContext) -> Result<PlannedCall, BadInput> {
        let mut parsed = parse::<SkillInput>(input)?;
        // Rules and hooks see the name under which it is found, however it was written.
        parsed.skill = match self.loader.skills.get(&parsed.skill) {
            Some(skill) => skill.name.clone(),
            None => plain(&parsed.skill).to_owned(),
        };
        let mut input = input.clone();
        input["skill"] = parsed.skill.clone().into();
        Ok(PlannedCall::new(input, vec![Access::Plain], move |cx| Box::pin(async move { self.run(parsed, cx).await })))
    }

    fn offer<'a>(&'a self, input: &'a Value, _: &'a ToolContext) -> BoxFuture<'a, Offer> {
        let found = self.find(input["skill"].as_str().unwrap_or_default());
        Box::pin(std::future::ready(match found {
            Ok(_) => Offer::Plain,
            Err(why) => Offer::Refused(ToolResult::rejected(why)),
        }))
    }
}
