//! Finds an installed JavaScript runtime (DEC-170).

use ona_api::{Env, environment};
use ona_process::{ChildCommand, OnDeath, find_in_path};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsRuntime {
    pub kind: RuntimeKind,
    pub program: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeKind {
    Bun,
    Node,
    Deno,
}

impl RuntimeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            RuntimeKind::Bun => "bun",
            RuntimeKind::Node => "node",
            RuntimeKind::Deno => "deno",
        }
    }

    /// Returns the arguments before the script.
    pub(crate) fn args(self) -> &'static [&'static str] {
        match self {
            RuntimeKind::Bun => &["run"],
            RuntimeKind::Node => &["--no-warnings"],
            RuntimeKind::Deno => &["run", "--allow-all", "--quiet"],
        }
    }
}

/// The engine the operator wants for modules (`ONA_JS_RUNTIME`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RuntimeChoice {
    /// Decided by what a module imports.
    #[default]
    ByNeed,
    Embedded,
    /// `bun`, `node`, `deno` or a path.
    Runtime(String),
}

impl RuntimeChoice {
    pub fn parse(text: Option<&str>) -> Self {
        match text.map(str::trim) {
            None | Some("") => RuntimeChoice::ByNeed,
            Some("embedded") => RuntimeChoice::Embedded,
            Some(other) => RuntimeChoice::Runtime(other.to_owned()),
        }
    }
}

/// The oldest Node that will do.
const NODE: u32 = 18;

/// Returns the wanted runtime, or the first of bun, node and deno. The error says what is missing.
pub async fn find(wanted: &RuntimeChoice, env: &Env) -> Result<JsRuntime, String> {
    let path = env.get(environment::PATH).unwrap_or_default();
    if let RuntimeChoice::Runtime(name) = wanted {
        let program = if name.contains('/') {
            Some(PathBuf::from(name)).filter(|file| file.is_file())
        } else {
            find_in_path(path, name)
        };
        let program = program.ok_or_else(|| format!("ONA_JS_RUNTIME names {name}, which was not found"))?;
        return Ok(JsRuntime { kind: brand(&program), program });
    }
    for kind in [RuntimeKind::Bun, RuntimeKind::Node, RuntimeKind::Deno] {
        let Some(program) = find_in_path(path, kind.as_str()) else { continue };
        if kind != RuntimeKind::Node || version(&program, env).await.is_some_and(|major| major >= NODE) {
            return Ok(JsRuntime { kind, program });
        }
    }
    Err(format!("no JavaScript runtime was found (bun, node {NODE} or newer, deno)"))
}

fn brand(program: &Path) -> RuntimeKind {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    match () {
        () if name.contains("bun") => RuntimeKind::Bun,
        () if name.contains("deno") => RuntimeKind::Deno,
        () => RuntimeKind::Node,
    }
}

/// `v20.1.0` is 20.
async fn version(node: &Path, env: &Env) -> Option<u32> {
    let command = ChildCommand {
        program: node.into(),
        args: vec!["--version".into()],
        cwd: "/".into(),
        env: env.clone(),
        stdin: Vec::new(),
        cap: 4096,
        deadline: Some(Duration::from_secs(10)),
        grace: Duration::ZERO,
        on_death: OnDeath::Leave,
        wall: None,
    };
    let ran = ona_process::run(command, &CancellationToken::new()).await;
    let ran = ran.inspect_err(|error| tracing::debug!(node = %node.display(), %error, "has no version")).ok()?;
    String::from_utf8_lossy(&ran.stdout.bytes).trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}
