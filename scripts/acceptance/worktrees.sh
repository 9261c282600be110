#!/usr/bin/env bash
# Acceptance checks of worktrees (runs and agents), and of events that come from waiting.
# The model is scripted (model.mjs). Run: worktrees.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

choose() { settings "$(jq -cn --argjson more "${1:-{\}}" '{model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"},permissions:{allow:["Bash","Agent","Write","Edit","Read"]}} + $more')"; }
call() { jq -cn --arg n "$1" --argjson i "$2" '{calls:[{name:$n,input:$i}]}'; }
bash_call() { call Bash "$(jq -cn --arg c "$1" '{command:$c}')"; }
script() { printf '%s\n' "$@" | jq -cs .; }
talking() { model "$(script "$@")"; anthropic; }
# repository : the project is a git repository with one commit; git has an identity of its own
repository() {
  export GIT_CONFIG_GLOBAL=$HOME/.gitconfig
  printf '[user]\n\temail = a@a.test\n\tname = a\n[init]\n\tdefaultBranch = main\n' >"$HOME/.gitconfig"
  git init -q . && echo one >f.txt && git add f.txt && git commit -qm one
}
WT=.claude/worktrees
# told EVENT... : hooks that add what they hear to the file $WORLD/heard, as settings
told() {
  local event entries=()
  for event in "$@"; do entries+=("$(hook "$event" '' "jq -c '[.hook_event_name, .name // .worktree_path // .notification_type, .cwd]' >> $WORLD/heard")"); done
  printf '%s\n' "${entries[@]}" | jq -cs '{hooks:.}'
}

# ---- checks ------------------------------------------------------------------------

check_worktree_unchanged() {
  repository
  talking "$(bash_call 'pwd; git branch --show-current')" '{"say":"done"}'
  choose "$(told WorktreeCreate WorktreeRemove)"
  code 0 ona -p go --worktree tidy
  has "$(req 1 '.body.messages[-1].content | tostring')" "$PWD/$WT/tidy"
  has "$(req 1 '.body.messages[-1].content | tostring')" worktree-tidy
  has "$(req 0 '.body.system | tostring')" "Working directory: $PWD/$WT/tidy"
  [ ! -e $WT/tidy ] || fail 'the worktree is still there'
  is "$(git branch --list 'worktree-*')" ''
  is "$(jq -r '.[0]' "$WORLD/heard" | tr '\n' ' ')" 'WorktreeCreate WorktreeRemove '
  is "$(sed -n 1p "$WORLD/heard")" "[\"WorktreeCreate\",\"tidy\",\"$PWD\"]"
  is "$(sed -n 2p "$WORLD/heard")" "[\"WorktreeRemove\",\"$PWD/$WT/tidy\",\"$PWD\"]"
  # The checkout is as it was, and git does not see the folder.
  is "$(git status --porcelain)" ''
  lacks "$err" worktree
}

check_worktree_changed() {
  repository
  echo instructions >CLAUDE.md && git add . && git commit -qm two
  talking "$(call Write '{"file_path":"new.txt","content":"x"}')" "$(call Write "{\"file_path\":\"$PWD/f.txt\",\"content\":\"no\"}")" \
    "$(bash_call 'git -C ../../.. commit --allow-empty -m no')" '{"say":"done"}' "$(bash_call 'pwd')" '{"say":"back"}'
  choose "$(told WorktreeRemove)"
  code 0 ona -p go --worktree=work --session-id s --dangerously-skip-permissions
  is "$(cat $WT/work/new.txt)" x
  has "$err" "$PWD/$WT/work (branch worktree-work) was kept, because it has changes"
  [ ! -e "$WORLD/heard" ] || fail 'WorktreeRemove was fired'
  is "$(cat f.txt)" one
  is "$(git log --format=%s | head -1)" two
  has "$(req 2 '.body.messages[-1].content | tostring')" 'the checkout stays as it is'
  has "$(req 3 '.body.messages[-1].content | tostring')" 'the checkout stays as it is'
  is "$(req 0 '.body | tostring' | grep -o 'From [^:]*CLAUDE.md' | sort -u)" "From $PWD/$WT/work/CLAUDE.md"
  # A resumed session is back in it; one with new commits is kept as well.
  code 0 ona -p more -r s
  has "$(req 5 '.body.messages[-1].content | tostring')" "$PWD/$WT/work"
  # A worktree that is there is opened again; a folder that is none is not.
  mkdir -p $WT/other
  code 1 ona -p x --worktree other
  has "$err" 'is not a worktree of this repository'
}

