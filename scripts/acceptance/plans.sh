#!/usr/bin/env bash
# Plans and the tests written from them: EnterPlanMode and ExitPlanMode, who approves, what
# the test generator is told and must never be told (sections 8.2 and 8.5). The model is
# scripted (model.mjs); the requests it logs are what is judged.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# talking SCRIPT_JSON : a scripted model that every later run talks to
point=anthropic
talking() { stop_servers; model "$1"; $point; }
# sent N : the body of the n-th request, from 0, as it came
sent() { sed -n "$(($1 + 1))p" "$LOG"; }
body() { sent "$1" | jq -c .body; }

statuses() { sql "SELECT group_concat(status, ' ') FROM (SELECT status FROM plans ORDER BY id)"; }
log_sources() { sql "SELECT group_concat(decision || ' ' || json_extract(reason_json,'\$.source')) FROM tool_permission_log"; }
PLAN=$'# Shout\n\nA tool that shouts.\n\n## Success criteria\n\n- SC-1: ./shout hello prints HELLO\n- SC-2: ./shout without words exits 2\n'
T1=$'```bash\n# traces: SC-1\n# title: Shouts a word\nout=$(./shout hello) || exit 1\n[ "$out" = HELLO ] || { echo "$out" >&2; exit 1; }\n```\n'
T2=$'```bash\n# traces: SC-2\n# title: Refuses nothing to shout\ncode=0\n./shout >"$SDLC_TEST_TMP/out" 2>"$SDLC_TEST_TMP/err" || code=$?\n[ "$code" -eq 2 ] || exit 1\ngrep -q usage "$SDLC_TEST_TMP/err" || exit 1\n```\n'
MOCK=$'```bash\n# traces: SC-2\n# title: Fakes it\nshout() { echo usage >&2; return 2; }\nexport -f shout\npython3 -c \'from unittest.mock import patch\'\nout=$(./shout) || exit 1\n[ "$out" = x ] || exit 1\n```\n'
SOURCE=$'#!/bin/bash\n# CANARY-SOURCE how it is done inside\n[ $# -gt 0 ] || { echo "usage: shout WORD" >&2; exit 2; }\necho "${1^^}"\n'
say() { jq -cn --arg t "$1" '{say:$t}'; }

# What settings say about the model, if anything.
MODEL_CONFIG={}
# implemented SCRIPT_ITEM... : a conversation c in implement, whose work has canaries everywhere
implemented() {
  echo 'CANARY-INSTRUCTIONS always shout' >CLAUDE.md
  mkdir docs
  echo 'shout WORD prints the word in capitals (PUBLIC-DOC)' >docs/cli.md
  git init -q . && git add -A && git -c user.name=x -c user.email=x@x commit -qm 'CANARY-COMMIT message'
  ona memory add 'CANARY-MEMORY shout' 'CANARY-MEMORY tests criteria shout words' >/dev/null
  talking "$(printf '%s\n' \
    "$(jq -cn --arg s "$SOURCE" '{calls:[{name:"Write",input:{file_path:"shout",content:$s}}]}')" \
    '{"calls":[{"name":"Bash","input":{"command":"chmod +x shout; echo CANARY-OUTPUT; echo CANARY-BY-SHELL made by the shell > lib.sh"}}]}' \
    '{"say":"CANARY-ASSISTANT done"}' "$@" | jq -cs .)"
  settings "$(jq -c --argjson m "$MODEL_CONFIG" '. + $m' <<<'{"permissions":{"allow":["Bash","Write"]},"hooks":[{"hook_event_name":"SessionStart","matcher":"","command":"echo CANARY-HOOK"},{"hook_event_name":"UserPromptSubmit","matcher":"","command":"echo CANARY-HOOK"},{"hook_event_name":"SubagentStart","matcher":"","command":"echo CANARY-HOOK"}],"sdlc":{"publicApi":{"commands":["./shout"],"files":["docs/cli.md"],"entryPoints":["./shout"]}}}')"
  conversation c planning
  printf '%s' "$PLAN" >"$WORLD/plan.md"
  ona plan import "$WORLD/plan.md" --conversation c >/dev/null
  ona plan approve 1 >/dev/null
  ona --transition implement --conversation c >/dev/null
  code 0 ona -p 'CANARY-PROMPT do it' --conversation c </dev/null
  is "$(requests)" 3
}
# generated : the test phase was entered and both tests were written
generated() {
  implemented "$(say "$T1$T2")"
  code 0 ona --transition test --conversation c
  is "$(requests)" 4
}
generator_session() { sql "SELECT DISTINCT generator_session_id FROM sdlc_test_cases"; }

