"""The description of a table: its columns, partitioning, properties, history and files."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from pyspark_iceberg.errors import typed_errors
from pyspark_iceberg.rows import ContentFile, HistoryEntry, Partition, Ref, Snapshot, TypedRows

_DETAILS = "# Detailed Table Information"


@dataclass(frozen=True)
class PartitionField:
    """A partition field of a table: a column, or a transform of a column such as `days(time_hour)`."""

    position: int
    transform: str

    def __str__(self) -> str:
        """Return the transform in SQL."""
        return self.transform


class TableDescription:
    """The methods of `Table` that describe the table."""

    _spark: SparkSession
    name: str

    def to_df(self) -> DataFrame:
        """Return the current rows of the table."""
        return self._spark.table(self.name)

    @property
    def schema(self) -> StructType:
        """The columns, as Spark types."""
        return self.to_df().schema

    @property
    def partitioning(self) -> tuple[PartitionField, ...]:
        """The partition fields of the default partition spec; empty for an unpartitioned table."""
        return tuple(PartitionField(i, kind) for i, kind in enumerate(self._details("# Partitioning").values()))

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties, including those that describe its state (`format-version`, `current-snapshot-id`)."""
        return {row["key"]: row["value"] for row in self._spark.sql(f"SHOW TBLPROPERTIES {self.name}").collect()}

    @property
    def location(self) -> str:
        """The location of the table, as a URI."""
        return self._details(_DETAILS)["Location"]

    @property
    def comment(self) -> str | None:
        """The description of the table, or None if it has none."""
        return self._details(_DETAILS).get("Comment")

    @property
    def format_version(self) -> int:
        """The format version of the table."""
        return int(self.properties["format-version"])

    @property
    def current_snapshot_id(self) -> int | None:
        """The id of the current snapshot, or None if the table has none."""
        value = self.properties["current-snapshot-id"]
        return None if value == "none" else int(value)

    @property
    def sort_order(self) -> str | None:
        """The sort order of the table in SQL, or None if the table is not sorted."""
        return self.properties.get("sort-order")

    @property
    def identifier_fields(self) -> tuple[str, ...]:
        """The names of the columns that identify a row."""
        text = self.properties.get("identifier-fields", "").strip("[]")
        return tuple(text.split(",")) if text else ()

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
        """Return one of the table's metadata tables, such as `manifests` or `partitions`."""
        return self._spark.table(f"{self.name}.{kind}")

    def _details(self, section: str) -> dict[str, str]:
        """Return the rows of a section of the table's description. The columns are not in a section."""
        with typed_errors():
            rows = self._spark.sql(f"DESCRIBE TABLE EXTENDED {self.name}").collect()
        names = [row["col_name"] for row in rows]
        if section not in names:
            return {}
        # A column may have the name of a section, but all columns precede the sections.
        start = len(names) - names[::-1].index(section)
        end = next((i for i in range(start, len(names)) if not names[i] or names[i].startswith("# ")), len(names))
        return {row["col_name"]: row["data_type"] for row in rows[start:end]}
