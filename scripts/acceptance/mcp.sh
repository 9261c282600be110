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
# got METHOD : the params of what the server got, one per line, without the token for progress
got() { [ ! -e "$WORLD/log" ] || jq -c --arg m "$1" 'select(.method == $m).params | if type == "object" then del(._meta) else . end' "$WORLD/log"; }
arguments() { got tools/call | jq -c .arguments; }
# http_server [OPTIONS_JSON] : starts a scripted server over HTTP; $HTTP is its address, $HTTP_LOG its log
http_server() {
  local tries=0
  trap 'stop_servers; rm -rf "$WORLD"' EXIT
  HTTP_LOG=$WORLD/http$RANDOM${#servers[@]}
  : >"$HTTP_LOG"
  node "$ONA_ROOT/scripts/acceptance/mcp-http.mjs" "$HTTP_LOG.port" "$HTTP_LOG" "${1:-{\}}" >"$HTTP_LOG.out" 2>&1 &
  servers+=($!)
  until [ -e "$HTTP_LOG.port" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "the server did not start: $(cat "$HTTP_LOG.out")"
    sleep 0.05
  done
  HTTP=http://127.0.0.1:$(cat "$HTTP_LOG.port")
}
# sent METHOD : the messages with this method that the server over HTTP got, one per line
sent() { jq -c --arg m "$1" '.body | (fromjson? // {}) | select(.method == $m)' "$HTTP_LOG"; }
# web [MORE_JSON] : settings with that server as `web`, all of its tools allowed
web() { settings "$(jq -cn --arg u "$HTTP/mcp" --argjson m "${1:-{\}}" '{mcpServers:{web:({type:"http",url:$u} + $m)},permissions:{allow:["mcp__web"]}}')"; }
# follow_page : a browser that follows the page back to ona
follow_page() {
  export BROWSER=$WORLD/bin/browser
  printf '#!/bin/sh\nexec curl -sL --max-time 20 "$1" -o "%s"\n' "$WORLD/page" >"$BROWSER"
  chmod +x "$BROWSER"
}
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
  # In one process: a server that died or never came up fails its own calls, with the cause, and no other;
  # one that died is started again for the next call.
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:$s,gone:{command:"/nowhere"},mute:{command:"false"}},permissions:{allow:["Bash"]}}')"
  out=$(printf '{"tool":"%s","input":{}}\n' mcp__s__die mcp__s__echo mcp__gone__x mcp__mute__x | sed '$a{"tool":"Bash","input":{"command":"echo on"}}' | ona --eval -)
  is "$(jq -r '.content | capture("^(?<class>\\[SDLC_INTERNAL\\] MCP server).*(?<cause>exit code [0-9]+|/nowhere)") | .class + " " + .cause' <<<"$out" 2>/dev/null | paste -sd,)" \
    '[SDLC_INTERNAL] MCP server exit code 7,[SDLC_INTERNAL] MCP server /nowhere,[SDLC_INTERNAL] MCP server exit code 1'
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

# ---- commands ------------------------------------------------------------------------------------

