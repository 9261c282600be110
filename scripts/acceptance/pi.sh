#!/usr/bin/env bash
# Acceptance checks of the pi dialect with Gastown and Beads: where hooks come from, what
# their output means, what the log prints. gt and bd are stand-ins that note their arguments;
# the model is scripted (model.mjs). Run: pi.sh <ledger id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# allowed : an operator's row in which tools may run and a model is chosen
allowed() {
  settings '{"permissions":{"allow":["Bash","Read","Write","Edit","Glob","Grep"]},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
}
# config JSON : the file that --hooks-config names
config() { allowed; printf %s "$1" >hooks.json; }
# entries EVENT COMMAND... : a configuration with these hooks
entries() { jq -cn --arg e "$1" '{($e):[$ARGS.positional[1:][] | {command:.}]}' --args "$@"; }
# bash_call COMMAND [FLAG...] : one Bash call; the printed line is in $out, stderr in $err
bash_call() {
  local input
  input=$(jq -cn --arg c "$1" '{command:$c}')
  shift
  tool Bash "$input" "$@"
}
# guarded COMMAND HOOK... : that call under these PreToolUse hooks
guarded() {
  local command=$1
  shift
  config "$(entries PreToolUse "$@")"
  bash_call "$command" --hooks-config hooks.json
}
# prints JSON : a command that prints it
prints() { printf "printf %%s '%s'" "$1"; }
# stub NAME [BODY] : a program on the search path that notes its arguments in NAME.log
stub() {
  printf '#!/bin/sh\necho "$*" >>%q\n%s\n' "$WORLD/$1.log" "${2:-}" >"$WORLD/bin/$1"
  chmod +x "$WORLD/bin/$1"
}
# called NAME : what it was called with, joined by commas
called() { [ ! -e "$WORLD/$1.log" ] || paste -sd, "$WORLD/$1.log"; }
start() { code 0 ona --fire-hook '{"hook_event_name":"SessionStart","source":"startup"}' "$@"; }
compact() { code 0 ona --fire-hook '{"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null}' "$@"; }
# record FILTER [N] : from the n-th record of the log, 0 if not said
record() { sql "SELECT detail FROM events WHERE event_type='hook_exec' ORDER BY id LIMIT 1 OFFSET ${2:-0}" | jq -rc "$1"; }
is_file() { [ -e "$1" ] || fail "the file $1 does not exist"; }
no_file() { [ ! -e "$1" ] || fail "there is a file $1: $(cat "$1")"; }
# warning SOURCE REASON : the line at start
warning() { printf 'Warning: invalid hook config from %s (%s). Hooks are disabled for this session.' "$1" "$2"; }

# asked SCRIPT_JSON [FLAG...] : a prompt to a scripted model under hooks.json. req N FILTER : of its n-th request.
# With $ASKS the model asks the database that when a request arrives: .seen
asked() { model "$1" '' "${ASKS:-}"; anthropic; says 0 -p go --hooks-config hooks.json "${@:2}"; }
# contexts N : the hook-context blocks of the n-th request, each as one JSON string
contexts() { req "$1" '.body.messages[].content[] | select(.type == "text" and (.text | startswith("<hook-context>"))) | .text | tojson'; }
CALL='{"calls":[{"name":"Bash","input":{"command":"true"}}]}'

# ---- the v1 it builds on -----------------------------------------------------------

check_000_0_01() {
  guarded 'touch ran' 'exit 2'
  is "$(is_error)" true
  is "$(content)" 'Denied by PreToolUse hook
[0] Tool call blocked by hook'
  no_file ran
  # What was printed is the reason, for the model, the operator and the log.
  guarded 'touch ran' 'printf blocked; exit 2'
  is "$(content)" 'Denied by PreToolUse hook
[0] blocked'
  is "$err" 'Warning: PreToolUse hook (cli) blocked the call: printf blocked; exit 2: blocked'
  is "$(record '[.decision,.reason,.failed]' 1)" '["deny","blocked",false]'
  no_file ran
  config '{"SessionStart":[{"command":"echo s"}],"PreToolUse":[{"command":"echo a"}],"PostToolUse":[{"command":"echo p"}],"PreCompact":[{"command":"echo c"}]}'
  start --hooks-config hooks.json
  bash_call true --hooks-config hooks.json
  compact --hooks-config hooks.json
  is "$(sql "SELECT group_concat(hook_event) FROM (SELECT hook_event FROM hook_invocations WHERE exit_code=0 ORDER BY id)")" SessionStart,PreToolUse,PostToolUse,PreCompact
  code 0 ona doctor --json --hooks-config hooks.json
  is "$(jq -c '[.hooks[].timeout_ms] | unique' <<<"$out")" '[5000]'
  is "$(jq -c '[.hooks[].dialect] | unique' <<<"$out")" '["pi"]'
}

