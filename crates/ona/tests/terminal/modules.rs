//! Hook modules with a screen: dialogs, notes, texts in the status line, keys, and events around sessions.

use crate::{enter, ona, type_line};
use ona_testkit::model::{Wire, say};
use ona_testkit::terminal::keys::{DOWN, ENTER, ctrl};
use ona_testkit::{Ona, Terminal};
use serde_json::json;

fn with_module(body: &str) -> Ona {
    let ona = ona();
    ona.file(
        "m.js",
        format!(
            "import {{ appendFileSync }} from 'node:fs';\n\
             const log = (value) => appendFileSync({:?}, JSON.stringify(value ?? null) + '\\n');\n\
             export default function (pi) {{ {body} }}\n",
            ona.project().join("log")
        ),
    );
    ona
}

/// A dialog takes keys a moment after it has appeared.
fn answer(terminal: &Terminal, keys: &str) {
    std::thread::sleep(std::time::Duration::from_millis(350));
    terminal.send(keys);
}

fn logged(ona: &Ona, lines: &[&str]) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let wanted: String = lines.iter().map(|line| format!("{line}\n")).collect();
    loop {
        let found = if ona.exists("log") { ona.read("log") } else { String::new() };
        if found == wanted {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{found}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn leave(mut terminal: Terminal) {
    terminal.wait_until_gone("esc to interrupt");
    terminal.send(&ctrl('d'));
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn dialogs_are_answered_and_texts_are_shown() {
    let mut ona = with_module(
        "pi.registerCommand('ask', { handler: async (args, ctx) => {
            log(await ctx.ui.confirm('Really?', 'It is a mouse.'));
            log(await ctx.ui.select('Which one?', ['grey', 'white']));
            log(await ctx.ui.input('Its name?', 'a name'));
            log(await ctx.ui.custom((tui, theme, done) => {
                let typed = '';
                return {
                    render: () => ['typed so far: ' + theme.fg('success', typed)],
                    handleInput: (key) => { if (key === '\\r') done(typed); else typed += key; },
                };
            }));
            ctx.ui.notify('All was asked.', 'info');
            ctx.ui.setStatus('b', 'second');
            ctx.ui.setStatus('a', 'first\\nline');
            ctx.ui.setEditorText('from the module');
            log(ctx.ui.getEditorText());
        } });",
    );
    let _server = ona.model(Wire::Messages, []);
    let terminal = ona.terminal(["--hook", "m.js"]);
    terminal.wait_for("guards");
    type_line(&terminal, "/ask");
    terminal.wait_for("It is a mouse.");
    answer(&terminal, "y");
    terminal.wait_for("Which one?");
    answer(&terminal, DOWN);
    terminal.send(ENTER);
    terminal.wait_for("Its name?");
    answer(&terminal, "Tim");
    terminal.wait_for("› Tim");
    enter(&terminal);
    terminal.wait_for("typed so far:");
    answer(&terminal, "x");
    terminal.wait_for("typed so far: x");
    answer(&terminal, ENTER);
    terminal.wait_for("All was asked.");
    terminal.wait_for("first line second");
    terminal.wait_for("❯ from the module");
    logged(&ona, &["true", "\"white\"", "\"Tim\"", "\"x\"", "\"from the module\""]);
    terminal.send(&ctrl('c'));
    leave(terminal);
}

#[test]
fn keys_of_modules_run_and_those_that_mean_something_stay() {
    let mut ona = with_module(
        "pi.registerShortcut('f9', { description: 'says so', handler: (ctx) => { log('pressed'); ctx.ui.notify('F9 it is.'); } });
         pi.registerShortcut('ctrl+c', { description: 'never', handler: () => log('never') });",
    );
    let _server = ona.model(Wire::Messages, []);
    let terminal = ona.terminal(["--hook", "m.js"]);
    terminal.wait_for("ctrl+c, which has a meaning already");
    terminal.send("\x1b[20~");
    terminal.wait_for("F9 it is.");
    logged(&ona, &["\"pressed\""]);
    leave(terminal);
}

#[test]
fn sessions_are_announced_and_a_cancel_cancels() {
    let mut ona = with_module(
        "for (const name of ['session_start', 'session_before_switch', 'session_switch', 'session_before_compact', 'session_shutdown'])
            pi.on(name, (event) => { log([name, event.reason ?? null]); if (name.includes('before') && globalThis.no) return { cancel: true }; });
         pi.registerCommand('no', { handler: () => { globalThis.no = true; } });",
    );
    let _server = ona.model(Wire::Messages, [say("First."), say("Second."), say("Third.")]);
    let terminal = ona.terminal(["--hook", "m.js", "--", "one more"]);
    terminal.wait_for("First.");
    terminal.wait_until_gone("esc to interrupt");
    type_line(&terminal, "/clear");
    logged(&ona, &[r#"["session_start",null]"#, r#"["session_before_switch","new"]"#, r#"["session_switch","new"]"#]);
    type_line(&terminal, "two");
    terminal.wait_for("Second.");
    terminal.wait_until_gone("esc to interrupt");
    type_line(&terminal, "/no");
    terminal.wait_for("❯ ");
    type_line(&terminal, "/clear");
    terminal.wait_for("A hook module cancelled /clear");
    type_line(&terminal, "/compact");
    terminal.wait_for("cancelled");
    let other = ona.value("SELECT session_id FROM sessions ORDER BY started_at LIMIT 1").as_str().unwrap().to_owned();
    type_line(&terminal, &format!("/resume {other}"));
    terminal.wait_for("cancelled resuming session");
    type_line(&terminal, "three");
    terminal.wait_for("Third.");
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 2, "a cancelled switch changes nothing");
    leave(terminal);
}

#[test]
fn messages_of_modules_are_drawn_by_their_renderers() {
    let mut ona = with_module(
        "pi.registerMessageRenderer('note', (message, options, theme) => ({ render: () => ['<' + theme.fg('success', message.content) + '>'] }));
         pi.registerCommand('send', { handler: () => {
            pi.sendMessage({ customType: 'note', content: 'drawn', display: true });
            pi.sendMessage({ customType: 'other', content: 'as text', display: true });
            pi.sendMessage({ customType: 'note', content: 'hidden', display: false });
         } });",
    );
    let _server = ona.model(Wire::Messages, []);
    let terminal = ona.terminal(["--hook", "m.js"]);
    terminal.wait_for("guards");
    type_line(&terminal, "/send");
    terminal.wait_for("<drawn>");
    let screen = terminal.wait_for("other: as text");
    assert!(!screen.contains("hidden"), "{screen}");
    leave(terminal);
}

#[test]
fn settings_name_modules_as_well() {
    let mut ona = with_module("pi.on('session_start', (event, ctx) => ctx.ui.notify('A module greets.'));");
    let _server = ona.model(Wire::Messages, []);
    ona.settings(json!({
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "hookModules": ["./m.js"],
    }));
    let terminal = ona.terminal([""; 0]);
    terminal.wait_for("A module greets.");
    leave(terminal);
}
