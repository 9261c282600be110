//! The two wire formats.

use ona_api::model::ProviderName;
use ona_auth::ModelChoice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// Anthropic's Messages API.
    Messages(ImageSupport),
    /// OpenAI's Chat Completions and whatever is compatible with it.
    Chat(ImageSupport),
}

/// Whether a model receives images or a line of text about each (DEC-032).
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
            // What a local server serves cannot be told from here; a refusal can (see `classify`).
            (ProviderName::OpenaiCompatible | ProviderName::LmStudioLocal, _) => WireFormat::Chat(ImageSupport::Images),
        }
    }

    /// Returns the same format for a model that does not accept images.
    pub fn text_only(self) -> Self {
        match self {
            WireFormat::Messages(_) => WireFormat::Messages(ImageSupport::TextOnly),
            WireFormat::Chat(_) => WireFormat::Chat(ImageSupport::TextOnly),
        }
    }
}
