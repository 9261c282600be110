#!/usr/bin/env bash
# Permissions: whether a call runs, is asked about or is denied, by hooks, gate, rules and
# mode in this order (5.7, 5.12, Appendix E), and what a PermissionUpdate changes (Appendix B).
# An ask shows from outside when nobody stands behind the call: it is denied as no_operator.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# ---- words of this area ------------------------------------------------------------

# permissions JSON [HOOK_JSON...] : settings with these permissions and hooks
permissions() {
  local rules=$1
  shift
  settings "$(jq -cn --argjson p "$rules" '{permissions:$p, hooks:$ARGS.positional}' --jsonargs "$@")"
}
# quick EVENT COMMAND [MATCHER] : a hook that runs in sh, without a login profile
quick() { jq -cn --arg e "$1" --arg c "$2" --arg m "${3:-}" '{hook_event_name:$e,matcher:$m,command:$c,shell:"sh"}'; }
# says DECISION [MORE_JSON] : the command of a PreToolUse hook with that opinion
says() { printf "echo '%s'" "$(jq -cn --arg d "$1" --argjson m "${2:-{\}}" '{hookSpecificOutput:({hookEventName:"PreToolUse",permissionDecision:$d} + $m)}')"; }
call() { jq -cn --arg t "$1" --argjson i "$2" '{tool:$t,input:$i}'; }
shell() { jq -cn --arg c "$1" '{tool:"Bash",input:{command:$c}}'; }

# as_agent COMMAND... : without the privileges of the operator
as_agent() { env ONA_AGENT_DB="$AGENT_SDLC_DB" "$@"; }
# became IDS : what became of the calls with ids like that, a line each. "allow" and by what, if there was
# no question; "ask" for a question nobody answered; "asked, allow" and "asked, deny" with who
# answered; "deny" and by what. A tool that ran without leave, or did not with it, spoils its line.
became() {
  sql "WITH reasons AS (
      SELECT tool_use_id, decision, reason_json reason, 1 logged FROM tool_permission_log
      UNION ALL
      SELECT json_extract(detail, '\$.tool_use_id'), 'allow', json_extract(detail, '\$.decision'), 0 FROM events
        WHERE event_type = 'tool_started' AND json_extract(detail, '\$.tool_use_id') NOT IN (SELECT tool_use_id FROM tool_permission_log)),
    said AS (SELECT *, json_extract(reason, '\$.source') source, coalesce(' ' || json_extract(reason, '\$.rule'), ' ' || json_extract(reason, '\$.mode'), '') what FROM reasons)
    SELECT CASE WHEN source = 'no_operator' THEN 'ask'
        WHEN logged AND (decision = 'allow' OR source = 'human') THEN 'asked, ' || decision || ' ' || source
        ELSE decision || ' ' || source || what END
      || CASE (SELECT count(*) FROM events WHERE event_type = 'tool_started' AND json_extract(detail, '\$.tool_use_id') = t.tool_use_id)
        WHEN decision = 'allow' THEN '' ELSE ' but tool_started says otherwise' END
    FROM transcript_entries t JOIN said USING (tool_use_id) WHERE entry_type = 'tool_use' AND tool_use_id GLOB '$1' ORDER BY t.id"
}
run=0
# session CALL... : the calls in one process nobody stands behind; what became of them is in $rulings
session() {
  local n=0 one
  run=$((run + 1))
  for one; do
    n=$((n + 1))
    printf '{"tool_use_id":"r%d.%d",%s\n' $run $n "${one#\{}"
  done >"$WORLD/calls"
  code 0 as_agent sh -c 'exec ona --eval - <"$1"' sh "$WORLD/calls"
  rulings=$(became "r$run.*")
  is "$(wc -l <<<"$rulings")" $n
}
# gives RULING NAME INPUT_JSON : that is what becomes of one call
gives() {
  session "$(call "$2" "$3")"
  is "$2 $3: $rulings" "$2 $3: $1"
}
# runs RULING COMMAND : the same for Bash
runs() {
  session "$(shell "$2")"
  is "$2: $rulings" "$2: $1"
}
# last : what became of the call made with `tool`
last() { became "$(jq -r .tool_use_id <<<"$out")"; }
# at_terminal ANSWER CALL : the operator's call with a person at a terminal; the screen is in $screen
at_terminal() {
  command -v script >/dev/null || fail 'script (util-linux) is needed for a terminal'
  printf '%s' "$2" >"$WORLD/typed"
  screen=$(printf '%s\n' "$1" | script -qec "ona --eval \"\$(cat '$WORLD/typed')\"" /dev/null | tr -d '\r')
  out=$(grep -o '{"tool_use_id".*' <<<"$screen" | tail -n 1)
}
# dialogs : how many questions the last screen had
dialogs() { grep -cF '[y/N]' <<<"$screen" || true; }
no_file() { [ ! -e "$1" ] || fail "there is a file $1"; }
is_file() { [ -e "$1" ] || fail "the file $1 does not exist"; }
events_of() { sql "SELECT count(*) FROM events WHERE event_type='$1'"; }

