#!/usr/bin/env bash
# Acceptance checks of checkpoints: files are kept before a prompt's work changes them, and a rewind
# restores them, the conversation, or both. The model is scripted (model.mjs).
# Run: checkpoints.sh <check id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# says SCRIPT_JSON [MORE_SETTINGS] : a scripted model, and settings that let it work
says() {
  model "$1"
  anthropic
  settings "$(jq -cn --argjson more "${2:-{\}}" '{model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"},permissions:{allow:["Agent","Bash","Read","Write","Edit"]}} + $more')"
}
call() { jq -cn --arg n "$1" --argjson i "$2" '{calls:[{name:$n,input:$i}]}'; }
write() { call Write "$(jq -cn --arg p "$1" --arg c "$2" '{file_path:$p,content:$c}')"; }
bash_call() { call Bash "$(jq -cn --arg c "$1" '{command:$c}')"; }
# script ITEM... : the items as one list
script() { printf '%s\n' "$@" | jq -cs .; }
ask() { code 0 ona -p "$@" --output-format json; session=$(jq -r .session_id <<<"$out"); }
rewind() { code 0 ona sessions rewind --last "$@"; }
# rewound FILTER : a value of the JSON that rewind printed
rewound() { jq -cr "$1" <<<"$out"; }
kept() { sql 'SELECT count(*) FROM sdlc_kept_content'; }
say='{"say":"done"}'

# ---- keeping -----------------------------------------------------------------------

check_kept_before() {
  printf 'old\n' >a.txt
  chmod 640 a.txt
  says "$(script "$(write a.txt new)" "$(write a.txt newer)" "$(write b.txt b)" "$say")"
  ask change
  is "$(cat a.txt)" newer
  is "$(sql "SELECT count(*) FROM sdlc_file_changes")" 2
  is "$(kept)" 1
  is "$(sql "SELECT before_kind || ' ' || before_mode || ' ' || after_kind || ' ' || settled FROM sdlc_file_changes WHERE path LIKE '%/a.txt'")" "file $((0640)) file 1"
  is "$(sql "SELECT before_sha256 FROM sdlc_file_changes WHERE path LIKE '%/a.txt'")" "$(printf 'old\n' | sha256sum | cut -d' ' -f1)"
  is "$(sql "SELECT before_kind FROM sdlc_file_changes WHERE path LIKE '%/b.txt'")" absent
  # Another file with the same content is not stored twice.
  printf 'old\n' >c.txt
  says "$(script "$(write c.txt other)" "$say")"
  ask again
  is "$(kept)" 1
}

check_kept_in_time() {
  # The program is killed by the first thing that runs after the tool: the hook after it.
  printf 'precious\n' >a.txt
  local kill_it='kill -9 $PPID; sleep 5'
  says "$(script "$(write a.txt lost)" "$say")" "$(jq -cn --arg c "$kill_it" '{hooks:[{hook_event_name:"PostToolUse",matcher:"Write",command:$c}]}')"
  { ona -p change >/dev/null 2>&1 || true; } 2>/dev/null
  is "$(cat a.txt)" lost
  is "$(sql "SELECT before_kind || settled || coalesce(after_kind, '-') FROM sdlc_file_changes")" 'file0-'
  # How the killed call left the file is not known, so it takes a word from the operator.
  code 1 ona sessions rewind --last --to 1
  is "$(cat a.txt)" lost
  rewind --to 1 --force
  is "$(cat a.txt)" precious
}

check_reads_keep_nothing() {
  printf 'old\n' >a.txt
  says "$(script "$(call Read '{"file_path":"a.txt"}')" "$(bash_call 'cat a.txt; touch -a a.txt')" "$say")"
  ask look
  is "$(kept)" 0
  is "$(sql 'SELECT count(*) FROM sdlc_file_changes')" 0
}

