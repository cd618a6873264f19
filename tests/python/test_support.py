"""The page of supported versions names the versions with which the build and the tests run."""

from __future__ import annotations

import re
from pathlib import Path

import pyspark

from pyspark_iceberg import versions

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
#: For each row of the page: the supported versions, and what is tested.
ROWS = {row[0]: (row[1], row[2]) for row in re.findall(r"^\| ([\w ]+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)}
DEPENDENCIES = (ROOT / "project" / "Dependencies.scala").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def version_of(module: str) -> str:
    """Return the version of a module in the build."""
    found = re.search(rf'"{module}" % "([\d.]+)"', DEPENDENCIES)
    assert found is not None
    return found.group(1)


def test_the_versions_of_spark_and_scala_are_those_of_the_build() -> None:
    spark = re.search(r'sparkVersion = "([\d.]+)"', DEPENDENCIES)
    releases = re.search(r"^SPARKS \?= (.+)$", MAKEFILE, re.MULTILINE)
    assert spark is not None
    assert releases is not None
    first, last = releases.group(1).split()
    assert ROWS["Spark"][0] == versions.SPARK
    assert f"{spark.group(1)} in all tests; {first} and {last} with PySpark and `make matrix`" in ROWS["Spark"][1]
    scala = dict(re.findall(r'^val scala(\d+) = "([\d.]+)"', (ROOT / "build.sbt").read_text(encoding="utf-8"), re.M))
    assert f"{scala['212']} in all tests; {scala['213']} with `make cross`" in ROWS["Scala"][1]


def test_the_versions_of_java_and_python_are_those_that_are_accepted() -> None:
    assert ROWS["Java"][0] == f"{versions.MIN_JAVA} to {versions.MAX_JAVA}"
    assert f"{versions.MAX_JAVA} in all tests; {versions.MIN_JAVA} with `make matrix`" in ROWS["Java"][1]
    metadata = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    minors = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', metadata)
    assert ROWS["Python"][0] == f"{minors[0]} to {minors[-1]}"


def test_the_versions_of_servers_and_readers_are_those_of_the_tests() -> None:
    metastore = version_of("hive-metastore")
    assert ROWS["Hive Metastore"][1] == metastore
    # The Metastore of the tests has the classes of PySpark's jars.
    assert (Path(pyspark.__file__).parent / "jars" / f"hive-metastore-{metastore}.jar").exists()
    assert f"Apache Iceberg {version_of('iceberg-core')}," in ROWS["REST catalogs"][1]
    assert f"Spark {version_of('spark-connect')} " in ROWS["Spark Connect"][1]
    peer = version_of("iceberg-spark-runtime-3.5_2.12").rpartition(".")[0]
    assert f"Apache Iceberg {peer} " in ROWS["Iceberg format"][1]


def test_make_nightly_runs_the_targets_that_the_page_names() -> None:
    nightly = MAKEFILE.partition("\nnightly:")[2].partition("\n\n")[0]
    for target in ("matrix", "cross"):
        assert f"`make {target}`" in PAGE
        assert f"$(MAKE) --no-print-directory {target}\n" in f"{nightly}\n"
