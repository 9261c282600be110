#!/usr/bin/env bash
# Acceptance checks of `ona -p`: what it prints, how a program drives it over stdin and stdout,
# and which flags it knows. The model is scripted (model.mjs).
# Run: headless.sh <check id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# talking SCRIPT_JSON : a scripted model that ona talks to
talking() { model "$1"; anthropic; }
choose() { settings "$(jq -cn --argjson more "${1:-{\}}" '{model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}} + $more')"; }
STREAM=(--output-format stream-json --verbose --input-format stream-json)

# drive ARGUMENT... : starts ona with stdin and stdout in hand
drive() {
  coproc ONA_P { ona "${STREAM[@]}" "$@" 2>"$WORLD/driven.err"; }
  driven=$ONA_P_PID
  exec {to}>&"${ONA_P[1]}" {from}<&"${ONA_P[0]}"
}
put() { printf '%s\n' "$1" >&"$to"; }
user() { put "$(jq -cn --arg t "$1" '{type:"user",message:{role:"user",content:$t}}')"; }
request() { put "$(jq -cn --arg i "$1" --argjson r "$2" '{type:"control_request",request_id:$i,request:$r}')"; }
# until_line FILTER : reads lines until one for which jq says true; it is in $line
until_line() {
  while IFS= read -r -t 20 line <&"$from"; do
    if [ "$(jq -r "$1" <<<"$line")" = true ]; then return; fi
  done
  fail "no line for which $1: $(cat "$WORLD/driven.err")"
}
answer() { until_line ".type == \"control_response\" and .response.request_id == \"$1\""; }
# reply RESPONSE_JSON : answers the request in $line
reply() { put "$(jq -c --argjson r "$1" '{type:"control_response",response:{subtype:"success",request_id:.request_id,response:$r}}' <<<"$line")"; }
result() { until_line '.type == "result"'; }
of() { jq -r "$1" <<<"$line"; }
# leave CODE : ends stdin and expects that exit code
leave() {
  exec {to}>&-
  # The copy the shell keeps of the writing end goes too.
  eval "exec ${ONA_P[1]:-$to}>&-" 2>/dev/null || true
  cat <&"$from" >"$WORLD/rest"
  local got=0
  wait "$driven" || got=$?
  is "$got" "$1"
}
bash_call() { jq -cn --arg c "$1" '{calls:[{name:"Bash",input:{command:$c}}]}'; }

# ---- the protocol ------------------------------------------------------------------

check_initialize() {
  talking '[{"say":"hello"}]'
  drive
  request i '{"subtype":"initialize","hooks":null}'
  answer i
  is "$(of '.response.subtype')" success
  is "$(of '.response.response.agents | map(.name) | join(",")')" explore,general-purpose,plan
  user hi
  until_line '.subtype == "init"'
  is "$(of '.tools | index("Task") != null')" true
  is "$(of '[.apiKeySource, .permissionMode, (.session_id|type), (.uuid|type), (.skills|type)] | join(" ")')" \
    "ANTHROPIC_API_KEY default string string array"
  result
  is "$(of .result)" hello
  leave 0
}

check_interrupt() {
  talking '[{"hang":true},{"say":"still here"},{"say":"once more"}]'
  drive
  user one
  until_line '.subtype == "init"'
  until [ "$(requests)" = 1 ]; do sleep 0.05; done
  put '{"type":"user","uuid":"u-2","message":{"role":"user","content":"two"}}'
  request i '{"subtype":"interrupt"}'
  answer i
  is "$(of '.response.response | tojson')" '{"still_queued":["u-2"]}'
  result
  is "$(of '[.subtype, .terminal_reason, .is_error, .errors[]] | join(" ")')" "error_during_execution aborted_streaming true interrupted"
  result
  is "$(of .result)" "still here"
  # While nothing runs there is nothing to end.
  request j '{"subtype":"interrupt"}'
  answer j
  user three
  result
  is "$(of .result)" "once more"
  leave 0
  is "$(requests)" 3
  is "$(sql "SELECT count(*) FROM events WHERE event_type='interrupted'")" 1
}