check_004_7_2_16() {
  conversation c idle
  tool EnterPlanMode '{}' --conversation c
  is "$(is_error) $(phase c)" 'false planning'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='phase_changed' AND conversation_id='c'")" 1
  # From then on nothing writes.
  settings '{"permissions":{"allow":["Write"]}}'
  tool Write '{"file_path":"f","content":"x"}' --conversation c
  is "$(is_error)" true
  [ ! -e f ] || fail 'a file was written while planning'
  # From every phase; the approval of the cycle before does not count for the new one.
  local from
  for from in idle implement test verify done; do
    conversation "$from" "$from"
    sql "INSERT INTO plans(conversation_id, content, hash, status) VALUES ('$from', 'x', 'h', 'approved')"
    tool EnterPlanMode '{}' --conversation "$from"
    is "$(is_error) $(phase "$from")" 'false planning'
    has "$(content)" 'Success criteria'
    is "$(sql "SELECT detail FROM events WHERE event_type='phase_changed' AND conversation_id='$from'")" "{\"from\":\"$from\",\"to\":\"planning\"}"
  done
  is "$(statuses)" 'superseded superseded superseded superseded completed'
  # Entering twice changes nothing, also not an approval.
  sql "UPDATE plans SET status='approved' WHERE conversation_id='done'"
  tool EnterPlanMode '{}' --conversation done
  is "$(is_error) $(phase done) $(sql "SELECT status FROM plans WHERE conversation_id='done'")" 'false planning approved'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='phase_changed' AND conversation_id='done'")" 1
}

check_004_7_2_17() {
  conversation c planning
  # Nobody there to approve: the plan is kept, the phase stays.
  talking "$(jq -cn --arg p "$PLAN" '[{calls:[{name:"ExitPlanMode",input:{plan:$p}}]},{say:"waiting"}]')"
  code 0 ona -p 'submit it' --conversation c </dev/null
  is "$(phase c) $(statuses)" 'planning draft'
  # The operator's own call presents it and approves it.
  tool ExitPlanMode "$(jq -cn --arg p "$PLAN" '{plan:$p}')" --conversation c
  is "$(is_error) $(phase c)" 'false implement'
  is "$(sql "SELECT count(*) FROM plans WHERE status='approved'")" 1
}

