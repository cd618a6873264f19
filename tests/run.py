"""Run all tests, Scala then Python, and print the failures and a final line: `N passed, N failed`."""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
MESSAGE_LINES = 12


@dataclass(frozen=True)
class Outcome:
    """The numbers of tests by result, and the message of each failure."""

    passed: int = 0
    failures: tuple[str, ...] = ()
    skipped: int = 0

    @property
    def failed(self) -> int:
        """The number of failed tests."""
        return len(self.failures)

    def __add__(self, other: Outcome) -> Outcome:
        """Add up two outcomes."""
        return Outcome(self.passed + other.passed, self.failures + other.failures, self.skipped + other.skipped)

    def __str__(self) -> str:
        """Render the final line."""
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def run(name: str, command: list[str], reports: list[Path], pattern: str) -> Outcome:
    """Run a suite and count its tests from the JUnit reports that it writes; a suite without reports has failed."""
    for folder in reports:
        shutil.rmtree(folder, ignore_errors=True)
    start = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    outcome = sum((count(f) for folder in reports for f in sorted(folder.glob(pattern))), Outcome())
    if code != 0 and not outcome.failures:
        outcome += Outcome(failures=(f"{name}: the runner itself failed with exit code {code}",))
    print(f"{name}: {outcome} in {time.monotonic() - start:.0f} s\n", flush=True)
    return outcome


def count(report: Path) -> Outcome:
    """Count the tests of one JUnit report."""
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    failures = tuple(failure(c) for c in cases if c.find("failure") is not None or c.find("error") is not None)
    skipped = sum(1 for c in cases if c.find("skipped") is not None)
    return Outcome(len(cases) - len(failures) - skipped, failures, skipped)


def failure(case: ElementTree.Element) -> str:
    """Describe a failed test, with the first lines of its message."""
    said = next((e for kind in ("failure", "error") if (e := case.find(kind)) is not None), case)
    message = (said.get("message") or said.text or "").strip().splitlines()[:MESSAGE_LINES]
    return "\n    ".join([f"{case.get('classname')}: {case.get('name')}", *message])


def main() -> int:
    """Run everything; the exit code is 0 if all tests passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sbt", required=True, help="how to start sbt")
    sbt = shlex.split(parser.parse_args().sbt)
    if "=" in sbt[0]:
        sbt = ["env", *sbt]
    scala_reports = [
        ROOT / "connector" / project / "target" / "test-reports"
        for project in ("spec", "core", "toytree", "spark", "sparksuites")
    ]
    python_reports = ROOT / "build" / "test-reports"
    outcome = run("Scala", [*sbt, "test"], scala_reports, "TEST-*.xml")
    pytest = [sys.executable, "-m", "pytest", f"--junitxml={python_reports / 'pytest.xml'}"]
    outcome += run("Python", pytest, [python_reports], "pytest.xml")
    for said in outcome.failures:
        print(f"FAILED {said}")
    print(outcome)
    return 1 if outcome.failures or not outcome.passed else 0


if __name__ == "__main__":
    sys.exit(main())
