#!/usr/bin/env bash
# Transcript: transcript_entries is the only record of a session; its rows are numbered
# without gaps, typed by a closed list, and shaped by Appendix C.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# eval_in SESSION TOOL INPUT : one more call in a session
eval_in() { code 0 ona --eval "$(jq -cn --arg s "$1" --arg t "$2" --argjson i "$3" '{tool:$t,input:$i,session_id:$s}')"; }
# payloads TYPE
payloads() { sql "SELECT payload_json FROM transcript_entries WHERE entry_type='$1' ORDER BY sequence"; }
# A one pixel picture.
pixel() {
  base64 -d >"$1" <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==
}
# talk : a session that leaves a row of every kind a tool call can leave
talk() {
  local context='{"systemMessage":"for the operator","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"for the model","updatedInput":{"description":"rewritten"}}}'
  hooks "$(hook PreToolUse Bash "echo '$context'")" "$(hook PostToolUse Bash 'echo again >&2; exit 2')"
  pixel p.png
  printf 'a\nb\n' >a.txt
  tool Bash '{"command":"echo hi"}'
  tool Read '{"file_path":"p.png"}'
  tool Read '{"file_path":"a.txt"}'
  tool Write '{"file_path":"b.txt","content":"x"}'
  tool Read '{"file_path":"missing"}'
  tool Nothing '{}'
}

check_004_HR_04() {
  mkdir -p "$HOME/.claude/projects/p"
  echo '{"type":"user"}' >"$HOME/.claude/projects/p/s.jsonl"
  printf 'one\n' >a.txt
  eval_in s Read '{"file_path":"a.txt"}'
  is "$(find "$WORLD" -name '*.jsonl*')" "$HOME/.claude/projects/p/s.jsonl"
  is "$(cat "$HOME/.claude/projects/p/s.jsonl")" '{"type":"user"}'
  # Without it the session goes on from what the table says: the file it read has changed.
  rm -r "$HOME/.claude"
  printf 'two\n' >a.txt
  eval_in s Edit '{"file_path":"a.txt","old_string":"two","new_string":"three"}'
  is "$(is_error)" true
  has "$(content)" 'has changed on disk since this session last read or wrote it'
  is "$(cat a.txt)" two
  is "$(find "$WORLD" -name '*.jsonl*')" ''
}

check_004_1_03() {
  printf 'one\n' >a.txt
  eval_in s Read '{"file_path":"a.txt"}'
  printf 'two\n' >a.txt
  # The session knows what its rows say. Edited by SQL, they say it has seen the new file.
  sql "UPDATE transcript_entries SET payload_json = json_set(payload_json, '\$.sha256', '$(sha256sum a.txt | cut -d' ' -f1)') WHERE entry_type='file_history_snapshot'"
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='file_history_snapshot'")" 1
  eval_in s Edit '{"file_path":"a.txt","old_string":"two","new_string":"three"}'
  is "$(is_error)" false
  is "$(cat a.txt)" three
  # And the other way: a row that says something else makes the session refuse.
  sql "UPDATE transcript_entries SET payload_json = json_set(payload_json, '\$.sha256', 'other') WHERE entry_type='file_history_snapshot'"
  eval_in s Edit '{"file_path":"a.txt","old_string":"three","new_string":"four"}'
  is "$(is_error)" true
  is "$(cat a.txt)" three
}

check_004_2_8_02() {
  local key=sk-ant-api03-abcdefghijklmnop other=hunter2hunter2hunter2
  export ANTHROPIC_API_KEY=$key OPENAI_API_KEY=$other
  hooks "$(hook PreToolUse Bash 'env; env >&2; cat')"
  # A command gets them only if the operator says so.
  tool Bash '{"command":"echo $OPENAI_API_KEY | wc -c >count"}'
  is "$(cat count)" 1
  has "$(content)" passCredentials
  sql "UPDATE settings_snapshot SET json = json_set(json, '\$.passCredentials', json('true'))"
  tool Bash '{"command":"env; echo $OPENAI_API_KEY | base64; echo Authorization: Bearer abcdefgh; echo $OPENAI_API_KEY | wc -c >count"}'
  is "$(cat count)" 22
  is "$(is_error)" false
  has "$(newest)" 'ANTHROPIC_API_KEY=[REDACTED:ANTHROPIC_API_KEY]\n'
  has "$(newest)" 'OPENAI_API_KEY=[REDACTED:OPENAI_API_KEY]\n'
  tool Bash "$(jq -cn --arg k "$key" '{command:"echo \($k)"}')"
  has "$(payloads tool_use)" 'echo [REDACTED:ANTHROPIC_API_KEY]'
  local dump
  dump=$(sql .dump)
  lacks "$dump" "$key"
  lacks "$dump" "$other"
  lacks "$dump" "$(printf %s "$other" | base64 | cut -c1-24)"
  lacks "$dump" 'Bearer abcdefgh'
  # Not in the pages of the file either.
  if grep -aqF -e "$key" -e "$other" "$AGENT_SDLC_DB" "$AGENT_SDLC_DB"-wal 2>/dev/null; then fail 'a key is in the file'; fi
}

