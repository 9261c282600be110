#!/usr/bin/env bash
# Store: one SQLite file holds everything, with the schema, pragmas and commit groups
# of section 4; settings reach it once; memories and their index move together.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# columns TABLE : one line per column: name, type, NOT NULL, default, place in the primary key
columns() {
  sql "SELECT name || ' ' || type || ' ' || \"notnull\" || ' ' || coalesce(dflt_value, '-') || ' ' || pk FROM pragma_table_info('$1') ORDER BY cid"
}
# foreign_keys TABLE : column, table and column it refers to
foreign_keys() { sql "SELECT \"from\" || ' ' || \"table\" || ' ' || coalesce(\"to\", '-') FROM pragma_foreign_key_list('$1') ORDER BY 1"; }
# shape TABLE EXPECTED : exactly these columns
shape() {
  ona db init >/dev/null
  is "$(columns "$1")" "$2"
}
autoincrement() { has "$(sql "SELECT sql FROM sqlite_master WHERE name='$1'")" 'INTEGER PRIMARY KEY AUTOINCREMENT'; }
# index NAME : its columns in order
index_columns() { sql "SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info('$1') ORDER BY seqno)"; }
# wait_for FILE
wait_for() {
  local n=0
  until [ -e "$1" ]; do
    sleep 0.02
    n=$((n + 1))
    [ $n -lt 500 ] || fail "$1 did not appear"
  done
}
# wait_for_lock : until some process holds the write lock
wait_for_lock() {
  local n=0
  while sqlite3 -cmd '.timeout 0' "$AGENT_SDLC_DB" 'BEGIN IMMEDIATE; ROLLBACK' 2>/dev/null; do
    sleep 0.02
    n=$((n + 1))
    [ $n -lt 500 ] || fail 'nobody took the write lock'
  done
}
# lock SECONDS : another process holds the write lock; returns once it is held
lock() {
  { echo 'BEGIN IMMEDIATE;'; sleep "$1"; echo 'COMMIT;'; } | sqlite3 "$AGENT_SDLC_DB" &
  wait_for_lock
}
milliseconds() { date +%s%3N; }
# calls JSON... : several calls in one process, through stdin
calls() { printf '%s\n' "$@" >"$WORLD/calls"; code 0 sh -c 'exec ona --eval - <"$1"' sh "$WORLD/calls"; }
bash_call() { jq -cn --arg c "$1" '{tool:"Bash",input:{command:$c}}'; }
# mirrored : the full-text table holds exactly the memories
mirrored() {
  local four='title, content, keywords, anticipated_queries'
  is "$(sql "SELECT (SELECT count(*) FROM memories) = (SELECT count(*) FROM memories_fts),
    (SELECT count(*) FROM (SELECT $four FROM memories EXCEPT SELECT $four FROM memories_fts)),
    (SELECT count(*) FROM (SELECT $four FROM memories_fts EXCEPT SELECT $four FROM memories))")" '1|0|0'
}
# files : every file below home, project and TMPDIR with size and time, and the directories
files() {
  find "$HOME" "$WORLD/project" "$TMPDIR" -type d
  find "$HOME" "$WORLD/project" "$TMPDIR" ! -type d -printf '%p %y %s %T@\n'
}

check_004_HR_03() {
  conversation c implement
  hooks "$(hook PreToolUse '' true)" "$(hook PostToolUse '' true)"
  echo one >a.txt
  files >"$WORLD/before"
  tool Read '{"file_path":"a.txt"}'
  tool Bash '{"command":"cat a.txt"}'
  is "$(content)" one
  tool Grep '{"pattern":"one"}'
  fire SessionStart '{"source":"startup"}'
  code 0 ona --transition test --conversation c
  code 0 ona memory add title content
  code 0 ona doctor
  files >"$WORLD/after"
  cmp "$WORLD/before" "$WORLD/after" || fail 'a file outside the database changed'
  is "$(ls -A "$WORLD/state" | grep -vE '^ona\.db(-wal|-shm|\.locks)?$' || true)" ''
  is "$(sql 'SELECT count(*) FROM transcript_entries WHERE entry_type = "tool_result"')" 3
  is "$(phase c)" test
}

check_004_1_02() {
  hooks "$(hook PreToolUse Bash true)"
  tool Bash '{"command":"echo audited"}'
  local id session
  id=$(jq -r .tool_use_id <<<"$out") session=$(jq -r .session_id <<<"$out")
  is "$(sql "SELECT hook_event, exit_code FROM hook_invocations WHERE tool_use_id='$id' AND session_id='$session'")" 'PreToolUse|0'
  is "$(sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE tool_use_id='$id' AND session_id='$session' ORDER BY sequence)")" 'tool_use,tool_result'
  is "$(sql "SELECT json_extract(detail,'\$.tool_name') FROM events WHERE session_id='$session' AND event_type='tool_started' AND json_extract(detail,'\$.tool_use_id')='$id'")" Bash
}

check_004_4_1_01() {
  local bad
  for bad in '' relative/ona.db; do
    code 2 env AGENT_SDLC_DB="$bad" ona --eval '{"tool":"Glob","input":{"pattern":"*"}}'
    has "$err" AGENT_SDLC_DB
    has "$err" 'export AGENT_SDLC_DB='
    is "$out" ''
  done
  is "$(find "$WORLD/project" "$HOME" -mindepth 1)" ''
  tool Glob '{"pattern":"*"}'
  [ -f "$WORLD/state/ona.db" ] || fail 'no file at the absolute path'
  code 0 ona db path
  is "$out" "$WORLD/state/ona.db"
}

check_004_4_1_02() {
  ona db init >/dev/null
  code 0 ona doctor --json
  is "$(jq -c '.database.pragmas | [.writer.foreign_keys, .reader.foreign_keys]' <<<"$out")" '[true,true]'
  tool Bash '{"command":"true"}'
  is "$(sql 'PRAGMA foreign_key_check')" ''
  # A statement in the product's own transaction that would orphan its sessions must be refused.
  sql "CREATE TRIGGER orphan AFTER INSERT ON events WHEN new.event_type = 'tool_started' BEGIN DELETE FROM conversations; END"
  if ona --eval '{"tool":"Bash","input":{"command":"touch ran"}}' 2>"$WORLD/stderr"; then fail 'the orphaning statement was committed'; fi
  has "$(cat "$WORLD/stderr")" 'refers to a conversation or session that does not exist'
  is "$(sql 'SELECT count(*) FROM conversations')" 1
  [ ! -e ran ] || fail 'the tool ran without its announcement'
}

check_004_4_1_03() {
  ona db init >/dev/null
  is "$(sql 'PRAGMA journal_mode')" wal
  # File format bytes 18 and 19: 2 is WAL.
  is "$(od -An -tu1 -j18 -N2 "$AGENT_SDLC_DB" | tr -s ' ')" ' 2 2'
  sqlite3 "$WORLD/other.db" 'PRAGMA journal_mode=DELETE; CREATE TABLE mine(x)' >/dev/null
  code 0 ona --db "$WORLD/other.db" db init
  is "$(sqlite3 "$WORLD/other.db" 'PRAGMA journal_mode')" wal
}

check_004_4_2_01() {
  shape schema_meta 'key TEXT 0 - 1
value TEXT 1 - 0'
  is "$(sql "SELECT value FROM schema_meta WHERE key='schema_version'")" 1
  # All tables but no version row: accepted, and the row is put in.
  sql "DELETE FROM schema_meta"
  code 0 ona db init
  is "$(sql "SELECT value FROM schema_meta WHERE key='schema_version'")" 1
  sql "UPDATE schema_meta SET value='2'"
  code 2 ona --eval '{"tool":"Bash","input":{"command":"touch ran"}}'
  is "$(sql "SELECT value FROM schema_meta WHERE key='schema_version'")" 2
  [ ! -e ran ] || fail 'a tool ran on a database of another version'
  is "$(sql 'SELECT count(*) FROM transcript_entries')" 0
}