check_DEC_113() {
  conversation c idle
  touch before.txt
  # EnterPlanMode, a draft, the operator's own call: one commit each, approved and implement together.
  tool EnterPlanMode '{}' --conversation c
  is "$(is_error) $(phase c)" 'false planning'
  tool ExitPlanMode "$(jq -cn --arg p "$PLAN" '{plan:$p}')" --conversation c
  is "$(is_error) $(phase c) $(statuses)" 'false implement approved'
  has "$(content)" 'Plan 1 is approved'
  has "$(content)" 'prints HELLO'
  is "$(sql 'SELECT hash FROM plans')" "$(printf '%s' "$PLAN" | sha256sum | cut -d' ' -f1)"
  is "$(sql 'SELECT content, approved_at IS NOT NULL, completed_at IS NULL FROM plans')" "$PLAN|1|1"
  is "$(sql 'SELECT path FROM sdlc_manifest ORDER BY path')" $'\nbefore.txt'
  is "$(log_sources)" 'allow eval_operator'
  is "$(sql "SELECT group_concat(event_type,' ') FROM (SELECT event_type FROM events WHERE event_type LIKE 'p%' ORDER BY id)")" 'phase_changed plan_saved plan_approved phase_changed'
  is "$(sql "SELECT group_concat(criterion_id) FROM sdlc_criteria")" SC-1,SC-2
  tool ExitPlanMode '{"plan":"x"}' --conversation c
  has "$(content)" 'The phase is implement'
  # A deny keeps planning; without a text the newest draft is meant; nothing to submit is an error.
  tool EnterPlanMode '{}' --conversation c
  tool ExitPlanMode '{}' --conversation c
  has "$(content)" 'No plan to submit'
  settings '{"permissions":{"ask":["ExitPlanMode"]}}'
  tool ExitPlanMode '{"plan":"one"}' --conversation c
  tool ExitPlanMode '{"plan":"two"}' --conversation c
  is "$(is_error) $(phase c) $(statuses)" 'true planning superseded superseded draft'
  has "$(content)" "waits for the operator's approval"
  # Presented again without a text: not a draft more.
  tool ExitPlanMode '{}' --conversation c
  is "$(is_error) $(phase c) $(statuses)" 'true planning superseded superseded draft'
  tool ExitPlanMode '{}' --conversation c --yes
  is "$(is_error) $(phase c) $(statuses)" 'false implement superseded superseded approved'
  is "$(content | tail -n 1)" two
  # An approved plan is retired by the approval of another.
  sql "UPDATE conversations SET phase='planning'"
  tool ExitPlanMode '{"plan":"better"}' --conversation c --yes
  is "$(is_error) $(phase c) $(statuses)" 'false implement superseded superseded superseded approved'
}

check_DEC_115() {
  printf '[%s]' "$(hook PreToolUse '' "jq -r .permission_mode >> $WORLD/modes")" >"$WORLD/hooks"
  settings "$(jq -c '{permissions:{defaultMode:"acceptEdits",allow:["EnterPlanMode","ExitPlanMode","Glob"]},hooks:.}' "$WORLD/hooks")"
  talking '[{"calls":[{"name":"EnterPlanMode","input":{}}]},{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"calls":[{"name":"Write","input":{"file_path":"a","content":"x"}}]},{"calls":[{"name":"ExitPlanMode","input":{"plan":"p"}}]},{"calls":[{"name":"Write","input":{"file_path":"b","content":"x"}}]},{"say":"ok"}]'
  code 0 ona -p go </dev/null
  is "$(tr '\n' ' ' <"$WORLD/modes")" 'acceptEdits plan plan plan acceptEdits '
  [ ! -e a ] && [ -e b ] || fail 'planning did not hold, or did not end'
}

