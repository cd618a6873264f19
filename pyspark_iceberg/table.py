"""The class `Table`: the description, the history, the rows and the earlier states of a table."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from pyspark_iceberg.call import Timestamp, call, identifier, literal
from pyspark_iceberg.changes import RowChanges, assignments, expression, run
from pyspark_iceberg.merge import Merge, equal_columns
from pyspark_iceberg.procedures import TableProcedures

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


@dataclass(frozen=True)
class PartitionField:
    """A partition field of a table: a column, or a transform of a column such as `days(time_hour)`."""

    position: int
    transform: str

    def __str__(self) -> str:
        """Return the transform in SQL."""
        return self.transform


class Table(TableProcedures):
    """A table of a catalog, by its name in SQL. Every call queries Spark; nothing is cached.

    All methods use SQL and DataFrames, so they also work with Spark Connect.

    Args:
        spark: a session with the catalog.
        name: the name in SQL: `catalog.db.table`, or `db.table` in the current catalog, with backticks if needed.

    Raises:
        pyspark.errors.AnalysisException: the table does not exist.
    """

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark = spark
        self.name = name
        self.to_df()

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
        described = self._describe("DESCRIBE TABLE")
        parts = [(name, kind) for name, kind in described if name.startswith("Part ")]
        return tuple(PartitionField(i, kind) for i, (_, kind) in enumerate(parts))

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties, including those that describe its state (`format-version`, `current-snapshot-id`)."""
        return {row["key"]: row["value"] for row in self._spark.sql(f"SHOW TBLPROPERTIES {self.name}").collect()}

    @property
    def location(self) -> str:
        """The location of the table, as a URI."""
        described = dict(self._describe("DESCRIBE TABLE EXTENDED"))
        return described["Location"]

    @property
    def format_version(self) -> int:
        """The format version of the table."""
        return int(self.properties["format-version"])

    @property
    def current_snapshot_id(self) -> int | None:
        """The id of the current snapshot, or None if the table has none."""
        value = self.properties["current-snapshot-id"]
        return None if value == "none" else int(value)

    def history(self) -> DataFrame:
        """Return the snapshots that became current, with the times when they became current, oldest first."""
        return self.metadata("history").orderBy("made_current_at")

    def snapshots(self) -> DataFrame:
        """Return the snapshots of the table, oldest first."""
        return self.metadata("snapshots").orderBy("committed_at")

    def refs(self) -> DataFrame:
        """Return the branches and tags."""
        return self.metadata("refs").orderBy("name")

    def files(self) -> DataFrame:
        """Return the files of the current snapshot, with their partitions, sizes and column metrics."""
        return self.metadata("files")

    def metadata(self, kind: str) -> DataFrame:
        """Return one of the table's metadata tables, such as `manifests` or `partitions`."""
        return self._spark.table(f"{self.name}.{kind}")

    def as_of(self, *, version: int | str | None = None, timestamp: Timestamp | None = None) -> DataFrame:
        """Return the rows of an earlier state.

        Args:
            version: a snapshot id, or the name of a branch or tag.
            timestamp: a time; without a time zone, it is in the session's time zone.

        Raises:
            ValueError: both or neither of the arguments are set.
            pyspark.errors.AnalysisException: the table has no such version, or its history starts after the timestamp.
        """
        if (version is None) == (timestamp is None):
            raise ValueError("Set either version or timestamp")
        if version is not None:
            return self._spark.sql(f"SELECT * FROM {self.name} VERSION AS OF {literal(version)}")  # noqa: S608
        text = timestamp.isoformat(sep=" ") if isinstance(timestamp, datetime.datetime) else str(timestamp)
        return self._spark.sql(f"SELECT * FROM {self.name} TIMESTAMP AS OF {literal(text)}")  # noqa: S608

    def appended(self, *, after: int | datetime.datetime, until: int | datetime.datetime | None = None) -> DataFrame:
        """Return the rows that append commits added, even if later commits changed or deleted these rows.

        Args:
            after: the snapshot id or the time to start after (exclusive).
            until: the snapshot id or the time to end at (inclusive); by default the current state.

        Raises:
            pyspark.errors.AnalysisException: the history does not contain the whole range; raised when rows are read.
        """
        return self._commits(self.name, after, until)

    def changes(
        self, *, after: int | datetime.datetime | None = None, until: int | datetime.datetime | None = None
    ) -> DataFrame:
        """Return the rows that each commit inserted and deleted, with `_change_type` and `_commit_snapshot_id`.

        Args:
            after: the snapshot id or the time to start after (exclusive); by default the oldest available commit.
            until: the snapshot id or the time to end at (inclusive); by default the current state.

        Raises:
            pyspark.errors.AnalysisException: the history does not contain the whole range; raised when rows are read.
        """
        return self._commits(f"{self.name}.changes", after, until)

    def _commits(
        self, name: str, after: int | datetime.datetime | None, until: int | datetime.datetime | None
    ) -> DataFrame:
        reader = self._spark.read
        for bound_name, value in (("start", after), ("end", until)):
            if isinstance(value, datetime.datetime):
                milliseconds = (value.astimezone() - _EPOCH) // datetime.timedelta(milliseconds=1)
                reader = reader.option(f"{bound_name}-timestamp", str(milliseconds))
            elif value is not None:
                reader = reader.option(f"{bound_name}-snapshot-id", str(value))
        return reader.table(name)

    def branch(self, name: str) -> DataFrame:
        """Return the current rows of a branch; `df.writeTo(f"{table.name}.branch_{name}")` writes to it.

        Raises:
            pyspark.errors.AnalysisException: the table has no such branch.
        """
        return self._spark.table(f"{self.name}.{identifier('branch_' + name)}")

    def delete(self, condition: str | None = None, *, options: Mapping[str, str] | None = None) -> RowChanges:
        """Delete rows.

        Args:
            condition: SQL that the rows to delete satisfy; without it, all rows.
            options: options of the statement, such as `statement-retries` or `snapshot-property.job`.

        Raises:
            pyspark.errors.AnalysisException: the statement is not valid for this table.
        """
        return run(self._spark, self.name, "DELETE FROM", _where(condition), options or {})

    def update(
        self, values: Mapping[str, str], condition: str | None = None, *, options: Mapping[str, str] | None = None
    ) -> RowChanges:
        """Update rows.

        Args:
            values: SQL expressions by the names of columns, or of fields of structs (`address.city`).
            condition: SQL that the rows to update satisfy; without it, all rows.
            options: options of the statement, such as `statement-retries` or `snapshot-property.job`.

        Raises:
            TypeError: a value is not a str.
            ValueError: `values` is empty.
            pyspark.errors.AnalysisException: the statement is not valid for this table.
        """
        after = f"SET {assignments(values)} {_where(condition)}"
        return run(self._spark, self.name, "UPDATE", after, options or {})

    def merge(self, source: DataFrame | str, on: str | Sequence[str]) -> Merge:
        """Begin a MERGE, which `execute` runs.

        Args:
            source: the rows to merge, or the name of a table or view. Conditions and values refer to it as `source`,
                and to this table as `target`.
            on: the condition for matching rows, as SQL, or the names of columns that are equal in matching rows.

        Raises:
            ValueError: `on` names no column.
        """
        return Merge(self._spark, self.name, source, equal_columns(on))

    def _call(self, procedure: str, arguments: Mapping[str, object]) -> list[Row]:
        return call(self._spark, procedure, self.name, arguments)

    def _describe(self, statement: str) -> list[tuple[str, str]]:
        return [(row["col_name"], row["data_type"]) for row in self._spark.sql(f"{statement} {self.name}").collect()]

    def _facts(self) -> list[tuple[str, str]]:
        properties = self.properties
        return [
            ("format version", properties["format-version"]),
            ("location", self.location),
            ("partitioning", ", ".join(str(p) for p in self.partitioning) or "none"),
            ("current snapshot", properties["current-snapshot-id"]),
        ]

    def __repr__(self) -> str:
        """Return the table's name, description and columns."""
        lines = [f"Table {self.name}"]
        lines += [f"  {key}: {value}" for key, value in self._facts()]
        lines += [f"  {f.name}: {f.dataType.simpleString()}" for f in self.schema.fields]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        root = ElementTree.Element("div")
        ElementTree.SubElement(root, "h4").text = self.name
        _html_table(root, self._facts())
        _html_table(root, [(f.name, f.dataType.simpleString()) for f in self.schema.fields])
        return ElementTree.tostring(root, encoding="unicode", method="html")


def _where(condition: str | None) -> str:
    return "" if condition is None else f"WHERE {expression(condition)}"


def _html_table(parent: ElementTree.Element, rows: list[tuple[str, str]]) -> None:
    table = ElementTree.SubElement(parent, "table")
    for key, value in rows:
        tr = ElementTree.SubElement(table, "tr")
        ElementTree.SubElement(tr, "th").text = key
        ElementTree.SubElement(tr, "td").text = value