check_modes_and_models() {
  talking '[{"calls":[{"name":"Write","input":{"file_path":"a","content":"x"}}]},{"say":"ok"}]'
  drive
  request a '{"subtype":"set_permission_mode","mode":"bypassPermissions"}'
  answer a
  is "$(of .response.subtype)" error
  request b '{"subtype":"set_permission_mode","mode":"acceptEdits"}'
  answer b
  is "$(of .response.subtype)" success
  request c '{"subtype":"set_model","model":"claude_opus_5"}'
  answer c
  is "$(of .response.subtype)" error
  request d '{"subtype":"set_model","model":"claude_opus_4"}'
  answer d
  is "$(of .response.subtype)" success
  user write
  result
  leave 0
  [ -e a ] || fail "the edit was not accepted"
  is "$(req 0 .body.model)" claude-opus-4-20250514
}

check_permission_questions() {
  talking "[$(bash_call 'touch a'),$(bash_call 'touch b'),$(bash_call 'touch c'),{\"say\":\"ok\"}]"
  drive --permission-prompt-tool stdio
  user go
  until_line '.request.subtype == "can_use_tool"'
  is "$(of '[.request.tool_name, .request.input.command, .request.decision_reason_type, .request.permission_suggestions[0].type] | join(" ")')" "Bash touch a mode addRules"
  is "$(of '.request.tool_use_id')" call_1
  reply '{"behavior":"allow"}'
  until_line '.request.subtype == "can_use_tool"'
  reply '{"behavior":"allow","updatedInput":{"command":"touch instead"}}'
  until_line '.request.subtype == "can_use_tool"'
  reply '{"behavior":"deny","message":"not that one"}'
  result
  is "$(of '.permission_denials | map(.tool_input.command) | join(",")')" 'touch c'
  leave 0
  is "$(ls | tr '\n' ' ')" "a instead "
  is "$(sql "SELECT group_concat(decision || ' ' || json_extract(reason_json, '$.source')) FROM tool_permission_log")" 'allow human,allow human,deny human'
  # What ran in place of the call is with it, and the model hears why the third did not run.
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE json_extract(payload_json, '$.effective_input.command') = 'touch instead'")" 1
  has "$(req 3 '.body.messages[-1] | tostring')" 'not that one'
}

check_question_without_answer() {
  talking "[$(bash_call 'touch a'),{\"say\":\"no\"}]"
  drive --permission-prompt-tool stdio
  user go
  until_line '.request.subtype == "can_use_tool"'
  request i '{"subtype":"interrupt"}'
  until_line '.type == "control_cancel_request"'
  result
  leave 1
  [ ! -e a ] || fail "an unanswered question let a call pass"
}

check_hook_callbacks() {
  talking "[$(bash_call 'touch a'),{\"say\":\"ok\"}]"
  choose '{"permissions":{"allow":["Bash"]}}'
  drive
  request i '{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["guard"]}]}}'
  answer i
  user go
  until_line '.request.subtype == "hook_callback"'
  is "$(of '[.request.callback_id, .request.input.tool_input.command] | join(" ")')" "guard touch a"
  reply '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}'
  result
  leave 0
  [ ! -e a ] || fail "the callback's deny did not hold"
  is "$(sql "SELECT command FROM hook_invocations WHERE hook_event='PreToolUse'")" guard
}

check_every_request_answered() {
  talking '[{"say":"ok"}]'
  drive
  local subtype
  for subtype in dance mcp_message mcp_reconnect mcp_toggle apply_flag_settings; do
    request "$subtype" "{\"subtype\":\"$subtype\"}"
    answer "$subtype"
    is "$(of .response.subtype)" error
  done
  put '{"type":"control_request","request":{"subtype":"initialize"}}'
  until_line '.type == "control_response" and .response.request_id == null'
  put 'not json'
  until_line '.level == "error"'
  has "$(of .content)" "is not JSON"
  user go
  result
  leave 0
}

# ---- one prompt --------------------------------------------------------------------

