"""What a case of doctor is: a small broken model, built by a few lines into an empty folder, and what doctor has to say of it.

The function of a case gives back the findings that must be there. No other error and no other warning may be.
"""
import dataclasses

from tiny_writers import write

FILE = "model.safetensors"
BIN = "pytorch_model.bin"
GGUF = "model.gguf"
INDEX = "model.safetensors.index.json"


@dataclasses.dataclass
class Want:
    """One finding. None: not looked at. `says`: words of its message; `command`: words of its command."""
    code: str
    file: str
    offset: "int | None" = None
    length: "int | None" = None
    tensors: "list | None" = None
    says: tuple = ()
    command: tuple = ()
    severity: str = "error"


@dataclasses.dataclass
class Case:
    id: str
    name: str
    verdict: str
    build: object
    path: str = ""        # what doctor is given, below the folder
    options: tuple = ()
    environment: tuple = ()  # (name, path below the folder)
    sealed: bool = False  # a seal of the state before `spoil`
    spoil: object = None

    @property
    def slug(self):
        return "%s_%s" % (self.id, "".join(c if c.isalnum() else "_" for c in self.name))


CASES = []


def case(number, name, verdict, **more):
    def add(build):
        CASES.append(Case(number, name, verdict, build, **more))
        return build
    return add


def find(slug):
    return next(c for c in CASES if c.slug == slug)


def note(code, file, *place, **more):
    return Want(code, file, *place, severity="note", **more)


def warning(code, file, *place, **more):
    return Want(code, file, *place, severity="warning", **more)


def one(number, name, verdict, content, wants, file=FILE, **more):
    """A case of one file."""
    @case(number, name, verdict, **more)
    def _(folder):
        write(folder / file, content)
        return wants
