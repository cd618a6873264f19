"""Checks that read rows: record counts and bounds of a sample of data files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DoubleType, FloatType

from pyspark_iceberg.call import identifier, literal
from pyspark_iceberg.doctor.findings import EXAMPLES, Finding, Result, outcome

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row
    from pyspark.sql.types import StructField

    from pyspark_iceberg.table import Table

_NAME = "rows"


def check_rows(table: Table, sample: int) -> Result:
    """Read the rows of some data files, and check the record counts, the counts of nulls, and the bounds."""
    files = table.metadata("data_files").orderBy(F.desc("file_size_in_bytes"), "file_path").limit(sample)
    recorded = {row["file_path"]: row for row in files.collect()}
    if not recorded:
        return outcome(_NAME, "no data file read", [])
    columns = [field for field in table.schema.fields if _has_bounds(recorded, field.name)]
    problems = []
    found = {row["_file"]: row for row in _measured(table, list(recorded), columns).collect()}
    for path, row in recorded.items():
        problems += _problems(path, row, found.get(path), columns)
    findings = []
    if problems:
        message = (
            f"{len(problems)} recorded counts or bounds do not match the rows. Queries may skip files that contain "
            "matching rows"
        )
        repair = (
            f"CALL system.rewrite_data_files(table => {literal(table.name)}, options => map('rewrite-all', 'true')) "
            "writes the rows again with correct counts and bounds"
        )
        findings.append(Finding(_NAME, "error", message, repair, problems[:EXAMPLES]))
    return outcome(_NAME, f"{len(recorded):,} data files read", findings)


def _has_bounds(recorded: dict[str, Row], name: str) -> bool:
    return any(name in row["readable_metrics"].__fields__ for row in recorded.values() if row["readable_metrics"])


def _measured(table: Table, paths: list[str], columns: list[StructField]) -> DataFrame:
    """Count the rows of each file, and compute the bounds of columns. Reading `_deleted` includes deleted rows."""
    rows = table._spark.table(table.name).where(F.col("_file").isin(paths))
    measures = [F.count("*").alias("n"), F.max("_deleted").alias("deleted")]
    for i, field in enumerate(columns):
        value = F.col(identifier(field.name))
        measures.append(F.sum(F.when(value.isNull(), 1).otherwise(0)).alias(f"nulls{i}"))
        measures += [F.min(_ordered(value, field)).alias(f"min{i}"), F.max(_ordered(value, field)).alias(f"max{i}")]
    return rows.groupBy("_file").agg(*measures)


def _ordered(value: Column, field: StructField) -> Column:
    """Return a column without NaN, which bounds do not include."""
    is_float = isinstance(field.dataType, (FloatType, DoubleType))
    return F.when(~F.isnan(value), value) if is_float else value


def _problems(path: str, recorded: Row, found: Row | None, columns: list[StructField]) -> list[str]:
    count = 0 if found is None else found["n"]
    if count != recorded["record_count"]:
        return [f"{path}: {count} rows instead of {recorded['record_count']}"]
    if found is None:
        return []
    problems = []
    for i, field in enumerate(columns):
        metrics = recorded["readable_metrics"][field.name]
        nulls = metrics["null_value_count"]
        if nulls is not None and nulls != found[f"nulls{i}"]:
            problems.append(f"{path}, {field.name}: {found[f'nulls{i}']} nulls instead of {nulls}")
        problems += _outside(path, field.name, metrics, found[f"min{i}"], found[f"max{i}"])
    return problems


def _outside(path: str, column: str, metrics: Row, low: Any, high: Any) -> list[str]:
    lower, upper = metrics["lower_bound"], metrics["upper_bound"]
    # Apache Iceberg orders UUIDs as signed numbers. Readers ignore bounds whose lower bound is above the upper bound.
    if lower is not None and upper is not None and lower > upper:
        return []
    problems = []
    if lower is not None and low is not None and low < lower:
        problems.append(f"{path}, {column}: the value {low!r} is below the lower bound {lower!r}")
    if upper is not None and high is not None and high > upper:
        problems.append(f"{path}, {column}: the value {high!r} is above the upper bound {upper!r}")
    return problems
