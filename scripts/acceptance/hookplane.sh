#!/usr/bin/env bash
# Acceptance checks of the hook plane: order, matching, exit codes, merge, processes,
# stdin (Appendix A) and stdout (Appendix B). Run: hookplane.sh <ledger id>
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/model.sh"

# ---- words of this area ------------------------------------------------------------

# quick EVENT MATCHER COMMAND [MORE_JSON] : an entry that runs in sh, without a login profile
quick() { jq -cn --arg e "$1" --arg m "$2" --arg c "$3" --argjson more "${4:-{\}}" '{hook_event_name:$e,matcher:$m,command:$c,shell:"sh"} + $more'; }
# chain EVENT MATCHER COMMAND... : settings with these hooks in that order, and Bash and its like allowed
chain() {
  local event=$1 matcher=$2
  shift 2
  settings "$(jq -cn --arg e "$event" --arg m "$matcher" '{hooks:[$ARGS.positional[] | {hook_event_name:$e,matcher:$m,command:.,shell:"sh"}],
    permissions:{allow:["Bash","Read","Write","Edit","Glob","Grep"]}}' --args "$@")"
}
# pre COMMAND... : PreToolUse hooks on Bash
pre() { chain PreToolUse Bash "$@"; }
# rules DECISION [REASON] : a command that prints that permissionDecision
rules() { printf "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"%s\",\"permissionDecisionReason\":\"%s\"}}'" "$1" "${2:-}"; }
# got FILTER : from what the last command printed
got() { jq -c "$1" <<<"$out"; }
text() { jq -r "$1" <<<"$out"; }
# rows COLUMNS [WHERE] : of hook_invocations, in the order they were written
rows() { sql "SELECT $1 FROM hook_invocations WHERE ${2:-1} ORDER BY id"; }
# events_of TYPE : how many rows of that type the last session has
events_of() { sql "SELECT count(*) FROM events WHERE event_type='$1' AND session_id='$(text .session_id)'"; }
entries() { sql "SELECT payload_json FROM transcript_entries WHERE entry_type='$1' AND session_id='$(text .session_id)' ORDER BY sequence"; }
is_file() { [ -e "$1" ] || fail "the file $1 does not exist"; }
no_file() { [ ! -e "$1" ] || fail "there is a file $1: $(cat "$1")"; }
# within MS COMMAND... : runs it and fails if it took longer
within() {
  local most=$1 began=$(date +%s%3N) took
  shift
  "$@"
  took=$(($(date +%s%3N) - began))
  [ "$took" -le "$most" ] || fail "$took ms instead of at most $most: $*"
}

# Every event with all its fields in the order of Appendix A; then the names of the optional ones.
contracts() {
  cat <<'TABLE'
PreToolUse {"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}
PostToolUse {"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"x"},"tool_use_id":"t1"}
PostToolUseFailure {"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1","error":"boom","is_interrupt":true} is_interrupt
PermissionDenied {"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1","reason":"no"}
Notification {"message":"m","title":"t","notification_type":"idle_prompt"} title
UserPromptSubmit {"prompt":"p"}
SessionStart {"source":"startup","agent_type":"a","model":"claude-opus-4-20250514"} agent_type model
SessionEnd {"reason":"other"}
Stop {"stop_hook_active":true,"last_assistant_message":"bye"} last_assistant_message
StopFailure {"error":"rate_limit","error_details":"429","last_assistant_message":"bye"} error_details last_assistant_message
SubagentStart {"agent_id":"id1","agent_type":"explore"}
SubagentStop {"stop_hook_active":false,"agent_id":"id1","agent_transcript_path":"","agent_type":"explore","last_assistant_message":"bye"} last_assistant_message
PreCompact {"trigger":"manual","custom_instructions":"short"}
PostCompact {"trigger":"manual","compact_summary":"s"}
PermissionRequest {"tool_name":"Bash","tool_input":{"command":"ls"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls"}],"behavior":"allow","destination":"session"}]} permission_suggestions
Setup {"trigger":"init"}
TeammateIdle {"teammate_name":"n","team_name":"default"}
TaskCreated {"task_id":"1","task_subject":"s","task_description":"d","teammate_name":"n","team_name":"t"} task_description teammate_name team_name
TaskCompleted {"task_id":"1","task_subject":"s","task_description":"d","teammate_name":"n","team_name":"t"} task_description teammate_name team_name
Elicitation {"mcp_server_name":"srv","message":"m","mode":"form","url":"https://x.test","elicitation_id":"e1","requested_schema":{"type":"object"}} mode url elicitation_id requested_schema
ElicitationResult {"mcp_server_name":"srv","elicitation_id":"e1","mode":"url","action":"accept","content":{"a":1}} elicitation_id mode content
ConfigChange {"source":"user_settings","file_path":"/x/settings.json"} file_path
InstructionsLoaded {"file_path":"/x/CLAUDE.md","memory_type":"Project","load_reason":"session_start","globs":["*.rs"],"trigger_file_path":"/x/a.rs","parent_file_path":"/x/b.md"} globs trigger_file_path parent_file_path
WorktreeCreate {"name":"w"}
WorktreeRemove {"worktree_path":"/x/w"}
CwdChanged {"old_cwd":"/a","new_cwd":"/b"}
FileChanged {"file_path":"/x/.env","event":"change"}
TABLE
}
names() { contracts | cut -d' ' -f1; }
declare -A FIELDS LEAST OPTIONAL
while read -r event fields least optional; do
  FIELDS[$event]=$fields LEAST[$event]=$least OPTIONAL[$event]=$optional
done < <(contracts | jq -Rr 'split(" ") as $w | ($w[1] | fromjson) as $all
  | [$w[0], $w[1], ($all | with_entries(select(.key as $k | $w[2:] | index($k) | not)) | tojson)] + $w[2:] | join(" ")')
# full EVENT, least EVENT : its fields, with and without the optional ones
full() { printf '%s\n' "${FIELDS[$1]}"; }
least() { printf '%s\n' "${LEAST[$1]}"; }
# fires EVENT FIELDS_JSON : as fire, for fields that are not empty
fires() { code 0 ona --fire-hook "{\"hook_event_name\":\"$1\",${2#\{}"; }

# refuses FIELDS_JSON PART : the event is a usage error that names PART, and no hook runs
refuses() {
  rm -f in
  code 2 ona --fire-hook "$1"
  has "$err" "$2"
  no_file in
}

# stdin_of EVENT : its contract, with all fields and without the optional ones
stdin_of() {
  local event=$1 form fields expected field
  hooks "$(quick "$event" '' 'cat > in')"
  for form in full least; do
    fields=$($form "$event")
    # Typed backwards: the order in stdin is the program's.
    fire "$event" "$(jq -c 'to_entries | reverse | from_entries' <<<"$fields")"
    expected=$(jq -cn --arg e "$event" --arg s "$(text .session_id)" --arg d "$AGENT_SDLC_DB" --arg c "$PWD" --argjson f "$fields" \
      '{hook_event_name:$e,session_id:$s,conversation_id:"fire-hook",runtime_db_path:$d,cwd:$c,permission_mode:"default"}
       + ($f | with_entries(select(.key == "agent_id"))) + ($f | with_entries(select(.key == "agent_type"))) + $f')
    is "$(cat in)" "$expected"
    is "$(rows input_json "session_id='$(text .session_id)'")" "$expected"
    is "$(sql "SELECT count(*) FROM sessions JOIN conversations ON id = conversation_id WHERE session_id='$(text .session_id)'")" 1
  done
  # Every required field is required, every typed field is typed.
  for field in $(full "$event" | jq -r 'keys_unsorted[]'); do
    case " ${OPTIONAL[$event]} " in
      *" $field "*) ;;
      *) refuses "$(full "$event" | jq -c --arg e "$event" --arg f "$field" '{hook_event_name:$e} + del(.[$f])')" "$field" ;;
    esac
    case $field in tool_input | tool_response) continue ;; esac
    refuses "$(full "$event" | jq -c --arg e "$event" --arg f "$field" '{hook_event_name:$e} + (.[$f] = 7)')" "$field"
  done
}

# one_of EVENT FIELD VALUE... : each is sent on as it is, anything else is refused
one_of() {
  local event=$1 field=$2 value
  shift 2
  hooks "$(quick "$event" '' 'cat > in')"
  for value; do
    fires "$event" "$(full "$event" | jq -c --arg f "$field" --arg v "$value" '.[$f] = $v')"
    is "$(jq -r ".$field" in)" "$value"
  done
  for value in bogus "${1^^}" ''; do
    refuses "$(full "$event" | jq -c --arg e "$event" --arg f "$field" --arg v "$value" '{hook_event_name:$e} + (.[$f] = $v)')" "$field"
  done
}

# matches_on FIELD VALUE OTHER EVENT... : the matcher is tried on that field, not on another
matches_on() {
  local field=$1 value=$2 other=$3 event
  shift 3
  for event; do
    rm -f hit
    hooks "$(quick "$event" "^$value\$" 'echo >> hit')" "$(quick "$event" "^$other\$" 'echo >> miss')"
    fire "$event" "$(full "$event" | jq -c --arg f "$field" --arg v "$value" '.[$f] = $v')"
    is "$(got '[.hooks[].hook_ordinal]')" '[0]'
    is "$(wc -l <hit)" 1
    no_file miss
    fire "$event" "$(full "$event" | jq -c --arg f "$field" --arg v "$other" '.[$f] = $v')"
    is "$(got '[.hooks[].hook_ordinal]')" '[1]'
    is "$(wc -l <hit)" 1
    is_file miss
    rm miss
  done
}

# answers EVENT TEXT : one hook prints TEXT on exit 0; the event is fired
answers() {
  printf '%s' "$2" >answer
  settings "{\"hooks\":[{\"hook_event_name\":\"$1\",\"matcher\":\"\",\"shell\":\"sh\",\"command\":\"cat answer\"}]}"
  fires "$1" "${LEAST[$1]}"
}
# arm EVENT FIELDS_JSON : the hook prints that hookSpecificOutput
arm() {
  local fields=${2#\{}
  answers "$1" "{\"hookSpecificOutput\":{\"hookEventName\":\"$1\"$([ "$fields" = '}' ] || echo ,)$fields}"
}
# accepted : the last answer was valid
accepted() { is "$(got '[[.hooks[].exit_code],.notes]')$(events_of hook_output_invalid)" '[[0],[]]0'; }
# nothing TYPE WHY : the last answer left a note of that type and had no effect at all
nothing() {
  is "$(jq -c --arg w "$2" '[[.hooks[].exit_code],[.notes[].event_type],(.notes[0].why | contains($w)),.permission,.denied,.message,.blocks,.continue,
    .additional_context,.system_messages,.hook_specific_output,.updated_input]' <<<"$out")" "[[0],[\"$1\"],true,null,false,\"\",[],true,[],[],[],null]"
  is "$(events_of "$1")" 1
}
# bad_arm EVENT FIELDS_JSON WHY
bad_arm() { arm "$1" "$2"; nothing hook_output_invalid "$3"; }
# context_arm EVENT : additionalContext and nothing else
context_arm() {
  arm "$1" '{"additionalContext":"remember this"}'
  accepted
  is "$(got .additional_context)" '["remember this"]'
  arm "$1" '{}'
  accepted
  is "$(got .additional_context)" '[]'
  bad_arm "$1" '{"additionalContext":7}' additionalContext
}
# specific FIELDS_JSON : what the owner of the event gets
specific() { accepted; is "$(got '[.hook_specific_output[].fields]')" "[$1]"; }

# saying EVENT FIELDS_JSON : a command that prints this arm
saying() { printf "echo '%s'" "$(jq -cn --arg e "$1" --argjson f "$2" '{hookSpecificOutput:({hookEventName:$e} + $f)}')"; }
# turns ENTRY... : these hooks in turns
turns() { settings "$(printf '%s\n' "$@" | jq -cs '{hooks:., permissions:{allow:["Bash","Agent"]}, model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}}')"; }
# converse SCRIPT_JSON CODE FLAG... : one run against a model that says this
converse() { model "$1"; anthropic; says "${@:2}"; }
# in_turn COMMAND... : a turn in which the model runs them one after another
in_turn() {
  converse "$(printf '%s\n' "$@" | jq -cRn '[inputs | {calls:[{name:"Bash",input:{command:.}}]}]')" 0 -p go
}
# watched : what FileChanged hooks were told, by base name
watched() { sql "SELECT json_extract(input_json,'\$.event') || ' ' || replace(json_extract(input_json,'\$.file_path'), '$PWD/', '') FROM hook_invocations WHERE hook_event='FileChanged' AND json_extract(input_json,'\$.file_path') LIKE '$PWD/%' ORDER BY id"; }
# asked N : the n-th request as text, from 0
asked() { req "$1" '.body | tostring'; }
DELEGATE='[{"calls":[{"name":"Agent","input":{"description":"d","prompt":"look","subagent_type":"general-purpose"}}]},{"calls":[{"name":"Bash","input":{"command":"true"}}]},{"say":"seen"},{"say":"done"}]'

# ---- order, forks, turn ------------------------------------------------------------

# timed N : a command that logs when it starts and when it ends
timed() { echo "echo s$1 >> log; sleep 0.1; echo e$1 >> log"; }
no_overlap() {
  chain "$1" '' "$(timed 0)" "$(timed 1)" "$(timed 2)"
  fires "$1" "${LEAST[$1]}"
  is "$(paste -sd' ' log)" 's0 e0 s1 e1 s2 e2'
  is "$(rows 'count(*)' 'EXISTS (SELECT 1 FROM hook_invocations later WHERE later.id > hook_invocations.id AND later.started_at < hook_invocations.completed_at)')" 0
  rm log
}
check_004_HR_02() {
  local event first
  for event in PreToolUse PostToolUse Notification; do no_overlap "$event"; done
  sql 'DELETE FROM hook_invocations'
  pre "$(timed 0)" 'echo why >&2; exit 2' "$(timed 2)" 'exit 0'
  tool Bash '{"command":"echo x"}'
  first=$(rows "hook_ordinal, command, exit_code, stdout_text, stderr_text, skipped_reason")
  is "$(rows "hook_ordinal" | paste -sd,)" 0,1,2,3
  sql 'DELETE FROM hook_invocations'
  tool Bash '{"command":"echo x"}'
  is "$(rows "hook_ordinal, command, exit_code, stdout_text, stderr_text, skipped_reason")" "$first"
}
check_004_1_04() {
  hooks "$(quick PreToolUse Bash 'cat > in')"
  tool Bash '{"command":"echo x"}'
  is "$(jq -c '[has("transcript_path"), .conversation_id, .runtime_db_path]' in)" \
    "[false,\"$(text .conversation_id)\",\"$AGENT_SDLC_DB\"]"
}
DENY='{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}'
async_is_no_control() {
  printf '{"async":true,%s' "${DENY#\{}" >answer
  hooks "$(quick PreToolUse Bash 'cat answer; (sleep 3; cat answer; echo > late) & sleep 0.2; echo > waited')"
  tool Bash '{"command":"cat waited && echo ran"}'
  no_file late
  is "$(is_error) $(content)" "false $(printf '\nran')"
  is "$(events_of hook_async_rejected)" 1
  is "$(rows 'exit_code, skipped_reason' "session_id='$(text .session_id)'")" '0|'
}
check_004_1_05() { async_is_no_control; }
check_004_5_8_01() { async_is_no_control; }
check_004_1_06() {
  local one other expected
  local -A say=([allow]=$(rules allow) [ask]=$(rules ask) [deny]=$(rules deny) [exit2]='exit 2' [unset]=true)
  # comes_to ONE OTHER : what the two make of a call, in that order
  comes_to() {
    pre "${say[$1]}" "${say[$2]}"
    fires PreToolUse "${FIELDS[PreToolUse]}"
    text 'if .denied then "denied" else .permission end'
  }
  while read -r one other expected; do
    is "$one $other: $(comes_to "$one" "$other") $(comes_to "$other" "$one")" "$one $other: $expected $expected"
  done <<<'allow deny denied
ask deny denied
allow exit2 denied
ask exit2 denied
deny exit2 denied
allow ask ask
unset ask ask
unset allow allow'
}
check_004_2_5_03() {
  hooks "$(quick UserPromptSubmit '' 'cat > in; echo "not today" >&2; exit 2')"
  fire UserPromptSubmit '{"prompt":"hello"}'
  is "$(jq -r .prompt in)" hello
  is "$(rows 'hook_event, exit_code')" 'UserPromptSubmit|2'
  is "$(got '[.denied,.message]')" '[true,"[0] not today"]'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='user'")" 0
  hooks "$(quick UserPromptSubmit '' 'true')"
  fire UserPromptSubmit '{"prompt":"hello"}'
  is "$(got .denied)" false
  # In a turn: refused, nothing is stored or sent; let through, the row is there before the request.
  turns "$(quick UserPromptSubmit '' 'echo "not today" >&2; exit 2')"
  converse '[]' 1 -p hello
  is "$(requests) $(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='user'")" '0 0'
  turns "$(quick UserPromptSubmit '' true)"
  model '[]' '' "SELECT count(*) FROM transcript_entries WHERE entry_type='user'"
  anthropic
  says 0 -p hello
  is "$(req 0 .seen)" 1
}
check_004_2_5_07() {
  local log='>> $CLAUDE_PROJECT_DIR/log'
  settings "$(printf '%s\n' "$(quick PreToolUse Bash "echo pre $log")" "$(quick PermissionRequest Bash "echo ask $log")" \
    "$(quick PostToolUse Bash "echo post $log")" | jq -cs '{hooks:.}')"
  code 0 ona --eval '{"tool":"Bash","tool_use_id":"one","input":{"command":"echo run1 >> log"}}{"tool":"Bash","tool_use_id":"two","input":{"command":"echo run2 >> log"}}'
  is "$(paste -sd' ' log)" 'pre ask run1 post pre ask run2 post'
  is "$(rows "hook_event || ':' || json_extract(input_json,'$.tool_input.command')" | paste -sd' ')" \
    "$(for n in 1 2; do printf '%s:echo run%s >> log ' PreToolUse $n PermissionRequest $n PostToolUse $n; done | sed 's/ $//')"
  is "$(sql "SELECT tool_use_id || decision FROM tool_permission_log ORDER BY id" | paste -sd' ')" 'oneallow twoallow'
  is "$(sql "SELECT tool_use_id || ':' || entry_type FROM transcript_entries ORDER BY sequence" | paste -sd' ')" \
    'one:tool_use one:tool_result two:tool_use two:tool_result'
}
check_004_2_8_03() {
  local key=sk-ant-api03-abcdefghijklmnopqrstuvwxyz
  export ANTHROPIC_API_KEY=$key OPENAI_API_KEY=plainsecret42
  hooks "$(quick PreToolUse Bash 'cat > in; echo "$ANTHROPIC_API_KEY $OPENAI_API_KEY"; echo "e $OPENAI_API_KEY" >&2')"
  tool Bash '{"command":"echo sk-ant-api03-abcdefghijklmnopqrstuvwxyz plainsecret42 > /dev/null; echo ran"}'
  is "$(is_error)" false
  is "$(jq -r .tool_input.command in)" 'echo [REDACTED:ANTHROPIC_API_KEY] [REDACTED:OPENAI_API_KEY] > /dev/null; echo ran'
  is "$(rows 'stdout_text')" '[REDACTED:ANTHROPIC_API_KEY] [REDACTED:OPENAI_API_KEY]'
  is "$(rows 'stderr_text')" 'e [REDACTED:OPENAI_API_KEY]'
  lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump)" "$key"
  lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump)" plainsecret42
}
check_004_3_01() {
  local event
  is "$(ona --hook-schema | jq -r '.events[].hook_event_name' | sort)" "$(names | sort)"
  is "$(names | sort -u | wc -l)" 27
  settings "$( (names; printf 'pretooluse\nPreToolUses\n') | jq -Rcn '{hooks:[inputs | {hook_event_name:.,matcher:"",shell:"sh",command:"echo \(.) >> log"}]}')"
  for event in $(names); do fires "$event" "${FIELDS[$event]}"; done
  is "$(cat log)" "$(names)"
  is "$(sql "SELECT json_extract(detail,'$.entry.hook_event_name') FROM events WHERE event_type='hook_config_rejected'" | paste -sd' ')" 'pretooluse PreToolUses'
  code 1 ona doctor --json
  is "$(got '[.problems[] | select(contains("\"pretooluse\" is not a hook event"))] | length')" 1
  is "$(got '.problems | length')" 2
  code 1 ona doctor
  has "$out" 'problem: a hook on pretooluse'
  lacks "$out" $'\e'
  refuses '{"hook_event_name":"pretooluse","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}' '"pretooluse" is not a hook event'
}
check_004_3_02() {
  code 0 node "$ONA_ROOT/scripts/verify-sdlc-hook-order.mjs" "$WORLD/bin/ona"
  has "$out" '27 hook events'
  is "$(ona --hook-schema | jq -r '.events[].hook_event_name')" "$(names)"
  # The verifier sees a difference: the real dump with two events exchanged.
  printf '#!/bin/sh\n"%s" --hook-schema | jq ".events |= [.[0:3][], .[4], .[3], .[5:][]]"\n' "$ONA" >swapped
  chmod +x swapped
  code 1 node "$ONA_ROOT/scripts/verify-sdlc-hook-order.mjs" "$PWD/swapped"
  has "$err" 'event order'
}

