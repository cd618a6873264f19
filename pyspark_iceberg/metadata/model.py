"""Objects that describe a table. They do not depend on Spark or PyIceberg."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyspark_iceberg.metadata.errors import MetadataError

Bounds = Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: the name.
        type: the type as text, such as `bigint`.
        required: whether values must not be null.
        comment: the comment, or None.
    """

    name: str
    type: str
    required: bool
    comment: str | None


@dataclass(frozen=True)
class SnapshotInfo:
    """A snapshot.

    Attributes:
        snapshot_id: the id.
        parent_id: the id of the parent snapshot; None if the snapshot has no parent.
        committed_at: the time of the commit in UTC.
        operation: `append`, `overwrite`, `delete` or `replace`; None if it is unknown.
        summary: the counts and other entries of the summary.
    """

    snapshot_id: int
    parent_id: int | None
    committed_at: datetime.datetime
    operation: str | None
    summary: Mapping[str, str] = field(default_factory=dict)

    def count(self, key: str) -> int:
        """Return a count of the summary; 0 if it is missing or not an integer."""
        value = self.summary.get(key, "0")
        return int(value) if value.lstrip("-").isdigit() else 0


@dataclass(frozen=True)
class RefInfo:
    """A branch or a tag.

    Attributes:
        name: the name.
        kind: `branch` or `tag`.
        snapshot_id: the snapshot to which it refers.
    """

    name: str
    kind: str
    snapshot_id: int


@dataclass(frozen=True)
class FileInfo:
    """A data file or delete file of a snapshot.

    Attributes:
        content: `data`, `position deletes`, `deletion vector` or `equality deletes`.
        path: the location.
        format: the file format in lower case.
        partition: the values of the partition fields; empty for an unpartitioned table.
        records: the number of rows, or of deletes.
        bytes: the size of the file. A Puffin file may contain several deletion vectors; see `total_bytes`.
        bounds: lower and upper bounds of columns, by the name of the column.
    """

    content: str
    path: str
    format: str
    partition: Mapping[str, Any]
    records: int
    bytes: int
    bounds: Bounds = field(default_factory=dict)


@dataclass(frozen=True)
class ManifestInfo:
    """A manifest of a snapshot.

    Attributes:
        content: `data` or `deletes`.
        path: the location.
        bytes: the size.
        files: the number of live files that it lists.
    """

    content: str
    path: str
    bytes: int
    files: int


@dataclass(frozen=True)
class TableInfo:
    """The description of a table.

    Attributes:
        name: the name with which the table was opened.
        location: the location of the table.
        format_version: the format version.
        columns: the top-level columns.
        partitioning: the partition fields as text; empty for an unpartitioned table.
        sort_order: the sort order as text, or None.
        properties: the properties that are set.
        current_snapshot_id: the current snapshot, or None if the table has none.
    """

    name: str
    location: str
    format_version: int
    columns: Sequence[Column]
    partitioning: Sequence[str]
    sort_order: str | None
    properties: Mapping[str, str]
    current_snapshot_id: int | None


class MetadataSource(Protocol):
    """Reads the metadata of one table."""

    def table(self) -> TableInfo:
        """Return the description of the table."""

    def snapshots(self) -> list[SnapshotInfo]:
        """Return the snapshots, oldest first."""

    def refs(self) -> list[RefInfo]:
        """Return the branches and tags, ordered by name."""

    def files(self, snapshot_id: int) -> list[FileInfo]:
        """Return the live files of a snapshot."""

    def manifests(self) -> list[ManifestInfo]:
        """Return the manifests of the current snapshot."""


def total_bytes(files: Iterable[FileInfo]) -> int:
    """Return the size of files; a Puffin file with several deletion vectors counts once."""
    return sum({file.path: file.bytes for file in files}.values())


def resolve(source: MetadataSource, version: str) -> SnapshotInfo:
    """Return the snapshot with an id, or the snapshot of a branch or tag.

    Raises:
        MetadataError: the table has no such snapshot, branch or tag.
    """
    snapshots = {str(s.snapshot_id): s for s in source.snapshots()}
    refs = {r.name: str(r.snapshot_id) for r in source.refs()}
    found = snapshots.get(refs.get(version, version))
    if found is None:
        known = ", ".join(sorted(refs)) or "none"
        raise MetadataError(
            f"{source.table().name} has no snapshot, branch or tag {version}. Branches and tags: {known}. "
            "The command `history` lists the snapshots"
        )
    return found


def ancestors(snapshots: Sequence[SnapshotInfo], snapshot_id: int | None) -> list[SnapshotInfo]:
    """Return a snapshot and its ancestors as far as they exist, newest first."""
    by_id = {s.snapshot_id: s for s in snapshots}
    found: list[SnapshotInfo] = []
    while snapshot_id in by_id and len(found) < len(by_id):
        snapshot = by_id[snapshot_id]
        found.append(snapshot)
        snapshot_id = snapshot.parent_id
    return found
