#!/usr/bin/env bash
# Acceptance checks of skills and commands of files, of the hooks they and agents bring into a session,
# of plugins, and of the transcript file for hooks. The model is scripted (model.mjs).
# Run: skills.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# skill FOLDER < TEXT : writes FOLDER/SKILL.md
skill() { mkdir -p "$1"; cat >"$1/SKILL.md"; }
choose() { settings "$(jq -cn --argjson more "${1:-{\}}" '{model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"},permissions:{allow:["Skill","Bash","Agent"]}} + $more')"; }
call() { jq -cn --arg n "$1" --argjson i "$2" '{calls:[{name:$n,input:$i}]}'; }
bash_call() { call Bash "$(jq -cn --arg c "$1" '{command:$c}')"; }
script() { printf '%s\n' "$@" | jq -cs .; }
user() { jq -cn --arg t "$1" '{type:"user",message:{role:"user",content:$t}}'; }
STREAM=(-p --output-format stream-json --input-format stream-json --verbose)
# in_session ID TOOL INPUT [FLAG...] : one call in a session; the printed line is in $out
in_session() {
  local id=$1 name=$2 input=$3
  shift 3
  code 0 ona --eval "$(jq -cn --arg s "$id" --arg t "$name" --argjson i "$input" '{tool:$t,input:$i,session_id:$s}')" "$@"
}
# noting WORD [MORE] : front matter with a PreToolUse hook on Bash that adds WORD to the file `order`
noting() {
  printf -- '---\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: echo %s >> order\n%s---\ntext\n' "$1" "${2:-}"
}

# ---- checks ------------------------------------------------------------------------

check_004_7_2_15() {
  skill .ona/skills/greet <<<$'---\ndescription: greets\n---\nGreet $ARGUMENTS.'
  skill .claude/skills/theirs <<<$'---\ndisable-model-invocation: true\n---\nSecret steps.'
  skill "$HOME/.ona/skills/mine" <<<'Mine: $1 before $0.'
  tool Skill '{"skill":"greet","args":"the world"}'
  is "$(content)" 'Greet the world.'
  tool Skill '{"skill":"mine","args":"a \"b c\""}'
  is "$(content)" 'Mine: b c before a.'
  tool Skill '{"skill":"theirs"}'
  is "$(is_error)" true
  lacks "$(content)" 'Secret steps'
  tool Skill '{"skill":"../greet"}'
  is "$(content)" 'Unknown skill ../greet. The skills are: greet, mine.'
  tool Skill '{"skill":"greet","extra":1}'
  is "$(is_error)" true
  # A text's own commands are judged, and a text with a hole in it is not loaded.
  skill .ona/skills/shell <<<'Now: !`touch made`'
  settings '{"permissions":{"allow":["Skill"]}}'
  tool Skill '{"skill":"shell"}'
  is "$(is_error)" true
  has "$(content)" 'its command `touch made` may not run'
  [ ! -e made ] || fail 'the command ran'
  # A model receives their list and gets the text.
  model "$(script "$(call Skill '{"skill":"greet","args":"you"}')" '{"say":"ok"}')"
  anthropic
  choose
  code 0 ona -p go
  has "$(req 0 '.body.tools[] | select(.name=="Skill") | .description')" '- greet: greets'
  has "$(req 1 '.body.messages[-1].content | tostring')" 'Greet you.'
}

check_004_5_2_04() {
  noting b | skill .ona/skills/b
  noting a | skill .claude/skills/a
  settings "$(jq -cn '{permissions:{allow:["Bash","Skill"]},hooks:[{hook_event_name:"PreToolUse",matcher:"Bash",command:"echo settings >> order"}],plugins:{p:{hooks:[{hook_event_name:"PreToolUse",matcher:"Bash",command:"echo plugin >> order"}]}}}')"
  in_session s Skill '{"skill":"b"}'
  in_session s Skill '{"skill":"a"}'
  in_session s Skill '{"skill":"b"}'
  in_session s Bash '{"command":"true"}'
  is "$(tr '\n' ' ' <order)" 'settings plugin b a '
  is "$(sql "SELECT group_concat(hook_ordinal) FROM (SELECT hook_ordinal FROM hook_invocations ORDER BY id)")" 0,1,2,3
  code 0 ona hooks list --session s --json
  is "$(jq -r '[.hooks[].source] | join(" ")' <<<"$out")" 'settings_snapshot plugin:p skill:b skill:a'
}

