#!/usr/bin/env bash
# Acceptance checks of the MassGen hook framework: a YAML file, real Python, real
# programs. Run: massgen.sh <ledger id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# yaml TEXT : the configuration all later runs read
yaml() {
  printf '%s\n' "$1" >hooks.yaml
  export ONA_MASSGEN_CONFIG=$PWD/hooks.yaml
  settings '{"permissions":{"allow":["Bash","Read","Write","Edit","Glob","Agent"]},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
}
# module NAME BODY : a function NAME.f; the body stands on one line
module() { printf 'def f(event):\n    %s\n' "$2" >"$1.py"; }
# logger NAME : a function NAME.f that appends NAME, the tool and its output to the file log
logger() { module "$1" "print('$1', event.hook_type, event.tool_name, event.tool_output, file=open('log', 'a'))"; }
# pre HANDLERS... / post HANDLERS... : python entries NAME.f, in that order
entries() { local event=$1 name; shift; printf 'hooks:\n  %s:\n' "$event"; for name in "$@"; do printf '    - {handler: %s.f}\n' "$name"; done; }
# program EVENT SCRIPT [KEYS] : one command entry, hook.sh
program() {
  printf '%s\n' "$2" >hook.sh
  yaml "hooks: {$1: [{handler: hook.sh, type: command${3:+, $3}}]}"
}
write() { tool Write '{"file_path":"a.txt","content":"x"}' "$@"; }
allowed() { is "$(is_error)" false; [ -e a.txt ] || fail "a.txt was not written: $out"; }
# denied REASON
denied() { is "$(is_error)" true; is "$(content)" "Denied by PreToolUse hook
$1"; [ ! -e a.txt ] || fail "a.txt was written"; }
log() { cat log 2>/dev/null || true; }
hook_row() { sql "SELECT $1 FROM hook_invocations ORDER BY id LIMIT 1"; }
why() { sql "SELECT json_extract(detail,'\$.why') FROM events WHERE event_type='$1'"; }
# fired TOOL [FLAG...] : the commands that ran, without their common beginning
fired() {
  local name=$1
  shift
  code 0 ona --fire-hook "$(jq -cn --arg t "$name" '{hook_event_name:"PreToolUse",tool_name:$t,tool_input:{},tool_use_id:"t1"}')" "$@"
  jq -r '[.hooks[] | select(.skipped_reason == null).command | sub("massgen:(python|command):"; "")] | join(" ")' <<<"$out"
}
# talk SCRIPT_JSON [FLAG...] : one prompt to a scripted model; its requests are in $LOG
talk() { model "$1"; anthropic; says 0 -p go "${@:2}"; }
two_agents() {
  logger global; logger own
  yaml "hooks: {PreToolUse: [{handler: global.f}], PostToolUse: [{handler: global.f}]}
agents:
  - {id: agent_a, backend: {type: claude, hooks: {PreToolUse: $1}}}
  - {id: agent_b, backend: {type: claude}}"
}

# ---- events ------------------------------------------------------------------------

check_001_1_01() {
  logger one
  yaml 'hooks: {PreToolUse: [{handler: one.f}], PostToolUse: [{handler: one.f}]}'
  write; allowed
  has "$(log)" 'one PreToolUse Write None'
  has "$(log)" "one PostToolUse Write $(content)"
}

check_001_1_02() {
  module one "print(event.tool_name, __import__('os').path.exists('a.txt'), file=open('log', 'a'))"
  module two "print(event.tool_name, file=open('mcp', 'a'))"
  yaml 'hooks: {PreToolUse: [{handler: one.f, matcher: Write}, {handler: one.f, matcher: "W*"}, {handler: two.f, matcher: "mcp__*"}]}'
  write; allowed
  is "$(log)" 'Write False
Write False'
  is "$(sql "SELECT group_concat(command || ' ' || exit_code || ' ' || (completed_at IS NOT NULL)) FROM hook_invocations")" \
    'massgen:python:one.f 0 1,massgen:python:one.f 0 1'
  is "$(sql "SELECT max(substr(completed_at, 1, 19)) <= (SELECT timestamp FROM events WHERE event_type='tool_started') FROM hook_invocations")" 1
  is "$(fired mcp__fs__read)" two.f
  is "$(cat mcp)" mcp__fs__read
}

check_001_1_03() {
  logger one
  yaml "$(entries PostToolUse one)"
  write; allowed
  is "$(log)" "one PostToolUse Write $(content)"
  tool Edit '{"file_path":"gone","old_string":"a","new_string":"b"}'
  is "$(is_error)" true
  tool Write '{"file_path":"b.txt","content":""}' --disallowedTools Write
  is "$(is_error)" true
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 1
  # Of a failure only the hooks of the settings hear.
  hooks "$(hook PostToolUseFailure '' true)"
  tool Edit '{"file_path":"gone","old_string":"a","new_string":"b"}'
  is "$(sql 'SELECT hook_event, command FROM hook_invocations WHERE id > 1')" 'PostToolUseFailure|true'
}

# ---- global and per-agent hooks ------------------------------------------------------

check_001_2_01() {
  two_agents '[{handler: own.f}]'
  talk '[{"calls":[{"name":"Agent","input":{"description":"d","prompt":"p"}}]},{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"say":"in"},{"say":"out"}]' --agent-id agent_b
  has "$(log)" 'global PreToolUse Agent'
  has "$(log)" 'global PreToolUse Glob'
  # Inside the subagent both events, and no hook of another agent.
  is "$(sql "SELECT group_concat(hook_event || ' ' || command) FROM (SELECT * FROM hook_invocations WHERE tool_name='Glob' AND json_extract(input_json,'\$.agent_type')='general-purpose' ORDER BY id)")" \
    'PreToolUse massgen:python:global.f,PostToolUse massgen:python:global.f'
  is "$(requests)" 4
}

check_001_2_02() {
  logger one
  yaml 'hooks: {PreToolUse: [{handler: "one.f", type: "python"}]}'
  write; allowed
  is "$(log)" 'one PreToolUse Write None'
  is "$(hook_row command)" massgen:python:one.f
  # What is wrong with the configuration is named with its place.
  yaml 'hooks: {PreToolUse: 5}'
  code 2 ona --eval '{"tool":"Glob","input":{"pattern":"*"}}'
  is "$err" "ona: the massgen configuration cannot be used: hooks.PreToolUse must be a list of hooks, or a mapping with override and hooks: $PWD/hooks.yaml"
  printf 'hooks: [' >hooks.yaml
  code 2 ona --eval '{"tool":"Glob","input":{"pattern":"*"}}'
  has "$err" 'ona: the massgen configuration is not valid YAML: unclosed bracket'
}

check_001_2_03() {
  mkdir -p path/to
  echo "open('log', 'a').write('script')" >path/to/script.py
  yaml 'hooks: {PostToolUse: [{handler: "path/to/script.py", type: "command"}]}'
  write; allowed
  is "$(log)" script
  is "$(hook_row command)" massgen:command:path/to/script.py
  # For every agent, which learns about it with the output.
  echo "import json, sys; e = json.load(sys.stdin); print(e['agent_id'], e['tool_name'], e['tool_output'], file=open('told', 'a'))" >path/to/script.py
  yaml 'hooks: {PostToolUse: [{handler: "path/to/script.py", type: "command"}]}
agents: [{id: a}, {id: b}]'
  write --agent-id a
  is "$(cat told)" "a Write $(content)"
  write --agent-id b
  is "$(tail -n 1 told)" "b Write $(content)"
}

check_001_3_01() {
  two_agents '[{handler: own.f}]'
  is "$(fired Write --agent-id agent_a)" 'global.f own.f'
  is "$(fired Write --agent-id agent_b)" 'global.f'
}

check_001_3_02() {
  two_agents '[{handler: own.f}]'
  write; allowed
  is "$(log | grep Pre)" 'global PreToolUse Write None
own PreToolUse Write None'
}

check_001_3_03() {
  local form
  for form in '{override: true, hooks: [{handler: own.f}]}' '[{handler: own.f, override: true}]'; do
    two_agents "$form"
    is "$(fired Write --agent-id agent_a)" own.f
    is "$(fired Write --agent-id agent_b)" global.f
    # Only for that event.
    rm log
    write --agent-id agent_a; allowed
    is "$(log)" "own PreToolUse Write None
global PostToolUse Write $(content)"
  done
  for form in '{override: true}' '{override: true, hooks: []}'; do
    two_agents "$form"
    is "$(fired Write --agent-id agent_a)" ''
    is "$(fired Write --agent-id agent_b)" global.f
  done
}

# ---- matching ------------------------------------------------------------------------

check_001_4_01() {
  logger one
  local row
  for row in 'mcp__* mcp__fs__read yes' 'mcp__* MCP__x no' 'Web?etch WebFetch yes' '[WE]* Edit yes' '[WE]* Read no' '[!W]* Read yes' '^Write$ Write no' 'Edit Edit yes' 'Edit NotebookEdit no'; do
    set -- $row
    yaml "hooks: {PreToolUse: [{handler: one.f, matcher: '$1'}]}"
    case $3 in yes) is "$(fired "$2")" one.f ;; *) is "$(fired "$2")" '' ;; esac
  done
}

