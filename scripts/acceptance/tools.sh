#!/usr/bin/env bash
# Tools: what Read, Write, Edit, NotebookEdit, Bash, Glob, Grep, TaskOutput and TaskStop do
# to files and processes, and the exact content and is_error they leave (section 7).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# content_is JSON_STRING : the exact content, line ends included
content_is() { [ "$(jq --argjson want "$1" '.content == $want' <<<"$out")" = true ] || fail "content «$(jq .content <<<"$out")» instead of «$1»"; }
# ok / rejected / internal : the class of the last call
ok() { is "$(is_error)" false; }
rejected() {
  is "$(is_error)" true
  case $(content) in '[SDLC_INTERNAL]'*) fail "an internal failure: $(content)" ;; esac
}
internal() {
  is "$(is_error)" true
  case $(content) in '[SDLC_INTERNAL]'*) ;; *) fail "no internal failure: $(content)" ;; esac
}
# file PATH TEXT : the exact bytes of a file
file() { printf "$2" | cmp - "$1" || fail "$1 has other bytes: $(od -c "$1" | head)"; }
# calls JSON... : several calls in one process, through stdin; one line of $out each
calls() { printf '%s\n' "$@" >"$WORLD/calls"; code 0 sh -c 'exec ona --eval - <"$1"' sh "$WORLD/calls"; }
call() { jq -cn --arg t "$1" --argjson i "$2" '{tool:$t,input:$i}'; }
# answer N [KEY] : of the Nth call, from 0
answer() { jq -sr ".[$1].${2:-content}" <<<"$out"; }
gone() { ! kill -0 "$1" 2>/dev/null; }
wait_gone() { local n=0; until gone "$1"; do sleep 0.05; n=$((n + 1)); [ $n -lt 60 ] || fail "process $1 is still there"; done; }
milliseconds() { date +%s%3N; }

check_004_7_1_01() {
  hooks "$(hook PreToolUse '' "cat >$WORLD/stdin")"
  tool Bash '{"command":"true"}'
  is "$(jq -c '[.tool_name, .tool_input]' "$WORLD/stdin")" '["Bash",{"command":"true"}]'
  rm "$WORLD/stdin"
  local input
  for input in '"text"' '["a"]' 7 true null; do
    tool Bash "$input"
    rejected
    has "$(content)" 'the input must be a JSON object'
  done
  # Invalid input fires no hooks and starts nothing.
  [ ! -e "$WORLD/stdin" ] || fail 'a hook saw invalid input'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='tool_started'")" 1
}

check_004_7_1_02() {
  local row name key input
  while read -r name key input; do
    tool "$name" "$input"
    rejected
    has "$(content)" "missing field \`$key\`"
  done <<'ROWS'
Read file_path {}
Write file_path {"content":"x"}
Write content {"file_path":"never"}
Edit file_path {"old_string":"a","new_string":"b"}
Edit old_string {"file_path":"a.txt","new_string":"b"}
Edit new_string {"file_path":"a.txt","old_string":"a"}
NotebookEdit notebook_path {"new_source":"x"}
NotebookEdit new_source {"notebook_path":"n.ipynb"}
Bash command {"timeout":5}
Glob pattern {}
Grep pattern {"path":"."}
TaskOutput task_id {}
TaskStop task_id {}
ROWS
  [ ! -e never ] || fail 'Write ran without content'
  # Every optional key is known; any other is named.
  echo a >a.txt
  while read -r name input; do
    tool "$name" "$input"
    lacks "$(content)" 'unknown field'
    tool "$name" "$(jq -c '. + {surprise: 1}' <<<"$input")"
    rejected
    has "$(content)" 'unknown field `surprise`'
  done <<'ROWS'
Read {"file_path":"a.txt","offset":1,"limit":1,"pages":"1"}
Edit {"file_path":"a.txt","old_string":"a","new_string":"b","replace_all":true}
NotebookEdit {"notebook_path":"n.ipynb","new_source":"x","cell_id":"a","cell_type":"code","edit_mode":"insert"}
Bash {"command":"true","timeout":1000,"description":"d","run_in_background":false,"dangerouslyDisableSandbox":false}
Glob {"pattern":"*","path":"."}
Grep {"pattern":"a","path":".","glob":"*","type":"rust","output_mode":"content","-A":1,"-B":1,"-C":1,"context":1,"-i":true,"-n":true,"-o":false,"head_limit":1,"offset":0,"multiline":false}
TaskOutput {"task_id":"b1","block":false,"timeout":1}
TaskStop {"task_id":"b1"}
ROWS
}

