#!/usr/bin/env bash
# Acceptance checks of turns: providers, credentials, and what a turn does with rows and
# hooks. The model is scripted (model.mjs); the requests it logs are what is judged.
# Run: providers.sh <ledger id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# untouched : nobody came near the model
untouched() { is "$(connections)" 0; }

declare -A PROVIDER=([anthropic]=claude_code_subscription [openai]=openai_compatible [lm_studio]=lm_studio_local)
declare -A FIRST=([anthropic]=claude_sonnet_4 [openai]=gpt_4o [lm_studio]=lm_studio_server_routed)
# choose PROVIDER MODEL [MORE_JSON] : the effective row, as an operator writes it
choose() {
  settings "$(jq -cn --arg p "$1" --arg m "$2" --argjson more "${3:-{\}}" '{model_config:{provider:$p,model_id:$m},permissions:{allow:["Bash","Read","Write","Edit","Glob","Grep","Agent"]}} + $more')"
}
# served NAME SCRIPT [MORE_JSON] : a model for that provider, its variables, the row
served() {
  model "$2"
  "$1"
  choose "${PROVIDER[$1]}" "${FIRST[$1]}" "${3:-{\}}"
}
# hooked ENTRY... : {"hooks":[...]} for choose and served
hooked() { printf '%s\n' "$@" | jq -cs '{hooks:.}'; }
quick() { jq -cn --arg e "$1" --arg m "$2" --arg c "$3" '{hook_event_name:$e,matcher:$m,command:$c,shell:"sh"}'; }
# fails CLASS PART [FLAG...] : a run ends with that StopFailure class, told with PART, and no request
fails() {
  local class=$1 part=$2
  shift 2
  says 1 -p hello --output-format json "$@"
  is "$(jq -r .error <<<"$out")" "$class"
  has "$out" "$part"
  is "$(sql "SELECT json_extract(detail,'\$.error') FROM events WHERE event_type='StopFailure' ORDER BY id DESC LIMIT 1")" "$class"
}
no_file() { [ ! -e "$1" ] || fail "there is a file $1: $(cat "$1")"; }
kinds() { sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries ${1:+WHERE session_id='$1'} ORDER BY sequence)"; }
failures() { sql "SELECT count(*) FROM events WHERE event_type='StopFailure'"; }

# whole_turn NAME : user, model, tool, model, with every row
whole_turn() {
  printf 'one\ntwo\n' >a.txt
  served "$1" '[{"say":"Let me look.","calls":[{"name":"Read","input":{"file_path":"a.txt"}}]},{"say":"Two lines."}]'
  says 0 -p 'how many lines?' --session-id "s-$1"
  is "$out" 'Two lines.'
  is "$(requests)" 2
  has "$(req 0 '.body.messages | tostring')" 'how many lines?'
  has "$(req 0 '.body.tools | tostring')" '"Read"'
  has "$(req 1 '.body.messages[-1] | tostring')" 'two'
  is "$(kinds "s-$1")" 'user,assistant,progress,tool_use,tool_result,file_history_snapshot,assistant,progress'
  has "$(sql "SELECT payload_json FROM transcript_entries WHERE session_id='s-$1' AND entry_type='tool_result'")" '"is_error":false'
  # What was stored is what the next run says again.
  says 0 -p 'and now?' -r "s-$1"
  is "$out" done
  has "$(req 2 '.body.messages | tostring')" 'Two lines.'
}
# wire NAME ID STRING : that id arrives at the model as that string, from the row and from --model
wire() {
  served "$1" '[]'
  choose "${PROVIDER[$1]}" "$2"
  says 0 -p hello
  is "$(req 0 .body.model)" "$3"
  settings '{}'
  says 0 -p hello --model "$2"
  is "$(req 1 .body.model)" "$3"
  is "$(sql "SELECT json_extract(json,'\$.model_config') IS NULL FROM settings_snapshot WHERE scope='effective'")" 1
  # Near misses are not ids.
  local wrong
  for wrong in "$3x" "${2^^}" " $2"; do
    choose "${PROVIDER[$1]}" "$wrong"
    says 2 -p hello
  done
  is "$(requests)" 2
}
# clean WORD... : in no line of the dump, in no page of the file
clean() {
  local word dump
  dump=$(sql .dump)
  for word; do
    lacks "$dump" "$word"
    if grep -aqF -e "$word" "$AGENT_SDLC_DB" "$AGENT_SDLC_DB"-wal 2>/dev/null; then fail "«$word» is in the file"; fi
  done
}

# ---- providers ---------------------------------------------------------------------

# The child has a session of its own and only its last words come back.
check_004_7_2_14() {
  served anthropic '[{"calls":[{"name":"Agent","input":{"description":"look","prompt":"Look around."}}]},{"say":"the report of the other"},{"say":"done"}]'
  says 0 -p go --session-id parent
  is "$(requests)" 3
  has "$(req 1 .body)" 'Look around.'
  lacks "$(req 1 '.body.messages')" '"go"'
  has "$(sql "SELECT payload_json FROM transcript_entries WHERE entry_type='tool_result' AND session_id='parent'")" 'the report of the other'
  is "$(sql "SELECT count(*) FROM state WHERE key LIKE 'session_parent:%' AND value='parent'")" 1
  is "$(sql 'SELECT count(DISTINCT session_id) FROM transcript_entries')" 2
}

check_004_0_04() {
  local name
  for name in anthropic openai lm_studio; do whole_turn $name; done
  is "$(sql 'SELECT count(DISTINCT session_id) FROM transcript_entries')" 3
}

check_004_2_10_01() {
  whole_turn anthropic
  is "$(req 0 '[.method,.path] | join(" ")')" 'POST /v1/messages'
  is "$(req 1 '.body.messages[-2].content[-1].type')" tool_use
  is "$(req 1 '.body.messages[-1].content[0].tool_use_id')" "$(req 1 '.body.messages[-2].content[-1].id')"
}

check_004_2_10_02() {
  whole_turn openai
  is "$(req 0 '[.method,.path] | join(" ")')" 'POST /v1/chat/completions'
  is "$(req 1 '.body.messages[-2].tool_calls[0].function.name')" Read
  is "$(req 1 '.body.messages[-1].tool_call_id')" "$(req 1 '.body.messages[-2].tool_calls[0].id')"
}

check_004_2_10_03() {
  whole_turn lm_studio
  is "$(req 0 '[.method,.path] | join(" ")')" 'POST /v1/chat/completions'
  is "$(req 0 .body.model)" canary/local-model
  is "$(req 1 '.body.messages[-1].role')" tool
}

check_004_2_10_04() {
  local id ids='claude_opus_4 claude_sonnet_4 claude_3_5_haiku gpt_4o gpt_4o_mini o3 o3_mini lm_studio_server_routed' number=0
  model "$(jq -cn '[range(8) | {calls:[{name:"Glob",input:{pattern:"*"}}]}, {say:"said \(.)"}]')"
  anthropic
  openai
  lm_studio
  settings '{}'
  for id in $ids; do
    says 0 -p hello --model "$id"
    is "$out" "said $number"
    number=$((number + 1))
  done
  is "$(requests)" 16
  is "$(jq -r .body.model "$LOG" | uniq | wc -l)" 8
  # A slip is refused before any network, with the id that was meant.
  says 2 -p hello --model gpt_4p
  has "$err" 'did you mean gpt_4o?'
  says 2 -p hello --model 'no such model'
  has "$err" "${ids// /, }"
  is "$(requests)" 16
}

# ---- newer models (DEC-190) ----------------------------------------------------------

overrides() { sql "SELECT group_concat(json_extract(detail,'\$.model_id') || ' ' || json_extract(detail,'\$.wire_model'), ', ') FROM (SELECT detail FROM events WHERE event_type='wire_model_override' ORDER BY id)"; }
# asked_as NAME WIRE : a run with that --model sends WIRE
asked_as() {
  says 0 -p hello --model "$1"
  is "$(tail -n 1 "$LOG" | jq -r .body.model)" "$2"
}

check_DEC_190_names() {
  model "$(jq -cn '[range(14) | {say:"ok"}]')"
  anthropic
  openai
  lm_studio
  settings '{}'
  asked_as opus claude-opus-4-20250514
  asked_as claude-next-1 claude-next-1
  asked_as gpt-9 gpt-9
  asked_as o9-mini o9-mini
  has "$(tail -n 1 "$LOG" | jq -c '.body | keys')" '"max_completion_tokens"'
  asked_as openai/meta/llama-9 meta/llama-9
  asked_as local/qwen9 qwen9
  is "$(tail -n 1 "$LOG" | jq -r .path)" /v1/chat/completions
  # A gateway of the operator knows its own names.
  asked_as glm-9 glm-9
  is "$(tail -n 1 "$LOG" | jq -r .path)" /v1/messages
  ANTHROPIC_DEFAULT_OPUS_MODEL=claude-opus-9 asked_as opus claude-opus-9
  # Each is one event of its session, and no name gets into the settings.
  is "$(overrides)" 'claude_sonnet_4 claude-next-1, gpt_4o gpt-9, gpt_4o o9-mini, gpt_4o meta/llama-9, lm_studio_server_routed qwen9, claude_sonnet_4 glm-9, claude_opus_4 claude-opus-9'
  is "$(sql "SELECT json_extract(json,'\$.model_config') IS NULL FROM settings_snapshot WHERE scope='effective'")" 1
  says 0 -p hello --model anthropic/glm-9 --output-format json
  is "$(jq -r '.modelUsage["glm-9"].canonicalModel' <<<"$out")" claude_sonnet_4
  # SessionStart hooks hear the name.
  hooks "$(hook SessionStart '' 'cat >started')"
  says 0 -p hello --model claude-next-1
  is "$(jq -r .model started)" claude-next-1
}