check_004_4_3_01() {
  shape conversations "id TEXT 0 - 1
project_dir TEXT 1 - 0
created_at TEXT 1 datetime('now') 0
last_active TEXT 1 datetime('now') 0
phase TEXT 1 'idle' 0"
  sql "INSERT INTO conversations(id, project_dir) VALUES ('c', '/p')"
  is "$(sql "SELECT phase, created_at = last_active, abs(julianday('now') - julianday(created_at)) < 0.001 FROM conversations")" 'idle|1|1'
}

check_004_4_3_02() {
  shape sessions "session_id TEXT 0 - 1
conversation_id TEXT 1 - 0
started_at TEXT 1 datetime('now') 0"
  is "$(foreign_keys sessions)" 'conversation_id conversations id'
}

check_004_4_3_03() {
  shape state "conversation_id TEXT 1 - 1
key TEXT 1 - 2
value TEXT 0 - 0
updated_at TEXT 1 datetime('now') 0"
}

check_004_4_3_04() {
  shape plans "id INTEGER 0 - 1
conversation_id TEXT 1 - 0
file_path TEXT 0 - 0
content TEXT 1 - 0
hash TEXT 1 - 0
status TEXT 1 'draft' 0
created_at TEXT 1 datetime('now') 0
approved_at TEXT 0 - 0
completed_at TEXT 0 - 0"
  autoincrement plans
}

check_004_4_3_05() {
  shape summaries "conversation_id TEXT 0 - 1
content TEXT 1 - 0
word_count INTEGER 1 - 0
created_at TEXT 1 datetime('now') 0"
  is "$(foreign_keys summaries)" 'conversation_id conversations id'
}

check_004_4_3_06() {
  shape events "id INTEGER 0 - 1
conversation_id TEXT 1 - 0
session_id TEXT 0 - 0
timestamp TEXT 1 datetime('now') 0
event_type TEXT 1 - 0
detail TEXT 0 - 0"
  autoincrement events
}

check_004_4_3_07() {
  shape task_ratings "id INTEGER 0 - 1
conversation_id TEXT 1 - 0
rating INTEGER 1 - 0
objective TEXT 0 - 0
timestamp TEXT 1 datetime('now') 0"
  autoincrement task_ratings
}

check_004_4_3_08() {
  shape memories 'id TEXT 0 - 1
type TEXT 1 - 0
title TEXT 1 - 0
content TEXT 0 - 0
keywords TEXT 0 - 0
anticipated_queries TEXT 0 - 0
concept_tags TEXT 0 - 0
project_scope TEXT 0 - 0
correction_count INTEGER 0 1 0
created_at INTEGER 1 - 0
updated_at INTEGER 1 - 0
last_accessed INTEGER 0 - 0
access_count INTEGER 0 0 0
attention_score REAL 0 0.5 0'
}

check_004_4_3_09() {
  ona db init >/dev/null
  is "$(sql "SELECT replace(replace(replace(sql, char(10), ''), '    ', ''), ', ', ',') FROM sqlite_master WHERE name='memories_fts'")" \
    "CREATE VIRTUAL TABLE memories_fts USING fts5(title,content,keywords,anticipated_queries,tokenize='porter unicode61')"
  sql "INSERT INTO memories_fts VALUES ('Running', 'Größe', NULL, NULL)"
  is "$(sql "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'runs'")" 1
  is "$(sql "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'grosse'")" 0
  is "$(sql "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'GRÖßE'")" 1
}

check_004_4_3_10() {
  shape transcript_entries "id INTEGER 0 - 1
session_id TEXT 1 - 0
sequence INTEGER 1 - 0
parent_entry_id INTEGER 0 - 0
entry_type TEXT 1 - 0
payload_json TEXT 1 - 0
tool_use_id TEXT 0 - 0
created_at TEXT 1 datetime('now') 0"
  autoincrement transcript_entries
  is "$(foreign_keys transcript_entries)" 'parent_entry_id transcript_entries id
session_id sessions session_id'
  is "$(sql "SELECT count(*) FROM pragma_index_list('transcript_entries') WHERE origin='u' AND \"unique\"=1")" 1
  tool Bash '{"command":"true"}'
  code 19 sqlite3 "$AGENT_SDLC_DB" "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) SELECT session_id, sequence, 'user', '{}' FROM transcript_entries LIMIT 1"
  has "$err" 'UNIQUE constraint failed: transcript_entries.session_id, transcript_entries.sequence'
}

check_004_4_3_11() {
  ona db init >/dev/null
  is "$(sql "SELECT type, tbl_name FROM sqlite_master WHERE name='idx_transcript_session'")" 'index|transcript_entries'
  is "$(index_columns idx_transcript_session)" session_id,sequence
}

check_004_4_3_12() {
  shape hook_invocations 'id INTEGER 0 - 1
session_id TEXT 1 - 0
conversation_id TEXT 1 - 0
hook_event TEXT 1 - 0
hook_ordinal INTEGER 1 - 0
matcher TEXT 1 - 0
command TEXT 1 - 0
tool_use_id TEXT 0 - 0
tool_name TEXT 0 - 0
input_json TEXT 1 - 0
exit_code INTEGER 0 - 0
stdout_text TEXT 0 - 0
stderr_text TEXT 0 - 0
started_at TEXT 1 - 0
completed_at TEXT 0 - 0
skipped_reason TEXT 0 - 0'
  autoincrement hook_invocations
}

check_004_4_3_13() {
  ona db init >/dev/null
  is "$(sql "SELECT type, tbl_name FROM sqlite_master WHERE name='idx_hook_inv_session'")" 'index|hook_invocations'
  is "$(index_columns idx_hook_inv_session)" session_id,hook_ordinal
}

check_004_4_3_14() {
  shape tool_permission_log "id INTEGER 0 - 1
session_id TEXT 1 - 0
tool_use_id TEXT 1 - 0
tool_name TEXT 1 - 0
decision TEXT 1 - 0
reason_json TEXT 0 - 0
created_at TEXT 1 datetime('now') 0"
  autoincrement tool_permission_log
}

check_004_4_3_15() {
  shape settings_snapshot 'scope TEXT 0 - 1
json TEXT 1 - 0
updated_at TEXT 1 - 0'
}

check_004_4_3_16() {
  code 0 ona memory add first 'alpha text' --keywords one
  code 0 ona memory add second 'beta text'
  local id
  id=$(jq -r .id <<<"$out")
  mirrored
  is "$(sql "SELECT title FROM memories_fts WHERE memories_fts MATCH 'beta'")" second
  # Rows that only SQL put there are in the index after the next write, and stale index rows are gone.
  sql "INSERT INTO memories(id, type, title, content, created_at, updated_at) VALUES ('by-sql', 'note', 'third', 'gamma', 1, 1)"
  sql "INSERT INTO memories_fts VALUES ('stale', 'stale', NULL, NULL)"
  code 0 ona memory rm "$id"
  mirrored
  is "$(sql 'SELECT group_concat(title) FROM (SELECT title FROM memories_fts ORDER BY title)')" first,third
}

# The files of a project whose hook leaves a line in $WORLD/log for every call.
hook_file() {
  mkdir -p .ona
  jq -n --arg c "echo $1 >>$WORLD/log" '{hooks:[{hook_event_name:"PreToolUse",matcher:"",command:$c}]}' >.ona/settings.json
}
lines() { tr '\n' ' ' <"$WORLD/log"; }

