"""A builder for MERGE statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Union

from pyspark.sql import DataFrame, SparkSession

from pyspark_iceberg.call import identifier, setting, temporary_view
from pyspark_iceberg.changes import RowChanges, Sql, assignments, expression, expressions, run

Source = Union[DataFrame, str]


@dataclass(frozen=True)
class Merge:
    """A builder of a MERGE statement: each method returns a new builder, and `execute` runs the statement.

    If a row satisfies the conditions of several clauses of one kind, only the first of these clauses applies to the
    row. Conditions and values are columns or SQL expressions, in which the columns of the two sides are `target.c` and
    `source.c`. Methods that end with `_all` match columns by name.

    A builder is created by `Table.merge`.
    """

    _spark: SparkSession
    _table: str
    _source: Source
    _on: str
    _options: Mapping[str, str] = field(default_factory=dict)
    _clauses: tuple[str, ...] = ()
    _evolves: bool = False

    def when_matched_update(self, values: Mapping[str, Sql], *, condition: Sql | None = None) -> Merge:
        """Update matched rows.

        Args:
            values: new values, as columns or as SQL, by the names of columns or of fields of structs.
            condition: a column or SQL that matched rows must also satisfy; without it, all matched rows are updated.

        Raises:
            TypeError: a value is neither a column nor SQL, or it is a column of Spark Connect.
            ValueError: `values` is empty.
        """
        return self._when("MATCHED", condition, f"UPDATE SET {assignments(values)}")

    def when_matched_update_all(self, *, condition: Sql | None = None) -> Merge:
        """Update all columns of matched rows with the values of the source.

        Args:
            condition: a further condition of the rows, as a column or as SQL; by default all matched rows.
        """
        return self._when("MATCHED", condition, "UPDATE SET *")

    def when_matched_delete(self, *, condition: Sql | None = None) -> Merge:
        """Delete matched rows.

        Args:
            condition: a further condition of the rows, as a column or as SQL; by default all matched rows.
        """
        return self._when("MATCHED", condition, "DELETE")

    def when_not_matched_insert(self, values: Mapping[str, Sql], *, condition: Sql | None = None) -> Merge:
        """Insert source rows that match no row of the table.

        Args:
            values: new values, as columns or as SQL, by the names of columns; other columns get their defaults.
            condition: a column or SQL that the rows must also satisfy; without it, all such rows are inserted.

        Raises:
            TypeError: a value is neither a column nor SQL, or it is a column of Spark Connect.
            ValueError: `values` is empty.
        """
        action = f"INSERT ({', '.join(values)}) VALUES ({', '.join(expressions(values).values())})"  # noqa: S608
        return self._when("NOT MATCHED", condition, action)

    def when_not_matched_insert_all(self, *, condition: Sql | None = None) -> Merge:
        """Insert source rows that match no row of the table, with all their columns.

        Args:
            condition: a further condition of the rows, as a column or as SQL; by default all such rows.
        """
        return self._when("NOT MATCHED", condition, "INSERT *")

    def when_not_matched_by_source_update(self, values: Mapping[str, Sql], *, condition: Sql | None = None) -> Merge:
        """Update rows of the table that match no source row.

        Args:
            values: new values, as columns or as SQL, by the names of columns or of fields of structs.
            condition: a column or SQL that the rows must also satisfy; without it, all such rows are updated.

        Raises:
            TypeError: a value is neither a column nor SQL, or it is a column of Spark Connect.
            ValueError: `values` is empty.
        """
        return self._when("NOT MATCHED BY SOURCE", condition, f"UPDATE SET {assignments(values)}")

    def when_not_matched_by_source_delete(self, *, condition: Sql | None = None) -> Merge:
        """Delete rows of the table that match no source row.

        Args:
            condition: a further condition of the rows, as a column or as SQL; by default all such rows.
        """
        return self._when("NOT MATCHED BY SOURCE", condition, "DELETE")

    def with_schema_evolution(self) -> Merge:
        """Add the source columns that a clause uses and the table lacks, and widen the types of existing columns.

        The commit of the rows also makes these changes.
        """
        return replace(self, _evolves=True)

    def option(self, key: str, value: object) -> Merge:
        """Set an option of the statement, such as `isolation-level` or `snapshot-property.job`.

        Args:
            key: the name of the option.
            value: the value; `True` and `False` are written as `true` and `false`.
        """
        return replace(self, _options={**self._options, key: setting(value)})

    def retries(self, times: int) -> Merge:
        """Set the maximum number of times that the statement is run again after a commit conflict."""
        return self.option("statement-retries", times)

    def execute(self) -> RowChanges:
        """Run the statement and return the numbers of changed rows.

        Raises:
            ValueError: the statement has no clause.
            pyspark.errors.AnalysisException: the statement is not valid for this table.
        """
        if not self._clauses:
            raise ValueError("Add at least one clause: when_matched_..., when_not_matched_...")
        if isinstance(self._source, str):
            return self._run(self._spark, self._source)
        # Use the session of the rows: within `foreachBatch` it differs from the session of the table.
        with temporary_view(self._source) as view:
            return self._run(self._source.sparkSession, view)

    def _run(self, spark: SparkSession, source: str) -> RowChanges:
        evolution = "WITH SCHEMA EVOLUTION " if self._evolves else ""
        after = " ".join((f"AS target USING {source} AS source ON {self._on}", *self._clauses))
        return run(spark, self._table, f"MERGE {evolution}INTO", after, self._options)

    def _when(self, match: str, condition: Sql | None, action: str) -> Merge:
        extra_condition = "" if condition is None else f" AND ({expression(condition)})"
        return replace(self, _clauses=(*self._clauses, f"WHEN {match}{extra_condition} THEN {action}"))


def equal_columns(on: Sql | Sequence[str]) -> str:
    """Return the match condition of a MERGE: `on` itself, or the equality of the columns that a list names."""
    if isinstance(on, str) or not isinstance(on, Sequence):
        return expression(on)
    if not on:
        raise ValueError("Specify at least one column to match rows by")
    return " AND ".join(f"target.{identifier(column)} = source.{identifier(column)}" for column in on)