check_DEC_190_slips() {
  model '[]'
  anthropic
  openai
  settings '{}'
  local name
  for name in claude_sonet_4 Claude_Opus_4 gpt_4p lm_studio_server_ruted; do
    says 2 -p hello --model "$name"
    has "$err" "unknown model $name; did you mean"
    has "$err" "--model openai/$name"
  done
  # Without a gateway only known families are taken as they are.
  unset ANTHROPIC_BASE_URL
  says 2 -p hello --model glm-9
  has "$err" 'unknown model glm-9; the ids are claude_opus_4, '
  has "$err" '--model anthropic/glm-9'
  untouched
}

check_DEC_190_lasting() {
  model "$(jq -cn '[range(9) | {say:"ok"}]')"
  anthropic
  mkdir -p "$HOME/.ona" .ona
  echo '{"wireModels":{"claude_sonnet_4":"claude-of-settings"}}' >"$HOME/.ona/settings.json"
  asked_as claude_sonnet_4 claude-of-settings
  ONA_WIRE_MODEL_OVERRIDE=claude_sonnet_4=claude-of-process asked_as claude_sonnet_4 claude-of-process
  asked_as claude-typed claude-typed
  # A project chooses no model's name.
  echo '{}' >"$HOME/.ona/settings.json"
  echo '{"wireModels":{"claude_sonnet_4":"claude-of-project"}}' >.ona/settings.json
  asked_as claude_sonnet_4 claude-sonnet-4-20250514
  has "$err" wireModels
  rm .ona/settings.json
  echo '{"wireModels":{"claude_sonet_4":"x"}}' >"$HOME/.ona/settings.json"
  says 2 -p hello
  has "$err" 'claude_sonet_4 is not a model id; did you mean claude_sonnet_4?'
  # Variables count where the settings name no model, and are not written down.
  echo '{}' >"$HOME/.ona/settings.json"
  rm -r "$(dirname "$AGENT_SDLC_DB")"
  export ANTHROPIC_MODEL=claude-of-variable
  local run
  for run in 1 2; do
    says 0 -p hello
    is "$(tail -n 1 "$LOG" | jq -r .body.model)" claude-of-variable
  done
  settings '{"model_config":{"provider":"claude_code_subscription","model_id":"claude_opus_4"}}'
  says 0 -p hello
  is "$(tail -n 1 "$LOG" | jq -r .body.model)" claude-opus-4-20250514
  has "$err" 'ANTHROPIC_MODEL is not used'
}

check_DEC_190_info() {
  model "$(jq -cn '[range(4) | {say:"ok", usage:{input_tokens:1000,output_tokens:100}}]')"
  anthropic
  settings '{"modelInfo":{"glm-9":{"context":50000,"output":1234,"prices":{"input":1,"output":10}}}}'
  says 0 -p hello --model anthropic/glm-9 --output-format json
  lacks "$err" 'nothing is known'
  is "$(req 0 .body.max_tokens)" 1234
  is "$(jq -c '.modelUsage["glm-9"] | [.contextWindow, .maxOutputTokens]' <<<"$out")" '[50000,1234]'
  [ "$(jq '.total_cost_usd > 0' <<<"$out")" = true ] || fail "no cost: $out"
  # Nothing known: what is taken is said, and no price is made up.
  settings '{}'
  says 0 -p hello --model anthropic/glm-9 --output-format json
  has "$err" 'nothing is known of the model glm-9: taking a context of 128000 tokens and replies of 8192'
  is "$(jq .total_cost_usd <<<"$out")" null
  settings '{"modelInfo":{"glm-9":{"contxt":1}}}'
  says 2 -p hello
  has "$err" 'modelInfo.glm-9 has context, output and prices, but not "contxt"'
}

check_DEC_190_export() {
  export OPENAI_API_KEY=canary-openai-key-22
  says 1 -p hello
  has "$err" 'OPENAI_BASE_URL is not set; for OpenAI'"'"'s own endpoint: export OPENAI_BASE_URL=https://api.openai.com/v1'
  is "$(wc -l <<<"$err")" 1
  is "$(sql "SELECT count(*) FROM settings_snapshot WHERE json_extract(json,'\$.model_config') IS NOT NULL")" 0
}

check_DEC_190_pins() {
  # The first provider refuses: the choice is made anew when another one is there.
  model '[{"status":401}]'
  openai
  says 1 -p hello
  is "$(requests)" 1
  is "$(sql "SELECT json_extract(json,'\$.model_config') IS NULL FROM settings_snapshot WHERE scope='effective'")" 1
  unset OPENAI_API_KEY OPENAI_BASE_URL
  model '[{"say":"hi"},{"status":401}]'
  anthropic
  says 0 -p hello
  is "$(sql "SELECT json_extract(json,'\$.model_config.model_id') FROM settings_snapshot WHERE scope='effective'")" claude_sonnet_4
  # What a reply has confirmed stays.
  says 1 -p hello
  is "$(sql "SELECT json_extract(json,'\$.model_config.model_id') FROM settings_snapshot WHERE scope='effective'")" claude_sonnet_4
}

check_DEC_190_compact() {
  model '[{"say":"hi"},{"status":400,"message":"summaries are not for sale"}]'
  anthropic
  settings '{}'
  says 0 -p hello --session-id s
  says 1 -p /compact -r s
  has "$err" 'summaries are not for sale'
  # A summary that is made unasked does not take the new prompt with it.
  model '[{"say":"SUMMARY"},{"say":"sure"}]'
  anthropic
  settings '{"autoCompactWindow":4000}'
  local long
  long=$(printf 'word %.0s' {1..3000})
  says 0 -p "THE-NEW-PROMPT $long" -r s
  is "$(requests)" 2
  has "$(req 1 '.body.messages | tostring')" SUMMARY
  has "$(req 1 '.body.messages | tostring')" THE-NEW-PROMPT
}

check_004_2_01() {
  served openai '[{"calls":[{"name":"Bash","input":{"command":"echo hi"}}]},{"say":"It said hi."}]' \
    "$(hooked "$(quick PreToolUse Bash 'echo pre >>order')" "$(quick PostToolUse Bash 'echo post >>order')")"
  says 0 -p 'say hi' --session-id s
  is "$out" 'It said hi.'
  is "$(requests)" 2
  is "$(req 0 '.body.messages[-1].content')" 'say hi'
  is "$(req 1 '.body.messages[-1] | [.role, .content] | tojson')" '["tool","hi\n"]'
  is "$(cat order)" $'pre\npost'
  is "$(sql "SELECT group_concat(hook_event) FROM (SELECT hook_event FROM hook_invocations ORDER BY id)")" PreToolUse,PostToolUse
  is "$(kinds s)" 'user,assistant,progress,tool_use,tool_result,assistant,progress'
}