# One call of each of the nine tools; `fresh` makes what they work on.
NINE=(
  '{"tool":"Read","input":{"file_path":"f"}}'
  '{"tool":"Write","input":{"file_path":"new","content":"x"}}'
  '{"tool":"Edit","input":{"file_path":"f","old_string":"old","new_string":"changed"}}'
  '{"tool":"NotebookEdit","input":{"notebook_path":"n.ipynb","cell_id":"aa","new_source":"changed"}}'
  '{"tool":"Bash","input":{"command":"touch ran"}}'
  '{"tool":"Glob","input":{"pattern":"*"}}'
  '{"tool":"Grep","input":{"pattern":"old"}}'
  '{"tool":"TaskOutput","input":{"task_id":"b1"}}'
  '{"tool":"TaskStop","input":{"task_id":"b1"}}'
)
fresh() {
  rm -f new ran
  echo old >f
  echo '{"cells":[{"cell_type":"code","execution_count":null,"id":"aa","metadata":{},"outputs":[],"source":["1"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}' >n.ipynb
}
# all_nine RULING... : what becomes of each; one ruling stands for all
all_nine() {
  fresh
  session "${NINE[@]}"
  if [ $# = 1 ]; then
    is "$(sort -u <<<"$rulings")" "$1"
  else
    is "$rulings" "$(printf '%s\n' "$@")"
  fi
}
# effects LETTERS : which of the four mutating tools had their effect: W, E, N, B
effects() {
  local found=
  [ ! -e new ] || found=W
  [ "$(cat f)" = old ] || found=${found}E
  ! grep -q changed n.ipynb || found=${found}N
  [ ! -e ran ] || found=${found}B
  is "effects $found" "effects $1"
}

# ---- 5.7 ---------------------------------------------------------------------------

# traced JSON [HOOK_JSON...] : permissions with hooks that write down when they are asked
traced() {
  local rules=$1 event all=()
  shift
  rm -f "$WORLD/trace"
  for event in PreToolUse PermissionRequest PermissionDenied PostToolUse; do all+=("$(quick $event "echo $event >>$WORLD/trace")"); done
  permissions "$rules" "$@" "${all[@]}"
}
trace() { paste -sd' ' "$WORLD/trace"; rm "$WORLD/trace"; }
check_004_5_7_01() {
  local ran="echo ran >>$WORLD/trace"
  # Chain, then rules, then the answer to a question, then the tool.
  traced '{"allow":["Bash"]}'
  runs 'allow rule Bash' "$ran"
  is "$(trace)" 'PreToolUse ran PostToolUse'
  traced '{"deny":["Bash"]}'
  runs 'deny rule Bash' "$ran"
  is "$(trace)" 'PreToolUse PermissionDenied'
  traced '{"ask":["Bash"]}'
  runs ask "$ran"
  is "$(trace)" 'PreToolUse PermissionRequest PermissionDenied'
  # The chain is first: what it denies no rule sees, what it rewrites the rules see rewritten.
  traced '{"deny":["Bash"]}' "$(quick PreToolUse 'echo no >&2; exit 2')"
  runs 'deny hook' "$ran"
  is "$(jq -r .content <<<"$out")" 'Denied by PreToolUse hook
[0] no'
  no_file "$WORLD/trace"
  permissions '{"allow":["Bash"],"deny":["Bash(touch *)"]}' "$(quick PreToolUse "$(says allow '{"updatedInput":{"command":"touch rewritten"}}')")"
  runs 'deny rule Bash(touch *)' 'echo harmless'
  no_file rewritten
  permissions '{"allow":["Bash"],"deny":["Bash(touch *)"]}' "$(quick PreToolUse "$(says allow '{"updatedInput":{"command":"echo harmless"}}')")"
  runs 'allow rule Bash' 'touch original'
  is "$(jq -r .content <<<"$out")" harmless
  no_file original
  # Rules are before the dialog: at a terminal a deny and an allow show none, an ask shows one.
  local list shown
  for list in deny:0 allow:0 ask:1; do
    traced "{\"${list%:*}\":[\"Bash\"]}"
    at_terminal n "$(shell 'echo typed')"
    is "$list $(dialogs)" "$list ${list#*:}"
  done
  is "$(trace)" 'PreToolUse PermissionRequest PermissionDenied'
}

check_004_5_7_02() {
  local file
  mkdir -p .ona .claude "$HOME/.ona" "$HOME/.claude"
  settings '{}'
  for file in .ona/settings.json .ona/settings.local.json .claude/settings.json .claude/settings.local.json "$HOME/.ona/settings.json" "$HOME/.claude/settings.json" "$ONA_MANAGED_SETTINGS"; do
    echo '{"permissions":{"allow":["Bash"],"deny":["Glob"],"defaultMode":"dontAsk"}}' >"$file"
    # In no file does a rule count that is not in the row: neither its allow, nor its deny, nor its mode.
    session "$(shell true)" "$(call Glob '{"pattern":"*"}')"
    is "$file: $(paste -sd, <<<"$rulings")" "$file: ask,ask"
    [ "$file" = "$ONA_MANAGED_SETTINGS" ] || rm "$file"
  done
  # In the row they count, whatever files say.
  echo '{"permissions":{"deny":["Bash"]}}' >.ona/settings.json
  permissions '{"allow":["Bash"]}'
  runs 'allow rule Bash' true
  permissions '{"deny":["Bash"]}'
  rm .ona/settings.json
  runs 'deny rule Bash' true
  # Once imported, a file's rule is in the row and counts; a row that an operator has changed since keeps it without the file.
  echo '{}' >"$ONA_MANAGED_SETTINGS"
  echo '{"permissions":{"deny":["Glob"]}}' >.ona/settings.json
  code 0 ona settings import
  has "$(sql "SELECT json_extract(json, '\$.permissions.deny') FROM settings_snapshot")" '"Glob"'
  gives 'deny rule Glob' Glob '{"pattern":"*"}'
  rm .ona/settings.json
  sql "UPDATE settings_snapshot SET json = json_set(json, '\$.mine', 1)"
  gives 'deny rule Glob' Glob '{"pattern":"*"}'
}

check_004_5_7_03() {
  permissions '{"ask":["Bash(touch *)"],"allow":["Bash"]}'
  at_terminal y "$(shell 'touch yes')"
  is "$(dialogs)" 1
  has "$screen" 'rule Bash(touch *)'
  has "$screen" '{"command":"touch yes"}'
  is "$(last)" 'asked, allow human'
  is_file yes
  at_terminal n "$(shell 'touch no')"
  is "$(dialogs)" 1
  is "$(last)" 'asked, deny human'
  is "$(content)" 'Denied by operator'
  no_file no
  # Nothing but a yes is one.
  at_terminal '' "$(shell 'touch no')"
  is "$(dialogs) $(last)" '1 asked, deny human'
  no_file no
  is "$(sql "SELECT tool_name || ' ' || decision FROM tool_permission_log ORDER BY id" | paste -sd,)" 'Bash allow,Bash deny,Bash deny'
  # A hook's ask is asked as well; where nothing asks there is neither dialog nor row.
  permissions '{"allow":["Bash"]}' "$(quick PreToolUse "$(says ask '{"permissionDecisionReason":"are you sure"}')")"
  at_terminal y "$(shell 'touch hook')"
  has "$screen" 'are you sure'
  is "$(dialogs) $(last)" '1 asked, allow human'
  is_file hook
  permissions '{"allow":["Bash"]}'
  at_terminal n "$(shell 'touch quiet')"
  is "$(dialogs) $(last)" '0 allow rule Bash'
  is_file quiet
  is "$(sql 'SELECT count(*) FROM tool_permission_log')" 4
}

# ---- 5.12 --------------------------------------------------------------------------

check_004_5_12_01() {
  local row
  for row in '{}' '{"permissions":{}}' '{"permissions":null}' '{"permissions":{"defaultMode":"default"}}' '{"model":"x"}'; do
    settings "$row"
    all_nine ask
    effects ''
  done
  # And where the key is there it counts.
  settings '{"permissions":{"allow":["Read"]}}'
  all_nine 'allow rule Read' ask ask ask ask ask ask ask ask
  effects ''
  settings "$(jq -cn --argjson h "$(quick PreToolUse "cat >$WORLD/in")" '{hooks:[$h]}')"
  session "$(shell true)"
  is "$(jq -r .permission_mode "$WORLD/in")" default
}

check_004_5_12_02() {
  conversation c planning
  # planning RULES [HOOK] : a call in planning without a plan
  planning() {
    permissions "$@" "$(quick PermissionRequest "echo >>$WORLD/request")"
    code 0 ona --conversation c --yes --eval "$(shell 'touch ran')"
    no_file ran
  }
  # The gate is before the rules: neither deny nor ask nor allow rule is heard of.
  local rules
  for rules in '{"deny":["Bash"]}' '{"ask":["Bash"]}' '{"allow":["Bash"]}' '{"defaultMode":"dontAsk"}'; do
    planning "$rules"
    is "$rules $(last)" "$rules deny planning_gate"
  done
  # The chain is before both.
  planning '{"deny":["Bash"]}' "$(quick PreToolUse 'exit 2')"
  is "$(last)" 'deny hook'
  is "$(sql 'SELECT count(DISTINCT tool_use_id) = count(*), count(*) FROM tool_permission_log')" '1|5'
  no_file "$WORLD/request"
  # With the gate open the rules are heard, also after a hook's allow.
  sql "INSERT INTO plans(conversation_id, content, hash, status) VALUES ('c', 'p', 'h', 'approved')"
  planning '{"deny":["Bash"]}' "$(quick PreToolUse "$(says allow)")"
  is "$(last)" 'deny rule Bash'
  # Before execution (the file is not there) and before the dialog.
  at_terminal y "$(shell 'touch ran' | jq -c '. + {conversation_id:"c"}')"
  is "$(dialogs) $(last)" '0 deny rule Bash'
  no_file ran
  no_file "$WORLD/request"
}

# dropped LIST RULE WHY : there is an event that says so
dropped() {
  is "$1 $2 $(sql "SELECT count(*) FROM events WHERE event_type='permission_rule_dropped' AND json_extract(detail,'\$.list')='$1' AND json_extract(detail,'\$.rule')='$2' AND instr(json_extract(detail,'\$.why'), '$3')")" "$1 $2 1"
}
check_004_5_12_03() {
  # In every list the invalid entry is dropped and reported, and its neighbour counts.
  permissions '{"deny":["Bash(","Glob"],"ask":["Grep)","Grep"],"allow":["Read()","Read"]}'
  all_nine 'allow rule Read' ask ask ask ask 'deny rule Glob' ask ask ask
  dropped deny 'Bash(' 'parentheses do not match'
  dropped ask 'Grep)' 'parentheses do not match'
  dropped allow 'Read()' 'parentheses are empty'
  is "$(events_of permission_rule_dropped)" 3
  code 1 ona doctor --json
  is "$(jq '[.problems[] | select(contains("has no effect"))] | length' <<<"$out")" 3
  # A list of nothing but invalid rules is an empty one.
  permissions '{"deny":["Bash("]}'
  runs ask 'touch ran'
  tool Bash '{"command":"touch ran"}'
  is "$(is_error) $(last)" 'false asked, allow eval_operator'
  is_file ran
  # The same rules on their way in from a file; on the command line they are refused (DEC-181).
  sql 'DELETE FROM settings_snapshot'
  mkdir "$HOME/.ona"
  echo '{"permissions":{"deny":["Bash(file","Glob"]}}' >"$HOME/.ona/settings.json"
  code 0 ona settings import
  gives 'deny rule Glob' Glob '{"pattern":"*"}'
  dropped deny 'Bash(file' 'parentheses do not match'
  code 2 ona --eval '{"tool":"Bash","input":{"command":"touch flag"}}' --disallowedTools 'Grep(,Read' --allowedTools 'Bash'
  has "$err" 'parentheses do not match'
  no_file flag
}

check_004_5_12_04() {
  # Outcomes observed at the reference product, for the tools there are, in mode default with rules of
  # the project; where ona decides otherwise the table here says so. What is allowed runs for real.
  local table=$ONA_ROOT/crates/permissions/tests/fixtures/permission-cases.json file
  is_file "$table"
  mkdir -p sub secrets src/deep .claude "$WORLD/outside"
  for file in f.txt 'a b.txt' .env sub/.env secrets/k.txt src/a.js src/c.ts src/deep/b.js .claude/settings.json "$WORLD/outside/o.txt" "$HOME/homefile.txt"; do echo S=1 >"$file"; done
  # Calls under the same rules are made by one process. Ours: true and ls are not exempt (DEC-070), a deny
  # rule sees into bash -c and find -exec, settings files are guarded (P-03).
  local count=0 rules made ids want
  while IFS=$'\t' read -r rules ids made; do
    permissions "$rules"
    want=$(jq -r --argjson ours '{
        "146":"ask", "154":"ask", "280":"ask",
        "296":"deny", "306":"deny", "220":"deny", "438":"deny"
      }' '.[] | "\(.[0]) \($ours[.[0]] // .[1])"' <<<"$ids")
    readarray -t made < <(jq -c '.[]' <<<"$made")
    session "${made[@]}"
    is "$rules
$(paste -d' ' <(cut -d' ' -f1 <<<"$want") <(cut -d' ' -f1 <<<"$rulings"))" "$rules
$want"
    count=$((count + ${#made[@]}))
  done < <(jq -r --arg p "$PWD" --arg h "$HOME" --arg o "$WORLD/outside" '
      # 192 would remove / if it were wrongly allowed.
      [.rows[] | select(.mode == "default" and .settings_scope == "project" and .group != "no-rules" and .id != 192)
        | select((has("cli_args") or (.rules | has("defaultMode"))) | not)
        | select(.tool_name | IN("Read", "Write", "Edit", "Bash", "Glob", "Grep"))]
      | group_by(.rules)[]
      | [(.[0].rules | .allow += ["Read(./**)", "Glob", "Grep"]),
         map([(.id | tostring), (.outcome | if . == "tool_removed" then "deny" else . end)]),
         map({tool: .tool_name, input: .tool_input})]
      | map(tojson | gsub("\\$\\{PROJECT\\}"; $p) | gsub("\\$\\{HOME\\}"; $h) | gsub("\\$\\{OUTSIDE\\}"; $o)) | join("\t")' "$table")
  is $count 180
  # The names that differ from the reference mean the same tool.
  permissions '{"deny":["BashOutput","KillShell"]}'
  session "${NINE[7]}" "${NINE[8]}"
  is "$(paste -sd, <<<"$rulings")" 'deny rule BashOutput,deny rule KillShell'
  # MCP names, by a hook that is meant for a rule: it sees the calls a deny rule would match.
  local rule name seen
  while read -r rule name seen; do
    rm -f "$WORLD/seen"
    permissions '{}' "$(quick PreToolUse "echo >$WORLD/seen" | jq -c --arg i "$rule" '. + {if:$i}')"
    fire PreToolUse "$(jq -cn --arg n "$name" '{tool_name:$n,tool_input:{},tool_use_id:"t"}')"
    is "$rule $name $([ ! -e "$WORLD/seen" ] || echo yes)" "$rule $name $seen"
  done <<'RULES'
mcp__srv__* mcp__srv__tool yes
mcp__srv__* mcp__srv2__tool 
mcp__srv mcp__srv__tool yes
mcp__srv mcp__other__tool 
mcp__srv__tool mcp__srv__tool yes
mcp__srv__tool mcp__srv__tool2 
mcp__srv__get* mcp__srv__get_x yes
mcp__srv__get* mcp__srv__set_x 
mcp__* mcp__any__thing yes
mcp__* Bash 
RULES
}

check_004_5_12_05() {
  conversation c idle
  permissions '{"defaultMode":"auto","allow":["Bash"]}'
  code 2 ona --eval "$(shell 'touch ran')"
  has "$err" '"auto" is not a permission mode'
  permissions '{"allow":["Bash"]}'
  code 2 ona --permission-mode auto --eval "$(shell 'touch ran')"
  has "$err" '"auto" is not a permission mode'
  no_file ran
  is "$(sql 'SELECT count(*) FROM transcript_entries')" 0
  # No mode between asking and its opposite: the same call gives the same ruling, whatever it looks like.
  permissions '{}'
  local command
  for command in ls 'git status' 'rm -rf build' 'curl http://127.0.0.1:9 | sh'; do
    session "$(shell "$command")" "$(shell "$command")" "$(shell "$command")"
    is "$command: $(sort -u <<<"$rulings")" "$command: ask"
  done
  # Nor can a hook choose it.
  answers_once '[{"type":"setMode","mode":"auto","destination":"session"}]'
  permissions '{}' "$REQUEST"
  session "$(shell true)" "$(shell true)"
  is "$(paste -sd, <<<"$rulings") $(events_of hook_output_invalid)" 'ask,ask 1'
}

check_004_5_12_06() {
  # In deny and allow, in deny and ask, in all three; wide against narrow and narrow against wide.
  permissions '{"deny":["Bash"],"ask":["Bash"],"allow":["Bash"]}'
  runs 'deny rule Bash' 'touch ran'
  permissions '{"deny":["Bash(touch:*)"],"allow":["Bash","Bash(touch ran)"]}'
  runs 'deny rule Bash(touch:*)' 'touch ran'
  runs 'deny rule Bash(touch:*)' 'echo a && touch ran'
  runs 'allow rule Bash' 'echo a'
  permissions '{"deny":["Read(./secret)"],"ask":["Read"],"allow":["Read(./**)"]}'
  echo x | tee secret >open
  gives 'deny rule Read(./secret)' Read '{"file_path":"secret"}'
  gives ask Read '{"file_path":"open"}'
  # Any match: not only the first rule of the list.
  permissions '{"deny":["Glob","Grep","Write","Bash"],"allow":["Bash"]}'
  runs 'deny rule Bash' 'touch ran'
  # No mode, no hook and no answer lifts it.
  local mode
  for mode in default acceptEdits bypassPermissions plan dontAsk; do
    permissions "{\"deny\":[\"Bash\",\"Write\"],\"allow\":[\"Bash\",\"Write\"],\"defaultMode\":\"$mode\"}" "$(quick PreToolUse "$(says allow)")"
    session "$(shell 'touch ran')" "${NINE[1]}"
    is "$mode $(paste -sd, <<<"$rulings")" "$mode deny rule Bash,deny rule Write"
  done
  permissions '{"deny":["Bash"]}'
  tool Bash '{"command":"touch ran"}' --yes --allowedTools Bash --permission-mode bypassPermissions
  is "$(last)" 'deny rule Bash'
  is "$(content)" 'Denied by permission rule Bash'
  at_terminal y "$(shell 'touch ran')"
  is "$(dialogs)" 0
  no_file ran
  no_file new
}

check_004_5_12_07() {
  permissions '{"ask":["Bash"],"allow":["Bash"]}'
  runs ask 'touch ran'
  permissions '{"ask":["Bash"],"allow":["Bash(touch ran)"]}'
  runs ask 'touch ran'
  permissions '{"ask":["Bash(touch:*)"],"allow":["Bash"]}'
  runs ask 'touch ran'
  runs ask 'echo a; touch ran'
  runs 'allow rule Bash' 'echo a'
  # Before hook and mode, in every mode.
  local mode
  for mode in default acceptEdits bypassPermissions plan dontAsk; do
    permissions "{\"ask\":[\"Write\"],\"allow\":[\"Write\"],\"defaultMode\":\"$mode\"}" "$(quick PreToolUse "$(says allow)")"
    session "${NINE[1]}"
    is "$mode $rulings" "$mode ask"
  done
  no_file new
  # The operator's typing the call does not answer it; --yes and a person do.
  permissions '{"ask":["Bash"],"allow":["Bash"]}'
  tool Bash '{"command":"touch ran"}'
  is "$(is_error) $(last)" 'true ask'
  has "$(content)" 'rule Bash'
  at_terminal n "$(shell 'touch ran')"
  is "$(dialogs) $(last)" '1 asked, deny human'
  no_file ran
  at_terminal y "$(shell 'touch ran')"
  is "$(dialogs) $(last)" '1 asked, allow human'
  is_file ran
  tool Bash '{"command":"touch again"}' --yes
  is "$(is_error) $(last)" 'false asked, allow eval_operator'
  is_file again
}

check_004_5_12_08() {
  local mode
  # An allow rule is before the mode: it holds in every one, and nobody is asked.
  for mode in default acceptEdits bypassPermissions plan dontAsk; do
    rm -f ran
    permissions "{\"allow\":[\"Bash(touch ran)\"],\"defaultMode\":\"$mode\"}" "$(quick PermissionRequest "echo >$WORLD/request")"
    runs 'allow rule Bash(touch ran)' 'touch ran'
    is_file ran
  done
  no_file "$WORLD/request"
  is "$(sql 'SELECT count(*) FROM tool_permission_log')" 0
  at_terminal n "$(shell 'touch ran')"
  is "$(dialogs)" 0
  # Any of several; and what none matches is for the mode.
  permissions '{"allow":["Glob","Bash(echo a)","Bash(touch *)","Edit(/src/**)"]}'
  runs 'allow rule Bash(touch *)' 'touch other'
  runs ask 'mkdir other2'
  gives 'allow rule Edit(/src/**)' Write '{"file_path":"src/a","content":"x"}'
  gives ask Write '{"file_path":"a","content":"x"}'
  is_file src/a
  no_file a
  no_file other2
}

check_004_5_12_09() {
  permissions '{"defaultMode":"bypassPermissions"}' "$(quick PermissionRequest "echo >$WORLD/request")"
  all_nine 'allow mode bypassPermissions'
  effects WENB
  no_file "$WORLD/request"
  is "$(sql 'SELECT count(*) FROM tool_permission_log')" 0
  # By flag too, and only with it.
  permissions '{}'
  tool Bash '{"command":"touch flagged"}' --permission-mode bypassPermissions
  is "$(last)" 'allow mode bypassPermissions'
  tool Bash '{"command":"touch flagged"}' --dangerously-skip-permissions
  is "$(last)" 'allow mode bypassPermissions'
  all_nine ask
  effects ''
  # Not for the agent's own shell.
  code 1 as_agent ona --dangerously-skip-permissions --eval "$(shell 'touch ran')"
  no_file ran
}

check_004_5_12_10() {
  permissions '{"defaultMode":"dontAsk"}' "$(quick PermissionRequest "echo >$WORLD/request")"
  all_nine 'deny mode dontAsk'
  effects ''
  no_file "$WORLD/request"
  # Neither the operator's typing nor a terminal is asked.
  tool Bash '{"command":"touch ran"}' --yes
  is "$(is_error) $(content)" 'true Denied by permission mode dontAsk'
  at_terminal y "$(shell 'touch ran')"
  is "$(dialogs) $(last)" '0 deny mode dontAsk'
  no_file ran
  # What a rule or a hook allows is matched, and runs.
  permissions '{"defaultMode":"dontAsk","allow":["Read"]}' "$(quick PreToolUse "$(says allow)" Bash)"
  all_nine 'allow rule Read' 'deny mode dontAsk' 'deny mode dontAsk' 'deny mode dontAsk' 'allow hook' 'deny mode dontAsk' 'deny mode dontAsk' 'deny mode dontAsk' 'deny mode dontAsk'
  effects B
}

check_004_5_12_11() {
  permissions '{"defaultMode":"default"}' "$(quick PermissionRequest "jq -r .tool_name >>$WORLD/request")"
  all_nine ask
  effects ''
  # Each opened a question.
  is "$(paste -sd' ' "$WORLD/request")" 'Read Write Edit NotebookEdit Bash Glob Grep TaskOutput TaskStop'
  is "$(sql "SELECT count(*), count(DISTINCT tool_name), min(decision) || max(decision) FROM tool_permission_log")" '9|9|denydeny'
  # The operator's typing answers it, and the row says so.
  tool Bash '{"command":"touch ran"}'
  is "$(last)" 'asked, allow eval_operator'
  is_file ran
  # Only where nothing matches.
  permissions '{"defaultMode":"default","allow":["Glob"],"deny":["Grep"]}'
  all_nine ask ask ask ask ask 'allow rule Glob' 'deny rule Grep' ask ask
}

check_004_5_12_12() {
  local mode='allow mode acceptEdits'
  permissions '{"defaultMode":"acceptEdits"}'
  all_nine "$mode" "$mode" "$mode" ask ask ask ask ask ask
  effects WE
  runs ask 'mkdir made'
  runs ask 'cat f'
  no_file made
  # Only in this mode, and below the rules.
  permissions '{"defaultMode":"acceptEdits","deny":["Write"],"ask":["Edit"],"allow":["Bash"]}'
  all_nine "$mode" 'deny rule Write' ask ask 'allow rule Bash' ask ask ask ask
  effects B
  permissions '{}'
  all_nine ask
}

check_004_5_12_13() {
  local no='deny mode plan'
  permissions '{"defaultMode":"plan"}' "$(quick PermissionRequest "jq -r .tool_name >>$WORLD/request")"
  all_nine ask "$no" "$no" "$no" "$no" ask ask ask ask
  effects ''
  # The four are denied without a question; the others follow default, which asks.
  is "$(paste -sd' ' "$WORLD/request")" 'Read Glob Grep TaskOutput TaskStop'
  tool Write '{"file_path":"new","content":"x"}' --yes
  is "$(is_error) $(content)" 'true Denied by permission mode plan'
  tool Bash '{"command":"ls"}'
  is "$(content)" 'Denied by permission mode plan'
  tool Glob '{"pattern":"*"}'
  is "$(is_error) $(last)" 'false asked, allow eval_operator'
  # A hook's allow does not lift it.
  permissions '{"defaultMode":"plan"}' "$(quick PreToolUse "$(says allow)")"
  local by='allow hook'
  all_nine "$by" "$no" "$no" "$no" "$no" "$by" "$by" "$by" "$by"
  effects ''
  # An allow rule is before the mode.
  permissions '{"defaultMode":"plan","allow":["Write"]}'
  all_nine ask 'allow rule Write' "$no" "$no" "$no" ask ask ask ask
  effects W
}

# registered WORD... : a row of the register of deviations has all these words
registered() {
  local rows word
  rows=$(grep -E '^\| P-[0-9]+ ' "$ONA_ROOT/docs/DEVIATIONS.md")
  for word; do rows=$(grep -F -- "$word" <<<"$rows") || fail "no row of docs/DEVIATIONS.md has: $*"; done
}
check_004_5_12_14() {
  local mode='allow mode acceptEdits'
  # acceptEdits: only inside the working directories, not on sensitive paths.
  permissions '{"defaultMode":"acceptEdits"}'
  mkdir "$WORLD/outside"
  gives "$mode" Write '{"file_path":"in","content":"x"}'
  gives ask Write "{\"file_path\":\"$WORLD/outside/out\",\"content\":\"x\"}"
  gives ask Write '{"file_path":".git/config","content":"x"}'
  registered acceptEdits 'working directories' .git
  # acceptEdits: the reference also runs file commands such as mkdir, and edits notebooks.
  runs ask 'mkdir made'
  registered acceptEdits mkdir
  # plan: the reference refuses Write also where an allow rule matches.
  permissions '{"defaultMode":"plan","allow":["Write"]}'
  gives 'allow rule Write' Write '{"file_path":"planned","content":"x"}'
  registered 'plan' 'allow rule'
}

check_004_5_12_15() {
  # Every way a question can end, each with its row.
  local answer=$WORLD/answer
  permissions '{"ask":["Bash"],"allow":["Bash","Glob"],"deny":["Grep"]}' "$(quick PermissionRequest "echo >>$WORLD/requests; [ ! -e $answer ] || cat $answer")"
  local asked=0 shown=0
  # one HOW : a question ended so, with exactly one more row
  one() {
    is "$(last)" "$1"
    asked=$((asked + 1))
    is "$(sql 'SELECT count(*) FROM tool_permission_log') $(wc -l <"$WORLD/requests")" "$asked $asked"
  }
  at_terminal y "$(shell true)"
  shown=$((shown + $(dialogs)))
  one 'asked, allow human'
  at_terminal n "$(shell true)"
  shown=$((shown + $(dialogs)))
  one 'asked, deny human'
  tool Bash '{"command":"true"}' --yes
  one 'asked, allow eval_operator'
  tool Bash '{"command":"true"}'
  one ask
  code 0 as_agent ona --yes --eval "$(shell true)"
  one ask
  tool Read '{"file_path":"missing"}'
  one 'asked, allow eval_operator'
  jq -cn '{hookSpecificOutput:{hookEventName:"PermissionRequest",decision:{behavior:"allow"}}}' >"$answer"
  tool Bash '{"command":"true"}'
  one 'asked, allow hook'
  jq -cn '{hookSpecificOutput:{hookEventName:"PermissionRequest",decision:{behavior:"deny",message:"no"}}}' >"$answer"
  tool Bash '{"command":"true"}'
  one 'deny hook'
  is "$(sql "SELECT count(*) FROM tool_permission_log WHERE json_extract(reason_json,'\$.source')='human'")" $shown
  is $shown 2
  # Without a question no such row exists.
  tool Glob '{"pattern":"*"}'
  is "$(last)" 'allow rule Glob'
  is "$(sql 'SELECT count(*) FROM tool_permission_log')" $asked
  tool Grep '{"pattern":"x"}'
  is "$(last)" 'deny rule Grep'
  is "$(wc -l <"$WORLD/requests")" $asked
  is "$(sql "SELECT count(*) FROM tool_permission_log WHERE tool_use_id NOT IN (SELECT tool_use_id FROM transcript_entries WHERE entry_type='tool_use') OR decision NOT IN ('allow','deny') OR NOT json_valid(reason_json)")" 0
}

# ---- PermissionUpdate (Appendix B) -------------------------------------------------

# A PermissionRequest hook that gives each prepared answer once, in order, and then none.
REQUEST=
# answers_once UPDATES_JSON... : the answers: allow, with these updatedPermissions
answers_once() {
  local n=0 updates
  rm -rf "$WORLD/answers"
  mkdir "$WORLD/answers"
  for updates; do
    n=$((n + 1))
    jq -cn --argjson u "$updates" '{hookSpecificOutput:{hookEventName:"PermissionRequest",decision:{behavior:"allow",updatedPermissions:$u}}}' >"$WORLD/answers/$n"
  done
  REQUEST=$(quick PermissionRequest "f=\$(ls $WORLD/answers/* 2>/dev/null | head -n 1); [ -z \"\$f\" ] || { cat \"\$f\"; rm \"\$f\"; }")
}
# update TYPE RULES BEHAVIOR [DESTINATION] : rules as "Tool" or "Tool(content)", separated by commas
update() {
  jq -cn --arg t "$1" --arg r "$2" --arg b "$3" --arg d "${4:-session}" '[{type:$t, behavior:$b, destination:$d,
    rules:($r | split(",") | map(if endswith(")") then capture("^(?<toolName>[^(]+)\\((?<ruleContent>.*)\\)$") else {toolName:.} end))}]'
}
# effective KEY : of the permissions in the row
effective() { sql "SELECT json_extract(json, '\$.permissions.$1') FROM settings_snapshot WHERE scope='effective'"; }
files() { find .ona "$HOME/.ona" -type f 2>/dev/null | sort; }
# refuses UPDATES_JSON : such an answer is none: the question stays open, nothing is changed
refuses() {
  local before
  before=$(events_of hook_output_invalid)
  answers_once "$1"
  permissions '{"deny":["Glob"]}' "$REQUEST"
  session "$(shell 'touch ran')" "$(shell true)" "$(call Glob '{"pattern":"*"}')"
  is "$1 $(paste -sd, <<<"$rulings")" "$1 ask,ask,deny rule Glob"
  is "$1 $(events_of hook_output_invalid)" "$1 $((before + 1))"
  no_file ran
  is "$1 $(files)$(effective allow)" "$1 "
}

check_004_12_25() {
  local destination file
  for destination in userSettings projectSettings localSettings; do
    case $destination in
      userSettings) file=$HOME/.ona/settings.json ;;
      projectSettings) file=.ona/settings.json ;;
      localSettings) file=.ona/settings.local.json ;;
    esac
    rm -rf .ona "$HOME/.ona"
    mkdir -p "$(dirname "$file")"
    echo '{"theme":"dark","permissions":{"allow":["Grep"]}}' >"$file"
    answers_once "$(update addRules 'Bash(echo one)' allow $destination)"
    permissions '{}' "$REQUEST"
    session "$(shell true)" "$(shell 'echo one')"
    is "$destination $(paste -sd, <<<"$rulings")" "$destination asked, allow hook,allow rule Bash(echo one)"
    # In its own file, beside what was there, in no other, and in the row.
    is "$(jq -c . "$file")" '{"theme":"dark","permissions":{"allow":["Grep","Bash(echo one)"]}}'
    is "$(files)" "$file"
    is "$(effective allow)" '["Bash(echo one)"]'
    # It lasts.
    runs 'allow rule Bash(echo one)' 'echo one'
    runs ask 'echo two'
  done
  rm -rf .ona "$HOME/.ona"
  for destination in session cliArg; do
    answers_once "$(update addRules 'Bash(echo one)' allow $destination)"
    permissions '{}' "$REQUEST"
    session "$(shell true)" "$(shell 'echo one')"
    is "$destination $(paste -sd, <<<"$rulings")" "$destination asked, allow hook,allow rule Bash(echo one)"
    # In memory: no file, no row, gone with the process.
    is "$(files)$(effective allow)" ''
    runs ask 'echo one'
  done
  for destination in managedSettings policySettings Session usersettings ''; do
    refuses "$(update addRules Bash allow x | jq -c --arg d "$destination" '.[0].destination = $d')"
  done
  refuses "$(update addRules Bash allow | jq -c 'del(.[0].destination)')"
}

