//! What becomes of a session's rows: going back, leaving, going on.

use crate::ona;
use ona_testkit::model::{Wire, say};

#[test]
fn a_conversation_that_went_back_goes_on_from_there() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("reply one"), say("reply two"), say("reply three"), say("reply four")]);
    ona.run(["-p", "prompt one", "--session-id", "s"]).expect_code(0);
    ona.run(["-p", "prompt two", "-r", "s"]).expect_code(0);
    let back = "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) \
                SELECT 's', max(sequence) + 1, 'system', json_object('_t', 'system', 'subtype', 'rewound', 'to_sequence', \
                (SELECT sequence FROM transcript_entries WHERE session_id = 's' AND payload_json LIKE '%reply one%')) \
                FROM transcript_entries WHERE session_id = 's'";
    ona.execute(back, []);
    ona.run(["-p", "prompt three", "-r", "s"]).expect_code(0);
    ona.run(["-p", "prompt four", "-r", "s"]).expect_code(0);
    let told = |index: usize| {
        let body = String::from_utf8_lossy(&server.request(index).body).into_owned();
        ["one", "two", "three", "four"]
            .map(|n| (body.contains(&format!("prompt {n}")), body.contains(&format!("reply {n}"))))
    };
    assert_eq!(told(2), [(true, true), (false, false), (true, false), (false, false)]);
    assert_eq!(told(3), [(true, true), (false, false), (true, true), (true, false)]);
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%prompt two%'"), 1);
}
