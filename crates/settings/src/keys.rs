//! The top-level keys a settings file may have (DEC-181).
//!
//! A misspelt key is a guard that is silently off, so each unknown one is named
//! with the nearest known key. Keys of the compatible product count as known
//! also where nothing here reads them: people copy its files.

macro_rules! keys {
    ($($name:ident = $key:literal;)+) => {
        $(pub const $name: &str = $key;)+

        /// The keys that some part of ona reads.
        const READ: &[&str] = &[$($name),+];
    };
}

keys! {
    SCHEMA = "$schema";
    API_KEY_HELPER = "apiKeyHelper";
    ALLOW_MANAGED_HOOKS_ONLY = "allowManagedHooksOnly";
    ALLOW_MANAGED_MCP_SERVERS_ONLY = "allowManagedMcpServersOnly";
    ALLOW_MANAGED_PERMISSION_RULES_ONLY = "allowManagedPermissionRulesOnly";
    ALLOWED_HTTP_HOOK_URLS = "allowedHttpHookUrls";
    ALLOWED_MCP_SERVERS = "allowedMcpServers";
    AUTO_COMPACT_ENABLED = "autoCompactEnabled";
    AUTO_COMPACT_WINDOW = "autoCompactWindow";
    CHECKPOINTS = "checkpoints";
    CLAUDE_COMPAT = "claudeCompat";
    DENIED_MCP_SERVERS = "deniedMcpServers";
    DISABLE_ALL_HOOKS = "disableAllHooks";
    DISABLE_SKILL_SHELL_EXECUTION = "disableSkillShellExecution";
    DISABLED_MCPJSON_SERVERS = "disabledMcpjsonServers";
    EDITOR_MODE = "editorMode";
    EFFORT_LEVEL = "effortLevel";
    ENABLE_ALL_PROJECT_MCP_SERVERS = "enableAllProjectMcpServers";
    ENABLED_MCPJSON_SERVERS = "enabledMcpjsonServers";
    ENABLED_PLUGINS = "enabledPlugins";
    ENV = "env";
    FILE_CHECKPOINTING_ENABLED = "fileCheckpointingEnabled";
    GASTOWN_MODE = "gastownMode";
    GUARDS = "guards";
    HOOK_MODULES = "hookModules";
    HOOKS = "hooks";
    HOOKS_DIALECT = "hooksDialect";
    HOOKS_FAIL_CLOSED = "hooksFailClosed";
    HTTP_HOOK_ALLOWED_ENV_VARS = "httpHookAllowedEnvVars";
    IDLE_PROMPT_SECONDS = "idlePromptSeconds";
    MASSGEN_CONFIG = "massgenConfig";
    MCP_SERVERS = "mcpServers";
    MODEL_INFO = "modelInfo";
    MODEL_PRICES = "modelPrices";
    MODEL_TIMEOUTS = "modelTimeouts";
    MODEL_CONFIG = "model_config";
    OUTPUT_STYLE = "outputStyle";
    PASS_CREDENTIALS = "passCredentials";
    PERMISSIONS = "permissions";
    PLUGINS = "plugins";
    SANDBOX = "sandbox";
    SDLC = "sdlc";
    SKILL_OVERRIDES = "skillOverrides";
    STATUS_LINE = "statusLine";
    THEME = "theme";
    WIRE_MODELS = "wireModels";
    WORKTREE = "worktree";
}

/// Keys of the compatible product that ona does not read.
const COMPATIBLE: &str = "agent alwaysThinkingEnabled askUserQuestionTimeout attribution autoMemoryDirectory \
    autoMemoryEnabled autoMode availableModels awsAuthRefresh awsCredentialExport blockedMarketplaces claudeMd \
    claudeMdExcludes cleanupPeriodDays companyAnnouncements crossSessionInbound defaultShell dialogExpiry \
    disableAgentView disableAutoMode disableBundledSkills disableClaudeAiConnectors disableCommandPluginSources \
    disableSideloadFlags enforceAvailableModels \
    extraKnownMarketplaces fallbackModel fileSuggestion forceLoginMethod forceLoginOrgUUID \
    gcpAuthRefresh includeCoAuthoredBy includeGitInstructions keybindingFlavor language model modelOverrides \
    otelHeadersHelper plansDirectory pluginConfigs prUrlTemplate preferredNotifChannel \
    promptSuggestionEnabled respectGitignore respondToBashCommands showClearContextOnPlanAccept \
    showThinkingSummaries skillListingBudgetFraction skillListingMaxDescChars skipDangerousModePermissionPrompt \
    skipWebFetchPreflight spinnerTipsEnabled strictKnownMarketplaces strictPluginOnlyCustomization \
    subagentStatusLine teammateMode tui useAutoModeDuringPlan verbose viewMode vimInsertModeRemaps";

fn known() -> impl Iterator<Item = &'static str> {
    READ.iter().copied().chain(COMPATIBLE.split_whitespace())
}

/// Whether some part of ona reads this key.
pub fn is_read(key: &str) -> bool {
    READ.contains(&key)
}

pub fn is_known(key: &str) -> bool {
    known().any(|name| name == key)
}

/// Returns the known key that was probably meant.
pub fn nearest(key: &str) -> Option<&'static str> {
    // Keys that do something come first: of equals the first is taken.
    ona_api::nearest(key, known())
}

/// Returns what to say about a key that is not known.
pub fn unknown(key: &str) -> String {
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
