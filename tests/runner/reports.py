"""JUnit reports: the numbers of tests by result, the messages of failed tests, and the durations."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

MESSAGE_LINES = 12


@dataclass(frozen=True)
class Case:
    """A completed test."""

    suite: str
    name: str
    seconds: float
    slow: bool
    skipped: bool
    failure: str | None = None


@dataclass(frozen=True)
class Suite:
    """The tests of one class or file, and the times of their start and end, in seconds since 1970."""

    project: str
    name: str
    started: float
    ended: float
    cases: tuple[Case, ...]

    @property
    def seconds(self) -> float:
        """The total duration of the tests."""
        return sum(case.seconds for case in self.cases)


def read(project: str, files: Iterable[Path], slow: bool = False) -> list[Suite]:
    """Read the reports of a project. `slow` marks all its tests as slow; pytest marks a slow test with a property."""
    suites: dict[str, list[Case]] = {}
    times: dict[str, tuple[float, float]] = {}
    for file in sorted(files):
        for element in ElementTree.parse(file).getroot().iter("testsuite"):
            time = _time(element, project)
            for test in element.iter("testcase"):
                name = test.get("classname", file.stem)
                suites.setdefault(name, []).append(_case(test, slow))
                times[name] = time
    return [Suite(project, name, *times[name], tuple(cases)) for name, cases in suites.items()]


def _time(element: ElementTree.Element, project: str) -> tuple[float, float]:
    """Return the start and end of a report's tests. The timestamp is the end for sbt, and the start for pytest."""
    stamp = element.get("timestamp")
    if stamp is None:
        return 0.0, 0.0
    time, seconds = datetime.datetime.fromisoformat(stamp[:26]).timestamp(), float(element.get("time") or 0)
    return (time, time + seconds) if project == "python" else (time - seconds, time)


def _case(test: ElementTree.Element, slow: bool) -> Case:
    properties = {(p.get("name"), p.get("value")) for p in test.iter("property")}
    failed = next((found for kind in ("failure", "error") if (found := test.find(kind)) is not None), None)
    failure = None
    if failed is not None:
        message = (failed.get("message") or failed.text or "").strip().splitlines()[:MESSAGE_LINES]
        failure = "\n    ".join([f"{test.get('classname')}: {test.get('name')}", *message])
    return Case(
        test.get("classname", ""),
        test.get("name", ""),
        float(test.get("time") or 0),
        slow or ("tier", "slow") in properties,
        test.find("skipped") is not None,
        failure,
    )


def failures(suites: Iterable[Suite]) -> list[str]:
    """Return the messages of the failed tests."""
    return [case.failure for suite in suites for case in suite.cases if case.failure is not None]


def count(suites: Iterable[Suite]) -> tuple[int, int, int]:
    """Return how many tests passed, failed and were skipped."""
    cases = [case for suite in suites for case in suite.cases]
    failed = sum(case.failure is not None for case in cases)
    skipped = sum(case.skipped for case in cases)
    return len(cases) - failed - skipped, failed, skipped


def summary(suites: Iterable[Suite]) -> str:
    """Return the line with the numbers of passed, failed and skipped tests."""
    return "{} passed, {} failed, {} skipped".format(*count(suites))


def slowest(suites: Iterable[Suite], number: int = 15) -> list[str]:
    """Return a line for each of the slowest suites."""
    ordered = sorted(suites, key=lambda suite: -suite.seconds)[:number]
    return [f"{suite.seconds:7.1f} s  {suite.project:11}  {suite.name}" for suite in ordered]


def failed_tasks(output: str) -> list[str]:
    """Return the tasks that failed according to the output of sbt, each with its error."""
    return re.findall(r"^\[error\] (\(.+ / .+\) .*)$", output, re.MULTILINE)
