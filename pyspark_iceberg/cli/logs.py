"""The log of Spark in commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Java options of the JVM that PySpark starts.
VARIABLE = "SPARK_SUBMIT_OPTS"

_CONFIGURATION = Path(__file__).parent / "log4j2.properties"

# The options and the files by which users configure Log4j 2. Distributions of Spark contain a file `.template`.
_CONFIGURED = re.compile(r"-Dlog4j2?\.configurationFile=")
_SUFFIXES = (".properties", ".xml", ".yaml", ".yml", ".json", ".jsn")


@contextmanager
def only_errors() -> Iterator[None]:
    """Let a JVM that PySpark starts within the block log only errors, unless the user has configured its log.

    `SparkContext.setLogLevel` has no effect on what Spark logs before the session exists.
    """
    options = os.environ.get(VARIABLE)
    if _is_configured(options or ""):
        yield
        return
    quoted = f'"-Dlog4j2.configurationFile={_CONFIGURATION.as_uri()}"'
    os.environ[VARIABLE] = f"{options} {quoted}" if options else quoted
    try:
        yield
    finally:
        if options is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = options


def _is_configured(options: str) -> bool:
    if _CONFIGURED.search(options):
        return True
    home = os.environ.get("SPARK_HOME")
    directory = os.environ.get("SPARK_CONF_DIR") or (home and f"{home}/conf")
    return bool(directory) and any((Path(str(directory)) / f"log4j2{suffix}").exists() for suffix in _SUFFIXES)