# ---- 1: where hooks come from ------------------------------------------------------

check_000_1_01() {
  config "$(entries SessionStart 'touch ran')"
  asked '[{"say":"hi"}]'
  is "$out" hi
  is_file ran
}
check_000_1_02() {
  config "$(entries PreToolUse 'touch of-file')"
  export PI_HOOKS_JSON='{"PreToolUse":[{"command":"touch of-env"}],"PostToolUse":[{"command":"touch of-env"}]}'
  bash_call true --hooks-config hooks.json
  is_file of-file
  no_file of-env
  is "$(record .configSourceName)" cli
}
check_000_1_03() {
  allowed
  PI_HOOKS_JSON='{"PreToolUse":[{"command":"touch of-env"}]}' bash_call true
  is_file of-env
  is "$(record .configSourceName)" env
  PI_HOOKS_JSON='' bash_call true
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 1
}
check_000_1_04() {
  allowed
  stub gt
  stub bd
  bash_call true
  is "$(called gt)" ''
  start --gastown
  bash_call true --gastown
  compact --gastown
  is "$(called gt)" 'prime,tap guard'
  is "$(called bd)" sync
  is "$(record .configSourceName)" gastown_builtin
  PI_GASTOWN_MODE=1 start
  PI_GASTOWN_MODE=yes start
  is "$(called gt)" 'prime,tap guard,prime'
}
check_000_1_05() {
  local flags
  mkdir .claude
  echo '{"permissions":{"allow":["Bash"]},"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"touch claude"}]}]}}' >.claude/settings.json
  echo '{}' >hooks.json
  ran() { if [ -e claude ]; then rm claude && echo yes; else echo no; fi; }
  bash_call true
  is "$(ran)" yes
  for flags in --gastown '--hooks-config hooks.json'; do
    bash_call true $flags
    is "$(ran)" no
    bash_call true $flags --claude-settings-hooks
    is "$(ran)" yes
  done
  PI_HOOKS_JSON='{}' bash_call true
  is "$(ran)" no
  PI_HOOKS_JSON='{}' PI_ENABLE_CLAUDE_SETTINGS_HOOKS=1 bash_call true
  is "$(ran)" yes
  # The user's file alike, and in a turn; what one session leaves out is there for the next.
  mkdir -p "$HOME/.claude"
  mv .claude/settings.json "$HOME/.claude/"
  asked "[$CALL,{\"say\":\"done\"},$CALL,{\"say\":\"done\"}]"
  is "$(ran)" no
  says 0 -p go
  is "$(ran)" yes
  PI_ENABLE_CLAUDE_SETTINGS_HOOKS=1 bash_call true --gastown
  is "$(ran)" yes
}
check_000_1_06() {
  stub gt
  stub bd
  config '{}'
  start --gastown --hooks-config hooks.json
  bash_call true --gastown --hooks-config hooks.json
  compact --gastown --hooks-config hooks.json
  PI_HOOKS_JSON='{}' start --gastown
  is "$(called gt)$(called bd)$err" ''
  # Without such a configuration they are called; an empty variable is none.
  start --gastown
  is "$(called gt)" prime
  PI_HOOKS_JSON='' bash_call true --gastown
  is "$(called gt)$err" 'prime,tap guard'
}
check_000_1_07() {
  config '{"PreToolUse":[{"command":"touch ran"},{"command":" "}]}'
  ASKS="SELECT count(*) FROM events WHERE event_type='hook_config_invalid'" asked '[{"say":"hi"}]'
  is "$err" "$(warning cli 'hooks.PreToolUse[1].command must be a non-empty string')"
  is "$(req 0 .seen)" 1
  no_file ran
}
check_000_1_08() {
  allowed
  code 0 ona --eval '{"tool":"Bash","input":{"command":"true"}}' --hooks-config missing.json
  is "$err" "$(warning cli 'hooks config file not found')"
  printf '{' >hooks.json
  bash_call 'echo usable' --hooks-config hooks.json
  is "$err" "$(warning cli 'invalid JSON')"
  is "$(content)" usable
  PI_HOOKS_JSON='{"Nope":[]}' bash_call true
  is "$err" "$(warning env 'unsupported hook event: Nope')"
  is "$(sql "SELECT group_concat(json_extract(detail,'\$.source') || ': ' || json_extract(detail,'\$.reason'), '|') FROM events WHERE event_type='hook_config_invalid'")" \
    'cli: hooks config file not found|cli: invalid JSON|env: unsupported hook event: Nope'
  PI_HOOKS_JSON='{' bash_call true --verbose
  is "$(sed -n 1p <<<"$err")" "$(warning env 'invalid JSON')"
  is "$(sed -n 2p <<<"$err")" '{"type":"invalid_hook_config","source":"env","reason":"invalid JSON","hooksDisabledForSession":true,"errors":["[env] invalid JSON"],"diagnostics":[{"sourceName":"env","message":"invalid JSON","isRuntimeSource":true}]}'
}
check_000_1_09() {
  config '{"PreToolUse":[{"command":"touch ran"}],"PostToolUse":[{"command":"touch ran","timeoutMs":0}]}'
  export PI_HOOKS_JSON='{"PreToolUse":[{"command":"touch ran"}]}'
  bash_call true --hooks-config hooks.json
  no_file ran
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 0
}
check_000_1_10() {
  stub gt
  stub bd
  config '{'
  start --gastown --hooks-config hooks.json
  bash_call true --gastown --hooks-config hooks.json
  PI_HOOKS_JSON='[' compact --gastown
  is "$(called gt)$(called bd)" ''
  # Without such a configuration they are called.
  start --gastown
  has "$(called gt)" prime
}
check_000_1_11() {
  config 'no JSON at all'
  asked "[$CALL,{\"say\":\"still here\"}]"
  is "$out" 'still here'
}
check_000_1_12() { check_000_1_04; }

