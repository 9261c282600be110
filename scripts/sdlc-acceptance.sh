#!/usr/bin/env bash
# Runs every row of docs/ACCEPTANCE_MATRIX.md, in the order of the table. Exits 0 iff
# all rows pass; on the first failure exits 1 and names the row id on stderr.
#
#   scripts/sdlc-acceptance.sh              the rows this build claims
#   scripts/sdlc-acceptance.sh --delivered  the same, and nothing may be left unclaimed
#   scripts/sdlc-acceptance.sh HOOK-5.1     only rows whose id starts so
#
# The program under test is $ONA, else target/release/ona or target/debug/ona,
# whichever is newer. There is no way to skip a row.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
matrix=docs/ACCEPTANCE_MATRIX.md
musts=docs/OPEN_MUSTS.md

die() { printf 'sdlc-acceptance: %s\n' "$*" >&2; exit 1; }

delivered=no only=
for argument in "$@"; do
  case $argument in
    --delivered) delivered=yes ;;
    -*) die "unknown option $argument" ;;
    *) only=$argument ;;
  esac
done

[ $delivered = no ] || [ -z "$only" ] || die "--delivered is about all rows"
for tool in sqlite3 jq node; do
  command -v "$tool" >/dev/null || die "$tool is needed; scripts/test installs it"
done
if [ -z "${ONA:-}" ]; then
  ONA=$(ls -t target/release/ona target/debug/ona 2>/dev/null | head -n 1)
  [ -n "$ONA" ] || die "build the program first: cargo build"
  ONA=$root/$ONA
fi
[ -x "$ONA" ] || die "$ONA is not a program"
export ONA ONA_ROOT=$root

[ -f "$matrix" ] || die "$matrix is missing"
[ -f "$musts" ] || die "$musts is missing"
open=$(grep -n '^- \[ \]' "$musts")
[ -z "$open" ] || die "row MUST-0: open musts in $musts: $open"
# The form of the tracker: numbers that are those of its lines, and no list line of a third kind.
other=$(grep -nE '^[[:space:]]*[-*+] ' "$musts" | grep -vE '^[0-9]+:- (\[ \]|\[x\]|not claimed:) [^[:space:]]')
[ -z "$other" ] || die "row MUST-0: $musts has a line that is neither open, done nor not claimed: $other"
stated=$(grep -E '^Open: [0-9]+\. Not claimed: [0-9]+\.$' "$musts")
counted="Open: $(grep -c '^- \[ \]' "$musts"). Not claimed: $(grep -c '^- not claimed:' "$musts")."
[ "$stated" = "$counted" ] || die "row MUST-0: $musts says '$stated' and lists '$counted'"
stray=$(awk '/^Open: /{listed=1; next} listed && NF && !/^- /{print NR": "$0}' "$musts")
[ -z "$stray" ] || die "row MUST-0: $musts has a line below its numbers that is no item: $stray"
if [ $delivered = yes ] && grep -q '^- not claimed:' "$musts"; then
  die "row MUST-0: not DELIVERED: $(grep -c '^- not claimed:' "$musts") areas are not claimed yet, see $musts"
fi
vague=$(grep -niE 'manual review|TBD|smoke test|nightly only|best effort|eventually|similar to' "$matrix")
[ -z "$vague" ] || die "row FORM-0: vague words in $matrix: $vague"

# Cells: | id | obligation | criterion | `command` | expected |
passed=0
declare -A seen=()
started=$SECONDS
while IFS='|' read -r _ id obligation _ command expected _; do
  trim() { local text=$1; text=${text#"${text%%[![:space:]]*}"}; printf '%s' "${text%"${text##*[![:space:]]}"}"; }
  id=$(trim "$id")
  case $id in '' | id | -*) continue ;; esac
  [[ $id =~ ^[A-Z]+-[0-9.]+[a-z]?$ ]] || die "row $id: an id has the form [A-Z]+-[0-9.]+[a-z]?"
  [ -z "${seen[$id]:-}" ] || die "row $id: the id is there twice"
  seen[$id]=1
  [[ $id == "$only"* ]] || continue
  command=$(trim "$command") expected=$(trim "$expected")
  command=${command#\`} command=${command%\`}
  [ -n "$command" ] || die "row $id: there is no command"
  [[ $expected =~ ^exit\ ([0-9]+)$ ]] || die "row $id: expected must be 'exit N', not '$expected'"
  want=${BASH_REMATCH[1]}
  output=$(bash -c "$command" </dev/null 2>&1)
  code=$?
  if [ "$code" -ne "$want" ]; then
    printf '%s\n' "$output" | tail -n 40 >&2
    die "row $id FAILED (exit $code, expected $want):$obligation"
  fi
  passed=$((passed + 1))
  printf 'PASS %-16s%s\n' "$id" "$obligation"
done < <(grep '^|' "$matrix")

[ "$passed" -gt 0 ] || die "no row was run"
printf 'acceptance: %d passed, 0 failed, in %d s, with %s\n' "$passed" $((SECONDS - started)) "$ONA"
