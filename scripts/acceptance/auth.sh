#!/usr/bin/env bash
# Acceptance checks of logging in, staying logged in and logging out. The login server is
# scripted (oauth.mjs), the browser is curl, the model is scripted (model.mjs).
# Run: auth.sh <ledger id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# login_server [OPTIONS_JSON] : starts it and points ona at it; $OAUTH is its log
login_server() {
  local tries=0 port
  trap 'stop_servers; rm -rf "$WORLD"' EXIT
  OAUTH=$WORLD/oauth$RANDOM${#servers[@]}
  : >"$OAUTH"
  node "$ONA_ROOT/scripts/acceptance/oauth.mjs" "$OAUTH.port" "$OAUTH" "${1:-{\}}" >"$OAUTH.out" 2>&1 &
  servers+=($!)
  until [ -e "$OAUTH.port" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "the login server did not start: $(cat "$OAUTH.out")"
    sleep 0.05
  done
  port=$(cat "$OAUTH.port")
  local base=http://127.0.0.1:$port
  export ONA_OAUTH_CLIENT_ID=ona-test ONA_OAUTH_AUTHORIZE_URL=$base/authorize ONA_OAUTH_TOKEN_URL=$base/token
  export ONA_OAUTH_DEVICE_URL=$base/device ONA_OAUTH_REVOKE_URL=$base/revoke ONA_OAUTH_SCOPES='profile inference'
}
# curl_browser : a browser that follows the page back to ona; what it is shown is in $WORLD/page
curl_browser() {
  export BROWSER=$WORLD/bin/browser
  printf '#!/bin/sh\nenv >"%s/browser-env"\nexec curl -sL -o "%s/page" "$1"\n' "$WORLD" "$WORLD" >"$BROWSER"
  chmod +x "$BROWSER"
}
# logged_in [OPTIONS_JSON] : a login server, and a login in the browser
logged_in() {
  login_server "${1:-{\}}"
  curl_browser
  code 0 ona auth login </dev/null
}
asked() { jq -rs "map(select(.path==\"$1\")) | length" "$OAUTH"; }
# refreshes : how many exchanges of a refresh token the server saw
refreshes() { jq -rs 'map(select(.form.grant_type=="refresh_token")) | length' "$OAUTH"; }
of_login() { jq -rs "map(select(.path==\"$1\"))[-1] | $2" "$OAUTH"; }
signed() { req "$1" '[.headers["x-api-key"] // "-", .headers.authorization // "-"] | join(" ")'; }
# scripted_model [SCRIPT] : Anthropic is the scripted model; no key
scripted_model() {
  model "${1:-[]}"
  export ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT
  unset ANTHROPIC_API_KEY
}
sealed() { printf %s "$HOME/.local/share/ona/credentials.enc"; }
# nowhere WORD... : in no file below HOME, project, TMPDIR and state, and in no variable of the browser
nowhere() {
  local word
  for word; do
    is "$(grep -rlaF -e "$word" "$HOME" "$PWD" "$TMPDIR" "$WORLD/state" 2>/dev/null || true)" ''
  done
}
status() { jq -r "$1" <<<"$(ona auth status --json 2>/dev/null || true)"; }
# token_login TEXT : a pasted long-lived token or key
token_login() { printf '%s\n' "$1" | ona auth login --token >"$WORLD/told" 2>&1 || fail "$(cat "$WORLD/told")"; }
# in_background FILE COMMAND... : its id is $pid, its output FILE.out and FILE.err
in_background() {
  local file=$1
  shift
  "$@" <&0 >"$file.out" 2>"$file.err" &
  pid=$!
}
# until_has FILE TEXT
until_has() {
  local tries=0
  until grep -qF -e "$2" "$1" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || fail "«$2» does not come in $1: $(cat "$1")"
    sleep 0.025
  done
}

# ---- A3: login ---------------------------------------------------------------------

check_004_2_7_1_03() {
  scripted_model
  says 1 -p hello
  has "$err" 'ona auth login'
  logged_in
  has "$out" 'Login successful'
  has "$out" "$(sealed)"
  has "$(cat "$WORLD/page")" 'return to the terminal'
  # PKCE with S256, a state, a redirect to this machine alone; the client has no secret.
  is "$(of_login /authorize '.query | [.response_type,.client_id,.code_challenge_method,.scope] | join(" ")')" 'code ona-test S256 profile inference'
  is "$(of_login /authorize '.query.redirect_uri | test("^http://127\\.0\\.0\\.1:[0-9]+/callback$")')" true
  is "$(of_login /authorize '(.query.state|length>=16) and (.query.code_challenge|length==43)')" true
  is "$(of_login /token '[.form.grant_type,(.form.code_verifier|length>=43),has("client_secret")] | map(tostring) | join(" ")')" 'authorization_code true false'
  says 0 -p hello
  is "$(signed 0)" '- Bearer canary-access-1'
  has "$(req 0 '.headers["anthropic-beta"]')" oauth
  is "$(refreshes)" 0
  # The page of a login that was not approved, and a server that fails: nothing is stored.
  code 0 ona auth logout
  login_server '{"refuse":"access_denied"}'
  code 1 ona auth login </dev/null
  has "$err" 'the login was denied'
  has "$(cat "$WORLD/page")" 'not approved'
  login_server '{"broken":500}'
  code 1 ona auth login </dev/null
  has "$err" 'status 500'
  lacks "$err" canary
  code 1 ona auth status
}

# The code that was pasted, in its three forms; the listener stays open beside it.
check_DEC_085_paste() {
  local form page redirect back
  login_server
  for form in address code#state code; do
    mkfifo "$WORLD/in-$form"
    exec 8<>"$WORLD/in-$form"
    in_background "$WORLD/login-$form" env ONA_OAUTH_NO_BROWSER=1 ona auth login <&8
    until_has "$WORLD/login-$form.err" "$ONA_OAUTH_AUTHORIZE_URL"
    page=$(grep -F "$ONA_OAUTH_AUTHORIZE_URL" "$WORLD/login-$form.err")
    back=$(curl -s -o /dev/null -w '%{redirect_url}' "$page")
    case $form in
      address) printf '%s\n' "$back" >&8 ;;
      code#state) sed -E 's/.*state=([^&]*).*code=([^&]*).*/\2#\1/' <<<"$back" >&8 ;;
      code) sed -E 's/.*code=([^&]*).*/\1/' <<<"$back" >&8 ;;
    esac
    wait "$pid" || fail "$form: $(cat "$WORLD/login-$form.err")"
    exec 8>&-
    has "$(cat "$WORLD/login-$form.out")" 'Login successful'
    code 0 ona auth status
    code 0 ona auth logout
  done
  # A foreign state, a foreign code and a wrong word store nothing and name no code.
  for form in 'http://127.0.0.1:9/callback?code=canary-code-evil&state=other' 'canary-code-evil#other' 'canary-code-evil' 'two words'; do
    code 1 env ONA_OAUTH_NO_BROWSER=1 ona auth login <<<"$form"
    lacks "$out$err" canary-code-evil
    code 1 ona auth status
  done
  # The listener does not take what another page sends: the right answer still comes through.
  in_background "$WORLD/other" env ONA_OAUTH_NO_BROWSER=1 ona auth login </dev/null
  until_has "$WORLD/other.err" "$ONA_OAUTH_AUTHORIZE_URL"
  page=$(grep -F "$ONA_OAUTH_AUTHORIZE_URL" "$WORLD/other.err")
  redirect=$(jq -rn --arg u "$page" '$u | capture("redirect_uri=(?<r>[^&]*)").r | gsub("%3A";":") | gsub("%2F";"/")')
  is "$(curl -s -o /dev/null -w '%{http_code}' "$redirect?code=canary-code-evil&state=other")" 400
  is "$(curl -s -o /dev/null -w '%{http_code}' "${redirect%/callback}/")" 404
  curl -sL -o /dev/null "$page"
  wait "$pid" || fail "$(cat "$WORLD/other.err")"
  code 0 ona auth status
}

