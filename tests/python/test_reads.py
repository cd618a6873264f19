"""Scans of a table, audits, statistics, and conversions to pandas and pyarrow."""

from __future__ import annotations

import datetime
import decimal
import sys

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession, functions

from pyspark_iceberg import MissingObjectError, MissingPackageError, Table, arrow


@pytest.fixture
def items(spark: SparkSession, table: str) -> Table:
    """Return a table with two snapshots, a branch with a third row, and a tag of the first snapshot."""
    builder = Table.create(spark, table).column("id", "bigint").column("s", "struct<a: int>")
    created = builder.partitioned_by("id").execute()
    created.append(spark.sql("SELECT 1L AS id, named_struct('a', 10) AS s"))
    created.create_tag("first")
    created.append(spark.sql("SELECT 2L AS id, named_struct('a', 20) AS s"))
    created.create_branch("work").append(spark.sql("SELECT 3L AS id, named_struct('a', 30) AS s"))
    return created


def test_a_scan_selects_a_state_columns_and_rows(items: Table) -> None:
    first = items.snapshots().first()
    assert first is not None
    assert items.scan().count() == 2
    assert items.scan(snapshot=first.snapshot_id).count() == 1
    assert items.scan(branch="work").count() == 3
    assert items.scan(tag="first").count() == 1
    assert items.scan(timestamp=first.committed_at).count() == 1
    selected = items.scan(branch="work", columns=["s.a", functions.col("id")], where="s.a > 10 AND id < 3")
    assert [tuple(row) for row in selected.collect()] == [(20, 2)]
    assert items.scan(where=functions.col("id") == 2, columns=["s"]).columns == ["s"]
    assert items.scan(columns="id").columns == ["id"]


def test_a_scan_of_a_missing_state_or_column_is_reported_at_once(items: Table) -> None:
    with pytest.raises(MissingObjectError, match="nothing"):
        items.scan(branch="nothing")
    with pytest.raises(MissingObjectError):
        items.scan(tag="nothing")
    with pytest.raises(AnalysisException, match="nothing"):
        items.scan(columns=["nothing"])
    with pytest.raises(ValueError, match="branch and tag"):
        items.scan(branch="work", tag="first")


