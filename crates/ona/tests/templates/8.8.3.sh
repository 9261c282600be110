# Setup: configure a PreToolUse hook that exits 2 (blocking)
sqlite3 "$AGENT_SDLC_DB" \
  "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at)
   VALUES ('effective',
   '{\"hooks\":[{\"hook_event_name\":\"PreToolUse\",\"matcher\":\"Bash\",\"command\":\"exit 2\"}]}',
   datetime('now'))"

# Exercise: invoke Bash tool
ona --eval '{"tool": "Bash", "input": {"command": "echo hello"}}'

# Assert: hook_invocations row with exit_code=2
sqlite3 "$AGENT_SDLC_DB" \
  "SELECT exit_code FROM hook_invocations
   WHERE hook_event='PreToolUse' AND tool_name='Bash'
   ORDER BY id DESC LIMIT 1" | grep '^2$' || exit 1

# Assert: transcript has tool_result with is_error=true (denied)
sqlite3 "$AGENT_SDLC_DB" \
  "SELECT payload_json FROM transcript_entries
   WHERE entry_type='tool_result' ORDER BY sequence DESC LIMIT 1" \
  | grep '"is_error":true' || exit 1
