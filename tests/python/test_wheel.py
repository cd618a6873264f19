"""`pip install` of the wheel alone gives a working connector."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Sequence
from importlib.metadata import requires
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pyspark_iceberg

ROOT = Path(__file__).resolve().parent.parent.parent
MAVEN = ROOT / "build" / "maven"


def test_the_wheel_contains_the_connector_the_sqlite_driver_and_a_type_marker(wheel: Path) -> None:
    names = {Path(n).name for n in zipfile.ZipFile(wheel).namelist()}
    assert any(n.startswith("iceberg-lite-spark-3.5_2.12-") for n in names)
    assert any(n.startswith("sqlite-jdbc-") for n in names)
    assert "py.typed" in names


def test_the_version_of_the_package_is_that_of_the_wheel(wheel: Path) -> None:
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    assert pyspark_iceberg.__version__ == version
    assert f"-{version}-" in wheel.name


def test_the_jar_has_no_class_outside_the_connector_packages(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        jar = next(n for n in archive.namelist() if "iceberg-lite-spark" in n)
        archive.extract(jar, tmp_path)
    classes = [n for n in zipfile.ZipFile(tmp_path / jar).namelist() if n.endswith(".class")]
    # iceberg.DefaultSource is the class that Spark loads for USING iceberg.
    ours = ("iceberglite/", "org/apache/spark/sql/iceberglite/", "iceberg/DefaultSource.class")
    assert classes
    assert [n for n in classes if not n.startswith(ours)] == []


def test_the_jar_contains_licence_and_notice(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        jar = archive.extract(next(n for n in archive.namelist() if "iceberg-lite-spark" in n), tmp_path)
    with zipfile.ZipFile(jar) as archive:
        for name in ("LICENSE", "NOTICE"):
            assert archive.read(f"META-INF/{name}") == (ROOT / name).read_bytes()


def test_the_wheel_contains_the_licences_of_redistributed_software(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folder = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA")).rsplit("/", 1)[0]
        for name in ("LICENSE", "NOTICE", "licenses/sqlite-jdbc-zentus.txt"):
            assert archive.read(f"{folder}/licenses/{name}") == (ROOT / name).read_bytes()


def extras_of(requirements: Sequence[str], extra: str) -> dict[str, str]:
    """Return the minimum versions of the packages of an extra, without trailing zeros."""
    found = (re.match(r"([\w.-]+).*?>=([\d.]+)", line) for line in requirements if f"extra == '{extra}'" in line)
    return {match[1]: re.sub(r"(\.0)+$", "", match[2]) for match in found if match}


def test_the_extras_for_arrow_and_connect_have_the_minimum_versions_of_pyspark(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    ours = [line.replace('"', "'") for line in text.splitlines() if line.startswith("Requires-Dist:")]
    ours = [line.removeprefix("Requires-Dist: ") for line in ours]
    pyspark = [line.replace('"', "'") for line in requires("pyspark") or ()]
    for extra, source in (("arrow", "sql"), ("connect", "connect")):
        expected = extras_of(pyspark, source)
        expected.pop("numpy")
        assert len(expected) >= 2
        assert extras_of(ours, extra) == expected


def test_the_documentation_lists_all_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        extras = re.findall(r"^Provides-Extra: (\w+)$", archive.read(name).decode(), re.MULTILINE)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    section = page.partition("## Install")[2].partition("## ")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == sorted(extras)


@pytest.fixture
def tree_without_jars(tmp_path: Path) -> Path:
    """Copy the files from which the package is built, as in a fresh clone."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("pyproject.toml", "setup.py", "VERSION", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tree / name)
    shutil.copytree(ROOT / "licenses", tree / "licenses")
    shutil.copytree(ROOT / "pyspark_iceberg", tree / "pyspark_iceberg", ignore=shutil.ignore_patterns("*.jar"))
    (tree / "pyspark_iceberg" / "jars").mkdir(exist_ok=True)
    return tree


def build_in(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a source tree."""
    return subprocess.run([sys.executable, *command], cwd=tree, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("stale", [False, True])
def test_a_wheel_without_the_jar_of_its_version_is_not_built(tree_without_jars: Path, stale: bool) -> None:
    if stale:
        for name in ("iceberg-lite-spark-3.5_2.12-0.0.1.jar", "sqlite-jdbc-3.jar"):
            (tree_without_jars / "pyspark_iceberg" / "jars" / name).touch()
    completed = build_in(tree_without_jars, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", ".")
    assert completed.returncode != 0
    output = completed.stdout + completed.stderr
    assert "Cannot build the wheel: iceberg-lite-spark-3.5_2.12-" in output
    assert "make wheel" in output
    assert not list(tree_without_jars.glob("dist/*.whl"))


def test_an_editable_installation_does_not_need_the_jar(tree_without_jars: Path) -> None:
    program = "from setuptools.build_meta import build_editable; print(build_editable('.'))"
    completed = build_in(tree_without_jars, "-c", program)
    assert completed.returncode == 0, completed.stderr[-3000:]


def test_the_published_module_has_the_jar_name_and_no_dependencies() -> None:
    version = (ROOT / "VERSION").read_text().strip()
    folder = MAVEN / "io" / "github" / "iceberg-lite" / "iceberg-lite-spark-3.5_2.12" / version
    pom = ElementTree.parse(folder / f"iceberg-lite-spark-3.5_2.12-{version}.pom").getroot()
    name = "{http://maven.apache.org/POM/4.0.0}"
    assert pom.findtext(f"{name}artifactId") == "iceberg-lite-spark-3.5_2.12"
    assert pom.findtext(f"{name}groupId") == "io.github.iceberg-lite"
    assert list(pom.iter(f"{name}dependency")) == []
    assert pom.findtext(f"{name}licenses/{name}license/{name}name") == "Apache-2.0"


def test_make_jar_puts_the_jars_into_the_package() -> None:
    completed = subprocess.run(
        ["make", "--no-print-directory", "-n", "-B", "jar"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "spark/bundle" in completed.stdout
    jar = completed.stdout.splitlines()[-1].split()[-1]
    assert Path(jar).parent == Path("pyspark_iceberg/jars")


def test_an_installed_wheel_works_in_three_lines(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    # PySpark itself (300 MB) comes from the test environment; the package must come from the wheel.
    shared = Path(sysconfig.get_path("purelib"))
    for name in ("pyspark", "py4j", "setuptools", "pkg_resources", "_distutils_hack"):
        if (shared / name).exists() and not (Path(site) / name).exists():
            (Path(site) / name).symlink_to(shared / name)
    # The pip of the tests installs the wheel, because the installation of another pip would take seconds.
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, str(wheel)], check=True)
    program = (
        "from pyspark_iceberg import iceberg_session\n"
        "spark = iceberg_session(warehouse='wh')\n"
        "spark.range(3).write.format('iceberg-lite').saveAsTable('db.t')\n"
        "print('rows', spark.read.format('iceberg-lite').load('db.t').count())\n"
    )
    completed = subprocess.run([python, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert completed.returncode == 0, completed.stderr[-3000:]
    assert "rows 3" in completed.stdout
