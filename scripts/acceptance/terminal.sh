#!/usr/bin/env bash
# Acceptance checks of the commands and dialogs of the terminal (section 2.9), in the real program and a real
# terminal. The model is scripted (model.mjs). Run: terminal.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"
. "$here/tmux.sh"

# ---- words of this area ------------------------------------------------------------

MODEL='{"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
# with_files SCRIPT_JSON [FLAG...] : as `terminal`, with the settings in the user's file, so that files count
with_files() {
  local script=$1
  shift
  model "$script"
  anthropic
  trap 'leave; stop_servers; rm -rf "$WORLD"' EXIT
  [ -e "$HOME/.ona/settings.json" ] || user_settings "$MODEL"
  opens "$*"
}
# change_hook : a ConfigChange hook of the user that writes down what it is told
change_hook() {
  user_settings "$(jq -c --arg c "cat >>$WORLD/changes" '. + {hooks:{ConfigChange:[{hooks:[{type:"command",command:$c}]}]}}' <<<"$MODEL")"
}
changes() { jq -r "${1:-.source}" "$WORLD/changes" 2>/dev/null | sort | uniq -c | awk '{print $1, $2}'; }
until_changes() {
  local tries=0
  until [ "$(changes)" = "$1" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "ConfigChange: «$(changes)» and not «$1»"
    sleep 0.05
  done
}

# ---- checks of the minimum of section 2.9 -------------------------------------------

# /help lists and explains commands; so does -p.
check_help() {
  terminal '[]'
  typed /help
  shows 'Leave; the session can be continued'
  typed '/help rewind'
  shows 'Go back to before a prompt'
  code 0 ona -p '/help' </dev/null
  has "$out" '/rewind'
}

# /model changes the wire model of the next request, and its provider, in the same process; while a reply streams, too.
check_model() {
  model '[{"say":"from the second"}]'
  openai
  local second=$PORT
  export LM_STUDIO_BASE_URL=http://127.0.0.1:$second/v1
  local asked_of=$LOG
  terminal '[{"say":"from the first"},{"say":"again the first"}]'
  typed 'one'
  shows 'from the first'
  typed /model
  shows 'Model'
  literally gpt_4o_mini
  shows 'gpt_4o_mini'
  press Enter
  shows 'The next request goes to gpt_4o_mini'
  typed 'two'
  shows 'from the second'
  is "$(jq -r '.body.model' "$asked_of" | tail -1)" gpt-4o-mini
  typed '/model claude_3_5_haiku'
  shows 'The next request goes to claude_3_5_haiku'
  typed 'three'
  shows 'again the first'
  is "$(req 1 .body.model)" claude-3-5-haiku-20241022
}

# /status names what is used and never a secret.
check_status() {
  terminal '[]'
  typed /status
  shows 'credential'
  shows 'claude_sonnet_4'
  lacks "$(screen)" canary-anthropic-key
}

# /login stores a pasted key without showing it; the session continues with it.
check_login() {
  model '[{"say":"with the new key"}]'
  export ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT
  trap 'leave; stop_servers; rm -rf "$WORLD"' EXIT
  user_settings "$MODEL"
  start
  shows 'No model can be asked yet'
  literally 3
  gone 'No model can be asked yet'
  shows '? keys'
  typed /login
  shows 'Paste an API key'
  literally 1
  shows 'not shown'
  literally 'sk-ant-api03-canary-pasted-key'
  sleep 0.3
  lacks "$(screen)" canary-pasted
  press Enter
  shows 'Login successful'
  typed 'are you there?'
  shows 'with the new key'
  is "$(req 0 '.headers["x-api-key"] // .headers["X-Api-Key"] // .headers.authorization')" sk-ant-api03-canary-pasted-key
  lacks "$(sql '.dump')" canary-pasted
}

# /logout forgets the login, ends the session with the reason logout, and leaves.
check_logout() {
  model '[]'
  export ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT
  trap 'leave; stop_servers; rm -rf "$WORLD"' EXIT
  user_settings "$(jq -c --arg c "cat >$WORLD/ended" '. + {hooks:{SessionEnd:[{hooks:[{type:"command",command:$c}]}]}}' <<<"$MODEL")"
  printf 'sk-ant-api03-canary-stored-key' | ona auth login --token >/dev/null
  opens
  local pid
  pid=$(tm display-message -p -t ona '#{pane_pid}')
  typed /logout
  local tries=0
  while kill -0 "$pid" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || fail "it does not leave: $(screen)"
    sleep 0.05
  done
  is "$(jq -r .reason "$WORLD/ended")" logout
  code 1 ona auth status
  # By /exit the reason is another one.
  code 0 ona -p '/status' </dev/null
}

# /config: an editor that searches, writes the file of the scope, and fires ConfigChange once.
check_config() {
  change_hook
  with_files '[]'
  typed /config
  shows 'type to search'
  literally hooksFail
  shows 'hooksFailClosed'
  press Enter
  shows 'hooksFailClosed             on'
  press Tab
  shows 'this project, for everybody'
  press Escape
  press Escape
  shows 'hooksFailClosed is true'
  is "$(jq .hooksFailClosed "$HOME/.ona/settings.json")" true
  until_changes '1 user_settings'
  typed '/config theme=pink'
  shows 'takes auto, dark, light, 16, plain'
  code 0 ona -p '/config effortLevel=high' </dev/null
  is "$(jq -r .effortLevel "$HOME/.ona/settings.json")" high
}

# What a managed policy fixes is shown and not changed.
check_config_managed() {
  echo '{"hooksFailClosed": true}' >"$ONA_MANAGED_SETTINGS"
  with_files '[]'
  typed /config
  shows 'type to search'
  literally hooksFail
  shows 'hooksFailClosed'
  press Enter
  shows 'fixed by the managed policy'
  press Escape
  press Escape
  gone 'type to search'
  typed '/config hooksFailClosed=false'
  shows 'nothing was changed'
  is "$(jq .hooksFailClosed "$HOME/.ona/settings.json")" null
  code 1 ona config set hooksFailClosed false
}

# /clear, /reset and /new end the session and begin another one of the conversation, with their hooks.
check_clear() {
  user_settings "$(jq -c --arg c "cat >>$WORLD/events" '. + {hooks:{SessionEnd:[{hooks:[{type:"command",command:$c}]}],SessionStart:[{hooks:[{type:"command",command:$c}]}]}}' <<<"$MODEL")"
  with_files '[{"say":"first"},{"say":"second"}]'
  typed 'one'
  shows first
  typed /reset
  until_sql 2 'SELECT count(*) FROM sessions'
  typed 'two'
  shows second
  is "$(req 1 '.body.messages | length')" 1
  is "$(sql 'SELECT count(DISTINCT conversation_id) FROM sessions')" 1
  is "$(jq -r '[.hook_event_name, .reason // .source] | join(" ")' "$WORLD/events" | head -3 | tr '\n' ',')" 'SessionStart startup,SessionEnd clear,SessionStart clear,'
  leave_by_exit
  is "$(jq -r '.reason // empty' "$WORLD/events" | tail -1)" prompt_input_exit
}

# ---- checks of the other commands ----------------------------------------------------

# /permissions: a rule is added with its scope, holds at once, and is removed again; ConfigChange fires.
check_permissions() {
  change_hook
  with_files '[{"calls":[{"name":"Bash","input":{"command":"touch made"}}]},{"say":"done"}]'
  typed /permissions
  shows 'Add a rule'
  press Enter
  shows 'Bash(npm test)'
  literally 'Bash(touch:*)'
  sleep 0.2
  press Enter
  shows 'What about Bash(touch:*)?'
  literally 1
  shows 'Where is it kept?'
  literally 1
  shows 'is kept in the local settings'
  press Escape
  gone 'Add a rule'
  is "$(jq -r '.permissions.allow[0]' .ona/settings.local.json)" 'Bash(touch:*)'
  until_changes '1 local_settings'
  typed 'make it'
  shows done
  [ -e made ] || fail 'the rule does not hold'
  typed '/permissions remove Bash(touch:*)'
  shows 'is removed'
  is "$(jq -c '.permissions.allow' .ona/settings.local.json)" '[]'
}

# /phase goes where the workflow allows it and says why not elsewhere.
check_phase() {
  terminal '[]'
  typed '/phase implement'
  shows 'cannot go from idle to implement'
  typed '/phase planning'
  shows 'The phase is planning now'
  is "$(sql 'SELECT phase FROM conversations')" planning
  typed /phase
  shows 'implement needs an approved plan'
  press Escape
  gone 'Stay here'
}

# /hooks shows what each hook did last.
check_hooks() {
  user_settings "$(jq -c '. + {permissions:{allow:["Bash"]},hooks:{PreToolUse:[{matcher:"Bash",hooks:[{type:"command",command:"echo looked >&2; exit 1"}]}]}}' <<<"$MODEL")"
  with_files '[{"calls":[{"name":"Bash","input":{"command":"true"}}]},{"say":"done"}]'
  typed 'go'
  shows done
  typed /hooks
  shows 'Hooks, in the order they run'
  shows 'exit code 1'
  press Enter
  shows 'Last run'
  shows 'looked'
  press Escape
  press Escape
  gone 'Hooks, in the order'
  code 0 ona -p '/hooks' </dev/null
  has "$out" 'exit code 1'
}

# /theme shows what it looks like, keeps the choice and uses it at once.
check_theme() {
  with_files '[]'
  typed /theme
  shows 'no colours'
  press Down
  shows 'src/main.rs'
  press Down
  press Enter
  shows 'theme is light'
  is "$(jq -r .theme "$HOME/.ona/settings.json")" light
}

# /statusline runs the command with JSON on its stdin.
check_statusline() {
  with_files '[]'
  typed '/statusline jq -r .workspace.project_dir'
  shows 'from now on'
  shows "$WORLD/project"
  typed '/statusline off'
  shows 'is removed'
  is "$(jq .statusLine "$HOME/.ona/settings.json")" null
}

# /rename, /copy, /todos, /recap, /btw
check_rename() {
  terminal '[{"say":"hello"},{"say":"Greetings of mice"}]'
  typed 'hi'
  shows hello
  typed '/rename My   mice'
  shows 'This session is called'
  typed /rename
  shows 'Greetings of mice'
  is "$(ona sessions list --json | jq -r '.[0].title')" 'Greetings of mice'
}
check_copy() {
  terminal '[{"say":"the first reply"},{"say":"the second reply"}]'
  tm set-option -s set-clipboard on
  typed 'one'
  shows 'the first reply'
  typed 'two'
  shows 'the second reply'
  typed '/copy 2'
  shows 'Copied 1 line'
  is "$(tm show-buffer)" 'the first reply'
}
check_todos() {
  user_settings "$(jq -c '. + {permissions:{allow:["TodoWrite"]}}' <<<"$MODEL")"
  with_files '[{"calls":[{"name":"TodoWrite","input":{"todos":[{"content":"feed the mice","status":"in_progress","activeForm":"feeding"}]}}]},{"say":"noted"}]'
  typed /todos
  shows 'no list of things to do'
  typed 'plan'
  shows noted
  typed /todos
  shows '[>] feed the mice'
}
check_recap() {
  terminal '[{"say":"hello"},{"say":"We greeted each other."}]'
  typed 'hi'
  shows hello
  typed /recap
  shows 'We greeted each other.'
}
check_btw() {
  terminal '[{"say":"hello"},{"say":"Forty-two."},{"say":"goodbye"}]'
  typed 'hi'
  shows hello
  typed '/btw what is the answer?'
  shows 'Forty-two.'
  typed 'bye'
  shows goodbye
  lacks "$(req 2 '.body.messages | tostring')" 'Forty-two'
  has "$(prompts 1)" 'what is the answer?'
}

# /goal: the model judges each stop until it is met or cleared.
check_goal() {
  terminal '[{"say":"I did one thing"},{"say":"{\"ok\": false, \"reason\": \"the second is missing\"}"},{"say":"I did both"},{"say":"{\"ok\": true}"}]'
  typed '/goal both things are done'
  shows 'works on until this is met'
  typed 'do it'
  shows 'I did both'
  asked 4
  has "$(req 2 '.body.messages[-1] | tostring')" 'the second is missing'
  typed '/goal clear'
  shows 'The goal is removed'
}

# /subtask and /background have an agent do it.
check_subtask() {
  terminal '[{"say":"the report of the agent"},{"say":"thanks"}]'
  typed '/subtask count the mice'
  shows 'the report of the agent'
  typed 'and?'
  shows thanks
  has "$(req 1 '.body.messages | tostring')" 'the report of the agent'
}
check_background() {
  terminal '[{"say":"counted them"},{"say":"I know now"}]'
  typed '/background count the mice'
  shows 'a1'
  asked 1
  has "$(req 0 '.body.messages[0] | tostring')" 'count the mice'
}
check_stop() {
  terminal '[{"calls":[{"name":"Bash","input":{"command":"sleep 600","run_in_background":true}}]},{"say":"it runs"},{"say":"it was stopped"}]'
  typed 'start it'
  shows 'it runs'
  typed /list-agents
  shows 'are at work'
  typed /stop
  shows 'is being stopped'
  code 0 ona -p '/stop' </dev/null
  has "$out" 'Nothing runs in the background'
}

# /cd moves the session, asks before it leaves the project, and fires CwdChanged.
check_cd() {
  user_settings "$(jq -c --arg c "cat >>$WORLD/moved" '. + {hooks:{CwdChanged:[{hooks:[{type:"command",command:$c}]}]}}' <<<"$MODEL")"
  mkdir -p inner "$WORLD/outside"
  with_files '[]'
  typed '/cd inner'
  shows 'Works in'
  is "$(jq -r .new_cwd "$WORLD/moved")" "$WORLD/project/inner"
  typed "/cd $WORLD/outside"
  shows 'as well?'
  literally 2
  shows 'outside of the working directories'
  is "$(wc -l <"$WORLD/moved")" 1
}

# /import takes over servers and instructions.
check_import() {
  mkdir -p "$HOME/.codex"
  printf '[mcp_servers.docs]\ncommand = "true"\nargs = ["-y"]\n' >"$HOME/.codex/config.toml"
  echo 'Be brief.' >"$HOME/.codex/AGENTS.md"
  user_settings "$MODEL"
  model '[]'
  anthropic
  code 0 ona -p '/import codex --dry-run' </dev/null
  has "$out" 'would be added'
  is "$(jq .mcpServers "$HOME/.ona/settings.json")" null
  code 0 ona -p '/import codex' </dev/null
  is "$(jq -c .mcpServers.docs "$HOME/.ona/settings.json")" '{"command":"true","args":["-y"]}'
  has "$(cat "$HOME/.ona/CLAUDE.md")" '@~/.codex/AGENTS.md'
}

# /insights, /bug, /heapdump and /release-notes write or show what is known here.
check_insights() {
  terminal '[{"say":"hello"}]'
  typed 'hi'
  shows hello
  typed '/insights page.html'
  shows 'The page is in'
  has "$(cat page.html)" '<h2>Sessions</h2>'
}
check_bug() {
  terminal '[]'
  typed '/bug it hangs'
  shows 'Nothing is sent'
  literally 1
  shows 'The report is in'
  has "$(cat "$HOME"/.ona/reports/*.md)" 'it hangs'
  lacks "$(cat "$HOME"/.ona/reports/*.md)" canary-anthropic
  is "$(stat -c %a "$HOME"/.ona/reports/*.md)" 600
  typed /heapdump
  shows VmRSS
  code 0 ona -p '/release-notes' </dev/null
  has "$out" Unreleased
}

# /effort and /autocompact are settings that commands change.
check_effort() {
  with_files '[]'
  typed '/effort high'
  shows 'effortLevel is high'
  typed '/autocompact 50000'
  shows 'comes near 50000 tokens'
  is "$(jq -c '[.effortLevel, .autoCompactWindow]' "$HOME/.ona/settings.json")" '["high",50000]'
  typed '/autocompact auto'
  shows 'almost full'
  is "$(jq -c '.autoCompactWindow' "$HOME/.ona/settings.json")" null
}

# /keybindings and /memory open a file in the person's editor, which has the terminal.
check_editor() {
  printf '#!/bin/sh\necho "edited $1" >>%s/edited\n' "$WORLD" >"$WORLD/bin/fake-editor"
  chmod +x "$WORLD/bin/fake-editor"
  export EDITOR=fake-editor
  with_files '[]'
  typed /keybindings
  shows 'Closed'
  has "$(cat "$WORLD/edited")" keybindings.json
  typed /memory
  shows 'this project, for everybody'
  press Enter
  shows 'CLAUDE.md'
  local tries=0
  until grep -q 'CLAUDE.md' "$WORLD/edited"; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "the editor was not started: $(screen)"
    sleep 0.05
  done
}

# /tests and /verify: the report is shown; approving it ends the plan (DEC-114).
check_verify() {
  terminal '[]'
  typed /tests
  shows 'no approved plan'
  typed /verify
  shows 'no approved plan'
}

# /plugin lists and switches; what a plugin brings is shown before it is installed.
check_plugin() {
  mkdir -p "$WORLD/plug/.claude-plugin" "$WORLD/plug/commands"
  echo '{"name":"tidy","version":"1.0.0"}' >"$WORLD/plug/.claude-plugin/plugin.json"
  echo 'Tidy up.' >"$WORLD/plug/commands/sweep.md"
  with_files '[]'
  typed "/plugin install $WORLD/plug"
  shows 'and run this from now on?'
  shows sweep
  literally 1
  shows 'Installed tidy'
  typed /reload-plugins
  shows 'starts anew'
  typed '/plugin'
  shows 'tidy'
  press Escape
  gone 'Plugins'
  typed '/skills'
  shows 'sweep'
}
check_reload() { check_plugin; }

# /mcp shows servers with their state and reconnects them.
check_mcp() {
  user_settings "$(jq -c '. + {mcpServers:{broken:{command:"/no/such/program"}}}' <<<"$MODEL")"
  with_files '[]'
  typed /mcp
  shows broken
  shows failed
  press Enter
  shows '/no/such/program'
  literally r
  shows 'failed'
  press Escape
  press Escape
  gone 'MCP servers'
}

# Commands about parts that ona does not have say so; hosted ones, too.
check_omitted() {
  terminal '[]'
  typed /tui
  shows 'is not part of ona'
  typed /sandbox
  shows 'not by the kernel'
  typed /teleport
  shows 'needs a hosted service'
  typed /color
  shows 'Colour of the lines'
  press Escape
  typed '/focus'
  shows 'Prompts and replies only'
  typed /terminal-setup
  shows 'Ctrl+J writes a new line'
}

# ---- checks of dialogs -----------------------------------------------------------------

# "always" saves the rule that was shown; it covers this call, and a near one is asked about again.
check_always() {
  with_files '[{"calls":[{"name":"Bash","input":{"command":"touch one"}}]},{"calls":[{"name":"Bash","input":{"command":"touch one"}}]},{"calls":[{"name":"Bash","input":{"command":"chmod 600 one"}}]},{"say":"done"}]'
  typed 'go'
  shows 'Run this command?'
  shows 'without asking: Bash('
  local rule
  rule=$(screen | sed -n 's/.*without asking: //p' | head -1 | sed 's/ *$//')
  sleep 0.5
  literally 2
  shows 'chmod 600 one'
  shows 'Run this command?'
  [ -e one ] || fail 'it did not run'
  is "$(jq -r '.permissions.allow[0]' .ona/settings.local.json)" "$rule"
  sleep 0.5
  literally 3
  shows 'What should be done instead?'
  is "$(requests)" 3
}

# The reason is said once, and names the rule or the hook.
check_reason() {
  user_settings "$(jq -c '. + {permissions:{ask:["Bash(touch:*)"]}}' <<<"$MODEL")"
  with_files '[{"calls":[{"name":"Bash","input":{"command":"touch one"}}]},{"say":"done"}]'
  typed 'go'
  shows 'The rule Bash(touch:*) asks about it.'
  is "$(screen | sed -n '/Run this command/,$p' | grep -c 'touch one')" 1
  sleep 0.5
  literally 1
  shows done
}

# A person answers a question of the model, also in their own words.
check_question() {
  terminal '[{"calls":[{"name":"AskUserQuestion","input":{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"red","description":"warm"},{"label":"blue","description":"cold"}]}]}}]},{"say":"thanks"}]'
  typed 'ask me'
  shows 'Which colour?'
  sleep 0.5
  literally 2
  shows thanks
  has "$(req 1 '.body.messages[-1] | tostring')" 'blue'
}

# A plan is shown as it is rendered, and approved.
check_plan() {
  terminal '[{"calls":[{"name":"EnterPlanMode","input":{}}]},{"calls":[{"name":"ExitPlanMode","input":{"plan":"# Count mice\n\n## Success criteria\n\n- SC-1: all are counted\n"}}]},{"say":"begun"}]'
  typed 'plan it'
  local tries=0
  until [[ $(screen) == *'Approve this plan?'* ]]; do
    # Entering the plan mode may be asked about first.
    if [[ $(screen) == *'Use EnterPlanMode?'* ]]; then
      sleep 0.5
      literally 1
    fi
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "no plan comes: $(screen)"
    sleep 0.1
  done
  shows 'Count mice'
  sleep 0.5
  literally 2
  shows begun
  is "$(sql 'SELECT phase FROM conversations')" implement
}

# A folder that nobody has trusted: what would run is listed; No goes on without it.
check_trust() {
  unset ONA_TRUST
  mkdir -p .ona
  jq -cn --arg c "touch $WORLD/ran" '{hooks:{SessionStart:[{hooks:[{type:"command",command:$c}]}]}}' >.ona/settings.json
  model '[]'
  anthropic
  trap 'leave; stop_servers; rm -rf "$WORLD"' EXIT
  user_settings "$MODEL"
  start
  shows 'Trust this folder?'
  shows '.ona/settings.json'
  sleep 0.5
  literally 2
  shows '? keys'
  [ ! -e "$WORLD/ran" ] || fail 'a hook of the folder ran'
  leave_by_exit
  tm kill-server 2>/dev/null || true
  start
  shows 'Trust this folder?'
  sleep 0.5
  press Enter
  shows '? keys'
  local tries=0
  until [ -e "$WORLD/ran" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "the hook did not run: $(screen)"
    sleep 0.05
  done
}

# The first start without a credential: a menu, not an error. doctor says the same.
check_first_run() {
  user_settings "$MODEL"
  trap 'leave; stop_servers; rm -rf "$WORLD"' EXIT
  code 0 ona doctor
  has "$out" 'credential'
  start
  shows 'No model can be asked yet'
  shows 'Paste an API key'
  shows 'See a demonstration'
  literally 4
  local tries=0
  while tm has-session -t ona 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "it does not leave: $(screen)"
    sleep 0.05
  done
}

# --resume without an id and /resume list sessions, with search and a preview.
check_resume() {
  terminal '[{"say":"about mice"},{"say":"about birds"},{"say":"mice again"}]'
  typed 'tell me of mice'
  shows 'about mice'
  leave_by_exit
  opens
  typed 'tell me of birds'
  shows 'about birds'
  typed /resume
  shows 'Continue a session'
  literally mice
  shows '› tell me of mice'
  shows 'about mice'
  press Enter
  shows 'Continues in session'
  typed 'more'
  shows 'mice again'
  is "$(req 2 '.body.messages | length')" 3
  leave_by_exit
  start --resume
  shows 'Continue a session'
  literally birds
  shows '› tell me of birds'
  press Enter
  shows 'about birds'
}

# Rewinding: the list, both, and a summary of what followed.
check_rewind() {
  terminal '[{"calls":[{"name":"Write","input":{"file_path":"a.txt","content":"new"}}]},{"say":"written"},{"say":"a short summary"},{"say":"next"}]' --permission-mode acceptEdits
  typed 'write it'
  shows written
  typed /rewind
  shows 'Rewind to before this prompt'
  press Enter
  shows 'Rewind what?'
  shows 'Summarise from here on'
  literally 4
  shows 'a short summary'
  typed 'go on'
  shows next
  has "$(req 3 '.body.messages | tostring')" 'a short summary'
  [ -e a.txt ] || fail 'files stay as they are'
}

run_check "$@"
