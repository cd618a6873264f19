"""Run statements that change rows, and return their row counts."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Union

from pyspark import SparkContext
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Row, SparkSession, functions

from pyspark_iceberg.call import identifier, literal, name_parts, setting
from pyspark_iceberg.errors import typed_errors

# A condition or a value: a column, or SQL.
Sql = Union[Column, str]

_MERGE = "spark.merge-into.num-target-rows-"
_UPDATE = "spark.update.num-"
_DELETE = "spark.delete.num-"
_COPIED_KEYS = (f"{_MERGE}copied", f"{_UPDATE}copied-rows", f"{_DELETE}copied-rows")


@dataclass(frozen=True)
class RowChanges:
    """The numbers of rows that a statement changed.

    All numbers are None if the statement changed the table, but its snapshot could not be read afterwards. Inserted,
    deleted and copied rows are None after `Table.replace_where`, if files were replaced.

    Attributes:
        inserted: rows that were inserted.
        updated: rows that were updated.
        deleted: rows that were deleted; None if the number is unknown. It is unknown after an upsert, which does not
            read the table. It is unknown after an overwrite of files if the number of rows that were deleted from these
            files before cannot be computed without reading delete files: equality deletes, or position delete files for
            several data files, may apply to the overwritten files, or several position delete files apply to one of
            them. It may also be unknown if position deletes or equality deletes apply to the files that the statement
            rewrites, and the statement is a copy-on-write DELETE with a subquery, or a MERGE whose only action on
            matched rows is a DELETE without a condition.
        copied: rows that copy-on-write rewrote unchanged.
        snapshot_id: the snapshot that the statement created; None if it created none, because it changed nothing, or
            if the snapshot could not be read.
    """

    inserted: int | None = 0
    updated: int | None = 0
    deleted: int | None = 0
    copied: int | None = 0
    snapshot_id: int | None = None


# Returns the counts of a statement from the id and the summary of its snapshot.
Counts = Callable[[int, Mapping[str, str]], RowChanges]


def expression(value: Sql, subject: str = "condition") -> str:
    """Return SQL to embed in a statement, with a line break that ends a trailing comment.

    Raises:
        TypeError: the value is neither a column nor a str (the SQL form of another Python value would depend on the
            column), or it is a column of Spark Connect.
        ValueError: the text is empty.
    """
    if isinstance(value, str):
        if not value.strip():
            raise ValueError(f'The {subject} is empty; pass SQL, such as "id = 1"')
        return f"{value}\n"
    java_column = getattr(value, "_jc", None)
    if java_column is not None:
        jvm: Any = SparkContext._active_spark_context._jvm  # type: ignore[union-attr]
        return f"{jvm.iceberglite.spark.sql.ColumnText.of(java_column)}\n"
    if hasattr(value, "alias"):
        raise TypeError(f"Pass the {subject} as SQL in a str: Spark Connect cannot convert a column to SQL")
    actual = type(value).__name__
    raise TypeError(f"Pass SQL as a str for the {subject}, such as \"DATE '2026-01-01'\", or a column, not {actual}")


def where(condition: Sql | None) -> str:
    """Return the clause WHERE of a statement; without a condition, an empty text.

    The condition is in parentheses. Otherwise, Spark would take the word WHERE before a condition of only comments for
    an alias of the table, and change all rows.
    """
    return "" if condition is None else f"WHERE ({expression(condition)})"


def expressions(values: Mapping[str, Sql]) -> dict[str, str]:
    """Return the values, each as SQL to embed in a statement.

    Raises:
        TypeError: a value is neither a column nor a str, or it is a column of Spark Connect.
        ValueError: `values` is empty.
    """
    if not values:
        raise ValueError("Specify a value for at least one column")
    return {column: expression(value, f"value of {column}") for column, value in values.items()}


def assignments(values: Mapping[str, Sql]) -> str:
    """Return `column = expression, ...`; for errors see `expressions`."""
    return ", ".join(f"{column} = {value}" for column, value in expressions(values).items())


def run(spark: SparkSession, table: str, before: str, after: str, options: Mapping[str, object]) -> RowChanges:
    """Run a statement and return its row counts.

    The statement gets a unique id, which is stored in the summary of its snapshot. The counts are read from the summary
    with this id.

    Args:
        spark: a session with the SQL extensions and the catalog.
        table: the table's name as in SQL.
        before: the part of the statement before the table's name.
        after: the part of the statement after its options.
        options: options of the statement.

    Raises:
        pyspark.errors.AnalysisException: the statement is not valid for this table.
        pyspark.errors.ParseException: the text is not valid SQL, or the session lacks the extensions.
    """
    statement = str(uuid.uuid4())
    statement_options = {**options, "snapshot-property.statement-id": statement}
    option_list = ", ".join(f"{literal(key)} = {literal(setting(value))}" for key, value in statement_options.items())
    with typed_errors():
        spark.sql(f"{before} {table} WITH ({option_list}) {after}")
    return read_counts(spark, table, statement, _row_changes)


def read_counts(spark: SparkSession, table: str, statement: str, counts: Counts) -> RowChanges:
    """Return the row counts of a statement that has committed.

    If they cannot be read, for example because the catalog does not respond, this is only a warning. An error would
    suggest that the statement has not changed the table, and a caller might repeat it.

    Args:
        spark: the session.
        table: the table's name as in SQL.
        statement: the id of the statement.
        counts: returns the counts from the id and the summary of the statement's snapshot.
    """
    try:
        snapshot = _snapshot(spark, table, statement)
        return counts(snapshot["snapshot_id"], snapshot["summary"]) if snapshot else RowChanges()
    except Exception as error:
        warnings.warn(
            f"The statement on {table} succeeded, but the numbers of changed rows cannot be read: {error}", stacklevel=4
        )
        return RowChanges(None, None, None, None)


def file_counts(summary: Mapping[str, str]) -> tuple[int, int, int]:
    """Return the numbers of rows in added and in removed data files, and of removed position deletes."""
    added, removed, deletes = ("added-records", "deleted-records", "removed-position-deletes")
    return int(summary.get(added, 0)), int(summary.get(removed, 0)), int(summary.get(deletes, 0))


def removed_rows(spark: SparkSession, table: str, snapshot_id: int, summary: Mapping[str, str]) -> int | None:
    """Return the number of live rows in the data files that a snapshot removed; None if it is unknown.

    The sums in the summary are not sufficient if the table has delete files, because a removed delete file may be for a
    data file that no longer existed. Therefore the delete files are read from the metadata in this case. The number is
    unknown if equality deletes, or position delete files for several data files, may apply to the removed files. It is
    also unknown if several position delete files, which may delete the same row, apply to one removed file.
    """
    _, removed, _ = file_counts(summary)

    def count(kind: str) -> int:
        return sum(int(summary.get(f"{prefix}-{kind}-deletes", 0)) for prefix in ("total", "removed"))

    # A snapshot has no totals if its parent, from another writer, has none.
    has_totals = "total-equality-deletes" in summary and "total-position-deletes" in summary
    if not removed or (has_totals and not count("equality") and not count("position")):
        return removed
    if count("equality"):
        return None
    entries = _metadata_table(spark, table, "entries", snapshot_id).select("status", "snapshot_id", "data_file.*")
    removed_now = f"status = 2 AND snapshot_id = {snapshot_id}"
    data = entries.where(f"content = 0 AND {removed_now}").select("file_path")
    deletes = entries.where(f"content <> 0 AND (status <> 2 OR {removed_now})")
    by_file = deletes.groupBy("referenced_data_file").agg(
        functions.expr("max(IF(file_format = 'PUFFIN', record_count, NULL))").alias("vector"),
        functions.count("*").alias("files"),
        functions.sum("record_count").alias("rows"),
    )
    # If a data file has a deletion vector, its position delete files do not apply.
    deleted = by_file.join(data, by_file.referenced_data_file == data.file_path, "left").selectExpr(
        "bool_or(referenced_data_file IS NULL OR file_path IS NOT NULL AND vector IS NULL AND files > 1) AS is_unknown",
        "sum(IF(file_path IS NULL, 0, coalesce(vector, rows))) AS rows",
    )
    found = deleted.collect()[0]
    return None if found["is_unknown"] else removed - (found["rows"] or 0)


def _metadata_table(spark: SparkSession, table: str, kind: str, snapshot_id: int | None = None) -> DataFrame:
    """Return a metadata table, for example `snapshots`.

    If the name is that of a branch, the branch may have no such metadata table. In this case, the metadata table of the
    table without the branch is returned, which contains the snapshots of all branches.

    Args:
        spark: the session.
        table: the table's name as in SQL.
        kind: the name of the metadata table.
        snapshot_id: the snapshot to read; None for the current one.
    """
    *parts, last = name_parts(table)
    full_name = table if parts else f"{spark.catalog.currentDatabase()}.{table}"
    reader = spark.read if snapshot_id is None else spark.read.option("snapshot-id", str(snapshot_id))
    try:
        found = reader.table(f"{full_name}.{kind}")
        # With Spark Connect, the name is resolved only now.
        _ = found.schema
        return found
    except AnalysisException:
        if not last.startswith("branch_"):
            raise
        return _metadata_table(spark, ".".join(identifier(part) for part in parts), kind, snapshot_id)


def _snapshot(spark: SparkSession, table: str, statement: str) -> Row | None:
    """Return the snapshot that the statement with the given id created; None if it created no snapshot."""
    return _metadata_table(spark, table, "snapshots").where(f"summary['statement-id'] = {literal(statement)}").first()


def _row_changes(snapshot_id: int, summary: Mapping[str, str]) -> RowChanges:
    """Read the counts from the summary of the snapshot.

    If the statement changed whole files only, its summary counts files and their rows. Rows of these files that
    position deletes had deleted before are not counted again.
    """
    added, removed, deleted_before = file_counts(summary)
    is_merge = any(key.startswith(_MERGE) for key in summary)
    by_files = f"{_UPDATE}updated-rows" not in summary and not is_merge
    inserted = added if by_files and not removed else 0
    counted = summary.get(f"{_MERGE}deleted", summary.get(f"{_DELETE}deleted-rows"))
    deleted: int | None = None if is_merge or f"{_DELETE}copied-rows" in summary else 0
    if counted is not None:
        deleted = int(counted)
    elif by_files and deleted is not None:
        deleted = max(0, removed - added - deleted_before)
    return RowChanges(
        inserted=int(summary.get(f"{_MERGE}inserted", inserted)),
        updated=int(summary.get(f"{_MERGE}updated", summary.get(f"{_UPDATE}updated-rows", 0))),
        deleted=deleted,
        copied=sum(int(summary.get(key, 0)) for key in _COPIED_KEYS),
        snapshot_id=snapshot_id,
    )
