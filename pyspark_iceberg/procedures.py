"""Procedures as Python functions. Generated from the connector's list of procedures; do not edit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from pyspark.sql import Row, SparkSession

from pyspark_iceberg.call import Timestamp, call
from pyspark_iceberg.procedure_results import (
    AddFiles,
    AlterTable,
    AncestorsOf,
    CherrypickSnapshot,
    Clone,
    CommitTogether,
    ComputePartitionStats,
    ComputeTableStats,
    Consumers,
    ConvertEqualityDeletes,
    CreateChangelogView,
    CreateExpression,
    DescribeTable,
    DropConsumer,
    DropExpression,
    DropStreamWriter,
    ExpireSnapshots,
    Expressions,
    FastForward,
    Maintain,
    MergeBranch,
    Migrate,
    PublishChanges,
    RegisterTable,
    RegisterView,
    RemoveOrphanFiles,
    Restore,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
    RewriteTablePath,
    RollbackToSnapshot,
    RollbackToTimestamp,
    RollbackView,
    SetCurrentSnapshot,
    Snapshot,
    StreamWriters,
    ValidateTree,
)


class TableProcedures(ABC):
    """Procedures of an existing table, as methods."""

    @abstractmethod
    def _call(self, procedure: str, arguments: Mapping[str, object]) -> list[Row]:
        """Call a procedure on the table."""

    def rollback_to_snapshot(self, snapshot_id: int, branch: str | None = None) -> RollbackToSnapshot:
        """Roll a branch back to an earlier snapshot in its history.

        Args:
            snapshot_id: snapshot to roll back to; it must be an ancestor of the branch's head.
            branch: branch that is changed; by default main.
        """
        rows = self._call("rollback_to_snapshot", {"snapshot_id": snapshot_id, "branch": branch})
        return RollbackToSnapshot(*rows[0])

    def rollback_to_timestamp(self, timestamp: Timestamp, branch: str | None = None) -> RollbackToTimestamp:
        """Roll a branch back to the newest snapshot in its history that is older than a given timestamp.

        Args:
            timestamp: time before which the snapshot was committed.
            branch: branch that is changed; by default main.
        """
        rows = self._call("rollback_to_timestamp", {"timestamp": timestamp, "branch": branch})
        return RollbackToTimestamp(*rows[0])

    def set_current_snapshot(self, snapshot_id: int | None = None, ref: str | None = None) -> SetCurrentSnapshot:
        """Set any snapshot of the table as the current snapshot, even if it is not an ancestor of the current one.

        Args:
            snapshot_id: snapshot to set; either this or `ref` must be given.
            ref: branch or tag whose snapshot is set.
        """
        rows = self._call("set_current_snapshot", {"snapshot_id": snapshot_id, "ref": ref})
        return SetCurrentSnapshot(*rows[0])

    def restore(
        self,
        snapshot_id: int | None = None,
        ref: str | None = None,
        timestamp: Timestamp | None = None,
    ) -> Restore:
        """Set any snapshot of the table as the current snapshot, and count the files that this adds and removes.

        Args:
            snapshot_id: snapshot to restore; exactly one of `snapshot_id`, `ref` and `timestamp` must be given.
            ref: branch or tag whose snapshot is restored.
            timestamp: time; the snapshot that TIMESTAMP AS OF reads for this time is restored.
        """
        rows = self._call("restore", {"snapshot_id": snapshot_id, "ref": ref, "timestamp": timestamp})
        return Restore(*rows[0])

    def cherrypick_snapshot(self, snapshot_id: int, branch: str | None = None) -> CherrypickSnapshot:
        """Apply the changes of a snapshot, which may be staged or on any branch, to the head of a branch.

        Args:
            snapshot_id: snapshot to apply; it must have added files or replaced partitions, or have the branch's head
                as its parent.
            branch: branch that is changed; by default main.
        """
        rows = self._call("cherrypick_snapshot", {"snapshot_id": snapshot_id, "branch": branch})
        return CherrypickSnapshot(*rows[0])

    def publish_changes(self, wap_id: str, branch: str | None = None) -> PublishChanges:
        """Apply the changes that a session with `spark.wap.id` has staged.

        Args:
            wap_id: value of `spark.wap.id` when the rows were written.
            branch: branch that is changed; by default main.
        """
        rows = self._call("publish_changes", {"wap_id": wap_id, "branch": branch})
        return PublishChanges(*rows[0])

    def fast_forward(self, branch: str, to: str) -> FastForward:
        """Fast-forward a branch to the snapshot of another branch or tag.

        Args:
            branch: branch to fast-forward; it is created if it does not exist.
            to: branch or tag to move to; its history must contain the current snapshot of the branch that is moved.
        """
        rows = self._call("fast_forward", {"branch": branch, "to": to})
        return FastForward(*rows[0])

    def merge_branch(self, branch: str, to: str | None = None) -> MergeBranch:
        """Apply the commits of a branch to another branch that has diverged, if the changes do not overlap.

        Args:
            branch: branch whose commits are applied.
            to: branch to which the commits are applied; by default main.
        """
        rows = self._call("merge_branch", {"branch": branch, "to": to})
        return MergeBranch(*rows[0])

    def commit_together(self, others: Sequence[str], branch: str, to: str | None = None) -> list[CommitTogether]:
        """Publish a branch of several tables of a REST catalog in one commit: all tables change, or none.

        Args:
            others: names of the other tables, in the same catalog.
            branch: branch with the changes, which each of the tables must have.
            to: branch that receives the changes, by default `main`; its head must be an ancestor of `branch`.
        """
        rows = self._call("commit_together", {"others": others, "branch": branch, "to": to})
        return [CommitTogether(*row) for row in rows]

    def alter_table(self, changes: Sequence[str]) -> AlterTable:
        """Change columns, partitioning, sort order, identifier fields and properties of the table in one commit.

        Args:
            changes: changes in their order, each as the part of an ALTER TABLE statement after the name of the table,
                such as `ADD COLUMN city STRING`.
        """
        rows = self._call("alter_table", {"changes": changes})
        return AlterTable(*rows[0])

    def describe_table(self) -> DescribeTable:
        """Return the current metadata of the table, with its parts in the JSON form of the Iceberg specification."""
        rows = self._call("describe_table", {})
        return DescribeTable(*rows[0])

    def ancestors_of(self, snapshot_id: int | None = None, branch: str | None = None) -> list[AncestorsOf]:
        """List a snapshot and its ancestors, newest first.

        Args:
            snapshot_id: id of the snapshot; by default the current one.
            branch: branch whose newest snapshot is selected; by default main.
        """
        rows = self._call("ancestors_of", {"snapshot_id": snapshot_id, "branch": branch})
        return [AncestorsOf(*row) for row in rows]

    def consumers(self) -> list[Consumers]:
        """List the consumers of the table's streams, with their positions."""
        rows = self._call("consumers", {})
        return [Consumers(*row) for row in rows]

    def drop_consumer(self, consumer_id: str) -> DropConsumer:
        """Remove a consumer of the table's streams, so that unread snapshots can expire.

        Args:
            consumer_id: id of the consumer, which the option `consumer-id` sets.
        """
        rows = self._call("drop_consumer", {"consumer_id": consumer_id})
        return DropConsumer(*rows[0])

    def stream_writers(self) -> list[StreamWriters]:
        """List the streaming queries that have written to the table, with their last micro-batches."""
        rows = self._call("stream_writers", {})
        return [StreamWriters(*row) for row in rows]

    def drop_stream_writer(self, query_id: str) -> DropStreamWriter:
        """Remove the record of a streaming query that will not write to the table again.

        Args:
            query_id: id of a query that has ended for good. If it runs again, its last micro-batch may be written
                twice.
        """
        rows = self._call("drop_stream_writer", {"query_id": query_id})
        return DropStreamWriter(*rows[0])

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

    def expire_snapshots(
        self,
        older_than: Timestamp | None = None,
        retain_last: int | None = None,
        max_concurrent_deletes: int | None = None,
        stream_results: bool | None = None,
        snapshot_ids: Sequence[int] | None = None,
        clean_expired_metadata: bool | None = None,
        dry_run: bool | None = None,
        max_snapshots: int | None = None,
    ) -> ExpireSnapshots:
        """Remove old snapshots, and delete the files that only these snapshots refer to.

        Args:
            older_than: time; older snapshots expire. By default, the table property history.expire.max-snapshot-age-ms
                determines the time.
            retain_last: minimum number of snapshots to keep, regardless of their age, for each branch without its own
                minimum; by default the value of the table property history.expire.min-snapshots-to-keep, at most
                max_snapshots.
            max_concurrent_deletes: maximum number of requests that delete files at the same time; on S3, each request
                deletes up to 1,000 files. By default 16; larger numbers have the same effect.
            stream_results: accepted for compatibility, without effect: the files to delete are always read as a stream.
            snapshot_ids: ids of snapshots that expire regardless of their age; the ids of branch heads and tagged
                snapshots are rejected.
            clean_expired_metadata: whether schemas and partition specs that no remaining snapshot uses, and statistics
                of snapshots that the table does not have, are also removed; by default false.
            dry_run: whether to return what would be deleted, without changing anything; by default false.
            max_snapshots: maximum number of snapshots to keep for each branch, regardless of their age; by default the
                value of the table property iceberg-lite.max-snapshots-to-keep. A branch with its own
                min-snapshots-to-keep keeps at least that number, and every other branch at least retain_last.
        """
        rows = self._call(
            "expire_snapshots",
            {
                "older_than": older_than,
                "retain_last": retain_last,
                "max_concurrent_deletes": max_concurrent_deletes,
                "stream_results": stream_results,
                "snapshot_ids": snapshot_ids,
                "clean_expired_metadata": clean_expired_metadata,
                "dry_run": dry_run,
                "max_snapshots": max_snapshots,
            },
        )
        return ExpireSnapshots(*rows[0])

    def remove_orphan_files(
        self,
        older_than: Timestamp | None = None,
        location: str | None = None,
        dry_run: bool | None = None,
        max_concurrent_deletes: int | None = None,
        file_list_view: str | None = None,
        equal_schemes: Mapping[str, str | int] | None = None,
        equal_authorities: Mapping[str, str | int] | None = None,
        prefix_mismatch_mode: str | None = None,
        prefix_listing: bool | None = None,
        stream_results: bool | None = None,
    ) -> list[RemoveOrphanFiles]:
        """Delete files in the table's directory that the table's metadata does not refer to.

        Args:
            older_than: time, at least 24 hours ago; only files that were last modified before it are removed. By
                default 3 days ago.
            location: directory to search, which the table must own; by default the location of the table.
            dry_run: whether to return the orphan files without deleting them; by default false.
            max_concurrent_deletes: maximum number of requests that delete files at the same time; on S3, each request
                deletes up to 1,000 files. By default 16; larger numbers have the same effect.
            file_list_view: view with the columns file_path (string) and last_modified (timestamp) that lists the files,
                instead of a search in the directory; if `location` is set, only the files in this directory are
                considered.
            equal_schemes: schemes that refer to the same storage: a key is a comma-separated list of schemes that are
                equal to its value. By default, s3a and s3n are equal to s3.
            equal_authorities: authorities that refer to the same storage: a key is a comma-separated list of
                authorities that are equal to its value.
            prefix_mismatch_mode: what to do with a file if the metadata has its path with another scheme or authority:
                ERROR (the default) fails before a file is deleted, IGNORE keeps the file, DELETE treats it as an
                orphan.
            prefix_listing: whether all paths with a prefix are listed at once, which needs fewer requests to an object
                store if there are many directories; for large tables, at most 32 tasks list at most 256 prefixes. By
                default false: each directory is listed.
            stream_results: whether to return at most 20000 of the files, which bounds the memory for the result; by
                default false.
        """
        rows = self._call(
            "remove_orphan_files",
            {
                "older_than": older_than,
                "location": location,
                "dry_run": dry_run,
                "max_concurrent_deletes": max_concurrent_deletes,
                "file_list_view": file_list_view,
                "equal_schemes": equal_schemes,
                "equal_authorities": equal_authorities,
                "prefix_mismatch_mode": prefix_mismatch_mode,
                "prefix_listing": prefix_listing,
                "stream_results": stream_results,
            },
        )
        return [RemoveOrphanFiles(*row) for row in rows]

    def rewrite_data_files(
        self,
        strategy: str | None = None,
        sort_order: str | None = None,
        options: Mapping[str, str | int] | None = None,
        where: str | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
    ) -> RewriteDataFiles:
        """Rewrite data files to combine small files, split large files, remove deleted rows, or sort or cluster rows.

        Args:
            strategy: binpack, which changes the sizes of files, or sort, which also sorts their rows; by default sort
                if there is a sort_order. A table with CLUSTER BY is clustered by default: only files that are not yet
                clustered are rewritten. Otherwise the default is binpack.
            sort_order: sort order as in ORDER BY, zorder(column, ...) or hilbert(column, ...); by default the sort
                order of the table.
            options: options that choose files and determine the new ones, such as target-file-size-bytes and
                rewrite-all.
            where: condition; only files that may contain a matching row are rewritten, including their other rows.
            branch: branch whose files are rewritten; by default main.
            dry_run: whether to return the file groups that would be rewritten, without changing anything; by default
                false.
        """
        rows = self._call(
            "rewrite_data_files",
            {
                "strategy": strategy,
                "sort_order": sort_order,
                "options": options,
                "where": where,
                "branch": branch,
                "dry_run": dry_run,
            },
        )
        return RewriteDataFiles(*rows[0])

    def rewrite_manifests(
        self,
        use_caching: bool | None = None,
        spec_id: int | None = None,
        sort_by: Sequence[str] | None = None,
        dry_run: bool | None = None,
        branch: str | None = None,
    ) -> RewriteManifests:
        """Rewrite manifests with their entries sorted by partition, so that scans skip most of them.

        Args:
            use_caching: accepted for compatibility, without effect: manifests are rewritten without Spark's cache.
            spec_id: id of the partition spec whose manifests are rewritten; by default the current partition spec.
            sort_by: partition fields by which the entries are sorted first; by default all fields, in the order of the
                partition spec.
            dry_run: whether to return the expected numbers without changing anything; by default false.
            branch: branch whose manifests are rewritten; by default main.
        """
        rows = self._call(
            "rewrite_manifests",
            {"use_caching": use_caching, "spec_id": spec_id, "sort_by": sort_by, "dry_run": dry_run, "branch": branch},
        )
        return RewriteManifests(*rows[0])

    def rewrite_position_delete_files(
        self,
        options: Mapping[str, str | int] | None = None,
        where: str | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
    ) -> RewritePositionDeleteFiles:
        """Combine position delete files, or in version 3 convert them to deletion vectors, and drop dangling deletes.

        Args:
            options: options that choose files and determine the new ones, such as target-file-size-bytes and
                rewrite-all.
            where: condition; only delete files of partitions that may contain a matching row are rewritten.
            branch: branch whose delete files are rewritten; by default main.
            dry_run: whether to return the files that would be replaced, with estimates of the new files, without
                changing anything; by default false.
        """
        rows = self._call(
            "rewrite_position_delete_files",
            {"options": options, "where": where, "branch": branch, "dry_run": dry_run},
        )
        return RewritePositionDeleteFiles(*rows[0])

    def compute_partition_stats(
        self,
        snapshot_id: int | None = None,
        branch: str | None = None,
    ) -> list[ComputePartitionStats]:
        """Compute the partition statistics of a snapshot and register their file in the table.

        Args:
            snapshot_id: id of the snapshot; by default the current one.
            branch: branch whose newest snapshot is selected; by default main.
        """
        rows = self._call("compute_partition_stats", {"snapshot_id": snapshot_id, "branch": branch})
        return [ComputePartitionStats(*row) for row in rows]

    def compute_table_stats(
        self,
        snapshot_id: int | None = None,
        columns: Sequence[str] | None = None,
        bloom_index_only: bool | None = None,
        branch: str | None = None,
    ) -> list[ComputeTableStats]:
        """Compute approximate numbers of distinct values and the Bloom index, and register their file in the table.

        Args:
            snapshot_id: id of the snapshot; by default the current one.
            columns: names of the columns; by default all top-level columns with primitive types.
            bloom_index_only: whether to compute only the Bloom index: only data files that have no Bloom filter yet are
                read, and the existing numbers of distinct values are copied; by default false.
            branch: branch whose newest snapshot is selected; by default main.
        """
        rows = self._call(
            "compute_table_stats",
            {"snapshot_id": snapshot_id, "columns": columns, "bloom_index_only": bloom_index_only, "branch": branch},
        )
        return [ComputeTableStats(*row) for row in rows]

    def validate_tree(self, snapshot_id: int | None = None) -> list[ValidateTree]:
        """Check the metadata tree of a snapshot of format version 4 against the rules of such trees.

        Args:
            snapshot_id: snapshot to check; by default the current one.
        """
        rows = self._call("validate_tree", {"snapshot_id": snapshot_id})
        return [ValidateTree(*row) for row in rows]

    def expressions(self) -> list[Expressions]:
        """List the expressions of a table of format version 4: its partition transforms and others."""
        rows = self._call("expressions", {})
        return [Expressions(*row) for row in rows]

    def create_expression(self, expression: str, name: str | None = None) -> CreateExpression:
        """Add an expression that is not a partition field to a table of format version 4.

        Args:
            expression: a transform of a column, as in PARTITIONED BY, such as `bucket(16, id)`.
            name: name of the expression; by default the name that a partition field with this transform would have.
        """
        rows = self._call("create_expression", {"expression": expression, "name": name})
        return CreateExpression(*rows[0])

    def drop_expression(self, expression_id: int) -> DropExpression:
        """Remove an expression of a table of format version 4, with its statistics.

        Args:
            expression_id: id of the expression, as the procedure `expressions` returns it. No partition spec may use
                the expression.
        """
        rows = self._call("drop_expression", {"expression_id": expression_id})
        return DropExpression(*rows[0])

    def maintain(self, options: Mapping[str, str | int] | None = None, dry_run: bool | None = None) -> list[Maintain]:
        """Run the maintenance actions that the metadata table `health` shows as due, highest gain per byte first.

        Args:
            options: limits of the call, and options for rewriting data files: max-bytes, max-seconds,
                remove-orphan-files, target-file-size-bytes, min-file-size-bytes, max-file-size-bytes, min-input-files,
                delete-ratio-threshold.
            dry_run: whether to return the steps that would be run, without changing anything; by default false.
        """
        rows = self._call("maintain", {"options": options, "dry_run": dry_run})
        return [Maintain(*row) for row in rows]

    def rewrite_table_path(
        self,
        source_prefix: str,
        target_prefix: str,
        start_version: str | None = None,
        end_version: str | None = None,
        staging_location: str | None = None,
        create_file_list: bool | None = None,
    ) -> RewriteTablePath:
        """Write copies of the table's metadata for another location, and list all files to copy to this location.

        Args:
            source_prefix: location with which all paths in the table's metadata begin, usually the location of the
                table.
            target_prefix: location that replaces source_prefix.
            start_version: name of the metadata file up to which the table was copied before; only newer files are
                rewritten and listed. By default, all files.
            end_version: name of the newest metadata file to rewrite; by default the current one.
            staging_location: empty directory for the rewritten files; by default a new directory in the table's
                metadata directory.
            create_file_list: whether to write the list of files to copy; by default true.
        """
        rows = self._call(
            "rewrite_table_path",
            {
                "source_prefix": source_prefix,
                "target_prefix": target_prefix,
                "start_version": start_version,
                "end_version": end_version,
                "staging_location": staging_location,
                "create_file_list": create_file_list,
            },
        )
        return RewriteTablePath(*rows[0])

    def add_files(
        self,
        source_table: str,
        partition_filter: Mapping[str, str | int] | None = None,
        check_duplicate_files: bool | None = None,
        parallelism: int | None = None,
        branch: str | None = None,
    ) -> AddFiles:
        """Add the files of another table or of a directory, without copying them.

        Args:
            source_table: parquet, ORC or Avro table of Spark's session catalog, or a path such as parquet.`/data/t`.
            partition_filter: values of partition columns; only the files of partitions with these values are added.
            check_duplicate_files: whether to fail if a file is already in the branch; by default true.
            parallelism: accepted for compatibility, without effect: footers are always read in parallel.
            branch: branch to which the files are added; by default main.
        """
        rows = self._call(
            "add_files",
            {
                "source_table": source_table,
                "partition_filter": partition_filter,
                "check_duplicate_files": check_duplicate_files,
                "parallelism": parallelism,
                "branch": branch,
            },
        )
        return AddFiles(*rows[0])


