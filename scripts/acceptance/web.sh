#!/usr/bin/env bash
# Pages and searches of the web: WebFetch and WebSearch against a scripted server on loopback (web.mjs),
# and Brief, the tool that shows the operator something (sections 7.1 and 7.2, DEC-133, DEC-134).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

ok() { is "$(is_error)" false; }
rejected() {
  is "$(is_error)" true
  case $(content) in '[SDLC_INTERNAL]'*) fail "an internal failure: $(content)" ;; esac
}
internal() {
  is "$(is_error)" true
  case $(content) in '[SDLC_INTERNAL]'*) ;; *) fail "no internal failure: $(content)" ;; esac
}
# web : starts the server; $WEB is its address and $SEEN its log
web() {
  trap 'stop_servers; rm -rf "$WORLD"' EXIT
  SEEN=$WORLD/seen
  : >"$SEEN"
  node "$here/web.mjs" "$WORLD/webport" "$SEEN" >"$WORLD/web.out" 2>&1 &
  servers+=($!)
  local tries=0
  until [ -e "$WORLD/webport" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "the web server did not start: $(cat "$WORLD/web.out")"
    sleep 0.05
  done
  WEBPORT=$(cat "$WORLD/webport")
  WEB=http://127.0.0.1:$WEBPORT
}
seen() { wc -l <"$SEEN"; }
get() { tool WebFetch "$(jq -cn --arg u "$1" '{url:$u}')"; }
# closed_port : an address nobody listens on
closed() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }
# asks URL [SETTINGS] [FLAG...] : a model fetches an address; $out is what it was told
asks() {
  local url=$1 set=${2:-}
  shift; shift || true
  [ -z "$set" ] || settings "$set"
  model "$(jq -cn --arg u "$url" '[{calls:[{name:"WebFetch",input:{url:$u,prompt:"p"}}]},{say:"done"}]')"
  anthropic
  says 0 -p go "$@"
  told=$(req 1 '.body.messages[-1].content[0] | [.content | if type == "array" then .[0].text else . end][0]')
}
rules() { jq -cn --argjson a "$1" --argjson d "${2:-[]}" '{permissions:{allow:$a,deny:$d}}'; }