# Attack case J-7: a page in the operator's browser reaches the listener.
check_J_7() {
  local page redirect state
  login_server
  in_background "$WORLD/login" env ONA_OAUTH_NO_BROWSER=1 ona auth login </dev/null
  until_has "$WORLD/login.err" "$ONA_OAUTH_AUTHORIZE_URL"
  page=$(grep -F "$ONA_OAUTH_AUTHORIZE_URL" "$WORLD/login.err")
  redirect=$(jq -rn --arg u "$page" '$u | capture("redirect_uri=(?<r>[^&]*)").r | gsub("%3A";":") | gsub("%2F";"/")')
  state=$(jq -rn --arg u "$page" '$u | capture("state=(?<s>[^&]*)").s')
  foreign_pages "$redirect" "$state"
  is "$(asked /token)" 0
  code 1 ona auth status
  # The answer of the login server still ends it.
  curl -sL -o /dev/null "$page"
  wait "$pid" || fail "$(cat "$WORLD/login.err")"
  code 0 ona auth status
  nowhere canary-code-evil
}

check_DEC_085_device() {
  scripted_model
  login_server '{"device":["pending","slow_down","grant"]}'
  code 0 ona auth login --device --json </dev/null
  has "$err" WDJB-MJHT
  has "$err" http://127.0.0.1/activate
  is "$(jq -rs 'map(.event) | join(" ")' <<<"$out")" 'device logged_in'
  lacks "$out$err" canary
  # The pace is the server's: one second, and five more after slow_down.
  is "$(jq -rs 'map(select(.path=="/token").at) | [.[1]-.[0] >= 900, .[2]-.[1] >= 5900] | map(tostring) | join(" ")' "$OAUTH")" 'true true'
  says 0 -p hello
  is "$(signed 0)" '- Bearer canary-access-1'
  code 0 ona auth logout
  login_server '{"device":["pending","denied"]}'
  code 1 ona auth login --device </dev/null
  has "$err" 'the login was denied'
  login_server '{"device":["expired"]}'
  code 1 ona auth login --device </dev/null
  has "$err" 'expired before the login was approved'
  code 1 ona auth status
}

