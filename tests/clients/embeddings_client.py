"""A user's program: sentence embeddings on the CPU. embeddings_client.py MODEL prints a hash of their bytes, their shape and one column."""
import hashlib
import json
import sys

from sentence_transformers import SentenceTransformer

TEXTS = ["a model is a directory of files", "every block is checked before it is served", "The quick brown fox jumps over the lazy dog."]

vectors = SentenceTransformer(sys.argv[1], device="cpu").encode(TEXTS)
print(json.dumps({"sha256": hashlib.sha256(vectors.tobytes()).hexdigest(), "shape": list(vectors.shape), "first": vectors[:, 0].tolist()}))
