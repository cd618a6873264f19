"""Each check of `doctor` reports its damage in a real table, and no other check reports it."""

from __future__ import annotations

import copy
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable

import pytest
from damage import DamagedTable, Record
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from pyspark_iceberg.cli.app import app
from pyspark_iceberg.doctor import check, entries, storage

DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Case:
    """A damage.

    Attributes:
        check: the name of the only check that reports it.
        damage: damages a table with three files of one row each, and returns a part of the expected example.
        message: a part of the message.
        repair: a part of the advice for the repair.
        severity: the severity of the finding.
        version: the format version of the table.
        sample: the number of files whose rows are read. It is 0 if, because of the damage, another check than `rows`
            would report them too.
        failing: the checks that cannot be made because of the damage.
    """

    check: str
    damage: Callable[[DamagedTable], str]
    message: str
    repair: str
    severity: str = "error"
    version: int = 3
    sample: int = 20
    failing: tuple[str, ...] = ()


def totals_of(changes: dict[str, int]) -> Callable[[Record], None]:
    """Return an edit that adds to the totals in the summary of a snapshot."""

    def edit(snapshot: Record) -> None:
        for name, change in changes.items():
            snapshot["summary"][name] = str(int(snapshot["summary"][name]) + change)

    return edit


def wrong_total(name: str, actual: int = 3) -> Callable[[DamagedTable], str]:
    def damage(table: DamagedTable) -> str:
        table.edit_snapshot(totals_of({name: 4}))
        return f"{name}: {actual + 4} in the summary, {actual} in the files"

    return damage


def wrong_total_of_deletes(name: str, actual: int) -> Callable[[DamagedTable], str]:
    """Return a damage of a total, in a table with two deletion vectors for three rows."""

    def damage(table: DamagedTable) -> str:
        spark, target = table.table._spark, table.table.name
        for start in (10, 20):
            spark.sql(f"INSERT INTO {target} SELECT id, 's', 1.0D FROM range({start}, {start + 10}, 1, 1)")
        spark.sql(f"DELETE FROM {target} WHERE id IN (12, 13, 24)")
        return wrong_total(name, actual)(table)

    return damage


def wrong_total_of_equality_deletes(table: DamagedTable) -> str:
    table.table.upsert([(0, "b", 2.0), (1, "b", 2.0)], keys=["id"])
    return wrong_total("total-equality-deletes", 2)(table)


def sequence_numbers(data: int, file: int) -> Callable[[DamagedTable], str]:
    """Return a damage of the sequence numbers of the oldest file."""

    def edit(entries: list[Record]) -> None:
        entries[0].update(sequence_number={"long": data}, file_sequence_number={"long": file})

    def damage(table: DamagedTable) -> str:
        table.edit_entries(edit, manifest=2)
        return f"{table.data_files()[0]}: data sequence number {data}, file sequence number {file}"

    return damage


def repeat(entries: list[Record]) -> None:
    entries.append(copy.deepcopy(entries[0]))


def duplicate_file(table: DamagedTable) -> str:
    # A writer that adds a file twice also counts it twice.
    table.edit_entries(repeat)
    table.edit_snapshot(totals_of({"total-data-files": 1, "total-records": 1}))
    return str(table.data_files()[-1])


def duplicate_vector(table: DamagedTable) -> str:
    table.table._spark.sql(f"INSERT INTO {table.table.name} SELECT id, 's', 1.0D FROM range(10, 20, 1, 1)")
    table.table._spark.sql(f"DELETE FROM {table.table.name} WHERE id = 12")
    deletes = [m["content"] for m in table.table.metadata("manifests").collect()].index(1)
    table.edit_entries(repeat, manifest=deletes)
    table.edit_snapshot(totals_of({"total-delete-files": 1, "total-position-deletes": 1}))
    return str(table.data_files()[-1])


def overlapping_row_ids(table: DamagedTable) -> str:
    table.edit_manifest_list(lambda manifests: manifests[0].update(first_row_id={"long": 1}))
    paths = table.data_files()
    return str(paths[1].parent)


