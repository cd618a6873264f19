"""The rules of tests/run.py for slow tests, missing tests, processor time, and test programs that hang or die."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from runner.budget import Budget
from runner.hanging import Deadline, release
from runner.machine import Watch
from runner.reports import Case, Suite, count, failed_tasks, failures, read

RULES = {
    "core_minutes": {"fast": 20, "all": 60},
    "test_seconds": 5,
    "suite_seconds": 20,
    "slack": 1.5,
    "core_minutes_slack": 2,
    "longer": {"a program": 60},
    "least_tests": {"fast": {"core": 2, "python": 1}, "slow": {"core": 1}},
}
SBT = """<testsuite name="a.b.XSuite" tests="3" time="{time}" timestamp="2026-03-01T12:00:00">
<testcase classname="a.b.XSuite" name="quick" time="0.1"/>
<testcase classname="a.b.XSuite" name="long" time="{time}"/>
<testcase classname="a.b.XSuite" name="wrong" time="0.2"><failure message="1 is not 2"/></testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite name="pytest" time="9" timestamp="2026-03-01T12:00:00.123456+00:00">
<testcase classname="python.test_x" name="a" time="8">
<properties><property name="tier" value="slow"/></properties></testcase>
<testcase classname="python.test_x" name="b" time="1"><skipped message="no spin"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    file = tmp_path / "budget.json"
    file.write_text(json.dumps(RULES))
    return Budget(file)


def core(tmp_path: Path, seconds: float, slow: bool = False) -> list[Suite]:
    """Return a suite of the project `core`: a test `long` that takes this time, a quick test and a failed test."""
    file = tmp_path / "TEST-a.b.XSuite.xml"
    file.write_text(SBT.format(time=seconds))
    return read("core", [file], slow)


def python(tmp_path: Path) -> list[Suite]:
    """Return a suite of Python tests: a slow test and a skipped test."""
    file = tmp_path / "pytest.xml"
    file.write_text(PYTEST)
    return read("python", [file])


def idle(start: float, end: float) -> float:
    """Return the number of runnable processes for each processor that an idle machine has between two times."""
    return 1.0


def test_tests_are_counted_and_failures_are_quoted(tmp_path: Path) -> None:
    assert count(core(tmp_path, 1)) == (2, 1, 0)
    assert failures(core(tmp_path, 1)) == ["a.b.XSuite: wrong\n    1 is not 2"]
    assert count(python(tmp_path)) == (1, 0, 1)


def test_a_long_test_is_reported_unless_it_is_marked_slow_or_the_machine_was_busy(
    budget: Budget, tmp_path: Path
) -> None:
    assert budget.slow(core(tmp_path, 7), idle) == []
    (problem,) = budget.slow(core(tmp_path, 8), idle)
    assert problem.startswith("a.b.XSuite: long: 8 s of 5 s")
    assert budget.slow(core(tmp_path, 8, slow=True), idle) == []
    assert budget.slow(core(tmp_path, 8), lambda start, end: 2.0 if end - start == 8 else 1.0) == []
    assert len(budget.slow(core(tmp_path, 31), idle)) == 2, "both the test and its suite are reported"
    assert budget.slow(python(tmp_path), idle) == []
    program = [dataclasses.replace(core(tmp_path, 1)[0], cases=(Case("a.b.XSuite", "a program", 80, False, False),))]
    assert budget.slow(program, idle) == [], "a longer duration is allowed for this name"


def test_a_project_without_reports_is_reported(budget: Budget, tmp_path: Path) -> None:
    assert budget.missing(["fast"], core(tmp_path, 1) + python(tmp_path)) == []
    (problem,) = budget.missing(["fast"], core(tmp_path, 1))
    assert problem.startswith("python: no reports")
    (problem,) = budget.missing(["fast", "slow"], core(tmp_path, 1) + python(tmp_path))
    assert problem.startswith("core: no reports in the slow tier")


def test_a_processor_time_above_the_limit_is_reported(budget: Budget) -> None:
    assert budget.minutes("fast", 20 * 60) == []
    (problem,) = budget.minutes("fast", 21 * 60)
    assert "21.0 core-minutes of 20" in problem
    assert budget.minutes("all", 21 * 60) == []


def test_a_run_fails_only_if_its_processor_time_is_far_above_the_limit(budget: Budget) -> None:
    assert budget.excess("fast", 39 * 60) == []
    (problem,) = budget.excess("fast", 41 * 60)
    assert "41.0 core-minutes of 20" in problem
    assert budget.excess("all", 119 * 60) == []
    assert budget.excess("all", 121 * 60) != []


HANGING = """package iceberglite;
public class HangingSuite {
  public static void main(String[] arguments) throws Exception {
    System.out.println("started");
    Thread.sleep(1000000);
  }
}
"""

WAITING = """import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    print("started", flush=True)
    for _ in range(3):
        server.accept()[0].close()
"""


def test_sbt_continues_after_a_test_jvm_died() -> None:
    with Watch() as watch:
        command = [sys.executable, "-c", WAITING, "sbt-launch.jar"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            watch.roots[process.pid] = "build"
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            release(watch)
            assert process.wait(60) == 0


def test_a_run_that_takes_too_long_is_ended_and_its_running_suites_are_reported(tmp_path: Path) -> None:
    source = tmp_path / "HangingSuite.java"
    source.write_text(HANGING)
    reported: list[str] = []
    with Watch() as watch:
        command = ["java", "-Diceberglite.project=core", "-Diceberglite.tier=slow", str(source)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            watch.roots[process.pid] = "build"
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            while not watch.jvms():
                time.sleep(0.05)
            with Deadline(0, watch, tmp_path, reported.append):
                assert process.wait(60) == -9
    assert reported[0] == "the run was ended after 0 minutes"
    assert reported[1].startswith(f"core slow (process {process.pid}) was still running: iceberglite.HangingSuite (")
    assert "HangingSuite.main" in (tmp_path / f"hanging-core-slow-{process.pid}.txt").read_text()


def test_tasks_that_fail_without_a_failed_test_are_named() -> None:
    output = """[info] scalafmt: Checking 2 Scala sources (connector/spec)...
[error] scalafmt: 1 files must be formatted (connector)
[error] (Compile / scalafmtSbtCheck) scalafmt: 1 files must be formatted (connector)
[error] (core / Fast / test) sbt.TestsFailedException: Tests unsuccessful
[error] Total time: 98 s (01:38)
"""
    assert failed_tasks(output) == [
        "(Compile / scalafmtSbtCheck) scalafmt: 1 files must be formatted (connector)",
        "(core / Fast / test) sbt.TestsFailedException: Tests unsuccessful",
    ]
