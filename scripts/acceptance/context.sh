#!/usr/bin/env bash
# Acceptance checks of what enters a model's context and what it costs: pictures, files a prompt
# points at, instructions of folders, memories, ids of calls, /clear, tokens and prices.
# The model is scripted (model.mjs); the requests it logs and the rows are what is judged.
# Run: context.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# talking SCRIPT_JSON : a scripted model in place of every provider
talking() { model "$1"; anthropic; openai; lm_studio; }
# choose MODEL_ID [MORE_JSON] : the effective row, as an operator writes it
choose() {
  local provider=claude_code_subscription
  case $1 in gpt_4o | o3*) provider=openai_compatible ;; lm_*) provider=lm_studio_local ;; esac
  settings "$(jq -cn --arg p "$provider" --arg m "$1" --argjson more "${2:-{\}}" \
    '{model_config:{provider:$p,model_id:$m},permissions:{allow:["Read","Write","Edit","Agent"]}} + $more')"
}
# png WIDTH HEIGHT FILE : a grey picture
png() {
  node -e '
    const { deflateSync, crc32 } = require("node:zlib"), [w, h, file] = process.argv.slice(1);
    const crc = (b) => { let c = ~0; for (const x of b) { c ^= x; for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1; } return ~c >>> 0; };
    const chunk = (t, d) => { const b = Buffer.concat([Buffer.from(t), d]), o = Buffer.alloc(8 + b.length); o.writeUInt32BE(d.length); b.copy(o, 4); o.writeUInt32BE(crc(b), 4 + b.length); return o; };
    const head = Buffer.alloc(13); head.writeUInt32BE(+w); head.writeUInt32BE(+h, 4); head[8] = 8;
    const rows = deflateSync(Buffer.alloc((+w + 1) * +h, 0));
    require("node:fs").writeFileSync(file, Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), chunk("IHDR", head), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]));
  ' "$1" "$2" "$3"
}
# pictures N : how many pictures the n-th request shows, on either wire
pictures() { req "$1" '[.body.messages[].content | arrays | .[] | select(.type=="image" or .type=="image_url")] | length'; }
# size N M : width and height of the m-th picture of the n-th request, from its header
size() {
  req "$1" "[.body.messages[].content | arrays | .[] | select(.type==\"image\")][$2].source.data" | base64 -d | od -An -tu1 -j16 -N8 |
    awk '{print (($1*256+$2)*256+$3)*256+$4 "x" (($5*256+$6)*256+$7)*256+$8}'
}
listening() { jq -cn --arg e "$1" '{hooks:[{hook_event_name:$e,matcher:".*",command:"true",shell:"sh"}]}'; }
# told : what InstructionsLoaded hooks were told, in order: file, reason, file that led to it, file that imports it
told() {
  sql "SELECT input_json FROM hook_invocations WHERE hook_event='InstructionsLoaded' ORDER BY id" |
    jq -r --arg p "$PWD/" '[.file_path, .load_reason, .trigger_file_path // "-", .parent_file_path // "-"] | map(ltrimstr($p)) | join(" ")'
}

# ---- pictures and files --------------------------------------------------------------

# A picture named in a prompt is an attachment row behind it and a block on both wires.
check_DEC_032_1() {
  local id
  mkdir shots
  png 4 3 'shots/a b.png'
  for id in claude_sonnet_4 gpt_4o; do
    talking '[]'
    choose $id
    says 0 -p 'what is in @"shots/a b.png"?' --session-id "s-$id"
    is "$(pictures 0)" 1
    has "$(req 0 '.body.messages | tostring')" "$(base64 -w0 'shots/a b.png')"
    is "$(sql "SELECT entry_type FROM transcript_entries WHERE session_id='s-$id' AND sequence=1")" attachment
    is "$(sql "SELECT json_extract(payload_json,'\$.attachment.kind') || json_extract(payload_json,'\$.attachment.media_type') FROM transcript_entries WHERE session_id='s-$id' AND sequence=1")" imageimage/png
    is "$(sql "SELECT json_extract(payload_json,'\$.attachment.data') FROM transcript_entries WHERE session_id='s-$id' AND sequence=1")" "$(base64 -w0 'shots/a b.png')"
    # A resumed session still shows it.
    says 0 -p 'sure?' -r "s-$id"
    is "$(pictures 1)" 1
  done
}

