"""Streaming queries write to and read from tables on a cluster, while one of its two executors is killed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pyspark
import pytest
from test_examples import cluster

from pyspark_iceberg import connector_jars

__all__ = ["cluster"]

SPARK_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"

# One query writes generated rows to the table t, another query copies the rows of t to the table copy. While both
# queries process a micro-batch, the program kills one of the executors of its application. It finds the executors by
# their working directories, which are in a directory with the id of the application.
PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("stream").getOrCreate()
spark.sql("CREATE NAMESPACE c.db")
for name, partition in (("t", "bucket(2, value)"), ("copy", "truncate(1000000, value)")):
    columns = "timestamp TIMESTAMP, value BIGINT"
    spark.sql(f"CREATE TABLE c.db.{name} ({columns}) USING iceberg PARTITIONED BY ({partition})")

def executors():
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                directory = os.readlink(process / "cwd")
            except OSError:
                continue
            if Path(directory).parent.name == spark.sparkContext.applicationId:
                found.append(int(process.name))
    return found

source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5000).option("numPartitions", 2).load()
def start(rows, name):
    writer = rows.writeStream.option("checkpointLocation", sys.argv[1] + name).trigger(processingTime="0 seconds")
    return writer.toTable("c.db." + name)

query = start(source, "t")
copy = start(spark.readStream.option("streaming-max-files-per-micro-batch", 4).table("c.db.t"), "copy")

def last(of):
    return (of.lastProgress or {"batchId": -1})["batchId"]

def wait_for(of, batch):
    while last(of) < batch:
        if of.awaitTermination(1):
            sys.exit("a query ended early")

wait_for(query, 1)
wait_for(copy, 0)
while not all(of.status["isTriggerActive"] and of.status["isDataAvailable"] for of in (query, copy)):
    time.sleep(0.01)
written = last(query)
killed = executors()[:1]
os.kill(killed[0], signal.SIGKILL)
wait_for(query, written + 3)
query.stop()
copy.processAllAvailable()
copy.stop()
for name in ("t", "copy"):
    rows = spark.table("c.db." + name).selectExpr("count(*)", "count(distinct value)", "max(value)").first()
    print(f"killed={len(killed)} {name}: count={rows[0]} distinct={rows[1]} newest={rows[2]} batches={written + 3}")
different = spark.table("c.db.t").exceptAll(spark.table("c.db.copy")).count()
print(f"different={different}")
spark.stop()
"""


@pytest.mark.slow
def test_streams_read_and_write_each_row_once_although_an_executor_is_killed(cluster: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "700m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.extensions": "iceberglite.spark.SparkSessionExtensions",
        "spark.sql.catalog.c": "iceberglite.spark.SparkCatalog",
        "spark.sql.catalog.c.type": "hadoop",
        "spark.sql.catalog.c.warehouse": str(tmp_path / "warehouse"),
    }
    command = [str(SPARK_SUBMIT), "--master", cluster, "--jars", str(connector_jars()[0])]
    command += [argument for key, value in settings.items() for argument in ("--conf", f"{key}={value}")]
    completed = subprocess.run(
        [*command, str(program), str(tmp_path / "checkpoint")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout[-2000:] + completed.stderr[-4000:]
    for name in ("t", "copy"):
        pattern = rf"killed=1 {name}: count=(\d+) distinct=(\d+) newest=(\d+) batches=(\d+)"
        result = re.search(pattern, completed.stdout)
        assert result is not None, completed.stdout
        count, distinct, newest, batches = map(int, result.groups())
        assert count == distinct == newest + 1
        assert count >= 5000 * batches
    assert "different=0" in completed.stdout
    assert "Lost executor" in completed.stderr
