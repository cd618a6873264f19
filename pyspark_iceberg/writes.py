"""Write the rows of DataFrames to a table, and return the counts of changed rows."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Union

from pyspark.sql import Column, DataFrame, DataFrameWriterV2, SparkSession, functions

from pyspark_iceberg.call import setting
from pyspark_iceberg.changes import Counts, RowChanges, file_counts, read_counts, removed_rows
from pyspark_iceberg.errors import typed_errors
from pyspark_iceberg.python_rows import to_df

# A DataFrame of Spark or pandas, a table of pyarrow, or a list of rows.
Rows = Union[DataFrame, Any]
Options = Mapping[str, object]


class TableWrites:
    """The methods of `Table` that write the rows of a DataFrame. Columns are matched by name."""

    _spark: SparkSession
    name: str

    def append(self, rows: Rows, *, options: Options | None = None) -> RowChanges:
        """Add rows.

        Args:
            rows: a DataFrame of Spark or pandas, a table of pyarrow, or a list of rows with all columns in order.
                Missing values of pandas (NaN, NaT, None) are null.
            options: write options, such as `merge-schema` or `snapshot-property.job`.

        Raises:
            RejectedValueError: a row is not valid for the table.
            pyspark.errors.AnalysisException: the columns do not match the table.
        """
        return self._write(rows, options, lambda writer: writer.append())

    def overwrite(self, rows: Rows, *, options: Options | None = None) -> RowChanges:
        """Replace all rows of the table.

        Args:
            rows: the new rows.
            options: options of the write, such as `snapshot-property.job`.
        """
        return self._write(rows, options, lambda writer: writer.overwrite(functions.lit(True)))

    def overwrite_partitions(self, rows: Rows, *, options: Options | None = None) -> RowChanges:
        """Replace the partitions to which the new rows belong. Other partitions keep their rows.

        Args:
            rows: the new rows.
            options: options of the write, such as `snapshot-property.job`.
        """
        return self._write(rows, options, lambda writer: writer.overwritePartitions())

    def replace_where(self, rows: Rows, condition: Column | str, *, options: Options | None = None) -> RowChanges:
        """Replace the rows that satisfy a condition.

        Args:
            rows: as for `append`.
            condition: the condition, as a column or as SQL. Files that also have other rows are rewritten, and keep the
                other rows.
            options: as for `append`.

        Returns:
            The row counts. The numbers of inserted, deleted and copied rows are None if files were replaced, because
            the summary of the snapshot does not distinguish new rows from rows that were only rewritten.

        Raises:
            TypeError: the condition is neither a column nor SQL.
        """
        if not isinstance(condition, str) and not hasattr(condition, "alias"):
            raise TypeError(f"Pass the condition as SQL in a str, or as a column, not {type(condition).__name__}")
        where = functions.expr(condition) if isinstance(condition, str) else condition
        return self._write(rows, options, lambda writer: writer.overwrite(where), _counts_of_partial_overwrite)

    def upsert(self, rows: Rows, keys: Sequence[str] | None = None, *, options: Options | None = None) -> RowChanges:
        """Replace the rows that have the key of a new row, and add the other new rows, without reading the table.

        The number of replaced rows is not known, so the `deleted` count of the result is None.

        Args:
            rows: as for `append`; no two of them may have the same key.
            keys: the names of the key columns; by default the table's identifier fields.
            options: as for `append`.

        Raises:
            ValueError: `keys` is empty, or a name has a comma.
        """
        key = {"upsert": "true"} if keys is None else {"upsert-keys": key_columns(keys)}
        return self._write(rows, {**(options or {}), **key}, lambda writer: writer.append(), _counts_of_upsert)

    def _write(
        self,
        rows: Rows,
        options: Options | None,
        action: Callable[[DataFrameWriterV2], None],
        counts: Counts | None = None,
    ) -> RowChanges:
        is_spark = hasattr(rows, "writeTo")
        df: DataFrame = rows if is_spark else to_df(self._spark, rows, self._spark.table(self.name).schema)
        statement = str(uuid.uuid4())
        writer = df.writeTo(self.name).option("snapshot-property.statement-id", statement)
        for key, value in (options or {}).items():
            writer = writer.option(key, setting(value))
        with typed_errors():
            action(writer)

        def of_whole_files(snapshot_id: int, summary: Mapping[str, str]) -> RowChanges:
            deleted = removed_rows(df.sparkSession, self.name, snapshot_id, summary)
            return RowChanges(file_counts(summary)[0], deleted=deleted, snapshot_id=snapshot_id)

        return read_counts(df.sparkSession, self.name, statement, counts or of_whole_files)


def _counts_of_partial_overwrite(snapshot_id: int, summary: Mapping[str, str]) -> RowChanges:
    added, removed, _ = file_counts(summary)
    return RowChanges(None, 0, None, None, snapshot_id) if removed else RowChanges(added, snapshot_id=snapshot_id)


def _counts_of_upsert(snapshot_id: int, summary: Mapping[str, str]) -> RowChanges:
    return RowChanges(file_counts(summary)[0], deleted=None, snapshot_id=snapshot_id)


def key_columns(keys: Sequence[str]) -> str:
    """Return the names of key columns as the value of an option such as `upsert-keys` or `identifier-columns`.

    Raises:
        ValueError: there is no column, or the name of a column has a comma.
    """
    names = [keys] if isinstance(keys, str) else list(keys)
    if not names or any("," in name for name in names):
        raise ValueError(f"Specify the names of key columns, without commas, not {names!r}")
    return ",".join(names)
