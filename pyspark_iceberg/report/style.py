"""Colours and text of plots, for pages and for notebooks, and the conversion of plots to SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"


@dataclass(frozen=True)
class Palette:
    """The colours of a plot."""

    ink: str
    muted: str
    grid: str
    surface: str
    accent: str
    second: str
    third: str
    fourth: str


NOTEBOOK = Palette("#1c2733", "#5f6b7a", "#d9dee5", "#ffffff", "#2f6fde", "#e0803a", "#c2417c", "#2f9e77")

# On a page, the style sheet determines the colours, so that they follow the light or dark theme of the reader. Each
# variable is represented by a colour that nothing else uses.
_VARIABLES = ("ink", "muted", "grid", "surface", "accent", "second", "third", "fourth")
PAGE = Palette(*(f"#0102{i:02x}" for i in range(len(_VARIABLES))))

# The width of a plot on a page, in pixels for each point of the drawing.
_SCALE = 1.5

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "iceberg-lite",
    # Names of columns and branches may contain dollar signs.
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
}


def printable(text: str) -> str:
    """Replace characters that cannot be printed, such as control characters, which an SVG element must not contain."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


@contextmanager
def plotting() -> Iterator[None]:
    """Apply the settings of matplotlib while plots are drawn."""
    import matplotlib

    with matplotlib.rc_context(_SETTINGS):
        yield


def svg(figure: Figure, name: str, label: str) -> str:
    """Return a plot as an SVG element for a page.

    Args:
        figure: a plot with the colours `PAGE`.
        name: a prefix of all ids in the element, which must be unique in a page.
        label: the description for readers who cannot see the plot.
    """
    with plotting():
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())  # noqa: S314 - written by matplotlib
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            element.attrib[key] = _attribute(key, value, name)
    width, height = (float(v) for v in root.attrib["viewBox"].split()[2:])
    # All plots have the same scale, so that their texts have the same size.
    size = {"width": f"{width:.0f}", "height": f"{height:.0f}", "style": f"max-width: {_SCALE * width:.0f}px"}
    root.attrib.update({**size, "role": "img", "aria-label": label})
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _attribute(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == f"{{{_XLINK}}}href":
        return value.replace("#", f"#{name}-", 1)
    value = value.replace("url(#", f"url(#{name}-")
    for variable, colour in zip(_VARIABLES, (getattr(PAGE, v) for v in _VARIABLES)):
        value = value.replace(colour, f"var(--{variable})")
    return re.sub(r"font: ([^;]*?)(\d[\d.]*px)[^;]*", r"font: \1\2 var(--sans)", value)
