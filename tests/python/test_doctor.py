"""`doctor` reports checks that fail, and accepts valid metadata."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from servers.process import ROOT, jars

from pyspark_iceberg import Table, iceberg_session
from pyspark_iceberg.doctor import Check, check, entries, findings, rows, storage


class JavaError(Exception):
    """Replaces a Py4JJavaError, whose own text begins with the name of a method."""

    def __init__(self, text: str) -> None:
        super().__init__("An error occurred while calling o1.collect")
        self.java_exception = SimpleNamespace(toString=lambda: text)


def test_a_check_is_made_even_if_all_other_checks_fail(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("log", [[(None, None)], [(1, 1), (None, None)], [(1, 1), (2, None)]])
def test_the_sequence_number_of_a_table_without_a_complete_snapshot_log_is_not_known(
    log: list[tuple[int | None, int | None]],
) -> None:
    def metadata(kind: str) -> Any:
        assert kind == "metadata_log_entries", "entries must not be compared"
        return SimpleNamespace(select=lambda *columns: SimpleNamespace(collect=lambda: log))

    table: Any = SimpleNamespace(name="db.t", current_snapshot_id=2, metadata=metadata)
    done, found = entries.check_sequence_numbers(table)
    assert found == []
    assert done.outcome == "the highest sequence number of the table is not known, no finding"
    log.append((2, 7))
    assert entries._highest(table) == 7


def test_bounds_that_readers_ignore_are_not_checked() -> None:
    low, high = "10000000-0000-4000-8000-000000000000", "f0000000-0000-4000-8000-000000000000"
    signed = Row(lower_bound=high, upper_bound=low)
    assert rows._outside("file", "id", signed, low, high) == []
    assert rows._outside("file", "id", Row(lower_bound=low, upper_bound=low), low, high) == [
        f"file, id: the value {high!r} is above the upper bound {low!r}"
    ]
    assert len(rows._outside("file", "id", Row(lower_bound=high, upper_bound=None), low, high)) == 1


def test_the_directory_of_a_table_may_contain_characters_of_patterns(spark: SparkSession, tmp_path: Path) -> None:
    iceberg_session(tmp_path / "w[1]", catalog="brackets", default=False)
    spark.sql("CREATE TABLE brackets.db.t AS SELECT 1 AS id")
    done, found = storage.check_files(Table(spark, "brackets.db.t"))
    assert found == []
    assert done.outcome.endswith("no finding")


def test_bounds_that_do_not_match_the_rows_are_found(spark: SparkSession, table: str) -> None:
    other = f"{table}_other"
    try:
        for name, start in ((table, 0), (other, 100)):
            spark.sql(f"CREATE TABLE {name} (id bigint, s struct<x: int>, d double)")
            values = "id, struct(CAST(id AS int)), if(id < 100, 1D, double('NaN'))"
            spark.sql(f"INSERT INTO {name} SELECT {values} FROM range({start}, {start + 10}, 1, 1)")
        path, wrong = (_only_file(spark, name) for name in (table, other))
        path.write_bytes(wrong.read_bytes())
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        done, (finding,) = rows.check_rows(Table(spark, table), sample=20)
        assert done.outcome == "1 data files read, 1 findings"
        assert finding.severity == "error"
        examples = [example.replace("file:", "") for example in finding.examples]
        for problem in (
            "id: the value 109 is above the upper bound 9",
            "s.x: the value 109 is above the upper bound 9",
            "d: 10 NaN values instead of 0",
        ):
            assert f"{path}, {problem}" in examples
        assert "rewrite-all" in finding.repair
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {other} PURGE")


def _only_file(spark: SparkSession, table: str) -> Path:
    (file,) = Table(spark, table).files()
    return Path(file.path.removeprefix("file:"))


S3_PROGRAM = """
import sys
from pyspark.sql import SparkSession
from pyspark_iceberg import S3, FileSystemCatalog, Table, iceberg_session
from pyspark_iceberg.doctor import check, storage

endpoint, jars = sys.argv[1:]
catalog = FileSystemCatalog("s3a://doctor/tables", S3("us-east-1", endpoint, "key", "word", path_style_access=True))
builder = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.jars", jars)
spark = iceberg_session(catalog, builder=builder.config("spark.ui.showConsoleProgress", "false"))
spark.sql("CREATE TABLE lite.db.t AS SELECT 1 AS id")
table = Table(spark, "lite.db.t")
found = [(finding.check, finding.message) for finding in check(table).findings if finding.severity == "error"]
path = table.files().first().path
print("found:", found, storage._size(table, path) == table.files().first().bytes, storage._size(table, path + "x"))
"""


@pytest.mark.slow
def test_files_are_checked_with_the_storage_settings_of_the_catalog(s3_server: Any) -> None:
    request = urllib.request.Request(f"{s3_server.endpoint}/doctor", method="PUT")
    urllib.request.urlopen(request, timeout=10).close()
    class_path = ",".join(jars("client"))
    command = [sys.executable, "-c", S3_PROGRAM, s3_server.endpoint, class_path]
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr[-3000:]
    assert "found: [] True None" in completed.stdout
