"""Convert rows of pandas and pyarrow to rows of Spark, without a loss of nulls or of the precision of integers."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    DataType,
    IntegralType,
    MapType,
    StructType,
    TimestampType,
    _make_type_verifier,
)

from pyspark_iceberg.arrow import from_arrow, is_connect


def to_df(spark: SparkSession, rows: Any, schema: StructType) -> DataFrame:
    """Return rows as a DataFrame of Spark.

    Args:
        spark: the session.
        rows: a DataFrame of pandas or a table of pyarrow, whose columns are matched by name, or a list of rows with all
            columns in order. A missing value of pandas (NaN, NaT, None) is null. A timestamp without a time zone is in
            the session's time zone if the column has a time zone.
        schema: the columns of the table.

    Raises:
        ValueError: a column of the rows is not a column of the table.
        pyspark.errors.PySparkTypeError: a value does not have the type of its column.
    """
    is_arrow, is_pandas = hasattr(rows, "to_pylist"), hasattr(rows, "itertuples")
    if not is_arrow and not is_pandas:
        return _create(spark, rows, schema)
    names = [str(name) for name in (rows.column_names if is_arrow else rows.columns)]
    columns = _fields(names, schema)
    df = from_arrow(spark, rows, columns)
    if df is not None:
        return df
    # The conversion by rows accepts more types, and reports the first value that does not have the type of its column.
    if is_arrow:
        values = [tuple(row.values()) for row in rows.to_pylist()]
    else:
        present = rows.astype(object).where(rows.notna(), None)
        values = list(present.itertuples(index=False, name=None))
    return _create(spark, _converted(spark, values, columns), columns)


def _create(spark: SparkSession, rows: Any, schema: StructType) -> DataFrame:
    if is_connect(spark):
        # Spark Connect does not check the types: it would store 1.5 in a column of integers as 1.
        verify = _make_type_verifier(schema)
        for row in rows:
            verify(row)
    return spark.createDataFrame(rows, schema)


def _fields(names: Sequence[str], schema: StructType) -> StructType:
    known = {field.name: field for field in schema.fields}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"The table has no column {', '.join(unknown)}; pass a DataFrame of Spark to add columns")
    return StructType([known[name] for name in names])


def _converted(spark: SparkSession, rows: Sequence[Sequence[Any]], schema: StructType) -> list[tuple[Any, ...]]:
    zone = ZoneInfo(spark.conf.get("spark.sql.session.timeZone") or "UTC")
    kinds = [field.dataType for field in schema.fields]
    return [tuple(_value(value, kind, zone) for value, kind in zip(row, kinds)) for row in rows]


def _value(value: Any, kind: DataType, zone: ZoneInfo) -> Any:
    """Convert a value to a value of PySpark.

    Pandas represents integers as floats if there are nulls, and has its own type of timestamps. pyarrow represents a
    map as a list of pairs.
    """
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if isinstance(value, float) and isinstance(kind, IntegralType) and value.is_integer():
        return int(value)
    if isinstance(value, list) and isinstance(kind, MapType):
        return dict(value)
    if isinstance(value, datetime.datetime) and isinstance(kind, TimestampType) and value.tzinfo is None:
        return value.replace(tzinfo=zone)
    return value
