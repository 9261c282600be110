//! The tokens and the cost of a run so far, for the result message.
//!
//! Only this run counts: a resumed session does not count again what earlier runs reported.

use ona_orchestration::Model;
use ona_settings::ModelInfo;
use ona_transcript::{Prices, TokenUsage};
use serde_json::{Map, Value, json};

pub(crate) struct RunCost {
    prices: Prices,
    info: ModelInfo,
    spent: TokenUsage,
}

impl RunCost {
    pub(crate) fn new(prices: Prices, info: ModelInfo) -> Self {
        Self { prices, info, spent: TokenUsage::default() }
    }

    /// Adds a turn of `model` and returns the sums of the run: dollars, and tokens by model.
    pub(crate) fn add_turn(&mut self, turn: &TokenUsage, model: Option<&Model>) -> (Option<f64>, Map<String, Value>) {
        let spent = &mut self.spent;
        spent.merge(turn);
        let models: Map<String, Value> = spent
            .shares()
            .iter()
            .map(|share| {
                let facts = self.info.of(&share.model, share.model_id.as_deref());
                let of_model = |model: &Model| match model.choice.wire_model == share.model {
                    true => model.context_size(),
                    false => ona_transcript::context_tokens(model.choice.provider, &share.model),
                };
                let context = facts.and_then(|facts| facts.context).or_else(|| model.map(of_model));
                let described = json!({
                    "inputTokens": share.usage.input_tokens,
                    "outputTokens": share.usage.output_tokens,
                    "cacheReadInputTokens": share.usage.cache_read_tokens,
                    "cacheCreationInputTokens": share.usage.cache_write_tokens,
                    "webSearchRequests": 0,
                    "costUSD": share.cost(&self.prices),
                    "canonicalModel": share.model_id,
                    "contextWindow": context,
                    "maxOutputTokens": facts.and_then(|facts| facts.output).unwrap_or(ona_runtime::MAX_TOKENS),
                });
                (share.model.clone(), described)
            })
            .collect();
        (spent.cost(&self.prices), models)
    }
}
