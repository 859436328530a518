#!/bin/sh
# run.sh: measures vouchfs beside raw files, bindfs, gocryptfs, passthrough_hp, sha256sum, OpenSSL and model_signing, and prints tables. Run as root.
#
# usage: run.sh [--vouchfs NAME=BINARY[,OPTION...]]... [other options of measure.py: --size, --rounds, --cases, --peers, --quick, --dir, --json]
#
# Without --vouchfs a release build is made in build/bench. With several, builds and options are compared with each other:
#   run.sh --vouchfs old=/tmp/old/vouchfs --vouchfs new=/tmp/new/vouchfs --vouchfs wide=/tmp/new/vouchfs,ra=4096 --cases cold,readers
# VOUCHFS_MICRO names a ready build of micro_bench; VOUCHFS_BENCH_PASSTHROUGH_HP the binary of libfuse's example, VOUCHFS_BENCH_MODEL_SIGNING that of the
# OpenSSF tool (pip install model-signing pyopenssl), VOUCHFS_BENCH_PYTHON a Python with safetensors and numpy. What is absent takes no part, with a line that says so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

for word in "$@"; do
  case $word in
    --vouchfs|--vouchfs=*) exec python3 "$here/measure.py" "$@" ;;
    -h|--help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exec python3 "$here/measure.py" --help ;;
  esac
done

cmake -S "$root" -B "$root/build/bench" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DVOUCHFS_BUILD_BENCH=ON >&2
cmake --build "$root/build/bench" --target vouchfs micro_bench >&2
VOUCHFS_MICRO=${VOUCHFS_MICRO:-$root/build/bench/tests/bench/micro_bench}
export VOUCHFS_MICRO
built=$root/build/bench/mount_tools/vouchfs
exec python3 "$here/measure.py" --vouchfs "vouchfs=$built" --vouchfs "vouchfs --pin=$built,--pin" "$@"
