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
  # The server in use is not offered a second time; what is not a port is named.
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

# Every command that is told an id takes a beginning of it that no other has, says which fit one that several
# have, names the nearest of an unknown one, and has --last where the newest can be meant. Each line: the kind of
# id, and the command with ID where the id goes; the second table has the commands with --last.
check_ids() {
  local kind words text id line session other call plan test memory conversation
  model '[{"calls":[{"name":"Bash","input":{"command":"echo one"},"id":"toolu_aaaa1"}]},{"say":"done"},{"calls":[{"name":"Bash","input":{"command":"echo two"},"id":"toolu_aaab2"}]},{"say":"done"}]'
  anthropic
  settings '{"permissions":{"allow":["Bash"]}}'
  session=5e551000-0000-4000-8000-000000000001 other=5e552000-0000-4000-8000-000000000002
  says 0 -p one --session-id $session
  says 0 -p two --session-id $other
  conversation=$(sql "SELECT conversation_id FROM sessions WHERE session_id='$other'")
  for text in aaaa1111 aaaa2222; do conversation "$text" idle; done
  for text in bbbb1111 bbbb2222; do
    sql "INSERT INTO memories(id, type, title, content, created_at, updated_at) VALUES ('$text', 'note', 't', 'c', 0, 0)"
  done
  printf '# Plan\n\n## Success criteria\n\n- SC-1: it works\n' >plan.md
  code 0 ona plan import plan.md --last
  is "$(jq -r .conversation_id <<<"$out")" "$conversation"
  plan=$(jq -r .plan_id <<<"$out")
  code 0 ona plan approve --last
  is "$(jq -r .plan_id <<<"$out")" "$plan"
  while read -r kind words; do
    case $kind in
      session) id=$other text=5e552 ;;
      call) id=toolu_aaab2 text=toolu_aaab ;;
      conversation) id=aaaa1111 text=aaaa1 ;;
      memory) id=bbbb1111 text=bbbb1 ;;
    esac
    # Unknown: the nearest is named. Several: all that fit are.
    code 2 ona ${words/ID/${id%?}9} </dev/null
    has "$err" 'does not exist; did you mean '
    has "$err" "$(cut -c1-6 <<<"$id")"
    line=${text%?}
    code 2 ona ${words/ID/$line} </dev/null
    has "$err" " begin with $line: "
    has "$err" "$id"
    code 2 ona ${words/ID/zz} </dev/null
    has "$err" 'does not exist'
    # A beginning of its own does what the whole id does.
    [ "$kind" = memory ] || code 0 ona ${words/ID/$id} </dev/null
    line=$out
    code 0 ona ${words/ID/$text} </dev/null
    case $words in
      *rm* | -p* | --eval* | --fire*) ;;
      *) is "$out" "$line" ;;
    esac
  done <<'COMMANDS'
session sessions show ID
session sessions export ID
session sessions rewind ID
session audit verify --session ID
session audit export --format jsonl --session ID
session hooks replay ID
session hooks list --session ID
session -p again --resume ID
call hooks explain ID
call hooks explain ID --json
conversation sessions list --conversation ID
conversation plan list --conversation ID
conversation phase --conversation ID
conversation --eval {"tool":"Read","input":{"file_path":"plan.md"}} --conversation ID
conversation -p again --conversation ID
memory memory rm ID
COMMANDS
  code 2 ona --transition planning --conversation aaaa9
  code 0 ona --transition planning --conversation aaaa1
  is "$(phase aaaa1111)" planning
  # The newest of this project.
  says 0 -p again --resume $other
  for words in 'sessions show --last --json' 'sessions export --last' 'sessions rewind --last' 'audit verify --last' 'audit export --format csv --last' \
    'hooks replay --last' 'hooks list --last' 'hooks explain' 'plan show --last' 'phase'; do
    code 0 ona $words
  done
  code 2 ona plan show 99
  has "$err" "plan 99 does not exist; the newest of this project is $plan"
  code 2 ona plan show
  code 2 ona sessions show $session --last
  for words in 'test report' 'test run' 'plan import plan.md'; do
    code 2 ona $words --last --conversation aaaa1111
    has "$err" '--last and --conversation name a conversation each'
  done
  # Tests: by a beginning of their id, of the newest conversation.
  sql "UPDATE conversations SET phase='implement' WHERE id='$conversation'"
  printf '# traces: SC-1\n# title: it works\nout=$(ona db path)\ntest -n "$out" || exit 1\n' >works.sh
  code 0 ona test add works.sh --conversation "${conversation:0:8}"
  test=$(jq -r .test_case_id <<<"$out")
  code 0 ona test run "${test:0:6}" --last --json
  is "$(jq -r '.cases[].id' <<<"$out")" "$test"
  code 2 ona test run T-nonesuch --last
  has "$err" 'test T-nonesuch does not exist'
  code 0 ona test report --last
}

