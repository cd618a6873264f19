"""Streaming reads and writes from Python."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count, lit

from pyspark_iceberg import Table
from pyspark_iceberg.streams import StreamOptions, TableStreams

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
        """Remove the newest commit from the checkpoint, as if the driver had died before it wrote the commit."""
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
    stream.add((4, "a"))
    counts = stream.rows().groupBy("p").agg(count(lit(1)).alias("n"))
    query = target.write_stream(counts, stream.checkpoint, mode="update", keys=["p"], available_now=True)
    query.awaitTermination()
    assert _values(target) == [("a", 3), ("b", 2)]
    # The table is small. Therefore the replaced rows are deleted by position.
    deleted = spark.sql(f"SELECT DISTINCT content FROM {table}.delete_files").collect()
    assert [row.content for row in deleted] == [1]


def test_a_query_that_has_written_is_listed_until_its_record_is_dropped(
    spark: SparkSession, table: str, stream: Stream
) -> None:
    target = _table(spark, table)
    query = target.write_stream(stream.rows(), stream.checkpoint, available_now=True)
    query.awaitTermination()
    (writer,) = target.stream_writers()
    assert (writer.query_id, writer.epoch, writer.snapshot_id) == (query.id, 1, target.current_snapshot_id)
    assert target.drop_stream_writer(query.id).epoch == 1
    assert target.stream_writers() == []


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


def _copy(source: DataFrame, target: Table, checkpoint: Path) -> list[tuple[object, ...]]:
    """Write a stream to a table until it has read all rows, and return the rows of the table."""
    target.write_stream(source, str(checkpoint), available_now=True).awaitTermination()
    return _values(target)


def test_a_stream_reads_the_rows_of_a_table_in_batches_and_continues(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    source = _table(spark, table)
    target = _table(spark, f"{table}_copy")
    for key in (1, 2, 3):
        spark.sql(f"INSERT INTO {table} VALUES ({key}, 'a')")
    assert _copy(source.stream(max_files=1), target, tmp_path) == [(1, "a"), (2, "a"), (3, "a")]
    assert len(target.snapshots().to_list()) == 3
    spark.sql(f"INSERT INTO {table} VALUES (4, 'b')")
    assert _copy(source.stream(consumer="copy"), target, tmp_path)[3:] == [(4, "b")]
    assert [row.consumer_id for row in source.consumers()] == ["copy"]


def test_a_stream_begins_after_a_snapshot_at_a_time_with_the_current_rows_or_with_new_rows(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    source = _table(spark, table)
    for key in (1, 2, 3):
        spark.sql(f"INSERT INTO {table} VALUES ({key}, 'a')")
    first, second, _ = source.snapshots()
    starts: list[tuple[str | int | datetime.datetime, list[int]]] = [
        (first.snapshot_id, [2, 3]),
        (second.committed_at, [2, 3]),
        ("current", [1, 2, 3]),
        ("now", []),
    ]
    for number, (begin, keys) in enumerate(starts):
        target = _table(spark, f"{table}_copy_{number}")
        rows = _copy(source.stream(start=begin), target, tmp_path / str(number))
        assert [row[0] for row in rows] == keys, begin


def test_a_stream_of_changes_has_updates_and_net_changes(spark: SparkSession, table: str, tmp_path: Path) -> None:
    source = _table(spark, table)
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"UPDATE {table} SET p = 'c' WHERE id = 2")
    columns = ("id", "p", "_change_type")
    kinds = "id BIGINT, p STRING, _change_type STRING"
    updates = source.stream(changes=True, identifier_columns=["id"]).select(*columns)
    assert _copy(updates, _table(spark, f"{table}_updates", kinds), tmp_path / "updates") == [
        (1, "a", "INSERT"),
        (2, "b", "INSERT"),
        (2, "b", "UPDATE_BEFORE"),
        (2, "c", "UPDATE_AFTER"),
    ]
    net = source.stream(changes=True, net_changes=True).select(*columns)
    assert _copy(net, _table(spark, f"{table}_net", kinds), tmp_path / "net") == [
        (1, "a", "INSERT"),
        (2, "c", "INSERT"),
    ]


class RecordedStream(TableStreams):
    """A table whose session returns the options of a streaming read instead of a DataFrame."""

    def __init__(self) -> None:
        self._spark = self  # type: ignore[assignment]
        self.name = "lite.db.t"
        self.options: dict[str, str] = {}

    @property
    def readStream(self) -> RecordedStream:  # noqa: N802
        return RecordedStream()

    def option(self, key: str, value: str) -> RecordedStream:
        self.options[key] = value
        return self

    def table(self, _name: str) -> dict[str, str]:
        return self.options


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"start": 5}, {"stream-from-snapshot-id": "5"}),
        ({"start": "now"}, {"stream-from": "now"}),
        (
            {"start": datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)},
            {"stream-from-timestamp": "1704067200000"},
        ),
        (
            {"max_files": 1, "max_rows": 2, "max_bytes": 3},
            {
                "streaming-max-files-per-micro-batch": "1",
                "streaming-max-rows-per-micro-batch": "2",
                "streaming-max-bytes-per-micro-batch": "3",
            },
        ),
        (
            {"changes": True, "identifier_columns": ["id", "p"]},
            {"streaming-changes": "true", "identifier-columns": "id,p"},
        ),
        ({"changes": True, "net_changes": True}, {"streaming-changes": "true", "net-changes": "true"}),
        (
            {"skip_deletes": True, "skip_overwrites": True},
            {"streaming-skip-delete-snapshots": "true", "streaming-skip-overwrite-snapshots": "true"},
        ),
        (
            {"consumer": "etl", "branch": "b", "options": {"consumer-retention-ms": "5"}},
            {"consumer-id": "etl", "branch": "b", "consumer-retention-ms": "5"},
        ),
    ],
)
def test_the_arguments_of_a_stream_are_read_options(arguments: dict[str, Any], options: dict[str, str]) -> None:
    recorded: object = RecordedStream().stream(**arguments)
    assert recorded == options


def test_contradictory_arguments_of_a_stream_are_rejected() -> None:
    with pytest.raises(ValueError, match="Set changes to True"):
        RecordedStream().stream(net_changes=True)
    with pytest.raises(ValueError, match="either identifier_columns or net_changes"):
        RecordedStream().stream(changes=True, net_changes=True, identifier_columns=["id"])
