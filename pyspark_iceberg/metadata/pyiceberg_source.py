"""Catalogs and tables that PyIceberg reads, without Spark."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark_iceberg.fields import Columns
from pyspark_iceberg.metadata import files
from pyspark_iceberg.metadata.errors import MetadataError, UnreadableError
from pyspark_iceberg.metadata.model import FileInfo, ManifestInfo, RefInfo, SnapshotInfo, TableInfo
from pyspark_iceberg.metadata.names import name_parts
from pyspark_iceberg.metadata.settings import CatalogSettings

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot

_CONTENT = ("data", "position deletes", "equality deletes")


def table_names(settings: CatalogSettings, namespace: str | None = None) -> list[str]:
    """Return the names of the tables of a catalog, or of a namespace and the namespaces inside of it.

    Raises:
        MetadataError: the catalog cannot be read.
    """
    wanted = tuple(name_parts(namespace)) if namespace else ()
    properties = settings.for_pyiceberg()
    if settings.type == "hadoop":
        names: Iterator[tuple[str, ...]] = files.table_names(settings.properties["warehouse"], properties, wanted)
    else:
        names = _catalog_tables(settings, wanted)
    with _reading(f"the catalog {settings.name}"):
        return [".".join(map(_part, name)) for name in names]


def open_table(settings: CatalogSettings | None, name: str) -> PyIcebergSource:
    """Open a table by its name in the catalog, by its directory, or by a metadata file.

    Args:
        settings: the catalog; may be absent for a directory or a metadata file.
        name: the name, or a path with a slash.

    Raises:
        MetadataError: the table does not exist.
        UnreadableError: PyIceberg cannot read the table, for example because of its format version.
    """
    try:
        return PyIcebergSource(name, _load(settings, name))
    except MetadataError:
        raise
    except Exception as error:
        if type(error).__name__ in ("NoSuchTableError", "NoSuchNamespaceError", "FileNotFoundError"):
            raise MetadataError(f"The table {name} does not exist: {error}{_suggestion(settings, name)}") from error
        raise UnreadableError(f"PyIceberg cannot read {name}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Return the text of an error in one line. The errors of Pydantic, which PyIceberg repeats, have several."""
    from pydantic import ValidationError

    original = error.__cause__ if isinstance(error.__cause__, ValidationError) else error
    if isinstance(original, ValidationError):
        first = original.errors(include_url=False, include_input=False)[0]
        if first["type"] == "union_tag_invalid":
            return f"its format version is {first['ctx']['tag']}"
        return ": ".join([".".join(map(str, first["loc"])), first["msg"]])
    return " ".join(str(error).split())


def _load(settings: CatalogSettings | None, name: str) -> Table:
    if "/" in name:
        return files.load(name, settings.for_pyiceberg() if settings else {})
    if settings is None:
        raise MetadataError(f"Specify the catalog of {name}, or the directory of the table")
    parts = name_parts(name)
    if settings.type == "hadoop":
        try:
            return files.load("/".join((settings.properties["warehouse"], *parts)), settings.for_pyiceberg())
        except MetadataError as error:
            advice = _suggestion(settings, name) or (
                f". The name {name} must begin with a namespace, without a catalog; "
                "the command `tables` lists the names"
            )
            raise MetadataError(f"{error}{advice}") from error
    found: Table = _catalog(settings).load_table(tuple(parts))
    return found


def _suggestion(settings: CatalogSettings | None, name: str) -> str:
    """Return a question that names the table of the namespace whose name is most similar; empty if there is none."""
    if settings is None or "/" in name:
        return ""
    *namespace, table = name_parts(name)
    if not namespace:
        return ""
    try:
        found = _similar(settings, tuple(namespace), table)
    except Exception:  # The error to report is that the table does not exist.
        return ""
    return f". Did you mean {'.'.join(map(_part, found))}?" if found else ""


def _similar(settings: CatalogSettings, namespace: tuple[str, ...], table: str) -> tuple[str, ...] | None:
    warehouse, properties = settings.properties.get("warehouse", ""), settings.for_pyiceberg()
    is_hadoop = settings.type == "hadoop"
    children: Iterable[tuple[str, ...]] = (
        files.names_of_children(warehouse, properties, namespace)
        if is_hadoop
        else _catalog(settings).list_tables(namespace)
    )
    known = {child[-1].lower(): tuple(child) for child in children}
    closest = difflib.get_close_matches(table.lower(), known, 1, cutoff=0.75)
    found = known[closest[0]] if closest else None
    # A directory of a file-system catalog may also be a namespace.
    return found if found is None or not is_hadoop or files.is_table(warehouse, properties, found) else None


def _catalog(settings: CatalogSettings) -> Any:
    from pyiceberg.catalog import load_catalog

    return load_catalog(settings.properties.get("catalog-name", settings.name), **settings.for_pyiceberg())


