"""Errors have the conditions and SQL states of the reference, also if only their messages are known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException, PythonException, QueryExecutionException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from pyspark_iceberg import (
    CommitConflictError,
    FailedJobError,
    MissingObjectError,
    RejectedValueError,
    Table,
    TableError,
    typed_errors,
)
from pyspark_iceberg.errors import typed_error

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference.md"


def documented_states() -> dict[str, str]:
    """Return the conditions of the page, with their SQL states."""
    rows = re.findall(r"^\| (`[A-Z].*?) \| (`[0-9A-Z]{5}`.*?) \| .* \|$", PAGE.read_text(), re.MULTILINE)
    states: dict[str, str] = {}
    for names, values in rows:
        conditions = [name.replace("<KIND>", "TAG") for name in re.findall(r"`([A-Z][A-Z_.<>]+)`", names)]
        found = re.findall(r"`(\w{5})`", values)
        states.update(zip(conditions, found * len(conditions) if len(found) == 1 else found, strict=False))
    return states


def test_every_documented_condition_is_found_in_a_message_with_its_sql_state() -> None:
    states = documented_states()
    assert len(states) >= 20
    for condition, state in states.items():
        for prefix in ("", "(iceberglite.spark.error.OperationError) "):
            error = typed_error(AnalysisException(message=f"{prefix}[{condition}] cat.db.t: text"))
            assert isinstance(error, TableError), condition
            assert (error.getErrorClass(), error.getSqlState()) == (condition, state)
            assert str(error) == f"[{condition}] cat.db.t: text"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("(a.OperationError) [ICEBERG_LITE.COMMIT_CONFLICT] t: version 3", CommitConflictError),
        ("[ICEBERG_LITE.SNAPSHOT_NOT_FOUND] Snapshot not found: 1", MissingObjectError),
        (
            "(org.apache.spark.SparkException) Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, "
            "most recent failure: Lost task 0.0 in stage 1.0 (TID 1): iceberglite.spark.error.StatementError: "
            "[ICEBERG_LITE.CHECK_CONSTRAINT_VIOLATION] t: n = -1\n\tat a.b(C.scala:1)",
            RejectedValueError,
        ),
    ],
)
def test_an_error_of_spark_connect_has_the_class_of_the_condition_in_its_message(
    message: str, kind: type[TableError]
) -> None:
    error = typed_error(AnalysisException(message=message))
    assert type(error) is kind
    assert "\tat" not in str(error)


@pytest.mark.parametrize("end", ["\n\tat a.b(C.scala:1)\n\nDriver stacktrace:", "\nCaused by: d.E: text", ""])
def test_the_message_of_a_failed_task_keeps_its_line_breaks_and_ends_before_the_stack_trace(end: str) -> None:
    message = "[ICEBERG_LITE.CHECK_CONSTRAINT_VIOLATION] t: s = 'one\ntwo'.\n\nChange the row"
    error = typed_error(AnalysisException(message=f"(a.B) Job aborted: iceberglite.spark.error.C: {message}{end}"))
    assert str(error) == message


def test_the_documented_code_finds_the_condition_of_a_failed_query(spark: SparkSession) -> None:
    section = PAGE.read_text(encoding="utf-8").split("### Errors of running queries")[1]
    code = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[0]
    spark.sql("CREATE NAMESPACE shop")
    spark.sql("CREATE TABLE shop.broken USING iceberg AS SELECT id FROM range(10)")
    file = spark.sql("SELECT file_path FROM shop.broken.files").collect()[0]["file_path"]
    Path(unquote(urlparse(file).path)).unlink()
    try:
        names: dict[str, object] = {"spark": spark}
        exec(compile(code, "docs/reference.md", "exec"), names)
        assert names["condition"] == "ICEBERG_LITE.UNREADABLE_FILE"
    finally:
        spark.sql("DROP NAMESPACE shop CASCADE")


def partition_by_id(metadata: Path) -> None:
    """Write the next metadata file of an unpartitioned table, as an engine on another machine does."""
    table = json.loads((metadata / "v1.metadata.json").read_text())
    table["partition-specs"].append(
        {"spec-id": 1, "fields": [{"name": "id", "transform": "identity", "source-id": 1, "field-id": 1000}]}
    )
    table |= {"default-spec-id": 1, "last-partition-id": 1000}
    (metadata / "v2.metadata.json").write_text(json.dumps(table))


def test_a_conflict_in_a_statement_is_an_exception_of_pyspark_with_its_condition(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE rivals")
    spark.sql("CREATE TABLE rivals.t (id BIGINT, ts TIMESTAMP) USING iceberg")
    spark.sql("SELECT * FROM rivals.t").collect()
    partition_by_id(Path(urlparse(Table(spark, "rivals.t").location).path) / "metadata")
    try:
        with pytest.raises(QueryExecutionException) as conflict:
            spark.sql("ALTER TABLE rivals.t ADD PARTITION FIELD days(ts)")
        error = conflict.value
        assert error.getErrorClass() == "ICEBERG_LITE.COMMIT_CONFLICT"
        assert error.getSqlState() == "40001"  # type: ignore[func-returns-value]
        assert "rivals.t" in (error.getMessageParameters() or {})["table"]
        assert type(typed_error(error)) is CommitConflictError
    finally:
        spark.sql("DROP NAMESPACE rivals CASCADE")


def test_a_failed_task_of_a_write_is_an_exception_of_pyspark_with_its_condition(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE tasks")
    spark.sql("CREATE TABLE tasks.t (id BIGINT NOT NULL) USING iceberg")
    try:
        with pytest.raises(QueryExecutionException) as failed:
            spark.sql("INSERT INTO tasks.t SELECT if(id = 7, NULL, id) FROM range(10)")
        assert failed.value.getErrorClass() == "ICEBERG_LITE.NOT_NULL_VIOLATION"
        typed = typed_error(failed.value)
        assert isinstance(typed, RejectedValueError)
        assert "\tat" not in str(typed)
        fails = udf(lambda value: 1 // value, "long")
        with pytest.raises(PythonException, match="ZeroDivisionError"):
            spark.range(1).select(fails("id").alias("id")).writeTo("tasks.t").append()
    finally:
        spark.sql("DROP NAMESPACE tasks CASCADE")


@pytest.mark.parametrize("source", ["parquet", "iceberg"])
def test_without_typed_errors_a_condition_of_spark_in_a_task_arrives_as_for_its_own_tables(
    spark: SparkSession, source: str
) -> None:
    name = "spark_catalog.default.own" if source == "parquet" else "tasks_of_spark.t"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS tasks_of_spark")
    spark.sql(f"CREATE TABLE {name} (n INT) USING {source}")
    statement = f"INSERT INTO {name} SELECT CAST(concat('x', id) AS INT) FROM range(1)"
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        with pytest.raises(Py4JJavaError):
            spark.sql(statement)
        with pytest.raises(FailedJobError) as failed, typed_errors():
            spark.sql(statement)
        assert failed.value.condition == "CAST_INVALID_INPUT"
        assert failed.value.parameters["expression"] == "'x0'"
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
        spark.sql(f"DROP TABLE {name}")
        spark.sql("DROP NAMESPACE tasks_of_spark CASCADE")


def test_the_error_of_a_missing_table_has_the_parameters_of_its_condition(spark: SparkSession) -> None:
    with pytest.raises(MissingObjectError) as error:
        Table(spark, "tests.no_such_table")
    assert "no_such_table" in error.value.parameters["relationName"]


def test_an_error_of_connect_outside_of_a_job_is_not_converted() -> None:
    kind = type("SparkConnectGrpcException", (PySparkException,), {})
    for condition in ("OPERATION_CANCELED", "INVALID_HANDLE.SESSION_NOT_FOUND", "INTERNAL_ERROR_NETWORK"):
        assert typed_error(kind(message=f"(org.apache.spark.SparkSQLException) [{condition}] text")) is None
    assert type(typed_error(kind(message="(a.B) [DIVIDE_BY_ZERO] text"))) is FailedJobError


def test_an_error_without_a_condition_is_not_converted() -> None:
    assert typed_error(AnalysisException(message="(a.B) text [x] of [ICEBERG_LITE.UNSUPPORTED]")) is None
    assert typed_error(ValueError("[ICEBERG_LITE.UNSUPPORTED] text")) is None
