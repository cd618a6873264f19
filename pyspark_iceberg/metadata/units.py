"""Numbers, sizes and times as text. This module needs no other package."""

from __future__ import annotations

import datetime

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def size(value: float) -> str:
    """Return a number of bytes with a decimal unit."""
    unit = 0
    while abs(value) >= 1000 and unit < len(_UNITS) - 1:
        value /= 1000
        unit += 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 or value >= 100 else f"{value:.1f} {_UNITS[unit]}"


def count(value: float) -> str:
    """Return a number as text, with the unit k (thousands), M or G if it has more than five digits."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e5, "k")):
        if abs(value) >= limit:
            return f"{value / (1e3 if unit == 'k' else limit):,.1f} {unit}"
    return f"{value:,.0f}"


def moment(value: datetime.datetime) -> str:
    """Return a time in UTC, in seconds."""
    return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
