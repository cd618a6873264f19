"""The engines of `peers.py`: their jars, settings and tables.

Apache Iceberg and iceberg-lite have a file-system catalog. Delta Lake and plain Parquet use the catalog of the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

MODES = ("copy-on-write", "merge-on-read")
_EXTENSIONS = "spark.sql.extensions"


@dataclass(frozen=True)
class Engine:
    """A table format with the library that reads and writes it.

    Attributes:
        name: the name in results.
        provider: the name after `USING`.
        catalog: the name of the catalog, and the class that implements it; None for Spark's own.
        properties: properties of each table.
        modes: properties that select how row-level statements write, by mode; without modes there are no such
            statements.
        class_path: the jars of the library.
    """

    name: str
    provider: str
    catalog: tuple[str, str | None]
    extensions: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    class_path: tuple[Path, ...] = ()

    @property
    def is_iceberg(self) -> bool:
        """Whether the tables have the format of Iceberg, with its procedures."""
        return self.provider == "iceberg"

    def table(self, name: str) -> str:
        """Return the name of a table in SQL."""
        return f"{self.catalog[0]}.db.{name}"

    def create(
        self, spark: SparkSession, name: str, columns: str, partition: str = "", properties: Mapping[str, str] = {}
    ) -> str:
        """Create an empty table, which replaces a table with the same name, and return its name in SQL."""
        table = self.table(name)
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in {**self.properties, **properties}.items())
        clauses = (f"PARTITIONED BY ({partition})" if partition else "") + (
            f" TBLPROPERTIES ({pairs})" if pairs else ""
        )
        spark.sql(f"CREATE TABLE {table} ({columns}) USING {self.provider} {clauses}")
        return table

    def session(self, directory: Path, memory: str) -> SparkSession:
        """Return a session with two cores and this engine only, whose tables are in a directory."""
        name, implementation = self.catalog
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.memory": memory,
            "spark.driver.extraClassPath": ":".join(map(str, self.class_path)),
            "spark.sql.warehouse.dir": str(directory / "session"),
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.parquet.compression.codec": "zstd",
            "spark.sql.streaming.numRecentProgressUpdates": "500",
            **self.settings,
        }
        if implementation:
            settings[f"spark.sql.catalog.{name}"] = implementation
        if self.is_iceberg:
            settings[f"spark.sql.catalog.{name}.type"] = "hadoop"
            settings[f"spark.sql.catalog.{name}.warehouse"] = str(directory / "warehouse")
        if self.extensions:
            settings[_EXTENSIONS] = self.extensions
        builder: Any = SparkSession.builder
        builder = builder.master("local[2]").appName(self.name)
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark: SparkSession = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {name}.db")
        return spark


def _row_modes(mode: str) -> dict[str, str]:
    return {f"write.{command}.mode": mode for command in ("delete", "update", "merge")}


def iceberg(name: str, jars: tuple[Path, ...], catalog: str, extensions: str, version: int) -> Engine:
    """Return a connector for Iceberg tables, which have the given format version."""
    return Engine(
        name,
        "iceberg",
        ("c", catalog),
        extensions,
        {"format-version": str(version)},
        {mode: _row_modes(mode) for mode in MODES},
        class_path=jars,
    )


def delta(jars: tuple[Path, ...]) -> Engine:
    """Return Delta Lake. Its merge-on-read mode writes deletion vectors."""
    return Engine(
        "Delta Lake",
        "delta",
        ("spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
        "io.delta.sql.DeltaSparkSessionExtension",
        {},
        {mode: {"delta.enableDeletionVectors": str(mode == MODES[1]).lower()} for mode in MODES},
        {
            "spark.databricks.delta.retentionDurationCheck.enabled": "false",
            # The default, 50, is for clusters.
            "spark.databricks.delta.snapshotPartitions": "2",
        },
        jars,
    )


def parquet() -> Engine:
    """Return Spark's own Parquet tables: what reads and writes cost without a table format."""
    return Engine("Parquet", "parquet", ("spark_catalog", None))


def available(lite: Path, peer: tuple[Path, ...], delta_jars: tuple[Path, ...], version: int) -> list[Engine]:
    """Return the engines whose jars are given, the base of the ratios first."""
    spark_catalog = "org.apache.iceberg.spark.SparkCatalog"
    extensions = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    ours = ("iceberglite.spark.SparkCatalog", "iceberglite.spark.SparkSessionExtensions")
    found = [iceberg("Apache Iceberg", peer, spark_catalog, extensions, version)] if peer else []
    found.append(iceberg("iceberg-lite", (lite.absolute(),), *ours, version))
    return [*found, *([delta(delta_jars)] if delta_jars else []), parquet()]
