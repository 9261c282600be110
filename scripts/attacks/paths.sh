#!/usr/bin/env bash
# Attack cases: what was judged is what is done (DEC-184). Files and folders are exchanged for
# links while a question is open, in a hook, or in a race with the call.
# Run: paths.sh <case>
. "$(cd "$(dirname "$0")" && pwd)/lib.sh"

# ---- words of this area ------------------------------------------------------------

# The victim: a file outside of the project that nobody agreed to change.
victim() {
  mkdir -p "$WORLD/outside"
  VICTIM=$WORLD/outside/victim.txt
  echo victim-text >"$VICTIM"
}
# guard : the operator's own settings, which no tool may change
guard() {
  user_settings '{"cleanupPeriodDays":30}'
  VICTIM=$HOME/.ona/settings.json
}
# same : what the victim holds now
same() { sha256sum <"$VICTIM"; }

# answered ANSWER_JSON SWAP SCRIPT_JSON [FLAG...] : a driven session; when the first question comes SWAP is run
# (shell text), then every question gets that answer. The questions are in $WORLD/asked, the
# results of the calls in $results.
answered() {
  local answer=$1 swap=$2 script=$3 line id swapped=no
  shift 3
  model "$script"
  anthropic
  : >"$WORLD/asked"
  results=
  coproc ONA_P { ona --output-format stream-json --verbose --input-format stream-json --permission-prompt-tool stdio "$@" 2>"$WORLD/driven.err"; }
  local pid=$ONA_P_PID to=${ONA_P[1]} from
  exec {from}<&"${ONA_P[0]}"
  jq -cn '{type:"user",message:{role:"user",content:"go"}}' >&"$to"
  while IFS= read -r -t 30 line <&"$from"; do
    case $(jq -r '.type + " " + (.request.subtype? // "")' <<<"$line") in
      'control_request can_use_tool')
        jq -c .request <<<"$line" >>"$WORLD/asked"
        if [ $swapped = no ]; then
          bash -ec "$swap" || proves_nothing "the exchange failed: $swap"
          swapped=yes
        fi
        id=$(jq -r .request_id <<<"$line")
        jq -cn --arg id "$id" --argjson a "$answer" '{type:"control_response",response:{subtype:"success",request_id:$id,response:$a}}' >&"$to"
        ;;
      'user '*) results+=$(jq -r 'if (.message.content | type) == "array" then .message.content[] | select(.type == "tool_result") | "\(.is_error // false) \(.content)" else empty end' <<<"$line")$'\n' ;;
      'result '*) break ;;
    esac
  done
  eval "exec ${to}>&-"
  wait "$pid" || true
  [ -s "$WORLD/asked" ] || proves_nothing "nobody was asked: $results $(cat "$WORLD/driven.err")"
}
YES='{"behavior":"allow"}'
# exchanged SWAP TOOL INPUT_JSON [FLAG...] : the person agrees to a call, SWAP happens before the answer
# arrives; the victim stays as it is, and the result says that the call was rejected
exchanged() {
  local swap=$1 before
  before=$(same)
  answered "$YES" "$swap" "[$(calls "$2" "$3")]" "${@:4}"
  is_same "$before" "$results"
  case $results in true*) ;; *) succeeded "the call counts as done: $results" ;; esac
}
is_same() { [ "$(same)" = "$1" ] || succeeded "the victim was changed: $2"; }
# reaches PATH : writing there without ona does change the victim, so the exchange works
reaches() {
  local before
  before=$(same)
  echo reached >"$1"
  [ "$(same)" != "$before" ] || proves_nothing "$1 does not lead to the victim"
}
# in_hook EVENT TOOL SWAP [OUTPUT_JSON] : the operator's settings with a hook that makes the exchange; ask rules make it a question
in_hook() {
  local output=${4:-}
  if [ -z "$output" ] && [ "$1" = PermissionRequest ]; then
    output='{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'
  fi
  printf '%s\n' "$3" >"$WORLD/swap"
  printf '%s' "$output" >"$WORLD/output"
  settings "$(jq -cn --arg e "$1" --arg t "$2" --arg c "bash -e '$WORLD/swap' && cat '$WORLD/output'; touch '$WORLD/fired'" '
    {hooks:[{hook_event_name:$e,matcher:$t,command:$c}], permissions:(if $e == "PermissionRequest" then {ask:[$t]} else {allow:[$t]} end)}')"
}
# closed FOLDER : the operator's rule that nothing is written there (in --eval a question of the mode is not asked)
closed() { settings "$(jq -cn --arg f "/$1" '{permissions:{allow:["Write","Edit"],deny:["Edit(\($f)/**)","Write(\($f)/**)"]}}')"; }
fired() { [ -e "$WORLD/fired" ] || proves_nothing "the hook did not run: $out $err"; }
write() { jq -cn --arg f "$1" --arg c "${2:-new-text}" '{file_path:$f,content:$c}'; }
edit() { jq -cn --arg f "$1" '{file_path:$f,old_string:"victim-text",new_string:"new-text"}'; }
# batch N TOOL INPUT_JSON FLAG... : the same call N times in one process
batch() {
  local n=$1 line
  line=$(jq -cn --arg t "$2" --argjson i "$3" '{tool:$t,input:$i}')
  shift 3
  out=$(for _ in $(seq "$n"); do printf '%s\n' "$line"; done | timeout 60 ona --eval - "$@" 2>"$WORLD/stderr") || true
  err=$(cat "$WORLD/stderr")
}
# flipping SCRIPT : a Python loop that runs it over and over, with exchange(a, b) at hand, until `still`
flipping() {
  cat >"$WORLD/flip.py" <<PYTHON
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
def exchange(a, b):
    return libc.renameat2(-100, a.encode(), -100, b.encode(), 2)
end = time.time() + 60
while time.time() < end and not os.path.exists("$WORLD/stop"):
    $1
PYTHON
  python3 "$WORLD/flip.py" &
  flipper=$!
}
still() {
  touch "$WORLD/stop"
  wait "$flipper" || true
}

# ---- attacks: while a question is open -----------------------------------------------------

attack_file_becomes_a_link_to_a_guard() { # a plain file is replaced by a link to the operator's settings before the yes arrives: nothing is written
  guard
  echo text >notes.txt
  exchanged "rm notes.txt; ln -s '$VICTIM' notes.txt" Write "$(write "$PWD/notes.txt")"
  reaches notes.txt
}
attack_new_file_becomes_a_link() { # a file that does not exist yet is there as a link when the yes arrives
  victim
  exchanged "ln -s '$VICTIM' new.txt" Write "$(write "$PWD/new.txt")"
  reaches new.txt
}
attack_new_file_becomes_a_dangling_link() { # a file that does not exist yet is there as a link to a guard file that does not exist either
  mkdir -p "$HOME/.ona"
  answered "$YES" "ln -s '$HOME/.ona/settings.json' new.txt" "[$(calls Write "$(write "$PWD/new.txt" '{}')")]"
  [ ! -e "$HOME/.ona/settings.json" ] || succeeded "the guard file was made: $results"
  echo '{}' >new.txt
  [ -e "$HOME/.ona/settings.json" ] || proves_nothing 'the link leads nowhere'
}
attack_folder_becomes_a_link() { # the file's folder is replaced by a link to a folder outside
  victim
  mkdir data
  echo text >data/victim.txt
  exchanged "mv data data.old; ln -s '$WORLD/outside' data" Write "$(write "$PWD/data/victim.txt")"
  reaches data/victim.txt
}
attack_folder_far_above_becomes_a_link() { # a folder three levels above the file is replaced by a link
  victim
  mkdir -p a/b/c "$WORLD/tree/b/c"
  ln "$VICTIM" "$WORLD/tree/b/c/f.txt"
  VICTIM=$WORLD/tree/b/c/f.txt
  echo text >a/b/c/f.txt
  exchanged "mv a a.old; ln -s '$WORLD/tree' a" Write "$(write "$PWD/a/b/c/f.txt")"
  reaches a/b/c/f.txt
}
attack_missing_folders_become_a_link() { # folders that Write would make are there as a link to the home folder when the yes arrives
  answered "$YES" "ln -s '$HOME' fresh" "[$(calls Write "$(write "$PWD/fresh/.config/autostart/x.desktop")")]"
  [ ! -e "$HOME/.config" ] || succeeded "written below the home folder: $results"
  mkdir -p fresh/.config
  [ -e "$HOME/.config" ] || proves_nothing 'the link does not lead to the home folder'
}
attack_edit_through_a_link() { # Edit of a file that becomes a link to a file outside with the same text
  victim
  echo victim-text >notes.txt
  exchanged "rm notes.txt; ln -s '$VICTIM' notes.txt" Edit "$(edit "$PWD/notes.txt")"
  reaches notes.txt
}
attack_edit_in_a_linked_folder() { # Edit of a file whose folder becomes a link to a guarded folder
  mkdir -p "$HOME/.claude" conf
  echo '{"a":"victim-text"}' | tee "$HOME/.claude/settings.json" >conf/settings.json
  VICTIM=$HOME/.claude/settings.json
  exchanged "mv conf conf.old; ln -s '$HOME/.claude' conf" Edit "$(edit "$PWD/conf/settings.json")"
  reaches conf/settings.json
}
attack_notebook_becomes_a_link() { # NotebookEdit of a notebook that becomes a link to one outside
  mkdir "$WORLD/outside"
  VICTIM=$WORLD/outside/n.ipynb
  jq -n '{cells:[{cell_type:"code",id:"c1",metadata:{},outputs:[],execution_count:null,source:["1"]}],metadata:{},nbformat:4,nbformat_minor:5}' | tee "$VICTIM" >n.ipynb
  exchanged "rm n.ipynb; ln -s '$VICTIM' n.ipynb" NotebookEdit "$(jq -cn --arg f "$PWD/n.ipynb" '{notebook_path:$f,cell_id:"c1",new_source:"2"}')"
  reaches n.ipynb
}
attack_read_of_a_denied_file() { # a file asked about becomes a link to one under a read denial: its text does not come
  echo denied-text >.env
  mkdir "$WORLD/outside"
  echo text >"$WORLD/outside/f.txt"
  answered "$YES" "rm '$WORLD/outside/f.txt'; ln -s '$PWD/.env' '$WORLD/outside/f.txt'" "[$(calls Read "$(jq -cn --arg f "$WORLD/outside/f.txt" '{file_path:$f}')")]" --disallowedTools 'Read(./.env)'
  lacks "$results" denied-text
  has "$(cat "$WORLD/outside/f.txt")" denied-text
}
attack_read_in_a_linked_folder() { # the folder of a file asked about becomes a link to the folder with the denied file
  mkdir "$WORLD/outside" secrets
  echo denied-text >secrets/f.txt
  echo text >"$WORLD/outside/f.txt"
  answered "$YES" "mv '$WORLD/outside' '$WORLD/gone'; ln -s '$PWD/secrets' '$WORLD/outside'" "[$(calls Read "$(jq -cn --arg f "$WORLD/outside/f.txt" '{file_path:$f}')")]" --disallowedTools 'Read(./secrets/**)'
  lacks "$results" denied-text
  has "$(cat "$WORLD/outside/f.txt")" denied-text
}
attack_picture_becomes_a_link() { # a picture asked about becomes a link to a denied picture: no byte of it comes
  mkdir "$WORLD/outside"
  local dot='iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  local other='iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC'
  base64 -d <<<"$dot" >"$WORLD/outside/p.png"
  base64 -d <<<"$other" >secret.png
  answered "$YES" "rm '$WORLD/outside/p.png'; ln -s '$PWD/secret.png' '$WORLD/outside/p.png'" "[$(calls Read "$(jq -cn --arg f "$WORLD/outside/p.png" '{file_path:$f}')")]" --disallowedTools 'Read(./secret.png)'
  ! grep -q '"type":"image"' "$LOG" || succeeded 'a picture was sent to the model'
  cmp -s secret.png "$WORLD/outside/p.png" || proves_nothing 'the link does not lead to the picture'
}
attack_search_in_a_linked_folder() { # Grep in a folder that becomes a link to the one with the denied file
  mkdir "$WORLD/outside" secrets
  echo 'denied-text KEY' >secrets/f.txt
  echo 'KEY' >"$WORLD/outside/f.txt"
  answered "$YES" "mv '$WORLD/outside' '$WORLD/gone'; ln -s '$PWD/secrets' '$WORLD/outside'" "[$(calls Grep "$(jq -cn --arg f "$WORLD/outside" '{pattern:"KEY",path:$f,output_mode:"content"}')")]" --disallowedTools 'Read(./secrets/**)' --settings '{"permissions":{"ask":["Grep"]}}'
  lacks "$results" denied-text
  has "$(grep -r KEY "$WORLD/outside/")" denied-text
}
attack_names_in_a_linked_folder() { # Glob in a folder that becomes a link to the home folder lists nothing of it
  mkdir docs
  touch "$HOME/name-of-a-private-file.txt" docs/a.txt
  answered "$YES" "mv docs docs.old; ln -s '$HOME' docs" "[$(calls Glob "$(jq -cn --arg f "$PWD/docs" '{pattern:"*.txt",path:$f}')")]" --settings '{"permissions":{"ask":["Glob"]}}'
  lacks "$results" name-of-a-private-file
  has "$(ls docs/)" name-of-a-private-file
}
attack_real_folders_change_places() { # no links: the agreed folder is moved away and .git takes its name, so that hooks/pre-commit lands in the repository
  repository
  mkdir -p ok/hooks
  VICTIM=$PWD/.git/hooks/pre-commit
  answered "$YES" 'mv ok ok.old; mv .git ok' "[$(calls Write "$(write "$PWD/ok/hooks/pre-commit" '#!/bin/sh')")]"
  mv ok .git
  mv ok.old ok
  [ ! -e .git/hooks/pre-commit ] || succeeded "a hook of the repository was written: $results"
  git status >/dev/null || proves_nothing 'the repository did not survive the exchange'
}
attack_working_directory_changes_places() { # the project folder itself is replaced by a link to the home folder
  echo text >.profile
  answered "$YES" "mv '$WORLD/project' '$WORLD/project.old'; ln -s '$HOME' '$WORLD/project'" "[$(calls Write "$(write "$PWD/.profile.d/x.sh")")]"
  [ ! -e "$HOME/.profile.d" ] || succeeded "written below the home folder: $results"
  mkdir "$WORLD/project/.profile.d"
  [ -e "$HOME/.profile.d" ] || proves_nothing 'the link does not lead to the home folder'
}
attack_fifo_instead_of_a_file() { # a file asked about becomes a fifo: Read comes to an end
  mkdir "$WORLD/outside"
  echo text >"$WORLD/outside/f.txt"
  local before=$SECONDS
  answered "$YES" "rm '$WORLD/outside/f.txt'; mkfifo '$WORLD/outside/f.txt'" "[$(calls Read "$(jq -cn --arg f "$WORLD/outside/f.txt" '{file_path:$f}')")]"
  [ $((SECONDS - before)) -lt 20 ] || succeeded 'Read waits for the fifo'
  case $results in true*) ;; *) succeeded "Read of a fifo: $results" ;; esac
  ! timeout 1 cat "$WORLD/outside/f.txt" || proves_nothing 'the fifo does not block'
}
attack_answer_names_another_file() { # the yes carries an updated input that names a guard file: it is judged, and refused to everybody
  guard
  local before
  before=$(same)
  answered "$(jq -cn --arg f "$VICTIM" '{behavior:"allow",updatedInput:{file_path:$f,content:"{}"}}')" : "[$(calls Write "$(write "$PWD/notes.txt")")]"
  is_same "$before" "$results"
  echo '{}' >"$VICTIM"
  [ "$(same)" != "$before" ] || proves_nothing 'the victim cannot change'
}

# ---- attacks: in hooks -----------------------------------------------------------------------

attack_hook_answers_and_exchanges() { # a PermissionRequest hook says allow and replaces the file by a link: nothing is written through it
  victim
  echo text >notes.txt
  local before
  before=$(same)
  in_hook PermissionRequest Write "rm notes.txt; ln -s '$VICTIM' notes.txt"
  call Write "$(write "$PWD/notes.txt")"
  fired
  is_same "$before" "$out"
  reaches notes.txt
}
attack_first_hook_exchanges() { # a PreToolUse hook replaces the folder by a link to a guarded one: the call is judged by where it leads now
  guard
  mkdir conf
  local before
  before=$(same)
  in_hook PreToolUse Write "rm -r conf; ln -s '$HOME/.ona' conf"
  call Write "$(write "$PWD/conf/settings.json")"
  fired
  is_same "$before" "$out"
  reaches conf/settings.json
}
attack_hook_rewrites_to_a_link() { # a PreToolUse hook rewrites the path to a link it has just made to a guard: refused
  guard
  local before
  before=$(same)
  in_hook PreToolUse Write "ln -sf '$VICTIM' made.txt" "$(jq -cn --arg f "$PWD/made.txt" '{hookSpecificOutput:{hookEventName:"PreToolUse",permissionDecision:"allow",updatedInput:{file_path:$f,content:"{}"}}}')"
  call Write "$(write "$PWD/notes.txt")"
  fired
  is_same "$before" "$out"
  reaches made.txt
}
attack_prompt_hook_exchanges_a_mention() { # a UserPromptSubmit hook replaces the file that @notes.txt names by a link to a denied one
  echo denied-text >.env
  echo text >notes.txt
  settings "$(jq -cn --arg c "ln -sf '$PWD/.env' notes.txt; touch '$WORLD/fired'" '{hooks:[{hook_event_name:"UserPromptSubmit",command:$c}],permissions:{allow:["Read(./**)"],deny:["Read(./.env)"]}}')"
  model '[]'
  anthropic
  run ona -p 'look at @notes.txt'
  fired
  ! grep -q denied-text "$LOG" || succeeded 'the denied text was sent to the model'
  has "$(cat notes.txt)" denied-text
}

# ---- attacks: races ---------------------------------------------------------------------------

attack_race_for_the_file() { # 60 Writes while a loop exchanges the file and a link to a file outside: the outside one is never written
  victim
  echo text >f.txt
  ln -s "$VICTIM" other.txt
  local before
  before=$(same)
  closed "$WORLD/outside"
  flipping "exchange('f.txt', 'other.txt')"
  batch 60 Write "$(write "$PWD/f.txt")"
  still
  is_same "$before" "$(grep -c '"is_error":false' <<<"$out") writes went through"
  has "$out" '"is_error":'
  ln -sf "$VICTIM" f.txt
  reaches f.txt
}
attack_race_for_the_folder() { # 60 Writes while a loop exchanges the folder and a link to a guarded folder
  guard
  mkdir d
  ln -s "$HOME/.ona" e
  local before
  before=$(same)
  flipping "exchange('d', 'e')"
  batch 60 Write "$(write "$PWD/d/settings.json" '{"permissions":{"allow":["Bash"]}}')" --permission-mode bypassPermissions
  still
  is_same "$before" "$(grep -c '"is_error":false' <<<"$out") writes went through"
  has "$out" '"is_error":'
  reaches "$([ -L d ] && echo d || echo e)/settings.json"
}
attack_race_for_a_read() { # 100 Reads while a loop exchanges the file and a link to a denied one: the denied text never comes
  echo denied-text >.env
  echo text >f.txt
  ln -s .env other.txt
  settings '{"permissions":{"allow":["Read"],"deny":["Read(./.env)"]}}'
  flipping "exchange('f.txt', 'other.txt')"
  batch 100 Read "$(jq -cn --arg f "$PWD/f.txt" '{file_path:$f}')"
  still
  lacks "$out" denied-text
  has "$out" '"is_error":'
  has "$(cat "$([ -L f.txt ] && echo f.txt || echo other.txt)")" denied-text
}
attack_race_for_new_folders() { # 40 Writes that make folders while a loop puts a link to the home folder in their place
  flipping "
    try: os.rename('$PWD/fresh', '$WORLD/tmp/%s' % time.time_ns())
    except OSError: pass
    try: os.symlink('$HOME', '$PWD/fresh')
    except OSError: pass
    try: os.unlink('$PWD/fresh')
    except OSError: pass"
  closed "$HOME"
  batch 40 Write "$(write "$PWD/fresh/deep/x.txt")"
  still
  [ ! -e "$HOME/deep" ] || succeeded 'a folder was made below the home folder'
  has "$out" '"is_error":'
}

# ---- attacks: where a path leads ----------------------------------------------------------------

attack_hard_link_to_a_guard() { # a second name for the guard file, made before the call, cannot be used to write it
  guard
  ln "$VICTIM" notes.txt
  local before
  before=$(same)
  call Write "$(write "$PWD/notes.txt" '{}')" --permission-mode bypassPermissions
  is_same "$before" "$out"
  call Edit "$(jq -cn --arg f "$PWD/notes.txt" '{file_path:$f,old_string:"30",new_string:"31"}')" --permission-mode bypassPermissions
  is_same "$before" "$out"
  ln -f "$VICTIM" notes.txt
  reaches notes.txt
}
attack_parent_of_a_link() { # link/../x means the folder beside the link's target, not beside the link: it is judged there
  mkdir -p "$WORLD/outside/deep"
  VICTIM=$WORLD/outside/victim.txt
  echo victim-text >"$VICTIM"
  ln -s "$WORLD/outside/deep" link
  local before
  before=$(same)
  closed "$WORLD/outside"
  call Write "$(write "$PWD/link/../victim.txt")"
  is_same "$before" "$out"
  reaches link/../victim.txt
}
attack_long_chain_of_links() { # 39 links one behind the other lead to a guard: the kernel follows them, so must the judgement
  guard
  ln -s "$VICTIM" l0
  local i before
  for i in $(seq 38); do ln -s "l$((i - 1))" "l$i"; done
  before=$(same)
  call Write "$(write "$PWD/l38" '{}')" --permission-mode bypassPermissions
  is_same "$before" "$out"
  reaches l38
}
attack_own_descriptors() { # Write to /proc/self/fd/N and /dev/fd/N, where ona's database is open: the database stays whole
  settings '{"permissions":{"allow":["Write"]}}'
  local fd
  for fd in $(seq 3 40); do
    call Write "$(write "/proc/self/fd/$fd" 'this is not a database, it was overwritten by the Write tool')" --permission-mode bypassPermissions
    call Write "$(write "/dev/fd/$fd" 'this is not a database, it was overwritten by the Write tool')" --permission-mode bypassPermissions
  done
  is "$(sql 'PRAGMA integrity_check')" ok
  ! grep -qa 'overwritten by the Write tool' <(head -c 100 "$AGENT_SDLC_DB") || succeeded 'the database begins with the text'
}
attack_aliases_below_proc() { # a denied file read as /proc/self/cwd/.env, /proc/thread-self/cwd/.env or /proc/<pid>/root/...: its text does not come
  echo denied-text >.env
  settings '{"permissions":{"allow":["Read"],"deny":["Read(./.env)"]}}'
  local path
  for path in /proc/self/cwd/.env /proc/thread-self/cwd/.env "/proc/$$/cwd/.env" "/proc/$$/root$PWD/.env"; do
    call Read "$(jq -cn --arg f "$path" '{file_path:$f}')"
    lacks "$out" denied-text
    has "$(cat "$path")" denied-text
  done
}
attack_added_folder_moves() { # a link given with --add-dir is pointed at the home folder later: acceptEdits does not follow it
  mkdir "$WORLD/harmless"
  ln -s "$WORLD/harmless" "$WORLD/extra"
  local script
  script="[$(calls Bash "$(jq -cn --arg c "ln -sfn '$HOME' '$WORLD/extra'" '{command:$c}')"),$(calls Write "$(write "$WORLD/extra/x.txt")")]"
  turn "$script" --add-dir "$WORLD/extra" --permission-mode acceptEdits --allowedTools Bash
  [ "$(readlink "$WORLD/extra")" = "$HOME" ] || proves_nothing "the link was not moved: $out $err"
  [ ! -e "$HOME/x.txt" ] || succeeded 'written below the home folder'
}
attack_folder_moves_between_calls() { # a project folder becomes a link to the home folder by the agent's own Bash call: the next Write is judged anew
  mkdir sub
  local script
  script="[$(calls Read "$(jq -cn --arg f "$PWD/sub/none" '{file_path:$f}')"),$(calls Bash '{"command":"rmdir sub; ln -s \"$HOME\" sub"}'),$(calls Write "$(write "$PWD/sub/x.txt")")]"
  turn "$script" --permission-mode acceptEdits --allowedTools Bash
  [ -L sub ] || proves_nothing "the link was not made: $out $err"
  [ ! -e "$HOME/x.txt" ] || succeeded 'written below the home folder'
}

# ---- controls ---------------------------------------------------------------------------------------

control_linked_source_folder() { # a source folder that has always been a link inside the project is read, written and edited
  mkdir -p packages/core
  ln -s packages/core core
  echo victim-text >packages/core/a.txt
  call Write "$(write "$PWD/core/b.txt")" --permission-mode acceptEdits
  call Edit "$(edit "$PWD/core/a.txt")" --permission-mode acceptEdits
  call Read "$(jq -cn --arg f "$PWD/core/a.txt" '{file_path:$f}')"
  is "$(cat packages/core/a.txt)" new-text
  is "$(cat packages/core/b.txt)" new-text
  has "$out" new-text
}
control_agreed_target_outside() { # a link that was there when the person was asked and agreed is written through, as agreed
  victim
  ln -s "$VICTIM" notes.txt
  answered "$YES" : "[$(calls Write "$(write "$PWD/notes.txt")")]"
  is "$(cat "$VICTIM")" new-text
  [ -L notes.txt ] || overblocked 'the link was replaced by a file'
}
control_content_changes_meanwhile() { # a file that an editor replaces by rename while the question is open is still written
  echo text >notes.txt
  answered "$YES" 'echo other >n.tmp; mv n.tmp notes.txt' "[$(calls Write "$(write "$PWD/new.txt")")]"
  is "$(cat new.txt)" new-text
}
control_new_folders() { # Write makes the folders it needs
  call Write "$(write "$PWD/a/b/c/d.txt")" --permission-mode acceptEdits
  is "$(cat a/b/c/d.txt)" new-text
}
control_linked_working_directory() { # a project entered through a link (as on systems where /tmp is one) works with paths of both spellings
  ln -s "$WORLD/project" "$WORLD/alias"
  cd "$WORLD/alias"
  call Write "$(write "$WORLD/alias/a.txt")" --permission-mode acceptEdits
  call Write "$(write "$WORLD/project/b.txt")" --permission-mode acceptEdits
  call Edit '{"file_path":"b.txt","old_string":"new-text","new_string":"newer-text"}' --permission-mode acceptEdits
  is "$(cat a.txt b.txt | paste -sd' ')" 'new-textnewer-text'
}

run_case "$@"