check_C32() {
  noting guarded | skill .claude/skills/careful
  model "$(script "$(bash_call 'echo before >> order')" "$(call Skill '{"skill":"careful"}')" "$(bash_call 'echo after >> order')" '{"say":"ok"}' \
    "$(bash_call 'echo resumed >> order')" '{"say":"ok"}' "$(bash_call 'echo new >> order')" '{"say":"ok"}')"
  anthropic
  choose
  user go | ona "${STREAM[@]}" --session-id one >/dev/null 2>&1
  is "$(tr '\n' ' ' <order)" 'before guarded after '
  rm -r .claude/skills
  code 0 ona -p more -r one
  is "$(tr '\n' ' ' <order)" 'before guarded after guarded resumed '
  code 0 ona -p other
  is "$(tr '\n' ' ' <order)" 'before guarded after guarded resumed new '
}

check_C32_once() {
  noting once '          once: true
' | skill .claude/skills/s
  settings '{"permissions":{"allow":["Bash","Skill"]}}'
  in_session s Skill '{"skill":"s"}'
  in_session s Bash '{"command":"true"}'
  in_session s Bash '{"command":"true"}'
  is "$(cat order)" once
  # A folder that is not trusted runs nothing, and the skip is on record.
  noting theirs | skill .ona/skills/t
  in_session u Skill '{"skill":"t"}'
  in_session u Bash '{"command":"true"}' --no-trust
  is "$(sql 'SELECT skipped_reason FROM hook_invocations ORDER BY id DESC LIMIT 1')" untrusted_workspace
  is "$(cat order)" once
}

check_agent_hooks() {
  mkdir -p .claude/agents
  { printf -- '---\nname: worker\ndescription: works\n'; noting inside | sed '/^---$/d;/^text$/d'
    printf -- '  Stop:\n    - hooks:\n        - type: command\n          command: cat > stopped\n---\nWork.\n'; } >.claude/agents/worker.md
  model "$(script "$(bash_call true)" "$(call Agent '{"description":"d","prompt":"p","subagent_type":"worker"}')" "$(bash_call true)" '{"say":"done"}' "$(bash_call true)" '{"say":"ok"}')"
  anthropic
  choose
  code 0 ona -p go
  is "$(cat order)" inside
  is "$(jq -r '.hook_event_name + " " + .agent_type' stopped)" 'SubagentStop worker'
}

check_slash() {
  mkdir -p .claude/commands .ona/commands/git
  printf -- '---\ndescription: Finish\n---\nFinish $ARGUMENTS now.\n' >.claude/commands/done.md
  echo 'Tidy $0.' >.ona/commands/git/tidy.md
  model '[{"say":"ok"},{"say":"ok"}]'
  anthropic
  choose
  code 0 ona -p '/done gt-1'
  has "$(req 0 '.body.messages[0].content | tostring')" 'Finish gt-1 now.'
  { user '/git:tidy src'; user '/nonesuch x'; } | ona "${STREAM[@]}" >lines 2>/dev/null || true
  has "$(req 1 '.body.messages[0].content | tostring')" 'Tidy src.'
  is "$(jq -c 'select(.subtype=="init") | .slash_commands | map(select(IN("clear", "compact", "done", "git:tidy")))' lines)" '["clear","compact","done","git:tidy"]'
  is "$(jq -r 'select(.type=="result") | .result' lines | tail -1)" 'Unknown command: /nonesuch'
  is "$(requests)" 2
  code 1 ona -p '/nonesuch'
}

check_transcript_path() {
  mkdir -p .claude
  jq -n '{claudeCompat:{transcriptPath:true},hooks:{Stop:[{hooks:[{type:"command",command:"p=$(jq -r .transcript_path); stat -c \"%a %n\" \"$p\" > noted; cp \"$p\" copy"}]}]}}' >.claude/settings.json
  model '[{"say":"Hello."}]'
  anthropic
  code 0 ona -p 'greet me' --session-id s
  read -r mode path <noted
  is "$mode" 600
  is "$(jq -r '.type + ":" + .sessionId' copy | tr '\n' ' ')" 'user:s assistant:s '
  is "$(jq -r 'select(.type=="assistant") | .message.content[0].text' copy)" 'Hello.'
  [ ! -e "$path" ] || fail "$path outlived the program"
  # Without the setting, and in other dialects, nobody is told.
  settings '{"claudeCompat":{"transcriptPath":true},"hooks":[{"hook_event_name":"Stop","command":"cat > other"}]}'
  fire Stop '{"stop_hook_active":false}'
  is "$(jq 'has("transcript_path")' other)" false
}

