"""MERGE, clause by clause."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Union

from pyspark.sql import DataFrame, SparkSession

from pyspark_iceberg.call import identifier
from pyspark_iceberg.changes import RowChanges, assignments, expression, expressions, run

Source = Union[DataFrame, str]


@dataclass(frozen=True)
class Merge:
    """A MERGE in the making: each step gives another one, and nothing happens before `execute`.

    Of the clauses of a kind the first whose condition a row satisfies counts. Conditions and values are SQL, in which
    columns of the two sides are `target.c` and `source.c`; `..._all` goes by their names.

    `Table.merge` makes it.
    """

    _spark: SparkSession
    _table: str
    _source: Source
    _on: str
    _options: Mapping[str, str] = field(default_factory=dict)
    _clauses: tuple[str, ...] = ()
    _evolves: bool = False

    def when_matched_update(self, values: Mapping[str, str], *, condition: str | None = None) -> Merge:
        """Give rows that both sides have new values: expressions by the names of columns or fields of structs.

        Raises:
            TypeError: a value is no text.
            ValueError: there are no values.
        """
        return self._when("MATCHED", condition, f"UPDATE SET {assignments(values)}")

    def when_matched_update_all(self, *, condition: str | None = None) -> Merge:
        """Give rows that both sides have the source's values in all columns."""
        return self._when("MATCHED", condition, "UPDATE SET *")

    def when_matched_delete(self, *, condition: str | None = None) -> Merge:
        """Delete rows that both sides have."""
        return self._when("MATCHED", condition, "DELETE")

    def when_not_matched_insert(self, values: Mapping[str, str], *, condition: str | None = None) -> Merge:
        """Insert rows that only the source has: expressions by the names of columns; others get their defaults.

        Raises:
            TypeError: a value is no text.
            ValueError: there are no values.
        """
        action = f"INSERT ({', '.join(values)}) VALUES ({', '.join(expressions(values).values())})"  # noqa: S608
        return self._when("NOT MATCHED", condition, action)

    def when_not_matched_insert_all(self, *, condition: str | None = None) -> Merge:
        """Insert rows that only the source has with all their columns."""
        return self._when("NOT MATCHED", condition, "INSERT *")

    def when_not_matched_by_source_update(self, values: Mapping[str, str], *, condition: str | None = None) -> Merge:
        """Give rows that only the table has new values.

        Raises:
            TypeError: a value is no text.
            ValueError: there are no values.
        """
        return self._when("NOT MATCHED BY SOURCE", condition, f"UPDATE SET {assignments(values)}")

    def when_not_matched_by_source_delete(self, *, condition: str | None = None) -> Merge:
        """Delete rows that only the table has."""
        return self._when("NOT MATCHED BY SOURCE", condition, "DELETE")

    def with_schema_evolution(self) -> Merge:
        """Add the columns of the source that the table lacks and a clause names, in the commit of the rows."""
        return replace(self, _evolves=True)

    def option(self, key: str, value: object) -> Merge:
        """Set an option of the statement, such as `isolation-level` or `snapshot-property.job`."""
        return replace(self, _options={**self._options, key: str(value)})

    def retries(self, times: int) -> Merge:
        """Run the statement again so often where another commit is in its way."""
        return self.option("statement-retries", times)

    def execute(self) -> RowChanges:
        """Do it and return what was done.

        Raises:
            ValueError: there is no clause.
            pyspark.errors.AnalysisException: what was asked for cannot be.
        """
        if not self._clauses:
            raise ValueError("Say what is to be done: when_matched_..., when_not_matched_...")
        if isinstance(self._source, str):
            return self._run(self._spark, self._source)
        # That of the rows: within `foreachBatch` it is another one than that of the table.
        spark = self._source.sparkSession
        view = f"merge_source_{uuid.uuid4().hex}"
        self._source.createOrReplaceTempView(view)
        try:
            return self._run(spark, view)
        finally:
            spark.catalog.dropTempView(view)

    def _run(self, spark: SparkSession, source: str) -> RowChanges:
        evolution = "WITH SCHEMA EVOLUTION " if self._evolves else ""
        after = " ".join((f"AS target USING {source} AS source ON {self._on}", *self._clauses))
        return run(spark, self._table, f"MERGE {evolution}INTO", after, self._options)

    def _when(self, rows: str, condition: str | None, action: str) -> Merge:
        also = "" if condition is None else f" AND ({expression(condition)})"
        return replace(self, _clauses=(*self._clauses, f"WHEN {rows}{also} THEN {action}"))


def equal_columns(on: str | Sequence[str]) -> str:
    """Return the condition of a MERGE: as it is, or that columns of both sides are equal."""
    if isinstance(on, str):
        return expression(on)
    if not on:
        raise ValueError("Name at least one column that rows are found by")
    return " AND ".join(f"target.{identifier(column)} = source.{identifier(column)}" for column in on)
