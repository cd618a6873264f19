"""Compare streaming reads and writes with those of Apache Iceberg.

First, a process runs micro-batches with Spark's sink `noop`, which writes nothing. Their times are the part of Spark in
the times of a connector. Then each connector, in a process of its own:

- writes a stream of many micro-batches: the times of a trigger and of its write, and the mean time of the last tenth of
  the triggers divided by that of the first tenth;
- polls the table, which then has one snapshot for each micro-batch: the time of a trigger that finds nothing;
- reads this backlog of small commits in micro-batches with a limit of files;
- reads a table of many files as a stream and as a batch: the throughput of the stream divided by that of the batch;
- reads the same table in 20 micro-batches with a limit of files: the median time of their triggers.

The option `--parts` selects some of these measurements. Those of `poll` and `backlog` read the table of `write`.

The numbers of rows are checked. A small run takes 3 minutes:

    streaming.py --peer PEER.jar --jar LITE.jar --batches 100 --files 100 --rows 1000000 --polls 20

The run with the default options takes about 150 minutes on two cores.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engines
from engines import Engine
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

WARM_UP = 5
# Reads of the large table as a batch, and as many as a stream. An even number, because the order alternates.
ROUNDS = 6
PARTS = ["noop", "write", "poll", "backlog", "files"]
CONF = {
    "spark.sql.shuffle.partitions": "2",
    # Without this setting, Spark reports a trigger that finds nothing only every 10 seconds.
    "spark.sql.streaming.noDataProgressEventInterval": "0",
    "spark.sql.streaming.numRecentProgressUpdates": "1000000",
    "spark.sql.streaming.minBatchesToRetain": "10",
}


def main() -> None:
    """Parse the arguments, run both connectors, and print their results and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines.add_jars(parser, peer_required=False)
    parser.add_argument("--batches", type=int, default=10_000, help="micro-batches that are written")
    parser.add_argument("--polls", type=int, default=200, help="triggers without new rows")
    parser.add_argument("--files", type=int, default=10_000, help="files of the large table")
    parser.add_argument("--rows", type=int, default=100_000_000, help="rows of the large table")
    parser.add_argument("--memory", default="6g")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="the measurements")
    args = parser.parse_args()
    if "write" not in args.parts and {"poll", "backlog"} & set(args.parts):
        parser.error("poll and backlog need write")
    results = {}
    spark_alone: dict[str, float] = {}
    if "noop" in args.parts:
        ours = next(engine for engine in engines.of(args) if engine.name == engines.OURS)
        with tempfile.TemporaryDirectory() as directory, engines.new_process() as pool:
            spark_alone = pool.apply(write_nothing, (ours, Path(directory), args))
    for engine in engines.of(args):
        with tempfile.TemporaryDirectory() as directory, engines.new_process() as pool:
            results[engine.name] = pool.apply(run, (engine, Path(directory), args))
    for name, value in spark_alone.items():
        print(f"{name:42} {value:10.2f}")
    peer = results.get(engines.PEER)
    for name, value in results[engines.OURS].items():
        # Spark reports whole milliseconds, so a time may be 0.
        ratio = value / peer[name] if peer and peer[name] else math.nan
        other = f"{peer[name]:10.2f} {ratio:6.2f}" if peer else ""
        print(f"{name:42} {value:10.2f} {other}")


def run(engine: Engine, directory: Path, args: argparse.Namespace) -> dict[str, float]:
    """Run all measurements of a connector."""
    spark = engines.session(engine, directory / "warehouse", args.memory, CONF)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS c.db")
    checkpoints = directory / "checkpoints"
    parts: dict[str, Callable[[], dict[str, float]]] = {
        "write": lambda: write(spark, args.batches, checkpoints / "write"),
        "poll": lambda: poll(spark, args.polls, checkpoints / "poll"),
        "backlog": lambda: read_backlog(spark, args.batches, checkpoints / "backlog"),
        "files": lambda: read_files(spark, args.files, args.rows, checkpoints),
    }
    return {name: value for part in parts if part in args.parts for name, value in parts[part]().items()}


def micro_batches(spark: SparkSession, checkpoint: Path) -> DataStreamWriter:
    """Return a stream of micro-batches of 100 rows, without its sink."""
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 100).option("numPartitions", 1).load()
    return source.writeStream.option("checkpointLocation", str(checkpoint)).trigger(processingTime="0 seconds")


def finished(query: StreamingQuery, batches: int) -> list[dict[str, Any]]:
    """Wait for a number of micro-batches, and return the progress of those after the warm-up."""
    wait(query, lambda: (query.lastProgress or {"batchId": 0})["batchId"] >= batches - 1)
    return [p for p in query.recentProgress if p["numInputRows"] > 0][WARM_UP:]


def write_nothing(engine: Engine, directory: Path, args: argparse.Namespace) -> dict[str, float]:
    """Run at most 200 micro-batches with the sink `noop`. More of them would not change the median."""
    spark = engines.session(engine, directory / "warehouse", args.memory, CONF)
    query = micro_batches(spark, directory / "checkpoint").format("noop").start()
    progress = finished(query, min(args.batches, 200))
    return {
        "noop: trigger, ms": statistics.median(p["durationMs"]["triggerExecution"] for p in progress),
        "noop: addBatch, ms": statistics.median(p["durationMs"]["addBatch"] for p in progress),
    }


