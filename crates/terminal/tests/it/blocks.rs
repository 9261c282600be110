use ona_api::{CallId, ToolCall, ToolResult};
use ona_terminal::blocks::*;
use ona_terminal::screen::line_width;
use ona_terminal::theme;
use ratatui_core::style::Modifier;
use ratatui_core::text::Line;
use serde_json::{Value, json};
use std::time::Duration;

fn text(lines: &[Line<'static>]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn tool(name: &str, input: Value) -> ToolCall {
    ToolCall { id: CallId::from("c1"), name: name.into(), input }
}

fn done(result: &ToolResult) -> CallState<'_> {
    CallState::Finished { result, took: Some(Duration::from_millis(4_200)) }
}

fn block(call: &ToolCall, state: CallState<'_>, hooks: &[HookSummary], width: u16) -> String {
    text(&call_block(&CallBlock { call, state, hooks, expanded: false, expand_key: "ctrl+o" }, width))
}

fn with(mut result: ToolResult, data: Value) -> ToolResult {
    result.data = data.as_object().cloned().unwrap_or_default();
    result
}

#[test]
fn a_command_shows_how_it_ended_and_what_it_said_last() {
    let call = tool("Bash", json!({"command": "cargo test\nls"}));
    let output: String = (1..=9).map(|number| format!("line {number}\n")).collect();
    let long = ToolResult::success(output);
    assert_eq!(
        block(&call, done(&long), &[], 60),
        "\
● Bash  cargo test … +1 line  4.2 s
  … 3 more rows · ctrl+o shows all
  line 4
  line 5
  line 6
  line 7
  line 8
  line 9"
    );
    let failed = with(ToolResult::rejected("\x1b[31merror\x1b[m: no\n10%\r100%"), json!({"exit_code": 101}));
    assert_eq!(
        block(&call, done(&failed), &[], 60),
        "✗ Bash  cargo test … +1 line  exit 101 · 4.2 s\n  error: no\n  100%"
    );
    let state = CallState::Running { elapsed: Duration::from_millis(8_900), output: "one\ntwo\nthree\nfour\nfive\n" };
    assert_eq!(block(&call, state, &[], 60), "◐ Bash  cargo test … +1 line  8 s\n  two\n  three\n  four\n  five");
    assert_eq!(block(&call, CallState::Waiting, &[], 24), "○ Bash  cargo …  waiting");
    let all = CallBlock { call: &call, state: done(&long), hooks: &[], expanded: true, expand_key: "ctrl+o" };
    assert_eq!(call_block(&all, 60).len(), 10);
}

#[test]
fn a_refusal_names_its_reason_and_where_it_comes_from() {
    let call = tool("Bash", json!({"command": "git push --force"}));
    let ran = HookSummary { event: "PreToolUse".into(), ran: 3, took: Duration::from_millis(12), ..Default::default() };
    let denied = HookSummary { denied: vec!["no force push".into()], ..ran.clone() };
    let state = CallState::Denied { reason: "no force push", by: Some("hook guard.sh") };
    assert_eq!(
        block(&call, state, std::slice::from_ref(&denied), 60),
        "\
⊘ Bash  git push --force  denied
  by hook guard.sh
  PreToolUse ×3 12 ms · 1 denied: no force push"
    );
    let state = CallState::Denied { reason: "pushing needs\na review", by: Some("rule Bash(git push:*)") };
    assert_eq!(
        block(&call, state, &[], 60),
        "⊘ Bash  git push --force  denied\n  pushing needs\n  a review\n  by rule Bash(git push:*)"
    );
    let failed = HookSummary { ran: 1, failed: vec!["exit 127".into()], changed: 1, ..ran };
    assert_eq!(hook_line(&failed, 60).to_string(), "  PreToolUse 12 ms · 1 failed: exit 127 · 1 changed it");
}

#[test]
fn results_that_are_for_the_model_are_a_number() {
    let read = tool("Read", json!({"file_path": "src/a.rs"}));
    assert_eq!(
        block(&read, CallState::Finished { result: &ToolResult::success("1\n2"), took: None }, &[], 60),
        "● Read  src/a.rs  2 lines"
    );
    let grep = tool("Grep", json!({"pattern": "fn main", "path": "src"}));
    assert_eq!(
        block(&grep, CallState::Finished { result: &ToolResult::success("x"), took: None }, &[], 60),
        "● Grep  fn main in src  1 result"
    );
    let other = tool("mcp__x__y", json!({"depth": 3, "deep": {"a": 1}, "on": true}));
    assert_eq!(
        block(&other, CallState::Finished { result: &ToolResult::success("answer"), took: None }, &[], 60),
        "● mcp__x__y  depth: 3, on: true\n  answer"
    );
}

