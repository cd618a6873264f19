"""Values of the rows of statements, for the output of commands."""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from pyspark_iceberg.metadata.spark_source import utc


def shown(value: Any, kind: DataType) -> Any:
    """Return a value for the output: times in UTC with the offset, and structs as dictionaries.

    Args:
        value: the value as PySpark returns it.
        kind: the type of the value in Spark.
    """
    if value is None:
        return None
    if isinstance(kind, TimestampType):
        return utc(value)
    if isinstance(kind, StructType):
        return {field.name: shown(element, field.dataType) for field, element in zip(kind.fields, value)}
    if isinstance(kind, ArrayType):
        return [shown(element, kind.elementType) for element in value]
    if isinstance(kind, MapType):
        is_time = isinstance(kind.keyType, TimestampType)
        return {utc(key) if is_time else key: shown(element, kind.valueType) for key, element in value.items()}
    return value