# in_terminal COMMAND... : runs it in a pseudo-terminal; what a person sees, raw, is in $seen
in_terminal() {
  local got=0
  python3 - "$WORLD/seen" "$@" <<'PTY' || got=$?
import os, pty, sys, time
chunks = open(sys.argv[1] + '.chunks', 'w')
began = time.monotonic()
with open(sys.argv[1], 'wb') as out:
    def read(fd):
        data = os.read(fd, 65536)
        out.write(data)
        chunks.write('%.2f %r\n' % (time.monotonic() - began, data))
        return data
    sys.stdout.flush()
    status = pty.spawn(sys.argv[2:], read, lambda fd: b'')
sys.exit(os.waitstatus_to_exitcode(status))
PTY
  seen=$(tr -d '\r' <"$WORLD/seen")
  return "$got"
}

check_live() {
  local script piped
  script='[{"say":"Let me look.","calls":[{"name":"Bash","input":{"command":"echo one"}},{"name":"Bash","input":{"command":"false"}},{"name":"Read","input":{"file_path":"secret.txt"}}]},
    {"status":529},{"say":["First half, ","of a long ","reply\u001b[31m."],"every":150}]'
  settings '{"permissions":{"allow":["Bash"],"deny":["Read(secret.txt)"]}}'
  echo secret >secret.txt
  export TERM=xterm-256color
  model "$script"
  anthropic
  in_terminal ona -p 'go on' >/dev/null </dev/null || fail "exit $?: $seen"
  # The text arrives in pieces, once, and without what would change the terminal.
  is "$(grep -c 'First half, of a long reply' <<<"$seen")" 1
  has "$seen" 'Let me look.'
  has "$seen" 'reply\u{1b}[31m.'
  [ "$(grep -c "half\|long\|reply" "$WORLD/seen.chunks")" -ge 2 ] || fail "the reply came at once: $(cat "$WORLD/seen.chunks")"
  # Tools, a failure, a refusal, the retry: dim lines of their own. The last line says what it took.
  has "$seen" $'\e[2m• Bash(echo one)\e[0m'
  has "$seen" '✗ Bash(false) failed'
  has "$seen" '✗ Read(secret.txt) refused: '
  has "$seen" 'HTTP 529: This is a scripted failure.'
  has "$seen" '(1 of 4)'
  has "$(tail -n 1 <<<"$seen")" '2 turns, '
  has "$(tail -n 1 <<<"$seen")" ' tokens in, 10 out, $'
  # Without colour nothing is escaped.
  model "$script"
  anthropic
  NO_COLOR=1 in_terminal ona -p 'go on' >/dev/null </dev/null || fail "exit $?: $seen"
  lacks "$seen" $'\e'
  has "$seen" '• Bash(echo one)'
  # A program gets the final text and nothing else.
  model "$script"
  anthropic
  code 0 ona -p 'go on' </dev/null
  is "$out" $'First half, of a long reply\e[31m.'
  is "$err" ''
  # What a failed turn ends with.
  model '[{"status":400,"message":"no"}]'
  anthropic
  ! in_terminal ona -p 'go on' >/dev/null </dev/null || fail 'a failed turn ended with 0'
  has "$seen" 'ona: '
  has "$(tail -n 1 <<<"$seen")" ' turn'
}

# Lists at a terminal: aligned below a head, coloured unless NO_COLOR says no; piped they are as ever.
check_lists() {
  local command piped
  export TERM=xterm-256color
  hooks "$(hook PreToolUse Bash 'exit 0')" "$(hook PostToolUse 'Read|Write' true)"
  model '[{"say":"hi"}]'
  anthropic
  says 0 -p 'a first prompt' --session-id 5e551000-0000-4000-8000-000000000001
  printf '# The plan\n\n- SC-1: x\n' >plan.md
  code 0 ona plan import plan.md --last
  for command in 'sessions list' 'plan list' 'hooks list' doctor; do
    in_terminal ona $command >/dev/null </dev/null || fail "$command: $seen"
    has "$seen" $'\e['
    NO_COLOR=1 in_terminal ona $command >/dev/null </dev/null || fail "$command: $seen"
    lacks "$seen" $'\e'
    case $command in
      sessions*) has "$seen" 'SESSION   USED' && has "$(tail -n 1 <<<"$seen")" '5e551000  ' ;;
      plan*) has "$seen" 'PLAN  STATUS' && has "$seen" '   1  draft   ' ;;
      hooks*) has "$seen" 'HOOK  EVENT ' && has "$seen" '  PostToolUse  Read|Write  ' ;;
      doctor) has "$seen" '✓ bash' ;;
    esac
    # A program reads what it always read.
    piped=$(ona $command </dev/null)
    lacks "$piped" $'\e'
    lacks "$piped" 'SESSION '
  done
  code 0 ona sessions list
  has "$out" '5e551000-0000-4000-8000-000000000001  '
}

