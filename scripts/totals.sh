# Counts of passed, failed and skipped tests over suites of different kinds. Sourced by ./test.
# shellcheck shell=bash
passed=0 failed=0 skipped=0

# Adds "PASSED FAILED SKIPPED" of a suite that ended with this exit status. A suite that fails without a failed test, or
# whose output holds no totals, is one failed test itself: nothing that did not run can look like a success.
add_suite() {
  local name=$1 status=$2 counts=$3 p=0 f=0 s=0
  [ -z "$counts" ] || read -r p f s <<< "$counts"
  if [ "$f" -eq 0 ] && { [ "$status" -ne 0 ] || [ -z "$counts" ]; }; then
    f=1
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  say "    $name: $p passed, $f failed, $s skipped"
}

# Counts in a JUnit file of ctest; empty when there is none. Tests that are disabled or were not run are skipped ones.
junit_counts() {
  [ -f "$1" ] || return 0
  tr '\n' ' ' < "$1" | awk '
    function attribute(name) { return match($0, "[ \t]" name "=\"[0-9]+\"") ? substr($0, RSTART + length(name) + 3) + 0 : 0 }
    match($0, /<testsuite [^>]*>/) {
      $0 = substr($0, RSTART, RLENGTH)
      s = attribute("skipped") + attribute("disabled")
      print attribute("tests") - attribute("failures") - s, attribute("failures"), s
    }'
}

# Counts in a log: the last line "N passed, N failed", ", N skipped" behind it or not, or Vitest's summary
# "Tests  1 failed | 5 passed (6)", or those of node:test ("pass 5" and so on); empty when the log holds none.
log_counts() {
  [ -f "$1" ] || return 0
  sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    function count(word) { return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0 }
    /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ || /^ *Tests +[0-9]+ [a-z]+.*\([0-9]+\)$/ {
      found = 1; p = count("passed"); f = count("failed"); s = count("skipped") + count("todo")
    }
    $2 == "pass" && NF == 3 { found = 1; p = $3 }
    $2 == "fail" && NF == 3 { f = $3 }
    ($2 == "skipped" || $2 == "todo") && NF == 3 { s += $3 }
    END { if (found) print p + 0, f + 0, s + 0 }'
}
