//! Sections 2.2 and 2.3 as tables.

use crate::env;
use ona_api::Env;
use ona_api::model::{FailureClass, MODELS, ModelFailure, ProviderName};
use ona_auth::{
    Endpoint, ModelChoice, ModelConfigError, NamedModel, WireModels, default_model_config, model_of_environment,
    named_model, resolve_named,
};
use serde_json::json;

fn resolve_model(config: &serde_json::Value, env: &Env) -> Result<ModelChoice, ModelConfigError> {
    ona_auth::resolve_model(config, env, &WireModels::default())
}

#[test]
fn every_id_has_the_wire_model_of_the_specification() {
    let env = env([("LM_STUDIO_MODEL", "qwen/qwen3-8b")]);
    for (model_id, provider, wire) in MODELS {
        let config = json!({"provider": provider.as_str(), "model_id": model_id});
        let wire_model = wire.unwrap_or("qwen/qwen3-8b").to_owned();
        assert_eq!(resolve_model(&config, &env), Ok(ModelChoice { provider, model_id, wire_model, overridden: false }));
    }
}

#[test]
fn whatever_is_not_in_the_enums_is_a_configuration_error() {
    let openai = ProviderName::OpenaiCompatible;
    for (config, expected) in [
        (json!(null), ModelConfigError::NotAnObject),
        (json!(["openai_compatible"]), ModelConfigError::NotAnObject),
        (json!({"provider": "openai_compatible"}), ModelConfigError::NotText("model_id")),
        (json!({"model_id": "o3"}), ModelConfigError::NotText("provider")),
        (json!({"provider": 1, "model_id": "o3"}), ModelConfigError::NotText("provider")),
        (
            json!({"provider": "OpenAI_Compatible", "model_id": "o3"}),
            ModelConfigError::UnknownProvider("OpenAI_Compatible".into()),
        ),
        (json!({"provider": "openai_compatible", "model_id": "O3"}), ModelConfigError::UnknownModel("O3".into())),
        (
            json!({"provider": "openai_compatible", "model_id": "claude_opus_4"}),
            ModelConfigError::WrongProvider { provider: openai, model_id: "claude_opus_4".into() },
        ),
        (
            json!({"provider": "openai_compatible", "model_id": "o3", "api_key": "hush"}),
            ModelConfigError::UnknownKey("api_key".into()),
        ),
        (
            json!({"provider": "lm_studio_local", "model_id": "lm_studio_server_routed"}),
            ModelConfigError::MissingVariable(ona_api::environment::LM_STUDIO_MODEL),
        ),
    ] {
        assert_eq!(resolve_model(&config, &env([("LM_STUDIO_MODEL", "")])), Err(expected), "{config}");
    }
}

#[test]
fn an_error_says_what_would_have_been_right() {
    let config = json!({"provider": "openai_compatible", "model_id": "claude_opus_4"});
    let failure = ModelFailure::from(resolve_model(&config, &Env::default()).unwrap_err());
    assert_eq!(failure.class, FailureClass::InvalidRequest);
    assert_eq!(
        failure.message,
        "openai_compatible has no model claude_opus_4; it has gpt_4o, gpt_4o_mini, o3, o3_mini"
    );
}

#[test]
fn a_key_in_the_wrong_place_is_not_repeated_in_full() {
    let config = json!({"provider": "sk-ant-0123456789-0123456789-0123456789", "model_id": "o3"});
    let words = resolve_model(&config, &Env::default()).unwrap_err().to_string();
    assert!(words.starts_with("unknown provider sk-ant-0123456789-012345…;"), "{words}");
}

#[test]
fn an_override_replaces_the_wire_string_of_its_id_only() {
    let env = env([("ONA_WIRE_MODEL_OVERRIDE", " gpt_4o = gpt-next , claude_opus_4=claude-next,")]);
    let choice = |provider: &str, model_id: &str| {
        let choice = resolve_model(&json!({"provider": provider, "model_id": model_id}), &env).unwrap();
        (choice.wire_model, choice.overridden)
    };
    assert_eq!(choice("openai_compatible", "gpt_4o"), ("gpt-next".into(), true));
    assert_eq!(choice("claude_code_subscription", "claude_opus_4"), ("claude-next".into(), true));
    assert_eq!(choice("openai_compatible", "o3"), ("o3".into(), false));
}

#[test]
fn an_override_of_nothing_known_is_an_error_whatever_is_selected() {
    let config = json!({"provider": "openai_compatible", "model_id": "o3"});
    for (text, expected) in [
        ("gpt_6=x", ModelConfigError::UnknownOverride("gpt_6".into())),
        ("gpt_4o", ModelConfigError::BadOverride("gpt_4o".into())),
        ("gpt_4o=", ModelConfigError::BadOverride("gpt_4o=".into())),
    ] {
        assert_eq!(resolve_model(&config, &env([("ONA_WIRE_MODEL_OVERRIDE", text)])), Err(expected));
    }
}

