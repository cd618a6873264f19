"""Compact a table repeatedly while a writer commits every second, with each connector, and check the rows.

The writer updates, deletes and inserts rows in merge-on-read mode. A second thread runs `rewrite_data_files` in a loop,
with the strategies `binpack` and `sort` in turn. A statement that fails with a conflict is counted. The writer then
runs it again, at most once a second; the compaction continues with the other strategy. The script keeps a model of the
rows: each statement that succeeds changes the model. At the end, the number of rows and the sum of the column `version`
must equal the model, for each class of rows (see `CLASSES`).

Retries are attempts of commits after the first one. Both connectors report the number of attempts of each commit that
succeeds to a metrics reporter, which writes it to the log.

Usage: compaction.py --jar iceberg-lite-spark-3.5_2.12-0.1.0.jar [--peer iceberg-spark-runtime-3.5_2.12-1.12.0.jar]
"""

import argparse
import re
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import engines
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

TABLE = "c.db.t"
PERIOD_SECONDS = 1.0
CLASSES = 100
"""The number of classes of rows. The class of a row is `id % CLASSES`. A statement changes the rows of one class."""
CHANGES = {
    "update": "UPDATE {table} SET version = version + 1 WHERE id % {classes} = {chosen}",
    "delete": "DELETE FROM {table} WHERE id % {classes} = {chosen}",
}
SUMS = "SELECT id % {classes}, count(*), sum(version) FROM {table} GROUP BY 1"
REWRITE = "CALL c.system.rewrite_data_files(table => 'db.t', {strategy}, options => map('rewrite-all', 'true'))"
STRATEGIES = ("strategy => 'binpack'", "strategy => 'sort', sort_order => 'user, id'")
CONFLICTS = ("another commit", "conflict", "concurrent", "ValidationException", "CommitFailedException")
"""Texts that identify a conflict: parts of messages, and names of exception classes, of both connectors."""
COLUMNS = (
    "version",
    "connector",
    "statements",
    "failed",
    "retries",
    "compactions",
    "failed",
    "retries",
    "slowest statement, ms",
    "wrong rows",
)

REPORTER = "org.apache.iceberg.metrics.LoggingMetricsReporter"
REPORT_LOGGERS = (REPORTER, "iceberglite.catalog.LoggingMetricsReporter")
"""The names of the loggers to which the connectors write the metrics of commits."""
ATTEMPTS = re.compile(r"""operation\W+(\w+).*?attempts\W.*?value\W+(\d+)""")
"""The operation and the number of attempts in the log message of a commit, of both connectors."""
LOGGING = """
rootLogger.level = error
rootLogger.appenderRef.errors.ref = errors
appender.errors.type = Console
appender.errors.name = errors
appender.errors.target = SYSTEM_ERR
appender.reports.type = File
appender.reports.name = reports
appender.reports.fileName = {reports}
appender.reports.layout.type = PatternLayout
appender.reports.layout.pattern = %m%n
"""
REPORT_LOGGING = """
logger.{index}.name = {name}
logger.{index}.level = info
logger.{index}.additivity = false
logger.{index}.appenderRef.reports.ref = reports
"""


@dataclass(frozen=True)
class Job:
    """The work of one session, which writes its tables and its log to a directory that is empty before."""

    engine: engines.Engine
    directory: Path
    version: int
    rows: int
    seconds: int


@dataclass
class Outcome:
    """The numbers of statements by kind and outcome, and the number of classes of rows that differ from the model.

    `retries` has the number of retries by the operation of the commits, such as `replace`.
    """

    counts: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    wrong_classes: int = 0
    files: int = 0
    slowest_ms: float = 0.0
    errors: list[str] = field(default_factory=list)

    def failed(self, kind: str, error: Exception) -> None:
        """Count a failed statement. An error that is not a conflict ends the run."""
        text = str(error.java_exception.toString() if isinstance(error, Py4JJavaError) else error)
        if not any(word in text for word in CONFLICTS):
            # A new exception, because an exception of the JVM cannot be passed to another process.
            raise RuntimeError(f"{kind} failed: {text}")
        self.counts[f"{kind} failed"] += 1
        self.errors.append(f"{kind}: {text.splitlines()[0][:200]}")


class Model:
    """The expected rows: for each class, the number of its rows and the `version` that all of them have."""

    def __init__(self, rows: int) -> None:
        self.rows = [len(range(c, rows, CLASSES)) for c in range(CLASSES)]
        self.versions = [0] * CLASSES
        self.next_id = rows

    def expected(self) -> dict[int, tuple[int, int]]:
        """Return the number of rows, and the sum of their versions, of each class that has rows."""
        both = enumerate(zip(self.rows, self.versions))
        return {c: (count, count * version) for c, (count, version) in both if count}


def write(spark: SparkSession, model: Model, outcome: Outcome, until: float) -> None:
    """Run a statement every second, until the given time."""
    number = 0
    while time.monotonic() < until:
        start = time.monotonic()
        chosen, kind = number * 7 % CLASSES, ("update", "update", "delete", "insert")[number % 4]
        try:
            change(spark, model, chosen, kind)
            outcome.counts[f"{kind} succeeded"] += 1
            number += 1
        except Exception as error:
            outcome.failed(kind, error)
        took = time.monotonic() - start
        outcome.slowest_ms = max(outcome.slowest_ms, took * 1e3)
        time.sleep(max(0.0, PERIOD_SECONDS - took))