check_004_2_03() {
  served anthropic '[{"delay":300,"calls":[{"name":"Glob","input":{"pattern":"*"}},{"name":"Glob","input":{"pattern":"*.x"}}]},{"delay":300,"say":"one"},{"delay":1500,"say":"two"}]'
  says 0 -p go --session-id s
  is "$(requests)" 2
  # A second process is refused while the first one waits for the model.
  ona -p again -r s </dev/null >first 2>&1 &
  local first=$! tries=0
  until [ "$(requests)" = 3 ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail 'the first run made no request'
    sleep 0.05
  done
  says 1 -p 'at the same time' -r s
  has "$err" 'in use'
  wait $first
  is "$(cat first)" two
  is "$(requests)" 3
  is "$(jq -s 'map(.open) | max' "$LOG")" 0
}

check_004_2_1_01() {
  local name
  served openai '[]'
  anthropic
  lm_studio
  for name in OpenAI_Compatible OPENAI_COMPATIBLE openai ' openai_compatible' anthropic claude_code lm_studio ''; do
    choose "$name" gpt_4o
    says 2 -p hello
    has "$err" "${name:-provider}"
  done
  untouched
  for name in anthropic openai lm_studio; do
    choose "${PROVIDER[$name]}" "${FIRST[$name]}"
    says 0 -p hello
  done
  is "$(requests)" 3
}

check_004_2_1_02() {
  served anthropic '[]'
  says 0 -p hello
  is "$(req 0 '[.method,.path,.headers["anthropic-version"],.headers["x-api-key"]] | join(" ")')" 'POST /v1/messages 2023-06-01 canary-anthropic-key-1'
  is "$(req 0 '.headers["content-type"]')" application/json
  is "$(req 0 '.body | [.max_tokens, .stream, (.messages[0].role)] | join(" ")')" '8192 true user'
  is "$(req 0 '.body.tools | map(has("name") and has("input_schema")) | all and length > 5')" true
  # A slash at the end of the base changes nothing; a path before it stays.
  export ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT/proxy/
  says 0 -p hello
  is "$(req 1 .path)" /proxy/v1/messages
}

check_004_2_1_03() {
  served openai '[{"calls":[{"name":"Glob","input":{"pattern":"*"}}]}]'
  says 0 -p hello
  is "$(req 0 '[.method,.path,.headers.authorization] | join(" ")')" 'POST /v1/chat/completions Bearer canary-openai-key-22'
  is "$(req 0 '.body.tools | map(.type == "function" and (.function | has("name") and has("parameters"))) | all and length > 5')" true
  is "$(req 0 '.body | has("parallel_tool_calls")')" false
  is "$(req 1 '.body.messages[-1].role')" tool
  export OPENAI_BASE_URL=http://127.0.0.1:$PORT/some/base/
  says 0 -p hello
  is "$(req 2 .path)" /some/base/chat/completions
}

check_004_2_1_04() {
  served lm_studio '[{"calls":[{"name":"Glob","input":{"pattern":"*"}}]}]'
  unset LM_STUDIO_API_KEY
  says 0 -p hello
  is "$(req 0 '[.method,.path,.headers.authorization,.body.model] | join(" ")')" 'POST /v1/chat/completions Bearer lm-studio canary/local-model'
  is "$(requests)" 2
  # Its own name for the machine works as well.
  export LM_STUDIO_BASE_URL=http://localhost:$PORT/v1
  says 0 -p hello
  is "$(requests)" 3
}

check_004_2_2_01() {
  settings '{}'
  # A provider that no credential speaks for is not a choice: the next run chooses anew.
  says 1 -p hello
  has "$err" 'ona: no Anthropic credential: set ANTHROPIC_API_KEY, or log in: ona auth login; ona doctor names the other ways'
  is "$(sql "SELECT json_extract(json,'\$.model_config') FROM settings_snapshot")" ''
  code 0 ona doctor
  has "$out" 'Nothing is broken; a model can answer once what is marked ✗ is there.'
  served openai '[]'
  says 0 -p hello
  # The first turn wrote what it used (DEC-082): exactly two keys.
  is "$(sql "SELECT json_extract(json,'\$.model_config') FROM settings_snapshot WHERE scope='effective'")" '{"provider":"openai_compatible","model_id":"gpt_4o"}'
  choose lm_studio_local lm_studio_server_routed
  lm_studio
  says 0 -p hello
  is "$(req 1 .body.model)" canary/local-model
  is "$(sql "SELECT json_extract(json,'\$.model_config.provider','\$.model_config.model_id') FROM settings_snapshot")" '["lm_studio_local","lm_studio_server_routed"]'
}

check_004_2_2_02() {
  local key
  served openai '[]'
  mkdir -p "$HOME/.ona"
  for key in api_key token Authorization headers; do
    jq -n --arg k $key '{model_config:{provider:"openai_compatible",model_id:"gpt_4o",($k):"canary-in-settings"}}' >"$HOME/.ona/settings.json"
    says 2 -p hello
    has "$err" model_config
    lacks "$err$out" canary-in-settings
  done
  clean canary-in-settings
  untouched
}

check_004_2_2_03() {
  local more
  served openai '[]'
  for more in '{"temperature":1}' '{"base_url":"http://127.0.0.1"}' '{"Provider":"openai_compatible"}' '{"api_key":"x"}'; do
    settings "{\"model_config\":$(jq -c '{provider:"openai_compatible",model_id:"gpt_4o"} + .' <<<"$more")}"
    says 2 -p hello
    has "$err" "$(jq -r 'keys[0]' <<<"$more")"
  done
  settings '{"model_config":{"provider":"openai_compatible"}}'
  says 2 -p hello
  has "$err" model_id
  settings '{"model_config":"gpt_4o"}'
  says 2 -p hello
  untouched
  choose openai_compatible gpt_4o
  says 0 -p hello
  is "$(requests)" 1
}

check_004_2_2_04() { wire anthropic claude_opus_4 claude-opus-4-20250514; }
check_004_2_2_05() { wire anthropic claude_sonnet_4 claude-sonnet-4-20250514; }
check_004_2_2_06() { wire anthropic claude_3_5_haiku claude-3-5-haiku-20241022; }
check_004_2_2_07() { wire openai gpt_4o gpt-4o; }
check_004_2_2_08() { wire openai gpt_4o_mini gpt-4o-mini; }
check_004_2_2_09() {
  wire openai o3 o3
  is "$(req 0 '.body | has("max_completion_tokens") and (has("max_tokens") or has("temperature") | not)')" true
}
check_004_2_2_10() {
  wire openai o3_mini o3-mini
  is "$(req 0 '.body | has("max_completion_tokens") and (has("max_tokens") or has("temperature") | not)')" true
}

check_004_2_2_11() {
  wire lm_studio lm_studio_server_routed canary/local-model
  choose lm_studio_local lm_studio_server_routed "$(hooked "$(quick StopFailure '' 'cat >failure')")"
  local before
  before=$(connections)
  for LM_STUDIO_MODEL in '' unset; do
    [ "$LM_STUDIO_MODEL" != unset ] || unset LM_STUDIO_MODEL
    rm -f failure
    fails invalid_request LM_STUDIO_MODEL
    is "$(jq -r .error failure)" invalid_request
  done
  is "$(connections)" "$before"
}

check_004_2_2_12() {
  local name id
  served openai '[]'
  anthropic
  lm_studio
  while read -r name id; do
    choose "$name" "$id"
    says 2 -p hello
    has "$err" "$id"
  done <<'PAIRS'
openai_compatible claude_opus_4
openai_compatible claude_sonnet_4
openai_compatible lm_studio_server_routed
claude_code_subscription gpt_4o
claude_code_subscription o3
claude_code_subscription lm_studio_server_routed
lm_studio_local claude_3_5_haiku
lm_studio_local gpt_4o_mini
lm_studio_local o3_mini
openai_compatible gpt-4o
claude_code_subscription claude-opus-4-20250514
PAIRS
  untouched
}

check_004_2_3_01() {
  served anthropic '[]' "$(hooked "$(quick StopFailure authentication_failed 'cat >failure')")"
  unset ANTHROPIC_API_KEY
  fails authentication_failed ANTHROPIC_API_KEY
  is "$(jq -r .error failure)" authentication_failed
  export ANTHROPIC_API_KEY='' ANTHROPIC_AUTH_TOKEN=''
  fails authentication_failed ANTHROPIC_API_KEY
  is "$(failures)" 2
  untouched
  export ANTHROPIC_AUTH_TOKEN=canary-token-1
  says 0 -p hello
  unset ANTHROPIC_AUTH_TOKEN
  export ANTHROPIC_API_KEY=canary-key-1
  says 0 -p hello
  is "$(requests)" 2
}

check_004_2_3_02() {
  served anthropic '[]'
  local first=$LOG
  says 0 -p hello
  is "$(requests)" 1
  # Without it: a proxy that goes nowhere is asked for the official host.
  model '[]'
  export https_proxy=http://127.0.0.1:$PORT HTTPS_PROXY=http://127.0.0.1:$PORT ONA_MAX_RETRIES=0
  for ANTHROPIC_BASE_URL in '' unset; do
    [ "$ANTHROPIC_BASE_URL" != unset ] || unset ANTHROPIC_BASE_URL
    fails server_error ''
  done
  is "$(jq -r '[.method,.path] | join(" ")' "$LOG")" $'CONNECT api.anthropic.com:443\nCONNECT api.anthropic.com:443'
  lacks "$(cat "$LOG")" canary-anthropic-key-1
  is "$(wc -l <"$first")" 1
}

check_004_2_3_03() {
  served openai '[]'
  unset OPENAI_API_KEY
  fails authentication_failed OPENAI_API_KEY
  export OPENAI_API_KEY=''
  fails authentication_failed OPENAI_API_KEY
  is "$(failures)" 2
  untouched
}

check_004_2_3_04() {
  served openai '[]'
  unset OPENAI_BASE_URL
  fails invalid_request OPENAI_BASE_URL
  export OPENAI_BASE_URL=''
  fails invalid_request OPENAI_BASE_URL
  export OPENAI_BASE_URL=127.0.0.1
  fails invalid_request OPENAI_BASE_URL
  is "$(failures)" 3
  untouched
}

check_004_2_3_05() {
  if (exec 3<>/dev/tcp/127.0.0.1/1234) 2>/dev/null; then fail 'port 1234 is in use on this machine: the default cannot be checked'; fi
  model '[]' 1234
  is "$PORT" 1234
  export LM_STUDIO_MODEL=m
  choose lm_studio_local lm_studio_server_routed
  says 0 -p hello
  export LM_STUDIO_BASE_URL=''
  says 0 -p hello
  is "$(req 0 .path)" /v1/chat/completions
  is "$(req 1 .path)" /v1/chat/completions
  has "$(req 0 .headers.host)" 127.0.0.1:1234
  # Set, it decides.
  model '[]'
  export LM_STUDIO_BASE_URL=http://127.0.0.1:$PORT/v1
  says 0 -p hello
  is "$(requests)" 1
}

check_004_2_3_06() {
  served lm_studio '[]'
  unset LM_STUDIO_API_KEY
  says 0 -p hello
  export LM_STUDIO_API_KEY=''
  says 0 -p hello
  export LM_STUDIO_API_KEY=canary-local-key
  says 0 -p hello
  is "$(jq -r .headers.authorization "$LOG")" $'Bearer lm-studio\nBearer lm-studio\nBearer canary-local-key'
}

check_004_2_3_07() {
  served lm_studio '[]'
  unset LM_STUDIO_MODEL
  local code=0
  out=$(ona -p hello </dev/null 2>&1) || code=$?
  [ "$code" != 0 ] || fail 'it ran'
  has "$out" LM_STUDIO_MODEL
  untouched
  export LM_STUDIO_MODEL=m
  says 0 -p hello
  is "$(req 0 .body.model)" m
}

check_004_2_4_01() {
  served openai '[]'
  says 0 -p hello
  local before first=$LOG
  before=$(sql 'SELECT json FROM settings_snapshot')
  model '[]'
  export OPENAI_BASE_URL=http://127.0.0.1:$PORT/v1 OPENAI_API_KEY=another-key-333
  says 0 -p hello
  is "$(req 0 .headers.authorization)" 'Bearer another-key-333'
  is "$(requests)" 1
  is "$(wc -l <"$first")" 1
  is "$(sql 'SELECT json FROM settings_snapshot')" "$before"
  lacks "$(sql 'SELECT json FROM settings_snapshot')" "$PORT"
}

check_004_2_4_02() {
  served openai '[]'
  says 0 -p hello --session-id s
  sql "UPDATE settings_snapshot SET json = json_set(json, '\$.model_config.model_id', 'o3_mini') WHERE scope='effective'"
  says 0 -p hello -r s
  sql "UPDATE settings_snapshot SET json = json_set(json, '\$.model_config', json('{\"provider\":\"claude_code_subscription\",\"model_id\":\"claude_opus_4\"}')) WHERE scope='effective'"
  anthropic
  says 0 -p hello -r s
  is "$(jq -r '[.path, .body.model] | join(" ")' "$LOG")" $'/v1/chat/completions gpt-4o\n/v1/chat/completions o3-mini\n/v1/messages claude-opus-4-20250514'
}

check_004_2_4_03() {
  local name variable
  model '[]'
  anthropic
  openai
  lm_studio
  while read -r name variable class; do
    choose "${PROVIDER[$name]}" "${FIRST[$name]}" "$(hooked "$(quick StopFailure "^$class\$" 'cat >failure')" "$(quick Stop '' 'echo >>stopped')")"
    local kept=${!variable}
    unset "$variable"
    rm -f failure
    fails "$class" "$variable"
    is "$(jq -r '[.hook_event_name,.error] | join(" ")' failure)" "StopFailure $class"
    has "$(jq -r .error_details failure)" "$variable"
    has "$(sql "SELECT detail FROM events WHERE event_type='StopFailure' ORDER BY id DESC LIMIT 1")" "$variable"
    export "$variable=$kept"
  done <<'CASES'
anthropic ANTHROPIC_API_KEY authentication_failed
openai OPENAI_API_KEY authentication_failed
openai OPENAI_BASE_URL invalid_request
lm_studio LM_STUDIO_MODEL invalid_request
CASES
  no_file stopped
  is "$(failures)" 4
  untouched
}

check_004_2_5_01() {
  local row
  served openai '[]'
  while read -r row; do
    settings "$row"
    says 2 -p hello
  done <<'ROWS'
{"model_config":{"provider":"other","model_id":"gpt_4o"}}
{"model_config":{"provider":"openai_compatible","model_id":"gpt_5"}}
{"model_config":{"provider":"openai_compatible","model_id":"claude_opus_4"}}
{"model_config":{"provider":"openai_compatible","model_id":"gpt_4o","x":1}}
{"model_config":{"provider":7,"model_id":"gpt_4o"}}
{"model_config":[]}
ROWS
  choose openai_compatible gpt_4o
  unset OPENAI_API_KEY
  fails authentication_failed OPENAI_API_KEY
  openai
  export ONA_WIRE_MODEL_OVERRIDE=unknown=x
  says 2 -p hello
  unset ONA_WIRE_MODEL_OVERRIDE
  untouched
  says 0 -p hello
  is "$(requests)" 1
}

check_004_2_5_04() {
  local name
  for name in anthropic openai lm_studio; do
    served $name '[{"say":"Grüße. ","calls":[{"name":"Glob","input":{"pattern":"*.none"}}]},{"say":"streamed ✓"},{"plain":true,"say":"Grüße. ","calls":[{"name":"Glob","input":{"pattern":"*.none"}}]},{"plain":true,"say":"plain ✓"}]'
    says 0 -p hello --session-id "stream-$name"
    is "$out" 'streamed ✓'
    says 0 -p hello --session-id "plain-$name"
    is "$out" 'plain ✓'
    is "$(jq -r .body.stream "$LOG" | sort -u)" true
    is "$(requests)" 4
    # Both leave the same rows.
    is "$(kinds "plain-$name")" "$(kinds "stream-$name")"
    is "$(sql "SELECT json_extract(payload_json,'\$.content[0].text') FROM transcript_entries WHERE entry_type='assistant' AND session_id='plain-$name' ORDER BY sequence LIMIT 1")" 'Grüße. '
  done
}

two_calls='[{"say":"Two things.","calls":[{"name":"Bash","input":{"command":"echo 1 >>log","description":"ü \"q\""},"id":"call_b"},{"name":"Bash","input":{"command":"echo 2 >>log"},"id":"call_a"}]},{"say":"end"}]'

check_004_2_5_05() {
  local name
  for name in anthropic openai; do
    rm -f log
    served $name "$two_calls"
    says 0 -p go --session-id "s-$name"
    is "$(sql "SELECT json_extract(payload_json,'\$.content[0].text','\$.content[1].name','\$.content[1].input','\$.content[2].input.command') FROM transcript_entries WHERE session_id='s-$name' AND entry_type='assistant' ORDER BY sequence LIMIT 1")" \
      '["Two things.","Bash",{"command":"echo 1 >>log","description":"ü \"q\""},"echo 2 >>log"]'
    is "$(sql "SELECT group_concat(tool_use_id) FROM (SELECT tool_use_id FROM transcript_entries WHERE session_id='s-$name' AND entry_type='tool_use' ORDER BY sequence)")" call_b,call_a
    is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id='s-$name' AND entry_type='tool_result'")" 2
    is "$(cat log)" $'1\n2'
  done
}

check_004_2_5_07() {
  served openai '[{"calls":[{"name":"Bash","input":{"command":"echo run1 >>log"},"id":"one"},{"name":"Bash","input":{"command":"echo run2 >>log; false"},"id":"two"}]},{"say":"end"}]' \
    "$(hooked "$(quick PreToolUse Bash 'echo pre >>log')" "$(quick PermissionRequest Bash 'echo ask >>log; echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\"}}}"')" \
      "$(quick PostToolUse Bash 'echo post >>log')" "$(quick PostToolUseFailure Bash 'echo failed >>log')" | jq -c '. + {permissions:{}}')"
  says 0 -p go
  is "$(paste -sd' ' log)" 'pre ask run1 post pre ask run2 failed'
  is "$(sql 'SELECT tool_use_id || decision FROM tool_permission_log ORDER BY id' | paste -sd' ')" 'oneallow twoallow'
  is "$(sql "SELECT tool_use_id || ':' || hook_event FROM hook_invocations ORDER BY id" | paste -sd' ')" \
    'one:PreToolUse one:PermissionRequest one:PostToolUse two:PreToolUse two:PermissionRequest two:PostToolUseFailure'
  is "$(sql "SELECT tool_use_id FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence" | paste -sd' ')" 'one two'
}

check_004_2_5_08() {
  served anthropic '[{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"say":"end"},{"say":"never"}]'
  says 0 -p go --output-format json
  is "$(requests)" 2
  is "$(jq -r '[.result,.num_turns,.is_error] | join(" ")' <<<"$out")" 'end 2 false'
  # Without a call one request is all; with calls it goes on as long as there are some.
  says 0 -p go
  is "$(requests)" 3
  model '[{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"calls":[{"name":"Nothing","input":{}}]},{"say":"end"}]'
  anthropic
  says 0 -p go
  is "$out" end
  is "$(requests)" 4
  model '[{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"calls":[{"name":"Glob","input":{"pattern":"*"}}]}]'
  anthropic
  says 1 -p go --max-turns 2 --output-format json
  is "$(jq -r '[.subtype,.num_turns] | join(" ")' <<<"$out")" 'error_max_turns 2'
  is "$(requests)" 2
}

check_004_2_5_10() {
  served openai '[{"delay":200,"calls":[{"name":"Read","input":{"file_path":"a"}},{"name":"Read","input":{"file_path":"b"}},{"name":"Glob","input":{"pattern":"*"}}]},{"delay":200,"say":"end"}]' \
    "$(hooked "$(quick PreToolUse '' 'mkdir busy || echo >>overlap; sleep 0.2; rmdir busy; echo >>ran')")"
  says 0 -p go
  is "$(wc -l <ran)" 3
  no_file overlap
  is "$(requests)" 2
  is "$(jq -s 'map(.open) | max' "$LOG")" 0
}

check_004_5_1_06() {
  export ONA_MAX_RETRIES=1
  served anthropic '[{"status":429,"headers":{"retry-after":"0"}},{"status":429,"headers":{"retry-after":"0"}},{"say":"back"}]' \
    "$(hooked "$(quick StopFailure '^rate_limit$' 'cat >hit')" "$(quick StopFailure '^server_error$' 'cat >miss')")"
  fails rate_limit 429 --session-id s
  is "$(jq -r .error hit)" rate_limit
  no_file miss
  is "$(requests)" 2
  says 0 -p again -r s
  is "$out" back
}

check_004_11_10() {
  local item class name
  export ONA_MAX_RETRIES=0 ONA_READ_TIMEOUT_MS=500
  for name in anthropic openai; do
    while read -r class item; do
      rm -f failure
      served $name "[$item,{\"say\":\"back\"}]" "$(hooked "$(quick StopFailure '' 'cat >failure')" "$(quick Stop '' 'echo >>stopped')")"
      says 1 -p hello --output-format json --session-id "$name-$class-$RANDOM"
      is "$(jq -r '[.is_error,.error] | join(" ")' <<<"$out")" "true $class"
      is "$(jq -r '[.hook_event_name,.error] | join(" ")' failure)" "StopFailure $class"
      is "$(sql "SELECT json_extract(detail,'\$.error') FROM events WHERE event_type='StopFailure' ORDER BY id DESC LIMIT 1")" "$class"
      no_file stopped
      # The session goes on.
      says 0 -p again -r "$(jq -r .session_id <<<"$out")"
      is "$out" back
      rm stopped
    done <<'CASES'
authentication_failed {"status":401}
authentication_failed {"status":403}
billing_error {"status":402}
billing_error {"status":400,"message":"Your credit balance is too low to access the API."}
rate_limit {"status":429}
invalid_request {"status":400}
invalid_request {"status":404}
invalid_request {"status":413}
invalid_request {"status":422}
server_error {"status":500}
server_error {"status":529}
server_error {"reset":true}
server_error {"hang":true}
max_output_tokens {"say":"cut off","stop":"length"}
CASES
  done
}

# took SECONDS FROM : fails if that was more than so many seconds ago
took() { [ $(($(date +%s) - $2)) -le "$1" ] || fail "it took $(($(date +%s) - $2)) seconds, more than $1"; }

# Both limits of the settings end a reply on both wires, retries included.
check_reply_limits() {
  local name begin
  for name in anthropic openai; do
    # Three events, then nothing.
    served $name '[{"say":"one two three four","stalls":3}]' '{"modelTimeouts":{"idleSeconds":0.5}}'
    begin=$(date +%s)
    ONA_MAX_RETRIES=0 says 1 -p hello --output-format json
    took 5 "$begin"
    is "$(jq -r .error <<<"$out")" server_error
    has "$out" 'sent nothing for too long (setting modelTimeouts.idleSeconds)'
    # A piece every 300 ms is never idle.
    served $name "[{\"say\":\"$(printf 'word %.0s' {1..100})\",\"every\":300}]" '{"modelTimeouts":{"idleSeconds":2,"totalSeconds":1.5}}'
    begin=$(date +%s)
    says 1 -p hello
    took 6 "$begin"
    has "$err" 'within 1.5 seconds, retries included (setting modelTimeouts.totalSeconds)'
    is "$(requests)" 1
    # What would be tried five times for 1 second each ends after 2.
    served $name '[{"hang":true},{"hang":true},{"hang":true},{"hang":true},{"hang":true}]' '{"modelTimeouts":{"idleSeconds":1,"totalSeconds":2.2}}'
    begin=$(date +%s)
    says 1 -p hello
    took 6 "$begin"
    # A wait that would pass the limit is not begun.
    served $name '[{"status":529,"headers":{"retry-after":"30"}}]' '{"modelTimeouts":{"totalSeconds":3}}'
    begin=$(date +%s)
    says 1 -p hello
    took 3 "$begin"
    has "$err" 'HTTP 529'
  done
  choose openai_compatible gpt_4o '{"modelTimeouts":{"idle":5}}'
  says 2 -p hello
  has "$err" 'modelTimeouts has idleSeconds and totalSeconds, but not "idle"'
}

# Half of a surrogate pair is one replacement character, alone and where a pair is split.
check_half_surrogates() {
  local name
  for name in anthropic openai; do
    served $name '[{"say":["alone \ud83d,"," split \ud83d","\ude00 pair \ud83d\ude00"],"calls":[{"name":"Glob","input":{"pattern":"\ud83d*"}}]},{"plain":true,"say":"plain \ude00"}]'
    says 0 -p hello --session-id "s-$name"
    is "$out" 'plain �'
    is "$(sql "SELECT json_extract(payload_json,'\$.content[0].text') FROM transcript_entries WHERE session_id='s-$name' AND entry_type='assistant' LIMIT 1")" 'alone �, split �� pair 😀'
    is "$(sql "SELECT json_extract(payload_json,'\$.input.pattern') FROM transcript_entries WHERE session_id='s-$name' AND entry_type='tool_use'")" '�*'
    has "$(req 1 '.body.messages | tostring')" 'split �� pair'
  done
}

# A reply that a model did not end as an answer is said, shown, recorded and no success.
check_other_ends() {
  local name stop class words
  while read -r name stop class words; do
    served "$name" "[{\"say\":\"so far\",\"stop\":\"$stop\"},{\"say\":\"so far\",\"stop\":\"$stop\"},{\"say\":\"back\"}]" "$(hooked "$(quick StopFailure '' 'cat >failure')" "$(quick Stop '' 'echo >>stopped')")"
    says 1 -p hello
    is "$out" 'so far'
    has "$err" "$words"
    is "$(jq -r .error failure)" "$class"
    no_file stopped
    says 1 -p hello --output-format json --session-id "$name-$stop"
    is "$(jq -r '[.is_error,.error] | join(" ")' <<<"$out")" "true $class"
    has "$(jq -r .result <<<"$out")" 'so far'
    has "$(jq -r .result <<<"$out")" "$words"
    is "$(kinds "$name-$stop")" user,assistant,progress,system
    is "$(sql "SELECT json_extract(payload_json,'\$.subtype') FROM transcript_entries WHERE session_id='$name-$stop' AND entry_type='system'")" partial_reply
    says 0 -p again -r "$name-$stop"
    is "$out" back
    rm -f stopped
  done <<'CASES'
anthropic refusal invalid_request stop reason refusal
anthropic pause_turn unknown stop reason pause_turn
anthropic model_context_window_exceeded max_output_tokens the context window is full
anthropic brand_new unknown not known (stop reason brand_new)
anthropic length max_output_tokens the output limit
openai content_filter invalid_request stop reason content_filter
openai brand_new unknown not known (stop reason brand_new)
openai length max_output_tokens the output limit
CASES
  # Calls of a refused reply do not run; those of one that ended oddly do.
  served anthropic '[{"calls":[{"name":"Bash","input":{"command":"touch refused"}}],"stop":"refusal"},{"say":"back"}]'
  says 1 -p hello --session-id r
  no_file refused
  is "$(kinds r)" user,assistant,progress,tool_use,system,tool_result
  says 0 -p again -r r
  served anthropic '[{"calls":[{"name":"Bash","input":{"command":"touch odd"}}],"stop":"brand_new"},{"say":"back"}]'
  says 0 -p hello --session-id o
  [ -e odd ] || fail 'the call did not run'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id='o' AND payload_json LIKE '%brand_new%'")" 1
}

# What had arrived when SIGINT came is a row that is marked, shown and sent again.
check_partial_reply() {
  local name stalls id got
  # Job control gives the program its own handling of the signal.
  set -m
  while read -r name stalls; do
    served "$name" "[{\"say\":[\"The first half, \",\"and then nothing.\"],\"stalls\":$stalls},{\"say\":\"back\"}]"
    ona -p hello --output-format stream-json --include-partial-messages --session-id "s-$name" >"stream-$name" 2>"$WORLD/stderr" </dev/null &
    id=$!
    until grep -q 'The first half' "stream-$name"; do sleep 0.05; done
    kill -INT "$id"
    got=0
    wait "$id" || got=$?
    is "$got" 130
    is "$(jq -r 'select(.type == "result") | [.is_error,.terminal_reason] | join(" ")' "stream-$name")" 'true aborted_streaming'
    has "$(jq -r 'select(.type == "assistant") | .message.content[0].text' "stream-$name")" 'The first half'
    is "$(kinds "s-$name")" user,assistant,progress,system
    has "$(sql "SELECT payload_json FROM transcript_entries WHERE session_id='s-$name' AND entry_type='assistant'")" 'The first half'
    has "$(sql "SELECT payload_json FROM transcript_entries WHERE session_id='s-$name' AND entry_type='system'")" '"subtype":"partial_reply"'
    code 0 ona sessions show "s-$name"
    has "$out" 'The first half'
    has "$out" 'partial_reply: interrupted'
    says 0 -p 'go on' -r "s-$name"
    is "$out" back
    is "$(req 1 '[.body.messages[-3:][].role] | join(",")')" user,assistant,user
    has "$(req 1 '.body.messages[-2] | tostring')" 'The first half'
  done <<'CASES'
anthropic 4
openai 3
CASES
}

# ---- credentials -------------------------------------------------------------------

# signed N : the two credential headers of the n-th request
signed() { req "$1" '[.headers["x-api-key"] // "-", .headers.authorization // "-"] | join(" ")'; }
# helper TEXT : a program that notes that it ran and prints the text
helper() {
  printf '#!/bin/sh\necho ran >>%s/helper-ran\necho "%s"\n' "$WORLD" "$1" >"$WORLD/bin/helper"
  chmod +x "$WORLD/bin/helper"
}
ran() { if [ -e "$WORLD/helper-ran" ]; then wc -l <"$WORLD/helper-ran"; else echo 0; fi; }

check_004_2_7_1_01() {
  served anthropic '[]'
  says 0 -p hello
  is "$(signed 0)" 'canary-anthropic-key-1 -'
  # A bearer source comes first.
  export ANTHROPIC_AUTH_TOKEN=canary-bearer-token
  says 0 -p hello
  is "$(signed 1)" '- Bearer canary-bearer-token'
}

check_004_2_7_1_02() {
  served anthropic '[]'
  unset ANTHROPIC_API_KEY
  export ANTHROPIC_AUTH_TOKEN=canary-bearer-token
  says 0 -p hello
  is "$(signed 0)" '- Bearer canary-bearer-token'
  clean canary-bearer-token
}

check_004_2_7_1_09() {
  helper canary-of-the-helper
  served anthropic '[{"calls":[{"name":"Glob","input":{"pattern":"*"}}]},{"say":"end"}]' '{"apiKeyHelper":"helper"}'
  unset ANTHROPIC_API_KEY
  tool Glob '{"pattern":"*"}'
  fire Notification '{"message":"m","notification_type":"idle_prompt"}'
  code 0 ona settings show
  ona doctor >/dev/null 2>&1 || true
  code 0 ona sessions list
  # A prompt that a hook blocks calls no model.
  choose claude_code_subscription claude_sonnet_4 "$(hooked "$(quick UserPromptSubmit '' 'exit 2')" | jq -c '. + {apiKeyHelper:"helper"}')"
  says 1 -p hello
  is "$(ran)" 0
  choose claude_code_subscription claude_sonnet_4 '{"apiKeyHelper":"helper"}'
  says 0 -p hello
  # doctor looks whether the endpoint answers, without a credential.
  is "$(signed 0)" '- -'
  is "$(signed 1)" 'canary-of-the-helper Bearer canary-of-the-helper'
  is "$(signed 2)" "$(signed 1)"
  # Asked once for both calls.
  is "$(ran)" 1
  # Another provider needs none.
  openai
  choose openai_compatible gpt_4o '{"apiKeyHelper":"helper"}'
  says 0 -p hello
  is "$(ran)" 1
}

check_004_2_7_1_10() {
  helper canary-of-the-helper
  served anthropic '[{"calls":[{"name":"Bash","input":{"command":"helper; helper >&2"}}]},{"say":"It says canary-of-the-helper."}]' \
    "$(hooked "$(quick PostToolUse '' 'cat >>stdin; helper')" | jq -c '. + {apiKeyHelper:"helper"}')"
  unset ANTHROPIC_API_KEY
  says 0 -p 'run it' --verbose
  is "$(signed 0)" 'canary-of-the-helper Bearer canary-of-the-helper'
  clean canary-of-the-helper
  has "$(sql .dump)" REDACTED
  lacks "$(cat stdin)" canary-of-the-helper
  lacks "$err" canary-of-the-helper
}

check_004_2_7_1_11() {
  local command
  served anthropic '[]' "$(hooked "$(quick StopFailure '' 'cat >failure')")"
  unset ANTHROPIC_API_KEY
  for command in 'echo canary-not-a-key; exit 1' 'true' 'echo two words' 'no-such-program' 'kill -9 $$'; do
    rm -f failure
    sql "UPDATE settings_snapshot SET json = json_set(json, '\$.apiKeyHelper', '$command') WHERE scope='effective'"
    fails authentication_failed apiKeyHelper
    is "$(jq -r .error failure)" authentication_failed
  done
  untouched
  lacks "$(sql 'SELECT detail FROM events')" canary-not-a-key
}

# A folder's own files never name the helper: not before it is trusted, not after (confine.rs, A-5).
check_004_2_7_1_12() {
  local file flag
  helper canary-of-the-helper
  model '[]'
  export ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT
  for file in .ona/settings.json .ona/settings.local.json .claude/settings.json .claude/settings.local.json; do
    mkdir -p .ona .claude
    echo '{"apiKeyHelper":"helper"}' >$file
    fails authentication_failed ANTHROPIC_API_KEY --no-trust
    ONA_TRUST=never fails authentication_failed ANTHROPIC_API_KEY
    fails authentication_failed ANTHROPIC_API_KEY
    rm -r .ona .claude
  done
  is "$(ran)" 0
  untouched
  # The operator's own file does.
  mkdir "$HOME/.ona"
  echo '{"apiKeyHelper":"helper"}' >"$HOME/.ona/settings.json"
  says 0 -p hello --settings "$HOME/.ona/settings.json"
  is "$(ran)" 1
}

check_004_2_7_1_13() {
  helper canary-of-the-helper
  served anthropic '[]'
  unset ANTHROPIC_API_KEY
  export ANTHROPIC_AUTH_TOKEN=canary-bearer-token CLAUDE_CODE_OAUTH_TOKEN=canary-oauth-token
  mkdir "$HOME/.ona"
  echo '{"apiKeyHelper":"helper"}' >"$HOME/.ona/settings.json"
  fails authentication_failed ANTHROPIC_API_KEY --bare
  untouched
  is "$(ran)" 0
  echo '{"apiKeyHelper":"helper"}' >"$WORLD/designated.json"
  says 0 -p hello --bare --settings "$WORLD/designated.json"
  is "$(signed 0)" 'canary-of-the-helper Bearer canary-of-the-helper'
  export ANTHROPIC_API_KEY=canary-anthropic-key-1
  says 0 -p hello --bare --settings "$WORLD/designated.json"
  is "$(signed 1)" 'canary-anthropic-key-1 -'
  is "$(ran)" 1
  says 0 -p hello
  is "$(signed 2)" '- Bearer canary-bearer-token'
}

check_004_2_7_2_01() {
  served openai '[]'
  says 0 -p hello
  is "$(req 0 '[.path,.headers.authorization] | join(" ")')" '/v1/chat/completions Bearer canary-openai-key-22'
  # A launcher's injection is as good as the shell's; without it there is nothing.
  unset OPENAI_API_KEY OPENAI_BASE_URL
  code 0 env OPENAI_API_KEY=canary-injected-key OPENAI_BASE_URL="http://127.0.0.1:$PORT/other" ona -p hello </dev/null
  is "$(req 1 '[.path,.headers.authorization] | join(" ")')" '/other/chat/completions Bearer canary-injected-key'
  says 1 -p hello
  is "$(requests)" 2
  clean canary-openai-key-22 canary-injected-key
}

check_004_2_7_2_02() {
  served openai '[{"calls":[{"name":"Bash","input":{"command":"env; echo $OPENAI_API_KEY | base64"}}]},{"say":"The key is canary-openai-key-22."}]' "$(hooked "$(quick PreToolUse '' 'env')" "$(quick Stop '' 'env >&2')")"
  says 0 -p 'my key is canary-openai-key-22' --verbose
  is "$(requests)" 2
  clean canary-openai-key-22 "$(printf %s canary-openai-key-22 | base64)"
  lacks "$(sql 'SELECT json FROM settings_snapshot')" "$PORT"
}

check_004_2_7_3_01() {
  served lm_studio '[]'
  export LM_STUDIO_API_KEY=canary-local-key
  says 0 -p hello
  local first=$LOG
  is "$(req 0 '[.path,.headers.authorization,.body.model] | join(" ")')" '/v1/chat/completions Bearer canary-local-key canary/local-model'
  model '[]'
  export LM_STUDIO_BASE_URL=http://127.0.0.1:$PORT/v2 LM_STUDIO_API_KEY=canary-other-key LM_STUDIO_MODEL=other
  says 0 -p hello
  is "$(req 0 '[.path,.headers.authorization,.body.model] | join(" ")')" '/v2/chat/completions Bearer canary-other-key other'
  is "$(wc -l <"$first")" 1
  clean canary-local-key canary-other-key
  is "$(sql "SELECT json_extract(json,'\$.model_config') FROM settings_snapshot")" '{"provider":"lm_studio_local","model_id":"lm_studio_server_routed"}'
}

check_004_2_7_4_01() {
  helper canary-of-the-helper
  served anthropic '[]'
  unset ANTHROPIC_API_KEY
  declare -A expect=([token]='- Bearer canary-bearer-token' [key]='canary-anthropic-key-1 -' [helper]='canary-of-the-helper Bearer canary-of-the-helper' [oauth]='- Bearer canary-oauth-token' [handed]='- Bearer canary-handed-token')
  local order=(token key helper oauth handed) first second number=0
  give() {
    case $1 in
      token) export ANTHROPIC_AUTH_TOKEN=canary-bearer-token ;;
      key) export ANTHROPIC_API_KEY=canary-anthropic-key-1 ;;
      helper) choose claude_code_subscription claude_sonnet_4 '{"apiKeyHelper":"helper"}' ;;
      oauth) export CLAUDE_CODE_OAUTH_TOKEN=canary-oauth-token ;;
      handed) export CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR=7 ;;
    esac
  }
  for first in 0 1 2 3 4; do
    for ((second = first; second < 5; second++)); do
      unset ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR
      choose claude_code_subscription claude_sonnet_4
      give "${order[second]}"
      give "${order[first]}"
      says 0 -p hello 7< <(echo canary-handed-token)
      is "$(signed $number)" "${expect[${order[first]}]}"
      number=$((number + 1))
    done
  done
  is "$(requests)" 15
  clean canary-bearer-token canary-anthropic-key-1 canary-of-the-helper canary-oauth-token canary-handed-token
}

