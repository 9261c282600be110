#!/usr/bin/env bash
# Acceptance checks of hook modules of oh-my-pi. The model is scripted (model.mjs).
# Run: omp.sh <ledger id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# module FILE BODY : a module whose factory is BODY; it has log(value)
module() {
  mkdir -p "$(dirname "$1")"
  cat >"$1" <<MODULE
import { appendFileSync } from "node:fs";
const log = (value: unknown) => appendFileSync("$PWD/log", JSON.stringify(value) + "\n");
export default function (pi: any): void {
$2
}
MODULE
}
logged() { [ ! -e log ] || cat log; }
allowed() { settings '{"permissions":{"allow":["Bash","Read","Write","Edit","Glob","Grep"]},"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}'"${1:-}"'}'; }
# bash_tool COMMAND [FLAG...]
bash_tool() { local command=$1; shift; tool Bash "$(jq -cn --arg c "$command" '{command:$c}')" "$@"; }
denied() { is "$(content)" "Denied by PreToolUse hook
$1"; is "$(is_error)" true; }

# turn SCRIPT_JSON FLAG... : one run of -p against a model that says this
turn() { model "$1"; anthropic; says 0 "${@:2}"; }
body() { sed -n "$(($1 + 1))p" "$LOG" | jq -r '.body | tostring'; }
one_call() { jq -cn --arg c "${1:-echo 1}" '[{calls:[{name:"Bash",input:{command:$c}}]},{say:"done"}]'; }
rows_of() { sql "SELECT count(*) FROM events WHERE event_type='$1'"; }

first_example() {
  cat >"$1" <<'MODULE'
import type { HookAPI } from "@oh-my-pi/pi-coding-agent/hooks";

export default function hook(pi: HookAPI): void {
	pi.on("tool_call", async (event, ctx) => {
		if (event.toolName === "bash" && String(event.input.command ?? "").includes("rm -rf")) {
			return { block: true, reason: "blocked by policy" };
		}
	});
}
MODULE
}

# ---- checks --------------------------------------------------------------------------

check_003_1_01() {
  allowed; first_example guard.ts
  bash_tool 'rm -rf x' --hook guard.ts; denied 'blocked by policy'
  bash_tool 'rm -rf x' --extension guard.ts; denied 'blocked by policy'
}
check_003_2_01() { allowed; first_example guard.ts; bash_tool 'rm -rf x' --hook guard.ts; denied 'blocked by policy'; bash_tool 'echo ls' --hook guard.ts; is "$(content)" "ls"; }
check_003_2_02() { allowed; module m.ts 'pi.on("tool_call", (event) => log(event.toolName));'; bash_tool true --hook m.ts; is "$(logged)" '"bash"'; }
check_003_2_03() {
  allowed; module m.ts 'pi.on("tool_result", () => pi.sendMessage({ customType: "note", content: "from the hook", display: true }));'
  turn "$(one_call)" -p go --hook m.ts
  is "$(sql "SELECT json_extract(payload_json,'\$.attachment.content') FROM transcript_entries WHERE json_extract(payload_json,'\$.attachment.kind')='custom_message'")" 'from the hook'
  lacks "$(body 0)" 'from the hook'; has "$(body 1)" 'from the hook'
}
check_003_2_04() {
  allowed; module m.ts 'pi.on("tool_result", () => pi.appendEntry("state", { secret: "NOT FOR MODELS" }));'
  turn "$(one_call)" -p go --hook m.ts
  is "$(sql "SELECT json_extract(payload_json,'\$.attachment.data.secret') FROM transcript_entries WHERE json_extract(payload_json,'\$.attachment.kind')='custom_entry'")" 'NOT FOR MODELS'
  lacks "$(cat "$LOG")" 'NOT FOR MODELS'
}
check_003_2_05() {
  allowed; module m.ts 'pi.registerCommand("greet", { description: "greets", handler: async (args) => log("hello " + args) });'
  turn '[]' -p '/greet you' --hook m.ts
  is "$(logged)" '"hello you"'; is "$(requests)" 0
  code 0 ona hooks list --json --hook m.ts; is "$(jq -r '.modules[0].commands[0]' <<<"$out")" greet
}
check_003_2_07() {
  allowed; module m.ts 'pi.on("tool_call", async () => log(await pi.exec("sh", ["-c", "echo $1; exit 3", "sh", "a b"])));'
  bash_tool true --hook m.ts; is "$(logged)" '{"stdout":"a b\n","stderr":"","code":3,"killed":false}'
}
check_003_3_01() {
  allowed; local name
  for name in .omp/hooks/pre/b.ts .omp/hooks/pre/a.ts new.ts; do module $name "pi.on('tool_call', () => log('$name'));"; done
  bash_tool true --hook new.ts --hook .omp/hooks/pre/a.ts
  is "$(logged | tr '\n' ' ')" '".omp/hooks/pre/a.ts" ".omp/hooks/pre/b.ts" "new.ts" '
}
check_003_3_02() { allowed; first_example guard.ts; bash_tool 'rm -rf x' --hook "$PWD/guard.ts"; denied 'blocked by policy'; }
check_003_3_03() { allowed; first_example "$HOME/guard.ts"; bash_tool 'rm -rf x' --hook '~/guard.ts'; denied 'blocked by policy'; }
check_003_3_04() { allowed; mkdir sub; first_example sub/guard.ts; bash_tool 'rm -rf x' --hook 'sub/../sub/guard.ts'; denied 'blocked by policy'; }
check_003_3_05() {
  allowed; mkdir -p .omp/hooks/pre; echo 'touch ran' >.omp/hooks/pre/guard.sh; first_example .omp/hooks/pre/z.ts
  bash_tool 'rm -rf x'; denied 'blocked by policy'
  is "$(rows_of dialect_load_error)" 1; has "$err" guard.sh; [ ! -e ran ] || fail 'the shell file ran'
}
check_003_4_01() {
  allowed; module m.ts 'for (const name of ["session_start", "session_switch", "session_shutdown"]) pi.on(name, (event) => log([event.type, event.reason, event.previousSessionFile])); pi.registerCommand("fresh", { handler: (args, ctx) => ctx.newSession() });'
  turn '[]' -p /fresh --session-id s --hook m.ts
  is "$(logged | tr '\n' ' ')" '["session_start",null,null] ["session_switch","new","s"] ["session_shutdown",null,null] '
}
check_003_4_02() {
  allowed; module m.ts 'pi.on("session_before_switch", (event) => ({ cancel: event.reason === "new" })); pi.registerCommand("fresh", { handler: async (args, ctx) => log(await ctx.newSession()) });'
  turn '[]' -p /fresh --hook m.ts
  is "$(logged)" '{"cancelled":true}'; is "$(sql 'SELECT count(*) FROM sessions')" 1
}
# two_prompts : a session s with two prompts and two replies; cmd.ts has /split and /back
two_prompts() {
  allowed
  module cmd.ts 'const first = (ctx) => ctx.sessionManager.getEntries()[1].id; pi.registerCommand("split", { handler: async (args, ctx) => log(await ctx.branch(first(ctx))) }); pi.registerCommand("back", { handler: async (args, ctx) => log(await ctx.navigateTree(first(ctx), { summarize: true })) });'
  turn '[{"say":"reply one"}]' -p 'prompt one' --session-id s
  turn '[{"say":"reply two"}]' -p 'prompt two' -r s
}
newest_session() { sql 'SELECT session_id FROM sessions ORDER BY rowid DESC LIMIT 1'; }
check_003_4_03() {
  two_prompts
  module no.ts 'pi.on("session_before_branch", () => ({ cancel: true }));'
  turn '[]' -p /split -r s --hook cmd.ts --hook no.ts; is "$(logged)" '{"cancelled":true}'; is "$(sql 'SELECT count(*) FROM sessions')" 1
  turn '[]' -p /split -r s --hook cmd.ts; turn '[{"say":"ok"}]' -p three -r "$(newest_session)"; lacks "$(body 0)" 'prompt two'; has "$(body 0)" 'prompt one'
  module stay.ts 'pi.on("session_before_branch", () => ({ skipConversationRestore: true }));'
  turn '[]' -p /split -r s --hook cmd.ts --hook stay.ts; turn '[{"say":"ok"}]' -p three -r "$(newest_session)"; has "$(body 0)" 'prompt two'
}
check_003_4_06() {
  two_prompts
  module no.ts 'pi.on("session_before_tree", () => ({ cancel: true }));'
  turn '[]' -p /back -r s --hook cmd.ts --hook no.ts; is "$(logged)" '{"cancelled":true}'
  module sum.ts 'pi.on("session_before_tree", () => ({ summary: { summary: "WHAT WAS LEFT" } }));'
  turn '[]' -p /back -r s --hook cmd.ts --hook sum.ts; turn '[{"say":"ok"}]' -p three -r s; has "$(body 0)" 'WHAT WAS LEFT'; lacks "$(body 0)" 'prompt two'
}
small_window() { seq 1 3000 | sed 's/$/ a line that fills the window/' >long.txt; allowed ',"autoCompactWindow":8000'; }
read_long='[{"calls":[{"name":"Read","input":{"file_path":"long.txt"}}]},{"say":"SUMMARY"},{"say":"done"}]'
check_003_4_04() {
  small_window
  module c.ts 'pi.on("session_before_compact", () => ({ cancel: true }));'
  turn "$read_long" -p go --hook c.ts; is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='collapse_commit'")" 0
  module c.ts 'pi.on("session_before_compact", (event) => ({ compaction: { summary: "OWN", firstKeptEntryId: event.preparation.firstKeptEntryId, tokensBefore: 1 } }));'
  turn "$read_long" -p go --hook c.ts; is "$(sql "SELECT json_extract(payload_json,'\$.summary') FROM transcript_entries WHERE entry_type='collapse_commit'")" OWN
  is "$(requests)" 2
}
check_003_4_05() {
  small_window; module c.ts 'pi.on("session.compacting", () => ({ context: ["MIND THE GAP"], preserveData: { n: 1 } }));'
  turn "$read_long" -p go --hook c.ts; has "$(body 1)" 'MIND THE GAP'
  is "$(sql "SELECT json_extract(payload_json,'\$.preserve_data.n') FROM transcript_entries WHERE entry_type='collapse_commit'")" 1
  module c.ts 'pi.on("session.compacting", () => ({ prompt: "MY OWN PROMPT" }));'
  turn "$read_long" -p go --hook c.ts; has "$(body 1)" 'MY OWN PROMPT'
}
check_003_4_07() {
  allowed; module c.ts 'pi.on("context", (event) => ({ messages: event.messages.map((one) => one.role === "user" ? { ...one, content: [{ type: "text", text: "OTHER WORDS" }] } : one) }));'
  turn '[{"say":"done"}]' -p 'my words' --hook c.ts
  has "$(body 0)" 'OTHER WORDS'; lacks "$(body 0)" 'my words'
  is "$(sql "SELECT json_extract(payload_json,'\$.content[0].text') FROM transcript_entries WHERE entry_type='user'")" 'my words'
}
check_003_4_08() {
  allowed; module c.ts 'pi.on("before_agent_start", (event) => ({ message: { customType: "t", content: "BEFORE " + event.prompt, display: true, details: { n: 7 } } }));'
  turn '[{"say":"done"}]' -p go --hook c.ts; has "$(body 0)" 'BEFORE go'; lacks "$(body 0)" '"n":7'
  is "$(sql "SELECT json_extract(payload_json,'\$.attachment.custom_type'), json_extract(payload_json,'\$.attachment.details.n') FROM transcript_entries WHERE json_extract(payload_json,'\$.attachment.kind')='custom_message'")" 't|7'
}
check_003_4_09() {
  allowed; module c.ts 'for (const name of ["agent_start", "agent_end", "turn_start", "turn_end"]) pi.on(name, (event) => log([event.type, event.turnIndex ?? null]));'
  turn "$(one_call)" -p go --hook c.ts
  is "$(logged | tr '\n' ' ')" '["agent_start",null] ["turn_start",0] ["turn_end",0] ["turn_start",1] ["turn_end",1] ["agent_end",null] '
  is "$(rows_of omp_event)" 6
}
check_003_4_10() {
  small_window; module c.ts 'for (const name of ["auto_compaction_start", "auto_compaction_end", "auto_retry_start", "auto_retry_end"]) pi.on(name, (event) => log(name.includes("retry") ? [name, event.attempt, event.success, typeof event.delayMs] : name));'
  turn "$(jq -c '[{"status":529}] + .' <<<"$read_long")" -p go --hook c.ts
  is "$(logged | tr '\n' ' ')" '["auto_retry_start",1,null,"number"] ["auto_retry_end",1,true,"undefined"] "auto_compaction_start" "auto_compaction_end" '
}
check_003_4_11() { allowed; module c.ts 'pi.on("ttsr_triggered", () => {}); pi.on("todo_reminder", () => {}); pi.on("of_no_name", () => {});'; bash_tool 'echo ok' --hook c.ts; is "$(content)" ok; is "$(rows_of dialect_load_error)" 0; }
check_003_4_12() { allowed; module m.ts 'pi.on("tool_call", () => ({ block: true, reason: "why not" }));'; bash_tool 'touch made' --hook m.ts; denied 'why not'; [ ! -e made ] || fail 'it ran'; }
check_003_4_13() { allowed; module m.ts 'pi.on("tool_result", () => ({ content: [{ type: "text", text: "other" }], details: {}, isError: true }));'; bash_tool 'echo out' --hook m.ts; is "$(content)" other; is "$(is_error)" false; }
check_003_5_01() { check_003_4_12; }
check_003_5_02() {
  allowed; module m.ts 'pi.on("tool_call", async () => { throw new Error("broken hook"); });'
  bash_tool 'touch made' --hook m.ts; denied 'broken hook'; [ ! -e made ] || fail 'it ran'
}
check_003_5_03() {
  allowed; module m.ts 'pi.on("tool_call", () => ({ block: true }));'; bash_tool true --hook m.ts; denied 'Tool execution was blocked by a hook'
  module m.ts 'pi.on("tool_call", () => ({ block: true, reason: "the reason" }));'; bash_tool true --hook m.ts; denied 'the reason'
}
check_003_5_04() {
  allowed; module m.ts 'pi.on("tool_result", (event) => log([event.toolName, event.toolCallId.length > 0, event.input.command, event.content, typeof event.details, event.isError]));'
  bash_tool 'echo out' --hook m.ts; is "$(logged)" '["bash",true,"echo out",[{"type":"text","text":"out\n"}],"object",false]'
}
check_003_5_05() { check_003_4_13; is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='content_replacement'")" 1; }
check_003_5_06() {
  allowed; module m.ts 'pi.on("tool_result", (event) => { log([event.isError, event.content[0].text, "details" in event, event.details === undefined]); return { content: [{ type: "text", text: "fine" }], isError: false }; }); pi.on("tool_result", () => { throw new Error("in a handler"); });'
  bash_tool 'echo bad; exit 4' --hook m.ts; is "$(content)" bad; is "$(is_error)" true; is "$(logged)" '[true,"bad\n",true,true]'
  # A handler that throws behind a failure is on record and changes nothing.
  is "$(sql "SELECT hook_event, exit_code, stderr_text FROM hook_invocations WHERE hook_event='PostToolUseFailure' ORDER BY id")" 'PostToolUseFailure|0|
PostToolUseFailure|2|in a handler'
  is "$(sql "SELECT count(*) FROM events WHERE event_type='hook_error' AND detail LIKE '%in a handler%'")" 1
}
check_003_5_07() { allowed; module m.ts 'pi.on("tool_call", (event) => { event.input.command = "echo changed"; log(event.input.command); });'; bash_tool 'echo mine' --hook m.ts; is "$(content)" mine; is "$(logged)" '"echo changed"'; }
check_003_5_08() { check_003_4_13; check_003_5_06; }
check_003_6_01() {
  allowed; module .omp/hooks/pre/bash.ts 'pi.on("tool_call", () => log("native"));'; module .claude/hooks/pre/bash.ts 'pi.on("tool_call", () => log("claude"));'
  module .claude/hooks/post/bash.ts 'pi.on("tool_call", () => log("another key"));'
  bash_tool true; is "$(logged | tr '\n' ' ')" '"native" "another key" '
}
check_003_6_02() {
  allowed; module a.ts 'pi.on("tool_call", async () => { await new Promise((done) => setTimeout(done, 50)); log("A1"); }); pi.on("tool_call", () => log("A2"));'; module b.ts 'pi.on("tool_call", () => log("B1"));'
  bash_tool true --hook a.ts --hook b.ts; is "$(logged | tr '\n' ' ')" '"A1" "A2" "B1" '
}
check_003_6_03() {
  allowed; module a.ts 'pi.on("tool_call", () => ({ reason: "no block" })); pi.on("tool_call", () => ({ block: true, reason: "first" })); pi.on("tool_call", () => { log("later"); return { block: true, reason: "second" }; });'
  bash_tool true --hook a.ts; denied first; is "$(logged)" ''
  is "$(sql "SELECT group_concat(coalesce(skipped_reason, exit_code)) FROM hook_invocations")" '0,2,prior_block_or_deny'
}
check_003_6_04() { allowed; module a.ts 'pi.on("tool_result", () => ({ content: "one" })); pi.on("tool_result", (event) => ({ content: "two after " + event.content[0].text.trim() }));'; bash_tool 'echo out' --hook a.ts; is "$(content)" 'two after out'
  # As a whole: details alone leave the tool's own content.
  module a.ts 'pi.on("tool_result", () => ({ content: "gone" })); pi.on("tool_result", () => ({ details: { n: 1 } }));'; bash_tool 'echo out' --hook a.ts; is "$(content)" out
}
check_003_6_05() {
  allowed; module a.ts 'const add = (text) => (event) => ({ messages: event.messages.map((one) => ({ ...one, content: [{ type: "text", text: one.content[0].text + text }] })) }); pi.on("context", add(" ONE")); pi.on("context", () => { throw new Error("between"); }); pi.on("context", add(" TWO")); pi.on("context", (event) => log(event.messages.length));'
  turn '[{"say":"one"}]' -p go --session-id s --hook a.ts; has "$(body 0)" 'go ONE TWO"'
  # Each request starts from the rows again; a handler that throws breaks no chain.
  turn '[{"say":"two"}]' -p more -r s --hook a.ts; has "$(body 0)" 'go ONE TWO"'; has "$(body 0)" 'more ONE TWO"'
  is "$(logged | tr '\n' ' ')" '1 3 '
  is "$(sql "SELECT json_extract(detail,'\$.event'), json_extract(detail,'\$.error') FROM events WHERE event_type='hook_error'")" 'context|between
context|between'
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '% ONE%'")" 0
}
check_003_6_06() {
  allowed; module a.ts 'for (const text of ["FIRST", "SECOND"]) pi.on("before_agent_start", () => { log(text); return { message: { customType: "t", content: text, display: true } }; });'
  turn '[{"say":"done"}]' -p go --hook a.ts; has "$(body 0)" FIRST; lacks "$(body 0)" SECOND; is "$(logged | wc -l)" 2
}
check_003_6_07() {
  allowed; module a.ts 'pi.on("session_before_switch", () => { log("one"); return {}; }); pi.on("session_before_switch", () => { log("two"); return { cancel: true }; }); pi.on("session_before_switch", () => log("three")); pi.registerCommand("fresh", { handler: (args, ctx) => ctx.newSession() });'
  turn '[]' -p /fresh --hook a.ts; is "$(logged | tr '\n' ' ')" '"one" "two" '; is "$(sql 'SELECT count(*) FROM sessions')" 1
}
check_003_6_08() {
  small_window; module c.ts 'pi.on("session.compacting", () => ({ prompt: "EARLIER" })); pi.on("session.compacting", () => ({ context: ["LATER"] }));'
  turn "$read_long" -p go --hook c.ts; has "$(body 1)" LATER; lacks "$(body 1)" EARLIER
}
check_003_6_09() {
  allowed; module a.ts 'pi.registerCommand("c", { handler: () => log("a") });'; module b.ts 'pi.registerCommand("c", { handler: () => log("b") });'
  turn '[]' -p /c --hook a.ts --hook b.ts; is "$(logged)" '"a"'
  code 0 ona hooks list --json --hook a.ts --hook b.ts; is "$(jq -c '[.modules[].commands[]]' <<<"$out")" '["c","c"]'
}
check_003_7_01() {
  allowed; module m.ts 'pi.on("tool_call", (event, ctx) => log(["select", "confirm", "input", "editor", "notify", "setStatus", "custom", "setEditorText", "getEditorText"].every((name) => typeof ctx.ui[name] === "function") && typeof ctx.ui.theme.fg === "function"));'
  bash_tool true --hook m.ts; is "$(logged)" true
}
check_003_7_02() { allowed; module m.ts 'pi.on("tool_call", (event, ctx) => log(ctx.hasUI));'; bash_tool true --hook m.ts; is "$(logged)" false; }
check_003_7_03() {
  allowed; module m.ts 'pi.on("tool_call", async (event, { ui }) => { ui.notify("x"); ui.setStatus("k", "v"); ui.setEditorText("e"); log([[await ui.select("t", ["a"]), await ui.input("t"), await ui.editor("t")].every((one) => one === undefined), await ui.confirm("t", "m"), ui.getEditorText()]); });'
  bash_tool true --hook m.ts; is "$(logged)" '[true,false,""]'
}
check_003_8_01() {
  allowed; echo 'export const x = 1;' >none.ts; echo 'export default function ( {' >syntax.ts; echo 'export default {};' >object.ts; first_example guard.ts
  bash_tool 'rm -rf x' --hook none.ts --hook syntax.ts --hook object.ts --hook missing.ts --hook guard.ts; denied 'blocked by policy'
  is "$(rows_of dialect_load_error)" 4
  is "$(sql "SELECT count(*) FROM events WHERE json_extract(detail,'\$.error')='Hook must export a default function'")" 2
}
check_003_8_02() {
  allowed; module m.ts 'pi.on("agent_end", () => { throw new Error("at the end"); }); pi.on("agent_end", () => log("next"));'
  turn '[{"say":"done"}]' -p go --hook m.ts; is "$out" done; is "$(logged)" '"next"'
  is "$(sql "SELECT json_extract(detail,'\$.hookPath')||' '||json_extract(detail,'\$.event')||' '||json_extract(detail,'\$.error') FROM events WHERE event_type='hook_error'")" "$PWD/m.ts agent_end at the end"
}
check_003_8_03() {
  check_003_5_02
  allowed; module m.ts 'pi.on("tool_call", () => { for (;;); });'; bash_tool true --hook m.ts; denied 'the module was stopped: it used up its CPU time'
  # However it fails, the call is denied and no later handler is asked.
  local body
  while IFS='|' read -r body reason; do
    module m.ts "pi.on('tool_call', async () => { $body }); pi.on('tool_call', () => log('second'));"
    bash_tool 'touch made' --hook m.ts; is "$(content)" "Denied by PreToolUse hook${reason:+
$reason}"; is "$(is_error)" true
  done <<'CASES'
throw 'a string';|Hook failed, blocking execution: a string
await Promise.reject(new Error('later'));|later
throw new Error('');|
nothing.at.all();|nothing is not defined
CASES
  is "$(logged)" ''; [ ! -e made ] || fail 'it ran'
}
check_003_9_01() {
  allowed; cat >block.ts <<'MODULE'
import type { HookAPI } from "@oh-my-pi/pi-coding-agent/hooks";

export default function (pi: HookAPI): void {
	pi.on("tool_call", async (event, ctx) => {
		if (event.toolName !== "bash") return;
		const cmd = String(event.input.command ?? "");
		if (!cmd.includes("rm -rf")) return;

		if (!ctx.hasUI) return { block: true, reason: "rm -rf blocked (no UI)" };
		const ok = await ctx.ui.confirm("Dangerous command", `Allow: ${cmd}`);
		if (!ok) return { block: true, reason: "user denied command" };
	});
}
MODULE
  bash_tool 'rm -rf x' --hook block.ts; denied 'rm -rf blocked (no UI)'; bash_tool 'echo ok' --hook block.ts; is "$(content)" ok
}
check_003_9_02() {
  allowed; echo 'API_KEY=abc x' >k.txt; cat >redact.ts <<'MODULE'
import type { HookAPI } from "@oh-my-pi/pi-coding-agent/hooks";

export default function (pi: HookAPI): void {
	pi.on("tool_result", async event => {
		if (event.toolName !== "read" || event.isError) return;

		const redacted = event.content.map(chunk => {
			if (chunk.type !== "text") return chunk;
			return { ...chunk, text: chunk.text.replaceAll(/API_KEY=\S+/g, "API_KEY=[REDACTED]") };
		});

		return { content: redacted };
	});
}
MODULE
  tool Read '{"file_path":"k.txt"}' --hook redact.ts; has "$(content)" 'API_KEY=[REDACTED] x'; lacks "$(newest)" 'API_KEY=abc'
  # The tool's own result is kept beside it; a failed read is left as it is.
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='content_replacement' AND payload_json LIKE '%API_KEY=abc%'")" 1
  tool Read '{"file_path":"none.txt"}' --hook redact.ts; is "$(is_error)" true
}
check_003_9_03() {
  allowed; cat >filter.ts <<'MODULE'
import type { HookAPI } from "@oh-my-pi/pi-coding-agent/hooks";

export default function (pi: HookAPI): void {
	pi.on("context", async event => {
		const filtered = event.messages.filter(msg => !(msg.role === "custom" && msg.customType === "debug-only"));
		return { messages: filtered };
	});
}
MODULE
  module noise.ts 'pi.on("session_start", () => { pi.sendMessage({ customType: "debug-only", content: "NOISE", display: false }); pi.sendMessage({ customType: "note", content: "KEPT", display: true }); });'
  turn '[{"say":"done"}]' -p go --hook noise.ts --hook filter.ts; lacks "$(body 0)" NOISE; has "$(body 0)" KEPT
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%NOISE%'")" 1
}
check_003_9_04() {
  allowed; cat >handoff.ts <<'MODULE'
import type { HookAPI } from "@oh-my-pi/pi-coding-agent/hooks";

export default function (pi: HookAPI): void {
	pi.registerCommand("handoff", {
		description: "Create a new session with setup message",
		handler: async (_args, ctx) => {
			await ctx.waitForIdle();
			await ctx.newSession({
				parentSession: ctx.sessionManager.getSessionFile(),
				setup: async sm => {
					sm.appendMessage({
						role: "user",
						content: [{ type: "text", text: "Continue from prior session summary." }],
						timestamp: Date.now(),
					});
				},
			});
		},
	});
}
MODULE
  turn '[]' -p /handoff --session-id s-1 --hook handoff.ts
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE session_id<>'s-1' AND entry_type='user' AND payload_json LIKE '%Continue from prior session summary.%'")" 1
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='user'")" 1; is "$(requests)" 0
  is "$(sql "SELECT json_extract(detail,'\$.parent') FROM events WHERE event_type='session_created' AND json_extract(detail,'\$.by')='module'")" s-1
}
check_003_10_01() {
  code 0 ona hooks types; local name
  for name in discoverAndLoadHooks loadHooks HookRunner HookToolWrapper execCommand HookAPI HookContext HookUIContext; do has "$out" "$name"; done
  allowed; printf '%s\n' 'import { execCommand, loadHooks, HookRunner } from "@oh-my-pi/pi-coding-agent/hooks";' 'export default (pi: any) => pi.on("tool_call", async () => ({ block: true, reason: (await execCommand("echo", ["hi"], "/")).stdout.trim() + typeof loadHooks + typeof HookRunner }));' >m.ts
  bash_tool true --hook m.ts; denied hifunctionfunction
}
# Both engines, one behaviour; a package that only an installed runtime can give.
check_DEC_170() {
  allowed; first_example guard.ts
  local engine
  for engine in embedded node; do ONA_JS_RUNTIME=$engine bash_tool 'rm -rf x' --hook guard.ts; denied 'blocked by policy'; done
  mkdir -p node_modules/pad; echo 'module.exports = (text) => `<${text}>`;' >node_modules/pad/main.js; echo '{"name":"pad","main":"main.js"}' >node_modules/pad/package.json
  echo 'export const word: string = "x";' >words.ts
  echo 'import pad from "pad"; import { word } from "./words"; enum E { A = 3 } export default (pi: any) => pi.on("tool_call", (event: any, ctx: any) => ({ block: true, reason: pad(word) + E.A + ctx.sessionManager.getSessionId().length }));' >npm.ts
  bash_tool true --hook npm.ts; denied '<x>336'
  code 0 ona hooks list --json --hook npm.ts --hook guard.ts
  is "$(jq -c '[.modules[] | [.engine == "embedded", .needs]], (.hooks | length)' <<<"$out" | tr '\n' ' ')" '[[false,["pad"]],[true,[]]] 2 '
  ONA_JS_RUNTIME=embedded bash_tool true --hook npm.ts; is "$(is_error)" false; has "$err" 'it imports pad, which the embedded engine does not have'
}
check_DEC_173() {
  allowed; mkdir -p .omp/hooks/pre; first_example .omp/hooks/pre/guard.ts
  bash_tool 'rm -rf x'; denied 'blocked by policy'
  bash_tool 'rm -rf x' --no-trust; is "$(is_error)" false
  SDLC_DISABLE_ALL_HOOKS=1 bash_tool 'rm -rf x'; is "$(is_error)" false
}
check_DEC_174() {
  allowed; first_example guard.ts; touch x; bash_tool 'rm -rf x' --hook guard.ts; [ -e x ] || fail 'it ran'; bash_tool true --hook guard.ts
  is "$(sql 'SELECT hook_event, matcher, command, tool_name, exit_code, stdout_text FROM hook_invocations ORDER BY id')" "PreToolUse|*|omp:$PWD/guard.ts#0|Bash|2|{\"block\":true,\"reason\":\"blocked by policy\"}
PreToolUse|*|omp:$PWD/guard.ts#0|Bash|0|"
}

