#!/usr/bin/env bash
# The checker of behavioural tests: what sections 8.5.2 and 8.5.3 allow passes, what
# they forbid is rejected by the rule that says so, and nothing is run to find out.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# script BODY : a test case with a header, in case.sh
script() { printf '# traces: SC-1\n# title: It does what it should\n%s\n' "$1" >case.sh; }
# clean BODY [FLAG...] : no findings, exit 0, nothing printed
clean() {
  script "$1"
  shift
  code 0 ona test lint case.sh "$@"
  is "$out" ''
}
# breaks RULES BODY [FLAG...] : exactly these rules, exit 1
breaks() {
  local rules=$1
  script "$2"
  shift 2
  code 1 ona test lint case.sh --json "$@"
  is "$(jq -r 'map(.rule) | unique | join(" ")' <<<"$out")" "$rules"
}
observed="ona --version | grep -q '^ona ' || exit 1"

check_004_8_5_02() {
  breaks L05 'ona --version
test $? -eq 0'
  breaks L08 "$observed
python3 -c 'from unittest.mock import patch' || exit 1"
  breaks L06 'ona --version
[ 1 = 1 ] || exit 1'
  breaks L06 'ona --version
echo expected >"$SDLC_TEST_TMP/a"
grep -q expected "$SDLC_TEST_TMP/a" || exit 1'
  breaks L13 "ona --version | grep -q '^ona ' || true"
  clean "$observed"
}

check_004_8_5_2_01() {
  # Each of the five surfaces is enough, and nothing else is.
  clean 'ona db init
[ "$(sqlite3 "$AGENT_SDLC_DB" "SELECT count(*) FROM events")" = 0 ] || exit 1'
  clean 'ona --eval "{\"tool\":\"Write\",\"input\":{\"file_path\":\"$SDLC_TEST_TMP/a\",\"content\":\"x\"}}" --yes
[ -f "$SDLC_TEST_TMP/a" ] || exit 1'
  clean "$observed"
  clean 'ona --eval "{\"tool\":\"Glob\",\"input\":{\"pattern\":\"*\"}}" | jq -e ".is_error == false" || exit 1'
  clean 'ona --fire-hook "{}"
sqlite3 "$AGENT_SDLC_DB" "SELECT exit_code FROM hook_invocations" | grep -qx 2 || exit 1'
  breaks L04 'ona --version
echo done'
  breaks L04 'ona --version
grep -q root /etc/passwd || exit 1
echo done'
  breaks L04 'ona --version
[ -n "$HOME" ] || exit 1
echo done'
  breaks L03 '[ -f README.md ] || exit 1'
}

check_004_8_5_2_02() {
  clean 'ona db init
PHASE=$(sqlite3 "$AGENT_SDLC_DB" "SELECT phase FROM conversations")
test "$PHASE" = "" || exit 1'
  # A query about nothing, and a database of the script's own, say nothing.
  breaks L06 'ona db init
[ "$(sqlite3 "$AGENT_SDLC_DB" "SELECT 1")" = 1 ] || exit 1'
  breaks L06 'ona db init
sqlite3 "$SDLC_TEST_TMP/x.db" "CREATE TABLE t AS SELECT 1 AS a"
[ "$(sqlite3 "$SDLC_TEST_TMP/x.db" "SELECT a FROM t")" = 1 ] || exit 1'
}

