"""PyIceberg reads the metadata of tables of all names and states, and errors have one line. No test starts Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog

from pyspark_iceberg.metadata.names import qualified
from pyspark_iceberg.metadata.pyiceberg_source import open_table
from pyspark_iceberg.metadata.settings import CatalogSettings

ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "part": ["a", "b"]})


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """Return a catalog of PyIceberg whose tables have the layout of a file-system catalog."""
    uri = f"sqlite:///{tmp_path / 'catalog.db'}"
    found = SqlCatalog("default", uri=uri, warehouse=str(tmp_path))
    found.create_namespace("default")
    yield found
    found.close()


def create(catalog: Catalog, directory: Path, name: str) -> Any:
    """Create a table in the directory of its name."""
    return catalog.create_table(("default", name), ROWS.schema, location=str(directory / "default" / name))


@pytest.mark.parametrize("name", ["default.my-events", "default.`my-events`", "`default`.`my-events`"])
def test_a_name_has_the_parts_that_it_has_in_sql(catalog: Catalog, tmp_path: Path, name: str) -> None:
    create(catalog, tmp_path, "my-events")
    for settings in (
        CatalogSettings("default", "hadoop", {"warehouse": str(tmp_path)}),
        CatalogSettings("default", "jdbc", {"uri": f"jdbc:sqlite:{tmp_path / 'catalog.db'}"}),
    ):
        found = open_table(settings, name)
        assert [c.name for c in found.table().columns] == ["id", "part"]


def test_a_name_in_spark_begins_with_the_catalog() -> None:
    assert qualified("default", "default.t") == "default.default.t"
    assert qualified("my-lake", "db.my-table") == "`my-lake`.db.`my-table`"
    assert qualified("lite", "db.`a.b``c`") == "lite.db.`a.b``c`"
