#!/usr/bin/env bash
# Acceptance checks of the claude dialect: hooks as they stand in `.claude/settings.json`, what
# they are told, what their answers do. A person is this script, answering the questions of a
# driven run; the model is scripted (model.mjs). Run: claude.sh <ledger id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

GSTACK='(AskUserQuestion|mcp__.*__AskUserQuestion)'

# group MATCHER COMMAND... : a group of handlers, five seconds each
group() { jq -cn --arg m "$1" '{matcher:$m, hooks:[$ARGS.positional[1:][] | {type:"command", command:., timeout:5}]}' --args "$@"; }
# install HOOKS_JSON [MORE_JSON] : the user's settings file, and a world that has seen nothing yet
install() {
  rm -rf "$WORLD/state"
  mkdir -p "$HOME/.claude"
  jq -cn --argjson h "$1" --argjson more "${2:-{\}}" '{hooks:$h} + $more' >"$HOME/.claude/settings.json"
}
# pre MATCHER COMMAND... : that group under PreToolUse
pre() { jq -cn --argjson g "$(group "$@")" '{PreToolUse:[$g]}'; }
# prints JSON : a command that prints it
prints() { printf "printf %%s '%s'" "$1"; }
# specific FIELDS_JSON [EVENT] : a command that prints the envelope of the event
specific() { prints "$(jq -cn --arg e "${2:-PreToolUse}" --argjson f "$1" '{hookSpecificOutput:({hookEventName:$e} + $f)}')"; }
decides() { specific "$(jq -cn --arg d "$1" '{permissionDecision:$d, permissionDecisionReason:("because " + $d)}')"; }
# bash_call COMMAND [FLAG...] : typed by the operator
bash_call() {
  local input
  input=$(jq -cn --arg c "$1" '{command:$c}')
  shift
  tool Bash "$input" "$@"
}
is_file() { [ -e "$1" ] || fail "the file $1 does not exist"; }
no_file() { [ ! -e "$1" ] || fail "there is a file $1: $(cat "$1")"; }
fresh() { rm -f ran other post pre seen log; }

# talking SCRIPT_JSON : a scripted model for the runs that follow. told N : what its n-th request ends with
talking() { stop_servers; model "$1"; anthropic; }
told() { sed -n "$(($1 + 1))p" "$LOG" | jq -c '.body.messages[-1]'; }
# prompted SCRIPT_JSON [FLAG...] : one prompt without anybody to ask
prompted() {
  talking "$1"
  shift
  code 0 ona -p go "$@" </dev/null
}
# attended SCRIPT_JSON ANSWER_FILTER : one prompt with a person, who answers each question by the
# jq filter over the request. What was asked is in the file `asked`, a line each.
attended() {
  local line id
  talking "$1"
  : >asked
  coproc ONA_P { ona --output-format stream-json --verbose --input-format stream-json --permission-prompt-tool stdio 2>"$WORLD/driven.err"; }
  local pid=$ONA_P_PID to=${ONA_P[1]}
  jq -cn '{type:"user",message:{role:"user",content:"go"}}' >&"$to"
  while IFS= read -r -t 30 line <&"${ONA_P[0]}"; do
    case $(jq -r '.type + " " + (.request.subtype? // "")' <<<"$line") in
      'control_request can_use_tool')
        jq -c .request <<<"$line" >>asked
        id=$(jq -r .request_id <<<"$line")
        jq -c --arg id "$id" ".request | ($2) | {type:\"control_response\",response:{subtype:\"success\",request_id:\$id,response:.}}" <<<"$line" >&"$to"
        ;;
      'result '*) break ;;
    esac
  done
  exec {to}>&-
  wait "$pid" || fail "the driven run failed: $(cat "$WORLD/driven.err")"
}
YES='{behavior:"allow",updatedInput:.input}'
NO='{behavior:"deny",message:"the person says no"}'
asked_times() { wc -l <asked | tr -d ' '; }

