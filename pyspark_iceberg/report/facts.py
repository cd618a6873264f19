"""The facts of a report, computed from the metadata of a table."""

from __future__ import annotations

import datetime
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from pyspark_iceberg.metadata import partitions
from pyspark_iceberg.metadata.model import (
    FileInfo,
    ManifestInfo,
    MetadataSource,
    RefInfo,
    SnapshotInfo,
    TableInfo,
    ancestors,
    total_bytes,
)

# Table property and default of the size of data files.
_TARGET = "write.target-file-size-bytes"
_DEFAULT_TARGET = 512 * 1024 * 1024
# A file below this share of the target size is small, as in `rewrite_data_files`.
SMALL = 0.75


@dataclass(frozen=True)
class PartitionFacts:
    """A partition.

    Attributes:
        label: the values of the partition fields.
        files: the number of data files.
        records: the number of rows in data files.
        bytes: the size of data files.
        deletes: the number of position deletes and of rows in equality delete files.
    """

    label: str
    files: int
    records: int
    bytes: int
    deletes: int


@dataclass(frozen=True)
class Clustering:
    """The clustering of a column.

    Attributes:
        column: the name of the column.
        overlap: the average share of the other files of the same partition whose range of values overlaps, in percent.
        files: the number of files that have bounds of the column.
    """

    column: str
    overlap: float
    files: int


@dataclass(frozen=True)
class HealthFinding:
    """An action of the metadata table `health`.

    Attributes:
        action: the name of the action.
        is_due: whether `maintain` would run it.
        reason: why it is or is not due.
        command: the statement that runs it.
    """

    action: str
    is_due: bool
    reason: str
    command: str


@dataclass(frozen=True)
class Facts:
    """All facts of a report.

    Attributes:
        table: the description of the table.
        measured_at: the time of the report in UTC.
        snapshots: all snapshots, oldest first.
        refs: the branches and tags.
        files: the live files of the current snapshot.
        manifests: the manifests of the current snapshot.
        health: the actions of the metadata table `health`; None if it was not read.
    """

    table: TableInfo
    measured_at: datetime.datetime
    snapshots: Sequence[SnapshotInfo]
    refs: Sequence[RefInfo]
    files: Sequence[FileInfo]
    manifests: Sequence[ManifestInfo]
    health: Sequence[HealthFinding] | None

    @property
    def history(self) -> list[SnapshotInfo]:
        """The current snapshot and its ancestors, oldest first."""
        return ancestors(self.snapshots, self.table.current_snapshot_id)[::-1]

    @cached_property
    def data_files(self) -> list[FileInfo]:
        """The data files."""
        return [file for file in self.files if file.content == "data"]

    @cached_property
    def delete_files(self) -> list[FileInfo]:
        """The delete files and deletion vectors."""
        return [file for file in self.files if file.content != "data"]

    @property
    def records(self) -> int:
        """The number of rows in data files, including deleted rows."""
        return sum(file.records for file in self.data_files)

    @property
    def position_deletes(self) -> int:
        """The number of position deletes, including those of deletion vectors."""
        return sum(f.records for f in self.delete_files if f.content != "equality deletes")

    @property
    def deleted_percent(self) -> float:
        """The share of rows that position deletes remove, in percent."""
        return 100 * self.position_deletes / self.records if self.records else 0.0

    @property
    def target_bytes(self) -> int:
        """The target size of data files."""
        value = self.table.properties.get(_TARGET, "")
        return int(value) if value.isdigit() else _DEFAULT_TARGET

    @property
    def small_files(self) -> int:
        """The number of data files below 75 % of the target size."""
        return sum(1 for file in self.data_files if file.bytes < SMALL * self.target_bytes)

    @cached_property
    def partitions(self) -> list[PartitionFacts]:
        """The partitions, largest first."""
        groups: dict[str, list[FileInfo]] = defaultdict(list)
        for file in self.files:
            groups[partition_label(file.partition)].append(file)
        found = [_partition(label, files) for label, files in groups.items()]
        return sorted(found, key=lambda p: (-p.bytes, p.label))

    @property
    def is_partitioned(self) -> bool:
        """Whether a file belongs to a partition."""
        return any(file.partition for file in self.files)

    @property
    def skew(self) -> float:
        """The size of the largest partition divided by the median size; 1 if there are no partitions."""
        sizes = [p.bytes for p in self.partitions if p.bytes]
        return max(sizes) / median(sizes) if sizes else 1.0

    @property
    def clustering(self) -> list[Clustering]:
        """The clustering of each column with bounds, the best clustered column first."""
        names = [c.name for c in self.table.columns]
        found = [clustering(name, self.data_files) for name in names]
        return sorted((c for c in found if c is not None), key=lambda c: (c.overlap, c.column))

    @property
    def metadata_bytes(self) -> int:
        """The size of the manifests of the current snapshot."""
        return sum(m.bytes for m in self.manifests)


def collect(source: MetadataSource, health: Sequence[HealthFinding] | None = None) -> Facts:
    """Read the facts of a table."""
    table = source.table()
    current = table.current_snapshot_id
    return Facts(
        table,
        datetime.datetime.now(datetime.timezone.utc),
        source.snapshots(),
        source.refs(),
        [] if current is None else source.files(current),
        source.manifests(),
        health,
    )


def partition_label(partition: Mapping[str, Any]) -> str:
    """Return the values of a partition as text."""
    return partitions.text(partition) or "(unpartitioned)"


def clustering(column: str, files: Sequence[FileInfo]) -> Clustering | None:
    """Return the clustering of a column.

    It is None if no partition has two files with bounds, or if bounds cannot be compared.
    """
    groups: dict[str, list[tuple[Any, Any]]] = defaultdict(list)
    for file in files:
        if column in file.bounds:
            groups[partition_label(file.partition)].append(file.bounds[column])
    shares: list[float] = []
    for ranges in groups.values():
        try:
            shares += _overlaps(ranges)
        except TypeError:
            return None
    if not shares:
        return None
    return Clustering(column, 100 * sum(shares) / len(shares), sum(map(len, groups.values())))


def _overlaps(ranges: Sequence[tuple[Any, Any]]) -> list[float]:
    """Return, for each range, the share of the other ranges that overlap it."""
    if len(ranges) < 2:
        return []
    lower, upper = sorted(r[0] for r in ranges), sorted(r[1] for r in ranges)
    others = len(ranges) - 1
    # A range does not overlap the ranges that end before its begin, or those that begin after its end.
    return [
        (others - bisect_left(upper, low) - (len(ranges) - bisect_right(lower, high))) / others for low, high in ranges
    ]


def _partition(label: str, files: Sequence[FileInfo]) -> PartitionFacts:
    data = [file for file in files if file.content == "data"]
    return PartitionFacts(
        label,
        len(data),
        sum(file.records for file in data),
        total_bytes(data),
        sum(file.records for file in files if file.content != "data"),
    )
