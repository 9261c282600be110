#!/usr/bin/env bash
# Acceptance checks of MCP: servers as they are configured, their tools on the path of a call,
# their resources and their questions. The server is the tests' own (mcp_server.mjs).
# Run: mcp.sh <ledger id or name>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# server [MORE_JSON] : a definition of the test server, which writes what it gets to $WORLD/log
server() { jq -cn --arg s "$ONA_ROOT/crates/ona/tests/it/mcp_server.mjs" --arg l "$WORLD/log" --argjson m "${1:-{\}}" '{command:"node",args:[$s],env:{LOG:$l}} + $m'; }
# with NAME [MORE_JSON] : settings with one server of that name
with() { settings "$(jq -cn --arg n "$1" --argjson s "$(server)" --argjson m "${2:-{\}}" '{mcpServers:{($n):$s}} + $m')"; }
# got METHOD : the params of what the server got, one per line
got() { [ ! -e "$WORLD/log" ] || jq -c --arg m "$1" 'select(.method == $m).params' "$WORLD/log"; }
arguments() { got tools/call | jq -c .arguments; }
prints() { printf "cat >/dev/null; echo '%s'" "$1"; }

# ---- names ---------------------------------------------------------------------------

check_004_7_02() {
  with GitHub-X "$(jq -cn --argjson h "$(hook PreToolUse 'mcp__.*' "cat >>'$WORLD/stdin'")" '{hooks:[$h]}')"
  tool mcp__github-x__echo '{"a":1}'
  is "$(is_error)" false
  is "$(jq -r .tool_name "$WORLD/stdin")" mcp__github-x__echo
  tool mcp__GitHub-X__echo '{}'
  is "$(content)" 'Unknown tool mcp__GitHub-X__echo'
  # A second server of that slug is dropped, with an events row.
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{"a b":$s,"A_B":{command:"touch",args:["second"]}}}')"
  tool mcp__a_b__echo '{}'
  is "$(is_error)" false
  is "$(sql "SELECT json_extract(detail,'$.server') FROM events WHERE event_type='mcp_server_dropped'")" A_B
  [ ! -e second ] || fail 'the second server was started'
}

# ---- calls -----------------------------------------------------------------------------

check_004_7_1_15() {
  with s
  tool mcp__s__echo '{"b":{"c":[1]},"a":"ü"}'
  is "$(content)" '{"b":{"c":[1]},"a":"ü"}'
  is "$(jq -r 'select(.id != null).jsonrpc' "$WORLD/log" | sort -u)" 2.0
  is "$(jq -r '.method // empty' "$WORLD/log" | head -2 | paste -sd' ')" 'initialize notifications/initialized'
  is "$(got tools/call | jq -c '[.name,.arguments]')" '["echo",{"b":{"c":[1]},"a":"ü"}]'
  has "$(cat "$WORLD/log")" '{"closed":true}'
}
check_004_7_1_16() {
  with s
  code 0 ona doctor --json
  is "$(jq -c '[.mcp.call_timeout_ms,.mcp.servers.s]' <<<"$out")" '[120000,120000]'
  settings "$(jq -cn --argjson s "$(server '{"timeout":1500}')" '{mcpServers:{s:$s}}')"
  tool mcp__s__hang '{}'
  is "$(content)" '[SDLC_INTERNAL] MCP server "s": no answer within 1500 ms'
  is "$(jq -r 'select(.method == "notifications/cancelled").method' "$WORLD/log")" notifications/cancelled
}
check_004_7_1_17() {
  settings "$(jq -cn --argjson s "$(server)" --argjson slow "$(server '{"timeout":1000}')" '{mcpServers:{s:$s,slow:$slow,gone:{command:"/nowhere"}}}')"
  local tool
  for tool in mcp__s__fail mcp__s__refuse; do
    tool "$tool" '{}'
    is "$(is_error)" true
    lacks "$(content)" SDLC_INTERNAL
  done
  for tool in mcp__slow__hang mcp__s__die mcp__gone__x; do
    tool "$tool" '{}'
    is "$(is_error)" true
    is "$(content | cut -c1-15)" '[SDLC_INTERNAL]'
    is "$(jq -r .is_error <<<"$(newest)")" true
  done
  # In one process: a server that died or never came up fails its own calls, with the cause, and no other.
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:$s,gone:{command:"/nowhere"},mute:{command:"false"}},permissions:{allow:["Bash"]}}')"
  out=$(printf '{"tool":"%s","input":{}}\n' mcp__s__die mcp__s__echo mcp__gone__x mcp__mute__x | sed '$a{"tool":"Bash","input":{"command":"echo on"}}' | ona --eval -)
  is "$(jq -r '.content | capture("^(?<class>\\[SDLC_INTERNAL\\] MCP server).*(?<cause>exit code [0-9]+|/nowhere)") | .class + " " + .cause' <<<"$out" 2>/dev/null | paste -sd,)" \
    '[SDLC_INTERNAL] MCP server exit code 7,[SDLC_INTERNAL] MCP server exit code 7,[SDLC_INTERNAL] MCP server /nowhere,[SDLC_INTERNAL] MCP server exit code 1'
  is "$(tail -n 1 <<<"$out" | jq -r '[.is_error, .content] | join(" ")')" 'false on'
}
check_004_7_2_23() {
  # From the operator's settings file, without a row written by hand.
  mkdir -p "$HOME/.ona"
  jq -cn --argjson s "$(server)" '{mcpServers:{s:$s},permissions:{allow:["mcp__s"]}}' >"$HOME/.ona/settings.json"
  tool mcp__s__say '{"text":"hello"}'
  is "$(content)" hello
  is "$(is_error)" false
  tool mcp__s__fail '{}'
  is "$(content)" 'it went wrong'
  is "$(is_error)" true
}

