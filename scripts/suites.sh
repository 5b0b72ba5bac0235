# The suites of ./test. Each adds its counts to the totals and lets the next one run. Sourced after totals.sh.
# shellcheck shell=bash disable=SC2154,SC2034

# Our C++ sources, NUL-separated.
cpp_sources() { find core db server tests \( -name '*.cpp' -o -name '*.h' \) -print0 | LC_ALL=C sort -z; }

# Runs a suite as a step and, when it fails, shows the end of its log. Usage: suite LOG "what it does" COMMAND...
suite() {
  step "$@" && return 0
  local status=$?
  show_failed_log
  return "$status"
}

check_format() { cpp_sources | xargs -0 -r -n 50 -P "$(jobs_that_fit)" clang-format-14 --dry-run --Werror; }

format_suite() {
  local status=0
  suite format "checking the format of the C++ sources (clang-format)" check_format || status=$?
  add_suite format "$status" "$((status == 0)) $((status != 0)) 0"
}

# clang-tidy over every .cpp of core, db and server, as clang's preset compiles each: alone.
check_tidy() {
  cmake --preset clang -B build/tidy > /dev/null
  find core db server -name '*.cpp' -print0 | LC_ALL=C sort -z |
    xargs -0 -r -n 4 -P "$(jobs_that_fit)" clang-tidy-14 -p build/tidy --quiet --warnings-as-errors='*'
}

tidy_suite() {
  local status=0
  suite tidy "checking the C++ sources (clang-tidy)" check_tidy || status=$?
  add_suite tidy "$status" "$((status == 0)) $((status != 0)) 0"
}

# The thread sanitizer of g++ 12 wants its shadow memory where newer kernels put randomized addresses.
fixed_addresses() {
  if setarch "$(uname -m)" -R true 2> /dev/null; then
    setarch "$(uname -m)" -R "$@"
  else
    "$@"
  fi
}

# Configures, builds and runs the C++ tests of a preset, as many at once as there are cores. What is built may begin
# something beside its tests. Usage: cpp_suite PRESET [COMMAND]
cpp_suite() {
  local preset=$1 beside=${2:-true} status=0 run=() targets=(all)
  local junit="$PWD/$logs/ctest-$preset.xml"
  [ "$preset" != clang ] || targets+=(benchmarks)  # run by hand, but they must build
  [ "$preset" != tsan ] || run=(fixed_addresses)
  rm -f "$junit"
  suite "configure-$preset" "configuring (cmake, preset $preset)" cmake --preset "$preset" &&
    suite "build-$preset" "building the program and its tests (preset $preset)" \
      "${run[@]}" cmake --build "build/$preset" -j "$(jobs_that_fit)" --target "${targets[@]}" &&
    "$beside" &&
    suite "ctest-$preset" "running the C++ tests (preset $preset)" \
      "${run[@]}" ctest --preset "$preset" -j "$(nproc)" --no-tests=error --output-junit "$junit" ||
    status=$?
  add_suite "C++, $preset" "$status" "$(junit_counts "$junit")"
}

web_scripts=("unit test" "e2e e2e")  # a suite and its script of web/package.json
web_suites_pid=""

# Begins the dashboard's suites one after the other, in a process group of their own: a browser leaves a core idle half
# of its time. Their exit statuses stand in the logs' folder.
begin_web_suites() {
  local one
  say "running the dashboard's unit tests and the dashboard in a browser, beside what follows"
  rm -f "$logs"/web-*.status
  set -m
  for one in "${web_scripts[@]}"; do
    local status=0
    env NO_COLOR=1 SDIP_BINARY="$PWD/build/dev/sdip" CHROMIUM=/usr/bin/chromium \
      npm --prefix web run "${one#* }" > "$logs/web-${one% *}.log" 2>&1 < /dev/null || status=$?
    echo "$status" > "$logs/web-${one% *}.status"
  done &
  web_suites_pid=$!
  set +m
}

# Waits for them and adds their counts; one that did not run has failed.
end_web_suites() {
  local one name status ticker=""
  if [ -n "$web_suites_pid" ]; then
    step_name="waiting for the dashboard's suites"
    say "$step_name"
    # A ticker that is killed as it begins runs this shell's EXIT trap: none where nothing is waited for.
    if kill -0 "$web_suites_pid" 2> /dev/null; then
      tick "$logs/web-e2e.log" < /dev/null &
      ticker=$!
    fi
    wait "$web_suites_pid" || true
    [ -z "$ticker" ] || kill "$ticker" 2> /dev/null || true
    web_suites_pid=""
  fi
  for one in "${web_scripts[@]}"; do
    name=${one% *}
    status=$(cat "$logs/web-$name.status" 2> /dev/null || echo 1)
    if [ "$status" -ne 0 ] && [ -f "$logs/web-$name.status" ]; then
      failed_log="$logs/web-$name.log"
      show_failed_log
    fi
    add_suite "web, $name" "$status" "$([ ! -f "$logs/web-$name.status" ] || log_counts "$logs/web-$name.log")"
  done
}

# Ends them with all that they began. For a run that is cut short.
stop_web_suites() { [ -z "$web_suites_pid" ] || kill -- "-$web_suites_pid" 2> /dev/null || true; }

# Runs tests/cases again on the runtime that made what they expect; skipped where npm cannot install it.
cases_suite() {
  local status=0
  suite cases "running tests/cases on onnxruntime-node" node tests/cases/make.mjs --check || status=$?
  grep 'cannot be installed' "$logs/cases.log" || true
  add_suite cases "$status" "$(log_counts "$logs/cases.log")"
}

# Runs built-in models on onnxruntime beside the executor; skipped likewise.
agreement_suite() {
  local status=0
  suite agreement "running built-in models on onnxruntime-node" node tests/agree/agree.mjs build/dev/tests/write_agreed_models ||
    status=$?
  grep 'cannot be installed' "$logs/agreement.log" || true
  add_suite agreement "$status" "$(log_counts "$logs/agreement.log")"
}

# One mutant of core/cost in 20, another 20th with another seed (tests/mutants/README.md).
mutants_suite() {
  local status=0
  suite mutants "trying one in 20 mutants of core/cost" tests/mutants/run --quick || status=$?
  add_suite mutants "$status" "$((status == 0)) $((status != 0)) 0"
}

# The job arrays of docker/slurm on Slurm's own daemons on this machine; skipped where they cannot run, with the reason.
slurm_suite() {
  local status=0
  suite slurm "running job arrays of docker/slurm on Slurm's daemons" tests/slurm/run build/dev/sdip || status=$?
  grep '^skipped: ' "$logs/slurm.log" || true
  add_suite slurm "$status" "$(log_counts "$logs/slurm.log")"
}