check_004_7_1_03() {
  tool Bash '{"command":"printf ok"}'
  tool Bash '{"command":"printf \"a\\377b\""}'
  content_is '"a\ufffdb"'
  tool Bash '{"command":"exit 1"}'
  tool Read '{"file_path":"missing"}'
  tool Nothing '{}'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result'")" 5
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND NOT (json_type(payload_json,'\$.content') IS 'text' AND json_type(payload_json,'\$.is_error') IN ('true','false'))")" 0
  is "$(sql "SELECT group_concat(json_extract(payload_json,'\$.is_error'), '') FROM (SELECT payload_json FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence)")" 00111
  # What is printed is what is stored.
  is "$(jq -c '[.content, .is_error]' <<<"$out")" "$(newest | jq -c '[.content, .is_error]')"
  sql "SELECT payload_json FROM transcript_entries" | iconv -f UTF-8 -t UTF-8 >/dev/null || fail 'not UTF-8'
}

check_004_7_1_04() {
  printf 'one\n' >a.txt
  tool Read '{"file_path":"a.txt"}'
  ok
  has "$(content)" 'one'
  tool Bash '{"command":"echo done; exit 0"}'
  ok
  content_is '"done\n"'
  tool Write '{"file_path":"b.txt","content":"two\n"}'
  ok
  file b.txt 'two\n'
  tool Edit '{"file_path":"b.txt","old_string":"two","new_string":"three"}'
  ok
  file b.txt 'three\n'
  tool Glob '{"pattern":"*.txt"}'
  ok
  tool Grep '{"pattern":"one"}'
  ok
  is "$(content)" "$PWD/a.txt"
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND payload_json LIKE '%\"is_error\":false}'")" 6
}

check_004_7_1_05() {
  tool Read '{}'
  rejected
  tool Read '{"file_path":"missing"}'
  rejected
  is "$(content)" "$PWD/missing does not exist."
  tool Edit '{"file_path":"missing","old_string":"a","new_string":"b"}'
  rejected
  tool Bash '{"command":"echo out; echo err >&2; exit 3"}'
  rejected
  content_is '"out\n\n--- stderr ---\nerr\n"'
  tool Bash '{"command":"echo before; kill -KILL $$"}'
  rejected
  has "$(content)" before
  tool Grep '{"pattern":"("}'
  rejected
  tool Frobnicate '{}'
  rejected
  is "$(content)" 'Unknown tool Frobnicate'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND payload_json LIKE '%\"is_error\":true}'")" 7
}

check_004_7_1_06() {
  local begin
  begin=$(milliseconds)
  tool Bash '{"command":"echo $$ >pid; echo begun; sleep 30","timeout":300}'
  [ $(($(milliseconds) - begin)) -lt 5000 ] || fail 'the timeout did not end the command'
  internal
  content_is '"[SDLC_INTERNAL] The command ran longer than 300 ms and was ended.\nbegun\n"'
  wait_gone "$(cat pid)"
  has "$(newest)" '"content":"[SDLC_INTERNAL] '
  # A command that ignores the request to end is killed with its children.
  tool Bash '{"command":"(trap \"\" TERM; while :; do sleep 0.1; done) & echo $! >child; wait","timeout":200}'
  internal
  wait_gone "$(cat child)"
}

check_004_7_1_07() {
  tool Bash '{"command":"echo out"}'
  content_is '"out\n"'
  tool Bash '{"command":"echo err >&2"}'
  content_is '"\n--- stderr ---\nerr\n"'
  tool Bash '{"command":"echo err >&2; printf out"}'
  content_is '"out\n--- stderr ---\nerr\n"'
  tool Bash '{"command":"for i in 1 2; do echo o$i; echo e$i >&2; done"}'
  content_is '"o1\no2\n\n--- stderr ---\ne1\ne2\n"'
  tool Bash '{"command":"true"}'
  content_is '""'
}

