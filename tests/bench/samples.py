"""samples.py: what was measured, and the medians and ratios that are made of it.

A case has rows (contenders), a row has figures, a figure has one value a round. Values of one round were taken moments apart, so a ratio is
taken round by round and its median is what counts.
"""
import statistics


class Case:
    def __init__(self, name, base, about):
        self.name, self.base, self.about = name, base, about
        self.units = {}  # figure -> unit
        self.rows = {}   # contender -> figure -> [values]

    def add(self, row, figure, unit, value):
        self.units[figure] = unit
        self.rows.setdefault(row, {}).setdefault(figure, []).append(value)

    def summary(self):
        rows = {name: {figure: self.cell(figure, values) for figure, values in figures.items()} for name, figures in self.rows.items()}
        return {"base": self.base, "about": self.about, "units": self.units, "rows": rows}

    def cell(self, figure, values):
        cell = {"values": [rounded(value) for value in values], "median": rounded(statistics.median(values))}
        base = self.rows.get(self.base, {}).get(figure)
        if base and len(base) == len(values) and all(base):
            cell["ratio"] = rounded(statistics.median(v / b for v, b in zip(values, base)))
        return cell


def rounded(value):
    """Four significant digits: more would be noise, and the record stays small."""
    return float(f"{value:.4g}")


def shown(value, unit):
    """A figure for people."""
    if unit == "B/s":
        return f"{value / 1e9:.2f} GB/s"
    text = f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
    return text if unit == "" else f"{text} {unit}"


def table(case):
    """Markdown: one line a contender, one column a figure, the ratio to the base in brackets."""
    figures = list(case["units"])
    lines = [f"| | {' | '.join(figures)} |", "|---" * (len(figures) + 1) + "|"]
    for name, row in case["rows"].items():
        cells = [shown(row[f]["median"], case["units"][f]) + (f" ({row[f]['ratio']:.2f})" if "ratio" in row[f] else "") if f in row else "" for f in figures]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
