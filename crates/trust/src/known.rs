//! The top-level keys a settings file of ours may have (DEC-181).
//!
//! A misspelt key is a guard that is silently off, so each unknown one is named
//! with the nearest known key. Keys of the compatible product count as known
//! also where nothing here reads them: people copy its files.

/// Keys that some part of ona reads.
const OURS: &str = "$schema apiKeyHelper allowManagedHooksOnly allowManagedMcpServersOnly \
    allowManagedPermissionRulesOnly allowedHttpHookUrls allowedMcpServers autoCompactEnabled autoCompactWindow \
    claudeCompat deniedMcpServers disableAllHooks disableSkillShellExecution disabledMcpjsonServers effortLevel \
    enabledPlugins env gastownMode guards hookModules hooks hooksConfig hooksDialect hooksFailClosed \
    httpHookAllowedEnvVars massgenConfig mcpServers modelInfo modelPrices model_config passCredentials permissions \
    plugins sandbox sdlc skillOverrides wireModels";

/// Keys of the compatible product.
const THEIRS: &str = "agent alwaysThinkingEnabled askUserQuestionTimeout attribution autoMemoryDirectory \
    autoMemoryEnabled autoMode availableModels awsAuthRefresh awsCredentialExport blockedMarketplaces claudeMd \
    claudeMdExcludes cleanupPeriodDays companyAnnouncements crossSessionInbound defaultShell dialogExpiry \
    disableAgentView disableAutoMode disableBundledSkills disableClaudeAiConnectors disableCommandPluginSources \
    disableSideloadFlags editorMode enableAllProjectMcpServers enabledMcpjsonServers enforceAvailableModels \
    extraKnownMarketplaces fallbackModel fileCheckpointingEnabled fileSuggestion forceLoginMethod forceLoginOrgUUID \
    gcpAuthRefresh includeCoAuthoredBy includeGitInstructions keybindingFlavor language model modelOverrides \
    otelHeadersHelper outputStyle plansDirectory pluginConfigs prUrlTemplate preferredNotifChannel \
    promptSuggestionEnabled respectGitignore respondToBashCommands showClearContextOnPlanAccept \
    showThinkingSummaries skillListingBudgetFraction skillListingMaxDescChars skipDangerousModePermissionPrompt \
    skipWebFetchPreflight spinnerTipsEnabled statusLine strictKnownMarketplaces strictPluginOnlyCustomization \
    subagentStatusLine teammateMode theme tui useAutoModeDuringPlan verbose viewMode vimInsertModeRemaps worktree";

fn names() -> impl Iterator<Item = &'static str> {
    OURS.split_whitespace().chain(THEIRS.split_whitespace())
}

pub(crate) fn is_known(key: &str) -> bool {
    names().any(|name| name == key)
}

/// Returns the known key that was probably meant.
pub(crate) fn nearest(key: &str) -> Option<&'static str> {
    // Keys that do something first: of equals the first is taken.
    ona_api::nearest(key, names())
}

/// Returns what to say about a key that is not known.
pub(crate) fn unknown(key: &str) -> String {
    match nearest(key) {
        Some(meant) => format!("`{key}` is not a setting and has no effect; did you mean `{meant}`?"),
        None => format!("`{key}` is not a setting and has no effect"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_answered_with_the_one_that_was_meant() {
        for (written, meant) in [
            ("permission", Some("permissions")),
            ("Permissions", Some("permissions")),
            ("hook", Some("hooks")),
            ("hooksFailClose", Some("hooksFailClosed")),
            ("hooks_fail_closed", Some("hooksFailClosed")),
            ("gaurds", Some("guards")),
            ("mcp_servers", Some("mcpServers")),
            ("myOwnNotes", None),
            ("x", None),
        ] {
            assert_eq!(nearest(written), meant, "{written}");
            assert!(!is_known(written), "{written}");
        }
        assert!(is_known("guards") && is_known("statusLine"));
    }
}
