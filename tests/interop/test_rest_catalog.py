"""One REST server is the catalog of Spark here and of PyIceberg, at the same time."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, TableAlreadyExistsError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyspark_iceberg import iceberg_session

OURS = "in_rest"
APPENDS = 4
SCHEMA = Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "who", StringType(), required=False))

# What a process of PyIceberg's does: it appends rows one by one, and tries again when somebody else was quicker.
WRITER = f"""
import sys
import pyarrow as pa
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException
uri, who = sys.argv[1:]
table = RestCatalog("rest", uri=uri).load_table("db.mixed")
for i in range({APPENDS}):
    rows = pa.table({{"id": pa.array([i], pa.int64()), "who": [who]}})
    while True:
        try:
            table.append(rows)
            break
        except CommitFailedException:
            table.refresh()
"""


@pytest.fixture(scope="module")
def theirs(spark: SparkSession, rest_server: SimpleNamespace) -> RestCatalog:
    iceberg_session(catalog=OURS, uri=rest_server.uri, default=False)
    catalog = RestCatalog("rest", uri=rest_server.uri)
    catalog.create_namespace_if_not_exists("db")
    return catalog


def rows(*ids: int, who: str = "theirs") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "who": [who] * len(ids)})


def test_tables_go_both_ways(spark: SparkSession, theirs: RestCatalog) -> None:
    spark.sql(f"CREATE TABLE {OURS}.db.ours USING iceberg AS SELECT id, 'ours' AS who FROM range(5)")
    table = theirs.load_table("db.ours")
    assert table.scan().to_arrow().num_rows == 5
    table.append(rows(100))
    spark.sql(f"REFRESH TABLE {OURS}.db.ours")
    spark.sql(f"INSERT INTO {OURS}.db.ours VALUES (101, 'ours')")
    spark.sql(f"DELETE FROM {OURS}.db.ours WHERE id = 101")
    assert sorted(theirs.load_table("db.ours").scan().to_arrow()["id"].to_pylist()) == [0, 1, 2, 3, 4, 100]

    theirs.create_table("db.theirs", SCHEMA).append(rows(1, 2))
    spark.sql(f"INSERT INTO {OURS}.db.theirs VALUES (3, 'ours')")
    assert spark.table(f"{OURS}.db.theirs").count() == 3
    with pytest.raises(TableAlreadyExistsError):
        theirs.create_table("db.ours", SCHEMA)
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql(f"CREATE TABLE {OURS}.db.theirs (id BIGINT) USING iceberg")


def test_names_and_namespaces_go_both_ways(spark: SparkSession, theirs: RestCatalog) -> None:
    spark.sql(f"CREATE NAMESPACE {OURS}.outer")
    spark.sql(f"CREATE NAMESPACE {OURS}.outer.inner WITH PROPERTIES ('k' = \"it's\")")
    assert theirs.load_namespace_properties(("outer", "inner"))["k"] == "it's"
    with pytest.raises(NamespaceAlreadyExistsError):
        theirs.create_namespace(("outer", "inner"))
    theirs.update_namespace_properties(("outer", "inner"), removals={"k"}, updates={"comment": "theirs"})
    described = {r[0]: r[1] for r in spark.sql(f"DESCRIBE NAMESPACE EXTENDED {OURS}.outer.inner").collect()}
    assert described["Comment"] == "theirs"

    theirs.create_table(("outer", "inner", "it's"), SCHEMA).append(rows(7))
    assert spark.table(f"{OURS}.outer.inner.`it's`").count() == 1
    spark.sql(f"ALTER TABLE {OURS}.outer.inner.`it's` RENAME TO outer.inner.moved")
    assert theirs.list_tables(("outer", "inner")) == [("outer", "inner", "moved")]
    spark.sql(f"DROP TABLE {OURS}.outer.inner.moved PURGE")
    spark.sql(f"DROP NAMESPACE {OURS}.outer.inner")
    assert not theirs.namespace_exists(("outer", "inner"))


def test_nothing_is_lost_of_writers_half_of_which_are_theirs(
    spark: SparkSession, theirs: RestCatalog, rest_server: SimpleNamespace
) -> None:
    table = f"{OURS}.db.mixed"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, who STRING) USING iceberg TBLPROPERTIES ('commit.retry.num-retries'='99')"
    )
    command = [sys.executable, "-c", WRITER, rest_server.uri]
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


def test_a_table_is_loaded_with_the_snapshots_of_its_references(
    spark: SparkSession, theirs: RestCatalog, rest_server: SimpleNamespace
) -> None:
    table = theirs.create_table("db.history", SCHEMA)
    for i in range(3):
        table.append(rows(i))
    properties = {"snapshot-loading-mode": "REFS"}
    iceberg_session(catalog="with_refs", uri=rest_server.uri, properties=properties, default=False)
    assert spark.table("with_refs.db.history").count() == 3
    assert spark.table("with_refs.db.history.snapshots").count() == 3
    first = table.refresh().metadata.snapshots[0].snapshot_id
    assert spark.sql(f"SELECT * FROM with_refs.db.history VERSION AS OF {first}").count() == 1
    spark.sql("INSERT INTO with_refs.db.history VALUES (3, 'ours')")
    assert table.refresh().scan().to_arrow().num_rows == 4


def test_a_secret_is_in_no_error(spark: SparkSession, rest_server: SimpleNamespace) -> None:
    properties = {"credential": "me:s3cr3tsauce", "token": "t0kensauce"}
    iceberg_session(catalog="refused_rest", uri=f"{rest_server.uri}/nowhere", properties=properties, default=False)
    with pytest.raises(Exception, match="REST catalog") as error:
        spark.sql("SHOW NAMESPACES IN refused_rest").collect()
    assert "sauce" not in str(error.value)
