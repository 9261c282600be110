//! From the flags of the command line to the plain options of what they start.

use crate::args;

impl From<args::Options> for ona_runtime::Options {
    fn from(flags: args::Options) -> Self {
        Self {
            continue_newest: flags.continue_newest,
            resume: flags.resume,
            fork_session: flags.fork_session,
            session_id: flags.session_id,
            conversation: flags.conversation,
            worktree: flags.worktree,
            model: flags.model,
            tools: flags.tools,
            agents: flags.agents,
            agent: flags.agent,
            system_prompt: flags.system_prompt,
            system_prompt_file: flags.system_prompt_file,
            append_system_prompt: flags.append_system_prompt,
            append_system_prompt_file: flags.append_system_prompt_file,
            append_subagent_system_prompt: flags.append_subagent_system_prompt,
            disable_slash_commands: flags.reference.disable_slash_commands,
            max_turns: flags.max_turns,
            permission_mode: flags.permission_mode,
            dangerously_skip_permissions: flags.dangerously_skip_permissions,
            allowed_tools: flags.allowed_tools,
            disallowed_tools: flags.disallowed_tools,
            add_dir: flags.add_dir,
            strict_guards: flags.strict_guards,
            db: flags.db,
            settings: flags.settings,
            ignore_bad_settings: flags.ignore_bad_settings,
            setting_sources: flags.setting_sources,
            no_claude_settings: flags.no_claude_settings,
            plugin_dir: flags.plugin_dir,
            bare: flags.bare,
            trust: flags.trust,
            no_trust: flags.no_trust,
            mcp_config: flags.mcp_config,
            strict_mcp_config: flags.strict_mcp_config,
            hooks_config: flags.hooks_config,
            gastown: flags.gastown,
            claude_settings_hooks: flags.claude_settings_hooks,
            massgen_config: flags.massgen_config,
            agent_id: flags.agent_id,
            hook: flags.hook,
            extension: flags.extension,
            extension_flag: flags.extension_flag,
            verbose: flags.verbose,
        }
    }
}