check_004_12_26() {
  # ruleContent narrows; without it the whole tool is meant.
  answers_once "$(update addRules 'Bash(echo one),Bash(echo three)' allow)"
  permissions '{}' "$REQUEST"
  session "$(shell true)" "$(shell 'echo one')" "$(shell 'echo three')" "$(shell 'echo two')"
  is "$rulings" 'asked, allow hook
allow rule Bash(echo one)
allow rule Bash(echo three)
ask'
  answers_once "$(update addRules Bash allow)"
  permissions '{}' "$REQUEST"
  session "$(shell true)" "$(shell 'touch ran')"
  is "$rulings" 'asked, allow hook
allow rule Bash'
  is_file ran
  # deny and ask change the next call as well, against an allow rule of the row.
  echo x | tee secret >open
  answers_once "$(update addRules 'Read(./secret)' deny)"
  permissions '{"allow":["Read"]}' "$REQUEST"
  session "$(call Read '{"file_path":"secret"}')" "$(shell true)" "$(call Read '{"file_path":"secret"}')" "$(call Read '{"file_path":"open"}')"
  is "$rulings" 'allow rule Read
asked, allow hook
deny rule Read(./secret)
allow rule Read'
  answers_once "$(update addRules Read ask)"
  permissions '{"allow":["Read"]}' "$REQUEST"
  session "$(shell true)" "$(call Read '{"file_path":"open"}')"
  is "$rulings" 'asked, allow hook
ask'
  # One answer may bring several updates, and an addition adds.
  answers_once "$(jq -cn --argjson a "$(update addRules 'Bash(echo a)' allow)" --argjson b "$(update addRules Glob deny)" '$a + $b')" "$(update addRules 'Bash(echo b)' allow)"
  permissions '{}' "$REQUEST"
  session "$(shell true)" "$(shell false)" "$(shell 'echo a')" "$(shell 'echo b')" "$(call Glob '{"pattern":"*"}')"
  is "$rulings" 'asked, allow hook
asked, allow hook
allow rule Bash(echo a)
allow rule Bash(echo b)
deny rule Glob'
  rm ran
  # Anything of another shape does not count as an answer.
  local bad
  for bad in '.behavior = "maybe"' 'del(.behavior)' 'del(.rules)' '.rules = "Bash"' '.rules = [{}]' '.rules = [{"toolName":7}]' '.rules = [{"toolName":"Bash","ruleContent":7}]' '.type = "addRule"' 'del(.type)'; do
    refuses "$(update addRules Bash allow | jq -c "[.[0] | $bad]")"
  done
}

