# Sourced after lib.sh by checks that talk to a scripted model (model.mjs): starting it,
# pointing ona at it, reading what it was asked.

servers=()
stop_servers() {
  local id
  for id in "${servers[@]}"; do kill "$id" 2>/dev/null || true; done
  servers=()
}
# model SCRIPT_JSON [PORT] [SQL] : starts a scripted model; $PORT and $LOG are its own. With SQL it
# asks the database that when a request arrives: .seen of the request.
model() {
  trap 'stop_servers; rm -rf "$WORLD"' EXIT
  local tries=0
  LOG=$WORLD/requests$RANDOM${#servers[@]}
  : >"$LOG"
  : >"$LOG.connections"
  MODEL_ASKS=${3:+$AGENT_SDLC_DB$'\t'$3} node "$ONA_ROOT/scripts/acceptance/model.mjs" "$LOG.port" "$LOG" "$1" ${2:+"$2"} >"$LOG.out" 2>&1 &
  servers+=($!)
  until [ -e "$LOG.port" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "the scripted model did not start: $(cat "$LOG.out")"
    sleep 0.05
  done
  PORT=$(cat "$LOG.port")
}
anthropic() { export ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT ANTHROPIC_API_KEY=canary-anthropic-key-1; }
openai() { export OPENAI_BASE_URL=http://127.0.0.1:$PORT/v1 OPENAI_API_KEY=canary-openai-key-22; }
lm_studio() { export LM_STUDIO_BASE_URL=http://127.0.0.1:$PORT/v1 LM_STUDIO_MODEL=canary/local-model; }

# requests : how many the model got. req N FILTER : of the n-th, from 0
requests() { wc -l <"$LOG"; }
connections() { wc -l <"$LOG.connections"; }
req() { sed -n "$(($1 + 1))p" "$LOG" | jq -r "$2"; }
# says CODE ARGUMENT... : one run without a terminal
says() {
  local want=$1
  shift
  code "$want" ona "$@" </dev/null
}
