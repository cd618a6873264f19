"""The two connectors that the benchmarks compare, and the sessions in which they run.

Each connector needs its own process, because their classes must not be loaded into one JVM.
"""

import argparse
import multiprocessing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

PEER, OURS = "Apache Iceberg", "iceberg-lite"


@dataclass(frozen=True)
class Engine:
    """A connector: its jar, its catalog and its SQL extensions."""

    name: str
    jar: Path
    catalog: str
    extensions: str


def add_jars(parser: argparse.ArgumentParser, peer_required: bool = True) -> None:
    """Add the arguments `--peer` and `--jar`."""
    parser.add_argument("--peer", type=Path, required=peer_required, help="the jar of Apache Iceberg's Spark runtime")
    parser.add_argument("--jar", type=Path, required=True, help="the jar of iceberg-lite")


def of(options: argparse.Namespace) -> list[Engine]:
    """Return Apache Iceberg, if its jar is given, and iceberg-lite."""
    ours = Engine(
        OURS, options.jar.absolute(), "iceberglite.spark.SparkCatalog", "iceberglite.spark.SparkSessionExtensions"
    )
    if options.peer is None:
        return [ours]
    extensions = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    return [Engine(PEER, options.peer.absolute(), "org.apache.iceberg.spark.SparkCatalog", extensions), ours]


def session(engine: Engine, warehouse: Path, memory: str = "6g", conf: Mapping[str, str] | None = None) -> SparkSession:
    """Return a session with two cores and this connector only. Its file-system catalog has the name `c`."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
        "spark.driver.extraClassPath": str(engine.jar),
        "spark.sql.extensions": engine.extensions,
        "spark.sql.catalog.c": engine.catalog,
        "spark.sql.catalog.c.type": "hadoop",
        "spark.sql.catalog.c.warehouse": str(warehouse),
        **(conf or {}),
    }
    builder: Any = SparkSession.builder
    builder = builder.master("local[2]").appName(engine.name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark: SparkSession = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@contextmanager
def new_process() -> Iterator[Pool]:
    """Yield a pool with one worker process at a time. Each function call runs in a new process."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        yield pool


def in_turns(engines: list[Engine], rounds: int) -> Iterator[Engine]:
    """Yield each connector once per round. The connector that comes first alternates between rounds."""
    for number in range(rounds):
        yield from engines if number % 2 else reversed(engines)