def unassigned_row_ids(table: DamagedTable) -> str:
    table.edit_manifest_list(lambda manifests: manifests[0].update(first_row_id={"long": 10}))
    return f"{table.data_files()[-1]}: row ids 10 to 10"


def absent_file(table: DamagedTable) -> str:
    path = table.data_files()[0]
    path.unlink()
    return str(path)


def absent_imported_file(table: DamagedTable) -> str:
    folder = table.folder.parent / "imported"
    table.table._spark.range(0, 1, 1, 1).selectExpr("id", "'a' AS s", "1.0D AS d").write.parquet(str(folder))
    table.table.add_files(f"parquet.`{folder}`")
    (path,) = folder.glob("*.parquet")
    path.unlink()
    return str(path)


def absent_manifest_of_an_old_snapshot(table: DamagedTable) -> str:
    # The current snapshot needs another manifest with the same entries.
    path = Path(table.table.metadata("manifests").collect()[2]["path"].removeprefix("file:"))
    table.edit_entries(lambda entries: None, manifest=2)
    path.unlink()
    return str(path)


def truncated_manifest_of_an_old_snapshot(table: DamagedTable) -> str:
    path = Path(absent_manifest_of_an_old_snapshot(table))
    path.write_bytes(b"Obj\x01")
    return str(path)


def absent_manifest_list(table: DamagedTable) -> str:
    path = Path(table.table.metadata("snapshots").orderBy("committed_at").collect()[0]["manifest_list"])
    path.unlink()
    return str(path)


def replaced_file(table: DamagedTable) -> str:
    path = table.data_files()[0]
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-7])
    return f"{path}: {size - 7} bytes instead of {size}"


def edited_file(
    edit: Callable[[Record], None], example: str, totals: dict[str, int] | None = None
) -> Callable[[DamagedTable], str]:
    """Return a damage of the description of the newest file, whose row is (2, 'a', 1.0)."""

    def damage(table: DamagedTable) -> str:
        table.edit_entries(lambda entries: edit(entries[0]["data_file"]))
        table.edit_snapshot(totals_of(totals or {}))
        return f"{table.data_files()[-1]}{example}"

    return damage


def column_value(column: int, value: Any, *names: str) -> Callable[[Record], None]:
    """Return an edit of the value of a column in maps of a file."""

    def edit(file: Record) -> None:
        for name in names:
            (found,) = [pair for pair in file[name]["array"] if pair["key"] == column]
            found["value"] = value

    return edit


def old_file(table: DamagedTable) -> str:
    path = table.folder / "data" / "left.parquet"
    path.write_bytes(b"PAR1")
    os.utime(path, (time.time() - 4 * DAY,) * 2)
    return str(path)


def wrong_leaf_count(table: DamagedTable) -> str:
    spark = table.table._spark
    spark.sql(f"ALTER TABLE {table.table.name} SET TBLPROPERTIES ('write.v4.single-commit-max-files' = '3')")
    spark.sql(f"INSERT INTO {table.table.name} SELECT id, 's', 1.0D FROM range(0, 50, 1, 5)")

    def edit(entries: list[Record]) -> None:
        (leaf,) = [entry for entry in entries if entry.get("manifest_stats")]
        leaf["manifest_stats"]["added_rows_count"] += 1

    table.edit_root(edit)
    return "I7"


def old_snapshots(table: DamagedTable) -> str:
    properties = "'history.expire.max-snapshot-age-ms' = '1', 'history.expire.min-snapshots-to-keep' = '1'"
    table.table._spark.sql(f"ALTER TABLE {table.table.name} SET TBLPROPERTIES ({properties})")
    return ""