# ---- matchers ----------------------------------------------------------------------

check_004_5_1_01() {
  hooks "$(quick PreToolUse Bash 'echo Pre >> log')" "$(quick PostToolUse Bash 'echo Post >> log')"
  echo text >file
  tool Read '{"file_path":"file"}'
  is "$(is_error)" false
  no_file log
  tool Bash '{"command":"echo x"}'
  is "$(paste -sd' ' log)" 'Pre Post'
  matches_on tool_name Bash Read PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied
}
check_004_5_1_02() { matches_on source startup clear SessionStart; }
check_004_5_1_03() {
  matches_on trigger init maintenance Setup
  matches_on trigger manual auto PreCompact PostCompact
}
check_004_5_1_04() { matches_on notification_type idle_prompt auth_success Notification; }
check_004_5_1_05() { matches_on reason clear logout SessionEnd; }
check_004_5_1_06() { matches_on error rate_limit server_error StopFailure; }
check_004_5_1_07() { matches_on agent_type explore plan SubagentStart SubagentStop; }
check_004_5_1_08() { matches_on mcp_server_name github memory Elicitation ElicitationResult; }
check_004_5_1_09() { matches_on source user_settings skills ConfigChange; }
check_004_5_1_10() { matches_on load_reason session_start include InstructionsLoaded; }
check_004_5_1_11() {
  hooks "$(quick FileChanged '^\.env$' 'echo >> log')"
  local path
  for path in /a/.env /deep/er/dir/.env .env; do fire FileChanged "{\"file_path\":\"$path\",\"event\":\"change\"}"; done
  is "$(wc -l <log)" 3
  for path in /.env/x /a/env /a/.env/b.txt; do fire FileChanged "{\"file_path\":\"$path\",\"event\":\"change\"}"; done
  is "$(wc -l <log)" 3
}
check_004_5_1_12() {
  local event
  for event in TeammateIdle TaskCreated TaskCompleted; do
    hooks "$(quick $event x 'echo x >> log')" "$(quick $event '.*' 'echo dots >> log')" "$(quick $event "$event" 'echo name >> log')" \
      "$(quick $event '' 'echo empty >> log')" "$(quick $event '*' 'echo star >> log')"
    rm -f log
    fire $event "$(full $event)"
    is "$(paste -sd' ' log)" 'empty star'
  done
}
check_004_5_1_13() {
  hooks "$(quick PreToolUse '' 'echo empty >> log')" "$(quick PreToolUse '*' 'echo star >> log')" "$(quick PreToolUse nomatch 'echo no >> log')"
  echo text >file
  local call
  for call in Bash:'{"command":"true"}' Read:'{"file_path":"file"}' Glob:'{"pattern":"*"}' Write:'{"file_path":"new","content":"x"}'; do
    rm -f log
    tool "${call%%:*}" "${call#*:}"
    is "${call%%:*} $(paste -sd' ' log)" "${call%%:*} empty star"
  done
  rm log
  fire PreToolUse '{"tool_name":"mcp__srv__tool","tool_input":{},"tool_use_id":"t"}'
  is "$(paste -sd' ' log)" 'empty star'
}
# matched QUERY : which of the configured matchers fire for that tool name
matched() {
  fire PreToolUse "$(jq -cn --arg t "$1" '{tool_name:$t,tool_input:{},tool_use_id:"t"}')"
  got '[.hooks[] | select(.exit_code == 0).matcher]'
}
matchers() { settings "$(jq -cn '{hooks:[$ARGS.positional[] | {hook_event_name:"PreToolUse",matcher:.,command:"true",shell:"sh"}]}' --args "$@")"; }
check_004_5_1_14() {
  hooks "$(quick PreToolUse 'Write|Edit' 'echo >> log')"
  echo a >file
  tool Write '{"file_path":"new","content":"x"}'
  is "$(wc -l <log)" 1
  matchers 'Write|Edit' 'Edit' 'Read|Bash_1'
  is "$(matched Edit)" '["Write|Edit","Edit"]'
  is "$(matched Write)" '["Write|Edit"]'
  is "$(matched NotebookEdit)" '["Edit"]'
  is "$(matched WriteX)" '[]'
  is "$(matched 'Write|Edit')" '["Edit"]'
  is "$(matched Bash_1)" '["Read|Bash_1"]'
}
check_004_5_1_15() {
  matchers '^(?!Bash).*$' 'mcp__.*__get' 'ash' '^Re(ad)$' '(?<=Note)bookEdit' '^(?<w>o)\k<w>$' 'Write|^Edit$' 'Web Fetch'
  is "$(matched Bash)" '["ash"]'
  is "$(matched Read)" '["^(?!Bash).*$","^Re(ad)$"]'
  is "$(matched mcp__memory__get_item)" '["^(?!Bash).*$","mcp__.*__get"]'
  is "$(matched mcp__memory__set)" '["^(?!Bash).*$"]'
  is "$(matched NotebookEdit)" '["^(?!Bash).*$","(?<=Note)bookEdit"]'
  is "$(matched oo)" '["^(?!Bash).*$","^(?<w>o)\\k<w>$"]'
  is "$(matched Edit)" '["^(?!Bash).*$","Write|^Edit$"]'
  is "$(matched Rewrite)" '["^(?!Bash).*$"]'
}
check_004_5_1_16() {
  # All of these would match "Bash" in PCRE.
  matchers '(?i)bash' '^[[:upper:]]ash$' '\ABash\z' 'Ba++sh' '(?>Bash)' '(?#note)Bash' '\QBash\E' '^Bash$'
  is "$(matched Bash)" '["^Bash$"]'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='hook_config_rejected' AND detail LIKE '%(?i)bash%'")" 1
  # And this is what the class means in ECMAScript.
  matchers '^[[:upper:]]ash$' '^[[:upper:]]$'
  is "$(matched 'u]')" '["^[[:upper:]]$"]'
}
check_004_5_1_17() {
  hooks "$(quick PreToolUse '[' 'echo >> log')" "$(quick PreToolUse '(' 'echo >> log')" "$(quick PreToolUse 'B*' 'echo ok >> log')"
  tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(content)" 'false ran'
  is "$(cat log)" ok
  is "$(rows 'matcher')" 'B*'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='hook_config_rejected' AND detail LIKE '%matches nothing%'")" 2
}

