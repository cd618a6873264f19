"""The class `Table`: earlier states, changes, statements and maintenance of a table."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from pyspark.sql import DataFrame, Row, SparkSession

from pyspark_iceberg.builder import TableBuilder
from pyspark_iceberg.call import call, identifier, literal, milliseconds, setting
from pyspark_iceberg.changes import RowChanges, Sql, assignments, run, where
from pyspark_iceberg.description import TableDescription
from pyspark_iceberg.errors import typed_errors
from pyspark_iceberg.evolution import TableEvolution
from pyspark_iceberg.fields import Columns
from pyspark_iceberg.merge import Merge, equal_columns
from pyspark_iceberg.metadata import compare
from pyspark_iceberg.metadata.compare import SnapshotDiff
from pyspark_iceberg.metadata.spark_source import SparkSource
from pyspark_iceberg.optimize import Optimize
from pyspark_iceberg.reads import TableReads
from pyspark_iceberg.refs import TableRefs
from pyspark_iceberg.report import spark as spark_report
from pyspark_iceberg.report.notebook import table_html
from pyspark_iceberg.streams import TableStreams
from pyspark_iceberg.vacuum import VacuumCandidate, VacuumResult, vacuum
from pyspark_iceberg.writes import TableWrites


class Table(TableDescription, TableEvolution, TableReads, TableWrites, TableStreams, TableRefs):
    """A table of a catalog, by its name in SQL. Every call queries Spark; nothing is cached.

    All methods use SQL and DataFrames, so they also work with Spark Connect. There, pass the conditions and values of
    statements as SQL, because Spark Connect cannot convert a column to SQL.

    Args:
        spark: a session with the catalog.
        name: the name in SQL: `catalog.db.table`, or `db.table` in the current catalog, with backticks if needed.

    Raises:
        MissingObjectError: the table does not exist.
    """

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark = spark
        self.name = name
        with typed_errors():
            _ = self.schema

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> Table:
        """Return the table with this name in SQL; the same as `Table(spark, name)`."""
        return cls(spark, name)

    @classmethod
    def for_path(cls, spark: SparkSession, path: str) -> Table:
        """Return the table in a directory. No catalog has to be configured.

        The table is read and written through the current catalog of the session if this is a file-system catalog of
        iceberg-lite, and otherwise through a file-system catalog that is added to the session, with the storage
        settings of the current catalog. A table of a JDBC, REST or Hive catalog can be read by its path, but not
        changed: only its own catalog records the current state of the table. The newest metadata file in the directory
        is read, which may be older or newer than this state.

        Args:
            spark: a session with the connector.
            path: the directory of the table, with a slash: a path or a URI. A relative path is resolved against the
                working directory of Spark.

        Raises:
            ValueError: the path has no slash.
            MissingObjectError: the directory contains no table.
        """
        if "/" not in path:
            raise ValueError(f"{path!r} is a name, not a path; use Table.for_name, or begin a path with ./")
        with typed_errors():
            # If the current catalog does not support paths, the data source adds a catalog for paths to the session.
            _ = spark.read.format("iceberg-lite").load(path).schema
            absolute = _absolute(spark, path)
        return cls(spark, f"{identifier(_catalog_of_paths(spark))}.{identifier(absolute)}")

    @staticmethod
    def exists(spark: SparkSession, name: str) -> bool:
        """Return whether a table with this name in SQL exists."""
        with typed_errors():
            return spark.catalog.tableExists(name)

    @classmethod
    def create(cls, spark: SparkSession, name: str) -> TableBuilder:
        """Begin the creation of a table. The creation fails if the table exists."""
        return TableBuilder(spark, name, "CREATE TABLE", cls)

    @classmethod
    def create_if_not_exists(cls, spark: SparkSession, name: str) -> TableBuilder:
        """Begin the creation of a table. If the table exists, it stays as it is."""
        return TableBuilder(spark, name, "CREATE TABLE IF NOT EXISTS", cls)

    @classmethod
    def replace(cls, spark: SparkSession, name: str) -> TableBuilder:
        """Begin the creation of a table, or its replacement if it exists. The history of the table is kept."""
        return TableBuilder(spark, name, "CREATE OR REPLACE TABLE", cls)

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
        """Return the rows that each commit inserted and deleted.

        They have the additional columns `_change_type`, `_change_ordinal` and `_commit_snapshot_id`.

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
                reader = reader.option(f"{bound_name}-timestamp", str(milliseconds(value)))
            elif value is not None:
                reader = reader.option(f"{bound_name}-snapshot-id", str(value))
        with typed_errors():
            return reader.table(name)

    def delete(self, condition: Sql | None = None, *, options: Mapping[str, object] | None = None) -> RowChanges:
        """Delete the rows that satisfy a condition.

        Args:
            condition: the condition, as a column or as SQL.
            options: options of the statement, such as `statement-retries` or `snapshot-property.job`.

        Raises:
            ValueError: the condition is missing; `delete_all` deletes all rows.
            TypeError: the condition is neither a column nor SQL, or it is a column of Spark Connect.
            pyspark.errors.AnalysisException: the statement is not valid for this table.
        """
        if condition is None:
            raise ValueError("Specify the condition of the rows to delete, or call delete_all() to delete all rows")
        return run(self._spark, self.name, "DELETE FROM", where(condition), options or {})

    def delete_all(self, *, options: Mapping[str, object] | None = None) -> RowChanges:
        """Delete all rows. Earlier snapshots keep the deleted rows.

        Args:
            options: options of the statement, such as `statement-retries` or `snapshot-property.job`.
        """
        return run(self._spark, self.name, "DELETE FROM", "", options or {})

    def update(
        self,
        values: Mapping[str, Sql],
        condition: Sql | None = None,
        *,
        options: Mapping[str, object] | None = None,
    ) -> RowChanges:
        """Update rows.

        Args:
            values: new values, as columns or as SQL, by the names of columns, or of fields of structs (`address.city`).
            condition: the condition of the rows to update, as a column or as SQL; without it, all rows.
            options: options of the statement, such as `statement-retries` or `snapshot-property.job`.

        Raises:
            TypeError: a value is neither a column nor SQL, or it is a column of Spark Connect.
            ValueError: `values` is empty.
            pyspark.errors.AnalysisException: the statement is not valid for this table.
        """
        after = f"SET {assignments(values)} {where(condition)}"
        return run(self._spark, self.name, "UPDATE", after, options or {})

    def optimize(self) -> Optimize:
        """Begin a compaction of small files. `execute` runs the compaction."""
        return Optimize(self._spark, self.name)

    @overload
    def vacuum(self, retain_hours: int | None = None, *, dry_run: Literal[False] = False) -> list[VacuumResult]: ...

    @overload
    def vacuum(self, retain_hours: int | None = None, *, dry_run: Literal[True]) -> list[VacuumCandidate]: ...

    def vacuum(
        self, retain_hours: int | None = None, *, dry_run: bool = False
    ) -> list[VacuumResult] | list[VacuumCandidate]:
        """Expire old snapshots, and then delete the files that no snapshot needs.

        Args:
            retain_hours: the age in hours after which snapshots expire and orphan files are deleted. Orphan files are
                kept for at least 24 hours. By default, the table property `history.expire.max-snapshot-age-ms`
                determines the age of snapshots, and orphan files are kept for 3 days.
            dry_run: whether to return what would be deleted, without deleting anything.

        Returns:
            For each kind of object, the number of deleted objects and, if files were not deleted, the reason; and a
            warning if running queries read snapshots that expire. With `dry_run`, the kind and the name of each object
            that would be deleted.
        """
        rows = vacuum(self._spark, self.name, retain_hours, dry_run=dry_run)
        return [VacuumCandidate(*row) for row in rows] if dry_run else [VacuumResult(*row) for row in rows]

    def set_properties(self, properties: Mapping[str, object]) -> None:
        """Set table properties; `True` and `False` are written as `true` and `false`. An empty mapping does nothing."""
        if not properties:
            return
        pairs = ", ".join(f"{literal(key)} = {literal(setting(value))}" for key, value in properties.items())
        with typed_errors():
            self._spark.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({pairs})")

    def unset_properties(self, *keys: str) -> None:
        """Remove table properties. A property that is not set is ignored. Without keys, nothing is changed.

        Args:
            keys: the names of the properties.
        """
        if not keys:
            return
        with typed_errors():
            self._spark.sql(f"ALTER TABLE {self.name} UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(literal, keys))})")

    def merge(self, source: DataFrame | str, on: Sql | Sequence[str]) -> Merge:
        """Begin a MERGE. `execute` runs the statement.

        Args:
            source: the rows to merge, or the name of a table or view. Conditions and values refer to a row as `source`,
                and to this table as `target`.
            on: the condition for matching rows, as a column or as SQL, or a list of the names of columns that are
                equal in matching rows.

        Raises:
            ValueError: `on` names no column.
        """
        return Merge(self._spark, self.name, source, equal_columns(on))

    def _call(self, procedure: str, arguments: Mapping[str, object]) -> list[Row]:
        return call(self._spark, procedure, self.name, arguments)

    def _facts(self) -> list[tuple[str, str]]:
        table = self.describe_table()
        return [
            ("format version", str(table.format_version)),
            ("location", table.location),
            ("partitioning", ", ".join(map(str, Columns(table.schema).partitioning(table.partition_spec))) or "none"),
            ("current snapshot", str(table.current_snapshot_id or "none")),
        ]

    def _columns(self) -> list[tuple[str, str, str]]:
        """Return the name, the type and the comment of each column. Types that Spark lacks have their names in SQL."""
        with typed_errors():
            described = self._spark.sql(f"DESCRIBE TABLE {self.name}").collect()
        # Further rows describe the partitioning.
        columns = described[: len(self.schema)]
        return [(row["col_name"], row["data_type"], row["comment"] or "") for row in columns]

    def __repr__(self) -> str:
        """Return the table's name, description and columns."""
        lines = [f"Table {self.name}"]
        lines += [f"  {key}: {value}" for key, value in self._facts()]
        lines += [f"  {name}: {kind}" for name, kind, _ in self._columns()]
        return "\n".join(lines)

    def report(self, path: str | os.PathLike[str] = "report.html") -> None:
        """Write an HTML page about the state of the table: snapshots, growth, files, partitions, deletes and health.

        The page needs no other file and no network. It requires the extra `report`.

        Args:
            path: the file to write; an existing file is replaced.
        """
        spark_report.write(self, path)

    def plots(self) -> dict[str, Any]:
        """Return the plots of the report as figures of matplotlib, by their names; requires the extra `report`."""
        return spark_report.plots(self)

    def diff(self, before: int | str, after: int | str) -> SnapshotDiff:
        """Compare two snapshots: the commits between them, and the files that only one of them has.

        Args:
            before: the id of a snapshot, or a branch or tag.
            after: the id of a snapshot, or a branch or tag.

        Raises:
            MetadataError: the table has no such snapshot, branch or tag.
        """
        return compare.diff(SparkSource(self), str(before), str(after))

    def _repr_html_(self) -> str:
        return table_html(self, self._facts(), self._columns())


def _absolute(spark: SparkSession, path: str) -> str:
    """Return an absolute path or URI. Only Spark knows its working directory, because it may run on a server."""
    if path.startswith("/") or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:/", path):
        return path
    log = spark.read.format("iceberg-lite").load(f"{path.rstrip('/')}#metadata_log_entries")
    current: str = log.select("file").tail(1)[0]["file"]
    return current if path.endswith(".metadata.json") else current.rpartition("/metadata/")[0]


def _catalog_of_paths(spark: SparkSession) -> str:
    """Return the name of the catalog through which the data source has just opened a path."""
    current = spark.catalog.currentCatalog()
    prefix = f"spark.sql.catalog.{current}"
    implementation = spark.conf.get(f"{prefix}.catalog-impl", None) or ""
    kind = spark.conf.get(f"{prefix}.type", None) or implementation.rpartition(".")[2]
    is_ours = spark.conf.get(prefix, None) == "iceberglite.spark.SparkCatalog"
    if is_ours and kind.lower() in ("hadoop", "hadoopcatalog"):
        return current
    with_settings = f"iceberg_lite_paths_{current}"
    return with_settings if spark.conf.get(f"spark.sql.catalog.{with_settings}", None) else "iceberg_lite_paths"