# Without a terminal the prompt of a bare ona is what is piped in; nothing is not a prompt.
check_bare_stdin() {
  model '[{"say":"piped"},{"say":"both"}]'
  anthropic
  code 0 ona <<<'what is this?'
  is "$out" piped
  has "$(req 0 '.body.messages[-1].content')" 'what is this?'
  code 0 ona 'look at this' <<<'the text'
  is "$out" both
  code 2 ona </dev/null
  has "$err" 'the prompt is empty'
  code 2 ona <<<'   '
  has "$err" 'the prompt is empty'
  is "$(requests)" 2
}

# Worktrees that a killed program and sessions with changes leave: listed with what would be lost, removed only where
# that is nothing, or by --force.
check_worktrees() {
  local name port
  git init -q -b main . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
  model '[{"say":"ok"},{"hang":true}]'
  anthropic
  export ONA_TRUST=always
  code 0 ona worktree list
  is "$out" ''
  for name in clean changed committed; do
    git worktree add -q -b "worktree-$name" ".claude/worktrees/$name"
  done
  git worktree add -q -b mine "$WORLD/elsewhere"
  echo text >.claude/worktrees/changed/new.txt
  git -C .claude/worktrees/committed -c user.name=a -c user.email=a@b commit -q --allow-empty -m two
  # One in which a running session works, which is killed later.
  ona -p hello --worktree busy </dev/null >/dev/null 2>&1 || fail 'no worktree'
  ona -p hello --worktree busy </dev/null >"$WORLD/run.out" 2>&1 &
  port=$!
  servers+=("$port")
  until [ "$(requests)" = 2 ]; do sleep 0.05; done
  code 0 ona worktree list --json
  is "$(jq -c 'map([.name,.holds,.in_use,.removable])' <<<"$out")" '[["busy","nothing",true,false],["changed","changes",false,false],["clean","nothing",false,true],["committed","commits",false,false]]'
  code 1 ona worktree remove busy --force
  has "$err" 'is in use'
  kill -9 "$port"
  wait "$port" 2>/dev/null || true
  code 0 ona doctor
  has "$out" 'left over: busy (nothing to lose), changed (uncommitted changes), clean (nothing to lose), committed (1 commit that is on no other branch) (ona worktree prune'
  code 0 ona worktree prune --dry-run
  is "$out" $'would be removed: busy\nwould be removed: clean'
  [ -d .claude/worktrees/clean ] || fail 'a dry run removed something'
  code 0 ona worktree prune
  is "$out" $'removed: busy\nremoved: clean'
  has "$err" 'kept, uncommitted changes: changed'
  is "$(git branch --format '%(refname:short)' | sort | tr '\n' ' ')" 'main mine worktree-changed worktree-committed '
  for name in changed committed; do
    code 1 ona worktree remove "$name"
    has "$err" "ona worktree remove $name --force"
    [ -d ".claude/worktrees/$name" ] || fail "$name is gone"
  done
  # The tool of the agent cannot do it.
  settings '{"permissions":{"allow":["Bash"]}}'
  tool Bash '{"command":"ona worktree remove changed --force; echo $?"}'
  has "$(content)" 1
  [ -d .claude/worktrees/changed ] || fail 'the agent removed a worktree'
  code 2 ona worktree remove chnged
  has "$err" 'did you mean changed?'
  code 0 ona worktree remove chan --force
  code 0 ona worktree remove committed --force
  code 0 ona worktree list
  is "$out" ''
  [ -d "$WORLD/elsewhere" ] || fail 'a worktree of the operator is gone'
  is "$(git branch --format '%(refname:short)' | sort | tr '\n' ' ')" 'main mine '
}

# The operator's model for subagents goes before that of the call and of the definition.
check_subagent_model() {
  local call='{"calls":[{"name":"Agent","input":{"description":"d","prompt":"work","model":"opus"}}]}'
  mkdir -p .claude/agents
  printf -- '---\nname: own\ndescription: d\nmodel: haiku\n---\nWork.\n' >.claude/agents/own.md
  model "[$call,{\"say\":\"report\"},{\"say\":\"done\"},$call,{\"say\":\"report\"},{\"say\":\"done\"},$call,{\"say\":\"report\"},{\"say\":\"done\"}]"
  anthropic
  says 0 -p go
  has "$(req 1 .body.model)" opus
  CLAUDE_CODE_SUBAGENT_MODEL=claude_sonnet_4 says 0 -p go
  is "$(req 4 .body.model)" claude-sonnet-4-20250514
  CLAUDE_CODE_SUBAGENT_MODEL=inherit says 0 -p go --model haiku
  is "$(req 7 .body.model)" "$(req 6 .body.model)"
}

run_check "$@"