check_worktree_refused() {
  repository
  talking '{"say":"never"}'
  choose "$(told WorktreeCreate)"
  code 2 ona -p x --worktree ../up
  has "$err" 'the name of a worktree'
  code 2 ona -p x --worktree w --no-trust
  has "$err" 'only made in a trusted folder'
  # Attack case F-11: the folder is a link.
  mkdir -p .claude "$HOME/elsewhere"
  ln -s "$HOME/elsewhere" .claude/worktrees
  code 2 ona -p x --worktree w
  has "$err" "$PWD/.claude/worktrees is a link"
  is "$(ls -A "$HOME/elsewhere")" ''
  rm .claude/worktrees
  rm -rf .git
  code 1 ona -p x --worktree w
  has "$err" 'is not a git repository with a commit'
  is "$(requests)" 0
  is "$(wc -l <"$WORLD/heard")" 1
}

check_worktree_hooks() {
  repository
  talking "$(bash_call pwd)" '{"say":"ok"}' '{"say":"ok"}'
  # The last line a hook prints is the worktree, and git makes none.
  choose "$(jq -cn --argjson h "$(hook WorktreeCreate '' "mkdir -p $WORLD/made; echo making; echo $WORLD/made")" --argjson r "$(hook WorktreeRemove '' 'true')" '{hooks:[$h,$r]}')"
  code 0 ona -p go --worktree w
  has "$(req 1 '.body.messages[-1].content | tostring')" "$WORLD/made"
  [ ! -e $WT ] || fail 'git made one, too'
  has "$err" "the worktree $WORLD/made was kept"
  # Any failure refuses the worktree, and nothing else happens.
  for how in 'echo no >&2; exit 2' 'echo no >&2; exit 7'; do
    choose "$(jq -cn --argjson h "$(hook WorktreeCreate '' "$how")" '{hooks:[$h]}')"
    code 1 ona -p go --worktree w
    has "$err" 'a WorktreeCreate hook refused the worktree'
    has "$err" no
  done
  # Not through a link, not the checkout itself.
  ln -s "$WORLD/made" link
  choose "$(jq -cn --argjson h "$(hook WorktreeCreate '' 'echo link')" '{hooks:[$h]}')"
  code 1 ona -p go --worktree w
  has "$err" 'leads through a link'
  is "$(requests)" 2
}

check_worktree_include() {
  repository
  printf '.env\nbuild\n' >.gitignore
  printf '.env\nf.txt\n' >.worktreeinclude
  git add . && git commit -qm two
  echo TOKEN=1 >.env && mkdir build && echo x >build/x
  talking "$(bash_call 'cat .env; ls build')" '{"say":"ok"}'
  choose
  code 0 ona -p go --worktree w
  has "$(req 1 '.body.messages[-1].content | tostring')" TOKEN=1
  has "$(req 1 '.body.messages[-1].content | tostring')" 'No such file'
}

check_idle_prompt() {
  talking '{"say":"one"}' '{"say":"two"}'
  choose "$(told Notification | jq -c '. + {idlePromptSeconds: 0.3}')"
  local user='{"type":"user","message":{"role":"user","content":"hi"}}'
  { echo "$user"; sleep 2.5; echo "$user"; sleep 0.1; } | ona -p --output-format stream-json --input-format stream-json --verbose >lines 2>/dev/null
  # Once per wait, and not while a turn runs or after the last one.
  is "$(jq -r '.[0] + " " + .[1]' "$WORLD/heard")" 'Notification idle_prompt'
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE hook_event='Notification'")" 1
  choose "$(told Notification | jq -c '. + {idlePromptSeconds: "soon"}')"
  echo "$user" | ona -p --output-format stream-json --input-format stream-json --verbose >lines 2>"$WORLD/stderr"
  has "$(cat "$WORLD/stderr")" 'idlePromptSeconds must be a number'
}

run_check "$@"
