"""Transfer rows between Spark and pandas or pyarrow in Arrow's columnar format, without a Python object for each value.

This module uses internal functions of PySpark 3.5, which has no public functions for this purpose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, StructType

from pyspark_iceberg.errors import MissingPackageError

if TYPE_CHECKING:
    import pandas
    import pyarrow

_ARROW_ENABLED = "spark.sql.execution.arrow.pyspark.enabled"


def require(package: str) -> None:
    """Check that an optional package is installed.

    Raises:
        MissingPackageError: it is not installed; the message says how to install it.
    """
    try:
        __import__(package)
    except ImportError as error:
        raise MissingPackageError(
            f"This conversion requires {package}: pip install 'pyspark-iceberg[arrow]'", name=package
        ) from error


def to_arrow(df: DataFrame) -> pyarrow.Table:
    """Return the rows of a DataFrame as a table of pyarrow; for errors see `require`."""
    require("pyarrow")
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema

    if is_connect(df):
        return df._session.client.to_table(df._plan.to_proto(df._session.client))[0]  # type: ignore[operator]
    batches = df._collect_as_arrow()
    return pyarrow.Table.from_batches(batches) if batches else to_arrow_schema(df.schema).empty_table()


def to_pandas(df: DataFrame) -> pandas.DataFrame:
    """Return the rows of a DataFrame as a DataFrame of pandas; for errors see `require`."""
    require("pandas")
    if is_connect(df) or find_spec("pyarrow") is None:
        return df.toPandas()
    with _arrow_enabled(df.sparkSession):
        return df.toPandas()


@contextmanager
def _arrow_enabled(spark: SparkSession) -> Iterator[None]:
    previous = spark.conf.get(_ARROW_ENABLED, None)
    spark.conf.set(_ARROW_ENABLED, "true")
    try:
        yield
    finally:
        if previous is None:
            spark.conf.unset(_ARROW_ENABLED)
        else:
            spark.conf.set(_ARROW_ENABLED, previous)


def is_connect(value: object) -> bool:
    """Return whether a session or a DataFrame uses Spark Connect."""
    return type(value).__module__.startswith("pyspark.sql.connect")


def from_arrow(spark: SparkSession, rows: Any, schema: StructType) -> DataFrame | None:
    """Return rows as a DataFrame of Spark.

    Args:
        spark: the session.
        rows: a DataFrame of pandas or a table of pyarrow. A missing value of pandas (NaN, NaT, None) is null. A
            timestamp without a time zone is in the session's time zone if the column has a time zone.
        schema: the columns of the rows, in their order.

    Returns:
        The DataFrame. None if pyarrow is not installed, if the session uses Spark Connect, or if a column does not have
        the type of the table's column, or has nulls although the table's column, or the element of its list, is
        required.
    """
    if is_connect(spark) or find_spec("pyarrow") is None:
        return None
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_type

    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    try:
        table = rows if isinstance(rows, pyarrow.Table) else pyarrow.Table.from_pandas(rows, preserve_index=False)
        columns = [
            _column(column, to_arrow_type(field.dataType), zone) for column, field in zip(table.columns, schema.fields)
        ]
    except (pyarrow.ArrowException, TypeError):
        return None
    if any(c is None or _lacks(c, f.dataType, f.nullable) for c, f in zip(columns, schema.fields)):
        return None
    return _create(spark, pyarrow.Table.from_arrays(columns, names=schema.names), schema)


def _lacks(values: Any, kind: DataType, nullable: bool) -> bool:
    """Return whether there is a null where a value or an element of a list is required.

    The types of pyarrow are not sufficient: most of them allow nulls, and pyarrow does not check the others.
    """
    import pyarrow.compute

    if values.null_count and not nullable:
        return True
    return isinstance(kind, ArrayType) and _lacks(
        pyarrow.compute.list_flatten(values), kind.elementType, kind.containsNull
    )


def _column(column: Any, target: Any, zone: str) -> Any:
    """Return a column converted to the type of Spark's Arrow vectors; None if its own type is of another kind."""
    import pyarrow.compute
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not _corresponds(column.type, target):
        return None
    if types.is_timestamp(column.type):
        if column.type.tz is not None and target.tz is None:
            return None
        if column.type.tz is None and target.tz is not None:
            column = pyarrow.compute.assume_timezone(column, zone)
        # Spark's timestamps have microseconds; smaller parts are dropped.
        return column.cast(target, safe=False)
    return column.cast(target)


def _corresponds(source: Any, target: Any) -> bool:
    """Return whether two types have values of the same kind. A value may still be out of the range of the target."""
    from pyarrow import types

    if types.is_null(source) or source.equals(target):
        return True
    if types.is_list(target):
        is_list = types.is_list(source) or types.is_large_list(source)
        return is_list and bool(source.value_type.equals(target.value_type))
    sources: tuple[tuple[Callable[[Any], bool], tuple[Callable[[Any], bool], ...]], ...] = (
        (types.is_integer, (types.is_integer, types.is_floating)),
        (types.is_floating, (types.is_floating,)),
        (types.is_decimal, (types.is_decimal,)),
        (types.is_timestamp, (types.is_timestamp,)),
        (types.is_date, (types.is_date,)),
        (types.is_string, (types.is_string, types.is_large_string)),
        (types.is_binary, (types.is_binary, types.is_large_binary)),
    )
    return any(is_target(target) and any(is_source(source) for is_source in kinds) for is_target, kinds in sources)


def _create(spark: SparkSession, table: pyarrow.Table, schema: StructType) -> DataFrame:
    """Create a DataFrame with about as many partitions as Spark uses for other local data."""
    from pyspark.sql.pandas.serializers import ArrowStreamSerializer

    context = spark.sparkContext
    jvm: Any = spark._jvm
    rows_per_batch = max(1, math.ceil(table.num_rows / context.defaultParallelism))
    batches = table.combine_chunks().to_batches(max_chunksize=rows_per_batch)
    if not batches:
        return spark.createDataFrame([], schema)
    stream = context._serialize_to_jvm(
        iter(batches), ArrowStreamSerializer(), jvm.PythonSQLUtils.readArrowStreamFromFile, jvm.ArrowIteratorServer
    )
    return DataFrame(jvm.PythonSQLUtils.toDataFrame(stream, schema.json(), spark._jsparkSession), spark)
