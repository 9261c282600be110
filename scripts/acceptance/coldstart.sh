#!/usr/bin/env bash
# Acceptance checks of docs/OPERATOR_COLD_START.md: its form, and what happens to
# a reader who follows it. Run: coldstart.sh <ledger id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

guide=$ONA_ROOT/docs/OPERATOR_COLD_START.md

# steps FILE : the one command of each step, a line each; fails on any other form
steps() {
  awk '
    NR == 1 { if ($0 !~ /^# ./) { print "line 1: no title" > "/dev/stderr"; exit 1 } next }
    /^$/ { next }
    {
      n++
      if ($0 !~ ("^" n "\\. ")) { print "line " NR ": not step " n > "/dev/stderr"; exit 1 }
      if (split($0, parts, "`") != 3 || parts[2] == "") { print "line " NR ": not exactly one command" > "/dev/stderr"; exit 1 }
      print parts[2]
    }' "$1"
}

check_004_F_1_03() {
  local commands
  commands=$(steps "$guide") || fail 'the guide has another form'
  [ -n "$commands" ] || fail 'the guide has no steps'
  # The parser can fail: prose, two commands, none, a wrong number.
  local broken
  for broken in 'Some prose.' '11. Do `a` and `b`' '11. Configure your environment' '12. Late: `true`'; do
    { cat "$guide"; printf '%s\n' "$broken"; } >"$WORLD/broken.md"
    ! steps "$WORLD/broken.md" >/dev/null 2>&1 || fail "«$broken» passed as a step"
  done
}

# Follows the guide in a copy of the tree. The build step is the one CI makes; here a
# stand-in puts the program under test where the build would.
check_004_F_3_01() {
  local count port tree=$WORLD/clone
  count=$(steps "$guide" | wc -l)
  [ "$count" -le 12 ] || fail "$count steps"
  mkdir -p "$tree/docs"
  cp "$ONA_ROOT/schema.sql" "$ONA_ROOT/Cargo.toml" "$tree/"
  rm "$WORLD/bin/ona"
  cat >"$WORLD/bin/cargo" <<STANDIN
#!/bin/sh
[ "\$*" = 'build --locked -p ona' ] || { echo "not the build: \$*" >&2; exit 1; }
mkdir -p target/debug && ln -sf "$ONA" target/debug/ona
STANDIN
  chmod +x "$WORLD/bin/cargo"
  node "$here/model.mjs" "$WORLD/port" "$WORLD/requests" '[{"say":"Hello there."}]' >"$WORLD/model.out" 2>&1 &
  trap "kill $! 2>/dev/null || true; rm -rf '$WORLD'" EXIT
  until [ -s "$WORLD/port" ]; do sleep 0.05; done
  port=$(cat "$WORLD/port")
  unset AGENT_SDLC_DB
  { echo 'set -e'; steps "$guide"; } >"$WORLD/session.sh"
  cd "$tree"
  # One shell, as a person has one; the key comes from the keyboard.
  code 0 env ANTHROPIC_BASE_URL="http://127.0.0.1:$port" bash "$WORLD/session.sh" <<<'canary-key-of-the-operator'
  has "$out" 'Hello there.'
  is "$(sqlite3 "$HOME/ona.db" "SELECT group_concat(entry_type, ' ') FROM (SELECT entry_type FROM transcript_entries WHERE entry_type IN ('user','assistant') ORDER BY id)")" 'user assistant'
  has "$(sqlite3 "$HOME/ona.db" "SELECT payload_json FROM transcript_entries WHERE entry_type='assistant'")" 'Hello there.'
  lacks "$(sqlite3 "$HOME/ona.db" .dump)" canary-key-of-the-operator
}

# A step that prepares the environment names the very variable it sets.
check_004_F_1_04() {
  local command
  while read -r command; do
    case $command in
      export\ *) [[ $command =~ ^export\ [A-Z_]+(=.+)?$ ]] || fail "no exact variable in «$command»" ;;
      read\ *) [[ $command =~ \ [A-Z_]+$ ]] || fail "no exact variable in «$command»" ;;
    esac
  done < <(steps "$guide")
  ! grep -qiE 'configure (your|the) environment|set up your environment' "$guide" || fail 'a step says to configure the environment'
}