wait_late() {
  local n=0
  until [ -s late ]; do
    sleep 0.05
    n=$((n + 1))
    [ $n -lt 400 ] || fail 'the late process never ended'
  done
}
check_DEC_071() {
  # Nobody approves for the operator: not headless, not a hook's allow, not the agent's shell.
  allow=$(jq -cn '{hookSpecificOutput:{hookEventName:"PreToolUse",permissionDecision:"allow"}}')
  settings "$(jq -cn --argjson h "$(hook PreToolUse ExitPlanMode "echo '$allow'")" '{permissions:{allow:["EnterPlanMode","Bash"]},hooks:[$h]}')"
  talking '[{"calls":[{"name":"EnterPlanMode","input":{}}]},{"calls":[{"name":"ExitPlanMode","input":{"plan":"p"}}]},{"say":"it waits"}]'
  conversation c idle
  code 0 ona -p go --conversation c </dev/null
  is "$(phase c) $(statuses)" 'planning draft'
  has "$(sent 2)" "waits for the operator's approval"
  has "$(log_sources)" 'deny headless'
  sql "UPDATE conversations SET phase='implement'"
  local command
  for command in 'ona plan approve 1' 'env -u ONA_AGENT_DB ona plan approve 1' "ona --settings '{\"permissions\":{\"allow\":[\"ExitPlanMode\"]}}' settings show" 'HOME=/tmp ona settings import' 'ona --transition test --conversation c'; do
    tool Bash "$(jq -cn --arg c "$command" '{command:$c}')" --conversation c
    is "$(phase c) $(statuses)" 'implement draft'
  done
  # Also when it has outlived its shell and its variables, or lowered the limit that marks it.
  for command in 'ona plan approve 1' 'ona --transition test --conversation c' 'ulimit -Hx 7; ona plan approve 1'; do
    rm -f late
    tool Bash "$(jq -cn --arg c "p=\$\$; (setsid env -i PATH=\"\$PATH\" AGENT_SDLC_DB=$AGENT_SDLC_DB bash -c \"while kill -0 \$p 2>/dev/null; do sleep 0.02; done; $command 2>said; echo \\\$? >late\" >/dev/null 2>&1 &)" '{command:$c}')" --conversation c
    wait_late
    is "$(cat late) $(phase c) $(statuses)" '1 implement draft'
    has "$(cat said)" 'by the operator only'
  done
  # In the background of one conversation while another plans: the same.
  rm late
  code 0 ona --eval "$(jq -cn '{tool:"Bash",input:{command:"env -u ONA_AGENT_DB ona plan approve 1 2>said; echo $? >late; sleep 60",run_in_background:true}}, {tool:"Bash",input:{command:"until [ -s late ]; do sleep 0.02; done"}}')"
  is "$(cat late) $(statuses)" '1 draft'
  has "$(cat said)" 'by the operator only'
  code 0 ona plan approve 1
}

check_004_8_5_01() {
  generated
  is "$(sql "SELECT group_concat(criterion_id || ' ' || status) FROM (SELECT * FROM sdlc_test_cases ORDER BY rowid)")" 'SC-1 accepted,SC-2 accepted'
  is "$(sql 'SELECT group_concat(exit_code) FROM sdlc_test_runs')" 0,0
  code 0 ona --transition verify --conversation c
}

check_004_8_5_02() {
  implemented "$(say "$T1$MOCK")" "$(say "$T2")"
  code 0 ona --transition test --conversation c
  is "$(requests)" 5
  local again
  again=$(body 4 | jq -r '.messages[-1].content | if type == "array" then map(.text) | join("") else . end')
  has "$again" 'An earlier answer was not accepted'
  has "$again" '- SC-2: L08.'
  has "$again" $'# Criteria to cover\n\nSC-2'
  lacks "$again" 'Fakes it'
  is "$(sql "SELECT json_extract(detail,'\$.criterion_id') || json_extract(detail,'\$.attempt') || (json_extract(detail,'\$.rules') LIKE '%L08%') FROM events WHERE event_type='test_rejected'")" SC-211
  is "$(sql "SELECT group_concat(title || ' ' || status) FROM (SELECT * FROM sdlc_test_cases ORDER BY rowid)")" 'Shouts a word accepted,Refuses nothing to shout accepted'
  # Asked for by hand, the report names a session for each request.
  stop_servers
  talking "[$(say "$T1$MOCK"),$(say "$T1$T2")]"
  code 0 ona test generate --all --conversation c --json
  is "$(jq -c '[(.sessions | length), .uncovered]' <<<"$out")" '[2,[]]'
}

