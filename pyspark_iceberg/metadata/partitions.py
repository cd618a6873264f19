"""Partition values in the form in which users read them. This module does not import PySpark."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any


def transforms(specs: str) -> dict[int, dict[str, str]]:
    """Return the transform of each partition field by its name, for each partition spec by its id.

    Dropped fields of format version 1, which have no values, are left out.

    Args:
        specs: the partition specs as a list in the JSON form of the Iceberg specification.
    """
    return {
        spec["spec-id"]: {f["name"]: f["transform"] for f in spec["fields"] if f["transform"] != "void"}
        for spec in json.loads(specs)
    }


def shown(transform: str, value: Any) -> Any:
    """Return the partition value of a metadata table as it is shown: years, months and hours as text.

    Metadata tables contain them as numbers from 1970. Days are dates there already.
    """
    if not isinstance(value, int):
        return value
    if transform == "year":
        return f"{1970 + value:04}"
    if transform == "month":
        return f"{1970 + value // 12:04}-{value % 12 + 1:02}"
    if transform == "hour":
        return f"{_day(value // 24)}-{value % 24:02}"
    return value


def text(partition: Mapping[str, Any]) -> str:
    """Return the values of a partition as text; an empty text for a file without a partition."""
    return ", ".join(f"{name}={'NULL' if value is None else value}" for name, value in partition.items())


def _day(days: int) -> str:
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=days)).isoformat()
