#!/usr/bin/env bash
# Behavioural tests: cases trace success criteria, are run by the product in a world of
# their own, open the gate to verify together or not at all, and end in a report the
# operator approves (sections 8.5 to 8.7).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# tested : a conversation c in phase test whose approved plan promises SC-1 and AC-7, and a program ./greet
tested() {
  settings '{"sdlc":{"publicApi":{"entryPoints":["./greet","greet"]}}}'
  conversation c planning
  printf '# Greeter\n\n## Success criteria\n\n- greet prints hello\n- **AC-7** greet exits 0\n' >plan.md
  ona plan import plan.md --conversation c >/dev/null
  ona plan approve 1 >/dev/null
  ona --transition implement --conversation c >/dev/null
  printf '#!/bin/sh\necho hello\n' >greet
  chmod +x greet
  ona --transition test --conversation c >/dev/null
}
# greets / ends_well : add a compliant case for each criterion; its id is in $t1 / $t2
greets() {
  printf '# traces: SC-1\n# title: it greets\nout=$(./greet)\ntest "$out" = hello || exit 1\n' >t1.sh
  code 0 ona test add t1.sh --conversation c
  t1=$(jq -r .test_case_id <<<"$out")
}
ends_well() {
  printf '# traces: AC-7\n# title: it ends well\nout=$(./greet)\nstatus=$?\ntest "$status:$out" = 0:hello || exit 1\n' >t2.sh
  code 0 ona test add t2.sh --conversation c
  t2=$(jq -r .test_case_id <<<"$out")
}
# by_sql ID CRITERION SCRIPT : a case that only the runner is asked about
by_sql() { sql "INSERT OR REPLACE INTO sdlc_test_cases(id, conversation_id, plan_id, criterion_id, title, script, script_sha256) VALUES ('$1', 'c', 1, $2, 'by SQL', '${3//\'/\'\'}', '')"; }
run_tests() { code "$1" ona test run --conversation c; }
events() { sql "SELECT count(*) FROM events WHERE conversation_id='c' AND event_type='$1'"; }
# blocked WORDS : verify is refused with these words and nothing is written
blocked() {
  local before
  before=$(sql "SELECT phase, last_active, (SELECT count(*) FROM events WHERE conversation_id='c') FROM conversations WHERE id='c'")
  code 1 ona --transition verify --conversation c
  is "$out" ''
  has "$err" "$1"
  is "$(sql "SELECT phase, last_active, (SELECT count(*) FROM events WHERE conversation_id='c') FROM conversations WHERE id='c'")" "$before"
}
verified() {
  tested
  greets
  ends_well
  run_tests 0
  code 0 ona --transition verify --conversation c
}

check_004_8_2_08() {
  tested
  blocked 'no test for SC-1, AC-7'
  greets
  blocked "no test for AC-7; $t1 was not run"
  ends_well
  blocked "$t1 was not run (SC-1), $t2 was not run (AC-7)"
  run_tests 0
  code 0 ona --transition verify --conversation c
  is "$out" '{"conversation_id":"c","from":"test","to":"verify"}'
  is "$(phase c)" verify
}

check_004_8_2_09() {
  verified
  code 1 ona --transition done --conversation c
  is "$(phase c)" verify
  has "$err" 'approval'
  is "$(events verify_approved)" 0
  code 1 env ONA_AGENT_DB="$AGENT_SDLC_DB" ona --transition done --conversation c --approve
  is "$(phase c)" verify
  code 0 ona --transition done --conversation c --approve
  is "$(phase c)" done
  is "$(sql 'SELECT status, completed_at IS NOT NULL FROM plans')" 'completed|1'
  is "$(events verify_approved)|$(events plan_completed)" '1|1'
}

check_004_8_5_3_01() {
  # The program that runs is the project's own, found where the operator finds it.
  tested
  greets
  ends_well
  run_tests 0
  printf '#!/bin/sh\necho goodbye\n' >greet
  run_tests 1
  has "$err" '0 passed, 2 failed'
  # And `ona` in a case is the program on the search path, on a database of the case.
  by_sql real NULL 'command -v ona; ona db path'
  code 0 ona test run real --conversation c --json
  is "$(jq -r '.cases[0].stdout' <<<"$out" | head -1)" "$WORLD/bin/ona"
  lacks "$(jq -r '.cases[0].stdout' <<<"$out")" "$AGENT_SDLC_DB"
}