BASH_CALL='{"calls":[{"name":"Bash","input":{"command":"touch ran"}}]}'
QUESTION='{"questions":[{"question":"Which?","header":"H","multiSelect":false,"options":[{"label":"A) Fix now (recommended)","description":"a"},{"label":"B) Later","description":"b"}]}]}'
ASK="{\"calls\":[{\"name\":\"AskUserQuestion\",\"input\":$QUESTION}]}"
DONE='{"say":"done"}'
ALLOW_BASH='{"permissions":{"allow":["Bash"]}}'
# The answer with the recommended option, found by walking the options' labels.
AUTO_DECIDE='jq -c "{hookSpecificOutput:{hookEventName:\"PreToolUse\",permissionDecision:\"allow\",permissionDecisionReason:\"plan-tune: never-ask\",updatedInput:{questions:.tool_input.questions,answers:([.tool_input.questions[] | {key:.question,value:(.options[] | select(.label | endswith(\"(recommended)\")) | .label)}] | from_entries)}}}"'

# ---- 1: the answer in the user's place ---------------------------------------------

check_002_1_01() {
  install "$(pre "$GSTACK" "$AUTO_DECIDE")"
  attended "[$ASK,$DONE]" "$NO"
  is "$(asked_times)" 0
  has "$(told 1)" 'A) Fix now (recommended)'
  lacks "$(told 1)" '"is_error":true'
  # Without the hook the person is asked.
  install '{}'
  attended "[$ASK,$DONE]" '{behavior:"allow",updatedInput:(.input + {answers:{"Which?":"B) Later"}})}'
  is "$(asked_times)" 1
  has "$(told 1)" 'B) Later'
}

# ---- 2: stdin ----------------------------------------------------------------------

