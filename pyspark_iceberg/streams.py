"""Streaming reads of a table, and streaming queries that write to a table."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pyspark_iceberg.call import milliseconds, setting
from pyspark_iceberg.errors import typed_errors
from pyspark_iceberg.writes import key_columns


@dataclass(frozen=True)
class StreamOptions:
    """How a streaming query writes.

    Attributes:
        mode: the output mode: `append`, `complete` or `update`.
        keys: the columns that identify rows; each row replaces the row with its key.
        every: the interval between micro-batches, such as `30 seconds`; None for as soon as possible.
        available_now: whether the query processes the available rows and stops.
        options: further options of the write.
    """

    mode: str
    keys: Sequence[str]
    every: str | None
    available_now: bool
    options: Mapping[str, str]

    def all_options(self) -> dict[str, str]:
        """Return the options of the write.

        Raises:
            ValueError: the mode requires key columns, or the name of a key column has a comma.
        """
        names = {name.lower() for name in self.options}
        if self.mode == "update" and not self.keys and names.isdisjoint({"upsert", "upsert-keys"}):
            raise ValueError("Set keys to the columns that identify rows; output mode update replaces rows by key")
        return {**self.options, "upsert-keys": key_columns(self.keys)} if self.keys else dict(self.options)


def start(rows: DataFrame, table: str, checkpoint: str, settings: StreamOptions) -> StreamingQuery:
    """Start a streaming query that writes rows to a table.

    Args:
        rows: a streaming DataFrame.
        table: the table's name as in SQL.
        checkpoint: the directory of the query's checkpoint.
        settings: how the query writes.

    Raises:
        ValueError: the settings contradict each other.
        pyspark.errors.IllegalArgumentException: the output mode is unknown.
        pyspark.errors.AnalysisException: the rows are not a stream, or the query does not support the output mode.
    """
    writer = rows.writeStream.outputMode(settings.mode).option("checkpointLocation", checkpoint)
    return _with_trigger(writer.options(**settings.all_options()), settings).toTable(table)


def _with_trigger(writer: DataStreamWriter, settings: StreamOptions) -> DataStreamWriter:
    if settings.available_now and settings.every is not None:
        raise ValueError("Set either every or available_now")
    if settings.available_now:
        return writer.trigger(availableNow=True)
    return writer if settings.every is None else writer.trigger(processingTime=settings.every)


class TableStreams:
    """The methods of `Table` that read and write streams."""

    _spark: SparkSession
    name: str

    def stream(
        self,
        *,
        start: str | int | datetime.datetime | None = None,
        changes: bool = False,
        identifier_columns: Sequence[str] = (),
        net_changes: bool = False,
        max_files: int | None = None,
        max_rows: int | None = None,
        max_bytes: int | None = None,
        skip_deletes: bool = False,
        skip_overwrites: bool = False,
        consumer: str | None = None,
        branch: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> DataFrame:
        """Return the rows of the table and those of later commits as a streaming DataFrame.

        Args:
            start: where a query without a checkpoint begins: with all rows of the `oldest` (default) or of the
                `current` snapshot; `now`, with later commits only; the id of the snapshot after which it begins; or a
                time, from which it reads commits.
            changes: whether to return the rows that each commit inserted and deleted, with `_change_type`,
                `_change_ordinal` and `_commit_snapshot_id`, instead of the appended rows.
            identifier_columns: the columns that identify a row of `changes`; a deleted and an inserted row with the
                same identifier are an update. Rows that a commit only rewrote are omitted.
            net_changes: whether each micro-batch of `changes` has only the net changes of its commits.
            max_files: the maximum number of files in a micro-batch.
            max_rows: the number of rows after which a micro-batch gets no more files.
            max_bytes: the number of bytes after which a micro-batch gets no more files.
            skip_deletes: whether to skip commits with the operation `delete`; otherwise, they are an error unless
                `changes` is set.
            skip_overwrites: whether to skip commits with the operation `overwrite`; otherwise, they are an error
                unless `changes` is set.
            consumer: a name for this reader of the table, the consumer. A tag of the table protects from expiration the
                snapshots that the consumer has not read.
            branch: the branch to follow; by default `main`.
            options: further read options, such as `consumer-retention-ms`.

        Raises:
            ValueError: the arguments contradict each other.
            pyspark.errors.AnalysisException: the table or the branch does not exist.
        """
        if not changes and (identifier_columns or net_changes):
            raise ValueError("Set changes to True; only the changes of a table have updates and net changes")
        if identifier_columns and net_changes:
            raise ValueError("Set either identifier_columns or net_changes; net changes have no updates")
        values = {
            **_start_options(start),
            "streaming-changes": changes or None,
            "identifier-columns": key_columns(identifier_columns) if identifier_columns else None,
            "net-changes": net_changes or None,
            "streaming-max-files-per-micro-batch": max_files,
            "streaming-max-rows-per-micro-batch": max_rows,
            "streaming-max-bytes-per-micro-batch": max_bytes,
            "streaming-skip-delete-snapshots": skip_deletes or None,
            "streaming-skip-overwrite-snapshots": skip_overwrites or None,
            "consumer-id": consumer,
            "branch": branch,
        }
        reader = self._spark.readStream
        for name, value in {**values, **(options or {})}.items():
            if value is not None:
                reader = reader.option(name, setting(value))
        with typed_errors():
            return reader.table(self.name)

    def write_stream(
        self,
        rows: DataFrame,
        checkpoint: str,
        *,
        mode: str = "append",
        keys: Sequence[str] = (),
        every: str | None = None,
        available_now: bool = False,
        options: Mapping[str, str] | None = None,
    ) -> StreamingQuery:
        """Start a streaming query that writes each micro-batch of rows to this table exactly once.

        Args:
            rows: a streaming DataFrame.
            checkpoint: the directory of the query's checkpoint; a query with the same checkpoint continues this query.
            mode: `append`; `complete`, in which each micro-batch replaces all rows of the table; or `update`, in which
                the changed rows replace the rows with the same keys.
            keys: the columns that identify rows. In output mode append, each row also replaces the row with its key.
            every: the interval between micro-batches, such as `30 seconds`; by default, as soon as rows arrive.
            available_now: whether the query processes the available rows and stops.
            options: further write options, such as `merge-schema` or `fanout-enabled`.

        Raises:
            ValueError: the mode requires keys, and neither `keys` nor the option `upsert` or `upsert-keys` is set, or
                both `every` and `available_now` are set.
            pyspark.errors.IllegalArgumentException: the mode is unknown.
            pyspark.errors.AnalysisException: the rows are not a stream, or the query does not support the mode.
        """
        settings = StreamOptions(mode, keys, every, available_now, options or {})
        return start(rows, self.name, checkpoint, settings)


def _start_options(position: str | int | datetime.datetime | None) -> dict[str, object]:
    if position is None:
        return {}
    if isinstance(position, datetime.datetime):
        return {"stream-from-timestamp": milliseconds(position)}
    return {"stream-from-snapshot-id" if isinstance(position, int) else "stream-from": position}