check_commands() {
  git init -q .
  printf 'one\ntwo\n' >a.txt
  printf 'gone\n' >gone.txt
  printf '#!/bin/sh\n' >run.sh
  printf 'out/\n' >.gitignore
  mkdir out
  printf 'x' >out/built
  printf '\377\376\000binary' >b.bin
  says "$(script "$(bash_call 'printf "one\nTWO\nthree\n" >a.txt; rm gone.txt; chmod +x run.sh; mkdir -p new/deep; echo n >new/deep/file; echo y >out/built; printf "\0" >b.bin')" "$say")"
  ask work
  is "$(sql 'SELECT count(*) FROM sdlc_file_changes')" 5
  rewind --to 1 --dry-run --json
  is "$(rewound '.files_changed | map(sub(".*/project/"; "")) | join(" ")')" 'a.txt b.bin gone.txt new/deep/file run.sh'
  is "$(rewound '"\(.insertions) \(.deletions) \(.done)"')" '2 3 false'
  is "$(cat gone.txt 2>/dev/null || echo no)" no
  rewind --to 1
  is "$(cat a.txt)" "$(printf 'one\ntwo')"
  is "$(cat gone.txt)" gone
  [ ! -x run.sh ] || fail 'run.sh is still executable'
  [ ! -e new/deep/file ] || fail 'a new file is still there'
  is "$(cat b.bin | base64)" "$(printf '\377\376\000binary' | base64)"
  # What .gitignore excludes is not looked at.
  is "$(cat out/built)" y
}

check_agents() {
  printf 'old\n' >a.txt
  says "$(script "$(call Agent '{"description":"d","prompt":"p"}')" "$(write a.txt new)" '{"say":"the agent is done"}' "$say")"
  ask delegate
  is "$(cat a.txt)" new
  local child
  child=$(sql "SELECT substr(key, 16) FROM state WHERE key LIKE 'session_parent:%'")
  code 2 ona sessions rewind "$child" --to 1
  has "$err" 'is that of an agent'
  code 0 ona sessions rewind "$session" --to 1 --files
  is "$(cat a.txt)" old
}

# ---- rewinding ---------------------------------------------------------------------

check_scopes() {
  printf 'v0\n' >a.txt
  says "$(script "$(write a.txt v1)" "$say" "$(write a.txt v2)" "$say" "$say")"
  ask first
  ask second --resume "$session"
  rewind
  has "$out" '  1  '
  has "$out" 'second'
  rewind --json
  is "$(rewound 'map("\(.number) \(.text) \(.files)") | join(", ")')" '1 first 1, 2 second 1'
  local second
  second=$(rewound '.[1].uuid')
  # Only the files, by id.
  rewind --to "$second" --files
  is "$(cat a.txt)" v1
  rewind --json
  is "$(rewound 'length')" 2
  rewind --undo
  is "$(cat a.txt)" v2
  # Only the conversation.
  rewind --to 2 --conversation
  is "$(cat a.txt)" v2
  rewind --json
  is "$(rewound 'length')" 1
  rewind --undo
  rewind --json
  is "$(rewound 'length')" 2
  code 2 ona sessions rewind --last --undo
  has "$err" 'taken back already'
  # Both, by the beginning of the id; the model no longer hears of what was left.
  rewind --to 1
  is "$(cat a.txt)" v0
  ask third --resume "$session"
  is "$(req 4 '.body.messages | map(select(.role == "user")) | length')" 1
  lacks "$(req 4 '.body.messages | tostring')" second
  # No row was removed.
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id='$session' AND entry_type='user'")" 3
  code 0 ona db check
}

check_changed_by_others() {
  printf 'v0\n' >a.txt
  printf 'v0\n' >b.txt
  says "$(script "$(write a.txt v1)" "$(write b.txt v1)" "$(write c.txt v1)" "$say")"
  ask change
  printf 'mine\n' >a.txt
  printf 'mine\n' >c.txt
  code 1 ona sessions rewind --last --to 1
  has "$out" 'changed by something else'
  has "$err" '--force'
  is "$(cat a.txt b.txt c.txt | tr '\n' ' ')" 'mine v1mine '
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%rewind%'")" 0
  rewind --to 1 --force
  is "$(cat a.txt b.txt | tr '\n' ' ')" 'v0 v0 '
  [ ! -e c.txt ] || fail 'c.txt is still there'
  # What was replaced comes back.
  rewind --undo
  is "$(cat a.txt b.txt c.txt | tr '\n' ' ')" 'mine v1mine '
}

