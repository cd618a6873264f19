"""One database, SQLite or PostgreSQL, is the catalog of Spark here and of PyIceberg, at the same time."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
import sqlalchemy
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, TableAlreadyExistsError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyspark_iceberg import iceberg_session

APPENDS = 5
SCHEMA = Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "who", StringType(), required=False))

# What a process of PyIceberg's does: it appends rows one by one, and tries again when somebody else was quicker.
WRITER = f"""
import sys
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
name, uri, warehouse, who = sys.argv[1:]
table = SqlCatalog(name, uri=uri, warehouse=warehouse).load_table("db.mixed")
for i in range({APPENDS}):
    rows = pa.table({{"id": pa.array([i], pa.int64()), "who": [who]}})
    while True:
        try:
            table.append(rows)
            break
        except CommitFailedException:
            table.refresh()
"""


@dataclass(frozen=True)
class Shared:
    """A database that is a catalog of ours and of PyIceberg's."""

    ours: str
    uri: str
    warehouse: Path

    def theirs(self, **properties: str) -> SqlCatalog:
        return SqlCatalog(self.ours, uri=self.uri, warehouse=f"file://{self.warehouse}", **properties)


def sqlite(spark: SparkSession, directory: Path) -> Shared:
    iceberg_session(directory / "wh", catalog="in_sqlite", uri=f"jdbc:sqlite:{directory}/catalog.db", default=False)
    return Shared("in_sqlite", f"sqlite:///{directory}/catalog.db?timeout=60", directory / "wh")


def postgres(spark: SparkSession, directory: Path, server: SimpleNamespace) -> Shared:
    place = f"{server.user}:{server.password}@{server.host}:{server.port}"
    engine = sqlalchemy.create_engine(
        f"postgresql+psycopg2://{place}/postgres", isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool
    )
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("CREATE DATABASE shared_with_pyiceberg"))
    iceberg_session(
        directory / "wh",
        catalog="in_postgres",
        uri=f"jdbc:postgresql://{server.host}:{server.port}/shared_with_pyiceberg",
        properties={"jdbc.user": server.user, "jdbc.password": server.password},
        default=False,
    )
    return Shared("in_postgres", f"postgresql+psycopg2://{place}/shared_with_pyiceberg", directory / "wh")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Shared:
    directory = tmp_path_factory.mktemp(request.param)
    if request.param == "sqlite":
        made = sqlite(spark, directory)
    else:
        made = postgres(spark, directory, request.getfixturevalue("postgres_server"))
    # Who makes the catalog's tables is the one or the other.
    if request.param == "sqlite":
        made.theirs().create_namespace("db")
    else:
        spark.sql(f"CREATE NAMESPACE {made.ours}.db")
    return made


def rows(*ids: int, who: str = "theirs") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "who": [who] * len(ids)})


def test_tables_go_both_ways(spark: SparkSession, shared: Shared) -> None:
    theirs = shared.theirs()
    spark.sql(f"CREATE TABLE {shared.ours}.db.ours USING iceberg AS SELECT id, 'ours' AS who FROM range(5)")
    table = theirs.load_table("db.ours")
    assert table.scan().to_arrow().num_rows == 5
    table.append(rows(100))
    spark.sql(f"REFRESH TABLE {shared.ours}.db.ours")
    spark.sql(f"INSERT INTO {shared.ours}.db.ours VALUES (101, 'ours')")
    spark.sql(f"DELETE FROM {shared.ours}.db.ours WHERE id = 101")
    assert sorted(theirs.load_table("db.ours").scan().to_arrow()["id"].to_pylist()) == [0, 1, 2, 3, 4, 100]

    theirs.create_table("db.theirs", SCHEMA).append(rows(1, 2))
    spark.sql(f"INSERT INTO {shared.ours}.db.theirs VALUES (3, 'ours')")
    assert spark.table(f"{shared.ours}.db.theirs").count() == 3
    with pytest.raises(TableAlreadyExistsError):
        theirs.create_table("db.ours", SCHEMA)
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql(f"CREATE TABLE {shared.ours}.db.theirs (id BIGINT) USING iceberg")