#[test]
fn an_edit_shows_its_lines_with_the_words_that_differ() {
    let call = tool("Edit", json!({"file_path": "a.rs"}));
    let patch = json!([
        {"oldStart": 9, "newStart": 9, "lines": [" fn a() {", "-    b(1, two)", "+    b(1, three)", " }"]},
        {"oldStart": 90, "newStart": 90, "lines": ["+new"]},
    ]);
    let result = with(ToolResult::success("Edited"), json!({"structuredPatch": patch}));
    assert_eq!(
        block(&call, CallState::Finished { result: &result, took: None }, &[], 60),
        "\
● Edit  a.rs  +2 −1
   9   fn a() {
  10 -     b(1, two)
  10 +     b(1, three)
  11   }
   ⋮
  90 + new"
    );
    let rows = diff_rows(&diff_texts("    b(1, two)\n", "    b(1, three)\n", 10), 60);
    let marked: Vec<_> = rows
        .iter()
        .flat_map(|line| &line.spans)
        .filter(|span| span.style.add_modifier.contains(Modifier::UNDERLINED))
        .collect();
    assert_eq!(marked.iter().map(|span| &*span.content).collect::<Vec<_>>(), ["two)", "three)"]);
    assert_eq!((marked[0].style.fg, marked[1].style.fg), (theme::FAILED.fg, theme::ADDED.fg));
    assert_eq!(
        text(&diff_rows(&diff_texts("a\nb\n", "a\nthis is a long line\n", 1), 16)),
        "   1   a\n   2 - b\n   2 + this is a\n        long lin\n       e"
    );
}

#[test]
fn lists_agents_waits_and_voices() {
    let todos = json!({"todos": [
        {"content": "Read", "status": "completed"},
        {"content": "Change it", "activeForm": "Changing it", "status": "in_progress"},
        {"content": "Run the tests of everything", "status": "pending"},
    ]});
    let call = tool("TodoWrite", todos);
    assert_eq!(
        block(&call, CallState::Finished { result: &ToolResult::success(""), took: None }, &[], 26),
        "● TodoWrite  1 of 3 done\n  ✓ Read\n  ▸ Changing it\n  ○ Run the tests of\n    everything"
    );
    let agent = AgentBlock {
        kind: "Explore",
        description: "find the readers",
        calls: 7,
        tokens: 0,
        elapsed: Duration::from_secs(185),
        doing: Some("Grep  opens("),
        ended: None,
    };
    assert_eq!(text(&agent_block(&agent, 60)), "◐ Explore  find the readers  7 calls · 3 min 05 s\n  Grep  opens(");
    let why = "the server is overloaded";
    assert_eq!(
        waiting(why, 2, 10, Duration::from_millis(3_200), 60).to_string(),
        "◌ the server is overloaded · attempt 2 of 10 in 4 s"
    );
    assert_eq!(
        waiting(why, 2, 10, Duration::from_millis(3_200), 40).to_string(),
        "◌ the server i… · attempt 2 of 10 in 4 s"
    );
    assert_eq!(
        working("Thinking", Duration::from_secs(75), "esc stops", 60).to_string(),
        "◐ Thinking 1 min 15 s · esc stops"
    );
    assert_eq!(text(&notice("two\nlines", 60)), "∙ two\n  lines");
    assert_eq!(
        text(&prompt("a question that is long\n\nand more", 16)),
        "› a question\n  that is long\n  \n  and more"
    );
    assert_eq!(text(&failure("refused", Some("Run  ona auth login"), 60)), "✗ refused\n  Run  ona auth login");
}

