#!/bin/sh
# packages.sh build|test: installs the Debian packages (12 and 13) that building vouchfs needs, or building and all its tests.
# Asks the package manager only for what is missing; uses sudo when not root.
set -eu

build="build-essential cmake ninja-build pkgconf libfuse3-dev fuse3 libssl-dev nlohmann-json3-dev libspdlog-dev libfmt-dev
  libcli11-dev libexpected-dev zlib1g-dev libgit2-dev ca-certificates python3 python3-venv"
# clang and its runtime: second compiler, fuzzers. fsverity, cryptsetup-bin: independent oracles of the trees. util-linux-extra: fincore on Debian 13. systemd: systemd-analyze. valgrind: counts instructions.
test="git libgtest-dev libgmock-dev clang clang-tidy libclang-rt-dev ccache fsverity cryptsetup-bin attr procps man-db shellcheck util-linux-extra systemd python3-yaml valgrind"

wanted=$build
case "$(dpkg --print-architecture)" in amd64) wanted="$wanted libipsec-mb-dev" ;; esac
case "${1:-}" in
  build) ;;
  test)
    wanted="$wanted $test"
    # Another distribution's Node brings its own npm and conflicts with Debian's package: take what is there.
    command -v node >/dev/null || wanted="$wanted nodejs"
    command -v npm >/dev/null || wanted="$wanted npm"
    ;;
  *) echo "usage: packages.sh build|test" >&2; exit 2 ;;
esac

missing=
for package in $wanted; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

root=
[ "$(id -u)" = 0 ] || root=sudo
export DEBIAN_FRONTEND=noninteractive
echo "installing:$missing"
$root apt-get update -q
# shellcheck disable=SC2086 # one word a package
$root apt-get install -q -y --no-install-recommends $missing
