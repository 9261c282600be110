//! Every kind with the JSON that the database holds.

use super::*;

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn all() -> Vec<(LoggedEvent, &'static str)> {
    let text = str::to_owned;
    let created = |origin| LoggedEvent::SessionCreated(origin);
    vec![
        (created(SessionOrigin::Print), r#"{"by":"print"}"#),
        (created(SessionOrigin::Fork { of: "s".into() }), r#"{"by":"fork","of":"s"}"#),
        (created(SessionOrigin::FireHook), r#"{"by":"fire-hook"}"#),
        (created(SessionOrigin::Eval), r#"{"by":"eval"}"#),
        (created(SessionOrigin::Module { parent: Value::Null }), r#"{"by":"module","parent":null}"#),
        (created(SessionOrigin::ModuleBranch { of: "s".into() }), r#"{"by":"module","of":"s"}"#),
        (created(SessionOrigin::Skill { name: text("k") }), r#"{"by":"skill","skill":"k"}"#),
        (created(SessionOrigin::Agent { agent_type: text("a") }), r#"{"by":"agent","agent_type":"a"}"#),
        (created(SessionOrigin::HookJudge), r#"{"by":"hook"}"#),
        (created(SessionOrigin::Clear { after: "s".into() }), r#"{"by":"clear","after":"s"}"#),
        (created(SessionOrigin::TestGeneration { agent_type: "g" }), r#"{"by":"test generate","agent_type":"g"}"#),
        (created(SessionOrigin::TestRun), r#"{"by":"test run"}"#),
        (LoggedEvent::PhaseChanged { from: Phase::Verify, to: Phase::Done }, r#"{"from":"verify","to":"done"}"#),
        (LoggedEvent::ImplementationComplete, "{}"),
        (LoggedEvent::PlanSaved { hash: text("h"), file_path: None }, r#"{"hash":"h","file_path":null}"#),
        (
            LoggedEvent::PlanApproved { plan: 1, hash: text("h"), criteria: 2 },
            r#"{"plan_id":1,"hash":"h","criteria":2}"#,
        ),
        (LoggedEvent::PlanSuperseded, r#"{"because":"a new planning phase began"}"#),
        (LoggedEvent::PlanCompleted(PlanCompletion::Verified { plan: 1 }), r#"{"plan_id":1}"#),
        (LoggedEvent::PlanCompleted(PlanCompletion::NewPlanning), r#"{"because":"a new planning phase began"}"#),
        (LoggedEvent::VerifyApproved { plan: 1, report_sha256: text("r") }, r#"{"plan_id":1,"report_sha256":"r"}"#),
        (
            LoggedEvent::StopFailure { class: "rate_limit", details: text("d") },
            r#"{"error":"rate_limit","details":"d"}"#,
        ),
        (
            LoggedEvent::HookIncident {
                kind: EventKind::HookOutputInvalid,
                event: EventName::Stop,
                ordinal: Ordinal(3),
                command: text("c"),
                why: text("w"),
            },
            r#"{"hook_event":"Stop","hook_ordinal":3,"command":"c","why":"w"}"#,
        ),
        (
            LoggedEvent::ModuleError { path: text("p"), event: text("e"), error: text("x") },
            r#"{"hookPath":"p","event":"e","error":"x"}"#,
        ),
        (LoggedEvent::HookExec(map(json!({"b": 1, "a": 2}))), r#"{"b":1,"a":2}"#),
        (LoggedEvent::HookConfigInvalid(json!({"type": "t"})), r#"{"type":"t"}"#),
        (LoggedEvent::HookRejected { entry: json!({}), why: text("w") }, r#"{"entry":{},"why":"w"}"#),
        (LoggedEvent::SettingsNotice { kind: EventKind::SettingsUnknownKey, why: text("w") }, r#"{"why":"w"}"#),
        (
            LoggedEvent::DialectLoadError { dialect: "omp", path: text("p"), error: text("x") },
            r#"{"dialect":"omp","path":"p","error":"x"}"#,
        ),
        (
            LoggedEvent::ModuleCommand { command: text("c"), path: text("p"), error: None },
            r#"{"event":"command","command":"c","hook":"p","error":null}"#,
        ),
        (
            LoggedEvent::ModuleHandler {
                event: text("e"),
                path: text("p"),
                handler: 0,
                result: Value::Null,
                error: Some(text("x")),
            },
            r#"{"event":"e","hook":"p","handler":0,"result":null,"error":"x"}"#,
        ),
        (
            LoggedEvent::SettingsImported { sha256: text("s"), keys: vec![text("env")] },
            r#"{"sha256":"s","keys":["env"]}"#,
        ),
        (
            LoggedEvent::PermissionRuleDropped { list: "deny", rule: text("r"), why: text("w") },
            r#"{"list":"deny","rule":"r","why":"w"}"#,
        ),
        (
            LoggedEvent::WireModelOverride { provider: "p", model_id: text("m"), wire_model: text("n") },
            r#"{"provider":"p","model_id":"m","wire_model":"n"}"#,
        ),
        (
            LoggedEvent::ToolStarted { call: "c".into(), tool: text("Read"), decision: json!({"type": "mode"}) },
            r#"{"tool_use_id":"c","tool_name":"Read","decision":{"type":"mode"}}"#,
        ),
        (
            LoggedEvent::TestAdded {
                case: text("t"),
                criterion: Some(text("C1")),
                script_sha256: text("s"),
                retired: Vec::new(),
            },
            r#"{"by":"operator","test_case_id":"t","criterion_id":"C1","script_sha256":"s","retired":[]}"#,
        ),
        (
            LoggedEvent::TestGenerated(GeneratedTests {
                by: "g",
                session: "s".into(),
                plan: 1,
                criteria: vec![text("C1")],
                attempt: 1,
                inputs: map(json!({"system": "d"})),
                prompt_sha256: text("p"),
                accepted: vec![text("t")],
                rejected: Vec::new(),
            }),
            r#"{"by":"g","session_id":"s","plan_id":1,"criteria":["C1"],"attempt":1,"inputs":{"system":"d"},"prompt_sha256":"p","accepted":["t"],"rejected":[]}"#,
        ),
        (
            LoggedEvent::TestRejected {
                case: text("t"),
                session: "s".into(),
                plan: 1,
                criterion: Some(text("C1")),
                attempt: 2,
                rules: vec![text("L1")],
                script_sha256: text("d"),
            },
            r#"{"test_case_id":"t","session_id":"s","plan_id":1,"criterion_id":"C1","attempt":2,"rules":["L1"],"script_sha256":"d"}"#,
        ),
        (
            LoggedEvent::TestRun {
                run: text("r"),
                case: text("t"),
                criterion: Some(text("C1")),
                exit_code: None,
                timed_out: true,
                refused: false,
                sandbox: "none",
                script_sha256: Some(text("d")),
                project_sha256: None,
            },
            r#"{"run_id":"r","test_case_id":"t","criterion_id":"C1","exit_code":null,"timed_out":true,"refused":false,"sandbox":"none","script_sha256":"d","project_sha256":null}"#,
        ),
        (
            LoggedEvent::IsolationViolation { plan: 1, input: text("i"), path: text("p"), line: 4 },
            r#"{"plan_id":1,"input":"i","path":"p","line":4}"#,
        ),
        (
            LoggedEvent::Compaction { trigger: "auto", covers_to_sequence: 9 },
            r#"{"trigger":"auto","covers_to_sequence":9}"#,
        ),
        (LoggedEvent::Interrupted { case: None }, "{}"),
        (LoggedEvent::Interrupted { case: Some(text("t")) }, r#"{"test_case_id":"t"}"#),
        (
            LoggedEvent::McpServerDropped { server: text("s"), origin: "project", why: text("w") },
            r#"{"server":"s","origin":"project","why":"w"}"#,
        ),
        (LoggedEvent::McpServerFailed { server: text("s"), why: text("w") }, r#"{"server":"s","why":"w"}"#),
        (
            LoggedEvent::BackgroundTaskStopped { task: text("t"), task_type: "bash", command: text("c"), why: "w" },
            r#"{"task_id":"t","task_type":"bash","command":"c","why":"w"}"#,
        ),
        (
            LoggedEvent::KeptContentDropped { contents: 1, bytes: 2, limit: "session" },
            r#"{"contents":1,"bytes":2,"limit":"session"}"#,
        ),
    ]
}

#[test]
fn every_event_is_written_as_the_database_holds_it() {
    for (event, stored) in all() {
        assert_eq!(event.detail().to_string(), stored, "{:?}", event.kind());
    }
}

#[test]
fn every_kind_has_a_payload() {
    // These three are incidents of a hook; their kind is a field.
    let incidents = [EventKind::HookAsyncRejected, EventKind::HookScriptChanged, EventKind::HookError];
    let written: Vec<_> = all().iter().map(|(event, _)| event.kind()).chain(incidents).collect();
    for kind in EventKind::ALL {
        assert!(written.contains(kind), "{kind:?}");
    }
}