check_004_2_7_4_02() {
  served anthropic '[{"calls":[{"name":"Glob","input":{"pattern":"*"}}]}]' "$(hooked "$(quick PreToolUse '' 'cat >stdin')")"
  export ANTHROPIC_AUTH_TOKEN=canary-bearer-token
  says 0 -p hello --verbose
  is "$(signed 1)" '- Bearer canary-bearer-token'
  [ -e stdin ] || fail 'the hook did not run'
  is "$(grep -rlaF -e canary-bearer-token -e canary-anthropic-key-1 "$WORLD" | grep -v "^$LOG\$" || true)" ''
}

check_004_2_7_4_03() {
  local variable
  for variable in ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN; do
    served anthropic '[{"calls":[{"name":"Bash","input":{"command":"env"}}]},{"say":"canary-the-winner"}]'
    unset ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN
    export "$variable=canary-the-winner"
    says 0 -p 'it is canary-the-winner' --session-id "$variable"
    has "$(signed 0)" canary-the-winner
    lacks "$(req 1 .raw)" canary-the-winner
    clean canary-the-winner
    has "$(sql "SELECT group_concat(payload_json) FROM transcript_entries WHERE session_id='$variable'")" "REDACTED:$variable"
  done
}

check_004_2_8_01() {
  helper canary-of-the-helper
  export OPENAI_API_KEY=canary-openai-key-22 LM_STUDIO_API_KEY=canary-local-key CLAUDE_CODE_OAUTH_TOKEN=canary-oauth-token ANTHROPIC_AUTH_TOKEN=canary-bearer-token
  mkdir "$HOME/.ona"
  echo '{"env":{"SOME_API_TOKEN":"canary-in-settings"},"mcpServers":{"x":{"command":"true","headers":{"Authorization":"Bearer canary-of-mcp"}}}}' >"$HOME/.ona/settings.json"
  served anthropic '[{"say":"canary-openai-key-22","calls":[{"name":"Bash","input":{"command":"env; env >&2; echo Authorization: Bearer canary-in-a-header; false"}},{"name":"Write","input":{"file_path":"k","content":"canary-bearer-token"}},{"name":"canary-oauth-token","input":{"x":"canary-local-key"}}]},{"status":400,"message":"bad key canary-bearer-token"}]' \
    "$(hooked "$(quick PreToolUse '' 'env; cat')" "$(quick PostToolUse '' 'env >&2; exit 2')" "$(quick UserPromptSubmit '' 'env')" "$(quick SessionStart '' 'env')" "$(quick StopFailure '' 'cat; env')")"
  says 1 -p 'canary-anthropic-key-1 canary-in-settings' --verbose
  is "$(requests)" 2
  is "$(sql 'SELECT count(*) >= 6 FROM hook_invocations')" 1
  clean canary-openai-key-22 canary-local-key canary-oauth-token canary-bearer-token canary-anthropic-key-1 canary-in-settings canary-of-mcp canary-in-a-header
}

