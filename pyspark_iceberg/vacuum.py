"""The statement `VACUUM`, and its results."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Row, SparkSession

from pyspark_iceberg.errors import typed_errors


@dataclass(frozen=True)
class VacuumResult:
    """What `Table.vacuum` did with the objects of one kind.

    Attributes:
        kind: the kind of the objects, such as `snapshot`, `data file` or `orphan file`; or `warning`.
        count: the number of objects; for a warning, the number of running queries that read snapshots that expired.
        kept_because: why the files were not deleted, or the text of the warning; None if the objects were removed.
    """

    kind: str
    count: int
    kept_because: str | None


@dataclass(frozen=True)
class VacuumCandidate:
    """An object that `Table.vacuum` would remove.

    Attributes:
        kind: the kind of the object; or `warning`.
        name: the id of the snapshot, the name of the branch or tag, the path of the file, or the text of the warning.
    """

    kind: str
    name: str


def vacuum(spark: SparkSession, table: str, retain_hours: int | None, *, dry_run: bool) -> list[Row]:
    """Run the statement and return its rows.

    Args:
        spark: a session with the SQL extensions and the catalog.
        table: the table's name as in SQL.
        retain_hours: the age in hours after which objects are removed; by default as the table's properties say.
        dry_run: whether to return what would be removed, without removing anything.
    """
    retain = "" if retain_hours is None else f" RETAIN {int(retain_hours)} HOURS"
    with typed_errors():
        return spark.sql(f"VACUUM {table}{retain}{' DRY RUN' if dry_run else ''}").collect()
