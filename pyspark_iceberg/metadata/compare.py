"""The difference between two snapshots of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark_iceberg.metadata.model import FileInfo, MetadataSource, SnapshotInfo, ancestors, resolve, total_bytes


@dataclass(frozen=True)
class FileChange:
    """A file that only one of two snapshots has.

    Attributes:
        change: `added` or `removed`.
        file: the file.
    """

    change: str
    file: FileInfo


@dataclass(frozen=True)
class SnapshotDiff:
    """The difference between two snapshots.

    Attributes:
        table: the name of the table.
        before: the first snapshot.
        after: the second snapshot.
        commits: the snapshots after `before` up to `after`, oldest first; empty if `before` is not an ancestor of
            `after`.
        changes: the files that only one of the snapshots has: removed files first, ordered by path.
    """

    table: str
    before: SnapshotInfo
    after: SnapshotInfo
    commits: Sequence[SnapshotInfo]
    changes: Sequence[FileChange]

    def count(self, change: str, *contents: str) -> int:
        """Return the number of added or removed files.

        Args:
            change: `added` or `removed`.
            contents: the contents of the files to count, as in `FileInfo`; by default all files.
        """
        return len(self._of(change, contents))

    def records(self, change: str, *contents: str) -> int:
        """Return the number of records in added or removed files.

        Args:
            change: `added` or `removed`.
            contents: the contents of the files, as in `FileInfo`; by default all files.
        """
        return sum(c.file.records for c in self._of(change, contents))

    def bytes(self, change: str, *contents: str) -> int:
        """Return the size of added or removed files.

        Args:
            change: `added` or `removed`.
            contents: the contents of the files, as in `FileInfo`; by default all files.

        Returns:
            The size in bytes.
        """
        return total_bytes(c.file for c in self._of(change, contents))

    def _of(self, change: str, contents: tuple[str, ...]) -> list[FileChange]:
        return [c for c in self.changes if c.change == change and (not contents or c.file.content in contents)]

    def _repr_html_(self) -> str:
        from pyspark_iceberg.report.notebook import diff_html

        return diff_html(self)


def diff(source: MetadataSource, before: str, after: str) -> SnapshotDiff:
    """Compare two snapshots.

    Args:
        source: the metadata of the table.
        before: the id of a snapshot, or a branch or tag.
        after: the id of a snapshot, or a branch or tag.

    Raises:
        MetadataError: the table has no such snapshot, branch or tag.
    """
    first, second = resolve(source, before), resolve(source, after)
    old, new = (Counter(map(_Entry, source.files(s.snapshot_id))) for s in (first, second))
    changes = [FileChange("removed", entry.file) for entry in (old - new).elements()]
    changes += [FileChange("added", entry.file) for entry in (new - old).elements()]
    line = ancestors(source.snapshots(), second.snapshot_id)
    ids = [s.snapshot_id for s in line]
    commits = line[: ids.index(first.snapshot_id)][::-1] if first.snapshot_id in ids else []
    ordered = sorted(changes, key=lambda c: (c.change != "removed", c.file.path, c.file.content))
    return SnapshotDiff(source.table().name, first, second, commits, ordered)


class _Entry:
    """A file, compared by path, content, records and partition, because a Puffin file may have several vectors."""

    def __init__(self, file: FileInfo) -> None:
        self.file = file
        self._key = (file.path, file.content, file.records, str(file.partition))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Entry) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)
