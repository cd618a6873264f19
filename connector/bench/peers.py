"""Run the same workloads in iceberg-lite and in other table formats, side by side, and compare results and times.

The workloads are commits, planning, writes, scans, row-level changes, maintenance and streaming. In each round, each
engine has its own process with two cores, and the order of the engines alternates. A figure is the median over the
rounds of the medians of the rounds. The results of the workloads must be the same in all engines; otherwise, or if a
workload fails, the script ends with exit code 1.

`make bench-peers` runs the script with the jars that it fetches. Only iceberg-lite and plain Parquet run without
`--peer` and `--delta`.

Usage: peers.py --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar --peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar
    --delta delta-spark_2.12-3.3.2.jar:delta-storage-3.3.2.jar --json peers.json
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import peer_engines
import peer_workloads
import pyspark

# The measurements of one process: times and results by name, and errors by workload.
Measured = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Job:
    """The work of one process, which writes its tables to a directory that is empty before."""

    engine: peer_engines.Engine
    directory: Path
    workloads: tuple[str, ...]
    rows: int
    commits: int
    repeats: int
    memory: str


def measure(job: Job) -> Measured:
    """Run the workloads in one session. A workload that fails does not end the others."""
    spark = job.engine.session(job.directory, job.memory)
    run = peer_workloads.Run(spark, job.engine, job.directory, job.rows, job.commits, job.repeats)
    errors: dict[str, str] = {}
    for name in job.workloads:
        try:
            peer_workloads.WORKLOADS[name](run)
        except Exception:
            errors[name] = traceback.format_exc()
    spark.stop()
    return {"times": run.times, "results": run.results, "errors": errors}


def rounds(engines: list[peer_engines.Engine], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the measurements of each round and engine."""
    found = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as process:
        for number in range(options.rounds):
            for engine in engines if number % 2 == 0 else reversed(engines):
                with tempfile.TemporaryDirectory() as directory:
                    workloads = tuple(options.workloads)
                    size = (options.rows, options.commits, options.repeats, options.memory)
                    job = Job(engine, Path(directory), workloads, *size)
                    measured = process.apply(measure, (job,))
                found.append({"round": number, "engine": engine.name, **measured})
                print(f"# round {number + 1}, {engine.name}: done", file=sys.stderr, flush=True)
    return found


def medians(engine: str, runs: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Return the median over the rounds of the median of each measure."""
    values: dict[str, list[float]] = {}
    for run in runs:
        for measure_name, times in run["times"].items() if run["engine"] == engine else ():
            values.setdefault(measure_name, []).append(median(times))
    return {name: round(median(of_rounds), 2) for name, of_rounds in values.items()}


def problems(runs: list[dict[str, Any]]) -> list[str]:
    """Return the results that differ between engines or rounds, and the workloads that failed."""
    found = [f"{run['engine']}, {name}: {error}" for run in runs for name, error in run["errors"].items()]
    for name in dict.fromkeys(name for run in runs for name in run["results"]):
        results = [(run["engine"], run["results"][name]) for run in runs if name in run["results"]]
        if any(result != results[0][1] for _, result in results):
            found.append(f"The results of {name} differ: {results}")
    return found


def environment(options: argparse.Namespace) -> dict[str, Any]:
    """Return what a reader must know about the machine and the run."""
    return {
        "spark": pyspark.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "format_version": options.version,
        "rows": options.rows,
        "commits": options.commits,
        "rounds": options.rounds,
        "repeats": options.repeats,
        "jars": {key: [Path(jar).name for jar in jars] for key, jars in jars_of(options).items()},
    }


def jars_of(options: argparse.Namespace) -> dict[str, tuple[Path, ...]]:
    """Return the jars of each engine."""
    paths = {"iceberg-lite": str(options.jar), "Apache Iceberg": options.peer, "Delta Lake": options.delta}
    return {key: tuple(Path(jar).absolute() for jar in text.split(":") if jar) for key, text in paths.items()}


def table(engines: list[str], figures: dict[str, dict[str, float]]) -> str:
    """Return the figures as a table in Markdown, with the ratio of iceberg-lite to the first engine."""
    ratio = engines[0] != "iceberg-lite"
    header = ["median, ms", *engines, *[f"iceberg-lite / {engines[0]}"] * ratio]
    lines = [header, ["---"] * len(header)]
    for name in dict.fromkeys(name for engine in engines for name in figures[engine]):
        values = [figures[engine].get(name) for engine in engines]
        cells = ["" if value is None else f"{value:.1f}" for value in values]
        own, base = figures["iceberg-lite"].get(name), values[0]
        lines.append([name, *cells, *[f"{own / base:.2f}" if own is not None and base else ""] * ratio])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def parsed() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, required=True, help="the jar of iceberg-lite")
    parser.add_argument("--peer", default="", help="the jar of Apache Iceberg's Spark runtime")
    parser.add_argument("--delta", default="", help="the jars of Delta Lake, separated by colons")
    parser.add_argument("--version", type=int, default=2, help="format version of Iceberg tables: 2 or 3")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of a large table")
    parser.add_argument("--commits", type=int, default=100, help="small commits, small files and snapshots")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each engine")
    parser.add_argument("--repeats", type=int, default=3, help="repetitions of a measurement in a process")
    parser.add_argument("--memory", default="4g", help="the heap of a process")
    parser.add_argument("--json", type=Path, default=Path("peers.json"), help="the file for the results")
    names = list(peer_workloads.WORKLOADS)
    parser.add_argument("--workloads", nargs="+", choices=names, default=names, metavar="W", help=", ".join(names))
    return parser.parse_args()


def main() -> None:
    """Run all rounds, write the results, and print a table."""
    options = parsed()
    jars = jars_of(options)
    engines = peer_engines.available(options.jar, jars["Apache Iceberg"], jars["Delta Lake"], options.version)
    runs = rounds(engines, options)
    names = [engine.name for engine in engines]
    figures = {name: medians(name, runs) for name in names}
    found = problems(runs)
    document = {"environment": environment(options), "medians_ms": figures, "problems": found, "runs": runs}
    options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(table(names, figures))
    print("\n".join(f"!! {problem}" for problem in found) or "The results of all engines agree.")
    if found:
        sys.exit(1)


if __name__ == "__main__":
    main()