check_result_in_every_case() {
  talking '[{"say":"fine"},{"status":400},{"calls":[{"name":"Glob","input":{"pattern":"*"}}]}]'
  local fields='duration_ms duration_api_ms num_turns session_id usage modelUsage permission_denials is_error subtype total_cost_usd uuid api_error_status conversation_id'
  local want name
  for want in '0 success completed' '1 success api_error' '1 error_max_turns max_turns'; do
    set -- $want
    code "$1" ona -p go --output-format json --max-turns 1
    is "$(jq -r '[.subtype, .terminal_reason] | join(" ")' <<<"$out")" "$2 $3"
    for name in $fields; do is "$(jq --arg n "$name" 'has($n)' <<<"$out")" true; done
  done
  code 0 ona -p go --output-format json --verbose
  is "$(jq -r 'map(.subtype // .type) | join(",")' <<<"$out")" init,assistant,success
  # A provider that is lost in the middle of a reply, and one that never answers.
  export ONA_MAX_RETRIES=0
  for want in '{"say":"half a sentence","breaks":600}' '{"reset":true}'; do
    stop_servers
    talking "[$want,$want]"
    for name in stream-json json; do
      code 1 ona -p go --output-format $name
      is "$(tail -n 1 <<<"$out" | jq -r '[.type, .is_error, .terminal_reason] | join(" ")')" 'result true api_error'
      is "$(tail -n 1 <<<"$out" | jq -c --arg f "$fields" '($f | split(" ")) - keys')" '[]'
    done
  done
}

check_closed_stdout() {
  talking '[{"say":"hello"}]'
  # The reader leaves before the first line can be written.
  { ona -p go --output-format stream-json 2>"$WORLD/err" || echo $? >"$WORLD/code"; } | true
  is "$(cat "$WORLD/code")" 141
  lacks "$(cat "$WORLD/err")" panic
  # As text as well, and without a word.
  { ona -p go 2>"$WORLD/err" || echo $? >"$WORLD/code.text"; } | true
  is "$(cat "$WORLD/code.text" "$WORLD/err")" 141
  # A reader that leaves while the model answers: what the model wants is not done for nobody.
  stop_servers
  talking "[$(bash_call 'touch made' | jq -c '.delay = 400')]"
  choose '{"permissions":{"allow":["Bash"]}}'
  { ona -p go --output-format stream-json 2>"$WORLD/err" || echo $? >"$WORLD/code.later"; } | {
    read -r line
    until [ "$(requests)" = 1 ]; do sleep 0.02; done
    of .subtype >"$WORLD/first"
  }
  is "$(cat "$WORLD/first" "$WORLD/code.later" "$WORLD/err" | paste -sd' ')" 'init 141'
  [ ! -e made ] || fail 'a call ran for nobody'
  is "$(requests)" 1
  code 0 ona db check
}

check_ctrl_c() {
  talking '[{"hang":true}]'
  # Job control gives the program its own handling of the signal.
  set -m
  ona -p go --output-format json >"$WORLD/out" &
  local id=$! got=0
  until [ "$(requests)" = 1 ]; do sleep 0.05; done
  kill -INT "$id"
  wait "$id" || got=$?
  is "$got" 130
  is "$(jq -r '[.subtype, .terminal_reason] | join(" ")' "$WORLD/out")" 'error_during_execution aborted_streaming'
  # A typed call that is interrupted still prints its result and keeps its row.
  got=0
  ona --eval '{"tool":"Bash","input":{"command":"touch started; sleep 30; touch late"},"tool_use_id":"typed"}' >"$WORLD/out" &
  id=$!
  until [ -e started ]; do sleep 0.05; done
  kill -INT "$id"
  wait "$id" || got=$?
  is "$got" 130
  is "$(jq -c .is_error "$WORLD/out")" true
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND tool_use_id='typed'")" 1
  [ ! -e late ] || fail 'the command ran to its end'
}

check_retries() {
  talking '[{"status":529},{"say":"at last"}]'
  code 0 ona -p go --output-format stream-json
  is "$(jq -r '.subtype // .type' <<<"$out" | paste -sd,)" init,api_retry,assistant,success
  is "$(jq -r 'select(.subtype == "api_retry") | [.attempt, .max_retries, .error, (.retry_delay_ms | type)] | join(" ")' <<<"$out")" '1 4 server_error number'
  is "$(sql "SELECT json_extract(payload_json, '$.data.attempt', '$.data.error') FROM transcript_entries WHERE payload_json LIKE '%api_retry%'")" '[1,"server_error"]'
  # As text a retry is printed on request only.
  stop_servers
  talking '[{"status":529},{"say":"loud"},{"status":529},{"say":"quiet"}]'
  code 0 ona -p go --verbose
  has "$err" 'trying again in'
  has "$err" '(1 of 4)'
  code 0 ona -p go
  is "$out$err" quiet
}

