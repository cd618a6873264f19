"""The benchmark that compares iceberg-lite with other table formats, in a short run, and its charts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from servers.process import ROOT, jars

from pyspark_iceberg import connector_jars

BENCH = ROOT / "connector" / "bench"
ENGINES = ["Apache Iceberg", "iceberg-lite", "Delta Lake", "Parquet"]
#: The workloads of the test; `make bench-peers` runs all of them.
WORKLOADS = {"commit", "row changes", "streaming"}


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module connector/bench/peers.py."""
    monkeypatch.syspath_prepend(str(BENCH))
    import peers

    module: ModuleType = peers
    return module


@pytest.mark.slow
def test_workloads_run_in_all_engines_with_the_same_results(tmp_path: Path) -> None:
    results = tmp_path / "peers.json"
    command = [sys.executable, str(BENCH / "peers.py"), "--jar", ours(), "--json", str(results)]
    command += ["--peer", ":".join(jars("iceberg")), "--delta", ":".join(jars("delta"))]
    command += ["--rows", "5000", "--commits", "6", "--rounds", "1", "--repeats", "1", "--memory", "1g"]
    command += ["--workloads", *sorted(WORKLOADS)]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-4000:] + completed.stderr[-2000:]
    assert completed.stdout.endswith("The results of all engines agree.\n")
    document = json.loads(results.read_text(encoding="utf-8"))
    assert list(document["medians_ms"]) == ENGINES
    for engine, found in document["medians_ms"].items():
        expected = WORKLOADS - {"row changes"} if engine == "Parquet" else WORKLOADS
        assert {name.split(":")[0] for name in found} == expected
        assert min(found.values()) > 0
    drawn = subprocess.run(
        [sys.executable, str(BENCH / "peer_charts.py"), str(results), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {Path(line).stem for line in drawn.stdout.splitlines()} == {w.replace(" ", "-") for w in WORKLOADS}


def test_the_documentation_shows_the_results_and_charts_of_a_run(peers: ModuleType) -> None:
    import peer_charts

    page = (ROOT / "docs" / "peer-benchmarks.md").read_text(encoding="utf-8")
    document = json.loads((ROOT / "docs" / "peers" / "peers.json").read_text(encoding="utf-8"))
    figures = document["medians_ms"]
    assert document["problems"] == []
    assert list(figures) == ENGINES
    assert peers.table(ENGINES, figures) in page
    for workload in peer_charts.workloads(figures):
        chart = f"peers/{workload.replace(' ', '-')}.svg"
        assert f"]({chart})" in page
        assert (ROOT / "docs" / chart).exists()


@pytest.mark.slow
def test_streams_are_measured_in_both_connectors(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH / "streaming.py"), "--jar", ours(), "--peer", *jars("iceberg")]
    # Each connector leaves out the first triggers, in which the JVM compiles.
    command += ["--batches", "10", "--polls", "2", "--files", "4", "--rows", "1000", "--memory", "1g"]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout[-4000:] + completed.stderr[-2000:]
    lines = [line for line in completed.stdout.splitlines() if line.startswith(("write", "poll", "backlog", "files"))]
    assert {line.split(":")[0] for line in lines} == {"write", "poll", "backlog", "files"}
    nothing = [line for line in completed.stdout.splitlines() if line.startswith("noop")]
    assert len(nothing) == 2
    assert all(float(line.split()[-1]) > 0 for line in nothing)
    for line in lines:
        value, peer, _ = map(float, line.rsplit(maxsplit=3)[1:])
        # Spark reports whole milliseconds, and a planned micro-batch takes less than one.
        assert min(value, peer) >= 0 if "latestOffset" in line else min(value, peer) > 0, line


def test_a_part_that_reads_the_table_of_another_part_is_rejected_without_it(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH / "streaming.py"), "--jar", "absent.jar", "--parts", "poll"]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert completed.returncode == 2
    assert completed.stderr.endswith("error: poll and backlog need write\n")


def ours() -> str:
    """Return the path of the connector's jar."""
    return next(path for path in map(str, connector_jars()) if "iceberg-lite" in path)


def run(engine: str, times: dict[str, list[float]], results: dict[str, Any]) -> dict[str, Any]:
    return {"engine": engine, "round": 0, "times": times, "results": results, "errors": {}}


def test_figures_are_medians_of_medians_and_results_that_differ_are_reported(peers: ModuleType) -> None:
    runs = [run("a", {"m": [1, 9, 2]}, {"rows": 5}), run("a", {"m": [4]}, {"rows": 5}), run("b", {"m": [6]}, {})]
    assert peers.medians("a", runs) == {"m": 3}
    assert peers.problems(runs) == []
    runs.append(run("b", {}, {"rows": 6}))
    (problem,) = peers.problems(runs)
    assert problem.startswith("The results of rows differ")
    runs[0]["errors"] = {"commit": "Traceback"}
    assert "a, commit: Traceback" in peers.problems(runs)