check_004_12_27() {
  # Of its behaviour, and of that only.
  answers_once "$(jq -cn --argjson a "$(update addRules 'Bash(echo a),Bash(echo b)' allow)" --argjson b "$(update addRules Glob deny)" '$a + $b')" "$(update replaceRules 'Bash(echo c)' allow)"
  permissions '{}' "$REQUEST"
  session "$(shell true)" "$(shell 'echo a')" "$(shell false)" "$(shell 'echo a')" "$(shell 'echo b')" "$(shell 'echo c')" "$(call Glob '{"pattern":"*"}')"
  is "$rulings" 'asked, allow hook
allow rule Bash(echo a)
asked, allow hook
ask
ask
allow rule Bash(echo c)
deny rule Glob'
  # In a file and in the row: the list is exactly the new one, the other lists stay.
  mkdir .ona
  echo '{"permissions":{"allow":["Bash(echo a)","Grep"],"deny":["Glob"],"ask":["Read"]}}' >.ona/settings.local.json
  answers_once "$(update replaceRules 'Bash(echo c),Edit' allow localSettings)"
  permissions '{"allow":["Bash(echo a)","Grep"],"deny":["Glob"],"ask":["Read"]}' "$REQUEST"
  session "$(shell true)" "$(shell 'echo a')" "$(shell 'echo c')" "$(call Grep '{"pattern":"x"}')" "$(call Glob '{"pattern":"*"}')" "$(call Read '{"file_path":"f"}')"
  is "$rulings" 'asked, allow hook
ask
allow rule Bash(echo c)
ask
deny rule Glob
ask'
  is "$(jq -c .permissions .ona/settings.local.json)" '{"allow":["Bash(echo c)","Edit"],"deny":["Glob"],"ask":["Read"]}'
  is "$(effective allow) $(effective deny) $(effective ask)" '["Bash(echo c)","Edit"] ["Glob"] ["Read"]'
  # By nothing, too. A session replaces its own rules: it does not lift those of the operator.
  answers_once "$(jq -cn '[{type:"replaceRules",rules:[],behavior:"deny",destination:"session"}]')"
  permissions '{"deny":["Glob"],"ask":["Grep"]}' "$REQUEST"
  session "$(shell true)" "$(call Glob '{"pattern":"*"}')" "$(call Grep '{"pattern":"x"}')"
  is "$rulings" 'asked, allow hook
deny rule Glob
ask'
  rm -r .ona
  refuses "$(update replaceRules Bash allow | jq -c 'del(.[0].rules)')"
}

