"""The error of a failed statement contains the cause, such as a file, table or column. Failed writes change nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyspark_iceberg import Table, iceberg_session


@pytest.fixture
def filled(spark: SparkSession, table: str) -> Path:
    """Create a table with two commits, and return its directory."""
    spark.sql(f"CREATE TABLE {table} (id BIGINT, s STRING) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a')")
    spark.sql(f"INSERT INTO {table} VALUES (2, 'b')")
    return Path(Table(spark, table).location.replace("file:", ""))


def failure(spark: SparkSession, statement: str) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests check the message
        spark.sql(statement).collect()
    return str(caught.value)


def refresh(spark: SparkSession, table: str) -> None:
    spark.catalog.refreshTable(f"lite.{table}")


def newest_manifest(spark: SparkSession, table: str) -> Path:
    """Return the manifest that the current snapshot has added."""
    (row,) = spark.sql(
        f"SELECT path FROM {table}.manifests WHERE added_snapshot_id IN "
        f"(SELECT snapshot_id FROM {table}.refs WHERE name = 'main')"
    ).collect()
    return Path(row.path.replace("file:", ""))


def file_paths(directory: Path) -> set[str]:
    # The version hint may be written after its commit has returned.
    files = {f for f in directory.rglob("*") if f.is_file() and "version-hint" not in f.name}
    return {str(f.relative_to(directory)) for f in files}


def test_an_unknown_table_name_is_reported(spark: SparkSession, table: str, filled: Path) -> None:
    message = failure(spark, f"SELECT * FROM {table}x")
    assert f"{table}x".split(".")[1] in message
    assert "TABLE_OR_VIEW_NOT_FOUND" in message


def test_an_unsupported_type_is_reported_with_its_column(spark: SparkSession, table: str) -> None:
    message = failure(spark, f"CREATE TABLE {table} (id INT, span INTERVAL DAY TO SECOND) USING iceberg")
    assert "span" in message
    assert "interval" in message.lower()
    assert not spark.catalog.tableExists(f"lite.{table}")


def test_a_filter_on_a_missing_column_is_rejected(spark: SparkSession, table: str, filled: Path) -> None:
    assert "nope" in failure(spark, f"SELECT * FROM {table} WHERE nope = 1")


@pytest.mark.parametrize("damage", ["cut", "not json"])
def test_a_damaged_metadata_file_is_reported(spark: SparkSession, table: str, filled: Path, damage: str) -> None:
    file = max((filled / "metadata").glob("v*.metadata.json"), key=lambda f: int(f.name[1:].split(".")[0]))
    whole = file.read_bytes()
    # A session that knows the table reads only the beginning of an unchanged metadata file again.
    file.write_bytes(whole[:40] if damage == "cut" else b"<html>503</html>")
    refresh(spark, table)
    message = failure(spark, f"SELECT * FROM {table}")
    file.write_bytes(whole)
    assert file.name in message
    refresh(spark, table)
    assert spark.table(table).count() == 2


def test_a_flipped_bit_in_a_data_file_gives_an_error_instead_of_a_wrong_row(spark: SparkSession, table: str) -> None:
    """proves: spark/damaged-data-files"""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT) USING iceberg "
        "TBLPROPERTIES ('write.parquet.compression-codec' = 'uncompressed', 'write.parquet.dict-size-bytes' = '1')"
    )
    spark.range(0, 1000, 1, 1).writeTo(f"lite.{table}").append()
    (file,) = Path(Table(spark, table).location.replace("file:", "")).rglob("*.parquet")
    whole = bytearray(file.read_bytes())
    place = whole.index((500).to_bytes(8, "little"))
    whole[place] ^= 1
    file.write_bytes(bytes(whole))
    message = failure(spark, f"SELECT * FROM {table}")
    assert file.name in message
    assert "checksum" in message.lower()


def test_a_missing_or_damaged_manifest_is_reported(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1)")
    location = Path(Table(spark, table).location.replace("file:", ""))
    manifest = newest_manifest(spark, table)
    backup = manifest.with_suffix(".kept")
    manifest.rename(backup)
    other = iceberg_session(
        location.parent.parent,
        catalog="nocache",
        properties={"cache-enabled": "false", "io.manifest.cache-enabled": "false"},
        default=False,
    )
    message = failure(other, f"SELECT * FROM nocache.{table}")
    assert manifest.name in message
    backup.rename(manifest)
    manifest_bytes = manifest.read_bytes()
    manifest.write_bytes(b"not avro at all")
    message = failure(other, f"SELECT * FROM nocache.{table}")
    assert manifest.name in message
    manifest.write_bytes(manifest_bytes)
    assert other.table(f"nocache.{table}").count() == 1


@pytest.mark.parametrize("cached", ["true", "false"])
def test_refresh_detects_a_missing_manifest(spark: SparkSession, table: str, filled: Path, cached: str) -> None:
    session = iceberg_session(
        filled.parent.parent, catalog=f"cached_{cached}", properties={"cache-enabled": cached}, default=False
    )
    name = f"cached_{cached}.{table}"
    assert session.table(name).count() == 2
    manifest = newest_manifest(spark, table)
    backup = manifest.with_suffix(".kept")
    manifest.rename(backup)
    session.sql(f"REFRESH TABLE {name}")
    message = failure(session, f"SELECT * FROM {name}")
    backup.rename(manifest)
    assert manifest.name in message
    assert session.table(name).count() == 2


def test_a_missing_data_file_is_reported_with_its_table(spark: SparkSession, table: str, filled: Path) -> None:
    missing_file = sorted((filled / "data").rglob("*.parquet"))[0]
    missing_file.unlink()
    message = failure(spark, f"SELECT * FROM {table}")
    assert missing_file.name in message
    assert table.split(".")[1] in message


def test_a_warehouse_that_is_a_file_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where the warehouse should be")
    session = iceberg_session(blocked, catalog="blocked", default=False)
    message = failure(session, "CREATE TABLE blocked.db.t (id INT)")
    assert str(blocked) in message


def test_a_misspelled_catalog_property_is_rejected_with_the_right_spelling(spark: SparkSession, tmp_path: Path) -> None:
    session = iceberg_session(tmp_path, catalog="misspelt", properties={"warehous": "x"}, default=False)
    message = failure(session, "SHOW NAMESPACES IN misspelt")
    assert "warehous" in message
    assert "warehouse" in message.replace("warehous ", "")


def test_a_write_that_fails_halfway_leaves_table_and_directory_unchanged(
    spark: SparkSession, table: str, filled: Path
) -> None:
    before = file_paths(filled)
    statement = f"INSERT INTO {table} SELECT id, IF(id = 9000, raise_error('half way'), 'x') FROM range(0, 10000, 1, 4)"
    assert "half way" in failure(spark, statement)
    assert file_paths(filled) == before
    assert spark.table(table).count() == 2


def test_a_null_in_a_required_column_is_rejected(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT NOT NULL, s STRING) USING iceberg")
    message = failure(spark, f"INSERT INTO {table} SELECT IF(id = 1, NULL, id), 'x' FROM range(2)")
    assert "null" in message.lower()
    assert spark.table(table).count() == 0


def test_a_table_whose_directory_was_deleted_is_not_found(spark: SparkSession, table: str, filled: Path) -> None:
    shutil.rmtree(filled)
    refresh(spark, table)
    assert "TABLE_OR_VIEW_NOT_FOUND" in failure(spark, f"SELECT * FROM {table}")


def test_an_update_that_fails_changes_nothing(spark: SparkSession, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id FROM range(10)")
    before = file_paths(Path(Table(spark, table).location.replace("file:", "")))
    message = failure(spark, f"UPDATE {table} SET id = raise_error('no luck') WHERE id = 3")
    assert "no luck" in message
    assert file_paths(Path(Table(spark, table).location.replace("file:", ""))) == before
