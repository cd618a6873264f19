"""Checks of the entries of manifests: sequence numbers, duplicates and row ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from pyspark_iceberg.call import literal
from pyspark_iceberg.doctor.findings import EXAMPLES, Finding, Result, outcome
from pyspark_iceberg.doctor.storage import java_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyspark_iceberg.table import Table

_ROLL_BACK = "Roll back to a snapshot without this error: CALL system.rollback_to_snapshot({table}, <snapshot id>)"
_NEW_ROW_IDS = (
    ". Or write the rows again with new row ids, if no other check finds an error and the table has no variants, whose "
    "values would be converted: INSERT OVERWRITE {table} SELECT * FROM {table}"
)


def check_sequence_numbers(table: Table) -> Result:
    """Check that no live entry has a data sequence number above that of the table or above its file sequence number."""
    name = "sequence numbers"
    highest = _highest(table)
    if highest is None:
        return outcome(name, "the highest sequence number of the table is not known", [])
    wrong = _live(table).where(
        (F.col("sequence_number") > F.lit(highest)) | (F.col("sequence_number") > F.col("file_sequence_number"))
    )
    rows = wrong.select("data_file.file_path", "sequence_number", "file_sequence_number").collect()
    examples = [f"{r[0]}: data sequence number {r[1]}, file sequence number {r[2]}" for r in rows[:EXAMPLES]]
    message = (
        f"{len(rows)} entries have a sequence number above that of the table ({highest}) or of their file. "
        "Deletes may apply to the wrong rows"
    )
    repair = _ROLL_BACK.format(table=literal(table.name))
    findings = [Finding(name, "error", message, repair, examples)] if rows else []
    return outcome(name, "live entries of the current snapshot", findings)


def _highest(table: Table) -> int | None:
    """Return the highest sequence number; None if the optional snapshot log does not have the current snapshot."""
    log = table.metadata("metadata_log_entries").select("latest_snapshot_id", "latest_sequence_number").collect()
    known = {row[0]: row[1] for row in log if row[1] is not None}
    return max(known.values()) if table.current_snapshot_id in known else None


def check_duplicates(table: Table) -> Result:
    """Check that the current snapshot contains each data file once, and at most one deletion vector for each."""
    name = "duplicates"
    live = _live(table).where("data_file.content = 0")
    files = live.groupBy("data_file.file_path").count().where("count > 1").collect()
    findings = []
    if files:
        message = f"{len(files)} data files occur more than once in the snapshot. Queries return their rows repeatedly"
        repair = _ROLL_BACK.format(table=literal(table.name))
        findings.append(Finding(name, "error", message, repair, [r[0] for r in files[:EXAMPLES]]))
    vectors = _live(table).where("data_file.content = 1 AND lower(data_file.file_format) = 'puffin'")
    twice = vectors.groupBy("data_file.referenced_data_file").count().where("count > 1").collect()
    if twice:
        message = f"{len(twice)} data files have more than one deletion vector, which the specification does not allow"
        repair = _ROLL_BACK.format(table=literal(table.name))
        findings.append(Finding(name, "error", message, repair, [str(r[0]) for r in twice[:EXAMPLES]]))
    return outcome(name, "live entries of the current snapshot", findings)


def check_row_ids(table: Table) -> Result:
    """Check that the ranges of row ids of data files do not overlap, and are below the next row id of the table."""
    name = "row ids"
    if table.format_version < 3:
        return outcome(name, "not in this format version", [])
    data_files = table.metadata("data_files").where("first_row_id IS NOT NULL")
    # An entry that repeats a file inherits other row ids than the first one. The check for duplicates reports it.
    first, records = F.min("first_row_id").alias("first_row_id"), F.max("record_count").alias("records")
    ranges = data_files.groupBy("file_path").agg(first, records)
    ranges = ranges.select("file_path", "first_row_id", (F.col("first_row_id") + F.col("records")).alias("end")).cache()
    try:
        ranges.count()
        # The number is read after the files. It only grows, so it is not too low if another writer commits meanwhile.
        return _compared(table, name, ranges, int(java_table(table).nextRowId().get()))
    finally:
        ranges.unpersist()


def _compared(table: Table, name: str, ranges: DataFrame, next_id: int) -> Result:
    window = Window.orderBy("first_row_id", "end").rowsBetween(Window.unboundedPreceding, -1)
    overlaps = ranges.withColumn("before", F.max("end").over(window)).where("before > first_row_id").collect()
    beyond = ranges.where(F.col("end") > next_id).orderBy("first_row_id", "file_path").collect()
    found = {
        f"The row ids of {len(overlaps)} data files overlap those of other files. Two rows may have the same row id": [
            row["file_path"] for row in overlaps
        ],
        f"{len(beyond)} data files have row ids that the table has not assigned, because its next-row-id is {next_id}. "
        "Rows that are added later may get the same row ids": [
            f"{row['file_path']}: row ids {row['first_row_id']} to {row['end'] - 1}" for row in beyond
        ],
    }
    repair = _ROLL_BACK.format(table=literal(table.name)) + _NEW_ROW_IDS.format(table=table.name)
    findings = [Finding(name, "error", text, repair, files[:EXAMPLES]) for text, files in found.items() if files]
    return outcome(name, f"ranges of all data files, next-row-id {next_id}", findings)


def _live(table: Table) -> DataFrame:
    return table.metadata("entries").where("status < 2")