check_DEC_085_token() {
  scripted_model
  # Without a client the paste is offered, and nothing waits.
  code 2 ona auth login </dev/null
  has "$err" ONA_OAUTH_CLIENT_ID
  has "$err" 'ona auth login --token'
  token_login sk-ant-oat01-canary-long-lived
  is "$(cat "$WORLD/told" | grep -c canary)" 0
  says 0 -p hello
  is "$(signed 0)" '- Bearer sk-ant-oat01-canary-long-lived'
  token_login sk-ant-api03-canary-pasted-key
  says 0 -p hello
  is "$(signed 1)" 'sk-ant-api03-canary-pasted-key -'
  is "$(req 1 '.headers["anthropic-beta"] // "-"')" -
  nowhere canary-long-lived canary-pasted-key
  # Not a token: nothing changes, and it is not repeated.
  code 2 ona auth login --token <<<'canary two words'
  lacks "$err" canary
  code 2 ona auth login --token </dev/null
  is "$(status .stored_login.kind)" api_key
  # Never as an argument.
  code 2 ona auth login --token sk-ant-oat01-canary-as-argument
  # Endpoints carry codes: plain http is for this machine only.
  ONA_OAUTH_CLIENT_ID=x ONA_OAUTH_TOKEN_URL=http://login.example/token code 2 ona auth login </dev/null
  has "$err" 'must be an https URL'
}

check_DEC_085_interrupt() {
  login_server
  in_background "$WORLD/login" env ONA_OAUTH_NO_BROWSER=1 ona auth login </dev/null
  until_has "$WORLD/login.err" "$ONA_OAUTH_AUTHORIZE_URL"
  kill -INT "$pid"
  local got=0
  wait "$pid" || got=$?
  is "$got" 130
  has "$(cat "$WORLD/login.err")" 'nothing was changed'
  [ ! -e "$(sealed)" ] || fail 'something was stored'
  is "$(asked /token)" 0
}

