"""figures.py: the figures that the documents show, small: out of the JSON of a run, and back from docs/performance.json.

A cell keeps the median, its ratio to the first row of its case, and the lowest and highest ratio of a round, which say how much the median is worth.
"""
import json
import statistics

from samples import rounded, shown

SCHEMA = 1


def cell_of(values, base):
    cell = {"median": rounded(statistics.median(values))}
    if base and len(base) == len(values) and all(base):
        ratios = [value / first for value, first in zip(values, base)]
        cell.update(ratio=rounded(statistics.median(ratios)), low=rounded(min(ratios)), high=rounded(max(ratios)))
    return cell


def case_of(case, run):
    base = case["rows"].get(case["base"], {})
    rows = {name: {figure: cell_of(cell["values"], base.get(figure, {}).get("values")) for figure, cell in row.items()} for name, row in case["rows"].items()}
    return {"base": case["base"], "about": case["about"], "size": run["size"], "rounds": run["rounds"], "units": case["units"], "rows": rows}


def same_machine(one, other):
    return all(one.get(key) == other.get(key) for key in one if key != "load")


def merged(runs):
    """One record out of several runs of the same machine and build; of a case that is in several the last one counts."""
    record = {"schema": SCHEMA, "environment": {key: value for key, value in runs[0]["environment"].items() if key != "load"}, "cases": {}}
    for run in runs:
        if not same_machine(record["environment"], run["environment"]):
            raise SystemExit("report.py: these runs are of different machines or builds; their figures cannot stand in one record")
        record["cases"].update({name: case_of(case, run) for name, case in run["cases"].items()})
    return record


def text_of(record):
    """One line a row: a change of one figure is a change of one line."""
    def cases():
        for name, case in record["cases"].items():
            head = {key: value for key, value in case.items() if key != "rows"}
            rows = ",\n".join(f"   {json.dumps(row)}: {json.dumps(cells, ensure_ascii=False)}" for row, cells in case["rows"].items())
            yield f" {json.dumps(name)}: {json.dumps(head, ensure_ascii=False)[:-1]}, \"rows\": {{\n{rows}}}}}"
    return (f'{{"schema": {record["schema"]},\n"environment": {json.dumps(record["environment"], ensure_ascii=False)},\n"cases": {{\n' + ",\n".join(cases()) + "}}\n")


def cell_text(cell, unit):
    return shown(cell["median"], unit) + (f" ({cell['ratio']:.2f})" if "ratio" in cell else "")


def size_text(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"
