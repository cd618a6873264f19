"""Checks of `doctor` that fail, and metadata that the checks must accept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyspark_iceberg import Table, iceberg_session
from pyspark_iceberg.doctor import Check, check, findings, storage


class JavaError(Exception):
    """Replaces a Py4JJavaError, whose own text begins with the name of a method."""

    def __init__(self, text: str) -> None:
        super().__init__("An error occurred while calling o1.collect")
        self.java_exception = SimpleNamespace(toString=lambda: text)


def test_the_other_checks_are_made_if_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "check_totals", lambda table: findings.outcome("totals", "summary", []))
    table: Any = SimpleNamespace(name="db.t")
    result = check(table)
    outcomes = {done.name: done.outcome for done in result.checks}
    assert len(outcomes) == 9
    assert outcomes.pop("totals") == "summary, no finding"
    assert all(text.startswith("not checked: ") for text in outcomes.values())
    assert [finding.check for finding in result.findings] == list(outcomes)
    assert result.is_damaged


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("first line\nsecond line"), "first line"),
        (KeyError(), "KeyError"),
        (JavaError("java.io.IOException: no file\n\tat Frame"), "java.io.IOException: no file"),
    ],
)
def test_a_check_that_fails_says_why_in_one_line(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    # Py4J would ask the JVM for the class of the exception.
    monkeypatch.setattr(findings, "typed_error", lambda error: None)
    done, (finding,) = findings.not_checked("files", error)
    assert done == Check("files", f"not checked: {reason}")
    assert (finding.severity, finding.message) == ("error", f"The check failed: {reason}")


def test_the_directory_of_a_table_is_not_a_pattern(spark: SparkSession, tmp_path: Path) -> None:
    iceberg_session(tmp_path / "w[1]", catalog="brackets", default=False)
    spark.sql("CREATE TABLE brackets.db.t AS SELECT 1 AS id")
    done, found = storage.check_files(Table(spark, "brackets.db.t"))
    assert found == []
    assert done.outcome.endswith("no finding")
