"""The command doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from pyspark_iceberg.cli.context import FINDINGS, catalog_of
from pyspark_iceberg.cli.metadata import TableName
from pyspark_iceberg.cli.output import Json, visible, write_json


def doctor(
    context: typer.Context,
    table: TableName,
    sample: Annotated[int, typer.Option(min=0, help="Number of data files whose rows are read")] = 20,
    json: Json = False,
) -> None:
    """Check an entire table: files, sizes, counts, bounds, sequence numbers, row ids and orphan files.

    The exit code is 3 if the table is damaged, or if a check failed.
    """
    from pyspark_iceberg.doctor import check

    with catalog_of(context).table(table) as opened:
        result = check(opened, sample=sample)
    if json:
        write_json({"checks": result.checks, "findings": result.findings})
    else:
        for done in result.checks:
            typer.echo(visible(f"{done.name}: {done.outcome}"))
        for finding in result.findings:
            typer.secho(f"\n{finding.severity.upper()} {finding.check}: ", bold=True, nl=False)
            typer.echo(visible(finding.message))
            for example in finding.examples:
                typer.echo(f"  {visible(example)}")
            typer.echo(f"  Repair: {visible(finding.repair)}")
        typer.echo("" if result.findings else "\nNo findings")
    if result.is_damaged:
        raise typer.Exit(FINDINGS)
