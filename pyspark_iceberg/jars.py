"""Paths of the jars in the Python package."""

from __future__ import annotations

from pathlib import Path

from pyspark_iceberg.errors import JarNotFoundError

_JARS = Path(__file__).parent / "jars"


def connector_jars() -> list[Path]:
    """Return the connector's jar, then drivers that it does not include (SQLite's, for the JDBC catalog).

    Raises:
        JarNotFoundError: the package contains no jar; the message says how to build it.
    """
    connector = sorted(_JARS.glob("iceberg-lite-spark-*.jar"))
    if not connector:
        raise JarNotFoundError(f"No iceberg-lite-spark-*.jar in {_JARS}. In a source tree, run `make jar` first")
    return connector + sorted(set(_JARS.glob("*.jar")) - set(connector))
