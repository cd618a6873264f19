"""Commands that maintain a table: maintain, expire and compact."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from pyspark_iceberg.cli.context import FAILURE, catalog_of
from pyspark_iceberg.cli.metadata import TableName
from pyspark_iceberg.cli.output import Json, write_json, write_pairs, write_table
from pyspark_iceberg.metadata.units import size

if TYPE_CHECKING:
    from pyspark_iceberg.table import Table

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what the command would do, without changing anything")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (maintain, expire, compact):
        app.command()(command)


def maintain(
    context: typer.Context,
    table: TableName,
    dry_run: DryRun = False,
    max_bytes: Annotated[Optional[int], typer.Option(min=0, help="Maximum number of bytes to rewrite")] = None,
    max_seconds: Annotated[Optional[int], typer.Option(min=0, help="Seconds after which no step is started")] = None,
    orphans: Annotated[bool, typer.Option("--remove-orphan-files", help="Also remove orphan files")] = False,
    json: Json = False,
) -> None:
    """Run the maintenance steps that are due, the step with the highest gain first."""
    limits = {"max-bytes": max_bytes, "max-seconds": max_seconds}
    options: dict[str, str | int] = {key: value for key, value in limits.items() if value is not None}
    if orphans:
        options["remove-orphan-files"] = "true"
    with _with_progress(context, table) as opened:
        steps = opened.maintain(options or None, dry_run=dry_run)
    if json:
        write_json([step._asdict() for step in steps])
    else:
        rows = [
            (s.action, s.status, s.files_before, s.files_after, size(s.bytes_rewritten), s.message or s.reason)
            for s in steps
        ]
        write_table(f"Maintenance of {table}", ["step", "status", "files", "after", "rewritten", "reason"], rows)
    if any(step.status == "failed" for step in steps):
        raise typer.Exit(FAILURE)


def expire(
    context: typer.Context,
    table: TableName,
    older_than: Annotated[
        Optional[str],
        typer.Option(
            metavar="TIME",
            help="Expire snapshots committed before this time, such as 2026-01-31 or 2026-01-31T08:00:00+01:00; in "
            "UTC if it has no offset",
        ),
    ] = None,
    retain_last: Annotated[Optional[int], typer.Option(min=1, help="Minimum number of snapshots to keep")] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Expire old snapshots, and delete the files that only they need."""
    before = None if older_than is None else _time("--older-than", older_than)
    with _with_progress(context, table) as opened:
        result = opened.expire_snapshots(older_than=before, retain_last=retain_last, dry_run=dry_run)
    _write_result(f"{'Would expire' if dry_run else 'Expired'} snapshots of {table}", result, json)


def compact(
    context: typer.Context,
    table: TableName,
    where: Annotated[
        Optional[str], typer.Option(help="Rewrite only files that may have rows that satisfy this condition")
    ] = None,
    sort_by: Annotated[Optional[str], typer.Option(help="Sort order, such as 'a, b DESC'")] = None,
    zorder_by: Annotated[Optional[list[str]], typer.Option(help="Column of a Z-order; repeat for each column")] = None,
    all_files: Annotated[bool, typer.Option("--all", help="Rewrite all files, not only those that need it")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Combine small data files, remove deleted rows from files, and sort rows if an order is given."""
    if sort_by and zorder_by:
        raise typer.BadParameter("--sort-by and --zorder-by exclude each other")
    order = f"zorder({', '.join(zorder_by)})" if zorder_by else sort_by
    with _with_progress(context, table) as opened:
        result = opened.rewrite_data_files(
            strategy="sort" if order else None,
            sort_order=order,
            options={"rewrite-all": "true"} if all_files else None,
            where=where,
            dry_run=dry_run,
        )
    _write_result(f"{'Would rewrite' if dry_run else 'Rewrote'} data files of {table}", result, json)


def _time(option: str, text: str) -> datetime.datetime:
    """Parse the time in an option; without an offset, it is in UTC, like the times that the commands show."""
    try:
        # Python 3.9 does not know the offset Z.
        time = datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is not a time in ISO 8601, such as 2026-01-31 or 2026-01-31T08:00:00+01:00", param_hint=option
        ) from error
    return time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)


@contextmanager
def _with_progress(context: typer.Context, name: str) -> Iterator[Table]:
    """Open a table, and show progress bars if stderr is a terminal and tqdm is installed."""
    import sys
    from importlib.util import find_spec

    from pyspark_iceberg.progress import show_progress

    with catalog_of(context).table(name) as table:
        has_bars = sys.stderr.isatty() and find_spec("tqdm") is not None
        with show_progress(table._spark) if has_bars else nullcontext():
            yield table


def _write_result(title: str, result: Any, json: bool) -> None:
    values = {key: _named(value) for key, value in result._asdict().items()}
    if json:
        write_json(values)
    else:
        shown = {key: value for key, value in values.items() if value is not None and value != []}
        write_pairs(title, {_words(key): _text(key, value) for key, value in shown.items()})


def _named(value: object) -> object:
    """Convert the rows of a list, such as the groups of a compaction, to dictionaries, so that JSON has their names."""
    from pyspark.sql import Row

    return [row.asDict() if isinstance(row, Row) else row for row in value] if isinstance(value, list) else value


def _words(name: str) -> str:
    return name.replace("_count", "").replace("_", " ")


def _text(name: str, value: object) -> object:
    if isinstance(value, int) and "bytes" in name:
        return size(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    if any(isinstance(element, dict) for element in value):
        shown = ({name: v for name, v in row.items() if v not in (None, "")} for row in value)
        return "\n".join(", ".join(f"{_words(k)} {_text(k, v)}" for k, v in row.items()) for row in shown)
    return ", ".join(map(str, value))
