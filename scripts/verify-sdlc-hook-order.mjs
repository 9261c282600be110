#!/usr/bin/env node
// Compares the hook contracts the program prints with the order and field names of
// Appendix A. Plain Node >= 18, no dependencies. Exit 0 on equality, 1 with the
// differences, 2 if the program cannot be run.
//
//   node scripts/verify-sdlc-hook-order.mjs [path of ona]

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const APPENDIX_A = [
  ["PreToolUse", ["tool_name", "tool_input", "tool_use_id"]],
  ["PostToolUse", ["tool_name", "tool_input", "tool_response", "tool_use_id"]],
  ["PostToolUseFailure", ["tool_name", "tool_input", "tool_use_id", "error", "is_interrupt?"]],
  ["PermissionDenied", ["tool_name", "tool_input", "tool_use_id", "reason"]],
  ["Notification", ["message", "title?", "notification_type"]],
  ["UserPromptSubmit", ["prompt"]],
  ["SessionStart", ["source", "agent_type?", "model?"]],
  ["SessionEnd", ["reason"]],
  ["Stop", ["stop_hook_active", "last_assistant_message?"]],
  ["StopFailure", ["error", "error_details?", "last_assistant_message?"]],
  ["SubagentStart", ["agent_id", "agent_type"]],
  ["SubagentStop", ["stop_hook_active", "agent_id", "agent_transcript_path", "agent_type", "last_assistant_message?"]],
  ["PreCompact", ["trigger", "custom_instructions"]],
  ["PostCompact", ["trigger", "compact_summary"]],
  ["PermissionRequest", ["tool_name", "tool_input", "permission_suggestions?"]],
  ["Setup", ["trigger"]],
  ["TeammateIdle", ["teammate_name", "team_name"]],
  ["TaskCreated", ["task_id", "task_subject", "task_description?", "teammate_name?", "team_name?"]],
  ["TaskCompleted", ["task_id", "task_subject", "task_description?", "teammate_name?", "team_name?"]],
  ["Elicitation", ["mcp_server_name", "message", "mode?", "url?", "elicitation_id?", "requested_schema?"]],
  ["ElicitationResult", ["mcp_server_name", "elicitation_id?", "mode?", "action", "content?"]],
  ["ConfigChange", ["source", "file_path?"]],
  ["InstructionsLoaded", ["file_path", "memory_type", "load_reason", "globs?", "trigger_file_path?", "parent_file_path?"]],
  ["WorktreeCreate", ["name"]],
  ["WorktreeRemove", ["worktree_path"]],
  ["CwdChanged", ["old_cwd", "new_cwd"]],
  ["FileChanged", ["file_path", "event"]],
];

const BASE = [
  "hook_event_name", "session_id", "conversation_id", "runtime_db_path", "cwd",
  "permission_mode?", "agent_id?", "agent_type?",
];

const APPENDIX_B_ARMS = [
  "PreToolUse", "UserPromptSubmit", "SessionStart", "Setup", "SubagentStart", "PostToolUse",
  "PostToolUseFailure", "PermissionDenied", "Notification", "PermissionRequest", "Elicitation",
  "ElicitationResult", "CwdChanged", "FileChanged", "WorktreeCreate",
];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const built = ["target/release/ona", "target/debug/ona"].map((path) => join(root, path)).find(existsSync);
const program = process.argv[2] ?? process.env.ONA ?? built ?? "ona";

const ran = spawnSync(program, ["--hook-schema"], { encoding: "utf8" });
if (ran.status !== 0) {
  console.error(`${program} --hook-schema did not run: ${ran.error?.message ?? ran.stderr}`);
  process.exit(2);
}

const schema = JSON.parse(ran.stdout);
const names = (fields) => Object.entries(fields).map(([name, field]) => (field.required ? name : `${name}?`));
const differences = [];
const compare = (what, expected, found) => {
  if (JSON.stringify(expected) !== JSON.stringify(found)) {
    differences.push(`${what}\n  specification: ${expected.join(", ")}\n  program:       ${found.join(", ")}`);
  }
};

compare("base fields", BASE, names(schema.base));
compare("event order", APPENDIX_A.map(([name]) => name), schema.events.map((event) => event.hook_event_name));
for (const [name, fields] of APPENDIX_A) {
  const event = schema.events.find((event) => event.hook_event_name === name);
  if (event) compare(`fields of ${name}`, fields, names(event.fields));
}
compare("output arms", APPENDIX_B_ARMS, schema.output.hookSpecificOutput.map((arm) => arm.hookEventName));
if ("transcript_path" in schema.base) differences.push("transcript_path must not be sent");

if (differences.length > 0) {
  console.error(differences.join("\n"));
  process.exit(1);
}
console.log(`${APPENDIX_A.length} hook events and ${APPENDIX_B_ARMS.length} output arms in the order of the specification`);