check_004_4_4_01() {
  hook_file old
  { wait_for "$WORLD/started"; hook_file new; touch "$WORLD/go"; } &
  calls "$(bash_call "touch $WORLD/started; until [ -e $WORLD/go ]; do sleep 0.02; done")" "$(bash_call 'echo second')"
  is "$(lines)" 'old old '
  has "$(cat .ona/settings.json)" 'echo new'
  lacks "$(sql "SELECT json FROM settings_snapshot WHERE scope='effective'")" 'echo new'
  code 0 ona settings import
  has "$(sql "SELECT json FROM settings_snapshot WHERE scope='effective'")" 'echo new'
}

# DEC-180: what the files say is what is listed and what runs, in every form.
check_settings_follow() {
  hook_file first
  code 0 ona hooks list --json
  is "$(jq -r '.hooks | length' <<<"$out")" 1
  [ ! -e "$AGENT_SDLC_DB" ] || fail 'listing made a database'
  tool Bash '{"command":"true"}'
  hook_file second
  code 0 ona hooks list --json
  has "$(jq -r '.hooks[0].command' <<<"$out")" 'echo second'
  has "$(sql 'SELECT json FROM settings_snapshot')" 'echo first'
  tool Bash '{"command":"true"}'
  is "$(lines)" 'first second '
  # A row changed by SQL is the operator's.
  sql "UPDATE settings_snapshot SET json = replace(json, 'echo second', 'echo byhand')"
  hook_file third
  tool Bash '{"command":"true"}'
  is "$(lines)" 'first second byhand '
  code 0 ona hooks list
  has "$err" 'written by an operator'
  has "$err" 'ona settings import'
  code 0 ona settings import
  tool Bash '{"command":"true"}'
  is "$(lines)" 'first second byhand third '
  # --settings of a listing is not kept.
  code 0 ona hooks list --json --settings '{"hooks":[{"hook_event_name":"Stop","command":"x"}]}'
  is "$(jq -r '.hooks | length' <<<"$out")" 2
  lacks "$(sql 'SELECT json FROM settings_snapshot')" '"Stop"'
  # The files of Claude Code count, in their dialect, unless they are switched off.
  mkdir .claude
  echo '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"touch claude"}]}]}}' >.claude/settings.json
  tool Bash '{"command":"true"}' --no-claude-settings
  [ ! -e claude ] || fail 'a hook below .claude ran with --no-claude-settings'
  tool Bash '{"command":"true"}'
  [ -e claude ] || fail 'a hook below .claude did not run'
  is "$(sql "SELECT json_extract(h.value, '\$.dialect') FROM settings_snapshot s, json_each(s.json, '\$.hooks') h WHERE h.value LIKE '%touch claude%'")" claude
}

check_004_4_4_02() {
  settings '{"kept":"by SQL"}'
  sql "UPDATE settings_snapshot SET updated_at='2001-01-01 00:00:00'"
  mkdir "$HOME/.ona"
  jq -n '{cleanupPeriodDays:7, hooks:{PreToolUse:[{hooks:[{type:"command",command:"touch from-file"}]}]}}' >"$HOME/.ona/settings.json"
  # A row the operator wrote is not changed by a start.
  tool Bash '{"command":"true"}'
  [ ! -e from-file ] || fail 'a hook of a file ran beside a row of the operator'
  is "$(sql 'SELECT json, updated_at FROM settings_snapshot')" '{"kept":"by SQL"}|2001-01-01 00:00:00'
  code 0 ona settings import
  is "$(sql 'SELECT count(*), max(scope) FROM settings_snapshot')" '1|effective'
  is "$(sql "SELECT abs(julianday('now') - julianday(updated_at)) < 0.001, updated_at GLOB '????-??-?? ??:??:??' FROM settings_snapshot")" '1|1'
  is "$(sql "SELECT json_extract(json,'\$.cleanupPeriodDays'), json_extract(json,'\$.kept') FROM settings_snapshot")" '7|by SQL'
  tool Bash '{"command":"true"}'
  [ -e from-file ] || fail 'a hook of an imported file did not run'
  # What a file no longer says is gone with the next import, and what no file said stays.
  echo '{"env":{"A":"1"}}' >"$HOME/.ona/settings.json"
  code 0 ona settings import
  code 0 ona settings show
  is "$(jq -c '[.kept, .env.A, has("hooks"), has("cleanupPeriodDays")]' <<<"$out")" '["by SQL","1",false,false]'
  # --settings is above them all.
  tool Bash '{"command":"true"}' --settings '{"hooks":[{"hook_event_name":"PreToolUse","command":"touch flagged"}]}'
  [ -e flagged ] || fail 'a hook of --settings did not run'
  is "$(sql "SELECT json_extract(json,'\$.kept') FROM settings_snapshot")" 'by SQL'
}

check_004_4_4_03() {
  mkdir "$HOME/.ona"
  local secret=hunter2-hunter2-hunter2
  jq -n --arg s "$secret" '{model_config:{provider:"lm_studio_local",model_id:"qwen"},env:{MY_TOKEN:$s,PLAIN:"visible"}}' >"$HOME/.ona/settings.json"
  tool Bash '{"command":"echo $MY_TOKEN | wc -c"}'
  is "$(content)" 24
  is "$(sql "SELECT json_extract(json,'\$.model_config') FROM settings_snapshot")" '{"provider":"lm_studio_local","model_id":"qwen"}'
  is "$(sql "SELECT json_extract(json,'\$.env.MY_TOKEN') FROM settings_snapshot")" '${ONA_SECRET:/env/MY_TOKEN}'
  is "$(sql "SELECT json_extract(json,'\$.env.PLAIN') FROM settings_snapshot")" visible
  lacks "$(sql .dump)" "$secret"
  # A key beside the two names refuses the whole file: nothing is written.
  jq -n --arg s "$secret" '{model_config:{provider:"lm_studio_local",model_id:"qwen",api_key:$s}}' >"$HOME/.ona/settings.json"
  code 2 ona --db "$WORLD/other.db" --eval '{"tool":"Bash","input":{"command":"touch ran"}}'
  has "$err" api_key
  [ ! -e ran ] || fail 'a tool ran'
  [ ! -e "$WORLD/other.db" ] || fail 'a database was made'
}

check_004_4_4_04() {
  mkdir .ona
  jq -n --arg c "echo ran >>$WORLD/log; echo '{\"permissions\":{\"deny\":[\"Bash\"]},\"hooks\":[]}' >$PWD/.ona/settings.json" \
    '{hooks:[{hook_event_name:"PreToolUse",matcher:"",command:$c}]}' >.ona/settings.json
  calls "$(bash_call 'echo first')" "$(bash_call 'echo second')"
  is "$(jq -rs 'map(.content) | add' <<<"$out")" 'first
second'
  is "$(lines)" 'ran ran '
  is "$(cat .ona/settings.json)" '{"permissions":{"deny":["Bash"]},"hooks":[]}'
}

check_004_4_4_05() {
  mkdir .ona
  jq -n --arg c "rm -f $PWD/.ona/settings.json" '{hooks:[{hook_event_name:"PreToolUse",matcher:"Bash",command:$c}]}' >.ona/settings.json
  calls "$(bash_call 'echo first')" "$(bash_call 'echo second')" "$(bash_call 'echo third')"
  [ ! -e .ona/settings.json ] || fail 'the hook did not run'
  is "$(sql "SELECT count(*), sum(exit_code) FROM hook_invocations WHERE hook_event='PreToolUse'")" '3|0'
  # And the row alone: a hook that no file ever named.
  hooks "$(hook PreToolUse Bash 'echo from the row >&2; exit 2')"
  tool Bash '{"command":"echo fourth"}'
  is "$(content)" 'Denied by PreToolUse hook
[0] from the row'
}

