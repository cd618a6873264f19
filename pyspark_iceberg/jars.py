"""Locations of the connector's jar: in the Python package, at a path, in a Maven repository, or in the session."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pyspark_iceberg.catalogs import PathLike, location
from pyspark_iceberg.errors import JarNotFoundError

_JARS = Path(__file__).parent / "jars"
_NAME = "iceberg-lite-spark-"
_COORDINATES = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")


def connector_jars() -> list[Path]:
    """Return the connector's jar, then drivers that it does not include (SQLite's, for the JDBC catalog).

    Raises:
        JarNotFoundError: the package contains no jar; the message says how to get one.
    """
    connector = sorted(_JARS.glob(f"{_NAME}*.jar"))
    if not connector:
        raise JarNotFoundError(
            f"No {_NAME}*.jar in {_JARS}. In a source tree, run `make jar` first; or pass iceberg_session(jar=...) the "
            "path of the jar or its Maven coordinates"
        )
    return connector + sorted(set(_JARS.glob("*.jar")) - set(connector))


def jar_settings(jar: PathLike | None, existing: dict[str, str], spark_home: Path | None) -> dict[str, str]:
    """Return the Spark settings that add the connector's jar to a session.

    Args:
        jar: the path or URI of the jar, or its Maven coordinates `group:artifact:version`; by default the jar of this
            package, unless the session has the connector already.
        existing: the settings of the session.
        spark_home: the directory of the Spark distribution, whose jars are in every session.

    Raises:
        JarNotFoundError: the path does not exist, or there is no path and the package contains no jar.
    """
    if jar is None:
        return {} if _is_present(existing, spark_home) else _added(existing, "spark.jars", *map(str, connector_jars()))
    text = os.fspath(jar)
    if _COORDINATES.fullmatch(text):
        return _added(existing, "spark.jars.packages", text)
    path = location(text)
    if "://" not in path and not path.startswith("file:") and not Path(path).exists():
        raise JarNotFoundError(f"There is no jar {path}. Pass its path or its Maven coordinates")
    return _added(existing, "spark.jars", path)


def _is_present(existing: dict[str, str], spark_home: Path | None) -> bool:
    keys = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
    if any(_NAME in existing.get(key, "") for key in keys):
        return True
    return spark_home is not None and any((spark_home / "jars").glob(f"{_NAME}*.jar"))


def _added(existing: dict[str, str], key: str, *values: str) -> dict[str, str]:
    return {key: joined(existing.get(key), *values)}


def joined(existing: str | None, *added: str) -> str:
    """Return a list of values separated by commas, with further values that it does not contain."""
    values = [value for value in (existing or "").split(",") if value]
    return ",".join(values + [value for value in added if value not in values])
