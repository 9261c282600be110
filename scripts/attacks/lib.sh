# Sourced by the files of attack cases. A case is a function `attack_<name>` (something hostile is
# tried and must not work) or `control_<name>` (something ordinary must go on working unasked); the
# comment behind its name says what is tried and what must hold. It passes by returning.
#
# A case shows that it would notice: the same text is run without ona, or with the guard taken away,
# and the harm is seen to happen. A case for which that fails ends with "this case proves nothing".

. "$ONA_ROOT/scripts/acceptance/lib.sh"
. "$ONA_ROOT/scripts/acceptance/model.sh"

succeeded() { fail "the attack succeeded: $*"; }
proves_nothing() { fail "this case proves nothing: $*"; }
overblocked() { fail "an ordinary thing was refused: $*"; }
# A case of many texts goes on after one that is wrong; all are named at the end.
wrong=()
also() { wrong+=("$*"); }
# direct TEXT : runs it without ona; $shown is what it printed
direct() { shown=$(timeout 20 bash -c "$1" 2>&1 </dev/null) || true; }
# vain TEXT : it did no harm without ona either. A fault of the case, unless this machine lacks a program for it
vain() {
  case $shown in
    *'not found'* | *'No such file'* | *'not permitted'*) ;;
    *) also "proves nothing: $1: $shown" ;;
  esac
}

# run COMMAND... : runs it whatever it exits with; $out, $err and $ended say how it went
run() {
  ended=0
  out=$(timeout 30 "$@" 2>"$WORLD/stderr" </dev/null) || ended=$?
  err=$(cat "$WORLD/stderr")
  [ "$ended" != 124 ] || fail "no end within 30 s: $*"
}
# call TOOL INPUT_JSON [FLAG...] : one call of the operator
call() {
  local name=$1 input=$2
  shift 2
  run ona --eval "$(jq -cn --arg t "$name" --argjson i "$input" '{tool:$t,input:$i}')" "$@"
}
# shell TEXT [FLAG...] : one call of Bash
shell() {
  local text=$1
  shift
  call Bash "$(jq -cn --arg c "$text" '{command:$c}')" "$@"
}
# turn SCRIPT_JSON FLAG... : one prompt to a scripted model of its own
turn() {
  model "$1"
  shift
  anthropic
  run ona -p go "$@"
}
# calls TOOL INPUT_JSON : the item of a script in which the model makes one call
calls() { jq -cn --arg t "$1" --argjson i "$2" '{calls:[{name:$t,input:$i}]}'; }
# repository [FOLDER] : a git repository with one commit of what is there
repository() {
  git config --global user.email a@example.test
  git config --global user.name a
  git config --global init.defaultBranch main
  git init -q "${1:-.}"
  git -C "${1:-.}" add -A
  git -C "${1:-.}" commit -q --allow-empty -m first
}
# user_settings JSON : the operator's own file
user_settings() {
  mkdir -p "$HOME/.ona"
  printf '%s' "$1" >"$HOME/.ona/settings.json"
}

# quiet COMMAND... : it leaves no canary
quiet() {
  rm -f "$CANARY"
  run "$@"
  [ ! -e "$CANARY" ] || succeeded "$*"
}
# live COMMAND... : it does leave one, so the trap works
live() {
  rm -f "$CANARY"
  run "$@"
  [ -e "$CANARY" ] || proves_nothing "no trap is sprung by $*: $out $err"
}
READ='{"tool":"Read","input":{"file_path":"a.txt"}}'

# The last line of an area's file: `run_case "$@"`
run_case() {
  declare -F "$1" >/dev/null || fail "unknown case $1 in $0"
  world
  unset ONA_TRUST
  CANARY=$WORLD/canary
  "$1"
  [ ${#wrong[@]} = 0 ] || fail "$(printf '%s | ' "${wrong[@]}")"
}
