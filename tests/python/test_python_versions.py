"""All modules have the syntax of the oldest Python version that pyproject.toml declares, and can be imported in it.

If this version is not installed, the modules are imported in the Python version of the tests.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pyspark

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = sorted((ROOT / "pyspark_iceberg").rglob("*.py"))
METADATA = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

IMPORT_ALL = """
import importlib, pkgutil, pyspark_iceberg
for module in pkgutil.walk_packages(pyspark_iceberg.__path__, "pyspark_iceberg."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        # The command line needs packages that the oldest version may not have.
        if not module.name.startswith("pyspark_iceberg.cli.") or error.name not in ("typer", "rich"):
            raise
    print(module.name)
print(len(pyspark_iceberg.__all__))
"""


def oldest() -> tuple[int, int]:
    """Return the oldest version that the metadata declares."""
    found = re.search(r'requires-python = ">=(\d+)\.(\d+)"', METADATA)
    assert found is not None
    return int(found.group(1)), int(found.group(2))


def test_every_module_has_the_syntax_of_the_oldest_version() -> None:
    for source in SOURCES:
        tree = ast.parse(source.read_text(encoding="utf-8"), str(source), feature_version=oldest())
        if source.name == "__init__.py":
            continue
        imports = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
        assert imports[:1] == ["__future__"], f"{source} must not evaluate annotations, which have newer syntax"


def test_the_classifiers_list_each_version_from_the_oldest_to_3_12() -> None:
    versions = re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', METADATA)
    assert versions == [str(minor) for minor in range(oldest()[1], 13)]


def interpreter() -> str:
    """Return the interpreter of the oldest version, or, if there is none on the PATH, the one of this test."""
    name = "python{}.{}".format(*oldest())
    try:
        subprocess.run([name, "--version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return sys.executable
    return name


def test_all_modules_can_be_imported_in_the_oldest_version_or_else_in_this_one(tmp_path: Path) -> None:
    # PySpark and Py4J have no compiled modules, so the packages of another Python version can be imported.
    packages = Path(pyspark.__file__).parent.parent
    for name in ("pyspark", "py4j"):
        (tmp_path / name).symlink_to(packages / name)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [interpreter(), "-c", IMPORT_ALL]
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    *modules, names = completed.stdout.split()
    files = {source.relative_to(ROOT).with_suffix("") for source in SOURCES}
    assert set(modules) == {".".join(f.parts).removesuffix(".__init__") for f in files} - {"pyspark_iceberg"}
    assert int(names) > 0
