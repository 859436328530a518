"""Every tiny input, by its family. Ids R01 to R127 are those of the collection of reported breakages that doctor was designed by; C01 to C48 are rows of the
table of symptoms (symptoms.py) that those do not show; D1 to D7 show codes that neither does.
"""
import inputs_deep
import inputs_gguf
import inputs_more
import inputs_safetensors
import inputs_shards
import inputs_stores
import inputs_torch
from cases import CASES, find

FAMILIES = (inputs_safetensors, inputs_deep, inputs_shards, inputs_torch, inputs_gguf, inputs_stores, inputs_more)
__all__ = ["CASES", "FAMILIES", "find"]
