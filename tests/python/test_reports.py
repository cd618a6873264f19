"""Reports show the content of the metadata tables, need no network, and escape the names of a table."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from html import unescape
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest
from browser import document, needs_browser
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from pyspark.sql import SparkSession

from pyspark_iceberg import Table
from pyspark_iceberg.metadata import pyiceberg_source
from pyspark_iceberg.metadata.model import Column, FileInfo, ManifestInfo, RefInfo, SnapshotInfo, TableInfo
from pyspark_iceberg.metadata.partitions import shown
from pyspark_iceberg.report import spark as report
from pyspark_iceberg.report.facts import Facts, clustering, collect
from pyspark_iceberg.report.figures import distinct, plots, short
from pyspark_iceberg.report.graph import lanes
from pyspark_iceberg.report.page import page

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
NAME = "reports.events"
HOSTILE = "<script>alert(\"1\")</script> $\\frac{a}{b}$ & 'x'"


class Page(HTMLParser):
    """The elements of a page: the text of table cells, the tags, and the values of attributes that load something."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.loads: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.text = ""
        self._rows: list[list[str]] | None = None
        self._in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        values = dict(attrs)
        self.loads += [str(values[key]) for key in ("src", "href", "xlink:href", "data", "action") if key in values]
        if tag == "table":
            self._rows = self.tables.setdefault(values.get("id") or f"table {len(self.tables)}", [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows:
            self._rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None
        elif tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell and self._rows and self._rows[-1]:
            self._rows[-1][-1] += data


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> Iterator[Table]:
    """Return a table with deletes and two branches; a column, a branch and a partition value have hostile names."""
    column = "`" + HOSTILE.replace("`", "``") + "`"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS reports")
    spark.sql(
        f"CREATE TABLE {NAME} (id bigint, {column} string, part string) PARTITIONED BY (part) "
        "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'note' = '<img src=x>')"
    )
    rows = "id, 'x', CASE WHEN id % 4 = 0 THEN '<b>' ELSE 'plain' END"
    for start in (0, 100):
        spark.sql(f"INSERT INTO {NAME} SELECT {rows} FROM range({start}, {start + 100}, 1, 1)")
    spark.sql(f"ALTER TABLE {NAME} CREATE BRANCH `<i>audit`")
    spark.sql(f"INSERT INTO {NAME}.`branch_<i>audit` SELECT {rows} FROM range(200, 210, 1, 1)")
    spark.sql(f"DELETE FROM {NAME} WHERE id IN (1, 2, 3)")
    yield Table(spark, NAME)
    spark.sql(f"DROP TABLE {NAME} PURGE")


@pytest.fixture(scope="module")
def html(events: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of the table."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    events.report(path)
    return path


def test_the_tables_of_the_page_are_those_of_the_metadata_tables(html: Path, events: Table) -> None:
    found = Page(html.read_text(encoding="utf-8"))
    partitions = sorted((r[0], int(r[2]), int(r[3]), int(r[4])) for r in found.tables["partitions"][1:])
    assert partitions == sorted(
        (f"part={p.values['part']}", p.data_files, p.records, p.position_deletes) for p in events.partitions()
    )
    assert sorted(tuple(r) for r in found.tables["refs"][1:]) == sorted(
        (r.name, r.kind.lower(), str(r.snapshot_id)) for r in events.refs()
    )
    assert [row[-1] for row in found.tables["snapshots"][1:]] == [
        str(s.snapshot_id) for s in list(events.snapshots())[::-1]
    ]
    assert [row[0] for row in found.tables["columns"][1:]] == events.schema.names


def test_the_page_shows_the_health_with_the_command_of_each_due_action(html: Path, events: Table) -> None:
    text = re.sub(r"\s+", " ", Page(html.read_text(encoding="utf-8")).text)
    actions = events.metadata("health").collect()
    assert actions
    for row in actions:
        assert re.sub(r"\s+", " ", row["reason"]) in text
        assert (f"CALL system.{row['action']}('{NAME}')" in text) == row["is_due"]


def test_names_are_escaped_and_the_page_loads_nothing(html: Path) -> None:
    source = html.read_text(encoding="utf-8")
    found = Page(source)
    # The only script is the one whose hash the policy of the page allows.
    assert found.tags["script"] == 1
    assert found.tags["i"] == found.tags["b"] == found.tags["img"] == found.tags["iframe"] == 0
    script = source.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in unescape(source)
    assert all(value.startswith("#") for value in found.loads), found.loads
    assert HOSTILE in [row[0] for row in found.tables["columns"]]
    # In the plot of clustering, the name is text, and neither a formula nor an element.
    drawing = re.search(r'data-plot="clustering".*?</svg>', source, re.DOTALL)
    assert drawing is not None
    assert "&lt;script" in drawing.group()
    ids = re.findall(r'\sid="([^"]*)"', source)
    assert len(ids) == len(set(ids))


def test_without_spark_the_page_has_the_same_tables(html: Path, events: Table, warehouse: Path) -> None:
    with_spark = Page(html.read_text(encoding="utf-8"))
    source = pyiceberg_source.open_table(None, f"{warehouse}/{NAME.replace('.', '/')}")
    without = Page(page(collect(source)))
    for name in ("partitions", "refs", "snapshots"):
        assert without.tables[name] == with_spark.tables[name]
    assert "The health was not measured" in without.text


@pytest.mark.parametrize("version", [1, 2])
def test_partitions_have_the_same_names_with_and_without_spark(
    spark: SparkSession, table: str, warehouse: Path, version: int
) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id int, at timestamp) USING iceberg PARTITIONED BY (months(at)) "
        f"TBLPROPERTIES ('format-version' = '{version}')"
    )
    rows = "(1, TIMESTAMP '2025-04-30 23:00:00'), (2, TIMESTAMP '1969-12-31 23:00:00'), (3, NULL)"
    spark.sql(f"INSERT INTO {table} VALUES {rows}")
    # Files of the first partition spec have no values of the fields of the others.
    for field in ("hours(at)", "years(at)", "days(at)", "id"):
        spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD {field}")
        if field != "id":
            spark.sql(f"INSERT INTO {table} VALUES {rows}")
            spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD {field}")
    source = pyiceberg_source.open_table(None, f"{warehouse}/{table.replace('.', '/')}")
    names = [[p.label for p in facts.partitions] for facts in (collect(source), report.facts(Table(spark, table)))]
    assert sorted(names[0]) == sorted(names[1])
    assert {"at_month=2025-04", "at_month=1969-12", "at_month=NULL"} <= set(names[0])
    assert {"at_month=2025-04, at_hour=2025-04-30-23", "at_month=1969-12, at_year=1969"} <= set(names[0])


def test_identity_partitions_have_the_same_names_with_and_without_spark(
    spark: SparkSession, table: str, warehouse: Path
) -> None:
    spark.sql(f"CREATE TABLE {table} (id int, utc timestamp, local timestamp_ntz, raw binary, day date) USING iceberg")
    for column in ("utc", "local", "raw", "day"):
        spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD {column}")
    time = "2025-04-30 23:00:00.25"
    spark.sql(
        f"INSERT INTO {table} VALUES (1, NULL, NULL, NULL, NULL), (2, TIMESTAMP '{time} UTC', "
        f"TIMESTAMP_NTZ '{time}', X'00FF', DATE '2025-04-30'), (3, TIMESTAMP '1969-12-31 23:00:00 UTC', "
        "TIMESTAMP_NTZ '1969-12-31 23:00:00', X'', DATE '1969-12-31')"
    )
    source = pyiceberg_source.open_table(None, f"{warehouse}/{table.replace('.', '/')}")
    names = [[p.label for p in facts.partitions] for facts in (collect(source), report.facts(Table(spark, table)))]
    assert sorted(names[0]) == sorted(names[1])
    assert (
        "utc=2025-04-30T23:00:00.250000+00:00, local=2025-04-30T23:00:00.250000, raw=AP8=, day=2025-04-30" in names[0]
    )


@pytest.mark.parametrize("version", [1, 2])
def test_files_have_the_values_of_partition_fields_that_were_dropped_and_added_again(
    spark: SparkSession, table: str, version: int
) -> None:
    spark.sql(
        f"CREATE TABLE {table} (id int, at timestamp) USING iceberg PARTITIONED BY (months(at)) "
        f"TBLPROPERTIES ('format-version' = '{version}')"
    )
    rows = "(1, TIMESTAMP '2025-04-30 23:00:00'), (2, TIMESTAMP '9999-12-31 23:59:59')"
    for added in ("months(at)", "bucket(4, id) AS at_month", "hours(at)"):
        spark.sql(f"INSERT INTO {table} VALUES {rows}")
        spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD at_month")
        spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD {added}")
    spark.sql(f"INSERT INTO {table} VALUES (3, TIMESTAMP '2025-04-30 23:00:00')")
    labels = [p.label for p in report.facts(Table(spark, table)).partitions]
    assert labels.count("at_month=2025-04") == 1
    assert labels.count("at_month=9999-12") == 1
    assert {label for label in labels if "NULL" in label} == set()
    assert [label for label in labels if label.endswith("at_hour=2025-04-30-23")]


def test_hours_after_the_year_9999_are_shown_as_numbers() -> None:
    assert shown("hour", 24 * 366 * 9000) == 24 * 366 * 9000
    assert shown("hour", -1) == "1969-12-31-23"


@needs_browser
def test_a_browser_shows_the_page_without_scrolling_sideways_on_a_phone(
    html: Path, events: Table, tmp_path: Path
) -> None:
    # The copy has a script that sorts a table, and writes measures of the layout into the document.
    probe = (
        "document.querySelector('#partitions th:nth-child(3) button').click();"
        "document.body.dataset.overflow = document.documentElement.scrollWidth - innerWidth;"
        "document.body.dataset.svgs = [...document.querySelectorAll('svg')]"
        ".filter(s => s.getBoundingClientRect().height > 40).length;"
        "document.body.dataset.order = [...document.querySelectorAll('#partitions tbody tr')]"
        ".map(r => r.cells[2].dataset.value).join();"
        "document.body.dataset.ink = getComputedStyle(document.querySelector('svg text')).fill;"
    )
    digest = base64.b64encode(hashlib.sha256(probe.encode()).digest()).decode()
    source = html.read_text(encoding="utf-8").replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    copy = tmp_path / "copy.html"
    copy.write_text(source.replace("</body>", f"<script>{probe}</script></body>"), encoding="utf-8")
    ink = set()
    for scheme in ("0", "1"):
        options = ("--window-size=500,900", f"--blink-settings=preferredColorScheme={scheme}")
        shown = document(copy, tmp_path / "profile", *options)
        body = re.search(r"<body ([^>]*)>", shown)
        assert body is not None, shown[:2000]
        measures = dict(re.findall(r'data-(\w+)="([^"]*)"', body.group(1)))
        assert int(measures["overflow"]) <= 0
        assert int(measures["svgs"]) == source.count("<svg ")
        counts = sorted(p.data_files for p in events.partitions())
        assert [int(n) for n in measures["order"].split(",")] == counts
        ink.add(measures["ink"])
    assert len(ink) == 2, "the colours of plots do not follow the theme"


def test_plots_have_the_names_of_the_page(events: Table) -> None:
    figures = events.plots()
    assert {"snapshots", "growth", "file sizes", "partitions", "deletes", "metadata"} <= figures.keys()
    assert all(figure.axes for figure in figures.values())


def test_notebooks_show_tables_and_snapshots(events: Table) -> None:
    table = Page(events._repr_html_())
    assert table.tags["script"] == 0
    assert HOSTILE in table.text
    snapshot = events.snapshots().first()
    assert snapshot is not None
    assert f"Snapshot {snapshot.snapshot_id}" in Page(snapshot._repr_html_()).text


def _facts(snapshots: list[tuple[int, int | None]], refs: dict[str, int], current: int) -> Facts:
    moment = datetime(2026, 1, 1, tzinfo=timezone.utc)
    return Facts(
        TableInfo("db.t", "/db/t", 2, [], [], None, {}, current),
        moment,
        [SnapshotInfo(i, parent, moment, "append") for i, parent in snapshots],
        [RefInfo(name, "branch", i) for name, i in refs.items()],
        [],
        [],
        None,
    )


def test_each_branch_has_a_lane_and_abandoned_snapshots_have_the_last_one() -> None:
    facts = _facts([(1, None), (2, 1), (3, 1), (4, 2), (5, 3)], {"main": 4, "b": 3}, 4)
    assert lanes(facts) == {4: 0, 2: 0, 1: 0, 3: 1, 5: 2}


def _overlapping(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the pairs of texts of a plot that overlap, and each text that is not inside of the plot."""
    drawn: list[Text] = []
    draw = Text.draw

    def record(text: Text, renderer: RendererBase) -> None:
        drawn.append(text)
        draw(text, renderer)

    canvas = FigureCanvasAgg(figure)
    with monkeypatch.context() as patch:
        patch.setattr(Text, "draw", record)
        canvas.draw()  # type: ignore[no-untyped-call]
    shown = [t for t in drawn if t.get_visible() and t.get_text().strip()]
    boxes = [(t.get_text(), t.get_window_extent()) for t in shown]
    assert boxes
    outside = [(text, "") for text, box in boxes if box.x0 < -1 or box.x1 > figure.bbox.x1 + 1]
    return outside + [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)]


@pytest.mark.parametrize("branches", [1, 30])
def test_labels_of_plots_do_not_overlap(branches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    line = [(i, i - 1 or None) for i in range(1, 20)]
    sides = [(100 + i, i % 19 + 1) for i in range(branches)]
    refs = {f"team/{i}/a branch with a long name": 100 + i for i in range(branches)}
    facts = _facts([*line, *sides], {"main": 19, **refs}, 19)
    summary = {"total-records": "123456789012", "added-records": "123456", "deleted-records": "99999"}
    snapshots = [dataclasses.replace(s, operation="overwrite", summary=summary) for s in facts.snapshots]
    partition = {"name_of_a_partition_field": "value of a partition field"}
    columns = [Column("c" * 60, "long", False, None)]
    files = [
        FileInfo(kind, f"{i}", "parquet", {**partition, "p": i % 50}, 10**9, 7**i % 10**12, {"c" * 60: (i, i + 9)})
        for i in range(150)
        for kind in ("data", "position deletes")
    ]
    manifests = [ManifestInfo("deletes", f"{i}", 10**9, 10**6) for i in range(20)]
    table = dataclasses.replace(facts.table, columns=columns)
    drawn = plots(dataclasses.replace(facts, table=table, snapshots=snapshots, files=files, manifests=manifests))
    assert len(drawn) == 7
    assert {name: found for name, figure in drawn.items() if (found := _overlapping(figure, monkeypatch))} == {}


def test_long_names_that_begin_alike_are_shortened_where_they_differ() -> None:
    names = [f"a_long_name_of_a_column_with_the_number_{i}_of_the_table_with_{n}_columns" for i, n in ((1, 9), (22, 9))]
    assert distinct([*names, "id"]) == ["…_number_1_of_the_table_w…", "…_number_22_of_the_table_…", "id"]
    assert distinct([names[0], "x" * 30]) == [short(names[0]), short("x" * 30)]
    assert max(map(len, distinct(names, 24))) == 24
    groups = [f"region={r}, customer=acme-000{i}-production-environment" for r in ("eu", "us") for i in range(3)]
    assert len(set(distinct(groups, 24))) == len(groups)


def _file(low: int, high: int, partition: int = 0) -> FileInfo:
    return FileInfo("data", f"{low}", "parquet", {"p": partition}, 1, 1, {"c": (low, high)})


def test_clustering_is_the_average_share_of_overlapping_files_within_partitions() -> None:
    disjoint = clustering("c", [_file(0, 9), _file(10, 19), _file(20, 29)])
    assert disjoint is not None
    assert disjoint.overlap == 0
    one_pair = clustering("c", [_file(0, 10), _file(10, 19), _file(20, 29), _file(0, 99, partition=1)])
    assert one_pair is not None
    assert one_pair.overlap == pytest.approx(100 / 3)
    assert clustering("c", [_file(0, 9)]) is None


def test_the_code_of_the_page_runs(
    spark: SparkSession, events: Table, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "reports.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    first = events.snapshots().first()
    assert first is not None
    spark.sql(f"ALTER TABLE {NAME} CREATE OR REPLACE TAG first AS OF VERSION {first.snapshot_id}")
    exec(compile(code.replace("db.events", NAME), "docs/reports.md", "exec"), {"spark": spark})
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "report.html").stat().st_size > 10_000