check_004_4_7_01() {
  ona db init >/dev/null
  sql "INSERT INTO memories(id, type, title, content, keywords, project_scope, correction_count, created_at, updated_at, attention_score) VALUES
    ('a', 'note', 'other', 'the parser is slow', NULL, NULL, 1, 1, 1, 0.5),
    ('b', 'note', 'parser', 'text', NULL, '', 1, 1, 1, 0.5),
    ('c', 'note', 'other', 'the parser is slow', NULL, '$PWD', 1, 1, 1, 0.9),
    ('d', 'note', 'other', 'the parser is slow', NULL, NULL, 7, 1, 1, 0.5),
    ('e', 'note', 'other', 'the parser is slow', NULL, NULL, 1, 1, 9, 0.5),
    ('f', 'note', 'parser', 'of somebody else', NULL, '/elsewhere', 1, 1, 1, 1.0),
    ('g', 'note', 'other', 'unrelated', 'parser', NULL, 1, 1, 1, 0.5),
    ('h', 'note', 'unrelated', 'unrelated', NULL, NULL, 1, 1, 1, 1.0);
    DELETE FROM memories_fts;
    INSERT INTO memories_fts(title, content, keywords, anticipated_queries) SELECT title, content, keywords, anticipated_queries FROM memories;"
  code 0 ona memory search parser slow --json
  is "$(jq -r '.[].id' <<<"$out")" "$(sql "SELECT m.id FROM (SELECT DISTINCT m.id AS id, m.attention_score AS s, m.correction_count AS n, m.updated_at AS u,
      bm25(memories_fts, 4.0, 1.0, 2.0, 2.0) AS rank
    FROM memories_fts f JOIN memories m ON m.title IS f.title AND m.content IS f.content AND m.keywords IS f.keywords AND m.anticipated_queries IS f.anticipated_queries
    WHERE memories_fts MATCH '\"parser\" OR \"slow\"' AND (m.project_scope IS NULL OR m.project_scope = '' OR m.project_scope = '$PWD')) m
    ORDER BY m.rank, m.s DESC, m.n DESC, m.u DESC, m.id LIMIT 10")"
  is "$(jq -r '[.[].id] | sort | join("")' <<<"$out")" abcdeg
  # What is equal in rank stands by attention, corrections, age and id.
  is "$(jq -r '[.[].id | select(. == "a" or . == "c" or . == "d" or . == "e")] | join("")' <<<"$out")" cdea
}

check_004_4_7_02() {
  mkdir -p shared-memory "$HOME/shared-memory"
  echo 'zebra stripes' >shared-memory/animals.md
  echo 'zebra stripes' >"$HOME/shared-memory/animals.md"
  tool Bash '{"command":"true"}'
  code 0 ona memory search zebra --json
  is "$out" '[]'
  code 0 ona memory import shared-memory
  echo 'okapi' >shared-memory/animals.md
  code 0 ona memory search zebra --json
  is "$(jq -r '.[0].content' <<<"$out")" 'zebra stripes'
  code 0 ona memory search okapi --json
  is "$out" '[]'
  rm shared-memory/animals.md
  code 0 ona memory list --json
  is "$(jq length <<<"$out")" 1
}

check_004_4_7_03() {
  mkdir -p notes/deep
  printf '# Build\nuse cargo\n' >notes/build.md
  printf 'no heading\n' >notes/deep/other.md
  echo ignored >notes/plain.txt
  code 0 ona memory import notes
  is "$(jq .imported <<<"$out")" 2
  is "$(sql 'SELECT title, content FROM memories ORDER BY title')" "$(printf 'Build|# Build\nuse cargo\n\ndeep/other.md|no heading\n')"
  is "$(sql "SELECT id FROM memories WHERE title='Build'")" "$(printf '%sbuild.md' "$PWD" | sha256sum | cut -d' ' -f1)"
  mirrored
  printf '# Build\nuse make\n' >notes/build.md
  code 0 ona memory import notes
  is "$(sql "SELECT count(*), max(correction_count) FROM memories WHERE content LIKE '%make%'")" '1|2'
  is "$(sql 'SELECT count(*) FROM memories')" 2
  mirrored
}

check_004_4_8_01() {
  # While a hook runs the product holds no write transaction: the hook takes the lock at once, every time.
  local probe='sqlite3 -cmd ".timeout 0" "$AGENT_SDLC_DB" "BEGIN IMMEDIATE; COMMIT"' call list=() n
  hooks "$(hook PreToolUse '' "$probe")" "$(hook PostToolUse '' "$probe")"
  call=$(bash_call 'echo one')
  for n in 1 2 3 4 5 6 7 8; do list+=("$call"); done
  calls "$(jq -cn '{tool:"Bash",input:{command:"sleep 20",run_in_background:true}}')" "${list[@]}"
  lacks "$err" locked
  is "$(sql 'SELECT count(*), sum(exit_code) FROM hook_invocations')" '18|0'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND json_extract(payload_json,'\$.content')='one' || char(10)")" 8
}

check_004_4_8_02() {
  # All of them make the database and import the settings.
  mkdir .ona
  hook PreToolUse '' true | jq -c '{hooks:[.], permissions:{allow:["Bash"]}}' >.ona/settings.json
  local n pid pids=()
  for n in 1 2 3 4 5 6 7 8; do
    ona --eval "$(bash_call "echo result-$n")" >"$WORLD/out.$n" 2>"$WORLD/err.$n" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || fail "an eval failed: $(cat "$WORLD"/err.*)"; done
  for n in 1 2 3 4 5 6 7 8; do is "$(jq -r .content "$WORLD/out.$n")" "result-$n"; done
  code 0 ona db check
  is "$(sql 'PRAGMA integrity_check')" ok
  is "$(sql 'PRAGMA foreign_key_check')" ''
  is "$(sql "SELECT count(DISTINCT json_extract(payload_json,'\$.content')), count(*) FROM transcript_entries WHERE entry_type='tool_result' AND json_extract(payload_json,'\$.content') LIKE 'result-%'")" '8|8'
  is "$(sql 'SELECT count(*), count(DISTINCT session_id) FROM transcript_entries')" '16|8'
  is "$(sql 'SELECT count(*) FROM (SELECT 1 FROM transcript_entries GROUP BY session_id HAVING max(sequence) - min(sequence) + 1 <> count(*))')" 0
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 8
  is "$(sql "SELECT count(*) FROM events WHERE event_type='tool_started'")" 8
}

check_004_4_8_03() {
  hooks "$(hook PreToolUse '' true)" "$(hook PostToolUse '' true)"
  # Another process commits all the time: a transaction that first read and then wrote would be refused.
  ( n=0; until [ -e "$WORLD/stop" ]; do n=$((n + 1)); sql "INSERT OR REPLACE INTO state(conversation_id, key, value) VALUES ('x', 'n', '$n')" || exit 1; done ) &
  local writer=$! split
  ( until [ -e "$WORLD/stop" ]; do
      sql "SELECT (SELECT count(*) FROM transcript_entries t WHERE entry_type='tool_result' AND 2 <> (SELECT count(*) FROM hook_invocations h WHERE h.tool_use_id=t.tool_use_id)),
        (SELECT count(*) FROM hook_invocations h WHERE NOT EXISTS (SELECT 1 FROM transcript_entries t WHERE t.entry_type='tool_result' AND t.tool_use_id=h.tool_use_id))"
    done >"$WORLD/seen" ) &
  local reader=$! n
  for n in 1 2 3 4 5; do tool Bash '{"command":"true"}'; done
  touch "$WORLD/stop"
  wait $writer || fail 'the other writer failed'
  wait $reader || fail 'the reader failed'
  split=$(grep -cv '^0|0$' "$WORLD/seen" || true)
  is "$split" 0
  [ "$(wc -l <"$WORLD/seen")" -ge 5 ] || fail 'the reader saw too little'
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 10
}