check_004_12_28() {
  # The listed ones, by their text; the others stay.
  answers_once "$(update addRules 'Bash(echo a),Bash(echo b)' allow)" "$(update removeRules 'Bash(echo a),Bash(echo z)' allow)"
  permissions '{"allow":["Glob"]}' "$REQUEST"
  session "$(shell true)" "$(shell 'echo a')" "$(shell false)" "$(shell 'echo a')" "$(shell 'echo b')" "$(call Glob '{"pattern":"*"}')"
  is "$rulings" 'asked, allow hook
allow rule Bash(echo a)
asked, allow hook
ask
allow rule Bash(echo b)
allow rule Glob'
  # Of the named behaviour: a deny of the same text is another rule.
  answers_once "$(update removeRules Glob allow)"
  permissions '{"deny":["Glob"],"allow":["Glob"]}' "$REQUEST"
  session "$(shell true)" "$(call Glob '{"pattern":"*"}')"
  is "$rulings" 'asked, allow hook
deny rule Glob'
  # In a file and in the row.
  mkdir .ona
  echo '{"permissions":{"deny":["Glob","Grep"],"allow":["Glob"]}}' >.ona/settings.json
  answers_once "$(update removeRules Glob deny projectSettings)"
  permissions '{"deny":["Glob","Grep"],"allow":["Glob"]}' "$REQUEST"
  session "$(call Glob '{"pattern":"*"}')" "$(shell true)" "$(call Glob '{"pattern":"*"}')" "$(call Grep '{"pattern":"x"}')"
  is "$rulings" 'deny rule Glob
asked, allow hook
allow rule Glob
deny rule Grep'
  is "$(jq -c .permissions .ona/settings.json)" '{"deny":["Grep"],"allow":["Glob"]}'
  is "$(effective deny) $(effective allow)" '["Grep"] ["Glob"]'
  gives 'allow rule Glob' Glob '{"pattern":"*"}'
  # For a session a deny rule of the operator is not removed.
  answers_once "$(update removeRules Grep deny)"
  permissions '{"deny":["Grep"]}' "$REQUEST"
  session "$(shell true)" "$(call Grep '{"pattern":"x"}')"
  is "$rulings" 'asked, allow hook
deny rule Grep'
  rm -r .ona
  refuses "$(update removeRules Bash allow | jq -c '.[0].behavior = "all"')"
}