# of N CHARACTER : that many of it
of() { head -c "$1" /dev/zero | tr '\0' "$2"; }
check_004_7_1_08() {
  local cut='[SDLC_TRUNCATED]'
  tool Bash '{"command":"head -c 1048576 /dev/zero | tr \"\\0\" x"}'
  jq -j .content <<<"$out" | cmp - <(of 1048576 x) || fail 'one MiB is not given whole'
  tool Bash '{"command":"head -c 1048577 /dev/zero | tr \"\\0\" x"}'
  jq -j .content <<<"$out" | cmp - <(of 1048576 x; printf %s "$cut") || fail 'one byte more is not cut'
  # Each stream on its own; the exit code still counts.
  tool Bash '{"command":"head -c 2097152 /dev/zero | tr \"\\0\" o; head -c 2097152 /dev/zero | tr \"\\0\" e >&2; exit 5"}'
  is "$(is_error)" true
  newest | jq -j .content | cmp - <(of 1048576 o; printf '%s\n--- stderr ---\n' "$cut"; of 1048576 e; printf %s "$cut") || fail 'the streams are not cut each'
  # A character is not cut in two.
  tool Bash '{"command":"printf x; head -c 600000 /dev/zero | sed \"s/\\x00/é/g\""}'
  jq -j .content <<<"$out" | cmp - <(printf x; of 524287 e | sed 's/e/é/g'; printf %s "$cut") || fail 'a character is cut'
}

check_004_7_1_09() {
  tool Write '{"file_path":"a.txt","content":"one\ntwo\n"}'
  content_is "\"Wrote $PWD/a.txt (2 lines)\""
  tool Write '{"file_path":"b.txt","content":"one"}'
  content_is "\"Wrote $PWD/b.txt (1 line)\""
  tool Edit '{"file_path":"a.txt","old_string":"one","new_string":"1"}'
  content_is "\"Edited $PWD/a.txt (1 replacement)\""
  tool Read '{"file_path":"a.txt"}'
  content_is "\"$PWD/a.txt (2 lines)\\n1\\t1\\n2\\ttwo\""
  tool Write '{"file_path":"a.txt/below","content":"x"}'
  rejected
  has "$(content)" "$PWD/a.txt"
  tool Edit '{"file_path":"a.txt","old_string":"nothing","new_string":"x"}'
  rejected
  has "$(content)" "old_string does not occur in $PWD/a.txt."
}

check_004_7_1_10() {
  base64 -d >p.png <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==
  tool Read '{"file_path":"p.png"}'
  ok
  is "$(content | head -n 2)" "$PWD/p.png (PNG image, 70 bytes, 1x1 pixels)
00000000  89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52  |.PNG........IHDR|"
  is "$(sql "SELECT json_extract(payload_json,'\$.attachment.media_type') FROM transcript_entries WHERE entry_type='attachment'")" image/png
  # UTF-16 with its mark, UTF-8 with its mark, and bytes that are neither.
  printf '\xff\xfeh\0\xe9\0\r\0\n\0' >wide.txt
  tool Read '{"file_path":"wide.txt"}'
  content_is "\"$PWD/wide.txt (1 line)\\n1\\thé\""
  printf '\xef\xbb\xbfmarked\n' >marked.txt
  tool Read '{"file_path":"marked.txt"}'
  content_is "\"$PWD/marked.txt (1 line)\\n1\\tmarked\""
  printf 'caf\xe9\n' >latin.txt
  tool Read '{"file_path":"latin.txt"}'
  ok
  has "$(content)" '1	café'
  # Anything with NUL bytes: kind, size and the first 256 bytes in hexadecimal.
  { printf '\x7fELF\0'; head -c 995 /dev/zero; } >program
  tool Read '{"file_path":"program"}'
  ok
  is "$(content | head -n 2)" "$PWD/program (ELF executable, 1000 bytes)
00000000  7f 45 4c 46 00 00 00 00 00 00 00 00 00 00 00 00  |.ELF............|"
  is "$(content | wc -l)" 17
  # Edit keeps the encoding it found.
  tool Edit '{"file_path":"wide.txt","old_string":"hé","new_string":"ä"}'
  ok
  file wide.txt '\xff\xfe\xe4\0\r\0\n\0'
}

