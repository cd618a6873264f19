"""The Python package on Spark Connect: many tests of `Table` run again in a program without a JVM."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from servers.process import HOST, ROOT, answers, free_port, jars, running

from pyspark_iceberg import catalog_settings, connector_jars
from pyspark_iceberg.session import EXTENSIONS_CLASS

SPARK_HOME = Path(pyspark.__file__).parent
TESTS = (
    "test_builder.py",
    "test_reads.py",
    "test_table.py",
    "test_writes.py",
    "test_row_changes.py::test_delete_and_update_return_the_number_of_changed_rows",
    "test_row_changes.py::test_a_merge_with_all_clauses_returns_its_row_counts",
)


@pytest.fixture(scope="module")
def connect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a server of Spark Connect with the connector; return its URI."""
    directory = tmp_path_factory.mktemp("connect")
    port = free_port()
    class_path = ":".join([*map(str, connector_jars()), *jars("connect")])
    settings = {
        **catalog_settings(directory / "warehouse"),
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": HOST,
        "spark.driver.host": HOST,
        "spark.sql.extensions": EXTENSIONS_CLASS,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    command = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "1g"]
    command += ["--driver-class-path", class_path, "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [argument for key, value in settings.items() for argument in ("--conf", f"{key}={value}")]
    ready = functools.partial(answers, port)
    environment = {"SPARK_HOME": str(SPARK_HOME), "PYSPARK_PYTHON": sys.executable}
    with running([*command, "spark-internal"], directory / "connect.log", ready, environment):
        yield f"sc://{HOST}:{port}"


@pytest.mark.slow
def test_the_methods_of_tables_work_on_spark_connect(connect_server: str, tmp_path: Path) -> None:
    tests = [str(ROOT / "tests" / "python" / test) for test in TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += [f"--basetemp={tmp_path / 'tests'}"]
    completed = subprocess.run(
        [*command, *tests],
        cwd=ROOT,
        env={**os.environ, "ICEBERG_LITE_CONNECT": connect_server},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout[-5000:] + completed.stderr[-3000:]
    passed = re.search(r"(\d+) passed", completed.stdout)
    assert passed is not None
    assert int(passed.group(1)) >= 37
    assert "skipped" not in completed.stdout.splitlines()[-1]