check_001_4_02() {
  logger one
  yaml 'hooks: {PreToolUse: [{handler: one.f, matcher: "*"}]}'
  fired Write >/dev/null; fired mcp__a__b >/dev/null; fired Bash >/dev/null
  is "$(log | wc -l)" 3
}

check_001_4_03() {
  logger one
  yaml 'hooks: {PreToolUse: [{handler: one.f, matcher: "Write|Edit"}]}'
  is "$(fired Write)" one.f
  is "$(fired Edit)" one.f
  is "$(fired NotebookEdit)" ''
  is "$(hook_row matcher)" 'Write|Edit'
  is "$(fired write)" ''
  # A bar with nothing around it names nothing.
  yaml 'hooks: {PreToolUse: [{handler: one.f, matcher: "|"}]}'
  is "$(fired Write)" ''
}

check_001_4_04() {
  logger one
  yaml "$(entries PreToolUse one)"
  is "$(fired Write)" one.f
  is "$(fired mcp__a__b)" one.f
}

# ---- before the tool -----------------------------------------------------------------

check_001_5_01() {
  module one "return {'decision': 'deny', 'reason': 'R'}"
  yaml "$(entries PreToolUse one)"
  write; denied R
  has "$(newest)" '"is_error":true'
  # The model is told why.
  talk '[{"calls":[{"name":"Write","input":{"file_path":"a.txt","content":"x"}}]},{"say":"no"}]'
  is "$(req 1 '.body.messages[-1].content[0] | [.type, .is_error, .content] | tojson')" '["tool_result",true,"Denied by PreToolUse hook\nR"]'
  [ ! -e a.txt ] || fail 'a.txt was written'
  local body
  for body in "{'allowed': False}" "{'decision': 'deny'}"; do
    module two "return $body"
    yaml "$(entries PreToolUse two)"
    write; denied 'Denied by hook python_two.f'
  done
}