check_004_12_29() {
  local mode before ruling
  # Later hooks are told, and later calls judged by it.
  while read -r before mode ruling; do
    rm -f "$WORLD/modes" ran new
    answers_once "[{\"type\":\"setMode\",\"mode\":\"$mode\",\"destination\":\"session\"}]"
    permissions "{\"defaultMode\":\"$before\"}" "$REQUEST" "$(quick PreToolUse "jq -r .permission_mode >>$WORLD/modes")"
    session "$(call Glob '{"pattern":"*"}')" "$(shell 'touch ran')" "${NINE[1]}"
    is "$mode $(paste -sd' ' "$WORLD/modes")" "$mode $before $mode $mode"
    is "$mode $(paste -sd, <<<"$rulings")" "$mode asked, allow hook,$ruling"
    # For the session: the row is as it was.
    is "$(effective defaultMode)" "$before"
  done <<'MODES'
default acceptEdits ask,allow mode acceptEdits
default bypassPermissions allow mode bypassPermissions,allow mode bypassPermissions
acceptEdits default ask,ask
default dontAsk deny mode dontAsk,deny mode dontAsk
default plan deny mode plan,deny mode plan
MODES
  # Meant to last: in the row and in the file, and the next process starts in it.
  answers_once '[{"type":"setMode","mode":"acceptEdits","destination":"userSettings"}]'
  permissions '{}' "$REQUEST"
  session "$(shell true)" "${NINE[1]}"
  is "$rulings" 'asked, allow hook
allow mode acceptEdits'
  is "$(effective defaultMode) $(jq -c . "$HOME/.ona/settings.json")" 'acceptEdits {"permissions":{"defaultMode":"acceptEdits"}}'
  gives 'allow mode acceptEdits' Write '{"file_path":"next","content":"x"}'
  rm -r "$HOME/.ona"
  # Five, and not where it is switched off.
  for mode in auto Default manual ''; do refuses "[{\"type\":\"setMode\",\"mode\":\"$mode\",\"destination\":\"session\"}]"; done
  refuses '[{"type":"setMode","destination":"session"}]'
  answers_once '[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]'
  permissions '{"disableBypassPermissionsMode":"disable"}' "$REQUEST"
  session "$(shell true)" "$(shell 'touch ran')"
  is "$rulings" 'asked, allow hook
ask'
  has "$err" 'bypassPermissions is switched off'
}

check_004_12_30() {
  local there=$WORLD/there read
  mkdir "$there"
  echo x >"$there/f"
  read=$(call Read "{\"file_path\":\"$there/f\"}")
  # dirs TYPE DESTINATION DIRECTORY...
  dirs() { jq -cn --arg t "$1" --arg d "$2" '[{type:$t,destination:$d,directories:$ARGS.positional}]' --args "${@:3}"; }
  # For the session: asked before, allowed after; asked again when it is removed.
  answers_once "$(dirs addDirectories session "$there" ../elsewhere)" "$(dirs removeDirectories session "$there")"
  permissions '{"defaultMode":"acceptEdits","allow":["Bash(cat:*)"]}' "$REQUEST"
  session "$(shell true)" "$read" "$(call Write "{\"file_path\":\"$there/new\",\"content\":\"x\"}")" "$(shell "cat $there/f")" "$(call Write "{\"file_path\":\"$WORLD/elsewhere/new\",\"content\":\"x\"}")" "$(shell false)" "$read" "$(shell "cat $there/f")"
  is "$rulings" 'asked, allow hook
allow mode acceptEdits
allow mode acceptEdits
allow rule Bash(cat:*)
allow mode acceptEdits
asked, allow hook
ask
ask'
  is_file "$there/new"
  is_file "$WORLD/elsewhere/new"
  is "$(effective additionalDirectories)$(files)" ''
  # Without it nothing outside is reached.
  session "$read" "$(shell "cat $there/f")"
  is "$(sort -u <<<"$rulings")" ask
  # Meant to last.
  answers_once "$(dirs addDirectories userSettings "$there")"
  permissions '{"defaultMode":"acceptEdits"}' "$REQUEST"
  session "$(shell true)" "$read"
  is "$rulings" 'asked, allow hook
allow mode acceptEdits'
  is "$(effective additionalDirectories) $(jq -c .permissions "$HOME/.ona/settings.json")" "[\"$there\"] {\"additionalDirectories\":[\"$there\"]}"
  session "$read"
  is "$rulings" 'allow mode acceptEdits'
  answers_once "$(dirs removeDirectories userSettings "$there")"
  session "$(shell true)" "$read"
  is "$rulings" 'asked, allow hook
ask'
  is "$(effective additionalDirectories) $(jq -c .permissions "$HOME/.ona/settings.json")" '[] {"additionalDirectories":[]}'
  session "$read"
  is "$rulings" ask
  rm -r "$HOME/.ona"
  # Not everything is a directory to work in.
  answers_once "$(dirs addDirectories session /)"
  permissions '{"defaultMode":"acceptEdits"}' "$REQUEST"
  session "$(shell true)" "$read"
  is "$rulings" 'asked, allow hook
ask'
  has "$err" 'too wide'
  refuses '[{"type":"addDirectories","directories":"/x","destination":"session"}]'
  refuses '[{"type":"removeDirectories","destination":"session"}]'
}

# ---- Appendix E --------------------------------------------------------------------

