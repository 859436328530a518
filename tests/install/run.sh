#!/bin/bash
# Runs the README's commands on a fresh Debian: makes a minimal root of the suite with the host's own package sources, clones this
# repository's HEAD into it, and runs the commands there with nothing preinstalled but apt.
#
# usage: tests/install/run.sh [bookworm|trixie|all] [demo|tests|all|shell]      (all, all)
#
# Needs root and mmdebstrap. Mounts live in a mount namespace of their own: none can be left behind. The root is made anew each
# time, below $VOUCHFS_ROOTS (default: build/roots), and removed after success; VOUCHFS_KEEP_ROOT=1 keeps it.
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$PWD
roots=${VOUCHFS_ROOTS:-$PWD/build/roots}
suites=${1:-all} what=${2:-all}
[ "$suites" != all ] || suites="bookworm trixie"
checkout=/srv/checkout/vouchfs

# The host's own apt sources for Debian itself, on stdout, for another suite.
sources_for() {
  local own file
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  for file in /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if grep -Eqs "^(Suites:.*|deb .*)\b$own-updates\b" "$file"; then
      sed "s/\b$own\b/$1/g" "$file"
      return
    fi
  done
  echo "none of the host's apt sources names $own-updates" >&2
  return 1
}

make_root() { # SUITE DIR: a root with apt, a resolver, and the host's own settings for downloading
  sources_for "$1" | mmdebstrap --mode=root --variant=apt --quiet "$1" "$2" -
  cp --remove-destination /etc/resolv.conf /etc/hosts "$2/etc/"
  ln -sf ../proc/self/mounts "$2/etc/mtab" # as on every machine that was booted; fusermount3 reads it
  mkdir -p "$2/usr/local/share"
  local file
  for file in /usr/local/share/ca-certificates /etc/pip.conf "$HOME/.npmrc" "$HOME/.config/pip" "${PIP_FIND_LINKS:-}"; do
    [ -e "$file" ] || continue
    mkdir -p "$2$(dirname "$file")"
    cp -rT "$file" "$2$file"
  done
  git clone --quiet --no-hardlinks "$repository" "$2$checkout"
}

# Runs a command in the root as on a machine of its own: it is a mount, as a root is (tests make mount namespaces of their own), proc,
# sys and dev are there, the caller's environment is not, but for what package downloads need.
enter() { # DIR COMMAND...
  local dir=$1 name keep=(HOME=/root "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" LANG=C.UTF-8 TERM=dumb)
  shift
  for name in $(compgen -e | grep -iE '^(pip_|npm_config_)|_proxy$|^(ssl_cert_file|requests_ca_bundle|node_extra_ca_certs)$'); do
    keep+=("$name=${!name}")
  done
  # pivot_root, not chroot: who enters a mount namespace (nsenter, as tests do) lands in the root of that namespace.
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --mount --propagation private sh -c '
    dir=$1; shift
    mount --bind "$dir" "$dir" &&
      mount -t proc proc "$dir/proc" && mount --rbind /sys "$dir/sys" && mount --rbind /dev "$dir/dev" &&
      mount -t tmpfs tmpfs "$dir/run" && cd "$dir" && pivot_root . mnt && cd / && umount -l /mnt && exec "$@"' sh "$dir" env -i "${keep[@]}" "$@"
}

command_of() {
  case $1 in
    demo) echo ./examples/demo.sh ;;
    tests) echo ./tests/run-all.sh ;;
    shell) echo bash ;;
    *) echo "no command '$1'" >&2; return 2 ;;
  esac
}

try() { # SUITE COMMAND-NAME: in a root of its own, so that neither command lives on what the other installed
  local dir=$roots/$1-$2 begin=$SECONDS command
  command=$(command_of "$2")
  rm -rf --one-file-system "$dir"
  mkdir -p "$roots"
  make_root "$1" "$dir"
  echo "== $1: $command"
  enter "$dir" sh -c "cd $checkout && exec $command"
  echo "== $1: $command: ok, $((SECONDS - begin)) s"
  [ -n "${VOUCHFS_KEEP_ROOT:-}" ] || rm -rf --one-file-system "$dir"
}

[ "$what" != all ] || what="demo tests"
for suite in $suites; do
  for name in $what; do
    try "$suite" "$name"
  done
done
