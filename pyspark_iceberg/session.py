"""Spark sessions with a catalog of Iceberg tables."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path

from pyspark import SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from pyspark_iceberg.catalogs import Catalog, PathLike, location
from pyspark_iceberg.errors import IcebergLiteError, SessionConflictError
from pyspark_iceberg.jars import jar_settings, joined
from pyspark_iceberg.versions import check_distribution, check_java, check_session

CATALOG_CLASS = "iceberglite.spark.SparkCatalog"
CATALOG_PREFIX = "spark.sql.catalog."
EXTENSIONS_CLASS = "iceberglite.spark.SparkSessionExtensions"

# The type of a catalog, by the scheme of its URI.
CATALOG_TYPES = {"jdbc": "jdbc", "http": "rest", "https": "rest", "thrift": "hive"}
# The types of catalogs whose server may determine the location of tables.
SERVERS = ("rest", "hive")

# Spark redacts settings whose key or value matches this pattern. Spark's default pattern misses some catalog secrets.
SECRETS = r"(?i)secret|password|passwd|token|credential|access[.-]?key|api[.-]?key|://[^/@\s:]+:[^/@\s]+@"
REDACTION = ("spark.redaction.regex", "spark.sql.redaction.options.regex")


def iceberg_session(
    warehouse: PathLike | Catalog | None = None,
    *,
    catalog: str = "lite",
    uri: str | None = None,
    properties: Mapping[str, str] | None = None,
    default: bool = True,
    builder: SparkSession.Builder | None = None,
    jar: PathLike | None = None,
) -> SparkSession:
    """Start a Spark session with a catalog of Iceberg tables, or add the catalog to the running session.

    If the running session already has the catalog with these settings, this session is returned; only its default
    catalog may change (see `default`). A warning lists additional settings of this catalog.

    Args:
        warehouse: the location of the catalog's tables: a directory, or a URI of a Hadoop file system. It is not
            required for a catalog server that has its own location. Instead of a location, this can be the whole
            catalog as typed settings: a `FileSystemCatalog`, `JdbcCatalog`, `RestCatalog` or `HiveCatalog`.
        catalog: the catalog's name in SQL.
        uri: the URI of a JDBC catalog (`jdbc:`), a REST catalog (`https:`) or a Hive Metastore (`thrift:`); without
            it, and without `type` in `properties`, the catalog is a file-system catalog.
        properties: additional properties of the catalog, such as `type` or `cache-enabled`.
        default: whether table names without a catalog refer to this catalog.
        builder: a builder with settings of your own (master, memory, other extensions); its settings are kept.
        jar: the connector's jar: a path, a URI, or Maven coordinates `group:artifact:version`. By default, it is the
            jar of this package, unless the builder or the Spark distribution already contains the connector.

    Raises:
        IcebergLiteError: neither the warehouse nor the properties specify the location of the tables.
        JarNotFoundError: there is no such jar, or the package contains no jar.
        UnsupportedVersionError: the version of Java, Spark or Scala is not supported.
        SessionConflictError: a session without the connector is already running, or the catalog of the running session
            has other settings.
    """
    settings = catalog_settings(warehouse, catalog=catalog, uri=uri, properties=properties, default=default)
    running = SparkSession.getActiveSession()
    if running is not None:
        return _add_catalog(running, settings, getattr(builder, "_options", {}))
    builder = builder or SparkSession.builder.appName("iceberg-lite")
    if SparkContext._gateway is None and not _is_remote(builder):
        check_java()
    return configure(builder, settings, jar=jar).getOrCreate()


def catalog_settings(
    warehouse: PathLike | Catalog | None = None,
    *,
    catalog: str = "lite",
    uri: str | None = None,
    properties: Mapping[str, str] | None = None,
    default: bool = True,
) -> dict[str, str]:
    """Return the Spark settings of the catalog that `iceberg_session` sets, for example for `spark-submit --conf`.

    Args:
        warehouse: the location of the tables, or an object that describes the catalog.
        catalog: the name of the catalog in SQL.
        uri: the URI of a database, a REST server or a Hive Metastore.
        properties: further properties of the catalog.
        default: whether the catalog becomes the default catalog of the session.
    """
    values = dict(properties or {})
    if uri is not None:
        values["uri"] = uri
    if isinstance(warehouse, Catalog):
        values = {**warehouse.properties(), **values}
        warehouse = None
    values.setdefault("type", CATALOG_TYPES.get(values.get("uri", "").partition(":")[0].lower(), "hadoop"))
    if warehouse is not None:
        # The warehouse of a REST catalog may be a name that only the server can interpret.
        values["warehouse"] = os.fspath(warehouse) if values["type"] == "rest" else location(warehouse)
    if "warehouse" not in values and values["type"] not in SERVERS:
        raise IcebergLiteError('Specify the location of the tables: iceberg_session(warehouse="path/or/uri")')
    prefix = f"{CATALOG_PREFIX}{catalog}"
    settings = {prefix: CATALOG_CLASS, **{f"{prefix}.{key}": value for key, value in sorted(values.items())}}
    if default:
        settings["spark.sql.defaultCatalog"] = catalog
    return settings


def configure(
    builder: SparkSession.Builder, settings: Mapping[str, str], *, jar: PathLike | None = None
) -> SparkSession.Builder:
    """Add the connector's jars, its SQL extensions, patterns for redacting secrets, and settings to a builder.

    Existing settings of the builder are kept, unless `settings` contains their keys.

    Args:
        builder: the builder.
        settings: the settings to add, such as those that `catalog_settings` returns.
        jar: the connector's jar, as for `iceberg_session`.

    Raises:
        JarNotFoundError: there is no such jar, or the package contains no jar.
        UnsupportedVersionError: the version of Spark or Scala is not supported.
    """
    spark_home = Path(_find_spark_home())  # type: ignore[no-untyped-call]
    check_distribution(spark_home)
    existing: dict[str, str] = getattr(builder, "_options", {})
    for key, value in jar_settings(jar, existing, spark_home).items():
        builder = builder.config(key, value)
    builder = builder.config("spark.sql.extensions", joined(existing.get("spark.sql.extensions"), EXTENSIONS_CLASS))
    for key in REDACTION:
        builder = builder.config(key, existing.get(key, SECRETS))
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder


def _is_remote(builder: SparkSession.Builder) -> bool:
    """Return whether the session will be one of Spark Connect, which needs no JVM here."""
    return "spark.remote" in getattr(builder, "_options", {}) or "SPARK_REMOTE" in os.environ


def _add_catalog(
    spark: SparkSession, settings: Mapping[str, str], of_builder: Mapping[str, object] | None = None
) -> SparkSession:
    check_session(spark.version)
    if EXTENSIONS_CLASS not in (spark.conf.get("spark.sql.extensions", "") or ""):
        raise SessionConflictError(
            "A Spark session without iceberg-lite is already running, and jars cannot be added to it. "
            "Stop it first (spark.stop()), or start it with the builder that pyspark_iceberg.configure() returns"
        )
    _check_catalog(spark, settings, of_builder or {})
    for key, value in settings.items():
        spark.conf.set(key, value)
    return spark


def _check_catalog(spark: SparkSession, settings: Mapping[str, str], of_builder: Mapping[str, object]) -> None:
    """If the session has a catalog with this name, check that it has these settings.

    Spark would not load the catalog again with other settings. Further settings of this catalog in the session cause a
    warning, unless the builder has them with the same values.
    """
    wanted = {key: value for key, value in settings.items() if key.startswith(CATALOG_PREFIX)}
    prefix = min(wanted, key=len)
    name = prefix[len(CATALOG_PREFIX) :]
    found = {key: spark.conf.get(key, None) for key in wanted}
    if found[prefix] is None:
        return
    if found != wanted:
        raise SessionConflictError(
            f"The catalog {name} of the running session has other settings; pass another catalog= or stop the session "
            "(spark.stop())"
        )
    keys = [row["key"] for row in spark.sql("SET").collect() if row["key"].startswith(f"{prefix}.")]
    additional = sorted(
        key[len(prefix) + 1 :] for key in keys if key not in wanted and spark.conf.get(key) != of_builder.get(key)
    )
    if additional:
        warnings.warn(
            f"The catalog {name} of the running session has additional settings, which remain in effect: "
            f"{', '.join(additional)}. If you need the catalog without them, pass another catalog= or stop the session "
            "(spark.stop())",
            stacklevel=4,
        )