def _catalog_tables(settings: CatalogSettings, namespace: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    try:
        catalog = _catalog(settings)
        pending = [namespace] if namespace else sorted(catalog.list_namespaces())
        while pending:
            parent = pending.pop(0)
            yield from sorted(catalog.list_tables(parent))
            # Catalogs with one level of namespaces return all namespaces, or an error.
            if settings.type != "hive":
                pending += sorted(n for n in catalog.list_namespaces(parent) if n[:-1] == parent)
    except Exception as error:
        raise MetadataError(f"Cannot list the tables of the catalog {settings.name}: {error}") from error


def _part(part: str) -> str:
    """Return a part of a name; with backticks only if it contains a dot, because shells interpret backticks."""
    return f"`{part.replace('`', '``')}`" if "." in part or "`" in part else part


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Raise each error of PyIceberg as an `UnreadableError`."""
    try:
        yield
    except MetadataError:
        raise
    except Exception as error:
        raise UnreadableError(f"PyIceberg cannot read {name}: {_reason(error)}") from error


class PyIcebergSource:
    """The metadata of a table that PyIceberg has opened. Its methods raise `MetadataError` only."""

    def __init__(self, name: str, table: Table) -> None:
        self._name = name
        self._table = table

    def table(self) -> TableInfo:
        """Return the description of the table."""
        with _reading(self._name):
            return self._described()

    def _described(self) -> TableInfo:
        metadata = self._table.metadata
        # Spark describes a table by the same JSON, so that both descriptions look alike.
        columns = Columns(self._table.schema().model_dump_json())
        return TableInfo(
            self._name,
            metadata.location,
            metadata.format_version,
            columns.top_level(),
            [str(field) for field in columns.partitioning(self._table.spec().model_dump_json())],
            ", ".join(map(str, columns.sort_order(self._table.sort_order().model_dump_json()))) or None,
            dict(metadata.properties),
            metadata.current_snapshot_id,
        )

    def snapshots(self) -> list[SnapshotInfo]:
        """Return the snapshots, oldest first."""
        with _reading(self._name):
            return sorted((_snapshot(s) for s in self._table.metadata.snapshots), key=lambda s: s.committed_at)

    def refs(self) -> list[RefInfo]:
        """Return the branches and tags, ordered by name."""
        with _reading(self._name):
            refs = sorted(self._table.metadata.refs.items())
            return [RefInfo(name, str(ref.snapshot_ref_type.value), ref.snapshot_id) for name, ref in refs]

    def files(self, snapshot_id: int) -> list[FileInfo]:
        """Return the live files of a snapshot."""
        with _reading(self._name):
            snapshot = self._table.metadata.snapshot_by_id(snapshot_id)
            if snapshot is None:
                raise MetadataError(f"{self._name} has no snapshot {snapshot_id}")
            return list(self._files(snapshot))

    def manifests(self) -> list[ManifestInfo]:
        """Return the manifests of the current snapshot."""
        with _reading(self._name):
            snapshot = self._table.metadata.current_snapshot()
            if snapshot is None:
                return []
            return [
                ManifestInfo(
                    "deletes" if int(m.content) else "data",
                    m.manifest_path,
                    m.manifest_length,
                    (m.added_files_count or 0) + (m.existing_files_count or 0),
                )
                for m in snapshot.manifests(self._table.io)
            ]

    def _files(self, snapshot: Snapshot) -> Iterator[FileInfo]:
        specs, io = self._table.specs(), self._table.io
        types = {f.field_id: (f.name, f.field_type) for f in self._table.schema().fields if f.field_type.is_primitive}
        for manifest in snapshot.manifests(io):
            fields = specs[manifest.partition_spec_id].fields
            sources = [self._type(f.source_id) for f in fields]
            for entry in manifest.fetch_manifest_entry(io, discard_deleted=True):
                file = entry.data_file
                yield FileInfo(
                    _content(file),
                    file.file_path,
                    str(getattr(file.file_format, "value", file.file_format)).lower(),
                    {
                        f.name: _value(f.transform, source, file.partition[i])
                        for i, (f, source) in enumerate(zip(fields, sources))
                        if str(f.transform) != "void"
                    },
                    file.record_count,
                    file.file_size_in_bytes,
                    _bounds(file, types),
                )

    def _type(self, field_id: int) -> Any:
        """Return the type of a column, also of one that the current schema no longer has; None if no schema has it."""
        schemas = [self._table.schema(), *reversed(self._table.schemas().values())]
        return next((s.find_type(field_id) for s in schemas if s.find_column_name(field_id) is not None), None)


def _value(transform: Any, source: Any, value: Any) -> Any:
    """Return a partition value. Dates and times, which PyIceberg represents by numbers, are returned as text."""
    if value is None or source is None or isinstance(value, (str, bool)):
        return value
    text = transform.to_human_string(source, value)
    return value if text == str(value) else text


def _snapshot(snapshot: Snapshot) -> SnapshotInfo:
    summary = snapshot.summary
    operation = None if summary is None else str(summary.operation.value)
    return SnapshotInfo(
        snapshot.snapshot_id,
        snapshot.parent_snapshot_id,
        datetime.datetime.fromtimestamp(snapshot.timestamp_ms / 1000, datetime.timezone.utc),
        operation,
        {} if summary is None else dict(summary.additional_properties),
    )


def _content(file: DataFile) -> str:
    if int(file.content) == 1 and str(file.file_format).upper().endswith("PUFFIN"):
        return "deletion vector"
    return _CONTENT[int(file.content)]


def _bounds(file: DataFile, types: dict[int, tuple[str, Any]]) -> dict[str, tuple[Any, Any]]:
    from pyiceberg.conversions import from_bytes

    lower, upper = file.lower_bounds or {}, file.upper_bounds or {}
    return {
        types[i][0]: (from_bytes(types[i][1], lower[i]), from_bytes(types[i][1], upper[i]))
        for i in lower.keys() & upper.keys() & types.keys()
    }