check_004_8_6_1_01() {
  tested
  greets
  is "$(sql 'SELECT t.criterion_id, c.text FROM sdlc_test_cases t JOIN sdlc_criteria c USING (plan_id, criterion_id)')" 'SC-1|greet prints hello'
  # A criterion that does not exist, or two of them, cannot be traced.
  sed -i 's/SC-1/SC-9/' t1.sh
  code 2 ona test add t1.sh --conversation c
  has "$err" 'SC-1, AC-7'
  sed -i 's/SC-9/SC-1 AC-7/' t1.sh
  code 1 ona test add t1.sh --conversation c
  has "$err" L01
  is "$(sql 'SELECT count(*) FROM sdlc_test_cases')" 1
}

check_004_8_6_1_02() {
  tested
  greets
  ends_well
  is "$(sql 'SELECT criterion_id, id FROM sdlc_test_cases ORDER BY rowid')" "SC-1|$t1
AC-7|$t2"
  rm t1.sh t2.sh
  run_tests 0
  is "$(sql 'SELECT c.criterion_id, r.exit_code FROM sdlc_test_runs r JOIN sdlc_test_cases c ON c.id = r.test_case_id ORDER BY r.id')" 'SC-1|0
AC-7|0'
  is "$(sql "SELECT group_concat(json_extract(detail, '$.criterion_id')) FROM events WHERE event_type='test_run'")" 'SC-1,AC-7'
}

check_004_8_6_1_03() {
  tested
  greets
  by_sql helper NULL 'exit 0'
  run_tests 0
  blocked 'no test for AC-7'
  ends_well
  by_sql helper NULL 'exit 1'
  run_tests 1
  code 0 ona --transition verify --conversation c
}

check_004_8_6_2_01() {
  tested
  greets
  run_tests 0
  blocked 'success criterion: no test for AC-7'
  # A rejected and a retired case are none.
  by_sql other "'AC-7'" 'exit 0'
  sql "UPDATE sdlc_test_cases SET status='rejected' WHERE id='other'"
  blocked 'no test for AC-7'
  sql "UPDATE sdlc_test_cases SET status='retired' WHERE id='other'"
  blocked 'no test for AC-7'
  # No criterion at all is not all of them.
  sql 'DELETE FROM sdlc_criteria'
  sql "UPDATE plans SET content='words'"
  blocked 'no success criteria'
  sql "UPDATE plans SET status='draft'"
  blocked 'no approved plan'
}

check_004_8_6_2_02() {
  tested
  greets
  ends_well
  printf '#!/bin/sh\necho hello\nexit 3\n' >greet
  run_tests 1
  blocked "$t2 failed with exit code 1"
  printf '#!/bin/sh\necho hello\n' >greet
  blocked "$t1 was run before the project's files changed"
  run_tests 0
  # A call that can change nothing makes no result stale; one that can makes all of them so.
  tool Read '{"file_path":"plan.md"}' --conversation c
  tool Bash '{"command":"true"}' --conversation c
  blocked "$t1 was run before the last Bash call (SC-1), $t2 was run before the last Bash call"
  code 0 ona test run "$t1" --conversation c
  blocked "success criterion: $t2 was run before the last Bash call"
  run_tests 0
  sql "UPDATE sdlc_test_cases SET script=script || 'exit 0' WHERE id='$t1'"
  blocked "$t1 was run with another script"
  run_tests 0
  # A new case that was not run blocks as well.
  by_sql late "'SC-1'" 'exit 0'
  blocked 'late was not run'
  code 0 ona test run late --conversation c
  code 0 ona --transition verify --conversation c
}