check_001_5_02() {
  module one "return {'updated_input': {'file_path': 'b.txt', 'content': 'y'}}"
  yaml "$(entries PreToolUse one)"
  write
  is "$(is_error) $(cat b.txt)" 'false y'
  [ ! -e a.txt ] || fail 'the input of the model was used'
  is "$(sql "SELECT json_extract(payload_json,'\$.input.file_path') FROM transcript_entries WHERE entry_type='tool_use'")" a.txt
  # Nothing is merged: what the update leaves out is gone, and the schema says so.
  rm b.txt
  module two "return {'updated_input': {'file_path': 'b.txt'}}"
  yaml "$(entries PreToolUse two)"
  write
  is "$(is_error)" true
  has "$(content)" 'A hook changed the input:'
  [ ! -e b.txt ] || fail 'the content of the model was used'
}

check_001_5_03() {
  local body
  for body in "return {'decision': 'allow'}" 'return {}' 'return None'; do
    rm -f a.txt
    module one "$body"
    yaml "$(entries PreToolUse one)"
    write; allowed
  done
  is "$(ran_hooks)" 3
  for body in true echo "echo '{}'" "echo '{\"decision\":\"allow\"}'"; do
    rm -f a.txt
    program PreToolUse "$body"
    write; allowed
  done
  is "$(ran_hooks)" 7
  is "$(why hook_output_invalid)$(why hook_error)" ''
  # It is not an objection, and not a permission either: a rule that asks still asks.
  settings '{"permissions":{"allow":["Write"],"ask":["Write"]}}'
  rm a.txt
  write
  is "$(is_error)" true
  settings '{"permissions":{"deny":["Write"]}}'
  write
  is "$(is_error) $(content)" 'true Denied by permission rule Write'
  settings '{"permissions":{"allow":["Write"]}}'
  conversation c planning
  write --conversation c
  is "$(is_error) $(content)" 'true Denied: phase is planning and no approved plan exists'
  [ ! -e a.txt ] || fail 'a.txt was written'
  # An ask is asked: the operator says yes with --yes, and nobody to ask means no.
  module one "return {'decision': 'ask', 'reason': 'really?'}"
  yaml "$(entries PreToolUse one)"
  write --yes; allowed
  rm a.txt
  write
  is "$(is_error)" true
  has "$(content)" 'really?'
  is "$(sql "SELECT group_concat(decision) FROM (SELECT decision FROM tool_permission_log ORDER BY id DESC LIMIT 2)")" deny,allow
  talk '[{"calls":[{"name":"Write","input":{"file_path":"a.txt","content":""}}]}]'
  [ ! -e a.txt ] || fail 'a.txt was written'
  is "$(requests)" 2
}

