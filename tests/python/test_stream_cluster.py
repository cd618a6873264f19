"""A streaming query on a cluster with two workers whose executor is killed."""

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

# The program kills one of the executors of its application. It finds them by their working directories, which are in a
# directory with the id of the application.
PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("stream").getOrCreate()
spark.sql("CREATE NAMESPACE c.db")
spark.sql("CREATE TABLE c.db.t (timestamp TIMESTAMP, value BIGINT) USING iceberg PARTITIONED BY (bucket(4, value))")

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

source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 20000).option("numPartitions", 2).load()
writer = source.writeStream.option("checkpointLocation", sys.argv[1]).trigger(processingTime="0 seconds")
query = writer.toTable("c.db.t")

def wait_for(batch):
    while (query.lastProgress or {"batchId": -1})["batchId"] < batch:
        if query.awaitTermination(1):
            sys.exit("the query ended early")

wait_for(2)
killed = executors()[:1]
os.kill(killed[0], signal.SIGKILL)
last = query.lastProgress["batchId"]
wait_for(last + 5)
query.stop()
count, distinct, newest = spark.table("c.db.t").selectExpr("count(*)", "count(distinct value)", "max(value)").first()
print(f"killed={len(killed)} count={count} distinct={distinct} newest={newest} batches={last + 5}")
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_stream_writes_each_row_once_although_an_executor_is_killed(cluster: str, tmp_path: Path) -> None:
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
    result = re.search(r"killed=1 count=(\d+) distinct=(\d+) newest=(\d+) batches=(\d+)", completed.stdout)
    assert result is not None, completed.stdout
    count, distinct, newest, batches = map(int, result.groups())
    assert count == distinct == newest + 1
    assert count >= 20000 * batches
    assert "Lost executor" in completed.stderr
