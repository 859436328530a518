"""tables.py: the tables of docs/PERFORMANCE.md and README.md, each a function of the record. One that was not measured says so."""
import instructions
from figures import cell_text, size_text

ABSENT = "Not measured in the recorded run."


def markdown(head, rows):
    def line(cells):
        return f"| {' | '.join(cells)} |"
    return "\n".join([line(head), "|---" * len(head) + "|", *map(line, rows)])


def caption(case, of_shard=True):
    size = f"{size_text(case['size'])}, m" if of_shard else "M"
    return f"{size}edian of {case['rounds']} rounds" + (f"; in brackets the ratio to {case['base']}" if case["base"] else "") + "."


def of_case(name, title="", of_shard=True):
    """A table with a row a contender and a column a figure."""
    def make(record):
        case = record["cases"].get(name)
        if case is None:
            return ABSENT
        columns = list(case["units"])
        rows = [[row] + [cell_text(cells[f], case["units"][f]) if f in cells else "" for f in columns] for row, cells in case["rows"].items()]
        return caption(case, of_shard) + "\n\n" + markdown([title] + columns, rows)
    return make


# ---- readers: one case a kind of reader, one figure of all of them a table ---------------------------------------------------------------

def of_readers(figure):
    def make(record):
        cases = {name.split(": ", 1)[1]: case for name, case in record["cases"].items() if name.startswith("readers: ")}
        if not cases:
            return ABSENT
        contenders = list(next(iter(cases.values()))["rows"])
        rows = [[name] + [cell_text(case["rows"][way][figure], case["units"][figure]) if way in case["rows"] else "" for way in contenders] for name, case in cases.items()]
        return caption(next(iter(cases.values()))) + "\n\n" + markdown([""] + contenders, rows)
    return make


# ---- the machine, and the short table of the README --------------------------------------------------------------------------------------

def machine(record):
    known = record["environment"]
    rows = [["processor", f"{known['cpu']}, {known['cores']} cores"], ["memory", f"{known['memory_gib']} GiB"], ["system", f"{known['system']}, Linux {known['kernel']}"],
            ["file system", known["filesystem"]], ["build", f"{known['vouchfs']}, Release"]]
    return markdown(["", ""], rows)


CONTENDERS = {"raw": "the file itself, on the disk's filesystem", "bindfs": "FUSE without verification, of the common kind",
              "gocryptfs": "another filesystem that checks what it serves: authenticated encryption of blocks of 4 KiB",
              "passthrough_hp": "libfuse's fast example, without verification and without passthrough in the kernel",
              "vouchfs": "every block hashed and compared before it is served",
              "vouchfs --pin": "the same, and every file held verified in sealed memory, from which the kernel serves it; nothing of it is cold, so it stands only where reads are warm"}


def contenders(record):
    """Those of the record, so that the page speaks of no other."""
    there = {row: None for name in ("cold", "warm") for row in record["cases"].get(name, {}).get("rows", {})}
    return markdown(["contender", "what it is"], [[name, CONTENDERS.get(name, "another build or other options of vouchfs")] for name in there])


def instruction_counts(_):
    """Not of a run: of the record that the test keeps."""
    records = instructions.records()
    build = next((name for name in records if "-DNDEBUG" in name), None)
    if build is None:
        return ABSENT
    rows = [[about, f"{records[build][name]['own']:,}", f"{records[build][name]['all']:,}"] for name, about in instructions.PASSES.items()]
    return markdown(["instructions a block", "vouchfs", "with libraries"], rows)


def summary(record):
    cases = record["cases"]
    columns = [("cold", "read", "cold read"), ("cold", "mmap", "cold mmap"), ("warm", "read", "warm read"), ("warm", "mmap", "warm mmap")]
    columns = [column for column in columns if column[1] in cases.get(column[0], {}).get("units", {})]
    if not columns:
        return ABSENT
    ways = dict.fromkeys(way for case, _, _ in columns for way in cases[case]["rows"])
    rows = [[way] + [cell_text(cases[case]["rows"][way][figure], "B/s") if way in cases[case]["rows"] else "" for case, figure, _ in columns] for way in ways]
    text = f"A shard of {caption(cases[columns[0][0]])}\n\n" + markdown([""] + [column[2] for column in columns], rows)
    return text + ("\n\nA cold shard, hashed whole: " + of_case("ingest")(record) if "ingest" in cases else "")


PLACES = {
    "machine": machine, "contenders": contenders, "summary": summary,
    "cold": of_case("cold"), "warm": of_case("warm"), "fill": of_case("fill"), "memory": of_case("memory"),
    "readers-rate": of_readers("rate"), "readers-median": of_readers("p50"), "readers-p99": of_readers("p99"), "readers-longest": of_readers("longest"),
    "instructions": instruction_counts, "hash": of_case("hash", of_shard=False), "paths": of_case("paths", of_shard=False),
    "mount": of_case("mount", of_shard=False), "small": of_case("small", of_shard=False), "tensor": of_case("tensor"), "load": of_case("load"), "ingest": of_case("ingest"),
}