def register_table(spark: SparkSession, table: str, metadata_file: str) -> RegisterTable:
    """Register an existing metadata file as a table.

    Args:
        spark: a session with the catalog and the SQL extensions.
        table: name of the table, with or without the name of its catalog.
        metadata_file: newest metadata file of the table; later commits through other catalogs are not visible.
    """
    rows = call(spark, "register_table", table, {"metadata_file": metadata_file})
    return RegisterTable(*rows[0])


def register_view(spark: SparkSession, table: str, metadata_file: str) -> RegisterView:
    """Register an existing metadata file as a view.

    Args:
        spark: a session with the catalog and the SQL extensions.
        table: name of the view, with or without the name of its catalog.
        metadata_file: newest metadata file of the view; later commits through other catalogs are not visible.
    """
    rows = call(spark, "register_view", table, {"metadata_file": metadata_file})
    return RegisterView(*rows[0])


def clone(
    spark: SparkSession,
    table: str,
    source_table: str,
    snapshot_id: int | None = None,
    ref: str | None = None,
    location: str | None = None,
    properties: Mapping[str, str | int] | None = None,
) -> Clone:
    """Create a table, with gc.enabled=false, that refers to the files of a snapshot of another table.

    Args:
        spark: a session with the catalog and the SQL extensions.
        table: name of the table, with or without the name of its catalog.
        source_table: table to clone, of any iceberg-lite catalog.
        snapshot_id: id of the snapshot to clone; by default the current one.
        ref: branch or tag to clone, instead of a snapshot id.
        location: location of the new table; by default, the catalog of the new table chooses it.
        properties: properties of the new table, in addition to those of the source.
    """
    rows = call(
        spark,
        "clone",
        table,
        {
            "source_table": source_table,
            "snapshot_id": snapshot_id,
            "ref": ref,
            "location": location,
            "properties": properties,
        },
    )
    return Clone(*rows[0])


