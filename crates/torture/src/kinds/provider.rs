//! The model's server fails in every way the scripted one knows: before, in and after a reply, and
//! with replies that are wrong. The session continues once the server answers again.

use super::{Next, Round, finished};
use crate::invariants;
use crate::random::Random;
use crate::scene::{Scene, Tokens};
use crate::violation::Checked;
use ona_testkit::model::{
    ReplyBlock, ScriptedCall, ScriptedTurn, Split, Stop, StreamFault, body, context_too_long, empty, error_event,
    garbage, half_line, html, out_of_credit, overloaded, rate_limited, raw, reset, say, status,
};
use serde_json::json;

/// Requests that may fail; then the server is sound.
const FAULTY: usize = 8;

pub(crate) fn round(round: &mut Round<'_>) -> Checked<Next> {
    let mut random = round.random.clone();
    let mut requests = 0;
    let mut scene = Scene::new(round.context).with_script(move |request, tokens| {
        requests += 1;
        let replies = request["messages"].as_array().into_iter().flatten().filter(|m| m["role"] == "assistant").count();
        match requests {
            ..=FAULTY => faulty(&mut random, tokens),
            _ if replies % 3 != 2 => with_calls(&mut Random::of(0, "", 0), tokens),
            _ => say(&tokens.text()),
        }
    });
    let retries = [("ONA_MAX_RETRIES", round.random.below(2).to_string())];
    for _ in 0..FAULTY {
        let args = scene.turn_args("main")?;
        let ended = scene.run(&args, &retries)?;
        round.tally.add(if ended.code == Some(0) { "turns that ended well" } else { "turns that failed" }, 1);
        invariants::check(&scene)?;
    }
    let args = scene.turn_args("main")?;
    finished(scene.run(&args, &[])?.code)?;
    scene.audit()?;
    let seen = invariants::check(&scene)?;
    round.tally.add("faulty replies", FAULTY as u64);
    round.tally.add("messages checked", seen.messages);
    Ok(Next::Round)
}

fn with_calls(random: &mut Random, tokens: &Tokens) -> ScriptedTurn {
    let bash = || ScriptedCall::new("Bash", json!({"command": tokens.command()}));
    let blocks = [
        ReplyBlock::Text(tokens.text()),
        ReplyBlock::Call(bash()),
        ReplyBlock::Call(if random.one_in(3) { odd_call(random, tokens) } else { bash() }),
    ];
    ScriptedTurn::of(blocks)
}

fn odd_call(random: &mut Random, tokens: &Tokens) -> ScriptedCall {
    let bash = || ScriptedCall::new("Bash", json!({"command": tokens.command()}));
    match random.below(9) {
        0 => ScriptedCall::with_arguments("Bash", "{\"command\": \"ec"),
        1 => ScriptedCall::with_arguments("Bash", "[]"),
        2 => ScriptedCall::new("Dance", json!({})),
        3 => ScriptedCall::new("", json!({})),
        4 => bash().id("same"),
        5 => bash().split(Split::EveryByte),
        6 => bash().at_once(),
        7 => ScriptedCall::new("Bash", json!({"command": 1, "other": {"deep": [[[[]]]]}})),
        _ => ScriptedCall::new("Read", json!({"file_path": "\u{0}/../\u{feff}"})),
    }
}

fn faulty(random: &mut Random, tokens: &Tokens) -> ScriptedTurn {
    let reply = with_calls(random, tokens);
    let bytes = 1 + random.below(1_500);
    match random.below(26) {
        0 => reset(),
        1 => half_line(),
        2 => error_event(random.pick::<&str>(&["overloaded_error", "api_error", "no_such_error", ""]), "it failed"),
        3 => status(*random.pick(&[400, 401, 403, 404, 408, 413, 418, 500, 502, 503, 504])),
        4 => rate_limited(0),
        5 => overloaded(),
        6 => context_too_long(),
        7 => out_of_credit(),
        8 => garbage(),
        9 => html(),
        10 => empty(),
        11 => body("application/json", "{\"type\":\"message\",\"content\":[{\"type\":\"text\"}]}"),
        12 => raw("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"type\":\"mess"),
        13 => raw("HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\n{"),
        14 => reply.breaks(StreamFault::Reset(bytes)),
        15 => reply.breaks(StreamFault::Close(bytes)),
        16 => reply.breaks(StreamFault::HalfLine),
        17 => reply.breaks(StreamFault::Unfinished(random.below(4))),
        18 => reply.stop(random.pick(&[Stop::MaxTokens, Stop::Refusal, Stop::Other("tired".to_owned())]).clone()),
        19 => reply.pieces(1 + random.below(9)),
        20 => reply.sloppy(),
        21 => reply.content_type("text/plain"),
        22 => ScriptedTurn::of([]),
        23 => ScriptedTurn::of([ReplyBlock::Unknown(json!({"type": "hologram"})), ReplyBlock::Text(tokens.text())]),
        24 => reply.plain(),
        _ => reply,
    }
}
