"""Call procedures. Python values become SQL constants, so that calls also work with Spark Connect."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Union

from pyspark.sql import DataFrame, Row, SparkSession

from pyspark_iceberg.errors import typed_errors
from pyspark_iceberg.metadata.names import identifier as identifier
from pyspark_iceberg.metadata.names import name_parts as name_parts

Timestamp = Union[str, datetime.datetime]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def call(spark: SparkSession, procedure: str, table: str, arguments: Mapping[str, object]) -> list[Row]:
    """Run a procedure of the catalog that contains a table.

    Args:
        spark: a session with the SQL extensions and the catalog.
        procedure: the name of the procedure, without the catalog.
        table: the table's name as in SQL.
        arguments: values by parameter name; None means that the argument is omitted.

    Raises:
        pyspark.errors.AnalysisException: the procedure or an argument is not valid.
        TypeError: a value has a type that cannot be written as an SQL constant.
    """
    set_arguments = {"table": table, **{name: value for name, value in arguments.items() if value is not None}}
    text = ", ".join(f"{name} => {literal(value)}" for name, value in set_arguments.items())
    with typed_errors():
        return spark.sql(f"CALL {identifier(catalog_of(spark, table))}.system.{procedure}({text})").collect()


def catalog_of(spark: SparkSession, table: str) -> str:
    """Return the catalog of the table name: its first part if that is a catalog, else the current catalog."""
    parts = name_parts(table)
    first = parts[0]
    has_catalog = len(parts) > 1 and (first == "spark_catalog" or spark.conf.get(f"spark.sql.catalog.{first}", None))
    return first if has_catalog else spark.catalog.currentCatalog()


def milliseconds(time: datetime.datetime) -> int:
    """Return the milliseconds since 1970. A time without a time zone is in the local time zone."""
    return (time.astimezone() - _EPOCH) // datetime.timedelta(milliseconds=1)


def literal(value: object) -> str:
    """Return the value as an SQL constant."""
    if isinstance(value, str):
        # Spark replaces `${name}` in the text of a statement by the value of a setting, also within constants.
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\u0024{")
        return f"'{escaped}'"
    if isinstance(value, int):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, Mapping):
        return f"map({', '.join(literal(part) for pair in value.items() for part in pair)})"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return f"array({', '.join(literal(element) for element in value)})"
    raise TypeError(f"Cannot write {value!r} as an SQL constant; use a str, int, datetime, list or dict")


def setting(value: object) -> str:
    """Return the value of an option or a table property as text.

    Raises:
        TypeError: the value is None.
    """
    if value is None:
        raise TypeError("An option or a table property must not be None; leave it out, or use unset_properties")
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def temporary_view(rows: DataFrame) -> Iterator[str]:
    """Register rows as a temporary view of the DataFrame's session, yield its name, and drop it at the end."""
    spark = rows.sparkSession
    view = f"rows_{uuid.uuid4().hex}"
    rows.createOrReplaceTempView(view)
    try:
        yield view
    finally:
        spark.catalog.dropTempView(view)


def column_name(name: str) -> str:
    """Return the name of a column or of a field of a struct, with each part quoted with backticks."""
    return ".".join(identifier(part) for part in name_parts(name))
