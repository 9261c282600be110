//! Where a project stands: session, phase, model, credential, settings, trust, guards, database. One value
//! for `ona status` and for a terminal; nothing is written and no model is asked.

use crate::failure::Failure;
use crate::launch::{Launch, Purpose};
use crate::runtime::Runtime;
use crate::{guards, model_choice};
use ona_orchestration::Model;
use ona_trust::TrustState;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Returns the overview as an object; its fields are in the order in which people read them.
pub async fn overview(launch: &Launch) -> Result<Value, Failure> {
    let open = launch.look()?;
    let mut runtime = Runtime::new(launch, &open, &launch.cwd, Purpose::Look, &CancellationToken::new())?;
    runtime.load_modules(launch, &open).await?;
    let failed = |error| launch.store_failure(error);
    let mut session = Value::Null;
    if launch.database.path.exists() {
        let reader = open.store.reader().map_err(failed)?;
        let newest = reader.newest_session(&launch.project.to_string_lossy(), |_| true).map_err(failed)?;
        if let Some(newest) = newest {
            let conversation = reader.conversation_of(&newest.id).map_err(failed)?;
            let phase = match &conversation {
                Some(id) => reader.phase(id).map_err(failed)?.map(|phase| phase.as_str()),
                None => None,
            };
            session = json!({"id": newest.id, "conversation_id": conversation, "phase": phase});
        }
    }
    let wanted = launch.options.model.as_deref();
    let chosen = model_choice::model(launch, &open, wanted, &runtime.settings, &runtime.operators)?;
    let model = match chosen.choice.and_then(|choice| Model::new(choice, chosen.setup)) {
        Ok(model) => json!({
            "provider": model.choice.provider.as_str(),
            "id": model.choice.model_id,
            "sent_as": model.choice.wire_model,
            "overridden": model.choice.overridden,
            "credential": model.credential_class().as_str(),
            "context_tokens": model.context_size(),
        }),
        Err(failure) => json!({"problem": failure.message}),
    };
    let trust = match launch.trust_state() {
        TrustState::Trusted { .. } => "trusted",
        TrustState::Ask { .. } => "not trusted yet",
        TrustState::Withheld => "withheld",
    };
    let files = open.found.layers.iter().filter_map(|layer| {
        let file = layer.file.as_ref()?.to_string_lossy().into_owned();
        Some(json!({"scope": layer.scope.as_str(), "file": file}))
    });
    let broken: Vec<_> = guards::findings(launch, &open, &runtime).iter().map(|one| one.line().to_owned()).collect();
    let mode = runtime.settings.permissions.clone().unwrap_or_default().default_mode;
    let mut told = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "project": launch.project.to_string_lossy(),
        "session": session,
        "model": model,
        "permission_mode": mode.as_str(),
        "trust": trust,
        "settings_files": files.collect::<Vec<_>>(),
        "guards_broken": broken,
        "database": launch.database.path.to_string_lossy(),
        "agent_shell": launch.agent_shell,
    });
    open.redactor.apply_to_json(&mut told);
    Ok(told)
}
