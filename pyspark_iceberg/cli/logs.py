"""The log of Spark in commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Java options of the JVM that PySpark starts.
VARIABLE = "SPARK_SUBMIT_OPTS"

_CONFIGURATION = Path(__file__).parent / "log4j2.properties"


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
    if "log4j" in options:
        return True
    home = os.environ.get("SPARK_HOME")
    directory = os.environ.get("SPARK_CONF_DIR") or (home and f"{home}/conf")
    return bool(directory) and (Path(str(directory)) / "log4j2.properties").exists()