# ---- 2: decisions ------------------------------------------------------------------

check_000_2_01() {
  config '{"PreToolUse":[{"command":"echo {\\\"additionalContext\\\":\\\"pre\\\"}"}],"PostToolUse":[{"command":"echo {\\\"additionalContext\\\":\\\"post\\\"}"}]}'
  asked "[$CALL,{\"say\":\"done\"}]"
  is "$(contexts 1)" '"<hook-context>\npre\n\npost\n</hook-context>"'
}
check_000_2_02() {
  local word
  for word in '"maybe"' 7 null '"DENY"'; do
    guarded 'echo ran' "$(prints "{\"decision\":$word}")"
    is "$(content)" ran
    has "$err" 'it must be allow, deny or ask'
  done
  is "$(sql "SELECT count(*) FROM events WHERE event_type='hook_output_invalid'")" 4
  is "$(record '.decision + " " + .level')" 'allow warn'
}
check_000_2_03() {
  local block
  for block in 'exit 2' "$(prints '{"decision":"deny"}')"; do
    config "$(jq -cn --arg b "$block" '{PreToolUse:[{command:$b},{command:"touch second"}],PostToolUse:[{command:"touch post"}],PostToolUseFailure:[{command:"touch post"}]}')"
    bash_call 'touch ran' --hooks-config hooks.json
    is "$(is_error)" true
    no_file ran
    no_file post
    no_file second
  done
  is "$(content)" 'Denied by PreToolUse hook
Tool call blocked by hook'
  is "$(sql "SELECT group_concat(ifnull(skipped_reason,'ran')) FROM hook_invocations")" ran,prior_block_or_deny,ran,prior_block_or_deny
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE hook_event LIKE 'Post%'")" 0
}
check_000_2_04() {
  guarded 'echo ran' "$(prints '{"decision":"allow"}')"
  is "$(content)$err" ran
  is "$(record '.decision + " " + .level')" 'allow info'
  is "$(ran_hooks)" 1
  # No opinion: a deny rule still denies.
  settings '{"permissions":{"deny":["Bash"]}}'
  bash_call 'touch no' --hooks-config hooks.json
  is "$(is_error)" true
  no_file no
  # Nor is it a permission, and an ask, which counts as allow, is none either: where a rule asks, or
  # no rule applies and nobody can be asked, the call does not run.
  local decision
  for decision in allow ask; do
    entries PreToolUse "$(prints "{\"decision\":\"$decision\"}")" >hooks.json
    settings '{"permissions":{"ask":["Bash"]}}'
    bash_call 'touch no' --hooks-config hooks.json
    is "$(is_error)" true
    settings '{"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
    asked '[{"calls":[{"name":"Bash","input":{"command":"touch no"}}]},{"say":"done"}]'
    is "$(requests)" 2
    no_file no
  done
}
check_000_2_05() {
  guarded 'echo ran' "$(prints '{"decision":"ask","reason":"r"}')"
  is "$(content)" ran
  is "$(ran_hooks)" 1
  is "$(sql 'SELECT count(*) FROM tool_permission_log')" 0
}
check_000_2_06() {
  guarded 'echo ran' "$(prints '{"decision":"ask","reason":"r"}')"
  is "$(wc -l <<<"$err")" 1
  has "$err" 'Warning: PreToolUse hook (cli) said ask; it has no permission dialog, so this counts as allow'
  is "$(record '.decision + " " + .level')" 'ask warn'
}
check_000_2_07() {
  guarded true "$(prints '{"decision":"deny","reason":"not on a Sunday"}')"
  is "$(content)" 'Denied by PreToolUse hook
not on a Sunday'
  has "$err" 'not on a Sunday'
  is "$(record .reason)" 'not on a Sunday'
}
check_000_2_08() {
  config "$(entries PreToolUse "$(prints '{"additionalContext":"remember this"}')")"
  asked "[$CALL,{\"say\":\"done\"}]"
  is "$(contexts 0)" ''
  is "$(contexts 1)" '"<hook-context>\nremember this\n</hook-context>"'
}
check_000_2_09() {
  guarded 'touch ran' 'echo "{\"decision\":\"allow\",\"reason\":\"why\"}"; exit 2'
  is "$(is_error)" true
  is "$(content)" 'Denied by PreToolUse hook
[0] why'
  no_file ran
}