check_004_7_1_11() {
  mkdir -p src
  printf 'fn main() {}\n' >src/main.rs
  printf 'nothing\nfn other\n' >src/lib.rs
  touch -d '2020-01-01' src/main.rs
  tool Glob '{"pattern":"**/*.rs"}'
  content_is "\"$PWD/src/lib.rs\\n$PWD/src/main.rs\""
  tool Grep '{"pattern":"fn"}'
  content_is "\"$PWD/src/lib.rs\\n$PWD/src/main.rs\""
  tool Grep '{"pattern":"fn","output_mode":"content"}'
  content_is "\"$PWD/src/lib.rs:2:fn other\\n$PWD/src/main.rs:1:fn main() {}\""
}

check_004_7_1_12() {
  echo text >a.txt
  tool Glob '{"pattern":"*.nothing"}'
  ok
  content_is '""'
  local mode
  for mode in files_with_matches content count; do
    tool Grep "{\"pattern\":\"zzz\",\"output_mode\":\"$mode\"}"
    ok
    content_is '""'
  done
  has "$(newest)" '"content":"","is_error":false'
}

check_004_7_1_19() {
  printf 'one\n' >a.txt
  find "$HOME" "$PWD" "$TMPDIR" | sort >"$WORLD/before"
  tool Read '{"file_path":"a.txt"}'
  tool Bash '{"command":"cat a.txt; trap true EXIT; exit 1"}'
  tool Bash '{"command":"sleep 9","timeout":100}'
  tool Glob '{"pattern":"*"}'
  tool Grep '{"pattern":"one"}'
  tool Edit '{"file_path":"a.txt","old_string":"absent","new_string":"x"}'
  tool Edit '{"file_path":"a.txt","old_string":"one","new_string":"two"}'
  calls "$(call Bash '{"command":"echo a; sleep 9","run_in_background":true}')" "$(call TaskStop '{"task_id":"b1"}')"
  find "$HOME" "$PWD" "$TMPDIR" | sort | diff "$WORLD/before" - || fail 'a tool left files'
  file a.txt 'two\n'
}

check_004_7_1_20() {
  tool Bash '{"command":"true"}'
  local id
  id=$(jq -r .tool_use_id <<<"$out")
  is "$(sql "SELECT json_extract(detail,'\$.tool_use_id'), json_extract(detail,'\$.tool_name') FROM events WHERE event_type='tool_started'")" "$id|Bash"
  is "$(sql "SELECT count(*) FROM events WHERE NOT json_valid(detail) OR json_type(detail) <> 'object'")" 0
  # A call that is refused started nothing.
  tool Bash '{}'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='tool_started'")" 1
}

check_004_7_2_02() {
  seq 1 2500 >long.txt
  printf 'one\ntwo\nthree' >a.txt
  tool Read '{"file_path":"a.txt"}'
  content_is "\"$PWD/a.txt (3 lines)\\n1\\tone\\n2\\ttwo\\n3\\tthree\""
  tool Read "{\"file_path\":\"$PWD/a.txt\",\"offset\":2,\"limit\":1}"
  content_is "\"$PWD/a.txt (3 lines)\\n2\\ttwo\""
  # 2000 lines unless told otherwise, and where to go on.
  tool Read '{"file_path":"long.txt"}'
  is "$(content | sed -n '1p;2p;2001p')" "$PWD/long.txt (2500 lines)
1	1
2000	2000"
  is "$(content | tail -n +2002)" '[Lines 1 to 2000 of 2500. Continue with offset 2001.]'
  tool Read '{"file_path":"long.txt","offset":2001}'
  is "$(content | tail -n 1)" '2500	2500'
  is "$(content | wc -l)" 501
  # Long lines are cut at 2000 characters.
  head -c 3000 /dev/zero | tr '\0' y >wide.txt
  tool Read '{"file_path":"wide.txt"}'
  is "$(content | head -n 1)" "$PWD/wide.txt (1 line)"
  is "$(content | tail -n 1 | tr -cd y | wc -c)" 2000
  : >empty.txt
  tool Read '{"file_path":"empty.txt"}'
  ok
  has "$(content)" "$PWD/empty.txt (0 lines)"
  tool Read '{"file_path":"a.txt","offset":9}'
  ok
  has "$(content)" 'past the end'
  tool Read '{"file_path":"."}'
  rejected
  has "$(content)" 'is a directory'
}

