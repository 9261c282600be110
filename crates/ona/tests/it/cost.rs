//! What sessions use and cost, from the rows to the command line.

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Usage, Wire, call, say};
use serde_json::{Value, json};

const SONNET: &str = "claude-sonnet-4-20250514";

fn used(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

fn result(ona: &Ona, args: &[&str]) -> Value {
    let mut all = vec!["--output-format", "json", "-p"];
    all.extend(args);
    ona.run(all).expect_code(0).json()
}

fn settings(more: Value) -> Value {
    let mut settings = json!({
        "permissions": {"allow": ["Read", "Agent"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    settings
}

#[test]
fn a_run_tells_its_cost_and_a_session_adds_up_its_turns_and_agents() {
    let mut ona = ona();
    let cached = Usage { cache_read_tokens: 1_000, cache_write_tokens: 100, ..used(10, 20) };
    let _server = ona.model(
        Wire::Messages,
        [
            say("one").usage(cached),
            call("Agent", json!({"description": "look", "prompt": "look", "subagent_type": "explore"}))
                .usage(used(100, 10)),
            say("of the agent").usage(used(1_000, 100)),
            say("two").usage(used(200, 20)),
        ],
    );
    ona.settings(settings(json!({})));
    let first = result(&ona, &["first", "--session-id", "s"]);
    // 10 * 3 + 20 * 15 + 1000 * 0.3 + 100 * 3.75, in millionths.
    assert_eq!(first["total_cost_usd"], json!(0.001005), "{first}");
    assert_eq!(first["modelUsage"][SONNET]["cacheReadInputTokens"], 1_000);
    // What earlier runs were told is not told again.
    let second = result(&ona, &["second", "-r", "s"]);
    assert_eq!(second["total_cost_usd"], json!(0.00585), "{second}");
    assert_eq!(second["modelUsage"][SONNET]["inputTokens"], 1_300);
    assert_eq!(second["modelUsage"][SONNET]["costUSD"], json!(0.00585));

    let shown = ona.run(["sessions", "show", "s", "--json"]).expect_code(0).json();
    let account = &shown["account"];
    assert_eq!(account["total_cost_usd"], json!(0.006855), "{shown}");
    assert_eq!(account["replies"], 4);
    assert_eq!(account["models"][0]["model"], SONNET);
    assert_eq!(account["models"][0]["model_id"], "claude_sonnet_4");
    let turns: Vec<_> = account["turns"].as_array().unwrap().iter().map(|turn| turn["cost_usd"].clone()).collect();
    assert_eq!(turns, [json!(0.001005), json!(0.00585)]);
    assert_eq!(account["turns"][1]["usage"]["input_tokens"], 1_300);
    let page = ona.run(["sessions", "show", "s"]).expect_code(0).stdout;
    assert!(page.contains("- Cost: `$0.0069`"), "{page}");
    assert!(page.contains("1310 in, 150 out, 1000 read from cache, 100 written to cache"), "{page}");
    let exported = ona.run(["sessions", "export", "s", "--format", "json"]).expect_code(0).json();
    assert_eq!(&exported["account"], account);
    let lines = ona.run(["sessions", "export", "s", "--format", "jsonl"]).expect_code(0).stdout;
    let costs = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(costs.filter_map(|line| line["costUSD"].as_f64()).count(), 3);
}

#[test]
fn a_price_that_is_not_known_is_not_zero() {
    let mut ona = ona();
    let _server = ona.model(Wire::Chat, [say("hi").usage(used(1_000, 100)), say("hi").usage(used(1_000, 100))]);
    ona.use_provider("lm_studio_local", "lm_studio_server_routed");
    let unknown = result(&ona, &["hello", "--session-id", "s"]);
    assert_eq!(unknown["total_cost_usd"], Value::Null, "{unknown}");
    assert_eq!(unknown["usage"]["input_tokens"], 1_000);
    let page = ona.run(["sessions", "show", "s"]).expect_code(0).stdout;
    assert!(page.contains("not known: no price, or no count of tokens, for"), "{page}");
    ona.execute(
        "UPDATE settings_snapshot SET json = json_set(json, '$.modelPrices', json(?1))",
        [json!({"lm_studio_server_routed": {"input": 1, "output": 10}}).to_string()],
    );
    assert_eq!(result(&ona, &["hello", "-r", "s"])["total_cost_usd"], json!(0.002));
    // The row says which model it was, so an older session is priced by today's list.
    let shown = ona.run(["sessions", "show", "s", "--json"]).expect_code(0).json();
    assert_eq!(shown["account"]["total_cost_usd"], json!(0.004));
}

#[test]
fn prices_can_be_set_in_a_settings_file_and_a_wrong_one_is_named() {
    let mut ona = ona();
    let _server = ona.model(
        Wire::Messages,
        [say("hi").usage(used(1_000_000, 1_000_000)), say("hi").usage(used(1_000_000, 1_000_000))],
    );
    ona.home_file(".ona/settings.json", json!({"modelPrices": {SONNET: {"input": 7, "output": 1}}}).to_string());
    assert_eq!(result(&ona, &["hello"])["total_cost_usd"], json!(8.0));
    ona.execute(
        "UPDATE settings_snapshot SET json = json_set(json, '$.modelPrices', json(?1))",
        [json!({"claude_sonnet_4": {"input": "free", "output": 1}}).to_string()],
    );
    let ran = ona.run(["--output-format", "json", "-p", "hello"]).expect_code(0);
    assert_eq!(ran.json()["total_cost_usd"], Value::Null);
    assert!(ran.stderr.contains("modelPrices.claude_sonnet_4: input is no amount of dollars"), "{ran:?}");
}
