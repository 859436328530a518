"""Writes seeds for store_files_fuzz into the folder it is given: one good file of each kind."""
import pathlib
import sys

import stores

FILES = {"config.json": b"{}", "sub/model.safetensors": b"x" * 20}
SUM = stores.sha256(b"x")
LAYER = '{"mediaType":"application/vnd.ollama.image.%s","digest":"sha256:' + SUM + '","size":1,"name":"%s"}'
SEEDS = {
    "tree.json": stores.hf_tree(FILES),
    "note": ("%s\n%s\n1719999999.5\n" % (stores.COMMIT, SUM)).encode(),
    "manifest": ('{"schemaVersion":2,"mediaType":"m","config":{"mediaType":"application/vnd.docker.container.image.v1+json","digest":"sha256:%s","size":2},"layers":[%s,%s,%s]}'
                 % (SUM, LAYER % ("model", ""), LAYER % ("tensor", "a.weight"), LAYER % ("json", "config.json"))).encode(),
    "sums": ("# list\n%s  a\n%s *b/c\nSHA256 (d) = %s\n\\%s  e\\nf\n%s\n" % (SUM, SUM, SUM, SUM, SUM)).encode(),
    "pointer": stores.lfs_pointer(b"x"),
    "name": b"hf.co/org/model-GGUF:Q4_K_M",
}

folder = pathlib.Path(sys.argv[1])
for name, data in SEEDS.items():
    (folder / name).write_bytes(data)
