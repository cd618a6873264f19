"""Change the columns, the partitioning, the sort order and the properties of a table in one commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql.types import DataType

from pyspark_iceberg.builder import Term, sql_type
from pyspark_iceberg.call import column_name, identifier, literal, setting
from pyspark_iceberg.procedures import TableProcedures


class Evolution:
    """Changes of a table that `Table.evolve` makes in one commit. Each change sees the result of the earlier changes.

    A field of a struct has a name such as `address.city`. A part of a name that contains dots is quoted with backticks.
    A partition or sort term is a column as SQL, or a transform such as `days("ts")`.
    """

    def __init__(self) -> None:
        self._changes: list[str] = []

    @property
    def changes(self) -> tuple[str, ...]:
        """The changes in their order, each as the part of an ALTER TABLE statement after the name of the table."""
        return tuple(self._changes)

    def add_column(
        self,
        name: str,
        data_type: DataType | str,
        *,
        nullable: bool = True,
        comment: str | None = None,
        default: str | None = None,
        first: bool = False,
        after: str | None = None,
    ) -> None:
        """Add a column.

        Args:
            name: the name; a field is added to a struct with a name such as `address.city`.
            data_type: a Spark type, or its text in SQL, such as `decimal(10, 2)`.
            nullable: whether the column may have nulls. A column without nulls needs a default.
            comment: a description.
            default: the default value, as SQL, which existing rows also get (format version 3 and later).
            first: whether the column becomes the first column of the table or of the struct.
            after: the column of the same struct that precedes the column; by default, the column becomes the last one.

        Raises:
            ValueError: both `first` and `after` are set.
        """
        parts = [column_name(name), data_type if isinstance(data_type, str) else sql_type(data_type)]
        parts += [] if nullable else ["NOT NULL"]
        parts += [] if default is None else [f"DEFAULT {default}"]
        parts += [] if comment is None else [f"COMMENT {literal(comment)}"]
        self._add(f"ADD COLUMN {' '.join(parts)}{_position(first, after)}")

    def rename_column(self, name: str, new_name: str) -> None:
        """Rename a column or a field of a struct.

        Args:
            name: the name of the column or field.
            new_name: the new name, without the name of the struct.
        """
        self._add(f"RENAME COLUMN {column_name(name)} TO {identifier(new_name)}")

    def drop_column(self, name: str, *, if_exists: bool = False) -> None:
        """Drop a column.

        Args:
            name: the name of the column or field.
            if_exists: whether a missing column is ignored instead of an error.
        """
        self._add(f"DROP COLUMN {'IF EXISTS ' if if_exists else ''}{column_name(name)}")

    def change_type(self, name: str, data_type: DataType | str) -> None:
        """Promote a column to a wider type, such as `int` to `bigint`.

        Args:
            name: the name of the column or field.
            data_type: the wider type, as a Spark type or as its text in SQL.
        """
        kind = data_type if isinstance(data_type, str) else sql_type(data_type)
        self._alter(name, f"TYPE {kind}")

    def set_nullable(self, name: str, nullable: bool = True) -> None:
        """Set whether a column may have nulls. A column that may have nulls cannot be changed to one that may not.

        Args:
            name: the name of the column or field.
            nullable: whether the column may have nulls.
        """
        self._alter(name, f"{'DROP' if nullable else 'SET'} NOT NULL")

    def set_comment(self, name: str, comment: str | None) -> None:
        """Set the description of a column, or remove it.

        Args:
            name: the name of the column or field.
            comment: the description; None removes it.
        """
        self._alter(name, f"COMMENT {literal(comment or '')}")

    def set_default(self, name: str, default: str | None) -> None:
        """Set the default value of later writes, as SQL, or remove it."""
        self._alter(name, "DROP DEFAULT" if default is None else f"SET DEFAULT {default}")

    def move_column(self, name: str, *, first: bool = False, after: str | None = None) -> None:
        """Move a column within its struct.

        Args:
            name: the column.
            first: whether the column becomes the first column.
            after: the column of the same struct that precedes the column.

        Raises:
            ValueError: not exactly one of `first` and `after` is set.
        """
        if not first and after is None:
            raise ValueError("Set either first or after")
        self._alter(name, _position(first, after).strip())

    def add_partition_field(self, term: Term, *, name: str | None = None) -> None:
        """Add a partition field for later writes.

        Args:
            term: a column as SQL, or a transform such as `days("ts")`.
            name: the name of the field; by default derived from the column and the transform.
        """
        self._add(f"ADD PARTITION FIELD {term}{_as(name)}")

    def drop_partition_field(self, term: Term) -> None:
        """Drop a partition field: its column, its transform, or its name.

        Args:
            term: the partition field, as SQL or as a transform.
        """
        self._add(f"DROP PARTITION FIELD {term}")

    def replace_partition_field(self, term: Term, new_term: Term, *, name: str | None = None) -> None:
        """Replace a partition field by another one for later writes.

        Args:
            term: the partition field to replace, as SQL or as a transform.
            new_term: the column or the transform of the new field.
            name: the name of the new field; by default derived from its term.
        """
        self._add(f"REPLACE PARTITION FIELD {term} WITH {new_term}{_as(name)}")

    def sort_by(self, *terms: Term) -> None:
        """Set the sort order of later writes: terms with optional `DESC NULLS LAST`; without terms, remove it."""
        self._add(f"WRITE ORDERED BY {', '.join(map(str, terms))}" if terms else "WRITE UNORDERED")

    def identifier_fields(self, *columns: str) -> None:
        """Set the columns that identify a row. They must not be nullable.

        Raises:
            ValueError: no column is specified; `sql("DROP IDENTIFIER FIELDS id")` removes identifier fields.
        """
        if not columns:
            raise ValueError("Specify at least one column, or call sql('DROP IDENTIFIER FIELDS ...')")
        self._add(f"SET IDENTIFIER FIELDS {', '.join(map(column_name, columns))}")

    def set_properties(self, properties: Mapping[str, object]) -> None:
        """Set table properties; `True` and `False` are written as `true` and `false`. An empty mapping does nothing."""
        if not properties:
            return
        pairs = ", ".join(f"{literal(key)} = {literal(setting(value))}" for key, value in properties.items())
        self._add(f"SET TBLPROPERTIES ({pairs})")

    def unset_properties(self, *keys: str) -> None:
        """Remove table properties. A property that is not set is ignored. Without keys, nothing is changed.

        Args:
            keys: the names of the properties.
        """
        if keys:
            self._add(f"UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(literal, keys))})")

    def sql(self, change: str) -> None:
        """Add any other change: the part of an ALTER TABLE statement after the name of the table."""
        self._add(change)

    def _alter(self, name: str, change: str) -> None:
        self._add(f"ALTER COLUMN {column_name(name)} {change}")

    def _add(self, change: str) -> None:
        self._changes.append(change)


class TableEvolution(TableProcedures):
    """The method of `Table` that changes the metadata of the table in one commit."""

    @contextmanager
    def evolve(self) -> Iterator[Evolution]:
        """Change columns, partitioning, sort order, identifier fields and properties in one commit.

        Example::

            with table.evolve() as changes:
                changes.add_column("city", "string", after="id")
                changes.add_partition_field(days("ts"))

        The commit happens at the end of the block. If the block raises an exception, or if a change is not possible,
        no change is made.

        Raises:
            CommitConflictError: another commit has changed the same parts of the table.
            MissingObjectError: a column or partition field does not exist.
            ExistingObjectError: a column or partition field with this name exists.
            ValidationError: the table does not allow a change.
        """
        evolution = Evolution()
        yield evolution
        if evolution.changes:
            self.alter_table(evolution.changes)


def _position(first: bool, after: str | None) -> str:
    if first and after is not None:
        raise ValueError("Set either first or after")
    return " FIRST" if first else "" if after is None else f" AFTER {identifier(after)}"


def _as(name: str | None) -> str:
    return "" if name is None else f" AS {identifier(name)}"
