"""Start streaming queries that write to a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

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