def write(spark: SparkSession, batches: int, checkpoint: Path) -> dict[str, float]:
    """Write micro-batches, each of which is one commit."""
    spark.sql("CREATE TABLE c.db.commits (timestamp TIMESTAMP, value BIGINT) USING iceberg")
    progress = finished(micro_batches(spark, checkpoint).toTable("c.db.commits"), batches)
    triggers = [p["durationMs"]["triggerExecution"] for p in progress]
    tenth = max(1, len(triggers) // 10)
    count, distinct = spark.table("c.db.commits").selectExpr("count(*)", "count(distinct value)").collect()[0]
    check(count == distinct and count >= 100 * (batches - 1), f"{count} rows, of which {distinct} are distinct")
    return {
        "write: trigger, ms": statistics.median(triggers),
        "write: addBatch, ms": statistics.median(p["durationMs"]["addBatch"] for p in progress),
        "write: last tenth / first tenth": statistics.mean(triggers[-tenth:]) / statistics.mean(triggers[:tenth]),
    }


def poll(spark: SparkSession, polls: int, checkpoint: Path) -> dict[str, float]:
    """Run triggers on a table that does not change."""
    source = spark.readStream.table("c.db.commits")
    query = source.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    wait(query, lambda: len(idle(query)) >= polls + WARM_UP)
    progress = idle(query)[WARM_UP:]
    return {
        "poll: latestOffset, ms": statistics.mean(p["durationMs"]["latestOffset"] for p in progress),
        "poll: trigger, ms": statistics.mean(p["durationMs"]["triggerExecution"] for p in progress),
    }


def idle(query: StreamingQuery) -> list[dict[str, Any]]:
    """Return the progress of the triggers that found nothing."""
    return [p for p in query.recentProgress if p["numInputRows"] == 0]


def read_backlog(spark: SparkSession, batches: int, checkpoint: Path) -> dict[str, float]:
    """Read many small commits in micro-batches with a limit of files."""
    limit = max(1, batches // 100)
    # Apache Iceberg begins with the files of the oldest snapshot; both connectors read the same rows.
    source = spark.readStream.option("streaming-max-files-per-micro-batch", limit).table("c.db.commits")
    rows, seconds, progress = read_all(source, checkpoint)
    check(rows == spark.table("c.db.commits").count(), f"the stream returned {rows} rows")
    return {
        "backlog: seconds": seconds,
        "backlog: latestOffset, ms": statistics.median(p["durationMs"].get("latestOffset", 0) for p in progress),
    }


def read_files(spark: SparkSession, files: int, rows: int, checkpoints: Path) -> dict[str, float]:
    """Read a table of many files as batches and as streams in turns, and as a stream with a limit of files."""
    data = spark.range(0, rows, 1, files).selectExpr("id", "id % 1000 AS k", "id * 0.37D AS d", "uuid() AS s")
    data.limit(0).writeTo("c.db.files").using("iceberg").create()
    data.writeTo("c.db.files").option("distribution-mode", "none").append()
    table = spark.table("c.db.files")

    def batch() -> float:
        begin = time.perf_counter()
        table.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - begin

    def stream(number: int) -> float:
        read, seconds, _ = read_all(spark.readStream.table("c.db.files"), checkpoints / f"files{number}")
        check(read == rows, f"the stream returned {read} rows")
        return seconds

    batch(), stream(0)  # The first reads compile the code, and fill the cache of the file system.
    batches, streams = [], []
    for number in range(1, ROUNDS + 1, 2):
        batches += [batch()]
        streams += [stream(number), stream(number + 1)]
        batches += [batch()]
    limited = spark.readStream.option("streaming-max-files-per-micro-batch", max(1, files // 20)).table("c.db.files")
    read, _, progress = read_all(limited, checkpoints / "limited")
    check(read == rows, f"the stream with a limit of files returned {read} rows")
    check(len(progress) >= min(files, 20), f"the stream with a limit of files had {len(progress)} micro-batches")
    return {
        "files: seconds of the batch": statistics.median(batches),
        "files: seconds of the stream": statistics.median(streams),
        "files: throughput, stream / batch": statistics.median(batches) / statistics.median(streams),
        "files: trigger with a limit of files, ms": statistics.median(
            p["durationMs"]["triggerExecution"] for p in progress
        ),
    }


def read_all(source: DataFrame, checkpoint: Path) -> tuple[int, float, list[dict[str, Any]]]:
    """Read all available rows. Return their number, the seconds, and the progress of the micro-batches."""
    begin = time.perf_counter()
    writer = source.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    seconds = time.perf_counter() - begin
    progress = [p for p in query.recentProgress if p["numInputRows"] > 0]
    return sum(p["numInputRows"] for p in progress), seconds, progress


def wait(query: StreamingQuery, is_done: Callable[[], bool]) -> None:
    """Wait until a running query has made enough progress, and stop it."""
    try:
        while not is_done():
            if query.awaitTermination(1):
                raise SystemExit("the query ended early")
    finally:
        query.stop()


def check(holds: bool, message: str) -> None:
    """End the program if a result is wrong."""
    if not holds:
        raise SystemExit(message)


if __name__ == "__main__":
    main()