check_004_8_6_2_03() {
  tested
  by_sql t1 "'SC-1'" 'echo kept out; echo kept err >&2; exit 0'
  by_sql t2 "'AC-7'" 'exit 0'
  run_tests 0
  is "$(sql "SELECT exit_code, stdout_text, stderr_text, timed_out, completed_at IS NOT NULL, length(script_sha256), length(project_sha256) FROM sdlc_test_runs WHERE test_case_id='t1'" | tr -d '\n')" '0|kept out|kept err|0|1|64|64'
  # Each case is a Bash call in the session that is the run, allowed because the operator typed it.
  is "$(sql "SELECT entry_type || ' ' || ifnull(json_extract(payload_json, '$.input.command'), '') FROM transcript_entries t JOIN (SELECT DISTINCT run_id FROM sdlc_test_runs) r ON r.run_id = t.session_id ORDER BY sequence")" \
    'tool_use echo kept out; echo kept err >&2; exit 0
tool_result 
tool_use exit 0
tool_result '
  is "$(sql "SELECT group_concat(json_extract(detail, '$.test_case_id')) FROM events WHERE event_type='test_run'")" t1,t2
  is "$(sql 'SELECT DISTINCT decision FROM tool_permission_log')" allow
  sql 'DELETE FROM sdlc_test_runs'
  # A row that does not say what it was got with counts for nothing.
  sql "INSERT INTO sdlc_test_runs(test_case_id, run_id, exit_code, completed_at) VALUES ('t1', 'x', 0, datetime('now'))"
  blocked 't1 was run with another script (SC-1), t2 was not run (AC-7)'
  sql 'DELETE FROM sdlc_test_runs'
  blocked 't1 was not run (SC-1), t2 was not run (AC-7)'
  run_tests 0
  code 0 ona --transition verify --conversation c
}

check_004_8_6_2_04() {
  check_004_8_6_2_01
  is "$(phase c)" test
}

check_004_8_7_01() {
  verified
  is "$(sql 'SELECT count(*) FROM sdlc_test_runs')" 2
  is "$(sql "SELECT count(*) FROM events WHERE event_type='test_run'")" 2
  code 0 ona test report --conversation c
  is "$(sql 'SELECT count(*) FROM sdlc_test_runs')" 2
}

check_004_8_7_02() {
  tested
  greets
  by_sql bad "'SC-1'" 'exit 4'
  run_tests 1
  code 0 ona test report --conversation c --json
  is "$(jq -c '[.criteria[] | [.id, .text, .cases, .covered]]' <<<"$out")" "[[\"SC-1\",\"greet prints hello\",[\"$t1\",\"bad\"],true],[\"AC-7\",\"greet exits 0\",[],false]]"
  is "$(jq -c '[.cases[] | [.criterion_id, .status]]' <<<"$out")" '[["SC-1","passed"],["SC-1","failed"]]'
  code 0 ona test report --conversation c
  has "$out" 'greet prints hello'
  has "$out" 'it greets'
  has "$out" 'it has no test'
}

check_004_8_7_03() {
  tested
  by_sql t1 "'SC-1'" 'echo "canary one"; echo "canary <two>" >&2; exit 1'
  run_tests 1
  code 0 ona test report --conversation c
  has "$out" 'canary one'
  has "$out" 'canary <two>'
  code 0 ona test report --conversation c --json
  is "$(jq -c '.cases[0] | [.stdout, .stderr, .status]' <<<"$out")" '["canary one\n","canary <two>\n","failed"]'
  code 0 ona test report --conversation c --html "$WORLD/report.html"
  grep -q 'canary &lt;two&gt;' "$WORLD/report.html" || fail 'the page lacks the output'
  if grep -Eq 'https?:|src=|<script|@import' "$WORLD/report.html"; then fail 'the page needs something from outside'; fi
}

check_004_8_7_04() {
  tested
  code 0 ona test report --conversation c
  has "$out" 'Uncovered: 2
  SC-1  greet prints hello
  AC-7  greet exits 0'
  greets
  ends_well
  run_tests 0
  code 0 ona test report --conversation c
  has "$out" 'Uncovered: 0'
  code 0 ona test report --conversation c --json
  is "$(jq -c .uncovered <<<"$out")" '[]'
}

check_004_8_7_05() {
  tested
  greets
  by_sql bad "'SC-1'" 'exit 4'
  by_sql helper NULL 'exit 0'
  run_tests 1
  code 0 ona test report --conversation c --json
  is "$(jq -c .totals <<<"$out")" '{"traced":2,"passed":1,"failed":1,"stale":0,"not_run":0,"pass_rate":0.5}'
  code 0 ona test report --conversation c
  has "$out" '2 traced tests: 1 passed, 1 failed, 0 stale, 0 not run; pass rate 50.0 %'
}

