"""Fixtures of the Python tests: one Spark session, to which `iceberg_session` adds the connector, and servers."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from pyspark.sql import SparkSession
from servers.kinds import KINDS
from servers.process import jars
from servers.shared import shared_server

from pyspark_iceberg import iceberg_session

pytest.register_assert_rewrite("shared_catalog")

ROOT = Path(__file__).resolve().parent.parent
SLOW_SECONDS = 900

# The time after which the Metastore removes the lock of a dead client.
os.environ.setdefault("ICEBERG_LITE_HIVE_LOCK", "60s")

# Options for the JVMs of PySpark, spark-submit and the cluster. Most of their code runs only a few times, so they are
# faster without the optimizing compiler (C2). Without C2, the code cache has only 48 MiB by default, which is too small
# for Spark: if it is full, the JVM interprets all further code. The default description of each statement's plan for
# Spark's UI would take a tenth of the time. Spark keeps the classes that it generates for 2000 instead of 100
# expressions, because many statements of the tests are alike.
for _variable in ("SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(
        _variable,
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m -XX:MetaspaceSize=256m "
        "-Dspark.sql.ui.explainMode=simple -Dspark.sql.codegen.cache.maxEntries=2000",
    )
# The session of the tests verifies classes. The JVMs that are started later load the same classes without verification,
# which would take a third of the time of a short program.
NO_VERIFICATION = " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
if os.environ.get("TMPDIR"):
    os.environ["SPARK_SUBMIT_OPTS"] += f" -Djava.io.tmpdir={os.environ['TMPDIR']}"
    os.environ.setdefault("SPARK_LOCAL_DIRS", os.environ["TMPDIR"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests in the report, and give them more time."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS), append=False)
            item.user_properties.append(("tier", "slow"))


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the catalog `lite`."""
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="session")
def release() -> ModuleType:
    """Return the module project/release.py."""
    spec = importlib.util.spec_from_file_location("release", ROOT / "project" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def sqlite_uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of the SQLite database of the catalog `shared`, which PyIceberg's catalog also uses."""
    return str(tmp_path_factory.mktemp("sqlite") / "catalog.db")


@pytest.fixture(scope="session")
def spark(warehouse: Path, sqlite_uri: str) -> Iterator[SparkSession]:
    """Return the session, with the catalogs `lite` (file system, the default) and `shared` (JDBC on SQLite).

    If the environment names a server of Spark Connect, the session is a session of this server, which has the same
    catalogs.
    """
    if "ICEBERG_LITE_CONNECT" in os.environ:
        session = SparkSession.builder.remote(os.environ["ICEBERG_LITE_CONNECT"]).getOrCreate()
        yield session
        session.stop()
        return
    builder = (
        SparkSession.builder.appName("tests")
        .master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.jars", next(jar for jar in jars("client") if "/postgresql-" in jar))
    )
    session = iceberg_session(warehouse, builder=builder)
    os.environ["SPARK_SUBMIT_OPTS"] += NO_VERIFICATION
    session.sparkContext.setLogLevel("OFF")
    iceberg_session(
        Path(sqlite_uri).parent / "tables", catalog="shared", uri=f"jdbc:sqlite:{sqlite_uri}", default=False
    )
    yield session
    session.stop()


@pytest.fixture
def table(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return a name in the catalog `lite` that no other test uses; the table is dropped at the end of the test."""
    name = "tests." + "".join(c if c.isalnum() else "_" for c in request.node.name)[:60]
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")


def _server(kind: str, factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    server_settings = shared_server(kind)
    if server_settings is not None:
        yield SimpleNamespace(**server_settings)
        return
    directory = factory.mktemp(kind)
    # PostgreSQL runs as another user, and pytest's directories are accessible to one user only.
    for folder in (directory, *directory.parents[:2]):
        folder.chmod(0o755)
    with KINDS[kind](directory, None) as started:
        yield SimpleNamespace(**started)


@pytest.fixture(scope="session")
def rest_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Start a REST catalog server; return its uri and warehouse."""
    yield from _server("rest", tmp_path_factory)


@pytest.fixture(scope="session")
def hive_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Start a Hive Metastore; return its uri and warehouse."""
    yield from _server("hive", tmp_path_factory)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Start PostgreSQL; return its JDBC url, host, port, user and password."""
    yield from _server("postgres", tmp_path_factory)


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Start an S3 store; return its endpoint, access_key and secret_key."""
    yield from _server("s3", tmp_path_factory)