#[test]
fn the_status_line_gives_up_what_matters_least() {
    let status = StatusLine {
        phase: Some("implement".into()),
        mode: Some("plan".into()),
        model: "claude-sonnet-4-5".into(),
        context: Some(42),
        cost: Some(1.237),
        session: Some("gate-cleanup".into()),
        hint: "? keys".into(),
        ..StatusLine::default()
    };
    let shown = |width| status_line(&status, width).to_string();
    assert_eq!(shown(100), " implement · plan · claude-sonnet-4-5 · 42 % context · $1.24 · gate-cleanup · ? keys");
    assert_eq!(shown(60), " implement · plan · claude-sonnet-4-5 · 42 % context · $1.24");
    assert_eq!(shown(40), " implement · plan · claude-sonne… · 42 %");
    assert_eq!(shown(20), " implement · plan ·…");
}

#[test]
fn the_first_and_the_last_lines() {
    let start = StartScreen {
        version: "0.1.0".into(),
        folder: "~/project".into(),
        model: "claude-sonnet-4-5".into(),
        phase: "idle".into(),
        guards: vec!["12 hooks".into(), "3 deny rules".into()],
        warnings: vec!["hook x cannot run".into()],
    };
    assert_eq!(
        text(&start_screen(&start, 60)),
        "ona 0.1.0  ~/project\nmodel   claude-sonnet-4-5\nphase   idle\nguards  12 hooks · 3 deny rules\n! hook x cannot run"
    );
    let end = Closing {
        took: Duration::from_secs(754),
        turns: 1,
        tokens: Some(128_400),
        cost: Some(1.24),
        resume: Some("ona --resume 6c1f".into()),
    };
    assert_eq!(
        text(&closing(&end, 60)),
        "1 turn · 12 min 34 s · 128,400 tokens · $1.24\nContinue with  ona --resume 6c1f"
    );
}

/// Hostile words in every place where words can be, at every width.
#[test]
fn no_block_is_wider_than_the_terminal_or_lets_a_terminal_obey() {
    let evil = "\x1b[2J\u{202e}漢字 \x1b]52;c;eA==\x07👨\u{200d}👩\u{200d}👧 \t\r\nsecond";
    let call = tool(evil, json!({"command": evil, "description": evil}));
    let results = [ToolResult::success(evil), ToolResult::rejected(evil)];
    let hooks = [HookSummary {
        event: evil.into(),
        ran: 2,
        denied: vec![evil.into()],
        failed: vec![evil.into()],
        ..Default::default()
    }];
    let patch = json!([{"oldStart": 1, "newStart": 1, "lines": [format!("-{evil}"), format!("+{evil}x")]}]);
    let edit = with(ToolResult::success(evil), json!({"structuredPatch": patch}));
    let start = StartScreen {
        version: evil.into(),
        folder: evil.into(),
        model: evil.into(),
        phase: evil.into(),
        guards: vec![evil.into()],
        warnings: vec![evil.into()],
    };
    let status = StatusLine {
        phase: Some(evil.into()),
        mode: Some(evil.into()),
        model: evil.into(),
        own: Some(evil.into()),
        session: Some(evil.into()),
        ..Default::default()
    };
    for width in 24..100 {
        let mut lines = Vec::new();
        let states = [
            done(&results[0]),
            done(&results[1]),
            CallState::Running { elapsed: Duration::ZERO, output: evil },
            CallState::Denied { reason: evil, by: Some(evil) },
        ];
        for state in states {
            lines.extend(call_block(
                &CallBlock { call: &call, state, hooks: &hooks, expanded: false, expand_key: "" },
                width,
            ));
        }
        let edited = tool("Edit", json!({"file_path": evil}));
        lines.extend(call_block(
            &CallBlock { call: &edited, state: done(&edit), hooks: &[], expanded: false, expand_key: "" },
            width,
        ));
        lines.extend(start_screen(&start, width));
        lines.push(status_line(&status, width));
        lines.extend([prompt(evil, width), notice(evil, width), failure(evil, Some(evil), width)].concat());
        lines.push(waiting(evil, 1, 2, Duration::ZERO, width));
        lines.extend(agent_block(
            &AgentBlock {
                kind: evil,
                description: evil,
                calls: 1,
                tokens: 1_234,
                elapsed: Duration::ZERO,
                doing: Some(evil),
                ended: None,
            },
            width,
        ));
        for line in lines {
            let shown = line.to_string();
            assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown:?}");
            assert!(line_width(&line) <= usize::from(width), "{width}: {shown:?}");
        }
    }
}