check_004_8_5_1_01() { generated; has "$(body 3)" 'A tool that shouts.'; }
check_004_8_5_1_02() {
  generated
  has "$(body 3)" '- SC-1: ./shout hello prints HELLO'
  has "$(body 3)" '- SC-2: ./shout without words exits 2'
}
check_004_8_5_1_03() {
  generated
  has "$(body 3)" 'CREATE TABLE IF NOT EXISTS transcript_entries'
  has "$(body 3)" '- Read {file_path, offset?'
  has "$(body 3)" 'ona --eval'
}
check_004_8_5_1_04() {
  generated
  has "$(body 3)" PUBLIC-DOC
  has "$(body 3)" 'usage: shout WORD'
}
# nowhere CANARY : neither sent to the generator nor in its rows
nowhere() {
  generated
  lacks "$(sent 3)" "$1"
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id='$(generator_session)' AND payload_json LIKE '%$1%'")" 0
  # It was there to be found.
  grep -rqs "$1" . || [ "$(sql "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%$1%'")" != 0 ] || git log | grep -q "$1" || fail "$1 was never planted"
}
check_004_8_5_1_05() {
  nowhere CANARY-SOURCE
  lacks "$(sent 3)" CANARY-BY-SHELL
  # A declared file that was touched is refused, and nothing is sent.
  sql "UPDATE settings_snapshot SET json = json_set(json, '\$.sdlc.publicApi.files', json('[\"lib.sh\"]'))"
  code 1 ona test generate --all --conversation c
  has "$err" 'a test generator must not see'
  # A line of it in a declared output stops everything, also indented or broken into pieces.
  local before command
  before=$(sql 'SELECT count(*) FROM sessions')
  for command in 'cat shout' "sed 's/^/    /' shout" 'fold -w 20 shout'; do
    sql "UPDATE settings_snapshot SET json = json_set(json, '\$.sdlc.publicApi', json('$(jq -cn --arg c "$command" '{commands:[$c]}' | sed "s/'/''/g")'))"
    code 1 ona test generate --all --conversation c
    has "$err" 'nothing was sent'
    has "$err" 'holds line'
    has "$err" 'of shout'
  done
  is "$(sql "SELECT count(*), sum(detail LIKE '%CANARY%') FROM events WHERE event_type='isolation_violation'")" '3|0'
  is "$(requests) $(sql 'SELECT count(*) FROM sessions')" "4 $before"
}
check_004_8_5_1_06() { nowhere 'how it is done inside'; }
check_004_8_5_1_07() { nowhere CANARY-COMMIT; }
check_004_8_5_1_08() { nowhere CANARY-OUTPUT; }
check_004_8_5_1_09() {
  generated
  is "$(body 3 | jq -c '[(.tools // [] | length), ([.messages[] | select(.role=="user")] | length), ([.messages[] | select(.role=="assistant")] | length)]')" '[0,1,0]'
  detail=$(sql "SELECT detail FROM events WHERE event_type='test_generated'")
  is "$(jq -r .inputs.plan <<<"$detail")" "$(printf '%s' "$PLAN" | sha256sum | cut -d' ' -f1)"
  is "$(jq -r '.inputs["file: docs/cli.md"]' <<<"$detail")" "$(sha256sum <docs/cli.md | cut -d' ' -f1)"
  is "$(jq -r '.inputs["command: ./shout"]' <<<"$detail")" "$(echo 'usage: shout WORD' | sha256sum | cut -d' ' -f1)"
  is "$(sql "SELECT surfaces FROM sdlc_test_cases WHERE criterion_id='SC-1'")" '["process_output"]'
  is "$(jq -r .prompt_sha256 <<<"$detail")" "$(sql "SELECT json_extract(payload_json,'\$.content[0].text') FROM transcript_entries WHERE session_id='$(generator_session)' AND entry_type='user'" | head -c -1 | sha256sum | cut -d' ' -f1)"
}
# The same over the other wire, with both providers that speak it.
check_generator_over_chat() {
  local provider
  for provider in openai_compatible:gpt_4o:openai lm_studio_local:lm_studio_server_routed:lm_studio; do
    IFS=: read -r provider model_id point <<<"$provider"
    mkdir "$WORLD/$provider" && cd "$WORLD/$provider"
    export AGENT_SDLC_DB=$WORLD/state/$provider.db
    MODEL_CONFIG=$(jq -cn --arg p "$provider" --arg m "$model_id" '{model_config:{provider:$p,model_id:$m}}')
    check_004_8_5_01
    is "$provider $(body 3 | jq -c '[(.tools // [] | length), ([.messages[] | select(.role=="user")] | length), ([.messages[] | select(.role=="assistant")] | length)]')" "$provider [0,1,0]"
    lacks "$(sent 3)" CANARY
    for words in 'A tool that shouts.' '- SC-2: ./shout without words exits 2' PUBLIC-DOC 'usage: shout WORD' 'CREATE TABLE IF NOT EXISTS transcript_entries'; do has "$(body 3)" "$words"; done
  done
}
check_004_8_5_1_10() {
  generated
  is "$(sql "SELECT count(DISTINCT session_id) FROM transcript_entries WHERE session_id='$(generator_session)' AND entry_type IN ('tool_use','tool_result')")" 0
  is "$(sql "SELECT entry_type FROM transcript_entries WHERE session_id='$(generator_session)' ORDER BY sequence LIMIT 1")" user
  is "$(sql "SELECT json_extract(detail,'\$.agent_type') FROM events WHERE event_type='session_created' AND session_id='$(generator_session)'")" sdlc-test-generator
}
check_004_8_5_1_11() { nowhere CANARY; }
check_004_8_8_01() {
  generated
  has "$(body 3)" 'Patterns:'
  # The patterns in the prompt pass the lint themselves.
  sql "SELECT json_extract(payload_json,'\$.content[0].text') FROM transcript_entries WHERE session_id='$(generator_session)' AND entry_type='user'" |
    awk '/^```bash$/{n++; f="pattern" n ".sh"; printf "" >f; next} /^```$/{f=""} f{print >f}'
  code 0 ona test lint pattern1.sh pattern2.sh pattern3.sh --entry-point ./bin/sum
}

