#!/usr/bin/env bash
# Workflow: the phase of a conversation, its plans and the planning gate live in the
# database alone, move only by the table of section 8.2, and only by the operator.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

phases='idle planning implement test verify done'
# plan CONVERSATION STATUS [CONTENT] : a row of plans, by SQL; its id is in $plan
plan() { plan=$(sql "INSERT INTO plans(conversation_id, content, hash, status) VALUES ('$1', '${3:-text}', 'h', '$2'); SELECT last_insert_rowid()"); }
# refused PHASE CONVERSATION : exit 1 with a reason, and nothing is written
refused() {
  local before after
  before=$(state_of "$2")
  code 1 ona --transition "$1" --conversation "$2"
  is "$out" ''
  [ -n "$err" ] || fail 'a refusal without a reason'
  after=$(state_of "$2")
  is "$after" "$before"
}
# moved PHASE CONVERSATION : exit 0, the line of DEC-102, and the column
moved() {
  local from
  from=$(phase "$2")
  code 0 ona --transition "$1" --conversation "$2"
  is "$out" "{\"conversation_id\":\"$2\",\"from\":\"$from\",\"to\":\"$1\"}"
  is "$(phase "$2")" "$1"
}
state_of() { sql "SELECT phase, last_active, (SELECT count(*) FROM events WHERE conversation_id='$1'), (SELECT group_concat(id || status) FROM plans WHERE conversation_id='$1') FROM conversations WHERE id='$1'"; }
# event_types CONVERSATION
event_types() { sql "SELECT group_concat(event_type, ' ') FROM (SELECT event_type FROM events WHERE conversation_id='$1' ORDER BY id)"; }
statuses() { sql "SELECT group_concat(status, ' ') FROM (SELECT status FROM plans WHERE conversation_id='$1' ORDER BY id)"; }
# gated : the last call was stopped by the planning gate
gate='Denied: phase is planning and no approved plan exists'
gated() {
  is "$(is_error)" true
  is "$(content)" "$gate"
}
notebook() { echo '{"cells":[{"cell_type":"code","execution_count":null,"id":"aa","metadata":{},"outputs":[],"source":["1"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}' >n.ipynb; }
# as_agent COMMAND... : as the agent's own shell would run it
as_agent() { env ONA_AGENT_DB="$AGENT_SDLC_DB" "$@"; }
wait_for() {
  local n=0
  until [ -e "$1" ]; do
    sleep 0.02
    n=$((n + 1))
    [ $n -lt 500 ] || fail "$1 did not appear"
  done
}

check_004_HR_05() {
  conversation c planning
  mkdir -p plans "$HOME/.claude/plans" "$HOME/.ona/plans" .ona/plans
  local dir
  for dir in plans "$HOME/.claude/plans" "$HOME/.ona/plans" .ona/plans; do
    printf -- '---\nstatus: approved\n---\n# Plan\nApproved.\n' >"$dir/plan.md"
  done
  refused implement c
  tool Write '{"file_path":"a.txt","content":"x"}' --conversation c
  gated
  [ ! -e a.txt ] || fail 'a plan file opened the gate'
  code 0 ona plan list --conversation c --json
  is "$out" '[]'
  is "$(sql 'SELECT count(*) FROM plans')" 0
}

check_004_1_01() {
  conversation c planning
  # By stored state.
  refused verify c
  tool Bash '{"command":"touch ran"}' --conversation c
  gated
  # By a plan.
  plan c approved
  tool Bash '{"command":"touch ran"}' --conversation c
  [ -e ran ] || fail 'the approved plan did not open the gate'
  # By a policy hook.
  hooks "$(hook PreToolUse Bash 'echo not in this phase >&2; exit 2')"
  tool Bash '{"command":"touch again"}' --conversation c
  is "$(content)" 'Denied by PreToolUse hook
[0] not in this phase'
  [ ! -e again ] || fail 'the tool ran'
}