# Read attaches a picture beside its result, as a prompt does; one too large is scaled down; a bomb is described.
check_DEC_032_2() {
  png 2400 30 large.png
  png 1 1 bomb.png
  printf '\377\377\377\377\377\377\377\377' | dd of=bomb.png bs=1 seek=16 conv=notrunc 2>/dev/null
  talking '[{"calls":[{"name":"Read","input":{"file_path":"large.png"}},{"name":"Read","input":{"file_path":"bomb.png"}}]}]'
  choose claude_sonnet_4
  says 0 -p 'look at @large.png @bomb.png'
  is "$(pictures 0) $(size 0 0)" '1 1568x20'
  has "$(req 0 '.body.messages[-1] | tostring')" '4294967295x4294967295 pixels, more than can be scaled down'
  is "$(pictures 1) $(size 1 1)" '2 1568x20'
  has "$(req 1 '.body.messages[-1] | tostring')" 'more than can be scaled down'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='attachment' AND tool_use_id IS NOT NULL")" 1
}

# A provider that refuses pictures gets a line of text, at once and from then on.
check_DEC_032_3() {
  local id
  png 4 3 a.png
  for id in claude_sonnet_4 lm_studio_server_routed; do
    talking '[{"status":400,"message":"This model does not support images."}]'
    choose $id
    says 0 -p 'what is in @a.png?' --session-id "s-$id"
    is "$out" done
    has "$err" 'does not take pictures'
    is "$(requests)" 2
    is "$(pictures 0)$(pictures 1)" 10
    has "$(req 1 '.body.messages | tostring')" '[image image/png'
    says 0 -p again -r "s-$id"
    is "$(requests) $err" '3 '
    is "$(pictures 2)" 0
    # Another session has not heard of it.
    says 0 -p 'what is in @a.png?'
    is "$(pictures 3)" 1
  done
}

# Pictures as blocks of a streamed message.
check_DEC_032_4() {
  png 4 3 a.png
  talking '[]'
  choose claude_sonnet_4
  jq -cn --arg d "$(base64 -w0 a.png)" '{type:"user",message:{role:"user",content:[{type:"text",text:"look"},{type:"image",source:{type:"base64",media_type:"image/png",data:$d}}]}}' >input
  code 0 ona -p --input-format stream-json --output-format stream-json --verbose <input
  is "$(pictures 0)" 1
}

# A text file and a folder named in a prompt are shown; what a rule denies is not, and is told.
check_DEC_032_5() {
  mkdir d
  printf 'one\ntwo\n' >d/a.txt
  echo hidden-words >d/secret.txt
  talking '[]'
  choose claude_sonnet_4 '{"permissions":{"allow":["Read"],"deny":["Read(d/secret.txt)"]}}'
  says 0 -p 'see @d/a.txt, @d and @d/secret.txt'
  has "$(req 0 '.body.messages | tostring')" '(2 lines)'
  has "$(req 0 '.body.messages | tostring')" 'd/ (1 entry)'
  lacks "$(req 0 '.body.messages | tostring')" hidden-words
  has "$err" '@d/secret.txt was not attached: Denied by permission rule Read(d/secret.txt)'
}

# ---- instructions and memories ---------------------------------------------------------

# Reading a file loads the instructions of its folder once, also after a resume.
check_DEC_063_1() {
  mkdir -p sub/deep .claude/rules
  echo 'words-of-the-folder @more.md' >sub/CLAUDE.md
  echo words-imported >sub/more.md
  echo words-of-the-deep-one >sub/deep/AGENTS.md
  printf -- '---\npaths: "**/*.txt"\n---\nwords-of-the-rule\n' >.claude/rules/t.md
  echo a | tee sub/deep/a.txt >sub/deep/b.txt
  local read='{"calls":[{"name":"Read","input":{"file_path":"sub/deep/a.txt"}}]}'
  talking "[$read,${read/a.txt/b.txt},{\"say\":\"ok\"},$read]"
  choose claude_sonnet_4 "$(listening InstructionsLoaded)"
  says 0 -p read --session-id s
  says 0 -p again -r s
  is "$(told)" 'sub/CLAUDE.md nested_traversal sub/deep/a.txt -
sub/more.md include sub/deep/a.txt sub/CLAUDE.md
sub/deep/AGENTS.md nested_traversal sub/deep/a.txt -
.claude/rules/t.md path_glob_match sub/deep/a.txt -'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE json_extract(payload_json,'\$.attachment.source')='instructions'")" 4
  for words in words-of-the-folder words-imported words-of-the-deep-one words-of-the-rule; do
    is "$(req 0 .raw | grep -c "$words" || true)" 0
    is "$(req 1 .raw | grep -o "$words" | wc -l)" 1
    is "$(req 2 .raw | grep -o "$words" | wc -l)" 1
    is "$(req 4 .raw | grep -o "$words" | wc -l)" 1
  done
}

