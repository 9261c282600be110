//! Models asked under another name than their id's own (DEC-080).

use crate::ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::json;

const EVENTS: &str = "SELECT json_extract(detail,'$.model_id') || ' ' || json_extract(detail,'$.wire_model') \
                      FROM events WHERE event_type='wire_model_override'";

#[test]
fn another_wire_name_is_recorded_once_per_session_also_after_a_resume() {
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [call("Glob", json!({"pattern": "*"})), say("one"), say("two"), say("three"), say("four"), say("five")],
    );
    ona.settings(json!({"permissions": {"allow": ["Glob"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    ona.run(["-p", "go", "--session-id", "plain"]).expect_code(0);
    assert_eq!(ona.column(EVENTS), Vec::<serde_json::Value>::new());

    ona.env("ONA_WIRE_MODEL_OVERRIDE", "claude_sonnet_4=claude-next");
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    assert_eq!(server.request(2).json()["model"], "claude-next");
    ona.run(["-p", "go on", "--resume", "s"]).expect_code(0);
    assert_eq!(ona.column(EVENTS), ["claude_sonnet_4 claude-next"]);
    assert_eq!(ona.column("SELECT session_id FROM events WHERE event_type='wire_model_override'"), ["s"]);
    ona.run(["-p", "go", "--session-id", "t"]).expect_code(0);
    assert_eq!(ona.column(EVENTS).len(), 2, "a session of its own");
    ona.env("ONA_WIRE_MODEL_OVERRIDE", "claude_sonnet_4=claude-after-next");
    ona.run(["-p", "go on", "--resume", "s"]).expect_code(0);
    assert_eq!(ona.column(EVENTS).last().unwrap(), "claude_sonnet_4 claude-after-next");
    assert_eq!(
        ona.value("SELECT json_extract(json,'$.model_config.model_id') FROM settings_snapshot WHERE scope='effective'"),
        "claude_sonnet_4"
    );
}
