"""Spark (iceberg-lite) and PyIceberg use one database, SQLite or PostgreSQL, as their catalog at the same time."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import SparkSession
from shared_catalog import SCHEMA, check_mixed_writers, check_names, check_tables, rows

from pyspark_iceberg import iceberg_session


@dataclass(frozen=True)
class Shared:
    """A database that Spark (iceberg-lite, `ours`) and PyIceberg (`theirs`) use as a catalog."""

    ours: str
    uri: str
    warehouse: Path

    @property
    def properties(self) -> dict[str, str]:
        return {"uri": self.uri, "warehouse": f"file://{self.warehouse}"}

    def theirs(self) -> SqlCatalog:
        return SqlCatalog(self.ours, **self.properties)


def sqlite(spark: SparkSession, directory: Path) -> Shared:
    iceberg_session(directory / "wh", catalog="in_sqlite", uri=f"jdbc:sqlite:{directory}/catalog.db", default=False)
    return Shared("in_sqlite", f"sqlite:///{directory}/catalog.db?timeout=60", directory / "wh")


def postgres(spark: SparkSession, directory: Path, server: SimpleNamespace) -> Shared:
    place = f"{server.user}:{server.password}@{server.host}:{server.port}"
    engine = sqlalchemy.create_engine(
        f"postgresql+psycopg2://{place}/postgres", isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool
    )
    name = f"shared_{uuid.uuid4().hex}"
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    iceberg_session(
        directory / "wh",
        catalog="in_postgres",
        uri=f"jdbc:postgresql://{server.host}:{server.port}/{name}",
        properties={"jdbc.user": server.user, "jdbc.password": server.password},
        default=False,
    )
    return Shared("in_postgres", f"postgresql+psycopg2://{place}/{name}", directory / "wh")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Shared:
    directory = tmp_path_factory.mktemp(request.param)
    if request.param == "sqlite":
        made = sqlite(spark, directory)
    else:
        made = postgres(spark, directory, request.getfixturevalue("postgres_server"))
    # PyIceberg creates the catalog tables in SQLite, and iceberg-lite creates them in PostgreSQL.
    if request.param == "sqlite":
        made.theirs().create_namespace("db")
    else:
        spark.sql(f"CREATE NAMESPACE {made.ours}.db")
    return made


def test_tables_are_shared_in_both_directions(spark: SparkSession, shared: Shared) -> None:
    check_tables(spark, shared.ours, shared.theirs())


def test_names_and_namespaces_are_shared_in_both_directions(spark: SparkSession, shared: Shared) -> None:
    check_names(spark, shared.ours, shared.theirs())


def test_no_rows_of_concurrent_writers_are_lost(spark: SparkSession, shared: Shared) -> None:
    check_mixed_writers(spark, shared.ours, shared.theirs(), json.dumps({"type": "sql", **shared.properties}))


def test_a_rename_by_pyiceberg_is_visible(spark: SparkSession, shared: Shared) -> None:
    theirs = shared.theirs()
    theirs.create_namespace("moves")
    theirs.create_table("moves.here", SCHEMA).append(rows(7))
    assert spark.table(f"{shared.ours}.moves.here").count() == 1
    theirs.rename_table("moves.here", "db.there")
    assert {r["tableName"] for r in spark.sql(f"SHOW TABLES IN {shared.ours}.db").collect()} >= {"there"}
    theirs.drop_table("db.there")
    assert not spark.catalog.tableExists(f"{shared.ours}.db.there")


def test_a_database_without_view_support_is_shared(spark: SparkSession, tmp_path: Path) -> None:
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


def test_errors_contain_no_password(spark: SparkSession, postgres_server: SimpleNamespace, tmp_path: Path) -> None:
    uri = f"jdbc:postgresql://{postgres_server.host}:{postgres_server.port}/postgres?user=owner&password=s3cr3tsauce"
    iceberg_session(tmp_path, catalog="refused", uri=uri, default=False)
    with pytest.raises(Exception, match="Cannot list namespaces in the catalog database") as error:
        spark.sql("SHOW NAMESPACES IN refused").collect()
    assert "s3cr3tsauce" not in str(error.value)
