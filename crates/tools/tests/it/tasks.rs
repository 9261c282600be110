use crate::fixture::Fixture;
use ona_api::ResultClass;
use ona_tools::{TaskInfo, TaskKind, TaskState};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn start(command: &str) -> Value {
    json!({"command": command, "run_in_background": true})
}

#[tokio::test]
async fn a_background_command_is_read_when_it_has_ended() {
    let fixture = Fixture::new();
    let result = fixture.call("Bash", start("echo out; echo err >&2; exit 3")).await;
    assert_eq!(result.content, "Started task b1. TaskOutput returns what it prints, TaskStop ends it.");
    assert_eq!(result.data["backgroundTaskId"], "b1");
    for _ in 0..2 {
        let result = fixture.call("TaskOutput", json!({"task_id": "b1"})).await;
        assert_eq!(
            (result.class, result.content.as_str()),
            (ResultClass::Success, "Task b1: ended with exit code 3\nout\n\n--- stderr ---\nerr\n")
        );
        assert_eq!(
            Value::Object(result.data),
            json!({
                "retrieval_status": "success",
                "task": {
                    "task_id": "b1", "task_type": "bash", "status": "failed",
                    "description": "echo out; echo err >&2; exit 3",
                    "output": "out\n\n--- stderr ---\nerr\n", "exitCode": 3,
                },
            })
        );
    }
}

#[tokio::test]
async fn a_running_task_can_be_looked_at_and_stopped() {
    let fixture = Fixture::new();
    fixture.ok("Bash", start("echo $$ >pid; echo begun; sleep 60")).await;
    let look = json!({"task_id": "b1", "block": false});
    while fixture.call("TaskOutput", look.clone()).await.content != "Task b1: running\nbegun\n" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let began = Instant::now();
    let waited = fixture.call("TaskOutput", json!({"task_id": "b1", "timeout": 50})).await;
    assert!(began.elapsed() >= Duration::from_millis(50));
    assert_eq!(waited.data["retrieval_status"], "timeout");

    let title = "echo $$ >pid; echo begun; sleep 60";
    assert_eq!(fixture.ok("TaskStop", json!({"task_id": "b1"})).await, format!("Stopped task b1 ({title})"));
    assert_eq!(fixture.ok("Bash", json!({"command": "kill -0 $(<pid) 2>/dev/null || echo gone"})).await, "gone\n");
    assert_eq!(fixture.ok("TaskOutput", json!({"task_id": "b1"})).await, "Task b1: stopped\nbegun\n");
    assert_eq!(fixture.no("TaskStop", json!({"shell_id": "b1"})).await, "Task b1 is not running: stopped.");
}

#[tokio::test]
async fn a_command_that_is_waited_for_can_be_watched_and_sent_to_the_background() {
    let mut fixture = Fixture::new();
    let call = ona_api::CallId::from("c1");
    fixture.cx.call = Some(call.clone());
    let tasks = std::sync::Arc::clone(&fixture.cx.tasks);
    assert!(!tasks.send_to_background(&call), "no command is waited for");
    let watch = async {
        while tasks.recent_output(&call).is_none_or(|output| output != b"begun\n") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(tasks.send_to_background(&call));
    };
    // Its own deadline counts no longer once nobody waits for it.
    let wait =
        json!({"command": "echo begun; while [ ! -e go ]; do sleep 0.02; done; sleep 0.4; echo done", "timeout": 700});
    let (result, ()) = tokio::join!(fixture.call("Bash", wait), watch);
    assert_eq!((result.class, result.data["backgroundTaskId"].as_str()), (ResultClass::Success, Some("b1")));
    assert!(result.content.contains("The operator sent it to the background"), "{}", result.content);
    assert_eq!(tasks.recent_output(&call), None, "nobody waits for it");
    tokio::time::sleep(Duration::from_millis(700)).await;
    fixture.file("go", "");
    let end = fixture.ok("TaskOutput", json!({"task_id": "b1"})).await;
    assert_eq!(end, "Task b1: ended with exit code 0\nbegun\ndone\n");
}

#[tokio::test]
async fn an_unknown_task_is_refused_with_the_running_ones_named() {
    let fixture = Fixture::new();
    assert_eq!(fixture.no("TaskOutput", json!({"task_id": "b7"})).await, "Unknown task b7. No tasks are running.");
    fixture.ok("Bash", start("true")).await;
    fixture.ok("TaskOutput", json!({"task_id": "b1"})).await;
    let mut sleeper = start("sleep 60");
    sleeper["description"] = "a long wait".into();
    fixture.ok("Bash", sleeper).await;
    assert_eq!(fixture.no("TaskStop", json!({"task_id": "b7"})).await, "Unknown task b7. Running: b2 (a long wait)");
    fixture.cx.tasks.stop_all().await;
}

#[tokio::test]
async fn everything_that_runs_is_stopped_at_the_end() {
    let fixture = Fixture::new();
    fixture.ok("Bash", start("sleep 60")).await;
    fixture.ok("Bash", start("trap '' TERM; sleep 60; sleep 60")).await;
    fixture.cx.tasks.stop_all().await;
    let info = |id: &str, title: &str| TaskInfo {
        id: id.into(),
        kind: TaskKind::Bash,
        title: title.into(),
        state: TaskState::Stopped,
    };
    assert_eq!(fixture.cx.tasks.list(), [info("b1", "sleep 60"), info("b2", "trap '' TERM; sleep 60; sleep 60")]);
}

#[tokio::test]
async fn waiting_ends_with_an_interrupt() {
    let fixture = Fixture::new();
    fixture.ok("Bash", start("sleep 60")).await;
    fixture.cx.cancel.cancel();
    let result = fixture.call("TaskOutput", json!({"task_id": "b1"})).await;
    assert_eq!((result.class, &result.data["is_interrupt"]), (ResultClass::Rejected, &json!(true)));
    fixture.cx.tasks.stop_all().await;
}