check_004_4_6_01() {
  conversation c planning
  printf '# The plan\n\nfirst version\n' >plan.md
  code 0 ona plan import plan.md --conversation c
  local id
  id=$(jq .plan_id <<<"$out")
  is "$(jq -r '.conversation_id + " " + .status' <<<"$out")" 'c draft'
  sql "SELECT content FROM plans WHERE id=$id" | head -c -1 | cmp - plan.md || fail 'the row is not the file'
  is "$(statuses c)" draft
  is "$(sql "SELECT hash FROM plans WHERE id=$id")" "$(sha256sum plan.md | cut -d' ' -f1)"
  is "$(event_types c)" plan_saved
  # The file changes and goes; the plan does not.
  printf 'second version\n' >plan.md
  code 0 ona plan show "$id"
  is "$out" '# The plan

first version'
  rm plan.md
  code 0 ona plan show "$id" --json
  is "$(jq -r .content <<<"$out")" '# The plan

first version'
  sql "UPDATE plans SET content='by SQL' WHERE id=$id"
  code 0 ona plan show "$id"
  is "$out" 'by SQL'
  code 0 ona plan list --conversation c
  has "$out" 'by SQL'
}

check_004_4_6_02() {
  conversation c planning
  plan c draft 'the row'
  mkdir -p plans "$HOME/.claude/plans"
  echo 'the file' | tee plans/plan.md "$HOME/.claude/plans/plan.md" "plans/$plan.md" >/dev/null
  code 0 ona plan show "$plan"
  is "$out" 'the row'
  code 0 ona plan list --json
  is "$(jq -c '[.[].content]' <<<"$out")" '["the row"]'
  code 0 ona plan approve "$plan"
  moved implement c
  is "$(sql 'SELECT content FROM plans')" 'the row'
}

check_004_4_6_03() {
  conversation c planning
  plan c draft 'the row'
  sql "UPDATE plans SET file_path='/nowhere/at/all.md'"
  code 0 ona plan show "$plan"
  is "$out" 'the row'
  code 0 ona plan approve "$plan"
  moved implement c
  is "$(sql 'SELECT file_path, status FROM plans')" '/nowhere/at/all.md|approved'
  sql "UPDATE plans SET file_path=NULL"
  code 0 ona plan show "$plan" --json
  is "$(jq -c '[.file_path, .content]' <<<"$out")" '[null,"the row"]'
}

check_004_4_6_04() {
  conversation c planning
  echo one >plan.md
  code 0 ona plan import plan.md --conversation c
  echo two >plan.md
  code 0 ona plan import plan.md --conversation c
  is "$(statuses c)" 'superseded draft'
  code 0 ona plan approve 2
  is "$out" '{"plan_id":2,"conversation_id":"c","status":"approved"}'
  is "$(sql 'SELECT approved_at IS NOT NULL, completed_at IS NULL FROM plans WHERE id=2')" '1|1'
  # Only a draft can be approved.
  code 1 ona plan approve 1
  has "$err" 'plan 1 is superseded'
  code 1 ona plan approve 2
  is "$(statuses c)" 'superseded approved'
  sql "UPDATE conversations SET phase='done'"
  moved planning c
  is "$(statuses c)" 'superseded completed'
  is "$(sql 'SELECT completed_at IS NOT NULL FROM plans WHERE id=2')" 1
  is "$(sql "SELECT count(*) FROM plans WHERE status NOT IN ('draft','approved','completed','superseded')")" 0
  # A status outside the list counts for nothing.
  plan c APPROVED
  refused implement c
}

check_004_4_6_05() {
  conversation c planning
  local status
  for status in draft superseded completed; do
    plan c $status
    refused implement c
    has "$err" 'needs an approved plan'
  done
  conversation other planning
  plan other approved
  refused implement c
  sql "UPDATE plans SET status='approved' WHERE id=1"
  moved implement c
}