check_secrets() {
  export ANTHROPIC_API_KEY=sk-ant-api03-abcdefghijklmnop
  printf 'key = %s\n' "$ANTHROPIC_API_KEY" >config.txt
  printf 'PASSWORD=hunter2hunter2\n' >.env
  printf 'fine\n' >fine.txt
  says "$(script "$(bash_call 'echo x >config.txt; echo x >.env; echo x >fine.txt')" "$(write .env y)" "$say")"
  export ANTHROPIC_API_KEY=sk-ant-api03-abcdefghijklmnop
  ask change
  lacks "$(sql .dump)" hunter2
  is "$(kept)" 1
  rewind --to 1 --dry-run
  has "$out" 'it holds a credential, which is never stored: '"$PWD/config.txt"
  has "$out" 'its name is that of a file with credentials, which is never stored: '"$PWD/.env"
  rewind --to 1 --json
  is "$(rewound '.skipped | map(.why) | join(" ")')" 'credential_file secret'
  is "$(cat fine.txt config.txt .env | tr '\n' ' ')" 'fine x y'
}

check_limits() {
  head -c 5000 /dev/urandom >large.bin
  head -c 900 /dev/urandom >one.bin
  head -c 900 /dev/urandom >two.bin
  local limits='{"checkpoints":{"maxFileBytes":1000,"maxSessionBytes":1000}}'
  says "$(script "$(write large.bin x)" "$(write one.bin x)" "$(write two.bin x)" "$say")" "$limits"
  local two
  two=$(sha256sum <two.bin)
  ask change
  is "$(sql "SELECT json_extract(detail, '$.limit') || ' ' || json_extract(detail, '$.contents') FROM events WHERE event_type='kept_content_dropped'")" 'session 1'
  rewind --to 1 --json
  is "$(rewound '.skipped | map(.why) | join(" ")')" 'too_large dropped'
  is "$(sha256sum <two.bin)" "$two"
  settings '{"checkpoints":{"enabled":false},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"},"permissions":{"allow":["Write"]}}'
  model "$(script "$(write one.bin z)" "$say")"
  anthropic
  ask off
  is "$(sql "SELECT count(*) FROM sdlc_file_changes WHERE session_id='$session'")" 0
}

check_links() {
  mkdir dir elsewhere
  printf 'v0\n' >dir/a.txt
  printf 'safe\n' >elsewhere/a.txt
  printf 'v0\n' >hard.txt
  printf 'v0\n' >folder
  ln hard.txt other-name
  says "$(script "$(write dir/a.txt v1)" "$(write hard.txt v1)" "$(write folder v1)" "$(write "$WORLD/outside.txt" v1)" "$(bash_call 'ln -s nowhere link')" "$say")" '{"permissions":{"allow":["Bash","Write","Edit(//**)"]}}'
  ask change
  # A folder on the way becomes a link, and a folder takes the place of a file.
  mv dir kept
  ln -s elsewhere dir
  rm folder
  mkdir folder
  rewind --to 1 --json
  is "$(rewound '.files_changed | length')" 0
  is "$(rewound '.skipped_links | map(sub(".*/"; "")) | sort | join(" ")')" 'a.txt hard.txt link'
  is "$(rewound '.skipped | map(.why) | sort | unique | join(" ")')" 'hard_link link not_a_file outside'
  is "$(cat elsewhere/a.txt)" safe
  is "$(cat "$WORLD/outside.txt")" v1
}

check_refusals() {
  says "$(script "$(write a.txt v1)" "$say" "$(bash_call "ona sessions rewind --last --to 1; echo code \$?")" "$say")"
  ask change
  code 2 ona sessions rewind nobody --to 1
  has "$err" 'session nobody does not exist'
  code 2 ona sessions rewind "$session" --to 7
  has "$err" 'has no prompt 7'
  mkdir "$WORLD/elsewhere"
  cd "$WORLD/elsewhere"
  code 2 ona sessions rewind "$session" --to 1
  has "$err" "cd $WORLD/project first"
  cd "$WORLD/project"
  # While another process works in the session nothing is touched.
  exec {lock}>"$AGENT_SDLC_DB.locks/$session"
  flock -x "$lock"
  code 1 ona sessions rewind "$session" --to 1
  has "$err" "session $session is in use by another process"
  exec {lock}>&-
  is "$(cat a.txt)" v1
  # The agent's own shell may not.
  ask agent
  local said
  said=$(sql "SELECT payload_json FROM transcript_entries WHERE session_id='$session' AND entry_type='tool_result'")
  has "$said" 'can be changed by the operator only'
  has "$said" 'code 1'
  is "$(cat a.txt)" v1
}