check_004_F_3_02() {
  local command
  while read -r command; do
    case $command in
      *crates/* | *sed\ * | *vi\ * | *vim\ * | *nano\ * | *patch\ * | *'$EDITOR'* | *'git apply'*) fail "the step «$command» edits source" ;;
    esac
  done < <(steps "$guide")
  # Every variable a step needs is named in it.
  is "$(steps "$guide" | grep -oE 'export [A-Z_]+' | sort -u | paste -sd,)" 'export AGENT_SDLC_DB,export ANTHROPIC_API_KEY,export PATH'
}

# ---- commands for every day ------------------------------------------------------------

check_CLI_config() {
  code 0 ona config set permissions.defaultMode acceptEdits
  is "$(jq -c . "$HOME/.ona/settings.json")" '{"permissions":{"defaultMode":"acceptEdits"}}'
  jq '. + {mine:1}' "$HOME/.ona/settings.json" >t && mv t "$HOME/.ona/settings.json"
  code 0 ona config set modelTimeouts '{"idleSeconds":5}' --scope local
  code 0 ona config set guards strict
  is "$(jq -c . "$HOME/.ona/settings.json")" '{"permissions":{"defaultMode":"acceptEdits"},"mine":1,"guards":"strict"}'
  # What a start would use, and which file says it.
  code 0 ona config get permissions.defaultMode
  is "$out" acceptEdits
  has "$err" "from user settings $HOME/.ona/settings.json"
  code 0 ona config get modelTimeouts.idleSeconds --json
  is "$(jq -c '[.value, .sources[0].scope]' <<<"$out")" '[5,"local"]'
  code 0 ona config list
  has "$out" 'guards = strict'
  code 1 ona config get massgenConfig
  # A value that no start would take is not written, nor a key that means nothing there.
  code 2 ona config set modelTimeouts.idleSeconds never
  code 2 ona config set gaurds strict
  has "$err" 'did you mean `guards`?'
  code 2 ona config set --scope project apiKeyHelper ./x
  code 2 ona config set model_config '{"provider":"openai_compatible","model_id":"claude_opus_4"}'
  is "$(jq -c . "$HOME/.ona/settings.json")" '{"permissions":{"defaultMode":"acceptEdits"},"mine":1,"guards":"strict"}'
  code 0 ona config unset guards
  is "$(jq .guards "$HOME/.ona/settings.json")" null
}

check_CLI_status() {
  . "$here/model.sh"
  model '[{"calls":[{"name":"Bash","input":{"command":"ls"}}]},{"say":"hi"},{"say":"again"},{"say":"third"}]'
  anthropic
  code 0 ona init
  [ -s AGENTS.md ] && jq -e . .ona/settings.json >/dev/null || fail 'no starter files'
  echo mine >AGENTS.md
  code 0 ona init
  is "$(cat AGENTS.md)" mine
  says 0 -p hello --session-id 0a1b2c3d-0000-4000-8000-000000000001
  says 0 -p hello --session-id 0a1b9999-0000-4000-8000-000000000002
  code 0 ona status --json --model anthropic/glm-9
  is "$(jq -c '[.session.id, .session.phase, .model.sent_as, .model.overridden, .model.credential, .trust]' <<<"$out")" \
    '["0a1b9999-0000-4000-8000-000000000002","idle","glm-9",true,"env API key","trusted"]'
  has "$out" "$PWD/.ona/settings.json"
  lacks "$out" canary
  code 0 ona status
  has "$out" 'permission mode  default'
  # The beginning of an id is enough if it is the only one.
  code 0 ona sessions show 0a1b2 --json
  is "$(jq -r .session_id <<<"$out")" 0a1b2c3d-0000-4000-8000-000000000001
  code 2 ona sessions show 0a1b
  has "$err" '2 sessions begin with 0a1b'
  code 2 ona sessions show 0a1b2c3e
  has "$err" 'did you mean 0a1b'
  code 0 ona sessions show --last --json
  is "$(jq -r .session_id <<<"$out")" 0a1b9999-0000-4000-8000-000000000002
  says 0 -p again -r 0a1b2
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id LIKE '0a1b2%' AND entry_type='user'")" 2
  # The last call, without its id.
  code 0 ona hooks explain --json
  is "$(jq -r .tool <<<"$out")" Bash
  # Phases of the newest conversation.
  code 0 ona phase
  is "$out" idle
  code 0 ona phase planning
  code 0 ona phase
  is "$out" planning
  code 0 ona conversations new
  local id=$out
  code 0 ona conversations list --json
  is "$(jq -r --arg id "$id" '.[] | select(.id == $id) | .phase' <<<"$out")" idle
  # None of this from the agent's shell.
  settings '{"permissions":{"allow":["Bash"]}}'
  local command
  for command in 'ona config set guards warn' 'ona config unset guards' 'ona init' 'ona phase implement' 'ona conversations new'; do
    tool Bash "$(jq -cn --arg c "$command; echo \"code \$?\"" '{command:$c}')"
    has "$(content)" "the operator only, not from the agent's shell"
    has "$(content)" 'code 1'
  done
}

run_check "$@"
