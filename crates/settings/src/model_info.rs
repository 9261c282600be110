//! What the operator says of models by name (`modelInfo`, DEC-190): context size, output limit, prices.

use crate::keys;
use crate::problem::SettingsProblem;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Facts by id or wire name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelInfo(HashMap<String, ModelFacts>);

/// What is said of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// Tokens of the context.
    pub context: Option<usize>,
    /// Maximum number of tokens of a reply.
    pub output: Option<u32>,
    /// As in `modelPrices`; `transcript` judges it.
    pub prices: Option<Value>,
}

impl ModelInfo {
    pub(crate) fn read(value: &Value) -> Result<Self, SettingsProblem> {
        let problem = |message: String| SettingsProblem::new(keys::MODEL_INFO, message);
        let entries = match value {
            Value::Null => return Ok(Self::default()),
            Value::Object(entries) => entries,
            other => return Err(problem(format!("the setting modelInfo must be an object, not {other}"))),
        };
        let read = |(name, facts): (&String, &Value)| match facts.as_object() {
            Some(fields) => Ok((name.clone(), facts_of(name, fields).map_err(problem)?)),
            None => Err(problem(format!("the setting modelInfo.{name} must be an object, not {facts}"))),
        };
        entries.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Returns what is said of a model by its wire name, else by its id.
    pub fn of(&self, wire: &str, id: Option<&str>) -> Option<&ModelFacts> {
        self.0.get(wire).or_else(|| self.0.get(id?))
    }

    /// Returns the setting `modelPrices` with the prices of this one below it.
    pub fn prices_under(&self, prices: &Value) -> Value {
        let mut all: Map<String, Value> =
            self.0.iter().filter_map(|(name, facts)| Some((name.clone(), facts.prices.clone()?))).collect();
        match prices {
            Value::Object(own) => all.extend(own.clone()),
            Value::Null => {}
            // What is wrong with it is said where it is read.
            other => return other.clone(),
        }
        if all.is_empty() { prices.clone() } else { Value::Object(all) }
    }
}

fn facts_of(name: &str, fields: &Map<String, Value>) -> Result<ModelFacts, String> {
    let mut facts = ModelFacts::default();
    for (field, value) in fields {
        let count = || {
            let number = value.as_u64().filter(|number| *number > 0);
            number
                .ok_or_else(|| format!("the setting modelInfo.{name}.{field} must be a number of tokens, not {value}"))
        };
        match field.as_str() {
            "context" => facts.context = Some(usize::try_from(count()?).unwrap_or(usize::MAX)),
            "output" => facts.output = Some(u32::try_from(count()?).unwrap_or(u32::MAX)),
            "prices" => facts.prices = Some(value.clone()),
            other => {
                return Err(format!(
                    "the setting modelInfo.{name} has context, output and prices, but not \"{other}\""
                ));
            }
        }
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn facts_are_read_by_name_and_id_and_mistakes_are_named() {
        let setting = json!({"qwen3": {"context": 40960, "output": 4096, "prices": {"input": 0, "output": 0}},
            "gpt_4o": {"context": 64000}});
        let info = ModelInfo::read(&setting).unwrap();
        assert_eq!(info.of("qwen3", Some("gpt_4o")).unwrap().output, Some(4096));
        assert_eq!(info.of("gpt-next", Some("gpt_4o")).unwrap().context, Some(64_000));
        assert_eq!(info.of("gpt-next", None), None);
        assert_eq!(info.prices_under(&Value::Null), json!({"qwen3": {"input": 0, "output": 0}}));
        assert_eq!(info.prices_under(&json!({"qwen3": {"input": 1}})), json!({"qwen3": {"input": 1}}));
        for (setting, said) in [
            (json!([]), "the setting modelInfo must be an object, not []"),
            (json!({"x": 1}), "the setting modelInfo.x must be an object, not 1"),
            (json!({"x": {"context": 0}}), "the setting modelInfo.x.context must be a number of tokens, not 0"),
            (json!({"x": {"contxt": 1}}), "the setting modelInfo.x has context, output and prices, but not \"contxt\""),
        ] {
            assert_eq!(ModelInfo::read(&setting).unwrap_err().to_string(), said);
        }
    }
}
