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
  is "$(jq -c 'select(.subtype=="init") | .slash_commands' lines)" '["clear","compact","done","git:tidy"]'
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

run_check "$@"
