//! What a run has used so far and what that is charged, for the result message.
//!
//! A run's sum: a session that is resumed does not count again what earlier runs were told.

use ona_api::model::ProviderName;
use ona_transcript::{Prices, TokenUsage};
use serde_json::{Map, Value, json};

pub struct Bill {
    prices: Prices,
    spent: TokenUsage,
}

impl Bill {
    pub fn new(prices: Prices) -> Self {
        Self { prices, spent: TokenUsage::default() }
    }

    /// Adds a turn; the sums of the run, in dollars and by model.
    pub fn settle(&mut self, turn: &TokenUsage, provider: Option<ProviderName>) -> (Option<f64>, Map<String, Value>) {
        let spent = &mut self.spent;
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
                    "contextWindow": provider.map(|provider| ona_transcript::context_tokens(provider, &share.model)),
                    "maxOutputTokens": ona_runtime::MAX_TOKENS,
                });
                (share.model.clone(), described)
            })
            .collect();
        (spent.cost(&self.prices), models)
    }
}
