"""Progress bars of Spark jobs and of work on the driver."""

from __future__ import annotations

import io
import re
import sys

import pytest
from pyspark.sql import SparkSession

from pyspark_iceberg import IcebergLiteError, Table, show_progress


def test_a_bar_shows_each_activity_with_tasks_and_bytes(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    for i in range(5):
        spark.range(i * 1000, i * 1000 + 1000, 1, 1).writeTo(table).append()
    output = io.StringIO()
    with show_progress(spark, file=output):
        Table(spark, table).rewrite_data_files()
        spark.sparkContext.setJobDescription("Counting rows")
        assert spark.table(table).where("id % 2 = 0").count() == 2500
    spark.sparkContext.setJobDescription(None)  # type: ignore[arg-type]
    bars = {line.split(":")[0]: line for line in output.getvalue().replace("\n", "\r").split("\r") if "|" in line}
    rewriting = next(bar for description, bar in bars.items() if description.startswith("Rewriting 5 data files ("))
    assert "1/1" in rewriting
    assert "kB read" in rewriting
    assert "kB written" in rewriting
    assert "100%" in bars["Counting rows"]


def test_a_bar_shows_the_work_of_the_driver_without_a_job(spark: SparkSession, table: str) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT) USING iceberg TBLPROPERTIES ('commit.manifest-merge.enabled' = 'false')"
    )
    for i in range(3):
        spark.range(i * 10, i * 10 + 10, 1, 1).writeTo(table).append()
    output = io.StringIO()
    with show_progress(spark, file=output):
        assert Table(spark, table).rewrite_manifests().rewritten_manifests_count == 3
    bars = [line for line in output.getvalue().replace("\n", "\r").split("\r") if "|" in line]
    assert bars[-1].startswith("Rewriting manifests of")
    assert "100%" in bars[-1]
    assert "B read" in bars[-1]


def test_errors_in_the_block_are_raised_and_the_bar_of_a_failed_query_is_shown(spark: SparkSession) -> None:
    output = io.StringIO()
    with pytest.raises(ZeroDivisionError), show_progress(spark, file=output):
        raise ZeroDivisionError
    with pytest.raises(Exception, match="no number"), show_progress(spark, file=output):
        spark.sql("SELECT raise_error('no number') FROM range(0, 1, 1, 2)").collect()
    # Whether the other task finishes before the job is cancelled depends on timing.
    assert re.search(r"[01]/2 \[", output.getvalue())


def test_errors_say_why_there_is_no_bar(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IcebergLiteError, match="Spark Connect"), show_progress(object()):  # type: ignore[arg-type]
        pass
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(IcebergLiteError, match=r"pip install 'pyspark-iceberg\[progress\]'"), show_progress(spark):
        pass
