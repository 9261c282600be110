# Sourced after lib.sh and model.sh by checks of the terminal: tmux types into the real program and reads its
# screen. Every wait is for something that comes; a check ends when ona has ended.

command -v tmux >/dev/null || fail 'tmux is needed; scripts/test installs it'
tm() { tmux -S "$WORLD/tmux" -f /dev/null "$@"; }
# The screen without blank lines at its end.
screen() { tm capture-pane -p -t ona; }
# shows TEXT : waits until the screen has it
shows() {
  local tries=0
  until [[ $(screen) == *"$1"* ]]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "«$1» does not come; the screen is
$(screen)"
    sleep 0.05
  done
}
# literally TEXT : as keys, the way a driver types
literally() { tm send-keys -t ona -l "$1"; }
press() { tm send-keys -t ona "$@"; }
# prompts N : the text of the newest user message of the n-th request, from 0
prompts() { req "$1" '.body.messages[-1].content | if type == "string" then . else map(.text // "") | join("") end'; }
# asked COUNT : waits until the model got so many requests
asked() {
  local tries=0
  until [ "$(requests)" -ge "$1" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "$(requests) requests instead of $1; the screen is
$(screen)"
    sleep 0.05
  done
}
# Ends the terminal and waits for ona, which still writes into this check's folder when its terminal is gone.
leave() {
  local pid tries=0
  pid=$(tm display-message -p -t ona '#{pane_pid}' 2>/dev/null) || true
  tm kill-server 2>/dev/null || true
  while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || fail 'it does not end when its terminal is gone'
    sleep 0.05
  done
}
# terminal SCRIPT_JSON [FLAG...] : ona in a terminal with a scripted model, ready for a prompt
terminal() {
  local script=$1
  shift
  model "$script"
  anthropic
  trap 'leave; stop_servers; rm -rf "$WORLD"' EXIT
  settings '{"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"},"permissions":{"allow":["Bash"]}}'
  opens "$*"
}
# opens [FLAG...] : ona in a terminal, ready for a prompt
opens() {
  start "$*"
  shows '❯ '
  shows '? keys'
}
# start [FLAG...] : ona in a terminal; it may ask something first
start() { tm new-session -d -s ona -x 100 -y 40 "$WORLD/bin/ona $*"; }
# Ends ona the way a person does, and waits.
leave_by_exit() {
  local pid tries=0
  pid=$(tm display-message -p -t ona '#{pane_pid}')
  typed /exit
  while kill -0 "$pid" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || fail "it does not end: $(screen)"
    sleep 0.05
  done
}
# gone TEXT : waits until the screen does not have it
gone() {
  local tries=0
  while [[ $(screen) == *"$1"* ]]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "«$1» does not go; the screen is
$(screen)"
    sleep 0.05
  done
}
# typed LINE : types a line and sends it when it is in sight
typed() {
  literally "$1"
  shows "${1:0:60}"
  sleep 0.3
  press Enter
}
# until_sql EXPECTED QUERY : waits until the database answers that
until_sql() {
  local tries=0
  until [ "$(sql "$2" 2>/dev/null)" = "$1" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "«$2» is «$(sql "$2")» and not «$1»; the screen is
$(screen)"
    sleep 0.05
  done
}
# user_settings JSON : the user's own file, as ona config set writes it
user_settings() { mkdir -p "$HOME/.ona" && printf '%s' "$1" >"$HOME/.ona/settings.json"; }
