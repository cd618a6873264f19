"""Branches and tags of a table."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from pyspark_iceberg.call import identifier
from pyspark_iceberg.errors import CommitStateUnknownError, TableError, typed_errors

if TYPE_CHECKING:
    from pyspark_iceberg.table import Table


_LOGGER = logging.getLogger("pyspark_iceberg")


class TableRefs:
    """The methods of `Table` for branches and tags."""

    _spark: SparkSession
    name: str

    def branch(self, name: str) -> DataFrame:
        """Return the current rows of a branch; `df.writeTo(f"{table.name}.branch_{name}")` writes to it.

        Raises:
            MissingObjectError: the table has no such branch.
        """
        return self._at(f"branch_{name}")

    def tag(self, name: str) -> DataFrame:
        """Return the rows of the snapshot of a tag.

        Raises:
            MissingObjectError: the table has no such tag.
        """
        return self._at(f"tag_{name}")

    def create_branch(self, name: str, snapshot_id: int | None = None, *, replace: bool = False) -> Table:
        """Create a branch.

        Args:
            name: the name of the branch.
            snapshot_id: the last snapshot of the branch; by default the current snapshot.
            replace: whether to replace an existing branch.

        Returns:
            The branch as a `Table` whose methods write to the branch.

        Raises:
            ExistingObjectError: a branch or tag with this name exists, and `replace` is not set.
        """
        self._create("BRANCH", name, snapshot_id, replace)
        return self._table(f"{self.name}.{identifier(f'branch_{name}')}")

    def create_tag(self, name: str, snapshot_id: int | None = None, *, replace: bool = False) -> None:
        """Create a tag.

        Args:
            name: the name of the tag.
            snapshot_id: the snapshot of the tag; by default the current snapshot.
            replace: whether to replace an existing tag.

        Raises:
            ExistingObjectError: a branch or tag with this name exists, and `replace` is not set.
        """
        self._create("TAG", name, snapshot_id, replace)

    def drop_branch(self, name: str, *, if_exists: bool = False) -> None:
        """Drop a branch. Its snapshots stay until they expire.

        Args:
            name: the name of the branch.
            if_exists: whether a missing branch is ignored instead of an error.
        """
        self._alter(f"DROP BRANCH {'IF EXISTS ' if if_exists else ''}{identifier(name)}")

    def drop_tag(self, name: str, *, if_exists: bool = False) -> None:
        """Drop a tag. Its snapshot stays until it expires.

        Args:
            name: the name of the tag.
            if_exists: whether a missing tag is ignored instead of an error.
        """
        self._alter(f"DROP TAG {'IF EXISTS ' if if_exists else ''}{identifier(name)}")

    @contextmanager
    def audit(self, branch: str | None = None) -> Iterator[Table]:
        """Write to a new branch in a `with` statement, and publish the branch at the end (write, audit, publish).

        The branch begins at the current snapshot. If the block ends without an exception, the commits of the branch are
        applied to `main` in one step, and the branch is dropped. If the block raises an exception, or if the commits
        cannot be published, `main` does not change, and the branch stays for inspection. The branch also stays if it is
        not known whether the commits were published. The logger `pyspark_iceberg` names a branch that stays.

        Example::

            with table.audit("nightly") as staged:
                staged.append(rows)
                if staged.to_df().where("amount IS NULL").count():
                    raise ValueError("a row has no amount")

        Args:
            branch: the name of the branch, which must not exist; by default a name that no other audit uses.

        Raises:
            ExistingObjectError: the branch exists.
            ValidationError: other commits changed `main` in the meantime, and the changes overlap.
        """
        name = branch or f"audit_{uuid.uuid4().hex[:12]}"
        staged = self.create_branch(name)
        publishing = False
        try:
            yield staged
            publishing = True
            self._table(self.name).merge_branch(branch=name)
        except BaseException as error:
            # After other errors, such as an interrupt, the JVM may still publish the commits.
            failed = isinstance(error, TableError) and not isinstance(error, CommitStateUnknownError)
            unknown = publishing and not failed
            outcome = "it is not known whether its commits were published" if unknown else "nothing was published"
            _LOGGER.warning(
                "The audit of %s failed, and %s. The branch %s keeps its commits. Read it with "
                "table.scan(branch=%r), publish it with table.merge_branch(%r), or drop it with table.drop_branch(%r)",
                *(self.name, outcome, name, name, name, name),
            )
            raise
        self.drop_branch(name)

    def _at(self, selector: str) -> DataFrame:
        with typed_errors():
            rows = self._spark.table(f"{self.name}.{identifier(selector)}")
            _ = rows.schema
            return rows

    def _create(self, kind: str, name: str, snapshot_id: int | None, replace: bool) -> None:
        version = "" if snapshot_id is None else f" AS OF VERSION {int(snapshot_id)}"
        self._alter(f"CREATE {'OR REPLACE ' if replace else ''}{kind} {identifier(name)}{version}")

    def _alter(self, change: str) -> None:
        with typed_errors():
            self._spark.sql(f"ALTER TABLE {self.name} {change}")

    def _table(self, name: str) -> Table:
        from pyspark_iceberg.table import Table

        return Table(self._spark, name)
