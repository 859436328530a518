#!/bin/sh
# Builds the fuzz targets with clang and runs each for a while, two at a time. Fails when an input crashes one,
# breaks an invariant, takes longer than ten seconds or more than 2 GiB; the input is kept below the build folder.
# Seeds of a target NAME_fuzz.cpp: the files in corpus/NAME, and those that corpus/NAME.py writes into the folder it is given.
# usage: tests/fuzz/run.sh [BUILD_FOLDER=build/fuzz] [SECONDS_PER_TARGET=60]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
seconds=60
build=build/fuzz
for word; do
  case $word in
    *[!0-9]*) build=$word ;;
    *) seconds=$word ;;
  esac
done
cmake --preset fuzz -B "$build" >/dev/null
cmake --build "$build" --target fuzzers

# Starts one target in the background; its log is shown when it fails.
start() {
  mkdir -p "$build/fuzz-work/$1/found" "$build/fuzz-work/$1/seeds"
  if [ -d "tests/fuzz/corpus/$1" ]; then cp "tests/fuzz/corpus/$1"/* "$build/fuzz-work/$1/seeds"; fi
  if [ -f "tests/fuzz/corpus/$1.py" ]; then
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/support python3 "tests/fuzz/corpus/$1.py" "$build/fuzz-work/$1/seeds"
  fi
  "$build/tests/fuzz/$1_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
    -dict=tests/fuzz/json.dict -artifact_prefix="$build/fuzz-work/$1/" \
    "$build/fuzz-work/$1/found" "$build/fuzz-work/$1/seeds" >"$build/fuzz-work/$1/log" 2>&1 &
}

status=0
finish() {
  if wait "$2"; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz-work/$1/log")
    echo "fuzz $1: $runs inputs in $seconds s, no fault"
  else
    tail -n 60 "$build/fuzz-work/$1/log" >&2
    echo "fuzz $1: FAULT; the input lies in $build/fuzz-work/$1" >&2
    status=1
  fi
}

first=
pid=
for file in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$file" _fuzz.cpp)
  start "$name"
  if [ -z "$first" ]; then
    first=$name
    pid=$!
    continue
  fi
  second=$!
  finish "$first" "$pid"
  finish "$name" "$second"
  first=
done
if [ -n "$first" ]; then finish "$first" "$pid"; fi
exit "$status"
