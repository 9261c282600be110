#!/usr/bin/env bash
# Acceptance checks of the wall of the kernel around a command: ways to get at ona's record, guards and
# processes, each tried for real, inside and outside the wall. Run: sandbox.sh <id>
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# ---- words of this area ------------------------------------------------------------

# A project with a guard of its own, a record with a row, and a login that nobody may read.
guarded_project() {
  mkdir -p .ona "$HOME/.ona" hooks src
  printf '#!/bin/sh\nexit 0\n' >hooks/guard.sh
  chmod +x hooks/guard.sh
  jq -n --arg guard "$PWD/hooks/guard.sh" \
    '{hooks:[{hook_event_name:"PreToolUse",matcher:"Bash",command:$guard}],permissions:{deny:["Bash(curl *)"]}}' >.ona/settings.json
  echo '{"permissions":{"deny":["WebFetch"]}}' >"$HOME/.ona/settings.json"
  code 0 ona db init
  code 0 ona memory add title content
  git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one
  kept=$(state_of_guards)
}
guards() { printf '%s\n' "$PWD/.ona/settings.json" "$HOME/.ona/settings.json" "$PWD/hooks/guard.sh"; }
# Names, contents and rights of what is guarded, and the rows of the record.
state_of_guards() {
  local file
  for file in $(guards) "$AGENT_SDLC_DB"; do stat -c '%n %a %h %F' "$file" 2>&1; done
  for file in $(guards); do sha256sum "$file" 2>&1; done
  sqlite3 -readonly "$AGENT_SDLC_DB" 'SELECT count(*), max(title) FROM memories' 2>&1
}
walled() { ona sandbox exec -- bash -c "$1" <<<''; }

