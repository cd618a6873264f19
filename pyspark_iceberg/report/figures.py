"""Plots of the facts of a table, drawn with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark_iceberg.metadata.units import count, size
from pyspark_iceberg.report.graph import plot_graph
from pyspark_iceberg.report.style import NOTEBOOK, Palette, plotting, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pyspark_iceberg.report.facts import Facts

_WIDTH = 5.0
_MAX_BARS = 12
_MAX_TICKS = 9
_MAX_LABEL = 26


def plots(facts: Facts, palette: Palette = NOTEBOOK) -> dict[str, Figure]:
    """Return the plots of a report by their names; plots without data are left out."""
    with plotting():
        found = {
            "snapshots": plot_graph(facts, palette),
            "growth": _growth(facts, palette),
            "file sizes": _file_sizes(facts, palette),
            "partitions": _partitions(facts, palette),
            "deletes": _deletes(facts, palette),
            "clustering": _clustering(facts, palette),
            "metadata": _metadata(facts, palette),
        }
    return {name: figure for name, figure in found.items() if figure is not None}


def new_axes(width: float, height: float, palette: Palette) -> tuple[Figure, Axes]:
    """Return an empty plot without a frame."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(palette.grid)
    axes.tick_params(colors=palette.muted, length=0)
    return figure, axes


def short(text: str, length: int = _MAX_LABEL) -> str:
    """Shorten a text in the middle, and replace line breaks and characters that cannot be printed."""
    flat = printable(" ".join(text.split()))
    return flat if len(flat) <= length else f"{flat[: length // 2]}…{flat[-(length - length // 2 - 1) :]}"


def distinct(texts: Sequence[str], length: int = _MAX_LABEL) -> list[str]:
    """Shorten texts. Texts that would look alike keep the place where they begin to differ, or get a number."""
    found = {text: short(text, length) for text in texts}
    for alike in _alike(found):
        found.update(zip(alike, _from_difference(alike, length)))
    for alike in _alike(found):
        found.update((text, f"{found[text][: length - 4]}… {i}") for i, text in enumerate(alike, 1))
    return [found[text] for text in texts]