check_004_8_7_06() {
  verified
  code 0 ona test report --conversation c --json
  local sha256
  sha256=$(printf %s "$out" | sha256sum | cut -d' ' -f1)
  code 1 ona --transition done --conversation c
  has "$err" 'Uncovered: 0'
  code 0 ona --transition done --conversation c --approve
  has "$err" 'Uncovered: 0'
  is "$(sql "SELECT json_extract(detail, '$.report_sha256') FROM events WHERE event_type='verify_approved'")" "$sha256"
  # The report outlives its approval.
  code 0 ona test report --conversation c --json
  is "$(jq -c .totals.passed <<<"$out")" 2
}

check_004_8_7_07() {
  # Nothing of a test's text is needed, nor shown.
  tested
  by_sql t1 "'SC-1'" '# secret-remark
./greet'
  by_sql t2 "'AC-7'" './greet >/dev/null'
  run_tests 0
  code 0 ona test report --conversation c
  lacks "$out" secret-remark
  for words in 'SC-1' 'AC-7' 'hello' 'Uncovered: 0' 'pass rate 100.0 %'; do has "$out" "$words"; done
}

# DEC-122: a world of its own for every case.
check_DEC_122() {
  tested
  export ANTHROPIC_API_KEY=canary-credential-0123456789 OTHER_TOKEN=canary-token KEPT=kept BASH_ENV=$WORLD/home/init.sh
  echo 'echo sourced; echo sourced >&2' >"$BASH_ENV"
  by_sql env NULL 'env; echo "script ${0##*/}"; pwd; sqlite3 "$AGENT_SDLC_DB" "SELECT count(*) FROM conversations"; ls -A "$HOME" | wc -l'
  code 0 ona test run env --conversation c --json
  local text
  text=$(jq -r '.cases[0].stdout' <<<"$out")
  lacks "$text" canary
  has "$text" "ONA_AGENT_DB=$AGENT_SDLC_DB"
  lacks "$text" "
AGENT_SDLC_DB=$AGENT_SDLC_DB
"
  has "$text" "
script test.sh
$PWD
0
0"
  has "$text" 'KEPT=kept'
  lacks "$text" sourced
  is "$(jq -r '.cases[0].stderr' <<<"$out")" ''
  is "$(ls -A "$TMPDIR")" ''
  # The templates, which overwrite settings, never see the live database.
  local before
  before=$(sql 'SELECT json FROM settings_snapshot; SELECT count(*) FROM conversations')
  for t in 8.8.1 8.8.2 8.8.3; do by_sql "$t" "'SC-1'" "$(cat "$(template_file "$t")")"; done
  code 0 ona test run 8.8.1 8.8.2 8.8.3 --conversation c --json
  is "$(jq -c .totals <<<"$out")" '{"run":3,"passed":3,"failed":0}'
  # Their hooks ran on their own databases.
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 0
  is "$(sql 'SELECT json FROM settings_snapshot; SELECT count(*) FROM conversations')" "$before"
  # Every run is a Bash call under rules and hooks, in a session of its own.
  hooks "$(hook PreToolUse Bash 'exit 2')"
  code 1 ona test run env --conversation c
  is "$(sql 'SELECT exit_code IS NULL, completed_at IS NULL FROM sdlc_test_runs ORDER BY id DESC LIMIT 1')" '1|1'
  is "$(sql "SELECT count(*) FROM hook_invocations h JOIN sdlc_test_runs r ON r.run_id = h.session_id WHERE h.tool_name='Bash' AND h.exit_code=2")" 1
  code 1 env ONA_AGENT_DB="$AGENT_SDLC_DB" ona test run --conversation c
  has "$err" 'by the operator only'
}

# F.2 (7): implement -> verify is rejected even with every test passing, and entering test runs them.
check_F_2_7() {
  tested
  greets
  ends_well
  run_tests 0
  sql "UPDATE conversations SET phase='implement'"
  code 1 ona --transition verify --conversation c
  has "$err" 'cannot go from implement to verify'
  code 1 ona --transition done --conversation c
  has "$err" 'cannot go from implement to done'
  is "$(phase c)" implement
  by_sql "$t2" "'AC-7'" 'exit 1'
  code 0 ona --transition test --conversation c
  is "$out" '{"conversation_id":"c","from":"implement","to":"test"}'
  has "$err" '1 passed, 1 failed'
  is "$(sql 'SELECT count(*) FROM sdlc_test_runs')" 4
}

run_check "$@"
