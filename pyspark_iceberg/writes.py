"""Write the rows of DataFrames to a table, and return the counts of changed rows."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Union, cast

from pyspark.sql import Column, DataFrame, DataFrameWriterV2, SparkSession, functions
from pyspark.sql.types import StructType

from pyspark_iceberg.changes import RowChanges, statement_snapshot
from pyspark_iceberg.errors import typed_errors

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
            rows: a DataFrame of Spark or pandas, a table of pyarrow, or a list of rows.
            options: write options, such as `merge-schema` or `snapshot-property.job`.

        Raises:
            RejectedValueError: a row is not valid for the table.
            pyspark.errors.AnalysisException: the columns do not match the table.
        """
        return self._write(rows, options, lambda writer: writer.append())

    def overwrite(self, rows: Rows, *, options: Options | None = None) -> RowChanges:
        """Replace all rows of the table."""
        return self._write(rows, options, lambda writer: writer.overwrite(functions.lit(True)))

    def overwrite_partitions(self, rows: Rows, *, options: Options | None = None) -> RowChanges:
        """Replace the partitions to which the new rows belong. Other partitions keep their rows."""
        return self._write(rows, options, lambda writer: writer.overwritePartitions())

    def replace_where(self, rows: Rows, condition: Column | str, *, options: Options | None = None) -> RowChanges:
        """Replace the rows that satisfy a condition.

        Args:
            rows: as for `append`.
            condition: a condition of partition columns, or of other columns if it is true or false for whole files.
            options: as for `append`.

        Raises:
            ValidationError: a file has rows that satisfy the condition and rows that do not.
        """
        where = functions.expr(condition) if isinstance(condition, str) else condition
        return self._write(rows, options, lambda writer: writer.overwrite(where))

    def upsert(self, rows: Rows, keys: Sequence[str] | None = None, *, options: Options | None = None) -> RowChanges:
        """Replace the rows that have the key of a new row, and add the other new rows, without reading the table.

        The number of replaced rows is not known, so the `deleted` count of the result is None.

        Args:
            rows: as for `append`; no two of them may have the same key.
            keys: the names of the key columns; by default the table's identifier fields.
            options: as for `append`.
        """
        key = {"upsert": "true"} if keys is None else {"upsert-keys": ", ".join(keys)}
        return self._write(rows, {**(options or {}), **key}, lambda writer: writer.append(), counts_deleted=False)

    def _write(self, rows: Rows, options: Options | None, action: Any, *, counts_deleted: bool = True) -> RowChanges:
        df = self._rows(rows)
        statement = str(uuid.uuid4())
        writer: DataFrameWriterV2 = df.writeTo(self.name).option("snapshot-property.statement-id", statement)
        for key, value in (options or {}).items():
            writer = writer.option(key, str(value).lower() if isinstance(value, bool) else str(value))
        with typed_errors():
            action(writer)
            snapshot = statement_snapshot(df.sparkSession, self.name, statement)
        if snapshot is None:
            return RowChanges()
        added, removed, before = (
            int(snapshot["summary"].get(key, 0))
            for key in ("added-records", "deleted-records", "removed-position-deletes")
        )
        deleted = max(0, removed - before) if counts_deleted else None
        return RowChanges(inserted=added, deleted=deleted, snapshot_id=snapshot["snapshot_id"])

    def _rows(self, rows: Any) -> DataFrame:
        """Return the rows as a DataFrame, with the types of the table's columns that have the same names."""
        if hasattr(rows, "writeTo"):
            return cast(DataFrame, rows)
        schema = self._spark.table(self.name).schema
        if hasattr(rows, "to_pandas"):
            rows = rows.to_pandas()
        if not hasattr(rows, "columns"):
            return self._spark.createDataFrame(rows, schema)
        known = {f.name: f for f in schema.fields}
        unknown = [name for name in rows.columns if name not in known]
        if unknown:
            return self._spark.createDataFrame(rows)
        return self._spark.createDataFrame(rows, StructType([known[name] for name in rows.columns]))