check_hook_events() {
  talking '[{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"say":"ok"}]'
  choose "$(hook PreToolUse '' 'echo hi' | jq -c '{hooks:[.], permissions:{allow:["Glob"]}}')"
  code 0 ona -p go --output-format stream-json --include-hook-events
  is "$(jq -rs 'map(select(.subtype // "" | startswith("hook_"))) | map([.subtype, .hook_name, .outcome] | join(" ")) | join(",")' <<<"$out")" \
    "hook_started PreToolUse:Glob ,hook_response PreToolUse:Glob success"
}

check_subagent_parent() {
  talking '[{"calls":[{"id":"c9","name":"Agent","input":{"description":"d","prompt":"p","subagent_type":"explore"}}]},{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"say":"none"},{"say":"ok"}]'
  code 0 ona -p go --output-format stream-json
  is "$(jq -rs 'map(select(.parent_tool_use_id != null)) | map([.type, .parent_tool_use_id] | join(" ")) | join(",")' <<<"$out")" "assistant c9,user c9"
}

check_session_agent() {
  talking '[{"say":"ok"}]'
  mkdir -p .ona/agents
  printf -- '---\nname: reviewer\ndescription: reviews\ntools: Read\nmodel: opus\n---\nBe strict.\n' >.ona/agents/reviewer.md
  code 0 ona -p go --trust --agent reviewer
  has "$(req 0 '.body.system | if type == "array" then map(.text) | join("") else . end')" "Be strict."
  is "$(req 0 '.body.tools | map(.name) | join(",")')" Read
  is "$(req 0 .body.model)" claude-opus-4-20250514
  code 2 ona -p go --agent nobody
  has "$err" "agent nobody does not exist"
}

check_stdin() {
  talking '[{"say":"a"},{"say":"b"},{"say":"c"}]'
  code 0 bash -c 'printf piped | ona -p look:'
  has "$(req 0 '.body.messages | tostring')" 'look:\npiped'
  code 0 bash -c "printf 'caf\\351' | ona -p look:"
  has "$err" "not UTF-8"
  has "$(req 1 '.body.messages | tostring')" $'look:\\ncaf\xef\xbf\xbd'
  code 2 bash -c 'ona -p </dev/null'
  has "$err" "the prompt is empty"
  code 2 bash -c "printf ' \\n\\t\\n' | ona -p"
  has "$err" "the prompt is empty"
  code 2 bash -c 'ona --input-format stream-json --output-format stream-json </dev/null'
  code 2 bash -c 'ona -p --input-format stream-json </dev/null'
  has "$err" '--output-format stream-json'
  code 2 bash -c 'head -c 10000001 /dev/zero | ona -p x'
  has "$err" "more than 10 MB"
  is "$(requests)" 2
  # stdin that never ends and says nothing
  mkfifo "$WORLD/silent"
  sleep 30 >"$WORLD/silent" &
  local id=$!
  ONA_STDIN_WAIT_MS=50 code 0 bash -c "ona -p go <'$WORLD/silent'"
  kill "$id"
  is "$out" c
  # Without a prompt it waits, whatever the patience.
  ONA_STDIN_WAIT_MS=0 code 0 bash -c '(sleep 0.3; printf late) | ona -p'
  has "$(req 3 '.body.messages | tostring')" late
}

check_flags() {
  local flag
  for flag in '--json-schema {}' '--max-budget-usd 1' '--fallback-model x' '--effort high' '--session-mirror' '--plugin-dir x' \
    '--thinking adaptive' '--permission-prompt-tool mcp__a__b' '--include-hook-events' '--nonsense'; do
    # shellcheck disable=SC2086
    code 2 ona -p x $flag
    has "$err" "${flag%% *}"
  done
  code 0 ona -v
  case $out in [2-9].*) ;; *) fail "clients expect a version from 2.0.0 on: $out" ;; esac
}

check_agent_by_hand() {
  settings '{"model_config":{"provider":"lm_studio_local","model_id":"lm_studio_server_routed"}}'
  tool Agent '{"description":"d","prompt":"p"}'
  is "$(is_error)" true
  is "$(content)" 'No agent can be started, because no model can be asked: LM_STUDIO_MODEL is not set; name the model that the local server has loaded, or use --model local/NAME'
  talking '[{"say":"All quiet."}]'
  choose
  tool Agent '{"description":"d","prompt":"look around"}'
  is "$(content)" "All quiet."
  has "$(req 0 '.body.messages[-1] | tostring')" 'look around'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND payload_json LIKE '%All quiet.%'")" 1
  # The operator typed the call of the agent and none of the agent's own.
  stop_servers
  talking "[$(bash_call 'touch made'),{\"say\":\"I could not.\"}]"
  tool Task '{"description":"d","prompt":"p"}'
  is "$(is_error) $(content)" 'false I could not.'
  [ ! -e made ] || fail "a call of the agent ran unasked"
}

