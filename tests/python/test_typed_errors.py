"""The class and the fields of an error, in the session of the tests, and again on Spark Connect.

Spark Connect 3.5 sends only the message of an error, so `parameters` is empty there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pyspark_iceberg import (
    CommitConflictError,
    ExistingObjectError,
    FailedJobError,
    MissingObjectError,
    RejectedValueError,
    Table,
    TableError,
    UnsupportedOperationError,
    ValidationError,
    arrow,
    typed_errors,
)


def check(
    spark: SparkSession,
    action: Callable[[], object],
    kind: type[TableError],
    condition: str,
    state: str,
    parameter: str,
    value: str,
) -> None:
    """Check the error of an action. The parameter has the value, which the message also contains."""
    with pytest.raises(TableError) as raised, typed_errors():
        action()
    error = raised.value
    assert type(error) is kind
    assert (error.condition, error.sql_state) == (condition, state)
    assert (error.getErrorClass(), error.getSqlState()) == (condition, state)
    message = str(error)
    assert message.startswith(f"[{condition}] ")
    assert value in message.splitlines()[0]
    assert "\tat" not in message
    assert "stacktrace" not in message
    assert isinstance(error.__cause__, PySparkException) or not arrow.is_connect(spark)
    if arrow.is_connect(spark):
        assert error.parameters == {}
    else:
        assert value in error.parameters[parameter]


def partition_by_id(metadata: Path) -> None:
    """Write the next metadata file of an unpartitioned table, as an engine on another machine does."""
    table = json.loads((metadata / "v1.metadata.json").read_text())
    table["partition-specs"].append(
        {"spec-id": 1, "fields": [{"name": "id", "transform": "identity", "source-id": 1, "field-id": 1000}]}
    )
    table |= {"default-spec-id": 1, "last-partition-id": 1000}
    (metadata / "v2.metadata.json").write_text(json.dumps(table))


def test_a_conflict(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT, ts TIMESTAMP) USING iceberg")
    spark.sql(f"SELECT * FROM {table}").collect()
    partition_by_id(Path(urlparse(Table(spark, table).location).path) / "metadata")
    check(
        spark,
        lambda: spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD days(ts)"),
        CommitConflictError,
        "ICEBERG_LITE.COMMIT_CONFLICT",
        "40001",
        "table",
        table,
    )


def test_a_missing_table(spark: SparkSession, table: str) -> None:
    for action in (lambda: Table(spark, table), lambda: spark.sql(f"SELECT * FROM {table}").collect()):
        check(
            spark,
            action,
            MissingObjectError,
            "TABLE_OR_VIEW_NOT_FOUND",
            "42P01",
            "relationName",
            table.split(".")[1],
        )


def test_a_missing_snapshot(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    check(
        spark,
        lambda: Table(spark, table).rollback_to_snapshot(17),
        MissingObjectError,
        "ICEBERG_LITE.SNAPSHOT_NOT_FOUND",
        "42704",
        "name",
        "17",
    )


def test_a_branch_that_exists(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id FROM range(1)")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH audit")
    check(
        spark,
        lambda: spark.sql(f"ALTER TABLE {table} CREATE BRANCH audit"),
        ExistingObjectError,
        "ICEBERG_LITE.BRANCH_ALREADY_EXISTS",
        "42710",
        "name",
        "audit",
    )


def test_a_validation_failure(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id FROM range(1)")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH audit")
    spark.sql(f"INSERT INTO {table} VALUES (2)")
    spark.sql(f"INSERT INTO {table}.branch_audit VALUES (3)")
    check(
        spark,
        lambda: Table(spark, table).fast_forward("main", "audit"),
        ValidationError,
        "ICEBERG_LITE.VALIDATION_FAILED",
        "55000",
        "reason",
        "audit",
    )


def test_a_rejected_value_of_a_row(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT NOT NULL, n INT) USING iceberg")
    source = spark.sql("SELECT if(id = 7, NULL, id) AS id, CAST(0 AS INT) AS n FROM range(10)")
    check(
        spark,
        lambda: Table(spark, table).append(source),
        RejectedValueError,
        "ICEBERG_LITE.NOT_NULL_VIOLATION",
        "23502",
        "column",
        "id",
    )


def test_a_rejected_argument(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    check(
        spark,
        lambda: spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.format.default' = 'cvs')"),
        RejectedValueError,
        "INVALID_PARAMETER_VALUE",
        "22023",
        "parameter",
        "write.format.default",
    )


def test_an_unsupported_operation(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    check(
        spark,
        lambda: spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.location-provider.impl' = 'x.Y')"),
        UnsupportedOperationError,
        "ICEBERG_LITE.UNSUPPORTED",
        "0A000",
        "what",
        "write.location-provider.impl",
    )


def test_a_failed_job(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (n DOUBLE) USING iceberg")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        check(
            spark,
            lambda: spark.sql(f"INSERT INTO {table} SELECT 1 / id FROM range(1)"),
            FailedJobError,
            "DIVIDE_BY_ZERO",
            "22012",
            "config",
            "spark.sql.ansi.enabled",
        )
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
