"""The stack: docker-compose.yml, make stack and stack.conf agree, and Spark can use every catalog in it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
import yaml
from servers.process import ROOT, free_port, jars
from servers.stack import Settings, settings, stack

from pyspark_iceberg import connector_jars

SPARK_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
JOB = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
for catalog in ("rest", "hive", "pg", "s3"):
    spark.sql(f"CREATE NAMESPACE {catalog}.db")
    spark.sql(f"CREATE TABLE {catalog}.db.t USING iceberg PARTITIONED BY (n) AS SELECT id, id % 2 AS n FROM range(10)")
    spark.sql(f"INSERT INTO {catalog}.db.t VALUES (10, 0)")
    rows = spark.sql(f"SELECT count(*), sum(id) FROM {catalog}.db.t WHERE n = 0").first()
    print(f"{catalog}: {rows[0]} rows, sum {rows[1]}")
"""


def test_the_compose_file_matches_its_schema() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*check, "docker-compose.yml"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_compose_file_stack_and_spark_settings_agree() -> None:
    wanted = settings(ROOT / "stack.env")
    compose = (ROOT / "docker-compose.yml").read_text()
    services = yaml.safe_load(compose)["services"]
    assert set(services) == {"postgres", "rest", "hive", "s3", "s3-bucket", "spark-master", "spark-worker"}
    assert set(re.findall(r"\$\{(\w+)\}", compose)) - {"PWD"} == set(wanted)
    conf = (ROOT / "stack.conf").read_text()
    for key in ("REST_PORT", "HIVE_PORT", "POSTGRES_PORT", "S3_PORT"):
        assert f"127.0.0.1:{wanted[key]}" in conf, key
    assert re.search(rf"pg\.jdbc\.user +{wanted['POSTGRES_USER']}\n", conf)
    assert re.search(rf"pg\.jdbc\.password +{wanted['POSTGRES_PASSWORD']}\n", conf)
    assert f"s3a://{wanted['S3_BUCKET']}/" in conf


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, Settings, Path]]:
    """Run the stack on free ports; return the settings of the file, those with these ports, and the directory."""
    usual = settings(ROOT / "stack.env")
    here = {**usual, **{key: str(free_port()) for key in usual if key.endswith("_PORT")}}
    directory = tmp_path_factory.mktemp("stack")
    for folder in directory.parents[:2]:
        folder.chmod(0o755)
    with stack(directory, here):
        yield usual, here, directory


@pytest.mark.slow
def test_a_job_on_the_cluster_of_the_stack_uses_every_catalog(started: tuple[Settings, Settings, Path]) -> None:
    usual, here, directory = started
    conf = (ROOT / "stack.conf").read_text()
    for key in ("REST_PORT", "HIVE_PORT", "POSTGRES_PORT", "S3_PORT"):
        conf = conf.replace(f"127.0.0.1:{usual[key]}", f"127.0.0.1:{here[key]}")
    (directory / "stack.conf").write_text(conf)
    (directory / "job.py").write_text(JOB)
    needed = [str(connector_jars()[0]), *jars("client")]
    command = [str(SPARK_SUBMIT), "--master", f"spark://127.0.0.1:{here['SPARK_MASTER_PORT']}"]
    command += ["--properties-file", str(directory / "stack.conf"), "--jars", ",".join(needed)]
    for setting in ("ui.enabled=false", "driver.host=127.0.0.1", "driver.bindAddress=127.0.0.1"):
        command += ["--conf", f"spark.{setting}"]
    command += ["--conf", "spark.executor.memory=700m", "--conf", "spark.sql.shuffle.partitions=2"]
    done = subprocess.run([*command, str(directory / "job.py")], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert re.findall(r"^(\w+): (\d+) rows, sum (\d+)$", done.stdout, re.MULTILINE) == [
        (catalog, "6", "30") for catalog in ("rest", "hive", "pg", "s3")
    ]
