"""Errors have the conditions and SQL states of the reference, also if only their messages are known."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyspark_iceberg import CommitConflictError, MissingObjectError, RejectedValueError, Table, TableError
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


def test_the_error_of_a_missing_table_has_the_parameters_of_its_condition(spark: SparkSession) -> None:
    with pytest.raises(MissingObjectError) as error:
        Table(spark, "tests.no_such_table")
    assert "no_such_table" in error.value.parameters["relationName"]


def test_an_error_without_a_condition_is_not_converted() -> None:
    assert typed_error(AnalysisException(message="(a.B) text [x] of [ICEBERG_LITE.UNSUPPORTED]")) is None
    assert typed_error(ValueError("[ICEBERG_LITE.UNSUPPORTED] text")) is None
