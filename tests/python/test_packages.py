"""Spark loads the published module by its Maven coordinates without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MAVEN = ROOT / "build" / "maven"
# Nothing listens on port 9, so a request to any other machine fails at once.
NO_NETWORK = " ".join(
    f"-D{scheme}.{key}={value}"
    for scheme in ("http", "https")
    for key, value in (("proxyHost", "127.0.0.1"), ("proxyPort", "9"), ("nonProxyHosts", "none"))
)
# The only repository is a directory. Spark uses neither its default repositories nor the local caches.
IVY_SETTINGS = """<ivysettings>
  <settings defaultResolver="local"/>
  <resolvers><ibiblio name="local" m2compatible="true" root="{root}"/></resolvers>
</ivysettings>
"""
PROGRAM = """
import sys
from pyspark.sql import SparkSession
from pyspark_iceberg import Table, iceberg_session

coordinates, settings, ivy = sys.argv[1:]
builder = SparkSession.builder.config("spark.jars.ivySettings", settings).config("spark.jars.ivy", ivy)
spark = iceberg_session("warehouse", jar=coordinates, builder=builder.config("spark.ui.enabled", "false"))
spark.sql("CREATE TABLE db.t (id INT, name STRING) USING iceberg")
spark.sql("INSERT INTO db.t VALUES (7, 'release'), (8, 'x')")
Table(spark, "db.t").delete("id = 8")
print("rows:", [tuple(row) for row in spark.table("db.t").collect()])
print("jars:", list(spark._jsc.sc().listJars().mkString(",").split(",")))
spark.stop()
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Return an Ivy settings file whose only repository is a copy of the published module, and is in `tmp_path`."""
    shutil.copytree(MAVEN, tmp_path / "maven")
    path = tmp_path / "ivysettings.xml"
    path.write_text(IVY_SETTINGS.format(root=(tmp_path / "maven").as_uri()), encoding="utf-8")
    return path


def offline(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command whose JVM has no network except the machine itself."""
    # Spark also searches the Maven repository in the home directory.
    options = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} {NO_NETWORK} -Duser.home={folder}"
    environment = {**os.environ, "SPARK_SUBMIT_OPTS": options}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def from_settings(command: list[str], settings: Path) -> list[str]:
    """Replace the repository of a command of spark-sql by an Ivy settings file."""
    at = command.index("--repositories")
    return [*command[:at], "--conf", f"spark.jars.ivySettings={settings}", *command[at + 2 :]]


def test_spark_sql_needs_only_a_local_repository(release: ModuleType, tmp_path: Path, settings: Path) -> None:
    command = from_settings(release.spark_sql(tmp_path / "maven", tmp_path, release.STATEMENTS), settings)
    done = offline(command, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "7\trelease" in done.stdout.splitlines()
    jars = [path.name for path in (tmp_path / "ivy" / "jars").iterdir()]
    assert jars == [f"{release.GROUP}_{release.MODULE}-{release.VERSION}.jar"], "the module must have no dependencies"


def test_python_needs_only_a_local_repository(release: ModuleType, tmp_path: Path, settings: Path) -> None:
    coordinates = f"{release.GROUP}:{release.MODULE}:{release.VERSION}"
    done = offline([sys.executable, "-c", PROGRAM, coordinates, str(settings), str(tmp_path / "ivy")], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    shown = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    assert shown["rows"] == "[(7, 'release')]"
    # The session has the jar of the repository, and not also that of the Python package.
    assert shown["jars"].count(".jar") == 1
    assert f"{release.GROUP}_{release.MODULE}-{release.VERSION}.jar" in shown["jars"]


def test_an_ivy_directory_that_was_filled_before_needs_no_repository(release: ModuleType, tmp_path: Path) -> None:
    repository = tmp_path / "maven"
    shutil.copytree(MAVEN, repository)
    (tmp_path / "first").mkdir()
    command = release.spark_sql(repository, tmp_path, "SELECT 1")
    filled = offline(command, tmp_path / "first")
    assert filled.returncode == 0, filled.stderr[-3000:]
    shutil.rmtree(repository)
    # An absent repository without a filled directory is an error, so the next command depends on the directory.
    absent = [part.replace(str(tmp_path / "ivy"), str(tmp_path / "empty")) for part in command]
    assert "unresolved dependency" in offline(absent, tmp_path / "first").stderr
    again = offline(release.spark_sql(repository, tmp_path, release.STATEMENTS), tmp_path)
    assert again.returncode == 0, again.stderr[-3000:]
    assert "7\trelease" in again.stdout.splitlines()


def test_a_module_that_the_repository_lacks_is_not_taken_from_elsewhere(
    release: ModuleType, tmp_path: Path, settings: Path
) -> None:
    shutil.rmtree(tmp_path / "maven")
    command = from_settings(release.spark_sql(tmp_path / "maven", tmp_path, "SELECT 1"), settings)
    done = offline(command, tmp_path)
    assert done.returncode != 0
    assert f"unresolved dependency: {release.GROUP}#{release.MODULE};{release.VERSION}: not found" in done.stderr
