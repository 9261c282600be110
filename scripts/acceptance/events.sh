#!/usr/bin/env bash
# Acceptance checks of all 27 events from what really triggers them (docs/HOOKS.md has the table): in runs
# with one prompt, in driven sessions. What hooks got on stdin is compared with --hook-schema. The model is
# scripted (model.mjs). Run: events.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

call() { jq -cn --arg n "$1" --argjson i "$2" '{calls:[{name:$n,input:$i}]}'; }
bash_call() { call Bash "$(jq -cn --arg c "$1" '{command:$c}')"; }
script() { printf '%s\n' "$@" | jq -cs .; }

# listen [MORE_JSON] : settings with a hook on every event that writes its stdin to a file, and a server that asks
listen() {
  SEEN=$WORLD/seen
  local event entries=()
  for event in $(ona --hook-schema | jq -r '.events[].hook_event_name'); do
    case $event in FileChanged) matcher=watched ;; *) matcher= ;; esac
    entries+=("$(hook "$event" "$matcher" "cat >> $SEEN; echo >> $SEEN")")
  done
  local server
  server=$(jq -cn --arg s "$ONA_ROOT/crates/ona/tests/it/mcp_server.mjs" --arg l "$WORLD/log" '{command:"node",args:[$s],env:{LOG:$l}}')
  # Another program changes the policy while the turn runs: the agent itself may not.
  entries+=("$(hook TaskCompleted '' "echo '{\"env\":{}}' >$WORLD/managed-settings.json")")
  settings "$(printf '%s\n' "${entries[@]}" | jq -cs --argjson s "$server" --argjson more "${1:-{\}}" '{hooks:., mcpServers:{s:$s}, model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"},
    permissions:{allow:["Bash","Agent","Read","TodoWrite","TaskOutput","mcp__s"]}} + $more')"
}
# seen : the events so far, each once
seen() { sed '/^$/d' "$SEEN" | jq -r .hook_event_name | sort -u; }
# fits : every stdin so far has the fields of its contract, with their types, and no transcript_path
fits() {
  local wrong
  wrong=$(ona --hook-schema | jq -r --slurpfile got <(sed '/^$/d' "$SEEN") '
    . as $schema | $got[] | . as $stdin
    | ($schema.base + ($schema.events[] | select(.hook_event_name == $stdin.hook_event_name) | .fields)) | to_entries[]
    | .key as $name | select((.value.required and ($stdin | has($name) | not))
        or (($stdin | has($name)) and .value.type == "string" and ($stdin[$name] | type) != "string"))
    | "\($stdin.hook_event_name): \($name)"')
  is "$wrong" ''
  is "$(sed '/^$/d' "$SEEN" | jq -r 'select(has("transcript_path")) | .hook_event_name')" ''
}
# field EVENT FILTER : of the first stdin of an event
field() { sed '/^$/d' "$SEEN" | jq -rs "[.[] | select(.hook_event_name == \"$1\")][0] | $2"; }
all() { ona --hook-schema | jq -r '.events[].hook_event_name' | sort; }
repository() {
  export GIT_CONFIG_GLOBAL=$HOME/.gitconfig
  printf '[user]\n\temail = a@a.test\n\tname = a\n' >"$HOME/.gitconfig"
  git init -q . && mkdir sub && touch sub/x && echo 'Use tabs.' >CLAUDE.md && git add . && git commit -qm one
}
question='{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}'

# ---- checks ------------------------------------------------------------------------

check_events_print() {
  repository
  local todo='{"todos":[{"content":"a","status":"pending","activeForm":"a"}]}'
  # One prompt with everything a turn can trigger; what it starts in the background ends before the result.
  model "$(script "$(bash_call 'echo x >watched')" "$(bash_call 'cd sub')" "$(bash_call 'false')" \
    "$(call TodoWrite "$todo")" "$(call TodoWrite "${todo/pending/completed}")" "$(call Write '{"file_path":"denied","content":"x"}')" \
    "$(call mcp__s__ask "$question")" "$(call Agent '{"description":"d","prompt":"p","run_in_background":true}')" '{"say":"report"}' '{"say":"done"}' '{"say":"done"}' '{"say":"done"}')"
  anthropic
  listen
  code 0 ona -p go --init --session-id s
  # The summary of /compact, and a reply that fails.
  model '[{"say":"SUMMARY"}]'
  anthropic
  code 0 ona -p /compact -r s
  model '[{"status":400,"message":"no"}]'
  anthropic
  code 1 ona -p go
  # A worktree in which nothing is changed.
  model '[{"say":"ok"}]'
  anthropic
  code 0 ona -p go --worktree w --maintenance
  fits
  # Without a person or a program nobody is notified of a question or a wait.
  is "$(comm -23 <(all) <(seen) | tr '\n' ' ')" 'Notification '
  is "$(field Setup .trigger)" init
  is "$(field FileChanged '.event + " " + (.file_path | split("/") | last)')" 'add watched'
  is "$(field ConfigChange .source)" policy_settings
  is "$(field CwdChanged '.new_cwd')" "$PWD/sub"
  is "$(field TeammateIdle '.teammate_name + " " + .team_name')" 'general-purpose default'
  is "$(field ElicitationResult .action)" decline
  is "$(field PermissionDenied .tool_name)" Write
  is "$(field PermissionRequest .tool_name)" Write
  is "$(field PreCompact .trigger)" manual
  is "$(field StopFailure .error)" invalid_request
  is "$(field WorktreeRemove .worktree_path)" "$PWD/.claude/worktrees/w"
  is "$(field SubagentStop '.last_assistant_message | type')" string
  is "$(sql "SELECT count(DISTINCT hook_event) FROM hook_invocations")" 26
}

check_events_driven() {
  repository
  local todo='{"todos":[{"content":"a","status":"pending","activeForm":"a"}]}'
  model "$(script "$(bash_call 'echo x >watched')" "$(bash_call 'cd sub')" "$(bash_call 'false')" \
    "$(call TodoWrite "$todo")" "$(call TodoWrite "${todo/pending/completed}")" "$(call Write '{"file_path":"denied","content":"x"}')" \
    "$(call mcp__s__ask "$question")" "$(call Agent '{"description":"d","prompt":"p"}')" '{"say":"report"}' "$(call Agent '{"description":"d","prompt":"p","run_in_background":true}')" '{"say":"later"}' '{"say":"done"}' '{"say":"done"}' '{"say":"SUMMARY"}' '{"status":400,"message":"no"}')"
  anthropic
  listen '{"idlePromptSeconds":0.4}'
  local words='{"type":"user","message":{"role":"user","content":"hi"}}'
  local answers="$WORLD/answers"
  mkfifo "$answers"
  # The driving program says no to the write and yes to the server.
  ona -p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio --init --worktree w <"$answers" 2>"$WORLD/err" |
    while IFS= read -r line; do
      printf '%s\n' "$line" >>"$WORLD/lines"
      case $line in
        *'"can_use_tool"'*) jq -c '{type:"control_response",response:{subtype:"success",request_id:.request_id,response:{behavior:"deny",message:"no"}}}' <<<"$line" >>"$WORLD/replies" ;;
        *'"elicitation"'*) jq -c '{type:"control_response",response:{subtype:"success",request_id:.request_id,response:{action:"accept",content:{name:"Ada"}}}}' <<<"$line" >>"$WORLD/replies" ;;
      esac
    done &
  local run=$! tries
  : >"$WORLD/replies"
  exec 9>"$answers"
  tail -n +1 -f "$WORLD/replies" >&9 &
  local relay=$!
  echo "$words" >&9
  results() { cat "$WORLD/lines" 2>/dev/null | grep -c '"type":"result"' || true; }
  wait_results() {
    for tries in $(seq 200); do [ "$(results)" -ge "$1" ] && return; sleep 0.1; done
    kill $relay
    fail "$(results) results instead of $1: $(cat "$WORLD/err")"
  }
  wait_results 1
  for tries in $(seq 100); do grep -q idle_prompt "$SEEN" && break; sleep 0.1; done
  local before
  before=$(results)
  jq -cn '{type:"user",message:{role:"user",content:"/compact"}}' >&9
  wait_results $((before + 1))
  echo "$words" >&9
  wait_results $((before + 2))
  kill $relay
  exec 9>&-
  wait $run || true
  fits
  # The worktree was changed, so it stays.
  is "$(comm -23 <(all) <(seen) | tr '\n' ' ')" 'WorktreeRemove '
  is "$(sed '/^$/d' "$SEEN" | jq -r 'select(.hook_event_name == "Notification") | .notification_type' | sort -u | tr '\n' ' ')" 'elicitation_dialog idle_prompt permission_prompt '
  is "$(field ElicitationResult '.action + " " + .content.name')" 'accept Ada'
  is "$(field WorktreeCreate .name)" w
}

