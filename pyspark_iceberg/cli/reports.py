"""The command report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pyspark_iceberg.cli.context import catalog_of
from pyspark_iceberg.cli.metadata import TableName


def report(
    context: typer.Context,
    table: TableName,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write")] = Path("report.html"),
    health: Annotated[bool, typer.Option(help="Measure the health of the table with Spark")] = True,
) -> None:
    """Write a page about the state of a table. Without the health of the table, Spark is not started."""
    from pyspark_iceberg.report.page import write_report

    catalog = catalog_of(context)
    if health:
        with catalog.table(table) as opened:
            opened.report(output)
    else:
        with catalog.source(table) as source:
            write_report(source, output)
    typer.echo(f"Wrote {output}")