def _alike(labels: Mapping[str, str]) -> list[list[str]]:
    """Return the groups of different texts that have the same label."""
    groups: dict[str, list[str]] = {}
    for text, label in labels.items():
        groups.setdefault(label, []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _from_difference(texts: Sequence[str], length: int) -> Iterator[str]:
    """Shorten different texts to the place where the first of them begin to differ."""
    first = next((i for i, characters in enumerate(zip(*texts)) if len(set(characters)) > 1), 0)
    begin = max(0, first - length // 3)
    for text in texts:
        rest = text[begin:] if len(text) - begin < length else f"{text[begin : begin + length - 2]}…"
        yield short(f"…{rest}" if begin else text, length)


def _growth(facts: Facts, palette: Palette) -> Figure | None:
    history = [s for s in facts.history if "total-records" in s.summary]
    if not history:
        return None
    figure, axes = new_axes(_WIDTH, 2.5, palette)
    x = range(1, len(history) + 1)
    records = [s.count("total-records") for s in history]
    axes.fill_between(x, records, color=palette.accent, alpha=0.16, linewidth=0)
    axes.plot(x, records, color=palette.accent, linewidth=2, marker="o" if len(history) < 40 else None, markersize=4)
    _values(axes.yaxis, palette, count)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("commit", color=palette.muted)
    axes.set_ylabel("rows in data files", color=palette.muted)
    _whole_numbers(axes.xaxis)
    return figure


def _file_sizes(facts: Facts, palette: Palette) -> Figure | None:
    kinds = (("data files", facts.data_files, palette.accent), ("delete files", facts.delete_files, palette.second))
    listed = [(name, [b for b in {f.path: f.bytes for f in files}.values() if b], c) for name, files, c in kinds]
    sizes = [math.log10(b) for _, values, _ in listed for b in values]
    if not sizes:
        return None
    figure, axes = new_axes(_WIDTH, 2.5, palette)
    low, high = math.floor(min(sizes) * 2) / 2, math.floor(max(sizes) * 2) / 2 + 0.5
    edges = [low + i / 4 for i in range(round((high - low) * 4) + 1)]
    present = [(n, v, c) for n, v, c in listed if v]
    axes.hist(
        [[math.log10(b) for b in values] for _, values, _ in present],
        bins=edges,
        stacked=True,
        color=[colour for *_, colour in present],
        label=[name for name, *_ in present],
        rwidth=0.86,
    )
    target = math.log10(facts.target_bytes)
    if target <= high + 1:
        axes.axvline(target, color=palette.third, linewidth=1.4, linestyle=(0, (4, 3)), label="target size")
    last = max(high, target if target <= high + 1 else low)
    powers = range(math.floor(low), math.floor(last) + 1)
    # Labels of more powers of ten would overlap, and a single power of ten would be no scale.
    digits = (1,) if last - low > 2 else (1, 2, 5)
    ticks = [
        t for p in powers[:: 1 + len(powers) // _MAX_TICKS] for d in digits if low <= (t := p + math.log10(d)) <= last
    ]
    axes.set_xticks(ticks, [size(round(10.0**t)).replace(".0", "") for t in ticks])
    axes.set_ylabel("files", color=palette.muted)
    _values(axes.yaxis, palette, count)
    _legend(axes, palette)
    return figure


def _partitions(facts: Facts, palette: Palette) -> Figure | None:
    shown = [p for p in facts.partitions if p.bytes][:_MAX_BARS]
    if not facts.is_partitioned or not shown:
        return None
    return _bars([(p.label, float(p.bytes), f"{size(p.bytes)} · {_files(p.files)}") for p in shown], palette)


def _deletes(facts: Facts, palette: Palette) -> Figure | None:
    with_deletes = [p for p in facts.partitions if p.deletes and p.records]
    shown = sorted(with_deletes, key=lambda p: -p.deletes / p.records)[:_MAX_BARS]
    if not shown:
        return None
    rows = [(p.label, 100 * p.deletes / p.records, f"{100 * p.deletes / p.records:.1f} %") for p in shown]
    return _bars(rows, palette, colour=palette.second)


def _clustering(facts: Facts, palette: Palette) -> Figure | None:
    shown = facts.clustering[:_MAX_BARS]
    if not shown:
        return None
    rows = [(c.column, c.overlap, f"{c.overlap:.0f} %") for c in shown]
    return _bars(rows, palette, colour=palette.fourth, limit=100.0)


def _metadata(facts: Facts, palette: Palette) -> Figure | None:
    manifests = sorted(facts.manifests, key=lambda m: -m.bytes)[:_MAX_BARS]
    if not manifests:
        return None
    rows = [
        (f"{m.content} {i + 1}", float(m.bytes), f"{size(m.bytes)} · {_files(m.files)}")
        for i, m in enumerate(manifests)
    ]
    colours = [palette.accent if m.content == "data" else palette.second for m in manifests]
    return _bars(rows, palette, colours=colours)


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{count(number)} files"


def _bars(
    rows: Sequence[tuple[str, float, str]],
    palette: Palette,
    *,
    colour: str | None = None,
    colours: Sequence[str] = (),
    limit: float | None = None,
) -> Figure:
    """Return horizontal bars, each with its label and its value."""
    figure, axes = new_axes(_WIDTH, 0.42 + 0.27 * len(rows), palette)
    y = range(len(rows))
    values = [value for _, value, _ in rows]
    end = limit or max(values) or 1.0
    axes.barh(y, [end] * len(rows), color=palette.grid, alpha=0.35, height=0.62)
    axes.barh(y, values, color=list(colours) or colour or palette.accent, height=0.62)
    axes.set_yticks(y, distinct([label for label, *_ in rows]))
    axes.tick_params(axis="y", colors=palette.ink)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_xlim(0, end * 1.02)
    for i, (_, _, text) in enumerate(rows):
        axes.text(end * 1.05, i, text, va="center", color=palette.muted, clip_on=False)
    return figure


def _values(axis: Any, palette: Palette, text: Any) -> None:
    """Show the values of an axis with units and grid lines."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.grid(True, color=palette.grid, linewidth=0.8)
    axis.axes.set_axisbelow(True)


def _whole_numbers(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=8, integer=True))


def _legend(axes: Axes, palette: Palette) -> None:
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, labelcolor=palette.muted, handlelength=1.2
    )