# --bare and a folder that is not trusted bring no instructions in.
check_DEC_063_2() {
  local flag
  mkdir sub
  echo words-of-the-folder >sub/CLAUDE.md
  echo a >sub/a.txt
  for flag in --bare --no-trust; do
    talking '[{"calls":[{"name":"Read","input":{"file_path":"sub/a.txt"}}]}]'
    choose claude_sonnet_4
    says 0 -p read $flag
    has "$(req 1 .raw)" '(1 line)'
    lacks "$(req 1 .raw)" words-of-the-folder
  done
}

# Memories that enter a prompt are counted with the prompt's own commit; the index stays whole.
check_DEC_021() {
  talking '[]'
  choose claude_sonnet_4
  code 0 ona memory add Deploying 'We deploy on Fridays only'
  code 0 ona memory add Lunch 'At noon'
  says 0 -p 'when do we deploy?' --session-id s
  has "$(req 0 '.body.messages | tostring')" 'We deploy on Fridays only'
  is "$(sql "SELECT group_concat(access_count || (last_accessed IS NOT NULL)) FROM (SELECT * FROM memories ORDER BY title)")" 11,00
  says 0 -p 'deploy again?' -r s
  is "$(sql "SELECT access_count FROM memories WHERE title='Deploying'")" 1
  is "$(sql "SELECT count(*) FROM memories_fts")" 2
  is "$(req 1 .raw | grep -o Fridays | wc -l)" 1
}

# ---- calls, sessions, cost -------------------------------------------------------------

# A server that numbers its calls from 1 in every reply.
check_DEC_090() {
  local id
  echo text-of-one >one
  echo text-of-two >two
  echo text-of-three >three
  # ids N : ids of calls in the n-th request, then those of results, on either wire
  ids() { req "$1" '.body.messages | [[.[] | (.tool_calls[]?, (.content | arrays | .[] | select(.type == "tool_use"))) | .id], [.[] | (.tool_call_id // empty), (.content | arrays | .[] | .tool_use_id // empty)]] | tostring'; }
  for id in claude_sonnet_4 gpt_4o; do
    talking '[{"calls":[{"id":"call_1","name":"Read","input":{"file_path":"one"}}]},{"calls":[{"id":"call_1","name":"Read","input":{"file_path":"two"}}]},{"say":"first"},{"calls":[{"id":"call_1","name":"Read","input":{"file_path":"three"}}]}]'
    choose $id
    says 0 -p read --session-id "s-$id"
    says 0 -p 'and the third' -r "s-$id"
    is "$(sql "SELECT count(DISTINCT tool_use_id) FROM transcript_entries WHERE session_id='s-$id' AND entry_type='tool_result'")" 3
    is "$(sql "SELECT count(DISTINCT json_extract(detail,'\$.tool_use_id')) FROM events WHERE event_type='tool_started' AND session_id='s-$id'")" 3
    # What is sent is what was written, and the first keeps its own.
    local written
    written=$(sql "SELECT json_group_array(tool_use_id) FROM (SELECT tool_use_id FROM transcript_entries WHERE session_id='s-$id' AND entry_type='tool_use' ORDER BY sequence)")
    is "$(jq -r '.[0]' <<<"$written")" call_1
    is "$(ids 4)" "[$written,$written]"
    is "$(sql "SELECT group_concat(instr(json_extract(r.payload_json,'\$.content'),'text-of-' || replace(json_extract(u.payload_json,'\$.input.file_path'),'$PWD/','')) > 0) FROM transcript_entries u JOIN transcript_entries r ON r.parent_entry_id=u.id AND r.entry_type='tool_result' WHERE u.session_id='s-$id' AND u.entry_type='tool_use'")" 1,1,1
  done
}

clears() {
  talking '[{"say":"about mice"},{"say":"who knows"}]'
  choose claude_sonnet_4 "$(jq -cn '{hooks:[("SessionStart","SessionEnd")|{hook_event_name:.,matcher:".*",command:"true",shell:"sh"}]}')"
  printf '{"type":"user","message":{"role":"user","content":"%s"}}\n' 'tell of mice' "$1" 'what was it?' >input
  code 0 ona -p --input-format stream-json --output-format stream-json --verbose <input
  is "$(sql "SELECT group_concat(hook_event || ' ' || coalesce(json_extract(input_json,'\$.source'),json_extract(input_json,'\$.reason'))) FROM (SELECT * FROM hook_invocations ORDER BY id)")" \
    'SessionStart startup,SessionEnd clear,SessionStart clear,SessionEnd other'
  is "$(requests)" 2
  is "$(req 1 '.body.messages | length')" 1
  lacks "$(req 1 '.body.messages | tostring')" mice
  is "$(sql 'SELECT count(*) || count(DISTINCT conversation_id) FROM sessions')" 21
}
check_004_2_9_09() { clears /clear; }
check_004_2_9_10() {
  clears /reset
  rm -rf "$WORLD/state"
  clears /new
}