check_C31() {
  local root=$HOME/.claude/plugins/cache/m/p/1
  mkdir -p "$root/hooks"
  jq -n '{description:"d",hooks:{description:"d",PreToolUse:[{matcher:"Bash",hooks:[{type:"command",command:"echo \"${CLAUDE_PLUGIN_ROOT}\" >> roots; test -d \"$CLAUDE_PLUGIN_DATA\" && echo data >> roots"}]}]}}' >"$root/hooks/hooks.json"
  jq -n --arg r "$root" '{version:2,plugins:{"p@m":[{scope:"user",installPath:$r}]}}' >"$HOME/.claude/plugins/installed_plugins.json"
  jq -n '{enabledPlugins:{"p@m":true},permissions:{allow:["Bash"]}}' >"$HOME/.claude/settings.json"
  tool Bash '{"command":"true"}'
  is "$(tr '\n' ' ' <roots)" "$root data "
  jq -n '{enabledPlugins:{"p@m":false},permissions:{allow:["Bash"]}}' >"$HOME/.claude/settings.json"
  code 0 ona settings import
  tool Bash '{"command":"true"}'
  is "$(wc -l <roots)" 2
}

# text N : everything the n-th request sent as messages
text() { req "$1" '.body.messages | tostring'; }

check_skill_fork() {
  mkdir -p .claude/agents
  printf -- '---\nname: scout\ndescription: scouts\ntools: Read\n---\nYou scout.\n' >.claude/agents/scout.md
  skill .ona/skills/look <<<$'---\ndescription: looks\ncontext: fork\nagent: scout\nmodel: claude_opus_4\n---\nLook at $ARGUMENTS.'
  skill .ona/skills/plain <<<'Plain $ARGUMENTS.'
  # The model loads it: an agent of that type gets the text, with the tools and the model it names.
  model "$(script "$(call Skill '{"skill":"look","args":"x"}')" '{"say":"seen x"}' '{"say":"done"}' '{"say":"seen y"}' '{"say":"later"}' '{"say":"no"}')"
  anthropic
  choose
  code 0 ona -p go
  has "$(req 1 '.body.system | tostring')" 'You scout.'
  has "$(text 1)" 'Look at x.'
  is "$(req 1 '[.body.tools[].name] | join(",")')" Read
  [ "$(req 1 .body.model)" != "$(req 0 .body.model)" ] || fail 'the agent has the same model'
  has "$(text 2)" 'seen x'
  lacks "$(text 2)" 'Look at x.'
  # Typed: its report is the answer, and the model reads it with the next prompt.
  code 0 ona -p '/look y' --session-id s
  is "$out" 'seen y'
  is "$(requests)" 4
  code 0 ona -p 'and now' -r s
  has "$(text 4)" 'seen y'
  # Rules about agents hold for it.
  choose '{"permissions":{"allow":["Skill"],"deny":["Agent(scout)"]}}'
  code 1 ona -p '/look z'
  has "$err$out" 'Denied'
  is "$(requests)" 5
}

check_skill_turn() {
  skill .ona/skills/big <<<$'---\ndescription: big\nmodel: claude_opus_4\n---\nThink.'
  skill .ona/skills/ts <<<$'---\ndescription: for scripts\npaths: "src/**/*.{ts,tsx}"\n---\nTypes.'
  mkdir -p src/deep && echo 'let a' >src/deep/a.ts && echo x >src/b.rs
  model "$(script '{"say":"one"}' '{"say":"two"}' "$(call Read '{"file_path":"src/b.rs"}')" "$(call Read '{"file_path":"src/deep/a.ts"}')" "$(call Read '{"file_path":"src/deep/a.ts"}')" '{"say":"done"}')"
  anthropic
  choose '{"permissions":{"allow":["Skill","Read"]}}'
  # The model of a skill is that of its turn, and of no other.
  { user '/big'; user plain; } | ona "${STREAM[@]}" >lines 2>/dev/null
  [ "$(req 0 .body.model)" != "$(req 1 .body.model)" ] || fail 'the model did not change'
  is "$(req 1 .body.model)" "$(req 1 .body.model)"
  # A skill with paths is not listed; it is announced once, with the first file it is for.
  lacks "$(req 0 '.body.tools[] | select(.name=="Skill") | .description')" '- ts'
  code 0 ona -p go
  lacks "$(text 3)" 'The skill ts'
  has "$(text 4)" 'The skill ts is for files like src/deep/a.ts: for scripts'
  is "$(text 5 | grep -o 'The skill ts is for' | wc -l)" 1
}