check_004_4_8_04() {
  # Not one connection but one that writes and one that reads, and the design note says why.
  has "$(cat "$ONA_ROOT/docs/ARCHITECTURE.md")" 'over a single shared connection'
  hooks "$(hook PreToolUse '' "ls -l /proc/\$PPID/fd | grep -c 'state/ona.db\$' >>$WORLD/handles")"
  calls "$(bash_call true)" "$(bash_call true)" "$(bash_call true)"
  is "$(tr '\n' ' ' <"$WORLD/handles")" '2 2 2 '
}

check_004_4_8_05() {
  ona db init >/dev/null
  code 0 ona doctor --json
  is "$(jq -c '.database.pragmas | [.writer.busy_timeout, .reader.busy_timeout]' <<<"$out")" '[30000,30000]'
  lock 1
  local begin
  begin=$(milliseconds)
  tool Bash '{"command":"echo waited"}'
  [ $(($(milliseconds) - begin)) -ge 500 ] || fail 'the eval did not wait for the lock'
  is "$(content)" waited
  has "$(newest)" '"content":"waited\n","is_error":false'
}

check_004_4_8_06() {
  # Before there is a database nothing is wrong.
  code 0 ona doctor --json
  is "$(jq -c '[.ok, .database.made]' <<<"$out")" '[true,false]'
  [ ! -e "$AGENT_SDLC_DB" ] || fail 'doctor made a database'
  ona db init >/dev/null
  code 0 ona doctor --json
  is "$(jq -c '[.database.pragmas.writer, .database.pragmas.reader][] | [.foreign_keys, .journal_mode, .synchronous]' <<<"$out")" '[true,"wal",2]
[true,"wal",2]'
  is "$(jq -c .ok <<<"$out")" true
}

check_004_4_8_07() {
  hooks "$(hook PreToolUse Bash true)" "$(hook PostToolUse Bash true)" "$(hook PostToolUse Bash "[ -e $WORLD/calm ] || { touch $WORLD/in-post; sleep 3; }")"
  ona --eval '{"tool":"Bash","input":{"command":"touch ran"},"tool_use_id":"killed"}' >/dev/null 2>&1 &
  local pid=$!
  wait_for "$WORLD/in-post"
  kill -9 $pid
  wait $pid 2>/dev/null || true
  [ -e ran ] || fail 'the tool had not run'
  is "$(sql "SELECT group_concat(entry_type) FROM transcript_entries WHERE tool_use_id='killed'")" tool_use
  is "$(sql "SELECT (SELECT count(*) FROM hook_invocations), (SELECT count(*) FROM tool_permission_log)")" '0|0'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='tool_started' AND json_extract(detail,'\$.tool_use_id')='killed'")" 1
  is "$(sql 'PRAGMA integrity_check')" ok
  # A fault in the last row of the group takes the whole group back.
  touch "$WORLD/calm"
  sql "CREATE TRIGGER fault BEFORE INSERT ON hook_invocations WHEN new.hook_ordinal = 2 BEGIN SELECT RAISE(ABORT, 'injected'); END"
  code 1 ona --eval '{"tool":"Bash","input":{"command":"true"},"tool_use_id":"faulty"}'
  has "$err" injected
  is "$(sql "SELECT (SELECT count(*) FROM hook_invocations), (SELECT group_concat(entry_type) FROM transcript_entries WHERE tool_use_id='faulty')")" '0|tool_use'
  sql 'DROP TRIGGER fault'
  code 0 ona --eval '{"tool":"Bash","input":{"command":"true"},"tool_use_id":"whole"}'
  is "$(sql "SELECT (SELECT group_concat(hook_ordinal) FROM hook_invocations WHERE tool_use_id='whole'), (SELECT count(*) FROM transcript_entries WHERE tool_use_id='whole' AND entry_type='tool_result')")" '0,1,2|1'
}

check_004_4_8_10() {
  code 0 ona memory add old 'old text'
  # A fault while the index is refilled: emptied index and new row are both taken back.
  sql "CREATE TRIGGER fault BEFORE INSERT ON memories_fts_content WHEN new.c0 = 'new' BEGIN SELECT RAISE(ABORT, 'injected'); END"
  code 1 ona memory add new 'new text'
  sql 'DROP TRIGGER fault'
  is "$(sql 'SELECT (SELECT group_concat(title) FROM memories), (SELECT group_concat(title) FROM memories_fts)')" 'old|old'
  is "$(sql "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'old'")" 1
  # kill -9 in the middle of the transaction.
  sql "CREATE TRIGGER slow AFTER INSERT ON memories BEGIN
    INSERT INTO state(conversation_id, key, value) VALUES ('x', 'slow', (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT count(*) FROM n)); END"
  ona memory add new 'new text' >/dev/null 2>&1 &
  local pid=$!
  wait_for_lock
  kill -9 $pid
  wait $pid 2>/dev/null || true
  sql 'DROP TRIGGER slow'
  is "$(sql 'SELECT (SELECT group_concat(title) FROM memories), (SELECT group_concat(title) FROM memories_fts), (SELECT count(*) FROM state)')" 'old|old|0'
  code 0 ona memory add new 'new text'
  mirrored
}

check_004_4_8_11() {
  conversation c implement
  local type
  for type in implementation_complete phase_changed; do
    sql "CREATE TRIGGER fault BEFORE INSERT ON events WHEN new.event_type = '$type' BEGIN SELECT RAISE(ABORT, 'injected'); END"
    code 1 ona --transition test --conversation c
    has "$err" injected
    sql 'DROP TRIGGER fault'
    is "$(phase c)" implement
    is "$(sql "SELECT count(*) FROM events WHERE conversation_id='c'")" 0
  done
  # A plan retired by a new cycle belongs to the same commit.
  sql "INSERT INTO plans(conversation_id, content, hash, status) VALUES ('c', 'p', 'h', 'approved')"
  sql "CREATE TRIGGER fault BEFORE UPDATE ON conversations BEGIN SELECT RAISE(ABORT, 'injected'); END"
  code 1 ona --transition planning --conversation c
  sql 'DROP TRIGGER fault'
  is "$(sql "SELECT status, (SELECT phase FROM conversations), (SELECT count(*) FROM events WHERE conversation_id='c') FROM plans")" 'approved|implement|0'
  code 0 ona --transition planning --conversation c
  is "$(sql "SELECT status, (SELECT phase FROM conversations) FROM plans")" 'superseded|planning'
  is "$(sql "SELECT group_concat(event_type) FROM (SELECT event_type FROM events WHERE conversation_id='c' ORDER BY event_type)")" 'phase_changed,plan_superseded'
}

check_004_4_8_12() {
  tool Bash '{"command":"true"}'
  # A reader that began before a write sees the old state to its end, and blocks nobody.
  { printf 'BEGIN;\nSELECT count(*) FROM transcript_entries;\n.shell touch %s\n' "$WORLD/reading"
    wait_for "$WORLD/written"
    echo 'SELECT count(*) FROM transcript_entries; COMMIT; SELECT count(*) FROM transcript_entries;'
  } | sqlite3 "$AGENT_SDLC_DB" >"$WORLD/counts" &
  local reader=$!
  wait_for "$WORLD/reading"
  tool Bash '{"command":"true"}'
  touch "$WORLD/written"
  wait $reader
  is "$(tr '\n' ' ' <"$WORLD/counts")" '2 2 4 '
}

check_004_18_01() {
  hooks "$(hook PreToolUse Bash "printf '%s' \"\$AGENT_SDLC_DB\" >$WORLD/of-hook; cat >$WORLD/stdin")"
  tool Bash '{"command":"printf %s \"$AGENT_SDLC_DB\""}'
  is "$(content)" "$WORLD/state/ona.db"
  is "$(cat "$WORLD/of-hook")" "$WORLD/state/ona.db"
  is "$(jq -r .runtime_db_path "$WORLD/stdin")" "$WORLD/state/ona.db"
  # A flag is stronger than the variable.
  code 0 ona --db "$WORLD/flag.db" --eval '{"tool":"Bash","input":{"command":"printf %s \"$AGENT_SDLC_DB\""}}'
  is "$(content)" "$WORLD/flag.db"
  # With neither there is one file per project, and children are told which.
  unset AGENT_SDLC_DB
  local own
  own=$HOME/.local/state/ona/project-$(printf %s "$PWD" | sha256sum | cut -c1-8)/ona.db
  code 0 ona db path
  is "$out" "$own"
  tool Bash '{"command":"printf %s \"$AGENT_SDLC_DB\""}'
  is "$(content)" "$own"
  is "$(sqlite3 "$own" "SELECT count(*) FROM transcript_entries")" 2
}

