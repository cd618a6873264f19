"""Run the Scala and Python tests at the same time, and print the failures and `N passed, N failed, N skipped`.

`run.py fast` runs the fast tier, `run.py all` both tiers. See docs/testing.md.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from runner.budget import Budget
from runner.hanging import Deadline, release, thread_dump
from runner.machine import Watch, temporary
from runner.reports import Suite, count, failed_tasks, failures, read, slowest, summary
from servers.shared import SHARED, share

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PREPARED = BUILD / "prepared"
REPORTS = BUILD / "test-reports"
LEFT_OUT = BUILD / "left-out"
PROJECTS = {
    "spec": "spec",
    "core": "core",
    "toytree": "toyTree",
    "roottree": "rootTree",
    "spark": "spark",
    "sparksuites": "sparkSuites",
}
#: The style checks. No test runs the benchmarks, so these checks also compile them and run their own tests.
STYLE = (
    "scalafmtCheckAll",
    "scalafmtSbtCheck",
    "bench/scalafmtCheckAll",
    "cross/scalafmtCheckAll",
    "bench/test",
)
#: The maximum duration of a run. Both tiers take 65 minutes on two cores, and CI ends a run after 90 minutes.
DEADLINE_MINUTES = 80
HANGING_TEST = re.compile(r"Test still running after (.*): suite name: (\w+), test name: (.*)\.$")
#: What ScalaTest prints when the connection of a test JVM ends before the tests do.
DEAD_JVM = "Warning: Unable to read from client"
SLOW = (
    "tests that kill writers and drivers, tests that retry tasks in a separate process, Spark's own suites, "
    "incorrect variants of the models, the quickstart, jobs on a cluster, the stack, most cases of the Spark connector "
    "that take more than a second, and most rounds of random suites and SQL scenarios"
)


def random_seed() -> str:
    """Return the seed of all random values. `make nightly` sets a new seed.

    Other runs use a fixed seed, because a new seed may find a fault that the current change did not cause.
    """
    return os.environ.get("ICEBERG_LITE_SEED", "20240229")


def sample_seed() -> str:
    """Return the seed that selects the sample of large sets of tests.

    ICEBERG_LITE_SAMPLE or ICEBERG_LITE_SEED sets it. Otherwise it is the beginning of the id of the commit as a number,
    so that later commits run other samples.
    """
    if chosen := os.environ.get("ICEBERG_LITE_SAMPLE") or os.environ.get("ICEBERG_LITE_SEED"):
        return chosen
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return str(int(head.stdout[:8], 16)) if head.returncode == 0 else random_seed()


class Run:
    """One run of a tier, or of both."""

    def __init__(
        self, sbt: list[str], tiers: list[str], environment: dict[str, str], watch: Watch, style: bool
    ) -> None:
        self._sbt = ["env", *sbt] if "=" in sbt[0] else sbt
        self._tiers = tiers
        self._environment = environment
        self._watch = watch
        self._style = style
        self._failed_tasks: list[str] = []
        self.failures: list[str] = []

    def run(self) -> None:
        """Start sbt once. When it has built the jars, run the Python tests in parallel."""
        for old in (*reports("fast").values(), *reports("slow").values(), REPORTS, LEFT_OUT):
            shutil.rmtree(old, ignore_errors=True)
        PREPARED.unlink(missing_ok=True)
        BUILD.mkdir(exist_ok=True)
        tests = [f"{tier.capitalize()}/test" for tier in self._tiers]
        commands = ["prepare", " ".join(["all", *tests, *(STYLE if self._style else ())])]
        sbt = self._start("build", [*self._sbt, *commands], subprocess.PIPE)
        assert sbt.stdout is not None
        listener = threading.Thread(target=self._listen, args=(sbt.stdout,), daemon=True)
        listener.start()
        try:
            while not PREPARED.exists() and sbt.poll() is None:
                time.sleep(0.2)
            if PREPARED.exists():
                with share(Path(self._environment[SHARED])) as pids:
                    self._watch.roots.update(dict.fromkeys(pids, "servers"))
                    self._python()
                    sbt.wait()
        except BaseException:
            sbt.terminate()
            raise
        listener.join()
        sbt.wait()
        if sbt.returncode:
            tasks = self._failed_tasks or [f"exit code {sbt.returncode}; see the output of sbt"]
            self.failures.extend(f"sbt: {task}" for task in tasks)

    def _python(self) -> None:
        command = [sys.executable, "-m", "pytest", f"--junitxml={REPORTS / 'pytest.xml'}", "-p", "no:cacheprovider"]
        if "slow" not in self._tiers:
            command += ["-m", "not slow"]
        log = BUILD / "pytest.log"
        with log.open("w") as output:
            code = self._start("python", command, output).wait()
        print(f"\npytest (also in {log.relative_to(ROOT)}):\n{log.read_text(errors='replace')}", flush=True)
        if code:
            self.failures.append(f"pytest failed with exit code {code}")

    def _start(self, label: str, command: list[str], output: int | IO[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command, cwd=ROOT, env=self._environment, stdout=output, stderr=subprocess.STDOUT, text=True
        )
        self._watch.roots[process.pid] = label
        return process

    def _listen(self, lines: IO[str]) -> None:
        """Print the output of sbt, and collect its failed tasks.

        If a test hangs, kill its JVM. If a JVM died, let sbt continue without it.
        """
        for line in lines:
            print(line, end="", flush=True)
            hanging_test = HANGING_TEST.search(line.rstrip())
            if hanging_test:
                self._kill(*hanging_test.groups())
            self._failed_tasks += failed_tasks(line)
            if line.startswith(DEAD_JVM):
                release(self._watch)

    def _kill(self, after: str, suite: str, test: str) -> None:
        for pid in self._watch.jvms():
            dump = thread_dump(pid)
            if f".{suite}." in dump or f".{suite}$" in dump:
                file = BUILD / f"hanging-{suite}.txt"
                file.write_text(dump)
                self.failures.append(f"{suite}: {test}: killed after {after}; see {file.relative_to(ROOT)}")
                os.kill(pid, signal.SIGKILL)


def reports(tier: str) -> dict[str, Path]:
    """Return the directory with the reports of a tier, by sbt project."""
    return {name: ROOT / "connector" / folder / "target" / f"{tier}-reports" for folder, name in PROJECTS.items()}


def suites(tiers: list[str]) -> list[Suite]:
    """Return all suites that have a report."""
    scala = [
        suite
        for tier in tiers
        for project, folder in reports(tier).items()
        for suite in read(project, folder.glob("TEST-*.xml"), slow=tier == "slow")
    ]
    return scala + read("python", REPORTS.glob("pytest.xml"))


def show_costs(found: list[Suite], cpu: dict[str, float], total: float, wall: float) -> None:
    """Print the slowest suites and the processor time of each project."""
    print("The slowest suites:", *slowest(found), sep="\n")
    print("\nProcessor time:")
    for label in sorted(cpu, key=lambda name: -cpu[name]):
        project = [suite for suite in found if suite.project == label.split()[0]]
        counts = f"  {summary(project)}" if project and " slow" not in label else ""
        print(f"{cpu[label]:7.0f} s  {label:16}{counts}")
    print(f"{total:7.0f} s  in all, in {wall:.0f} s\n")


def main() -> int:
    """Run the tests. The exit code is 0 if there were tests, none failed, and no limit was exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tier", choices=["fast", "all"])
    parser.add_argument("--sbt", required=True, help="the command that starts sbt")
    parser.add_argument("--style", action="store_true", help="also check the formatting of Scala sources")
    parser.add_argument("--strict", action="store_true", help="fail if a limit in tests/budget.json is exceeded")
    options = parser.parse_args()
    tiers = ["fast"] if options.tier == "fast" else ["fast", "slow"]
    seed, sample, start = random_seed(), sample_seed(), time.monotonic()
    print(f"ICEBERG_LITE_SEED={seed} ICEBERG_LITE_SAMPLE={sample}", flush=True)
    with ExitStack() as stack:
        directory = stack.enter_context(temporary())
        watch = stack.enter_context(Watch())
        (directory / "servers").mkdir()
        (directory / "servers").chmod(0o755)
        environment = {
            **os.environ,
            "TMPDIR": str(directory),
            "ICEBERG_LITE_SEED": seed,
            "ICEBERG_LITE_SAMPLE": sample,
            "ICEBERG_LITE_TIER": options.tier,
            "ICEBERG_LITE_LEFT_OUT": str(LEFT_OUT),
            SHARED: str(directory / "servers"),
        }
        run = Run(shlex.split(options.sbt), tiers, environment, watch, options.style)
        with Deadline(DEADLINE_MINUTES, watch, BUILD, run.failures.append):
            run.run()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = used.ru_utime + used.ru_stime
    found = suites(tiers)
    show_costs(found, watch.cpu(), total, time.monotonic() - start)
    budget = Budget(ROOT / "tests" / "budget.json")
    broken = budget.missing(tiers, found) + budget.excess(options.tier, total)
    rules = budget.slow(found, watch.load) + budget.minutes(options.tier, total)
    if options.strict:
        broken += rules
    else:
        print(*(f"SLOW {rule}" for rule in rules), sep="\n")
    for failure in [*failures(found), *run.failures, *broken]:
        print(f"FAILED {failure}")
    if "slow" not in tiers:
        print(f"The slow tier was not run. `make test-all` also runs: {SLOW}")
    omitted = [file.read_text() for file in sorted(LEFT_OUT.glob("*"))]
    print(f"Tests that the sample {sample} omitted: {'; '.join(omitted) or 'none'}")
    print(summary(found))
    return 1 if run.failures or broken or failures(found) or not count(found)[0] else 0


if __name__ == "__main__":
    sys.exit(main())