check_002_2_01() {
  local event path
  install "$(jq -cn --argjson p "$(group Bash 'cat >pre')" --argjson q "$(group Bash 'cat >post')" '{PreToolUse:[$p],PostToolUse:[$q]}')"
  bash_call 'echo hi'
  for event in pre post; do
    is "$(wc -l <$event | tr -d ' ')" 1
    is "$(jq -r '[.session_id,.cwd,.permission_mode,.effort.level,.hook_event_name,.tool_name,.tool_input.command,.tool_use_id] | map(type) | unique | join(",")' $event)" string
    is "$(jq -r 'has("transcript_path")' $event)" false
  done
  is "$(jq -r '.cwd + " " + .permission_mode + " " + .effort.level' pre)" "$PWD default medium"
  is "$(jq -r .hook_event_name post)" PostToolUse
  # Both ids can be file names, as hooks use them.
  is "$(jq -r '.session_id, .tool_use_id' pre | grep -cvE '^[A-Za-z0-9_-]+$' || true)" 0
  # effortLevel is what they read.
  install "$(pre Bash 'cat >pre')" '{"effortLevel":"high"}'
  bash_call true
  is "$(jq -r .effort.level pre)" high
  # A path has one spelling, also where nothing exists yet: a guard of a folder sees every write to it.
  install "$(pre Write 'jq -r .tool_input.file_path >>seen')"
  for path in frozen/a ./free/../frozen/b frozen//c; do
    tool Write "$(jq -cn --arg p "$path" '{file_path:$p,content:"x"}')"
  done
  is "$(cat seen)" "$(printf '%s\n' "$PWD"/frozen/{a,b,c})"
  rm -r frozen
  every_event
}
# The fifteen events that public configurations use, each with what it brings. Nobody is asked and
# nothing is configured in such a run, so Notification and ConfigChange come by --fire-hook.
every_event() {
  local event fields
  local -A own=([PreToolUse]=tool_name,tool_input,tool_use_id [PostToolUse]=tool_name,tool_input,tool_response,tool_use_id
    [PostToolUseFailure]=tool_name,tool_input,tool_use_id,error [UserPromptSubmit]=prompt [SessionStart]=source [SessionEnd]=reason
    [Stop]=stop_hook_active,last_assistant_message [SubagentStop]=stop_hook_active,agent_id,agent_type,last_assistant_message
    [SubagentStart]=agent_id,agent_type [PreCompact]=trigger,custom_instructions [PermissionRequest]=tool_name,tool_input,permission_suggestions
    [Notification]=message,notification_type [ConfigChange]=source,file_path [Setup]=trigger [InstructionsLoaded]=file_path,memory_type,load_reason)
  echo 'Be kind.' >CLAUDE.md
  install "$(jq -cn --argjson g "$(group '' 'cat >>all')" '[$ARGS.positional[] | {key:., value:[$g]}] | from_entries' --args "${!own[@]}")" "$ALLOW_BASH"
  prompted '[{"calls":[{"name":"Bash","input":{"command":"echo fine"}}]},{"calls":[{"name":"Bash","input":{"command":"exit 3"}}]},
    {"calls":[{"name":"Bash","input":{"command":"echo half; exit 4"}}]},{"calls":[{"name":"Write","input":{"file_path":"a","content":"x"}}]},
    {"calls":[{"name":"Agent","input":{"description":"d","prompt":"p","subagent_type":"general-purpose"}}]},{"say":"report"},{"say":"done"},{"say":"a summary"}]' --init --session-id s
  code 0 ona -p '/compact keep names' -r s </dev/null
  fire Notification '{"message":"m","notification_type":"idle_prompt"}'
  fire ConfigChange '{"source":"user_settings","file_path":"/x"}'
  for event in "${!own[@]}"; do
    fields=session_id,conversation_id,runtime_db_path,cwd,${own[$event]}
    is "$event $(jq -sc --arg e "$event" --arg f "$fields" 'map(select(.hook_event_name == $e))[0] // {} | [($f | split(",")) - keys, has("transcript_path"), .permission_mode == "auto", .effort]' all)" \
      "$event [[],false,false,{\"level\":\"medium\"}]"
  done
  is "$(jq -sc 'map(select(.hook_event_name == "PostToolUseFailure").error)' all)" '["Exit code 3","Exit code 4\nhalf"]'
  is "$(jq -sc 'map(select(.hook_event_name == "PermissionRequest"))[0] | has("tool_use_id")' all)" false
  is "$(jq -sr 'map(select(.hook_event_name == "PreCompact"))[0].custom_instructions' all)" 'keep names'
  is "$(jq -sc 'map(select(.hook_event_name == "PreToolUse").session_id) | unique' all)" '["s"]'
  is "$(jq -sc '(map(select(.hook_event_name == "PostToolUse"))[0].tool_use_id) as $id | map(select(.hook_event_name == "PreToolUse").tool_use_id) | index($id) != null' all)" true
}
check_002_2_02() {
  install "$(jq -cn --argjson p "$(group Bash 'cat >>pre')" --argjson s "$(group general-purpose 'cat >>sub')" '{PreToolUse:[$p],SubagentStart:[$s],SubagentStop:[$s]}')" "$ALLOW_BASH"
  prompted "[{\"calls\":[{\"name\":\"Bash\",\"input\":{\"command\":\"true\"}}]},{\"calls\":[{\"name\":\"Agent\",\"input\":{\"description\":\"d\",\"prompt\":\"p\",\"subagent_type\":\"general-purpose\"}}]},{\"calls\":[{\"name\":\"Bash\",\"input\":{\"command\":\"true\"}}]},{\"say\":\"report\"},$DONE]"
  is "$(jq -sr '.[0] | has("agent_id") or has("agent_type")' pre)" false
  is "$(jq -sr '.[1].agent_type' pre)" general-purpose
  is "$(jq -sr '.[1].agent_id | type' pre)" string
  # The events of the subagent name the same one.
  is "$(jq -sr 'map(.hook_event_name + " " + .agent_id) | join(",")' sub)" "$(jq -sr '.[1].agent_id | "SubagentStart \(.),SubagentStop \(.)"' pre)"
}

# ---- 3: what an answer does --------------------------------------------------------