check_004_18_03() {
  export AGENT_SDLC_DB=$WORLD/new/deep/ona.db
  tool Bash '{"command":"echo made"}'
  is "$(stat -c %a "$WORLD/new" "$WORLD/new/deep" "$AGENT_SDLC_DB" | tr '\n' ' ')" '700 700 600 '
  is "$(sql "SELECT value FROM schema_meta WHERE key='schema_version'")" 1
  is "$(sql 'PRAGMA journal_mode')" wal
  code 0 ona db check
  is "$(tail -n 1 <<<"$out")" ok
  # What is missing is put back and nothing else is touched.
  sql 'DROP TABLE summaries; DROP TABLE sdlc_manifest; DROP TABLE sdlc_test_runs; DROP TABLE sdlc_test_cases; DROP TABLE sdlc_criteria; DROP INDEX idx_hook_inv_session; CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)'
  code 1 ona db check
  has "$out" 'summaries is missing'
  code 0 ona db init
  code 0 ona db check
  is "$(columns summaries | head -n 1)" 'conversation_id TEXT 0 - 1'
  is "$(sql "SELECT count(*) FROM sqlite_master WHERE name GLOB 'sdlc_*' AND type='table'")" 7
  is "$(index_columns idx_hook_inv_session)" session_id,hook_ordinal
  is "$(sql 'SELECT x FROM theirs')" 1
  code 0 ona db check --json
  is "$(jq -c '[.ok, .foreign_tables]' <<<"$out")" '[true,["theirs"]]'
  is "$(sql "SELECT count(*) FROM transcript_entries")" 2
}

check_004_9_03() {
  sqlite3 "$WORLD/by-hand.db" <"$ONA_ROOT/schema.sql" >/dev/null
  ona db init >/dev/null
  local master="SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'memories_fts_%' ORDER BY type, name"
  is "$(sql "$master")" "$(sqlite3 "$WORLD/by-hand.db" "$master")"
  is "$(sql 'SELECT * FROM schema_meta')" "$(sqlite3 "$WORLD/by-hand.db" 'SELECT * FROM schema_meta')"
  is "$(sqlite3 "$WORLD/by-hand.db" 'PRAGMA journal_mode')" wal
  # The product works on a file made by hand, and applying the file again changes nothing.
  code 0 ona --db "$WORLD/by-hand.db" --eval '{"tool":"Bash","input":{"command":"true"}}'
  sqlite3 "$WORLD/by-hand.db" <"$ONA_ROOT/schema.sql" >/dev/null
  is "$(sqlite3 "$WORLD/by-hand.db" 'SELECT count(*) FROM transcript_entries')" 2
}

check_004_10_01() {
  tool Bash '{"command":"true"}'
  is "$(sql "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'memories_fts_%' AND name NOT LIKE 'sdlc_%' ORDER BY name)")" \
    'conversations events hook_invocations memories memories_fts plans schema_meta sessions settings_snapshot state summaries task_ratings tool_permission_log transcript_entries'
  # It is the only database: nothing else that was made begins as SQLite files do.
  is "$(find "$WORLD" -type f -exec sh -c 'head -c 15 "$1" | grep -q "SQLite format 3" && echo "$1"' sh {} \;)" "$AGENT_SDLC_DB"
}

check_004_10_22() {
  local id
  for id in 004-4.8-01 004-4.8-02 004-4.8-03 004-4.8-07 004-4.8-10 004-4.8-11; do
    bash "$here/store.sh" "$id" || fail "$id"
  done
}

# ---- the file under an open database -----------------------------------------------

# turn_with HOOK_EVENT COMMAND : a scripted turn of two Bash calls in which a hook of the first call runs COMMAND
turn_with() {
  settings "$(jq -cn --argjson h "$(hook "$1" Bash "[ -e $WORLD/struck ] || { touch $WORLD/struck; $2; }")" \
    '{model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"},permissions:{allow:["Bash"]},hooks:[$h]}')"
  model '[{"calls":[{"name":"Bash","input":{"command":"echo effect >>ran"}}]},{"calls":[{"name":"Bash","input":{"command":"touch second"}}]},{"say":"done"}]'
  anthropic
}
# rescued : the one rescue file, which is in $rescue
rescued() {
  rescue=$(ls "$WORLD"/state/ona.db.rescue-*.db)
  is "$(wc -l <<<"$rescue")" 1
  is "$(stat -c %a "$rescue")" 600
  has "$err" "$rescue"
}
rescue_sql() { sqlite3 "$rescue" "$1"; }

check_file_lost_in_a_turn() {
  local what way
  for what in deleted moved replaced log; do
    export AGENT_SDLC_DB=$WORLD/state/ona.db
    rm -rf "$WORLD/state" "$WORLD/struck" ran
    mkdir -p "$WORLD/state"
    sqlite3 "$WORLD/state/other.db" 'CREATE TABLE theirs(x)'
    case $what in
      deleted) way="rm -f $AGENT_SDLC_DB" ;;
      moved) way="mv $AGENT_SDLC_DB $WORLD/state/elsewhere.db" ;;
      replaced) way="mv $WORLD/state/other.db $AGENT_SDLC_DB" ;;
      log) way="rm -f $AGENT_SDLC_DB-wal" ;;
    esac
    turn_with PostToolUse "$way"
    code 1 ona -p hi --output-format json
    stop_servers
    # The call that was running has its result, its decision and its hook in a copy with all that was before.
    rescued
    is "$(cat ran)" effect
    is "$(rescue_sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE entry_type <> 'progress' ORDER BY sequence)")" 'user,assistant,tool_use,tool_result'
    is "$(rescue_sql "SELECT count(*) FROM hook_invocations WHERE hook_event='PostToolUse' AND exit_code=0")" 1
    is "$(rescue_sql "SELECT count(*) FROM events WHERE event_type='tool_started'")" 1
    is "$(rescue_sql 'PRAGMA integrity_check')" ok
    is "$(rescue_sql 'PRAGMA foreign_key_check')" ''
    is "$(requests)" 1
    [ ! -e second ] || fail "$what: a call ran after the database was lost"
    has "$(jq -r '.errors[0] // .result' <<<"$out")" "$rescue"
    case $what in
      deleted) has "$err" 'was deleted while it was in use' ;;
      moved) has "$err" "was moved to $WORLD/state/elsewhere.db" ;;
      replaced)
        has "$err" 'was replaced by another file'
        is "$(sqlite3 "$AGENT_SDLC_DB" "SELECT group_concat(name) FROM sqlite_master")" theirs
        continue
        ;;
      log) has "$err" 'ona.db-wal was deleted or replaced' ;;
    esac
    # Nothing is made anew beside the log that still has rows, and the command that is printed is the way back.
    grep -o 'rm -f .*' <<<"$err" | head -n 1 >"$WORLD/way-back"
    [ $what = log ] || code 2 ona sessions list
    [ $what = log ] || has "$err" 'put the database back'
    sh "$WORLD/way-back"
    # The first start brings the log back.
    code 0 ona db init
    code 0 ona db check
    model '[{"say":"go on"}]'
    anthropic
    code 0 ona -p more --continue
    stop_servers
    is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type IN ('user','tool_result')")" 3
  done
}