check_004_2_7_1_04() {
  scripted_model '[{"say":"canary-access-1","calls":[{"name":"Bash","input":{"command":"env; echo canary-access-1"}}]}]'
  logged_in
  settings '{"permissions":{"allow":["Bash"]},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"},"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"cat >stdin","shell":"sh"}]}'
  says 0 -p 'it is canary-access-1' --verbose
  is "$(requests)" 2
  has "$(cat stdin)" 'REDACTED:login'
  nowhere canary-access canary-refresh canary-code
  lacks "$(sql .dump)" canary
  lacks "$out$err" canary-access
  # The browser gets the address and no credential.
  lacks "$(grep -v '^BROWSER\|_URL=\|^PATH\|^HOME\|^PWD\|^TMPDIR' "$WORLD/browser-env")" canary
}

check_004_2_7_1_05() {
  logged_in
  local folder
  folder=$(dirname "$(sealed)")
  is "$(stat -c %a "$folder" "$(sealed)" "$folder/credentials.key" | tr '\n' ' ')" '700 600 600 '
  lacks "$(tr -d '\0' <"$(sealed)")" canary
  is "$(status .stored_login.place)" file
  is "$(status .stored_login.file)" "$(sealed)"
  # What cannot be read counts as logged out, is said in one line, and does not stop anything.
  local damage
  for damage in 'printf x' 'head -c 40 /dev/urandom' true; do
    $damage >"$(sealed)"
    code 1 timeout 10 ona auth status
    is "$(grep -c 'the stored login is not used' <<<"$err")" 1
  done
  rm "$(sealed)"
  mkfifo "$(sealed)"
  code 1 timeout 10 ona auth status
  has "$err" 'not a regular file'
  rm "$(sealed)"
  code 0 ona auth login </dev/null
  chmod 644 "$folder/credentials.key"
  code 1 ona auth status
  has "$err" 'chmod 600'
  code 0 ona auth logout
  is "$(ls -A "$folder" | grep -v lock || true)" ''
  [ ! -e "$AGENT_SDLC_DB" ] || fail 'a database was made'
}

check_004_2_7_1_06() {
  scripted_model
  logged_in
  code 0 ona auth logout
  has "$out" 'Logged out'
  is "$(asked /revoke)" 1
  has "$(of_login /revoke .form.token)" canary-refresh-1
  code 1 ona auth status
  says 1 -p hello
  is "$(requests)" 0
  # Offline it works as well, and says that the server does not know.
  code 0 ona auth login </dev/null
  stop_servers
  code 0 ona auth logout
  has "$err" 'its server was not told'
  lacks "$err" canary
  [ ! -e "$(sealed)" ] || fail 'the login is still there'
  code 0 ona auth logout
  has "$out" 'No login was stored'
}

# ---- A5: status --------------------------------------------------------------------

check_004_2_7_1_07() {
  code 1 ona auth status --json
  is "$(jq -r '[.logged_in,.source,.stored_login] | map(tostring) | join(" ")' <<<"$out")" 'false none null'
  [ ! -e "$AGENT_SDLC_DB" ] || fail 'a database was made'
  token_login sk-ant-oat01-canary-long-lived
  is "$(status .source)" stored_login
  code 0 ona auth status 7< <(echo canary-handed-token)
  CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR=7 code 0 ona auth status --json 7< <(echo canary-handed-token)
  is "$(jq -r .source <<<"$out")" injected_token
  export CLAUDE_CODE_OAUTH_TOKEN=canary-oauth-token
  is "$(status '.source + " " + .variable')" 'injected_token CLAUDE_CODE_OAUTH_TOKEN'
  mkdir "$HOME/.ona"
  echo '{"apiKeyHelper":"touch helper-ran; echo canary-of-the-helper"}' >"$HOME/.ona/settings.json"
  is "$(status .source)" helper
  export ANTHROPIC_API_KEY=canary-anthropic-key-1
  is "$(status '.source + " " + .variable')" 'api_key ANTHROPIC_API_KEY'
  export ANTHROPIC_AUTH_TOKEN=canary-bearer-token
  is "$(status '.source + " " + .variable')" 'bearer ANTHROPIC_AUTH_TOKEN'
  is "$(status .stored_login.kind)" token
  [ ! -e helper-ran ] || fail 'the helper ran'
  code 0 ona auth status
  has "$out" 'bearer token of ANTHROPIC_AUTH_TOKEN'
  has "$out" 'not used because the above comes first'
}