# Ways to change what is guarded. $S is the project's settings, $U the user's, $H the hook, $D the database.
attempts() {
  cat <<'END'
echo '{}' >$S
echo '{}' >>$U
echo 'exit 0' | tee $H
: >$D
truncate -s 0 $S
cp /dev/null $S
mv src $S
rm -f $S
rm -rf .ona
rm -rf hooks && mkdir hooks && echo >hooks/guard.sh
mv .ona ona-2 && mkdir .ona && echo '{}' >.ona/settings.json
mv hooks hooks-2 && mkdir hooks && echo 'exit 0' >hooks/guard.sh
cd .. && mv project project-2 && mkdir project && mv project-2/src project/
mv $HOME/.ona $HOME/ona-2 && mkdir $HOME/.ona && echo '{}' >$HOME/.ona/settings.json
mv $HOME $HOME-2 && mkdir $HOME
ln -f src/x $S; ln $S other && echo '{}' >other
ln -s .ona up; rm -f up/settings.json
ln -sfn /dev/null $S
chmod 777 $H; chmod -R a-x hooks; chmod 0 $S
chown 1 $S
sed -i s/deny/allow/ $S
perl -pi -e s/deny/allow/ $S
python3 -c 'import os,sys; os.open(sys.argv[1], os.O_RDWR|os.O_TRUNC)' $S
python3 -c 'import os,sys; open("new","w").write("{}"); os.replace("new", sys.argv[1])' $S
python3 -c 'import os,sys; fd=os.open(os.path.dirname(sys.argv[1]), os.O_RDONLY); os.unlink("settings.json", dir_fd=fd)' $S
python3 -c 'import os,sys,ctypes; libc=ctypes.CDLL(None, use_errno=True); open("n","w").write("{}"); sys.exit(libc.renameat2(-100, b"n", -100, sys.argv[1].encode(), 2))' $S
node -e 'require("fs").writeFileSync(process.argv[1], "{}")' $S
sqlite3 $D "DELETE FROM memories"
sqlite3 $D "UPDATE memories SET title='other'; PRAGMA wal_checkpoint(TRUNCATE)"
python3 -c 'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("DELETE FROM memories"); c.commit()' $D
printf 'echo {} >"$1"\n' >w.sh; bash w.sh $S
git rm -q --cached .ona/settings.json; git stash -q; git checkout -q HEAD~0 -- .; git mv .ona/settings.json s.json
tar cf t.tar --transform s,src/x,.ona/settings.json, src/x; tar xf t.tar
printf -- '--- a/.ona/settings.json\n+++ b/.ona/settings.json\n@@ -1 +1 @@\n-{\n+[\n' | patch -p1
mkdir -p r/.ona && echo '{}' >r/.ona/settings.json && cp -rf r/. .
(setsid sh -c "sleep 0.3; echo '{}' >$S" >/dev/null 2>&1 &) ; sleep 0.6
umount $S; umount -l .ona; umount -l .; echo '{}' >$S
mount -o remount,rw,bind $S; echo '{}' >$S
mount --bind src .ona
unshare -Urm sh -c "umount -l $S; mount -o remount,bind,rw $S; echo '{}' >$S"
unshare -m sh -c "umount -l $S; echo '{}' >$S"
nsenter -t $PPID -m sh -c "echo '{}' >$S"
for p in /proc/[0-9]*; do echo '{}' >$p/root$S; done
for p in /proc/[0-9]*; do echo '{}' >$p/cwd/.ona/settings.json; done
for f in /proc/self/fd/*; do echo '{}' >$f/../settings.json; done
chroot / sh -c "echo '{}' >$S"
python3 -c 'import os; [os.fchdir(fd) or open(".ona/settings.json","w") for fd in range(3,64) if os.path.isdir("/proc/self/fd/%d"%fd)]'
debugfs -w -R "rm $S" "$(df --output=source . | tail -1)"
dd if=/dev/zero of="$(df --output=source . | tail -1)" bs=1 count=0 conv=notrunc
mknod dev b 8 0 && dd if=dev of=/dev/null count=1
chattr -i $S; setfattr -n user.x -v y $S
touch -d 2001-01-01 $S && [ "$(stat -c %Y $S)" = 978307200 ] && echo '{}' >$S
fallocate -l 10 $S; python3 -c 'import os,sys; os.truncate(sys.argv[1], 0)' $S
exec 9<>$S; echo '{}' >&9
END
}

# Ways to reach the program that started the command. Each prints "reached" if it can.
reaching() {
  cat <<'END'
kill -0 $P && echo reached
kill -STOP $P && echo reached; kill -CONT $P
kill -TERM -$P && echo reached
python3 -c 'import os,sys; os.kill(int(sys.argv[1]), 0); print("reached")' $P
python3 -c 'import signal,os,sys; signal.pidfd_send_signal(os.pidfd_open(int(sys.argv[1])), 0); print("reached")' $P
python3 -c 'import signal,os,sys; fd=os.open("/proc/"+sys.argv[1], os.O_RDONLY); signal.pidfd_send_signal(fd, 0); print("reached")' $P
head -c1 /proc/$P/mem >/dev/null && echo reached; : 2>/dev/null >/proc/$P/mem && echo reached
ls /proc/$P/root/ >/dev/null && echo reached
readlink /proc/$P/fd/0 /proc/$P/exe /proc/$P/cwd && echo reached
tr '\0' '\n' </proc/$P/environ | grep -q . && echo reached
python3 -c 'import ctypes,sys; l=ctypes.CDLL(None); sys.exit(l.ptrace(16, int(sys.argv[1]), 0, 0))' $P && echo reached
python3 -c 'import ctypes,sys; l=ctypes.CDLL(None); b=ctypes.create_string_buffer(8); print("reached" if l.syscall(310, int(sys.argv[1]), b, 1, b, 1, 0) >= 0 else "")' $P
python3 -c 'import ctypes; l=ctypes.CDLL(None); print("reached" if l.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0 else "")'
python3 -c 'import ctypes; l=ctypes.CDLL(None); print("reached" if l.unshare(0x10000000) == 0 else "")'
prlimit --pid $P --nofile=1:1 && echo reached
END
}

# ---- checks ------------------------------------------------------------------------

check_state() {
  code 0 ona sandbox status
  has "$out" 'sandbox      enforced'
  code 0 ona sandbox status --json
  is "$(jq -c '[.state, .gaps, (.mechanisms | keys)]' <<<"$out")" '["enforced",[],["landlock","namespaces","seccomp"]]'
  # It leaves nothing behind.
  is "$(ls "$TMPDIR")" ''
}

# Each way is tried inside the wall, and whatever it left is put back.
check_guards_hold() {
  guarded_project
  local line tried=0
  cp -a . "$WORLD/copy"
  export S=$PWD/.ona/settings.json U=$HOME/.ona/settings.json H=$PWD/hooks/guard.sh D=$AGENT_SDLC_DB
  while IFS= read -r line; do
    walled "$line" >"$WORLD/said" 2>&1 || true
    cd "$WORLD/project"
    [ "$(state_of_guards)" = "$kept" ] || fail "this got through: $line
$(cat "$WORLD/said")
$(diff <(printf '%s' "$kept") <(state_of_guards))"
    tried=$((tried + 1))
  done < <(attempts)
  [ "$tried" -ge 50 ] || fail "only $tried ways were tried"
  code 0 ona audit verify
}

# The same ways without the wall: most of them work, so that the check above proves something.
check_attempts_work() {
  local line worked=0 project=$PWD
  while IFS= read -r line; do
    cd "$WORLD"
    chmod -R u+rwX "$WORLD" 2>/dev/null || true
    rm -rf "$project" "$HOME" "$HOME-2" "$WORLD/state" "$project-2"
    mkdir -p "$project" "$HOME"
    cd "$project"
    guarded_project
    export S=$PWD/.ona/settings.json U=$HOME/.ona/settings.json H=$PWD/hooks/guard.sh D=$AGENT_SDLC_DB
    timeout 20 bash -c "$line" >/dev/null 2>&1 <<<'' || true
    cd "$WORLD/project" 2>/dev/null || true
    [ "$(state_of_guards)" = "$kept" ] || worked=$((worked + 1))
  done < <(attempts | grep -vE 'umount|mount |mknod|debugfs|dd if|nsenter|unshare|chroot')
  chmod -R u+rwX "$WORLD" 2>/dev/null || true
  [ "$worked" -ge 30 ] || fail "only $worked ways work without a wall"
}

check_program_is_out_of_reach() {
  guarded_project
  local line
  while IFS= read -r line; do
    # The parent of the command is ona.
    code 0 ona sandbox exec -- bash -c "P=\$PPID; $line; true"
    case $out in *reached*) fail "this reached it: $line" ;; esac
  done < <(reaching)
  # Outside, the same words find their parent.
  has "$(bash -c 'P=$PPID; kill -0 $P && echo reached')" reached
}

check_ordinary_work() {
  guarded_project
  code 0 ona sandbox exec -- bash -c 'pwd; echo x >src/new && mv src/new src/newer && rm src/newer; mkdir -p a/b && rm -r a; cat .ona/settings.json >/dev/null; git status --short; git add -A; git -c user.name=a -c user.email=a@b commit -qm two --allow-empty; (sleep 0.1 & wait); echo done'
  is "$out" "$PWD
done"
  # Exit codes, streams and the terminal's input are the command's own.
  code 7 ona sandbox exec -- sh -c 'cat; exit 7' <<<'from stdin'
  is "$out" 'from stdin'
  code 143 ona sandbox exec -- sh -c 'kill $$'
  code 1 ona sandbox exec -- no-such-program
  has "$err" 'no-such-program could not be started'
  code 2 ona sandbox exec
}

check_credentials_are_hidden() {
  local file
  for file in "$HOME/.local/share/ona/credentials.enc" "$HOME/.local/share/ona/mcp/server.key"; do
    mkdir -p "$(dirname "$file")"
    echo secret >"$file"
    has "$(cat "$file")" secret
    code 0 ona sandbox exec -- sh -c "cat '$file'; cp '$file' copy; cat copy; mv '$file' . ; cat $(basename "$file"); mv $HOME/.local/share/ona other; cat other/*; true"
    lacks "$out" secret
    is "$(cat "$file")" secret
  done
}

check_workspace() {
  guarded_project
  mkdir "$WORLD/outside"
  code 0 ona sandbox exec --workspace -- bash -c "echo x >src/in; echo x >$TMPDIR/t; echo x >/dev/null; echo x >$WORLD/outside/f || echo refused; mv src/in $WORLD/outside/ || echo refused; cat /etc/hostname >/dev/null; echo end"
  is "$out" 'refused
refused
end'
  is "$(ls "$WORLD/outside")" ''
}

check_network() {
  local connect='import socket,sys; s=socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2)'
  python3 -c 'import socket,time,sys; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(8); open(sys.argv[1],"w").write(str(s.getsockname()[1])); time.sleep(60)' "$WORLD/port.tmp" &
  local server=$! tries=0
  trap "kill $server 2>/dev/null; rm -rf '$WORLD'" EXIT
  until [ -s "$WORLD/port.tmp" ]; do tries=$((tries + 1)); [ $tries -lt 200 ] || fail 'no server'; sleep 0.05; done
  code 0 ona sandbox exec -- python3 -c "$connect" "$(cat "$WORLD/port.tmp")"
  code 1 ona sandbox exec --no-network -- python3 -c "$connect" "$(cat "$WORLD/port.tmp")"
  has "$err" 'Operation not permitted'
  code 0 ona sandbox exec --no-network -- python3 -c 'import socket; socket.socket(socket.AF_UNIX); socket.socketpair()'
}

run_check "$@"
