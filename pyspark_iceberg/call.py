"""Calling procedures: values of Python as constants of SQL, so that it works the same through Spark Connect."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Union

from pyspark.sql import Row, SparkSession

Timestamp = Union[str, datetime.datetime]

_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def call(spark: SparkSession, procedure: str, table: str, arguments: Mapping[str, object]) -> list[Row]:
    """Run a procedure of the catalog that a table is in.

    Args:
        spark: a session with the SQL extensions and the catalog.
        procedure: its name, without the catalog.
        table: the table's name as in SQL.
        arguments: values by the procedure's parameter names; None stands for one that is not given.

    Raises:
        pyspark.errors.AnalysisException: what was asked for cannot be.
        TypeError: a value of a type that SQL has no constant of here.
    """
    given = {"table": table, **{name: value for name, value in arguments.items() if value is not None}}
    text = ", ".join(f"{name} => {literal(value)}" for name, value in given.items())
    return spark.sql(f"CALL {identifier(catalog_of(spark, table))}.system.{procedure}({text})").collect()


def catalog_of(spark: SparkSession, table: str) -> str:
    """Return the catalog that a table's name stands in: its first part if that is a catalog, else the current one."""
    parts = name_parts(table)
    first = parts[0]
    named = len(parts) > 1 and (first == "spark_catalog" or spark.conf.get(f"spark.sql.catalog.{first}", None))
    return first if named else spark.catalog.currentCatalog()


def literal(value: object) -> str:
    """Return a value as a constant of SQL."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, int):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, Mapping):
        return f"map({', '.join(literal(part) for pair in value.items() for part in pair)})"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return f"array({', '.join(literal(element) for element in value)})"
    raise TypeError(f"Cannot write {value!r} as a constant of SQL; give a str, int, datetime, list or dict")


def name_parts(name: str) -> list[str]:
    """Cut a name at its dots, but for those inside of backticks."""
    return [quoted.replace("``", "`") or plain for quoted, plain in _PART.findall(name)] or [name]


def identifier(name: str) -> str:
    """Return a part of a name in backticks."""
    return "`" + name.replace("`", "``") + "`"
