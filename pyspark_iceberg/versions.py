"""Check the versions of Spark, Scala and Java before a session starts, because later errors do not name the cause."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from pyspark_iceberg.errors import UnsupportedVersionError

SPARK = "3.5"
SCALA = "2.12"
MIN_JAVA, MAX_JAVA = 11, 17

_CORE_JAR = re.compile(r"spark-core_(\d+\.\d+)-(\d+\.\d+)\..*\.jar")
_JAVA = re.compile(r'version "(?:1\.)?(\d+)')


def check_distribution(spark_home: Path) -> None:
    """Check the versions of Spark and Scala of a Spark distribution.

    Args:
        spark_home: the directory of the distribution. Without the jar of Spark's core, nothing is checked.

    Raises:
        UnsupportedVersionError: the connector does not support a version.
    """
    found = next(filter(None, (_CORE_JAR.fullmatch(jar.name) for jar in sorted((spark_home / "jars").glob("*")))), None)
    if found is None:
        return
    scala, spark = found.groups()
    if spark != SPARK:
        raise UnsupportedVersionError(
            f"Spark {spark} is not supported; install Spark {SPARK}: pip install 'pyspark>={SPARK},<3.6' "
            f"(found in {spark_home})"
        )
    if scala != SCALA:
        raise UnsupportedVersionError(
            f"Spark for Scala {scala} is not supported; use Spark {SPARK} for Scala {SCALA}, such as that of PySpark "
            f"(found in {spark_home})"
        )


def check_session(version: str) -> None:
    """Check the version of the Spark of a running session.

    Raises:
        UnsupportedVersionError: the connector does not support the version.
    """
    if not version.startswith(f"{SPARK}."):
        raise UnsupportedVersionError(f"The running session has Spark {version}; the connector requires Spark {SPARK}")


def check_java() -> None:
    """Check that there is a JVM, and its version.

    Raises:
        UnsupportedVersionError: there is no JVM, or its version is not supported.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        place = f"in JAVA_HOME ({home})" if home else "on the PATH"
        raise UnsupportedVersionError(f"There is no java {place}; install JDK 17, or set JAVA_HOME to its directory")
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    found = _JAVA.search(output)
    version = MAX_JAVA if found is None else int(found.group(1))
    if not MIN_JAVA <= version <= MAX_JAVA:
        problem = "too old" if version < MIN_JAVA else f"too new for Spark {SPARK}"
        raise UnsupportedVersionError(
            f"Java {version} is {problem} ({java}); install JDK 17, or set JAVA_HOME to its directory"
        )