check_agent_definition() {
  mkdir -p .claude/agents sub/.claude/agents "$HOME/.claude/agents"
  echo 'Use tabs.' >CLAUDE.md
  skill .ona/skills/steps <<<$'---\ndescription: s\n---\nFirst look.'
  printf -- '---\nname: worker\ndescription: the user'"'"'s\n---\nx\n' >"$HOME/.claude/agents/worker.md"
  printf -- '---\nname: worker\ndescription: works on files\npermissionMode: acceptEdits\nskills: steps, none\ndisallowedTools: Bash\nmemory: user\nmcpServers:\n  - x: {command: y}\ncolor: red\n---\nWork.\n' >.claude/agents/worker.md
  printf -- '---\nname: [\n---\nx\n' >.claude/agents/broken.md
  model "$(script "$(call Agent '{"description":"d","prompt":"p","subagent_type":"worker"}')" "$(call Write '{"file_path":"made.txt","content":"x"}')" '{"say":"did it"}' "$(call Write '{"file_path":"main.txt","content":"x"}')" '{"say":"done"}')"
  anthropic
  choose '{"permissions":{"allow":["Agent"]}}'
  code 0 ona -p go
  has "$(req 0 '.body.tools[] | select(.name=="Agent") | .description')" '- worker: works on files'
  has "$(req 1 '.body.system | tostring')" 'Use tabs.'
  has "$(req 1 '.body.system | tostring')" 'First look.'
  is "$(req 1 '[.body.tools[].name] | index("Bash")')" null
  # Its mode accepts its edits and nobody else's.
  is "$(cat made.txt)" x
  [ ! -e main.txt ] || fail 'the session accepted an edit'
  # What has no effect is said, and so is a file that cannot be read.
  has "$err" 'memory (agents have no memory files)'
  has "$err" 'works without its MCP server "x"'
  has "$err" 'none is not a skill that agents may load'
  has "$err" 'broken.md: it has front matter that cannot be read'
  # A definition cannot bypass, and a restriction of its parent stays.
  code 0 ona hooks list
  printf -- '---\nname: near\ndescription: d\n---\nNear.\n' >sub/.claude/agents/near.md
  (cd sub && code 2 ona -p x --agent far && has "$err" 'the agents are explore, general-purpose, near, plan, worker')
}

check_agent_mode() {
  mkdir -p .ona/agents
  printf -- '---\nname: free\ndescription: d\npermissionMode: bypassPermissions\n---\nx\n' >.ona/agents/free.md
  printf -- '---\nname: edits\ndescription: d\npermissionMode: acceptEdits\n---\nx\n' >.ona/agents/edits.md
  printf -- '---\nname: calm\ndescription: d\npermissionMode: plan\ninitialPrompt: Say hello.\n---\nx\n' >.ona/agents/calm.md
  local start='{"description":"d","prompt":"p","subagent_type":'
  model "$(script "$(call Agent "$start\"free\"}")" "$(call Write '{"file_path":"a","content":"x"}')" '{"say":"1"}' '{"say":"2"}' \
    "$(call Agent "$start\"edits\"}")" "$(call Write '{"file_path":"b","content":"x"}')" '{"say":"1"}' '{"say":"2"}' '{"say":"hello"}' '{"say":"answer"}')"
  anthropic
  choose '{"permissions":{"allow":["Agent"]}}'
  code 0 ona -p go
  [ ! -e a ] || fail 'a definition gave itself bypassPermissions'
  code 0 ona -p go --permission-mode dontAsk
  [ ! -e b ] || fail 'a definition lifted a restriction'
  # The first prompt of a session that works as the agent.
  code 0 ona -p second --agent calm
  has "$(text 8)" 'Say hello.'
  lacks "$(text 8)" second
  is "$out" answer
}

