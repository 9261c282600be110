//! Permission, plan, trust, and when a dialog takes keys at all.

use super::super::{
    DialogReply, Overlay, PermissionDialog, PermissionPrompt, PermissionReply, PlanDialog, PlanPrompt, PlanReply,
    TrustDialog, TrustItem, TrustPrompt, TrustReply,
};
use super::Hand;
use crate::Outcome;
use crate::keys::{Input, Key, Keymap, Press};
use ratatui_core::text::Line;
use std::time::Duration;

fn push() -> PermissionPrompt {
    PermissionPrompt {
        title: "Run a command".into(),
        source: "Bash".into(),
        preview: vec![Line::raw("git push origin main")],
        purpose: "Publish the branch".into(),
        reason: "An ask rule wants it: Bash(git push:*) in .claude/settings.json".into(),
        details: vec![Line::raw("runs: git")],
        remember: vec!["Bash(git push origin main)".into()],
        remember_in: ".claude/settings.local.json".into(),
    }
}

#[test]
fn a_permission_dialog_shows_what_why_and_what_would_be_saved() {
    let mut hand = Hand::new(PermissionDialog::new(push()));
    assert_eq!(
        hand.screen(60, 24),
        "Run a command  Bash
  git push origin main
  Publish the branch

  An ask rule wants it: Bash(git push:*) in
  .claude/settings.json

›▏ 1. Yes
  2. Yes, and from now on without asking: Bash(git push
     origin main)
     saved in .claude/settings.local.json
  3. No, and say what to do instead

↑↓ Enter choose · Esc no · Tab comment · Ctrl+E details"
            .replace("›▏ 1", "› ▏1")
    );
    hand.keys("down ctrl+e");
    let shown = hand.screen(60, 24);
    assert!(shown.contains("  runs: git\n") && shown.contains("› ▏2. Yes, and from now on"), "{shown}");
}

#[test]
fn every_answer_can_be_given_by_digit_letter_and_arrow() {
    use PermissionReply::{Always, No, Once};
    let comment = |text: &str| Some(text.to_owned());
    for (keys, reply) in [
        ("1", Once { comment: None }),
        ("y", Once { comment: None }),
        ("enter", Once { comment: None }),
        ("2", Always { comment: None }),
        ("a", Always { comment: None }),
        ("down enter", Always { comment: None }),
        ("j j k enter", Always { comment: None }),
        ("3", No { comment: None }),
        ("n", No { comment: None }),
        ("up enter", No { comment: None }),
        ("escape", No { comment: None }),
        ("ctrl+c", No { comment: None }),
        ("tab o k 1 enter", Once { comment: comment("ok1") }),
        ("tab o k tab enter", Once { comment: None }),
        ("down down tab u s e space m v enter", No { comment: comment("use mv") }),
        ("down down tab n o escape", No { comment: None }),
    ] {
        let mut hand = Hand::new(PermissionDialog::new(push()));
        assert_eq!(hand.keys(keys), [DialogReply::Permission(reply)], "{keys}");
    }
    for keys in ["4", "0", "x", "9", "ctrl+o"] {
        let mut hand = Hand::new(PermissionDialog::new(push()));
        assert_eq!(hand.keys(keys), [], "{keys}");
    }
}

#[test]
fn without_a_rule_to_save_there_is_no_always() {
    let mut hand = Hand::new(PermissionDialog::new(PermissionPrompt { remember: Vec::new(), ..push() }));
    assert_eq!(hand.keys("a"), []);
    assert_eq!(hand.keys("2"), [DialogReply::Permission(PermissionReply::No { comment: None })]);
}

#[test]
fn a_long_change_scrolls_and_the_answers_stay() {
    let preview = (1..=40).map(|n| Line::raw(format!("+line {n}"))).collect();
    let prompt = PermissionPrompt { title: "Edit a.rs".into(), preview, ..PermissionPrompt::default() };
    let mut hand = Hand::new(PermissionDialog::new(prompt));
    assert_eq!(
        hand.screen(40, 12),
        "Edit a.rs\n  +line 1\n  +line 2\n  +line 3\n  +line 4\n  +line 5\n  … 35 more lines · PgDn\n\n› ▏1. Yes\n  \
         2. No, and say what to do instead\n\n↑↓ Enter choose · Esc no · Tab comment"
    );
    hand.keys("pagedown");
    let shown = hand.screen(40, 12);
    assert!(shown.contains("+line 5\n  +line 6\n") && shown.contains("… 4 lines above, 31 below"), "{shown}");
    hand.keys("end");
    assert!(hand.screen(40, 12).contains("+line 40\n"), "{}", hand.screen(40, 12));
    // In a tiny window the answers are what is left.
    assert!(hand.screen(20, 4).contains("› ▏1. Yes"), "{}", hand.screen(20, 4));
}

