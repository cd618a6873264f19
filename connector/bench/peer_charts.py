"""Draw the results of `peers.py` as SVG files, one for each workload.

Usage: peer_charts.py peers.json directory
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

# The charts are the same for the same results: without random ids, and without the time at which they were drawn.
matplotlib.rcParams["svg.hashsalt"] = "iceberg-lite"
COLOURS = {"Apache Iceberg": "#7f8c8d", "iceberg-lite": "#1f6fb2", "Delta Lake": "#d98e04", "Parquet": "#b8c4ce"}
BAR = 0.8


def workloads(figures: dict[str, dict[str, float]]) -> dict[str, list[str]]:
    """Return the measures of each workload. The name of a measure begins with the name of its workload and a colon."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for of_engine in figures.values() for name in of_engine):
        found.setdefault(name.split(":")[0], []).append(name)
    return found


def draw(workload: str, measures: list[str], figures: dict[str, dict[str, float]], path: Path) -> None:
    """Draw horizontal bars: a group for each measure, with a bar for each engine that has the measure."""
    engines = [engine for engine, of_engine in figures.items() if any(name in of_engine for name in measures)]
    height = BAR / len(engines)
    fig, axes = pyplot.subplots(figsize=(7.5, 0.9 + 0.26 * len(engines) * len(measures)), layout="constrained")
    for number, engine in enumerate(engines):
        known = [(row, figures[engine][name]) for row, name in enumerate(measures) if name in figures[engine]]
        bars = axes.barh(
            [row + (number - (len(engines) - 1) / 2) * height for row, _ in known],
            [value for _, value in known],
            height,
            label=engine,
            color=COLOURS.get(engine),
        )
        axes.bar_label(bars, fmt="%.0f", padding=3, fontsize=8)
    axes.set_yticks(range(len(measures)), [name.split(": ", 1)[1] for name in measures])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel("median time, ms (a shorter bar is faster)")
    axes.set_title(workload[0].upper() + workload[1:], loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    fig.savefig(path, metadata={"Date": None})
    pyplot.close(fig)


def charts(results: dict[str, Any], directory: Path) -> list[Path]:
    """Draw all charts, and return their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    drawn = []
    for workload, measures in workloads(results["medians_ms"]).items():
        path = directory / f"{workload.replace(' ', '-')}.svg"
        draw(workload, measures, results["medians_ms"], path)
        drawn.append(path)
    return drawn


def main(results: Path, directory: Path) -> None:
    """Draw the charts of a file of results, and print their paths."""
    for path in charts(json.loads(results.read_text(encoding="utf-8")), directory):
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
