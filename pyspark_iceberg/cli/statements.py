"""Commands that run statements: sql, shell and import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from pyspark_iceberg.cli.context import catalog_of
from pyspark_iceberg.cli.output import Json, write_json, write_table
from pyspark_iceberg.metadata.errors import MetadataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SOURCE_HELP = "A directory or glob of Parquet files, with a slash, or the name of a table of Spark or Hive"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(sql)
    app.command()(shell)
    app.command(name="import")(import_files)


def sql(
    context: typer.Context,
    text: Annotated[
        str,
        typer.Argument(metavar="STATEMENTS", help="Statements in Spark SQL, separated by semicolons; - reads stdin"),
    ],
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of rows to show for each statement")] = 1000,
    json: Json = False,
) -> None:
    """Run statements in Spark SQL and show their rows. The first statement that fails ends the command."""
    import sys

    from pyspark_iceberg.cli.script import statements

    found = list(statements(sys.stdin.read() if text == "-" else text))
    if not found:
        raise typer.BadParameter("There is no statement to run", param_hint="STATEMENTS")
    if json and len(found) > 1:
        raise typer.BadParameter("--json allows one statement, because its output is one list of rows")
    with catalog_of(context).session() as spark:
        for statement in found:
            _show(spark.sql(statement), limit, json)


def _show(frame: DataFrame, limit: int, json: bool) -> None:
    if not frame.columns:
        return
    if json:
        _check_names(frame.columns)
    rows = _rows(frame.limit(limit + 1))
    if json:
        write_json([dict(zip(frame.columns, row)) for row in rows[:limit]])
    else:
        write_table("", frame.columns, [map(_cell, row) for row in rows[:limit]], has_separators=False)
    if len(rows) > limit:
        typer.echo(f"Only the first {limit} rows are shown (--limit)", err=True)


def shell(context: typer.Context) -> None:
    """Start a Python shell with a Spark session `spark` and the class `Table`.

    If standard input is not a terminal, it is run as a Python program, which ends at its first error.
    """
    from pyspark_iceberg.shell import interact

    with catalog_of(context).session(runs_python=True) as spark:
        interact(spark)


def import_files(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help=_SOURCE_HELP)],
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Name of the table that receives the files")],
) -> None:
    """Add the files of a directory or a table of Spark or Hive to a table, without copying them.

    A table that does not exist is created: from a directory with the columns and partitions of the files, from a
    table by the procedure `snapshot`.
    """
    with catalog_of(context).session() as spark:
        files = _import(spark, source, table)
    typer.echo(f"Imported {files:,} data {'file' if files == 1 else 'files'} into {table}")


def _import(spark: SparkSession, source: str, table: str) -> int:
    from pyspark_iceberg.metadata.names import identifier, qualified
    from pyspark_iceberg.procedures import snapshot
    from pyspark_iceberg.table import Table

    name = qualified(spark.catalog.currentCatalog(), table)
    if "/" not in source:
        if not Table.exists(spark, name):
            return int(snapshot(spark, name, source).imported_files_count)
        return int(Table(spark, name).add_files(source).added_files_count)
    if not Table.exists(spark, name):
        frame = spark.read.parquet(source)
        builder = Table.create(spark, name).partitioned_by(*map(identifier, _partition_columns(frame)))
        for field in frame.schema.fields:
            builder = builder.column(field.name, field.dataType)
        builder.execute()
    return int(Table(spark, name).add_files(f"parquet.{identifier(source)}").added_files_count)


def _partition_columns(frame: DataFrame) -> list[str]:
    """Return the columns whose values are in the names of directories, such as `day=2024-06-01`."""
    from urllib.parse import unquote

    first = next(iter(frame.inputFiles()), "")
    names = [unquote(part.partition("=")[0]) for part in first.split("/")[:-1] if "=" in part]
    return [name for name in names if name in frame.columns]


def _check_names(columns: Sequence[str]) -> None:
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if repeated:
        raise MetadataError(
            f"Several columns have the name {', '.join(repeated)}, which JSON does not allow; give them aliases (AS)"
        )


def _rows(frame: DataFrame) -> list[list[object]]:
    """Return the values of rows by their position, because several columns may have the same name."""
    from pyspark_iceberg.cli.values import shown

    kinds = [field.dataType for field in frame.schema.fields]
    return [[shown(value, kind) for value, kind in zip(row, kinds)] for row in frame.collect()]


def _cell(value: object) -> Optional[object]:
    return value if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) else str(value)