# ---- background tasks that end -------------------------------------------------------

# in_background COMMAND : a call that starts it
in_background() { jq -cn --arg c "$1" '{calls:[{name:"Bash",input:{command:$c,description:"work",run_in_background:true}}]}'; }
# heard N TEXT : the n-th request (from 0) tells the model this
heard() { has "$(req "$1" ".body.messages[-1].content | tojson")" "$2"; }

check_task_ends_once() {
  talking "[$(in_background 'sleep 0.5; echo half; exit 3'),{\"say\":\"under way\"},{\"say\":\"it failed\"}]"
  choose '{"permissions":{"allow":["Bash"]}}'
  code 0 ona -p go --output-format stream-json --verbose
  # One result, and it knows how the task ended.
  is "$(jq -r 'select(.type == "result").result' <<<"$out")" 'it failed'
  is "$(jq -r 'select(.subtype == "task_started" or .subtype == "task_notification") | [.task_id, .task_type, .status // "-"] | join(" ")' <<<"$out")" \
    $'b1 local_bash -\nb1 local_bash failed'
  heard 2 'A background task has ended.'
  heard 2 'Task b1 (work): ended with exit code 3'
  heard 2 half
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type = 'attachment' AND json_extract(payload_json, '\$.attachment.kind') = 'task_notification'")" 1
  # A server never ends: it is named and stopped.
  talking "[$(in_background 'echo $$ >pid; exec sleep 300'),{\"say\":\"served\"}]"
  code 0 ona -p go
  is "$out" served
  has "$err" 'Background tasks were still running at the end and were stopped: b1 (work).'
  ! kill -0 "$(cat pid)" 2>/dev/null || fail 'the server is still there'
  # What the model has read is not told again.
  talking "[$(in_background 'echo read'),{\"calls\":[{\"name\":\"TaskOutput\",\"input\":{\"task_id\":\"b1\"}}]},{\"say\":\"known\"}]"
  code 0 ona -p go --allowedTools TaskOutput
  is "$out $(requests)" 'known 3'
}

check_task_ends_driven() {
  talking "[$(in_background 'until [ -e go ]; do sleep 0.05; done; echo built'),{\"say\":\"under way\"},{\"say\":\"it is built\"},{\"say\":\"last\"}]"
  choose '{"permissions":{"allow":["Bash"]}}'
  drive
  user start
  result
  is "$(of .result)" 'under way'
  # Nothing is asked, and the end of the task still leads to a turn with a result of its own.
  touch go
  until_line '.subtype == "task_notification"'
  result
  is "$(of '[.subtype, .result] | join(" ")')" 'success it is built'
  heard 2 built
  user more
  result
  is "$(of .result)" last
  leave 0
}

# ---- what is printed is on disk (DEC-194) --------------------------------------------

# take_lock / give_lock : another process holds the write lock of the database
take_lock() {
  mkfifo "$WORLD/lock"
  sqlite3 -cmd '.timeout 30000' "$AGENT_SDLC_DB" <"$WORLD/lock" >/dev/null &
  holder=$!
  exec 9>"$WORLD/lock"
  printf 'BEGIN IMMEDIATE;\n.system touch "%s"\n' "$WORLD/locked" >&9
  until [ -e "$WORLD/locked" ]; do sleep 0.02; done
}
give_lock() {
  echo 'COMMIT;' >&9
  exec 9>&-
  wait "$holder"
}
written() { sql "SELECT count(*) FROM transcript_entries WHERE entry_type = 'assistant' AND payload_json LIKE '%$1%'"; }

check_printed_after_commit() {
  talking '[{"delay":1000,"say":"first words","calls":[{"name":"Bash","input":{"command":"touch ran"}}]},{"say":"last words"}]'
  choose '{"permissions":{"allow":["Bash"]}}'
  drive --include-partial-messages
  user go
  until [ "$(requests)" = 1 ]; do sleep 0.02; done
  take_lock
  until_line '.event.type == "message_stop"'
  is "$(of .provisional)" true
  # The reply is complete, and nothing of it can be written.
  if IFS= read -r -t 2 line <&"$from"; then fail "this was printed before its commit: $line"; fi
  is "$(written 'first words')" 0
  [ ! -e ran ] || fail 'the call ran before its reply was on disk'
  give_lock
  until_line '.type == "assistant"'
  is "$(of '[.provisional, .message.content[0].text] | @csv')" ',"first words"'
  is "$(written 'first words')" 1
  until_line '.type == "user"'
  is "$(of .provisional)" null
  result
  is "$(of '[.provisional, .result] | @csv')" ',"last words"'
  is "$(written 'last words')" 1
  leave 0
}

