"""Small writers of model files and stores, byte by byte, each field open to be written wrong. Needs nothing but Python."""
import hashlib
import json
import os
import pathlib
import struct
import zlib

# ---- safetensors ---------------------------------------------------------------------------------------------------------------

PT = {"format": "pt"}
SAFETENSORS_BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
                    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}


def floats(count, first=0.5):
    """Data that is neither zero nor odd in any way."""
    return struct.pack("<%df" % count, *(first + i for i in range(count)))


def product(shape):
    out = 1
    for dimension in shape:
        out *= dimension
    return out


def noise_of(name, size):
    """Bytes that differ from tensor to tensor; as float32 or float16 all of them are finite, and none is zero."""
    seed = hashlib.sha256(name.encode()).digest()
    return bytes(0x31 + (byte & 7) for byte in (seed * (size // 32 + 1))[:size])


def rows_of(tensors):
    """{name: entry} with ranges one after the other, and the data, for [(name, dtype, shape)] or [(name, dtype, shape, data)]."""
    header, body = {}, b""
    for name, dtype, shape, *data in tensors:
        raw = data[0] if data else noise_of(name, product(shape) * SAFETENSORS_BITS[dtype] // 8)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    return header, body


def from_header(text, body=b"", align=8):
    """A file of a header that is JSON text (or any bytes) and its data."""
    raw = text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text, separators=(",", ":"))).encode()
    raw += b" " * (-len(raw) % align)
    return struct.pack("<Q", len(raw)) + raw + body


def safetensors(tensors, metadata=PT, align=8):
    header, body = rows_of(tensors)
    return from_header({**({} if metadata is None else {"__metadata__": metadata}), **header}, body, align)


def with_bytes(file, at, data):
    """The file with some of its bytes replaced."""
    return file[:at] + data + file[at + len(data):]


def data_offset(file):
    return 8 + struct.unpack("<Q", file[:8])[0]


# ---- GGUF ----------------------------------------------------------------------------------------------------------------------

def gguf_text(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf_value(key, kind, value):
    """kind: u16, u32, i32, str."""
    code, raw = {"u16": (2, "<H"), "u32": (4, "<I"), "i32": (5, "<i"), "str": (8, None)}[kind]
    return gguf_text(key) + struct.pack("<I", code) + (gguf_text(value) if raw is None else struct.pack(raw, value))


def gguf_info(name, shape, kind, offset):
    return gguf_text(name) + struct.pack("<I", len(shape)) + struct.pack("<%dQ" % len(shape), *shape) + struct.pack("<IQ", kind, offset)


def padded(raw, alignment=32):
    return raw + bytes(-len(raw) % alignment)


def gguf(tensors=None, values=None, version=3, magic=b"GGUF", count=None, kind=0):
    """[(name, shape)] of float32 (kind: another type id for all of them); values: encoded keys. Everything padded as writers do."""
    tensors = [("blk.0.weight", (4, 2)), ("output.weight", (6,))] if tensors is None else tensors
    values = [gguf_value("general.architecture", "str", "llama")] if values is None else values
    infos, body = b"", b""
    for name, shape in tensors:
        infos += gguf_info(name, shape, kind, len(body))
        body += padded(noise_of(name, 4 * product(shape)))
    head = magic + struct.pack("<IQQ", version, len(tensors) if count is None else count, len(values)) + b"".join(values) + infos
    return padded(head) + body


# ---- torch ---------------------------------------------------------------------------------------------------------------------

def unicode_of(text):
    raw = text.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def number(value):
    return b"K" + bytes([value]) if value < 256 else b"J" + struct.pack("<i", value)


def numbers(values):
    return b"(" + b"".join(number(v) for v in values) + b"t"


def global_of(module, name):
    return b"c%s\n%s\n" % (module.encode(), name.encode())


def storage(key, count, kind="FloatStorage", legacy=False):
    return b"(" + unicode_of("storage") + global_of("torch", kind) + unicode_of(key) + unicode_of("cpu") + number(count) + (b"N" if legacy else b"") + b"tQ"


def tensor(key, shape, legacy=False):
    """_rebuild_tensor_v2 of a contiguous float32 tensor that fills its storage."""
    strides = [product(shape[i + 1:]) for i in range(len(shape))]
    hooks = global_of("collections", "OrderedDict") + b")R"
    return (global_of("torch._utils", "_rebuild_tensor_v2") + b"(" + storage(key, product(shape), legacy=legacy) + number(0) + numbers(shape) + numbers(strides) + b"\x89" +
            hooks + b"tR")


def state_dict(tensors, more=b"", legacy=False):
    """The pickle of {name: tensor}; `more`: further key and value pairs, as opcodes."""
    pairs = b"".join(unicode_of(name) + tensor(str(i), shape, legacy) for i, (name, shape) in enumerate(tensors))
    return b"\x80\x02}(" + pairs + more + b"u."


CALL_OF_SYSTEM = unicode_of("extra") + global_of("os", "system") + unicode_of("true") + b"\x85R"
TORCH_TENSORS = [("embed.weight", (4, 3)), ("head.weight", (5,)), ("head.bias", (2, 2))]


class Zip:
    """torch's zip form: stored records, empty local sizes, content on 64 bytes, sizes and CRCs in the central directory, zip64 end records."""

    def __init__(self, folder="archive"):
        self.folder, self.raw, self.entries, self.places = folder, b"", [], {}

    def add(self, name, content, crc=None):
        full = ("%s/%s" % (self.folder, name)).encode()
        at = len(self.raw)
        pad = -(at + 30 + len(full) + 4) % 64
        extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
        self.raw += struct.pack("<IHHHHHIIIHH", 0x04034B50, 0, 0x0808, 0, 0, 0, 0, 0, 0, len(full), len(extra)) + full + extra
        self.places[name] = (at, len(self.raw), len(content))
        crc = zlib.crc32(content) if crc is None else crc
        self.raw += content + struct.pack("<IIII", 0x08074B50, crc, len(content), len(content))
        self.entries.append((full, at, len(content), crc))
        return self

    def bytes(self, leave_out=()):
        begin, directory, kept = len(self.raw), b"", [e for e in self.entries if e[0].decode().split("/", 1)[1] not in leave_out]
        for full, at, size, crc in kept:
            directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 0, 0, 0x0808, 0, 0, 0, crc, size, size, len(full), 0, 0, 0, 0, 0, at) + full
        end = begin + len(directory)
        return (self.raw + directory + struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, len(kept), len(kept), len(directory), begin) +
                struct.pack("<IIQI", 0x07064B50, 0, end, 1) + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(kept), len(kept), len(directory), begin, 0))


