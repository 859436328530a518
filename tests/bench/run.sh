#!/bin/sh
# run.sh: measures vouchfs beside raw files, bindfs, gocryptfs, sha256sum and OpenSSL, and prints one table. Run as root.
#
# usage: run.sh [--vouchfs BINARY] [--micro BINARY] [options of measure.py: --size, --runs, --only, --dir, --json]
#
# Without BINARY (or VOUCHFS_BIN, VOUCHFS_MICRO) a release build is made in build/bench.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
vouchfs=${VOUCHFS_BIN:-}
micro=${VOUCHFS_MICRO:-}

while [ $# -gt 0 ]; do
  case $1 in
    --vouchfs) vouchfs=$2; shift 2 ;;
    --micro) micro=$2; shift 2 ;;
    -h|--help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exec python3 "$here/measure.py" --help ;;
    *) break ;;
  esac
done

build() {
  cmake -S "$root" -B "$root/build/bench" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DVOUCHFS_BUILD_BENCH=ON >&2
  cmake --build "$root/build/bench" --target "$@" >&2
}
if [ -z "$vouchfs" ]; then
  build vouchfs
  vouchfs=$root/build/bench/mount_tools/vouchfs
fi
if [ -z "$micro" ]; then
  build micro_bench
  micro=$root/build/bench/tests/bench/micro_bench
fi
exec python3 "$here/measure.py" --vouchfs "$vouchfs" --micro "$micro" "$@"