# Attack cases about servers: a reference in a schema is never followed (K-4), a definition that changed
# since the folder was trusted is named (K-1).
check_server_attacks() {
  local probe="$WORLD/probe" port
  model '[{"say":"never"}]'
  port=$PORT
  cat >server.mjs <<JS
import { createInterface } from 'node:readline';
const send = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
  if (method === 'tools/list') send(id, { tools: [{ name: 'far', description: 'd', inputSchema: { type: 'object', properties: { a: { \$ref: 'http://127.0.0.1:$port/schema.json' } } } }] });
  if (method === 'tools/call') send(id, { content: [{ type: 'text', text: 'ran' }] });
});
JS
  settings "$(jq -cn --arg s "$PWD/server.mjs" '{mcpServers:{x:{command:"node",args:[$s]}},permissions:{allow:["mcp__x"]}}')"
  tool mcp__x__far '{"a":1}'
  is "$(content)" ran
  is "$(connections)" 0
  unset ONA_TRUST
  echo '{"mcpServers":{"y":{"command":"srv","args":["--v1"]}}}' >.mcp.json
  code 0 ona mcp list --trust
  code 0 ona settings import --trust
  echo '{"mcpServers":{"y":{"command":"srv","args":["--v2"]}}}' >.mcp.json
  code 0 ona mcp list
  has "$err" 'changed since this folder was trusted'
  has "$err" .mcp.json
}

run_check "$@"
