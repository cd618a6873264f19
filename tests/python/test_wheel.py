"""`pip install` of the wheel and nothing else gives a working connector."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return next(out.glob("*.whl"))


def test_the_wheel_carries_the_connector_the_sqlite_driver_and_type_marks(wheel: Path) -> None:
    names = {Path(n).name for n in zipfile.ZipFile(wheel).namelist()}
    assert any(n.startswith("iceberg-lite-spark-3.5_2.12-") for n in names)
    assert any(n.startswith("sqlite-jdbc-") for n in names)
    assert "py.typed" in names


def test_the_jar_holds_no_class_outside_the_connectors_packages(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        jar = next(n for n in archive.namelist() if "iceberg-lite-spark" in n)
        archive.extract(jar, tmp_path)
    classes = [n for n in zipfile.ZipFile(tmp_path / jar).namelist() if n.endswith(".class")]
    # iceberg.DefaultSource is what Spark looks for when a query says USING iceberg.
    ours = ("iceberglite/", "org/apache/spark/sql/iceberglite/", "iceberg/DefaultSource.class")
    assert classes
    assert [n for n in classes if not n.startswith(ours)] == []


def test_an_installed_wheel_works_in_three_lines(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    # PySpark itself (300 MB) comes from the environment of the tests; the package must come from the wheel.
    shared = Path(sysconfig.get_path("purelib"))
    for name in ("pyspark", "py4j", "setuptools", "pkg_resources", "_distutils_hack"):
        if (shared / name).exists() and not (Path(site) / name).exists():
            (Path(site) / name).symlink_to(shared / name)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    program = (
        "from pyspark_iceberg import iceberg_session\n"
        "spark = iceberg_session(warehouse='wh')\n"
        "spark.range(3).write.format('iceberg-lite').saveAsTable('db.t')\n"
        "print('rows', spark.read.format('iceberg-lite').load('db.t').count())\n"
    )
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "rows 3" in done.stdout