check_004_4_5_01() {
  talk
  # One call with a context, a message, a rewritten input and a message after it: one row for each record.
  is "$(sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE session_id = (SELECT session_id FROM transcript_entries WHERE sequence = 0) ORDER BY sequence)")" \
    'tool_use,internal_hook,system,internal_hook,tool_result,internal_hook'
  is "$(sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE session_id = (SELECT session_id FROM transcript_entries WHERE entry_type='attachment') ORDER BY sequence)")" \
    'tool_use,tool_result,attachment,file_history_snapshot'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_use'")" 6
  is "$(sql "SELECT count(*) FROM (SELECT 1 FROM transcript_entries WHERE entry_type='tool_result' GROUP BY tool_use_id HAVING count(*) = 1)")" 6
}

check_004_4_5_02() {
  talk
  eval_in mine Bash '{"command":"true"}'
  eval_in mine Bash '{"command":"true"}'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id='mine'")" 12
  is "$(sql 'SELECT min(sequence) FROM transcript_entries')" 0
  is "$(sql 'SELECT count(*) FROM (SELECT sequence, lag(sequence) OVER (PARTITION BY session_id ORDER BY id) AS before FROM transcript_entries) WHERE sequence <> before + 1')" 0
  is "$(sql 'SELECT count(*) > 6 FROM (SELECT 1 FROM transcript_entries GROUP BY session_id)')" 1
  code 0 ona db check
  # A gap made by SQL is found.
  sql "UPDATE transcript_entries SET sequence = sequence + 100 WHERE id = (SELECT max(id) FROM transcript_entries)"
  code 1 ona db check
  has "$out" 'session mine continues with sequence'
}

types="'user','assistant','system','tool_use','tool_result','progress','attachment','internal_hook','content_replacement','collapse_commit','file_history_snapshot','attribution_snapshot','queue_operation','speculation_accept','ai_title'"

check_004_4_5_03() {
  talk
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type NOT IN ($types)")" 0
  is "$(sql 'SELECT group_concat(entry_type) FROM (SELECT DISTINCT entry_type FROM transcript_entries ORDER BY 1)')" 'attachment,file_history_snapshot,internal_hook,system,tool_result,tool_use'
  sql "UPDATE transcript_entries SET entry_type='other' WHERE sequence=0"
  code 1 ona db check
  has "$out" 'has the unknown type "other"'
}

check_004_4_5_04() {
  talk
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE NOT json_valid(payload_json) OR json_type(payload_json) <> 'object' OR typeof(payload_json) <> 'text'")" 0
  # UTF-8, unescaped and compact.
  tool Bash '{"command":"printf \"Grüße → \\360\\237\\231\\202\\n\""}'
  local id
  id=$(jq -r .tool_use_id <<<"$out")
  is "$(newest)" '{"_t":"tool_result","tool_use_id":"'"$id"'","content":"Grüße → 🙂\n","is_error":false}'
  is "$(sql 'SELECT count(*) FROM transcript_entries WHERE json(payload_json) <> payload_json')" 0
  sql "UPDATE transcript_entries SET payload_json='{' WHERE sequence=0"
  code 1 ona db check
  has "$out" 'is not JSON'
  code 1 ona db check --json
  is "$(jq -c .ok <<<"$out")" false
}

check_004_8_8_1_02() {
  code 0 bash -e "$(template_file 8.8.1)"
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND payload_json LIKE '%,\"is_error\":false}'")" 1
}

check_004_8_8_1_03() {
  local n
  for n in 1 2 3; do
    tool Bash "{\"command\":\"echo result-$n\"}"
    is "$(jq -r .content <<<"$(newest)")" "result-$n"
  done
  # Also after rows that are not results, in another conversation, and after a denial.
  talk
  has "$(newest)" 'Unknown tool Nothing'
  conversation c planning
  tool Bash '{"command":"echo never"}' --conversation c
  is "$(jq -r .content <<<"$(newest)")" 'Denied: phase is planning and no approved plan exists'
  cd "$HOME"
  tool Bash '{"command":"echo elsewhere"}'
  is "$(jq -r .content <<<"$(newest)")" elsewhere
}

check_004_8_8_3_03() {
  ona db init >/dev/null
  code 0 bash -e "$(template_file 8.8.3)"
  is "$(jq -r .content <<<"$(newest)")" 'Denied by PreToolUse hook
[0] '
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 1
}

check_004_10_02() {
  talk
  eval_in s Bash '{"command":"true"}'
  fire SessionStart '{"source":"startup"}'
  is "$(find "$WORLD" -name '*.jsonl*')" ''
  bash "$here/transcript.sh" 004-1-03
}

check_004_13_01() {
  talk
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE json_extract(payload_json,'\$._t') IS NOT entry_type")" 0
  is "$(sql 'SELECT count(DISTINCT entry_type) FROM transcript_entries')" 6
}

