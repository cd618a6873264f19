"""Tables of pyarrow are transferred in columns only if all values fit. Other tables are converted row by row."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    IntegerType,
    LongType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_iceberg import arrow

REQUIRED = ArrayType(LongType(), containsNull=False)
DECLARED = pa.list_(pa.field("element", pa.int64(), nullable=False))
LISTS = pa.list_(pa.int64())
UTC = pa.timestamp("us", tz="UTC")


@pytest.fixture
def transferred(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that returns a column as it is transferred to Spark; None if it is not transferred."""
    monkeypatch.setattr(arrow, "_create", lambda spark, table, schema: table.column(0))
    session: Any = SimpleNamespace(conf=SimpleNamespace(get=lambda key: "Europe/Berlin"))

    def transferred(column: Any, kind: DataType, nullable: bool = True) -> Any:
        schema = StructType([StructField("c", kind, nullable)])
        return arrow.from_arrow(session, pa.table({"c": column}), schema)

    return transferred


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([[1, None]], LISTS), REQUIRED),
        (pa.array([[1], None, [None]], pa.large_list(pa.int64())), REQUIRED),
        (pa.array([[None]], DECLARED), REQUIRED),
        (pa.array([[[1]], [None]], pa.list_(LISTS)), ArrayType(ArrayType(LongType()), containsNull=False)),
        (pa.array([[[1, None]]], pa.list_(DECLARED)), ArrayType(REQUIRED)),
        (pa.array([0], UTC), TimestampNTZType()),
        (pa.array([0], pa.timestamp("ns", tz="Europe/Berlin")), TimestampNTZType()),
        (pa.array(["1"]), LongType()),
    ],
)
def test_columns_with_another_type_or_forbidden_nulls_are_not_transferred(
    transferred: Any, column: Any, kind: DataType
) -> None:
    assert transferred(column, kind) is None


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        (pa.array([[1, 2], None, []], LISTS), REQUIRED, [[1, 2], None, []]),
        (pa.array([[1]], DECLARED), REQUIRED, [[1]]),
        (pa.array([[1, None]], LISTS), ArrayType(LongType()), [[1, None]]),
        (pa.array([[[1], None]], pa.list_(LISTS)), ArrayType(ArrayType(LongType())), [[[1], None]]),
        (pa.array([1, None], pa.int64()), IntegerType(), [1, None]),
        (pa.nulls(1), REQUIRED, [None]),
    ],
)
def test_valid_columns_are_transferred(transferred: Any, column: Any, kind: DataType, values: list[object]) -> None:
    assert transferred(column, kind).to_pylist() == values


def test_times_without_a_zone_are_in_the_zone_of_the_session_if_the_column_of_the_table_has_a_zone(
    transferred: Any,
) -> None:
    hour = pa.array([3_600_000_000], pa.timestamp("us"))
    assert transferred(hour, TimestampType()).cast(pa.int64()).to_pylist() == [0]
    assert transferred(hour, TimestampNTZType()).cast(pa.int64()).to_pylist() == [3_600_000_000]
    assert transferred(pa.array([0], UTC), TimestampType()).cast(pa.int64()).to_pylist() == [0]


def test_a_column_with_nulls_is_not_transferred_if_the_column_of_the_table_is_required(transferred: Any) -> None:
    column = pa.array([[1], None], LISTS)
    assert transferred(column, REQUIRED, nullable=False) is None
    assert transferred(column.drop_null(), REQUIRED, nullable=False).to_pylist() == [[1]]
