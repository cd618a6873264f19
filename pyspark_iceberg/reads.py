"""The methods of `Table` that read rows: scans, earlier states, and conversions to pandas and pyarrow."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession

from pyspark_iceberg import arrow
from pyspark_iceberg.call import Timestamp, column_name, identifier, literal
from pyspark_iceberg.changes import Sql
from pyspark_iceberg.errors import typed_errors

if TYPE_CHECKING:
    import pandas
    import pyarrow


class TableReads:
    """The methods of `Table` that read the rows of a snapshot."""

    _spark: SparkSession
    name: str

    def scan(
        self,
        *,
        snapshot: int | None = None,
        branch: str | None = None,
        tag: str | None = None,
        timestamp: Timestamp | None = None,
        columns: str | Sequence[str | Column] | None = None,
        where: Sql | None = None,
    ) -> DataFrame:
        """Return rows of the table. The rows are read when an action of Spark requires them.

        Args:
            snapshot: the id of a snapshot to read; by default the current snapshot.
            branch: a branch to read.
            tag: a tag to read.
            timestamp: a time; the snapshot that was current at this time is read. Without a time zone, it is in the
                session's time zone.
            columns: the columns to return, by their names (a field of a struct is `address.city`), or as columns. A
                text is the name of one column.
            where: the condition of the rows to return, as a column or as SQL. It may use all columns of the table.

        Raises:
            ValueError: more than one of `snapshot`, `branch`, `tag` and `timestamp` is set.
            MissingObjectError: the table has no such snapshot, branch or tag.
            pyspark.errors.AnalysisException: a column does not exist, or the history starts after the timestamp.
        """
        states = {"snapshot": snapshot, "branch": branch, "tag": tag, "timestamp": timestamp}
        given = [name for name, value in states.items() if value is not None]
        if len(given) > 1:
            raise ValueError(f"Set only one of {' and '.join(given)}, because each of them selects a snapshot")
        with typed_errors():
            rows = self._state(snapshot, branch, tag, timestamp)
            if where is not None:
                rows = rows.where(where)
            if columns is not None:
                selected = [columns] if isinstance(columns, str) else columns
                rows = rows.select(*(column_name(c) if isinstance(c, str) else c for c in selected))
            _ = rows.schema
            return rows

    def _state(
        self, snapshot: int | None, branch: str | None, tag: str | None, timestamp: Timestamp | None
    ) -> DataFrame:
        if snapshot is not None or timestamp is not None:
            return self.as_of(version=snapshot, timestamp=timestamp)
        ref = f"branch_{branch}" if branch is not None else None if tag is None else f"tag_{tag}"
        return self._spark.table(self.name if ref is None else f"{self.name}.{identifier(ref)}")

    def to_pandas(self) -> pandas.DataFrame:
        """Return the current rows as a DataFrame of pandas. The rows are transferred with pyarrow if it is installed.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        return arrow.to_pandas(self._spark.table(self.name))

    def to_arrow(self) -> pyarrow.Table:
        """Return the current rows as a table of pyarrow.

        Raises:
            MissingPackageError: pyarrow is not installed.
        """
        return arrow.to_arrow(self._spark.table(self.name))

    def as_of(self, *, version: int | str | None = None, timestamp: Timestamp | None = None) -> DataFrame:
        """Return the rows of an earlier state.

        Args:
            version: a snapshot id, or the name of a branch or tag.
            timestamp: a time; without a time zone, it is in the session's time zone.

        Raises:
            ValueError: both or neither of the arguments are set.
            pyspark.errors.AnalysisException: the table has no such version, or its history starts after the timestamp.
        """
        if (version is None) == (timestamp is None):
            raise ValueError("Set either version or timestamp")
        text = timestamp.isoformat(sep=" ") if isinstance(timestamp, datetime.datetime) else str(timestamp)
        state = f"TIMESTAMP AS OF {literal(text)}" if version is None else f"VERSION AS OF {literal(version)}"
        with typed_errors():
            return self._spark.sql(f"SELECT * FROM {self.name} {state}")  # noqa: S608
