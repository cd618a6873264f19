"""Parquet and ORC files of other writers, added to a table unchanged, are read as by Spark or their own libraries."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import Table
from pyiceberg.typedef import Record
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

ROWS = 3000
WRITTEN_BY_DUCKDB = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048"


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, sqlite_uri: str) -> SqlCatalog:
    """Return PyIceberg's catalog on the database of Spark's catalog `shared`; it adds files without rewriting them."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.foreign")
    return SqlCatalog("shared", uri=f"sqlite:///{sqlite_uri}", warehouse=str(Path(sqlite_uri).parent / "tables"))


def values(make: Callable[[random.Random, int], Any]) -> list[Any]:
    """Return a value for each row; about a fifth of the values are null. Every column uses the same random seed."""
    rng = random.Random(7)
    return [None if rng.random() < 0.2 else make(rng, i) for i in range(ROWS)]


def rows(*, nested: bool = True) -> pa.Table:
    """Return columns of the types that all Parquet writers share, with nulls at each level."""
    epoch = datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)
    micros = [datetime.timedelta(microseconds=n) for n in (0, 1, 10**15, 123456789)]
    columns = {
        "i": pa.array(values(lambda r, i: r.randrange(-(2**31), 2**31)), pa.int32()),
        "l": pa.array(values(lambda r, i: i * 2**40 - 2**51), pa.int64()),
        "f": pa.array(values(lambda r, i: r.choice([0.5, -0.0, float("nan"), float("inf"), i])), pa.float32()),
        "d": pa.array(values(lambda r, i: r.random() * 10**i if i < 300 else -r.random()), pa.float64()),
        "b": pa.array(values(lambda r, i: r.random() < 0.5), pa.bool_()),
        "few": pa.array(values(lambda r, i: f"value {i % 7}"), pa.string()),
        "many": pa.array(values(lambda r, i: f"grüße 🧊 {r.random()}" * 3), pa.string()),
        "raw": pa.array(values(lambda r, i: r.randbytes(i % 40)), pa.binary()),
        "day": pa.array(values(lambda r, i: datetime.date(1960, 1, 1) + datetime.timedelta(days=i)), pa.date32()),
        "at": pa.array(values(lambda r, i: epoch + r.choice(micros) + micros[1] * i), pa.timestamp("us", tz="UTC")),
        "here": pa.array(values(lambda r, i: epoch + r.choice(micros)), pa.timestamp("us")),
        "small": pa.array(values(lambda r, i: Decimal(r.randrange(-(10**8), 10**8)).scaleb(-2)), pa.decimal128(9, 2)),
        "big": pa.array(values(lambda r, i: Decimal(r.randrange(10**15)).scaleb(-5)), pa.decimal128(30, 5)),
    }
    if nested:
        point = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.string()))])
        columns["point"] = pa.array(
            values(lambda r, i: {"x": None if i % 3 else i, "tags": None if i % 5 else ["a", None, f"t{i}"][: i % 4]}),
            point,
        )
        columns["points"] = pa.array(
            values(lambda r, i: [None if j % 2 else {"x": j, "tags": ["t"] * j} for j in range(i % 5)]),
            pa.list_(point),
        )
        columns["by_name"] = pa.array(
            values(lambda r, i: [(f"k{j}", None if j % 2 else [j, None]) for j in range(i % 4)]),
            pa.map_(pa.string(), pa.list_(pa.int64())),
        )
    return pa.table(columns)


def as_text(df: DataFrame) -> list[str]:
    """Return the rows as sorted strings, in which NaN, -0.0, null and empty values differ."""
    shown = [f"hex(`{name}`) AS `{name}`" if kind == "binary" else f"`{name}`" for name, kind in df.dtypes]
    return sorted(
        row[0]
        for row in df.selectExpr(*shown).selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))").collect()
    )


def check(spark: SparkSession, theirs: SqlCatalog, name: str, path: Path, same: Path | None = None) -> None:
    """Compare a file in a table with Spark's own reader: all rows, and rows selected by a filter.

    If Spark's reader cannot decode the file, `same` is a file with the same rows that it can decode.
    """
    readable = same or path
    plain = spark.read.parquet(str(readable))
    plain.limit(0).writeTo(f"shared.foreign.{name}").create()
    files = [str(f) for f in sorted(path.glob("*.parquet"))] if path.is_dir() else [str(path)]
    theirs.load_table(f"foreign.{name}").add_files(files)
    spark.sql(f"REFRESH TABLE shared.foreign.{name}")
    ours = spark.table(f"shared.foreign.{name}")
    compare(ours, plain, f"l > (SELECT percentile(l, 0.5) FROM parquet.`{readable}`)")
    spark.sql(f"DROP TABLE shared.foreign.{name}")