check_DEC_110() {
  # Without a model the phase changes all the same, and what is missing is said.
  conversation c planning
  printf '%s' "$PLAN" >plan.md
  ona plan import plan.md --conversation c >/dev/null
  ona plan approve 1 >/dev/null
  ona --transition implement --conversation c >/dev/null
  code 0 ona --transition test --conversation c
  is "$out" '{"conversation_id":"c","from":"implement","to":"test"}'
  has "$err" 'no model can be asked'
  # A provider that fails leaves no case.
  talking '[{"status":401,"message":"no"}]'
  code 1 ona test generate --conversation c
  has "$err" 'no tests were written'
  is "$(phase c) $(sql 'SELECT count(*) FROM sdlc_test_cases')" 'test 0'
}

check_DEMO_1() {
  code 0 ona demo --sdlc
  has "$out" 'test to verify is refused'
  is "$(sed -n '/^test to verify is refused/{n;n;p}' <<<"$out" | sed -E 's/^  (exit 1) .*(\(SC-2\))$/\1 \2/')" 'exit 1 (SC-2)'
  has "$out" 'no approved plan exists'
  has "$out" "Plan 1 waits for the operator's approval"
  has "$out" 'repeat with --approve'
  local db
  db=$(echo "$TMPDIR"/ona-demo-*/ona.db)
  is "$(sqlite3 "$db" "SELECT json_extract(detail,'$.from') || '-' || json_extract(detail,'$.to') FROM events WHERE event_type='phase_changed' ORDER BY id" | paste -sd' ')" \
    'idle-planning planning-implement implement-test test-verify verify-done'
  is "$(sqlite3 "$db" "SELECT c.phase || ' ' || p.status || ' ' || (p.completed_at IS NOT NULL) FROM conversations c, plans p")" 'done completed 1'
  is "$(sqlite3 "$db" "SELECT criterion_id FROM sdlc_test_cases WHERE status='accepted' ORDER BY 1" | paste -sd' ')" 'SC-1 SC-2'
  # Once with the hasty work, once with the mended one.
  is "$(sqlite3 "$db" "SELECT c.criterion_id || ':' || r.exit_code FROM sdlc_test_runs r JOIN sdlc_test_cases c ON c.id=r.test_case_id ORDER BY r.id" | paste -sd' ')" 'SC-1:0 SC-2:1 SC-1:0 SC-2:0'
  is "$(sqlite3 "$db" "SELECT count(*) FROM events WHERE event_type='verify_approved'")" 1
  has "$(sqlite3 "$db" "SELECT json_extract(detail,'$.rules') FROM events WHERE event_type='test_rejected'")" L05
}

run_check "$@"