# ---- 3: arguments ------------------------------------------------------------------

check_000_3_01() {
  guarded 'echo A' "$(prints '{"updatedInput":{"command":"echo B"}}')"
  is "$(content)" B
}
check_000_3_02() {
  config "$(jq -cn --arg u "$(prints '{"updatedInput":{"command":"echo B"}}')" '{PreToolUse:[{command:$u}],PostToolUse:[{command:"cat >post"}]}')"
  tool Bash '{"command":"echo A","timeout":5000}' --hooks-config hooks.json
  is "$(jq -c '.tool_input | [.command,.timeout]' post)" '["echo B",5000]'
  is "$(sql "SELECT json_extract(payload_json,'\$.effective_input.command','\$.effective_input.timeout') FROM transcript_entries WHERE payload_json LIKE '%effective_input%'")" '["echo B",5000]'
  # Beside a deny an update changes nothing.
  guarded 'touch ran' "$(prints '{"decision":"deny","updatedInput":{"command":"touch ran"}}')"
  no_file ran
}
check_000_3_03() {
  local second='cat >second'
  config "$(entries PreToolUse "$(prints '{"updatedInput":{"b":{"new":1}}}')" "$second")"
  code 0 ona --hooks-config hooks.json --fire-hook '{"hook_event_name":"PreToolUse","tool_name":"mcp__s__t","tool_input":{"a":1,"b":{"old":2}},"tool_use_id":"t"}'
  is "$(jq -c .tool_input second)" '{"a":1,"b":{"new":1}}'
}
check_000_3_04() {
  guarded 'echo A' 'echo "{\"updatedInput\":{"'
  is "$(content)" A
  is "$(wc -l <<<"$err")" 1
  has "$err" 'is not JSON'
  is "$(record '.decision + " " + .level')" 'allow warn'
  guarded 'echo A' "$(prints '{"updatedInput":["x"]}')"
  is "$(content)" A
  has "$err" 'updatedInput is ignored'
  # What does not fit the tool's schema never runs.
  guarded 'echo A' "$(prints '{"updatedInput":{"command":7}}')"
  is "$(is_error)" true
  has "$(content)" 'A hook changed the input'
}
check_000_3_05() {
  guarded 'echo A' "$(prints '{"tool_name":"Write","cwd":"/","session_id":"x","updatedInput":{}}')"
  is "$(content)" A
  is "$(ran_hooks)" 1
  is "$(sql "SELECT DISTINCT json_extract(payload_json,'\$.name') FROM transcript_entries WHERE entry_type='tool_use'")" Bash
}
check_000_3_06() {
  config "$(entries PreToolUse "$(prints '{"tool_use_id":"theirs","tool_name":"Read","updatedInput":{"command":"echo B"}}')")"
  code 0 ona --hooks-config hooks.json --eval '{"tool":"Bash","input":{"command":"echo A"},"tool_use_id":"mine"}'
  is "$(jq -r '.tool_use_id + " " + .content' <<<"$out")" 'mine B'
  is "$(sql "SELECT tool_use_id || ' ' || tool_name FROM hook_invocations")" 'mine Bash'
}
check_000_3_07() {
  guarded 'echo A' "$(prints '{"updatedInput":{"__proto__":{"x":1},"prototype":1,"constructor":2,"command":"echo B"}}')"
  is "$(content)" B
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%\_\_proto\_\_%' ESCAPE '\' OR payload_json LIKE '%constructor%' OR payload_json LIKE '%prototype%'")" 0
}