check_killed() {
  local n
  for n in 1 2 3; do printf 'v0\n' >"$n.txt"; done
  says "$(script "$(bash_call 'for n in 1 2 3; do echo v1 >$n.txt; done')" "$say")"
  ask change
  rewind --to 1
  # As a kill between two files leaves it: entered, not settled, one file not yet restored, the conversation not yet back.
  printf 'v1\n' >2.txt
  sql "UPDATE sdlc_file_changes SET settled = 0 WHERE sequence = (SELECT max(sequence) FROM sdlc_file_changes)"
  sql "DELETE FROM transcript_entries WHERE entry_type='system' AND payload_json LIKE '%rewound%'"
  rewind --to 1
  is "$(cat 1.txt 2.txt 3.txt | tr '\n' ' ')" 'v0 v0 v0 '
  rewind --json
  is "$(rewound length)" 0
}

check_driven() {
  printf 'v0\n' >a.txt
  says "$(script "$(write a.txt v1)" "$say" "$(write a.txt v2)" "$say" "$say")"
  coproc ONA_P { ona -p --output-format stream-json --verbose --input-format stream-json --replay-user-messages 2>"$WORLD/driven.err"; }
  local driven=$ONA_P_PID
  exec {to}>&"${ONA_P[1]}" {from}<&"${ONA_P[0]}"
  put() { printf '%s\n' "$1" >&"$to"; }
  until_line() {
    while IFS= read -r -t 20 line <&"$from"; do
      if [ "$(jq -r "$1" <<<"$line")" = true ]; then return; fi
    done
    fail "no line for which $1: $(cat "$WORLD/driven.err")"
  }
  request() {
    put "$(jq -cn --argjson r "$1" '{type:"control_request",request_id:"r",request:$r}')"
    until_line '.type == "control_response"'
    line=$(jq -c .response.response <<<"$line")
  }
  put '{"type":"user","uuid":"u-one","message":{"role":"user","content":"one"}}'
  until_line '.type == "result"'
  put '{"type":"user","message":{"role":"user","content":"two"}}'
  until_line '.isReplay == true'
  local two
  two=$(jq -r .uuid <<<"$line")
  until_line '.type == "result"'
  is "$(cat a.txt)" v2
  request '{"subtype":"rewind_files","user_message_id":"u-one","dry_run":true}'
  is "$(jq -c 'del(.filesChanged, .notRestorable)' <<<"$line")" '{"canRewind":true,"insertions":1,"deletions":1,"skippedLinks":[]}'
  is "$(jq -r '.filesChanged[0]' <<<"$line")" "$(realpath a.txt)"
  is "$(cat a.txt)" v2
  request "$(jq -cn --arg u "$two" '{subtype:"rewind_files",user_message_id:$u}')"
  is "$(cat a.txt)" v1
  request '{"subtype":"rewind_files","user_message_id":"nobody"}'
  is "$(jq -r .canRewind <<<"$line")" false
  printf 'mine\n' >a.txt
  request '{"subtype":"rewind_files","user_message_id":"u-one"}'
  is "$(jq -r .canRewind <<<"$line")" false
  has "$(jq -r .error <<<"$line")" 'force'
  is "$(cat a.txt)" mine
  request '{"subtype":"rewind_files","user_message_id":"u-one","force":true}'
  is "$(cat a.txt)" v0
  request "$(jq -cn --arg u "$two" '{subtype:"rewind_conversation",user_message_id:$u}')"
  is "$(jq -r .canRewind <<<"$line")" true
  put '{"type":"user","message":{"role":"user","content":"three"}}'
  until_line '.type == "result"'
  exec {to}>&-
  eval "exec ${ONA_P[1]:-$to}>&-" 2>/dev/null || true
  cat <&"$from" >/dev/null
  wait "$driven"
  is "$(sql "SELECT group_concat(json_extract(payload_json, '$.uuid') = 'u-one', '') FROM transcript_entries WHERE entry_type='user'")" 100
}

run_check "$@"
