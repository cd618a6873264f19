"""Draw the results of `make bench-v4` as SVG files, and write their most important figures as Markdown tables.

There is a file for each chart. Each chart compares format versions 2, 3 and 4 over the number of data files of the
table, with logarithmic axes and one panel for each number of columns. The tables are in `tables.md`.

The results may be in several files, such as one for each number of columns.

Usage: v4_plots.py directory results.json...
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

Row = dict[str, Any]
Sections = dict[str, list[Row]]

# The charts are the same for the same results: without random ids, and without the time at which they were drawn.
matplotlib.rcParams["svg.hashsalt"] = "iceberg-lite"
matplotlib.rcParams["svg.fonttype"] = "none"
COLOURS = {"v2": "#b8c4ce", "v3": "#7f8c8d", "v4": "#1f6fb2"}
VERSIONS = list(COLOURS)


class Figure(NamedTuple):
    """A chart.

    Attributes:
        name: the file name without its suffix
        section: the section of the results
        kind: the key of the kind of operation, and its value
        value: the beginning of the key of the value
        title: the title of the chart
        label: the label of the values
    """

    name: str
    section: str
    kind: tuple[str, str]
    value: str
    title: str
    label: str


APPEND = ("commit", "append 1 file")
CLUSTERED = ("predicate", "1 % by a clustered column")
FULL = ("predicate", "full")
FIGURES = [
    Figure("append-bytes", "Commits", APPEND, "bytes written", "Append of one file", "bytes written"),
    Figure("append-ms", "Commits", APPEND, "ms at", "Append of one file, with latency", "ms"),
    Figure("delete-bytes", "Commits", ("commit", "delete 1 file"), "bytes written", "Delete of one file", "bytes"),
    Figure(
        "delete-random-bytes",
        "Commits",
        ("commit", "delete 1 % at random"),
        "bytes written",
        "Delete of 1 % of the files at random",
        "bytes written",
    ),
    Figure("plan-cold", "Planning", FULL, "ms, cold", "Plan of all files, without cached manifests", "ms"),
    Figure("plan-warm", "Planning", FULL, "ms, warm", "Plan of all files, with cached manifests", "ms"),
    Figure("plan-clustered", "Planning", CLUSTERED, "manifests read", "Plan by a clustered column", "manifests read"),
    Figure("plan-heap", "Planning", FULL, "heap of the plan", "Plan of all files", "heap, MB"),
]


def value_key(row: Row, beginning: str) -> str:
    """Return the key of a row that starts with the given text. The key of a time with latency ends with `warm`."""
    keys = [k for k in row if k.startswith(beginning)]
    return next((k for k in keys if k.endswith("warm")), keys[0])


def draw(figure: Figure, rows: list[Row], path: Path) -> None:
    """Draw a chart with one panel for each number of columns."""
    panels = sorted({row["columns"] for row in rows})
    fig, all_axes = pyplot.subplots(
        1, len(panels), figsize=(4.2 * len(panels), 3.2), layout="constrained", sharey=True, squeeze=False
    )
    key = value_key(rows[0], figure.value)
    for columns, axes in zip(panels, all_axes[0]):
        for version in VERSIONS:
            known = [row for row in rows if row["columns"] == columns and row["version"] == version]
            points = sorted((row["files"], row[key]) for row in known if row[key] is not None)
            axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=version, color=COLOURS[version])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(f"data files (statistics of {columns} columns)")
        axes.grid(visible=True, which="major", linewidth=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    all_axes[0][0].set_ylabel(figure.label)
    all_axes[0][0].legend(frameon=False)
    fig.suptitle(figure.title, x=0.02, ha="left")
    fig.savefig(path, metadata={"Date": None})
    pyplot.close(fig)


def text(value: object) -> str:
    """Return a number with separators of thousands and at most three digits after the point, or a text as it is."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def size(count: int) -> str:
    """Return a number of bytes, with a unit from 100,000 bytes."""
    if count < 100_000:
        return f"{count:,} B"
    return f"{count / 1000:,.0f} kB" if count < 1_000_000 else f"{count / 1e6:,.3g} MB"


def markdown(names: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def by_version(rows: list[Row], kind: str, columns: int, files: int, cell: Any) -> list[list[str]]:
    """Return a line for each kind of operation, with a cell for each version."""
    found = [row for row in rows if row["columns"] == columns and row["files"] == files]
    lines = []
    for name in dict.fromkeys(row[kind] for row in found):
        of_kind = {row["version"]: row for row in found if row[kind] == name}
        lines.append([name, *(cell(of_kind[v]) if v in of_kind else "" for v in VERSIONS)])
    return lines


def latency_key(row: Row) -> str:
    """Return the key of the time with latency."""
    return value_key(row, "ms at")


def written(row: Row) -> str:
    """Return the files and bytes that a commit writes."""
    count = row["files written"]
    return f"{count} file{'' if count == 1 else 's'}, {size(row['bytes written'])}"


def commit_ms(row: Row) -> str:
    """Return the time of a commit without and with latency."""
    return f"{text(row['ms'])} / {text(row[latency_key(row)])}"


def planned(row: Row) -> str:
    """Return the requests and bytes that a plan reads."""
    return f"{row['requests']} requests, {size(row['bytes read'])}"


def plan_ms(row: Row) -> str:
    """Return the time of a plan without and with cached manifests, and with latency."""
    return " / ".join(text(row[key]) for key in ("ms, cold", "ms, warm", latency_key(row)))


def as_it_is(rows: list[Row]) -> str:
    """Return a section of the results as a table."""
    return markdown(list(rows[0]), [[text(value) for value in row.values()] for row in rows])


def tables(sections: Sections) -> dict[str, str]:
    """Return tables of the largest measured table for each number of columns, and of the other sections."""
    commits, plans = sections["Commits"], sections["Planning"]
    found = {}
    for columns in sorted({row["columns"] for row in commits}):
        files = max(row["files"] for row in commits if row["columns"] == columns)
        where = f"{files:,} files, statistics of {columns} columns"
        for title, rows, kind, cell in [
            ("Files and bytes written by a commit", commits, "commit", written),
            ("Milliseconds of a commit", commits, "commit", commit_ms),
            ("Requests and bytes of a plan", plans, "predicate", planned),
            ("Milliseconds of a plan", plans, "predicate", plan_ms),
        ]:
            found[f"{title}, {where}"] = markdown(["", *VERSIONS], by_version(rows, kind, columns, files, cell))
    others = ["Sizes after appends of one file each", "Limits of data files in the root", "Cost model", "Goals"]
    others += [t for t in sections if t.startswith(("Appends of one file to", "Deletion vectors of leaves"))]
    return found | {title: as_it_is(sections[title]) for title in others}


def read(results: list[Path]) -> Sections:
    """Return the sections of all results, with the rows of the first file first."""
    sections: Sections = {}
    for path in results:
        for title, rows in json.loads(path.read_text(encoding="utf-8")).items():
            sections.setdefault(title, []).extend(rows)
    return sections


def main(directory: Path, results: list[Path]) -> None:
    """Draw all charts whose values the results have, and write the tables."""
    sections = read(results)
    directory.mkdir(parents=True, exist_ok=True)
    for figure in FIGURES:
        key, kind = figure.kind
        rows = [row for row in sections.get(figure.section, []) if row[key] == kind]
        if rows:
            path = directory / f"{figure.name}.svg"
            draw(figure, rows, path)
            print(path)
    path = directory / "tables.md"
    path.write_text("\n".join(f"## {t}\n\n{table}\n" for t, table in tables(sections).items()), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(path) for path in sys.argv[2:]])
