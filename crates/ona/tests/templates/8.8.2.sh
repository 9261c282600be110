# Setup: conversation in implement phase
sqlite3 "$AGENT_SDLC_DB" \
  "INSERT INTO conversations(id, project_dir, phase) VALUES ('test-conv-1', '/tmp', 'implement')"

# Exercise: attempt direct transition to verify (must fail — test phase required)
ona --transition verify --conversation test-conv-1 2>&1
PHASE=$(sqlite3 "$AGENT_SDLC_DB" "SELECT phase FROM conversations WHERE id='test-conv-1'")
test "$PHASE" = "implement" || exit 1  # still implement, not verify

# Exercise: transition to test (should succeed)
ona --transition test --conversation test-conv-1
PHASE=$(sqlite3 "$AGENT_SDLC_DB" "SELECT phase FROM conversations WHERE id='test-conv-1'")
test "$PHASE" = "test" || exit 1
