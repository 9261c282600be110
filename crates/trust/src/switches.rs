//! Determines which hooks are switched off, and by whom (I-15, DEC-058).
//!
//! An entry that is off stays in the list with its reason, so that a skip can be
//! logged. `untrusted_workspace` is already set when a layer arrives here.

use crate::layer::{SettingsLayer, SettingsScope};
use ona_api::SkipReason;
use ona_settings::keys;
use serde_json::{Map, Value};

pub(crate) struct HookSwitches {
    managed_only: bool,
    /// The highest authority that said `disableAllHooks`.
    all_off_up_to: Option<u8>,
}

impl HookSwitches {
    pub(crate) fn of(layers: &[SettingsLayer]) -> Self {
        let managed_only = said(layers, SettingsScope::Managed, keys::ALLOW_MANAGED_HOOKS_ONLY);
        let off = SettingsScope::ALL.into_iter().filter(|scope| said(layers, *scope, keys::DISABLE_ALL_HOOKS));
        Self { managed_only, all_off_up_to: off.map(SettingsScope::authority).max() }
    }

    /// What keeps hooks of this scope from running.
    pub(crate) fn reason(&self, scope: SettingsScope) -> Option<SkipReason> {
        if self.managed_only && scope != SettingsScope::Managed {
            return Some(SkipReason::ManagedOnly);
        }
        self.all_off_up_to.filter(|off| scope.authority() <= *off).map(|_| SkipReason::AllHooksDisabled)
    }

    /// Returns the entries of a layer with what keeps them from running.
    pub(crate) fn marked(&self, scope: SettingsScope, entries: &Value) -> Vec<Value> {
        let mut entries = entries.as_array().cloned().unwrap_or_default();
        if let Some(reason) = self.reason(scope) {
            for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                entry.entry("disabled").or_insert_with(|| reason.as_str().into());
            }
        }
        entries
    }

    /// The switches as the row keeps them, for hooks that no settings file holds
    /// (skills, modules, other dialects).
    ///
    /// `disableAllHooks` in the row means every hook. It is kept only when that is
    /// what was said: a user's switch does not reach managed hooks, so next to a
    /// hook that still runs only the entries below it are marked.
    pub(crate) fn keep(&self, effective: &mut Map<String, Value>) {
        if self.managed_only {
            effective.insert(keys::ALLOW_MANAGED_HOOKS_ONLY.into(), true.into());
        }
        let operators = self.all_off_up_to.is_some_and(|off| off >= SettingsScope::User.authority());
        let of_plugins = effective.get(keys::PLUGINS).and_then(Value::as_object).into_iter().flatten();
        let lists =
            effective.get(keys::HOOKS).into_iter().chain(of_plugins.filter_map(|(_, plugin)| plugin.get(keys::HOOKS)));
        let mut entries = lists.filter_map(Value::as_array).flatten();
        if operators && entries.all(|entry| entry.get("disabled").is_some()) {
            effective.insert(keys::DISABLE_ALL_HOOKS.into(), true.into());
        }
    }
}

/// Returns whether a scope says `true`; within one scope the later file wins.
fn said(layers: &[SettingsLayer], scope: SettingsScope, key: &str) -> bool {
    let mut words = layers.iter().filter(|layer| layer.scope == scope).filter_map(|layer| layer.value.get(key));
    words.next_back() == Some(&Value::Bool(true))
}
