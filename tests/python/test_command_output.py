"""The texts and the JSON with which the command `sql` shows values. No test starts Spark."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)
from rich.console import Console
from typer.testing import CliRunner

from pyspark_iceberg.cli.app import app
from pyspark_iceberg.cli.context import Catalog
from pyspark_iceberg.cli.output import write_pairs, write_table
from pyspark_iceberg.cli.script import statements
from pyspark_iceberg.cli.values import shown

NOON = datetime.datetime(2024, 6, 1, 12)


@pytest.fixture
def auckland(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the local time zone of Python, in which PySpark returns timestamps."""
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that lets the output be one for a terminal of a width, without escape sequences."""

    def terminal(width: int) -> None:
        monkeypatch.setattr(
            "pyspark_iceberg.cli.output.console",
            lambda: Console(width=width, force_terminal=True, color_system=None, highlight=False),
        )

    return terminal


@pytest.fixture
def sql(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs `sql` on a statement whose result has the given fields and rows."""

    def sql(fields: Sequence[StructField], rows: Sequence[Sequence[object]], *options: str, code: int = 0) -> Any:
        names = [field.name for field in fields]
        frame = SimpleNamespace(columns=names, schema=StructType(list(fields)))
        frame.limit = lambda n: frame
        frame.collect = lambda: [Row(*names)(*row) for row in rows]

        @contextmanager
        def session(_: Catalog) -> Iterator[Any]:
            yield SimpleNamespace(sql=lambda _: frame)

        monkeypatch.setattr(Catalog, "session", session)
        result = CliRunner().invoke(app, ["sql", "SELECT", *options])
        assert result.exit_code == code, result.output
        return json.loads(result.stdout, parse_constant=pytest.fail) if options and not code else result.output

    return sql


def test_columns_with_the_same_name_show_their_own_values(sql: Any) -> None:
    fields = [StructField("id", LongType()), StructField("id", LongType())]
    shown_rows = [line.split() for line in sql(fields, [(1, 20000), (2, None)]).splitlines()]
    assert shown_rows[-3:-1] == [["1", "20000"], ["2"]]
    output = sql(fields, [(1, 2)], "--json", code=1)
    assert "Several columns have the name id" in output
    assert "aliases" in output


def test_numbers_that_json_does_not_have_are_text(sql: Any) -> None:
    rows = [(value,) for value in (float("nan"), float("inf"), float("-inf"), 1.5)]
    found = sql([StructField("x", DoubleType())], rows, "--json")
    assert [row["x"] for row in found] == ["NaN", "Infinity", "-Infinity", 1.5]


def test_integers_have_no_separators(sql: Any) -> None:
    assert "1234567" in sql([StructField("n", LongType())], [(1234567,)])


def test_times_are_in_utc(sql: Any, auckland: None) -> None:
    fields = [StructField("t", TimestampType()), StructField("n", TimestampNTZType())]
    assert sql(fields, [(NOON, NOON)], "--json") == [{"t": "2024-06-01 00:00:00+00:00", "n": "2024-06-01 12:00:00"}]
    assert "2024-06-01 00:00:00+00:00" in sql(fields, [(NOON, NOON)])


def test_times_in_nested_values_are_in_utc(auckland: None) -> None:
    utc = datetime.datetime(2024, 6, 1, tzinfo=datetime.timezone.utc)
    times = ArrayType(StructType([StructField("t", TimestampType()), StructField("s", StringType())]))
    assert shown([Row(t=NOON, s="x"), None], times) == [{"t": utc, "s": "x"}, None]
    assert shown({NOON: NOON}, MapType(TimestampType(), TimestampNTZType())) == {utc: NOON}
    first = datetime.datetime(1, 1, 1)
    assert shown(first, TimestampType()) == first


def test_statements_end_at_semicolons_outside_of_strings_identifiers_and_comments() -> None:
    strings = """SELECT ';', ";", 'it\\'s;', r'\\', `x;y` FROM t"""
    commented = "-- not; a statement\n/* nor; /* this; */ 'or; this */ SELECT 1 /* ; */"
    hint = "SELECT /*+ BROADCAST(t) */ * FROM t"
    text = f"{strings};\n;{commented}; {hint} ;-- the end;\n/* of the text; */"
    assert list(statements(text)) == [strings, commented, hint]
    assert list(statements(" -- nothing; \n;")) == []
    assert list(statements("SELECT 1; SELECT 'open; /* x")) == ["SELECT 1", "SELECT 'open; /* x"]
    assert list(statements("SELECT 1; /* open; SELECT 2")) == ["SELECT 1", "/* open; SELECT 2"]


def test_a_title_is_not_folded_at_the_width_of_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    title = "A title that is longer than its table"
    write_table(title, ["a"], [(1,)])
    write_pairs(title, {"a": 1})
    lines = capsys.readouterr().out.splitlines()
    assert [line.rstrip() for line in lines if "title" in line] == [title, title]


def test_rows_that_do_not_fit_into_the_terminal_are_written_line_by_line(
    capsys: pytest.CaptureFixture[str], terminal: Callable[[int], None]
) -> None:
    columns = ["snapshot", "committed (UTC)", "+records", "refs", "refs", "path"]
    row = ("6" * 19, "2026-01-01 00:00:00", 7, "a", "b", "/warehouse" * 20)

    def lines(width: int) -> list[list[str]]:
        terminal(width)
        write_table("History", columns, [row, row])
        return [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]

    side_by_side = lines(120)
    assert side_by_side[1] == ["snapshot", "committed", "(UTC)", "+records", "refs", "refs", "path"]
    assert [line[:6] for line in side_by_side if line[0] == row[0]] == [[row[0], *row[1].split(), "7", "a", "b"]] * 2
    one_by_one = lines(60)
    assert one_by_one[0] == ["History"]
    values = [
        ["snapshot", row[0]],
        ["committed", "(UTC)", *row[1].split()],
        ["+records", "7"],
        ["refs", "a"],
        ["refs", "b"],
    ]
    assert one_by_one[1:6] == values
    assert [line for line in one_by_one if line in values] == values * 2


def test_long_names_of_columns_leave_space_for_their_values(
    capsys: pytest.CaptureFixture[str], terminal: Callable[[int], None]
) -> None:
    terminal(80)
    name = "n" * 79
    write_table("", ["id", name], [(1, "value")])
    write_pairs("", {name: "value"})
    written = capsys.readouterr().out
    assert written.count("value") == 2
    assert written.count("n") == 2 * len(name)


def test_a_result_without_rows_shows_its_title_and_the_names_of_its_columns(
    capsys: pytest.CaptureFixture[str], terminal: Callable[[int], None]
) -> None:
    terminal(80)
    names = [f"column_{i}" for i in range(10)]
    write_table("0 files", names, [])
    assert capsys.readouterr().out.replace(",", "").split() == ["0", "files", *names]


def test_the_form_of_output_that_is_not_for_a_terminal_does_not_depend_on_the_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = [f"c{i}" for i in range(100)]
    for value in ("v", "v" * 20):
        write_table("", names, [[value] * len(names)])
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert names in lines
        assert any(line and set("".join(line)) == {"v"} for line in lines)


def test_a_text_without_a_statement_and_json_of_several_statements_are_wrong_usage() -> None:
    for arguments, message in ((["sql", " -- only a comment"], "no statement"), (["sql", "A; B", "--json"], "one")):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2, result.output
        assert message in result.output
