"""A file lists the exported names of the package and the methods of its classes, so that changes are deliberate.

If the environment variable `UPDATE` is `1`, the test rewrites the file instead.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from pathlib import Path

import pyspark_iceberg

SURFACE = Path(__file__).resolve().parent.parent / "fixtures" / "python_api.txt"


def parameters(function: object) -> str:
    assert callable(function)
    kinds = inspect.signature(function).parameters.values()
    star = [""] if any(p.kind is p.KEYWORD_ONLY for p in kinds) else []
    plain = [str(p.replace(annotation=p.empty)) for p in kinds if p.kind is not p.KEYWORD_ONLY and p.name != "self"]
    named = [str(p.replace(annotation=p.empty)) for p in kinds if p.kind is p.KEYWORD_ONLY]
    has_star = any(p.kind is p.VAR_POSITIONAL for p in kinds)
    return f"({', '.join([*plain, *(['*'] if star and not has_star else []), *named])})"


def members(name: str, kind: type) -> list[str]:
    """Return the public fields, properties and methods of a class, without those of classes of other packages."""
    own = [c for c in kind.__mro__ if c.__module__.startswith("pyspark_iceberg")]
    fields = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    found = {key: inspect.getattr_static(kind, key) for c in own for key in vars(c) if not key.startswith("_")}
    lines = [f"{name}.{field}" for field in fields if not field.startswith("_")]
    for key, value in found.items():
        if isinstance(value, (staticmethod, classmethod)):
            lines.append(f"{name}.{key}{parameters(getattr(kind, key))}")
        elif inspect.isfunction(value):
            lines.append(f"{name}.{key}{parameters(value)}")
        elif key not in fields:
            lines.append(f"{name}.{key}")
    return sorted(lines)


def surface() -> str:
    lines: list[str] = []
    for name in sorted(pyspark_iceberg.__all__):
        value = getattr(pyspark_iceberg, name)
        if inspect.isclass(value):
            lines += [name, *members(name, value)]
        else:
            lines.append(name + parameters(value) if callable(value) else name)
    return "\n".join(lines) + "\n"


def test_the_exported_names_and_methods_are_those_of_the_file() -> None:
    if os.environ.get("UPDATE") == "1":
        SURFACE.write_text(surface(), encoding="utf-8")
    expected = SURFACE.read_text(encoding="utf-8")
    assert surface() == expected, (
        f"Run this test with UPDATE=1 in the environment if the change of {SURFACE} is intended"
    )


def test_every_exported_name_has_a_docstring() -> None:
    names = pyspark_iceberg.__all__
    assert [name for name in names if not (getattr(pyspark_iceberg, name).__doc__ or "").strip()] == []


def callables(name: str, value: object) -> list[tuple[str, object]]:
    """Return a function, or the public methods of a class, with their names."""
    if not inspect.isclass(value):
        return [(name, value)]
    own = [c for c in value.__mro__ if c.__module__.startswith("pyspark_iceberg")]
    keys = {key for c in own for key, member in vars(c).items() if not key.startswith("_") and callable(member)}
    return [(f"{name}.{key}", getattr(value, key)) for key in sorted(keys)]


def test_the_docstrings_of_exported_functions_and_methods_describe_their_parameters() -> None:
    exported = [(name, getattr(pyspark_iceberg, name)) for name in pyspark_iceberg.__all__ if name != "__version__"]
    functions = [pair for name, value in exported for pair in callables(name, value) if callable(pair[1])]
    assert len(functions) > 120
    undescribed = [
        f"{name}: {parameter}"
        for name, function in functions
        if inspect.isroutine(function)
        for parameter in inspect.signature(function).parameters
        if parameter not in ("self", "spark", "name") and parameter not in (inspect.getdoc(function) or "")
    ]
    assert undescribed == []
