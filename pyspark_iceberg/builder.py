"""A builder that creates or replaces a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Callable, Union

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from pyspark_iceberg.call import call, column_name, identifier, literal, setting, temporary_view
from pyspark_iceberg.errors import typed_errors

if TYPE_CHECKING:
    from pyspark_iceberg.table import Table


@dataclass(frozen=True)
class Transform:
    """A partition or sort term, as SQL: a transform of a column."""

    sql: str

    def __str__(self) -> str:
        """Return the SQL."""
        return self.sql


Term = Union[str, Transform]


def years(column: str) -> Transform:
    """Return the transform of a date or timestamp column into years."""
    return Transform(f"years({column_name(column)})")


def months(column: str) -> Transform:
    """Return the transform of a date or timestamp column into months."""
    return Transform(f"months({column_name(column)})")


def days(column: str) -> Transform:
    """Return the transform of a date or timestamp column into days."""
    return Transform(f"days({column_name(column)})")


def hours(column: str) -> Transform:
    """Return the transform of a timestamp column into hours."""
    return Transform(f"hours({column_name(column)})")


def bucket(buckets: int, column: str) -> Transform:
    """Return the transform of a column into the given number of hash buckets."""
    return Transform(f"bucket({int(buckets)}, {column_name(column)})")


def truncate(width: int, column: str) -> Transform:
    """Return the transform of a column into prefixes of this length, or into multiples of this number.

    Args:
        width: the number of characters or bytes of a prefix, or the number of which the results are multiples; at
            least 1.
        column: the name of the column.
    """
    return Transform(f"truncate({int(width)}, {column_name(column)})")


def sql_type(data_type: DataType) -> str:
    """Return a type as SQL, with the nullability and the comments of the fields of structs."""
    if isinstance(data_type, StructType):
        return f"STRUCT<{', '.join(map(_sql_field, data_type.fields))}>"
    if isinstance(data_type, ArrayType):
        return f"ARRAY<{sql_type(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"MAP<{sql_type(data_type.keyType)}, {sql_type(data_type.valueType)}>"
    return data_type.simpleString()


def _sql_field(field: StructField) -> str:
    comment = field.metadata.get("comment")
    nullability = "" if field.nullable else " NOT NULL"
    text = f"{identifier(field.name)}: {sql_type(field.dataType)}{nullability}"
    return text if comment is None else f"{text} COMMENT {literal(comment)}"


@dataclass(frozen=True)
class TableBuilder:
    """A builder of a table: each method returns a new builder, and `execute` or `as_select` creates the table.

    A builder is created by `Table.create`, `Table.create_if_not_exists` or `Table.replace`.
    """

    _spark: SparkSession
    _name: str
    _statement: str
    _open: Callable[[SparkSession, str], Table]
    _columns: tuple[str, ...] = ()
    _partitioning: tuple[str, ...] = ()
    _order: tuple[str, ...] = ()
    _identifier: tuple[str, ...] = ()
    _properties: Mapping[str, str] = field(default_factory=dict)
    _comment: str | None = None
    _location: str | None = None

    def column(
        self,
        name: str,
        data_type: DataType | str,
        *,
        nullable: bool = True,
        comment: str | None = None,
        default: str | None = None,
        generated_as: str | None = None,
    ) -> TableBuilder:
        """Add a column.

        Args:
            name: the name, without quotes.
            data_type: a Spark type, or its text in SQL, such as `decimal(10, 2)`.
            nullable: whether the column may have nulls.
            comment: a description.
            default: the default value, as SQL.
            generated_as: SQL that computes the column from other columns.
        """
        kind = data_type if isinstance(data_type, str) else sql_type(data_type)
        parts = [identifier(name), kind]
        parts += [] if nullable else ["NOT NULL"]
        parts += [] if default is None else [f"DEFAULT {default}"]
        parts += [] if generated_as is None else [f"GENERATED ALWAYS AS ({generated_as})"]
        parts += [] if comment is None else [f"COMMENT {literal(comment)}"]
        return replace(self, _columns=(*self._columns, " ".join(parts)))

    def columns(self, schema: StructType) -> TableBuilder:
        """Add the columns of a schema, with their comments."""
        builder = self
        for f in schema.fields:
            comment = f.metadata.get("comment")
            builder = builder.column(f.name, f.dataType, nullable=f.nullable, comment=comment)
        return builder

    def partitioned_by(self, *terms: Term) -> TableBuilder:
        """Set the partitioning: columns as SQL, and transforms such as `days("ts")` and `bucket(16, "id")`.

        Args:
            terms: the partition fields in their order.
        """
        return replace(self, _partitioning=tuple(map(str, terms)))

    def sorted_by(self, *terms: Term) -> TableBuilder:
        """Set the sort order of later writes: columns and transforms as SQL, each with optional `DESC NULLS LAST`.

        Args:
            terms: the sort fields in their order.
        """
        return replace(self, _order=tuple(map(str, terms)))

    def identifier_fields(self, *columns: str) -> TableBuilder:
        """Set the columns that identify a row. They must not be nullable."""
        return replace(self, _identifier=columns)

    def property(self, key: str, value: object) -> TableBuilder:
        """Set a table property; `True` and `False` are written as `true` and `false`.

        Args:
            key: the name of the property.
            value: its value.
        """
        return replace(self, _properties={**self._properties, key: setting(value)})

    def comment(self, text: str) -> TableBuilder:
        """Set the description of the table.

        Args:
            text: the description.
        """
        return replace(self, _comment=text)

    def location(self, uri: str) -> TableBuilder:
        """Set the location of the table.

        Args:
            uri: the directory, as a path or a URI; by default the catalog chooses the location.
        """
        return replace(self, _location=uri)

    def execute(self) -> Table:
        """Create or replace the table, without rows.

        The sort order and the identifier fields are set afterwards, in a commit of their own. If they are not valid,
        the table remains without them. If the builder comes from `Table.create_if_not_exists`, an existing table is not
        changed.

        Raises:
            ValueError: the table has no columns.
            ExistingObjectError: a table with this name exists, and the builder comes from `Table.create`.
        """
        if not self._columns:
            raise ValueError("Add at least one column: column(...), columns(...), or use as_select(...)")
        return self._run("")

    def as_select(self, rows: DataFrame | str) -> Table:
        """Create or replace the table, with the columns and the rows of a query, in one commit.

        The sort order and the identifier fields are set afterwards, in a commit of their own. If they are not valid,
        the table remains without them. If the builder comes from `Table.create_if_not_exists`, an existing table is not
        changed.

        Args:
            rows: a DataFrame, or a query as SQL.

        Raises:
            ValueError: columns were added to this builder.
            ExistingObjectError: a table with this name exists, and the builder comes from `Table.create`.
        """
        if self._columns:
            raise ValueError("The columns of as_select are those of the query; do not add columns")
        if isinstance(rows, str):
            return self._run(f" AS {rows}\n")
        with temporary_view(rows) as view:
            return replace(self, _spark=rows.sparkSession)._run(f" AS SELECT * FROM {view}")  # noqa: S608

    def _run(self, query: str) -> Table:
        parts = [f"{self._statement} {self._name}"]
        parts += [f"({', '.join(self._columns)})"] if self._columns else []
        parts += ["USING iceberg"]
        parts += [f"PARTITIONED BY ({', '.join(self._partitioning)})"] if self._partitioning else []
        parts += [] if self._comment is None else [f"COMMENT {literal(self._comment)}"]
        parts += [] if self._location is None else [f"LOCATION {literal(self._location)}"]
        pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in self._properties.items())
        parts += [f"TBLPROPERTIES ({pairs})"] if pairs else []
        with typed_errors():
            existed = "NOT EXISTS" in self._statement and self._spark.catalog.tableExists(self._name)
            self._spark.sql(" ".join(parts) + query)
            if not existed:
                self._alter()
            return self._open(self._spark, self._name)

    def _alter(self) -> None:
        columns = ", ".join(map(column_name, self._identifier))
        changes = [f"SET IDENTIFIER FIELDS {columns}"] if columns else []
        changes += [f"WRITE ORDERED BY {', '.join(self._order)}"] if self._order else []
        if changes:
            call(self._spark, "alter_table", self._name, {"changes": changes})