check_file_lost_before_a_call() {
  turn_with PreToolUse "rm -f $AGENT_SDLC_DB"
  code 1 ona -p hi
  stop_servers
  rescued
  [ ! -e ran ] || fail 'a tool ran without a committed announcement'
  is "$(rescue_sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_use'")" 1
}

check_file_cut_in_a_turn() {
  # So that the file has pages that are not in the log.
  tool Bash '{"command":"head -c 200000 /dev/zero | tr \"\\0\" x"}'
  tool Bash '{"command":"true"}'
  local size
  for size in 0 8192; do
    rm -rf "$WORLD/struck" ran "$WORLD"/state/*rescue*
    cp "$AGENT_SDLC_DB" "$WORLD/whole.db"
    turn_with PostToolUse "truncate -s $size $AGENT_SDLC_DB"
    code 1 ona -p hi
    stop_servers
    rescued
    has "$err" 'was cut short while it was in use'
    has "$err" 'ona db recover'
    is "$(rescue_sql "SELECT entry_type FROM transcript_entries")" tool_result
    is "$(rescue_sql "SELECT count(*) FROM hook_invocations WHERE hook_event='PostToolUse'")" 1
    [ "$(stat -c %s "$AGENT_SDLC_DB")" = $size ] || fail 'the file was written to'
    code 2 ona -p again
    is "$(stat -c %s "$AGENT_SDLC_DB")" $size
    rm -rf "$AGENT_SDLC_DB"*
    mv "$WORLD/whole.db" "$AGENT_SDLC_DB"
  done
}

check_file_emptied() {
  # An empty file is a new database, unless something shows that it was one.
  mkdir -p "$WORLD/state"
  : >"$AGENT_SDLC_DB"
  tool Bash '{"command":"true"}'
  : >"$AGENT_SDLC_DB"
  mkdir -p "$AGENT_SDLC_DB.locks"
  local form
  for form in '--eval {"tool":"Bash","input":{"command":"touch\u0020ran"}}' 'db init' 'db check' 'sessions list' '-p hi' doctor; do
    got=0
    # shellcheck disable=SC2086
    said=$(ona $form </dev/null 2>&1) || got=$?
    [ $got != 0 ] || fail "ona $form went on with an emptied database"
    has "$said" 'the database is empty, but'
    is "$(stat -c %s "$AGENT_SDLC_DB")" 0
  done
  [ ! -e ran ] || fail 'a tool ran'
  rm -rf "$AGENT_SDLC_DB.locks"
  code 0 ona db init
  # The same for a log whose database is gone.
  printf '%s\n' "INSERT INTO schema_meta VALUES ('mine', 'kept');" ".shell cp $AGENT_SDLC_DB-wal $WORLD/log" | sqlite3 "$AGENT_SDLC_DB"
  mv "$AGENT_SDLC_DB" "$WORLD/away.db"
  cp "$WORLD/log" "$AGENT_SDLC_DB-wal"
  code 2 ona db init
  has "$err" 'the database does not exist, but its log'
  has "$err" "mv '$AGENT_SDLC_DB-wal'"
  cmp "$WORLD/log" "$AGENT_SDLC_DB-wal" || fail 'the log was touched'
  [ ! -e "$AGENT_SDLC_DB" ] || fail 'a database was made'
}

# a_record : a session with a hook, two calls each in two sessions
a_record() {
  hooks "$(hook PreToolUse Bash true)"
  local session
  for session in s t; do
    tool Bash '{"command":"echo one"}' "$@"
    code 0 ona --eval "{\"tool\":\"Bash\",\"session_id\":\"$session\",\"input\":{\"command\":\"echo two\"}}"
  done
}
# first_difference : kind, table and id of what verify --json names first
first_difference() { jq -r '.first_difference | "\(.kind) \(.table) \(.id)"' <<<"$out"; }

check_audit_verify() {
  a_record
  code 0 ona audit verify
  has "$out" 'ok: the record fits its chain'
  code 0 ona audit verify --strict --json
  is "$(jq -c '[.ok, .difference_count, .foreign_count]' <<<"$out")" '[true,0,0]'
  is "$(jq .rows <<<"$out")" "$(sql 'SELECT (SELECT count(*) FROM transcript_entries) + (SELECT count(*) FROM hook_invocations) + (SELECT count(*) FROM tool_permission_log) + (SELECT count(*) FROM events)')"
  # A hook that inserts by SQL (8.4) is foreign, not a difference.
  hooks "$(hook PostToolUse Bash 'sqlite3 "$AGENT_SDLC_DB" "INSERT INTO events(conversation_id, event_type) VALUES ('"'k', 'by_hook'"')"')"
  tool Bash '{"command":"true"}'
  code 0 ona audit verify --json
  is "$(jq -c '[.ok, .foreign_count, .foreign[0].table]' <<<"$out")" '[true,1,"events"]'
  code 1 ona audit verify --strict
  has "$out" 'foreign: 1 rows were inserted by other programs'
  # While a session of another process writes, and from the agent's own shell.
  lock 2
  code 0 ona audit verify
  wait
  hooks
  tool Bash '{"command":"ona audit verify"}'
  has "$(content)" 'ok: the record fits its chain'
  # Changed by hand.
  sql "UPDATE hook_invocations SET exit_code = 2 WHERE id = 1"
  code 1 ona audit verify --json
  is "$(first_difference)" 'changed hook_invocations 1'
  code 1 ona audit verify
  has "$out" 'difference: row 1 of hook_invocations was changed after it was written (group '
  code 0 ona audit verify --session t
  code 2 ona audit verify --session nowhere
  has "$err" 'session nowhere does not exist'
  # A file of another machine, which cannot be written.
  mkdir "$WORLD/finished"
  sqlite3 "$AGENT_SDLC_DB" "VACUUM INTO '$WORLD/finished/ona.db'"
  chmod 400 "$WORLD/finished/ona.db"
  chmod 500 "$WORLD/finished"
  code 1 ona --db "$WORLD/finished/ona.db" audit verify --json
  is "$(first_difference)" 'changed hook_invocations 1'
  chmod 700 "$WORLD/finished"
  code 2 ona --db "$WORLD/none.db" audit verify
  has "$err" "no database exists at $WORLD/none.db"
}

check_audit_anchor() {
  a_record
  code 0 ona audit anchor
  local anchor=$out last
  is "$(wc -l <<<"$anchor")" 1
  is "$(ona audit anchor --json | jq -r .anchor)" "$anchor"
  tool Bash '{"command":"true"}'
  code 0 ona audit verify --against "$anchor"
  has "$out" 'continues what the anchor names'
  # Attack case N-4: the last rows deleted and the counters set back, chain included.
  anchor=$(ona audit anchor)
  last=$(sql 'SELECT max(group_id) FROM sdlc_chain')
  sql "DELETE FROM transcript_entries WHERE id > (SELECT transcript_id FROM sdlc_chain WHERE group_id = $last - 3);
    DELETE FROM hook_invocations WHERE id > (SELECT hook_id FROM sdlc_chain WHERE group_id = $last - 3);
    DELETE FROM tool_permission_log WHERE id > (SELECT permission_id FROM sdlc_chain WHERE group_id = $last - 3);
    DELETE FROM events WHERE id > (SELECT event_id FROM sdlc_chain WHERE group_id = $last - 3);
    DELETE FROM sdlc_chain WHERE group_id > $last - 3;
    UPDATE sqlite_sequence SET seq = $last - 3 WHERE name = 'sdlc_chain';
    UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM transcript_entries) WHERE name = 'transcript_entries';
    UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(id), 0) FROM hook_invocations) WHERE name = 'hook_invocations';
    UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(id), 0) FROM tool_permission_log) WHERE name = 'tool_permission_log';
    UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM events) WHERE name = 'events';"
  code 0 ona audit verify
  code 1 ona audit verify --against "$anchor" --json
  is "$(jq -r .first_difference.kind <<<"$out")" anchor_removed
  # Also after ona has written as many groups again.
  tool Bash '{"command":"true"}'
  tool Bash '{"command":"true"}'
  code 1 ona audit verify --against "$anchor" --json
  is "$(jq -r .first_difference.kind <<<"$out")" anchor_differs
  code 2 ona audit verify --against nonsense
  has "$err" 'is not an anchor'
  code 2 ona audit verify --against "${anchor%?}x"
  has "$err" 'was not copied as it was printed'
  # Another database in its place.
  mv "$AGENT_SDLC_DB" "$WORLD/away.db"
  rm -f "$AGENT_SDLC_DB"-*
  code 0 ona db init
  code 1 ona audit verify --against "$anchor" --json
  is "$(jq -r .first_difference.kind <<<"$out")" other_database
}

check_audit_export() {
  a_record
  code 0 ona audit export --format jsonl
  is "$(jq -sr 'group_by(.table) | map("\(.[0].table) \(length)") | join(", ")' <<<"$out")" \
    "$(sql "SELECT group_concat(name || ' ' || n, ', ') FROM (SELECT 'events' AS name, count(*) AS n FROM events UNION ALL SELECT 'hook_invocations', count(*) FROM hook_invocations UNION ALL SELECT 'tool_permission_log', count(*) FROM tool_permission_log UNION ALL SELECT 'transcript_entries', count(*) FROM transcript_entries) WHERE n > 0")"
  code 0 ona audit export --format csv --session t
  printf '%s\n' "$out" >"$WORLD/t.csv"
  # sqlite3 reads it back as it was.
  sqlite3 :memory: ".import --csv $WORLD/t.csv t" "SELECT payload_json FROM t WHERE \"table\" = 'transcript_entries' ORDER BY id" >"$WORLD/read"
  sql "SELECT payload_json FROM transcript_entries WHERE session_id = 't' ORDER BY id" | cmp - "$WORLD/read" || fail 'the export differs'
  code 2 ona audit export --format jsonl --session nowhere
  code 2 ona audit export
}

# page NAME : the first page of a table or an index
page() { sql "SELECT rootpage FROM sqlite_master WHERE name = '$1'"; }
# leaf NAME : a page in the middle of it
leaf() { sql "SELECT pageno FROM dbstat WHERE name = '$1' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET (SELECT count(*) / 2 FROM dbstat WHERE name = '$1' AND pagetype = 'leaf')"; }
# overwrite FILE PAGE BYTE : a whole page of 4096
overwrite() { head -c 4096 /dev/zero | tr '\0' "$3" | dd of="$1" bs=4096 seek=$(($2 - 1)) conv=notrunc status=none; }

check_db_damage() {
  a_record
  sql "INSERT INTO sessions(session_id, conversation_id) SELECT 'many', conversation_id FROM sessions LIMIT 1;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 4000)
    INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) SELECT 'many', i, 'user', json_object('_t', 'user', 'text', hex(randomblob(50))) FROM n"
  tool Bash '{"command":"true"}'
  sql 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
  rm -f "$AGENT_SDLC_DB"-*
  code 0 ona doctor
  local whole=$AGENT_SDLC_DB table index inner entry rows sum what refused wanted
  rows=$(sql 'SELECT count(*) FROM transcript_entries')
  table=$(page transcript_entries) index=$(page idx_transcript_session) inner=$(leaf transcript_entries) entry=$(leaf idx_transcript_session)
  export AGENT_SDLC_DB=$WORLD/damaged/ona.db
  mkdir "$WORLD/damaged"
  for what in magic schema table index cut ragged inner entry log none; do
    rm -rf "$WORLD"/damaged/*
    cp "$whole" "$AGENT_SDLC_DB"
    refused=yes
    case $what in
      magic) printf 'no such format' | dd of="$AGENT_SDLC_DB" conv=notrunc status=none ;;
      schema) overwrite "$AGENT_SDLC_DB" 1 x ;;
      table) overwrite "$AGENT_SDLC_DB" "$table" '\0' ;;
      index) overwrite "$AGENT_SDLC_DB" "$index" x ;;
      cut) truncate -s 40960 "$AGENT_SDLC_DB" ;;
      ragged) truncate -s -100 "$AGENT_SDLC_DB" ;;
      inner) overwrite "$AGENT_SDLC_DB" "$inner" x; refused=no ;;
      entry) overwrite "$AGENT_SDLC_DB" "$entry" '\0'; refused=no ;;
      # SQLite reads a log up to the first checksum that does not fit, so this is as if there were none.
      log) head -c 100000 /dev/urandom >"$AGENT_SDLC_DB-wal"; refused=no ;;
      none) refused=no ;;
    esac
    sum=$(sha256sum <"$AGENT_SDLC_DB")
    # Both look at everything, and agree.
    wanted=1
    case $what in log | none) wanted=0 ;; esac
    code $wanted ona db check
    [ $wanted = 0 ] || has "$err" 'ona db recover /absolute/path/new.db'
    code $wanted ona doctor
    # A start looks at the first pages.
    if [ $refused = yes ]; then
      code 2 ona -p hi
      has "$err" 'ona db recover /absolute/path/new.db'
      code 2 ona db init
    fi
    is "$(sha256sum <"$AGENT_SDLC_DB")" "$sum"
    # What can be read is saved.
    rm -rf "$WORLD"/new.db*
    case $what in
      magic | schema) code 2 ona db recover "$WORLD/new.db"; has "$err" 'the schema cannot be read, and without it no table'; [ ! -e "$WORLD/new.db" ] || fail 'a database was made' ;;
      cut | ragged) ;;
      index | entry | log | none) code 0 ona db recover "$WORLD/new.db"; has "$out" 'everything came through' ;;
      table | inner) code 1 ona db recover "$WORLD/new.db" --json; is "$(jq .complete <<<"$out")" false ;;
    esac
    is "$(sha256sum <"$AGENT_SDLC_DB")" "$sum"
    if [ $what = inner ]; then
      # Only the rows of that page are missing, each is named, and the result works.
      is "$(jq "[.tables[] | select(.table == \"transcript_entries\") | .rows + ([.unread[] | .[1] - .[0] + 1] | add)] | .[0]" <<<"$out")" "$rows"
      [ "$(jq '[.tables[] | select(.table == "transcript_entries") | .rows] | .[0]' <<<"$out")" -gt 3900 ] || fail "$out"
      code 0 ona --db "$WORLD/new.db" sessions list
      is "$(stat -c %a "$WORLD/new.db")" 600
      code 2 ona db recover "$WORLD/new.db"
      has "$err" 'a file is in the place of the new database'
    fi
  done
}

check_promise_10() {
  # A policy, a session under it, and three ways to look at what happened.
  hooks "$(hook PreToolUse Bash 'grep -q secret && exit 2; exit 0')"
  code 0 ona --eval '{"tool":"Bash","session_id":"mine","input":{"command":"echo one"}}'
  code 0 ona --eval '{"tool":"Bash","session_id":"mine","input":{"command":"echo secret"}}'
  code 0 ona audit verify --session mine
  code 0 ona hooks replay mine
  is "$(sql "SELECT group_concat(exit_code) FROM (SELECT exit_code FROM hook_invocations WHERE session_id='mine' ORDER BY id)")" 0,2
  # A changed policy shows in the replay, a changed record in the chain.
  hooks "$(hook PreToolUse Bash true)"
  code 1 ona hooks replay mine --json
  is "$(jq '.different | length' <<<"$out")" 1
  sql "UPDATE hook_invocations SET exit_code = 0 WHERE exit_code = 2"
  code 1 ona audit verify --session mine
  has "$out" 'of hook_invocations was changed after it was written'
}

run_check "$@"