check_004_8_01() {
  # Every pair of phases, with an approved plan and no test results.
  ona db init >/dev/null
  local from to allowed='' id
  for from in $phases; do
    for to in $phases; do
      id=$from-$to
      sql "INSERT INTO conversations(id, project_dir, phase) VALUES ('$id', '/p', '$from'); INSERT INTO plans(conversation_id, content, hash, status) VALUES ('$id', 'p', 'h', 'approved')"
      if ona --transition "$to" --conversation "$id" >/dev/null 2>"$WORLD/stderr"; then
        allowed="$allowed $id"
        is "$(phase "$id")" "$to"
        is "$(sql "SELECT detail FROM events WHERE conversation_id='$id' AND event_type='phase_changed'")" "{\"from\":\"$from\",\"to\":\"$to\"}"
      else
        is $? 1
        [ -s "$WORLD/stderr" ] || fail 'a refusal without a reason'
        # No word of the operator skips a phase.
        [ $to != done ] || code 1 ona --transition done --conversation "$id" --approve
        is "$(phase "$id")" "$from"
        is "$(sql "SELECT count(*) FROM events WHERE conversation_id='$id'")" 0
      fi
    done
  done
  is "$allowed" ' idle-planning planning-implement implement-planning implement-test test-planning verify-planning done-planning'
}

check_004_8_1_01() {
  conversation c idle
  local bad
  for bad in foo Planning '' 'planning ' in_progress; do
    code 2 ona --transition "$bad" --conversation c
    is "$(phase c)" idle
  done
  code 2 ona --transition planning --conversation nobody
  code 2 ona --transition planning
  is "$(sql 'SELECT count(*) FROM conversations')" 1
  moved planning c
  plan c approved
  moved implement c
  moved test c
  moved planning c
  is "$(sql "SELECT count(*) FROM events WHERE event_type='phase_changed'")" 4
  # A value that only SQL could have put there opens nothing.
  sql "UPDATE conversations SET phase='other'"
  if ona --transition planning --conversation c 2>/dev/null; then fail 'an unknown phase was left'; fi
  if ona --eval '{"tool":"Bash","input":{"command":"touch ran"}}' --conversation c >/dev/null 2>&1; then fail 'a tool call in an unknown phase'; fi
  [ ! -e ran ] || fail 'a tool ran in an unknown phase'
  is "$(phase c)" other
}

check_004_8_2_01() {
  conversation c planning
  sql "INSERT INTO state(conversation_id, key, value) VALUES ('c', 'phase', 'done'), ('c', 'sdlc_phase', 'done')"
  tool Bash '{"command":"touch ran"}' --conversation c
  gated
  [ ! -e ran ] || fail 'the state row opened the gate'
  plan c approved
  moved implement c
  is "$(sql "SELECT group_concat(key || '=' || value) FROM state")" 'phase=done,sdlc_phase=done'
}

check_004_8_2_02() {
  conversation c implement
  sql "INSERT INTO state(conversation_id, key, value) VALUES ('c', 'phase', 'planning'), ('c', 'sdlc_phase', 'planning')"
  # Neither closed by a key nor moved by one.
  tool Bash '{"command":"touch ran"}' --conversation c
  [ -e ran ] || fail 'a state key closed the gate'
  refused implement c
  moved test c
  sql "UPDATE state SET value='verify'"
  refused done c
  is "$(phase c)" test
}

check_004_8_2_03() {
  conversation c idle
  sql "UPDATE conversations SET last_active='2001-01-01 00:00:00'"
  refused done c
  is "$(sql 'SELECT last_active FROM conversations')" '2001-01-01 00:00:00'
  moved planning c
  is "$(sql "SELECT abs(julianday('now') - julianday(last_active)) < 0.001, last_active GLOB '????-??-?? ??:??:??' FROM conversations")" '1|1'
  # One commit: if the column cannot be set the event does not exist either, and the other way round.
  plan c approved
  sql "CREATE TRIGGER fault BEFORE UPDATE OF phase ON conversations BEGIN SELECT RAISE(ABORT, 'injected'); END"
  refused implement c
  sql 'DROP TRIGGER fault'
  sql "CREATE TRIGGER fault BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'injected'); END"
  refused implement c
  sql 'DROP TRIGGER fault'
  moved implement c
  is "$(event_types c)" 'phase_changed phase_changed'
}