check_004_15_01() {
  permissions '{}'
  all_nine ask
  # Each list alone, and all fields at once.
  permissions '{"allow":["Read","Glob"]}'
  all_nine 'allow rule Read' ask ask ask ask 'allow rule Glob' ask ask ask
  permissions '{"deny":["Read","Glob"]}'
  all_nine 'deny rule Read' ask ask ask ask 'deny rule Glob' ask ask ask
  permissions '{"ask":["Read","Glob"],"defaultMode":"bypassPermissions"}'
  local by='allow mode bypassPermissions'
  all_nine ask "$by" "$by" "$by" "$by" ask "$by" "$by" "$by"
  permissions '{"allow":[],"deny":[],"ask":[],"defaultMode":"default","additionalDirectories":[],"disableBypassPermissionsMode":"disable","allowManagedPermissionRulesOnly":true}'
  all_nine ask
  is "$(sql "SELECT count(*) FROM events WHERE event_type IN ('settings_unknown_key','permission_rule_dropped')")" 0
  code 0 ona doctor --json
  is "$(jq -c '[.problems, .settings.rules]' <<<"$out")" '[[],{"allow":0,"ask":0,"deny":0}]'
  # Anything but a list is a configuration error: nothing runs, a deny list is not passed over.
  fresh
  local bad
  for bad in '{"allow":"Bash"}' '{"deny":"Bash"}' '{"ask":{"Bash":true}}' '{"deny":7}' '[]' '"Bash"'; do
    permissions "$bad"
    code 2 ona --eval "${NINE[4]}"
    has "$err" 'permissions'
    code 2 ona --yes --permission-mode bypassPermissions --eval "${NINE[4]}"
  done
  effects ''
  # A member that is not a string is left out and reported; its neighbours count.
  permissions '{"deny":[7,"Glob",null]}'
  gives 'deny rule Glob' Glob '{"pattern":"*"}'
  is "$(events_of settings_unknown_key)" 2
}

check_004_15_02() {
  local mode ruling
  while read -r mode ruling; do
    permissions "{\"defaultMode\":\"$mode\"}" "$(quick PreToolUse "jq -r .permission_mode >$WORLD/mode")"
    fresh
    session "${NINE[1]}" "${NINE[4]}"
    is "$mode $(paste -sd, <<<"$rulings")" "$mode $ruling"
    is "$(cat "$WORLD/mode")" "$mode"
    code 0 ona doctor --json
    is "$(jq -r .settings.permission_mode <<<"$out")" "$mode"
    # As a flag it means the same.
    permissions '{}' "$(quick PreToolUse "jq -r .permission_mode >$WORLD/mode")"
    tool Glob '{"pattern":"*"}' --permission-mode "$mode"
    is "$(cat "$WORLD/mode")" "$mode"
  done <<'MODES'
default ask,ask
acceptEdits allow mode acceptEdits,ask
bypassPermissions allow mode bypassPermissions,allow mode bypassPermissions
plan deny mode plan,deny mode plan
dontAsk deny mode dontAsk,deny mode dontAsk
MODES
  fresh
  for mode in '"auto"' '"Default"' '"ask"' '"bypass"' '""' 7 null '["plan"]'; do
    permissions "{\"defaultMode\":$mode,\"allow\":[\"Bash\"]}"
    code 2 ona --eval "${NINE[4]}"
    has "$err" 'use default, acceptEdits, bypassPermissions, plan or dontAsk'
  done
  effects ''
}

check_004_15_03() {
  conversation c idle
  fresh
  permissions '{"defaultMode":"auto","allow":["Bash"]}' "$(quick PreToolUse "echo >$WORLD/hook")"
  local made
  for made in "${NINE[@]}"; do
    code 2 ona --eval "$made"
    has "$err" 'permissions.defaultMode: "auto" is not a permission mode'
  done
  code 2 ona --yes --eval "${NINE[4]}"
  effects ''
  no_file "$WORLD/hook"
  is "$(sql 'SELECT (SELECT count(*) FROM transcript_entries), (SELECT count(*) FROM tool_permission_log), (SELECT count(*) FROM sessions)')" '0|0|0'
  code 1 ona doctor --json
  has "$(jq -r '.problems[]' <<<"$out")" '"auto" is not a permission mode'
  # In a file it becomes default, with a warning (DEC-074).
  sql 'DELETE FROM settings_snapshot'
  mkdir "$HOME/.ona"
  echo '{"permissions":{"defaultMode":"auto"}}' >"$HOME/.ona/settings.json"
  code 0 ona settings import
  has "$err" '"auto" is not a permission mode here; `default` is used'
  is "$(effective defaultMode)" default
  session "${NINE[4]}"
  is "$rulings" ask
}

check_004_15_04() {
  local there=$WORLD/there dir
  mkdir -p "$there" sub
  echo x >"$there/f"
  # Absolute, relative to the project, and relative when the call is made further down.
  for dir in "$there" ../there ./../there/; do
    permissions "{\"defaultMode\":\"acceptEdits\",\"allow\":[\"Glob\",\"Bash(cat:*)\"],\"additionalDirectories\":[\"$dir\"]}"
    rm -f "$there/new"
    session "$(call Read "{\"file_path\":\"$there/f\"}")" "$(call Write "{\"file_path\":\"$there/new\",\"content\":\"x\"}")" "$(call Glob "{\"pattern\":\"*\",\"path\":\"$there\"}")" "$(shell "cat $there/f")"
    is "$dir: $(paste -sd, <<<"$rulings")" "$dir: allow mode acceptEdits,allow mode acceptEdits,allow rule Glob,allow rule Bash(cat:*)"
    is_file "$there/new"
  done
  mkdir .git
  cd sub
  permissions '{"defaultMode":"acceptEdits","additionalDirectories":["../there"]}'
  gives 'allow mode acceptEdits' Read "{\"file_path\":\"$there/f\"}"
  cd ..
  # Without it, beside it and above it each of these is asked about; so is a link that leads out.
  mkdir "$WORLD/there2"
  echo x >"$WORLD/there2/f"
  ln -s "$WORLD/there2/f" "$there/link"
  permissions "{\"defaultMode\":\"acceptEdits\",\"allow\":[\"Glob\",\"Bash(cat:*)\"],\"additionalDirectories\":[\"$there\"]}"
  session "$(call Read "{\"file_path\":\"$WORLD/there2/f\"}")" "$(call Read "{\"file_path\":\"$there/../there2/f\"}")" "$(call Read "{\"file_path\":\"$there/link\"}")" "$(call Glob "{\"pattern\":\"*\",\"path\":\"$WORLD\"}")" "$(shell "cat $WORLD/there2/f")"
  is "$(sort -u <<<"$rulings")" ask
  permissions '{"defaultMode":"acceptEdits","allow":["Glob","Bash(cat:*)"]}'
  session "$(call Read "{\"file_path\":\"$there/f\"}")" "$(call Write "{\"file_path\":\"$there/new2\",\"content\":\"x\"}")" "$(call Glob "{\"pattern\":\"*\",\"path\":\"$there\"}")" "$(shell "cat $there/f")"
  is "$(sort -u <<<"$rulings")" ask
  no_file "$there/new2"
  # It is a place, not a permission: other modes ask as before, and deny rules hold there.
  permissions "{\"additionalDirectories\":[\"$there\"]}"
  gives ask Read "{\"file_path\":\"$there/f\"}"
  permissions "{\"defaultMode\":\"acceptEdits\",\"deny\":[\"Read(/$there/**)\"],\"additionalDirectories\":[\"$there\"]}"
  gives "deny rule Read(/$there/**)" Read "{\"file_path\":\"$there/f\"}"
}

check_004_15_05() {
  local by
  fresh
  permissions '{"disableBypassPermissionsMode":"disable"}'
  for by in '--permission-mode bypassPermissions' --dangerously-skip-permissions; do
    code 2 ona $by --yes --eval "${NINE[4]}"
    has "$err" disableBypassPermissionsMode
  done
  is "$(sql 'SELECT count(*) FROM transcript_entries')" 0
  effects ''
  # As defaultMode beside it, default counts, and that is reported.
  permissions '{"disableBypassPermissionsMode":"disable","defaultMode":"bypassPermissions"}'
  all_nine ask
  effects ''
  is "$(sql "SELECT count(*) FROM events WHERE event_type='settings_unknown_key' AND instr(detail, 'switched off by disableBypassPermissionsMode')")" 1
  # A hook cannot switch it on either.
  answers_once '[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]'
  permissions '{"disableBypassPermissionsMode":"disable"}' "$REQUEST"
  session "$(shell true)" "${NINE[4]}"
  is "$rulings" 'asked, allow hook
ask'
  effects ''
  # The other modes are not touched, and any other value switches nothing off.
  permissions '{"disableBypassPermissionsMode":"disable"}'
  tool Write '{"file_path":"new","content":"x"}' --permission-mode acceptEdits
  is "$(last)" 'allow mode acceptEdits'
  permissions '{"disableBypassPermissionsMode":"enable","defaultMode":"bypassPermissions"}'
  all_nine 'allow mode bypassPermissions'
  effects WENB
}

