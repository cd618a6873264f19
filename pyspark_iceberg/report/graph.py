"""The graph of snapshots, branches and tags, with the newest snapshot at the top."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark_iceberg.metadata.model import SnapshotInfo, ancestors
from pyspark_iceberg.metadata.units import count, moment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pyspark_iceberg.report.facts import Facts
    from pyspark_iceberg.report.style import Palette

MAX_SNAPSHOTS = 40
_ROW = 0.27
# The distance of two lanes, and the width of all lanes together, in the units of the horizontal axis. If there are
# many lanes, they are closer to each other, so that the texts keep their places.
_LANE = 0.5
_LANES = 3.0
# The number of inches of a unit of the horizontal axis. The texts need a fixed width.
_UNIT = 0.75
_TEXTS = 8.45


def lanes(facts: Facts) -> dict[int, int]:
    """Return the lane of each snapshot, which is the number of its column in the graph.

    The current history has lane 0. Each branch or tag with snapshots that are in no earlier lane has a further lane.
    Snapshots that no branch or tag reaches, for example after a rollback, have the last lane.
    """
    found = {s.snapshot_id: 0 for s in ancestors(facts.snapshots, facts.table.current_snapshot_id)}
    lane = 0
    for ref in sorted(facts.refs, key=lambda r: (r.kind != "branch", r.name)):
        line = [s.snapshot_id for s in ancestors(facts.snapshots, ref.snapshot_id) if s.snapshot_id not in found]
        if line:
            lane += 1
            found.update(dict.fromkeys(line, lane))
    others = [s.snapshot_id for s in facts.snapshots if s.snapshot_id not in found]
    found.update(dict.fromkeys(others, lane + 1))
    return found


def plot_graph(facts: Facts, palette: Palette) -> Figure | None:
    """Return the graph of the newest snapshots."""
    from pyspark_iceberg.report.figures import distinct, new_axes, short

    shown = list(facts.snapshots[-MAX_SNAPSHOTS:])[::-1]
    if not shown:
        return None
    lane_of = lanes(facts)
    last_lane = max(lane_of[s.snapshot_id] for s in shown)
    step = min(_LANE, _LANES / max(last_lane, 1))
    start = step * last_lane + 0.5
    figure, axes = new_axes(_UNIT * (start + _TEXTS), 0.3 + _ROW * len(shown), palette)
    axes.spines["bottom"].set_visible(False)
    place = {s.snapshot_id: (step * lane_of[s.snapshot_id], y) for y, s in enumerate(shown)}
    _edges(axes, shown, place, palette)
    names: dict[int, list[str]] = defaultdict(list)
    for ref in facts.refs:
        names[ref.snapshot_id].append(ref.name)
    texts = {i: ", ".join(sorted(refs)) for i, refs in names.items()}
    pills = dict(zip(texts, distinct(list(texts.values()), 24)))
    for s in shown:
        x, y = place[s.snapshot_id]
        axes.scatter([x], [y], s=46, color=_colour(s, palette), edgecolors=palette.surface, linewidths=1.4, zorder=3)
        axes.text(start, y, moment(s.committed_at)[:16], va="center", color=palette.muted)
        axes.text(start + 2.5, y, short(s.operation or "unknown"), va="center", color=palette.ink)
        axes.text(start + 3.9, y, _change(s), va="center", color=palette.muted)
        if s.snapshot_id in pills:
            pill = {"boxstyle": "round,pad=0.28", "facecolor": palette.accent, "edgecolor": "none"}
            axes.text(start + 5.85, y, pills[s.snapshot_id], va="center", color=palette.surface, bbox=pill)
    axes.set_xlim(-0.3, start + 8.15)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xticks([])
    axes.set_yticks([])
    return figure


def _edges(axes: object, shown: Sequence[SnapshotInfo], place: dict[int, tuple[float, int]], palette: Palette) -> None:
    for s in shown:
        x, y = place[s.snapshot_id]
        if s.parent_id in place:
            parent_x, parent_y = place[s.parent_id]
        elif s.parent_id is not None:
            parent_x, parent_y = x, len(shown)
        else:
            continue
        bend = parent_y - 0.9 if parent_x != x else y
        points = [(x, y), (x, bend), (parent_x, parent_y)]
        axes.plot(  # type: ignore[attr-defined]
            [p[0] for p in points], [p[1] for p in points], color=palette.muted, linewidth=1.6, zorder=1
        )


def _change(s: SnapshotInfo) -> str:
    added, deleted = s.count("added-records"), s.count("deleted-records")
    removed = deleted or s.count("added-position-deletes")
    return " ".join(t for t in (f"+{count(added)}" if added else "", f"-{count(removed)}" if removed else "") if t)


def _colour(s: SnapshotInfo, palette: Palette) -> str:
    colours = {"append": palette.fourth, "overwrite": palette.second, "delete": palette.third}
    return colours.get(s.operation or "", palette.accent)