def test_names_and_namespaces_go_both_ways(spark: SparkSession, shared: Shared) -> None:
    theirs = shared.theirs()
    spark.sql(f"""CREATE NAMESPACE {shared.ours}.outer.inner WITH PROPERTIES ('k' = "it's")""")
    assert theirs.load_namespace_properties(("outer", "inner"))["k"] == "it's"
    with pytest.raises(NamespaceAlreadyExistsError):
        theirs.create_namespace(("outer", "inner"))
    theirs.update_namespace_properties(("outer", "inner"), removals={"k"}, updates={"comment": "theirs"})
    described = {r[0]: r[1] for r in spark.sql(f"DESCRIBE NAMESPACE EXTENDED {shared.ours}.outer.inner").collect()}
    assert described["Comment"] == "theirs"

    theirs.create_table(("outer", "inner", "it's"), SCHEMA).append(rows(7))
    assert spark.table(f"{shared.ours}.outer.inner.`it's`").count() == 1
    spark.sql(f"ALTER TABLE {shared.ours}.outer.inner.`it's` RENAME TO outer.inner.moved")
    assert theirs.list_tables(("outer", "inner")) == [("outer", "inner", "moved")]
    theirs.rename_table(("outer", "inner", "moved"), ("db", "back"))
    assert {r["tableName"] for r in spark.sql(f"SHOW TABLES IN {shared.ours}.db").collect()} >= {"back"}
    spark.sql(f"DROP NAMESPACE {shared.ours}.outer.inner")
    assert not theirs.namespace_exists(("outer", "inner"))
    theirs.drop_table("db.back")
    assert not spark.catalog.tableExists(f"{shared.ours}.db.back")


def test_nothing_is_lost_of_writers_half_of_which_are_theirs(spark: SparkSession, shared: Shared) -> None:
    table = f"{shared.ours}.db.mixed"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, who STRING) USING iceberg TBLPROPERTIES ('commit.retry.num-retries'='99')"
    )
    command = [sys.executable, "-c", WRITER, shared.ours, shared.uri, f"file://{shared.warehouse}"]
    theirs = [subprocess.Popen([*command, f"theirs{n}"], stderr=subprocess.PIPE, text=True) for n in range(2)]
    failures: list[BaseException] = []

    def write(who: str) -> None:
        try:
            for i in range(APPENDS):
                spark.sql(f"INSERT INTO {table} VALUES ({i}, '{who}')")
        except BaseException as e:
            failures.append(e)

    ours = [threading.Thread(target=write, args=(f"ours{n}",)) for n in range(2)]
    for thread in ours:
        thread.start()
    for thread in ours:
        thread.join()
    for process in theirs:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
    assert failures == []
    expected = sorted((who + str(n), i) for who in ("ours", "theirs") for n in range(2) for i in range(APPENDS))
    spark.sql(f"REFRESH TABLE {table}")
    assert sorted((r["who"], r["id"]) for r in spark.table(table).collect()) == expected
    seen = shared.theirs().load_table("db.mixed")
    assert sorted(zip(*seen.scan().to_arrow().select(["who", "id"]).to_pydict().values())) == expected
    assert len(seen.metadata.snapshots) == len(expected)
    assert sorted(s.sequence_number or 0 for s in seen.metadata.snapshots) == list(range(1, len(expected) + 1))


def test_a_database_without_views_is_shared_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/old.db", poolclass=sqlalchemy.NullPool)
    with engine.begin() as connection:
        connection.execute(
            sqlalchemy.text(
                "CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL,"
                " table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,"
                " metadata_location VARCHAR(1000),"
                " previous_metadata_location VARCHAR(1000),"
                " PRIMARY KEY (catalog_name, table_namespace, table_name))"
            )
        )
    uri = f"jdbc:sqlite:{tmp_path}/old.db"
    iceberg_session(tmp_path / "wh", catalog="old", uri=uri, default=False)
    spark.sql("CREATE TABLE old.db.t USING iceberg AS SELECT 1L AS id, 'ours' AS who")
    theirs = SqlCatalog("old", uri=f"sqlite:///{tmp_path}/old.db", warehouse=f"file://{tmp_path}/wh")
    theirs.load_table("db.t").append(rows(2))
    properties = {"jdbc.schema-version": "V1", "catalog-name": "old"}
    iceberg_session(tmp_path / "wh", catalog="upgraded", uri=uri, properties=properties, default=False)
    spark.sql("INSERT INTO upgraded.db.t VALUES (3, 'ours')")
    again = SqlCatalog("old", uri=f"sqlite:///{tmp_path}/old.db", warehouse=f"file://{tmp_path}/wh")
    assert sorted(again.load_table("db.t").scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]
    with engine.connect() as connection:
        names = sqlalchemy.inspect(connection).get_columns("iceberg_tables")
    assert names[-1]["name"] == "iceberg_type"


def test_a_password_is_in_no_error(spark: SparkSession, postgres_server: SimpleNamespace, tmp_path: Path) -> None:
    uri = f"jdbc:postgresql://{postgres_server.host}:{postgres_server.port}/postgres?user=owner&password=s3cr3tsauce"
    iceberg_session(tmp_path, catalog="refused", uri=uri, default=False)
    with pytest.raises(Exception, match="Cannot list namespaces in the catalog database") as error:
        spark.sql("SHOW NAMESPACES IN refused").collect()
    assert "s3cr3tsauce" not in str(error.value)
