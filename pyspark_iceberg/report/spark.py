"""Reports of a table in a Spark session, with its health."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pyspark_iceberg.metadata.spark_source import SparkSource
from pyspark_iceberg.report.facts import Facts, HealthFinding, collect

if TYPE_CHECKING:
    from pyspark_iceberg.table import Table


def write(table: Table, path: str | os.PathLike[str]) -> None:
    """Write the report of a table.

    Raises:
        MetadataError: a package of the extra `report` is not installed.
    """
    from pyspark_iceberg.report.page import write_report

    write_report(SparkSource(table), path, health(table))


def plots(table: Table) -> dict[str, Any]:
    """Return the plots of the report of a table, by their names."""
    from pyspark_iceberg.report import figures

    return dict(figures.plots(facts(table)))


def facts(table: Table) -> Facts:
    """Return the facts of the report of a table."""
    return collect(SparkSource(table), health(table))


def health(table: Table) -> list[HealthFinding]:
    """Return the maintenance actions of a table, those with the highest gain first."""
    from pyspark_iceberg.doctor.upkeep import repair_command

    return [
        HealthFinding(row["action"], row["is_due"], row["reason"], repair_command(table.name, row["action"]))
        for row in table.metadata("health").collect()
    ]