# ---- resources, search -------------------------------------------------------------------

check_004_7_2_18() {
  with 'My Server'
  tool ListMcpResources '{}'
  is "$(content | jq -c .)" '[{"uri":"test:///a","name":"a","mimeType":"text/plain","description":"the a","server":"My Server"},{"uri":"test:///b","name":"b","server":"My Server"}]'
  tool ListMcpResources '{"server":"two"}'
  is "$(is_error)" true
}
check_004_7_2_19() {
  with 'My Server'
  tool ReadMcpResource '{"server":"My Server","uri":"test:///a"}'
  is "$(is_error) $(content)" 'false text of a'
  # By its slug as well.
  tool ReadMcpResource '{"server":"my_server","uri":"test:///b"}'
  is "$(is_error) $(content)" 'false [test:///b: image/png, 5 bytes]'
  tool ReadMcpResource '{"server":"My Server","uri":"test:///c"}'
  is "$(is_error) $(content)" 'true The MCP server "My Server" refused: no resource there (code -32002)'
  tool ReadMcpResource '{"server":"other","uri":"test:///a"}'
  is "$(is_error) $(content)" 'true MCP server "other" does not exist; the servers are My Server.'
}
check_004_7_2_20() {
  with s
  tool ToolSearch '{"query":"select:mcp__s__picture,Grep"}'
  is "$(content | jq -r .name | paste -sd' ')" 'mcp__s__picture Grep'
  tool ToolSearch '{"query":"edit notebook"}'
  is "$(content | head -1 | jq -r .name)" NotebookEdit
  tool ToolSearch '{"query":"picture"}'
  is "$(content | head -1 | jq -r .name)" mcp__s__picture
  tool ToolSearch '{"query":"select:Nope"}'
  is "$(content)" 'Unknown tool Nope.'
}

# ---- hooks ---------------------------------------------------------------------------------

answered='{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"questions":[],"answers":{"q":"a"}}}}'
# claude_hook MATCHER : a hook where Claude Code has it, and a server called conductor
claude_hook() {
  mkdir -p "$HOME/.claude" "$HOME/.ona"
  jq -cn --arg m "$1" --arg c "$(prints "$answered")" '{hooks:{PreToolUse:[{matcher:$m,hooks:[{type:"command",command:$c}]}]}}' >"$HOME/.claude/settings.json"
  jq -cn --argjson s "$(server)" '{mcpServers:{conductor:$s}}' >"$HOME/.ona/settings.json"
}
check_002_4_03() {
  claude_hook '(AskUserQuestion|mcp__.*__AskUserQuestion)'
  tool mcp__conductor__AskUserQuestion '{"questions":[]}'
  is "$(arguments)" '{"questions":[],"answers":{"q":"a"}}'
  is "$(is_error) $(content)" 'false {"questions":[],"answers":{"q":"a"}}'
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 1
}
check_c3() {
  claude_hook AskUserQuestion
  tool mcp__conductor__AskUserQuestion '{"questions":[]}'
  is "$(arguments)" '{"questions":[]}'
  is "$(sql 'SELECT count(*) FROM hook_invocations')" 0
  fire PreToolUse '{"tool_name":"AskUserQuestion","tool_input":{"questions":[]},"tool_use_id":"t"}'
  is "$(ran_hooks)" 1
}
check_004_12_14() {
  local other='{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedMCPToolOutput":"other words"}}'
  with s "$(jq -cn --argjson h "$(hook PostToolUse '*' "$(prints "$other")")" '{hooks:[$h]}')"
  tool mcp__s__echo '{"a":1}'
  is "$(content)" 'other words'
  is "$(jq -r .content <<<"$(newest)")" 'other words'
  tool Bash '{"command":"echo mine"}'
  is "$(content)" mine
}
check_hook_mcp_tool() {
  local deny='{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no ${tool_input.command}"}}'
  local entry='{hooks:{PreToolUse:[{matcher:"Bash",hooks:[{type:"mcp_tool",server:"s",tool:$t,input:{text:$x}}]}]}}'
  with s "$(jq -cn --arg t say --arg x "$deny" "$entry")"
  tool Bash '{"command":"touch ran"}'
  is "$(is_error)" true
  has "$(content)" 'no touch ran'
  [ ! -e ran ] || fail 'the call ran'
  is "$(sql 'SELECT command, exit_code FROM hook_invocations')" 'mcp_tool s/say|2'
  with s "$(jq -cn --arg t fail --arg x x "$entry")"
  tool Bash '{"command":"touch ran"}'
  is "$(is_error)" false
  is "$(sql 'SELECT command, exit_code IS NULL FROM hook_invocations ORDER BY id DESC LIMIT 1')" 'mcp_tool s/fail|1'
}