# ---- after the tool ------------------------------------------------------------------

check_001_6_01() {
  module one "return {'inject': {'content': 'C', 'strategy': 'tool_result'}}"
  yaml "$(entries PostToolUse one)"
  write; allowed
  has "$(content)" '
C'
  is "$(sql "SELECT json_extract(payload_json,'\$.content') || char(10) || 'C' FROM transcript_entries WHERE entry_type='content_replacement'")" "$(content)"
  # The hook was told what the tool gave, and the model gets both.
  is "$(hook_row "json_extract(input_json,'\$.tool_output') || char(10) || 'C'")" "$(content)"
  talk '[{"calls":[{"name":"Write","input":{"file_path":"b.txt","content":"x"}}]},{"say":"done"}]'
  is "$(req 1 '.body.messages[-1].content[0].content' | tail -n 1)" C
}

check_001_6_02() {
  module one "return {'inject': {'content': 'C', 'strategy': 'user_message'}}"
  yaml "hooks: {PostToolUse: [{handler: one.f, matcher: Glob}]}"
  talk '[{"calls":[{"name":"Glob","input":{"pattern":"*"}},{"name":"Bash","input":{"command":"echo second"}}]},{"say":"out"}]'
  is "$(sql "SELECT group_concat(entry_type,' ') FROM (SELECT entry_type FROM transcript_entries WHERE entry_type IN ('user','tool_result') ORDER BY sequence)")" 'user tool_result user tool_result'
  is "$(sed -n 2p "$LOG" | jq -c '.body.messages[-1] | [.role, [.content[].type], .content[2].text]')" '["user",["tool_result","tool_result","text"],"C"]'
  has "$(req 1 '.body.messages[-1].content[1].content')" second
  # In the other wire format as well, where the results of one reply must not be parted.
  model '[{"calls":[{"name":"Glob","input":{"pattern":"*"}},{"name":"Bash","input":{"command":"echo second"}}]},{"say":"out"}]'
  openai
  says 0 -p go --model gpt_4o
  is "$(req 1 '[.body.messages[-3:][].role] | join(" ")')" 'tool tool user'
}

# ---- programs --------------------------------------------------------------------------

check_001_7_01() {
  program PreToolUse 'cat >stdin.json'
  write --agent-id agent_x; allowed
  is "$(jq -c '[.hook_type, .agent_id, .tool_name, .tool_input.content, .tool_output, .hook_event_name]' stdin.json)" '["PreToolUse","agent_x","Write","x",null,"PreToolUse"]'
  is "$(jq -r '.session_id + " " + .orchestrator_id' stdin.json)" "$(jq -r '.session_id + " " + .conversation_id' <<<"$out")"
  is "$(jq -r '.conversation_id + " " + .cwd + " " + (.tool_use_id | type)' stdin.json)" "$(jq -r .conversation_id <<<"$out") $PWD string"
  is "$(jq 'has("transcript_path")' stdin.json)" false
  is "$(hook_row input_json)" "$(cat stdin.json)"
  jq -e '.timestamp | test("^[0-9-]+T[0-9:.]+\\+00:00$")' stdin.json >/dev/null || fail "the timestamp is $(jq .timestamp stdin.json)"
}

check_001_7_02() {
  program PreToolUse "echo '{\"decision\":\"deny\",\"reason\":\"R\"}'"
  write; denied R
  program PreToolUse "echo '{\"decision\":\"deny\"}'"
  write; denied 'Denied by hook command_hook.sh'
  program PreToolUse "echo '{\"updated_input\":{\"file_path\":\"b.txt\",\"content\":\"y\"}}'"
  write
  is "$(is_error) $(cat b.txt)" 'false y'
  [ ! -e a.txt ] || fail 'the input of the model was used'
  program PostToolUse "echo '{\"inject\":{\"content\":\"C\"}}'"
  write; allowed
  is "$(content | tail -n 1)" C
}

