"""Use each internal interface of Spark that the connector needs: statements, rules, functions, scans and streams.

Usage: smoke.py JAR FOLDER. Runs with PySpark 3.5.0 or later, and with the Spark of the environment.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

STATEMENTS = (
    "CREATE TABLE lite.db.t (id BIGINT, s STRING, n STRUCT<a: INT, b: ARRAY<STRING>>, at TIMESTAMP) USING iceberg "
    "PARTITIONED BY (days(at), bucket(4, id)) TBLPROPERTIES ('format-version' = '3', 'write.merge.mode' = "
    "'merge-on-read', 'write.delete.mode' = 'merge-on-read')",
    "INSERT INTO lite.db.t SELECT id, concat('s', id), named_struct('a', CAST(id AS INT), 'b', array('x')), "
    "timestamp_seconds(id * 3600) FROM range(0, 100, 1, 2)",
    "ALTER TABLE lite.db.t ADD COLUMN extra INT DEFAULT 5",
    "ALTER TABLE lite.db.t ADD PARTITION FIELD truncate(1, s)",
    "ALTER TABLE lite.db.t WRITE ORDERED BY id DESC",
    "DELETE FROM lite.db.t WHERE id % 10 = 3",
    "UPDATE lite.db.t t SET n.a = t.n.a + 1 WHERE t.s = 's7' AND t._file IS NOT NULL",
    "MERGE INTO lite.db.t t USING (SELECT 7L AS id UNION ALL SELECT 1000L) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET s = 'merged' WHEN NOT MATCHED THEN INSERT (id, s) VALUES (s.id, 'new') "
    "WHEN NOT MATCHED BY SOURCE AND t.id = 99 THEN DELETE",
    "ALTER TABLE lite.db.t CREATE BRANCH b",
    "INSERT INTO lite.db.t.branch_b (id) VALUES (2000)",
    "CREATE VIEW lite.db.v AS SELECT id, s FROM lite.db.t WHERE lite.system.bucket(4, id) = 1",
    "CALL lite.system.rewrite_data_files(table => 'db.t', strategy => 'sort', sort_order => 'zorder(id, s)', "
    "options => map('rewrite-all', 'true'))",
    "CALL lite.system.expire_snapshots(table => 'db.t', retain_last => 1)",
    "ANALYZE TABLE lite.db.t COMPUTE STATISTICS FOR ALL COLUMNS",
    "INSERT OVERWRITE lite.db.t SELECT * FROM lite.db.t WHERE id < 1000",
)
ANSWERS = {
    "SELECT count(*) FROM lite.db.t": 89,
    "SELECT max(extra) FROM lite.db.t WHERE at < TIMESTAMP '1970-01-03'": 5,
    "SELECT n.a FROM lite.db.t WHERE s = 'merged'": 8,
    "SELECT count(*) FROM lite.db.t.files WHERE content = 0 AND record_count > 0": None,
    "SELECT count(*) FROM lite.db.t.changes": None,
    "SELECT count(*) > 0 FROM lite.db.v": True,
}


def main(jar: str, folder: Path) -> None:
    """Run the statements, and check the answers."""
    catalog = "spark.sql.catalog.lite"
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", jar)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.extensions", "iceberglite.spark.SparkSessionExtensions")
        .config(catalog, "iceberglite.spark.SparkCatalog")
        .config(f"{catalog}.type", "hadoop")
        .config(f"{catalog}.warehouse", str(folder / "warehouse"))
        .getOrCreate()
    )
    for statement in STATEMENTS:
        spark.sql(statement).collect()
    for query, expected in ANSWERS.items():
        row = spark.sql(query).first()
        answer = None if row is None else row[0]
        if answer is None or (expected is not None and answer != expected):
            raise SystemExit(f"{query} returns {answer} instead of {expected} with Spark {spark.version}")
    stream(spark, folder)
    print(f"Spark {spark.version}, Scala {scala_version(spark)}, Java {java_version(spark)}: all answers are right")
    spark.stop()


def stream(spark: SparkSession, folder: Path) -> None:
    """Copy the table by a streaming query, and check the copy."""
    spark.sql("CREATE TABLE lite.db.copy (id BIGINT) USING iceberg")
    rows = spark.readStream.option("stream-from", "current").table("lite.db.t").select("id")
    query = rows.writeStream.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    query.toTable("lite.db.copy").awaitTermination()
    copied = spark.table("lite.db.copy").count()
    if copied != spark.table("lite.db.t").count():
        raise SystemExit(f"The stream copied {copied} rows with Spark {spark.version}")


def scala_version(spark: SparkSession) -> str:
    """Return the version of Scala that Spark uses."""
    jvm = spark.sparkContext._jvm
    return "" if jvm is None else str(jvm.scala.util.Properties.versionNumberString())


def java_version(spark: SparkSession) -> str:
    """Return the version of Java."""
    jvm = spark.sparkContext._jvm
    return "" if jvm is None else str(jvm.System.getProperty("java.version"))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
