"""Joins of tables with the same partitioning, in a session with only the settings of `iceberg_session`."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession


def plan(df: DataFrame) -> str:
    return str(df._jdf.queryExecution().executedPlan().toString())


@pytest.fixture
def bare(spark: SparkSession) -> SparkSession:
    """Return a new session without settings of other tests, and create two tables of 20 and 15 rows in it."""
    session = spark.newSession()
    for name, rows in (("left_side", "range(20)"), ("right_side", "range(10, 25)")):
        session.sql(f"CREATE OR REPLACE TABLE joins.{name} (id BIGINT, v BIGINT) PARTITIONED BY (bucket(4, id))")
        session.sql(f"INSERT INTO joins.{name} SELECT id, id * 2 FROM {rows}")
    return session


def test_tables_with_the_same_buckets_join_without_a_shuffle(bare: SparkSession) -> None:
    query = "SELECT /*+ MERGE(l, r) */ l.id, r.v FROM joins.left_side l JOIN joins.right_side r ON l.id = r.id"
    joined = bare.sql(query)
    assert sorted(joined.collect()) == [(i, i * 2) for i in range(10, 20)]
    assert "Exchange" not in plan(joined)
    assert plan(joined).count("grouped by bucket(4, id)") >= 2


def test_data_frames_join_without_a_shuffle(bare: SparkSession) -> None:
    left, right = bare.table("joins.left_side"), bare.table("joins.right_side")
    joined = left.hint("merge").join(right, "id", "left")
    assert joined.count() == 20
    assert "Exchange" not in plan(joined)


def test_a_user_setting_disables_joins_without_a_shuffle(bare: SparkSession) -> None:
    bare.conf.set("spark.sql.sources.v2.bucketing.enabled", "false")
    joined = bare.table("joins.left_side").hint("merge").join(bare.table("joins.right_side"), "id")
    assert joined.count() == 10
    assert "Exchange" in plan(joined)
