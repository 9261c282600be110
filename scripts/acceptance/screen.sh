#!/usr/bin/env bash
# Acceptance checks of what the terminal shows while the agent works, in tmux, which types and reads the screen. The model
# is scripted (model.mjs). Run: screen.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"
. "$here/tmux.sh"

# ---- words of this area ------------------------------------------------------------

# until_so WHAT COMMAND... : waits until a command succeeds
until_so() {
  local what=$1 tries=0
  shift
  until "$@"; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || fail "$what does not come; the screen is
$(screen)"
    sleep 0.05
  done
}
# typed TEXT : a line and, once it is seen, Enter
typed() {
  literally "$1"
  shows "$1"
  sleep 0.1
  press Enter
}
idle() { gone 'esc to interrupt'; }
# What a front leaves in the record, without what differs by nature: ids, times, and which front it was.
record() {
  {
    sql "SELECT 'entry', sequence, entry_type, payload_json, tool_use_id FROM transcript_entries ORDER BY id"
    sql "SELECT 'hook', hook_event, hook_ordinal, matcher, command, tool_name, exit_code, stdout_text, stderr_text, skipped_reason
      FROM hook_invocations ORDER BY id"
    sql "SELECT 'permission', tool_use_id, tool_name, decision, reason_json FROM tool_permission_log ORDER BY id"
    sql "SELECT 'event', event_type, detail FROM events ORDER BY id"
    sql "SELECT 'phase', phase FROM conversations"
  } | sed -E 's/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/ID/g
    s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?/TIME/g
    s/"(terminal|print)"/"FRONT"/g
    s/127\.0\.0\.1:[0-9]+/SERVER/g'
}

# ---- checks ------------------------------------------------------------------------

# What is sent while a command runs goes along with its result.
check_queue() {
  terminal "$(jq -cn '[{calls:[{name:"Bash",input:{command:"echo begun; while [ ! -e go ]; do sleep 0.05; done"}}]},{say:"worked"}]')"
  typed work
  shows '  begun'
  typed 'and count the mice'
  shows '⋯ and count the mice'
  touch go
  shows worked
  idle
  is "$(requests)" 2
  has "$(req 1 '.body.messages[-1] | tostring')" 'and count the mice'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%and count the mice%'")" 1
}

# A killed program leaves what waited behind; the next one has it in the prompt.
check_killed() {
  terminal "$(jq -cn '[{calls:[{name:"Bash",input:{command:"echo begun; sleep 60"}}]},{say:"again"}]')"
  typed work
  shows '  begun'
  typed 'and then this'
  shows '⋯ and then this'
  until_so 'the row of the queue' kept
  local pid
  pid=$(tm display-message -p -t ona '#{pane_pid}')
  kill -9 "$pid"
  until_so 'the end' bash -c "! kill -0 $pid 2>/dev/null"
  tm kill-server 2>/dev/null || true
  tm new-session -d -s ona -x 100 -y 30 "$WORLD/bin/ona --continue"
  shows '❯ and then this'
  shows '? keys'
  press Enter
  shows again
  idle
}
kept() { [ "$(sql "SELECT count(*) FROM state WHERE key LIKE 'terminal_queue:%' AND value <> ''")" = 1 ]; }

# Ctrl+B: the turn goes on, the command as well.
check_background() {
  terminal "$(jq -cn '[{calls:[{name:"Bash",input:{command:"echo begun; while [ ! -e go ]; do sleep 0.05; done; echo done > finished"}}]},{say:"meanwhile"},{say:"heard"}]')"
  typed work
  shows '  begun'
  press C-b
  shows 'Runs in the background'
  shows meanwhile
  touch go
  shows heard
  idle
  is "$(cat finished)" 'done'
}

# Two resizes in mid-stream: every word once, the shell's lines above as they were.
check_resize() {
  local text
  text=$(seq -f 'word%03g' 200 | tr '\n' ' ')
  model "$(jq -cn --arg t "$text" '[{say: ($t | split(" ") | map(. + " ")), every: 15}]')"
  anthropic
  trap 'leave; stop_servers; rm -rf "$WORLD"' EXIT
  settings '{"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
  tm new-session -d -s ona -x 100 -y 30 "seq -f 'line%03g.' 60; $WORLD/bin/ona 'say words'; echo left; sleep 600"
  tm set -g history-limit 10000 >/dev/null
  tm set -g window-size manual >/dev/null
  shows word030
  tm resize-window -t ona -x 70 -y 24
  shows word100
  tm resize-window -t ona -x 110 -y 34
  shows word200
  idle
  press C-d
  shows left
  local all number
  all=$(tm capture-pane -p -J -S - -t ona)
  for number in $(seq -f 'word%03g' 200); do
    is "$(grep -o "$number" <<<"$all" | wc -l)" 1
  done
  for number in $(seq -f 'line%03g.' 60); do
    is "$(grep -cF "$number" <<<"$all")" 1
  done
  is "$(tm display-message -p -t ona '#{alternate_on}')" 0
}

# /compact takes the place of what was said, and the next prompt goes on behind it.
check_compact() {
  terminal '[{"say":"It was about mice."},{"say":"<summary>Mice were discussed.</summary>"},{"say":"Behind it."}]'
  typed 'tell me of mice'
  shows 'It was about mice.'
  idle
  typed /compact
  shows 'The conversation was compacted.'
  idle
  typed 'go on'
  shows 'Behind it.'
  idle
  has "$(req 2 '.body.messages | tostring')" 'Mice were discussed.'
  lacks "$(req 2 '.body.messages | tostring')" 'tell me of mice'
}

# The same session by terminal, -p and a driving program: the same rows.
check_same_rows() {
  local script prompt='write it' by kind
  script=$(jq -cn '[{calls:[{name:"Write",input:{file_path:"a.txt",content:"x\n"}},{name:"Bash",input:{command:"exit 3"}},{name:"Bash",input:{command:"rm a.txt"}}]},{say:"Done."}]')
  local config='{"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"},"permissions":{"allow":["Bash","Write"],"deny":["Bash(rm:*)"]},"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"true"}]}],"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}'
  for by in terminal print driven; do
    rm -rf a.txt "$AGENT_SDLC_DB"*
    model "$script"
    anthropic
    trap 'leave; stop_servers; rm -rf "$WORLD"' EXIT
    settings "$config"
    case $by in
      terminal)
        tm new-session -d -s ona -x 100 -y 30 "$WORLD/bin/ona '$prompt'"
        shows Done.
        idle
        leave
        ;;
      print) code 0 ona -p "$prompt" </dev/null ;;
      driven)
        jq -cn --arg p "$prompt" '{type:"user",message:{role:"user",content:$p}}' |
          code 0 ona -p --input-format stream-json --output-format stream-json --verbose
        ;;
    esac
    record >"$WORLD/rows.$by"
    [ -s "$WORLD/rows.$by" ] || fail "no rows by $by"
    is "$(cat a.txt)" x
    stop_servers
  done
  for by in print driven; do
    diff "$WORLD/rows.terminal" "$WORLD/rows.$by" >"$WORLD/difference" ||
      fail "terminal and $by differ: $(cut -c1-400 "$WORLD/difference")"
  done
  for kind in entry hook permission event; do
    grep -q "^$kind|" "$WORLD/rows.terminal" || fail "no row of $kind"
  done
}

run_check "$@"
