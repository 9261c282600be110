//! The two formats in which models are spoken to.

use ona_api::model::ProviderName;
use ona_auth::ModelChoice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// Anthropic's Messages API.
    Messages(ImageSupport),
    /// OpenAI's Chat Completions and whatever is compatible with it.
    Chat(ImageSupport),
}

/// Whether a model is shown pictures or told about them in a line of text (DEC-032).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSupport {
    Images,
    TextOnly,
}

impl WireFormat {
    pub fn of(choice: &ModelChoice) -> Self {
        match (choice.provider, choice.model_id) {
            (ProviderName::ClaudeCodeSubscription, _) => WireFormat::Messages(ImageSupport::Images),
            (ProviderName::OpenaiCompatible, "o3_mini") if !choice.overridden => {
                WireFormat::Chat(ImageSupport::TextOnly)
            }
            // What a local server serves can not be told from here; a refusal can (see `classify`).
            (ProviderName::OpenaiCompatible | ProviderName::LmStudioLocal, _) => WireFormat::Chat(ImageSupport::Images),
        }
    }

    /// The same for a model that takes no pictures.
    pub fn text_only(self) -> Self {
        match self {
            WireFormat::Messages(_) => WireFormat::Messages(ImageSupport::TextOnly),
            WireFormat::Chat(_) => WireFormat::Chat(ImageSupport::TextOnly),
        }
    }
}
