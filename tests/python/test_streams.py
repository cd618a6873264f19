"""Streaming writes from Python."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count, lit

from pyspark_iceberg import Table
from pyspark_iceberg.streams import StreamOptions

_FIRST_FILE_TIME = 1_700_000_000


class Stream:
    """A stream of the rows in a directory: each file is one micro-batch."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self._spark = spark
        self._input = directory / "input"
        self._input.mkdir()
        self.checkpoint = str(directory / "checkpoint")

    def add(self, *rows: tuple[int, str]) -> None:
        number = len(list(self._input.iterdir()))
        lines = [json.dumps({"id": key, "p": value}) for key, value in rows]
        file = self._input / f"{number}.json"
        file.write_text("\n".join(lines), encoding="utf-8")
        # Spark orders the files by their modification times.
        os.utime(file, (_FIRST_FILE_TIME + number, _FIRST_FILE_TIME + number))

    def rows(self) -> DataFrame:
        reader = self._spark.readStream.schema("id BIGINT, p STRING").option("maxFilesPerTrigger", "1")
        return reader.json(str(self._input))

    def forget_commit(self) -> None:
        """Remove the newest commit from the checkpoint, as if the driver had died before it."""
        commits = Path(self.checkpoint, "commits")
        newest = max((p for p in commits.iterdir() if p.name.isdigit()), key=lambda p: int(p.name))
        newest.unlink()
        newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Stream:
    """Return a stream with two micro-batches."""
    result = Stream(spark, tmp_path)
    result.add((1, "a"), (2, "a"))
    result.add((2, "b"), (3, "b"))
    return result


def _table(spark: SparkSession, name: str, columns: str = "id BIGINT, p STRING") -> Table:
    spark.sql(f"CREATE TABLE {name} ({columns}) USING iceberg")
    return Table(spark, name)


def _values(table: Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in table.to_df().collect())


def test_a_stream_is_appended_once_and_continues_with_its_checkpoint(
    spark: SparkSession, table: str, stream: Stream
) -> None:
    target = _table(spark, table)
    target.write_stream(stream.rows(), stream.checkpoint, available_now=True).awaitTermination()
    assert _values(target) == [(1, "a"), (2, "a"), (2, "b"), (3, "b")]
    stream.forget_commit()
    stream.add((4, "c"))
    target.write_stream(stream.rows(), stream.checkpoint, available_now=True).awaitTermination()
    assert _values(target) == [(1, "a"), (2, "a"), (2, "b"), (3, "b"), (4, "c")]
    assert len(target.snapshots().to_list()) == 3


def test_update_mode_upserts_by_key(spark: SparkSession, table: str, stream: Stream) -> None:
    target = _table(spark, table, "p STRING, n BIGINT")
    counts = stream.rows().groupBy("p").agg(count(lit(1)).alias("n"))
    query = target.write_stream(counts, stream.checkpoint, mode="update", keys=["p"], available_now=True)
    query.awaitTermination()
    assert _values(target) == [("a", 2), ("b", 2)]


@pytest.mark.parametrize(("name", "value"), [("upsert-keys", "p"), ("Upsert", "true")])
def test_update_mode_accepts_the_options_of_upserts(name: str, value: str) -> None:
    settings = StreamOptions("update", (), None, available_now=False, options={name: value})
    assert settings.all_options() == {name: value}


def test_contradictory_arguments_are_rejected(spark: SparkSession, table: str, stream: Stream) -> None:
    target = _table(spark, table)
    with pytest.raises(ValueError, match="Set keys"):
        target.write_stream(stream.rows(), stream.checkpoint, mode="update")
    with pytest.raises(IllegalArgumentException, match="Unknown output mode overwrite"):
        target.write_stream(stream.rows(), stream.checkpoint, mode="overwrite")
    with pytest.raises(ValueError, match="either every or available_now"):
        target.write_stream(stream.rows(), stream.checkpoint, every="1 second", available_now=True)


def test_a_merge_in_foreach_batch_with_an_application_version_runs_once(
    spark: SparkSession, table: str, stream: Stream
) -> None:
    """The recipe of docs/streaming.md."""
    target = _table(spark, table)

    def merge(changes: DataFrame, batch: int) -> None:
        (
            target.merge(changes, on=["id"])
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .option("application-id", "orders-stream")
            .option("application-version", batch)
            .execute()
        )

    def run() -> None:
        writer = stream.rows().writeStream.foreachBatch(merge).trigger(availableNow=True)
        writer.option("checkpointLocation", stream.checkpoint).start().awaitTermination()

    run()
    assert _values(target) == [(1, "a"), (2, "b"), (3, "b")]
    snapshots = target.snapshots().to_list()
    stream.forget_commit()
    run()
    assert _values(target) == [(1, "a"), (2, "b"), (3, "b")]
    assert target.snapshots().to_list() == snapshots
