//! Forms of MCP servers, settings, single lines.

use super::super::{
    ConfigEditor, ConfigEntry, ConfigReply, ConfigValue, Dialog, DialogReply, ElicitationForm, ElicitationPrompt,
    ElicitationReply, InputDialog,
};
use super::Hand;
use serde_json::{Value, json};

fn form(schema: Value) -> Hand {
    let prompt = ElicitationPrompt {
        server: "tickets".into(),
        message: "Open a ticket".into(),
        schema: Some(schema),
        url: None,
    };
    Hand::new(ElicitationForm::new(prompt))
}

fn accepted(content: Value) -> Vec<DialogReply> {
    vec![DialogReply::Elicitation(ElicitationReply::Accept(content.as_object().unwrap().clone()))]
}

fn all_kinds() -> Value {
    json!({"type": "object", "required": ["title", "count"], "properties": {
        "title": {"type": "string", "title": "Title", "minLength": 3, "maxLength": 20, "description": "In a few words"},
        "mail": {"type": "string", "format": "email"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
        "urgent": {"type": "boolean", "default": false},
        "team": {"type": "string", "enum": ["a", "b"], "enumNames": ["Team A", "Team B"]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}, "maxItems": 2}
    }})
}

#[test]
fn a_form_is_filled_in_by_keys() {
    let mut hand = form(all_kinds());
    assert_eq!(hand.types("Broken"), []);
    hand.keys("enter enter backspace 3 enter space enter right right enter space right space");
    assert_eq!(
        hand.screen(60, 24),
        "tickets asks\n  Open a ticket\n\n  Title *: Broken\n    In a few words\n  mail:\n  count *: 3\n  urgent: yes\n  \
         team: ‹ Team B ›\n› tags: [x] x  [▏x] y  [ ] z\n  Send\n  Decline\n\n←→ Space mark · Enter go on · Esc close without an answer"
    );
    assert_eq!(
        hand.keys("enter enter"),
        accepted(json!({"title": "Broken", "count": 3, "urgent": true, "team": "b", "tags": ["x", "y"]}))
    );
}

#[test]
fn what_does_not_fit_is_said_at_its_field() {
    for (fill, message) in [
        ("enter enter enter enter enter enter enter", "needed"),
        ("a b enter enter enter enter enter enter enter", "needs at least 3 characters"),
        ("a b c down x enter enter enter enter enter enter", "must be an e-mail address"),
        ("a b c down down 5 enter enter enter enter enter", "must be at most 9"),
        ("a b c down down backspace enter enter enter enter enter", "needed"),
        ("a b c down down x enter enter enter enter enter", "must be a whole number"),
        ("a b c up up up space right space right space enter enter", "takes at most 2 choices"),
    ] {
        let mut hand = form(all_kinds());
        assert_eq!(hand.keys(fill), [], "{fill}");
        assert!(hand.screen(60, 30).contains(&format!("\n    {message}\n")), "{fill}: {}", hand.screen(60, 30));
    }
}

#[test]
fn optional_fields_may_stay_empty_and_defaults_count() {
    let mut hand = form(all_kinds());
    hand.types("abc");
    assert_eq!(hand.keys("up enter"), [DialogReply::Elicitation(ElicitationReply::Decline)]);
    let mut hand = form(all_kinds());
    hand.types("abc");
    assert_eq!(hand.keys("up up enter"), accepted(json!({"title": "abc", "count": 2, "urgent": false})));
    let mut hand = form(all_kinds());
    assert_eq!(hand.keys("a escape"), [DialogReply::Elicitation(ElicitationReply::Cancel)]);
}

#[test]
fn formats_and_choices_are_checked() {
    for (schema, typed, fits) in [
        (json!({"type": "string", "format": "uri"}), "https://a.b", true),
        (json!({"type": "string", "format": "uri"}), "a.b", false),
        (json!({"type": "string", "format": "date"}), "2026-02-30", true),
        (json!({"type": "string", "format": "date"}), "2026-13-01", false),
        (json!({"type": "string", "format": "date-time"}), "2026-01-01T10:00:00Z", true),
        (json!({"type": "string", "format": "date-time"}), "2026-01-01", false),
        (json!({"type": "number"}), "1.5", true),
        (json!({"type": "number"}), "inf", false),
        (json!({"type": "string", "format": "made-up"}), "anything", true),
    ] {
        let mut hand = form(json!({"properties": {"f": schema}, "required": ["f"]}));
        hand.types(typed);
        assert_eq!(hand.keys("enter enter").len(), usize::from(fits), "{schema} {typed}");
    }
    let mut hand = form(
        json!({"properties": {"f": {"oneOf": [{"const": 1, "title": "One"}, {"const": 2, "title": "Two"}], "default": 2}}}),
    );
    assert!(hand.screen(40, 9).contains("‹ Two ›"));
    assert_eq!(hand.keys("1 enter enter"), accepted(json!({"f": 1})));
    let mut hand = form(json!({"properties": {"f": {"type": "object"}}, "required": ["f"]}));
    assert_eq!(hand.keys("enter enter"), []);
    assert!(hand.screen(60, 12).contains("cannot be filled in here (object)"));
}

