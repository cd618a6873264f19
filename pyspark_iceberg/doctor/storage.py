"""Checks the existence and sizes of the files of all snapshots, and the totals of the current snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from pyspark_iceberg.call import literal
from pyspark_iceberg.doctor.findings import EXAMPLES, Finding, Result, outcome

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyspark_iceberg.table import Table

_FILES = "files"
_RESTORE = (
    "Restore these files from a backup. Otherwise roll back to a snapshot that does not need them: "
    "CALL system.rollback_to_snapshot({table}, <snapshot id>)"
)
_TOTALS = (
    "Nothing has to be repaired: queries do not use these totals as counts. They are computed anew only if the table "
    "is replaced (CREATE OR REPLACE TABLE). Do not replace it for this reason: its streams would fail, and its columns "
    "would get the types of Spark"
)


def check_files(table: Table) -> Result:
    """Check that each file of each snapshot exists, and has its size if the metadata records one.

    The directory of the table is listed once. Files that are not in this list, such as imported files, are looked up
    one by one. If a manifest list or a manifest does not exist or is truncated, the data files are not checked.
    """
    listed = _listed(table).cache()
    total, checked = 0, "files of all snapshots"
    absent: list[str] = []
    wrong: list[tuple[str, int, int]] = []
    try:
        for recorded in _recorded(table):
            if absent or wrong:
                checked = "metadata files; the data files cannot be checked before the metadata is repaired"
                break
            number, missing, changed = _compare(table, _once(recorded()), listed)
            total, absent, wrong = total + number, absent + missing, wrong + changed
    finally:
        listed.unpersist()
    return outcome(_FILES, f"{total:,} {checked}", _findings(table, absent, wrong))


def _compare(table: Table, recorded: DataFrame, listed: DataFrame) -> tuple[int, list[str], list[tuple[str, int, int]]]:
    """Return the number of recorded files, those that do not exist, and those of another size with both sizes."""
    compared = recorded.withColumn("key", _key(F.col("path"))).join(listed, "key", "left")
    differs = F.col("actual").isNull() | (F.col("actual") != F.col("bytes"))
    # One query: the compilation of a second one would take longer than reading the metadata of most tables.
    differing = F.collect_list(F.when(differs, F.struct("path", "bytes", "actual")))
    (row,) = compared.agg(F.count("*").alias("total"), differing.alias("differing")).collect()
    absent, wrong = [], []
    for path, size, listed_size in row["differing"]:
        actual = _size(table, path) if listed_size is None else listed_size
        if actual is None:
            absent.append(path)
        elif size is not None and actual != size:
            wrong.append((path, size, actual))
    return row["total"], absent, wrong


def check_totals(table: Table) -> Result:
    """Check the totals of files, records and deletes in the summary of the current snapshot."""
    name = "totals"
    current = table.current_snapshot_id
    if current is None:
        return outcome(name, "the table has no snapshot", [])
    summary = next((s.summary for s in table.snapshots() if s.snapshot_id == current), {})
    differences = [
        f"{key}: {summary[key]} in the summary, {value} in the files"
        for key, value in _totals(table).items()
        if key in summary and summary[key] != str(value)
    ]
    message = (
        f"The summary of snapshot {current} differs from its files. Queries return correct rows, but these totals are "
        "used to estimate sizes for joins and to count deleted rows, and other programs may show them. New snapshots "
        "have the same differences"
    )
    findings = [Finding(name, "warning", message, _TOTALS, differences[:EXAMPLES])] if differences else []
    return outcome(name, "summary of the current snapshot", findings)


def _totals(table: Table) -> dict[str, int]:
    """Compute the totals of the current snapshot from its live files, by their keys in the summary."""
    content = F.col("content")

    def files(condition: Column) -> Column:
        return F.count(F.when(condition, 1))

    def records(condition: Column) -> Column:
        return F.coalesce(F.sum(F.when(condition, F.col("record_count"))), F.lit(0))

    measures = {
        "total-data-files": files(content == 0),
        "total-records": records(content == 0),
        "total-delete-files": files(content > 0),
        "total-position-deletes": records(content == 1),
        "total-equality-deletes": records(content == 2),
    }
    (row,) = table.metadata("files").agg(*(measure.alias(key) for key, measure in measures.items())).collect()
    return {key: int(value) for key, value in row.asDict().items()}


def _findings(table: Table, absent: list[str], wrong: list[tuple[str, int, int]]) -> list[Finding]:
    findings = []
    restore = _RESTORE.format(table=literal(table.name))
    if absent:
        message = f"{len(absent)} files do not exist. Queries that need one of them fail"
        findings.append(Finding(_FILES, "error", message, restore, sorted(absent)[:EXAMPLES]))
    if wrong:
        message = f"{len(wrong)} files have another size than recorded. They were replaced or are truncated"
        examples = [f"{path}: {actual} bytes instead of {size}" for path, size, actual in sorted(wrong)[:EXAMPLES]]
        findings.append(Finding(_FILES, "error", message, restore, examples))
    return findings


def _recorded(table: Table) -> list[Callable[[], DataFrame]]:
    """Return functions that return the paths and sizes of manifest lists, manifests, and data and delete files.

    Each function needs the files of the previous one. In format version 4, the manifest lists are also manifests.
    """

    def lists() -> DataFrame:
        return table.metadata("snapshots").selectExpr("manifest_list AS path", "CAST(NULL AS bigint) AS bytes")

    def manifests() -> DataFrame:
        return table.metadata("all_manifests").selectExpr("path", "length AS bytes").join(lists(), "path", "left_anti")

    def files() -> DataFrame:
        return table.metadata("all_files").selectExpr("file_path AS path", "file_size_in_bytes AS bytes")

    return [lists, manifests, files]


def _once(files: DataFrame) -> DataFrame:
    """Return each path once. Snapshots share files."""
    return files.where("path IS NOT NULL").groupBy("path").agg(F.max("bytes").alias("bytes"))


def _listed(table: Table) -> DataFrame:
    """Return the key and the size of each file in the table's directory. Contents are not read."""
    from pyspark.sql import DataFrame

    listed = DataFrame(java_table(table).storedFiles(), table._spark)
    return listed.select(_key(F.col("path")).alias("key"), F.col("length").alias("actual"))


def _key(path: Column) -> Column:
    """Remove the differences between `file:/a`, `file:///a` and `/a`, and between the schemes of S3."""
    return F.regexp_replace(F.regexp_replace(path, "^file:/+", "/"), "^s3[an]?://", "s3://")


def _size(table: Table, path: str) -> int | None:
    """Return the size of a file; None if it does not exist."""
    length = java_table(table).storedLength(path)
    return int(length.get()) if length.isDefined() else None


def java_table(table: Table) -> Any:
    """Return the table as an object of the connector, which has the storage settings of the catalog.

    The session must have a JVM.
    """
    spark: Any = table._spark
    return spark._jvm.iceberglite.spark.IcebergTable.forName(spark._jsparkSession, table.name)
