"""The metadata of a table, read through Spark."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import DataType, StructType, TimestampType

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
                row["snapshot_id"], row["parent_id"], utc(row["committed_at"]), row["operation"], row["summary"] or {}
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
        selected = rows.select(*[name for name in wanted if name in rows.columns])
        partition = next((f.dataType for f in selected.schema.fields if f.name == "partition"), None)
        types = [f.dataType for f in partition.fields] if isinstance(partition, StructType) else []
        return [_file(row, specs[row["spec_id"]], types) for row in selected.collect()]

    def manifests(self) -> list[ManifestInfo]:
        """Return the manifests of the current snapshot."""
        return [
            ManifestInfo("deletes" if row["content"] else "data", row["path"], row["length"], _live_files(row))
            for row in self._table.metadata("manifests").collect()
        ]


def _live_files(row: Row) -> int:
    kind = "delete" if row["content"] else "data"
    return (row[f"added_{kind}_files_count"] or 0) + (row[f"existing_{kind}_files_count"] or 0)


def utc(time: datetime.datetime) -> datetime.datetime:
    """Convert a timestamp of PySpark, which is in the local time zone of Python.

    Python cannot convert times at the limits of its calendar, such as 0001-01-01. They stay local and without an
    offset.
    """
    try:
        return time.astimezone(datetime.timezone.utc)
    except (OverflowError, ValueError):
        return time


def _partition_value(field: PartitionField, value: Any, kind: DataType) -> Any:
    """Return a partition value of the column `partition`, which has the type `kind`, as it is shown."""
    return shown(field.transform, utc(value) if value is not None and isinstance(kind, TimestampType) else value)


def _file(row: Row, spec: Sequence[PartitionField], types: Sequence[DataType]) -> FileInfo:
    file_format = row["file_format"].lower()
    content = "deletion vector" if row["content"] == 1 and file_format == "puffin" else _CONTENT[row["content"]]
    partition = row["partition"] if "partition" in row.__fields__ else None
    values = {}
    if partition is not None:
        values = {f.name: _partition_value(f, partition[f.position], types[f.position]) for f in spec}
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