check_mcp_add() {
  # Local: the project's own file that is not shared.
  code 0 ona mcp add -e A=1 files -e B=x=y -- npx -y some-server .
  has "$out" 'Added the MCP server files to the local scope: npx -y some-server .'
  is "$(jq -c .mcpServers.files .ona/settings.local.json)" '{"type":"stdio","command":"npx","args":["-y","some-server","."],"env":{"A":"1","B":"x=y"}}'
  code 0 ona mcp get files --json
  is "$(jq -c '[.status,.transport,.env]' <<<"$out")" '["configured","stdio",["A","B"]]'
  # The same name once more; other scopes have their own.
  code 1 ona mcp add files x
  has "$err" 'ona mcp remove "files" -s local'
  # User: beside what is there already.
  mkdir -p "$HOME/.ona"
  echo '{"permissions":{"deny":["WebFetch"]}}' >"$HOME/.ona/settings.json"
  code 0 ona mcp add --scope user --transport http docs https://docs.example/mcp --header 'Authorization: Bearer abc' -H 'X-A: b:c' --json
  is "$(jq -c '[.scope,.status]' <<<"$out")" '["user","configured"]'
  is "$(jq -c . "$HOME/.ona/settings.json")" '{"permissions":{"deny":["WebFetch"]},"mcpServers":{"docs":{"type":"http","url":"https://docs.example/mcp","headers":{"Authorization":"Bearer abc","X-A":"b:c"}}}}'
  lacks "$out$err" abc
  # Project: the shared file, with a word about what is written into it.
  code 0 ona mcp add -s project -e API_TOKEN=t0ken srv echo
  has "$err" 'API_TOKEN stands in .mcp.json as it is'
  lacks "$out$err" t0ken
  code 0 ona mcp add-json other '{"type":"sse","url":"https://x.example/sse"}' -s project
  is "$(jq -c '.mcpServers | keys' .mcp.json)" '["other","srv"]'
  # An address is one without --transport, too.
  code 0 ona mcp add plain https://y.example/mcp
  is "$(jq -r .mcpServers.plain.type .ona/settings.local.json)" http
  code 0 ona mcp list
  is "$(wc -l <<<"$out")" 5
  # Removing.
  code 2 ona mcp remove docz
  has "$err" 'unknown MCP server docz'
  has "$err" 'did you mean docs?'
  code 0 ona mcp remove docs --json
  is "$(jq -r .scope <<<"$out")" user
  is "$(jq -c . "$HOME/.ona/settings.json")" '{"permissions":{"deny":["WebFetch"]},"mcpServers":{}}'
  code 0 ona mcp add -s user srv echo
  code 1 ona mcp remove srv
  has "$err" 'several scopes: project, user'
  code 0 ona mcp remove srv -s user
  code 2 ona mcp get srvv
  has "$err" 'did you mean srv?'
}
check_mcp_add_refuses() {
  local bad
  # What cannot be used is exit 2 and writes nothing.
  for bad in 'a/b x' 'workspace x' 'x --header a:b y' 'x https://h --env A=1' 'x -e A y' 'x -H a https://h' 'x ftp://h --transport http' 'x y --timeout 0'; do
    # shellcheck disable=SC2086
    code 2 ona mcp add $bad
  done
  for bad in '{' '[]' '{}' '{"url":"https://h"}' '{"type":"ws","url":"https://h"}' '{"type":"sdk"}' '{"command":""}'; do
    code 2 ona mcp add-json x "$bad"
  done
  [ ! -e .ona ] || fail 'a file was written'
  # A file that cannot be read is not overwritten, and no link is followed out of the folder.
  mkdir .ona
  echo '{"a":' >.ona/settings.local.json
  code 1 ona mcp add x y
  is "$(cat .ona/settings.local.json)" '{"a":'
  rm .ona/settings.local.json
  echo '{}' >"$WORLD/theirs"
  ln -s "$WORLD/theirs" .ona/settings.local.json
  code 1 ona mcp add x y
  is "$(cat "$WORLD/theirs")" '{}'
  rm .ona/settings.local.json
  # A folder that is not trusted says so; trust makes the server count.
  unset ONA_TRUST
  code 0 ona mcp add x true
  has "$err" 'this folder is not trusted'
  code 0 ona mcp get x --trust
  has "$out" configured
}
check_mcp_add_agent() {
  # DEC-071: a shell of the agent configures nothing.
  settings '{"permissions":{"allow":["Bash"]}}'
  tool Bash '{"command":"ona mcp add x y; echo $?; ona mcp add -s user x y; echo $?; ona mcp remove x; echo $?; ona mcp approve x; echo $?; ona mcp reject x; echo $?; ona mcp reset-project-choices; echo $?; ona mcp login x; echo $?; ona mcp logout x; echo $?"}'
  is "$(content | grep -cx 1)" 8
  [ ! -e .ona ] && [ ! -e "$HOME/.ona" ] || fail 'a file was written'
}
check_mcp_add_trusted() {
  # The operator's own change is not reported as one of the folder; another one is.
  unset ONA_TRUST
  ona --eval '{"tool":"Glob","input":{"pattern":"x"}}' --trust >/dev/null 2>&1
  code 0 ona mcp add -s project one true
  code 0 ona mcp add two true
  tool Glob '{"pattern":"x"}'
  lacks "$err" 'changed since'
  jq '.mcpServers.three = {command:"true"}' .mcp.json >new && mv new .mcp.json
  code 0 ona mcp add four true
  tool Glob '{"pattern":"x"}'
  has "$err" 'changed since this folder was trusted, and still in use: MCP server three of .mcp.json;'
}

# ---- decisions about a project's servers ------------------------------------------------------------

check_mcp_approve() {
  # K-1: an approval is for the definition as it was.
  marks() { jq -cn --arg f "$1" '{mcpServers:{x:{command:"sh",args:["-c","touch \($f)"]}}}' >.mcp.json; }
  marks one
  tool mcp__x__y '{}'
  [ -e one ] || fail 'a server of a trusted folder was not started'
  code 0 ona mcp approve x
  marks two
  tool mcp__x__y '{}'
  is "$(content)" 'Unknown tool mcp__x__y'
  has "$err" 'its definition has changed since it was approved; ona mcp approve "x" approves it'
  is "$(sql "SELECT json_extract(detail,'$.server') FROM events WHERE event_type='mcp_server_dropped'")" x
  [ ! -e two ] || fail 'a changed server was started'
  code 0 ona mcp get x
  has "$out" 'pending approval'
  code 0 ona mcp approve x --json
  is "$out" '{"name":"x","choice":"approved"}'
  tool mcp__x__y '{}'
  [ -e two ] || fail 'an approved server was not started'
  # Rejected, forgotten.
  code 0 ona mcp reject x
  rm two
  tool mcp__x__y '{}'
  is "$(content)" 'Unknown tool mcp__x__y'
  code 0 ona mcp list --json
  is "$(jq -r '.[0].status' <<<"$out")" disabled
  code 0 ona mcp reset-project-choices
  tool mcp__x__y '{}'
  [ -e two ] || fail 'the decision was not forgotten'
  code 2 ona mcp approve y
  # Not in a folder that nobody trusts.
  unset ONA_TRUST
  code 1 ona mcp approve x
  has "$err" 'not trusted'
}
check_mcp_approve_settings() {
  local file=$HOME/.ona/settings.json
  mkdir -p "$HOME/.ona"
  jq -cn '{mcpServers:{a:{command:"touch",args:["a"]},b:{command:"touch",args:["b"]}}}' >.mcp.json
  # started EXPECTED : which servers run after both were called
  started() {
    rm -f a b
    tool mcp__a__x '{}'
    tool mcp__b__x '{}'
    is "$(find . -maxdepth 1 -name '[ab]' -printf '%f')" "$1"
  }
  echo '{"disabledMcpjsonServers":["a"]}' >"$file"
  started b
  echo '{"enableAllProjectMcpServers":false,"enabledMcpjsonServers":["a"]}' >"$file"
  started a
  code 0 ona mcp list
  has "$err" 'enableAllProjectMcpServers is false; ona mcp approve "b" approves it'
  code 0 ona mcp approve b
  rm -f a b
  tool mcp__b__x '{}'
  [ -e b ] || fail 'an approved server was not started'
  # A folder does not approve its own.
  mkdir .ona
  echo '{"enabledMcpjsonServers":["a"],"enableAllProjectMcpServers":true}' >.ona/settings.json
  echo '{"enableAllProjectMcpServers":false}' >"$file"
  rm -f a
  tool mcp__a__x '{}'
  [ ! -e a ] || fail 'a folder approved its own server'
}

