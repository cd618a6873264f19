"""The command `report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from pyspark_iceberg.cli.context import catalog_of
from pyspark_iceberg.cli.metadata import TableName
from pyspark_iceberg.metadata.errors import MetadataError


def report(
    context: typer.Context,
    table: TableName,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write")] = Path("report.html"),
    health: Annotated[bool, typer.Option(help="Measure the health of the table with Spark")] = True,
) -> None:
    """Write an HTML report about the state of a table.

    With --no-health, Spark is started only if PyIceberg cannot read the table.
    """
    from pyspark_iceberg.report.page import write_report

    # Reading the table takes longer than this check.
    if output.is_dir() or not os.access(output if output.exists() else output.parent, os.W_OK):
        reason = "it is a directory, its directory is missing or not writable, or the file is read-only"
        raise MetadataError(f"Cannot write {output}: {reason}")
    catalog = catalog_of(context)
    if health:
        with catalog.table(table) as opened:
            opened.report(output)
    else:
        with catalog.source(table) as source:
            write_report(source, output)
    typer.echo(f"Wrote {output}")