def test_a_failed_audit_names_the_branch_that_keeps_its_commits(items: Table, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ZeroDivisionError), items.audit("nightly") as staged:
        print(len(staged.append([(4, None)]).__dict__) // 0)
    assert "The branch nightly keeps its commits" in caplog.text
    assert (items.scan().count(), items.scan(branch="nightly").count()) == (2, 3)
    caplog.clear()
    with items.audit() as staged:
        staged.append([(5, None)])
    assert caplog.text == ""
    assert items.scan().count() == 3


def test_a_table_is_restored_and_branches_are_fast_forwarded(items: Table) -> None:
    current = items.current_snapshot_id
    assert items.fast_forward("main", "work").previous_ref == current
    assert items.scan().count() == 3
    assert items.restore(ref="first").previous_snapshot_id is not None
    assert items.scan().count() == 1
    assert items.changes(until=items.current_snapshot_id).count() == 1


def test_statistics_are_typed_files(items: Table) -> None:
    assert items.statistics() == ()
    items.compute_table_stats(columns=["id"])
    (file,) = items.statistics()
    assert (file.kind, file.snapshot_id, dict(file.distinct_values)) == ("table", items.current_snapshot_id, {"id": 2})
    assert file.bytes > 0
    items.compute_partition_stats()
    assert [file.kind for file in items.statistics()] == ["table", "partitions"]
    assert [row["kind"] for row in items.statistics().to_df().collect()] == ["table", "partitions"]


@pytest.fixture
def kinds(spark: SparkSession, table: str) -> Table:
    """Return a table with columns of twelve types."""
    columns = {
        "i": "int", "l": "bigint", "f": "float", "d": "double", "b": "boolean", "s": "string", "x": "binary",
        "t": "timestamp", "n": "timestamp_ntz", "y": "date", "e": "decimal(10, 2)", "a": "array<bigint>",
    }  # fmt: skip
    builder = Table.create(spark, table)
    for name, kind in columns.items():
        builder = builder.column(name, kind)
    return builder.execute()


NOON = datetime.datetime(2026, 1, 1, 12)


def arrow_rows() -> pa.Table:
    return pa.table(
        {
            "a": pa.array([[1, 2], None]),
            "i": pa.array([1, None], pa.int64()),
            "l": pa.array([2**53 + 1, None]),
            "f": pa.array([1.5, None]),
            "d": pa.array([2.5, None]),
            "b": pa.array([True, None]),
            "s": pa.array(["x", None]).dictionary_encode(),
            "x": pa.array([b"x", None]),
            "t": pa.array([NOON, None], pa.timestamp("ns")),
            "n": pa.array([NOON, None], pa.timestamp("us")),
            "y": pa.array([NOON.date(), None]),
            "e": pa.array([decimal.Decimal("1.50"), None]),
        }
    )


VALUES = (1, 2**53 + 1, 1.5, 2.5, True, "x", b"x", "2026-01-01 12:00:00", NOON, NOON.date(), decimal.Decimal("1.50"))


def stored(table: Table) -> list[tuple[object, ...]]:
    rows = table.to_df().selectExpr("i", "l", "f", "d", "b", "s", "x", "CAST(t AS STRING)", "n", "y", "e").collect()
    return sorted((tuple(row) for row in rows), key=lambda row: row[0] is None)


def test_arrow_tables_are_appended_without_a_conversion_of_rows(spark: SparkSession, kinds: Table) -> None:
    if not arrow.is_connect(spark):
        columns = kinds.to_df().select(arrow_rows().column_names).schema
        assert arrow.from_arrow(spark, arrow_rows(), columns) is not None
    assert kinds.append(arrow_rows()).inserted == 2
    assert stored(kinds) == [VALUES, (None,) * 11]
    assert kinds.append(arrow_rows().slice(0, 0)).inserted == 0


def test_pandas_frames_are_appended_without_a_conversion_of_rows(spark: SparkSession, table: str) -> None:
    built = Table.create(spark, table).column("i", "int").column("s", "string").column("t", "timestamp")
    kinds = built.column("d", "double").execute()
    frame = pd.DataFrame({"i": [1, None], "s": ["x", None], "t": [NOON, None], "d": [float("nan"), 2.0]})
    if not arrow.is_connect(spark):
        assert arrow.from_arrow(spark, frame, kinds.schema) is not None
    assert kinds.append(frame).inserted == 2
    found = kinds.to_df().selectExpr("i", "s", "CAST(t AS STRING)", "d").collect()
    assert {tuple(row) for row in found} == {(1, "x", "2026-01-01 12:00:00", None), (None, None, None, 2.0)}


@pytest.mark.parametrize(("kind", "wrong"), [("int", 2**40), ("int", 1.5), ("int", "1"), ("date", "2026-01-01")])
def test_values_of_pandas_with_another_type_are_rejected(
    spark: SparkSession, table: str, kind: str, wrong: object
) -> None:
    created = Table.create(spark, table).column("c", kind).execute()
    with pytest.raises(Exception, match=r"(?i)type|bound|accept"):
        created.append(pd.DataFrame({"c": [wrong]}))
    assert created.to_df().count() == 0


def test_rows_are_converted_to_arrow_and_pandas(spark: SparkSession, kinds: Table) -> None:
    assert kinds.to_arrow().num_rows == 0
    assert kinds.to_arrow().column_names == kinds.schema.names
    kinds.append(arrow_rows())
    found = kinds.to_arrow().select(["i", "l", "s", "e", "a"]).sort_by("i").to_pylist()
    assert found[0] == {"i": 1, "l": 2**53 + 1, "s": "x", "e": decimal.Decimal("1.50"), "a": [1, 2]}
    before = spark.conf.get("spark.sql.execution.arrow.pyspark.enabled")
    frame = kinds.to_pandas()
    assert len(frame) == 2
    assert frame["s"].dropna().tolist() == ["x"]
    assert spark.conf.get("spark.sql.execution.arrow.pyspark.enabled") == before


def test_an_error_names_the_package_that_a_conversion_requires(items: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"pyarrow: pip install 'pyspark-iceberg\[arrow\]'") as error:
        items.to_arrow()
    assert isinstance(error.value, ImportError)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="requires pandas"):
        items.to_pandas()