check_004_7_2_03() {
  tool Write '{"file_path":"deep/er/a.txt","content":"Grüße\n\tno newline at the end"}'
  ok
  file deep/er/a.txt 'Grüße\n\tno newline at the end'
  # Overwrites all of it and keeps the permissions.
  chmod 640 deep/er/a.txt
  tool Write '{"file_path":"deep/er/a.txt","content":"x"}'
  file deep/er/a.txt x
  is "$(stat -c %a deep/er/a.txt)" 640
  tool Write '{"file_path":"empty","content":""}'
  [ -f empty ] && [ ! -s empty ] || fail 'no empty file'
  # Through a link, and not onto a directory or a read-only file.
  ln -s deep/er/a.txt link
  tool Write '{"file_path":"link","content":"through"}'
  file deep/er/a.txt through
  [ -L link ] || fail 'the link was replaced'
  tool Write '{"file_path":"deep","content":"x"}'
  rejected
  chmod 444 empty
  tool Write '{"file_path":"empty","content":"x"}'
  rejected
  [ ! -s empty ] || fail 'a read-only file was written'
  # A file that changed since the session read it is not overwritten.
  code 0 ona --eval '{"tool":"Read","input":{"file_path":"link"},"session_id":"s"}'
  echo other >deep/er/a.txt
  code 0 ona --eval '{"tool":"Write","input":{"file_path":"link","content":"lost"},"session_id":"s"}'
  rejected
  file deep/er/a.txt 'other\n'
}

check_004_7_2_04() {
  printf 'a.c\nabc\nabc\n' >a.txt
  tool Edit '{"file_path":"a.txt","old_string":"a.c","new_string":"$1\\0&"}'
  ok
  printf '%s\n' '$1\0&' abc abc | cmp - a.txt || fail 'the text is not taken literally'
  tool Edit '{"file_path":"a.txt","old_string":"abc","new_string":"x"}'
  rejected
  is "$(content)" "old_string occurs 2 times in $PWD/a.txt (lines 2, 3). Add surrounding lines to make it unique, or set replace_all."
  printf '%s\n' '$1\0&' abc abc | cmp - a.txt || fail 'a rejected edit changed the file'
  tool Edit '{"file_path":"a.txt","old_string":"abc","new_string":"x","replace_all":true}'
  content_is "\"Edited $PWD/a.txt (2 replacements)\""
  printf '%s\n' '$1\0&' x x | cmp - a.txt || fail 'not all were replaced'
  tool Edit '{"file_path":"a.txt","old_string":"ABC","new_string":"x"}'
  rejected
  tool Edit '{"file_path":"a.txt","old_string":"x","new_string":"x"}'
  rejected
  is "$(content)" 'old_string and new_string are the same.'
  # Several lines, CRLF kept.
  printf 'one\r\ntwo\r\nthree\r\n' >dos.txt
  tool Edit '{"file_path":"dos.txt","old_string":"one\ntwo\n","new_string":"1\n2\n"}'
  ok
  file dos.txt '1\r\n2\r\nthree\r\n'
  tool Edit '{"file_path":"new.txt","old_string":"","new_string":"made\n"}'
  ok
  file new.txt 'made\n'
  tool Edit '{"file_path":"new.txt","old_string":"","new_string":"again"}'
  rejected
  file new.txt 'made\n'
}