# ---- what the extension API adds; a person at a screen is a fixture of ona hooks test ----------

# fixture JSON : one fixture, which must pass
fixture() { printf '%s' "$1" >fixture.json; code 0 ona hooks test fixture.json --hook m.ts; }
greeting() { module greet.ts 'pi.registerTool({ name: "greet", description: "Greets", parameters: pi.typebox.Type.Object({ name: pi.typebox.Type.String() }), execute: async (id, params) => { log(params); return { content: [{ type: "text", text: "Hello, " + params.name }] }; } });'; }
greet() { tool greet '{"name":"Ada"}' -e greet.ts "$@"; }

check_003_2_06() {
  allowed; module m.ts 'pi.registerMessageRenderer("note", (message, { expanded }, theme) => ({ render: (width) => [message.content + (expanded ? " all" : ""), "-".repeat(width)] }));'
  module other.ts 'pi.registerMessageRenderer("note", () => ({ render: () => ["the second"] }));'
  code 0 ona hooks list --json --hook m.ts; is "$(jq -c '.modules[0].renderers' <<<"$out")" '["note"]'
  fixture '{"render":"note","message":{"content":"hi"},"width":3,"expect":{"lines":["hi","---"]}}'
  fixture '{"render":"note","message":{"content":"hi"},"width":1,"expanded":true,"expect":{"lines":["hi all","-"]}}'
  code 0 ona hooks test fixture.json --hook m.ts --hook other.ts
  code 1 ona hooks test fixture.json --hook other.ts --hook m.ts; has "$out" 'the second'
}
check_003_7_04() {
  allowed; module m.ts 'pi.registerCommand("s", { handler: (args, ctx) => { ctx.ui.setStatus("b", "x\ty\n  z\r"); ctx.ui.setStatus("a", " 1 "); ctx.ui.setStatus("c", "gone"); ctx.ui.setStatus("c", undefined); } });'
  fixture '{"command":"s","person":{},"expect":{"status":"1 x y z"}}'
  fixture '{"command":"s","person":{},"width":3,"expect":{"status":"1 x"}}'
  fixture '{"command":"s","expect":{"status":""}}'
}
# A tool of a module: offered, checked against its schema, hooked, run, recorded.
check_EXT_1() {
  allowed; greeting; module watch.ts 'pi.on("tool_call", (event) => event.input.name === "Eve" ? { block: true, reason: "not Eve" } : undefined);'
  turn '[{"calls":[{"name":"greet","input":{"name":"Ada"}}]},{"say":"done"}]' -p go --allowedTools greet -e greet.ts -e watch.ts
  has "$(body 0)" '"name":"greet"'; has "$(body 1)" 'Hello, Ada'; is "$(logged)" '{"name":"Ada"}'
  is "$(sql "SELECT count(*) FROM hook_invocations WHERE tool_name='greet' AND hook_event='PreToolUse'")" 1
  is "$(sql "SELECT count(*) FROM events WHERE event_type='tool_started' AND detail LIKE '%greet%'")" 1
  tool greet '{"name":1}' -e greet.ts; is "$(content)" '`name` must be a string, not a number'; is "$(is_error)" true
  tool greet '{"name":"Eve"}' -e greet.ts -e watch.ts; denied 'not Eve'; is "$(logged | wc -l)" 1
  # What the model, the module and other modules learn about it.
  rm log; module greet.ts 'const { Type } = pi.typebox; pi.registerTool({ name: "greet", description: "Greets a person", parameters: Type.Object({ name: Type.String({ minLength: 2 }), times: Type.Integer({ default: 1 }) }, { required: ["name"] }), async execute(id, params, signal, onUpdate, ctx) { log([typeof id, params, signal.aborted, ctx.cwd.length > 0, ctx.hasUI]); if (params.name === "nobody") throw new Error("nobody is not there"); return { content: [{ type: "text", text: "Hello, " + params.name }], details: { greeted: params.name } }; } });'
  module watch.ts 'for (const name of ["tool_call", "tool_result"]) pi.on(name, ({ type, toolName, input, details }) => log({ type, toolName, input, details }));'
  turn '[{"calls":[{"name":"greet","input":{"name":"Ada"}}]},{"say":"done"}]' -p go --session-id told --output-format stream-json --verbose --allowedTools greet -e greet.ts -e watch.ts
  is "$(head -1 <<<"$out" | jq -c '.tools | index("greet") != null')" true
  is "$(req 0 '.body.tools[] | select(.name == "greet") | [.description, .input_schema.required] | tostring')" '["Greets a person",["name"]]'
  is "$(logged)" '{"type":"tool_call","toolName":"greet","input":{"name":"Ada","times":1}}
["string",{"name":"Ada","times":1},false,true,false]
{"type":"tool_result","toolName":"greet","input":{"name":"Ada","times":1},"details":{"greeted":"Ada"}}'
  is "$(sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE session_id='told' AND entry_type LIKE 'tool%' ORDER BY sequence)")" tool_use,tool_result
  # What does not fit never reaches the module; a tool that throws has failed, in its own words.
  rm log
  greet_fails() { tool greet "$1" --allowedTools greet -e greet.ts; is "$(content) $(is_error)" "$2 true"; }
  greet_fails '{}' 'missing field `name`'; greet_fails '{"name":"A"}' '`name` must have at least 2 characters'; is "$(logged)" ''
  greet_fails '{"name":"nobody"}' 'nobody is not there'
}
# Unknown means ask, a deny wins, the planning gate is shut, a built-in name is refused.
check_EXT_2() {
  allowed; greeting
  turn '[{"calls":[{"name":"greet","input":{"name":"Ada"}}]},{"say":"done"}]' -p go -e greet.ts; has "$(body 1)" 'there is nobody to ask'
  greet --allowedTools greet; is "$(content)" 'Hello, Ada'
  greet --allowedTools greet --disallowedTools greet; is "$(content)" 'Denied by permission rule greet'
  sql "UPDATE conversations SET phase='planning'"
  greet --allowedTools greet; is "$(content)" 'Denied: phase is planning and no approved plan exists'
  module m.ts 'pi.registerTool({ name: "bash", description: "", execute: async () => ({ content: "mine" }) }); pi.on("tool_result", () => log("alive"));'
  sql "UPDATE conversations SET phase='idle'"
  bash_tool 'echo own' --hook m.ts; is "$(content)" own; is "$(logged | tail -1)" '"alive"'
  has "$err" 'the tool bash is refused: a built-in tool has this name and cannot be replaced'; is "$(rows_of dialect_load_error)" 1
}
check_EXT_3() {
  allowed; module m.ts 'pi.registerFlag("fast", { type: "boolean", default: false }); pi.registerFlag("to", { type: "string" }); pi.registerFlag("preset", { type: "string", default: "none" }); log([pi.getFlag("fast"), pi.getFlag("to"), pi.getFlag("preset"), pi.getFlag("other") === undefined]);'
  code 0 ona hooks list -e m.ts; code 0 ona hooks list -e m.ts --extension-flag fast --extension-flag to=a=b; code 0 ona hooks list -e m.ts --extension-flag fast=false
  is "$(logged | tr '\n' ' ')" '[false,null,"none",true] [true,"a=b","none",true] [false,null,"none",true] '
  code 2 ona hooks list -e m.ts --extension-flag slow; has "$err" 'no hook module has the flag slow; they have fast, preset, to'
  code 2 ona hooks list -e m.ts --extension-flag to; has "$err" 'the flag to needs a value'
  code 2 ona hooks list -e m.ts --extension-flag fast=perhaps; has "$err" 'the flag fast is true or false, not perhaps'
}
# Going on with a session, in it or in a copy, is asked about first; a no changes nothing.
check_EXT_4() {
  allowed; turn '[{"say":"one"}]' -p first --session-id s
  module m.ts 'pi.on("session_before_switch", (event) => { log([event.reason, event.targetSessionFile ?? null]); return { cancel: true }; }); pi.on("session_switch", () => log("never"));'
  local before rows="SELECT count(*) FROM transcript_entries"; before=$(sql "$rows")
  code 1 ona -p next -r s --hook m.ts </dev/null; has "$err" 'a hook module cancelled resuming session s'
  code 1 ona -p next -c --hook m.ts </dev/null; code 1 ona -p next -r s --fork-session --hook m.ts </dev/null
  is "$(logged | tr '\n' ' ')" '["resume","s"] ["resume","s"] ["fork","s"] '
  is "$(sql 'SELECT count(*) FROM sessions')" 1; is "$(requests)" 1; is "$(sql "$rows")" "$before"
  code 1 ona -p /clear --hook m.ts </dev/null; has "$err" 'A hook module cancelled /clear; the session goes on.'
  # Asked while no session is open, told when the rows are there.
  rm log; module m.ts 'for (const name of ["session_before_switch", "session_start", "session_switch"]) pi.on(name, (event, ctx) => log([event.type, event.reason, event.targetSessionFile, ctx.sessionManager.getEntries().length > 1]));'
  turn '[{"say":"two"}]' -p next -r s --fork-session --hook m.ts
  is "$(logged | tr '\n' ' ')" '["session_before_switch","fork","s",false] ["session_start",null,null,true] ["session_switch","fork",null,true] '; is "$(sql 'SELECT count(*) FROM sessions')" 3
  rm log; turn '[{"say":"three"}]' -p next -r s --hook m.ts; turn '[{"say":"four"}]' -p next -c --hook m.ts
  is "$(logged | tr '\n' ' ')" '["session_before_switch","resume","s",false] ["session_start",null,null,true] ["session_switch","resume",null,true] ["session_before_switch","resume","s",false] ["session_start",null,null,true] ["session_switch","resume",null,true] '
}
check_EXT_5() {
  allowed; turn '[{"say":"one"}]' -p first --session-id s; module m.ts 'pi.on("session_before_compact", (event) => { log(event.customInstructions ?? null); return { cancel: true }; });'
  code 1 ona -p '/compact keep names' -r s --hook m.ts </dev/null; has "$err" 'Compaction cancelled'; is "$(logged)" '"keep names"'; is "$(requests)" 1
  is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='collapse_commit'")" 0
  turn '[{"say":"SUMMARY"}]' -p /compact -r s; is "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type='collapse_commit'")" 1
}
check_EXT_6() {
  allowed; module m.ts 'pi.registerCommand("greet", { handler: (args) => log(args) });'
  turn '[]' -p '/greet you' --output-format stream-json --verbose --hook m.ts
  is "$(head -1 <<<"$out" | jq -c '.slash_commands | index("greet") != null')" true; is "$(logged)" '"you"'; is "$(requests)" 0
}
# A scripted person answers dialogs; without one the answers are the documented ones.
check_EXT_7() {
  allowed; module m.ts 'pi.registerCommand("q", { handler: async (args, ctx) => ctx.ui.notify(JSON.stringify([ctx.hasUI, await ctx.ui.confirm("t", "m"), await ctx.ui.select("t", ["a"]) ?? null])) });'
  fixture '{"command":"q","person":{"confirm":true,"select":"a"},"expect":{"notices":[["info","[true,true,\"a\"]"]]}}'
  fixture '{"command":"q","person":{},"expect":{"notices":[["info","[true,false,null]"]]}}'
  fixture '{"command":"q","expect":{"notices":[],"error":null}}'
}

run_check "$@"