#[test]
fn keys_from_before_the_dialog_do_not_answer_it() {
    let keys = Keymap::default();
    let at = Duration::from_millis;
    let press = |overlay: &mut Overlay, key: Key, ms: u64| overlay.input(&Input::Key(Press { key, at: at(ms) }), &keys);
    let mut overlay = Overlay::unasked(PermissionDialog::new(push()), at(1_000));
    for ms in [990, 1_000, 1_200, 1_450] {
        assert_eq!(press(&mut overlay, Key::char('y'), ms), Outcome::Unclaimed, "{ms}");
        assert_eq!(press(&mut overlay, Key::ENTER, ms), Outcome::Unclaimed, "{ms}");
    }
    let text = Input::Text { text: "yes\n".into(), at: at(1_500) };
    assert_eq!(overlay.input(&text, &keys), Outcome::Unclaimed);
    let yes = Outcome::Done(DialogReply::Permission(PermissionReply::Once { comment: None }));
    assert_eq!(press(&mut overlay, Key::char('y'), 1_900), yes);
    // Escape is always no.
    let mut overlay = Overlay::unasked(PermissionDialog::new(push()), at(1_000));
    let no = Outcome::Done(DialogReply::Permission(PermissionReply::No { comment: None }));
    assert_eq!(press(&mut overlay, Key::ESC, 1_001), no);
}

#[test]
fn text_that_arrives_in_one_piece_is_no_answer() {
    let mut hand = Hand::new(PermissionDialog::new(push()));
    assert_eq!(hand.chunk("yes 1\n"), Outcome::Changed);
    hand.keys("tab");
    assert_eq!(hand.chunk("with --dry-run\n"), Outcome::Changed);
    let reply = PermissionReply::Once { comment: Some("with --dry-run".into()) };
    assert_eq!(hand.keys("enter"), [DialogReply::Permission(reply)]);
}

#[test]
fn a_plan_is_read_and_approved() {
    let plan = || PlanPrompt {
        plan: (1..=30).map(|n| Line::raw(format!("{n}. a step"))).collect(),
        warning: "It has no success criteria: verify cannot be reached.".into(),
    };
    for (keys, reply) in [
        ("1", PlanReply::AcceptEdits { comment: None }),
        ("enter", PlanReply::AskForEdits { comment: None }),
        ("3", PlanReply::KeepPlanning { comment: None }),
        ("escape", PlanReply::KeepPlanning { comment: None }),
        ("down tab t e s t s enter", PlanReply::KeepPlanning { comment: Some("tests".into()) }),
        ("ctrl+g", PlanReply::Edit),
    ] {
        assert_eq!(Hand::new(PlanDialog::new(plan())).keys(keys), [DialogReply::Plan(reply)], "{keys}");
    }
    let mut hand = Hand::new(PlanDialog::new(plan()));
    assert!(hand.screen(60, 16).starts_with("Approve this plan?\n  1. a step\n"));
    hand.keys("pagedown pagedown pagedown pagedown pagedown pagedown");
    let shown = hand.screen(60, 16);
    assert!(shown.contains("  30. a step\n") && shown.contains("It has no success criteria"), "{shown}");
}

#[test]
fn trust_lists_exactly_what_would_run() {
    let prompt = TrustPrompt {
        folder: "/home/ann/cloned".into(),
        runs: vec![
            TrustItem { kind: "Hooks".into(), each: vec!["PreToolUse: ./check.sh (.claude/settings.json)".into()] },
            TrustItem { kind: "MCP servers".into(), each: vec!["docs: npx docs-server (.mcp.json)".into()] },
            TrustItem { kind: "Modules".into(), each: Vec::new() },
        ],
    };
    let hand = Hand::new(TrustDialog::new(&prompt));
    assert_eq!(
        hand.screen(70, 24),
        "Trust this folder?
  /home/ann/cloned
  If you trust it, these run with your rights:
  Hooks
    PreToolUse: ./check.sh (.claude/settings.json)
  MCP servers
    docs: npx docs-server (.mcp.json)

› ▏1. Yes, trust it
  2. No, go on without its hooks, servers, modules and permissions
  3. Leave

↑↓ Enter choose · Esc no"
    );
    for (keys, reply) in [
        ("enter", TrustReply::Trust),
        ("y", TrustReply::Trust),
        ("2", TrustReply::Restricted),
        ("escape", TrustReply::Restricted),
        ("q", TrustReply::Leave),
    ] {
        assert_eq!(Hand::new(TrustDialog::new(&prompt)).keys(keys), [DialogReply::Trust(reply)], "{keys}");
    }
}
