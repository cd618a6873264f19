"""Checks that read rows: record counts and bounds of a sample of data files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DataType, DoubleType, FloatType, StructType

from pyspark_iceberg.call import identifier, literal
from pyspark_iceberg.doctor.findings import EXAMPLES, Finding, Result, outcome
from pyspark_iceberg.fields import Columns

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

    from pyspark_iceberg.table import Table

_NAME = "rows"


def check_rows(table: Table, sample: int) -> Result:
    """Read the rows of some data files, and check the record counts, and the counts and bounds of columns."""
    files = table.metadata("data_files").orderBy(F.desc("file_size_in_bytes"), "file_path").limit(sample)
    recorded = {row["file_path"]: row for row in files.collect()}
    if not recorded:
        return outcome(_NAME, "no data file read", [])
    # The bounds of geometries are corners of boxes, and not the lowest and highest values.
    described = Columns(table.describe_table().schema).top_level()
    boxed = {column.name for column in described if "geometry" in column.type or "geography" in column.type}
    columns = [c for c in _columns(table.schema) if c.path[0] not in boxed and _has_metrics(recorded, c.name)]
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


@dataclass(frozen=True)
class _Column:
    """A column, or a field of structs.

    Attributes:
        path: the names from the outermost struct to the field.
        kind: the type.
    """

    path: tuple[str, ...]
    kind: DataType

    @property
    def name(self) -> str:
        """The name in the metadata table."""
        return ".".join(self.path)

    @property
    def value(self) -> Column:
        """The values of Spark."""
        return F.col(".".join(map(identifier, self.path)))

    @property
    def has_nan(self) -> bool:
        """Whether a value can be NaN."""
        return isinstance(self.kind, (FloatType, DoubleType))


def _columns(struct: StructType, parent: tuple[str, ...] = ()) -> Iterator[_Column]:
    """Return the columns and the fields of structs. Lists and maps have no values that Spark could compare."""
    for field in struct.fields:
        path = (*parent, field.name)
        if isinstance(field.dataType, StructType):
            yield from _columns(field.dataType, path)
        else:
            yield _Column(path, field.dataType)


def _has_metrics(recorded: dict[str, Row], name: str) -> bool:
    return any(name in row["readable_metrics"].__fields__ for row in recorded.values() if row["readable_metrics"])


def _measured(table: Table, paths: list[str], columns: list[_Column]) -> DataFrame:
    """Count the rows of each file, and compute the bounds of columns. Reading `_deleted` includes deleted rows."""
    rows = table._spark.table(table.name).where(F.col("_file").isin(paths))
    measures = [F.count("*").alias("n"), F.max("_deleted").alias("deleted")]
    for i, column in enumerate(columns):
        value, is_nan = column.value, F.isnan(column.value) if column.has_nan else F.lit(False)
        # Bounds do not include NaN.
        ordered = F.when(~is_nan, value) if column.has_nan else value
        measures.append(F.count_if(value.isNull()).alias(f"nulls{i}"))
        measures.append(F.count_if(is_nan).alias(f"nans{i}"))
        measures += [F.min(ordered).alias(f"min{i}"), F.max(ordered).alias(f"max{i}")]
    return rows.groupBy("_file").agg(*measures)


def _problems(path: str, recorded: Row, found: Row | None, columns: list[_Column]) -> list[str]:
    count = 0 if found is None else found["n"]
    if count != recorded["record_count"]:
        return [f"{path}: {count} rows instead of {recorded['record_count']}"]
    if found is None:
        return []
    problems = []
    for i, column in enumerate(columns):
        metrics = recorded["readable_metrics"][column.name]
        # Writers disagree whether the counts of a field include the rows in which its struct is null.
        if len(column.path) == 1:
            counts = [("value", count, "values"), ("null_value", found[f"nulls{i}"], "nulls")]
            counts += [("nan_value", found[f"nans{i}"], "NaN values")] if column.has_nan else []
            for key, actual, noun in counts:
                expected = metrics[f"{key}_count"]
                if expected is not None and expected != actual:
                    problems.append(f"{path}, {column.name}: {actual} {noun} instead of {expected}")
        problems += _outside(path, column.name, metrics, found[f"min{i}"], found[f"max{i}"])
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