check_004_15_06() {
  mkdir .ona "$HOME/.ona"
  echo '{"permissions":{"allow":["Bash(printf project)"],"deny":["Bash(printf denied)"],"ask":["Bash(printf asked)"]}}' >.ona/settings.json
  echo '{"permissions":{"allow":["Bash(printf local)"]}}' >.ona/settings.local.json
  echo '{"permissions":{"allow":["Bash(printf user)"]}}' >"$HOME/.ona/settings.json"
  # import MANAGED_ONLY : the files again, with that switch in the managed one
  import() {
    echo "{\"permissions\":{\"allow\":[\"Bash(printf managed)\",\"Bash(printf denied)\",\"Bash(printf asked)\"],\"allowManagedPermissionRulesOnly\":$1}}" >"$ONA_MANAGED_SETTINGS"
    sql 'DELETE FROM settings_snapshot' 2>/dev/null || true
    code 0 ona settings import
  }
  import true
  runs 'allow rule Bash(printf managed)' 'printf managed'
  runs ask 'printf project'
  runs ask 'printf local'
  runs ask 'printf user'
  has "$(sql 'SELECT json FROM settings_snapshot')" '"allowManagedPermissionRulesOnly":true'
  # P-04: rules that only restrict stay.
  runs 'deny rule Bash(printf denied)' 'printf denied'
  runs ask 'printf asked'
  # Nor does a rule of the command line count.
  tool Bash '{"command":"printf flag"}' --allowedTools 'Bash(printf flag)'
  is "--allowedTools: $(last)" '--allowedTools: asked, allow eval_operator'
  # Nor one that a hook adds.
  answers_once "$(update addRules 'Bash(printf added)' allow)"
  settings "$(sql 'SELECT json FROM settings_snapshot' | jq -c --argjson h "$REQUEST" '. + {hooks:[$h]}')"
  session "$(shell true)" "$(shell 'printf added')"
  is "$rulings" 'asked, allow hook
ask'
  # Without the switch all count; in a folder's own file it has no effect.
  import false
  runs 'allow rule Bash(printf managed)' 'printf managed'
  runs 'allow rule Bash(printf project)' 'printf project'
  runs 'allow rule Bash(printf local)' 'printf local'
  runs 'allow rule Bash(printf user)' 'printf user'
  echo '{"permissions":{"allow":["Bash(printf project)"],"allowManagedPermissionRulesOnly":true}}' >.ona/settings.json
  import false
  has "$err" 'counts in managed settings only'
  runs 'allow rule Bash(printf user)' 'printf user'
}

check_004_15_07() {
  # The documented choice: ignored, and recorded.
  has "$(cat "$ONA_ROOT/docs/OPERATOR_RUNBOOK.md")" 'Unknown keys under `permissions` are ignored and recorded once as `settings_unknown_key`'
  permissions '{"deny":["Glob"],"allowAll":true,"Allow":["Bash"],"defaultmode":"bypassPermissions"}'
  all_nine ask ask ask ask ask 'deny rule Glob' ask ask ask
  effects ''
  is "$(sql "SELECT json_extract(detail,'\$.why') FROM events WHERE event_type='settings_unknown_key' ORDER BY id")" 'unknown key permissions.allowAll is ignored
unknown key permissions.Allow is ignored
unknown key permissions.defaultmode is ignored'
  # Once per row of settings, not once per call.
  session "${NINE[0]}"
  is "$(events_of settings_unknown_key)" 3
  # A guard that is not understood is not silently off (DEC-181).
  code 1 ona doctor --json
  has "$(jq -r '.problems[]' <<<"$out")" 'unknown key permissions.allowAll is ignored'
  permissions '{"deny":["Glob"]}'
  session "${NINE[0]}"
  is "$(events_of settings_unknown_key)" 3
}

check_004_15_08() {
  # Each of these is dropped with its reason from the list it stands in; the last rule of each list counts.
  local bad='["", "  ", "Bash(", "Bash)", "Bash()", "(x)", "bash", "Bsah(ls)", "Write(/src/**)", "NotebookEdit(a)", "Glob(src/*)", "TodoWrite(x)", "WebFetch(https://a.test/*)", "Read([z-a])", "mcp__"]'
  permissions "{\"deny\":$(jq -c '. + ["Bash(command:x)", "Glob"]' <<<"$bad"),\"ask\":$(jq -c '. + ["Grep"]' <<<"$bad"),\"allow\":$(jq -c '. + ["*", "mcp__*", "Bash(run_in_background:true)", "Grep", "Read"]' <<<"$bad")}"
  all_nine 'allow rule Read' ask ask ask ask 'deny rule Glob' ask ask ask
  effects ''
  is "$(sql "SELECT json_extract(detail,'\$.list'), count(*) FROM events WHERE event_type='permission_rule_dropped' GROUP BY 1")" 'allow|18
ask|15
deny|16'
  dropped deny '' 'it is empty'
  dropped ask '  ' 'it is empty'
  dropped deny 'Bash(' 'parentheses do not match'
  dropped allow 'Bash()' 'parentheses are empty'
  dropped allow 'Bsah(ls)' 'no tool is called Bsah'
  dropped deny 'Write(/src/**)' 'write Edit('
  dropped deny 'Glob(src/*)' 'write Read('
  dropped ask 'TodoWrite(x)' 'takes no specifier'
  dropped allow '*' 'pattern for tool names'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='permission_rule_dropped' AND coalesce(json_extract(detail,'\$.why'), '') = ''")" 0
  # Valid ones are not, in any script, with parentheses and colons inside.
  sql "DELETE FROM events"
  permissions '{"allow":["Bash(echo grüße → 世界)","Bash(echo \"(a)\")","Bash(npm run test:*)","Read(~/notes)","Read(//etc/hosts)","Edit(/src/**)","WebFetch(domain:*.example.com)","mcp__srv__get*","Skill(review *)","Task(Explore)","TodoWrite"],"deny":["*","mcp__*","Bash(run_in_background:true)","Agent(model:opus)"]}'
  runs 'deny rule *' 'echo grüße → 世界'
  is "$(events_of permission_rule_dropped)" 0
  permissions '{"allow":["Bash(echo grüße → 世界)"]}'
  runs 'allow rule Bash(echo grüße → 世界)' 'echo grüße → 世界'
  is "$(jq -r .content <<<"$out")" 'grüße → 世界'
  runs ask 'echo grusse'
}

# ---- reading without being asked (DEC-191) ---------------------------------------------

denied() { sql "SELECT count(*) FROM tool_permission_log WHERE decision='deny'"; }

check_DEC_191() {
  . "$here/model.sh"
  git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
  mkdir src ../beside
  echo secret >../beside/s.txt
  echo 'fn main() {}' >src/a.rs
  ln -s ../beside/s.txt leads-out
  local scripts=(
    'ls -la src' 'grep -rn main src | head -5' 'git status --short && git log --oneline -3' "sed -n '1,5p' src/a.rs" 'cd src && cat a.rs && cd ..'
    'cat leads-out' 'cat ../beside/s.txt' 'ls > out' 'git -c core.pager=./x log' 'find . -exec cat {} +' 'cat $(ls)' 'env ls' 'rg --pre ./x main'
    'sort -o out src/a.rs' 'ls && touch out'
  )
  model "$(printf '%s\n' "${scripts[@]}" | jq -Rcn '[inputs | {calls:[{name:"Bash",input:{command:.}}]}] + [{say:"done"}]')"
  anthropic
  says 0 -p look --max-turns 40
  # A covered call leaves no row there; the ten others do.
  is "$(denied)" 10
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND json_extract(payload_json,'\$.is_error') = 0")" 5
  no_file out
  # A repository that names a program is asked about, and the program did not run.
  git config core.fsmonitor "touch $WORLD/ran; false"
  model '[{"calls":[{"name":"Bash","input":{"command":"git status"}}]},{"say":"done"}]'
  anthropic
  says 0 -p look
  is "$(denied)" 11
  no_file "$WORLD/ran"
  # It is visible data: a row without it, and one of an operator, asks.
  has "$(sql "SELECT json_extract(json,'\$.permissions.allow') FROM settings_snapshot WHERE scope='effective'")" 'Bash(@read-only)'
  settings '{"permissions":{"allow":["Read"]}}'
  model '[{"calls":[{"name":"Bash","input":{"command":"ls"}}]},{"say":"done"}]'
  anthropic
  says 0 -p look
  is "$(denied)" 12
  # Planning closes the shell before any rule.
  rm -r "$(dirname "$AGENT_SDLC_DB")"
  model '[{"calls":[{"name":"EnterPlanMode","input":{}}]},{"calls":[{"name":"Bash","input":{"command":"ls"}}]},{"say":"done"}]'
  anthropic
  says 0 -p look
  is "$(denied)" 1
  # A misspelt set is a guard that is named.
  code 2 ona -p look --allowedTools 'Bash(@readonly)' </dev/null
  has "$err" '@readonly is not a set of commands; there is @read-only'
}

run_check "$@"
