"""Procedures as Python functions. Generated from the connector's list of procedures; do not edit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Row, SparkSession

from pyspark_iceberg.call import Timestamp, call


class RollbackToSnapshot(NamedTuple):
    """A result row of `rollback_to_snapshot`."""

    previous_snapshot_id: int
    """Snapshot that was current before the call."""
    current_snapshot_id: int
    """Snapshot that is current after the call."""


class RollbackToTimestamp(NamedTuple):
    """A result row of `rollback_to_timestamp`."""

    previous_snapshot_id: int
    """Snapshot that was current before the call."""
    current_snapshot_id: int
    """Snapshot that is current after the call."""


class SetCurrentSnapshot(NamedTuple):
    """A result row of `set_current_snapshot`."""

    previous_snapshot_id: int | None
    """Snapshot that was current before the call."""
    current_snapshot_id: int
    """Snapshot that is current after the call."""


class CherrypickSnapshot(NamedTuple):
    """A result row of `cherrypick_snapshot`."""

    source_snapshot_id: int
    """Snapshot whose changes were applied."""
    current_snapshot_id: int
    """Snapshot that is current after the call."""


class PublishChanges(NamedTuple):
    """A result row of `publish_changes`."""

    source_snapshot_id: int
    """Snapshot whose changes were applied."""
    current_snapshot_id: int
    """Snapshot that is current after the call."""


class FastForward(NamedTuple):
    """A result row of `fast_forward`."""

    branch_updated: str
    """Name of the branch."""
    previous_ref: int | None
    """Snapshot of the branch before the call."""
    updated_ref: int
    """Snapshot of the branch after the call."""


class AncestorsOf(NamedTuple):
    """A result row of `ancestors_of`."""

    snapshot_id: int
    """Id of the snapshot."""
    timestamp: int
    """Time of its commit, in milliseconds since 1970."""


class RegisterTable(NamedTuple):
    """A result row of `register_table`."""

    current_snapshot_id: int | None
    """Current snapshot of the table."""
    total_records_count: int | None
    """Number of rows in the current snapshot."""
    total_data_files_count: int | None
    """Number of data files in the current snapshot."""


class CreateChangelogView(NamedTuple):
    """A result row of `create_changelog_view`."""

    changelog_view: str
    """Name of the view, which can be read in this session."""


class ConvertEqualityDeletes(NamedTuple):
    """A result row of `convert_equality_deletes`."""

    converted_delete_files_count: int
    """Number of equality delete files that were removed."""
    added_delete_files_count: int
    """Number of deletion vectors or position delete files that replace the equality delete files."""
    deleted_rows_count: int
    """Number of rows that the added files delete."""


class TableProcedures(ABC):
    """Procedures of an existing table, as methods."""

    @abstractmethod
    def _call(self, procedure: str, arguments: Mapping[str, object]) -> list[Row]:
        """Call a procedure on the table."""

    def rollback_to_snapshot(self, snapshot_id: int) -> RollbackToSnapshot:
        """Roll back to an earlier snapshot in the history of the current snapshot.

        Args:
            snapshot_id: snapshot to roll back to; it must be an ancestor of the current snapshot.
        """
        rows = self._call("rollback_to_snapshot", {"snapshot_id": snapshot_id})
        return RollbackToSnapshot(*rows[0])

    def rollback_to_timestamp(self, timestamp: Timestamp) -> RollbackToTimestamp:
        """Roll back to the snapshot that was current at a given timestamp.

        Args:
            timestamp: time; the last snapshot that was committed before this time becomes current.
        """
        rows = self._call("rollback_to_timestamp", {"timestamp": timestamp})
        return RollbackToTimestamp(*rows[0])

    def set_current_snapshot(self, snapshot_id: int | None = None, ref: str | None = None) -> SetCurrentSnapshot:
        """Set any snapshot of the table as the current snapshot, regardless of its history.

        Args:
            snapshot_id: snapshot to set; either this or `ref` must be given.
            ref: branch or tag whose snapshot is set.
        """
        rows = self._call("set_current_snapshot", {"snapshot_id": snapshot_id, "ref": ref})
        return SetCurrentSnapshot(*rows[0])

    def cherrypick_snapshot(self, snapshot_id: int) -> CherrypickSnapshot:
        """Apply the changes of one snapshot of the table, on any branch or staged, to the current state.

        Args:
            snapshot_id: snapshot that added files or replaced partitions, or whose parent is the current snapshot.
        """
        rows = self._call("cherrypick_snapshot", {"snapshot_id": snapshot_id})
        return CherrypickSnapshot(*rows[0])

    def publish_changes(self, wap_id: str) -> PublishChanges:
        """Apply the changes that a session with `spark.wap.id` has staged.

        Args:
            wap_id: value of `spark.wap.id` when the rows were written.
        """
        rows = self._call("publish_changes", {"wap_id": wap_id})
        return PublishChanges(*rows[0])

    def fast_forward(self, branch: str, to: str) -> FastForward:
        """Fast-forward a branch to the snapshot of another branch or tag.

        Args:
            branch: branch to fast-forward; it is created if it does not exist.
            to: branch or tag to move to; its history must contain the snapshot of the branch.
        """
        rows = self._call("fast_forward", {"branch": branch, "to": to})
        return FastForward(*rows[0])

    def ancestors_of(self, snapshot_id: int | None = None) -> list[AncestorsOf]:
        """List a snapshot and its ancestors, newest first.

        Args:
            snapshot_id: snapshot to start with; by default the current one.
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
        """Create a temporary view of the rows that commits inserted, deleted and updated.

        Args:
            changelog_view: name of the view, by default `<table>_changes`; it replaces a temporary view of that name.
            options: read options that select the commits, such as `start-snapshot-id`; by default all commits.
            compute_updates: whether to recognize updates; by default true if `identifier_columns` are given.
            identifier_columns: columns that identify a row; by default the identifier fields of the table.
            net_changes: whether to show the net changes of all commits together; not with `compute_updates`.
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
        """Convert equality deletes to deletion vectors, or before version 3 to position delete files.

        Args:
            branch: branch whose equality deletes are converted; by default main.
        """
        rows = self._call("convert_equality_deletes", {"branch": branch})
        return ConvertEqualityDeletes(*rows[0])


def register_table(spark: SparkSession, table: str, metadata_file: str) -> RegisterTable:
    """Register an existing metadata file as a table.

    Args:
        spark: a session with the catalog and the SQL extensions.
        table: name of the table in the procedure's catalog, with or without the name of the catalog.
        metadata_file: newest metadata file of the table; later commits through other catalogs are not visible.
    """
    rows = call(spark, "register_table", table, {"metadata_file": metadata_file})
    return RegisterTable(*rows[0])