check_004_2_7_1_08() {
  token_login sk-ant-oat01-canary-long-lived
  export CLAUDE_CODE_OAUTH_TOKEN=canary-oauth-token ANTHROPIC_API_KEY=canary-anthropic-key-1 ANTHROPIC_AUTH_TOKEN=canary-bearer-token
  local variable
  for variable in none ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN; do
    [ $variable = none ] || unset $variable
    code 0 env ONA_LOG=trace ona auth status
    lacks "$out$err" canary
    code 0 env ONA_LOG=trace ona auth status --json
    lacks "$out$err" canary
  done
}

# ---- A7, precedence, 2.7.5 ---------------------------------------------------------

check_004_2_7_1_14() {
  scripted_model
  token_login sk-ant-oat01-canary-long-lived
  says 1 -p hello --bare --output-format json
  is "$(jq -r .error <<<"$out")" authentication_failed
  is "$(connections)" 0
  code 1 ona auth status --bare --json
  is "$(jq -r '[.source,.stored_login] | map(tostring) | join(" ")' <<<"$out")" 'none null'
  says 0 -p hello
  is "$(signed 0)" '- Bearer sk-ant-oat01-canary-long-lived'
}

check_DEC_084_stored() {
  scripted_model
  token_login sk-ant-oat01-canary-long-lived
  says 0 -p hello
  export CLAUDE_CODE_OAUTH_TOKEN=canary-oauth-token
  says 0 -p hello
  unset CLAUDE_CODE_OAUTH_TOKEN
  says 0 -p hello --settings '{"apiKeyHelper":"echo canary-of-the-helper"}'
  ANTHROPIC_API_KEY=canary-anthropic-key-1 says 0 -p hello
  ANTHROPIC_AUTH_TOKEN=canary-bearer-token says 0 -p hello
  is "$(signed 0)" '- Bearer sk-ant-oat01-canary-long-lived'
  is "$(signed 1)" '- Bearer canary-oauth-token'
  is "$(signed 2)" 'canary-of-the-helper Bearer canary-of-the-helper'
  is "$(signed 3)" 'canary-anthropic-key-1 -'
  is "$(signed 4)" '- Bearer canary-bearer-token'
}

check_004_2_7_5_01() {
  local word
  for word in teleport remote-control bridge; do
    code 2 ona "$word" </dev/null
    has "$err" "unknown command '$word'"
  done
  code 2 ona -p hello --teleport </dev/null
  has "$(cat "$ONA_ROOT/docs/DEVIATIONS.md")" '| P-164 |'
}

# ---- 2.8: refresh ------------------------------------------------------------------

check_004_2_8_05() {
  scripted_model
  logged_in '{"lifetime":[30,30,2]}'
  settings '{"permissions":{"allow":["Bash"]}}'
  says 0 -p hello
  is "$(refreshes)" 1
  is "$(signed 0)" '- Bearer canary-access-2'
  has "$(of_login /token .form.refresh_token)" canary-refresh-1
  says 0 -p hello
  is "$(refreshes)" 2
  has "$(of_login /token .form.refresh_token)" canary-refresh-2
  lacks "$(sql .dump)" canary
  nowhere canary-refresh canary-access
  is "$(env | grep -c 'canary-access' || true)" 0
  # Without the server a token is used until it expires; then a sentence says what is wrong.
  sleep 2.1
  stop_servers
  scripted_model
  says 1 -p hello
  has "$err" 'could not be renewed'
  is "$(requests)" 0
}

