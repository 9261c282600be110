//! Prices of tokens: a list, and the operator's changes to it.
//!
//! A price that is not known is absent. It is never taken for zero: an operator who reads
//! `$0.00` believes it. A model on the operator's own machine has no list price either;
//! to get zero there, set it in `modelPrices`.

use ona_api::model::{MODELS, Usage};
use serde_json::Value;
use std::collections::HashMap;

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// List prices by the model ids of section 2.2, as the vendors published them: Anthropic's
/// (cache writes of five minutes) compared in November 2026, OpenAI's in May 2026. OpenAI
/// charges nothing extra for writing its cache. `lm_studio_server_routed` has none.
pub const PUBLISHED: [(&str, Price); 7] = [
    ("claude_opus_4", price(15.0, 75.0, 1.5, 18.75)),
    ("claude_sonnet_4", price(3.0, 15.0, 0.3, 3.75)),
    ("claude_3_5_haiku", price(0.8, 4.0, 0.08, 1.0)),
    ("gpt_4o", price(2.5, 10.0, 1.25, 2.5)),
    ("gpt_4o_mini", price(0.15, 0.6, 0.075, 0.15)),
    ("o3", price(2.0, 8.0, 0.5, 2.0)),
    ("o3_mini", price(1.1, 4.4, 0.55, 1.1)),
];

const fn price(input: f64, output: f64, cache_read: f64, cache_write: f64) -> Price {
    Price { input, output, cache_read: Some(cache_read), cache_write: Some(cache_write) }
}

impl Price {
    /// `None` if some of these tokens have no price.
    pub fn of(&self, usage: &Usage) -> Option<f64> {
        let kinds = [
            (usage.input_tokens, Some(self.input)),
            (usage.output_tokens, Some(self.output)),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
        ];
        let mut micro = 0.0;
        for (tokens, price) in kinds.into_iter().filter(|(tokens, _)| *tokens > 0) {
            micro += tokens as f64 * price?;
        }
        Some(rounded(micro / 1e6))
    }
}

/// Without the dust of binary fractions: far below a cent's millionth.
pub(crate) fn rounded(dollars: f64) -> f64 {
    (dollars * 1e12).round() / 1e12
}

#[derive(Clone, Debug, Default)]
pub struct Prices {
    /// By id or wire name, as the operator wrote it; `None` is an entry that cannot be read.
    own: HashMap<String, Option<Price>>,
}

impl Prices {
    /// Returns the list changed by the setting `modelPrices`, and a message for every entry
    /// that cannot be used. Such a model has no price, not the list's.
    pub fn with(setting: &Value) -> (Self, Vec<String>) {
        let mut complaints = Vec::new();
        let entries = match setting {
            Value::Object(entries) => entries,
            Value::Null => return (Self::default(), complaints),
            _ => {
                let what = "modelPrices is not an object of models and prices; using the list prices";
                return (Self::default(), vec![what.into()]);
            }
        };
        let mut own = HashMap::new();
        for (model, value) in entries {
            let read = read(value);
            if let Err(why) = &read {
                complaints.push(format!("modelPrices.{model}: {why}; this model has no price"));
            }
            own.insert(model.clone(), read.ok());
        }
        (Self { own }, complaints)
    }

    /// Returns the price of a model by its wire name and, if known, its id. An entry for the
    /// wire name comes first: an id may mean another model today.
    pub fn of(&self, wire: &str, id: Option<&str>) -> Option<Price> {
        let own = self.own.get(wire).or_else(|| self.own.get(id.or_else(|| id_of(wire))?));
        match own {
            Some(own) => *own,
            None => {
                let known = id_of(wire)?;
                PUBLISHED.iter().find(|(id, _)| *id == known).map(|(_, price)| *price)
            }
        }
    }
}

fn id_of(wire: &str) -> Option<&'static str> {
    MODELS.iter().find(|(.., name)| *name == Some(wire)).map(|(id, ..)| *id)
}

fn read(value: &Value) -> Result<Price, String> {
    const FIELDS: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
    let fields = value.as_object().ok_or("expected {\"input\": DOLLARS, \"output\": DOLLARS}")?;
    if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!("{unknown:?} is not one of input, output, cacheRead, cacheWrite"));
    }
    let dollars = |field: &str| match fields.get(field) {
        None => Ok(None),
        Some(number) => match number.as_f64().filter(|dollars| dollars.is_finite() && *dollars >= 0.0) {
            Some(dollars) => Ok(Some(dollars)),
            None => Err(format!("{field} is not an amount in dollars")),
        },
    };
    Ok(Price {
        input: dollars("input")?.ok_or("input is missing")?,
        output: dollars("output")?.ok_or("output is missing")?,
        cache_read: dollars("cacheRead")?,
        cache_write: dollars("cacheWrite")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn usage(input_tokens: u64, output_tokens: u64, cache_read_tokens: u64, cache_write_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }
    }

    #[test]
    fn every_id_but_the_local_one_has_a_price() {
        let prices = Prices::default();
        let priced = |(_, _, wire): &(_, _, Option<&str>)| prices.of(wire.unwrap_or("qwen"), None).is_some();
        let priced: Vec<_> = MODELS.iter().map(priced).collect();
        assert_eq!(priced, [true, true, true, true, true, true, true, false]);
        let sonnet = prices.of("claude-sonnet-4-20250514", None).unwrap();
        assert_eq!(sonnet.of(&usage(1_000_000, 100_000, 1_000_000, 100_000)), Some(3.0 + 1.5 + 0.3 + 0.375));
    }

    #[test]
    fn tokens_without_a_price_make_the_cost_unknown() {
        let bare = Price { input: 1.0, output: 2.0, cache_read: None, cache_write: None };
        assert_eq!(bare.of(&usage(1, 1, 0, 0)), Some(0.000003));
        assert_eq!(bare.of(&usage(1, 1, 1, 0)), None);
    }

    #[test]
    fn the_operators_prices_come_first_and_broken_ones_are_none() {
        let (prices, complaints) = Prices::with(&json!({
            "gpt_4o": {"input": 1, "output": 2},
            "o3": {"input": "cheap", "output": 2},
            "lm_studio_server_routed": {"input": 0, "output": 0},
            "qwen": {"input": 5, "output": 5},
            "x": {"input": 1, "output": 1, "cache": 1},
            "y": {"input": -1, "output": 1},
        }));
        assert_eq!(prices.of("gpt-4o", None).map(|price| price.input), Some(1.0));
        assert_eq!(prices.of("o3", Some("o3")), None);
        assert_eq!(prices.of("llama", Some("lm_studio_server_routed")).map(|price| price.input), Some(0.0));
        assert_eq!(prices.of("qwen", Some("lm_studio_server_routed")).map(|price| price.input), Some(5.0));
        // An id that stands for another model does not lend it its list price.
        assert_eq!(prices.of("claude-future", Some("claude_opus_4")), None);
        assert_eq!(
            complaints,
            [
                "modelPrices.o3: input is not an amount in dollars; this model has no price",
                "modelPrices.x: \"cache\" is not one of input, output, cacheRead, cacheWrite; this model has no price",
                "modelPrices.y: input is not an amount in dollars; this model has no price",
            ]
        );
        assert_eq!(Prices::with(&json!([])).1.len(), 1);
    }
}
