//! Usage of a session: tokens by model and by turn, and their cost.
//!
//! The sum of the usage rows, including those of the session's subagents. The store finds
//! these rows and returns them in the order they were written, so that the usage of a
//! subagent counts for the turn it worked in.

use crate::prices::{Prices, rounded};
use crate::record::{Body, ProgressRecord, Record};
use ona_api::model::Usage;
use ona_api::row::Block;
use serde_json::{Value, json};

/// Begins the feedback of Stop hooks. A row with it continues a turn and does not begin one.
pub const STOP_FEEDBACK: &str = "Stop hook feedback:\n";

/// Tokens by model, in the order the models were first used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage(Vec<ModelUsage>);

/// Usage of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelUsage {
    /// The wire string.
    pub model: String,
    pub model_id: Option<String>,
    pub usage: Usage,
    pub replies: u64,
    /// Number of replies for which the server did not report usage.
    pub uncounted: u64,
}

impl TokenUsage {
    pub fn push(&mut self, record: &Record) {
        if let Body::Progress(ProgressRecord::Usage { model, model_id, usage }) = &record.body {
            self.add(ModelUsage {
                model: model.clone(),
                model_id: model_id.clone(),
                usage: *usage,
                replies: 1,
                uncounted: u64::from(*usage == Usage::default()),
            });
        }
    }

    pub fn merge(&mut self, other: &TokenUsage) {
        other.0.iter().cloned().for_each(|share| self.add(share));
    }

    fn add(&mut self, new: ModelUsage) {
        let same = |share: &&mut ModelUsage| share.model == new.model && share.model_id == new.model_id;
        match self.0.iter_mut().find(same) {
            Some(share) => {
                share.usage.add(new.usage);
                share.replies += new.replies;
                share.uncounted += new.uncounted;
            }
            None => self.0.push(new),
        }
    }

    pub fn shares(&self) -> &[ModelUsage] {
        &self.0
    }

    pub fn usage(&self) -> Usage {
        self.0.iter().fold(Usage::default(), |mut sum, share| {
            sum.add(share.usage);
            sum
        })
    }

    pub fn replies(&self) -> u64 {
        self.0.iter().map(|share| share.replies).sum()
    }

    /// Returns US dollars; `None` if any part of the cost is unknown.
    pub fn cost(&self, prices: &Prices) -> Option<f64> {
        self.0.iter().map(|share| share.cost(prices)).sum::<Option<f64>>().map(rounded)
    }

    /// Returns the models because of which the cost is unknown.
    pub fn unpriced(&self, prices: &Prices) -> Vec<&str> {
        self.0.iter().filter(|share| share.cost(prices).is_none()).map(|share| share.model.as_str()).collect()
    }
}

impl ModelUsage {
    /// `None` without a price, or without a count.
    pub fn cost(&self, prices: &Prices) -> Option<f64> {
        let price = prices.of(&self.model, self.model_id.as_deref())?;
        if self.uncounted == 0 { price.of(&self.usage) } else { None }
    }
}

/// Which session a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOwner {
    Session,
    /// A session that an Agent call of this one created.
    Subagent,
}

/// Usage of one turn; `sequence` is the row of its prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnUsage {
    pub sequence: i64,
    pub spent: TokenUsage,
}

/// Usage of a whole session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageReport {
    pub spent: TokenUsage,
    pub turns: Vec<TurnUsage>,
}

impl UsageReport {
    /// Adds the next row in the order of writing.
    pub fn push(&mut self, whose: RowOwner, record: &Record) {
        if whose == RowOwner::Session && is_prompt(record) {
            self.turns.push(TurnUsage { sequence: record.sequence, spent: TokenUsage::default() });
        }
        self.spent.push(record);
        if let Some(turn) = self.turns.last_mut() {
            turn.spent.push(record);
        }
    }

    pub fn json(&self, prices: &Prices) -> Value {
        let models: Vec<_> = self.spent.shares().iter().map(|share| share.json(prices)).collect();
        let turn = |turn: &TurnUsage| {
            json!({
                "sequence": turn.sequence, "replies": turn.spent.replies(), "usage": counted(&turn.spent.usage()),
                "cost_usd": turn.spent.cost(prices),
            })
        };
        json!({
            "replies": self.spent.replies(),
            "usage": counted(&self.spent.usage()),
            "total_cost_usd": self.spent.cost(prices),
            "models": models,
            "turns": self.turns.iter().map(turn).collect::<Vec<_>>(),
        })
    }

    /// Two lines for a person.
    pub fn words(&self, prices: &Prices) -> (String, String) {
        let usage = self.spent.usage();
        let tokens = format!(
            "{} in, {} out, {} read from cache, {} written to cache",
            usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
        );
        let cost = match self.spent.cost(prices) {
            Some(dollars) => format!("${dollars:.4}"),
            None => {
                format!("not known: no price, or no count of tokens, for {}", self.spent.unpriced(prices).join(", "))
            }
        };
        (tokens, cost)
    }
}

impl ModelUsage {
    fn json(&self, prices: &Prices) -> Value {
        json!({
            "model": self.model, "model_id": self.model_id, "replies": self.replies, "usage": counted(&self.usage),
            "cost_usd": self.cost(prices),
        })
    }
}

/// Returns the usage with the field names of the Messages API, which other programs read.
pub fn counted(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
    })
}

fn is_prompt(record: &Record) -> bool {
    let Body::User { content, .. } = &record.body else { return false };
    let goes_on = |block: &Block| match block {
        Block::Text(text) => text.starts_with(STOP_FEEDBACK),
        Block::ToolResult { .. } | Block::ToolUse { .. } => true,
    };
    content.is_empty() || !content.iter().all(goes_on)
}