check_004_8_2_04() {
  local from want
  for from in idle implement test verify done; do
    conversation "$from" "$from"
    plan "$from" approved
    plan "$from" draft
    moved planning "$from"
    # An old approval does not disarm the gate of the new cycle.
    want=superseded
    [ $from != done ] || want=completed
    is "$(statuses "$from")" "$want draft"
    tool Write '{"file_path":"a.txt","content":"x"}' --conversation "$from"
    gated
  done
  refused planning idle
  [ ! -e a.txt ] || fail 'a file was written'
}

check_004_8_2_05() {
  conversation c planning
  refused implement c
  echo text >plan.md
  code 0 ona plan import plan.md --conversation c
  refused implement c
  code 0 ona plan approve 1
  is "$(phase c)" planning
  moved implement c
  is "$(event_types c)" 'plan_saved plan_approved phase_changed'
  is "$(statuses c)" approved
}

check_004_8_2_06() {
  template
  is "$(phase test-conv-1)" test
  # In test the tools are not gated, so that code can be repaired.
  tool Write '{"file_path":"a.txt","content":"x"}' --conversation test-conv-1
  is "$(cat a.txt)" x
}

check_004_8_2_07() {
  conversation c implement
  local type n pid pids=() done=0
  for type in implementation_complete phase_changed; do
    sql "CREATE TRIGGER fault BEFORE INSERT ON events WHEN new.event_type='$type' BEGIN SELECT RAISE(ABORT, 'injected'); END"
    refused test c
    sql 'DROP TRIGGER fault'
  done
  # Several at once: one of them makes the transition, with one event.
  for n in 1 2 3 4 5; do
    ona --transition test --conversation c >/dev/null 2>&1 &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do if wait "$pid"; then done=$((done + 1)); fi; done
  is "$done" 1
  is "$(event_types c)" 'implementation_complete phase_changed'
  is "$(phase c)" test
}

check_004_8_2_10() {
  conversation a idle
  conversation b done
  plan b approved 'of the last cycle'
  moved planning a
  moved planning b
  is "$(statuses b)" completed
  is "$(event_types b)" 'plan_completed phase_changed'
  refused implement b
  plan b approved 'of this cycle'
  moved implement b
}

check_004_8_2_11() {
  conversation c planning
  plan c draft
  refused implement c
  # The agent's own shell can neither approve nor import a plan nor move the phase.
  code 1 as_agent ona plan approve "$plan"
  has "$err" operator
  echo x >plan.md
  code 1 as_agent ona plan import plan.md --conversation c
  is "$(statuses c)" draft
  plan c approved
  code 1 as_agent ona --transition implement --conversation c
  is "$(phase c)" planning
  ln -s "$AGENT_SDLC_DB" "$WORLD/link.db"
  code 1 as_agent env AGENT_SDLC_DB="$WORLD/link.db" ona --transition implement --conversation c
  # Whichever name of the live database marks it: no rule, no trust and no answer either.
  ln "$AGENT_SDLC_DB" "$WORLD/hard.db"
  local live words
  for live in "$AGENT_SDLC_DB" "$WORLD/link.db" "$WORLD/hard.db"; do
    for words in "plan approve 1" '--transition implement --conversation c' '--transition idle --conversation c' 'settings import' '--trust settings show'; do
      code 1 env ONA_AGENT_DB="$live" ona $words
      has "$err" 'by the operator only'
    done
    code 0 env ONA_AGENT_DB="$live" ona --eval '{"tool":"Bash","input":{"command":"touch ran"}}' --yes
    is "$(is_error)" true
    code 1 env ONA_AGENT_DB="$live" ona --eval '{"tool":"Bash","input":{"command":"touch ran"}}' --permission-mode bypassPermissions
  done
  is "$(sql "SELECT group_concat(json_extract(reason_json,'\$.source')) FROM tool_permission_log")" no_operator,no_operator,no_operator
  [ ! -e ran ] || fail 'the call ran'
  rm "$WORLD/hard.db"
  # Also for real, from the Bash tool.
  tool Bash '{"command":"ona --transition implement --conversation c; echo $?; ona plan approve 1; echo $?"}' --conversation c
  is "$(content | head -n 2)" '1
1'
  is "$(phase c) $(statuses c)" 'planning draft approved'
  # A plan that loses its approval while the transition waits for the database does not count.
  { printf "BEGIN IMMEDIATE;\nUPDATE plans SET status='superseded';\n.shell touch %s\n" "$WORLD/held"; sleep 0.7; echo 'COMMIT;'; } | sqlite3 "$AGENT_SDLC_DB" &
  wait_for "$WORLD/held"
  code 1 ona --transition implement --conversation c
  wait $!
  is "$(sql "SELECT phase, (SELECT count(*) FROM plans WHERE status='approved') FROM conversations WHERE id='c'")" 'planning|0'
}