def rollback_view(spark: SparkSession, table: str, version_id: int) -> RollbackView:
    """Make an earlier version of a view current.

    Args:
        spark: a session with the catalog and the SQL extensions.
        table: name of the view, with or without the name of its catalog.
        version_id: version to make current; the view must still have it.
    """
    rows = call(spark, "rollback_view", table, {"version_id": version_id})
    return RollbackView(*rows[0])


def snapshot(
    spark: SparkSession,
    table: str,
    source_table: str,
    location: str | None = None,
    properties: Mapping[str, str | int] | None = None,
    parallelism: int | None = None,
    ignore_missing_files: bool | None = None,
) -> Snapshot:
    """Create a table that refers to the files of another table, for example for tests; the other table is not changed.

    Args:
        spark: a session with the catalog and the SQL extensions.
        table: name of the table, with or without the name of its catalog.
        source_table: parquet, ORC or Avro table of Spark's session catalog.
        location: location of the new table; by default chosen by the catalog. It must not overlap the location of the
            source.
        properties: properties of the new table, in addition to the source's.
        parallelism: accepted for compatibility, without effect: footers are always read in parallel.
        ignore_missing_files: whether to skip missing files and missing directories of partitions, instead of failing;
            by default false.
    """
    rows = call(
        spark,
        "snapshot",
        table,
        {
            "source_table": source_table,
            "location": location,
            "properties": properties,
            "parallelism": parallelism,
            "ignore_missing_files": ignore_missing_files,
        },
    )
    return Snapshot(*rows[0])


def migrate(
    spark: SparkSession,
    table: str,
    properties: Mapping[str, str | int] | None = None,
    drop_backup: bool | None = None,
    backup_table_name: str | None = None,
    parallelism: int | None = None,
    ignore_missing_files: bool | None = None,
) -> Migrate:
    """Replace a Parquet, ORC or Avro table of Spark's session catalog with an Iceberg table that refers to its files.

    Args:
        spark: a session with the catalog and the SQL extensions.
        table: name of the table, with or without the name of its catalog.
        properties: properties of the new table, in addition to the source's.
        drop_backup: whether to drop the original table, but not its files, after a successful migration; by default
            false.
        backup_table_name: new name of the original table, without its database; by default the name of the table
            followed by _BACKUP_.
        parallelism: accepted for compatibility, without effect: footers are always read in parallel.
        ignore_missing_files: whether to skip missing files and missing directories of partitions, instead of failing;
            by default false.
    """
    rows = call(
        spark,
        "migrate",
        table,
        {
            "properties": properties,
            "drop_backup": drop_backup,
            "backup_table_name": backup_table_name,
            "parallelism": parallelism,
            "ignore_missing_files": ignore_missing_files,
        },
    )
    return Migrate(*rows[0])
