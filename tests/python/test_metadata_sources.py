"""PyIceberg reads the metadata of tables with unusual names or states. Commands report errors. No test starts Spark."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform
from pyspark import SparkContext
from typer.testing import CliRunner

from pyspark_iceberg.cli.app import app
from pyspark_iceberg.cli.context import Catalog as CatalogOptions
from pyspark_iceberg.cli.output import write_pairs, write_table
from pyspark_iceberg.metadata.errors import MetadataError, UnreadableError
from pyspark_iceberg.metadata.model import FileInfo, RefInfo, SnapshotInfo, TableInfo
from pyspark_iceberg.metadata.names import qualified
from pyspark_iceberg.metadata.pyiceberg_source import open_table, table_names
from pyspark_iceberg.metadata.settings import CatalogSettings, catalog_settings
from pyspark_iceberg.report.facts import Facts
from pyspark_iceberg.report.page import page

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


def test_the_tables_of_a_namespace_are_listed_with_the_names_that_commands_accept(
    catalog: Catalog, tmp_path: Path
) -> None:
    for name in ("my-events", "v1.0"):
        create(catalog, tmp_path, name)
    settings = CatalogSettings("default", "hadoop", {"warehouse": str(tmp_path)})
    listed = table_names(settings, "default")
    assert listed == table_names(settings) == ["default.my-events", "default.`v1.0`"]
    for name in listed:
        assert len(open_table(settings, name).table().columns) == 2
    with pytest.raises(MetadataError, match="default/other does not exist"):
        table_names(settings, "default.other")


@pytest.mark.parametrize("kind", ["hadoop", "jdbc"])
def test_an_absent_table_is_reported_with_a_similar_name(catalog: Catalog, tmp_path: Path, kind: str) -> None:
    for name in ("my-events", "orders"):
        create(catalog, tmp_path, name)
    properties = {"warehouse": str(tmp_path), "uri": f"jdbc:sqlite:{tmp_path / 'catalog.db'}"}
    settings = CatalogSettings("default", kind, properties)
    with pytest.raises(MetadataError, match=r"Did you mean default\.my-events\?$"):
        open_table(settings, "default.my_event")
    with pytest.raises(MetadataError, match=r"Did you mean default\.orders\?$"):
        open_table(settings, "default.ORDRS")
    (tmp_path / "default" / "archive" / "orders").mkdir(parents=True)
    for name in ("default.x", "other.my-events", "default.archives", "my-event"):
        with pytest.raises(MetadataError) as caught:
            open_table(settings, name)
        assert "Did you mean" not in str(caught.value)


def test_a_name_in_spark_begins_with_the_catalog() -> None:
    assert qualified("default", "default.t") == "default.default.t"
    assert qualified("my-lake", "db.my-table") == "`my-lake`.db.`my-table`"
    assert qualified("lite", "db.`a.b``c`") == "lite.db.`a.b``c`"


def test_a_dropped_partition_column_has_the_values_of_its_files(catalog: Catalog, tmp_path: Path) -> None:
    table = create(catalog, tmp_path, "dropped")
    with table.update_spec() as spec:
        spec.add_field("part", IdentityTransform(), "part")
    table.append(ROWS)
    with table.update_spec() as spec:
        spec.remove_field("part")
    with table.update_schema() as schema:
        schema.delete_column("part")
    source = open_table(None, str(tmp_path / "default" / "dropped"))
    snapshot_id = source.table().current_snapshot_id
    assert snapshot_id is not None
    assert sorted(f.partition["part"] for f in source.files(snapshot_id)) == ["a", "b"]


def test_a_missing_manifest_is_an_error_without_a_traceback(catalog: Catalog, tmp_path: Path) -> None:
    create(catalog, tmp_path, "damaged").append(ROWS)
    directory = tmp_path / "default" / "damaged"
    for manifest in directory.glob("metadata/*-m0.avro"):
        manifest.unlink()
    source = open_table(None, str(directory))
    snapshot_id = source.table().current_snapshot_id
    assert snapshot_id is not None
    with pytest.raises(UnreadableError, match="PyIceberg cannot read"):
        source.files(snapshot_id)
    shown = CliRunner().invoke(app, ["files", str(directory)])
    assert shown.exit_code == 1
    assert shown.output.startswith("Error: PyIceberg cannot read")
    assert "Traceback" not in shown.output


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("format-version", 4, "its format version is 4"),
        ("last-column-id", "many", "Input should be a valid integer, unable to parse string as an integer"),
    ],
)
def test_the_reason_why_pyiceberg_cannot_read_a_table_is_one_line(
    catalog: Catalog, tmp_path: Path, key: str, value: object, reason: str
) -> None:
    create(catalog, tmp_path, f"of_{key.replace('-', '_')}")
    directory = tmp_path / "default" / f"of_{key.replace('-', '_')}"
    newest = max(directory.glob("metadata/*.metadata.json"))
    newest.write_text(json.dumps({**json.loads(newest.read_text()), key: value}))
    with pytest.raises(UnreadableError) as raised:
        open_table(None, str(directory))
    assert re.fullmatch(f"PyIceberg cannot read {re.escape(str(directory))}: .*{reason}", str(raised.value))


def test_diff_says_why_there_are_no_commits_between_two_snapshots(catalog: Catalog, tmp_path: Path) -> None:
    table = create(catalog, tmp_path, "compared")
    table.append(ROWS)
    first = str(table.metadata.current_snapshot_id)
    table.append(ROWS)

    def diff(before: str, after: str) -> str:
        return CliRunner().invoke(app, ["diff", str(tmp_path / "default" / "compared"), before, after]).output

    assert "Commits" in diff(first, "main")
    assert "not an ancestor" in diff("main", first)
    same = diff("main", "main")
    assert "the same snapshot" in same
    assert "ancestor" not in same


def test_each_error_of_pyiceberg_is_an_unreadable_error(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(catalog, tmp_path, "broken")
    source = open_table(None, str(tmp_path / "default" / "broken"))
    with pytest.raises(MetadataError, match="has no snapshot 5"):
        source.files(5)
    # PyIceberg accepts some metadata that its methods cannot process later.
    monkeypatch.setattr(source._table, "metadata", SimpleNamespace())
    for read in (source.table, source.snapshots, source.refs, source.manifests, lambda: source.files(5)):
        with pytest.raises(UnreadableError, match="PyIceberg cannot read"):
            read()


def test_a_report_in_a_missing_directory_is_an_error_that_names_the_file(catalog: Catalog, tmp_path: Path) -> None:
    create(catalog, tmp_path, "reported")
    path = tmp_path / "missing" / "report.html"
    arguments = ["report", str(tmp_path / "default" / "reported"), "--no-health", "-o", str(path)]
    shown = CliRunner().invoke(app, arguments)
    assert (shown.exit_code, isinstance(shown.exception, SystemExit)) == (1, True)
    assert shown.output.startswith(f"Error: Cannot write {path}: ")


def test_an_error_of_java_is_shown_without_its_stack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from py4j.protocol import Py4JJavaError

    thrown = SimpleNamespace(
        _target_id="o1",
        getCause=lambda: None,
        toString=lambda: "java.lang.IllegalStateException: The disk is full\n  at iceberglite.Writer",
    )

    def fail(*_: object) -> None:
        raise Py4JJavaError("An error occurred while calling o1.collect", thrown)

    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(CatalogOptions, "table_names", fail)
    shown = CliRunner().invoke(app, ["--warehouse", str(tmp_path), "tables"])
    assert shown.exit_code == 1
    assert shown.output == "Error: java.lang.IllegalStateException: The disk is full\n"


HOSTILE = "a\x01b \x1b[31mred\x1b[0m \x9b2J \ufffe"


def test_control_characters_of_names_do_not_break_a_report() -> None:
    moment = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    bounds = [(0, 2), (1, 3)]
    found = page(
        Facts(
            TableInfo("db.t", "/db/t", 2, [], ["part"], None, {}, 1),
            moment,
            [SnapshotInfo(1, None, moment, HOSTILE, {"total-records": "2"})],
            [RefInfo(HOSTILE, "branch", 1), RefInfo(f"{HOSTILE}2", "tag", 1)],
            [FileInfo("data", f"f{b}", "parquet", {"part": HOSTILE}, 1, 9, {HOSTILE: b}) for b in bounds],
            [],
            None,
        )
    )
    figures = re.findall(r"<svg .*?</svg>", found, re.DOTALL)
    assert len(figures) >= 3
    for figure in figures:
        ElementTree.fromstring(figure)
    assert "a\N{REPLACEMENT CHARACTER}b" in "".join(figures)


def test_control_characters_of_names_do_not_change_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(HOSTILE, [HOSTILE], [[HOSTILE]])
    write_pairs(HOSTILE, {HOSTILE: HOSTILE})
    written = capsys.readouterr().out
    monkeypatch.setattr(CatalogOptions, "table_names", lambda *_: [HOSTILE])
    listed = CliRunner().invoke(app, ["--warehouse", str(tmp_path), "tables"]).output
    failed = CliRunner().invoke(app, ["--warehouse", str(tmp_path), "describe", HOSTILE]).output
    for text in (written, listed, failed):
        assert "a\\x01b" in text
        assert all(c.isprintable() or c == "\n" for c in text)


def test_nested_properties_stay_mappings_for_pyiceberg_and_are_rejected_for_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(
        "catalog:\n"
        "  web:\n"
        "    uri: https://catalog.example.com\n"
        "    auth:\n"
        "      type: basic\n"
        "      basic:\n"
        "        username: me\n"
        "  own:\n"
        "    uri: https://catalog.example.com\n"
        "    ssl:\n"
        "      cabundle: /ca.pem\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    web = catalog_settings("web")
    assert web.for_pyiceberg()["auth"] == {"type": "basic", "basic": {"username": "me"}}
    with pytest.raises(MetadataError, match="The property auth has no equivalent in Spark; set token or credential"):
        web.for_spark()
    with pytest.raises(MetadataError, match=r"The property ssl has no equivalent in Spark$"):
        catalog_settings("own").for_spark()