check_004_2_8_04() {
  served anthropic '[]'
  unset ANTHROPIC_API_KEY
  export CLAUDE_CODE_OAUTH_TOKEN=canary-oauth-token
  says 0 -p hello
  is "$(signed 0)" '- Bearer canary-oauth-token'
  has "$(req 0 '.headers["anthropic-beta"]')" oauth
  unset CLAUDE_CODE_OAUTH_TOKEN
  export CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR=9
  says 0 -p hello 9< <(echo canary-handed-token)
  is "$(signed 1)" '- Bearer canary-handed-token'
  # A stale number is not a credential.
  fails authentication_failed ANTHROPIC_API_KEY
  is "$(requests)" 2
  clean canary-oauth-token canary-handed-token
}

check_004_2_8_06() {
  local format status
  export ONA_MAX_RETRIES=1 RUST_LOG=trace ONA_LOG=trace RUST_BACKTRACE=1
  for status in 401 500; do
    for format in text json stream-json; do
      served anthropic "[{\"calls\":[{\"name\":\"Bash\",\"input\":{\"command\":\"env\"}}],\"say\":\"canary-bearer-token\"},{\"status\":$status,\"message\":\"no canary-bearer-token\"},{\"status\":$status,\"message\":\"no canary-bearer-token\"}]" \
        "$(hooked "$(quick PreToolUse '' 'cat >>stdin; env >&2; exit 1')")"
      export ANTHROPIC_AUTH_TOKEN=canary-bearer-token
      says 1 -p hello --verbose --output-format $format
      lacks "$out$err" canary-bearer-token
      lacks "$out$err" canary-anthropic-key-1
    done
  done
  lacks "$(cat stdin)" canary-
  # An address with a password that nobody answers at.
  export ANTHROPIC_BASE_URL=http://user:canary-password@127.0.0.1:9
  says 1 -p hello --verbose
  lacks "$out$err" canary-
  is "$(grep -rlaF canary- "$HOME" "$TMPDIR" "$WORLD/project" "$WORLD/state" || true)" ''
}

