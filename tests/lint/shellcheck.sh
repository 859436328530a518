#!/bin/sh
# Runs shellcheck over every shell script of the tree.
cd "$(dirname "$0")/../.." || exit 1
{ find examples tests cmake -name '*.sh'; echo .ci/run; } | xargs shellcheck --external-sources --source-path=SCRIPTDIR