check_agent_worktree() {
  export GIT_CONFIG_GLOBAL=$HOME/.gitconfig
  printf '[user]\n\temail = a@a.test\n\tname = a\n' >"$HOME/.gitconfig"
  git init -q . && echo one >f.txt && git add f.txt && git commit -qm one
  mkdir -p .ona/agents
  printf -- '---\nname: apart\ndescription: d\nisolation: worktree\n---\nx\n' >.ona/agents/apart.md
  local start='{"description":"d","prompt":"p","subagent_type":'
  model "$(script "$(call Agent "$start\"apart\"}")" "$(bash_call 'echo two >f.txt; echo no >../../../f.txt')" "$(bash_call 'echo two >f.txt')" '{"say":"changed"}' '{"say":"ok"}' \
    "$(call Agent "$start\"general-purpose\",\"isolation\":\"worktree\"}")" "$(bash_call pwd)" '{"say":"looked"}' '{"say":"ok"}' \
    "$(call Agent "$start\"apart\"}")" '{"say":"ok"}')"
  anthropic
  choose "$(jq -cn --argjson c "$(hook WorktreeCreate '' "jq -r .name >> $WORLD/heard")" --argjson r "$(hook WorktreeRemove '' "jq -r .worktree_path >> $WORLD/heard")" '{hooks:[$c,$r]}')"
  code 0 ona -p go
  is "$(cat f.txt)" one
  local tree
  tree=$(echo .claude/worktrees/agent-*)
  is "$(cat "$tree/f.txt")" two
  has "$(text 2)" 'the checkout stays as it is'
  has "$(text 4)" "$PWD/$tree"
  has "$(text 4)" 'was kept, because it has changes'
  # Unchanged: gone, with WorktreeRemove.
  code 0 ona -p go
  has "$(text 7)" '.claude/worktrees/agent-'
  lacks "$(text 8)" 'was kept'
  is "$(wc -l <"$WORLD/heard")" 3
  is "$(echo .claude/worktrees/agent-*)" "$tree"
  # A hook that fails: the agent does not start, and the model is told why.
  choose "$(jq -cn --argjson c "$(hook WorktreeCreate '' 'echo full >&2; exit 1')" '{hooks:[$c]}')"
  code 0 ona -p go
  has "$(text 10)" 'was not started: a WorktreeCreate hook refused the worktree: full'
}

check_output_styles() {
  mkdir -p .claude/output-styles "$HOME/.ona/output-styles"
  printf -- '---\ndescription: arr\n---\nTalk like a pirate.\n' >.claude/output-styles/pirate.md
  printf -- '---\nname: Mine\nkeep-coding-instructions: true\n---\nMy way.\n' >"$HOME/.ona/output-styles/m.md"
  model "$(script "$(call Agent '{"description":"d","prompt":"p"}')" '{"say":"sub"}' '{"say":"a"}' '{"say":"b"}' '{"say":"c"}' '{"say":"d"}' '{"say":"e"}')"
  anthropic
  choose '{"outputStyle":"Pirate"}'
  code 0 ona -p go
  has "$(req 0 '.body.system | tostring')" 'Talk like a pirate.'
  lacks "$(req 0 '.body.system | tostring')" 'How you work'
  # Not of subagents.
  lacks "$(req 1 '.body.system | tostring')" pirate
  choose '{"outputStyle":"mine"}'
  user go | ona "${STREAM[@]}" >lines 2>/dev/null
  has "$(req 3 '.body.system | tostring')" 'My way.'
  has "$(req 3 '.body.system | tostring')" 'How you work'
  is "$(jq -r 'select(.subtype=="init") | .output_style' lines)" Mine
  choose '{"outputStyle":"explanatory"}'
  code 0 ona -p go
  has "$(req 4 '.body.system | tostring')" 'Worth knowing'
  choose '{"outputStyle":"nonesuch"}'
  code 0 ona -p go
  has "$err" 'the styles are concise, default, explanatory, learning, Mine, pirate'
  # Nothing of a folder before it is trusted.
  choose '{"outputStyle":"pirate"}'
  code 0 ona -p go --no-trust
  has "$err" 'does not exist'
}

run_check "$@"