# ---- rules, gate, trust, policy ----------------------------------------------------------------

check_mcp_rules() {
  local rule
  for rule in mcp__s mcp__s__\* mcp__s__echo mcp__s__e\*; do
    with s "{\"permissions\":{\"deny\":[\"$rule\"]}}"
    tool mcp__s__echo '{}'
    is "$(is_error)" true
    with s "{\"permissions\":{\"ask\":[\"$rule\"],\"allow\":[\"mcp__s\"]}}"
    tool mcp__s__echo '{}'
    is "$(is_error)" true
  done
  is "$(arguments)" ''
  # The rule asks: a yes answers it.
  tool mcp__s__echo '{}' --yes
  is "$(is_error)" false
  for rule in mcp__s mcp__s__\* mcp__s__echo mcp__s__e\*; do
    with s "{\"permissions\":{\"allow\":[\"$rule\"],\"defaultMode\":\"dontAsk\"}}"
    tool mcp__s__echo '{}'
    is "$(is_error)" false
    # The two rules about echo say nothing of another tool of that server.
    tool mcp__s__say '{"text":"x"}'
    is "$rule $(is_error)" "$rule $(case $rule in *__e*) echo true ;; *) echo false ;; esac)"
  done
  # K-2: another server whose name begins alike.
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:$s,s__evil:$s},permissions:{allow:["mcp__s__*"],defaultMode:"dontAsk"}}')"
  rm "$WORLD/log"
  tool mcp__s__evil__echo '{}'
  is "$(is_error)" true
  tool mcp__s__echo '{"of":"s"}'
  is "$(arguments)" '{"of":"s"}'
  # No wildcard for servers allows; it does deny.
  with s '{"permissions":{"allow":["mcp__*","*"],"defaultMode":"dontAsk"}}'
  tool mcp__s__echo '{}'
  is "$(is_error)" true
  with s '{"permissions":{"deny":["mcp__*"]}}'
  tool mcp__s__echo '{}'
  is "$(is_error) $(arguments)" 'true {"of":"s"}'
}
check_004_8_3_06() {
  with s '{"permissions":{"allow":["mcp__s","Write","Read"]}}'
  conversation c planning
  code 0 ona --eval '{"tool":"Write","input":{"file_path":"a","content":"x"},"conversation_id":"c"}'
  is "$(is_error)" true
  code 0 ona --eval '{"tool":"mcp__s__echo","input":{},"conversation_id":"c"}'
  is "$(is_error)" false
}
check_mcp_trust() {
  unset ONA_TRUST
  echo '{"mcpServers":{"x":{"command":"sh","args":["-c","touch canary"]}}}' >.mcp.json
  code 0 ona mcp list
  has "$out" 'x  pending approval  .mcp.json'
  tool mcp__x__y '{}' --no-trust
  is "$(content)" 'Unknown tool mcp__x__y'
  has "$err" 'not trusted'
  ONA_TRUST=never tool mcp__x__y '{}'
  tool mcp__x__y '{}'
  tool Read '{"file_path":".mcp.json"}'
  [ ! -e canary ] || fail 'a server of an untrusted folder was started'
  echo '{"deniedMcpServers":[{"serverName":"x"}]}' >"$ONA_MANAGED_SETTINGS"
  tool mcp__x__y '{}' --mcp-config .mcp.json
  has "$err" deniedMcpServers
  [ ! -e canary ] || fail 'a denied server was started'
  # Once the folder is trusted the server starts.
  echo '{}' >"$ONA_MANAGED_SETTINGS"
  tool mcp__x__y '{}' --trust
  [ -e canary ] || fail 'a server of a trusted folder was not started'
}
check_mcp_secrets() {
  mkdir -p "$HOME/.ona"
  export FROM_ENV=canary-of-the-environment
  jq -cn --argjson s "$(server)" '{mcpServers:{s:($s | .env.A_TOKEN = "canary-of-the-file" | .env.B_KEY = "${FROM_ENV}")},permissions:{allow:["mcp__s"]}}' >"$HOME/.ona/settings.json"
  tool mcp__s__env '{}'
  has "$(content)" '[REDACTED:A_TOKEN]'
  has "$(content)" '[REDACTED:B_KEY]'
  lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump)" canary-of
}