def change(spark: SparkSession, model: Model, chosen: int, kind: str) -> None:
    """Run one statement, and change the model if it succeeds."""
    if kind in CHANGES:
        spark.sql(CHANGES[kind].format(table=TABLE, classes=CLASSES, chosen=chosen))
    if kind == "update":
        model.versions[chosen] += 1
    elif kind == "delete":
        model.rows[chosen] = 0
    else:
        # `first` is a free id of the class, so that all inserted rows belong to the class.
        first = -(-model.next_id // CLASSES) * CLASSES + chosen
        count = 1000
        rows = spark.range(first, first + count * CLASSES, CLASSES, 1)
        version = model.versions[chosen]
        rows.selectExpr("id", "id % 1000 AS user", f"{version}L AS version", "uuid() AS text").writeTo(TABLE).append()
        model.rows[chosen] += count
        model.next_id = first + count * CLASSES


def compact(spark: SparkSession, outcome: Outcome, until: float) -> None:
    """Rewrite the data files in a loop, until the given time."""
    number = 0
    while time.monotonic() < until:
        strategy = STRATEGIES[number % len(STRATEGIES)]
        kind = strategy.split("'")[1]
        try:
            spark.sql(REWRITE.format(strategy=strategy)).collect()
            outcome.counts[f"{kind} succeeded"] += 1
        except Exception as error:
            outcome.failed(kind, error)
        number += 1


def settings(directory: Path) -> dict[str, str]:
    """Return the settings of a session that writes the metrics of commits to the file `reports` in a directory."""
    loggers = (REPORT_LOGGING.format(index=f"reports{i}", name=name) for i, name in enumerate(REPORT_LOGGERS))
    configuration = directory / "log4j2.properties"
    configuration.write_text(LOGGING.format(reports=directory / "reports") + "".join(loggers))
    return {
        "spark.scheduler.mode": "FAIR",
        "spark.sql.catalog.c.metrics-reporter-impl": REPORTER,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={configuration}",
    }


def retries(reports: Path) -> Counter[str]:
    """Return the numbers of retries by operation."""
    found: Counter[str] = Counter()
    for operation, attempts in ATTEMPTS.findall(reports.read_text()):
        found[operation] += int(attempts) - 1
    if not found:
        raise RuntimeError("The log has no metrics of commits")
    return found


def run(job: Job) -> Outcome:
    """Run the writer and the compaction at the same time, and compare the table with the model."""
    spark = engines.session(job.engine, job.directory / "tables", memory="4g", conf=settings(job.directory))
    properties = {
        "format-version": str(job.version),
        **{f"write.{statement}.mode": "merge-on-read" for statement in ("update", "delete", "merge")},
    }
    quoted = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    spark.sql(f"CREATE TABLE {TABLE} (id bigint, user bigint, version bigint, text string) TBLPROPERTIES ({quoted})")
    rows = spark.range(0, job.rows, 1, 8).selectExpr("id", "id % 1000 AS user", "0L AS version", "uuid() AS text")
    rows.writeTo(TABLE).append()
    outcome, model = Outcome(), Model(job.rows)
    until = time.monotonic() + job.seconds
    failure: list[BaseException] = []

    def compaction() -> None:
        try:
            compact(spark, outcome, until)
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=compaction)
    thread.start()
    try:
        write(spark, model, outcome, until)
    finally:
        thread.join()
    if failure:
        raise failure[0]
    found = spark.sql(SUMS.format(table=TABLE, classes=CLASSES)).collect()
    actual, expected = {int(c): (n, s) for c, n, s in found}, model.expected()
    outcome.wrong_classes = sum(actual.get(c) != expected.get(c) for c in range(CLASSES))
    outcome.files = spark.table(f"{TABLE}.files").count()
    spark.stop()
    outcome.retries = retries(job.directory / "reports")
    return outcome


def main() -> None:
    """Run each connector, print its counts, and fail if rows of iceberg-lite differ from the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines.add_jars(parser, peer_required=False)
    parser.add_argument("--version", type=int, nargs="+", default=[2, 3], help="format versions of the tables")
    parser.add_argument("--rows", type=int, default=200_000, help="rows before the first statement")
    parser.add_argument("--minutes", type=float, default=10, help="minutes of each connector and version")
    options = parser.parse_args()
    lost = 0
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    for version in options.version:
        for engine in engines.of(options):
            with tempfile.TemporaryDirectory() as directory, engines.new_process() as process:
                job = Job(engine, Path(directory), version, options.rows, round(options.minutes * 60))
                outcome = process.apply(run, (job,))
            print(row(version, engine, outcome), flush=True)
            for error, count in Counter(outcome.errors).most_common(3):
                print(f"  {count} x {error}", flush=True)
            lost += outcome.wrong_classes if engine.name == engines.OURS else 0
    if lost:
        raise SystemExit(f"The rows of {lost} classes differ from the model")


def row(version: int, engine: engines.Engine, outcome: Outcome) -> str:
    """Return a row of the table that `main` prints."""

    def total(result: str, *kinds: str) -> int:
        return sum(outcome.counts[f"{kind} {result}"] for kind in kinds)

    statements, compactions = ("update", "delete", "insert"), ("binpack", "sort")
    cells = [
        str(version),
        engine.name,
        str(total("succeeded", *statements)),
        str(total("failed", *statements)),
        str(sum(outcome.retries.values()) - outcome.retries["replace"]),
        str(total("succeeded", *compactions)),
        str(total("failed", *compactions)),
        str(outcome.retries["replace"]),
        f"{outcome.slowest_ms:.0f}",
        "none" if outcome.wrong_classes == 0 else f"in {outcome.wrong_classes} of {CLASSES} classes",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