def torch_zip(tensors=None, more=b"", without=()):
    """A file of torch.save. Returns it as a Zip: .bytes() is the file."""
    tensors = TORCH_TENSORS if tensors is None else tensors
    out = Zip().add("data.pkl", state_dict(tensors, more)).add("byteorder", b"little")
    for i, (name, shape) in enumerate(tensors):
        if "data/%d" % i not in without:
            out.add("data/%d" % i, noise_of(name, 4 * product(shape)))
    return out.add("version", b"3\n").add(".data/serialization_id", b"0" * 40)


def torch_legacy(tensors=None):
    tensors = TORCH_TENSORS if tensors is None else tensors
    system = b"\x80\x02}(" + unicode_of("protocol_version") + b"M\xe9\x03" + unicode_of("little_endian") + b"\x88u."
    keys = b"\x80\x02](" + b"".join(unicode_of(str(i)) for i in range(len(tensors))) + b"e."
    raw = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." + b"\x80\x02M\xe9\x03." + system + state_dict(tensors, legacy=True) + keys
    for name, shape in tensors:
        raw += struct.pack("<q", product(shape)) + noise_of(name, 4 * product(shape))
    return raw


# ---- other content -------------------------------------------------------------------------------------------------------------

def lfs_pointer(content):
    return ("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (hashlib.sha256(content).hexdigest(), len(content))).encode()


def web_page(title="Sign in to your account", size=0):
    page = "<!DOCTYPE html>\n<html><head><title>%s</title></head><body><p>Please sign in.</p></body></html>\n" % title
    return page.encode().ljust(size, b"\n")


# ---- stores --------------------------------------------------------------------------------------------------------------------

def write(path, content):
    """Writes bytes, or anything else as JSON."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=2).encode())


def git_sha1(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPO = "models--org--name"
SNAPSHOT = "snapshots/" + COMMIT


def hub_cache(top, files):
    """One model of a Hugging Face cache below top: {path: content}; weights under their SHA-256, the rest under git's SHA-1. Returns {path: blob}."""
    repo, blobs = pathlib.Path(top, REPO), {}
    write(repo / "refs/main", COMMIT.encode())
    for path, content in files.items():
        weights = path.endswith((".safetensors", ".bin", ".gguf"))
        blob = repo / "blobs" / (hashlib.sha256(content).hexdigest() if weights else git_sha1(content))
        write(blob, content)
        link = repo / SNAPSHOT / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
        blobs[path] = blob
    return blobs


def ollama_layer(media, content):
    return {"mediaType": "application/vnd.ollama.image." + media, "digest": "sha256:" + hashlib.sha256(content).hexdigest(), "size": len(content)}


OLLAMA_MANIFEST = "manifests/registry.ollama.ai/library/tiny/latest"


def ollama_store(top, model):
    """A store with the model tiny:latest. Returns {media type: blob}."""
    contents = {"model": model, "template": b"{{ .Prompt }}", "params": b'{"stop":["<s>"]}'}
    config = json.dumps({"model_format": "gguf"}).encode()
    layers = [ollama_layer(media, content) for media, content in contents.items()]
    head = {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": "sha256:" + hashlib.sha256(config).hexdigest(), "size": len(config)}
    write(pathlib.Path(top, OLLAMA_MANIFEST), {"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", "config": head, "layers": layers})
    blobs = {}
    for media, content in {**contents, "config": config}.items():
        blobs[media] = pathlib.Path(top, "blobs", "sha256-" + hashlib.sha256(content).hexdigest())
        write(blobs[media], content)
    return blobs
