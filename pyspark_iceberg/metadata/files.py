"""Tables of file-system catalogs for PyIceberg, which has no such catalog."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark_iceberg.metadata.errors import MetadataError

if TYPE_CHECKING:
    from pyiceberg.table import StaticTable

_VERSION = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json")
_NAMED = re.compile(r"(\d+)-[0-9a-f-]+(?:\.gz)?\.metadata\.json")


def table_names(warehouse: str, properties: Mapping[str, str], namespace: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Return the names of the tables of a warehouse or of a namespace, in the order of their directories.

    Raises:
        MetadataError: the directory of the warehouse or of the namespace does not exist.
    """
    directory = "/".join((warehouse.rstrip("/"), *namespace)) if namespace else warehouse
    fs, root = _file_system(directory, properties)
    yield from _tables(fs, root, namespace)


def names_of_children(
    warehouse: str, properties: Mapping[str, str], namespace: tuple[str, ...]
) -> list[tuple[str, ...]]:
    """Return the names of the tables and namespaces in a namespace, which are its directories, with one request.

    Raises:
        MetadataError: the directory of the namespace does not exist.
    """
    fs, root = _file_system("/".join((warehouse.rstrip("/"), *namespace)), properties)
    found = sorted(child for child, is_directory in _children(fs, root) if is_directory)
    return [(*namespace, child) for child in found if not child.startswith((".", "_"))]


def is_table(warehouse: str, properties: Mapping[str, str], name: tuple[str, ...]) -> bool:
    """Return whether a directory of a warehouse is that of a table."""
    fs, root = _file_system("/".join((warehouse.rstrip("/"), *name)), properties)
    try:
        return _has_metadata(fs, root)
    except MetadataError:
        return False


def load(location: str, properties: Mapping[str, str]) -> StaticTable:
    """Return the newest version of the table in a directory, or the table of a metadata file.

    Raises:
        MetadataError: there is no table.
    """
    from pyiceberg.table import StaticTable

    file = location if location.endswith(".metadata.json") else _newest(location.rstrip("/"), properties)
    return StaticTable.from_metadata(file, dict(properties))


def _tables(fs: Any, directory: str, name: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    children = sorted(child for child, is_directory in _children(fs, directory) if is_directory)
    if "metadata" in children and name and _has_metadata(fs, directory):
        yield name
        return
    for child in children:
        if not child.startswith((".", "_")):
            yield from _tables(fs, f"{directory}/{child}", (*name, child))


def _has_metadata(fs: Any, directory: str) -> bool:
    return any(map(_version, _names(fs, f"{directory}/metadata")))


def _newest(location: str, properties: Mapping[str, str]) -> str:
    fs, path = _file_system(location, properties)
    try:
        names = [name for name in _names(fs, f"{path}/metadata") if _version(name)]
    except MetadataError:
        names = []
    if not names:
        raise MetadataError(f"There is no table in {location}: it has no file such as metadata/v1.metadata.json")
    return f"{location}/metadata/{max(names, key=_version)}"


def _version(name: str) -> int:
    """Return 0 if the name is not that of a metadata file, else the version of the metadata file plus 1."""
    match = _VERSION.fullmatch(name) or _NAMED.fullmatch(name)
    return int(match.group(1)) + 1 if match else 0


def _names(fs: Any, directory: str) -> list[str]:
    return [name for name, _ in _children(fs, directory)]


def _children(fs: Any, directory: str) -> list[tuple[str, bool]]:
    """Return the names in a directory, and whether they are directories."""
    try:
        return _local_children(directory) if fs is None else _remote_children(fs, directory)
    except FileNotFoundError as error:
        raise MetadataError(f"The directory {directory} does not exist") from error


def _local_children(directory: str) -> list[tuple[str, bool]]:
    with os.scandir(directory) as entries:
        return [(entry.name, entry.is_dir()) for entry in entries]


def _remote_children(fs: Any, directory: str) -> list[tuple[str, bool]]:
    from pyarrow.fs import FileSelector, FileType

    return [(info.base_name, info.type == FileType.Directory) for info in fs.get_file_info(FileSelector(directory))]


def _file_system(location: str, properties: Mapping[str, str]) -> tuple[Any, str]:
    """Return the file system and the path of a location. The file system of the local disk is None."""
    from pyspark_iceberg.metadata.local_files import local_path

    if (local := local_path(location)) is not None:
        return None, str(local)
    from pyiceberg.io.pyarrow import PyArrowFileIO

    io = PyArrowFileIO(dict(properties))
    scheme, netloc, path = io.parse_location(location, dict(properties))
    return io.fs_by_scheme(scheme, netloc), path.rstrip("/")
