#!/usr/bin/env bash
# Acceptance checks of the command line as people use it: completions, manual pages, ids, local
# servers, a terminal at the other end. Run: cli.sh <check>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# complete WORD... : what bash offers for the last word, sorted, on one line
complete_line() {
  bash --norc -c '
    . "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _ona "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf "%s\n" "${COMPREPLY[@]}"' bash "$WORLD/ona.bash" "$@" | LC_ALL=C sort | tr '\n' ' '
}

check_completions() {
  local shell offered name
  code 0 ona completions bash
  printf '%s\n' "$out" >"$WORLD/ona.bash"
  # A person's shell loads it and registers it for the program.
  has "$(bash --norc -c '. "$1"; complete -p ona' bash "$WORLD/ona.bash")" '-F _ona'
  is "$(complete_line ona aud)" 'audit '
  is "$(complete_line ona audit '')" '--db --debug --debug-file --help -d -h anchor export verify '
  is "$(complete_line ona sessions export --format '')" 'json jsonl markdown '
  is "$(complete_line ona db check --js)" '--json '
  # What a command does not use, and what help hides, is not offered.
  is "$(complete_line ona db check --mo)" ' '
  is "$(complete_line ona --max-think)" ' '
  # Every command of the help is offered.
  offered=$(complete_line ona '')
  for name in $(ona -h | awk '/^Commands:/{listed=1; next} listed && /^  [a-z]/{print $1} listed && /^$/{exit}'); do
    has " $offered" " $name "
  done
  for shell in zsh fish elvish powershell; do
    code 0 ona completions "$shell"
    has "$out" 'audit'
    printf '%s\n' "$out" >"$WORLD/ona.$shell"
  done
  # These two are loaded where they are.
  if command -v zsh >/dev/null; then zsh -f -c 'autoload -U compinit; compinit -D; . "$1"' zsh "$WORLD/ona.zsh" || fail 'zsh'; fi
  if command -v fish >/dev/null; then fish -N -c "source '$WORLD/ona.fish'; complete -C 'ona aud'" | grep -q audit || fail 'fish'; fi
  code 2 ona completions tcsh
  has "$err" zsh
  [ ! -e "$AGENT_SDLC_DB" ] || fail 'completions made a database'
}

check_man_pages() {
  local page name
  code 0 ona man --dir "$WORLD/man/man1"
  has "$out" "$WORLD/man/man1"
  for name in $(ona -h | awk '/^Commands:/{listed=1; next} listed && /^  [a-z]/{print $1} listed && /^$/{exit}'); do
    [ -s "$WORLD/man/man1/ona-$name.1" ] || fail "no page of $name"
  done
  code 0 ona man db check
  is "$out" "$(cat "$WORLD/man/man1/ona-db-check.1")"
  has "$out" '.TH ona-db-check 1'
  for page in ona ona-sessions-rewind; do
    if command -v man >/dev/null; then
      err=$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$WORLD/man/man1/$page.1" 2>&1 >"$WORLD/$page.txt")
      is "$err" ''
    elif command -v groff >/dev/null; then
      groff -ww -man -Tutf8 "$WORLD/man/man1/$page.1" >"$WORLD/$page.txt" 2>"$WORLD/$page.err"
      is "$(cat "$WORLD/$page.err")" ''
    else
      cp "$WORLD/man/man1/$page.1" "$WORLD/$page.txt"
    fi
  done
  has "$(cat "$WORLD/ona.txt")" ENVIRONMENT
  has "$(cat "$WORLD/ona.txt")" AGENT_SDLC_DB
  has "$(cat "$WORLD/ona.txt")" 'fire'
  has "$(cat "$WORLD/ona-sessions-rewind.txt")" 'Take the last rewind back'
  code 2 ona man chek
  code 2 ona man db check --dir "$WORLD/man"
  code 1 ona man --dir "$ONA_MANAGED_SETTINGS/below"
  has "$err" "$ONA_MANAGED_SETTINGS/below"
  [ ! -e "$AGENT_SDLC_DB" ] || fail 'man made a database'
}

run_check "$@"
