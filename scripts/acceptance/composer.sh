#!/usr/bin/env bash
# Acceptance checks of the composer in the real program, in a real terminal: tmux types and reads the screen, as
# Gastown does. The model is scripted (model.mjs). Run: composer.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"
. "$here/tmux.sh"

# ---- words of this area ------------------------------------------------------------

lorem() { printf 'Read the mail of number %03d and answer it. ' $(seq 1 "$1"); }

# ---- checks ------------------------------------------------------------------------

# G8: 900 bytes in two pieces, a pause, Escape, Enter: one prompt. Then twice more, as Gastown does.
check_nudge_idle() {
  terminal '[{"say":"first"},{"say":"second"}]'
  local text
  text=$(lorem 20)
  text=${text% }
  literally "${text:0:512}"
  sleep 0.01
  literally "${text:512}"
  shows 020
  sleep 0.5
  press Escape
  sleep 0.6
  press Enter
  asked 1
  shows first
  is "$(prompts 0 | tr -d '\n')" "$text"
  literally 'a second one'
  shows '❯ a second one'
  sleep 0.5
  press Escape
  sleep 0.6
  press Enter
  asked 2
  has "$(prompts 1)" 'a second one'
  is "$(requests)" 2
}

# G9: the same while a turn runs: it is not cancelled, and the text is the next prompt. G10: what the pane shows.
check_nudge_busy() {
  terminal "$(jq -cn '[{calls:[{name:"Bash",input:{command:"while [ ! -e go ]; do sleep 0.1; done; echo done > finished"}}]},{say:"worked"},{say:"then this"}]')"
  has "$(screen | grep '^❯ ')" '❯ '
  literally 'work'
  shows '❯ work'
  press Enter
  shows 'esc to interrupt'
  local text
  text=$(lorem 20)
  text=${text% }
  literally "${text:0:512}"
  sleep 0.01
  literally "${text:512}"
  shows 020
  sleep 0.5
  press Escape
  sleep 0.6
  press Enter
  shows '⋯ Read the mail'
  shows 'esc to interrupt'
  has "$(screen | grep '^❯ ')" '❯ '
  touch go
  # It goes along with the result, or is the next turn; in both cases it is one text.
  local tries=0
  until grep -qF "${text: -40}" "$LOG"; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "the text does not reach the model: $(screen)"
    sleep 0.05
  done
  is "$(cat finished)" done
  has "$(tail -1 "$LOG" | jq -r '[.body.messages[].content | if type == "string" then . else map(.text // "") | join("") end] | join("\n")')" "$text"
}

# A paste of two lines through a terminal without bracketed paste is not sent at its line end.
check_paste() {
  terminal '[{"say":"first"}]'
  literally $'one line\rand another'
  shows 'and another'
  [ "$(requests)" = 0 ] || fail 'it was sent at the line end'
  sleep 0.3
  press Enter
  asked 1
  is "$(prompts 0)" $'one line\nand another'
}

# A long paste stands as a placeholder and is sent in full.
check_folded() {
  terminal '[{"say":"first"}]'
  seq -f 'line %g' 12 >"$WORLD/clip"
  tm load-buffer "$WORLD/clip"
  literally 'see '
  tm paste-buffer -p -t ona
  shows '❯ see [Pasted text #1 +12 lines]'
  press Enter
  asked 1
  has "$(prompts 0)" "$(seq -f 'line %g' 12)"
}

# Arrows bring the prompt before back, Ctrl+C clears, twice more leaves.
check_keys() {
  terminal '[{"say":"first"}]'
  literally 'hello'
  shows '❯ hello'
  press Enter
  shows first
  press Up
  shows '❯ hello'
  press C-c
  gone '❯ hello'
  press C-c
  shows 'Press Ctrl+C again to leave'
  press C-c
  local tries=0
  while tm has-session -t ona 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "it does not leave: $(screen)"
    sleep 0.05
  done
}

# The menu of commands narrows as it is typed; Escape closes it and keeps the text.
check_menu() {
  terminal '[]'
  press /
  shows '› /'
  literally 'com'
  shows '› /compact'
  press Escape
  gone '› /'
  has "$(screen)" '❯ /com'
}

run_check "$@"
