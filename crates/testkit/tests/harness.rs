//! What the harness sets so that the program finds its model.

use ona_testkit::Ona;
use ona_testkit::model::{CANARY, Wire, say};
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn a_run_gets_the_address_of_its_model() {
    let mut ona = Ona::new("/usr/bin/env");
    let chat = ona.model(Wire::Chat, [say("x")]);
    let messages = ona.model(Wire::Messages, [say("x")]);
    let printed = ona.run([""; 0]).expect_code(0).stdout;
    let mut lines: Vec<_> = printed
        .lines()
        .filter(|line| ["ANTHROPIC", "OPENAI", "LM_STUDIO"].iter().any(|name| line.starts_with(name)))
        .collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            format!("ANTHROPIC_API_KEY={CANARY}"),
            format!("ANTHROPIC_BASE_URL=http://{}", messages.address()),
            format!("LM_STUDIO_API_KEY={CANARY}"),
            format!("LM_STUDIO_BASE_URL=http://{}/v1", chat.address()),
            "LM_STUDIO_MODEL=scripted".to_owned(),
            format!("OPENAI_API_KEY={CANARY}"),
            format!("OPENAI_BASE_URL=http://{}/v1", chat.address()),
        ]
    );
    let mut client = TcpStream::connect(chat.address()).unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
    client.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    client.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
}

#[test]
fn choosing_a_provider_leaves_the_rest_of_the_row_alone() {
    let ona = Ona::new("/bin/true");
    std::fs::create_dir(ona.db().parent().unwrap()).unwrap();
    ona.execute("CREATE TABLE settings_snapshot (scope TEXT PRIMARY KEY, json TEXT, updated_at TEXT)", []);
    ona.settings(serde_json::json!({"permissions": {"allow": ["Glob"]}, "model_config": {"provider": "other"}}));
    ona.use_provider("openai_compatible", "gpt_4o");
    assert_eq!(
        ona.value("SELECT json FROM settings_snapshot"),
        r#"{"permissions":{"allow":["Glob"]},"model_config":{"provider":"openai_compatible","model_id":"gpt_4o"}}"#
    );
}