# ---- 4: context --------------------------------------------------------------------

check_000_4_01() {
  config "$(entries PostToolUse "$(prints '{"additionalContext":"the field","note":"the rest"}')")"
  asked "[$CALL,{\"say\":\"done\"}]"
  is "$(contexts 1)" '"<hook-context>\nthe field\n</hook-context>"'
}
check_000_4_02() {
  config '{"SessionStart":[{"command":"echo at start"}],"PostToolUse":[{"command":"echo plain; echo more >&2"}],"PreToolUse":[{"command":"echo help"}]}'
  asked "[$CALL,{\"say\":\"done\"}]"
  is "$(contexts 1)" '"<hook-context>\nat start\n</hook-context>"
"<hook-context>\nplain\nmore\n</hook-context>"'
}
check_000_4_03() {
  config "$(entries PostToolUse 'echo by itself')"
  asked "[$CALL,{\"say\":\"done\"}]"
  is "$(req 1 '.body.messages[-1].content | map(.type) | join(",")')" tool_result,text
  lacks "$(req 1 '.body.messages[-1].content[0] | tojson')" 'by itself'
  is "$(sql "SELECT json_extract(payload_json,'\$.dialect') || ' ' || json_extract(payload_json,'\$.additional_context') FROM transcript_entries WHERE entry_type='internal_hook'")" 'pi by itself'
}
check_000_4_04() {
  config "$(entries PostToolUse 'echo news')"
  asked "[$CALL,$CALL,{\"say\":\"done\"}]"
  is "$(contexts 0)" ''
  is "$(contexts 1)" '"<hook-context>\nnews\n</hook-context>"'
  # The second call adds its own block and repeats nothing.
  is "$(contexts 2 | wc -l)" 2
  lacks "$(req 2 '.body.messages[-2:] | tojson')" 'news\n\nnews'
}
check_000_4_05() {
  local two='[{"calls":[{"name":"Bash","input":{"command":"echo 1"}},{"name":"Bash","input":{"command":"echo 2"}}]},{"say":"done"}]'
  config "$(entries PostToolUse "$(prints '{"additionalContext":"one"}')" 'echo two' true)"
  asked "$two"
  is "$(contexts 1)" '"<hook-context>\none\n\ntwo\n\none\n\ntwo\n</hook-context>"'
  # The order is that of the calls, whichever hook ends first.
  config "$(entries PostToolUse 'case $(cat) in *"echo 1"*) sleep 0.3; echo slow;; *) echo quick;; esac')"
  asked "$two"
  is "$(contexts 1)" '"<hook-context>\nslow\n\nquick\n</hook-context>"'
}

# ---- 5: the log --------------------------------------------------------------------