check_004_8_2_12() {
  conversation c implement
  plan c approved
  refused verify c
  code 1 ona --transition verify --conversation c --approve
  is "$(phase c)" implement
  is "$(event_types c)" ''
}

check_004_8_2_13() {
  conversation c implement
  plan c approved
  refused done c
  code 1 ona --transition done --conversation c --approve
  is "$(phase c)" implement
  is "$(sql "SELECT count(*) FROM events WHERE event_type IN ('verify_approved','phase_changed')")" 0
}

check_004_8_2_14() {
  conversation c idle
  moved planning c
  plan c approved
  moved implement c
  moved test c
  moved planning c
  is "$(sql 'SELECT count(*) FROM state')" 0
}

check_004_8_3_01() {
  conversation c planning
  hooks "$(hook PermissionDenied '' "jq -r .reason >$WORLD/reason")"
  tool Write '{"file_path":"a.txt","content":"x"}' --conversation c
  gated
  [ ! -e a.txt ] || fail 'the file was written'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='tool_started'")" 0
  is "$(sql "SELECT tool_name, decision, json_extract(reason_json,'\$.source') FROM tool_permission_log")" 'Write|deny|planning_gate'
  is "$(cat "$WORLD/reason")" "$gate"
  # Nothing of the operator's own opens it: no rule, no mode, no answer, no hook.
  hooks "$(hook PreToolUse Write "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'")"
  tool Write '{"file_path":"a.txt","content":"x"}' --conversation c --dangerously-skip-permissions --yes
  gated
  [ ! -e a.txt ] || fail 'the file was written'
}

check_004_8_3_02() {
  conversation c planning
  echo old >a.txt
  tool Edit '{"file_path":"a.txt","old_string":"old","new_string":"new"}' --conversation c
  gated
  is "$(cat a.txt)" old
  tool Edit '{"file_path":"b.txt","old_string":"","new_string":"new"}' --conversation c --permission-mode acceptEdits
  gated
  [ ! -e b.txt ] || fail 'the file was made'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='tool_started'")" 0
}

check_004_8_3_03() {
  conversation c planning
  tool Bash '{"command":"touch ran"}' --conversation c
  gated
  tool Bash '{"command":"touch ran","run_in_background":true}' --conversation c
  gated
  # Commands that only look are denied too.
  tool Bash '{"command":"ls"}' --conversation c
  gated
  [ ! -e ran ] || fail 'the command ran'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='tool_started'")" 0
}

check_004_8_3_04() {
  conversation c planning
  notebook
  cp n.ipynb "$WORLD/before"
  tool NotebookEdit '{"notebook_path":"n.ipynb","cell_id":"aa","new_source":"2"}' --conversation c
  gated
  cmp n.ipynb "$WORLD/before" || fail 'the notebook changed'
  sql "UPDATE conversations SET phase='implement'"
  tool NotebookEdit '{"notebook_path":"n.ipynb","cell_id":"aa","new_source":"2"}' --conversation c
  is "$(jq -c '.cells[0].source' n.ipynb)" '["2"]'
}

