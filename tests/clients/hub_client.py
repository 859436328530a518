"""Runs in the clients' venv: huggingface_hub itself writes the notes and listings of downloads, and looks at a cache. One JSON object on stdout.

usage: hub_client.py write FOLDER COMMIT {"path":{"bytes","git_sha1","sha256"}}     as a download with --local-dir leaves them
       hub_client.py scan CACHE                                                    what the library finds in a cache
"""
import json
import pathlib
import sys

import huggingface_hub
from huggingface_hub import _local_folder, _tree_cache


def write(folder, commit, files):
    entries = {}
    for path, row in json.loads(files).items():
        large = row["sha256"]
        _local_folder.write_download_metadata(pathlib.Path(folder), path, commit, large or row["git_sha1"])
        entries[path] = _tree_cache.TreeCacheEntry(row["bytes"], row["git_sha1"], large, row["bytes"] if large else None)
    _tree_cache.write_tree_cache(_tree_cache.tree_cache_folder_for_local_dir(folder), commit, entries)
    return {"version": huggingface_hub.__version__}


def scan(cache):
    found = huggingface_hub.scan_cache_dir(cache)
    return {"warnings": [str(w) for w in found.warnings], "repos": {repo.repo_id: {r.commit_hash: sorted(r.refs) for r in repo.revisions} for repo in found.repos}}


print(json.dumps({"write": write, "scan": scan}[sys.argv[1]](*sys.argv[2:])))
