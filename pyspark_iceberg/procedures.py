"""The procedures as Python functions. Rendered from the connector's own list; not to be edited."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Row, SparkSession

from pyspark_iceberg.call import Timestamp, call


class RollbackToSnapshot(NamedTuple):
    """A row of what `rollback_to_snapshot` gives."""

    previous_snapshot_id: int
    """The snapshot that was current before."""
    current_snapshot_id: int
    """The snapshot that is current now."""


class RollbackToTimestamp(NamedTuple):
    """A row of what `rollback_to_timestamp` gives."""

    previous_snapshot_id: int
    """The snapshot that was current before."""
    current_snapshot_id: int
    """The snapshot that is current now."""


class SetCurrentSnapshot(NamedTuple):
    """A row of what `set_current_snapshot` gives."""

    previous_snapshot_id: int | None
    """The snapshot that was current before."""
    current_snapshot_id: int
    """The snapshot that is current now."""


class CherrypickSnapshot(NamedTuple):
    """A row of what `cherrypick_snapshot` gives."""

    source_snapshot_id: int
    """The snapshot whose changes were applied."""
    current_snapshot_id: int
    """The snapshot that is current now."""


class PublishChanges(NamedTuple):
    """A row of what `publish_changes` gives."""

    source_snapshot_id: int
    """The snapshot whose changes were applied."""
    current_snapshot_id: int
    """The snapshot that is current now."""


class FastForward(NamedTuple):
    """A row of what `fast_forward` gives."""

    branch_updated: str
    """The branch."""
    previous_ref: int | None
    """The snapshot that it stood at before."""
    updated_ref: int
    """The snapshot that it stands at now."""


class AncestorsOf(NamedTuple):
    """A row of what `ancestors_of` gives."""

    snapshot_id: int
    """The snapshot."""
    timestamp: int
    """When it was made, in milliseconds since 1970."""


class RegisterTable(NamedTuple):
    """A row of what `register_table` gives."""

    current_snapshot_id: int | None
    """Its current snapshot."""
    total_records_count: int | None
    """The rows in it."""
    total_data_files_count: int | None
    """The data files in it."""


class CreateChangelogView(NamedTuple):
    """A row of what `create_changelog_view` gives."""

    changelog_view: str
    """The view's name, to be read in this session."""


class ConvertEqualityDeletes(NamedTuple):
    """A row of what `convert_equality_deletes` gives."""

    converted_delete_files_count: int
    """The equality delete files that are gone."""
    added_delete_files_count: int
    """The vectors or position delete files in their place."""
    deleted_rows_count: int
    """The rows that these delete."""


class TableProcedures(ABC):
    """The procedures of a table that is there, as methods."""

    @abstractmethod
    def _call(self, procedure: str, arguments: Mapping[str, object]) -> list[Row]:
        """Call a procedure on the table."""

    def rollback_to_snapshot(self, snapshot_id: int) -> RollbackToSnapshot:
        """Makes an earlier snapshot of the table's own history the current one.

        Args:
            snapshot_id: the snapshot; it must be in the history of the current one.
        """
        rows = self._call("rollback_to_snapshot", {"snapshot_id": snapshot_id})
        return RollbackToSnapshot(*rows[0])

    def rollback_to_timestamp(self, timestamp: Timestamp) -> RollbackToTimestamp:
        """Makes the snapshot current that was so at a time.

        Args:
            timestamp: the snapshot is the last one that was made before this time.
        """
        rows = self._call("rollback_to_timestamp", {"timestamp": timestamp})
        return RollbackToTimestamp(*rows[0])

    def set_current_snapshot(self, snapshot_id: int | None = None, ref: str | None = None) -> SetCurrentSnapshot:
        """Makes any snapshot of the table the current one, whatever its history.

        Args:
            snapshot_id: any snapshot of the table; this or `ref` must be given.
            ref: a branch or tag, whose snapshot is meant.
        """
        rows = self._call("set_current_snapshot", {"snapshot_id": snapshot_id, "ref": ref})
        return SetCurrentSnapshot(*rows[0])

    def cherrypick_snapshot(self, snapshot_id: int) -> CherrypickSnapshot:
        """Applies the changes of one snapshot, wherever it is, to the table.

        Args:
            snapshot_id: a snapshot that added files or replaced partitions, or that follows the current one.
        """
        rows = self._call("cherrypick_snapshot", {"snapshot_id": snapshot_id})
        return CherrypickSnapshot(*rows[0])

    def publish_changes(self, wap_id: str) -> PublishChanges:
        """Applies the changes to the table that a session with `spark.wap.id` has staged.

        Args:
            wap_id: what `spark.wap.id` was when the rows were written.
        """
        rows = self._call("publish_changes", {"wap_id": wap_id})
        return PublishChanges(*rows[0])

    def fast_forward(self, branch: str, to: str) -> FastForward:
        """Moves a branch forward to where another branch or tag is.

        Args:
            branch: the branch to move; it is made where it is not there.
            to: the branch or tag to move it to, whose history it must be part of.
        """
        rows = self._call("fast_forward", {"branch": branch, "to": to})
        return FastForward(*rows[0])

    def ancestors_of(self, snapshot_id: int | None = None) -> list[AncestorsOf]:
        """Lists a snapshot and those that it came from, the newest first.

        Args:
            snapshot_id: the snapshot to begin with; the current one by default.
        """
        rows = self._call("ancestors_of", {"snapshot_id": snapshot_id})
        return [AncestorsOf(*row) for row in rows]

    def create_changelog_view(
        self,
        changelog_view: str | None = None,
        options: Mapping[str, str | int] | None = None,
        compute_updates: bool | None = None,
        identifier_columns: Sequence[str] | None = None,
        net_changes: bool | None = None,
    ) -> CreateChangelogView:
        """Makes a temporary view of the rows that commits inserted, deleted and updated.

        Args:
            changelog_view: the view's name, `<table>_changes` by default; it replaces a temporary view of that name.
            options: options of the read that choose the commits, such as `start-snapshot-id`; all of them by default.
            compute_updates: whether to show updates as such; by default where `identifier_columns` are given.
            identifier_columns: what tells rows apart; the identifier fields of the table by default.
            net_changes: whether to show what all commits together changed; not with `compute_updates`.
        """
        rows = self._call(
            "create_changelog_view",
            {
                "changelog_view": changelog_view,
                "options": options,
                "compute_updates": compute_updates,
                "identifier_columns": identifier_columns,
                "net_changes": net_changes,
            },
        )
        return CreateChangelogView(*rows[0])

    def convert_equality_deletes(self, branch: str | None = None) -> ConvertEqualityDeletes:
        """Turns equality deletes into deletion vectors, or before version 3 into position delete files.

        Args:
            branch: the branch whose deletes it is about; main by default.
        """
        rows = self._call("convert_equality_deletes", {"branch": branch})
        return ConvertEqualityDeletes(*rows[0])


def register_table(spark: SparkSession, table: str, metadata_file: str) -> RegisterTable:
    """Takes a table into the catalog that is there as a metadata file.

    Args:
        spark: a session with the catalog and the SQL extensions.
        table: the table's name, in the catalog of the procedure unless it says so itself.
        metadata_file: the table's newest metadata file; what other catalogs do to it later is not seen.
    """
    rows = call(spark, "register_table", table, {"metadata_file": metadata_file})
    return RegisterTable(*rows[0])