# ---- rows and hooks of a turn --------------------------------------------------------

check_004_2_5_02() {
  echo 'Be kind.' >CLAUDE.md
  local name
  for name in anthropic openai; do
    served $name '[{"say":"a","calls":[{"name":"Glob","input":{"pattern":"*"}},{"name":"Bash","input":{"command":"echo ü; false"}}]},{"say":"ok"}]' \
      "$(hooked "$(quick UserPromptSubmit '' 'echo from-a-hook')" "$(quick PostToolUse '' 'echo after >&2; exit 2')")"
    says 0 -p first --session-id "s-$name"
    sqlite3 "$AGENT_SDLC_DB" ".backup $WORLD/one.db" ".backup $WORLD/two.db"
    code 0 ona -p again -r "s-$name" --db "$WORLD/one.db" </dev/null
    sleep 1.1
    code 0 ona -p again -r "s-$name" --db "$WORLD/two.db" </dev/null
    is "$(requests)" 4
    is "$(req 3 .raw)" "$(req 2 .raw)"
    has "$(req 2 .raw)" first
    has "$(req 2 .raw)" from-a-hook
    # In the order of sequence: what the second request said is the beginning of the third.
    # Only the mark of what a provider may cache moves on.
    local same='del(.. | .cache_control?) | .body.messages | tojson'
    has "$(req 2 "$same")" "$(req 1 "$same" | sed 's/]$//')"
    rm -r "$WORLD"/one.db* "$WORLD"/two.db*
  done
}