# Every reply is 10 tokens in and 5 out: 105 millionths of a dollar with this model. The first
# also reads 1000 from the cache (0.3 each) and writes 100 to it (3.75 each): 675 more.
check_COST_1() {
  talking '[{"say":"one","usage":{"cache_read_input_tokens":1000,"cache_creation_input_tokens":100}},{"calls":[{"name":"Agent","input":{"description":"d","prompt":"p"}}]},{"say":"report"},{"say":"two"}]'
  choose claude_sonnet_4
  says 0 -p first --session-id s --output-format json
  is "$(jq -c .total_cost_usd <<<"$out")" 0.00078
  is "$(jq -c '.modelUsage["claude-sonnet-4-20250514"].cacheReadInputTokens' <<<"$out")" 1000
  # What an earlier run cost is not counted again.
  says 0 -p second -r s --output-format json
  is "$(jq -c .total_cost_usd <<<"$out")" 0.000315
  is "$(jq -c '.modelUsage["claude-sonnet-4-20250514"] | [.inputTokens, .costUSD]' <<<"$out")" '[30,0.000315]'
  code 0 ona sessions show s --json
  is "$(jq -c '[.account.total_cost_usd, .account.replies, [.account.turns[].cost_usd]]' <<<"$out")" '[0.001095,4,[0.00078,0.000315]]'
  is "$(jq -c '[(.account.models[0] | .model, .model_id), .account.turns[1].usage.input_tokens]' <<<"$out")" '["claude-sonnet-4-20250514","claude_sonnet_4",30]'
  local account
  account=$(jq -cS .account <<<"$out")
  code 0 ona sessions export s --format json
  is "$(jq -cS .account <<<"$out")" "$account"
  code 0 ona sessions export s --format jsonl
  is "$(jq -s 'map(select(.costUSD | numbers)) | length' <<<"$out")" 3
  code 0 ona sessions show s
  has "$out" '- Cost: `$0.0011`'
  has "$out" '40 in, 20 out, 1000 read from cache, 100 written to cache'
}

# A price nobody knows is null; modelPrices goes over the list.
check_COST_2() {
  talking '[{"say":"counted","plain":true},{"say":"not counted"}]'
  choose lm_studio_server_routed
  says 0 -p hello --session-id s --output-format json
  is "$(jq -c '[.total_cost_usd, .usage.input_tokens]' <<<"$out")" '[null,10]'
  code 0 ona sessions show s
  has "$out" 'not known: no price, or no count of tokens, for'
  # The row names the model, so an older session is priced by the list of today.
  choose lm_studio_server_routed '{"modelPrices":{"canary/local-model":{"input":100000,"output":200000}}}'
  code 0 ona sessions show s --json
  is "$(jq -c .account.total_cost_usd <<<"$out")" 2
  choose lm_studio_server_routed '{"modelPrices":{"canary/local-model":{"input":"x","output":1}}}'
  code 0 ona sessions show s --json
  is "$(jq -c .account.total_cost_usd <<<"$out")" null
  # A server that does not say what a reply used has not said that it was free.
  says 0 -p hello --output-format json --session-id t --model gpt_4o
  is "$(jq -c .total_cost_usd <<<"$out")" null
  code 0 ona sessions show s --json
  has "$err" 'modelPrices.canary/local-model: input is not an amount in dollars'
  # A settings file sets prices for a run, and a run names a wrong one.
  export AGENT_SDLC_DB=$WORLD/of-a-file.db
  mkdir "$HOME/.ona"
  echo '{"modelPrices":{"claude-sonnet-4-20250514":{"input":100000,"output":200000}}}' >"$HOME/.ona/settings.json"
  says 0 -p hello --output-format json --model claude_sonnet_4
  is "$(jq -c .total_cost_usd <<<"$out")" 2
  echo '{"modelPrices":{"claude_sonnet_4":{"input":"free","output":1}}}' >"$HOME/.ona/settings.json"
  says 0 -p hello --output-format json --model claude_sonnet_4
  is "$(jq -c .total_cost_usd <<<"$out")" null
  has "$err" 'modelPrices.claude_sonnet_4: input is not an amount in dollars'
}

run_check "$@"
