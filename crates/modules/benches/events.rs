//! How long one event takes from the caller to a handler and back, per engine.
//!
//! `cargo bench -p ona-modules`

use ona_api::Env;
use ona_modules::embedded::QuickJs;
use ona_modules::worker::WorkerEngine;
use ona_modules::{
    Emission, Engine, EngineLimits, Graph, HostCall, HostCallError, HostFuture, Module, ModuleContext, ModuleHost,
    ModuleProgram, ModuleRequest, RuntimeChoice, find_runtime,
};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const MODULE: &str = r#"
export default function (pi: any) {
    pi.on("tool_call", async (event: any, ctx: any) => {
        if (event.toolName === "bash" && String(event.input.command ?? "").includes("rm -rf")) {
            return { block: true, reason: "blocked by policy" };
        }
    });
}
"#;
const PAYLOAD: &str =
    r#"{"type":"tool_call","toolName":"bash","toolCallId":"toolu_1","input":{"command":"ls -la","timeout":2}}"#;
const EVENTS: u32 = 20_000;

struct Nothing;

impl ModuleHost for Nothing {
    fn call<'a>(&'a self, _: &'a Path, call: HostCall) -> HostFuture<'a, Result<Value, HostCallError>> {
        Box::pin(async move { Err(HostCallError::unknown(&call.name)) })
    }

    fn tell(&self, _: &Path, _: HostCall) {}
}

#[expect(clippy::disallowed_methods, reason = "a benchmark looks for the runtimes of this machine")]
fn search_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("guard.ts");
        std::fs::write(&path, MODULE).unwrap();
        let env = Env::default().with("PATH", search_path());
        let mut engines: Vec<Arc<dyn Engine>> = vec![Arc::new(QuickJs)];
        if let Ok(found) = find_runtime(&RuntimeChoice::ByNeed, &env).await {
            engines.push(Arc::new(WorkerEngine::new(found, dir.path().to_owned())));
        }
        for engine in engines {
            let began = Instant::now();
            let graph = Graph::read(&path).unwrap();
            let program =
                ModuleProgram { graph, cwd: dir.path().to_owned(), env: env.clone(), limits: EngineLimits::default() };
            let module = Module::load(program, Arc::clone(&engine), Arc::new(Nothing)).await.unwrap();
            let loaded = began.elapsed();
            let mut times = Vec::new();
            for number in 0..EVENTS {
                let began = Instant::now();
                fire(&module, u64::from(number)).await;
                times.push(began.elapsed());
            }
            times.sort();
            let at = |part: usize| times[times.len() * part / 100];
            let mean: Duration = times.iter().sum::<Duration>() / EVENTS;
            println!(
                "{}: loaded in {loaded:?}; per event mean {mean:?}, median {:?}, p99 {:?}",
                engine.name(),
                at(50),
                at(99)
            );
        }
    });
}

async fn fire(module: &Module, number: u64) {
    let emission = Emission { event: "tool_call", nth: 0, payload: PAYLOAD, number, signal: false, absent: &[] };
    let limit = Some(Duration::from_secs(600));
    module.invoke(ModuleRequest::Event(emission), &ModuleContext::default(), limit, &CancellationToken::new()).await;
}
