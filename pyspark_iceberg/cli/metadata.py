"""Commands that read metadata only: tables, describe, history, files and diff."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from pyspark_iceberg.cli.context import catalog_of
from pyspark_iceberg.cli.output import Json, visible, write_json, write_pairs, write_table
from pyspark_iceberg.metadata import partitions
from pyspark_iceberg.metadata.model import RefInfo, ancestors, resolve, total_bytes
from pyspark_iceberg.metadata.units import moment, size

TableName = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="Name of a table, or the path of its directory; a path must contain a slash, for example ./trips",
    ),
]
_DELETES = ("position deletes", "deletion vector", "equality deletes")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (tables, describe, history, files, diff):
        app.command()(command)


def tables(
    context: typer.Context,
    namespace: Annotated[Optional[str], typer.Argument(help="Namespace; by default, all namespaces")] = None,
    json: Json = False,
) -> None:
    """List the tables of the catalog or of a namespace."""
    names = catalog_of(context).table_names(namespace)
    if json:
        write_json(names)
    else:
        for name in names:
            typer.echo(visible(name))


def describe(context: typer.Context, table: TableName, json: Json = False) -> None:
    """Describe a table: columns, partitioning, properties, branches, tags and totals."""
    with catalog_of(context).source(table) as source:
        info, refs, snapshots = source.table(), source.refs(), source.snapshots()
    current = next((s for s in snapshots if s.snapshot_id == info.current_snapshot_id), None)
    totals = {k: v for k, v in sorted((current.summary if current else {}).items()) if k.startswith("total-")}
    if json:
        write_json({"table": info, "refs": refs, "snapshots": len(snapshots), "totals": totals})
        return
    facts = {
        "location": info.location,
        "format version": info.format_version,
        "partitioning": ", ".join(info.partitioning) or "none",
        "sort order": info.sort_order or "none",
        "snapshots": len(snapshots),
        "current snapshot": "none" if current is None else str(current.snapshot_id),
        "committed at": None if current is None else f"{moment(current.committed_at)} UTC",
    }
    write_pairs(table, facts)
    columns = [(c.name, c.type, "yes" if c.required else "", c.comment) for c in info.columns]
    write_table("Columns", ["name", "type", "required", "comment"], columns)
    if totals:
        write_pairs("Totals of the current snapshot", totals)
    if refs:
        write_table("Branches and tags", ["name", "kind", "snapshot"], _refs(refs))
    if info.properties:
        write_pairs("Properties", dict(sorted(info.properties.items())))


def history(
    context: typer.Context,
    table: TableName,
    limit: Annotated[Optional[int], typer.Option(min=1, help="Maximum number of snapshots, newest first")] = None,
    json: Json = False,
) -> None:
    """List the snapshots of a table, newest first."""
    with catalog_of(context).source(table) as source:
        info, refs, snapshots = source.table(), source.refs(), source.snapshots()
    current = {s.snapshot_id for s in ancestors(snapshots, info.current_snapshot_id)}
    rows: list[dict[str, Any]] = [
        {
            "snapshot_id": s.snapshot_id,
            "parent_id": s.parent_id,
            "committed_at": moment(s.committed_at),
            "operation": s.operation,
            "added_files": s.count("added-data-files") + s.count("added-delete-files"),
            "removed_files": s.count("deleted-data-files") + s.count("removed-delete-files"),
            "added_records": s.count("added-records"),
            "deleted_records": s.count("deleted-records"),
            "is_current_ancestor": s.snapshot_id in current,
            "refs": [r.name for r in refs if r.snapshot_id == s.snapshot_id],
        }
        for s in reversed(snapshots[-limit:] if limit else snapshots)
    ]
    if json:
        write_json(rows)
        return
    titles = ["snapshot", "committed (UTC)", "operation", "+files", "-files", "+records", "-records", "refs"]
    shown = [
        (
            str(r["snapshot_id"]),
            r["committed_at"],
            r["operation"],
            *tuple(r[key] for key in ("added_files", "removed_files", "added_records", "deleted_records")),
            ", ".join(r["refs"]) or ("" if r["is_current_ancestor"] else "(not in the current history)"),
        )
        for r in rows
    ]
    write_table(f"History of {table}", titles, shown)


def files(
    context: typer.Context,
    table: TableName,
    snapshot: Annotated[
        Optional[str], typer.Option("--snapshot", help="Snapshot id, branch or tag; by default the current snapshot")
    ] = None,
    limit: Annotated[Optional[int], typer.Option(min=1, help="Maximum number of files, largest first")] = None,
    json: Json = False,
) -> None:
    """List the data files and delete files of a snapshot, largest first."""
    with catalog_of(context).source(table) as source:
        current = source.table().current_snapshot_id
        chosen = current if snapshot is None else resolve(source, snapshot).snapshot_id
        found = [] if chosen is None else sorted(source.files(chosen), key=lambda f: (-f.bytes, f.path))
    shown = found[:limit] if limit else found
    if json:
        write_json([{k: v for k, v in vars(file).items() if k != "bounds"} for file in shown])
        return
    title = f"{len(found)} files of {table}, {size(total_bytes(found))}"
    rows = [(f.content, f.path, partitions.text(f.partition), f.records, size(f.bytes)) for f in shown]
    write_table(title, ["content", "path", "partition", "records", "size"], rows)


def diff(
    context: typer.Context,
    table: TableName,
    before: Annotated[str, typer.Argument(metavar="A", help="Snapshot id, branch or tag")],
    after: Annotated[str, typer.Argument(metavar="B", help="Snapshot id, branch or tag")],
    json: Json = False,
) -> None:
    """Compare two snapshots of a table: commits between them, and files that only one of them has."""
    from pyspark_iceberg.metadata import compare

    with catalog_of(context).source(table) as source:
        found = compare.diff(source, before, after)
    if json:
        write_json(
            {
                "before": found.before.snapshot_id,
                "after": found.after.snapshot_id,
                "commits": [{"snapshot_id": c.snapshot_id, "operation": c.operation} for c in found.commits],
                "files": [
                    {"change": c.change, **{k: v for k, v in vars(c.file).items() if k != "bounds"}}
                    for c in found.changes
                ],
            }
        )
        return
    rows = [
        (
            f"{name} {change}",
            found.count(change, *contents),
            found.records(change, *contents),
            size(found.bytes(change, *contents)),
        )
        for name, contents in (("data files", ("data",)), ("delete files", _DELETES))
        for change in ("added", "removed")
    ]
    write_table(
        f"{table}: {found.before.snapshot_id} to {found.after.snapshot_id}",
        ["change", "files", "records", "size"],
        rows,
    )
    commits = [(str(c.snapshot_id), moment(c.committed_at), c.operation) for c in found.commits]
    if commits:
        write_table("Commits", ["snapshot", "committed (UTC)", "operation"], commits)
    elif found.before.snapshot_id == found.after.snapshot_id:
        typer.echo("Both arguments are the same snapshot.")
    else:
        typer.echo("The first snapshot is not an ancestor of the second.")
    changes = [(c.change, c.file.content, c.file.path, c.file.records, size(c.file.bytes)) for c in found.changes]
    write_table("Files", ["change", "content", "path", "records", "size"], changes)


def _refs(refs: list[RefInfo]) -> list[tuple[str, str, str]]:
    return [(r.name, r.kind, str(r.snapshot_id)) for r in refs]
