# Steps that say what they do, keep a log, and fail with a reason. Sourced from the repository root.
# shellcheck shell=bash
export LC_ALL=C.UTF-8
logs=build/logs
mkdir -p "$logs"
step_name="reading the options"
failed_log="" # the log of the step that failed, until its end has been shown
told=""       # whether the reason of a failure has been told

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

# Gives the reason and leaves. Usage: fail REASON...
fail() {
  printf '\n%s: %s\n' "${0##*/}" "$*" >&2
  told=yes
  exit 1
}

# Shows the end of the failed step's log, without the lines by which ctest tells that a test began or passed.
show_failed_log() {
  [ -n "$failed_log" ] || return 0
  grep -v -E '^ +Start +[0-9]+: |Passed +[0-9.]+ sec$' "$failed_log" | tail -n 80 >&2
  printf '(the whole log is %s)\n' "$PWD/$failed_log" >&2
  failed_log=""
}

# Tells where a run ended that did not reach its end. Usage: trap 'tell_failure $?' EXIT
tell_failure() {
  [ "$1" -ne 0 ] && [ -z "$told" ] || return 0
  printf '\n' >&2
  show_failed_log
  printf '%s: failed while %s (exit status %d)\n' "${0##*/}" "$step_name" "$1" >&2
}

# Repeats a log's last line now and then, so that a long step is seen to move. Runs until it is killed or this shell ends.
tick() {
  local line before=""
  while kill -0 $$ 2> /dev/null && sleep 20 > /dev/null 2>&1; do
    line=$(tail -n 1 "$1" 2> /dev/null | tr -d '\r' | cut -c1-100)
    [ "$line" = "$before" ] || say "    $line"
    before=$line
  done
}

# Runs a command with its output in a log. Usage: step LOG "what it does" COMMAND...
step() {
  local log="$logs/$1.log" status=0 ticker
  step_name=$2
  shift 2
  say "$step_name"
  : > "$log"
  tick "$log" < /dev/null &
  ticker=$!
  "$@" > "$log" 2>&1 < /dev/null || status=$?
  kill "$ticker" 2> /dev/null || true
  wait "$ticker" 2> /dev/null || true
  [ "$status" -eq 0 ] || failed_log=$log
  return "$status"
}

# How many compilers fit: one a core, and one and a half gigabytes of memory for each where that is known.
jobs_that_fit() {
  local jobs memory_kib=""
  jobs=$(nproc)
  [ ! -r /proc/meminfo ] || memory_kib=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
  if [ -n "$memory_kib" ] && [ $((memory_kib / 1572864)) -lt "$jobs" ]; then
    jobs=$((memory_kib / 1572864))
  fi
  [ "$jobs" -ge 1 ] || jobs=1
  echo "$jobs"
}
