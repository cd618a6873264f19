"""Partition values in the form in which users read them. This module does not import PySpark."""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class PartitionField(NamedTuple):
    """A field of a partition spec.

    Attributes:
        name: the name in this partition spec. The column `partition` of metadata tables may have another name: the
            newest name of the field, or a name with the field id if several fields have the same name.
        transform: the transform, such as `month`.
        position: the position of the field in the column `partition` of metadata tables.
    """

    name: str
    transform: str
    position: int


def fields(specs: str) -> dict[int, list[PartitionField]]:
    """Return the fields of each partition spec by the id of the spec.

    Dropped fields of format version 1, which have no values, are left out.

    Args:
        specs: the partition specs as a list in the JSON form of the Iceberg specification.
    """
    parsed = json.loads(specs)
    # The column has the fields of all partition specs, ordered by their ids.
    ids = sorted({field["field-id"] for spec in parsed for field in spec["fields"]})
    return {
        spec["spec-id"]: [
            PartitionField(field["name"], field["transform"], ids.index(field["field-id"]))
            for field in spec["fields"]
            if field["transform"] != "void"
        ]
        for spec in parsed
    }


def shown(transform: str, value: Any) -> Any:
    """Return the partition value of a metadata table as it is shown: years, months, hours and timestamps as text.

    Metadata tables contain years, months and hours as numbers from 1970. Days are dates there already. Binary values
    are text in Base64.
    """
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if not isinstance(value, int):
        return value
    if transform == "year":
        return f"{1970 + value:04}"
    if transform == "month":
        return f"{1970 + value // 12:04}-{value % 12 + 1:02}"
    if transform == "hour":
        try:
            day = datetime.date(1970, 1, 1) + datetime.timedelta(hours=value // 24 * 24)
        except OverflowError:  # A year that dates of Python do not have, such as 10000.
            return value
        return f"{day.isoformat()}-{value % 24:02}"
    return value


def text(partition: Mapping[str, Any]) -> str:
    """Return the values of a partition as text; an empty text for a file without a partition."""
    return ", ".join(f"{name}={'NULL' if value is None else value}" for name, value in partition.items())