check_004_13_04() {
  talk
  tool Bash '"text instead of an object"'
  is "$(is_error)" true
  is "$(sql "SELECT count(*) FROM transcript_entries t WHERE entry_type='tool_use' AND NOT (json_type(payload_json,'\$.id') IS 'text' AND json_type(payload_json,'\$.name') IS 'text'
    AND json_type(payload_json,'\$.input') IS 'object' AND json_extract(payload_json,'\$.id') = tool_use_id)")" 0
  is "$(payloads tool_use | head -n 1 | jq -c 'del(.id)')" '{"_t":"tool_use","name":"Bash","input":{"command":"echo hi"}}'
  is "$(payloads tool_use | jq -sr 'map(keys_unsorted | join(",")) | unique[]')" _t,id,name,input
}

check_004_13_05() {
  talk
  is "$(payloads tool_result | jq -sr 'map(keys_unsorted | join(",")) | unique[]')" _t,tool_use_id,content,is_error
  is "$(payloads tool_result | jq -sr 'map([(.tool_use_id, .content, .is_error) | type] | join(",")) | unique[]')" string,string,boolean
  is "$(payloads tool_result | jq -sc 'map(.is_error)')" '[false,false,false,false,true,true]'
  is "$(sql "SELECT count(*) FROM transcript_entries r JOIN transcript_entries u ON u.id = r.parent_entry_id AND u.entry_type='tool_use' AND u.tool_use_id = r.tool_use_id
    WHERE r.entry_type='tool_result' AND json_extract(r.payload_json,'\$.tool_use_id') = r.tool_use_id")" 6
}

check_004_13_06() {
  talk
  is "$(payloads system)" '{"_t":"system","subtype":"hook_message","hook_event":"PreToolUse","hook_ordinal":0,"message":"for the operator"}'
  hooks "$(hook PreToolUse Bash "echo '{\"continue\":false,\"stopReason\":\"enough\"}'")"
  tool Bash '{"command":"touch ran"}'
  is "$(payloads system | tail -n 1)" '{"_t":"system","subtype":"hook_stopped","hook_event":"PreToolUse","hook_ordinal":0,"stop_reason":"enough"}'
  is "$(content)" 'Stopped by hook: enough'
  [ ! -e ran ] || fail 'the tool ran'
}

check_004_13_08() {
  pixel p.png
  tool Read '{"file_path":"p.png"}'
  local id
  id=$(jq -r .tool_use_id <<<"$out")
  is "$(payloads attachment | jq -c --arg id "$id" '[._t, .attachment.kind, .attachment.media_type, .attachment.tool_use_id == $id, keys_unsorted]')" \
    '["attachment","image","image/png",true,["_t","attachment"]]'
  payloads attachment | jq -r .attachment.data | base64 -d | cmp - p.png || fail 'the picture is not the file'
  # Directly after the result it belongs to.
  is "$(sql "SELECT a.sequence - r.sequence FROM transcript_entries a, transcript_entries r WHERE a.entry_type='attachment' AND r.entry_type='tool_result'")" 1
}

check_004_13_09() {
  talk
  local other
  other=$(sql "SELECT payload_json FROM transcript_entries WHERE entry_type NOT IN ('user','assistant','tool_use','tool_result','system','progress','attachment') ORDER BY sequence")
  is "$(jq -sr 'map(._t) | unique | join(",")' <<<"$other")" file_history_snapshot,internal_hook
  is "$(jq -sr 'map(keys_unsorted[0]) | unique[]' <<<"$other")" _t
  has "$other" '{"_t":"internal_hook","hook_event":"PreToolUse","hook_ordinal":0,"dialect":"sdlc","additional_context":"for the model"}'
  has "$other" '"requested_input":{"command":"echo hi"},"effective_input":{"command":"echo hi","description":"rewritten"}}'
  has "$other" "{\"_t\":\"file_history_snapshot\",\"path\":\"$PWD/a.txt\",\"sha256\":\"$(sha256sum a.txt | cut -d' ' -f1)\"}"
}

check_004_17_04() {
  talk
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type NOT IN ($types) OR json_extract(payload_json,'\$._t') IS NOT entry_type")" 0
  # Opaque envelopes of others are tolerated and kept as they are.
  local session
  session=$(sql 'SELECT session_id FROM transcript_entries ORDER BY id DESC LIMIT 1')
  sql "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) SELECT session_id, max(sequence) + 1, 'ai_title', '{\"_t\":\"ai_title\",\"title\":\"x\"}' FROM transcript_entries WHERE session_id='$session'"
  code 0 ona db check
  eval_in "$session" Bash '{"command":"echo on"}'
  is "$(is_error)" false
  is "$(payloads ai_title)" '{"_t":"ai_title","title":"x"}'
  is "$(sql "SELECT max(sequence) - (SELECT sequence FROM transcript_entries WHERE entry_type='ai_title') FROM transcript_entries WHERE session_id='$session'")" 6
}

run_check "$@"