#[test]
fn the_default_model_follows_what_is_there() {
    let openai = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://x"), ("LM_STUDIO_MODEL", "m")];
    let claude = json!({"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"});
    assert_eq!(default_model_config(&env(openai), true), claude);
    assert_eq!(
        default_model_config(&env(openai), false),
        json!({"provider": "openai_compatible", "model_id": "gpt_4o"})
    );
    assert_eq!(
        default_model_config(&env([("OPENAI_API_KEY", "k"), ("LM_STUDIO_MODEL", "m")]), false),
        json!({"provider": "lm_studio_local", "model_id": "lm_studio_server_routed"})
    );
    assert_eq!(default_model_config(&Env::default(), false), claude);
}

#[test]
fn endpoints_have_defaults_and_lose_their_trailing_slashes() {
    use ProviderName::{ClaudeCodeSubscription, LmStudioLocal, OpenaiCompatible};
    for (provider, vars, expected) in [
        (ClaudeCodeSubscription, [("", "")], "https://api.anthropic.com/v1/messages"),
        (ClaudeCodeSubscription, [("ANTHROPIC_BASE_URL", "http://h:1/p//")], "http://h:1/p/v1/messages"),
        (OpenaiCompatible, [("OPENAI_BASE_URL", "https://h/v1")], "https://h/v1/chat/completions"),
        (OpenaiCompatible, [("OPENAI_BASE_URL", "https://h/v1/?v=2")], "https://h/v1/chat/completions?v=2"),
        (LmStudioLocal, [("", "")], "http://127.0.0.1:1234/v1/chat/completions"),
        (LmStudioLocal, [("LM_STUDIO_BASE_URL", "http://[::1]:9/v1/")], "http://[::1]:9/v1/chat/completions"),
    ] {
        assert_eq!(Endpoint::of(provider, &env(vars)).unwrap().url().as_str(), expected);
    }
    let openai = |url| Endpoint::of(OpenaiCompatible, &env([("OPENAI_BASE_URL", url)])).unwrap_err();
    assert_eq!(openai(""), ModelConfigError::MissingVariable(ona_api::environment::OPENAI_BASE_URL));
    for wrong in ["h/v1", "ftp://h", "file:///etc", "http://"] {
        assert_eq!(openai(wrong), ModelConfigError::BadUrl(ona_api::environment::OPENAI_BASE_URL), "{wrong}");
    }
}

#[test]
fn what_is_shown_of_an_endpoint_has_no_password() {
    let env = env([("OPENAI_BASE_URL", "https://me:hush@h:8443/v1?token=hush")]);
    let endpoint = Endpoint::of(ProviderName::OpenaiCompatible, &env).unwrap();
    assert_eq!(endpoint.shown(), "https://h:8443");
    assert_eq!(format!("{endpoint:?}"), "Endpoint(openai_compatible at https://h:8443)");
}

