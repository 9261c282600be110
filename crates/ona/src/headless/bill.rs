//! What a run has used so far and what that is charged, for the result message.
//!
//! A run's sum: a session that is resumed does not count again what earlier runs were told.

use ona_transcript::{Prices, Spent};
use serde_json::{Map, Value, json};
use std::sync::{Mutex, PoisonError};

pub struct Bill {
    prices: Prices,
    spent: Mutex<Spent>,
}

impl Bill {
    pub fn new(prices: Prices) -> Self {
        Self { prices, spent: Mutex::default() }
    }

    /// Adds a turn and puts the sums of the run into its result message.
    pub fn settle(&self, turn: &Spent, result: &mut Value) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.merge(turn);
        let models: Map<String, Value> = spent
            .shares()
            .iter()
            .map(|share| {
                let described = json!({
                    "inputTokens": share.usage.input_tokens,
                    "outputTokens": share.usage.output_tokens,
                    "cacheReadInputTokens": share.usage.cache_read_tokens,
                    "cacheCreationInputTokens": share.usage.cache_write_tokens,
                    "webSearchRequests": 0,
                    "costUSD": share.cost(&self.prices),
                    "canonicalModel": share.model_id,
                });
                (share.model.clone(), described)
            })
            .collect();
        result["total_cost_usd"] = json!(spent.cost(&self.prices));
        result["modelUsage"] = Value::Object(models);
    }
}
