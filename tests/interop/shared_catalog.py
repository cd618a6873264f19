"""Checks for every catalog that Spark (iceberg-lite, `ours`) and PyIceberg (`theirs`) use at the same time."""

from __future__ import annotations

import subprocess
import sys
import threading

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, TableAlreadyExistsError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

APPENDS = 5
SCHEMA = Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "who", StringType(), required=False))

# The program of a PyIceberg process: it appends rows one by one, and retries after a conflict.
WRITER = f"""
import json
import sys
import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException
name, properties, who = sys.argv[1:]
table = load_catalog(name, **json.loads(properties)).load_table("db.mixed")
for i in range({APPENDS}):
    rows = pa.table({{"id": pa.array([i], pa.int64()), "who": [who]}})
    while True:
        try:
            table.append(rows)
            break
        except CommitFailedException:
            table.refresh()
"""


def rows(*ids: int, who: str = "theirs") -> pa.Table:
    """Return rows with the columns of SCHEMA."""
    return pa.table({"id": pa.array(ids, pa.int64()), "who": [who] * len(ids)})


def check_tables(spark: SparkSession, ours: str, theirs: Catalog) -> None:
    """Check that each client can read and write the tables that the other client created."""
    spark.sql(f"CREATE TABLE {ours}.db.ours USING iceberg AS SELECT id, 'ours' AS who FROM range(5)")
    table = theirs.load_table("db.ours")
    assert table.scan().to_arrow().num_rows == 5
    table.append(rows(100))
    spark.sql(f"REFRESH TABLE {ours}.db.ours")
    spark.sql(f"INSERT INTO {ours}.db.ours VALUES (101, 'ours')")
    spark.sql(f"DELETE FROM {ours}.db.ours WHERE id = 101")
    assert sorted(theirs.load_table("db.ours").scan().to_arrow()["id"].to_pylist()) == [0, 1, 2, 3, 4, 100]

    theirs.create_table("db.theirs", SCHEMA).append(rows(1, 2))
    spark.sql(f"INSERT INTO {ours}.db.theirs VALUES (3, 'ours')")
    assert spark.table(f"{ours}.db.theirs").count() == 3
    with pytest.raises(TableAlreadyExistsError):
        theirs.create_table("db.ours", SCHEMA)
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql(f"CREATE TABLE {ours}.db.theirs (id BIGINT) USING iceberg")


def check_names(spark: SparkSession, ours: str, theirs: Catalog) -> None:
    """Check that both clients see the same namespaces, properties and tables, even with unusual names."""
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {ours}.outer")
    spark.sql(f"""CREATE NAMESPACE {ours}.outer.inner WITH PROPERTIES ('k' = "it's")""")
    assert theirs.load_namespace_properties(("outer", "inner"))["k"] == "it's"
    with pytest.raises(NamespaceAlreadyExistsError):
        theirs.create_namespace(("outer", "inner"))
    theirs.update_namespace_properties(("outer", "inner"), removals={"k"}, updates={"comment": "theirs"})
    described = {r[0]: r[1] for r in spark.sql(f"DESCRIBE NAMESPACE EXTENDED {ours}.outer.inner").collect()}
    assert described["Comment"] == "theirs"

    theirs.create_table(("outer", "inner", "it's"), SCHEMA).append(rows(7))
    assert spark.table(f"{ours}.outer.inner.`it's`").count() == 1
    spark.sql(f"ALTER TABLE {ours}.outer.inner.`it's` RENAME TO outer.inner.moved")
    assert theirs.list_tables(("outer", "inner")) == [("outer", "inner", "moved")]
    spark.sql(f"DROP TABLE {ours}.outer.inner.moved PURGE")
    spark.sql(f"DROP NAMESPACE {ours}.outer.inner")
    assert not theirs.namespace_exists(("outer", "inner"))


def check_mixed_writers(spark: SparkSession, ours: str, theirs: Catalog, properties: str) -> None:
    """Check that four concurrent writers lose no rows. Two of the writers are PyIceberg processes.

    Args:
        spark: a session with the catalog.
        ours: the catalog's name in the session.
        theirs: the same catalog in PyIceberg.
        properties: PyIceberg's catalog properties, as JSON.
    """
    table = f"{ours}.db.mixed"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, who STRING) USING iceberg TBLPROPERTIES ('commit.retry.num-retries'='99')"
    )
    command = [sys.executable, "-c", WRITER, theirs.name, properties]
    processes = [subprocess.Popen([*command, f"theirs{n}"], stderr=subprocess.PIPE, text=True) for n in range(2)]
    failures: list[BaseException] = []

    def write(who: str) -> None:
        try:
            for i in range(APPENDS):
                spark.sql(f"INSERT INTO {table} VALUES ({i}, '{who}')")
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=write, args=(f"ours{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
    assert failures == []
    expected = sorted((who + str(n), i) for who in ("ours", "theirs") for n in range(2) for i in range(APPENDS))
    spark.sql(f"REFRESH TABLE {table}")
    assert sorted((r["who"], r["id"]) for r in spark.table(table).collect()) == expected
    seen = theirs.load_table("db.mixed")
    assert sorted(zip(*seen.scan().to_arrow().select(["who", "id"]).to_pydict().values())) == expected
    assert len(seen.metadata.snapshots) == len(expected)
    assert sorted(s.sequence_number or 0 for s in seen.metadata.snapshots) == list(range(1, len(expected) + 1))
