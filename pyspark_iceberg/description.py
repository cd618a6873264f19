"""The description of a table: its columns, partitioning, properties, history and files."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from pyspark_iceberg.errors import typed_errors
from pyspark_iceberg.fields import Columns, PartitionField, SortField, StatisticsFile, TypedTuple
from pyspark_iceberg.procedures import TableProcedures
from pyspark_iceberg.rows import ContentFile, HistoryEntry, Partition, Ref, Snapshot, TypedRows


class TableDescription(TableProcedures):
    """The methods of `Table` that describe the table."""

    _spark: SparkSession
    name: str

    def to_df(self) -> DataFrame:
        """Return the current rows of the table."""
        with typed_errors():
            return self._spark.table(self.name)

    @property
    def schema(self) -> StructType:
        """The columns, as Spark types."""
        return self.to_df().schema

    @property
    def partitioning(self) -> TypedTuple[PartitionField]:
        """The partition fields of the default partition spec; empty for an unpartitioned table."""
        table = self.describe_table()
        ddl = "position INT, transform STRING, name STRING, field_id INT, columns ARRAY<STRING>"
        return TypedTuple.of(self._spark, ddl, Columns(table.schema).partitioning(table.partition_spec))

    @property
    def sort_order(self) -> TypedTuple[SortField]:
        """The fields of the sort order of the table; empty if the table is not sorted."""
        table = self.describe_table()
        ddl = "position INT, transform STRING, descending BOOLEAN, nulls_first BOOLEAN, columns ARRAY<STRING>"
        return TypedTuple.of(self._spark, ddl, Columns(table.schema).sort_order(table.sort_order))

    @property
    def identifier_fields(self) -> tuple[str, ...]:
        """The names of the columns that identify a row."""
        return Columns(self.describe_table().schema).identifier_fields

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties, including those that describe its state (`format-version`, `current-snapshot-id`)."""
        with typed_errors():
            return {row["key"]: row["value"] for row in self._spark.sql(f"SHOW TBLPROPERTIES {self.name}").collect()}

    @property
    def location(self) -> str:
        """The location of the table, as a URI."""
        return self.describe_table().location

    @property
    def comment(self) -> str | None:
        """The description of the table, or None if it has none."""
        return self.describe_table().comment

    @property
    def format_version(self) -> int:
        """The format version of the table."""
        return self.describe_table().format_version

    @property
    def current_snapshot_id(self) -> int | None:
        """The id of the current snapshot, or None if the table has none."""
        return self.describe_table().current_snapshot_id

    def statistics(self) -> TypedTuple[StatisticsFile]:
        """Return the statistics files of the table, which `compute_table_stats` and `compute_partition_stats` write."""
        table = self.describe_table()
        ddl = "snapshot_id BIGINT, kind STRING, path STRING, bytes BIGINT, distinct_values MAP<STRING, BIGINT>"
        files = Columns(table.schema).statistics(table.statistics, table.partition_statistics)
        return TypedTuple.of(self._spark, ddl, files)

    def history(self) -> TypedRows[HistoryEntry]:
        """Return the snapshots that became current, with the times when they became current, oldest first."""
        return TypedRows(self.metadata("history").orderBy("made_current_at"), HistoryEntry.of)

    def snapshots(self) -> TypedRows[Snapshot]:
        """Return the snapshots of the table, oldest first."""
        return TypedRows(self.metadata("snapshots").orderBy("committed_at"), Snapshot.of)

    def refs(self) -> TypedRows[Ref]:
        """Return the branches and tags, ordered by name."""
        return TypedRows(self.metadata("refs").orderBy("name"), Ref.of)

    def files(self) -> TypedRows[ContentFile]:
        """Return the data files and delete files of the current snapshot.

        `to_df()` has more columns, such as the metrics of the table's columns.
        """
        return TypedRows(self.metadata("files"), ContentFile.of)

    def partitions(self) -> TypedRows[Partition]:
        """Return the partitions of the current snapshot."""
        return TypedRows(self.metadata("partitions"), Partition.of)

    def metadata(self, kind: str) -> DataFrame:
        """Return one of the table's metadata tables, such as `manifests` or `partitions`.

        Args:
            kind: the name of the metadata table, as in SQL after the name of the table.

        Raises:
            MissingObjectError: there is no such metadata table.
        """
        with typed_errors():
            found = self._spark.table(f"{self.name}.{kind}")
            # With Spark Connect, the name is resolved only now.
            _ = found.schema
            return found
