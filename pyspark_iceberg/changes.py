"""Statements that change rows, and what they have done."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

from pyspark_iceberg.call import identifier, literal, name_parts

_MERGE = "spark.merge-into.num-target-rows-"
_UPDATE = "spark.update.num-"
_DELETE = "spark.delete.num-"
_OF_FILES = ("added-records", "deleted-records", "removed-position-deletes")
_COPIED = (f"{_MERGE}copied", f"{_UPDATE}copied-rows", f"{_DELETE}copied-rows")


@dataclass(frozen=True)
class RowChanges:
    """What a statement has done to the rows of its table.

    Attributes:
        inserted: rows that are new.
        updated: rows that have new values.
        deleted: rows that are gone; None where nobody counted them: a copy-on-write DELETE with a subquery, or a MERGE
            whose only action on matched rows is a DELETE without a condition, from files with position deletes or
            equality deletes.
        copied: rows that copy-on-write wrote again as they were.
        snapshot_id: the statement's snapshot; None where there was nothing to change.
    """

    inserted: int = 0
    updated: int = 0
    deleted: int | None = 0
    copied: int = 0
    snapshot_id: int | None = None


def expression(text: str, what: str = "condition") -> str:
    """Return SQL for a place within a statement: a comment at its end ends there too.

    Raises:
        TypeError: it is no text, and what Python's value is in SQL depends on the column.
    """
    if not isinstance(text, str):
        raise TypeError(f"Give SQL as text for the {what}, such as \"DATE '2026-01-01'\", and no {type(text).__name__}")
    return f"{text}\n"


def expressions(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values, each as SQL for a place within a statement.

    Raises:
        TypeError: a value is no text.
        ValueError: there are none.
    """
    if not values:
        raise ValueError("Give a value for at least one column")
    return {column: expression(value, f"value of {column}") for column, value in values.items()}


def assignments(values: Mapping[str, str]) -> str:
    """Return `column = expression, ...`; for errors see `expressions`."""
    return ", ".join(f"{column} = {value}" for column, value in expressions(values).items())


def run(spark: SparkSession, table: str, before: str, after: str, options: Mapping[str, str]) -> RowChanges:
    """Run a statement and tell what it has done, by the summary of the snapshot that carries its id.

    Args:
        spark: a session with the SQL extensions and the catalog.
        table: the table's name as in SQL.
        before: the statement up to the table's name.
        after: what follows the options.
        options: of the statement.

    Raises:
        pyspark.errors.AnalysisException: what was asked for cannot be.
        pyspark.errors.ParseException: text that is not SQL, or a session without the extensions.
    """
    statement = str(uuid.uuid4())
    given = {**options, "snapshot-property.statement-id": statement}
    listed = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in given.items())
    spark.sql(f"{before} {table} WITH ({listed}) {after}")
    found = _snapshot(spark, table, statement)
    return _counted(found["snapshot_id"], found["summary"]) if found else RowChanges()


def _snapshot(spark: SparkSession, table: str, statement: str) -> Row | None:
    """Find the snapshot of a statement; a branch's snapshots stand with those of its table."""
    *parts, last = name_parts(table)
    full = table if parts else f"{spark.catalog.currentDatabase()}.{table}"
    try:
        snapshots = spark.table(f"{full}.snapshots")
        return snapshots.where(f"summary['statement-id'] = {literal(statement)}").first()
    except AnalysisException:
        if not last.startswith("branch_"):
            raise
        return _snapshot(spark, ".".join(identifier(part) for part in parts), statement)


def _counted(snapshot_id: int, summary: Mapping[str, str]) -> RowChanges:
    """Read the counts; where whole files went or came, they are the rows of files but for those deleted before."""
    added, removed, gone = (int(summary.get(key, 0)) for key in _OF_FILES)
    merged = any(key.startswith(_MERGE) for key in summary)
    by_files = f"{_UPDATE}updated-rows" not in summary and not merged
    inserted = added if by_files and not removed else 0
    counted = summary.get(f"{_MERGE}deleted", summary.get(f"{_DELETE}deleted-rows"))
    deleted: int | None = None if merged or f"{_DELETE}copied-rows" in summary else 0
    if counted is not None:
        deleted = int(counted)
    elif by_files and deleted is not None:
        deleted = max(0, removed - added - gone)
    return RowChanges(
        inserted=int(summary.get(f"{_MERGE}inserted", inserted)),
        updated=int(summary.get(f"{_MERGE}updated", summary.get(f"{_UPDATE}updated-rows", 0))),
        deleted=deleted,
        copied=sum(int(summary.get(key, 0)) for key in _COPIED),
        snapshot_id=snapshot_id,
    )
