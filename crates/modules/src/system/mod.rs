//! What modules ask of the machine: programs, files, digests.
//!
//! The same for every embedder; a `ModuleHost` hands these requests on.

mod files;
mod programs;

use crate::host::{HostCall, HostCallError};
use ona_api::digest::{base64, from_base64};
use ona_api::{Env, environment};
use serde_json::Value;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct SystemCalls {
    pub env: Env,
    pub cwd: PathBuf,
}

impl SystemCalls {
    /// Returns whether a request is one of these.
    pub fn serves(name: &str) -> bool {
        name == "exec"
            || matches!(name, "paths.agentDir" | "paths.home")
            || ["fs.", "process.", "crypto."].iter().any(|family| name.starts_with(family))
    }

    pub async fn call(&self, call: HostCall) -> Result<Value, HostCallError> {
        match call.name.as_str() {
            "exec" => self.exec(&call).await,
            "process.run" => self.run(&call).await,
            "process.which" => Ok(self.which(call.text(0)).map_or(Value::Null, Into::into)),
            "process.kill" => kill(&call),
            "paths.home" => Ok(self.env.home().to_string_lossy().into()),
            "paths.agentDir" => Ok(self.agent_dir().to_string_lossy().into()),
            "crypto.digest" => digest(&call),
            "crypto.random" => random(&call),
            _ if call.name.starts_with("fs.") => {
                let system = self.clone();
                let done = tokio::task::spawn_blocking(move || system.file(&call)).await;
                done.unwrap_or_else(|error| Err(HostCallError::new(error.to_string())))
            }
            name => Err(HostCallError::unknown(name)),
        }
    }

    fn agent_dir(&self) -> PathBuf {
        match self.env.non_empty(environment::PI_CODING_AGENT_DIR) {
            Some(dir) => self.cwd.join(dir),
            None => self.env.home().join(".omp/agent"),
        }
    }

    fn path(&self, text: &str) -> PathBuf {
        self.cwd.join(text)
    }
}

fn kill(call: &HostCall) -> Result<Value, HostCallError> {
    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    let gone = || HostCallError::new("kill ESRCH").with("code", "ESRCH").with("syscall", "kill");
    let pid = call.arg(0).as_i64().and_then(|id| i32::try_from(id).ok()).filter(|id| *id > 0);
    let pid = pid.and_then(Pid::from_raw).ok_or_else(gone)?;
    let signal = match call.arg(1) {
        Value::Number(number) if number.as_i64() == Some(0) => None,
        Value::String(name) => match name.as_str() {
            "SIGTERM" => Some(Signal::TERM),
            "SIGKILL" => Some(Signal::KILL),
            "SIGINT" => Some(Signal::INT),
            "SIGHUP" => Some(Signal::HUP),
            other => return Err(HostCallError::new(format!("Unknown signal: {other}"))),
        },
        other => return Err(HostCallError::new(format!("Unknown signal: {other}"))),
    };
    let sent = match signal {
        None => test_kill_process(pid),
        Some(signal) => kill_process(pid, signal),
    };
    sent.map(|()| true.into()).map_err(|_| gone())
}

fn digest(call: &HostCall) -> Result<Value, HostCallError> {
    use ring::{digest, hmac};
    let data = from_base64(call.text(1)).ok_or_else(|| HostCallError::new("unreadable bytes"))?;
    let unknown = || HostCallError::new("Digest method not supported");
    let made = match call.arg(2).as_str() {
        None => {
            let kind = match call.text(0) {
                "sha1" => &digest::SHA1_FOR_LEGACY_USE_ONLY,
                "sha256" => &digest::SHA256,
                "sha384" => &digest::SHA384,
                "sha512" => &digest::SHA512,
                _ => return Err(unknown()),
            };
            digest::digest(kind, &data).as_ref().to_vec()
        }
        Some(key) => {
            let kind = match call.text(0) {
                "sha1" => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
                "sha256" => hmac::HMAC_SHA256,
                "sha384" => hmac::HMAC_SHA384,
                "sha512" => hmac::HMAC_SHA512,
                _ => return Err(unknown()),
            };
            let key = from_base64(key).ok_or_else(|| HostCallError::new("unreadable bytes"))?;
            hmac::sign(&hmac::Key::new(kind, &key), &data).as_ref().to_vec()
        }
    };
    Ok(base64(&made).into())
}

fn random(call: &HostCall) -> Result<Value, HostCallError> {
    use ring::rand::{SecureRandom, SystemRandom};
    let size = call.arg(0).as_u64().and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= 1 << 20);
    let mut bytes = vec![0; size.ok_or_else(|| HostCallError::new("the size is out of range"))?];
    SystemRandom::new().fill(&mut bytes).map_err(|_| HostCallError::new("random bytes are not available"))?;
    Ok(base64(&bytes).into())
}
