"""The package works in the oldest and the newest Python version that pyproject.toml declares.

The interpreters are those of the PATH or of pyenv. The tests of a version that is not installed are skipped.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pyspark
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = sorted((ROOT / "pyspark_iceberg").rglob("*.py"))
METADATA = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

IMPORT_ALL = """
import importlib, pkgutil, pyspark_iceberg
for module in pkgutil.walk_packages(pyspark_iceberg.__path__, "pyspark_iceberg."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        # The command line needs the packages of an extra, and PyIceberg imports the module local_files.
        optional = module.name.startswith("pyspark_iceberg.cli.") or module.name.endswith(".metadata.local_files")
        if not optional or error.name not in ("typer", "rich", "pyiceberg"):
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


VERSIONS = {"oldest": (3, 9), "newest": (3, 12)}


def test_the_tests_run_in_the_oldest_and_the_newest_version() -> None:
    declared = [int(minor) for minor in re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', METADATA)]
    assert {"oldest": oldest(), "newest": (3, max(declared))} == VERSIONS


@pytest.fixture(params=VERSIONS.values(), ids=lambda version: "{}.{}".format(*version))
def interpreter(request: pytest.FixtureRequest) -> str:
    """Return the interpreter of a version. The test is skipped if there is none."""
    version: tuple[int, int] = request.param
    if sys.version_info[:2] == version:
        return sys.executable
    name = "python{}.{}".format(*version)
    roots = [Path(os.environ["PYENV_ROOT"])] if "PYENV_ROOT" in os.environ else []
    of_pyenv = [
        path
        for root in (*roots, Path.home() / ".pyenv")
        for path in sorted((root / "versions").glob("{}.{}*/bin/python".format(*version)))
    ]
    # A program of the PATH may be a shim of pyenv, which fails if the version is not the selected one.
    found = next((str(p) for p in (name, *of_pyenv) if version_of(str(p)) == version), None)
    if found is None:
        pytest.skip(f"Python {name.removeprefix('python')} is neither on the PATH nor among the versions of pyenv")
    return found


def version_of(command: str) -> tuple[int, int] | None:
    """Return the version of an interpreter; None if it cannot be run."""
    program = "import sys; print(*sys.version_info[:2])"
    try:
        completed = subprocess.run([command, "-c", program], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = completed.stdout.split()
    return int(major), int(minor)


def test_an_interpreter_that_fails_has_no_version(tmp_path: Path) -> None:
    shim = tmp_path / "python3.9"
    shim.write_text("#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n", encoding="utf-8")
    shim.chmod(0o755)
    assert version_of(str(shim)) is None
    assert version_of(str(tmp_path / "absent")) is None
    assert version_of(sys.executable) == sys.version_info[:2]


def test_all_modules_can_be_imported(interpreter: str, tmp_path: Path) -> None:
    # PySpark and Py4J have no compiled modules, so the packages of another Python version can be imported. Setuptools
    # contains distutils, which PySpark imports and Python 3.12 does not have.
    packages = Path(pyspark.__file__).parent.parent
    for name in ("pyspark", "py4j", "setuptools", "_distutils_hack"):
        (tmp_path / name).symlink_to(packages / name)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [interpreter, "-c", IMPORT_ALL]
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    *modules, names = completed.stdout.split()
    files = {source.relative_to(ROOT).with_suffix("") for source in SOURCES}
    assert set(modules) == {".".join(f.parts).removesuffix(".__init__") for f in files} - {"pyspark_iceberg"}
    assert int(names) > 0


@pytest.mark.slow
def test_the_program_of_the_readme_and_the_command_line_run_with_the_installed_wheel(
    interpreter: str, wheel: Path, tmp_path: Path
) -> None:
    python = new_environment(interpreter, tmp_path / "venv")
    install(python, "--no-deps", "--no-index", str(wheel))
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("## First steps")[2]
    program = readme.partition("```python\n")[2].partition("```")[0]
    assert program.count("spark") >= 3
    shown = run_in(tmp_path, python, "-c", program)
    assert [line.strip("| ") for line in shown.splitlines() if line.startswith("|")] == ["id", "0", "1", "2"]
    # These commands need packages from the package index that have compiled modules for each Python version.
    install(python, f"pyspark-iceberg[cli] @ {wheel.as_uri()}")
    command = str(Path(python).with_name("iceberg-lite"))
    assert run_in(tmp_path, command, "--warehouse", "warehouse", "tables").split() == ["db.numbers"]
    assert "append" in run_in(tmp_path, command, "--warehouse", "warehouse", "history", "db.numbers")


def new_environment(interpreter: str, folder: Path) -> str:
    """Create a virtual environment with PySpark (300 MB), which is that of the tests, and return its interpreter."""
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True, capture_output=True)
    python = str(folder / "bin" / "python")
    program = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run_in(folder, python, "-c", program).strip())
    shared = Path(sysconfig.get_path("purelib"))
    pattern = re.compile(r"(pyspark|py4j|setuptools)(-|$)|pkg_resources$|_distutils_hack$|distutils-precedence")
    for name in (path.name for path in shared.iterdir() if pattern.match(path.name)):
        if not (packages / name).exists():
            (packages / name).symlink_to(shared / name)
    return python


def install(python: str, *arguments: str) -> None:
    """Install packages in a virtual environment."""
    run_in(Path.cwd(), python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def run_in(folder: Path, *command: str) -> str:
    """Run a program in a directory, and return its output. It must succeed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    completed = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-1000:] + completed.stderr[-3000:]
    return completed.stdout
