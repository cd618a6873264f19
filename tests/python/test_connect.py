"""The Python package on Spark Connect: the tests of several files run again in programs without a JVM."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pyspark
import pytest
from servers.process import HOST, ROOT, answers, free_port, jars, running

from pyspark_iceberg import catalog_settings, connector_jars
from pyspark_iceberg.session import EXTENSIONS_CLASS

SPARK_HOME = Path(pyspark.__file__).parent
TESTS = (
    "test_bad_input.py",
    "test_builder.py",
    "test_changes.py",
    "test_evolution.py",
    "test_procedures.py",
    "test_reads.py",
    "test_row_changes.py",
    "test_streams.py",
    "test_table.py",
    "test_typed_errors.py",
    "test_variants.py",
    "test_writes.py",
)
#: The tests of these files that need the JVM, and the reason.
NEEDS_JVM = {
    "test_procedures.py::test_the_error_of_a_procedure_has_a_condition_and_a_sql_state": "conditions without classes",
    "test_row_changes.py::test_rows_of_another_session_are_merged_as_in_foreach_batch": "newSession",
    "test_streams.py::test_a_merge_in_foreach_batch_with_an_application_version_runs_once": "a function that is sent "
    "to the server cannot refer to the session",
}


@pytest.fixture(scope="module")
def connect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a server of Spark Connect with the connector; return its URI."""
    directory = tmp_path_factory.mktemp("connect")
    port = free_port()
    class_path = ":".join([*map(str, connector_jars()), *jars("connect")])
    settings = {
        **catalog_settings(directory / "warehouse"),
        **catalog_settings(
            directory / "tables", catalog="shared", uri=f"jdbc:sqlite:{directory / 'catalog.db'}", default=False
        ),
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


@pytest.fixture(scope="module")
def cases(connect_server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[ElementTree.Element]]:
    """Run the tests of all files in one program, and return the elements of their cases in the report by file."""
    directory = tmp_path_factory.mktemp("run")
    report = directory / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={directory / 'tests'}"]
    command += [f"--junitxml={report}", *(f"--deselect=tests/python/{test}" for test in NEEDS_JVM)]
    completed = subprocess.run(
        [*command, *(str(ROOT / "tests" / "python" / file) for file in TESTS)],
        cwd=ROOT,
        env={**os.environ, "ICEBERG_LITE_CONNECT": connect_server},
        capture_output=True,
        text=True,
        check=False,
    )
    output = completed.stdout[-5000:] + completed.stderr[-3000:]
    # Code 1 means that tests failed, which the report lists.
    assert completed.returncode in (0, 1), output
    deselected = re.search(r"(\d+) deselected", completed.stdout.splitlines()[-1])
    assert deselected is not None, output
    assert int(deselected[1]) >= len(NEEDS_JVM), output
    found: dict[str, list[ElementTree.Element]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        found.setdefault(case.get("classname", "").rpartition(".")[2] + ".py", []).append(case)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("file", TESTS)
def test_the_tests_pass_on_spark_connect(cases: dict[str, list[ElementTree.Element]], file: str) -> None:
    """A test passed if its element contains neither a failure or error nor the reason why it was skipped."""
    assert cases[file]
    problems = [(case.get("name"), inner) for case in cases[file] for inner in case if inner.tag != "properties"]
    assert [f"{name}: {inner.tag}: {inner.text}" for name, inner in problems] == []
