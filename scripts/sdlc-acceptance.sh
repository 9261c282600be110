#!/usr/bin/env bash
# Runs every row of docs/ACCEPTANCE_MATRIX.md, in the order of the table. Exits 0 iff
# all rows pass; on the first failure exits 1 and names the row id on stderr.
#
#   scripts/sdlc-acceptance.sh              the rows this build claims, one at a time
#   scripts/sdlc-acceptance.sh --jobs N     N rows at a time, started and printed in the same order
#   scripts/sdlc-acceptance.sh --delivered  nothing may be left unclaimed
#   scripts/sdlc-acceptance.sh HOOK-5.1 ... only rows whose id begins with HOOK-5.1 (or another prefix)
#
# The program under test is $ONA, else target/release/ona or target/debug/ona,
# whichever is newer. A row cannot be skipped. The rows of $alone never run beside others.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
matrix=docs/ACCEPTANCE_MATRIX.md
musts=docs/OPEN_MUSTS.md

die() { printf 'sdlc-acceptance: %s\n' "$*" >&2; exit 1; }

# Rows that another row could disturb: they fail when something takes too long, or need a fixed
# port. Ids between blanks.
alone=' HOOK-1.5 HOOK-5.9.2 HOOK-5.9.3 HOOK-5.9.5 HOOK-5.9.6 TOOL-7.1.6 TOOL-7.2.6 ACC-10.21 PROV-2.3.5 '

# Rows that sleep for half a minute and do nothing: beside others they take no place of their own.
sleeping=' MASSGEN-8.1 MASSGEN-8.2 '

delivered=no only=() jobs=1
while [ $# -gt 0 ]; do
  case $1 in
    --delivered) delivered=yes ;;
    --jobs)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--jobs needs a number of rows, not '${2:-}'"
      jobs=$2
      shift
      ;;
    -*) die "unknown option $1" ;;
    *) only+=("$1") ;;
  esac
  shift
done

[ $delivered = no ] || [ ${#only[@]} = 0 ] || die "--delivered is about all rows"
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
[ -z "$stray" ] || die "row MUST-0: $musts has a line below its numbers that is not an item: $stray"
if [ $delivered = yes ] && grep -q '^- not claimed:' "$musts"; then
  die "row MUST-0: not DELIVERED: $(grep -c '^- not claimed:' "$musts") areas are not claimed yet, see $musts"
fi
vague=$(grep -niE 'manual review|TBD|smoke test|nightly only|best effort|eventually|similar to' "$matrix")
[ -z "$vague" ] || die "row FORM-0: vague words in $matrix: $vague"

# trim NAME : takes the blanks around the variable's value away
trim() { local -n cell=$1; cell=${cell#"${cell%%[![:space:]]*}"} cell=${cell%"${cell##*[![:space:]]}"}; }

# ---- rows that run ---------------------------------------------------------------

# Each row is a job with a process group of its own (set -m), so that an interrupted or failed
# run can end it with everything it started. Row number n leaves its output in $scratch/n and
# its exit code in $scratch/n.code; the arrays below say what the table says about it. The commands
# that passed are in the file ACCEPTANCE_PASSED, so that a roll-up need not run them a second time.
scratch=$(mktemp -d) || die 'cannot make a temporary directory'
export ACCEPTANCE_PASSED=$scratch/passed
: >"$scratch/passed"
set -m
row_id=() row_obligation=() row_want=() row_command=() row_pid=()
printed=0 more=0
end_all() {
  local n
  for ((n = printed; n < ${#row_id[@]}; n++)); do
    ended $n || kill -TERM -- "-${row_pid[n]}" 2>/dev/null
    wait "${row_pid[n]}" 2>/dev/null
  done
  rm -rf "$scratch"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start ID OBLIGATION WANT COMMAND
start() {
  local n=${#row_id[@]}
  row_id+=("$1") row_obligation+=("$2") row_want+=("$3") row_command+=("$4")
  { bash -c "$4" </dev/null >"$scratch/$n" 2>&1; echo $? >"$scratch/$n.code"; } &
  row_pid+=($!)
}
# ended N : whether row number N ended; its exit code is in $code
ended() { [ -e "$scratch/$1.code" ] && read -r code <"$scratch/$1.code"; }
# print_ended : prints the rows that ended, in the order of the table; the first failure ends the run
print_ended() {
  while [ $printed -lt ${#row_id[@]} ] && ended $printed; do
    if [ "$code" -ne "${row_want[printed]}" ]; then
      tail -n 40 "$scratch/$printed" >&2
      die "row ${row_id[printed]} FAILED (exit $code, expected ${row_want[printed]}):${row_obligation[printed]}"
    fi
    printf 'PASS %-16s%s\n' "${row_id[printed]}" "${row_obligation[printed]}"
    printf '%s\n' "${row_command[printed]}" >>"$scratch/passed"
    case $jobs:$sleeping in
      1:*) ;;
      *" ${row_id[printed]} "*) more=$((more - 1)) ;;
    esac
    printed=$((printed + 1))
  done
}
# leave N : waits until at most N rows run
leave() {
  local running
  while running=($(jobs -rp)); [ ${#running[@]} -gt "$1" ]; do
    wait -n 2>/dev/null
    print_ended
  done
  print_ended
  [ "$1" -gt 0 ] || [ $printed = ${#row_id[@]} ] || die "row ${row_id[printed]} FAILED (it was killed):${row_obligation[printed]}"
}
# stop_at MESSAGE : the table cannot be read further; rows that run are waited for first
stop_at() { leave 0; die "$1"; }

# chosen ID : whether the command line asks for this row
chosen() {
  local prefix
  [ ${#only[@]} -gt 0 ] || return 0
  for prefix in "${only[@]}"; do [[ $1 != "$prefix"* ]] || return 0; done
  return 1
}

# ---- the table -------------------------------------------------------------------

# Cells: | id | obligation | criterion | `command` | expected |
declare -A seen=()
started=$SECONDS
mapfile -t table < <(grep '^|' "$matrix")
for line in "${table[@]}"; do
  IFS='|' read -r _ id obligation _ command expected _ <<<"$line"
  trim id
  case $id in '' | id | -*) continue ;; esac
  [[ $id =~ ^[A-Z]+-[0-9.]+[a-z]?$ ]] || stop_at "row $id: an id has the form [A-Z]+-[0-9.]+[a-z]?"
  [ -z "${seen[$id]:-}" ] || stop_at "row $id: the id is there twice"
  seen[$id]=1
  chosen "$id" || continue
  trim command
  trim expected
  command=${command#\`} command=${command%\`}
  [ -n "$command" ] || stop_at "row $id: the command is missing"
  [[ $expected =~ ^exit\ ([0-9]+)$ ]] || stop_at "row $id: expected must be 'exit N', not '$expected'"
  want=${BASH_REMATCH[1]}
  case $alone in
    *" $id "*) leave 0; start "$id" "$obligation" "$want" "$command"; leave 0 ;;
    *) leave $((jobs - 1 + more)); start "$id" "$obligation" "$want" "$command" ;;
  esac
  case $jobs:$sleeping in
    1:*) ;;
    *" $id "*) more=$((more + 1)) ;;
  esac
done
leave 0

[ $printed -gt 0 ] || die "no row was run"
printf 'acceptance: %d passed, 0 failed, in %d s, with %s\n' $printed $((SECONDS - started)) "$ONA"