check_004_1_03() {
  served anthropic '[{"say":"The word is lemon."}]'
  says 0 -p 'remember lemon' --session-id s
  sql "UPDATE transcript_entries SET payload_json = replace(payload_json, 'lemon', 'melon') WHERE session_id='s'"
  says 0 -p 'what was the word?' -r s
  has "$(req 1 '.body.messages | tostring')" 'remember melon'
  has "$(req 1 '.body.messages | tostring')" 'The word is melon.'
  lacks "$(req 1 .raw)" lemon
  # -c continues it as well, and a row deleted is gone.
  sql "DELETE FROM transcript_entries WHERE session_id='s' AND sequence > 2"
  says 0 -p more -c
  lacks "$(req 2 .raw)" 'what was the word?'
  is "$(find "$WORLD" -name '*.jsonl')" ''
}

check_004_2_5_06() {
  local name
  for name in anthropic openai; do
    served $name '[{"calls":[{"name":"Glob","input":{"pattern":"z"},"id":"c9"},{"name":"Bash","input":{"command":"true"},"id":"c1"},{"name":"Glob","input":{"pattern":"a"},"id":"c5"}]},{"say":"ok"}]'
    says 0 -p go --session-id "s-$name"
    is "$(sql "SELECT group_concat(json_extract(value,'\$.id')) FROM transcript_entries, json_each(payload_json,'\$.content') WHERE session_id='s-$name' AND entry_type='assistant' AND json_extract(value,'\$.type')='tool_use'")" c9,c1,c5
    is "$(sql "SELECT group_concat(tool_use_id) FROM (SELECT tool_use_id FROM transcript_entries WHERE session_id='s-$name' AND entry_type='tool_use' ORDER BY sequence)")" c9,c1,c5
    is "$(sql "SELECT group_concat(tool_use_id) FROM (SELECT tool_use_id FROM transcript_entries WHERE session_id='s-$name' AND entry_type='tool_result' ORDER BY sequence)")" c9,c1,c5
    is "$(req 1 '[.body.messages[] | (.tool_call_id // empty), (.content | arrays | .[] | .tool_use_id // empty)] | join(",")')" c9,c1,c5
  done
}

check_004_13_02() {
  served anthropic '[]'
  says 0 -p 'Grüße' --session-id s
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='user'")" 1
  local row
  row=$(sql "SELECT payload_json FROM transcript_entries WHERE entry_type='user'")
  is "$(jq -c 'del(.uuid)' <<<"$row")" '{"_t":"user","content":[{"type":"text","text":"Grüße"}]}'
  is "$(jq -r '.uuid | type' <<<"$row")" string
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='user' AND json_extract(payload_json,'\$.uuid') <> ''")" 1
}

check_004_13_03() {
  served openai '[{"say":"a","calls":[{"name":"Glob","input":{"pattern":"*"},"id":"c1"}]},{"say":"b"}]'
  says 0 -p go
  is "$(sql "SELECT payload_json FROM transcript_entries WHERE entry_type='assistant' ORDER BY sequence" | jq -c 'del(.uuid)')" \
    '{"_t":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c1","name":"Glob","input":{"pattern":"*"}}]}
{"_t":"assistant","content":[{"type":"text","text":"b"}]}'
  is "$(sql "SELECT count(DISTINCT json_extract(payload_json,'\$.uuid')) FROM transcript_entries WHERE entry_type='assistant'")" 2
}

