"""A builder for compactions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from pyspark_iceberg.call import column_name
from pyspark_iceberg.changes import Sql, where
from pyspark_iceberg.errors import typed_errors
from pyspark_iceberg.procedure_results import RewriteDataFiles


@dataclass(frozen=True)
class Optimize:
    """A builder of a compaction: each method returns a new builder, and `execute` runs the compaction.

    A builder is created by `Table.optimize`. `Table.rewrite_data_files` has more options.
    """

    _spark: SparkSession
    _table: str
    _condition: str = ""
    _columns: tuple[str, ...] = ()

    def where(self, condition: Sql) -> Optimize:
        """Compact only the files that may have rows that satisfy a condition."""
        return replace(self, _condition=f" {where(condition)}")

    def zorder_by(self, *columns: str) -> Optimize:
        """Sort the rows along a Z-order of these columns, so that filters on any of them can skip files."""
        return replace(self, _columns=columns)

    def execute(self) -> RewriteDataFiles:
        """Run the compaction.

        Returns:
            The numbers of rewritten and added files, as `Table.rewrite_data_files`.
        """
        order = f" ZORDER BY ({', '.join(map(column_name, self._columns))})" if self._columns else ""
        with typed_errors():
            (row,) = self._spark.sql(f"OPTIMIZE {self._table}{self._condition}{order}").collect()
        return RewriteDataFiles(*row)