# ---- ordinals ----------------------------------------------------------------------

check_004_5_2_01() {
  hooks "$(quick PreToolUse Bash true)" "$(quick PostToolUse Bash true)" "$(quick PreToolUse Read true)" "$(quick PreToolUse Bash 'exit 0')"
  tool Bash '{"command":"echo x"}'
  # One numbering over the whole list, dense from 0; the Read hook has number 2 and no row here.
  is "$(rows "hook_event || hook_ordinal || ':' || exit_code" | paste -sd' ')" 'PreToolUse0:0 PreToolUse3:0 PostToolUse1:0'
  code 0 ona doctor --json
  is "$(got '[.hooks[] | [.hook_ordinal, .hook_event]]')" '[[0,"PreToolUse"],[1,"PostToolUse"],[2,"PreToolUse"],[3,"PreToolUse"]]'
}
check_004_5_2_02() {
  settings '{"permissions":{"allow":["Bash"]},"hooks":[
    {"hook_event_name":"PreToolUse","matcher":"Ba.*","hooks":[{"command":"echo a >> log","shell":"sh"},{"command":"echo b >> log","shell":"sh"}]},
    {"hook_event_name":"PreToolUse","matcher":"Bash","hooks":[{"command":"echo c >> log","shell":"sh"}]}]}'
  tool Bash '{"command":"cat log"}'
  is "$(content | xargs)" 'a b c'
  is "$(rows "hook_ordinal || ':' || matcher || ':' || command" | paste -sd' ')" '0:Ba.*:echo a >> log 1:Ba.*:echo b >> log 2:Bash:echo c >> log'
  # The object form is walked in the order it is written.
  settings '{"permissions":{"allow":["Bash"]},"hooks":{"PostToolUse":[{"matcher":"","hooks":[{"command":"true","shell":"sh"}]}],"PreToolUse":[{"matcher":"","hooks":[{"command":"true","shell":"sh"}]}]}}'
  fire PreToolUse "$(full PreToolUse)"
  is "$(got '[.hooks[].hook_ordinal]')" '[1]'
}
check_004_5_2_03() {
  settings "$(jq -cn 'def h($n): {hooks:[{hook_event_name:"PreToolUse",matcher:"",shell:"sh",command:"echo \($n)1 >> log"},{hook_event_name:"PreToolUse",matcher:"",shell:"sh",command:"echo \($n)2 >> log"}]};
    {plugins:{"b":h("b"),"é":h("é"),"a":h("a"),"Z":h("Z"),"a-b":h("a-b")}} + h("snap")')"
  fire PreToolUse "$(full PreToolUse)"
  is "$(paste -sd' ' log)" 'snap1 snap2 Z1 Z2 a1 a2 a-b1 a-b2 b1 b2 é1 é2'
  is "$(got '[.hooks[].hook_ordinal]')" '[0,1,2,3,4,5,6,7,8,9,10,11]'
}
check_004_5_2_05() {
  local a b
  a=$(quick PreToolUse Bash 'echo A >> log') b=$(quick PreToolUse Bash 'echo B >> log')
  hooks "$a" "$a" "$b"
  tool Bash '{"command":"true"}'
  is "$(paste -sd' ' log)" 'A B'
  is "$(rows hook_ordinal | paste -sd,)" 0,1
  rm log
  hooks "$a" "$b" "$a"
  tool Bash '{"command":"true"}'
  is "$(paste -sd' ' log)" 'A B A'
  # Each part of the key keeps two entries apart; what is not in the key does not.
  local part
  for part in '{"matcher":"Bas"}' '{"command":"echo C >> log"}' '{"shell":"bash"}' '{"hook_event_name":"PostToolUse"}' '{"if":"Bash"}'; do
    hooks "$a" "$(jq -c ". + $part" <<<"$a")"
    code 0 ona doctor --json
    is "$part $(got '.hooks | length')" "$part 2"
  done
  # And the two conditions are two hooks: one runs on every call, the other where its rule holds.
  hooks "$a" "$(jq -c '. + {if:"Bash(echo yes*)"}' <<<"$a")"
  rm log
  tool Bash '{"command":"echo no"}'
  is "$(wc -l <log)" 1
  tool Bash '{"command":"echo yes"}'
  is "$(wc -l <log)" 3
  hooks "$(jq -c '. + {timeout:5}' <<<"$a")" "$(jq -c '. + {timeout:9}' <<<"$a")"
  code 0 ona doctor --json
  is "$(got '[.hooks[].timeout_ms]')" '[5000]'
}
check_004_5_2_06() {
  hooks "$(hook PreToolUse Bash 'echo >> log')" "$(hook PreToolUse Bash 'echo >> log' '{"shell":"bash"}')" \
    "$(hook PreToolUse Bash 'echo >> log' '{"if":""}')" "$(hook PreToolUse Bash 'echo >> log' '{"shell":"bash","if_condition":""}')"
  tool Bash '{"command":"true"}'
  is "$(wc -l <log) $(rows 'count(*)')" '1 1'
  hooks "$(hook PreToolUse Bash 'echo >> log')" "$(hook PreToolUse Bash 'echo >> log' '{"shell":"sh"}')"
  tool Bash '{"command":"true"}'
  is "$(wc -l <log)" 3
}
check_004_5_3_01() { local event; for event in PreToolUse UserPromptSubmit PostToolUseFailure SessionStart; do no_overlap $event; done; }
check_004_5_3_02() {
  # The first hook takes its time to block; a hook started beside it would leave its file.
  hooks "$(quick PreToolUse Bash 'sleep 0.4; exit 2')" "$(quick PreToolUse Bash 'echo > second')"
  tool Bash '{"command":"echo > ran"}'
  is "$(is_error)" true
  no_file second
  no_file ran
  hooks "$(quick PreToolUse Bash 'sleep 0.2')" "$(quick PreToolUse Bash 'echo > second')"
  tool Bash '{"command":"echo > ran"}'
  is_file second
  is_file ran
  no_overlap PreToolUse
}

# ---- exit codes and JSON -----------------------------------------------------------

