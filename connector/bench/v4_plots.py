"""Draw the results of `make bench-v4` as SVG files.

There is a file for each figure and number of columns. Each figure compares format versions 2, 3 and 4 over the number
of data files of the table, with logarithmic axes.

Usage: v4_plots.py results.json directory
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

Row = dict[str, Any]


class Figure(NamedTuple):
    """A figure.

    Attributes:
        name: the beginning of the file name
        section: the section of the results
        kind: the key of the kind of operation, and its value
        value: the beginning of the key of the value
        label: the label of the values
    """

    name: str
    section: str
    kind: tuple[str, str]
    value: str
    label: str


FIGURES = [
    Figure("append-bytes", "Commits", ("commit", "append 1 file"), "bytes written", "bytes written by an append"),
    Figure("append-ms", "Commits", ("commit", "append 1 file"), "ms at", "ms for an append, with latency"),
    Figure("delete-bytes", "Commits", ("commit", "delete 1 file"), "bytes written", "bytes written by a delete"),
    Figure("delete-random-bytes", "Commits", ("commit", "delete 1 % at random"), "bytes written", "bytes written"),
    Figure("plan-cold", "Planning", ("predicate", "full"), "ms, cold", "ms for a full plan, cold"),
    Figure("plan-warm", "Planning", ("predicate", "full"), "ms, warm", "ms for a full plan, warm"),
    Figure(
        "plan-clustered", "Planning", ("predicate", "1 % by a clustered column"), "manifests read", "manifests read"
    ),
    Figure("plan-heap", "Planning", ("predicate", "full"), "heap of the plan", "heap of a full plan, MB"),
]


def value_key(row: Row, beginning: str) -> str:
    """Return the key of a row that starts with the given text. The key of a time with latency ends with `warm`."""
    keys = [k for k in row if k.startswith(beginning)]
    return next((k for k in keys if k.endswith("warm")), keys[0])


def draw(figure: Figure, rows: list[Row], path: Path) -> None:
    """Draw the values of tables with the same number of columns."""
    fig, axes = pyplot.subplots(figsize=(5, 3.2), layout="constrained")
    key = value_key(rows[0], figure.value)
    for version in sorted({row["version"] for row in rows}):
        known = [row for row in rows if row["version"] == version and row[key] is not None]
        points = sorted((row["files"], row[key]) for row in known)
        axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=version)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("data files")
    axes.set_ylabel(figure.label)
    axes.grid(visible=True, which="major", linewidth=0.3)
    axes.legend()
    fig.savefig(path)
    pyplot.close(fig)


def main(results: Path, directory: Path) -> None:
    """Draw all figures whose values the results have."""
    sections: dict[str, list[Row]] = json.loads(results.read_text(encoding="utf-8"))
    directory.mkdir(parents=True, exist_ok=True)
    for figure in FIGURES:
        key, kind = figure.kind
        found = [row for row in sections.get(figure.section, []) if row[key] == kind]
        for columns in sorted({row["columns"] for row in found}):
            path = directory / f"{figure.name}-{columns}.svg"
            draw(figure, [row for row in found if row["columns"] == columns], path)
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
