"""Writes files as torch.save does, byte by byte and without torch: the zip form and the legacy form.

A tensor is T(dtype, shape, data) with optional stride, offset and key; the same key twice is a tied storage. Objects are dicts, lists,
tuples, numbers, strings, T, and Global for a class or function; Call for what the pickle would call.

  zip_file({"a": T("float32", (2, 3), bytes(24))})              the bytes of a .bin
  legacy_file({"a": T("float32", (2, 3), bytes(24))})
  zip_file({"x": Call(Global("os", "system"), "true")})         harmful on purpose: nothing here runs it
  zip_records({...})                                            the records, to be changed before zip_of(records)
"""
import struct
import zlib

STORAGES = {"float64": ("Double", 8), "float32": ("Float", 4), "float16": ("Half", 2), "bfloat16": ("BFloat16", 2), "int64": ("Long", 8),
            "int32": ("Int", 4), "int16": ("Short", 2), "int8": ("Char", 1), "uint8": ("Byte", 1), "bool": ("Bool", 1)}
MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001


class Global:
    def __init__(self, module, name):
        self.module, self.name = module, name


class Call:
    def __init__(self, function, *args):
        self.function, self.args = function, args


class T:
    """A tensor of a storage that holds `data`; shape, stride and offset in elements."""

    def __init__(self, dtype, shape, data, stride=None, offset=0, key=None):
        self.dtype, self.shape, self.data, self.offset, self.key = dtype, tuple(shape), data, offset, key
        self.stride = tuple(stride) if stride is not None else contiguous(self.shape)


def contiguous(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.insert(0, step)
        step *= n
    return tuple(strides)


class Pickler:
    """Protocol 2, as torch writes it: no memo but for nothing, since nothing is shared."""

    def __init__(self, legacy=False):
        self.legacy, self.out, self.storages = legacy, bytearray(b"\x80\x02"), {}

    def dump(self, value):
        self.put(value)
        return bytes(self.out + b".")

    def put(self, value):
        kind = {dict: self.put_dict, list: self.put_list, tuple: self.put_tuple, str: self.put_text, int: self.put_int, T: self.put_tensor,
                Global: self.put_global, Call: self.put_call, bytes: self.put_bytes}.get(type(value))
        if kind is not None:
            kind(value)
        elif value is None or isinstance(value, bool):
            self.out += {None: b"N", True: b"\x88", False: b"\x89"}[value]
        elif isinstance(value, float):
            self.out += b"G" + struct.pack(">d", value)
        else:
            raise TypeError(type(value))

    def put_dict(self, value):
        self.out += b"}("
        for key, item in value.items():
            self.put(key)
            self.put(item)
        self.out += b"u"

    def put_list(self, value):
        self.out += b"]("
        for item in value:
            self.put(item)
        self.out += b"e"

    def put_tuple(self, value):
        self.out += b"("
        for item in value:
            self.put(item)
        self.out += b"t"

    def put_text(self, value):
        data = value.encode()
        self.out += b"X" + struct.pack("<I", len(data)) + data

    def put_bytes(self, value):
        self.out += b"U" + struct.pack("<B", len(value)) + value

    def put_int(self, value):
        if -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            self.out += b"\x8a" + struct.pack("<B", len(data)) + data

    def put_global(self, value):
        self.out += b"c" + f"{value.module}\n{value.name}\n".encode()

    def put_call(self, value):
        self.put(value.function)
        self.put(value.args)
        self.out += b"R"

    def put_tensor(self, tensor):
        name, element = STORAGES[tensor.dtype]
        key = tensor.key if tensor.key is not None else str(len(self.storages))
        self.storages.setdefault(key, (tensor.data, element))
        self.put_global(Global("torch._utils", "_rebuild_tensor_v2"))
        self.out += b"("
        self.put(("storage", Global("torch", name + "Storage"), key, "cpu", len(tensor.data) // element) + ((None,) if self.legacy else ()))
        self.out += b"Q"
        for value in (tensor.offset, tensor.shape, tensor.stride, False, Call(Global("collections", "OrderedDict"))):
            self.put(value)
        self.out += b"tR"


def zip_records(value):
    """(name within the folder, content) in torch's order."""
    pickler = Pickler()
    records = [("data.pkl", pickler.dump(value)), (".format_version", b"1"), (".storage_alignment", b"64"), ("byteorder", b"little")]
    records += [("data/" + key, data) for key, (data, _) in pickler.storages.items()]
    return records + [("version", b"3\n"), (".data/serialization_id", b"0" * 40)]


def zip_of(records, folder="archive", checksums=True, alignment=64, zip64=True):
    """Stored records with descriptors behind them, content on `alignment` bytes, zip64 end record and locator."""
    out, directory = bytearray(), bytearray()
    for name, data in records:
        full = f"{folder}/{name}".encode()
        crc = zlib.crc32(data) if checksums else 0
        at = len(out)
        pad = -(at + 30 + len(full) + 4) % alignment
        out += struct.pack("<4s5H3I2H", b"PK\3\4", 0, 0x0808, 0, 0, 0, 0, 0, 0, len(full), 4 + pad) + full
        out += b"FB" + struct.pack("<H", pad) + b"Z" * pad + data
        if data:
            out += struct.pack("<4s3I", b"PK\7\x08", crc, len(data), len(data))
        directory += struct.pack("<4s6H3I5H2I", b"PK\1\2", 0, 0, 0x0808, 0, 0, 0, crc, len(data), len(data), len(full), 0, 0, 0, 0, 0, at) + full
    begin, end = len(out), len(out) + len(directory)
    out += directory
    if zip64:
        out += struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 0x31E, 45, 0, 0, len(records), len(records), len(directory), begin)
        out += struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    return bytes(out + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, len(records), len(records), len(directory), begin, 0))


def zip_file(value, **options):
    return zip_of(zip_records(value), **options)


def legacy_file(value):
    pickler = Pickler(legacy=True)
    body = pickler.dump(value)
    system = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    keys = sorted(pickler.storages)
    out = Pickler().dump(MAGIC) + Pickler().dump(PROTOCOL) + Pickler().dump(system) + body + Pickler().dump(keys)
    for key in keys:
        data, element = pickler.storages[key]
        out += struct.pack("<q", len(data) // element) + data
    return out
