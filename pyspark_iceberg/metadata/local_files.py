"""Local files for PyIceberg, without pyarrow, whose import takes longer than all other work of a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyiceberg.io import PY_IO_IMPL, FileIO, InputFile, InputStream, OutputFile, load_file_io
from pyiceberg.typedef import EMPTY_DICT, Properties


def local_path(location: str) -> Path | None:
    """Return the path of a location on the local disk: `/t`, `file:/t` or `file:///t`. Return None for other locations.

    Locations of Iceberg are no URIs: the character `%` is a part of the path.
    """
    path = location.removeprefix("file:")
    if path.startswith("///"):
        path = path[2:]
    return Path(path) if path.startswith("/") and not path.startswith("//") else None


class LocalFileIO(FileIO):
    """Reads local files. PyIceberg's own classes do everything else."""

    def __init__(self, properties: Properties = EMPTY_DICT) -> None:
        super().__init__(properties)
        self._others: dict[str, FileIO] = {}

    def new_input(self, location: str) -> InputFile:
        """Return a file to read."""
        path = local_path(location)
        return self._other(location).new_input(location) if path is None else _LocalInputFile(location, path)

    def new_output(self, location: str) -> OutputFile:
        """Return a file to write."""
        return self._other(location).new_output(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Delete a file."""
        name = location if isinstance(location, str) else location.location
        self._other(name).delete(location)

    def _other(self, location: str) -> FileIO:
        scheme = location.partition(":")[0]
        if scheme not in self._others:
            properties = {key: value for key, value in self.properties.items() if key != PY_IO_IMPL}
            self._others[scheme] = load_file_io(properties, location)
        return self._others[scheme]


class _LocalInputFile(InputFile):
    def __init__(self, location: str, path: Path) -> None:
        super().__init__(location)
        self._path = path

    def __len__(self) -> int:
        return self._path.stat().st_size

    def exists(self) -> bool:
        return self._path.exists()

    def open(self, seekable: bool = True) -> InputStream:
        # The metadata of a table may name any file. A read of a pipe or of a device might never end.
        if self._path.exists() and not self._path.is_file():
            raise OSError(f"{self.location} is not a regular file")
        stream: Any = self._path.open("rb")
        result: InputStream = stream
        return result
