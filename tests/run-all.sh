#!/bin/bash
# Installs what is needed and runs every test of vouchfs: all labels with g++, the demonstration of the README, clang without warnings, core without libfuse,
# the unit and mount tests under sanitizers, and each fuzz target for a minute. Needs root (mounts; asks sudo for it).
#
# usage: tests/run-all.sh [STEP...]     STEP: dev demo core clang asan tsan fuzz; all of these when none is given; tidy (clang-tidy, minutes) only by name
#
# Each step writes build/logs/STEP.log. A step that fails does not stop the others. Ends with "N passed, N failed": tests, and
# one for each build; exit 0 only when nothing failed.
set -uo pipefail
[ "$(id -u)" = 0 ] || exec sudo --preserve-env "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
self=$PWD/tests/run-all.sh
steps=("$@")
[ $# -gt 0 ] || steps=(dev demo core clang asan tsan fuzz)

logs=$PWD/build/logs
jobs=$(nproc)
passed=0 failed=0
mkdir -p "$logs"
# One run compiles some sources twice with the same flags, and the next run most of them again.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache

# ctest's closing line says how many ran; anything else that was run counts as one.
count() { # LOG STATUS
  local line ran bad
  line=$(grep -Eo '[0-9]+ tests? failed out of [0-9]+' "$1" | tail -n 1)
  if [ -z "$line" ]; then
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    return
  fi
  read -r bad _ _ _ _ ran <<<"$line"
  [ "$2" = 0 ] || [ "$bad" -gt 0 ] || bad=1 # ended badly though its tests passed
  passed=$((passed + ran - bad)) failed=$((failed + bad))
}

run() { # NAME COMMAND...: its output goes to a log; on failure the end of that is shown
  local name=$1 log=$logs/$1.log begin=$SECONDS status=0
  shift
  printf '\n== %s\n' "$name"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  count "$log" "$status"
  if [ "$status" = 0 ]; then
    grep -E 'tests passed|^Total Test time' "$log"
    printf '== %s: ok, %d s\n' "$name" $((SECONDS - begin))
  else
    tail -n 150 "$log"
    printf '== %s: FAILED with %d, %d s; see %s\n' "$name" "$status" $((SECONDS - begin)) "${log#"$PWD"/}"
  fi
  return "$status"
}

build() { cmake --preset "$1" "${@:2}" && cmake --build --preset "$1"; }
tests() { ctest --test-dir "build/$1" --output-on-failure --no-tests=error -j "$jobs" "${@:2}"; }

# A daemon in the background has no stderr: what a sanitizer has to say goes to files, and any file is a failure.
sanitized() { # PRESET COMMAND...
  local reports=$PWD/build/$1/reports status=0
  rm -rf "$reports" && mkdir -p "$reports" && chmod 1777 "$reports"
  export ASAN_OPTIONS=log_path=$reports/asan UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/ubsan TSAN_OPTIONS=log_path=$reports/tsan
  "${@:2}" || status=$?
  unset ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
  if [ -n "$(ls -A "$reports")" ]; then
    echo "sanitizer reports:"
    head -n 60 "$reports"/*
    return 1
  fi
  return "$status"
}

# For pkg-config there is no libfuse, nor anything else it would find.
without_libfuse() {
  PKG_CONFIG_LIBDIR=/nonexistent cmake -S . -B build/core -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DVOUCHFS_WERROR=ON &&
    cmake --build build/core && [ ! -e build/core/mount_tools ]
}

step_dev() { run dev-build build dev && run dev-tests tests dev; }
step_demo() { run demo examples/demo.sh; } # its own packages, a release build, and the story it tells
step_core() { run core-build without_libfuse && run core-tests tests core -L unit; }
step_clang() { run clang-build build clang && run clang-tests tests clang -L unit; }
step_asan() { run asan-build build asan && run asan-tests sanitized asan tests asan -L 'unit|mount' -LE slow; }
# Without randomized addresses: newer kernels randomize more bits than ThreadSanitizer's memory layout can bear.
step_tsan() { run tsan-build setarch -R "$self" --build tsan && run tsan-tests sanitized tsan setarch -R "$self" --tests tsan -L 'unit|tsan'; }
step_fuzz() { run fuzz-build build fuzz && run fuzz tests/fuzz/run.sh build/fuzz 60; }
step_tidy() { run tidy build tidy; }

case ${1:-} in
  --build | --tests) "${1#--}" "${@:2}"; exit ;;
esac
for step in "${steps[@]}"; do
  declare -F "step_$step" >/dev/null || { echo "no step '$step'; there are: dev demo core clang asan tsan fuzz tidy" >&2; exit 2; }
done

run packages tests/install/packages.sh test || exit 1
case " ${steps[*]} " in
  *" dev "*) # the clients take minutes to arrive: meanwhile build
    tests/clients/setup.py all >"$logs/clients.log" 2>&1 </dev/null &
    fetching=$!
    trap 'kill "$fetching" 2>/dev/null' EXIT
    ;;
esac
for step in "${steps[@]}"; do
  "step_$step"
done
printf '\n== all: %d s\n%d passed, %d failed\n' "$SECONDS" "$passed" "$failed"
[ "$failed" = 0 ]