# logged FILTER EXPECTED : of a hook that prints, fails and blocks nothing
logged() {
  guarded true 'echo out; echo err >&2; exit 3'
  is "$(record "$1")" "$2"
}
check_000_5_01() { logged .eventName PreToolUse; }
check_000_5_02() { logged .command 'echo out; echo err >&2; exit 3'; }
check_000_5_03() { logged '.durationMs | type' number; }
check_000_5_04() {
  logged '[.code,.failed,.timedOut]' '[3,true,false]'
  is "$(is_error) $(sql 'SELECT exit_code FROM hook_invocations')" 'false 3'
}
check_000_5_05() {
  logged .decision allow
  guarded true "$(prints '{"decision":"deny"}')"
  is "$(record .decision 1)" deny
}
check_000_5_06() {
  logged 'has("reason")' false
  guarded true "$(prints '{"decision":"deny","reason":"why"}')"
  is "$(record .reason 1)" why
}
check_000_5_07() {
  stub gt 'exit 1'
  logged .configSourceName cli
  PI_HOOKS_JSON='{"PreToolUse":[{"command":"true"}]}' bash_call true
  is "$(record .configSourceName 1)" env
  bash_call true --gastown
  is "$(record .configSourceName 2)" gastown_builtin
  has "$err" 'hook (default) failed'
}
check_000_5_08() {
  guarded true 'echo fine'
  is "$err" ''
  bash_call true --hooks-config hooks.json --verbose
  is "$(grep '^{' <<<"$err" | jq -r 'keys_unsorted | join(" ")')" \
    'eventName command configSourceName code durationMs stdout stderr timedOut failed decision redacted stdoutTruncated stderrTruncated truncated'
  # What is printed is what is stored.
  is "$(grep '^{' <<<"$err" | jq -c .)" "$(record 'del(.level,.warnings,.hook_ordinal,.dialect)' 1)"
  # Only a hook before the tool decides.
  config "$(entries PostToolUse true)"
  bash_call true --hooks-config hooks.json --verbose
  is "$(grep '^{' <<<"$err" | jq -r 'keys_unsorted | join(" ")')" \
    'eventName command configSourceName code durationMs stdout stderr timedOut failed redacted stdoutTruncated stderrTruncated truncated'
  guarded true 'exit 3'
  is "$err" 'Warning: PreToolUse hook (cli) failed with exit code 3: exit 3'
}
check_000_5_09() {
  local key verbose
  key=sk-$(printf 'a%.0s' $(seq 20))
  for verbose in '' --verbose; do
    config "$(entries PreToolUse "echo OPENAI_API_KEY=$key; echo 'password: hunter2' >&2; exit 2")"
    bash_call true --hooks-config hooks.json $verbose
    lacks "$out$err" "$key"
    lacks "$out$err" hunter2
    has "$err" '[REDACTED]'
  done
  is "$(record '.stdout + .stderr')" 'OPENAI_API_KEY=[REDACTED]
password: [REDACTED]'
  lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump)" "$key"
  lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump)" hunter2
  is "$(sql 'SELECT DISTINCT stdout_text FROM hook_invocations')" 'OPENAI_API_KEY=[REDACTED]'
  ! grep -aqe "$key" -e hunter2 "$AGENT_SDLC_DB"* || fail 'a secret is in the file of the database'
}
check_000_5_10() {
  guarded true 'head -c 3000 /dev/zero | tr "\0" x; head -c 2000 /dev/zero | tr "\0" y >&2'
  is "$(record '.stdout | length')" 2015
  has "$(record .stdout)" '...[truncated]'
  is "$(record '.stderr | length')" 2000
  is "$(record '[.stdoutTruncated,.stderrTruncated,.truncated]')" '[true,false,true]'
  is "$(sql 'SELECT length(stdout_text) FROM hook_invocations')" 3000
  # The model gets all of it.
  config "$(entries PostToolUse 'head -c 10000 /dev/zero | tr "\0" x')"
  asked "[$CALL,{\"say\":\"done\"}]"
  is "$(req 1 '.body.messages[-1].content[-1].text | length')" 10031
}
check_000_5_11() {
  guarded true 'echo my_token_id=5'
  is "$err" ''
  is "$(record .redacted)" true
}
check_000_5_12() {
  guarded true 'echo my_token_id=5'
  bash_call true --hooks-config hooks.json --verbose
  is "$(grep '^{' <<<"$err" | jq -c '[.redacted,.truncated]')" '[true,false]'
}

# ---- 6 to 8 ------------------------------------------------------------------------

check_000_6_01() { has "$(sed -n 1,20p "$ONA_ROOT/crates/dialects/src/pi/mod.rs")" 'Not demanded of it: a permission dialog, a sandbox for hooks, a matcher language'; }
check_000_7_01() { check_000_1_04; }
check_000_8_01() {
  check_000_2_03
  check_000_3_01
  check_000_4_05
}

run_check "$@"