# Readers ignore a lower bound above the upper bound, so both change.
BOUNDS = ("lower_bounds", "upper_bounds")
TOTALS = ("The summary of snapshot", "Nothing has to be repaired")
ROLL_BACK = "CALL system.rollback_to_snapshot('{table}', <snapshot id>)"
ABSENT = (
    "1 files do not exist",
    f"Restore these files from a backup. Otherwise roll back to a snapshot that does not need them: {ROLL_BACK}",
)
ROWS = (
    "1 recorded counts or bounds do not match",
    "rewrite_data_files(table => '{table}', options => map('rewrite-all'",
)
ROW_IDS = "INSERT OVERWRITE {table} SELECT * FROM {table}"
SEQUENCE = ("1 entries have a sequence number above that of the table (3) or of their file", ROLL_BACK)

CASES = {
    "number of records": Case("totals", wrong_total("total-records"), *TOTALS, severity="warning"),
    "number of files": Case("totals", wrong_total("total-data-files"), *TOTALS, severity="warning"),
    "number of delete files": Case(
        "totals", wrong_total_of_deletes("total-delete-files", 2), *TOTALS, severity="warning"
    ),
    "number of position deletes": Case(
        "totals", wrong_total_of_deletes("total-position-deletes", 3), *TOTALS, severity="warning"
    ),
    "number of equality deletes": Case("totals", wrong_total_of_equality_deletes, *TOTALS, severity="warning"),
    "sequence number above the table's": Case("sequence numbers", sequence_numbers(4, 4), *SEQUENCE),
    "sequence number above the file's": Case("sequence numbers", sequence_numbers(2, 1), *SEQUENCE),
    "file twice": Case("duplicates", duplicate_file, "1 data files occur more than once", ROLL_BACK, sample=0),
    "two deletion vectors": Case(
        "duplicates", duplicate_vector, "1 data files have more than one deletion vector", ROLL_BACK, sample=0
    ),
    "row ids": Case("row ids", overlapping_row_ids, "The row ids of 1 data files overlap", ROW_IDS),
    "row ids above the next row id": Case(
        "row ids",
        unassigned_row_ids,
        "1 data files have row ids that the table has not assigned, because its next-row-id is 3",
        ROW_IDS,
    ),
    "absent file": Case("files", absent_file, *ABSENT, sample=0),
    "absent imported file": Case("files", absent_imported_file, *ABSENT, sample=0),
    "absent manifest": Case("files", absent_manifest_of_an_old_snapshot, *ABSENT, failing=("orphan files",)),
    "absent manifest list": Case("files", absent_manifest_list, *ABSENT, failing=("orphan files",)),
    "truncated manifest": Case(
        "files",
        truncated_manifest_of_an_old_snapshot,
        "1 files have another size",
        ABSENT[1],
        failing=("orphan files",),
    ),
    "replaced file": Case("files", replaced_file, "1 files have another size", ABSENT[1], sample=0),
    "record count": Case(
        "rows",
        edited_file(lambda file: file.update(record_count=5), ": 1 rows instead of 5", {"total-records": 4}),
        *ROWS,
        # In version 3, the row ids of this file would also be above the next row id.
        version=2,
    ),
    "null count": Case(
        "rows", edited_file(column_value(2, 1, "null_value_counts"), ", s: 0 nulls instead of 1"), *ROWS
    ),
    "value count": Case("rows", edited_file(column_value(2, 2, "value_counts"), ", s: 1 values instead of 2"), *ROWS),
    "NaN count": Case(
        "rows", edited_file(column_value(3, 1, "nan_value_counts"), ", d: 0 NaN values instead of 1"), *ROWS
    ),
    "lower bound": Case(
        "rows",
        edited_file(column_value(2, "b", *BOUNDS), ", s: the value 'a' is below the lower bound 'b'"),
        *ROWS,
    ),
    "upper bound": Case(
        "rows",
        edited_file(column_value(1, "\x01" + "\x00" * 7, *BOUNDS), ", id: the value 2 is above the upper bound 1"),
        *ROWS,
    ),
    "orphan file": Case(
        "orphan files",
        old_file,
        "1 files are not needed by the table",
        "CALL system.remove_orphan_files('{table}')",
        severity="warning",
    ),
    "leaf count": Case(
        "metadata tree", wrong_leaf_count, "violates 1 rules", "CALL system.rewrite_manifests('{table}')", version=4
    ),
    "old snapshots": Case(
        "health", old_snapshots, "snapshots", "CALL system.expire_snapshots('{table}')", severity="note"
    ),
}