# A server that revokes early: the refused request is sent again, once.
check_refresh_on_401() {
  logged_in
  model '[{"status":401,"message":"revoked"},{"say":"again"}]'
  export ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT
  says 0 -p hello
  is "$out" again
  is "$(refreshes)" 1
  is "$(signed 0)" '- Bearer canary-access-1'
  is "$(signed 1)" '- Bearer canary-access-2'
  model '[{"status":401,"message":"no"},{"status":401,"message":"no"},{"say":"never"}]'
  export ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT
  says 1 -p hello --output-format json
  is "$(jq -r .error <<<"$out")" authentication_failed
  is "$(requests)" 2
  is "$(refreshes)" 2
}

# eight : runs eight processes at once, each with a database of its own; all succeed
eight() {
  local number pids=() failed=0
  for number in 1 2 3 4 5 6 7 8; do
    AGENT_SDLC_DB=$WORLD/state/db$number.db ona -p hello </dev/null >"$WORLD/out$number" 2>&1 &
    pids+=($!)
  done
  for number in "${pids[@]}"; do wait "$number" || failed=$((failed + 1)); done
  is "$failed $(cat "$WORLD"/out? | grep -v '^done$' || true)" '0 '
}

# The server rotates, so a second refresh of the same token would fail and end the login.
check_refresh_parallel() {
  scripted_model
  # Eight processes find a token that expires soon.
  logged_in '{"lifetime":[30,3600],"hold":400}'
  eight
  is "$(refreshes)" 1
  is "$(jq -rs 'map(.headers.authorization) | unique | join(" ")' "$LOG")" 'Bearer canary-access-2'
  code 0 ona auth status
  code 0 ona -p 'still in' </dev/null
  is "$(refreshes)" 1
}

# ---- the agent, hooks --------------------------------------------------------------

check_DEC_071_auth() {
  token_login sk-ant-oat01-canary-long-lived
  settings '{"permissions":{"allow":["Bash"]}}'
  local command
  for command in 'ona auth logout' 'ona auth logout --db /tmp/other.db' 'env -u ONA_AGENT_DB ona auth logout' 'echo sk-ant-oat01-other | ona auth login --token'; do
    tool Bash "$(jq -cn --arg c "$command; echo \"code \$?\"" '{command:$c}')"
    has "$(content)" "the operator only, not from the agent's shell"
    has "$(content)" 'code 1'
  done
  tool Bash '{"command":"ona auth status --json"}'
  has "$(content)" stored_login
  # The files: not changed by any tool in any mode, nor read.
  local file
  for file in credentials.enc credentials.key; do
    for command in "rm ~/.local/share/ona/$file" "cp /dev/null ~/.local/share/ona/$file" "cat ~/.local/share/ona/$file" "base64 < ~/.local/share/ona/$file"; do
      tool Bash "$(jq -cn --arg c "$command" '{command:$c}')" --dangerously-skip-permissions
      is "$(is_error)" true
    done
    tool Read "$(jq -cn --arg p "$HOME/.local/share/ona/$file" '{file_path:$p}')" --dangerously-skip-permissions
    is "$(is_error)" true
  done
  code 0 ona auth status
}

check_DEC_063_auth() {
  settings '{"permissions":{"allow":["Bash"]},"hooks":[{"hook_event_name":"Notification","matcher":"auth_success","command":"cat >login-stdin","shell":"sh"},{"hook_event_name":"SessionEnd","matcher":"logout","command":"cat >logout-stdin","shell":"sh"}]}'
  token_login sk-ant-oat01-canary-long-lived
  is "$(jq -r '[.hook_event_name,.notification_type] | join(" ")' login-stdin)" 'Notification auth_success'
  [ ! -e logout-stdin ] || fail 'SessionEnd ran at the login'
  code 0 ona auth logout
  is "$(jq -r '[.hook_event_name,.reason] | join(" ")' logout-stdin)" 'SessionEnd logout'
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE exit_code=0")" 2
  lacks "$(cat login-stdin logout-stdin)$(sql .dump)" canary
}

run_check "$@"