check_002_3_01() {
  install "$(pre Bash "$(specific '{"permissionDecision":"allow","permissionDecisionReason":"r","updatedInput":{"command":"echo B"},"additionalContext":"keep in mind"}')")"
  prompted "[{\"calls\":[{\"name\":\"Bash\",\"input\":{\"command\":\"echo A\"}}]},$DONE]"
  has "$(told 1)" 'B\n'
  has "$(told 1)" 'keep in mind'
  install "$(pre Bash "$(specific '{"permissionDecision":"deny","permissionDecisionReason":"not on a Sunday"}')")"
  bash_call true
  has "$(content)" 'not on a Sunday'
  # Another event's envelope is none.
  install "$(pre Bash "$(specific '{"permissionDecision":"deny"}' PostToolUse)")"
  bash_call 'echo ran'
  is "$(content)" ran
}
check_002_3_02() {
  install "$(pre Bash "$(decides allow)")"
  attended "[$BASH_CALL,$DONE]" "$NO"
  is "$(asked_times)" 0
  is_file ran
}
check_002_3_03() {
  install "$(pre Bash "$(decides deny)")" "$ALLOW_BASH"
  prompted "[$BASH_CALL,$DONE]"
  no_file ran
  is "$(told 1 | jq -r '.content[0] | .type + " " + (.is_error | tostring)')" 'tool_result true'
  has "$(told 1)" 'because deny'
  # No event after the tool fires for a question a hook denied.
  install "$(jq -cn --argjson p "$(group "$GSTACK" "$(decides deny)")" --argjson q "$(group '*' 'touch post')" '{PreToolUse:[$p],PostToolUse:[$q],PostToolUseFailure:[$q]}')"
  prompted "[$ASK,$DONE]"
  is "$(told 1 | jq -r '.content[0].is_error')" true
  has "$(told 1)" 'because deny'
  lacks "$(told 1)" 'Which?'
  no_file post
  # Exit code 2 denies whatever stdout says.
  install "$(pre Bash "$(decides allow); echo no >&2; exit 2")"
  bash_call 'touch ran'
  is "$(content)" $'Denied by PreToolUse hook\n[0] no'
  no_file ran
}
check_002_3_04() {
  install "$(pre Bash "$(decides ask)")" "$ALLOW_BASH"
  attended "[$BASH_CALL,$DONE]" "$NO"
  is "$(asked_times)" 1
  has "$(jq -r .decision_reason asked)" 'because ask'
  has "$(told 1)" 'the person says no'
  no_file ran
  install "$(pre Bash "$(decides ask)")" "$ALLOW_BASH"
  attended "[$BASH_CALL,$DONE]" "$YES"
  is_file ran
}
check_002_3_05() {
  # With a rule it runs unasked, without one the mode asks: as without a hook.
  install "$(pre Bash "$(decides defer)")" "$ALLOW_BASH"
  attended "[$BASH_CALL,$DONE]" "$NO"
  is "$(asked_times)" 0
  is_file ran
  is "$(ran_hooks)" 1
  fresh
  local hook
  for hook in "$(decides defer)" 'cat >/dev/null'; do
    install "$(pre Bash "$hook")"
    attended "[$BASH_CALL,$DONE]" "$NO"
    is "$(asked_times)" 1
    no_file ran
    is "$(ran_hooks)" 1
    is "$(sql "SELECT count(*) FROM events WHERE event_type LIKE 'hook_%'")" 0
  done
  prompted "[$BASH_CALL,$DONE]"
  has "$(told 1)" 'there is nobody to ask'
  no_file ran
}
check_002_3_06() {
  install "$(jq -cn --argjson p "$(group Bash "$(specific '{"permissionDecision":"allow","updatedInput":{"command":"echo B"}}')")" --argjson q "$(group Bash 'cat >post')" '{PreToolUse:[$p],PostToolUse:[$q]}')"
  tool Bash '{"command":"echo A","description":"d","timeout":9000}'
  is "$(content)" B
  is "$(jq -c .tool_input post)" '{"command":"echo B","description":"d","timeout":9000}'
  # Shallow: an object inside is replaced, not merged.
  install "$(pre '.*' "$(specific '{"permissionDecision":"allow","updatedInput":{"b":{"new":1}}}')" 'cat >seen')"
  fire PreToolUse '{"tool_name":"mcp__s__t","tool_input":{"a":1,"b":{"old":2}},"tool_use_id":"t"}'
  is "$(jq -c .tool_input seen)" '{"a":1,"b":{"new":1}}'
}
check_002_3_07() {
  local decision
  for decision in '"permissionDecision":"ask",' '"permissionDecision":"defer",' '"permissionDecision":"deny",' ''; do
    install "$(pre Bash "$(specific "{$decision\"updatedInput\":{\"command\":\"touch other\"}}")")"
    bash_call 'true' --yes
    no_file other
    is "$(sql "SELECT count(*) FROM events WHERE event_type='hook_output_invalid' AND detail LIKE '%updatedInput counts only beside permissionDecision allow%'")" 1
  done
}

