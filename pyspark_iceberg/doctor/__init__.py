"""Checks of an entire table: its files, their counts and bounds, sequence numbers, row ids, and orphan files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark_iceberg.doctor.findings import Check, Diagnosis, Finding, Result, not_checked

if TYPE_CHECKING:
    from pyspark_iceberg.table import Table

__all__ = ["Check", "Diagnosis", "Finding", "check"]


def check(table: Table, *, sample: int = 20) -> Diagnosis:
    """Check a table. Nothing is changed. A check that raises an error is a finding, and the other checks still run.

    Args:
        table: the table.
        sample: the number of data files whose rows are read. These are the largest files; a check of all files reads
            the whole table.
    """
    from pyspark_iceberg.doctor import entries, rows, storage, upkeep

    checks: dict[str, Callable[[], Result]] = {
        "files": lambda: storage.check_files(table),
        "totals": lambda: storage.check_totals(table),
        "sequence numbers": lambda: entries.check_sequence_numbers(table),
        "duplicates": lambda: entries.check_duplicates(table),
        "row ids": lambda: entries.check_row_ids(table),
        "rows": lambda: rows.check_rows(table, sample),
        "metadata tree": lambda: upkeep.check_tree(table),
        "orphan files": lambda: upkeep.check_orphans(table),
        "health": lambda: upkeep.check_health(table),
    }
    results = [_result(name, run) for name, run in checks.items()]
    return Diagnosis([done for done, _ in results], [f for _, findings in results for f in findings])


def _result(name: str, run: Callable[[], Result]) -> Result:
    try:
        return run()
    except Exception as error:
        return not_checked(name, error)
