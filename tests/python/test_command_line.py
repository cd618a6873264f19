"""The command line shows the same values as the metadata tables, and its errors and exit codes are as documented."""

from __future__ import annotations

import datetime
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from pyspark_iceberg import Table
from pyspark_iceberg.cli import maintenance
from pyspark_iceberg.cli.app import app
from pyspark_iceberg.doctor.rows import check_rows
from pyspark_iceberg.metadata import pyiceberg_source
from pyspark_iceberg.metadata.spark_source import SparkSource

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
NAME = "shell.events"


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> Iterator[Table]:
    """Return a table with two appends, a tag between them, and a delete."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shell")
    spark.sql(
        f"CREATE TABLE {NAME} (id bigint NOT NULL COMMENT 'number', kind string, day date) PARTITIONED BY (day) "
        "TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')"
    )
    rows = "id, concat('k', id % 3) AS kind, DATE'2024-01-01' + CAST(id % 2 AS int) AS day"
    spark.sql(f"INSERT INTO {NAME} SELECT {rows} FROM range(0, 40, 1, 1)")
    spark.sql(f"ALTER TABLE {NAME} CREATE TAG first")
    spark.sql(f"INSERT INTO {NAME} SELECT {rows} FROM range(40, 60, 1, 1)")
    spark.sql(f"DELETE FROM {NAME} WHERE id IN (3, 5, 8)")
    yield Table(spark, NAME)
    spark.sql(f"DROP TABLE {NAME} PURGE")


@pytest.fixture
def run(warehouse: Path) -> Any:
    """Return a function that runs a command on the warehouse of the tests."""

    def run(*arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["--warehouse", str(warehouse), *arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return json.loads(result.stdout) if "--json" in arguments and code == 0 else result.output

    return run


def test_tables_lists_the_tables_of_a_namespace(run: Any, events: Table) -> None:
    assert run("tables", "shell", "--json") == [NAME]
    assert NAME in run("tables").splitlines()


def test_describe_shows_columns_partitions_refs_and_totals(run: Any, events: Table) -> None:
    found = run("describe", NAME, "--json")
    assert [c["name"] for c in found["table"]["columns"]] == events.schema.names
    assert found["table"]["columns"][0]["comment"] == "number"
    assert found["table"]["partitioning"] == ["day"]
    assert found["table"]["current_snapshot_id"] == events.current_snapshot_id
    assert found["table"]["location"] == events.location.removeprefix("file:")
    assert {(r["name"], r["kind"], r["snapshot_id"]) for r in found["refs"]} == {
        (r.name, r.kind.lower(), r.snapshot_id) for r in events.refs()
    }
    assert found["totals"]["total-records"] == "60"
    text = run("describe", NAME)
    assert "number" in text
    assert "merge-on-read" in text


def test_describe_shows_the_same_with_and_without_spark(spark: SparkSession, table: str, warehouse: Path) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id bigint NOT NULL COMMENT 'key', ts timestamp, m map<string, date>, "
        "s struct<x: double NOT NULL COMMENT 'place', l: array<decimal(9, 2)>>) "
        "PARTITIONED BY (bucket(4, id), days(ts), s.x)"
    )
    spark.sql(f"ALTER TABLE {table} WRITE ORDERED BY days(ts) DESC NULLS LAST, id")
    without = pyiceberg_source.open_table(None, str(warehouse.joinpath(*table.split(".")))).table()
    described = SparkSource(Table(spark, table)).table()
    for found in (without, described):
        assert [c.type for c in found.columns] == [
            "long",
            "timestamptz",
            "map<string, date>",
            "struct<7: x: required double (place), 8: l: optional list<decimal(9, 2)>>",
        ]
        assert found.partitioning == ["bucket(4, id)", "days(ts)", "s.x"]
        assert found.sort_order == "days(ts) DESC NULLS LAST, id ASC NULLS FIRST"
    assert without.columns == described.columns


def test_types_that_spark_and_pyiceberg_lack_have_their_names(run: Any, spark: SparkSession, table: str) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id bigint, v variant, g geometry, a array<variant>) "
        "TBLPROPERTIES ('format-version' = '3')"
    )
    columns = run("describe", table, "--json")["table"]["columns"]
    assert [c["type"] for c in columns] == ["long", "variant", "geometry", "list<variant>"]
    spark.sql(f"INSERT INTO {table} SELECT 1, '{{}}', lite.system.st_point(1, 2), NULL")
    handle = Table(spark, table)
    assert check_rows(handle, sample=1)[0].outcome == "1 data files read, no finding"
    assert "v: variant" in repr(handle)
    html = handle._repr_html_()
    assert "<td>variant</td>" in html
    assert "<td>geometry" in html


def test_history_shows_the_snapshots_newest_first(run: Any, events: Table) -> None:
    found = run("history", NAME, "--json")
    assert [row["snapshot_id"] for row in found] == [s.snapshot_id for s in events.snapshots()][::-1]
    assert [row["added_records"] for row in found] == [0, 20, 40]
    assert found[2]["refs"] == ["first"]
    assert len(run("history", NAME, "--limit", "1", "--json")) == 1


def test_files_are_those_of_the_metadata_table(run: Any, events: Table) -> None:
    found = run("files", NAME, "--json")
    listed = sorted((f["path"], f["records"], f["bytes"], f["partition"]["day"]) for f in found)
    assert listed == sorted(
        (f.path.removeprefix("file:"), f.records, f.bytes, str(f.partition["day"])) for f in events.files()
    )
    assert {f["content"] for f in found} == {"data", "deletion vector"}
    assert sum(f["records"] for f in run("files", NAME, "--snapshot", "first", "--json")) == 40


def test_diff_shows_the_commits_and_files_between_two_snapshots(run: Any, events: Table) -> None:
    found = run("diff", NAME, "first", "main", "--json")
    assert [c["operation"] for c in found["commits"]] == ["append", "delete"]
    assert {f["change"] for f in found["files"]} == {"added"}
    assert sum(f["records"] for f in found["files"] if f["content"] == "data") == 20
    assert sum(f["records"] for f in found["files"] if f["content"] == "deletion vector") == 3
    reverse = run("diff", NAME, "main", "first", "--json")
    assert reverse["commits"] == []
    assert {f["change"] for f in reverse["files"]} == {"removed"}
    # Spark reads the same difference.
    assert events.diff("first", "main").records("added", "data") == 20
    assert "data files added" in events.diff("first", "main")._repr_html_()


def test_sql_shows_the_rows_of_a_statement(run: Any, events: Table) -> None:
    assert run("sql", f"SELECT count(*) AS n FROM {NAME}", "--json") == [{"n": 57}]
    assert "only the first 2 rows" in run("sql", f"SELECT id FROM {NAME}", "--limit", "2").lower()


def test_sql_runs_the_statements_of_a_text_until_one_fails(run: Any, spark: SparkSession, table: str) -> None:
    text = f"CREATE TABLE {table} (s string);\nINSERT INTO {table} VALUES ('a;b'); -- done;\nSELECT s, 1 FROM {table};"
    shown = run("sql", text)
    assert "a;b" in shown
    failed = run("sql", f"INSERT INTO {table} VALUES ('c'); SELECT missing FROM {table}; DROP TABLE {table}", code=1)
    assert "UNRESOLVED_COLUMN" in failed
    assert Table(spark, table).to_df().count() == 2


def test_sql_shows_times_in_utc_and_columns_by_their_position(run: Any, events: Table) -> None:
    statement = "SELECT 12345 AS id, 67890 AS id, timestamp_millis(0) AS t"
    shown = run("sql", statement)
    assert re.search(r"12345 +67890 +1970-01-01 00:00:00\+00:00", shown)
    assert "Several columns have the name id" in run("sql", statement, "--json", code=1)
    assert run(
        "sql", "SELECT array(timestamp_millis(0)) AS t, double('NaN') AS x, TIMESTAMP_NTZ'1970-01-01' AS n", "--json"
    ) == [{"t": ["1970-01-01 00:00:00+00:00"], "x": "NaN", "n": "1970-01-01 00:00:00"}]


def test_errors_have_no_traceback_and_a_documented_exit_code(run: Any, events: Table) -> None:
    for arguments in (
        ("describe", "shell.missing"),
        ("tables", "missing"),
        ("diff", NAME, "first", "nothing"),
        ("sql", "SELECT * FROM shell.missing"),
        ("compact", "shell.missing"),
    ):
        output = run(*arguments, code=1)
        assert "Error: " in output
        assert "Traceback" not in output
    assert "KEY=VALUE" in re.sub(r"\s+", " ", run("--property", "x", "tables", code=2))


def test_a_group_of_files_of_an_older_partition_spec_is_shown_without_a_partition() -> None:
    assert maintenance._text("file_groups", [{"partition": None, "files_count": 2}]) == "files 2"


def test_compact_and_expire_change_a_table_and_maintain_shows_a_plan(run: Any, spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id bigint)")
    for i in range(3):
        spark.sql(f"INSERT INTO {table} SELECT {i}")
    assert run("compact", table, "--all", "--dry-run", "--json")["rewritten_data_files_count"] == 3
    compacted = run("compact", table, "--all", "--json")
    assert compacted["added_data_files_count"] == 1
    assert [group["files_count"] for group in compacted["file_groups"]] == [3]
    shown = run("compact", table, "--all")
    assert re.search(r"file groups +files 1, bytes [\d.]+ k?B, reason all files are rewritten", shown)
    assert "Row(" not in shown
    assert len(list(Table(spark, table).files())) == 1
    run("expire", table, "--older-than", "2100-01-01T00:00:00", "--retain-last", "1")
    assert len(list(Table(spark, table).snapshots())) == 1
    assert {step["status"] for step in run("maintain", table, "--dry-run", "--json")} <= {"planned", "skipped"}


def test_times_in_options_are_in_utc_unless_they_have_an_offset(run: Any, spark: SparkSession, table: str) -> None:
    for _ in range(2):
        spark.sql(f"CREATE TABLE IF NOT EXISTS {table} USING iceberg AS SELECT 1 AS id")
        spark.sql(f"INSERT INTO {table} VALUES (2)")
    newest = Table(spark, table).snapshots().to_list()[-1]
    expiring = run("history", table, "--json")
    last = datetime.datetime.fromisoformat(expiring[0]["committed_at"])
    later = last + datetime.timedelta(seconds=1)
    tokyo = datetime.timezone(datetime.timedelta(hours=9))
    with_offset = later.replace(tzinfo=datetime.timezone.utc).astimezone(tokyo).isoformat()
    for time in (later.isoformat(), f"{later.isoformat()}Z", with_offset):
        assert _expired_manifest_lists(run("expire", table, "--older-than", time, "--dry-run", "--json")) > 0
    early = (last - datetime.timedelta(hours=1)).isoformat()
    assert _expired_manifest_lists(run("expire", table, "--older-than", early, "--dry-run", "--json")) == 0
    assert Table(spark, table).current_snapshot_id == newest.snapshot_id
    wrong = run("expire", table, "--older-than", "1h", code=2)
    assert "'1h' is not a time in ISO 8601" in re.sub(r"[│\s]+", " ", wrong)


def _expired_manifest_lists(result: Any) -> int:
    count: int = result["deleted_manifest_lists_count"]
    return count


def test_commands_that_need_spark_accept_a_relative_path(run: Any, events: Table, warehouse: Path) -> None:
    path = os.path.relpath(warehouse / "shell" / "events")
    run("compact", path, "--dry-run")
    run("expire", path, "--dry-run")
    healthy = run("doctor", path, "--json")
    assert [f for f in healthy["findings"] if f["severity"] == "error"] == []
    assert "4 data files read" in next(c["outcome"] for c in healthy["checks"] if c["name"] == "rows")


def test_a_name_that_begins_with_a_catalog_is_rejected_with_an_explanation(run: Any, events: Table) -> None:
    wrong = run("describe", f"lite.{NAME}", code=1)
    assert "must begin with a namespace, without a catalog; the command `tables` lists the names" in wrong


def test_commands_with_and_without_spark_resolve_names_alike(run: Any, spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lite.twice")
    name = "lite.twice.`my-events`"
    spark.sql(f"CREATE TABLE {name} (id bigint)")
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    catalog = spark.conf.get("spark.sql.defaultCatalog")
    try:
        # The first part is the namespace `twice`, and not the catalog with this name.
        for options in ([], ["--catalog", "twice"]):
            run(*options, "describe", "twice.my-events")
            run(*options, "compact", "twice.my-events", "--dry-run")
    finally:
        spark.conf.set("spark.sql.defaultCatalog", str(catalog))
        spark.sql(f"DROP TABLE {name} PURGE")
        spark.sql("DROP NAMESPACE lite.twice")


def test_import_creates_a_table_from_a_table_of_spark(
    run: Any, spark: SparkSession, table: str, tmp_path: Path
) -> None:
    source = "spark_catalog.default.imported"
    spark.sql(f"CREATE TABLE {source} USING parquet LOCATION '{tmp_path}/imported' AS SELECT id FROM range(4)")
    try:
        assert "Imported " in run("import", source, table)
        assert Table(spark, table).to_df().count() == 4
        # The new table shares its files with the source, so it cannot be dropped without this change.
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('gc.enabled' = 'true')")
    finally:
        spark.sql(f"DROP TABLE {source}")


def test_import_adds_parquet_files_with_their_partitions(
    run: Any, spark: SparkSession, table: str, tmp_path: Path
) -> None:
    source = str(tmp_path / "source")
    spark.range(10).selectExpr("id", "CAST(id % 2 AS int) AS part").write.partitionBy("part").parquet(source)
    files = len(list(Path(source).rglob("*.parquet")))
    assert f"Imported {files} data files" in run("import", source, table)
    found = Table(spark, table)
    assert found.to_df().count() == 10
    assert {p.values["part"]: p.records for p in found.partitions()} == {0: 5, 1: 5}


def test_doctor_finds_damaged_files_and_names_the_repair(run: Any, spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id bigint) TBLPROPERTIES ('format-version' = '3')")
    for i in range(3):
        spark.sql(f"INSERT INTO {table} SELECT {i}")
    paths = sorted(Path(f.path.removeprefix("file:")) for f in Table(spark, table).files())
    paths[0].unlink()
    with paths[1].open("ab") as file:
        file.write(b"x")
    output = run("doctor", table, "--sample", "0", code=3)
    assert f"1 files do not exist. Queries that need one of them fail\n  {paths[0]}" in output.replace("file:", "")
    assert f"{paths[1]}: {paths[1].stat().st_size} bytes instead of {paths[1].stat().st_size - 1}" in output.replace(
        "file:", ""
    )
    assert "rollback_to_snapshot" in output


@pytest.mark.parametrize("arguments", [["history", NAME], ["files", NAME], ["tables"]])
def test_a_metadata_command_on_local_files_imports_neither_pyspark_nor_pyarrow(
    warehouse: Path, events: Table, arguments: list[str]
) -> None:
    script = (
        "import sys; from pyspark_iceberg.cli.app import app\n"
        f"app(['--warehouse', {str(warehouse)!r}, *{arguments!r}], standalone_mode=False)\n"
        "print(*sorted({'pyspark', 'pyarrow', 'pandas'} & sys.modules.keys()), file=sys.stderr)"
    )
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    assert completed.stderr.strip() == ""
    assert completed.stdout.strip()


def test_the_tables_of_a_jdbc_catalog_are_read(spark: SparkSession, sqlite_uri: str) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.shell")
    spark.sql("CREATE TABLE shared.shell.t (id bigint)")
    try:
        options = ["--catalog", "shared", "--uri", f"jdbc:sqlite:{sqlite_uri}"]
        listed = CliRunner().invoke(app, [*options, "tables", "shell"])
        assert listed.output == "shell.t\n"
        described = CliRunner().invoke(app, [*options, "describe", "shell.t", "--json"])
        assert json.loads(described.output)["table"]["columns"][0]["name"] == "id"
    finally:
        spark.sql("DROP TABLE shared.shell.t PURGE")


def test_the_commands_of_the_page_run(events: Table, warehouse: Path, tmp_path: Path) -> None:
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    found = re.findall(r"^(?:echo '(.*)' \| )?iceberg-lite --warehouse warehouse (.*)$", text, re.MULTILINE)
    assert len(found) >= 11
    assert sum(1 for stdin, _ in found if stdin) == 1
    for stdin, command in found:
        arguments = shlex.split(command.replace("db.events", NAME), comments=True)
        arguments = [str(tmp_path / a) if a.endswith(".html") else a for a in arguments]
        result = CliRunner().invoke(app, ["--warehouse", str(warehouse), *arguments], input=stdin)
        assert result.exit_code == 0, f"{command}\n{result.output}"