# ---- 4: matchers -------------------------------------------------------------------

# matched MATCHER TOOL : how many hooks with this matcher a call of that tool runs
matched() {
  install "$(pre "$1" true)"
  fire PreToolUse "$(jq -cn --arg t "$2" '{tool_name:$t,tool_input:{},tool_use_id:"t"}')"
  ran_hooks
}
check_002_4_01() {
  is "$(matched "$GSTACK" AskUserQuestion)" 1
  is "$(matched "$GSTACK" mcp__conductor__AskUserQuestion)" 1
  is "$(matched "$GSTACK" Bash)" 0
  is "$(matched '^(?!Bash$).*' Bash)" 0
  is "$(matched '^(?!Bash$).*' Read)" 1
  is "$(matched '(?i)bash' Bash)" 0
  is "$(matched 'Edit.*' NotebookEdit)" 1
  is "$(matched '^Notebook' NotebookEdit)" 1
  is "$(matched '(edit|write)' Write)" 0
  # An invalid expression matches nothing; stderr names it once, and it is recorded once, not at every start.
  install "$(jq -cn --argjson a "$(group '(' 'touch ran')" --argjson b "$(group Bash 'touch other')" '{PreToolUse:[$a,$b]}')"
  bash_call true
  is "$(grep -o '"(" is not a valid expression' <<<"$err" | wc -l)" 1
  bash_call true
  no_file ran
  is_file other
  is "$(sql "SELECT event_type FROM events WHERE event_type LIKE 'hook_%'")" hook_config_rejected
  # A condition is a permission rule: it finds the command inside a line, a rule of Edit holds for Write,
  # an empty one always holds, and without a tool none holds.
  install "$(jq -cn 'def when($rule; $word): {type:"command", if:$rule, command:("echo " + $word + " >>log")};
    {PreToolUse:[{hooks:[when("Bash(git *)"; "git"), when("Edit(*.ts)"; "ts"), when(""; "any")]}], UserPromptSubmit:[{hooks:[when("Bash"; "prompt")]}]}')"
  bash_call 'A=1 git status; true'
  bash_call ls
  tool Write '{"file_path":"a.ts","content":"x"}'
  tool Write '{"file_path":"a.js","content":"x"}'
  fire UserPromptSubmit '{"prompt":"p"}'
  is "$(paste -sd, log)" git,any,any,ts,any,any
}
check_002_4_02() {
  is "$(matched Edit Edit)" 1
  is "$(matched Edit NotebookEdit)" 0
  is "$(matched mcp__memory mcp__memory__get)" 0
  is "$(matched 'Edit|Write' Write)" 1
  is "$(matched 'Edit|Write' NotebookEdit)" 0
  is "$(matched 'Edit, Write ,Bash' Write)" 1
  is "$(matched 'Edit, Write ,Bash' Bash)" 1
  is "$(matched 'Edit, Write ,Bash' NotebookEdit)" 0
  # A matcher written like a rule fits no tool, and a start says so.
  install "$(pre 'Bash(git push*)' 'touch ran')"
  bash_call 'echo git push'
  has "$err" 'Bash(git push*)'
  no_file ran
}
# A server of tools is not needed to see which hooks its call would run.
check_002_4_03() {
  is "$(matched "$GSTACK" mcp__conductor__AskUserQuestion)" 1
  is "$(matched AskUserQuestion mcp__conductor__AskUserQuestion)" 0
  install "$(pre "$GSTACK" "$AUTO_DECIDE" 'cat >seen')"
  fire PreToolUse "$(jq -cn --argjson q "$QUESTION" '{tool_name:"mcp__conductor__AskUserQuestion",tool_input:$q,tool_use_id:"t"}')"
  is "$(jq -r '.tool_input.answers["Which?"]' seen)" 'A) Fix now (recommended)'
}

# ---- 5: several hooks --------------------------------------------------------------

check_002_5_01() {
  install "$(jq -cn --argjson a "$(group Bash 'echo same >>log' 'echo other >>log' 'echo same >>log')" --argjson b "$(group '*' 'echo same >>log')" '{PreToolUse:[$a,$b]}')"
  mkdir -p .claude
  jq -cn --argjson a "$(group Bash 'echo same >>log')" '{hooks:{PreToolUse:[$a]}}' >.claude/settings.json
  bash_call true
  is "$(paste -sd, log)" same,other
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE command LIKE '%same%'")" 1
  # A copy that a policy switches off does not take the place of the policy's own.
  rm log .claude/settings.json
  install "$(pre Bash 'echo same >>log')"
  jq -n '{allowManagedHooksOnly:true, hooks:[{hook_event_name:"PreToolUse", matcher:"*", type:"command", command:"echo same >>log", dialect:"claude"}]}' >"$ONA_MANAGED_SETTINGS"
  bash_call true
  is "$(cat log)" same
}
check_002_5_02() {
  local round
  # The slow hook is first: in parallel the quick one would win or be overwritten by chance.
  install "$(pre Bash "sleep 0.2; $(specific '{"permissionDecision":"allow","updatedInput":{"command":"echo first"}}')" "$(specific '{"permissionDecision":"allow","updatedInput":{"command":"echo second"}}')")"
  for round in 1 2 3 4 5; do
    bash_call true
    is "$(content)" second
  done
  is "$(sql 'SELECT group_concat(hook_ordinal) FROM (SELECT hook_ordinal FROM hook_invocations ORDER BY id)')" 0,1,0,1,0,1,0,1,0,1
  is "$(sql "SELECT count(*) FROM hook_invocations a JOIN hook_invocations b ON b.tool_use_id=a.tool_use_id AND b.hook_ordinal=1 WHERE a.hook_ordinal=0 AND b.started_at < a.completed_at")" 0
}
# merged FIRST SECOND : what two hooks come to
merged() {
  install "$(pre Bash "$(decides "$1")" "$(decides "$2"); :")"
  fire PreToolUse '{"tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"t"}'
  jq -r '.permission // "unset"' <<<"$out"
}
check_002_5_03() {
  local order=(deny ask allow defer) i j expected
  for i in 0 1 2 3; do
    for j in 0 1 2 3; do
      expected=${order[$((i < j ? i : j))]}
      [ $expected != defer ] || expected=unset
      is "${order[$i]} ${order[$j]} $(merged "${order[$i]}" "${order[$j]}")" "${order[$i]} ${order[$j]} $expected"
    done
  done
  # A deny after a rewrite: neither command runs, and the hook behind it is skipped.
  install "$(pre Bash "$(specific '{"permissionDecision":"allow","updatedInput":{"command":"touch other"}}')" "$(decides deny)" 'touch post')"
  bash_call 'touch ran'
  is "$(content)" $'Denied by PreToolUse hook\nbecause deny'
  no_file ran
  no_file other
  no_file post
  is "$(sql "SELECT group_concat(hook_ordinal || ':' || ifnull(exit_code, skipped_reason)) FROM hook_invocations")" 0:0,1:0,2:prior_block_or_deny
}

# ---- 6: the three answers gstack gives ---------------------------------------------

check_002_6_01() {
  # As the document sketches it: the question again, with the answer in it.
  install "$(pre "$GSTACK" 'jq -c "{hookSpecificOutput:{hookEventName:\"PreToolUse\",permissionDecision:\"allow\",permissionDecisionReason:\"plan-tune: never-ask preference\",updatedInput:{questions:(.tool_input.questions | map(. + {answer:.options[0].label}))}}}"')"
  attended "[$ASK,$DONE]" "$NO"
  is "$(asked_times)" 0
  has "$(told 1)" 'A) Fix now (recommended)'
}
check_002_6_02() {
  install "$(pre "$GSTACK" "$(specific '{"permissionDecision":"defer"}')")"
  attended "[$ASK,$DONE]" '{behavior:"allow",updatedInput:(.input + {answers:{"Which?":"B) Later"}})}'
  is "$(asked_times)" 1
  is "$(jq -c '.input.questions[0].question' asked)" '"Which?"'
  has "$(told 1)" 'B) Later'
  is "$(ran_hooks)" 1
  is "$(sql "SELECT count(*) FROM events WHERE event_type LIKE 'hook_%'")" 0
  # With nobody to ask, the model is told the same with the hook and without.
  local with
  install "$(pre "$GSTACK" "$(specific '{"permissionDecision":"defer"}')")"
  prompted "[$ASK,$DONE]"
  lacks "$err" hook
  with=$(told 1)
  has "$with" 'Nobody is there to answer'
  install '{}'
  prompted "[$ASK,$DONE]"
  is "$(told 1)" "$with"
}
check_002_6_03() {
  install "$(jq -cn --argjson g "$(group Bash "$(specific '{}' PostToolUse)")" '{PostToolUse:[$g]}')" "$ALLOW_BASH"
  prompted "[{\"calls\":[{\"name\":\"Bash\",\"input\":{\"command\":\"echo fine\"}}]},$DONE]"
  is "$err" ''
  is "$(told 1 | jq -c '.content | length')" 1
  is "$(sql "SELECT count(*) FROM events WHERE event_type LIKE 'hook_%'")" 0
  is "$(sql "SELECT exit_code FROM hook_invocations WHERE hook_event='PostToolUse'")" 0
}
check_002_6_04() {
  install "$(jq -cn --argjson g "$(group Bash "$(specific '{"additionalContext":"the tests are slow"}' PostToolUse)")" '{PostToolUse:[$g]}')" "$ALLOW_BASH"
  prompted "[{\"calls\":[{\"name\":\"Bash\",\"input\":{\"command\":\"echo fine\"}}]},$DONE]"
  is "$(told 1 | jq -r '.content[0].type')" tool_result
  has "$(told 1)" 'the tests are slow'
}

# ---- 7: configuration --------------------------------------------------------------

check_002_7_01() {
  # The installer's own snippet, with a script where it says.
  mkdir -p .claude/hooks
  printf '#!/bin/sh\ncat >"$CLAUDE_PROJECT_DIR/seen"\n' >.claude/hooks/question-preference-hook
  chmod +x .claude/hooks/question-preference-hook
  install '{"PreToolUse":[{"matcher":"(Bash|mcp__.*__Bash)","_gstack_source":"x","hooks":[{"type":"command","command":"$CLAUDE_PROJECT_DIR/.claude/hooks/question-preference-hook","timeout":5}]}]}'
  bash_call true
  is "$(jq -r .tool_name seen)" Bash
  is "$(sql "SELECT json_extract(json,'\$.hooks[0].dialect') FROM settings_snapshot")" claude
  # An edit between two turns of a session counts from the next session on, and nobody rewrites the file.
  local call='{"calls":[{"name":"Bash","input":{"command":"true"}}]}' edited turn line
  edited=$(pre Bash 'echo new >>log' | jq '{custom:{keep:[1,2]}, permissions:{allow:["Bash"]}, hooks:(.PreToolUse[0]._gstack_source = "question-log")}')
  install "$(pre Bash 'echo old >>log')" "$ALLOW_BASH"
  talking "[$call,$DONE,$call,$DONE,$call,$DONE]"
  coproc ONA_P { ona --output-format stream-json --verbose --input-format stream-json 2>"$WORLD/driven.err"; }
  local pid=$ONA_P_PID to=${ONA_P[1]}
  for turn in 1 2; do
    jq -cn '{type:"user",message:{role:"user",content:"go"}}' >&"$to"
    while IFS= read -r -t 30 line <&"${ONA_P[0]}"; do
      [ "$(jq -r .type <<<"$line")" != result ] || break
    done
    printf '%s' "$edited" >"$HOME/.claude/settings.json"
  done
  exec {to}>&-
  wait "$pid" || fail "the driven run failed: $(cat "$WORLD/driven.err")"
  is "$(paste -sd, log)" old,old
  code 0 ona -p go </dev/null
  is "$(paste -sd, log)" old,old,new
  is "$(cat "$HOME/.claude/settings.json")" "$edited"
}
check_002_7_02() {
  install '{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sleep 3; touch late","timeout":1}]}]}'
  bash_call 'echo ran'
  is "$(sql 'SELECT stderr_text FROM hook_invocations')" '[SDLC] hook timed out after 1000 ms'
  no_file late
  # The same hook with time enough.
  install '{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sleep 0.3; touch intime","timeout":20}]}]}'
  bash_call true
  is_file intime
  # A process that a hook leaves behind does not hold the call up, and goes on after the program has ended.
  local tries=0
  install "$(pre Bash '(for n in $(seq 400); do [ ! -e go ] || break; sleep 0.05; done; touch behind) &')"
  bash_call 'echo ran'
  is "$(content) $(sql 'SELECT exit_code FROM hook_invocations')" 'ran 0'
  no_file behind
  touch go
  until [ -e behind ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail 'the process that a hook left behind was ended'
    sleep 0.05
  done
}
check_002_7_03() {
  mkdir -p .git tools deep/down
  printf '#!/bin/sh\npwd >"$CLAUDE_PROJECT_DIR/seen"\n' >tools/where
  chmod +x tools/where
  install "$(pre Bash '"$CLAUDE_PROJECT_DIR"/tools/where')"
  cd deep/down
  bash_call true
  is "$(cat "$WORLD/project/seen")" "$WORLD/project/deep/down"
}

# ---- 8: what was left to the implementation ----------------------------------------

check_002_8_01() {
  install "$(pre "$GSTACK" 'cat >seen')"
  prompted "[$ASK,$DONE]"
  is "$(jq -r '.tool_input.questions[].options[].label | select(endswith("(recommended)"))' seen)" 'A) Fix now (recommended)'
}
check_002_8_02() {
  install "$(jq -cn --argjson p "$(group "$GSTACK" 'cat >pre' "$AUTO_DECIDE")" --argjson q "$(group "$GSTACK" 'cat >post')" '{PreToolUse:[$p],PostToolUse:[$q]}')"
  # The hook that decides reads stdin itself; the first only keeps it.
  prompted "[$ASK,$DONE]"
  is "$(jq -r '.tool_input | has("answers")' pre)" false
  is "$(jq -r '.tool_input.answers["Which?"]' post)" 'A) Fix now (recommended)'
  is "$(jq -r '.tool_response.answers["Which?"]' post)" 'A) Fix now (recommended)'
  is "$(jq -r '.tool_response.questions[0].question' post)" 'Which?'
  is "$(jq -r .tool_use_id pre)" "$(jq -r .tool_use_id post)"
  is "$(jq -r .session_id pre)" "$(jq -r .session_id post)"
}
check_002_8_03() {
  local slow='{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sleep 3; exit 2","timeout":1}]}]}'
  install "$slow" "$ALLOW_BASH"
  prompted "[$BASH_CALL,$DONE]"
  is_file ran
  fresh
  # The normal flow: without a rule the mode still asks.
  install "$slow"
  prompted "[$BASH_CALL,$DONE]"
  no_file ran
  is "$(sql "SELECT exit_code IS NULL AND skipped_reason IS NULL FROM hook_invocations")" 1
  is "$(sql "SELECT event_type FROM events WHERE event_type LIKE 'hook_%'")" hook_error
  is "$(sql "SELECT json_extract(reason_json,'\$.source') FROM tool_permission_log")" headless
}

run_check "$@"