check_004_8_5_2_03() {
  local call='ona --eval "{\"tool\":\"Write\",\"input\":{\"file_path\":\"$SDLC_TEST_TMP/a.txt\",\"content\":\"x\"}}" --yes'
  clean "$call
[ -f \"\$SDLC_TEST_TMP/a.txt\" ] || exit 1"
  clean "$call
[ \"\$(cat \"\$SDLC_TEST_TMP/a.txt\")\" = x ] || exit 1"
  clean "$call
[ \"\$(stat -c %a \"\$SDLC_TEST_TMP/a.txt\")\" = 644 ] || exit 1"
  # A file that has to stay as it is.
  clean "echo keep >\"\$SDLC_TEST_TMP/a.txt\"
$call --permission-mode plan
[ \"\$(cat \"\$SDLC_TEST_TMP/a.txt\")\" = keep ] || exit 1"
  breaks L06 'echo keep >"$SDLC_TEST_TMP/a.txt"
ona --version
[ "$(cat "$SDLC_TEST_TMP/a.txt")" = keep ] || exit 1'
}

check_004_8_5_2_04() {
  clean 'out=$(ona --transition nowhere --conversation c 2>&1)
[ $? -eq 2 ] || exit 1
[[ $out == *phase* ]] || exit 1'
  clean 'ona --help >"$SDLC_TEST_TMP/out" 2>"$SDLC_TEST_TMP/err"
grep -q -- --eval "$SDLC_TEST_TMP/out" || exit 1
[ ! -s "$SDLC_TEST_TMP/err" ] || exit 1'
  breaks L05 'ona --help >/dev/null || exit 1'
}

check_004_8_5_2_05() {
  clean 'line=$(ona --eval "{\"tool\":\"Read\",\"input\":{\"file_path\":\"/none\"}}")
[ "$(jq -r .is_error <<<"$line")" = true ] || exit 1
[[ $(jq -r .content <<<"$line") == *none* ]] || exit 1'
}

check_004_8_5_2_06() {
  script "$(cat "$(template_file 8.8.3)")"
  code 0 ona test lint case.sh
  is "$out" ''
}

check_004_8_5_2_07() {
  breaks L07 "$observed
python3 -c 'import app; assert app.add(1, 1) == 2' || exit 1"
  breaks L07 "$observed
node -e 'if (require(\"./src/x\")() !== 1) process.exit(1)' || exit 1"
  breaks L07 "$observed
source ./lib.sh"
  clean 'ona --hook-schema >"$SDLC_TEST_TMP/s"
python3 -c "import json,sys; assert len(json.load(open(sys.argv[1]))[\"events\"]) == 27" "$SDLC_TEST_TMP/s" || exit 1'
}

check_004_8_5_2_08() {
  breaks L12 'ona --version
grep -q "struct Reply" src/reply.rs || exit 1' --touched src/reply.rs
  breaks L12 'ona --version
cat src/*.rs | grep -q "struct Reply" || exit 1' --touched src/reply.rs
  # What the change did not touch can be looked at.
  clean 'ona --version
grep -q "struct Reply" src/reply.rs || exit 1' --touched src/other.rs
}

check_004_8_5_2_09() {
  breaks L07 "$observed
cat >\"\$SDLC_TEST_TMP/t.py\" <<'PY'
from app import _private
assert _private.state == 1
PY
python3 \"\$SDLC_TEST_TMP/t.py\" || exit 1"
}

check_004_8_5_2_10() {
  breaks L07 "$observed
node --input-type=module - <<'JS' || exit 1
import { cache } from '../lib/cache.mjs'
if (cache.size !== 0) process.exit(1)
JS"
}

check_004_8_5_3_02() {
  clean 'mkdir -p "$SDLC_TEST_TMP/p"
printf "a\nb\n" >"$SDLC_TEST_TMP/p/in.txt"
export NO_COLOR=1
sqlite3 "$AGENT_SDLC_DB" "INSERT INTO conversations(id, project_dir, phase) VALUES (1, 2, 3)"
HOME=$SDLC_TEST_TMP/p ona --eval "{\"tool\":\"Read\",\"input\":{\"file_path\":\"$SDLC_TEST_TMP/p/in.txt\"}}" | grep -q "2 lines" || exit 1'
}

check_004_8_5_3_03() {
  local name
  for name in 8.8.1 8.8.2 8.8.3; do
    script "$(cat "$(template_file $name)")"
    code 0 ona test lint case.sh
    is "$out" ''
    # The header is what makes it a traced case.
    code 1 ona test lint "$(template_file $name)" --json
    is "$(jq -r 'map(.rule) | join(" ")' <<<"$out")" L01
  done
  # What the lint calls an assertion is one: the product's answer decides.
  clean "ona --eval '{\"tool\":\"Read\",\"input\":{\"file_path\":\"a.txt\"}}' | grep -q '\"is_error\":false' || exit 1"
  code 1 bash case.sh
  echo a >a.txt
  code 0 bash case.sh
}

check_004_8_5_3_04() {
  breaks L08 "$observed
printf '%s\n' \"jest.mock('fs')\" >\"\$SDLC_TEST_TMP/x.test.js\"
npx jest \"\$SDLC_TEST_TMP/x.test.js\" || exit 1"
  breaks L08 "$observed
python3 - <<'PY'
import unittest.mock
PY"
  breaks 'L07 L08' "$observed
node -e 'require(\"sinon\").stub(process, \"exit\")'"
  breaks L10 'ona() { echo "ona 1"; }
[ -n "$(command ona --version)" ] || exit 1'
}

check_004_8_5_3_05() {
  breaks L09 "LD_PRELOAD=/tmp/x.so $observed"
  breaks L09 "export NODE_OPTIONS='--require /tmp/x.js'
$observed"
  breaks L09 "env DYLD_INSERT_LIBRARIES=/tmp/x $observed"
  breaks L09 "a=LD_; export \"\${a}PRELOAD=/tmp/x.so\"
$observed"
}

check_004_8_5_3_06() {
  breaks L07 "$observed
python3 -c 'import app; app.run(clock=lambda: 0)' || exit 1"
}

check_004_8_5_3_07() {
  breaks L10 'mkdir "$SDLC_TEST_TMP/bin"
printf "#!/bin/sh\necho ona 1\n" >"$SDLC_TEST_TMP/bin/ona"
PATH=$SDLC_TEST_TMP/bin:$PATH
'"$observed"
  breaks L10 "hash -p /bin/echo ona
$observed"
  breaks L09 "PYTHONPATH=\$SDLC_TEST_TMP $observed"
  breaks L02 "eval \"\$(echo b25hKCkgeyA6OyB9 | base64 -d)\"
$observed"
}

check_004_8_5_3_08() {
  clean 'python3 -m http.server --bind 127.0.0.1 8123 &
curl -s http://127.0.0.1:8123/ >/dev/null
ona --eval "{\"tool\":\"WebFetch\",\"input\":{\"url\":\"http://127.0.0.1:8123/\"}}" | grep -q Directory || exit 1'
  breaks L14 "curl -s https://example.com/
$observed"
}

check_004_8_8_1_05() {
  printf '%s\n' '// FORBIDDEN: imports implementation module directly' "import { toolRead } from '../lib/executeTools.mjs'" \
    '// FORBIDDEN: calls internal function, not public interface' "const result = await toolRead('/tmp/test', { file_path: 'foo.txt' })" \
    '// FORBIDDEN: asserts against internal return shape' 'assert.equal(result.is_error, false)' >case.sh
  code 1 ona test lint case.sh --json
  is "$(jq -r 'map(.rule) | join(" ")' <<<"$out")" 'L01 L07 L02'
}

check_004_8_8_1_06() {
  breaks L05 "ona --eval '{\"tool\": \"Read\", \"input\": {\"file_path\": \"/tmp/anything.txt\"}}'
test \$? -eq 0  # passes even if tool returned wrong content"
}

# DEC-124: fourteen rules, each with a case; exit codes; both forms of output.
check_DEC_124() {
  printf 'ona --version | grep -q "^ona " || exit 1\n' >case.sh
  code 1 ona test lint case.sh
  has "$out" 'case.sh:1: L01 '
  breaks L02 'if ona'
  breaks L03 'echo ona'
  breaks L04 'ona --version; echo'
  breaks L05 'ona --version || exit 1'
  breaks L06 'ona --version; [ a = a ] || exit 1'
  breaks L07 "$observed; . ./x.sh"
  breaks L08 "$observed; python3 -c 'import unittest.mock'"
  breaks L09 "RUBYOPT=-rx $observed"
  breaks L10 "alias ona=true; $observed"
  breaks L11 "$observed; echo x >x"
  breaks L12 'ona --version; grep -q x src/a || exit 1' --touched src/a
  breaks L13 "$observed; exit 0"
  breaks L14 "$observed; nc example.com 80"
  clean 'greet | grep -q hello || exit 1' --entry-point greet
  code 0 ona test lint case.sh --json --entry-point greet
  is "$out" '[]'
  code 2 ona test lint case.sh missing.sh
  is "$out" ''
  has "$err" missing.sh
  code 2 ona test lint
  [ ! -e "$AGENT_SDLC_DB" ] || fail 'looking at a script made a database'
}

run_check "$@"
