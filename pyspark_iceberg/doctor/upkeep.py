"""Checks by the connector's own procedures: the metadata tree, orphan files, and maintenance that is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_iceberg.call import literal
from pyspark_iceberg.doctor.findings import EXAMPLES, Finding, Result, outcome

if TYPE_CHECKING:
    from pyspark_iceberg.table import Table

# The procedures of actions of the metadata table `health`; `maintain` runs the other actions.
_CALLS = {
    "rewrite_data_files": "CALL system.rewrite_data_files({})",
    "rewrite_position_delete_files": "CALL system.rewrite_position_delete_files({})",
    "convert_equality_deletes": "CALL system.convert_equality_deletes({})",
    "rewrite_manifests": "CALL system.rewrite_manifests({})",
    "expire_snapshots": "CALL system.expire_snapshots({})",
    "compute_table_stats": "CALL system.compute_table_stats({})",
    "compute_partition_stats": "CALL system.compute_partition_stats({})",
    "remove_orphan_files": "CALL system.remove_orphan_files({})",
}


def repair_command(table: str, action: str) -> str:
    """Return the statement that runs an action of the metadata table `health`. `maintain` runs all due actions."""
    return _CALLS.get(action, "CALL system.maintain({})").format(literal(table))


def check_tree(table: Table) -> Result:
    """Check the metadata tree of a table of format version 4."""
    name = "metadata tree"
    if table.format_version < 4:
        return outcome(name, "not in this format version", [])
    if table.current_snapshot_id is None:
        return outcome(name, "the table has no snapshot", [])
    rows = table.validate_tree()
    examples = [", ".join(str(value) for value in row if value is not None) for row in rows[:EXAMPLES]]
    repair = f"CALL system.rewrite_manifests({literal(table.name)}) writes the tree again"
    message = f"The metadata tree violates {len(rows)} rules"
    return outcome(name, "current snapshot", [Finding(name, "error", message, repair, examples)] if rows else [])


def check_orphans(table: Table) -> Result:
    """Find files in the table's directory that the table does not need and that are older than three days."""
    name = "orphan files"
    if str(table.properties.get("gc.enabled", "true")).lower() == "false":
        return outcome(name, "not searched, because the table has gc.enabled=false", [])
    rows = table.remove_orphan_files(dry_run=True)
    examples = [row.orphan_file_location for row in rows[:EXAMPLES]]
    message = f"{len(rows)} files are not needed by the table and are older than 3 days"
    repair = f"CALL system.remove_orphan_files({literal(table.name)})"
    findings = [Finding(name, "warning", message, repair, examples)] if rows else []
    return outcome(name, "directory of the table", findings)


def check_health(table: Table) -> Result:
    """Report the maintenance that is due according to the metadata table `health`."""
    name = "health"
    due = table.metadata("health").where("is_due").collect()
    findings = [Finding(name, "note", row["reason"], repair_command(table.name, row["action"])) for row in due]
    return outcome(name, "metadata table health", findings)
