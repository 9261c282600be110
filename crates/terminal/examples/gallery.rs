//! Shows every block once, as `scripts/screenshot` and people look at them:
//! `cargo run -p ona-terminal --example gallery`, with a width as the first argument.

use ona_api::{CallId, ToolCall, ToolResult};
use ona_terminal::blocks::{
    AgentBlock, CallBlock, CallState, Closing, HookSummary, StartScreen, StatusLine, agent_block, call_block, closing,
    diff_texts, failure, notice, prompt, start_screen, status_line, waiting, working,
};
use ona_terminal::markdown::markdown;
use ona_terminal::screen::{Bottom, Painter, PainterOptions, Reflow, Size};
use ratatui_core::text::{Line, Span};
use serde_json::{Value, json};
use std::time::Duration;

const REPLY: &str = "\
## What I found
The gate is `open` when **every** criterion has a test, see [the notes](https://example.com/gate). Three places matter:

- `crates/workflow/src/gate.rs` decides; it is *pure*
  - it never reads a file
- `crates/store` keeps the runs
1. run `scripts/test --fast`
2. commit

```rust
/// Whether the gate opens.
fn opens(criteria: &[Criterion]) -> bool {
    criteria.iter().all(|criterion| criterion.tests > 0) // none is left
}
```

| file | lines | what it does |
|---|--:|---|
| gate.rs | 120 | decides whether verify may start |
| 漢字.rs | 7 | wide characters |

> Nothing else reads the table.";

fn main() -> std::io::Result<()> {
    let width: u16 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(80);
    let size = Size { width, height: 60 };
    let mut painter = Painter::new(std::io::stdout(), PainterOptions { size, colours: true, reflow: Reflow::All });
    let mut lines = Vec::new();
    for block in blocks(width) {
        lines.extend(block);
        lines.push(Line::default());
    }
    lines.push(working("Reading the gate", Duration::from_secs(12), "esc stops", width));
    let rule = Line::styled("─".repeat(usize::from(width)), ona_terminal::theme::DIM);
    let composer = Line::from(vec![Span::styled("› ", ona_terminal::theme::ACTION), Span::raw("and now the tests")]);
    let status = StatusLine {
        phase: Some("implement".into()),
        mode: Some("accept edits".into()),
        model: "claude-sonnet-4-5".into(),
        context: Some(42),
        cost: Some(1.237),
        session: Some("gate-cleanup".into()),
        hint: "? keys".into(),
        ..StatusLine::default()
    };
    let bottom =
        Bottom { lines: vec![rule.clone(), composer, rule, status_line(&status, width)], cursor: Some((19, 1)) };
    painter.paint(size, &lines, &bottom)?;
    painter.leave(size)?;
    painter.paint(size, &bottom.lines, &Bottom::default())?;
    Ok(())
}

fn blocks(width: u16) -> Vec<Vec<Line<'static>>> {
    let start = StartScreen {
        version: "0.1.0".into(),
        folder: "~/src/agent-sdlc-runtime".into(),
        model: "claude-sonnet-4-5 (claude_code_subscription)".into(),
        phase: "implement · plan 3 approved".into(),
        guards: vec!["12 hooks".into(), "3 deny rules".into(), "planning gate".into()],
        warnings: vec!["hook check-style cannot run: node was not found; ona doctor".into()],
    };
    let call = |name: &str, input: Value| ToolCall { id: CallId::from("c1"), name: name.into(), input };
    let bash = call("Bash", json!({"command": "cargo test -p ona-workflow gate"}));
    let push = call("Bash", json!({"command": "git push --force origin main"}));
    let read = call("Read", json!({"file_path": "crates/workflow/src/gate.rs"}));
    let edit = call("Edit", json!({"file_path": "crates/workflow/src/gate.rs"}));
    let todo = call(
        "TodoWrite",
        json!({"todos": [
            {"content": "Read the gate", "status": "completed"},
            {"content": "Change it", "activeForm": "Changing it", "status": "in_progress"},
            {"content": "Run the tests", "status": "pending"},
        ]}),
    );
    let old = "fn opens(criteria: &[Criterion]) -> bool {\n    criteria.iter().all(|c| c.tests > 0)\n}\n\n// end\n";
    let new =
        "fn opens(criteria: &[Criterion]) -> bool {\n    criteria.iter().all(|c| c.tests >= c.wanted)\n}\n\n// end\n";
    let patch = json!([{"oldStart": 41, "newStart": 41, "lines": [
        " fn opens(criteria: &[Criterion]) -> bool {",
        "-    criteria.iter().all(|c| c.tests > 0)",
        "+    criteria.iter().all(|c| c.tests >= c.wanted)",
        " }",
    ]}]);
    let fields = |value: Value| value.as_object().cloned().unwrap_or_default();
    let edited = ToolResult { data: fields(json!({"structuredPatch": patch})), ..ToolResult::success("Edited") };
    let output: String = (1..30).map(|number| format!("test gate::case_{number} ... ok\n")).collect();
    let tested = ToolResult::success(format!("{output}test result: ok. 29 passed"));
    let failed = ToolResult {
        data: fields(json!({"exit_code": 101})),
        ..ToolResult::rejected("error[E0308]: mismatched types\n --> src/gate.rs:42:5\nerror: could not compile")
    };
    let hooks =
        [HookSummary { event: "PreToolUse".into(), ran: 3, took: Duration::from_millis(12), ..HookSummary::default() }];
    let denied = [HookSummary { denied: vec!["no force push".into()], ..hooks[0].clone() }];
    let block = |call, state, hooks| {
        call_block(&CallBlock { call, state, hooks, expanded: false, expand_key: "ctrl+o" }, width)
    };
    let finished = |result, seconds| CallState::Finished { result, took: Some(Duration::from_secs_f64(seconds)) };
    let agent = AgentBlock {
        kind: "Explore",
        description: "find who reads the gate",
        calls: 7,
        tokens: 0,
        elapsed: Duration::from_secs(41),
        doing: Some("Grep  opens( in crates"),
        ended: None,
    };
    vec![
        start_screen(&start, width),
        prompt("Make the gate count wanted tests, and say what you find", width),
        markdown(REPLY, width),
        block(&read, finished(&ToolResult::success("a\n".repeat(120)), 0.01), &[]),
        block(&edit, finished(&edited, 0.2), &hooks),
        ona_terminal::blocks::diff_rows(&diff_texts(old, new, 1), width),
        block(&bash, finished(&tested, 4.2), &[]),
        block(&bash, finished(&failed, 71.0), &[]),
        block(
            &bash,
            CallState::Running { elapsed: Duration::from_secs(8), output: "   Compiling ona\nrunning 20 tests" },
            &[],
        ),
        block(&push, CallState::Denied { reason: "no force push", by: Some("hook guard.sh (PreToolUse)") }, &denied),
        block(&todo, finished(&ToolResult::success("ok"), 0.0), &[]),
        agent_block(&agent, width),
        vec![waiting("the server is overloaded (529)", 2, 10, Duration::from_millis(3_200), width)],
        notice("About 120,000 tokens were summarised to 8,000.", width),
        failure(
            "the credential was refused: invalid x-api-key",
            Some("Set ANTHROPIC_API_KEY, or run  ona auth login"),
            width,
        ),
        closing(
            &Closing {
                took: Duration::from_secs(754),
                turns: 4,
                tokens: Some(128_400),
                cost: Some(1.24),
                resume: Some("ona --resume 6c1f8a52".into()),
            },
            width,
        ),
    ]
}
