#!/usr/bin/env bash
# Acceptance checks of `ona plugin`: installing, pinning, switching and removing plugins, and what of
# a plugin counts. The model is scripted (model.mjs). Run: plugins.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/model.sh"

# ---- words of this area ------------------------------------------------------------

# plugin FOLDER : a plugin with a hook, a server, a skill, a command, an agent and a style
plugin() {
  mkdir -p "$1/.claude-plugin" "$1/hooks" "$1/skills/tidy" "$1/commands/git" "$1/agents" "$1/output-styles"
  echo '{"name":"beads","version":"1.2","description":"keeps issues"}' >"$1/.claude-plugin/plugin.json"
  jq -n '{hooks:{PreToolUse:[{matcher:"Bash",hooks:[{type:"command",command:"echo ran >> \"$CLAUDE_PROJECT_DIR\"/order"}]}]}}' >"$1/hooks/hooks.json"
  jq -n --arg s "$ONA_ROOT/crates/ona/tests/it/mcp_server.mjs" '{mcpServers:{notes:{command:"node",args:[$s],env:{LOG:"${CLAUDE_PLUGIN_ROOT}.log"}}}}' >"$1/.mcp.json"
  printf -- '---\ndescription: tidies\n---\nTidy up. !`git status`\n' >"$1/skills/tidy/SKILL.md"
  echo 'Commit it.' >"$1/commands/git/save.md"
  printf -- '---\nname: keeper\ndescription: keeps\n---\nKeep.\n' >"$1/agents/keeper.md"
  printf 'Talk in issues.\n' >"$1/output-styles/issues.md"
}
choose() { settings "$(jq -cn --argjson more "${1:-{\}}" '{model_config:{provider:"claude_code_subscription",model_id:"claude_sonnet_4"},permissions:{allow:["Bash"]}} + $more')"; }
# user_settings JSON : a file, so that starts follow it and the plugins
user_settings() { mkdir -p "$HOME/.ona"; printf '%s' "$1" >"$HOME/.ona/settings.json"; }
run_bash() { code 0 ona --eval '{"tool":"Bash","input":{"command":"true"}}'; }
runs() { cat order 2>/dev/null | wc -l; }

# ---- checks ------------------------------------------------------------------------

check_plugin_install() {
  plugin ../source
  user_settings '{"permissions":{"allow":["Bash"]}}'
  # Nobody confirms: everything it brings is shown, nothing is installed.
  code 1 ona plugin install ../source </dev/null
  has "$out" 'beads 1.2'
  has "$out" 'PreToolUse Bash: echo ran'
  has "$out" 'notes: node'
  has "$out" 'skills/tidy/SKILL.md: Tidy up. !`git status`'
  has "$out" 'git:save'
  has "$err" 'ona plugin install ../source --yes'
  code 0 ona plugin list --json
  is "$out" '[]'
  is "$(find "$HOME/.ona/plugins/cache" -type f | wc -l)" 0
  run_bash
  is "$(runs)" 0
  code 0 ona plugin install ../source --yes --json
  is "$(jq -r '[.installed, .plugin.id, (.contents.hooks | length)] | join(" ")' <<<"$out")" 'true beads 1'
  run_bash
  is "$(runs)" 1
  # Disabled, enabled, shown.
  code 0 ona plugin disable beads
  run_bash
  is "$(runs)" 1
  code 0 ona plugin enable beads --json
  is "$(jq -c . <<<"$out")" '{"id":"beads","enabled":true}'
  run_bash
  is "$(runs)" 2
  code 0 ona plugin show beads --json
  is "$(jq -r '[.version, .agents[0], .output_styles[0], .commands[0]] | join(" ")' <<<"$out")" '1.2 keeper issues git:save'
  # The source may go; the copy counts.
  rm -rf ../source
  run_bash
  is "$(runs)" 3
  code 0 ona plugin remove beads
  run_bash
  is "$(runs)" 3
  code 1 ona plugin remove beads
  has "$err" 'the plugin beads is not installed'
}

check_plugin_pinned() {
  plugin ../source
  user_settings '{"permissions":{"allow":["Bash"]}}'
  code 0 ona plugin install ../source --yes
  local root
  root=$(ona plugin list --json | jq -r '.[0].root')
  # A file that changed: nothing of the plugin is loaded, in one line with the remedy.
  echo 'More.' >>"$root/commands/git/save.md"
  run_bash
  is "$(runs)" 0
  code 0 ona plugin list --json
  is "$(jq -r '.[0].state' <<<"$out")" 'has other files than when it was installed'
  model '[{"say":"ok"}]'
  anthropic
  code 0 ona -p go --model claude_sonnet_4
  is "$(grep -c 'the plugin beads is not loaded, because it has other files' <<<"$err")" 1
  has "$err" "ona plugin install $(cd .. && pwd)/source"
  code 1 ona plugin enable beads
  code 0 ona plugin install ../source --yes
  has "$out" 'It is installed already'
  run_bash
  is "$(runs)" 1
  # No tool changes the list or the copies, in any mode.
  code 0 ona --eval "$(jq -cn --arg f "$HOME/.ona/plugins/installed.json" '{tool:"Write",input:{file_path:$f,content:"{}"}}')" --dangerously-skip-permissions
  is "$(is_error)" true
  code 0 ona --eval "$(jq -cn --arg f "$(ona plugin list --json | jq -r '.[0].root')/hooks/hooks.json" '{tool:"Bash",input:{command:("echo x > " + $f)}}')" --dangerously-skip-permissions
  is "$(is_error)" true
}

