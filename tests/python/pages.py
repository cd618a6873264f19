"""Runs the code of a page of the documentation, and compares its output with the output on the page.

The blocks of a page run in order, in one session: blocks of SQL statement by statement, and blocks of Python in one
namespace, in which `spark` is the session. A block `text` that directly follows is the expected output: the result of
the last statement as `DataFrame.show` prints it, or what the Python code prints. An ellipsis in it matches any text
within a line, because ids and times differ in each run. Blocks of other languages do not run.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from page_setups import SetUp, names
from pyspark.sql import SparkSession

from pyspark_iceberg.cli.script import statements

BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Pages start a session; their code runs in the session of the tests.
SESSION = 'iceberg_session("warehouse")'


@dataclass(frozen=True)
class Block:
    """A block of code of a page.

    Attributes:
        language: the language after the fence.
        code: the lines between the fences.
        line: the number of the first line in the page, from 1.
        output: the expected output, or None if the page does not show it.
    """

    language: str
    code: str
    line: int
    output: str | None

    @property
    def first_line(self) -> str:
        """The first line of the code."""
        return self.code.partition("\n")[0]


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page that can run, with their outputs."""
    text = page.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    blocks = []
    for index, match in enumerate(found):
        if match[1] not in ("sql", "python"):
            continue
        following = found[index + 1] if index + 1 < len(found) else None
        shown = following is not None and following[1] == "text" and not text[match.end() : following.start()].strip()
        line = text.count("\n", 0, match.start()) + 2
        blocks.append(Block(match[1], match[2], line, following[2] if following and shown else None))
    return blocks


def run_page(page: Path, spark: SparkSession, set_up: SetUp | None = None, folder: Path | None = None) -> int:
    """Run the blocks of a page.

    Args:
        page: the path of the page.
        spark: the session of the SQL statements, and the value of `spark` in Python.
        set_up: what the page needs besides its code.
        folder: the directory for the files of the page, with `set_up` only.

    Returns:
        The number of blocks that ran.

    Raises:
        AssertionError: a block failed, or its output differs, or the set-up names a block that the page does not have;
            the message contains the page and the line.
    """
    namespace: dict[str, Any] = {"spark": spark, "__name__": page.stem}
    runs: dict[str, Callable[[str], str]] = {
        "sql": lambda code: _run_sql(code, namespace["spark"]),
        "python": lambda code: _run_python(code.replace(SESSION, "spark"), namespace, page),
    }
    given = SetUp({}) if set_up is None else set_up
    blocks = blocks_of(page)
    unknown = {*given.before, *given.omitted} - {block.first_line for block in blocks}
    assert not unknown, f"{page.name} has no blocks that begin with {unknown}"
    if folder is not None:
        namespace.update(names(spark, folder))
    number = 0
    for block in blocks:
        if block.first_line in given.omitted:
            continue
        place = f"{page.name}, line {block.line}"
        try:
            _run_sql(given.before.get(block.first_line, ""), spark)
            if number == 0:
                exec(given.values, namespace)
            output = runs[block.language](_replaced(block.code, given.replaced, namespace))
        except Exception as error:
            raise AssertionError(f"{place}: the block fails: {error}") from error
        if block.output is not None:
            assert matches(block.output, output), f"{place}: the output differs from the page:\n{output}"
        number += 1
    return number


def _replaced(code: str, replaced: Mapping[str, str], namespace: dict[str, Any]) -> str:
    for text, expression in replaced.items():
        if text in code:
            code = code.replace(text, str(eval(expression, namespace)))
    return code


def matches(expected: str, output: str) -> bool:
    """Return whether an output has the expected lines, in which an ellipsis stands for any text within a line."""
    wanted, lines = expected.strip().split("\n"), output.strip().split("\n")
    return len(wanted) == len(lines) and all(_line_matches(w, line) for w, line in zip(wanted, lines))


def _line_matches(expected: str, line: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in _normal(expected).split("…"))
    return re.fullmatch(pattern, _normal(line)) is not None


def _normal(line: str) -> str:
    """Replace the widths of columns, because the width of a column depends on values that differ."""
    return re.sub(r"-+", "-", re.sub(r" +", " ", line)).rstrip()


def _run_sql(code: str, spark: SparkSession) -> str:
    output = ""
    for statement in statements(code):
        result = spark.sql(statement)
        rows = result.collect() if result.columns else []
        output = _shown(result.columns, [[_text(value) for value in row] for row in rows]) if result.columns else ""
    return output


def _shown(columns: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(cell) for cell in cells) for cells in zip(columns, *rows)]
    line = "+" + "+".join("-" * width for width in widths) + "+"
    formatted = [_line(row, widths) for row in [columns, *rows]]
    return "\n".join([line, formatted[0], line, *formatted[1:], line])


def _line(cells: list[str], widths: list[int]) -> str:
    return "|" + "|".join(cell.rjust(width) for cell, width in zip(cells, widths)) + "|"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)} -> {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "{" + ", ".join(map(_text, value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return "NULL" if value is None else str(value)


def _run_python(code: str, namespace: dict[str, Any], page: Path) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), namespace)
    return printed.getvalue()
