"""Output of commands: tables for a terminal, and JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

# The length from which a word is folded in a table, and the spaces of a column: two of padding, and one at its left.
_FOLDED = 32
_PADDING = 3

Json = Annotated[bool, typer.Option("--json", help="Write JSON instead of a table")]


def write_json(value: object) -> None:
    """Write a value as JSON to stdout. NaN and infinite numbers, which JSON does not have, are written as text."""
    typer.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def write_table(
    title: str, columns: Sequence[str], rows: Iterable[Iterable[object]], *, has_separators: bool = True
) -> None:
    """Write a table to stdout. Numbers are aligned to the right. Text of tables is never interpreted as markup.

    If the columns do not fit into the width of the terminal, each row is written as lines with a name and a value. The
    form of other output, which programs may read, does not depend on the rows.

    Args:
        title: the title of the table, or an empty text.
        columns: the titles of the columns.
        rows: the values in the order of the columns.
        has_separators: whether integers have separators of thousands.
    """
    listed = [list(row) for row in rows]
    cells = [[_cell(value if has_separators or value is None else str(value)) for value in row] for row in listed]
    names = [Text(visible(name)) for name in columns]
    written = console()
    needed = _needed_width([names, *cells])
    if needed > written.width and written.is_terminal:
        _write_records(written, title, names, cells)
        return
    written.width = max(needed, written.width)
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    for i, name in enumerate(names):
        numeric = bool(listed) and all(_is_numeric(row[i]) for row in listed)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*row)
    _write(written, title, table)


def write_pairs(title: str, values: Mapping[str, object]) -> None:
    """Write names and values to stdout."""
    written = console()
    _write(written, title, _grid(written, ((Text(visible(name)), _cell(value)) for name, value in values.items())))


def _needed_width(rows: Sequence[Sequence[Text]]) -> int:
    """Return the width of a table in which only words longer than `_FOLDED` characters, such as paths, are folded."""
    words = ([cell_len(word) for cell in column for word in cell.plain.split()] for column in zip(*rows))
    longest = (max(lengths, default=0) for lengths in words)
    # One more space is at the right of the last column.
    return 1 + sum(min(length, _FOLDED) + _PADDING for length in longest)


def _write_records(written: Console, title: str, names: Sequence[Text], rows: Sequence[Sequence[Text]]) -> None:
    """Write each row as lines with a name and a value, because the columns do not fit side by side."""
    for row in rows:
        _write(written, title, _grid(written, zip(names, row)))
        written.print()
        title = ""
    if not rows:
        _write(written, title, Text(", ").join(names))


def _grid(written: Console, pairs: Iterable[tuple[Text, Text]]) -> Table:
    grid = Table(box=None, show_header=False)
    # Long names must leave space for the values.
    grid.add_column(style="bold", overflow="fold", max_width=max(written.width // 3, 1))
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(name, value)
    return grid


def _write(written: Console, title: str, content: Table | Text) -> None:
    """Write a title and a table. A title of the table itself would be folded at the width of the table."""
    if title:
        written.print(Text(visible(title), style="italic"))
    written.print(content)


def console() -> Console:
    """Return the console of stdout. If stdout is not a terminal, lines are not cut at 80 columns."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=240)


def _cell(value: object) -> Text:
    return Text("" if value is None else visible(f"{value:,}" if isinstance(value, int) else str(value)))


def visible(text: str) -> str:
    """Replace control characters, which could change the state of the terminal, by escape sequences."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def _is_numeric(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _plain(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(element) for element in value]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
