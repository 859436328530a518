"""plot.py: the record as a picture, written as SVG by hand: no library, the same bytes on every machine, and a change of one figure is a change of a few lines.

Bars are ratios to the raw file (the line at 1); the thin line on a bar goes from the lowest to the highest round. The picture brings its own
background, light or dark as the reader has it, because a transparent one is unreadable on half of the pages that show it.
"""
from xml.sax.saxutils import escape

FIGURES = (("cold", "read", "cold read"), ("cold", "mmap", "cold mmap"), ("cold", "sequential", "mmap, MADV_SEQUENTIAL"), ("cold", "willneed", "mmap, MADV_WILLNEED"),
           ("cold", "random", "cold random 64 KiB"), ("warm", "read", "warm read"), ("warm", "mmap", "warm mmap"))
# Told apart by lightness as well as by hue.
COLOURS = ("#0969a8", "#e08a1e", "#5aa469", "#a05195", "#8c8c8c", "#c94f4f")
LEFT, WIDTH, BAR, GAP, TOP, FOOT = 200, 560, 13, 16, 56, 34
MOST = 2.0  # what is above is cut and says so
STYLE = """<style>
text { font: 12px sans-serif; fill: #1f2328 } .ground { fill: #ffffff } .line { stroke: #6e7781; stroke-width: 1 } .raw { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 4 3 }
.spread { stroke: #1f2328; stroke-width: 1 } .title { font-weight: bold; font-size: 14px }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ground { fill: #0d1117 } .line { stroke: #8b949e } .raw, .spread { stroke: #e6edf3 } }
</style>"""


def x_of(ratio):
    return round(LEFT + min(ratio, MOST) * WIDTH / MOST, 1)


def contenders(record):
    """Every row of the plotted cases but the base, vouchfs first: it is what the page is about."""
    names = [row for case, _, _ in FIGURES for row in record["cases"].get(case, {}).get("rows", {}) if row != "raw"]
    return sorted(dict.fromkeys(names), key=lambda name: not name.startswith("vouchfs"))


def bar(y, cell, colour):
    end, text = x_of(cell["ratio"]), f"{cell['ratio']:.2f}" + (" (cut)" if cell["ratio"] > MOST else "")
    middle = y + BAR / 2
    yield f'<rect x="{LEFT}" y="{y}" width="{round(end - LEFT, 1)}" height="{BAR - 2}" fill="{colour}"/>'
    yield f'<line class="spread" x1="{x_of(cell["low"])}" x2="{x_of(cell["high"])}" y1="{middle - 1}" y2="{middle - 1}"/>'
    yield f'<text x="{max(end, x_of(cell["high"])) + 5}" y="{y + BAR - 3}">{text}</text>'


def groups(record, names):
    """(label, [(colour, cell)]) of every figure that was measured."""
    for case, figure, label in FIGURES:
        rows = record["cases"].get(case, {}).get("rows", {})
        cells = [(COLOURS[at % len(COLOURS)], rows[name][figure]) for at, name in enumerate(names) if "ratio" in rows.get(name, {}).get(figure, {})]
        if cells:
            yield label, cells


def legend(names):
    x = LEFT
    for at, name in enumerate(names):
        yield f'<rect x="{x}" y="32" width="11" height="11" fill="{COLOURS[at % len(COLOURS)]}"/>'
        yield f'<text x="{x + 16}" y="42">{escape(name)}</text>'
        x += 34 + 8 * len(name)


def svg(record):
    names = contenders(record)
    body, y = [], TOP
    for label, cells in groups(record, names):
        body.append(f'<text x="{LEFT - 8}" y="{y + BAR * len(cells) / 2 + 4}" text-anchor="end">{escape(label)}</text>')
        for colour, cell in cells:
            body += bar(y, cell, colour)
            y += BAR
        y += GAP
    axis = [f'<text x="{x_of(tick)}" y="{y + 14}" text-anchor="middle">{tick:g}</text>' for tick in (0, 0.5, 1, 1.5, 2)]
    axis += [f'<line class="line" x1="{LEFT}" x2="{LEFT}" y1="{TOP - 4}" y2="{y}"/>', f'<line class="raw" x1="{x_of(1)}" x2="{x_of(1)}" y1="{TOP - 4}" y2="{y}"/>']
    wide, high = LEFT + WIDTH + 100, y + FOOT
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img" aria-label="Rates as ratios to the raw file">',
            STYLE, f'<rect class="ground" width="{wide}" height="{high}"/>', '<text class="title" x="12" y="20">Rates as ratios to the raw file: longer is faster, the dashed line is the raw file</text>']
    return "\n".join([*head, *legend(names), *axis, *body, "</svg>"]) + "\n"