#[test]
fn an_address_is_shown_before_it_is_opened() {
    let prompt = ElicitationPrompt {
        server: "bank".into(),
        message: "Sign in".into(),
        schema: None,
        url: Some("https://example.com/sign-in?x=1".into()),
    };
    let mut hand = Hand::new(ElicitationForm::new(prompt));
    assert!(hand.screen(60, 12).contains("\n  https://example.com/sign-in?x=1\n"));
    assert_eq!(hand.keys("enter"), accepted(json!({})));
}

fn settings() -> ConfigEditor {
    let entry =
        |key: &str, value| ConfigEntry { key: key.into(), help: format!("About {key}"), value, origin: "user".into() };
    ConfigEditor::new(vec![
        entry("verbose", ConfigValue::Switch(false)),
        entry("editorMode", ConfigValue::Choice { choices: vec!["normal".into(), "vim".into()], chosen: 0 }),
        entry("language", ConfigValue::Text(String::new())),
        entry("model", ConfigValue::Fixed { value: "opus".into(), why: "Set by --model for this run".into() }),
    ])
}

#[test]
fn settings_are_changed_in_place() {
    let set = |key: &str, value| vec![DialogReply::Config(ConfigReply::Set { key: key.into(), value, scope: 0 })];
    let mode = |chosen| ConfigValue::Choice { choices: vec!["normal".into(), "vim".into()], chosen };
    for (keys, replies) in [
        ("enter", set("verbose", ConfigValue::Switch(true))),
        ("space", set("verbose", ConfigValue::Switch(true))),
        ("down right", set("editorMode", mode(1))),
        ("down left", set("editorMode", mode(1))),
        ("l a n g enter d e enter", set("language", ConfigValue::Text("de".into()))),
        ("l a n g enter d e escape", vec![]),
        ("up enter", vec![]),
        ("l a n g escape escape", vec![DialogReply::Config(ConfigReply::Closed)]),
    ] {
        assert_eq!(Hand::new(settings()).keys(keys), replies, "{keys}");
    }
}

#[test]
fn settings_show_what_counts() {
    let mut hand = Hand::new(settings());
    hand.keys("down");
    assert_eq!(
        hand.screen(60, 20),
        "Settings\n⌕ ▏type to search\n  verbose     off\n› editorMode  ‹ normal ›\n  language    –\n  model       opus\n\n  \
         About editorMode (user)\n↑↓ choose · Enter Space ←→ change · Esc close"
    );
    let Dialog::Config(editor) = &mut hand.overlay.dialog else { panic!("it is the settings") };
    editor.set_error("the file cannot be written");
    assert!(hand.screen(60, 20).contains("\n  the file cannot be written\n"));
    let Dialog::Config(editor) = &mut hand.overlay.dialog else { panic!("it is the settings") };
    editor.set_value("editorMode", ConfigValue::Text("vim".into()), "local");
    let shown = hand.screen(60, 20);
    assert!(shown.contains("› editorMode  vim\n") && shown.contains("(local)"), "{shown}");
    hand.keys("down down enter");
    assert!(hand.screen(60, 20).contains("\n  Set by --model for this run\n"));
}

#[test]
fn a_line_is_asked_for() {
    let reply = |text: Option<&str>| vec![DialogReply::Input(text.map(str::to_owned))];
    assert_eq!(Hand::new(InputDialog::new("Name?", "", "")).keys("a b enter"), reply(Some("ab")));
    assert_eq!(Hand::new(InputDialog::new("Name?", "", "old")).keys("enter"), reply(Some("old")));
    assert_eq!(Hand::new(InputDialog::new("Name?", "", "old")).keys("x escape"), reply(None));
    let hand = Hand::new(InputDialog::new("What is its name?", "for instance ona", ""));
    assert_eq!(hand.screen(40, 9), "What is its name?\n› ▏for instance ona\n\nEnter take it · Esc close");
}