check_plugin_sources() {
  export GIT_CONFIG_GLOBAL=$HOME/.gitconfig
  printf '[user]\n\temail = a@a.test\n\tname = a\n' >"$HOME/.gitconfig"
  plugin ../work
  (cd ../work && git init -q -b main . && git add . && git commit -qm one && git clone -q --bare . ../bare.git)
  code 0 ona plugin install "file://$WORLD/bare.git" --yes
  is "$(ona plugin list --json | jq -r '.[0].source')" "file://$WORLD/bare.git"
  [ ! -e "$(ona plugin list --json | jq -r '.[0].root')/.git" ] || fail 'the repository was copied, too'
  local pinned
  pinned=$(ona plugin list --json | jq -r '.[0].sha256')
  # A checkout has the same files, whatever is in its .git.
  code 0 ona plugin install ../work --yes
  is "$(ona plugin list --json | jq -r '.[0].sha256')" "$pinned"
  for source in https://example.com/p.git git@example.com:p.git; do
    code 2 ona plugin install "$source" --yes
    has "$err" 'not fetched over a network'
  done
  code 1 ona plugin install ../nowhere --yes
  has "$err" 'does not exist'
  # Attack case K-5: nothing of a plugin lies outside it.
  jq '.commands=["../../../../etc/passwd"]' ../work/.claude-plugin/plugin.json >x && mv x ../work/.claude-plugin/plugin.json
  code 1 ona plugin install ../work --yes
  has "$err" 'names ../../../../etc/passwd in `commands`, which is not in it'
  choose
  code 0 ona hooks list --plugin-dir ../work
  model '[{"say":"ok"}]'
  anthropic
  user_settings '{}'
  printf '{"type":"user","message":{"role":"user","content":"hi"}}\n' | ona -p --plugin-dir ../work --model claude_sonnet_4 --output-format stream-json --input-format stream-json --verbose >lines 2>"$WORLD/stderr"
  lacks "$(jq -c 'select(.subtype=="init") | .slash_commands' lines)" passwd
  ln -s /etc/passwd ../work/commands/secret.md
  code 1 ona plugin install ../work --yes
  has "$err" 'neither a file nor a folder'
}

check_plugin_agent() {
  plugin ../source
  settings '{"permissions":{"allow":["Bash"]}}'
  # DEC-071: not from a shell of the agent, with whatever database.
  tool Bash "$(jq -cn --arg s "$WORLD/source" '{command:("ona plugin install " + $s + " --yes; ona --db /tmp/other.db plugin remove beads; true")}')"
  is "$(grep -o 'can be changed by the operator only' <<<"$(content)" | wc -l)" 2
  is "$(ona plugin list --json)" '[]'
}

check_plugin_parts() {
  plugin ../source
  user_settings '{"permissions":{"allow":["Bash","Agent","mcp__plugin_beads_notes__*"]},"outputStyle":"beads:issues"}'
  code 0 ona plugin install ../source --yes
  model '[{"calls":[{"name":"Agent","input":{"description":"d","prompt":"p","subagent_type":"beads:keeper"}}]},{"say":"kept"},{"say":"ok"}]'
  anthropic
  printf '{"type":"user","message":{"role":"user","content":"hi"}}\n' | ona -p --model claude_sonnet_4 --output-format stream-json --input-format stream-json --verbose >lines 2>"$WORLD/stderr"
  is "$(jq -r 'select(.subtype=="init") | .output_style' lines)" 'beads:issues'
  has "$(jq -c 'select(.subtype=="init") | .agents' lines)" beads:keeper
  has "$(jq -c 'select(.subtype=="init") | .slash_commands' lines)" beads:tidy
  is "$(jq -r 'select(.subtype=="init") | .mcp_servers[0] | .name + " " + .status' lines)" 'plugin:beads:notes connected'
  has "$(jq -c 'select(.subtype=="init") | .tools' lines)" mcp__plugin_beads_notes__
  has "$(req 0 '.body.system | tostring')" 'Talk in issues.'
  has "$(req 1 '.body.system | tostring')" 'Keep.'
  # Attack case K-3: the policy counts for servers of plugins, as for those of flags.
  echo '{"deniedMcpServers":[{"serverName":"plugin:beads:notes"},{"serverName":"x"}]}' >"$ONA_MANAGED_SETTINGS"
  code 0 ona mcp list --json --mcp-config '{"mcpServers":{"x":{"command":"true"}}}'
  is "$(jq -r '[.[] | .name + " " + .status] | sort | join(",")' <<<"$out")" 'plugin:beads:notes denied,x denied'
}

run_check "$@"
