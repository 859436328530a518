#!/usr/bin/env python3
"""Counts the instructions that serving a verified block of 4 KiB takes, with valgrind's callgrind: the same number on a busy machine as on a quiet one.

  instructions.py BINARY --build NAME            prints the counts of a build of serve_blocks
  instructions.py BINARY --build NAME --check    also compares with tests/bench/instructions.json: exit 1 when a count is more than 10 % above the record
                                                 of this build, 77 when there is none, because counts of other compilers and flags do not compare
  instructions.py BINARY --build NAME --update   makes these counts the record of this build

"own" are the instructions of vouchfs itself, "all" those of its libraries too, of which hashing is nearly everything. Hashing is OpenSSL's, held to the instructions
that every x86-64 has: valgrind knows neither AVX-512 nor SHA-NI, and the count must not depend on the processor.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().parent / "instructions.json"
PASSES = {"serve-4k-warm": "SealedModel::serve of 4 KiB, tree known", "serve-128k-warm": "SealedModel::serve of 128 KiB, tree known",
          "serve-4k-cold": "SealedModel::serve of 4 KiB, leaf of the tree read and hashed first", "verify-4k-warm": "VerifiedFile::read_blocks of 4 KiB from memory, tree known"}
ALLOWED = 1.10
NO_RECORD = 77


class Failed(Exception):
    """A run failed; nothing was counted."""


def self_costs(text):
    """{object file: instructions of its own} out of a file that callgrind wrote."""
    names, costs, current, inclusive = {}, {}, None, False
    for line in text.splitlines():
        named = re.match(r"ob=\((\d+)\)(?: (.+))?$", line)
        if named:
            current = names.setdefault(named.group(1), named.group(2))
        elif re.match(r"cob=\((\d+)\) ", line):
            names.setdefault(*re.match(r"cob=\((\d+)\) (.+)", line).groups())
        elif line.startswith("calls="):
            inclusive = True
        elif re.match(r"[+\-*\d]", line):
            if not inclusive:
                costs[current] = costs.get(current, 0) + int(line.split()[1])
            inclusive = False
    return costs


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env={**os.environ, "OPENSSL_ia32cap": "0:0", "LC_ALL": "C"})
    if done.returncode != 0:
        raise Failed(f"{words[0]} gave {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def count(binary, name, folder):
    out = pathlib.Path(folder) / f"{name}.out"
    blocks = int(run("valgrind", "--tool=callgrind", "--toggle-collect=measured_pass*", f"--callgrind-out-file={out}", binary, name, f"{folder}/model"))
    costs = self_costs(out.read_text())
    own = sum(cost for path, cost in costs.items() if path and os.path.basename(path) == os.path.basename(binary))
    if own == 0:
        raise Failed(f"callgrind saw nothing of {binary} in {name}")
    return {"own": round(own / blocks), "all": round(sum(costs.values()) / blocks)}


def counts(binary):
    with tempfile.TemporaryDirectory(prefix="vouchfs-instructions-") as folder:
        run(binary, "prepare", f"{folder}/model")
        return {name: count(binary, name, folder) for name in PASSES}


def records():
    """{build: {pass: {kind: count}}}"""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def compare(found, recorded):
    """One line a count that is too high."""
    for name, kinds in found.items():
        for kind, value in kinds.items():
            before = recorded.get(name, {}).get(kind)
            if before is None or value > before * ALLOWED:
                yield f"{name}: {value} instructions a block ({kind}), the record says {before}"


def update(build, found):
    kept = {**records(), build: found}
    lines = [f" {json.dumps(name)}: {{\n" + ",\n".join(f"  {json.dumps(key)}: {json.dumps(kinds)}" for key, kinds in cases.items()) + "}" for name, cases in sorted(kept.items())]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=os.path.abspath, help="serve_blocks")
    parser.add_argument("--build", required=True, help="processor, compiler and flags: what a record belongs to")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    chosen = parser.parse_args()
    try:
        found = counts(chosen.binary)
    except (Failed, OSError) as error:
        raise SystemExit(f"instructions.py: {error}") from error
    for name, kinds in found.items():
        print(f"{kinds['own']:8} own {kinds['all']:9} all  {PASSES[name]}")
    if chosen.update:
        update(chosen.build, found)
    elif chosen.check and chosen.build not in records():
        print(f"no record of this build: {chosen.build}")
        return NO_RECORD
    elif chosen.check:
        worse = list(compare(found, records()[chosen.build]))
        print("\n".join(worse) or "as recorded, or fewer")
        if worse:
            print(f"If that is meant: {pathlib.Path(__file__)} {chosen.binary} --build '{chosen.build}' --update, then tests/bench/report.py for the documents")
        return 1 if worse else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
