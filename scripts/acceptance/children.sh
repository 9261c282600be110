#!/usr/bin/env bash
# Acceptance checks of what ona leaves behind when it dies: no process of tools, servers and
# workers, whatever signal ends it.
# Run: children.sh <ledger id or name>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# writer NAME : shell text that notes its id and writes for as long as it lives
writer() { printf 'echo $BASHPID >>%s/ids; while :; do echo x >>%s/written-%s; sleep 0.02; done' "$WORLD" "$WORLD" "$1"; }
# Descendants of every kind: a shell in a shell, a job, sessions of their own whose parents are
# gone, one without an environment and without open files, one that ignores signals.
cat_of_kinds() {
  local name
  for name in nested job session orphan bare deaf; do printf '%s' "$(writer "$name")" >"$WORLD/$name.sh"; done
  printf '%s\n' "bash $WORLD/job.sh &" \
    "setsid bash $WORLD/session.sh >/dev/null 2>&1 &" \
    "(setsid bash -c 'setsid bash $WORLD/orphan.sh & ' >/dev/null 2>&1 &)" \
    "(env -i /usr/bin/setsid /bin/bash -c 'for f in {0..40}; do eval \"exec \$f>&-\"; done; cd /; exec /bin/bash $WORLD/bare.sh' &)" \
    "(trap '' TERM HUP INT QUIT; setsid bash $WORLD/deaf.sh >/dev/null 2>&1 &)" \
    "bash -c 'bash $WORLD/nested.sh; true'; true"
}
kinds=6
# started COUNT : waits until this many writers have noted their id
started() {
  local tries=0
  until [ "$(wc -l 2>/dev/null <"$WORLD/ids" || echo 0)" -ge "$1" ]; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || fail "only these were started: $(ls "$WORLD") $(cat "$WORLD/stderr" 2>/dev/null)"
    sleep 0.05
  done
}
alive() { local id; while read -r id; do [ ! -d "/proc/$id" ] || grep -q '^State:.*[ZX]' "/proc/$id/status" 2>/dev/null || echo "$id"; done <"$WORLD/ids"; }
# nothing_lives : within two seconds; and no file grows after that
nothing_lives() {
  local tries=0 before
  while [ -n "$(alive)" ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || fail "still running after $1: $(for id in $(alive); do tr '\0' ' ' <"/proc/$id/cmdline"; echo; done)"
    sleep 0.02
  done
  before=$(cat "$WORLD"/written-* 2>/dev/null | wc -c)
  sleep 0.2
  is "$(cat "$WORLD"/written-* 2>/dev/null | wc -c)" "$before"
  rm -f "$WORLD/ids" "$WORLD"/written-*
}
# dies SIGNAL : ona, started before as $ona, is ended by it
dies() {
  kill "-$1" "$ona"
  local got=0
  wait "$ona" 2>/dev/null || got=$?
  [ "$got" -gt 128 ] || fail "ona ended with $got instead of by $1"
}
# begin ARGUMENT... : ona in the background, as $ona; a shell has jobs ignore SIGQUIT, which is undone
begin() { ulimit -c 0; env --default-signal=INT,QUIT ona "$@" </dev/null >"$WORLD/stdout" 2>"$WORLD/stderr" & ona=$!; }

# ---- what a killed program leaves -----------------------------------------------------

check_children_of_bash() {
  local signal kinds_text
  kinds_text=$(cat_of_kinds)
  for signal in KILL QUIT ABRT; do
    settings '{"permissions":{"allow":["Bash"]}}'
    model "$(jq -cn --arg c "$kinds_text" '[{calls:[{name:"Bash",input:{command:$c}}]}]')"
    anthropic
    begin -p go
    started $kinds
    dies $signal
    nothing_lives "$signal in a Bash call"
    stop_servers
  done
}
check_children_in_background() {
  local signal
  for signal in KILL QUIT ABRT; do
    settings '{"permissions":{"allow":["Bash"]}}'
    # A task that runs, and daemons of a call that has long ended.
    model "$(jq -cn --arg t "$(writer task)" --arg d "$(cat_of_kinds | sed '$d')" '[{calls:[{name:"Bash",input:{command:$t,run_in_background:true}},{name:"Bash",input:{command:$d}}]},{hang:true}]')"
    anthropic
    begin -p go
    started $kinds
    until [ "$(requests)" = 2 ]; do sleep 0.05; done
    dies $signal
    nothing_lives "$signal after a Bash call"
    stop_servers
  done
}
check_children_of_servers() {
  local signal mcp_server="$ONA_ROOT/crates/ona/tests/it/mcp_server.mjs"
  writer own >"$WORLD/own.sh"
  for signal in KILL QUIT ABRT; do
    # A server that ignores the end of its stdin, with a daemon of its own.
    settings "$(jq -cn --arg c "setsid bash $WORLD/own.sh & setsid -f bash $WORLD/own.sh; echo \$\$ >>$WORLD/ids; exec node $mcp_server" --arg l "$WORLD/log" '{mcpServers:{s:{command:"bash",args:["-c",$c],env:{LOG:$l}}}}')"
    model '[{"hang":true}]'
    anthropic
    begin -p go
    started 3
    until [ "$(requests)" = 1 ]; do sleep 0.05; done
    dies $signal
    nothing_lives "$signal with a server"
    stop_servers
  done
}
check_children_of_workers() {
  local signal
  writer own >"$WORLD/own.sh"
  mkdir -p "$WORLD/python"
  cat >busy.ts <<MODULE
import { appendFileSync } from "node:fs";
import { spawn } from "node:child_process";
export default function (pi: any): void {
  appendFileSync("$WORLD/ids", process.pid + "\\n");
  spawn("setsid", ["bash", "$WORLD/own.sh"], { stdio: "ignore", detached: true });
  // In calls to the module that never end: the thread does not read its stdin.
  pi.on("tool_call", () => { for (;;) appendFileSync("$WORLD/written-worker", "x"); });
}
MODULE
  printf 'import os, subprocess, time\nopen("%s", "a").write(f"{os.getpid()}\\n")\nsubprocess.Popen(["setsid", "bash", "%s"])\ndef f(event):\n    while True:\n        open("%s", "a").write("x")\n' "$WORLD/ids" "$WORLD/own.sh" "$WORLD/written-python" >busy.py
  for signal in KILL QUIT ABRT; do
    settings '{"permissions":{"allow":["Bash"]}}'
    model '[{"calls":[{"name":"Bash","input":{"command":"true"}}]}]'
    anthropic
    ONA_JS_RUNTIME=node begin -p go --hook busy.ts
    started 2
    until [ -s "$WORLD/written-worker" ]; do sleep 0.02; done
    dies $signal
    nothing_lives "$signal with a module"
    stop_servers
    model '[{"calls":[{"name":"Bash","input":{"command":"true"}}]}]'
    anthropic
    echo 'hooks: {PreToolUse: [{handler: busy.f}]}' >hooks.yaml
    ONA_MASSGEN_CONFIG=$PWD/hooks.yaml begin -p go
    started 2
    until [ -s "$WORLD/written-python" ]; do sleep 0.02; done
    dies $signal
    nothing_lives "$signal with Python functions"
    stop_servers
  done
}
# What is not killed ends as before: a normal end and an interrupt leave a daemon alone, hooks too.
check_children_may_stay() {
  local id
  printf 'echo $BASHPID >>%s/ids; exec sleep 20' "$WORLD" >"$WORLD/stay.sh"
  settings '{"permissions":{"allow":["Bash"]}}'
  model "$(jq -cn --arg c "setsid bash $WORLD/stay.sh >/dev/null 2>&1 &" '[{calls:[{name:"Bash",input:{command:$c}}]},{say:"done"}]')"
  anthropic
  says 0 -p go
  started 1
  is "$(alive | wc -l)" 1
  # A hook's own daemon outlives also a kill.
  settings "$(jq -cn --argjson h "$(hook PreToolUse Bash "cat >/dev/null; setsid bash $WORLD/stay.sh >/dev/null 2>&1 &")" '{hooks:[$h],permissions:{allow:["Bash"]}}')"
  stop_servers
  model '[{"calls":[{"name":"Bash","input":{"command":"sleep 20"}}]}]'
  anthropic
  begin -p go
  started 2
  dies KILL
  sleep 0.3
  is "$(alive | wc -l)" 2
  for id in $(cat "$WORLD/ids"); do kill -KILL "$id"; done
}
# What was running when the program was killed is named when the session goes on, once.
check_children_named() {
  local before
  settings '{"permissions":{"allow":["Bash"]}}'
  model "$(jq -cn --arg t "$(writer task)" --arg c "$(writer call)" '[
    {calls:[{name:"Bash",input:{command:"sleep 0",run_in_background:true}},{name:"Bash",input:{command:$t,run_in_background:true,description:"the task"}}]},
    {calls:[{name:"TaskOutput",input:{task_id:"b1"}},{name:"Bash",input:{command:$c}},{name:"Bash",input:{command:"echo never"}}]},{say:"done"},{say:"again"}]')"
  anthropic
  begin -p go
  started 2
  dies KILL
  nothing_lives 'KILL'
  says 0 -p --continue 'go on'
  has "$err" 'Still running when this session last ended, and not run again: Bash ('
  has "$err" 'background task b2 ('
  lacks "$err" 'background task b1'
  lacks "$err" 'echo never'
  # The model hears of the task; the call has the result of DEC-024.
  has "$(req 2 "(.body | tostring)")" 'stopped, because the program that ran it ended'
  before=$(sql 'SELECT count(*) FROM transcript_entries')
  says 0 -p --continue 'and on'
  lacks "$err" 'Still running'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%stopped, because the program%'")" 1
  [ "$before" -gt 0 ]
}
# Files of a killed program are removed at the next start: its folders below TMPDIR (transcript copies,
# files of shells and hooks) and, when its session goes on, the half of a file it was writing.
check_children_files() {
  local old
  export TMPDIR=$WORLD/tmp
  mkdir -p "$TMPDIR"
  settings "$(jq -cn --argjson h "$(hook PreToolUse Bash "cat >/dev/null; echo export A=1 >>\"\$CLAUDE_ENV_FILE\"; true")" '{hooks:[$h],permissions:{allow:["Bash","Write"]},claudeCompat:{transcriptPath:true}}')"
  model "$(jq -cn --arg c "$(writer call)" '[{calls:[{name:"Bash",input:{command:$c}}]},{say:"done"}]')"
  anthropic
  begin -p go
  started 1
  dies KILL
  nothing_lives KILL
  old=$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'ona-*' | sort)
  [ -n "$old" ] || fail 'the killed program left nothing'
  # Not before it is sure that nobody is about to lock them.
  touch -d '2 minutes ago' $old
  mkdir -m 700 "$TMPDIR/ona-demo-kept"
  touch -d '2 minutes ago' "$TMPDIR/ona-demo-kept"
  says 0 -p 'something else'
  local tries=0
  while [ "$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'ona-*')" != "$TMPDIR/ona-demo-kept" ]; do
    tries=$((tries + 1))
    [ $tries -lt 40 ] || fail "left over: $(ls -la "$TMPDIR")"
    sleep 0.05
  done
  # A write that is cut off: the temporary file beside the target.
  stop_servers
  model '[{"calls":[{"name":"Write","input":{"file_path":"deep/new.txt","content":"x"}}]},{"say":"done"}]'
  anthropic
  mkdir -p deep
  settings "$(jq -cn --argjson h "$(hook PostToolUse Write "cat >/dev/null; echo \$\$ >>$WORLD/ids; exec sleep 60")" '{hooks:[$h],permissions:{allow:["Write"]}}')"
  begin -p write
  started 1
  : >deep/.ona-0123456789abcdef
  : >deep/.ona-notes
  dies KILL
  kill -KILL "$(cat "$WORLD/ids")"
  settings '{}'
  says 0 -p --continue 'go on'
  is "$(ls -A deep | tr '\n' ' ')" '.ona-notes new.txt '
}
# A session whose program was killed before its first row is what --continue continues, and says so;
# one that ended by itself without a prompt is not, nor one another process works in.
check_continue_cut_off() {
  local event before id
  model '[{"say":"a"},{"say":"b"},{"say":"c"},{"say":"d"}]'
  anthropic
  says 0 -p whole
  for event in SessionStart UserPromptSubmit; do
    settings "$(jq -cn --argjson h "$(hook $event '' "cat >/dev/null; echo \$\$ >>$WORLD/ids; exec sleep 60")" '{hooks:[$h]}')"
    begin -p first
    started 1
    dies KILL
    kill -KILL "$(cat "$WORLD/ids")"
    rm "$WORLD/ids"
    settings '{}'
    id=$(sql 'SELECT session_id FROM sessions ORDER BY rowid DESC LIMIT 1')
    before=$(sql 'SELECT count(*) FROM sessions')
    says 0 -p --continue second
    has "$err" "continuing session $id, which ended before its first prompt was recorded"
    is "$(sql 'SELECT count(*) FROM sessions')" "$before"
    is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id='$id' AND entry_type='user'")" 1
  done
  # A driving program that introduces itself and leaves, and one that is still there.
  before=$id
  printf '%s\n' '{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}' >"$WORLD/hello"
  ona -p --input-format stream-json --output-format stream-json --verbose <"$WORLD/hello" >/dev/null
  says 0 -p --continue --output-format json third
  is "$(jq -r .session_id <<<"$out")" "$before"
  lacks "$err" 'continuing session'
}

run_check "$@"
