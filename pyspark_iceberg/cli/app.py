"""The application: options of the catalog, and the commands."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from pyspark_iceberg import __version__
from pyspark_iceberg.cli import doctor, maintenance, metadata, reports, statements
from pyspark_iceberg.cli.context import Catalog, Group, pairs

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Examine, query and maintain Iceberg tables.",
    epilog="Exit codes: 0 success, 1 failure, 2 wrong usage, 3 findings of doctor, 130 interrupted.",
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"iceberg-lite {__version__}")
        raise typer.Exit


@app.callback()
def catalog(
    context: typer.Context,
    name: Annotated[Optional[str], typer.Option("--catalog", help="Name of a catalog in .pyiceberg.yaml")] = None,
    kind: Annotated[Optional[str], typer.Option("--catalog-type", help="hadoop, jdbc, rest or hive")] = None,
    warehouse: Annotated[Optional[str], typer.Option(help="Location of the tables: a directory or a URI")] = None,
    uri: Annotated[Optional[str], typer.Option(help="URI of a database, REST server or Hive Metastore")] = None,
    properties: Annotated[
        Optional[list[str]], typer.Option("--property", metavar="KEY=VALUE", help="Further property of the catalog")
    ] = None,
    settings: Annotated[
        Optional[list[str]], typer.Option("--conf", metavar="KEY=VALUE", help="Setting of Spark")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit")
    ] = False,
) -> None:
    """Examine, query and maintain Iceberg tables."""
    context.obj = Catalog(name, kind, warehouse, uri, pairs(properties, "--property"), pairs(settings, "--conf"))


metadata.add_to(app)
statements.add_to(app)
maintenance.add_to(app)
app.command(name="doctor")(doctor.doctor)
app.command(name="report")(reports.report)