check_004_7_2_05() {
  cat >n.ipynb <<'NOTEBOOK'
{
 "cells": [
  {"cell_type": "code", "execution_count": 3, "id": "aa", "metadata": {}, "outputs": [{"output_type": "stream"}], "source": ["print(1)"]},
  {"cell_type": "markdown", "id": "bb", "metadata": {"k": 1.50}, "source": ["# Title"]}
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
NOTEBOOK
  tool NotebookEdit '{"notebook_path":"n.ipynb","cell_id":"aa","new_source":"print(2)\nx"}'
  content_is "\"Replaced cell aa in $PWD/n.ipynb\""
  is "$(jq -c '.cells[0]' n.ipynb)" '{"cell_type":"code","execution_count":null,"id":"aa","metadata":{},"outputs":[],"source":["print(2)\n","x"]}'
  has "$(cat n.ipynb)" '{"cell_type": "markdown", "id": "bb", "metadata": {"k": 1.50}, "source": ["# Title"]}'
  tool NotebookEdit '{"notebook_path":"n.ipynb","cell_id":"aa","new_source":"text","edit_mode":"insert","cell_type":"markdown"}'
  ok
  is "$(jq -c '[.cells[] | [.cell_type, (.source | add)]]' n.ipynb)" '[["code","print(2)\nx"],["markdown","text"],["markdown","# Title"]]'
  is "$(jq '[.cells[].id] | unique | length' n.ipynb)" 3
  tool NotebookEdit '{"notebook_path":"n.ipynb","new_source":"first","edit_mode":"insert","cell_type":"code"}'
  is "$(jq -c '[.cells[0].cell_type, .cells[0].outputs, .cells[0].execution_count, (.cells | length)]' n.ipynb)" '["code",[],null,4]'
  tool NotebookEdit '{"notebook_path":"n.ipynb","cell_id":"bb","new_source":"","edit_mode":"delete"}'
  content_is "\"Deleted cell bb in $PWD/n.ipynb\""
  is "$(jq -c '[.cells[].source | add]' n.ipynb)" '["first","print(2)\nx","text"]'
  is "$(jq -c '[.metadata, .nbformat, .nbformat_minor]' n.ipynb)" '[{"language_info":{"name":"python"}},4,5]'
  # What cannot be done is reported and changes nothing.
  cp n.ipynb "$WORLD/before"
  tool NotebookEdit '{"notebook_path":"n.ipynb","cell_id":"zz","new_source":"x"}'
  rejected
  has "$(content)" 'Unknown cell zz'
  tool NotebookEdit '{"notebook_path":"n.ipynb","new_source":"x"}'
  rejected
  tool NotebookEdit '{"notebook_path":"n.ipynb","new_source":"x","edit_mode":"insert"}'
  rejected
  has "$(content)" cell_type
  cmp n.ipynb "$WORLD/before" || fail 'a rejected call changed the notebook'
  echo '{}' >broken.ipynb
  tool NotebookEdit '{"notebook_path":"broken.ipynb","cell_id":"aa","new_source":"x"}'
  rejected
}

check_004_7_2_06() {
  tool Bash '{"command":"pwd; cat; [ -n \"$BASH_VERSION\" ] && echo in bash"}'
  content_is "\"$PWD\\nin bash\\n\""
  # A cd inside the project lasts for the calls of the process, one outside does not.
  mkdir sub
  calls "$(call Bash '{"command":"cd sub; FOO=1"}')" "$(call Bash '{"command":"pwd; echo [$FOO]"}')" "$(call Bash '{"command":"cd /; pwd"}')" "$(call Bash '{"command":"pwd"}')"
  is "$(answer 1)" "$PWD/sub
[]"
  has "$(answer 2)" "Shell cwd was reset to $PWD"
  is "$(answer 3)" "$PWD"
  # Timeout and background.
  tool Bash '{"command":"sleep 9","timeout":100}'
  internal
  local begin
  begin=$(milliseconds)
  calls "$(call Bash '{"command":"echo $$ >pid; sleep 60","run_in_background":true}')" "$(call Bash '{"command":"until [ -s pid ]; do sleep 0.05; done; echo meanwhile"}')"
  [ $(($(milliseconds) - begin)) -lt 10000 ] || fail 'a background command was waited for'
  is "$(answer 0)" 'Started task b1. TaskOutput returns what it prints, TaskStop ends it.'
  is "$(answer 1)" meanwhile
  # Nothing is left behind when the program ends.
  has "$err" '1 background task'
  wait_gone "$(cat pid)"
}

check_004_7_2_07() {
  mkdir -p src/deep .hidden .git
  touch -d '2020-01-03' src/a.rs
  touch -d '2020-01-01' src/deep/b.rs
  touch -d '2020-01-02' src/c.ts
  touch -d '2020-01-04' .hidden/d.rs
  touch .git/e.rs
  tool Glob '{"pattern":"**/*.rs"}'
  content_is "\"$PWD/.hidden/d.rs\\n$PWD/src/a.rs\\n$PWD/src/deep/b.rs\""
  tool Glob '{"pattern":"src/*.{rs,ts}"}'
  content_is "\"$PWD/src/a.rs\\n$PWD/src/c.ts\""
  tool Glob '{"pattern":"[a-c].rs","path":"src/deep"}'
  content_is "\"$PWD/src/deep/b.rs\""
  tool Glob '{"pattern":"src/?.rs"}'
  content_is "\"$PWD/src/a.rs\""
  tool Glob '{"pattern":"*","path":"src/a.rs"}'
  rejected
  tool Glob '{"pattern":"*","path":"missing"}'
  rejected
  mkdir many
  (cd many && touch $(seq 1 120))
  tool Glob '{"pattern":"many/*"}'
  is "$(content | grep -c "^$PWD/many/")" 100
  has "$(content | tail -n 1)" '100 of 120 files shown'
}

check_004_7_2_08() {
  mkdir -p src .git
  printf 'Alpha\nbeta one\ngamma\nbeta two\ndelta\n' >src/a.rs
  printf 'beta beta\n' >src/b.py
  printf 'beta\n' >ignored.rs
  echo ignored.rs >.gitignore
  printf 'beta\0\n' >src/binary
  touch -d '2020-01-01' src/a.rs
  local a=$PWD/src/a.rs b=$PWD/src/b.py
  tool Grep '{"pattern":"beta"}'
  content_is "\"$b\\n$a\""
  tool Grep '{"pattern":"^beta (one|two)$","output_mode":"content"}'
  content_is "\"$a:2:beta one\\n$a:4:beta two\""
  tool Grep '{"pattern":"beta","output_mode":"count"}'
  content_is "\"$a:2\\n$b:1\""
  tool Grep '{"pattern":"ALPHA","output_mode":"content","-i":true,"-n":false}'
  content_is "\"$a:Alpha\""
  tool Grep '{"pattern":"ALPHA"}'
  content_is '""'
  tool Grep '{"pattern":"gamma","output_mode":"content","-B":1,"-A":1}'
  content_is "\"$a-2-beta one\\n$a:3:gamma\\n$a-4-beta two\""
  tool Grep '{"pattern":"gamma","output_mode":"content","-C":2}'
  is "$(content | wc -l)" 5
  tool Grep '{"pattern":"beta","output_mode":"content","-o":true,"glob":"*.py"}'
  content_is "\"$b:1:beta\\n$b:1:beta\""
  tool Grep '{"pattern":"beta","type":"rust"}'
  content_is "\"$a\""
  tool Grep '{"pattern":"beta","output_mode":"content","path":"src","head_limit":1,"offset":1}'
  is "$(content | head -n 1)" "$a:4:beta two"
  tool Grep '{"pattern":"one.gamma","multiline":true,"output_mode":"content"}'
  content_is "\"$a:2:beta one\\n$a:3:gamma\""
  # A file that is named is searched even if version control ignores it.
  tool Grep '{"pattern":"beta","path":"ignored.rs"}'
  content_is "\"$PWD/ignored.rs\""
  tool Grep '{"pattern":"("}'
  rejected
  tool Grep '{"pattern":"x","path":"missing"}'
  rejected
}

check_004_7_2_12() {
  todos() { code 0 ona --eval "$(jq -cn '{tool:"TodoWrite",session_id:"s",input:{todos: [range(0; $ARGS.positional|length; 2) as $i | {content:$ARGS.positional[$i],status:$ARGS.positional[$i+1],activeForm:"doing \($ARGS.positional[$i])"}]}}' --args "$@")"; }
  stored() { sql "SELECT value FROM state WHERE key='todos:s'" | jq -c 'map([.id,.content,.status])'; }
  settings "$(jq -cn --argjson created "$(hook TaskCreated '' 'cat >>told')" --argjson completed "$(hook TaskCompleted '' 'tee -a told | grep -q early && { echo "not yet" >&2; exit 2; }; true')" \
    '{hooks:[$created,$completed],permissions:{allow:["TodoWrite"]}}')"
  todos write in_progress test pending
  is "$(stored)" '[["t1","write","in_progress"],["t2","test","pending"]]'
  todos test completed ship pending
  is "$(content)" $'1 of 2 done\n[x] test\n[ ] ship'
  is "$(stored)" '[["t2","test","completed"],["t3","ship","pending"]]'
  is "$(sql "SELECT value FROM state WHERE key='todos:s'" | jq -c 'map(.activeForm)')" '["doing test","doing ship"]'
  is "$(jq -r '[.hook_event_name,.task_id,.task_subject,.task_description] | join(" ")' told)" $'TaskCreated t1 write doing write\nTaskCreated t2 test doing test\nTaskCompleted t2 test doing test\nTaskCreated t3 ship doing ship'
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE hook_event LIKE 'Task%'")" 4
  # A hook that blocks leaves the list as it was.
  todos early completed
  is "$(is_error) $(stored)" 'true [["t2","test","completed"],["t3","ship","pending"]]'
  is "$(content)" $'Refused by TaskCompleted hook\n[1] not yet'
}
check_004_7_2_13() {
  calls "$(call Bash '{"command":"echo out; sleep 0.3; echo err >&2; exit 4","run_in_background":true}')" \
    "$(call TaskOutput '{"task_id":"b1","block":false}')" \
    "$(call TaskOutput '{"task_id":"b1"}')" \
    "$(call TaskOutput '{"task_id":"b1"}')" \
    "$(call BashOutput '{"bash_id":"b1"}')" \
    "$(call Bash '{"command":"sleep 30","description":"a long nap","run_in_background":true}')" \
    "$(call TaskOutput '{"task_id":"b2","timeout":100}')" \
    "$(call TaskOutput '{"task_id":"b9"}')"
  case $(answer 1) in 'Task b1: running'*) ;; *) fail "$(answer 1)" ;; esac
  is "$(answer 2)" 'Task b1: ended with exit code 4
out

--- stderr ---
err'
  # What has ended stays readable, also by the older name.
  is "$(answer 3)" "$(answer 2)"
  is "$(answer 4)" "$(answer 2)"
  is "$(answer 6)" 'Task b2: running'
  is "$(answer 7)" 'Unknown task b9. Running: b2 (a long nap)'
  is "$(jq -sc 'map(.is_error)' <<<"$out")" '[false,false,false,false,false,false,false,true]'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_use' AND json_extract(payload_json,'\$.name')='TaskOutput'")" 6
}

