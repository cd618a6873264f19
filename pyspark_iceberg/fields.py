"""Typed parts of a table's metadata, which are read from the JSON form of the Iceberg specification."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyspark_iceberg.metadata.model import Column
from pyspark_iceberg.metadata.names import quoted

# This module does not import PySpark, so that commands start fast.
if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_PARAMETRIZED = re.compile(r"(\w+)\[(\d+)\]")
_NAMES_IN_SQL = {"year": "years", "month": "months", "day": "days", "hour": "hours"}


class TypedTuple(tuple[T, ...], Generic[T]):
    """A tuple of typed objects that can be converted to a DataFrame."""

    _spark: SparkSession
    _ddl: str

    @staticmethod
    def of(spark: SparkSession, ddl: str, values: Iterable[T]) -> TypedTuple[T]:
        """Return a tuple.

        Args:
            spark: the session of the DataFrame.
            ddl: the columns of the DataFrame as SQL, in the order of the fields of the objects.
            values: dataclass objects.
        """
        typed = TypedTuple(values)
        typed._spark, typed._ddl = spark, ddl
        return typed

    def to_df(self) -> DataFrame:
        """Return the objects as a DataFrame, with a column for each field."""
        rows = [
            tuple(_plain(getattr(value, field.name)) for field in fields(value))  # type: ignore[arg-type]
            for value in self
        ]
        return self._spark.createDataFrame(rows, self._ddl)


@dataclass(frozen=True)
class PartitionField:
    """A partition field of a table.

    Attributes:
        position: the position in the partition spec, from 0.
        transform: the column or the transform in SQL, such as `days(time_hour)`.
        name: the name of the field, which is the column of the values in metadata tables.
        field_id: the id of the field.
        columns: the names of the source columns.
    """

    position: int
    transform: str
    name: str
    field_id: int
    columns: tuple[str, ...]

    def __str__(self) -> str:
        """Return the transform in SQL."""
        return self.transform


@dataclass(frozen=True)
class SortField:
    """A field of the sort order of a table.

    Attributes:
        position: the position in the sort order, from 0.
        transform: the column or the transform in SQL, such as `days(time_hour)`.
        descending: whether the values are sorted in descending order.
        nulls_first: whether nulls precede other values.
        columns: the names of the source columns.
    """

    position: int
    transform: str
    descending: bool
    nulls_first: bool
    columns: tuple[str, ...]

    def __str__(self) -> str:
        """Return the field in SQL."""
        direction = "DESC" if self.descending else "ASC"
        return f"{self.transform} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True)
class StatisticsFile:
    """A statistics file of a snapshot.

    Attributes:
        snapshot_id: the id of the snapshot.
        kind: `table` for statistics of columns, `partitions` for statistics of partitions.
        path: the location of the file.
        bytes: the size of the file.
        distinct_values: the approximate numbers of distinct values, by column; empty for statistics of partitions.
    """

    snapshot_id: int
    kind: str
    path: str
    bytes: int
    distinct_values: Mapping[str, int]


class Columns:
    """The names of the columns and of the nested fields of a schema, by their ids."""

    def __init__(self, schema: str) -> None:
        self._schema: dict[str, Any] = json.loads(schema)
        self._paths = dict(_paths(self._schema, ()))

    def top_level(self) -> list[Column]:
        """Return the top-level columns, with the names of their types in the specification."""
        return [Column(f["name"], _type(f["type"]), f["required"], f.get("doc")) for f in self._schema["fields"]]

    @property
    def identifier_fields(self) -> tuple[str, ...]:
        """The names of the columns that identify a row."""
        return tuple(self.name(i) for i in sorted(self._schema.get("identifier-field-ids", [])))

    def name(self, field_id: int) -> str:
        """Return the name of a column; its id as text if the schema does not have the column."""
        return ".".join(self._paths.get(field_id, (str(field_id),)))

    def partitioning(self, spec: str) -> Iterator[PartitionField]:
        """Return the fields of a partition spec, without dropped fields of format version 1."""
        kept = [field for field in json.loads(spec)["fields"] if field["transform"] != "void"]
        for position, field in enumerate(kept):
            names = tuple(map(self.name, _sources(field)))
            yield PartitionField(position, self._sql(field), field["name"], field["field-id"], names)

    def sort_order(self, order: str) -> Iterator[SortField]:
        """Return the fields of a sort order."""
        for position, field in enumerate(json.loads(order)["fields"]):
            descending, nulls_first = field["direction"] == "desc", field["null-order"] == "nulls-first"
            names = tuple(map(self.name, _sources(field)))
            yield SortField(position, self._sql(field), descending, nulls_first, names)

    def statistics(self, table: str, partitions: str) -> Iterator[StatisticsFile]:
        """Return the statistics files of columns, then those of partitions."""
        for file in json.loads(table):
            counts = {
                self.name(blob["fields"][0]): int(blob["properties"]["ndv"])
                for blob in file["blob-metadata"]
                if "ndv" in blob.get("properties", {})
            }
            yield StatisticsFile(
                file["snapshot-id"], "table", file["statistics-path"], file["file-size-in-bytes"], counts
            )
        for file in json.loads(partitions):
            yield StatisticsFile(
                file["snapshot-id"], "partitions", file["statistics-path"], file["file-size-in-bytes"], {}
            )

    def _sql(self, field: Mapping[str, Any]) -> str:
        columns = ", ".join(
            ".".join(map(quoted, self._paths.get(source, (str(source),)))) for source in _sources(field)
        )
        transform = field["transform"]
        if transform == "identity":
            return columns
        parametrized = _PARAMETRIZED.fullmatch(transform)
        if parametrized:
            return f"{parametrized.group(1)}({parametrized.group(2)}, {columns})"
        return f"{_NAMES_IN_SQL.get(transform, transform)}({columns})"


def _sources(field: Mapping[str, Any]) -> list[int]:
    return [field["source-id"]] if "source-id" in field else list(field["source-ids"])


def _type(kind: Any) -> str:
    """Return a type as text, such as `list<long>` or `struct<1: x: optional double (comment)>`."""
    if not isinstance(kind, dict):
        return str(kind)
    if kind["type"] == "list":
        return f"list<{_type(kind['element'])}>"
    if kind["type"] == "map":
        return f"map<{_type(kind['key'])}, {_type(kind['value'])}>"
    return f"struct<{', '.join(map(_nested_field, kind['fields']))}>"


def _nested_field(field: Mapping[str, Any]) -> str:
    text = f"{field['id']}: {field['name']}: {'required' if field['required'] else 'optional'} {_type(field['type'])}"
    return f"{text} ({field['doc']})" if field.get("doc") else text


def _paths(kind: Any, parent: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Return the id and the path of each field within a type."""
    if not isinstance(kind, dict):
        return
    for field in kind.get("fields", []):
        path = (*parent, field["name"])
        yield field["id"], path
        yield from _paths(field["type"], path)
    for part in ("element", "key", "value"):
        if part in kind:
            yield kind[f"{part}-id"], (*parent, part)
            yield from _paths(kind[part], (*parent, part))


def _plain(value: object) -> object:
    """Convert the value of a field to a value of `SparkSession.createDataFrame`."""
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