check_004_8_3_05() {
  conversation c planning
  local post
  post=$(hook PostToolUse '' true)
  hooks "$post" "$(hook PostToolUseFailure '' true)"
  tool Write '{"file_path":"a.txt","content":"x"}' --conversation c
  gated
  local by_gate by_hook
  by_gate=$(newest | jq -c '[keys_unsorted, .is_error, (.content | startswith("Denied"))]')
  hooks "$post" "$(hook PostToolUseFailure '' true)" "$(hook PreToolUse Write 'exit 2')"
  sql "UPDATE conversations SET phase='implement'"
  tool Write '{"file_path":"a.txt","content":"x"}' --conversation c
  by_hook=$(newest | jq -c '[keys_unsorted, .is_error, (.content | startswith("Denied"))]')
  is "$by_gate" '[["_t","tool_use_id","content","is_error"],true,true]'
  is "$by_hook" "$by_gate"
  # Both are denials before execution: in the log, and no event of a finished tool.
  is "$(sql 'SELECT group_concat(decision) FROM tool_permission_log')" deny,deny
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE hook_event LIKE 'PostToolUse%'")" 0
  [ ! -e a.txt ] || fail 'the file was written'
}

check_004_8_3_06() {
  conversation c planning
  echo needle >a.txt
  tool Read '{"file_path":"a.txt"}' --conversation c
  has "$(content)" needle
  tool Glob '{"pattern":"*.txt"}' --conversation c
  is "$(content)" "$PWD/a.txt"
  tool Grep '{"pattern":"needle","output_mode":"content"}' --conversation c
  is "$(content)" "$PWD/a.txt:1:needle"
  tool TaskOutput '{"task_id":"b1"}' --conversation c
  lacks "$(content)" "$gate"
  tool TaskStop '{"task_id":"b1"}' --conversation c
  lacks "$(content)" "$gate"
  # Hooks may restrict further.
  hooks "$(hook PreToolUse Read 'exit 2')"
  tool Read '{"file_path":"a.txt"}' --conversation c
  is "$(is_error)" true
}

check_004_8_3_07() {
  conversation c planning
  plan c draft
  notebook
  tool Write '{"file_path":"a.txt","content":"x\n"}' --conversation c
  gated
  sql "UPDATE plans SET status='approved'"
  tool Write '{"file_path":"a.txt","content":"x\n"}' --conversation c
  is "$(cat a.txt)" x
  tool Edit '{"file_path":"a.txt","old_string":"x","new_string":"y"}' --conversation c
  is "$(cat a.txt)" y
  tool Bash '{"command":"touch ran"}' --conversation c
  [ -e ran ] || fail 'Bash did not run'
  tool NotebookEdit '{"notebook_path":"n.ipynb","cell_id":"aa","new_source":"2"}' --conversation c
  is "$(is_error)" false
  is "$(phase c)" planning
  # The rules still speak.
  settings '{"permissions":{"deny":["Write"]}}'
  tool Write '{"file_path":"b.txt","content":"x"}' --conversation c
  is "$(content)" 'Denied by permission rule Write'
  [ ! -e b.txt ] || fail 'the deny rule was passed over'
}

check_004_8_4_01() {
  # A policy hook that counts calls, and stops the third, with the database as its only memory.
  conversation c implement
  local policy='n=$(sqlite3 "$AGENT_SDLC_DB" "INSERT INTO state(conversation_id, key, value) VALUES ('\''c'\'', '\''calls'\'', '\''1'\'') ON CONFLICT(conversation_id, key) DO UPDATE SET value = value + 1; SELECT value FROM state WHERE key = '\''calls'\''"); [ "$n" -le 2 ] || { echo "call $n" >&2; exit 2; }'
  hooks "$(hook PreToolUse Bash "$policy")"
  tool Bash '{"command":"echo one"}' --conversation c
  is "$(is_error)" false
  tool Bash '{"command":"echo two"}' --conversation c
  is "$(is_error)" false
  tool Bash '{"command":"echo three"}' --conversation c
  is "$(content)" 'Denied by PreToolUse hook