check_004_7_01() {
  local expected='Read Write Edit NotebookEdit Bash Glob Grep WebFetch WebSearch AskUserQuestion TodoWrite TaskOutput Agent Skill EnterPlanMode ExitPlanMode ListMcpResources ReadMcpResource ToolSearch Brief TaskStop'
  local names='[.body.tools[] | .name // .function.name] | join(" ")' id
  model '[{"calls":[{"name":"Agent","input":{"description":"d","prompt":"p"}}]},{"say":"of the agent"},{"say":"done"}]'
  anthropic
  says 0 -p go
  is "$(req 0 "$names")" "$expected"
  # Nobody is in front of a subagent, and planning is not its own.
  is "$(req 1 "$names")" 'Read Write Edit NotebookEdit Bash Glob Grep WebFetch WebSearch TodoWrite Agent Skill ListMcpResources ReadMcpResource ToolSearch TaskStop'
  for id in openai_compatible:gpt_4o lm_studio_local:lm_studio_server_routed; do
    stop_servers
    model '[{"say":"done"}]'
    openai
    lm_studio
    settings "$(jq -cn --arg p "${id%%:*}" --arg m "${id#*:}" '{model_config:{provider:$p,model_id:$m}}')"
    says 0 -p go
    is "$(req 0 "$names")" "$expected"
  done
  # A driving program is told the same names, that of Agent in the older form.
  stop_servers
  model '[{"say":"done"}]'
  lm_studio
  says 0 -p go --output-format stream-json
  local name
  for name in ${expected/Agent/Task}; do
    jq -se --arg n "$name" 'map(select(.subtype == "init"))[0].tools | index($n)' <<<"$out" >/dev/null || fail "$name is not in init"
  done
}

check_004_7_2_09() {
  web
  export ANTHROPIC_API_KEY=canary-anthropic-key-1
  tool WebFetch "{\"url\":\"$WEB/page#part\",\"prompt\":\"what is it\"}"
  ok
  is "$(content)" "200 $WEB/page
T

# Head

Café **two** [other]($WEB/other)"
  is "$(sql "SELECT json_extract(payload_json,'$.input.prompt') FROM transcript_entries WHERE entry_type='tool_use'")" 'what is it'
  get "$WEB/latin1"
  is "$(content)" "200 $WEB/latin1
café"
  get "$WEB/json"
  is "$(content)" "200 $WEB/json
{\"a\":[1,2]}"
  get "$WEB/pdf"
  ok
  has "$(content)" 'The body is a PDF document (application/pdf), 10 bytes. Only text is returned.'
  get "$WEB/nothing"
  rejected
  is "$(content)" "404 $WEB/nothing
nothing here"
  # A page that would take all memory or the stack ends as text.
  get "$WEB/deep"
  ok
  has "$(content)" 'first'
  # Nothing of the operator goes along, and cookies are not kept.
  lacks "$(cat "$SEEN")" canary
  lacks "$(cat "$SEEN")" '"cookie"'
  lacks "$(cat "$SEEN")" '"authorization"'
  lacks "$(cat "$SEEN")" '"referer"'
  has "$(head -n 1 "$SEEN" | jq -r '.headers."user-agent"')" ona/
  # A page is kept for the process, and not if that is turned off.
  local before calls
  before=$(seen)
  calls="{\"tool\":\"WebFetch\",\"input\":{\"url\":\"$WEB/page\"}}"
  printf '%s\n' "$calls" "$calls" >calls.json
  code 0 sh -c 'exec ona --eval - <calls.json'
  is "$(($(seen) - before))" 1
  is "$(jq -s '.[0].content == .[1].content' <<<"$out")" true
  code 0 sh -c 'CLAUDE_CODE_WEBFETCH_CACHE_TTL_MS=0 exec ona --eval - <calls.json'
  is "$(($(seen) - before))" 3
  # What is not an address of the web.
  local url
  for url in file:///etc/passwd ftp://127.0.0.1/ 'javascript:1' nonsense; do
    before=$(seen)
    get "$url"
    rejected
    is "$(seen)" "$before"
  done
  get "http://user:word@127.0.0.1:$WEBPORT/page"
  rejected
  has "$(content)" 'Nothing is fetched with credentials'
  is "$(seen)" "$before"
}

check_004_7_1_13() {
  local port
  port=$(closed)
  get "http://127.0.0.1:$port/"
  internal
  has "$(content)" '127.0.0.1'
  get 'http://surely-no-such-host.invalid/'
  internal
  export ONA_WEBSEARCH_URL=http://127.0.0.1:$port/search
  tool WebSearch '{"query":"anything"}'
  internal
}

check_004_7_1_14() {
  web
  get "$WEB/big"
  ok
  # The status line, the cap of the body, the mark.
  is "$(jq -r '.content | length' <<<"$out")" $((${#WEB} + 9 + 1048576 + 16))
  is "$(jq -r '.content[-20:]' <<<"$out")" 'xxxx[SDLC_TRUNCATED]'
}

check_web_redirects() {
  web
  get "$WEB/hop/10"
  ok
  is "$(content)" "200 $WEB/hop/0
arrived"
  get "$WEB/hop/11"
  rejected
  has "$(content)" 'redirected more than 10 times'
  # Another host is reported and not asked.
  local before
  before=$(seen)
  get "$WEB/to?url=http%3A%2F%2Flocalhost%3A$WEBPORT%2Fsecret"
  ok
  is "$(content)" "302 $WEB/to?url=http%3A%2F%2Flocalhost%3A$WEBPORT%2Fsecret
This is a redirect that was not followed. It leads to another host.
Target: http://localhost:$WEBPORT/secret"
  is "$(seen)" $((before + 1))
  get "$WEB/to?url=file%3A%2F%2F%2Fetc%2Fpasswd"
  ok
  has "$(content)" 'only http and https are fetched'
  lacks "$(content)" root:
  # The rules judge the target as they judge a call.
  settings "$(rules '[]' '["WebFetch(domain:127.0.0.1/secret*)"]')"
  get "$WEB/to?url=/secret"
  ok
  has "$(content)" 'Denied by permission rule WebFetch(domain:127.0.0.1/secret*)'
  lacks "$(content)" 'the secret'
  get "$WEB/secret"
  rejected
  asks "$WEB/to?url=/secret" "$(rules '["WebFetch(domain:127.0.0.1/to*)"]')"
  has "$told" 'The rules ask about its target.'
  lacks "$told" 'the secret'
  stop_servers
}

check_web_private_addresses() {
  web
  local url port=$WEBPORT
  # A rule for the tool as a whole names no host, and no mode and no hook stands for one.
  for url in "http://127.0.0.1:$port/page" "http://2130706433:$port/page" "http://0x7f.1:$port/page" \
    "http://localhost:$port/page" "http://LOCALHOST.:$port/page" "http://[::ffff:127.0.0.1]:$port/page" \
    'http://169.254.169.254/latest/meta-data/' 'http://10.0.0.1/' 'http://[fd00::1]/' 'http://100.64.0.1/' 'http://0/'; do
    asks "$url" "$(rules '["WebFetch"]')"
    has "$told" 'which is fetched only if an allow rule names it'
    is "$(seen)" 0
  done
  is "$(sql "SELECT DISTINCT decision || ' ' || json_extract(reason_json,'$.source') FROM tool_permission_log WHERE tool_name='WebFetch'")" 'deny rule'
  asks "$WEB/page" "$(rules '[]')" --dangerously-skip-permissions
  has "$told" '127.0.0.1 is a loopback address'
  asks "$WEB/page" "$(jq -cn --argjson h "$(hook PreToolUse WebFetch 'echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}"')" '{hooks:[$h]}')"
  has "$told" '127.0.0.1 is a loopback address'
  is "$(seen)" 0
  # A rule that names the host does, and so does an operator who typed the call, but not the agent's own shell.
  asks "$WEB/page" "$(rules '["WebFetch(domain:127.0.0.1)"]')"
  has "$told" '# Head'
  is "$(seen)" 1
  settings "$(rules '[]')"
  get "$WEB/page"
  ok
  ONA_AGENT_DB=$AGENT_SDLC_DB get "$WEB/json"
  rejected
  is "$(seen)" 2
  # Deny wins over both.
  settings "$(rules '["WebFetch(domain:127.0.0.1)"]' '["WebFetch(domain:127.0.0.1)"]')"
  get "$WEB/page"
  rejected
  is "$(seen)" 2
}

check_web_proxies() {
  web
  # A proxy looks names up; this machine cannot.
  HTTP_PROXY=$WEB http_proxy=$WEB get http://some.invalid:8080/json
  ok
  is "$(content)" '200 http://some.invalid:8080/json
{"a":[1,2]}'
  is "$(tail -n 1 "$SEEN" | jq -r .path)" http://some.invalid:8080/json
  # A public page is asked for by https, so that is the proxy that counts.
  HTTPS_PROXY=$WEB https_proxy=$WEB get http://some.invalid/json
  internal
  is "$(tail -n 1 "$SEEN" | jq -r '.method + " " + .path')" 'CONNECT some.invalid:443'
  # What is on this machine is reached without it, and what is not public is refused with it too.
  local before
  before=$(seen)
  HTTP_PROXY=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9 get "$WEB/json"
  ok
  is "$(seen)" $((before + 1))
  HTTP_PROXY=$WEB http_proxy=$WEB HTTPS_PROXY=$WEB https_proxy=$WEB asks http://169.254.169.254/latest "$(rules '["WebFetch"]')"
  has "$told" 'is a link-local address'
  is "$(seen)" $((before + 1))
}

check_004_7_2_10() {
  web
  export ONA_WEBSEARCH_URL="$WEB/search?lang=en&q=old"
  tool WebSearch '{"query":"some words"}'
  ok
  is "$(content)" 'Results for "some words":
1. First page
   https://docs.example.com/a
   words of the first
2. Second
   https://example.org/b'
  is "$(tail -n 1 "$SEEN" | jq -r .path)" '/search?lang=en&q=some+words&format=json'
  tool WebSearch '{"query":"x y","allowed_domains":["example.com"]}'
  has "$(content)" docs.example.com
  lacks "$(content)" example.org
  tool WebSearch '{"query":"x y","blocked_domains":["example.com"]}'
  lacks "$(content)" docs.example.com
  has "$(content)" example.org
  tool WebSearch '{"query":"x y","allowed_domains":["nowhere.test"]}'
  ok
  is "$(content)" 'No results for "x y".'
  local before
  before=$(seen)
  tool WebSearch '{"query":"x y","allowed_domains":["a.test"],"blocked_domains":["b.test"]}'
  rejected
  tool WebSearch '{"query":"x y","allowed_domains":["not a domain"]}'
  rejected
  tool WebSearch '{"query":"x"}'
  rejected
  is "$(seen)" "$before"
  export ONA_WEBSEARCH_URL=$WEB/nothing
  tool WebSearch '{"query":"x y"}'
  rejected
  has "$(content)" '404'
  # Without it the Messages API searches on its own side, where that is the provider.
  unset ONA_WEBSEARCH_URL
  export ANTHROPIC_BASE_URL=$WEB ANTHROPIC_API_KEY=canary-anthropic-key-1
  tool WebSearch '{"query":"x y","blocked_domains":["b.test"]}'
  ok
  is "$(content)" 'Results for "x y":
1. Theirs
   https://example.net/t
   May 2026'
  local sent
  sent=$(tail -n 1 "$SEEN")
  is "$(jq -r '.headers."x-api-key"' <<<"$sent")" canary-anthropic-key-1
  is "$(jq -c '.body | fromjson | .tools' <<<"$sent")" '[{"type":"web_search_20250305","name":"web_search","max_uses":8,"blocked_domains":["b.test"]}]'
}

check_004_7_2_21() {
  tool Brief '{"text":"Halfway there.","title":"Progress"}'
  ok
  is "$(content)" 'Halfway there.'
  is "$err" 'Progress
Halfway there.'
  local text
  tool Brief "$(jq -cn '{text:("x" * 4000)}')"
  ok
  for text in "$(jq -cn '{text:("x" * 4001)}')" '{"text":""}' '{"text":"  \n"}' '{}'; do
    tool Brief "$text"
    rejected
    is "$err" ''
  done
  model '[{"calls":[{"name":"Brief","input":{"text":"I look at\nthe \u001b[31mtests."}}]},{"say":"done"}]'
  anthropic
  says 0 -p go
  is "$out" done
  is "$err" 'I look at
the \u{1b}[31mtests.'
  is "$(req 1 '.body.messages[-1].content[0].content | if type == "array" then .[0].text else . end')" $'I look at\nthe \e[31mtests.'
  stop_servers
  model '[{"calls":[{"name":"Brief","input":{"text":"for a program"}}]},{"say":"done"}]'
  anthropic
  says 0 -p go --output-format stream-json
  is "$err" ''
  is "$(jq -r 'select(.type == "assistant") | .message.content[] | select(.name == "Brief") | .input.text' <<<"$out")" 'for a program'
  # The flag asks for what is there anyway, unless something else takes the tool away.
  stop_servers
  model '[{"say":"done"}]'
  anthropic
  says 0 -p go --brief
  has "$(req 0 '[.body.tools[].name] | join(" ")')" ' Brief '
  says 2 -p go --brief --tools Read
  has "$err" '--brief'
}

run_check "$@"