#[test]
fn a_name_outside_the_enum_replaces_the_wire_string() {
    use ProviderName::{ClaudeCodeSubscription as Claude, LmStudioLocal as Local, OpenaiCompatible as Openai};
    let plain = Env::default();
    let gateway = env([("ANTHROPIC_BASE_URL", "http://gateway:1"), ("OPENAI_BASE_URL", "http://127.0.0.1:2/v1")]);
    let vendors = env([
        ("ANTHROPIC_BASE_URL", "https://api.anthropic.com/"),
        ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        ("ANTHROPIC_DEFAULT_OPUS_MODEL", "claude-opus-9"),
    ]);
    for (name, in_use, env, expected) in [
        ("gpt_4o", Claude, &plain, Some((Openai, "gpt_4o", None))),
        ("opus", Claude, &plain, Some((Claude, "claude_opus_4", None))),
        ("opus", Openai, &vendors, Some((Claude, "claude_opus_4", Some("claude-opus-9")))),
        ("claude-sonnet-4-20250514", Openai, &plain, Some((Claude, "claude_sonnet_4", None))),
        ("claude-next", Openai, &plain, Some((Claude, "claude_sonnet_4", Some("claude-next")))),
        ("gpt-4", Claude, &plain, Some((Openai, "gpt_4o", Some("gpt-4")))),
        ("o3-mini", Claude, &plain, Some((Openai, "o3_mini", None))),
        ("o4-mini", Claude, &plain, Some((Openai, "gpt_4o", Some("o4-mini")))),
        ("chatgpt-4o-latest", Claude, &plain, Some((Openai, "gpt_4o", Some("chatgpt-4o-latest")))),
        ("anthropic/glm-5", Openai, &plain, Some((Claude, "claude_sonnet_4", Some("glm-5")))),
        ("anthropic/claude-opus-4-20250514", Openai, &plain, Some((Claude, "claude_opus_4", None))),
        ("openai/meta-llama/llama-4", Claude, &plain, Some((Openai, "gpt_4o", Some("meta-llama/llama-4")))),
        ("openai/o3", Claude, &plain, Some((Openai, "o3", None))),
        ("local/qwen3:8b", Claude, &plain, Some((Local, "lm_studio_server_routed", Some("qwen3:8b")))),
        // A gateway knows its own names; a slip of the operator's is not one of them.
        ("glm-5", Claude, &gateway, Some((Claude, "claude_sonnet_4", Some("glm-5")))),
        ("deepseek/v4", Openai, &gateway, Some((Openai, "gpt_4o", Some("deepseek/v4")))),
        ("claude_sonet_4", Claude, &gateway, None),
        ("Claude_Opus_4", Claude, &gateway, None),
        ("gpt_4p", Openai, &gateway, None),
        ("glm-5", Local, &gateway, None),
        ("glm-5", Claude, &vendors, None),
        ("glm-5", Openai, &vendors, None),
        ("glm-5", Claude, &plain, None),
        ("Opus", Claude, &plain, None),
        ("oxygen", Openai, &plain, None),
        ("", Claude, &gateway, None),
        ("two words", Claude, &gateway, None),
        ("openai/", Claude, &gateway, None),
        ("line\nbreak", Claude, &gateway, None),
    ] {
        let expected = expected.map(|(provider, model_id, wire): (_, _, Option<&str>)| NamedModel {
            provider,
            model_id,
            wire: wire.map(str::to_owned),
        });
        assert_eq!(named_model(name, in_use, env).ok(), expected, "{name}");
    }
    let said = |name| named_model(name, Claude, &gateway).unwrap_err().to_string();
    assert_eq!(said("claude_sonet_4"), "unknown model claude_sonet_4; did you mean claude_sonnet_4?");
    assert!(
        said("two words").starts_with("unknown model two words; the ids are claude_opus_4, "),
        "{}",
        said("two words")
    );
}

#[test]
fn a_name_for_this_run_comes_before_the_process_and_the_settings() {
    let setting = json!({"claude_sonnet_4": "from-settings", "gpt_4o": "gpt-settings"});
    let lasting = WireModels::read(&setting).unwrap();
    let env = env([("ONA_WIRE_MODEL_OVERRIDE", "claude_sonnet_4=from-process"), ("LM_STUDIO_MODEL", "m")]);
    for (name, wire, overridden) in [
        ("claude_sonnet_4", "from-process", true),
        ("gpt_4o", "gpt-settings", true),
        ("o3", "o3", false),
        ("anthropic/typed", "typed", true),
        ("local/other", "other", true),
        ("local/m", "m", false),
        ("lm_studio_server_routed", "m", false),
    ] {
        let named = named_model(name, ProviderName::ClaudeCodeSubscription, &env).unwrap();
        let choice = resolve_named(&named, &env, &lasting).unwrap();
        assert_eq!((choice.wire_model.as_str(), choice.overridden), (wire, overridden), "{name}");
    }
    let local = named_model("local/x", ProviderName::ClaudeCodeSubscription, &Env::default()).unwrap();
    assert_eq!(resolve_named(&local, &Env::default(), &lasting).unwrap().wire_model, "x");
    for (setting, said) in [
        (json!(3), "the setting wireModels: it must be an object of model ids and names"),
        (json!({"gpt_4": "x"}), "the setting wireModels: gpt_4 is not a model id; did you mean gpt_4o?"),
        (json!({"gpt_4o": ""}), "the setting wireModels: the name for gpt_4o must be a non-empty string"),
    ] {
        assert_eq!(WireModels::read(&setting).unwrap_err().to_string(), said);
    }
}

#[test]
fn variables_name_a_model_of_their_own_provider() {
    let env = env([("ANTHROPIC_MODEL", "opus"), ("OPENAI_MODEL", "openai/qwen-max")]);
    let of = |provider| model_of_environment(provider, &env).map(|(_, named)| (named.model_id, named.wire));
    assert_eq!(of(ProviderName::ClaudeCodeSubscription), Some(("claude_opus_4", None)));
    assert_eq!(of(ProviderName::OpenaiCompatible), Some(("gpt_4o", Some("qwen-max".to_owned()))));
    assert_eq!(of(ProviderName::LmStudioLocal), None);
}
