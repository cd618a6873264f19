"""Result rows of the procedures. Generated from the connector's list of procedures; do not edit."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import Row


class RollbackToSnapshot(NamedTuple):
    """A result row of `rollback_to_snapshot`."""

    previous_snapshot_id: int
    """Snapshot that was the head before the call."""
    current_snapshot_id: int
    """Snapshot that is the head of the branch after the call."""


class RollbackToTimestamp(NamedTuple):
    """A result row of `rollback_to_timestamp`."""

    previous_snapshot_id: int
    """Snapshot that was the head before the call."""
    current_snapshot_id: int
    """Snapshot that is the head of the branch after the call."""


class SetCurrentSnapshot(NamedTuple):
    """A result row of `set_current_snapshot`."""

    previous_snapshot_id: int | None
    """Snapshot that was the head before the call."""
    current_snapshot_id: int
    """Snapshot that is the head of the branch after the call."""


class Restore(NamedTuple):
    """A result row of `restore`."""

    previous_snapshot_id: int | None
    """Snapshot that was current before the call."""
    current_snapshot_id: int
    """Snapshot that is current after the call."""
    added_data_files_count: int | None
    """Number of data files that only the restored snapshot has."""
    removed_data_files_count: int | None
    """Number of data files that only the previous snapshot has."""
    added_records_count: int | None
    """Number of records in the added data files, without regard to delete files."""
    removed_records_count: int | None
    """Number of records in the removed data files, without regard to delete files."""
    added_delete_files_count: int | None
    """Number of delete files that only the restored snapshot has."""
    removed_delete_files_count: int | None
    """Number of delete files that only the previous snapshot has."""


class CherrypickSnapshot(NamedTuple):
    """A result row of `cherrypick_snapshot`."""

    source_snapshot_id: int
    """Snapshot whose changes were applied."""
    current_snapshot_id: int
    """Snapshot that is the head of the branch after the call."""


class PublishChanges(NamedTuple):
    """A result row of `publish_changes`."""

    source_snapshot_id: int
    """Snapshot whose changes were applied."""
    current_snapshot_id: int
    """Snapshot that is the head of the branch after the call."""


class FastForward(NamedTuple):
    """A result row of `fast_forward`."""

    branch_updated: str
    """Name of the branch."""
    previous_ref: int | None
    """Snapshot of the branch before the call."""
    updated_ref: int
    """Snapshot of the branch after the call."""


class MergeBranch(NamedTuple):
    """A result row of `merge_branch`."""

    branch_updated: str
    """Name of the branch to which the commits were applied."""
    previous_ref: int | None
    """Snapshot of this branch before the call."""
    updated_ref: int | None
    """Snapshot of this branch after the call."""
    merged_commits_count: int
    """Number of commits that were applied; 0 if there were none."""


class CommitTogether(NamedTuple):
    """A result row of `commit_together`."""

    table: str
    """Name of the table."""
    previous_snapshot_id: int | None
    """Snapshot of the branch `to`, which receives the changes, before the call."""
    current_snapshot_id: int
    """Snapshot of this branch after the call."""


class AlterTable(NamedTuple):
    """A result row of `alter_table`."""

    schema_id: int
    """Id of the current schema after the call."""
    partition_spec_id: int
    """Id of the default partition spec after the call."""
    sort_order_id: int
    """Id of the default sort order after the call."""


class DescribeTable(NamedTuple):
    """A result row of `describe_table`."""

    table_uuid: str | None
    """UUID of the table."""
    location: str
    """Location of the table, as a URI."""
    metadata_location: str
    """Location of the current metadata file, as a URI."""
    format_version: int
    """Version of the table format."""
    current_snapshot_id: int | None
    """Id of the current snapshot."""
    comment: str | None
    """Description of the table."""
    schema: str
    """Current schema, as JSON."""
    partition_spec: str
    """Default partition spec, as JSON."""
    sort_order: str
    """Default sort order, as JSON."""
    statistics: str
    """Table statistics files, as a JSON list."""
    partition_statistics: str
    """Partition statistics files, as a JSON list."""
    partition_specs: str
    """All partition specs, as a JSON list."""


class AncestorsOf(NamedTuple):
    """A result row of `ancestors_of`."""

    snapshot_id: int
    """Id of the snapshot."""
    timestamp: int
    """Time of its commit, in milliseconds since 1970."""


class Consumers(NamedTuple):
    """A result row of `consumers`."""

    consumer_id: str
    """Id of the consumer."""
    snapshot_id: int
    """Last snapshot of which the consumer has read rows."""
    timestamp: int
    """Time of the commit of this snapshot, in milliseconds since 1970."""
    snapshots_behind: int | None
    """Number of later snapshots of main, or of the only branch with the snapshot; NULL if the branch is unknown."""
    files_behind: int | None
    """Number of data files that these snapshots added."""


class DropConsumer(NamedTuple):
    """A result row of `drop_consumer`."""

    snapshot_id: int
    """Last snapshot of which the consumer had read rows."""


class StreamWriters(NamedTuple):
    """A result row of `stream_writers`."""

    query_id: str
    """Id of the query, which its checkpoint contains."""
    epoch: int | None
    """Number of the last committed micro-batch, from a table property; NULL if its value is not a number."""
    snapshot_id: int | None
    """Newest snapshot of the query in the history of the main branch; NULL if there is none."""
    timestamp: int | None
    """Time of the commit of this snapshot, in milliseconds since 1970."""


class DropStreamWriter(NamedTuple):
    """A result row of `drop_stream_writer`."""

    epoch: int | None
    """Number of the last committed micro-batch, from a table property; NULL if its value was not a number."""


class RegisterTable(NamedTuple):
    """A result row of `register_table`."""

    current_snapshot_id: int | None
    """Current snapshot of the table."""
    total_records_count: int | None
    """Number of records in the data files of the current snapshot, without regard to delete files."""
    total_data_files_count: int | None
    """Number of data files in the current snapshot."""


class RegisterView(NamedTuple):
    """A result row of `register_view`."""

    current_version_id: int
    """Current version of the view."""


class Clone(NamedTuple):
    """A result row of `clone`."""

    cloned_snapshot_id: int | None
    """Id of the cloned snapshot, which is the same in both tables; null if the source has no snapshot."""
    cloned_data_files_count: int
    """Number of data files in the snapshot."""
    cloned_delete_files_count: int
    """Number of delete files in the snapshot."""
    metadata_location: str
    """Metadata file of the new table."""


class CreateChangelogView(NamedTuple):
    """A result row of `create_changelog_view`."""

    changelog_view: str
    """Name of the view, which can be read in this session."""


class RollbackView(NamedTuple):
    """A result row of `rollback_view`."""

    previous_version_id: int
    """Version that was current before the call."""
    current_version_id: int
    """Version that is current after the call."""


class ConvertEqualityDeletes(NamedTuple):
    """A result row of `convert_equality_deletes`."""

    converted_delete_files_count: int
    """Number of equality delete files that were removed."""
    added_delete_files_count: int
    """Number of deletion vectors or position delete files that replace the equality delete files."""
    deleted_rows_count: int
    """Number of rows that the added files delete."""


class ExpireSnapshots(NamedTuple):
    """A result row of `expire_snapshots`."""

    deleted_data_files_count: int
    """Number of data files that were deleted."""
    deleted_position_delete_files_count: int
    """Number of position delete files that were deleted."""
    deleted_equality_delete_files_count: int
    """Number of equality delete files that were deleted."""
    deleted_manifest_files_count: int
    """Number of manifests that were deleted."""
    deleted_manifest_lists_count: int
    """Number of manifest lists that were deleted."""
    deleted_statistics_files_count: int
    """Number of statistics files that were deleted."""
    kept_files: list[Row]
    """Files that are no longer needed but were not deleted, grouped by reason; empty if all were deleted."""
    warning: str | None
    """Warning if running queries of this Spark application read snapshots that expire; null if none does."""


class RemoveOrphanFiles(NamedTuple):
    """A result row of `remove_orphan_files`."""

    orphan_file_location: str
    """Path of an orphan file."""
    kept_because: str | None
    """Why the file was not deleted; null if it was."""


class RewriteDataFiles(NamedTuple):
    """A result row of `rewrite_data_files`."""

    rewritten_data_files_count: int
    """Number of data files that were replaced."""
    added_data_files_count: int
    """Number of new data files."""
    rewritten_bytes_count: int
    """Size of the replaced data files in bytes."""
    failed_data_files_count: int
    """Number of data files whose rewrite failed."""
    removed_delete_files_count: int
    """Number of delete files that were removed."""
    file_groups: list[Row]
    """File groups that were chosen."""


class RewriteManifests(NamedTuple):
    """A result row of `rewrite_manifests`."""

    rewritten_manifests_count: int
    """Number of manifests that were replaced."""
    added_manifests_count: int
    """Number of manifests that were written."""


class RewritePositionDeleteFiles(NamedTuple):
    """A result row of `rewrite_position_delete_files`."""

    rewritten_delete_files_count: int
    """Number of position delete files that were replaced."""
    added_delete_files_count: int
    """Number of new position delete files or deletion vectors."""
    rewritten_bytes_count: int
    """Size of the replaced files in bytes."""
    added_bytes_count: int
    """Size of the new files or deletion vectors in bytes."""


class ComputePartitionStats(NamedTuple):
    """A result row of `compute_partition_stats`."""

    partition_statistics_file: str
    """Path of the statistics file; for a snapshot without files, the result has no row."""


class ComputeTableStats(NamedTuple):
    """A result row of `compute_table_stats`."""

    statistics_file: str
    """Path of the statistics file; for a table without snapshots, the result has no row."""


class ValidateTree(NamedTuple):
    """A result row of `validate_tree`."""

    snapshot_id: int
    """Id of the snapshot."""
    rule: str
    """Number of a violated rule, such as I4; there are no rows for a valid tree."""
    finding: str
    """How the tree violates the rule."""


class Expressions(NamedTuple):
    """A result row of `expressions`."""

    id: int
    """Id of the expression, which no column has."""
    name: str
    """Name of the expression."""
    expression: str
    """The expression in SQL, such as bucket(16, id)."""
    partition_field_id: int | None
    """Id of the partition field with the values of the expression; NULL if there is none."""


class CreateExpression(NamedTuple):
    """A result row of `create_expression`."""

    id: int
    """Id of the expression, which no column has."""
    name: str
    """Name of the expression."""


class DropExpression(NamedTuple):
    """A result row of `drop_expression`."""

    name: str
    """Name that the expression had."""


class Maintain(NamedTuple):
    """A result row of `maintain`."""

    action: str
    """Action of the step; the rows are in the order in which the steps run."""
    status: str
    """done, planned (for a dry run), skipped or failed."""
    reason: str
    """Why the step is or is not due."""
    files_before: int | None
    """Number of files that the step replaces or deletes; snapshots for expire_snapshots."""
    files_after: int | None
    """Number of files that replace the files in files_before; remaining snapshots for expire_snapshots."""
    bytes_rewritten: int
    """Size of the replaced files in bytes."""
    seconds: float
    """Duration of the step in seconds."""
    message: str | None
    """Further numbers, or why the step failed or was skipped."""
    gain_per_byte: float
    """Bytes that later scans save for each rewritten byte; each saved file counts as read.split.open-file-cost."""


class RewriteTablePath(NamedTuple):
    """A result row of `rewrite_table_path`."""

    latest_version: str
    """Name of the newest metadata file that was rewritten."""
    file_list_location: str
    """Path of a CSV file with the source and the target of each file to copy; N/A if it was not requested."""
    rewritten_manifest_file_paths_count: int
    """Number of manifests that were rewritten."""
    rewritten_delete_file_paths_count: int
    """Number of position delete files and deletion vectors that were rewritten."""


class AddFiles(NamedTuple):
    """A result row of `add_files`."""

    added_files_count: int
    """Number of added files."""
    changed_partition_count: int | None
    """Number of partitions with added files; null for tables of format version 2 and above."""


class Snapshot(NamedTuple):
    """A result row of `snapshot`."""

    imported_files_count: int
    """Number of files of the new table."""


class Migrate(NamedTuple):
    """A result row of `migrate`."""

    migrated_files_count: int
    """Number of files of the Iceberg table."""
