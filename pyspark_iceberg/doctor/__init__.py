"""Checks of an entire table: its files, their counts and bounds, sequence numbers, row ids, and orphan files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_iceberg.doctor.findings import Check, Diagnosis, Finding

if TYPE_CHECKING:
    from pyspark_iceberg.table import Table

__all__ = ["Check", "Diagnosis", "Finding", "check"]


def check(table: Table, *, sample: int = 20) -> Diagnosis:
    """Check a table. Nothing is changed.

    Args:
        table: the table.
        sample: the number of data files whose rows are read. These are the largest files; a check of all files reads
            the whole table.
    """
    from pyspark_iceberg.doctor import entries, rows, storage, upkeep

    results = [
        storage.check_files(table),
        storage.check_totals(table),
        entries.check_sequence_numbers(table),
        entries.check_duplicates(table),
        entries.check_row_ids(table),
        rows.check_rows(table, sample),
        upkeep.check_tree(table),
        upkeep.check_orphans(table),
        upkeep.check_health(table),
    ]
    return Diagnosis([done for done, _ in results], [f for _, findings in results for f in findings])