# ---- questions of servers ----------------------------------------------------------------------

question='{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}'
check_004_12_19() {
  # Nobody's answer is a no, and hooks hear of both.
  with s "$(jq -cn --argjson a "$(hook Elicitation s true)" --argjson b "$(hook ElicitationResult s "cat >'$WORLD/result'")" '{hooks:[$a,$b]}')"
  tool mcp__s__ask "$question"
  is "$(content)" '{"action":"decline"}'
  is "$(jq -c '[.mcp_server_name,.action]' "$WORLD/result")" '["s","decline"]'
  is "$(sql 'SELECT hook_event FROM hook_invocations ORDER BY id' | paste -sd,)" Elicitation,ElicitationResult
  local accept='{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"name":"Ada"}}}'
  local cancel='{"hookSpecificOutput":{"hookEventName":"ElicitationResult","action":"cancel"}}'
  local first
  first=$(hook Elicitation s "$(prints "$accept" | sed "s#/dev/null#'$WORLD/asked'#")")
  with s "$(jq -cn --argjson a "$first" '{hooks:[$a]}')"
  tool mcp__s__ask "$question"
  is "$(content)" '{"action":"accept","content":{"name":"Ada"}}'
  is "$(jq -c '[.mcp_server_name,.message,.mode,.requested_schema.properties.name.type]' "$WORLD/asked")" '["s","Your name?","form","string"]'
  with s "$(jq -cn --argjson a "$first" --argjson b "$(hook ElicitationResult s "$(prints "$cancel" | sed "s#/dev/null#'$WORLD/result'#")")" '{hooks:[$a,$b]}')"
  tool mcp__s__ask "$question"
  is "$(content)" '{"action":"cancel"}'
  is "$(jq -c '[.mcp_server_name,.mode,.action,.content]' "$WORLD/result")" '["s","form","accept",{"name":"Ada"}]'
  with s "$(jq -cn --argjson a "$first" --argjson b "$(hook ElicitationResult s 'exit 2')" '{hooks:[$a,$b]}')"
  tool mcp__s__ask "$question"
  is "$(content)" '{"action":"decline"}'
}

# ---- a model -------------------------------------------------------------------------------------

check_mcp_in_a_turn() {
  model '[{"calls":[{"name":"mcp__b__echo","input":{"x":1}}]}]'
  anthropic
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{b:$s,a:$s,down:{command:"false"}},permissions:{allow:["mcp__b"],deny:["mcp__a__hang"]},model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}}')"
  says 0 -p go --output-format stream-json --verbose
  is "$(head -1 <<<"$out" | jq -r '.mcp_servers[] | .name + " " + .status' | paste -sd,)" 'b connected,a connected,down failed'
  is "$(head -1 <<<"$out" | jq -r '.mcp_server_errors[0].name')" down
  is "$(sql "SELECT count(*) FROM events WHERE event_type='mcp_server_failed'")" 1
  is "$(head -1 <<<"$out" | jq -c '[.tools[] | select(startswith("mcp__"))] | (. == sort) and (length == 25)')" true
  is "$(req 0 '[.body.tools[].name | select(startswith("mcp__"))] | (. == sort) and (length == 25) and (index("mcp__a__hang") == null)')" true
  is "$(req 0 '[.body.tools[].name | select(. == "ListMcpResources" or . == "ReadMcpResource" or . == "ToolSearch")] | length')" 3
  is "$(req 1 '.body.messages[-1].content[0].content')" '{"x":1}'
  is "$(arguments)" '{"x":1}'
  # Both servers end with the session.
  is "$(grep -cxF '{"closed":true}' "$WORLD/log")" 2
  says 0 -p go
  is "$(req 2 '.body.tools | tojson')" "$(req 0 '.body.tools | tojson')"
}

run_check "$@"