check_004_13_07() {
  served anthropic '[]'
  says 0 -p go
  is "$(sql "SELECT count(*) > 0 FROM transcript_entries WHERE entry_type='progress'")" 1
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='progress' AND (json_extract(payload_json,'\$._t') IS NOT 'progress' OR json_type(payload_json,'\$.data') IS NOT 'object')")" 0
}

check_004_13_10() {
  served anthropic '[{"say":"a","calls":[{"name":"Glob","input":{"pattern":"*"}},{"name":"Bash","input":{"command":"false"}}]},{"say":"b"}]' "$(hooked "$(quick UserPromptSubmit '' 'echo context')")"
  says 0 -p go --session-id s
  says 0 -p more -r s
  local blocks="FROM transcript_entries, json_each(payload_json,'\$.content') AS block WHERE entry_type IN ('user','assistant')"
  is "$(sql "SELECT group_concat(t) FROM (SELECT DISTINCT json_extract(block.value,'\$.type') AS t $blocks ORDER BY 1)")" text,tool_use
  is "$(sql "SELECT count(*) $blocks")" 7
  # Exactly the listed fields, in their order.
  is "$(sql "SELECT DISTINCT (SELECT group_concat(inner.key) FROM json_each(block.value) AS inner) $blocks ORDER BY 1")" $'type,id,name,input\ntype,text'
  # A tool_result block put there by SQL reaches the model as one.
  sql "UPDATE transcript_entries SET payload_json = json_insert(payload_json, '\$.content[#]', json('{\"type\":\"tool_result\",\"tool_use_id\":\"x\",\"content\":\"by hand\",\"is_error\":false}')) WHERE entry_type='user' AND sequence=(SELECT max(sequence) FROM transcript_entries WHERE entry_type='user')"
  says 0 -p last -r s
  has "$(tail -n 1 "$LOG" | jq -r .raw)" 'by hand'
}

check_004_2_02() {
  served anthropic '[{"calls":[{"name":"Agent","input":{"description":"look","prompt":"look around","subagent_type":"explore"}}]},{"say":"found"},{"say":"it found"}]' \
    "$(hooked "$(quick SubagentStart '' 'cat >begin')")"
  says 0 -p go --session-id main
  is "$out" 'it found'
  is "$(requests)" 3
  is "$(sql 'SELECT count(DISTINCT session_id) FROM transcript_entries')" 2
  is "$(sql "SELECT count(*) FROM sessions WHERE session_id='$(jq -r .agent_id begin)'")" 1
  has "$(sql "SELECT payload_json FROM transcript_entries WHERE session_id <> 'main' AND entry_type='user'")" 'look around'
  lacks "$(sql "SELECT group_concat(payload_json) FROM transcript_entries WHERE session_id='main' AND entry_type='user'")" 'look around'
}

# At each request: rows of the conversation by kind, and hook rows.
probe="SELECT (SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE entry_type IN ('user','assistant','tool_use','tool_result') ORDER BY sequence)) || ' ' || (SELECT group_concat(hook_event) FROM (SELECT hook_event FROM hook_invocations WHERE completed_at IS NOT NULL ORDER BY id))"
probed() {
  model '[{"calls":[{"name":"Bash","input":{"command":"true"}},{"name":"Bash","input":{"command":"false"}}]},{"calls":[{"name":"Bash","input":{"command":"true"}}]},{"say":"end"}]' 0 "$probe"
  anthropic
  choose claude_code_subscription claude_sonnet_4 "$(hooked "$(quick UserPromptSubmit '' true)" "$(quick PreToolUse Bash true)" "$(quick PostToolUse Bash true)" "$(quick PostToolUseFailure Bash true)")"
  says 0 -p go --session-id s
  is "$(requests)" 3
  one=user two=$one,assistant,tool_use,tool_use,tool_result,tool_result
  hooks_one=UserPromptSubmit hooks_two=$hooks_one,PreToolUse,PostToolUse,PreToolUse,PostToolUseFailure
}

check_004_2_5_09() {
  probed
  is "$(jq -r .seen "$LOG")" "$one $hooks_one
$two $hooks_two
$two,assistant,tool_use,tool_result $hooks_two,PreToolUse,PostToolUse"
}
check_004_4_8_08() {
  probed
  # Another process, before the model has answered, sees the hooks of each tool and its result.
  is "$(req 1 .seen)" "$two $hooks_two"
  is "$(sql "SELECT count(*) FROM transcript_entries t WHERE entry_type='tool_result' AND (SELECT count(*) FROM hook_invocations h WHERE h.tool_use_id = t.tool_use_id) = 2")" 3
}
check_004_4_8_09() {
  probed
  is "$(req 2 .seen)" "$two,assistant,tool_use,tool_result $hooks_two,PreToolUse,PostToolUse"
  # At the end nothing is missing but the last answer.
  is "$(sql "$probe")" "$two,assistant,tool_use,tool_result,assistant $hooks_two,PreToolUse,PostToolUse"
}

check_004_2_5_03() {
  served anthropic '[]' "$(hooked "$(quick UserPromptSubmit '' "cat >stdin; sqlite3 \"$AGENT_SDLC_DB\" \"SELECT count(*) FROM transcript_entries WHERE entry_type='user'\" >before; grep -q secret stdin && { echo 'no such talk' >&2; exit 2; }; true")")"
  says 0 -p 'fine words' --session-id s
  is "$(jq -r .prompt stdin)" 'fine words'
  is "$(cat before)" 0
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='user'")" 1
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE hook_event='UserPromptSubmit' AND exit_code=0")" 1
  says 1 -p 'secret plan' --session-id blocked
  has "$out$err" 'no such talk'
  is "$(requests)" 1
  is "$(kinds blocked)" system
  is "$(sql "SELECT json_extract(payload_json,'\$.subtype') FROM transcript_entries WHERE session_id='blocked'")" prompt_blocked
  lacks "$(sql "SELECT payload_json FROM transcript_entries WHERE session_id='blocked'")" 'secret plan'
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE session_id='blocked' AND exit_code=2")" 1
}

check_004_2_6_01() {
  local id
  model '[]'
  anthropic
  openai
  lm_studio
  while read -r provider id wire; do
    choose "$provider" "$id" "$(hooked "$(quick SessionStart '' 'cat >start')")"
    says 0 -p hello
    is "$(jq -r '[.source,.model] | join(" ")' start)" "startup $wire"
    is "$(tail -n 1 "$LOG" | jq -r .body.model)" "$wire"
  done <<'IDS'
claude_code_subscription claude_opus_4 claude-opus-4-20250514
openai_compatible gpt_4o_mini gpt-4o-mini
lm_studio_local lm_studio_server_routed canary/local-model
IDS
  export ONA_WIRE_MODEL_OVERRIDE=lm_studio_server_routed=replaced
  says 0 -p hello -c
  is "$(jq -r '[.source,.model] | join(" ")' start)" 'resume replaced'
}

check_004_5_6_09() {
  served anthropic '[{"calls":[{"name":"Bash","input":{"command":"true"}}]},{"calls":[{"name":"Bash","input":{"command":"false"}}]},{"say":"end"}]' \
    "$(hooked "$(quick PostToolUse Bash 'sleep 0.3; echo first-word >&2; exit 2')" "$(quick PostToolUse Bash 'echo second-word >&2; exit 2' '{"dialect":"claude"}')" \
      "$(quick PostToolUseFailure Bash 'sleep 0.3; echo third-word >&2; exit 2')" "$(quick PostToolUseFailure Bash 'echo fourth-word >&2; exit 2' '{"dialect":"claude"}')" \
      "$(quick SessionStart '' 'echo at-start >&2; exit 2' '{"dialect":"claude"}')" "$(quick SessionEnd '' 'echo at-end >&2; exit 2' '{"dialect":"claude"}')")"
  says 0 -p go
  is "$(requests)" 3
  is "$(req 1 '.body.messages[-1] | tostring | [scan("[a-z]+-word")] | join(",")')" first-word,second-word
  is "$(req 2 '.body.messages[-1] | tostring | [scan("[a-z]+-word")] | join(",")')" third-word,fourth-word
  # Where nothing can be blocked the words are the operator's.
  has "$err" at-start
  has "$err" at-end
  lacks "$(cat "$LOG")" at-start
}

check_004_12_10() {
  local name
  for name in anthropic openai; do
    served $name '[]' "$(hooked "$(quick UserPromptSubmit '' 'echo "{\"hookSpecificOutput\":{\"hookEventName\":\"UserPromptSubmit\",\"additionalContext\":\"the sky is green\"}}"')")"
    says 0 -p 'which colour?' --session-id "s-$name"
    is "$(requests)" 1
    has "$(req 0 '.body.messages | tostring')" 'the sky is green'
    has "$(req 0 '.body.messages | tostring')" 'which colour?'
    is "$(sql "SELECT json_extract(payload_json,'\$.additional_context') FROM transcript_entries WHERE session_id='s-$name' AND entry_type='internal_hook'")" 'the sky is green'
    lacks "$(sql "SELECT payload_json FROM transcript_entries WHERE session_id='s-$name' AND entry_type='user'")" green
  done
}

run_check "$@"
