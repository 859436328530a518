#!/bin/sh
# pre-deploy.sh MODEL [sha256:HEX]: is this model fit to be served? Run it before a deployment, by hand or from a script.
# First doctor, which takes seconds and names causes; then every byte: against the seal and the model digest when there are any, else against whatever digests
# the publisher left. Exit 0: fit. Else the exit code of the command that said no: 3 damaged or unusable, 4 incomplete, 5 another digest, 10 not there.
# Exit 2: a misuse, also --help: only a model that is fit ends with 0. Exit 127: vouchfs (or the command that VOUCHFS names) is not there.
set -eu

vouchfs=${VOUCHFS:-vouchfs}
if [ "${1:-}" = -- ]; then
  shift
else
  case ${1:-} in -*) set -- ;; esac # no option is known; a MODEL with such a name is given as ./-NAME or after --
fi
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: pre-deploy.sh MODEL [sha256:HEX]" >&2
  exit 2
fi
if ! command -v "$vouchfs" >/dev/null; then
  echo "pre-deploy.sh: there is no command $vouchfs: install vouchfs, or name it in the variable VOUCHFS" >&2
  exit 127
fi
model=$1
digest=${2:-}

"$vouchfs" doctor -- "$model"
if [ -n "$digest" ]; then
  "$vouchfs" verify --digest "$digest" -- "$model"
elif [ -e "$model/.vouch/manifest.json" ]; then
  "$vouchfs" verify -- "$model"
else
  "$vouchfs" doctor --deep -- "$model"
fi