check_killed_while_printing() {
  local round answers='' pid line seen text id
  for round in 1 2 3 4 5 6 7 8; do answers+='{"say":"words '$round'","calls":[{"id":"use_'$round'","name":"Bash","input":{"command":"true"}}]},{"say":"end '$round'"},'; done
  talking "[${answers%,}]"
  choose '{"permissions":{"allow":["Bash"]}}'
  for round in 0 1 2 3 4 5 6 7; do
    mkfifo "$WORLD/printed$round"
    ona -p go --output-format stream-json --verbose >"$WORLD/printed$round" 2>/dev/null </dev/null &
    pid=$!
    seen=0
    while IFS= read -r line; do
      case $line in *'"type":"assistant"'* | *'"type":"tool_result"'* | *'"type":"result"'*) ;; *) continue ;; esac
      # The n-th message is the last thing it does.
      [ $seen -lt $((round % 4)) ] || kill -9 $pid 2>/dev/null || true
      seen=$((seen + 1))
      text=$(of '.message.content[0].text // .result // ""')
      [ -z "$text" ] || is "$(written "$text")" 1
      for id in $(of '.message.content[]? | .id // .tool_use_id // empty' 2>/dev/null); do
        is "$(sql "SELECT count(*) > 0 FROM transcript_entries WHERE tool_use_id = '$id'")" 1
      done
    done <"$WORLD/printed$round"
    wait $pid 2>/dev/null || true
    [ $seen -gt 0 ] || fail 'nothing was printed'
  done
}

# wait_line FILE TEXT : until a file has a line
wait_line() {
  local tries=0
  until grep -qxF "$2" "$1" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "«$2» is not in $1: $(cat "$1" 2>/dev/null)"
    sleep 0.05
  done
}
# What other programs change is noticed while no turn runs, and between the steps of one.
check_changes_while_idle() {
  talking '[{"say":"one"},{"calls":[{"name":"Bash","input":{"command":"echo x >watched; mkdir -p .ona/skills/new; echo s >.ona/skills/new/SKILL.md"}}]},{"say":"two"}]'
  mkdir -p .ona "$HOME/.ona"
  echo '{}' >"$HOME/.ona/settings.json"
  local heard="$WORLD/heard" line='jq -r "[.hook_event_name, .source // .event, (.file_path | split(\"/\") | last)] | join(\" \")" >>'
  choose "$(jq -cn --argjson c "$(hook ConfigChange '' "$line$heard; exit 2")" --argjson f "$(hook FileChanged 'watched' "$line$heard")" '{hooks:[$c,$f],permissions:{allow:["Bash","Edit"]}}')"
  drive --dangerously-skip-permissions
  user one
  result
  [ ! -e "$heard" ] || fail "something was heard of before it happened: $(cat "$heard")"
  echo old >watched
  wait_line "$heard" 'FileChanged add watched'
  echo '{"permissions":{"deny":["Bash"]}}' >"$HOME/.ona/settings.json"
  echo '{}' >.ona/settings.local.json
  wait_line "$heard" 'ConfigChange user_settings settings.json'
  # A rejected change is not undone: the operator reads what will happen.
  until_line '(.content // "" | tostring | startswith("A hook rejected a change of the configuration.")) and (.content | endswith("/settings.json"))'
  wait_line "$heard" 'ConfigChange local_settings settings.local.json'
  echo '{"env":{"A":"1"}}' >"$ONA_MANAGED_SETTINGS"
  wait_line "$heard" 'ConfigChange policy_settings managed-settings.json'
  user two
  result
  # The session works by the settings it began with (4.4).
  is "$(cat watched)" x
  is "$(of .result)" two
  wait_line "$heard" 'FileChanged change watched'
  wait_line "$heard" 'ConfigChange skills SKILL.md'
  leave 0
  is "$(wc -l <"$heard")" 6
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE hook_event IN ('ConfigChange','FileChanged')")" 6
}

run_check "$@"
