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

# The containers without a counterpart in `make stack`: a driver in the network of the containers, and a notebook.
CONTAINERS = {"driver", "notebook"}
# The host and port of each server in the network of the containers, by the setting with its port on the machine.
INNER_PORTS = {
    "REST_PORT": "rest:8181",
    "HIVE_PORT": "hive:9083",
    "POSTGRES_PORT": "postgres:5432",
    "S3_PORT": "s3:9000",
}
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
    completed = subprocess.run([*check, "docker-compose.yml"], cwd=ROOT, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout + completed.stderr


def test_compose_file_stack_and_spark_settings_agree() -> None:
    stack_settings = settings(ROOT / "stack.env")
    compose = (ROOT / "docker-compose.yml").read_text()
    services = yaml.safe_load(compose)["services"]
    assert set(services) == {"postgres", "rest", "hive", "s3", "s3-bucket", "spark-master", "spark-worker"} | CONTAINERS
    assert set(re.findall(r"\$\{(\w+)\}", compose)) - {"PWD"} == set(stack_settings)
    conf = (ROOT / "stack.conf").read_text()
    for key in ("REST_PORT", "HIVE_PORT", "POSTGRES_PORT", "S3_PORT"):
        assert f"127.0.0.1:{stack_settings[key]}" in conf, key
    assert re.search(rf"pg\.jdbc\.user +{stack_settings['POSTGRES_USER']}\n", conf)
    assert re.search(rf"pg\.jdbc\.password +{stack_settings['POSTGRES_PASSWORD']}\n", conf)
    assert f"s3a://{stack_settings['S3_BUCKET']}/" in conf


def spark_settings(name: str) -> dict[str, str]:
    lines = [line.split(None, 1) for line in (ROOT / name).read_text().splitlines() if line and line[0] != "#"]
    return {key: value.strip() for key, value in lines}


def test_the_driver_and_the_notebook_use_the_catalogs_of_stack_conf_by_the_names_of_the_servers() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    ports = settings(ROOT / "stack.env")
    inner = spark_settings("compose.conf")
    expected = spark_settings("stack.conf")
    for key, address in INNER_PORTS.items():
        name, port = address.split(":")
        assert f"127.0.0.1:${{{key}}}:{port}" in services[name]["ports"]
        expected = {k: v.replace(f"127.0.0.1:{ports[key]}", address) for k, v in expected.items()}
    assert expected.items() <= inner.items()
    assert not any("127.0.0.1" in value for value in inner.values())
    assert set(inner) - set(expected) == {f"spark.{k}" for k in ("master", "jars", "jars.packages", "executor.memory")}
    for name in CONTAINERS:
        assert services[name]["image"].startswith(services["spark-worker"]["image"])
        assert "./compose.conf:/opt/spark/conf/spark-defaults.conf:ro" in services[name]["volumes"]
        assert set(services[name]["depends_on"]) < set(services)
    # The tests use the same libraries for the clients of S3 and PostgreSQL.
    tested = {Path(jar).name for jar in jars("client")}
    for package in inner["spark.jars.packages"].split(","):
        _, artifact, version = package.split(":")
        assert f"{artifact}-{version}.jar" in tested


@pytest.fixture(scope="module")
def running_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, Settings, Path]]:
    """Run the stack on free ports; return the settings in stack.env, those of the running stack, and its directory."""
    default_settings = settings(ROOT / "stack.env")
    free_ports = {key: str(free_port()) for key in default_settings if key.endswith("_PORT")}
    running_settings = {**default_settings, **free_ports}
    directory = tmp_path_factory.mktemp("stack")
    for folder in directory.parents[:2]:
        folder.chmod(0o755)
    with stack(directory, running_settings):
        yield default_settings, running_settings, directory


@pytest.mark.slow
def test_a_job_on_the_cluster_of_the_stack_uses_every_catalog(running_stack: tuple[Settings, Settings, Path]) -> None:
    default_settings, running_settings, directory = running_stack
    conf = (ROOT / "stack.conf").read_text()
    for key in ("REST_PORT", "HIVE_PORT", "POSTGRES_PORT", "S3_PORT"):
        conf = conf.replace(f"127.0.0.1:{default_settings[key]}", f"127.0.0.1:{running_settings[key]}")
    (directory / "stack.conf").write_text(conf)
    (directory / "job.py").write_text(JOB)
    extra_jars = [str(connector_jars()[0]), *jars("client")]
    command = [str(SPARK_SUBMIT), "--master", f"spark://127.0.0.1:{running_settings['SPARK_MASTER_PORT']}"]
    command += ["--properties-file", str(directory / "stack.conf"), "--jars", ",".join(extra_jars)]
    for setting in ("ui.enabled=false", "driver.host=127.0.0.1", "driver.bindAddress=127.0.0.1"):
        command += ["--conf", f"spark.{setting}"]
    command += ["--conf", "spark.executor.memory=700m", "--conf", "spark.sql.shuffle.partitions=2"]
    completed = subprocess.run([*command, str(directory / "job.py")], cwd=directory, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout[-2000:] + completed.stderr[-6000:]
    assert re.findall(r"^(\w+): (\d+) rows, sum (\d+)$", completed.stdout, re.MULTILINE) == [
        (catalog, "6", "30") for catalog in ("rest", "hive", "pg", "s3")
    ]