def test_each_check_has_a_damage() -> None:
    # All checks fail for this object, so their names are known without a table.
    table: Any = SimpleNamespace(name="db.t")
    assert {case.check for case in CASES.values()} == {done.name for done in check(table).checks}


def diagnose(warehouse: Path, name: str, sample: int, code: int) -> list[Record]:
    """Run the command on a table, and return its findings."""
    command = ["--warehouse", str(warehouse), "doctor", name, "--sample", str(sample), "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == code, result.output
    findings: list[Record] = json.loads(result.stdout)["findings"]
    return findings


@pytest.fixture
def damaged(spark: SparkSession, table: str, request: pytest.FixtureRequest) -> DamagedTable:
    """Create a table with three files of one row each."""
    version = request.param
    spark.sql(
        f"CREATE TABLE {table} (id bigint, s string, d double) TBLPROPERTIES ('format-version' = '{version}', "
        "'write.delete.mode' = 'merge-on-read')"
    )
    for i in range(3):
        spark.sql(f"INSERT INTO {table} VALUES ({i}, 'a', 1.0)")
    return DamagedTable(spark, table)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damaged", "case"), [(case.version, case) for case in CASES.values()], ids=list(CASES), indirect=["damaged"]
)
def test_a_check_reports_its_damage_and_no_other_check_does(warehouse: Path, damaged: DamagedTable, case: Case) -> None:
    example = case.damage(damaged)
    name = damaged.table.name
    found = diagnose(warehouse, name, case.sample, code=3 if case.severity == "error" else 0)
    # Damage may make maintenance due.
    reported = [f for f in found if f["severity"] != "note" or f["check"] == case.check]
    finding, *others = reported
    assert (finding["check"], finding["severity"]) == (case.check, case.severity)
    assert tuple(other["check"] for other in others) == case.failing
    assert all(other["message"].startswith("The check failed: ") for other in others)
    assert case.message in finding["message"]
    assert case.repair.format(table=f"lite.{name}") in finding["repair"]
    assert not example or example in finding["examples"][0].replace("file:", "")


REPAIRED = ("row ids", "row ids above the next row id")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damaged", "case"), [(3, CASES[name]) for name in REPAIRED], ids=REPAIRED, indirect=["damaged"]
)
def test_the_statement_of_a_repair_keeps_the_rows(spark: SparkSession, damaged: DamagedTable, case: Case) -> None:
    case.damage(damaged)
    (finding,) = entries.check_row_ids(damaged.table)[1]
    rows = sorted(spark.table(damaged.table.name).collect())
    statement = re.search(r"INSERT OVERWRITE .* SELECT \* FROM [\w.]+", finding.repair)
    assert statement is not None
    spark.sql(statement[0])
    assert entries.check_row_ids(damaged.table)[1] == []
    assert sorted(spark.table(damaged.table.name).collect()) == rows


@pytest.mark.slow
@pytest.mark.parametrize("damaged", [2, 3, 4], indirect=True)
def test_tables_with_deletes_of_each_kind_have_correct_totals(damaged: DamagedTable) -> None:
    table = damaged.table
    table._spark.sql(f"INSERT INTO {table.name} SELECT id, 's', 1.0D FROM range(10, 20, 1, 1)")
    table.delete("id IN (12, 13)")
    table.upsert([(0, "b", 2.0), (11, "b", 2.0)], keys=["id"])
    totals = storage._totals(table)
    assert (totals["total-records"], totals["total-position-deletes"], totals["total-equality-deletes"]) == (15, 2, 2)
    assert storage.check_totals(table)[1] == []