check_004_5_4_01() {
  hooks "$(quick PreToolUse Bash 'echo just text')" "$(quick PreToolUse Bash 'echo "[1,2]"')" "$(quick PreToolUse Bash 'echo "x {\"decision\":\"block\"}"')"
  tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(content)" 'false ran'
  is "$(rows 'exit_code || stdout_text' | paste -sd,)" '0just text,,0[1,2],,0x {"decision":"block"},'
  is "$(sql "SELECT count(*) FROM events WHERE event_type LIKE 'hook_%'")" 0
  # Beginning with a brace it is parsed, blank lines before it or not.
  local before
  for before in '' '\n\n  '; do
    hooks "$(quick PreToolUse Bash "printf '$before{\"decision\":\"block\",\"reason\":\"parsed\"}'")"
    tool Bash '{"command":"echo ran"}'
    is "$(is_error) $(content | paste -sd' ')" 'true Denied by PreToolUse hook parsed'
  done
}
check_004_5_4_02() {
  hooks "$(quick PreToolUse Bash 'echo no >&2; exit 2')" "$(quick UserPromptSubmit '' 'echo stop >&2; exit 2')"
  tool Bash '{"command":"echo > ran"}'
  is "$(is_error) $(content | paste -sd' ')" 'true Denied by PreToolUse hook [0] no'
  no_file ran
  has "$(newest)" '"is_error":true'
  fire UserPromptSubmit '{"prompt":"p"}'
  is "$(got '[.denied,.message]')" '[true,"[1] stop"]'
  # The same exit code on an event that cannot block only informs the operator.
  hooks "$(quick Notification '' 'echo hm >&2; exit 2')"
  fire Notification "$(least Notification)"
  is "$(got '[.denied,.blocks,.system_messages[0].text]')" '[false,[],"hm"]'
}
check_004_5_4_03() {
  local code
  for code in 1 3 127 255; do
    pre "echo '{\"decision\":\"block\"}'; echo why >&2; exit $code" "echo next$code >> log"
    tool Bash '{"command":"echo ran"}'
    is "$(is_error) $(content)" 'false ran'
    is "$(rows 'exit_code, stderr_text' "session_id='$(text .session_id)' AND hook_ordinal=0" | head -n 1)" "$code|why"
    is "$(tail -n 1 log)" "next$code"
    is "$(sql "SELECT json_extract(detail,'$.why') FROM events WHERE event_type='hook_error' AND session_id='$(text .session_id)'")" "[SDLC] hook failed with exit code $code"
  done
}
check_004_5_5_01() {
  local text
  for text in '{"decision":"block"}{"decision":"block"}' '{"decision":"block"} trailing' '{"decision":"block"' '{"decision":"deny"}' '{"decision":1}' '{"continue":"no"}' '{"hookSpecificOutput":[]}' '{decision:block}'; do
    answers PreToolUse "$text"
    nothing hook_output_invalid ''
  done
  printf '%s' '{"decision":"block"}{"decision":"block"}' >answer
  hooks "$(quick PreToolUse Bash 'cat answer')"
  tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(content) $(events_of hook_output_invalid)" 'false ran 1'
  answers PreToolUse ' {"decision":"block","unknown":{"x":1}} '
  is "$(got '[.denied,.notes]')" '[true,[]]'
}
async_is_logged() {
  local text
  for text in '{"async":true}' '{"async":true,"asyncTimeout":5000}' '{"async":true,"decision":"block","reason":"r","continue":false,"systemMessage":"m"}'; do
    answers PreToolUse "$text"
    nothing hook_async_rejected 'async'
    is "$(sql "SELECT json_extract(detail,'$.hook_event') FROM events WHERE event_type='hook_async_rejected' AND session_id='$(text .session_id)'")" PreToolUse
  done
  answers PreToolUse '{"async":false,"decision":"block"}'
  is "$(got '[.denied,.notes]')" '[true,[]]'
}
check_004_5_5_02() { async_is_logged; }
check_004_5_8_02() { async_is_logged; }
check_004_12_01() {
  async_is_logged
  is "$(ona --hook-schema | jq -c .output.async_stub)" '{"async":true,"asyncTimeout":"number, optional","accepted_as_control":false}'
  async_is_no_control
}
check_004_5_8_03() {
  hooks "$(quick PreToolUse Bash 'echo "{\"async\":true}"; echo still >&2; exit 2')"
  tool Bash '{"command":"echo > ran"}'
  is "$(is_error) $(content | paste -sd' ')" 'true Denied by PreToolUse hook [0] still'
  no_file ran
  fire UserPromptSubmit '{"prompt":"p"}'
  is "$(got .denied)" false
  hooks "$(quick UserPromptSubmit '' 'echo "{\"async\":true}"; exit 2')"
  fire UserPromptSubmit '{"prompt":"p"}'
  is "$(got .denied)" true
}

# ---- merge -------------------------------------------------------------------------

check_004_5_6_01() {
  local one other
  # allow over unset: a mode that denies yields to it. ask over allow, in both orders: a person has to say yes.
  settings "$(quick PreToolUse Bash "$(rules allow)" | jq -cs '{hooks:.}')"
  tool Bash '{"command":"echo ran"}' --permission-mode dontAsk
  is "$(is_error) $(content)" 'false ran'
  settings '{}'
  tool Bash '{"command":"echo ran"}' --permission-mode dontAsk
  is "$(is_error)" true
  for one in 'allow ask' 'ask allow'; do
    pre "$(rules "${one% *}")" "$(rules "${one#* }")"
    fire PreToolUse "$(full PreToolUse)"
    is "$(got .permission)" '"ask"'
    tool Bash '{"command":"echo > ran"}'
    is "$one $(is_error)" "$one true"
    no_file ran
    is "$(sql 'SELECT decision FROM tool_permission_log ORDER BY id DESC LIMIT 1')" deny
    tool Bash '{"command":"echo ran"}' --yes
    is "$(is_error) $(content)" 'false ran'
  done
  for one in 'allow deny' 'ask deny' 'deny allow' 'deny ask'; do
    pre "$(rules "${one% *}")" "$(rules "${one#* }")"
    tool Bash '{"command":"echo ran"}' --yes
    is "$one $(is_error)" "$one true"
    has "$(content)" 'Denied by PreToolUse hook'
  done
}
check_004_5_6_02() {
  hooks "$(quick PreToolUse Read true)" "$(quick PreToolUse Bash 'true')" "$(quick PreToolUse Bash 'printf "line one\nline two\n\n" >&2; exit 2')"
  fire PreToolUse "$(full PreToolUse)"
  is "$(got .blocks)" '[{"hook_ordinal":2,"text":"line one\nline two"}]'
  tool Bash '{"command":"echo x"}'
  is "$(content)" "$(printf 'Denied by PreToolUse hook\n[2] line one\nline two')"
  # Where nothing is skipped the list has one item per exit 2, and no item for other codes.
  hooks "$(quick UserPromptSubmit '' 'echo a >&2; exit 2')" "$(quick UserPromptSubmit '' 'echo b >&2; exit 1')" "$(quick UserPromptSubmit '' 'exit 2')" "$(quick UserPromptSubmit '' 'echo d >&2; exit 2')"
  fire UserPromptSubmit '{"prompt":"p"}'
  is "$(got .blocks)" '[{"hook_ordinal":0,"text":"a"},{"hook_ordinal":2,"text":""},{"hook_ordinal":3,"text":"d"}]'
}
check_004_5_6_03() {
  pre "$(rules deny 'not here')"
  tool Bash '{"command":"echo > ran"}'
  is "$(is_error) $(content | paste -sd' ')" 'true Denied by PreToolUse hook not here'
  no_file ran
  has "$(newest)" '"is_error":true'
  # The same decision on another event is not one.
  hooks "$(quick PostToolUse Bash "$(rules deny)")"
  tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(events_of hook_output_invalid)" 'false 1'
}
skips_the_rest() {
  local first
  for first in 'exit 2' "$(rules deny)" 'echo "{\"decision\":\"block\"}"'; do
    sqlite3 "$AGENT_SDLC_DB" 'DELETE FROM hook_invocations' 2>/dev/null || true
    pre "$(rules allow)" "$first" 'echo > later; exit 0' 'echo > later'
    tool Bash '{"command":"echo > ran"}'
    is "$(is_error)" true
    no_file later
    no_file ran
    is "$(rows "hook_ordinal || ':' || ifnull(skipped_reason,'-') || ':' || (exit_code IS NULL) || (stdout_text IS NULL) || (stderr_text IS NULL) || (completed_at IS NULL)" | paste -sd' ')" \
      '0:-:0000 1:-:0000 2:prior_block_or_deny:1111 3:prior_block_or_deny:1111'
  done
  # Other calls of the same chain are not touched by it.
  pre 'grep -q "echo bad" && exit 2 || exit 0' 'echo >> later'
  code 0 ona --eval '{"tool":"Bash","input":{"command":"echo bad"}}{"tool":"Bash","input":{"command":"echo good"}}'
  is "$(jq -c .is_error <<<"$out" | paste -sd' ') $(wc -l <later)" 'true false 1'
}
check_004_5_6_04() { skips_the_rest; }
check_004_5_6_05() {
  skips_the_rest
  is "$(sql "SELECT DISTINCT ifnull(skipped_reason,'ran') FROM hook_invocations ORDER BY 1" | paste -sd' ')" 'prior_block_or_deny ran'
}
check_004_5_6_06() {
  pre "$(rules allow)" 'printf "msg" >&2; exit 2'
  tool Bash '{"command":"echo x"}'
  is "$(is_error) $(content)" "true $(printf 'Denied by PreToolUse hook\n[1] msg')"
  is "$(sql "SELECT decision || json_extract(reason_json,'$.source') FROM tool_permission_log")" denyhook
  # Sorted by ordinal: eleven hooks, so that 10 must not stand before 2.
  local n list=()
  for n in 0 1 2 3 4 5 6 7 8 9 10; do list+=("echo m$n >&2; exit 2"); done
  chain UserPromptSubmit '' "${list[@]}"
  fire UserPromptSubmit '{"prompt":"p"}'
  is "$(text .message)" "$(for n in 0 1 2 3 4 5 6 7 8 9 10; do echo "[$n] m$n"; done)"
}
check_004_5_6_07() {
  pre "$(rules deny 'because of X')"
  tool Bash '{"command":"echo x"}'
  is "$(content)" "$(printf 'Denied by PreToolUse hook\nbecause of X')"
  pre 'echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\"}}"'
  tool Bash '{"command":"echo x"}'
  is "$(content)" 'Denied by PreToolUse hook'
  fire PreToolUse "$(full PreToolUse)"
  is "$(got '[.denied,.message]')" '[true,""]'
}
post_runs_all() {
  hooks "$(quick PostToolUse Bash 'echo one >&2; exit 2')" "$(quick PostToolUse Bash 'exit 1')" "$(quick PostToolUse Bash 'echo three >&2; exit 2')" "$(quick PostToolUse Bash 'echo >> last')" \
    "$(quick PostToolUseFailure Bash 'echo four >&2; exit 2')" "$(quick PostToolUseFailure Bash 'echo five >&2; exit 2')" "$(quick PostToolUseFailure Bash 'echo >> last')"
}
check_004_5_6_08() {
  post_runs_all
  tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(content)" 'false ran'
  tool Bash '{"command":"exit 3"}'
  is "$(wc -l <last)" 2
  is "$(rows "hook_ordinal || ':' || exit_code" | paste -sd' ')" '0:2 1:1 2:2 3:0 4:2 5:2 6:0'
  is "$(rows 'count(*)' 'skipped_reason IS NOT NULL')" 0
}
check_004_5_6_09() {
  post_runs_all
  tool Bash '{"command":"echo ran"}'
  is "$(entries internal_hook | jq -c '[.hook_event,.additional_context]')" '["PostToolUse","[0] one\n[2] three"]'
  tool Bash '{"command":"exit 3"}'
  is "$(entries internal_hook | jq -c '[.hook_event,.additional_context]')" '["PostToolUseFailure","[4] four\n[5] five"]'
  fire PostToolUse "$(full PostToolUse)"
  is "$(got .message)" '"[0] one\n[2] three"'
  post_runs_all
  settings "$(sql "SELECT json FROM settings_snapshot" | jq -c '. + {model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}}')"
  in_turn 'echo ran' 'exit 3'
  has "$(req 1 '.body.messages[-1].content[-1].text')" $'[0] one\n[2] three'
  has "$(req 2 '.body.messages[-1].content[-1].text')" $'[4] four\n[5] five'
}

# ---- timeouts and gates ------------------------------------------------------------

check_004_5_9_01() {
  settings "$(for e in PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit; do quick $e '' true; done | jq -cs '{hooks:.}')"
  code 0 ona doctor --json
  is "$(got '[.hooks[].timeout_ms]')" '[600000,600000,600000,600000]'
  is "$(got '[.hook_timeouts_ms | .PreToolUse, .PostToolUse, .PostToolUseFailure, .UserPromptSubmit]')" '[600000,600000,600000,600000]'
  is "$(ona --hook-schema | jq -c '[.events[] | select(.hook_event_name | IN("PreToolUse","PostToolUse","PostToolUseFailure","UserPromptSubmit")).default_timeout_ms]')" '[600000,600000,600000,600000]'
  SDLC_HOOK_TIMEOUT_MS=300 code 0 ona doctor --json
  is "$(got '[.hooks[].timeout_ms]')" '[300,300,300,300]'
}
check_004_5_9_02() {
  hooks "$(quick SessionEnd '' 'sleep 10; echo > end')" "$(quick PreToolUse '' true)"
  within 6000 fire SessionEnd '{"reason":"other"}'
  is "$(rows 'exit_code IS NULL, stderr_text')" '1|[SDLC] hook timed out after 1500 ms'
  no_file end
  code 0 ona doctor --json
  is "$(got '[.hooks[].timeout_ms]')" '[1500,600000]'
  is "$(got .hook_timeouts_ms.SessionEnd)" 1500
}
check_004_5_9_03() {
  hooks "$(quick PreToolUse Bash 'sleep 5; echo > end')"
  export SDLC_HOOK_TIMEOUT_MS=300
  within 4000 tool Bash '{"command":"echo > ran"}'
  is "$(is_error) $(content | paste -sd' ')" 'true Denied by PreToolUse hook [0] [SDLC] hook timed out after 300 ms'
  no_file ran
  # A value of the entry wins over it; nonsense is ignored aloud.
  hooks "$(quick PreToolUse Bash 'sleep 0.5; echo > end' '{"timeout":5}')"
  tool Bash '{"command":"echo > ran"}'
  is_file end
  is_file ran
  SDLC_HOOK_TIMEOUT_MS=-1 code 0 ona doctor --json
  is "$(got .hook_timeouts_ms.PreToolUse)" 600000
  has "$(got .remarks)" 'SDLC_HOOK_TIMEOUT_MS='
}
check_004_5_9_04() {
  hooks "$(quick SessionEnd '' 'sleep 1.7; echo > end')"
  export SDLC_HOOK_TIMEOUT_MS=100
  SDLC_SESSIONEND_HOOK_TIMEOUT_MS=5000 fire SessionEnd '{"reason":"other"}'
  is_file end
  is "$(rows exit_code)" 0
  rm end
  SDLC_SESSIONEND_HOOK_TIMEOUT_MS=200 fire SessionEnd '{"reason":"other"}'
  no_file end
  is "$(rows stderr_text 'exit_code IS NULL')" '[SDLC] hook timed out after 200 ms'
}
check_004_5_9_05() {
  export SDLC_HOOK_TIMEOUT_MS=500
  hooks "$(quick PreToolUse Bash 'echo partial; sleep 5')" "$(quick PreToolUse Bash 'echo > later')" "$(quick UserPromptSubmit '' 'sleep 5')"
  within 4000 tool Bash '{"command":"echo > ran"}'
  is "$(is_error) $(content | paste -sd' ')" 'true Denied by PreToolUse hook [0] [SDLC] hook timed out after 500 ms'
  no_file later
  no_file ran
  is "$(rows "hook_ordinal || ':' || ifnull(exit_code,'-') || ':' || ifnull(skipped_reason,'-')" | paste -sd' ')" '0:2:- 1:-:prior_block_or_deny'
  is "$(rows stdout_text hook_ordinal=0)" partial
  within 4000 fire UserPromptSubmit '{"prompt":"p"}'
  is "$(got '[.denied,.message,.hooks[0].exit_code]')" '[true,"[2] [SDLC] hook timed out after 500 ms",2]'
}
check_004_5_9_06() {
  export SDLC_HOOK_TIMEOUT_MS=500
  hooks "$(quick PostToolUse Bash 'sleep 5')" "$(quick PostToolUse Bash 'echo > later')"
  within 4000 tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(content)" 'false ran'
  is_file later
  is "$(rows "ifnull(exit_code,'-') || ':' || stderr_text" | paste -sd' ')" '-:[SDLC] hook timed out after 500 ms 0:'
  is "$(events_of hook_error)" 1
}
check_004_5_10_01() {
  hooks "$(quick PreToolUse Bash 'echo >> log; exit 2')"
  SDLC_DISABLE_ALL_HOOKS=1 tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(content)" 'false ran'
  no_file log
  is "$(rows 'skipped_reason, exit_code IS NULL')" 'all_hooks_disabled|1'
  local value
  for value in 0 true ''; do
    SDLC_DISABLE_ALL_HOOKS=$value tool Bash '{"command":"echo ran"}'
    is "$value $(is_error)" "$value true"
  done
  is "$(wc -l <log)" 3
}
check_004_5_10_02() {
  mkdir .ona "$HOME/.ona"
  settings_file() { jq -cn --arg c "$1" '{hooks:[{hook_event_name:"PreToolUse",matcher:"",shell:"sh",command:$c}]}'; }
  settings_file 'echo project >> log' >.ona/settings.json
  settings_file 'echo user >> log' >"$HOME/.ona/settings.json"
  unset ONA_TRUST
  AGENT_SDLC_DB=$WORLD/one.db tool Bash '{"command":"echo ran"}' --trust
  AGENT_SDLC_DB=$WORLD/one.db tool Bash '{"command":"echo ran"}'
  AGENT_SDLC_DB=$WORLD/two.db ONA_TRUST=always tool Bash '{"command":"echo ran"}'
  is "$(paste -sd' ' log)" 'user project user project user project'
  rm log
  local withheld
  for withheld in unsaid flag variable; do
    export AGENT_SDLC_DB=$WORLD/$withheld.db
    case $withheld in
      unsaid) tool Bash '{"command":"echo ran"}' ;;
      flag) tool Bash '{"command":"echo ran"}' --no-trust ;;
      variable) ONA_TRUST=never tool Bash '{"command":"echo ran"}' ;;
    esac
    has "$err" 'not trusted'
    has "$err" 'hooks (.ona/settings.json)'
    is "$(is_error) $(paste -sd' ' log)" 'false user'
    is "$(rows "command || ':' || ifnull(skipped_reason,'ran')" | paste -sd' ')" 'echo user >> log:ran echo project >> log:untrusted_workspace'
    rm log
  done
  export AGENT_SDLC_DB=$WORLD/managed.db ONA_TRUST=always
  settings_file 'echo managed >> log' | jq -c '. + {allowManagedHooksOnly:true}' >"$ONA_MANAGED_SETTINGS"
  tool Bash '{"command":"echo ran"}'
  is "$(paste -sd' ' log)" managed
  is "$(rows "command || ':' || ifnull(skipped_reason,'ran')" | sort | paste -sd' ')" 'echo managed >> log:ran echo project >> log:managed_only echo user >> log:managed_only'
}

# ---- processes ---------------------------------------------------------------------

check_004_5_11_01() {
  printf '#!/bin/sh\necho "$@" > pwsh\n' >"$WORLD/bin/pwsh"
  chmod +x "$WORLD/bin/pwsh"
  hooks "$(hook PreToolUse Bash 'echo "$BASH_VERSION" > default')" "$(hook PreToolUse Bash 'echo "$BASH_VERSION" > bash' '{"shell":"bash"}')" \
    "$(hook PreToolUse Bash 'echo > sh' '{"shell":"sh"}')" "$(hook PreToolUse Bash 'x' '{"shell":"powershell"}')" \
    "$(hook PreToolUse Bash 'echo > zsh' '{"shell":"zsh"}')" "$(hook PreToolUse Bash 'echo > zsh' '{"shell":"Bash"}')" "$(hook PreToolUse Bash 'echo > zsh' '{"shell":""}')" "$(hook PreToolUse Bash 'echo > zsh' '{"shell":7}')"
  tool Bash '{"command":"echo ran"}'
  [ -s default ] && [ -s bash ] || fail 'the default shell and bash are not bash'
  is_file sh
  is_file pwsh
  no_file zsh
  is "$(sql "SELECT group_concat(json_extract(detail,'$.entry.shell'),',') FROM events WHERE event_type='hook_config_rejected'")" 'zsh,Bash,,7'
  is "$(rows 'count(*)')" 4
}
check_004_5_11_02() {
  mkdir 'other dir'
  hooks "$(quick PreToolUse '' 'cat > $CLAUDE_PROJECT_DIR/in; pwd -P > $CLAUDE_PROJECT_DIR/where')"
  tool Bash '{"command":"echo x"}'
  is "$(cat where)" "$PWD"
  is "$(jq -r .cwd in)" "$PWD"
  code 0 ona --eval '{"tool":"Bash","input":{"command":"echo x"},"cwd":"other dir"}'
  is "$(cat where 'other dir/where' 2>/dev/null | tail -n 1)" "$PWD/other dir"
  is "$(jq -r .cwd "$(ls -t in 'other dir/in' 2>/dev/null | head -n 1)")" "$PWD/other dir"
  # After a cd the next call's hooks start there.
  code 0 ona --eval '{"tool":"Bash","input":{"command":"cd \"other dir\""}}{"tool":"Bash","input":{"command":"echo x"}}'
  is "$(cat where) $(jq -r .cwd in)" "$PWD/other dir $PWD/other dir"
}
check_004_5_11_03() {
  mkdir gone
  hooks "$(quick PreToolUse '' 'rm -rf "$PWD"')" "$(quick PreToolUse '' "echo > $WORLD/spawned; exit 2")"
  echo text >file
  code 0 ona --eval "{\"tool\":\"Read\",\"input\":{\"file_path\":\"$PWD/file\"},\"cwd\":\"gone\"}"
  no_file "$WORLD/spawned"
  is "$(rows 'exit_code IS NULL, skipped_reason IS NULL' hook_ordinal=1)" '1|1'
  has "$(rows stderr_text hook_ordinal=1)" "$PWD/gone"
  is "$(is_error)" false
  has "$(content)" text
  is "$(events_of hook_error)" 1
}
# elsewhere DIR : the program in a root of its own that has bash and sh in DIR only
elsewhere() {
  local root=$WORLD/root as=() file
  rm -rf "$root"
  mkdir -p "$root$1" "$root/state" "$root/home" "$root/tmp"
  for file in $(ldd "$ONA" /bin/bash /bin/sh | grep -o '/[^ ]*lib[^ ]*' | sort -u); do
    mkdir -p "$root$(dirname "$file")"
    cp -L "$file" "$root$file"
  done
  cp -L "$ONA" "$root/ona"
  cp -L /bin/bash /bin/sh "$root$1"
  echo '{}' >"$root/managed.json"
  cp "$AGENT_SDLC_DB" "$root/state/ona.db"
  [ "$(id -u)" = 0 ] || { unshare -r true 2>/dev/null && as=(unshare -r) || as=(sudo -n); }
  code 0 "${as[@]}" env -i PATH=/nowhere:/opt/shells HOME=/home TMPDIR=/tmp AGENT_SDLC_DB=/state/ona.db ONA_MANAGED_SETTINGS=/managed.json \
    "$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)" "$root" /ona --fire-hook '{"hook_event_name":"UserPromptSubmit","prompt":"p"}'
}
check_004_5_11_04() {
  echo 'export FROM_PROFILE=yes' >"$HOME/.bash_profile"
  hooks "$(hook PreToolUse Bash 'cat /proc/$$/cmdline > argv; shopt login_shell > login; echo "$FROM_PROFILE" > profile; :')"
  tool Bash '{"command":"echo x"}'
  is "$(tr '\0' '\n' <argv)" "$(printf '%s\n' /bin/bash -lc 'cat /proc/$$/cmdline > argv; shopt login_shell > login; echo "$FROM_PROFILE" > profile; :')"
  has "$(cat login)" on
  is "$(cat profile)" yes
  hooks "$(hook UserPromptSubmit '' 'shopt -q login_shell && echo "$BASH" >&2; exit 2')"
  elsewhere /usr/bin
  is "$(text .message)" '[0] /usr/bin/bash'
  elsewhere /opt/shells
  is "$(text .message)" '[0] /opt/shells/bash'
}
check_004_5_11_05() {
  echo 'echo > profile' >"$HOME/.profile"
  hooks "$(quick PreToolUse Bash 'cat /proc/$$/cmdline > argv; :')"
  tool Bash '{"command":"echo x"}'
  is "$(tr '\0' '\n' <argv)" "$(printf '%s\n' /bin/sh -c 'cat /proc/$$/cmdline > argv; :')"
  no_file profile
  hooks "$(quick UserPromptSubmit '' 'echo "$0" >&2; exit 2')"
  elsewhere /usr/bin
  is "$(text .message)" '[0] /usr/bin/sh'
  elsewhere /opt/shells
  is "$(text .message)" '[0] sh'
}
check_004_5_11_06() {
  local name
  for name in powershell pwsh; do
    printf '#!/bin/sh\nprintf "%%s\\n" %s "$@" > argv\ncat > in\nexit 2\n' $name >"$WORLD/bin/$name"
    chmod +x "$WORLD/bin/$name"
    hooks "$(hook PreToolUse Bash 'Write-Output "a b"; $x' '{"shell":"powershell"}')"
    tool Bash '{"command":"echo x"}'
    is "$(cat argv)" "$(printf '%s\n' $name -NoProfile -NonInteractive -Command 'Write-Output "a b"; $x')"
    is "$(jq -r .hook_event_name in) $(is_error)" 'PreToolUse true'
  done
}
check_004_5_11_07() {
  hooks "$(hook PreToolUse Bash 'exit 2' '{"shell":"powershell"}')" "$(quick PreToolUse Bash 'echo > next')"
  tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(content)" 'false ran'
  is_file next
  is "$(rows 'exit_code IS NULL, skipped_reason IS NULL' hook_ordinal=0)" '1|1'
  has "$(rows stderr_text hook_ordinal=0)" 'pwsh'
  is "$(events_of hook_error)" 1
}
check_004_5_11_08() {
  has "$(cat "$ONA_ROOT/docs/OPERATOR_RUNBOOK.md")" 'On Windows any effective hook with shell bash or sh is refused at start'
  has "$(cat "$ONA_ROOT/crates/runtime/src/guards/platform.rs")" 'fn bash_and_sh_are_refused_on_windows_alone'
  hooks "$(quick PreToolUse Bash 'echo > bash')" "$(hook PreToolUse Bash 'echo > sh' '{"shell":"sh"}')" \
    "$(hook PreToolUse Bash /bin/sh '{"args":["-c","echo >exec"]}')"
  tool Bash '{"command":"echo ran"}'
  is "$(content)" ran
  is_file bash sh exec
  is "$(ona hooks lint --json | grep -c '"platform"')" 0
}
check_004_5_11_09() {
  hooks "$(quick UserPromptSubmit '' 'cat > in')"
  fire UserPromptSubmit '{"prompt":"größe 😀 \u0001"}'
  is "$(head -c 1 in | od -An -tx1 | tr -d ' ')" 7b
  iconv -f UTF-8 -t UTF-8 in >/dev/null || fail 'stdin is not UTF-8'
  is "$(jq -r .prompt in)" "$(printf 'größe 😀 \001')"
  has "$(cat in)" 'größe 😀'
}
check_004_5_11_10() {
  hooks "$(quick PreToolUse Bash 'cat > in; echo eof > eof')" "$(quick PreToolUse Bash 'exec < /dev/null')"
  SDLC_HOOK_TIMEOUT_MS=5000 tool Bash '{"command":"echo a\necho b"}'
  is_file eof
  is "$(tail -c 2 in | od -An -tx1 | tr -d ' ')" 7d0a
  is "$(tr -cd '\n' <in | wc -c)" 1
  jq -es 'length == 1' in >/dev/null || fail 'stdin is not one JSON value'
}
check_004_5_11_11() {
  hooks "$(quick PreToolUse Bash 'printf "\377\376A"; printf "B\342\202C\360\200\200D\355\240\200" >&2')" "$(quick PreToolUse Bash 'printf "\357\273\277bom"')"
  tool Bash '{"command":"echo x"}'
  is "$(rows 'hex(stdout_text)' | paste -sd' ')" 'EFBFBDEFBFBD41 626F6D'
  # One U+FFFD for a cut-off sequence, one per byte that cannot begin or continue anything.
  is "$(rows 'stderr_text' hook_ordinal=0)" 'B�C���D���'
}
check_004_5_11_12() {
  local marker
  marker=$(printf '\n[SDLC_OUTPUT_TRUNCATED]\n' | od -An -tx1 | tr -d ' \n' | tr a-f A-F)
  hooks "$(quick PreToolUse Bash 'head -c 5242880 /dev/zero | tr "\0" x; head -c 5242880 /dev/zero | tr "\0" y >&2; echo > completed; exit 2')"
  tool Bash '{"command":"echo > ran"}'
  is_file completed
  no_file ran
  is "$(rows "exit_code, length(stdout_text), length(stderr_text), substr(hex(stdout_text), -50), substr(hex(stderr_text), -50)")" "2|4194329|4194329|$marker|$marker"
  is "$(rows "replace(substr(stdout_text,1,4194304),'x','') || replace(substr(stderr_text,1,4194304),'y','')")" ''
  hooks "$(quick PreToolUse Bash 'head -c 4194304 /dev/zero | tr "\0" x')"
  tool Bash '{"command":"echo > ran"}'
  is "$(rows "length(stdout_text), instr(stdout_text,'SDLC')" "session_id='$(text .session_id)'")" '4194304|0'
}
check_004_5_11_13() {
  hooks "$(quick PreToolUse Bash 'env -0 > environment')"
  export FOO=1 LINES_OF=$'a b\nc' BYTES=$'\xff\xfe' EMPTY= LANG=C.UTF-8 LC_ALL=C.UTF-8
  tool Bash '{"command":"echo x"}'
  # Every variable of the host, byte for byte, but for those a shell keeps for itself.
  LC_ALL=C comm -z -23 <(env -0 | LC_ALL=C sort -z | grep -azvE '^(_|PWD|OLDPWD|SHLVL)=') <(LC_ALL=C sort -z environment) >missing
  is "$(tr '\0' '\n' <missing)" ''
  has "$(tr '\0' '\n' <environment)" FOO=1
  unset FOO
  tool Bash '{"command":"echo x"}'
  lacks "$(tr '\0' '\n' <environment)" FOO=1
}
check_004_5_11_14() {
  hooks "$(quick PreToolUse Bash 'echo "$AGENT_SDLC_DB $SDLC_HOOK" > environment')"
  SDLC_HOOK=0 tool Bash '{"command":"echo x"}'
  is "$(cat environment)" "$AGENT_SDLC_DB 1"
  cp -r "$WORLD/state" state
  unset AGENT_SDLC_DB
  tool Bash '{"command":"echo x"}' --db "$PWD/state/ona.db"
  is "$(cat environment)" "$PWD/state/ona.db 1"
}
check_004_5_11_15() {
  hooks "$(quick PreToolUse Bash 'echo "${LANG-unset} ${LC_ALL-unset}" > locale')"
  tool Bash '{"command":"echo x"}'
  is "$(cat locale)" 'C.UTF-8 unset'
  LANG=de_DE.UTF-8 tool Bash '{"command":"echo x"}'
  is "$(cat locale)" 'C.UTF-8 unset'
  LC_ALL=C.UTF-8 tool Bash '{"command":"echo x"}'
  is "$(cat locale)" 'C.UTF-8 C.UTF-8'
  LANG=de_DE.UTF-8 LC_ALL=C.UTF-8 tool Bash '{"command":"echo x"}'
  is "$(cat locale)" 'de_DE.UTF-8 C.UTF-8'
}
check_004_5_11_16() {
  mkdir -p .git sub
  hooks "$(quick PreToolUse Bash "echo \"\$CLAUDE_PROJECT_DIR\" > $WORLD/root")"
  local project=$PWD
  cd sub
  tool Bash '{"command":"echo x"}'
  is "$(cat "$WORLD/root")" "$project"
  is "$(sql 'SELECT DISTINCT project_dir FROM conversations')" "$project"
}
check_004_5_11_17() {
  # Nothing but the shell touches the command.
  hooks "$(quick PreToolUse Bash 'printf "%s\n" '\''{{tool_name}} $ARGUMENTS ${tool_input.command} %TOOL% <cwd>'\'' "$CLAUDE_PROJECT_DIR" > words')"
  tool Bash '{"command":"echo x"}'
  is "$(cat words)" "$(printf '%s\n' '{{tool_name}} $ARGUMENTS ${tool_input.command} %TOOL% <cwd>' "$PWD")"
}

# ---- stdin: the base ---------------------------------------------------------------

# Fires all 27 events; their stdin objects are the lines of "all".
all_events() {
  local event
  settings "$(names | jq -Rcn '{hooks:[inputs | {hook_event_name:.,matcher:"",shell:"sh",command:"cat >> all"}]}')"
  for event in $(names); do fires "$event" "${FIELDS[$event]}"; done
  is "$(wc -l <all)" 27
}
check_004_6_01() { all_events; is "$(jq -r .hook_event_name all)" "$(names)"; }
check_004_6_02() {
  all_events
  is "$(jq -r .session_id all | sort -u | wc -l)" 27
  is "$(jq -r .session_id all)" "$(sql 'SELECT session_id FROM sessions ORDER BY rowid')"
  is "$(jq -r .session_id all)" "$(rows session_id)"
  hooks "$(quick PreToolUse Bash 'cat > in')"
  tool Bash '{"command":"echo x"}'
  is "$(jq -r .session_id in)" "$(text .session_id)"
}
check_004_6_03() {
  conversation mine idle
  settings '{}'
  all_events
  is "$(jq -r .conversation_id all | sort -u)" "$(sql "SELECT id FROM conversations WHERE id <> 'mine'")"
  hooks "$(quick PreToolUse Bash 'cat > in; sqlite3 "$AGENT_SDLC_DB" "SELECT phase FROM conversations" > seen')"
  tool Bash '{"command":"echo x"}' --conversation mine
  is "$(jq -r .conversation_id in)" mine
  # It is there before the hook runs.
  tool Bash '{"command":"echo x"}'
  has "$(jq -r .conversation_id in)" 'eval:'
  is "$(sql "SELECT count(*) FROM conversations WHERE id='$(jq -r .conversation_id in)'")" 1
  is "$(wc -l <seen)" 3
}
check_004_6_04() {
  all_events
  is "$(jq -r .runtime_db_path all | sort -u)" "$AGENT_SDLC_DB"
  hooks "$(quick PreToolUse Bash 'cat > in; echo "$AGENT_SDLC_DB" >> in')"
  # The very string, not another spelling of the same file.
  export AGENT_SDLC_DB=$WORLD/project/../state/./ona.db
  tool Bash '{"command":"echo x"}'
  is "$(head -n 1 in | jq -r .runtime_db_path)" "$AGENT_SDLC_DB"
  is "$(tail -n 1 in)" "$AGENT_SDLC_DB"
}
check_004_6_05() {
  all_events
  is "$(jq -r .cwd all | sort -u)" "$PWD"
  hooks "$(quick Stop '' 'cat > in')"
  fire Stop '{"stop_hook_active":false,"cwd":"'"$WORLD/home"'"}'
  is "$(jq -r .cwd "$WORLD/home/in")" "$WORLD/home"
}
check_004_6_06() {
  local mode
  hooks "$(quick PreToolUse '' 'cat > in')"
  for mode in default acceptEdits bypassPermissions plan dontAsk; do
    tool Glob '{"pattern":"*"}' --permission-mode $mode
    is "$(jq -r .permission_mode in)" $mode
    fire PreToolUse "$(full PreToolUse | jq -c --arg m $mode '. + {permission_mode:$m}')"
    is "$(jq -r .permission_mode in)" $mode
  done
  refuses "$(full PreToolUse | jq -c '{hook_event_name:"PreToolUse",permission_mode:"auto"} + .')" auto
}
check_004_6_07() {
  hooks "$(quick PreToolUse '' 'cat > in')"
  fire PreToolUse "$(full PreToolUse | jq -c '. + {agent_id:"a1",agent_type:"explore"}')"
  is "$(jq -c 'to_entries[5:8] | from_entries' in)" '{"permission_mode":"default","agent_id":"a1","agent_type":"explore"}'
  tool Glob '{"pattern":"*"}'
  is "$(jq -c '[has("agent_id"),has("agent_type")]' in)" '[false,false]'
  refuses "$(full PreToolUse | jq -c '{hook_event_name:"PreToolUse",agent_id:1} + .')" agent_id
  turns "$(quick PreToolUse Bash 'cat > in')"
  converse "$DELEGATE" 0 -p go
  is "$(jq -c '[.agent_id == .session_id, .agent_type]' in)" '[true,"general-purpose"]'
  is "$(jq -r .agent_id in)" "$(sql "SELECT substr(key, 16) FROM state WHERE key LIKE 'session_parent:%'")"
}
check_004_6_08() {
  all_events
  is "$(jq -c 'has("transcript_path")' all | sort | uniq -c | tr -s ' ')" ' 27 false'
  lacks "$(sqlite3 "$AGENT_SDLC_DB" 'SELECT input_json FROM hook_invocations')" '"transcript_path"'
  settings '{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"cat > in","dialect":"claude"}]}]},"permissions":{"allow":["Bash"]}}'
  tool Bash '{"command":"echo x"}'
  is "$(jq -c '[has("transcript_path"),has("effort")]' in)" '[false,true]'
  code 2 ona --fire-hook '{"hook_event_name":"Stop","stop_hook_active":true,"transcript_path":"/x"}'
  has "$err" transcript_path
}
check_004_5_2_07() {
  local odd='echo "it'\''s | $HOME" >&2; exit 2 # "quoted"'
  hooks "$(quick PreToolUse 'Bash|Read' 'true  # two  spaces')" "$(quick PreToolUse '^B.sh$' "$odd")" "$(quick PreToolUse '*' 'true')"
  tool Bash '{"command":"echo x"}'
  is "$(rows "hook_ordinal, matcher, command, ifnull(skipped_reason,'ran')")" "$(printf '%s\n' '0|Bash|Read|true  # two  spaces|ran' "1|^B.sh\$|$odd|ran" '2|*|true|prior_block_or_deny')"
  hooks "$(quick Notification '' 'true')"
  fire Notification "$(least Notification)"
  is "$(rows "matcher = '', tool_use_id IS NULL, tool_name IS NULL" "hook_event='Notification'")" '1|1|1'
}
template_8_8_3() {
  ona db init >/dev/null
  sqlite3 "$AGENT_SDLC_DB" "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at)
    VALUES ('effective', '{\"hooks\":[{\"hook_event_name\":\"PreToolUse\",\"matcher\":\"Bash\",\"command\":\"exit 2\"}]}', datetime('now'))"
  code 0 ona --eval '{"tool": "Bash", "input": {"command": "echo hello"}}'
}
check_004_8_8_3_01() {
  template_8_8_3
  is "$(is_error) $(content | paste -sd' ')" 'true Denied by PreToolUse hook [0] '
  has "$(newest)" '"is_error":true'
  sqlite3 "$AGENT_SDLC_DB" "UPDATE settings_snapshot SET json = replace(json, 'exit 2', 'exit 0')"
  code 0 ona --eval '{"tool": "Bash", "input": {"command": "echo hello"}}'
  is "$(is_error) $(content)" 'false hello'
}
check_004_8_8_3_02() {
  template_8_8_3
  is "$(sqlite3 "$AGENT_SDLC_DB" "SELECT exit_code FROM hook_invocations WHERE hook_event='PreToolUse' AND tool_name='Bash' ORDER BY id DESC LIMIT 1")" 2
  is "$(rows 'hook_event, tool_name, matcher, command, exit_code')" 'PreToolUse|Bash|Bash|exit 2|2'
}

# ---- stdin: each event (Appendix A) ------------------------------------------------

check_004_11_01() {
  stdin_of PreToolUse
  local input
  for input in null 7 '"text"' '[1,{"a":null}]' '{"nested":{"é":[true]}}'; do
    fire PreToolUse "$(jq -cn --argjson i "$input" '{tool_name:"mcp__x__y",tool_input:$i,tool_use_id:"t"}')"
    is "$(jq -c .tool_input in)" "$input"
  done
  code 0 ona --eval '{"tool":"Bash","tool_use_id":"call-1","input":{"command":"echo x"}}'
  is "$(jq -c '[.tool_name,.tool_input,.tool_use_id]' in)" '["Bash",{"command":"echo x"},"call-1"]'
}
check_004_11_02() {
  stdin_of PostToolUse
  code 0 ona --eval '{"tool":"Bash","tool_use_id":"call-1","input":{"command":"echo out; echo err >&2"}}'
  is "$(jq -c '[.tool_name,.tool_input,.tool_use_id,(.tool_response | .stdout,.stderr,.is_error)]' in)" \
    '["Bash",{"command":"echo out; echo err >&2"},"call-1","out\n","err\n",false]'
  is "$(jq -r .tool_response.content in)" "$(content)"
}
check_004_11_03() {
  stdin_of PostToolUseFailure
  fire PostToolUseFailure "$(full PostToolUseFailure | jq -c '.is_interrupt = false')"
  is "$(jq -c .is_interrupt in)" false
  hooks "$(quick PostToolUseFailure Bash 'cat > in')" "$(quick PostToolUse '' 'echo > success')"
  code 0 ona --eval '{"tool":"Bash","tool_use_id":"call-1","input":{"command":"echo broken >&2; exit 3"}}'
  is "$(is_error) $(jq -c '[.tool_name,.tool_input,.tool_use_id]' in)" 'true ["Bash",{"command":"echo broken >&2; exit 3"},"call-1"]'
  is "$(jq -r .error in)" "$(content)"
  has "$(content)" broken
  no_file success
}
check_004_11_04() {
  stdin_of PermissionDenied
  settings "$(quick PermissionDenied Bash 'cat > in' | jq -cs '{hooks:.,permissions:{deny:["Bash"]}}')"
  code 0 ona --eval '{"tool":"Bash","tool_use_id":"call-1","input":{"command":"echo > ran"}}'
  is "$(is_error) $(jq -c '[.tool_name,.tool_input,.tool_use_id]' in)" 'true ["Bash",{"command":"echo > ran"},"call-1"]'
  is "$(jq -r .reason in)" "$(content)"
  has "$(content)" 'Denied by permission rule'
  no_file ran
  # Not after the denial of a PreToolUse hook.
  rm in
  hooks "$(quick PreToolUse Bash 'exit 2')" "$(quick PermissionDenied Bash 'cat > in')"
  tool Bash '{"command":"echo x"}'
  is "$(is_error)" true
  no_file in
}
check_004_11_05() { stdin_of Notification; }
check_004_11_06() {
  stdin_of UserPromptSubmit
  fire UserPromptSubmit '{"prompt":"two\nlines \"quoted\" é"}'
  is "$(jq -c .prompt in)" '"two\nlines \"quoted\" é"'
}
check_004_11_07() { stdin_of SessionStart; one_of SessionStart source startup resume clear compact; }
check_004_11_08() { stdin_of SessionEnd; one_of SessionEnd reason clear resume logout prompt_input_exit other bypass_permissions_disabled; }
check_004_11_09() {
  stdin_of Stop
  fire Stop '{"stop_hook_active":false}'
  is "$(jq -c .stop_hook_active in)" false
  turns "$(quick Stop '' 'cat >>stops; [ -e once ] || { touch once; echo "go on" >&2; exit 2; }')"
  converse '[{"say":"one"},{"say":"two"}]' 0 -p go
  is "$(jq -c '[.stop_hook_active,.last_assistant_message]' stops)" $'[false,"one"]\n[true,"two"]'
  has "$(asked 1)" 'go on'
}
check_004_11_10() {
  stdin_of StopFailure
  one_of StopFailure error authentication_failed billing_error rate_limit invalid_request server_error unknown max_output_tokens
}
check_004_11_11() { stdin_of SubagentStart; }
check_004_11_12() {
  stdin_of SubagentStop
  # A path is never sent to a hook.
  rm -f in
  ona --fire-hook "$(full SubagentStop | jq -c '{hook_event_name:"SubagentStop"} + . + {agent_transcript_path:"/x.jsonl"}')" >/dev/null 2>&1 || true
  [ ! -e in ] || is "$(jq -c .agent_transcript_path in)" '""'
}
check_004_11_13() {
  stdin_of PreCompact
  one_of PreCompact trigger manual auto
  fire PreCompact '{"trigger":"auto","custom_instructions":null}'
  is "$(jq -c '[has("custom_instructions"),.custom_instructions]' in)" '[true,null]'
}
check_004_11_14() { stdin_of PostCompact; one_of PostCompact trigger manual auto; }
check_004_11_15() {
  stdin_of PermissionRequest
  local update
  for update in '{"type":"setMode","mode":"plan","destination":"userSettings"}' '{"type":"addDirectories","directories":["/a"],"destination":"cliArg"}' \
    '{"type":"removeRules","rules":[{"toolName":"Read"}],"behavior":"ask","destination":"projectSettings"}'; do
    fire PermissionRequest "{\"tool_name\":\"Bash\",\"tool_input\":{},\"permission_suggestions\":[$update]}"
    is "$(jq -c .permission_suggestions in)" "[$update]"
  done
  for update in '{"type":"setMode","mode":"auto","destination":"session"}' '{"type":"addRules","rules":[],"behavior":"allow","destination":"elsewhere"}' '"Bash"'; do
    refuses "{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"Bash\",\"tool_input\":{},\"permission_suggestions\":[$update]}" permission_suggestions
  done
  # Fired by a call that needs a question, before it runs; not by an allowed one.
  settings "$(quick PermissionRequest '' 'cat > in; [ ! -e ran ] || echo > late' | jq -cs '{hooks:.}')"
  tool Bash '{"command":"echo > ran"}'
  is "$(jq -c '[.tool_name,.tool_input]' in)" '["Bash",{"command":"echo > ran"}]'
  no_file late
  is_file ran
  rm in
  tool Bash '{"command":"echo x"}' --allowedTools Bash
  is "$(is_error)" false
  no_file in
}
check_004_11_16() { stdin_of Setup; one_of Setup trigger init maintenance; }
check_004_11_17() { stdin_of TeammateIdle; }
check_004_11_18() { stdin_of TaskCreated; }
check_004_11_19() {
  stdin_of TaskCompleted
  is "$(ona --hook-schema | jq -c '[.events[] | select(.hook_event_name | startswith("Task")).fields] | .[0] == .[1]')" true
}
check_004_11_20() { stdin_of Elicitation; one_of Elicitation mode form url; }
check_004_11_21() { stdin_of ElicitationResult; one_of ElicitationResult mode form url; one_of ElicitationResult action accept decline cancel; }
check_004_11_22() { stdin_of ConfigChange; one_of ConfigChange source user_settings project_settings local_settings policy_settings skills; }
check_004_11_23() {
  stdin_of InstructionsLoaded
  one_of InstructionsLoaded memory_type User Project Local Managed
  one_of InstructionsLoaded load_reason session_start nested_traversal path_glob_match include compact
}
check_004_11_24() { stdin_of WorktreeCreate; }
check_004_11_25() { stdin_of WorktreeRemove; }
check_004_11_26() {
  stdin_of CwdChanged
  mkdir sub
  hooks "$(quick CwdChanged '' "cat > $WORLD/in; pwd > $WORLD/where")"
  tool Bash '{"command":"cd sub"}'
  is "$(jq -c '[.old_cwd,.new_cwd]' "$WORLD/in")" "[\"$PWD\",\"$PWD/sub\"]"
  is "$(cat "$WORLD/where") $(jq -r .cwd "$WORLD/in")" "$PWD/sub $PWD/sub"
  rm "$WORLD/in"
  tool Bash '{"command":"cd sub && cd .."}'
  tool Bash '{"command":"(cd sub)"}'
  no_file "$WORLD/in"
}
check_004_11_27() { stdin_of FileChanged; one_of FileChanged event change add unlink; }

# ---- stdout: top-level fields (Appendix B) -----------------------------------------

check_004_12_02() {
  answers Stop '{"continue":false}'
  accepted
  is "$(got .continue)" false
  answers Stop '{"continue":true}'
  accepted
  is "$(got .continue)" true
  answers Stop '{"continue":"false","systemMessage":"m"}'
  nothing hook_output_invalid continue
  pre 'echo "{\"continue\":false}"' 'echo > next'
  tool Bash '{"command":"echo > ran"}'
  is "$(is_error)" true
  has "$(content)" 'Stopped by hook'
  no_file ran
  is_file next
  is "$(entries system | jq -c '[.subtype,.hook_event]')" '["hook_stopped","PreToolUse"]'
  # In a turn, beside an allow and in both dialects: before the tool it does not run, after it the model is not asked again.
  local event dialect
  for event in PreToolUse PostToolUse; do
    for dialect in sdlc claude; do
      printf '{"continue":false,"stopReason":"enough","hookSpecificOutput":{"hookEventName":"%s","permissionDecision":"allow"}}' $event >answer
      turns "$(quick $event Bash 'cat answer' "{\"dialect\":\"$dialect\"}")"
      in_turn "echo > $event-$dialect" 'echo two'
      is "$event $dialect $(requests)" "$event $dialect 1"
      has "$err" 'Stopped by hook: enough'
      is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id=(SELECT session_id FROM transcript_entries ORDER BY id DESC LIMIT 1) AND payload_json LIKE '%hook_stopped%'")" 1
    done
  done
  is "$(ls | grep ToolUse | paste -sd' ')" 'PostToolUse-claude PostToolUse-sdlc'
}
check_004_12_03() {
  local value
  for value in true false; do
    hooks "$(quick PostToolUse Bash "echo '{\"suppressOutput\":$value,\"systemMessage\":\"still said\"}'")"
    tool Bash '{"command":"echo ran"}'
    is "$(is_error) $(content)" 'false ran'
    has "$(rows stdout_text "session_id='$(text .session_id)'")" "\"suppressOutput\":$value"
    lacks "$out$err" suppressOutput
    has "$err" 'still said'
  done
  answers Stop '{"suppressOutput":"yes","systemMessage":"m"}'
  nothing hook_output_invalid suppressOutput
}
check_004_12_04() {
  answers Stop '{"continue":false,"stopReason":"enough"}'
  accepted
  is "$(got '[.continue,.stop_reason]')" '[false,"enough"]'
  answers Stop '{"stopReason":"enough"}'
  accepted
  is "$(got '[.continue,has("stop_reason")]')" '[true,false]'
  answers Stop '{"continue":false,"stopReason":7}'
  nothing hook_output_invalid stopReason
  local event
  for event in PreToolUse PostToolUse; do
    hooks "$(quick $event Bash 'echo "{\"continue\":false,\"stopReason\":\"enough for today\"}"')"
    tool Bash '{"command":"echo ran"}'
    has "$err" 'Stopped by hook: enough for today'
    is "$(entries system | jq -r .stop_reason)" 'enough for today'
  done
  is "$(content)" ran
  pre 'echo "{\"continue\":false,\"stopReason\":\"enough for today\"}"'
  tool Bash '{"command":"echo ran"}'
  is "$(content)" 'Stopped by hook: enough for today'
}
check_004_12_05() {
  pre 'echo "{\"decision\":\"block\"}"'
  tool Bash '{"command":"echo > ran"}'
  is "$(is_error)" true
  no_file ran
  answers PreToolUse '{"decision":"approve"}'
  accepted
  is "$(got '[.permission,.denied]')" '["allow",false]'
  answers PreToolUse '{"decision":"approve","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'
  is "$(got .denied)" true
  answers PreToolUse '{"decision":"block","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}'
  is "$(got '[.permission,.denied]')" '["ask",false]'
  local event
  for event in UserPromptSubmit PostToolUse PostToolUseFailure Stop SubagentStop ConfigChange; do
    answers $event '{"decision":"block","reason":"why"}'
    accepted
    is "$event $(got '[.denied,.blocks]')" "$event "'[true,[{"hook_ordinal":0,"text":"why"}]]'
    answers $event '{"decision":"approve","reason":"why"}'
    is "$event $(got '[.denied,.blocks]')" "$event [false,[]]"
  done
  for event in Notification SessionStart SessionEnd FileChanged; do
    answers $event '{"decision":"block","reason":"why"}'
    accepted
    is "$event $(got .denied)" "$event false"
  done
  answers UserPromptSubmit '{"decision":"deny","reason":"why"}'
  nothing hook_output_invalid decision
}
check_004_12_06() {
  answers Notification '{"systemMessage":"look here"}'
  accepted
  is "$(got .system_messages)" '[{"hook_ordinal":0,"text":"look here"}]'
  answers Notification '{"systemMessage":["look here"]}'
  nothing hook_output_invalid systemMessage
  hooks "$(quick PreToolUse Bash 'echo "{\"systemMessage\":\"look here\"}"')"
  tool Bash '{"command":"echo ran"}'
  is "$(is_error) $(content)" 'false ran'
  has "$err" 'look here'
  is "$(entries system | jq -c '[.subtype,.hook_event,.message]')" '["hook_message","PreToolUse","look here"]'
  # To the operator, not to the model.
  lacks "$(entries tool_result)$(entries internal_hook)" 'look here'
  # In a turn: said once, in no request.
  turns "$(quick PostToolUse Bash 'echo "{\"systemMessage\":\"disk almost full\",\"suppressOutput\":true}"' '{"dialect":"claude"}')"
  in_turn 'echo one'
  is "$(grep -o 'disk almost full' <<<"$err" | wc -l)" 1
  is "$(requests)" 2
  lacks "$(cat "$LOG")" 'disk almost full'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%disk almost full%'")" 1
}
check_004_12_07() {
  pre 'echo "{\"decision\":\"block\",\"reason\":\"policy 7\"}"'
  tool Bash '{"command":"echo x"}'
  is "$(content)" "$(printf 'Denied by PreToolUse hook\npolicy 7')"
  answers PreToolUse '{"decision":"block","reason":"outer","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"inner"}}'
  is "$(got .message)" '"inner"'
  answers PreToolUse '{"reason":"alone"}'
  accepted
  is "$(got '[.denied,.message]')" '[false,""]'
  answers PreToolUse '{"decision":"block","reason":7}'
  nothing hook_output_invalid reason
}
check_004_12_08() {
  local arm
  for arm in '{"hookEventName":"PostToolUse","additionalContext":"x"}' '{"permissionDecision":"deny"}' '{"hookEventName":"pretooluse","permissionDecision":"deny"}' \
    '[{"hookEventName":"PreToolUse","permissionDecision":"deny"}]' '"PreToolUse"' 'null'; do
    answers PreToolUse "{\"systemMessage\":\"m\",\"hookSpecificOutput\":$arm}"
    nothing hook_output_invalid hookSpecificOutput
  done
  answers PreToolUse '{"systemMessage":"m"}'
  accepted
  is "$(got '.system_messages[0].text')" '"m"'
  arm PreToolUse '{"permissionDecision":"deny"}'
  accepted
  is "$(got .denied)" true
}

# ---- stdout: the arms of hookSpecificOutput ----------------------------------------

check_004_12_09() {
  local bad
  for bad in '{"permissionDecision":"maybe"}' '{"permissionDecision":"defer"}' '{"permissionDecision":"deny","permissionDecisionReason":7}' '{"permissionDecision":"deny","updatedInput":["x"]}' '{"permissionDecision":"deny","additionalContext":{}}'; do
    bad_arm PreToolUse "$bad" "$(jq -r 'keys_unsorted[-1]' <<<"$bad")"
  done
  arm PreToolUse '{}'
  accepted
  is "$(got '[.permission,.denied]')" '[null,false]'
  arm PreToolUse '{"permissionDecision":"deny","permissionDecisionReason":"because","updatedInput":{"command":"x"}}'
  is "$(got '[.permission,.denied,.message,.updated_input]')" '["deny",true,"because",null]'
  arm PreToolUse '{"permissionDecision":"allow"}'
  is "$(got .permission)" '"allow"'
  arm PreToolUse '{"permissionDecision":"ask"}'
  is "$(got .permission)" '"ask"'
  # updatedInput and additionalContext on a real call.
  hooks "$(quick PreToolUse Bash 'echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"command\":\"echo changed\"},\"additionalContext\":\"ctx\"}}"')" \
    "$(quick PreToolUse Bash 'cat > second')" "$(quick PostToolUse Bash 'cat > post')"
  tool Bash '{"command":"echo typed","description":"d"}'
  is "$(is_error) $(content)" 'false changed'
  is "$(jq -c .tool_input second post | uniq)" '{"command":"echo changed","description":"d"}'
  is "$(entries tool_use | jq -c .input)" '{"command":"echo typed","description":"d"}'
  is "$(entries internal_hook | jq -r 'select(.additional_context) | .additional_context')" ctx
  is "$(entries internal_hook | jq -c 'select(.effective_input) | .effective_input')" '{"command":"echo changed","description":"d"}'
  # A path is told in full to every hook and kept on record as it was written.
  echo bee >b.txt
  hooks "$(quick PreToolUse Read 'cat > pre; echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"file_path\":\"b.txt\"}}}"')" "$(quick PostToolUse Read 'cat > post')"
  tool Read '{"file_path":"a.txt"}'
  has "$(content)" bee
  is "$(jq -r .tool_input.file_path pre post)" "$PWD/a.txt
$PWD/b.txt"
  is "$(entries internal_hook | tail -n 1 | jq -c '[.requested_input.file_path,.effective_input.file_path]')" '["a.txt","b.txt"]'
}
check_004_12_10() {
  context_arm UserPromptSubmit
  # Plain text on exit 0 is context too, by the order of the hooks.
  hooks "$(quick UserPromptSubmit '' 'echo plain')" "$(quick UserPromptSubmit '' "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"UserPromptSubmit\",\"additionalContext\":\"json\"}}'")"
  fire UserPromptSubmit '{"prompt":"p"}'
  is "$(got .additional_context)" '["plain","json"]'
  turns "$(quick UserPromptSubmit '' 'echo plain')" "$(quick UserPromptSubmit '' "$(saying UserPromptSubmit '{"additionalContext":"json"}')")"
  converse '[]' 0 -p go
  has "$(req 0 '.body.messages[0].content[-1].text')" $'plain\n\njson'
}
check_004_12_11() {
  context_arm SessionStart
  arm SessionStart '{"initialUserMessage":"begin","watchPaths":["/a","b"],"additionalContext":"c"}'
  specific '{"initialUserMessage":"begin","watchPaths":["/a","b"]}'
  is "$(got .additional_context)" '["c"]'
  bad_arm SessionStart '{"additionalContext":"c","initialUserMessage":["begin"]}' initialUserMessage
  bad_arm SessionStart '{"additionalContext":"c","watchPaths":"/a"}' watchPaths
  bad_arm SessionStart '{"additionalContext":"c","watchPaths":["/a",1]}' watchPaths
  # In a turn the context and the first message reach the model, and the file is watched.
  turns "$(quick SessionStart '' "$(saying SessionStart '{"additionalContext":"ctx","initialUserMessage":"begin","watchPaths":["'$PWD/a'"]}')")" "$(quick FileChanged '' true)"
  in_turn 'echo 1 >a'
  has "$(req 0 '.body|tostring')" 'begin'
  has "$(req 0 '.body|tostring')" 'ctx'
  is "$(watched)" 'add a'
}
check_004_12_12() {
  context_arm Setup
  turns "$(quick Setup '' "$(saying Setup '{"additionalContext":"set up"}')")"
  converse '[]' 0 -p go --init
  has "$(req 0 '.body.messages[0] | tostring')" 'set up'
}
check_004_12_13() {
  context_arm SubagentStart
  turns "$(quick SubagentStart '' "$(saying SubagentStart '{"additionalContext":"for the agent"}')")"
  converse "$DELEGATE" 0 -p go
  lacks "$(asked 0)" 'for the agent'
  has "$(req 1 '.body.messages[0] | tostring')" 'for the agent'
}
check_004_12_14() {
  context_arm PostToolUse
  local value
  for value in '"replaced"' '{"content":[{"type":"text","text":"x"}]}' null 7; do
    arm PostToolUse "{\"updatedMCPToolOutput\":$value}"
    specific "{\"updatedMCPToolOutput\":$value}"
  done
  # Context of a real call goes to the record; the output of a built-in tool is not replaced.
  hooks "$(quick PostToolUse Bash 'echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"ctx\",\"updatedMCPToolOutput\":\"other\"}}"')"
  tool Bash '{"command":"echo ran"}'
  is "$(content) $(entries internal_hook | jq -c '[.hook_event,.hook_ordinal,.additional_context]')" 'ran ["PostToolUse",0,"ctx"]'
  is "$(entries tool_result | jq -r .content)" ran
}
check_004_12_15() {
  context_arm PostToolUseFailure
  hooks "$(quick PostToolUseFailure Bash 'echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUseFailure\",\"additionalContext\":\"ctx\"}}"')"
  tool Bash '{"command":"exit 3"}'
  is "$(is_error) $(entries internal_hook | jq -c '[.hook_event,.hook_ordinal,.additional_context]')" 'true ["PostToolUseFailure",0,"ctx"]'
}
check_004_12_16() {
  arm PermissionDenied '{"retry":true}'
  specific '{"retry":true}'
  bad_arm PermissionDenied '{"retry":"yes"}' retry
  local retry
  for retry in true false; do
    settings "$(quick PermissionDenied '' "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionDenied\",\"retry\":$retry}}'" | jq -cs '{hooks:.,permissions:{deny:["Bash"]}}')"
    tool Bash '{"command":"echo x"}'
    is "$retry $(is_error) $(entries internal_hook | jq -c '[.hook_event,(.additional_context | test("tried again"))]')" \
      "$retry true $([ $retry = true ] && echo '["PermissionDenied",true]' || true)"
  done
}
check_004_12_17() { context_arm Notification; }
# decides JSON : a PermissionRequest hook that prints that decision, on a call nobody has allowed
decides() {
  arm PermissionRequest "{\"decision\":$1}"
  specific "{\"decision\":$1}"
  settings "$(jq -cs '{hooks:.,permissions:{ask:["Bash"]}}' <<<"$(quick PermissionRequest Bash 'cat answer')")"
  tool Bash '{"command":"echo typed > ran; cat ran"}'
}
check_004_12_18() {
  local bad rule
  rule='{"type":"addRules","rules":[{"toolName":"Glob"}],"behavior":"deny","destination":"localSettings"}'
  for bad in '{"behavior":"maybe"}' '{}' '"allow"' '{"behavior":"allow","updatedInput":"x"}' '{"behavior":"allow","updatedPermissions":[{"type":"addRule"}]}' '{"behavior":"deny","message":7}' '{"behavior":"deny","interrupt":"yes"}'; do
    bad_arm PermissionRequest "{\"decision\":$bad}" decision
  done
  bad_arm PermissionRequest '{}' decision
  settings '{"permissions":{"ask":["Bash"]}}'
  tool Bash '{"command":"echo typed > ran"}'
  is "$(is_error)" true
  no_file ran
  decides '{"behavior":"allow"}'
  is "$(is_error) $(content)" 'false typed'
  is "$(sql "SELECT decision || json_extract(reason_json,'$.source') FROM tool_permission_log ORDER BY id DESC LIMIT 1")" allowhook
  # updatedInput, where the mode is what asks.
  printf '%s' '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"echo changed"}}}}' >answer
  settings "$(quick PermissionRequest Bash 'cat answer' | jq -cs '{hooks:.}')"
  tool Bash '{"command":"echo typed"}'
  is "$(is_error) $(content)" 'false changed'
  is "$(entries internal_hook | jq -c '[.hook_event,.effective_input.command]')" '["PermissionRequest","echo changed"]'
  decides "{\"behavior\":\"allow\",\"updatedPermissions\":[$rule]}"
  is "$(is_error)" false
  is "$(jq -c .permissions.deny .ona/settings.local.json)" '["Glob"]'
  tool Glob '{"pattern":"*"}'
  is "$(is_error)" true
  rm ran
  decides '{"behavior":"deny","message":"not now","interrupt":true}'
  is "$(is_error) $(content | paste -sd' ')" 'true Denied by PermissionRequest hook not now'
  has "$err" 'Stopped by hook: not now'
  no_file ran
  local dialect
  for dialect in sdlc claude; do
    settings "$(quick PermissionRequest Bash 'echo never >&2; exit 2' "{\"dialect\":\"$dialect\"}" | jq -cs '{hooks:.,permissions:{ask:["Bash"]}}')"
    tool Bash '{"command":"echo > ran"}' --yes
    is "$dialect $(is_error) $(content | paste -sd' ')" "$dialect true Denied by PermissionRequest hook never"
    no_file ran
  done
  # A deny wins over an allow in any order, and the log names the hook that said it.
  printf '%s' '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}' >allow
  settings "$(printf '%s\n' "$(quick PermissionRequest Bash 'cat allow')" "$(quick PermissionRequest Bash 'cat answer')" | jq -cs '{hooks:.,permissions:{ask:["Bash"]}}')"
  tool Bash '{"command":"echo > ran"}'
  is "$(is_error) $(content | paste -sd' ')" 'true Denied by PermissionRequest hook not now'
  is "$(sql "SELECT json_extract(reason_json,'$.hook_ordinal') FROM tool_permission_log ORDER BY id DESC LIMIT 1")" 1
}
elicitation_arm() {
  local action
  for action in accept decline cancel; do
    arm "$1" "{\"action\":\"$action\",\"content\":{\"name\":\"x\",\"n\":[1]}}"
    specific "{\"action\":\"$action\",\"content\":{\"name\":\"x\",\"n\":[1]}}"
  done
  arm "$1" '{}'
  accepted
  is "$(got .hook_specific_output)" '[]'
  bad_arm "$1" '{"action":"approve"}' action
  bad_arm "$1" '{"action":"accept","content":"x"}' content
}
check_004_12_19() { elicitation_arm Elicitation; }
check_004_12_20() {
  elicitation_arm ElicitationResult
  is "$(ona --hook-schema | jq -c '[.output.hookSpecificOutput[] | select(.hookEventName | startswith("Elicitation")).fields] | .[0] == .[1]')" true
}
watch_arm() {
  arm "$1" '{"watchPaths":["/a","b/c"]}'
  specific '{"watchPaths":["/a","b/c"]}'
  arm "$1" '{"watchPaths":[]}'
  specific '{"watchPaths":[]}'
  bad_arm "$1" '{"watchPaths":"/a"}' watchPaths
  bad_arm "$1" '{"watchPaths":[["/a"]]}' watchPaths
}
check_004_12_21() {
  watch_arm CwdChanged
  mkdir sub
  printf '%s' '{"hookSpecificOutput":{"hookEventName":"CwdChanged","watchPaths":7}}' >answer
  hooks "$(quick CwdChanged '' "cat $PWD/answer")"
  tool Bash '{"command":"cd sub"}'
  is "$(events_of hook_output_invalid)" 1
  turns "$(quick CwdChanged '' "$(saying CwdChanged '{"watchPaths":["'$PWD/a'"]}')")" "$(quick FileChanged '' true)"
  in_turn 'echo 1 >a' 'cd sub' 'echo 2 >>../a'
  is "$(watched)" 'change a'
}
check_004_12_22() {
  watch_arm FileChanged
  turns "$(quick FileChanged 'a' "$(saying FileChanged '{"watchPaths":["'$PWD/b'"]}')")" "$(quick FileChanged '' true)"
  in_turn 'echo 1 >b' 'echo 1 >a' 'rm b'
  is "$(watched)" 'add a
add a
unlink b'
  # Whichever event named it, the newest list is the only one that counts.
  local n all=()
  mkdir sub
  for n in 1 2 3; do all+=("for f in a b c; do echo $n >>$PWD/\$f.env; done"); done
  turns "$(quick SessionStart '' "$(saying SessionStart '{"watchPaths":["'$PWD/a.env'"]}')")" "$(quick FileChanged '^a' "$(saying FileChanged '{"watchPaths":["'$PWD/b.env'"]}')")" \
    "$(quick FileChanged '' true)" "$(quick CwdChanged '' "$(saying CwdChanged '{"watchPaths":["'$PWD/c.env'"]}')")"
  in_turn "${all[0]}" "${all[1]}" 'cd sub' "${all[2]}"
  is "$(watched | grep env)" 'add a.env
add a.env
change b.env
change c.env'
}
check_004_12_23() {
  arm WorktreeCreate '{"worktreePath":"/x/w"}'
  specific '{"worktreePath":"/x/w"}'
  is "$(got .failed)" false
  bad_arm WorktreeCreate '{}' worktreePath
  is "$(got .failed)" true
  bad_arm WorktreeCreate '{"worktreePath":7}' worktreePath
  is "$(got .failed)" true
  local code
  for code in 1 2; do
    hooks "$(quick WorktreeCreate '' "cat answer; echo why >&2; exit $code")"
    fire WorktreeCreate '{"name":"w"}'
    is "$code $(got '.failed or .denied')" "$code true"
    is "$(got .hook_specific_output)" '[]'
  done
}
check_004_12_24() {
  local event arms
  arms=$(ona --hook-schema | jq -r '.output.hookSpecificOutput[].hookEventName')
  for event in SessionEnd Stop StopFailure SubagentStop PreCompact PostCompact TeammateIdle TaskCreated TaskCompleted ConfigChange InstructionsLoaded WorktreeRemove; do
    lacks " $(echo $arms) " " $event "
    answers $event "{\"systemMessage\":\"m\",\"hookSpecificOutput\":{\"hookEventName\":\"$event\",\"additionalContext\":\"x\"}}"
    nothing hook_output_invalid hookSpecificOutput
    answers $event '{"systemMessage":"m","continue":false,"stopReason":"r"}'
    accepted
    is "$event $(got '[.system_messages[0].text,.continue,.stop_reason]')" "$event "'["m",false,"r"]'
  done
}
check_004_12_31() {
  is "$(ona --hook-schema | jq -r '.output.hookSpecificOutput[].hookEventName' | paste -sd' ')" \
    'PreToolUse UserPromptSubmit SessionStart Setup SubagentStart PostToolUse PostToolUseFailure PermissionDenied Notification PermissionRequest Elicitation ElicitationResult CwdChanged FileChanged WorktreeCreate'
  is "$(ona --hook-schema | jq -c '.output.sync | keys_unsorted')" '["continue","suppressOutput","stopReason","decision","systemMessage","reason","hookSpecificOutput"]'
}

# ---- rollups -----------------------------------------------------------------------

check_004_14_01() {
  no_overlap PreToolUse
  no_overlap PostToolUse
  async_is_no_control
  is "$(entries tool_result | jq -r .content)" "$(content)"
  is "$(find "$WORLD" -iname '*.jsonl*')" ''
}
check_004_17_01() {
  local schema
  schema=$(ona --hook-schema)
  is "$(jq -r '.events[] | .hook_event_name + " " + (.fields | to_entries | map(.key + (if .value.required then "" else "?" end)) | join(" "))' <<<"$schema")" \
    "$(for event in $(names); do
      jq -r --arg e "$event" --arg o "${OPTIONAL[$event]}" '$e + " " + (keys_unsorted | map(. as $k | $k + (if ($o | split(" ") | index($k)) then "?" else "" end)) | join(" "))' <<<"${FIELDS[$event]}"
    done)"
  # The forks win: what is sent, what is not, what blocks, what has no effect.
  is "$(jq -r '.base | to_entries | map(.key + (if .value.required then "" else "?" end)) | join(" ")' <<<"$schema")" \
    'hook_event_name session_id conversation_id runtime_db_path cwd permission_mode? agent_id? agent_type?'
  is "$(jq -c '.output.async_stub.accepted_as_control' <<<"$schema")" false
  is "$(jq -c '[.events[] | select(.skips_rest).hook_event_name]' <<<"$schema")" '["PreToolUse"]'
  is "$(jq -c '[.events[] | select(.timeout_blocks).hook_event_name]' <<<"$schema")" '["PreToolUse","UserPromptSubmit"]'
}
check_004_17_03() {
  pre "$(rules allow)" "$(rules ask 'asks')" 'echo blocked >&2; exit 2' "$(rules allow)" "$(rules deny 'too late')"
  tool Bash '{"command":"echo > ran"}' --yes
  is "$(is_error) $(content)" "true $(printf 'Denied by PreToolUse hook\n[2] blocked')"
  no_file ran
  is "$(rows "hook_ordinal || ':' || ifnull(skipped_reason,'ran')" | paste -sd' ')" '0:ran 1:ran 2:ran 3:prior_block_or_deny 4:prior_block_or_deny'
  # Not last wins: an allow after an ask changes nothing, and the lowest ordinal gives the reason.
  pre "$(rules ask 'first')" "$(rules ask 'second')" "$(rules allow 'third')"
  fire PreToolUse "$(full PreToolUse)"
  is "$(got '[.permission,.message]')" '["ask","first"]'
}

run_check "$@"