# variable NAME : as a command hook of one call of agent_x had it
variable() {
  program PreToolUse "printf %s \"\$$1\" >value"
  write --agent-id agent_x; allowed
  cat value
}
check_001_7_03() { is "$(variable MASSGEN_HOOK_TYPE)" PreToolUse; }
check_001_7_04() { is "$(variable MASSGEN_TOOL_NAME)" Write; }
check_001_7_05() { is "$(variable MASSGEN_SESSION_ID)" "$(sql 'SELECT session_id FROM sessions')"; }
check_001_7_06() {
  is "$(variable MASSGEN_AGENT_ID)" agent_x
  program PreToolUse 'printf "%s" "${MASSGEN_AGENT_ID-unset}" >value'
  write
  is "$(cat value)" ''
  # And what else a program finds there.
  program PreToolUse 'printf "%s\n" "$MASSGEN_ORCHESTRATOR_ID" "$SDLC_HOOK" "$AGENT_SDLC_DB" >value'
  write
  is "$(cat value)" "$(jq -r .conversation_id <<<"$out")
1
$AGENT_SDLC_DB"
}

# ---- timeouts --------------------------------------------------------------------------

check_001_8_01() {
  program PreToolUse 'exec sleep 31'
  write; allowed
  is "$(hook_row "coalesce(exit_code,'none') || ' ' || stderr_text")" 'none [SDLC] hook timed out after 30000 ms'
}

check_001_8_02() {
  program PreToolUse "sleep 31; echo '{\"decision\":\"deny\",\"reason\":\"late\"}'" 'timeout: 60'
  write; denied late
  program PreToolUse 'exec sleep 31' 'timeout: 1'
  write; allowed
  has "$(sql 'SELECT stderr_text FROM hook_invocations ORDER BY id DESC LIMIT 1')" 'timed out after 1000 ms'
}

check_001_8_03() {
  program PreToolUse 'sleep 31.41592 & sleep 31.41592' 'timeout: 1'
  write; allowed
  ! grep -lsa '31\.41592' /proc/[0-9]*/cmdline || fail 'a child of the hook is alive'
  is "$(why hook_error)" 'Hook command_hook.sh timed out'
  module one "__import__('time').sleep(31)"
  yaml 'hooks: {PreToolUse: [{handler: one.f, timeout: 1}]}'
  rm a.txt
  write; allowed
  has "$(why hook_error)" 'Hook python_one.f timed out'
}

# ---- errors ----------------------------------------------------------------------------

check_001_9_01() {
  module one "raise ValueError('boom')"
  logger two
  yaml "$(entries PreToolUse one two)"
  write; allowed
  is "$(why hook_error)" 'Hook python_one.f failed: ValueError: boom'
  has "$(log)" two
}

check_001_9_02() {
  program PreToolUse 'echo not json'
  write; allowed
  has "$(why hook_output_invalid)" 'not one JSON value'
  program PreToolUse 'echo no >&2; exit 2'
  rm a.txt
  write; allowed
  has "$(why hook_error)" 'exited with code 2'
}

check_001_9_03() {
  local event handler
  for event in PreToolUse PostToolUse; do
    for handler in no_such.mod hooks.missing nodot; do
      : >hooks.py
      yaml "hooks: {$event: [{handler: $handler}]}"
      write
      is "$(is_error)" true
      has "$(content)" 'Hook import failed: '
      [ ! -e a.txt ] || fail "$event $handler: the tool ran"
    done
  done
  has "$(why hook_error)" "No module named 'no_such'"
}

# ---- several hooks -----------------------------------------------------------------------

check_001_10_01() {
  module yes "return {'decision': 'allow'}"
  module no "return {'decision': 'deny', 'reason': 'R'}"
  yaml "$(entries PreToolUse yes no)"
  write; denied R
  yaml "$(entries PreToolUse no yes)"
  write; denied R
  is "$(sql 'SELECT skipped_reason FROM hook_invocations ORDER BY id DESC LIMIT 1')" prior_block_or_deny
}

check_001_10_02() {
  module one "return {'updated_input': {'file_path': 'b.txt', 'content': 'one'}}"
  module two "return {'updated_input': {**event.tool_input, 'content': event.tool_input['content'] + ' two'}}"
  yaml "$(entries PreToolUse one two)"
  write
  is "$(cat b.txt)" 'one two'
  is "$(sql "SELECT json_extract(input_json,'\$.tool_input.content') FROM hook_invocations ORDER BY id DESC LIMIT 1")" one
}

check_001_10_03() {
  module one "return {'inject': {'content': 'A'}}"
  module two "return {'inject': {'content': 'B'}}"
  yaml "$(entries PostToolUse one two)"
  write; allowed
  is "$(content | tail -n 2)" 'A
B'
}

run_check "$@"
