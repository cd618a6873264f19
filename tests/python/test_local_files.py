"""The class that reads local files for PyIceberg. No test starts Spark."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pyiceberg.io import InputFile
from pyiceberg.io.pyarrow import PyArrowFileIO

from pyspark_iceberg.metadata.local_files import LocalFileIO, local_path


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("/t/v1.json", "/t/v1.json"),
        ("file:/t/v1.json", "/t/v1.json"),
        ("file:///t/v1.json", "/t/v1.json"),
        ("file:/a b/day=2024%2F01/x#1?.parquet", "/a b/day=2024%2F01/x#1?.parquet"),
        ("file://host/t", None),
        ("//host/t", None),
        ("t/v1.json", None),
        ("s3://bucket/t", None),
        ("hdfs:/t", None),
    ],
)
def test_only_absolute_paths_of_the_local_disk_are_local(location: str, path: str | None) -> None:
    assert local_path(location) == (path and Path(path))


@pytest.mark.parametrize("prefix", ["", "file:", "file://"])
def test_a_local_file_is_the_same_as_in_pyiceberg(tmp_path: Path, prefix: str) -> None:
    path = tmp_path / "a b%20"
    path.write_bytes(b"0123456789")
    files: list[InputFile] = [io.new_input(f"{prefix}{path}") for io in (LocalFileIO(), PyArrowFileIO())]
    for file in files:
        assert (len(file), file.exists(), file.location) == (10, True, f"{prefix}{path}")
        with file.open() as stream:
            stream.seek(4)
            assert (stream.read(3), stream.tell()) == (b"456", 7)


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    file = LocalFileIO().new_input(f"file:{tmp_path}/missing")
    assert not file.exists()
    with pytest.raises(FileNotFoundError, match="missing"):
        file.open()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_directories_and_pipes_are_errors(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "other")
    with pytest.raises(OSError, match="not a regular file"):
        LocalFileIO().new_input(f"{tmp_path}/other").open()


def test_other_files_and_changes_are_left_to_pyiceberg(tmp_path: Path) -> None:
    io = LocalFileIO({"py-io-impl": "pyspark_iceberg.metadata.local_files.LocalFileIO", "s3.region": "eu-west-1"})
    assert type(io.new_input("s3://bucket/t")).__module__ == "pyiceberg.io.pyarrow"
    location = f"file:{tmp_path}/new"
    with io.new_output(location).create() as out:
        out.write(b"x")
    assert len(io.new_input(location)) == 1
    io.delete(location)
    assert not io.new_input(location).exists()