check_004_7_2_22() {
  calls "$(call Bash '{"command":"trap \"\" TERM; echo $$ >pid; sleep 60 & echo $! >child; echo said; while :; do wait; done","run_in_background":true}')" \
    "$(call Bash '{"command":"until [ -s child ]; do sleep 0.02; done; kill -0 $(cat pid) && echo alive"}')" \
    "$(call TaskStop '{"task_id":"b1"}')" \
    "$(call Bash '{"command":"kill -0 $(cat pid) 2>/dev/null || echo gone"}')" \
    "$(call TaskOutput '{"task_id":"b1"}')" \
    "$(call TaskStop '{"task_id":"b1"}')" \
    "$(call KillShell '{"shell_id":"b7"}')"
  is "$(answer 1)" alive
  has "$(answer 2)" 'Stopped task b1 ('
  is "$(answer 3)" gone
  is "$(answer 4)" 'Task b1: stopped
said'
  is "$(answer 5)" 'Task b1 is not running: stopped.'
  is "$(jq -sc 'map(.is_error)' <<<"$out")" '[false,false,false,false,false,true,true]'
  wait_gone "$(cat child)"
}

# The whole of template 8.8.1.
template() {
  code 0 bash -e "$(template_file 8.8.1)"
}

check_004_8_8_1_01() {
  template
  is "$(head -n 1 <<<"$out" | jq -c 'keys')" '["content","conversation_id","is_error","session_id","tool_use_id"]'
  # A denial or a failed tool is a recorded result as well; only a malformed call is not.
  code 0 ona --eval '{"tool":"Read","input":{"file_path":"missing"}}'
  rejected
  local before bad
  before=$(sql 'SELECT count(*) FROM transcript_entries')
  for bad in '{"tool":"Read"' '{"tool":"Read"}' '[]' '{"input":{}}' '{"tool":"Read","input":{},"more":1}'; do
    code 2 ona --eval "$bad"
    is "$out" ''
  done
  is "$(sql 'SELECT count(*) FROM transcript_entries')" "$before"
}

check_004_8_8_1_04() {
  template
  is "$(jq -r .content <<<"$(newest)")" '/tmp/sdlc_test_read_input.txt (3 lines)
1	line1
2	line2
3	line3'
}

run_check "$@"
