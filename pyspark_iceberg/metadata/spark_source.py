"""The metadata of a table, read through Spark."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark_iceberg.fields import Columns
from pyspark_iceberg.metadata.model import FileInfo, ManifestInfo, RefInfo, SnapshotInfo, TableInfo
from pyspark_iceberg.metadata.partitions import PartitionField, fields, shown

if TYPE_CHECKING:
    from pyspark.sql import Row

    from pyspark_iceberg.table import Table

_CONTENT = ("data", "position deletes", "equality deletes")
# Entries of SHOW TBLPROPERTIES that describe the state of the table.
_STATE = ("current-snapshot-id", "format", "format-version", "identifier-fields", "sort-order")


class SparkSource:
    """The metadata of a table in a Spark session."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def table(self) -> TableInfo:
        """Return the description of the table."""
        described = self._table.describe_table()
        columns = Columns(described.schema)
        return TableInfo(
            self._table.name,
            described.location,
            described.format_version,
            columns.top_level(),
            [str(field) for field in columns.partitioning(described.partition_spec)],
            ", ".join(map(str, columns.sort_order(described.sort_order))) or None,
            {key: value for key, value in self._table.properties.items() if key not in _STATE},
            described.current_snapshot_id,
        )

    def snapshots(self) -> list[SnapshotInfo]:
        """Return the snapshots, oldest first."""
        return [
            SnapshotInfo(
                row["snapshot_id"], row["parent_id"], _utc(row["committed_at"]), row["operation"], row["summary"] or {}
            )
            for row in self._table.metadata("snapshots").orderBy("committed_at").collect()
        ]

    def refs(self) -> list[RefInfo]:
        """Return the branches and tags, ordered by name."""
        rows = self._table.metadata("refs").orderBy("name").collect()
        return [RefInfo(row["name"], row["type"].lower(), row["snapshot_id"]) for row in rows]

    def files(self, snapshot_id: int) -> list[FileInfo]:
        """Return the live files of a snapshot."""
        rows = self._table._spark.read.option("snapshot-id", str(snapshot_id)).table(f"{self._table.name}.files")
        wanted = (
            "content",
            "spec_id",
            "file_path",
            "file_format",
            "partition",
            "record_count",
            "file_size_in_bytes",
            "readable_metrics",
        )
        specs = fields(self._table.describe_table().partition_specs)
        found = rows.select(*[name for name in wanted if name in rows.columns]).collect()
        return [_file(row, specs[row["spec_id"]]) for row in found]

    def manifests(self) -> list[ManifestInfo]:
        """Return the manifests of the current snapshot."""
        return [
            ManifestInfo("deletes" if row["content"] else "data", row["path"], row["length"], _live_files(row))
            for row in self._table.metadata("manifests").collect()
        ]


def _live_files(row: Row) -> int:
    kind = "delete" if row["content"] else "data"
    return (row[f"added_{kind}_files_count"] or 0) + (row[f"existing_{kind}_files_count"] or 0)


def _utc(time: datetime.datetime) -> datetime.datetime:
    """Convert a timestamp of PySpark, which is in the local time zone of Python."""
    return time.astimezone(datetime.timezone.utc)


def _file(row: Row, spec: Sequence[PartitionField]) -> FileInfo:
    file_format = row["file_format"].lower()
    content = "deletion vector" if row["content"] == 1 and file_format == "puffin" else _CONTENT[row["content"]]
    partition = row["partition"] if "partition" in row.__fields__ else None
    values = {} if partition is None else {f.name: shown(f.transform, partition[f.position]) for f in spec}
    return FileInfo(
        content,
        row["file_path"],
        file_format,
        values,
        row["record_count"],
        row["file_size_in_bytes"],
        _bounds(row["readable_metrics"]),
    )


def _bounds(metrics: Row | None) -> Mapping[str, tuple[Any, Any]]:
    values = {} if metrics is None else metrics.asDict()
    return {
        name: (m["lower_bound"], m["upper_bound"])
        for name, m in values.items()
        if m is not None and m["lower_bound"] is not None and m["upper_bound"] is not None
    }
