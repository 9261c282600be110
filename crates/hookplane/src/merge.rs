//! Folds what hooks said into one outcome. Pure; section 5.6.

use crate::contract::{Contract, ExitTwo};
use crate::dialect::HookOutput;
use crate::hook::Hook;
use crate::outcome::{AttributedContext, HookIncident, HookOutcome};
use ona_api::{EventKind, Ruling};

impl HookOutcome {
    pub(crate) fn absorb(&mut self, hook: &Hook, output: HookOutput) {
        let ordinal = hook.ordinal;
        if let Some(ruling) = output.ruling {
            // Strictly stricter, so that among equals the lowest ordinal keeps its reason.
            if self.ruling.as_ref().is_none_or(|(merged, ..)| ruling > *merged) {
                self.ruling = Some((ruling, ordinal, output.reason));
            }
        }
        if let Some(message) = output.block {
            self.blocks.push((ordinal, message));
        }
        if let Some(context) = output.context {
            self.context.push(AttributedContext { ordinal, dialect: hook.dialect.name(), context });
        }
        if let Some(change) = output.result {
            self.result = Some((ordinal, change));
        }
        self.injected.extend(output.injected.into_iter().map(|injection| (ordinal, injection)));
        if let Some(reason) = output.stop
            && self.stop.is_none()
        {
            self.stop = Some((ordinal, reason));
        }
        if let Some(message) = output.system_message {
            self.messages.push((ordinal, message));
        }
        if !output.specific.is_empty() {
            self.specific.push((ordinal, output.specific));
        }
        for (kind, why) in output.notes {
            self.note(hook, kind, why);
        }
    }

    /// An exit code 2, or what counts as one.
    pub(crate) fn block(&mut self, hook: &Hook, contract: &Contract, message: String) {
        match contract.exit_two {
            ExitTwo::TellOperator => self.messages.push((hook.ordinal, message)),
            ExitTwo::DenyCall
            | ExitTwo::RejectPrompt
            | ExitTwo::KeepWorking
            | ExitTwo::DenyRequest
            | ExitTwo::CancelCompaction
            | ExitTwo::RejectChange
            | ExitTwo::Decline
            | ExitTwo::FailCreation
            | ExitTwo::TellModel => self.blocks.push((hook.ordinal, message)),
        }
    }

    pub(crate) fn note(&mut self, hook: &Hook, kind: EventKind, why: String) {
        self.notes.push(HookIncident {
            kind,
            event: hook.event,
            ordinal: hook.ordinal,
            command: hook.dialect.recorded(hook.command()).into_owned(),
            why,
        });
    }

    /// Whether the hooks that follow are skipped.
    pub(crate) fn skips_rest(&self, contract: &Contract) -> bool {
        contract.skips_rest && (!self.blocks.is_empty() || matches!(self.ruling, Some((Ruling::Deny, ..))))
    }
}
