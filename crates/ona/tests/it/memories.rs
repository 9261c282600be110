//! Memories that enter a prompt.

use crate::ona;
use ona_testkit::model::{Wire, say};
use serde_json::json;

#[test]
fn a_memory_that_enters_a_prompt_is_counted_once_and_the_index_stays_whole() {
    let mut ona = ona();
    ona.run(["memory", "add", "Deploying", "We deploy on Fridays only"]).expect_code(0);
    ona.run(["memory", "add", "Lunch", "At noon"]).expect_code(0);
    let server = ona.model(Wire::Messages, (0..4).map(|_| say("ok")));
    let counts = "SELECT title, access_count, last_accessed IS NOT NULL FROM memories ORDER BY title";

    ona.run(["-p", "when do we deploy?", "--session-id", "s"]).expect_code(0);
    assert!(
        server.request(0).last_message().contains("We deploy on Fridays only"),
        "{}",
        server.request(0).last_message()
    );
    assert!(!server.request(0).last_message().contains("At noon"));
    let once = vec![vec![json!("Deploying"), json!(1), json!(1)], vec![json!("Lunch"), json!(0), json!(0)]];
    assert_eq!(ona.rows(counts), once);
    assert_eq!(ona.value("SELECT count(*) FROM memories_fts"), 2);

    // It is in the context already; a later prompt of the session brings in only what is new.
    ona.run(["-p", "and deploy after lunch?", "-r", "s"]).expect_code(0);
    let body = String::from_utf8_lossy(&server.request(1).body).into_owned();
    assert_eq!(body.matches("We deploy on Fridays only").count(), 1, "{body}");
    assert!(server.request(1).last_message().contains("At noon"));
    assert_eq!(ona.rows(counts), [[json!("Deploying"), json!(1), json!(1)], [json!("Lunch"), json!(1), json!(1)]]);

    // A new session is a new prompt; a bare run remembers nothing.
    ona.run(["-p", "deploy"]).expect_code(0);
    ona.run(["-p", "deploy", "--bare"]).expect_code(0);
    assert!(!server.request(3).last_message().contains("Fridays"));
    assert_eq!(ona.rows(counts)[0], [json!("Deploying"), json!(2), json!(1)]);
    assert_eq!(ona.run(["memory", "search", "deployed", "--json"]).expect_code(0).json()[0]["title"], "Deploying");
}
