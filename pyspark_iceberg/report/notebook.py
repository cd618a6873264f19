"""Short summaries in HTML, which notebooks show for tables, snapshots and differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from pyspark_iceberg.metadata.units import count, moment, size

if TYPE_CHECKING:
    from pyspark_iceberg.metadata.compare import SnapshotDiff
    from pyspark_iceberg.rows import Snapshot
    from pyspark_iceberg.table import Table

_DELETES = ("position deletes", "deletion vector", "equality deletes")


def table_html(table: Table, facts: Iterable[tuple[str, str]], columns: Sequence[tuple[str, str, str]]) -> str:
    """Return a summary of a table: facts, totals of the current snapshot, and columns.

    Args:
        table: the table.
        facts: names and values.
        columns: the name, the type and the comment of each column.
    """
    current = table.current_snapshot_id
    snapshot = next((s for s in table.snapshots() if s.snapshot_id == current), None)
    totals = [] if snapshot is None else _totals(snapshot.summary)
    return _html(table.name, (None, [*facts, *totals]), (("column", "type", "comment"), columns))


def snapshot_html(snapshot: Snapshot) -> str:
    """Return a summary of a snapshot."""
    rows = [
        ("committed at", f"{moment(snapshot.committed_at)} UTC"),
        ("operation", snapshot.operation or "unknown"),
        ("parent", str(snapshot.parent_id or "none")),
    ]
    return _html(f"Snapshot {snapshot.snapshot_id}", (None, rows), (None, sorted(snapshot.summary.items())))


def diff_html(diff: SnapshotDiff) -> str:
    """Return a summary of the difference between two snapshots."""
    rows = [
        (
            f"{name} {change}",
            count(diff.count(change, *contents)),
            count(diff.records(change, *contents)),
            size(diff.bytes(change, *contents)),
        )
        for name, contents in (("data files", ("data",)), ("delete files", _DELETES))
        for change in ("added", "removed")
    ]
    commits = [(str(c.snapshot_id), moment(c.committed_at), c.operation or "unknown") for c in diff.commits]
    return _html(
        f"{diff.table}: {diff.before.snapshot_id} to {diff.after.snapshot_id}",
        (("change", "files", "records", "size"), rows),
        (("commit", "committed (UTC)", "operation"), commits),
    )


def _totals(summary: object) -> list[tuple[str, str]]:
    values = dict(summary) if isinstance(summary, dict) else {}
    names = (("rows", "total-records"), ("data files", "total-data-files"), ("delete files", "total-delete-files"))
    found = [(label, count(int(values[key]))) for label, key in names if values.get(key, "").isdigit()]
    if values.get("total-files-size", "").isdigit():
        found.append(("size", size(int(values["total-files-size"]))))
    return found


def _html(title: str, *tables: tuple[Sequence[str] | None, Sequence[Sequence[str]]]) -> str:
    root = ElementTree.Element("div")
    ElementTree.SubElement(root, "h4").text = title
    for columns, rows in tables:
        if not rows:
            continue
        table = ElementTree.SubElement(root, "table")
        if columns is not None:
            _row(table, columns, "th")
        for row in rows:
            _row(table, row, "td", first="td" if columns else "th")
    return ElementTree.tostring(root, encoding="unicode", method="html")


def _row(table: ElementTree.Element, cells: Sequence[str], kind: str, first: str | None = None) -> None:
    tr = ElementTree.SubElement(table, "tr")
    for i, text in enumerate(cells):
        ElementTree.SubElement(tr, (first or kind) if i == 0 else kind).text = str(text)
