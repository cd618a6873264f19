"""Names of tables in SQL. This module does not import PySpark, so that commands start fast."""

from __future__ import annotations

import re

_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def name_parts(name: str) -> list[str]:
    """Split a name at its dots, except dots inside backticks."""
    return [escaped.replace("``", "`") or plain for escaped, plain in _PART.findall(name)] or [name]


def identifier(name: str) -> str:
    """Return a part of a name, quoted with backticks.

    Raises:
        ValueError: the name contains `${`, so that Spark would replace a part of it by the value of a setting.
    """
    if "${" in name:
        raise ValueError(f"A name must not contain ${{: {name}")
    return "`" + name.replace("`", "``") + "`"


def quoted(part: str) -> str:
    """Return a part of a name, with backticks if it needs them."""
    return part if _PLAIN.fullmatch(part) else identifier(part)


def qualified(catalog: str, name: str) -> str:
    """Return the name in Spark of a table of a catalog; parts are quoted with backticks if they need it.

    Args:
        catalog: the name of the catalog.
        name: the name of the table without the catalog. Its first part is a namespace, even if a catalog has the same
            name.
    """
    return ".".join(map(quoted, (catalog, *name_parts(name))))