# ---- servers over HTTP -----------------------------------------------------------------------------

# evals CALL_JSON... : calls of one process; $out has a line for each
evals() { code 0 ona --eval - < <(printf '%s\n' "$@"); }
say_json() { jq -cn --arg t "mcp__web__$1" --arg x "${2:-x}" '{tool:$t,input:{text:$x}}'; }
contents() { jq -r .content <<<"$out" | paste -sd'|'; }

check_mcp_sse() {
  http_server
  settings "$(jq -cn --arg u "$HTTP/sse" '{mcpServers:{web:{type:"sse",url:$u,headers:{"x-a":"b"}}},permissions:{allow:["mcp__web"]}}')"
  evals "$(say_json say one)" "$(say_json say two)"
  is "$(contents)" 'one|two'
  is "$(jq -r 'select(.http == "POST") | .path + " " + .headers["x-a"]' "$HTTP_LOG" | sort -u)" '/messages b'
  # The stream ends in the middle of a call: it fails at once, the next one connects again.
  evals "$(say_json say leave)" "$(say_json say again)"
  has "$(contents)" '|again'
  # A server that wants its messages elsewhere does not get them: they carry credentials.
  stop_servers
  http_server '{"redirect":"http://127.0.0.1:1"}'
  settings "$(jq -cn --arg u "$HTTP/sse" '{mcpServers:{web:{type:"sse",url:$u}},permissions:{allow:["mcp__web"]}}')"
  tool mcp__web__say '{"text":"x"}'
  has "$(content)" 'wants its messages at another server, which is refused'
}
check_mcp_http_failures() {
  local started
  # A status, a cut stream, a forgotten session: the call fails at once, and the next one works.
  http_server '{"status":500,"once":true}'
  web
  started=$SECONDS
  evals "$(say_json say one)" "$(say_json say two)"
  is "$(contents)" '[SDLC_INTERNAL] MCP server "web": the server answered with HTTP status 500 Internal Server Error|two'
  is "$(sent initialize | wc -l)" 2
  stop_servers
  http_server '{"cut":true,"once":true}'
  web
  evals "$(say_json say one)" "$(say_json say two)"
  is "$(contents)" '[SDLC_INTERNAL] MCP server "web": the connection was lost: the connection was cut before the answer was complete|two'
  # A session that the server does not know any more is made anew, and the call sent again.
  stop_servers
  http_server '{"forget":4}'
  web
  evals "$(say_json say one)" "$(say_json say two)" "$(say_json say three)" "$(say_json say four)"
  is "$(contents)" 'one|two|three|four'
  [ "$(sent initialize | wc -l)" -ge 2 ] || fail 'no second session was made'
  # The rest of a cut stream is fetched where the server keeps it.
  stop_servers
  http_server '{"resume":true}'
  web
  tool mcp__web__say '{"text":"whole"}'
  is "$(content)" whole
  # Nobody there, the wrong address, another address.
  stop_servers
  web
  tool mcp__web__say '{"text":"x"}'
  is "$(content)" '[SDLC_INTERNAL] MCP server "web": the connection was lost: the server cannot be reached: Connection refused (os error 111)'
  http_server
  settings "$(jq -cn --arg u "$HTTP" '{mcpServers:{web:{type:"http",url:($u + "/nothing")},moved:{type:"http",url:($u + "/elsewhere")}},permissions:{allow:["mcp__web","mcp__moved"]}}')"
  tool mcp__web__say '{}'
  has "$(content)" 'HTTP status 404 Not Found; for a server of the older kind use "type": "sse"'
  tool mcp__moved__say '{}'
  has "$(content)" 'the server sends requests to another address (HTTP status 307); put that address into its `url`'
  [ $((SECONDS - started)) -lt 60 ] || fail "took $((SECONDS - started)) s"
}
check_mcp_headers_helper() {
  http_server '{"token":"canary-of-the-helper"}'
  http_server '{"auth":true,"token":"canary-of-the-helper"}'
  export ANTHROPIC_API_KEY=canary-of-the-provider
  local helper="env >>'$WORLD/env'; echo x >>'$WORLD/ran'; printf '{\"Authorization\":\"Bearer %s\"}' \"\$(cat '$WORLD/token')\""
  echo wrong >"$WORLD/token"
  web "$(jq -cn --arg h "$helper" '{headersHelper:$h}')"
  tool mcp__web__secret '{}'
  has "$(content)" 'it refuses the headers that its headersHelper prints'
  # Refused headers are asked for once more; what is printed reaches no row.
  echo canary-of-the-helper >"$WORLD/token"
  tool mcp__web__secret '{}'
  is "$(content)" '[REDACTED:Authorization]'
  lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump)" canary-of-the-helper
  has "$(cat "$WORLD/env")" CLAUDE_CODE_MCP_SERVER_NAME=web
  lacks "$(cat "$WORLD/env")" canary-of-the-provider
  # A helper that fails is one sentence without its output.
  web "$(jq -cn '{headersHelper:"echo canary-of-the-failure; exit 3"}')"
  tool mcp__web__secret '{}'
  has "$(content)" 'its headersHelper ended with exit code 3'
  lacks "$(content)" canary
  # Of a folder: only once it is trusted, and never with the program's own credentials.
  unset ONA_TRUST
  sqlite3 "$AGENT_SDLC_DB" 'DELETE FROM settings_snapshot'
  rm "$WORLD/ran" "$WORLD/env"
  jq -cn --arg u "$HTTP/mcp" --arg h "$helper; : \$ANTHROPIC_API_KEY" '{mcpServers:{web:{type:"http",url:$u,headersHelper:$h}}}' >.mcp.json
  tool mcp__web__secret '{}'
  code 0 ona mcp list
  [ ! -e "$WORLD/ran" ] || fail 'a helper of an untrusted folder ran'
  tool mcp__web__secret '{}' --trust
  [ -e "$WORLD/ran" ] || fail 'a helper of a trusted folder did not run'
  lacks "$(cat "$WORLD/env")" canary-of-the-provider
}
check_mcp_login() {
  follow_page
  http_server '{"auth":true,"lifetime":[30,3600]}'
  web
  # Without a login: one line that says how to get one.
  tool mcp__web__say '{"text":"x"}'
  is "$(content)" '[SDLC_INTERNAL] MCP server "web": the server asks for a login: ona mcp login web'
  code 0 ona mcp login web
  has "$out" 'Logged in to the MCP server web.'
  has "$(cat "$WORLD/page")" 'ona has received the answer'
  # Registered, with PKCE and the resource it is for.
  is "$(jq -r 'select(.path == "/register").body | fromjson | .token_endpoint_auth_method' "$HTTP_LOG")" none
  has "$err" code_challenge_method=S256
  has "$err" "resource=http%3A%2F%2F127.0.0.1"
  # The token has 30 s left, less than a minute: it is renewed once, however many ask.
  for _ in 1 2 3; do ona --eval "$(say_json say hello)" >"$WORLD/said$_" & done
  wait $(jobs -p | tail -n 3)
  is "$(cat "$WORLD"/said? | jq -r .content | sort -u)" hello
  is "$(jq -r 'select(.path == "/token").body' "$HTTP_LOG" | grep -c grant_type=refresh_token)" 1
  # Sealed, and nowhere in the record.
  lacks "$(cat "$HOME"/.local/share/ona/mcp/* | tr -d '\0')" canary-mcp
  is "$(stat -c %a "$HOME"/.local/share/ona/mcp/*.enc)" 600
  tool mcp__web__secret '{}'
  is "$(content)" 'Bearer [REDACTED:login]'
  lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump)" canary-mcp
  lacks "$out$err" canary-mcp-refresh
  # Another address under the same name does not get the token.
  local first=$HTTP_LOG
  http_server '{"auth":true}'
  web
  tool mcp__web__say '{"text":"x"}'
  has "$(content)" 'asks for a login'
  is "$(jq -r '.headers.authorization // empty' "$HTTP_LOG")" ''
  settings "$(jq -cn --arg u "http://127.0.0.1:$(cat "$first.port")/mcp" '{mcpServers:{web:{type:"http",url:$u}},permissions:{allow:["mcp__web","Read","Bash"]}}')"
  # No tool reads or changes what holds it.
  tool Read "$(jq -cn --arg f "$(echo "$HOME"/.local/share/ona/mcp/*.key)" '{file_path:$f}')"
  is "$(is_error)" true
  tool Bash "$(jq -cn '{command:"rm ~/.local/share/ona/mcp/*"}')"
  is "$(is_error)" true
  # Out again, and told to the server.
  code 0 ona mcp logout web --json
  is "$(jq -c '[.removed,.revoked]' <<<"$out")" '[true,true]'
  code 0 ona mcp logout web
  has "$out" 'No login was stored.'
  tool mcp__web__say '{"text":"x"}'
  has "$(content)" 'ona mcp login web'
}
check_mcp_login_pasted() {
  # A browser that cannot reach this machine: the address it ends at is pasted.
  http_server '{"auth":true}'
  web
  mkfifo "$WORLD/stdin"
  (ona mcp login web --no-browser --json <"$WORLD/stdin" >"$WORLD/told" 2>"$WORLD/err"; echo $? >"$WORLD/code") &
  exec 9>"$WORLD/stdin"
  local tries=0
  until [ -s "$WORLD/told" ]; do tries=$((tries + 1)); [ $tries -lt 200 ] || fail 'no address was printed'; sleep 0.05; done
  curl -s -o /dev/null -w '%{redirect_url}\n' "$(head -n 1 "$WORLD/told" | jq -r .url)" >&9
  wait $!
  exec 9>&-
  is "$(cat "$WORLD/code") $(tail -n 1 "$WORLD/told")" '0 {"event":"logged_in","server":"web"}'
  tool mcp__web__say '{"text":"x"}'
  is "$(content)" x
}
# Attack case J-7 for the login to a server.
check_mcp_J_7() {
  local page redirect state tries=0 id
  http_server '{"auth":true}'
  web
  ona mcp login web --no-browser --json </dev/null >"$WORLD/told" 2>"$WORLD/err" &
  id=$!
  until [ -s "$WORLD/told" ]; do tries=$((tries + 1)); [ $tries -lt 400 ] || fail 'no address was printed'; sleep 0.05; done
  page=$(head -n 1 "$WORLD/told" | jq -r .url)
  redirect=$(jq -rn --arg u "$page" '$u | capture("redirect_uri=(?<r>[^&]*)").r | gsub("%3A";":") | gsub("%2F";"/")')
  state=$(jq -rn --arg u "$page" '$u | capture("state=(?<s>[^&]*)").s')
  foreign_pages "$redirect" "$state"
  is "$(jq -r 'select(.path == "/token").body' "$HTTP_LOG")" ''
  curl -sL -o /dev/null "$page"
  wait "$id" || fail "$(cat "$WORLD/err")"
  tool mcp__web__say '{"text":"x"}'
  is "$(content)" x
}
check_mcp_login_refused() {
  follow_page
  # Nothing to log in to; unknown; a program; a login server that says no.
  http_server
  web
  code 1 ona mcp login web
  has "$err" 'asks for no login'
  code 2 ona mcp login wep
  has "$err" 'did you mean web?'
  with s
  code 1 ona mcp login s
  has "$err" 'a program of this machine'
  http_server '{"auth":true,"refuse":"access_denied"}'
  web
  code 1 ona mcp login web
  has "$err" 'the login was denied'
  # Metadata of another server, no PKCE, no registration: refused before anything is sent.
  http_server '{"auth":true,"resource":"https://other.example/mcp"}'
  web
  code 1 ona mcp login web
  has "$err" 'its metadata are those of another server'
  http_server '{"auth":true,"pkce":false}'
  web
  code 1 ona mcp login web
  has "$err" 'does not offer PKCE'
  http_server '{"auth":true,"registers":false,"clients":{"mine":"canary-client-secret"}}'
  web
  code 1 ona mcp login web
  has "$err" 'ona mcp add --client-id'
  # A client that is registered, with its secret.
  web '{"oauth":{"clientId":"mine"}}'
  MCP_CLIENT_SECRET=canary-client-secret code 0 ona mcp login web --client-secret
  lacks "$out$err" canary-client-secret
  tool mcp__web__say '{"text":"x"}'
  is "$(content)" x
}

# ---- what servers offer and ask beside tools -----------------------------------------------------------

says_and_allows() { with "$1" '{"permissions":{"allow":["mcp__s"]},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'; }

check_mcp_prompts() {
  model '[]'
  anthropic
  says_and_allows s
  echo 'canary of a file' >secret.txt
  says 0 -p '/mcp__s__review "two words" short' --output-format stream-json --verbose
  is "$(head -1 <<<"$out" | jq -c '[.slash_commands[] | select(startswith("mcp__"))]')" '["mcp__s__plain","mcp__s__review"]'
  is "$(got prompts/get)" '{"name":"review","arguments":{"topic":"two words","style":"short"}}'
  has "$(req 0 '.body.messages[-1] | tojson')" 'review: {\"topic\":\"two words\"'
  # A file that the server's text names is not one that the person points at.
  lacks "$(req 0 .body)" 'canary of a file'
  # What is wrong is said, and no model is asked.
  local before
  before=$(requests)
  says 1 -p '/mcp__s__review'
  has "$out$err" 'topic is missing; use it as /mcp__s__review <topic> [style]'
  says 1 -p '/mcp__s__nothing'
  has "$out$err" 'Unknown command: /mcp__s__nothing'
  is "$(requests)" "$before"
}
check_mcp_mentions() {
  model '[]'
  anthropic
  says_and_allows s
  says 0 -p 'Look at @s:test:///a, please.'
  has "$(req 0 '.body.messages | tojson')" 'text of a'
  is "$(got resources/read)" '{"uri":"test:///a"}'
  says 0 -p 'Look at @s:test:///c please, and at me@s:test:///a'
  is "$(got resources/read | wc -l)" 2
  has "$err" '@s:test:///c was not attached'
  with s '{"permissions":{"deny":["ReadMcpResource"]},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
  says 0 -p 'Look at @s:test:///a'
  is "$(got resources/read | wc -l)" 2
}
check_mcp_requests() {
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:($s | .env.TOOLS = "request,steps,gallery,echo")},permissions:{allow:["mcp__s"]}}')"
  tool mcp__s__request '{"method":"roots/list"}'
  is "$(content | jq -r '.roots[0].uri')" "file://$PWD"
  tool mcp__s__request '{"method":"sampling/createMessage"}'
  is "$(content | jq -c '[.code,.message]')" '[-32601,"sampling is not offered: this client does not run its model for servers"]'
  tool mcp__s__request '{"method":"something/else"}'
  is "$(content | jq -c .code)" -32601
  tool mcp__s__request '{"method":"ping"}'
  is "$(content)" '{}'
  # Directories that come in while the session runs are announced.
  mkdir "$WORLD/more"
  local more
  more=$(jq -cn --arg d "$WORLD/more" '{hookSpecificOutput:{hookEventName:"PermissionRequest",decision:{behavior:"allow",updatedPermissions:[{type:"addDirectories",directories:[$d],destination:"session"}]}}}')
  settings "$(jq -cn --argjson s "$(server)" --argjson h "$(hook PermissionRequest Bash "$(prints "$more")")" '{hooks:[$h],mcpServers:{s:($s | .env.TOOLS = "request")},permissions:{allow:["mcp__s"],ask:["Bash"]},model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}}')"
  : >"$WORLD/log"
  local roots='{"calls":[{"name":"mcp__s__request","input":{"method":"roots/list"}}]}'
  model "[$roots,{\"calls\":[{\"name\":\"Bash\",\"input\":{\"command\":\"touch x\"}}]},$roots]"
  anthropic
  says 0 -p go
  is "$(jq -r 'select(.method == "notifications/roots/list_changed").method' "$WORLD/log")" notifications/roots/list_changed
  lacks "$(req 1 '.body.messages[-1] | tojson')" "file://$WORLD/more"
  has "$(req 3 '.body.messages[-1] | tojson')" "file://$WORLD/more"
}
check_mcp_progress() {
  model '[{"calls":[{"name":"mcp__s__steps","input":{}}]}]'
  anthropic
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:($s | .env.TOOLS = "steps" | .env.WORDS = "Use steps with care.")},permissions:{allow:["mcp__s"]},model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}}')"
  says 0 -p go --output-format stream-json --verbose
  is "$(jq -c 'select(.type == "tool_progress") | [.tool_name,.progress,.total,.message,.provisional]' <<<"$out" | paste -sd' ')" '["mcp__s__steps",1,2,"step 1",true] ["mcp__s__steps",2,2,"step 2",true]'
  # What the server says about its tools is in the system prompt.
  has "$(req 0 '.body.system | tojson')" 'Use steps with care.'
  model '[{"calls":[{"name":"mcp__s__steps","input":{}}]}]'
  anthropic
  says 0 -p go --verbose
  has "$err" 'mcp__s__steps: 1 of 2 step 1'
}
check_mcp_pictures() {
  local script='[{"calls":[{"name":"mcp__s__gallery","input":{}}]}]'
  model "$script"
  anthropic
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:($s | .env.TOOLS = "gallery")},permissions:{allow:["mcp__s"]},model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}}')"
  says 0 -p go
  is "$(req 1 '[.body.messages[] | .. | objects | select(.type? == "image")] | length')" 2
  has "$(req 1 '.body.messages | tojson')" '[audio: audio/wav, 6 bytes; models here take no sound]'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='attachment'")" 2
  # The other wire.
  model "$script"
  openai
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:($s | .env.TOOLS = "gallery")},permissions:{allow:["mcp__s"]},model_config:{provider:"openai_compatible",model_id:"gpt_4o"}}')"
  says 0 -p go
  is "$(req 1 '[.body.messages[] | .. | objects | select(.type? == "image_url")] | length')" 2
}
check_mcp_versions() {
  local version
  for version in 2025-06-18 2025-03-26 2024-11-05; do
    settings "$(jq -cn --argjson s "$(server)" --arg v "$version" '{mcpServers:{s:($s | .env.PROTOCOL = $v)},permissions:{allow:["mcp__s"]}}')"
    tool mcp__s__say '{"text":"x"}'
    is "$version $(content)" "$version x"
  done
  # A server that names what it speaks instead of choosing is asked again.
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:($s | .env.ONLY = "2024-11-05,2025-03-26")},permissions:{allow:["mcp__s"]}}')"
  : >"$WORLD/log"
  tool mcp__s__say '{"text":"x"}'
  is "$(content) $(got initialize | jq -r .protocolVersion | paste -sd,)" 'x 2025-11-25,2025-03-26'
  settings "$(jq -cn --argjson s "$(server)" '{mcpServers:{s:($s | .env.PROTOCOL = "1999-01-01")},permissions:{allow:["mcp__s"]}}')"
  tool mcp__s__say '{"text":"x"}'
  has "$(content)" 'it speaks "1999-01-01"; this program speaks 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05'
}
check_mcp_restart() {
  with s '{"permissions":{"allow":["mcp__s"]}}'
  evals '{"tool":"mcp__s__die","input":{}}' '{"tool":"mcp__s__say","input":{"text":"back"}}'
  is "$(contents)" '[SDLC_INTERNAL] MCP server "s": the connection was lost: the server ended with exit code 7: about to die|back'
  # One that ends again and again is left alone.
  evals $(for _ in 1 2 3 4 5 6 7 8; do echo '{"tool":"mcp__s__die","input":{}}'; done)
  has "$(tail -n 1 <<<"$out" | jq -r .content)" 'it is left alone for a while'
  # MCP_TOOL_TIMEOUT is for servers that say nothing.
  MCP_TOOL_TIMEOUT=1200 tool mcp__s__hang '{}'
  is "$(content)" '[SDLC_INTERNAL] MCP server "s": no answer within 1200 ms'
  # A list that changes over a stream of its own.
  http_server '{"announce":true}'
  web
  evals '{"tool":"mcp__web__grow","input":{}}' '{"tool":"Bash","input":{"command":"sleep 0.5"}}' '{"tool":"mcp__web__late","input":{}}'
  is "$(tail -n 1 <<<"$out" | jq -r .content)" here
}
check_mcp_remote_schema() {
  # K-4: a schema that refers to an address makes nobody ask there.
  model '[]'
  local other=$PORT
  cat >server.mjs <<END
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const schema = { type: "object", properties: { a: { \$ref: "http://127.0.0.1:$other/schema" } } };
  const result = method === "initialize"
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }
    : method === "tools/list" ? { tools: [{ name: "t", inputSchema: schema }] } : { content: [{ type: "text", text: "ran" }] };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});
END
  settings '{"mcpServers":{"x":{"command":"node","args":["server.mjs"]}},"permissions":{"allow":["mcp__x"]}}'
  tool mcp__x__t '{"a":1}'
  is "$(content)" ran
  is "$(connections)" 0
}

# ---- servers that come in later ----------------------------------------------------------------

check_mcp_set_servers() {
  # A driving program adds a server between two prompts, replaces it and takes it away.
  local to from line definition
  definition=$(server '{"env":{"LOG":"'"$WORLD/log"'","A_TOKEN":"canary-of-a-request"}}')
  model '[{"say":"one"},{"calls":[{"name":"mcp__late__env","input":{}}]},{"say":"two"},{"calls":[{"name":"mcp__late__say","input":{"text":"x"}}]},{"say":"three"}]'
  anthropic
  echo '{"deniedMcpServers":[{"serverName":"evil"}]}' >"$ONA_MANAGED_SETTINGS"
  settings '{"permissions":{"allow":["mcp__late"]},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
  coproc ONA_P { ona -p --output-format stream-json --verbose --input-format stream-json 2>"$WORLD/driven.err"; }
  local driven=$ONA_P_PID
  exec {to}>&"${ONA_P[1]}" {from}<&"${ONA_P[0]}"
  put() { printf '%s\n' "$1" >&"$to"; }
  until_line() {
    while IFS= read -r -t 30 line <&"$from"; do
      if [ "$(jq -r "$1" <<<"$line")" = true ]; then return; fi
    done
    fail "no line for which $1: $(cat "$WORLD/driven.err")"
  }
  # asked REQUEST_JSON : the answer to a request
  asked() {
    put "$(jq -cn --argjson r "$1" '{type:"control_request",request_id:"r",request:$r}')"
    until_line '.type == "control_response"'
    line=$(jq -c .response.response <<<"$line")
  }
  prompt() {
    put '{"type":"user","message":{"role":"user","content":"go"}}'
    until_line '.type == "result"'
  }
  prompt
  is "$(req 0 '[.body.tools[].name | select(startswith("mcp__"))] | length')" 0
  asked "$(jq -cn --argjson s "$definition" '{subtype:"mcp_set_servers",servers:{late:$s,evil:$s,bad:{type:"x"}}}')"
  is "$(jq -c '[.added,.removed,.errors.evil,(.errors.bad | startswith("unknown transport"))]' <<<"$line")" '[["late"],[],"the policy denies it (deniedMcpServers)",true]'
  local tries=0
  until asked '{"subtype":"mcp_status"}' && [ "$(jq -r '.mcpServers[0].status' <<<"$line")" = connected ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "not connected: $line"
    sleep 0.05
  done
  is "$(jq -r '.mcpServers[0].scope' <<<"$line")" dynamic
  prompt
  is "$(req 1 '[.body.tools[].name | select(. == "mcp__late__env")] | length')" 1
  # Its tools run, its secrets are known.
  has "$(req 2 '.body.messages[-1] | tojson')" '[REDACTED:A_TOKEN]'
  lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump)" canary-of-a-request
  asked '{"subtype":"mcp_set_servers","servers":{}}'
  is "$(jq -c '[.added,.removed]' <<<"$line")" '[[],["late"]]'
  prompt
  has "$(req 4 '.body.messages[-1] | tojson')" 'Unknown tool mcp__late__say'
  exec {to}>&-
  eval "exec ${ONA_P[1]:-$to}>&-" 2>/dev/null || true
  cat <&"$from" >/dev/null
  wait "$driven" || fail "exit code $?"
  has "$(cat "$WORLD/log")" '{"closed":true}'
}
check_mcp_agent_servers() {
  # A server that an agent's definition brings is that agent's alone, and ends with it.
  mkdir -p .ona/agents
  jq -rn --argjson s "$(server '{"env":{"LOG":"'"$WORLD/log"'","TOOLS":"say"}}')" '"---\nname: worker\ndescription: d\ntools: Read\nmcpServers:\n  - own: \($s | tojson)\n  - evil: {command: touch, args: [evil]}\n---\nWork."' >.ona/agents/worker.md
  echo '{"deniedMcpServers":[{"serverName":"evil"}]}' >"$ONA_MANAGED_SETTINGS"
  settings '{"permissions":{"allow":["Agent","mcp__own"]},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
  local run='{"calls":[{"name":"Agent","input":{"description":"d","prompt":"p","subagent_type":"worker"}}]}' say='{"calls":[{"name":"mcp__own__say","input":{"text":"from the agent"}}]}'
  model "[$run,$say,{\"say\":\"done\"},$say,{\"say\":\"end\"}]"
  anthropic
  says 0 -p go
  is "$(req 1 '[.body.tools[].name | select(startswith("mcp__"))] | tojson')" '["mcp__own__say"]'
  has "$(req 2 '.body.messages[-1] | tojson')" 'from the agent'
  is "$(req 0 '[.body.tools[].name | select(startswith("mcp__"))] | length')" 0
  has "$(req 4 '.body.messages[-1] | tojson')" 'Unknown tool mcp__own__say'
  is "$(got tools/call | wc -l)" 1
  has "$(cat "$WORLD/log")" '{"closed":true}'
  has "$err" 'works without its MCP server "evil": the policy denies it'
  [ ! -e evil ] || fail 'a denied server was started'
  # The same in --agents, for another command line.
  : >"$WORLD/log"
  model "[${run/worker/given},$say,{\"say\":\"done\"},{\"say\":\"end\"}]"
  anthropic
  says 0 -p go --agents "$(jq -cn --argjson s "$(server)" '{given:{description:"d",prompt:"p",mcpServers:[{own:$s}]}}')"
  has "$(req 2 '.body.messages[-1] | tojson')" 'from the agent'
  # Nothing of a folder that nobody trusts.
  unset ONA_TRUST
  sqlite3 "$AGENT_SDLC_DB" 'DELETE FROM settings_snapshot'
  : >"$WORLD/log"
  model "[$run,{\"say\":\"end\"}]"
  anthropic
  says 0 -p go --no-trust
  is "$(cat "$WORLD/log")" ''
}
check_mcp_roots_announced() {
  # A directory that comes in is announced at once, not with the next call of the server.
  mkdir "$WORLD/more"
  local more
  more=$(jq -cn --arg d "$WORLD/more" '{hookSpecificOutput:{hookEventName:"PermissionRequest",decision:{behavior:"allow",updatedPermissions:[{type:"addDirectories",directories:[$d],destination:"session"}]}}}')
  settings "$(jq -cn --argjson s "$(server)" --argjson h "$(hook PermissionRequest Bash "$(prints "$more")")" '{hooks:[$h],mcpServers:{s:$s},permissions:{ask:["Bash"]},model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}}')"
  model '[{"calls":[{"name":"Bash","input":{"command":"sleep 0.5"}}]},{"say":"done"}]'
  anthropic
  says 0 -p go
  is "$(jq -r 'select(.method == "notifications/roots/list_changed").method' "$WORLD/log")" notifications/roots/list_changed
  is "$(got tools/call)" ''
}
check_mcp_socket() {
  http_server
  local at=${HTTP/http:/ws:}
  socket() { settings "$(jq -cn --arg u "$at/$1" --argjson m "${2:-{\}}" '{mcpServers:{web:({type:"ws",url:$u} + $m)},permissions:{allow:["mcp__web"]}}')"; }
  socket socket '{"headers":{"x-a":"b"}}'
  evals "$(say_json say one)" "$(say_json say two)"
  is "$(contents)" 'one|two'
  is "$(jq -r 'select(.http == "UPGRADE") | .headers["x-a"] + " " + .headers["sec-websocket-protocol"]' "$HTTP_LOG")" 'b mcp'
  # The connection ends in the middle of a call: it fails at once, the next one connects again.
  evals "$(say_json say leave)" "$(say_json say again)"
  is "$(contents)" '[SDLC_INTERNAL] MCP server "web": the connection was lost: the connection was cut|again'
  # What is not a WebSocket, what is not accepted, what nobody answers.
  socket nothing
  tool mcp__web__say '{"text":"x"}'
  has "$(content)" 'HTTP status 404'
  stop_servers
  http_server '{"auth":true,"token":"t0ken"}'
  at=${HTTP/http:/ws:}
  socket socket
  tool mcp__web__say '{"text":"x"}'
  has "$(content)" 'give it a header in `headers` or a headersHelper'
  code 1 ona mcp login web
  has "$err" 'is a WebSocket'
  socket socket '{"headers":{"Authorization":"Bearer t0ken"}}'
  tool mcp__web__say '{"text":"x"}'
  is "$(content)" x
  stop_servers
  tool mcp__web__say '{"text":"x"}'
  has "$(content)" 'cannot be reached: Connection refused'
  code 0 ona mcp get web --json
  is "$(jq -r .transport <<<"$out")" ws
}

# ---- questions about permission --------------------------------------------------------------------

# asks ANSWER_JSON : a server whose tool `approve` gives that answer, and a model that calls Bash
asks() {
  model '[{"calls":[{"name":"Bash","input":{"command":"echo one"}}]}]'
  anthropic
  settings "$(jq -cn --argjson s "$(server)" --arg a "$1" '{mcpServers:{s:($s | .env.TOOLS = "approve" | if $a == "" then . else .env.ANSWER = $a end)},model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"}}')"
  : >"$WORLD/log"
  says 0 -p go --permission-prompt-tool mcp__s__approve
}
check_mcp_permission_tool() {
  result() { req 1 '.body.messages[-1].content[0] | [.is_error // false, .content] | tojson'; }
  asks ''
  has "$(result)" one
  is "$(jq -c 'select(.asked).asked | [.tool_name,.input,(.tool_use_id | type)]' "$WORLD/log")" '["Bash",{"command":"echo one"},"string"]'
  is "$(sql "SELECT decision || ' ' || json_extract(reason_json,'$.source') || ' ' || json_extract(reason_json,'$.tool') FROM tool_permission_log ORDER BY id DESC LIMIT 1")" 'allow permission_prompt_tool mcp__s__approve'
  asks '{"behavior":"allow","updatedInput":{"command":"echo two"}}'
  has "$(result)" two
  asks '{"behavior":"deny","message":"not today"}'
  has "$(result)" 'Denied by mcp__s__approve\nnot today'
  # Broken means no.
  asks 'yes'
  has "$(result)" 'could not be read'
  # It is not a person: what the floor asks it neither hears nor answers, nor may it bring it in.
  model '[{"calls":[{"name":"Bash","input":{"command":"rm -rf ~"}}]}]'
  anthropic
  : >"$WORLD/log"
  says 0 -p go --permission-prompt-tool mcp__s__approve
  has "$(result)" 'only a person can allow this'
  is "$(jq -c 'select(.asked)' "$WORLD/log")" ''
  asks '{"behavior":"allow","updatedInput":{"command":"rm -rf ~"}}'
  has "$(result)" 'only a person can allow this'
  [ -d "$HOME" ] || fail 'the home directory is gone'
  # What cannot answer is refused at the start.
  says 2 -p go --permission-prompt-tool mcp__s__nothing
  has "$err" 'has no such tool'
  says 2 -p go --permission-prompt-tool mcp__x__y
  has "$err" 'no MCP server of that name is configured'
  says 2 -p go --permission-prompt-tool Bash
  has "$err" 'mcp__server__tool'
}

run_check "$@"