def compare(ours: DataFrame, plain: DataFrame, half: str) -> None:
    """Compare all rows, the rows that match a condition, and the other rows."""
    expected = as_text(plain)
    assert len(expected) == ROWS
    assert as_text(ours) == expected
    for condition in (half, f"NOT ({half})"):
        assert as_text(ours.where(condition)) == as_text(plain.where(condition))


@pytest.mark.parametrize("pages", ["1.0", pytest.param("2.0", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", {"use_dictionary": False, "compression": "none"}),
        ("dictionary", {"compression": "snappy", "write_page_index": True, "data_page_size": 2000}),
        pytest.param(
            "dictionary_overflow",
            {"compression": "gzip", "dictionary_pagesize_limit": 3000, "data_page_size": 1000},
            marks=pytest.mark.slow,
        ),
        pytest.param("many_row_groups", {"compression": "zstd", "row_group_size": 400}, marks=pytest.mark.slow),
        pytest.param("lz4", {"compression": "lz4"}, marks=pytest.mark.slow),
        pytest.param("no_statistics", {"compression": "zstd", "write_statistics": False}, marks=pytest.mark.slow),
    ],
)
def test_files_of_pyarrow_are_read(
    spark: SparkSession, theirs: SqlCatalog, tmp_path: Path, name: str, options: dict[str, Any], pages: str
) -> None:
    path = tmp_path / "foreign.parquet"
    pq.write_table(rows(), path, data_page_version=pages, **options)
    check(spark, theirs, f"{name}_{pages[0]}", path)


@pytest.mark.parametrize("pages", ["1.0", pytest.param("2.0", marks=pytest.mark.slow)])
def test_delta_encodings_are_read(spark: SparkSession, theirs: SqlCatalog, tmp_path: Path, pages: str) -> None:
    path = tmp_path / "foreign.parquet"
    binary_packed = dict.fromkeys(["i", "l", "day", "at", "here"], "DELTA_BINARY_PACKED")
    bytes_of = {"few": "DELTA_BYTE_ARRAY", "many": "DELTA_LENGTH_BYTE_ARRAY", "raw": "DELTA_BYTE_ARRAY"}
    encodings = binary_packed | bytes_of
    pq.write_table(rows(nested=False), path, data_page_version=pages, use_dictionary=False, column_encoding=encodings)
    check(spark, theirs, f"deltas_{pages[0]}", path)


@pytest.mark.parametrize("pages", ["1.0", pytest.param("2.0", marks=pytest.mark.slow)])
def test_byte_stream_split_is_read(spark: SparkSession, theirs: SqlCatalog, tmp_path: Path, pages: str) -> None:
    path = tmp_path / "foreign.parquet"
    flat = ["i", "l", "f", "d", "day", "at", "here", "small", "big"]
    nested = ["point.x", "points.list.element.x", "by_name.key_value.value.list.element"]
    split = dict.fromkeys(flat + nested, "BYTE_STREAM_SPLIT")
    pq.write_table(
        rows(), path, data_page_version=pages, use_dictionary=False, column_encoding=split, data_page_size=2000
    )
    check(spark, theirs, f"split_{pages[0]}", path, same=as_pyarrow_reads(path))


def test_fixed_length_deltas_are_read_with_a_page_index(
    spark: SparkSession, theirs: SqlCatalog, tmp_path: Path
) -> None:
    path = tmp_path / "foreign.parquet"
    deltas = {"small": "DELTA_BYTE_ARRAY", "big": "DELTA_BYTE_ARRAY"}
    # With small batches, the pages of the two columns begin at different rows.
    small_pages = {"data_page_size": 1000, "write_batch_size": 10, "write_page_index": True}
    pq.write_table(rows(), path, use_dictionary=False, column_encoding=deltas, **small_pages)
    # Spark's own reader fails if the filter skips rows within a page.
    check(spark, theirs, "fixed_deltas", path, same=as_pyarrow_reads(path))


def as_pyarrow_reads(path: Path) -> Path:
    """Return a file with the rows that pyarrow reads from a file, in encodings that Spark's reader supports."""
    same = path.with_name("same.parquet")
    pq.write_table(pq.read_table(path), same)
    return same


@pytest.mark.parametrize("version", ["V1", pytest.param("V2", marks=pytest.mark.slow)])
def test_files_of_duckdb_are_read(spark: SparkSession, theirs: SqlCatalog, tmp_path: Path, version: str) -> None:
    path = tmp_path / "foreign.parquet"
    arrow = rows()  # noqa: F841 - DuckDB reads the variable that has the name of the table in the query
    duckdb.sql(f"COPY arrow TO '{path}' ({WRITTEN_BY_DUCKDB}, PARQUET_VERSION {version})")
    # DuckDB's version 2 uses BYTE_STREAM_SPLIT for floating-point numbers, which Spark's own reader cannot decode.
    check(spark, theirs, f"duckdb_{version}", path, same=None if version == "V1" else as_duckdb_reads(path))


def as_duckdb_reads(path: Path) -> Path:
    """Return a file with the rows that DuckDB reads from a file, in encodings that Spark's reader supports."""
    same = path.with_name("same.parquet")
    duckdb.sql(f"COPY (SELECT * FROM '{path}') TO '{same}' ({WRITTEN_BY_DUCKDB}, PARQUET_VERSION V1)")
    return same


@pytest.mark.parametrize(
    "settings",
    [
        {},
        pytest.param({"parquet.writer.version": "PARQUET_2_0", "parquet.page.size": "2000"}, marks=pytest.mark.slow),
    ],
)
def test_files_of_spark_are_read(
    spark: SparkSession, theirs: SqlCatalog, tmp_path: Path, settings: dict[str, str]
) -> None:
    pq.write_table(rows(), tmp_path / "source.parquet")
    source = spark.read.parquet(str(tmp_path / "source.parquet"))
    # PyIceberg rejects files with INT96, which is Spark's default.
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    try:
        source.coalesce(1).write.options(**settings).parquet(str(tmp_path / "foreign"))
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    check(spark, theirs, f"spark_{len(settings)}", tmp_path / "foreign")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", {"compression": "uncompressed"}),
        ("dictionary", {"compression": "snappy", "dictionary_key_size_threshold": 0.9, "stripe_size": 4096}),
        pytest.param("many_row_groups", {"compression": "zstd", "row_index_stride": 1000}, marks=pytest.mark.slow),
        pytest.param("zlib", {"compression": "zlib", "file_version": "0.11"}, marks=pytest.mark.slow),
    ],
)
def test_orc_files_of_pyarrow_are_read(
    spark: SparkSession, theirs: SqlCatalog, tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    path, unzoned = tmp_path / "foreign.orc", tmp_path / "unzoned.orc"
    table = rows()
    for name_of_time in ("at", "here"):
        # pyarrow writes negative fractions of seconds before 1970, on which Spark's own reader fails.
        later = pc.add(table[name_of_time], datetime.timedelta(seconds=1))
        table = table.set_column(table.column_names.index(name_of_time), name_of_time, later)
    orc.write_table(table, path, **options)
    # Spark's own reader fails on ORC timestamps with a zone. It reads timestamps without a zone as instants in the
    # session's time zone, which is UTC in this test.
    at = table.column_names.index("at")
    orc.write_table(table.set_column(at, "at", table["at"].cast(pa.timestamp("us"))), unzoned, **options)
    plain = spark.read.orc(str(unzoned)).withColumn("here", col("here").cast("timestamp_ntz"))
    plain.limit(0).writeTo(f"shared.foreign.orc_{name}").create()
    add_orc_file(theirs.load_table(f"foreign.orc_{name}"), path)
    spark.sql(f"REFRESH TABLE shared.foreign.orc_{name}")
    median = plain.selectExpr("percentile(l, 0.5)").collect()[0][0]
    compare(spark.table(f"shared.foreign.orc_{name}"), plain, f"l > {median}")
    spark.sql(f"DROP TABLE shared.foreign.orc_{name}")


def test_times_before_1970_in_orc_files_of_pyarrow_are_read(
    spark: SparkSession, theirs: SqlCatalog, tmp_path: Path
) -> None:
    path = tmp_path / "foreign.orc"
    moments = [datetime.datetime(1960, 1, 1, 0, 0, 0, n) for n in (0, 1, 250000, 999999)]
    moments += [datetime.datetime(1969, 12, 31, 23, 59, s, n) for s in (57, 58, 59) for n in (0, 1, 500000, 999999)]
    orc.write_table(pa.table({"at": pa.array(moments, pa.timestamp("us"))}), path)
    spark.sql("CREATE TABLE shared.foreign.orc_before (at timestamp_ntz)")
    add_orc_file(theirs.load_table("foreign.orc_before"), path, len(moments))
    spark.sql("REFRESH TABLE shared.foreign.orc_before")
    found = spark.table("shared.foreign.orc_before").selectExpr("CAST(at AS string) AS at").collect()
    assert sorted(datetime.datetime.fromisoformat(row["at"]) for row in found) == moments
    spark.sql("DROP TABLE shared.foreign.orc_before")


def add_orc_file(table: Table, path: Path, count: int = ROWS) -> None:
    """Add an ORC file without field ids, and set a name mapping. PyIceberg's own `add_files` accepts only Parquet."""
    added = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=str(path),
        file_format=FileFormat.ORC,
        partition=Record(),
        record_count=count,
        file_size_in_bytes=path.stat().st_size,
        spec_id=0,
    )
    with table.transaction() as transaction:
        transaction.set_properties({"schema.name-mapping.default": table.schema().name_mapping.model_dump_json()})
        with transaction.update_snapshot().fast_append() as append:
            append.append_data_file(added)
