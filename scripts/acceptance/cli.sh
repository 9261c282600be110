#!/usr/bin/env bash
# Acceptance checks of the command line as people use it: completions, manual pages, ids, local
# servers, a terminal at the other end. Run: cli.sh <check>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

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

# doctor_check NAME : the check of that name, as JSON
doctor_check() { jq -c --arg name "$1" '.checks[] | select(.name == $name)' <<<"$out"; }

check_local_servers() {
  local port list='{"object":"list","data":[{"id":"text-embedding-x"},{"id":"qwen3-8b","loaded_context_length":8192}]}'
  # Nobody there: told, and nothing is wrong.
  MODEL_LISTS='{"/api/v0/models":"silent"}' model '[]'
  code 0 env ONA_LOCAL_MODEL_PORTS="$PORT" ona doctor --json
  is "$(doctor_check 'local model' | jq -r .state)" absent
  # A server that says nothing does not hold it up.
  port=$PORT SECONDS=0
  MODEL_LISTS="{\"/v1/models\":$list}" model '[{"say":"from the local model"}]'
  code 0 env ONA_LOCAL_MODEL_PORTS="$port,$PORT" ona doctor --json
  [ $SECONDS -lt 8 ] || fail "doctor took $SECONDS s"
  is "$(doctor_check 'local model' | jq -r .state)" ok
  has "$(doctor_check 'local model' | jq -r .detail)" "127.0.0.1:$PORT has text-embedding-x, qwen3-8b (8192 tokens)"
  is "$(doctor_check 'local model' | jq -r .remedy)" "use it: LM_STUDIO_BASE_URL=http://127.0.0.1:$PORT/v1 ona --model local/qwen3-8b"
  # Nothing but a list was asked for, without a credential.
  is "$(requests)" 0
  is "$(jq -r '.headers.authorization // "none"' "$LOG.lists" | sort -u)" none
  # The command works as it is told.
  code 0 bash -c "$(jq -r '.checks[] | select(.name == "local model").remedy | ltrimstr("use it: ")' <<<"$out") -p hello </dev/null"
  is "$out" 'from the local model'
  is "$(req 0 .body.model)" qwen3-8b
  # The server in use is not offered a second time; a number that is no port is named.
  code 0 env ONA_LOCAL_MODEL_PORTS="$PORT" LM_STUDIO_BASE_URL="http://127.0.0.1:$PORT/v1" LM_STUDIO_MODEL=qwen3-8b ona doctor --json --model local/qwen3-8b
  is "$(doctor_check 'local model' | jq -r .state)" absent
  code 1 env ONA_LOCAL_MODEL_PORTS=many ona doctor
  has "$err$out" 'ONA_LOCAL_MODEL_PORTS: "many" is not a port'
}

# A model server of one key: the only key there is is one of another provider.
check_only_another_key() {
  export OPENAI_API_KEY=canary-openai-key-22
  settings '{"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}'
  says 1 -p hello
  has "$err" 'no Anthropic credential: set ANTHROPIC_API_KEY'
  has "$err" 'OPENAI_API_KEY is set: export OPENAI_BASE_URL=https://api.openai.com/v1 and use --model gpt_4o'
  is "$(wc -l <<<"$err")" 1
  settings '{"model_config":{"provider":"openai_compatible","model_id":"gpt_4o"}}'
  says 1 -p hello
  has "$err" 'OPENAI_BASE_URL is not set; for OpenAI'"'"'s own endpoint: export OPENAI_BASE_URL=https://api.openai.com/v1'
}

check_model_lists() {
  local lists
  # LM Studio: the size a model was loaded with decides when a conversation is summarised.
  lists='{"/api/v0/models":{"data":[{"id":"canary/local-model","max_context_length":131072,"loaded_context_length":9000}]}}'
  MODEL_LISTS=$lists model "$(jq -cn '[{say:("x" * 20000)},{say:"ok"},{say:"<summary>short</summary>"},{say:"after"}]')"
  lm_studio
  says 0 -p hello --output-format json
  is "$(jq '.modelUsage["canary/local-model"].contextWindow' <<<"$out")" 9000
  has "$(ona -p /context --continue </dev/null 2>&1)" 'of 9000 tokens'
  says 0 -p "$(printf 'y%.0s' {1..9000})" --continue
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='collapse_commit'")" 1
  # Asked once by each run, with the credential of the requests.
  is "$(wc -l <"$LOG.lists")" 3
  is "$(jq -r .headers.authorization "$LOG.lists" | sort -u)" 'Bearer lm-studio'
  # The settings win, and then nothing is asked.
  settings '{"modelInfo":{"canary/local-model":{"context":50000}}}'
  says 0 -p hello --output-format json
  is "$(jq '.modelUsage["canary/local-model"].contextWindow' <<<"$out")" 50000
  is "$(wc -l <"$LOG.lists")" 3
  settings '{}'
  # The Messages API and a compatible server; the output limit is capped, and nothing is said to be unknown.
  unset LM_STUDIO_BASE_URL LM_STUDIO_MODEL
  MODEL_LISTS='{"/v1/models":{"data":[{"id":"glm-9","max_input_tokens":77000,"max_tokens":1500}]}}' model '[]'
  anthropic
  says 0 -p hello --model anthropic/glm-9 --output-format json
  is "$(jq '.modelUsage["glm-9"].contextWindow' <<<"$out")" 77000
  is "$(req 0 .body.max_tokens)" 1500
  lacks "$err" 'nothing is known'
  openai
  says 0 -p hello --model openai/glm-9 --output-format json
  is "$(jq '.modelUsage["glm-9"].contextWindow' <<<"$out")" 77000
  # An id of the product is known: no list. A silent list holds nothing up for long.
  : >"$LOG.lists"
  says 0 -p hello --model claude_sonnet_4
  is "$(wc -l <"$LOG.lists")" 0
  MODEL_LISTS='{"/v1/models":"silent"}' model '[]'
  anthropic
  SECONDS=0
  says 0 -p hello --model anthropic/glm-9
  [ $SECONDS -lt 15 ] || fail "a silent list held the run up for $SECONDS s"
  has "$err" 'nothing is known of the model glm-9: taking a context of 128000 tokens'
}

run_check "$@"
