"""A report as one HTML page that needs no other file and no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark_iceberg.metadata.errors import MetadataError
from pyspark_iceberg.metadata.model import MetadataSource
from pyspark_iceberg.metadata.units import count, moment, size
from pyspark_iceberg.report.facts import Facts, HealthFinding, collect
from pyspark_iceberg.report.graph import MAX_SNAPSHOTS

if TYPE_CHECKING:
    import os

# The titles and descriptions of the plots.
_PLOTS = {
    "snapshots": ("Snapshots, branches and tags", "Newest snapshot at the top. Lines lead to the parent snapshot."),
    "growth": ("Growth", "Rows in data files after each commit of the current history, including deleted rows."),
    "file sizes": ("File sizes", "Number of files by size, on a logarithmic scale."),
    "partitions": ("Largest partitions", "Size of data files by partition."),
    "deletes": ("Deleted rows", "Deletes by partition, relative to the rows in its data files."),
    "clustering": (
        "Clustering",
        "Average share of the other files in the same partition whose range of values overlaps. "
        "Filters on a column with low overlap skip more files.",
    ),
    "metadata": ("Manifests", "Size of the largest manifests of the current snapshot."),
}
_WIDE = ("snapshots",)
_MAX_ROWS = 200


def write_report(
    source: MetadataSource,
    path: str | os.PathLike[str],
    health: Sequence[HealthFinding] | None = None,
) -> None:
    """Write the report of a table as an HTML page.

    Args:
        source: the metadata of the table.
        path: the file to write, which is replaced if it exists.
        health: the actions of the metadata table `health`; None if it was not read.

    Raises:
        MetadataError: a package of the extra `report` is not installed.
    """
    Path(path).write_text(page(collect(source, health)), encoding="utf-8")


def page(facts: Facts) -> str:
    """Return the report about the facts of a table as an HTML page; for errors see `write_report`."""
    try:
        import jinja2

        from pyspark_iceberg.report.figures import plots
        from pyspark_iceberg.report.style import PAGE, svg

        figures = plots(facts, PAGE)
    except ModuleNotFoundError as error:
        raise MetadataError(f"Reports require {error.name}: pip install 'pyspark-iceberg[report]'") from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(size=size, count=count, moment=moment)
    template = environment.get_template("report.html.j2")
    drawn = {
        name: svg(figure, name.replace(" ", "-"), f"{_PLOTS[name][0]}. {_PLOTS[name][1]}")
        for name, figure in figures.items()
    }
    return template.render(**_values(facts, drawn))


def _values(facts: Facts, drawn: dict[str, str]) -> dict[str, Any]:
    script = _template("sort.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    health = facts.health or ()
    return {
        "facts": facts,
        "tiles": _tiles(facts),
        "plots": [(name, *_PLOTS[name], drawn[name], name in _WIDE) for name in _PLOTS if name in drawn],
        "due": [h for h in health if h.is_due],
        "not_due": [h for h in health if not h.is_due],
        "snapshots": list(facts.snapshots)[::-1][:_MAX_ROWS],
        "partitions": facts.partitions[:_MAX_ROWS],
        "max_rows": _MAX_ROWS,
        "max_snapshots": MAX_SNAPSHOTS,
        "style": _template("style.css"),
        "script": script,
        "script_hash": digest,
    }


def _tiles(facts: Facts) -> list[tuple[str, str, str]]:
    """Return the most important numbers: a label, a value and a remark."""
    data, deletes = facts.data_files, facts.delete_files
    data_bytes = sum(file.bytes for file in data)
    average = data_bytes / len(data) if data else 0
    return [
        ("Rows", count(facts.records - facts.position_deletes), f"{count(facts.records)} in data files"),
        ("Data files", count(len(data)), f"{size(average)} on average, {count(facts.small_files)} small"),
        ("Data", size(data_bytes), f"target size {size(facts.target_bytes)}"),
        ("Deleted rows", f"{facts.deleted_percent:.1f} %", f"{count(len(deletes))} delete files and vectors"),
        ("Snapshots", count(len(facts.snapshots)), f"{count(len(facts.refs))} branches and tags"),
        ("Partitions", count(len(facts.partitions)) if facts.is_partitioned else "0", _skew(facts)),
        ("Manifests", count(len(facts.manifests)), size(facts.metadata_bytes)),
    ]


def _skew(facts: Facts) -> str:
    if facts.is_partitioned:
        return f"largest is {facts.skew:.1f} times the median"
    if not facts.table.partitioning:
        return "not partitioned"
    return "no file has the current partitioning" if facts.files else "no data files"


def _template(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
