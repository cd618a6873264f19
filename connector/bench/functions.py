"""Measure the time of calls of `system.bucket`, `truncate` and `days` in iceberg-lite and in Apache Iceberg.

Each query calls one function for each generated row, and sums the hashes of the results. iceberg-lite is also measured
without the rule that compiles the calls, so that Spark interprets them. Each job runs in a new process with two cores.

Usage: functions.py --peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar
"""

import argparse
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import engines

CALLS = (
    "bucket(16, id)",
    "bucket(16, s)",
    "truncate(10, id)",
    "truncate(4, s)",
    "days(ts)",
)
INTERPRETED = {"spark.sql.optimizer.excludedRules": "iceberglite.spark.rules.CompileFunctionCalls"}


@dataclass(frozen=True)
class Job:
    """The work of one process."""

    name: str
    engine: engines.Engine
    rows: int
    repeats: int
    conf: tuple[tuple[str, str], ...] = ()


def run(job: Job) -> dict[str, tuple[float, int]]:
    """Return the median time in ms and the result of each query. The first run of each query is not measured."""
    with tempfile.TemporaryDirectory() as warehouse:
        spark = engines.session(job.engine, Path(warehouse), conf=dict(job.conf))
        rows = spark.range(0, job.rows, 1, 2).selectExpr(
            "id", "concat('user-', id) s", "timestamp_seconds(id * 1000) ts"
        )
        results = {}
        for call in CALLS:
            times = []
            for _ in range(1 + job.repeats):
                start = time.perf_counter()
                [[result]] = rows.selectExpr(f"sum(crc32(cast(c.system.{call} AS string)))").collect()
                times.append((time.perf_counter() - start) * 1000)
            results[call] = (median(times[1:]), result)
        return results


def main() -> None:
    """Parse the arguments, run the jobs in each round, and print the median times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines.add_jars(parser)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    peer, ours = engines.of(options)
    jobs = [
        Job(peer.name, peer, options.rows, options.repeats),
        Job(f"{ours.name}, interpreted", ours, options.rows, options.repeats, tuple(INTERPRETED.items())),
        Job(ours.name, ours, options.rows, options.repeats),
    ]
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    results: dict[str, set[int]] = defaultdict(set)
    with engines.new_process() as pool:
        for number in range(options.rounds):
            for job in jobs if number % 2 else reversed(jobs):
                for call, (milliseconds, result) in pool.apply(run, (job,)).items():
                    times[call, job.name].append(milliseconds)
                    results[call].add(result)
    for call in CALLS:
        if len(results[call]) != 1:
            raise SystemExit(f"the jobs return different results for {call}: {results[call]}")
        print(f"{call}: " + ", ".join(f"{job.name} {median(times[call, job.name]):.0f} ms" for job in jobs))


if __name__ == "__main__":
    main()