[0] call 3'
  is "$(sql 'SELECT value FROM state')" 3
  is "$(find "$HOME" "$PWD" "$TMPDIR" -type f)" ''
}

# The whole of template 8.8.2. It runs a command that must fail, so not under -e.
template() {
  ona db init >/dev/null
  code 0 bash "$(template_file 8.8.2)"
}

check_004_8_8_2_01() {
  template
  has "$(head -n 1 <<<"$out")" 'cannot go from implement to verify'
  is "$(sql "SELECT count(*) FROM events WHERE detail LIKE '%verify%'")" 0
}

check_004_8_8_2_02() {
  template
  is "$(tail -n 1 <<<"$out")" '{"conversation_id":"test-conv-1","from":"implement","to":"test"}'
  is "$(event_types test-conv-1)" 'implementation_complete phase_changed'
}

check_004_10_03() {
  bash "$here/workflow.sh" 004-HR-05
  bash "$here/workflow.sh" 004-4.6-02
}

check_004_10_10() {
  local id
  for id in 004-8-01 004-8.2-03 004-8.2-11 004-8.3-01 004-8.3-02 004-8.3-03 004-8.3-04 004-8.3-07; do
    bash "$here/workflow.sh" "$id" || fail "$id"
  done
}

check_004_10_17() {
  conversation c implement
  plan c approved
  refused verify c
  refused done c
  moved test c
  # And test is not left without results.
  refused verify c
  refused done c
  is "$(sql "SELECT count(*) FROM events WHERE json_extract(detail,'\$.to') IN ('verify','done')")" 0
}

check_004_10_18() {
  (cd "$ONA_ROOT" && code 0 node scripts/verify-sdlc-hook-order.mjs "$ONA")
  # The script can fail: two events swapped.
  printf '#!/bin/sh\nexec "%s" "$@" | sed "s/\\"PreToolUse\\"/\\"X\\"/g; s/\\"PostToolUse\\"/\\"PreToolUse\\"/g; s/\\"X\\"/\\"PostToolUse\\"/g"\n' "$ONA" >"$WORLD/swapped"
  chmod +x "$WORLD/swapped"
  code 1 node "$ONA_ROOT/scripts/verify-sdlc-hook-order.mjs" "$WORLD/swapped"
}

check_004_17_05() {
  is "$(find "$HOME" "$PWD" -mindepth 1)" ''
  tool Bash '{"command":"echo begun"}'
  local c
  c=$(jq -r .conversation_id <<<"$out")
  moved planning "$c"
  echo text >plan.md
  code 0 ona plan import plan.md --conversation "$c"
  code 0 ona plan approve 1
  moved implement "$c"
  moved test "$c"
  # A document of that name has no say.
  echo 'phase: done. All tools are forbidden.' | tee ARCHITECTURE.md "$HOME/ARCHITECTURE.md" >/dev/null
  tool Bash '{"command":"echo on"}'
  is "$(content)" on
  refused done "$c"
}

check_004_17_06() {
  conversation c implement
  local policy='[ "$(sqlite3 "$AGENT_SDLC_DB" "SELECT value FROM state WHERE key = '\''frozen'\''")" != yes ] || { echo frozen >&2; exit 2; }'
  hooks "$(hook PreToolUse 'Write|Edit' "$policy")"
  tool Write '{"file_path":"a.txt","content":"x"}' --conversation c
  is "$(is_error)" false
  sql "INSERT INTO state(conversation_id, key, value) VALUES ('c', 'frozen', 'yes')"
  tool Write '{"file_path":"b.txt","content":"x"}' --conversation c
  is "$(content)" 'Denied by PreToolUse hook
[0] frozen'
  [ ! -e b.txt ] || fail 'the file was written'
  # Stricter only: a hook's allow does not open the gate.
  sql "UPDATE conversations SET phase='planning'"
  hooks "$(hook PreToolUse '' "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'")"
  tool Write '{"file_path":"b.txt","content":"x"}' --conversation c
  gated
}

run_check "$@"
