"""The rows of a table's metadata, as typed objects."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pyspark.sql import DataFrame, Row

from pyspark_iceberg.errors import typed_errors
from pyspark_iceberg.report.notebook import snapshot_html

T = TypeVar("T")


class TypedRows(Generic[T]):
    """The rows of a DataFrame as typed objects. Each iteration runs the query and streams its rows."""

    def __init__(self, df: DataFrame, convert: Callable[[Row], T]) -> None:
        self._df = df
        self._convert = convert

    def to_df(self) -> DataFrame:
        """Return the rows as a DataFrame, which may have more columns than the objects have fields."""
        return self._df

    def to_list(self) -> list[T]:
        """Return all rows."""
        with typed_errors():
            return [self._convert(row) for row in self._df.collect()]

    def first(self) -> T | None:
        """Return the first row, or None if there is no row."""
        with typed_errors():
            row = self._df.first()
        return None if row is None else self._convert(row)

    def __iter__(self) -> Iterator[T]:
        """Run the query and return its rows one by one."""
        with typed_errors():
            yield from map(self._convert, self._df.toLocalIterator())

    def __repr__(self) -> str:
        """Return the columns."""
        return f"TypedRows({', '.join(self._df.columns)})"


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of a table.

    Attributes:
        snapshot_id: the id.
        parent_id: the id of the parent snapshot; None if the snapshot has no parent.
        committed_at: the time of the commit, in the local time zone of Python.
        operation: `append`, `overwrite`, `delete` or `replace`; None if it is unknown.
        summary: the counts and other entries of the summary.
        manifest_list: the location of the manifest list or, in version 4, of the root manifest.
    """

    snapshot_id: int
    parent_id: int | None
    committed_at: datetime.datetime
    operation: str | None
    summary: Mapping[str, str]
    manifest_list: str | None

    @staticmethod
    def of(row: Row) -> Snapshot:
        """Convert a row of the metadata table `snapshots`."""
        return Snapshot(
            row["snapshot_id"],
            row["parent_id"],
            row["committed_at"],
            row["operation"],
            row["summary"] or {},
            row["manifest_list"],
        )

    def _repr_html_(self) -> str:
        return snapshot_html(self)


@dataclass(frozen=True)
class HistoryEntry:
    """A time at which a snapshot became the current one.

    Attributes:
        made_current_at: the time, in the local time zone of Python.
        snapshot_id: the id of the snapshot.
        parent_id: the id of the parent snapshot; None if the snapshot has no parent.
        is_current_ancestor: whether the snapshot is the current one or one of its ancestors. It is false for a snapshot
            that was rolled back.
    """

    made_current_at: datetime.datetime
    snapshot_id: int
    parent_id: int | None
    is_current_ancestor: bool

    @staticmethod
    def of(row: Row) -> HistoryEntry:
        """Convert a row of the metadata table `history`."""
        return HistoryEntry(row["made_current_at"], row["snapshot_id"], row["parent_id"], row["is_current_ancestor"])


@dataclass(frozen=True)
class Ref:
    """A branch or tag.

    Attributes:
        name: the name.
        kind: `BRANCH` or `TAG`.
        snapshot_id: the last snapshot of the branch, or the snapshot of the tag.
        max_age_ms: the time in ms for which the branch or tag is kept; None if the table's properties apply.
        min_snapshots_to_keep: the minimum number of snapshots of the branch that are kept; None for tags, or if the
            table's properties apply.
        max_snapshot_age_ms: the time in ms for which snapshots of the branch are kept; None for tags, or if the
            table's properties apply.
    """

    name: str
    kind: str
    snapshot_id: int
    max_age_ms: int | None
    min_snapshots_to_keep: int | None
    max_snapshot_age_ms: int | None

    @staticmethod
    def of(row: Row) -> Ref:
        """Convert a row of the metadata table `refs`."""
        return Ref(
            row["name"],
            row["type"],
            row["snapshot_id"],
            row["max_reference_age_in_ms"],
            row["min_snapshots_to_keep"],
            row["max_snapshot_age_in_ms"],
        )


@dataclass(frozen=True)
class ContentFile:
    """A file of the current snapshot.

    Attributes:
        content: `data`, `position deletes` (also for a deletion vector) or `equality deletes`.
        path: the location of the file.
        format: the file format: `PARQUET`, `ORC`, `AVRO` or `PUFFIN`.
        spec_id: the id of the partition spec.
        partition: the values of the partition fields; empty for an unpartitioned table.
        records: the number of rows of a data file, or of deletes of a delete file.
        bytes: the size of the file.
    """

    content: str
    path: str
    format: str
    spec_id: int
    partition: Mapping[str, object]
    records: int
    bytes: int

    @staticmethod
    def of(row: Row) -> ContentFile:
        """Convert a row of the metadata table `files`."""
        content = ("data", "position deletes", "equality deletes")[row["content"]]
        return ContentFile(
            content,
            row["file_path"],
            row["file_format"],
            row["spec_id"],
            _partition(row),
            row["record_count"],
            row["file_size_in_bytes"],
        )


@dataclass(frozen=True)
class Partition:
    """A partition of the current snapshot.

    Attributes:
        values: the values of the partition fields; empty for an unpartitioned table.
        spec_id: the id of the partition spec.
        records: the number of rows in the data files, without regard to delete files.
        data_files: the number of data files.
        bytes: the size of the data files.
        position_deletes: the number of position deletes, including those of deletion vectors.
        equality_deletes: the number of rows in equality delete files.
        last_updated_at: the time of the last commit that changed the partition; None if it is unknown.
    """

    values: Mapping[str, object]
    spec_id: int
    records: int
    data_files: int
    bytes: int
    position_deletes: int
    equality_deletes: int
    last_updated_at: datetime.datetime | None

    @staticmethod
    def of(row: Row) -> Partition:
        """Convert a row of the metadata table `partitions`."""
        return Partition(
            _partition(row),
            row["spec_id"] if "spec_id" in row.__fields__ else 0,
            row["record_count"],
            row["file_count"],
            row["total_data_file_size_in_bytes"],
            row["position_delete_record_count"],
            row["equality_delete_record_count"],
            row["last_updated_at"],
        )


def _partition(row: Row) -> dict[str, object]:
    partition = row["partition"] if "partition" in row.__fields__ else None
    return {} if partition is None else partition.asDict()
