# Sourced by the checks of one area: a world of its own for every check, and short
# words for what checks do. A check is a function `check_<ledger id with _ for - and .>`;
# it passes by returning. Everything is done from outside: the program, sqlite3, files.

set -euo pipefail

fail() { printf 'FAIL: %s\n' "$*" >&2; exit 1; }

# is FOUND EXPECTED
is() { [ "$1" = "$2" ] || fail "expected «$2», found «$1»"; }
# has TEXT PART
has() { case $1 in *"$2"*) ;; *) fail "«$2» is not in «$1»" ;; esac; }
# lacks TEXT PART
lacks() { case $1 in *"$2"*) fail "«$2» is in «$1»" ;; esac; }
# code EXPECTED COMMAND... : runs it, keeps stdout in $out and stderr in $err
code() {
  local want=$1 got=0
  shift
  out=$("$@" 2>"$WORLD/stderr") || got=$?
  err=$(cat "$WORLD/stderr")
  [ "$got" = "$want" ] || fail "exit $got instead of $want: $* $out $err"
}

sql() { sqlite3 -cmd '.timeout 30000' "$AGENT_SDLC_DB" "$1"; }

# settings JSON : the effective row, written by SQL as an operator would
settings() {
  [ -e "$AGENT_SDLC_DB" ] || ona db init >/dev/null
  sqlite3 "$AGENT_SDLC_DB" "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', '${1//\'/\'\'}', datetime('now'))"
}

# tool NAME INPUT_JSON [FLAG...] : one call; the printed line is in $out
tool() {
  local name=$1 input=$2
  shift 2
  code 0 ona --eval "$(jq -cn --arg t "$name" --argjson i "$input" '{tool:$t,input:$i}')" "$@"
}
content() { jq -r .content <<<"$out"; }
is_error() { jq -r .is_error <<<"$out"; }
# The newest tool_result, as the templates of the specification find it.
newest() { sql "SELECT payload_json FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence DESC LIMIT 1"; }

# hook EVENT MATCHER COMMAND [MORE_JSON] : one flat entry as JSON
hook() { jq -cn --arg e "$1" --arg m "$2" --arg c "$3" --argjson more "${4:-{\}}" '{hook_event_name:$e,matcher:$m,command:$c} + $more'; }
# hooks ENTRY... : settings with these entries and Bash, Read, Write, Edit allowed
hooks() { settings "$(printf '%s\n' "$@" | jq -cs '{hooks:., permissions:{allow:["Bash","Read","Write","Edit","Glob","Grep"]}}')"; }
# fire EVENT FIELDS_JSON : runs the chain; the outcome is in $out
fire() { code 0 ona --fire-hook "$(jq -cn --arg e "$1" --argjson f "$2" '{hook_event_name:$e} + $f')"; }
# ran_hooks : how many hooks were started and ended well; a check that nothing happens needs to know
ran_hooks() { sql "SELECT count(*) FROM hook_invocations WHERE exit_code = 0 AND skipped_reason IS NULL"; }
# template_file 8.8.1 : a template of the specification, word for word
template_file() { printf '%s' "$ONA_ROOT/crates/ona/tests/templates/$1.sh"; }
# conversation ID PHASE
conversation() {
  [ -e "$AGENT_SDLC_DB" ] || ona db init >/dev/null
  sql "INSERT INTO conversations(id, project_dir, phase) VALUES ('$1', '$PWD', '$2')"
}
phase() { sql "SELECT phase FROM conversations WHERE id='$1'"; }

# foreign_pages REDIRECT STATE : what pages of other sites can send to the listener of a login; it refuses all of it
foreign_pages() {
  local redirect=$1 answer="$1?code=canary-code-evil&state=$2" port status
  port=${redirect##*:} port=${port%%/*}
  # A name of another site that was made to lead here, with its port and without; an own name with another port.
  for status in 'Host: evil.test' "Host: evil.test:$port" 'Host: 127.0.0.1' "Host: localhost:$((port - 1))" "Host: 127.0.0.1.evil.test:$port"; do
    is "$status $(curl -s -o /dev/null -w '%{http_code}' -H "$status" "$answer")" "$status 403"
  done
  # No Host at all, and a page of another site that may send what it likes.
  is "$(curl -s -o /dev/null -w '%{http_code}' --http1.0 -H 'Host:' "$answer")" 403
  is "$(curl -s -o /dev/null -w '%{http_code}' -H 'Origin: https://evil.test' "$answer")" 403
  # The own name and a guessed state.
  is "$(curl -s -o /dev/null -w '%{http_code}' "$redirect?code=canary-code-evil&state=guessed")" 400
}

world() {
  WORLD=$(mktemp -d "${TMPDIR:-/tmp}/ona-acceptance.XXXXXX")
  trap 'rm -rf "$WORLD"' EXIT
  mkdir "$WORLD/home" "$WORLD/project" "$WORLD/tmp" "$WORLD/bin"
  ln -s "$ONA" "$WORLD/bin/ona"
  local name
  for name in $(compgen -e); do
    case $name in ONA_ROOT | ONA | PATH) ;; *) unset "$name" 2>/dev/null || true ;; esac
  done
  export HOME=$WORLD/home TMPDIR=$WORLD/tmp AGENT_SDLC_DB=$WORLD/state/ona.db PATH=$WORLD/bin:/usr/local/bin:/usr/bin:/bin
  export ONA_MANAGED_SETTINGS=$WORLD/managed-settings.json
  # What listens on this machine is not part of a check.
  export ONA_LOCAL_MODEL_PORTS=
  # Most checks are about what a project's files do; those about trust unset it.
  export ONA_TRUST=always
  echo '{}' >"$ONA_MANAGED_SETTINGS"
  cd "$WORLD/project"
}

# The last line of an area's file: `run_check "$@"`
run_check() {
  local name=check_${1//[-.]/_}
  declare -F "$name" >/dev/null || fail "missing check $1 in $0"
  world
  "$name"
}
