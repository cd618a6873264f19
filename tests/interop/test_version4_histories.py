"""The same random history on tables of versions 3 and 4 gives the same rows. PyIceberg reads those of version 3."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from pyiceberg.table import StaticTable
from pyiceberg_tables import newest
from pyspark.sql import SparkSession

SEED = int(os.environ.get("ICEBERG_LITE_SEED") or 20240229)

# With these limits, commits move files to leaf manifests, and deletion vectors of leaf manifests to Puffin files.
PROPERTIES = {
    "write.delete.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
    "write.v4.single-commit-max-files": "1",
    "write.v4.root.max-data-files": "2",
    "write.v4.root.max-delete-entries": "1",
    "write.v4.root.max-vector-bytes": "1",
    "commit.manifest.min-count-to-merge": "2",
}
Rows = list[list[tuple[str, Any]]]
UPGRADE, ROLLBACK = "upgrade", "rollback"


def history(random: Random) -> list[str]:
    """Return the steps of a history: statements on a table {t}, an upgrade and a rollback, most in random order."""
    starts = iter(range(0, 10_000, 40))

    def insert(target: str = "{t}") -> str:
        start = next(starts)
        rows = f"SELECT id, concat('p', id % 3), CAST(id % 7 AS INT) FROM range({start}, {start + 40}, 1, 2)"
        return f"INSERT INTO {target} (id, p, n) {rows}"

    def delete(target: str = "{t}") -> str:
        return f"DELETE FROM {target} WHERE id % {random.randint(2, 9)} = 1"

    # Each INSERT writes two files, so that the second statement removes one of the files that a leaf manifest lists.
    first = [insert(), "DELETE FROM {t} WHERE id < 20", delete(), insert()]
    update = f"UPDATE {{t}} SET n = n + 100, p = concat(p, '!') WHERE n = {random.randrange(7)}"
    merge = (
        f"MERGE INTO {{t}} t USING (SELECT id AS k FROM range({random.randrange(40)}, 90, 3)) s ON t.id = s.k "
        "WHEN MATCHED AND t.n < 3 THEN DELETE WHEN MATCHED THEN UPDATE SET n = -k "
        "WHEN NOT MATCHED THEN INSERT (id, p, n) VALUES (k, 'new', k)"
    )
    columns = [
        "ALTER TABLE {t} ADD COLUMN x INT",
        "UPDATE {t} SET x = n WHERE id % 3 = 0",
        "ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT",
        "ALTER TABLE {t} RENAME COLUMN x TO y",
        "ALTER TABLE {t} ALTER COLUMN n FIRST",
    ]
    specs = ["ADD PARTITION FIELD p", "ADD PARTITION FIELD bucket(2, id)", "DROP PARTITION FIELD p"]
    branch = ["ALTER TABLE {t} CREATE BRANCH b", insert("{t}.branch_b"), delete("{t}.branch_b")]
    calls = [
        "CALL system.rewrite_manifests('{t}')",
        "CALL system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))",
        "CALL system.expire_snapshots(table => '{t}', older_than => TIMESTAMP'2100-01-01', retain_last => 4)",
    ]
    sequences = [columns, [f"ALTER TABLE {{t}} {s}" for s in specs], branch]
    sequences += [[step] for step in (*calls, ROLLBACK, update, merge, delete(), delete(), insert(), insert())]
    middle = interleaved(random, sequences)
    upgrade = random.randrange(len(middle))
    return [*first, *middle[:upgrade], UPGRADE, *middle[upgrade:], insert(), delete(), insert()]


def interleaved(random: Random, sequences: list[list[str]]) -> list[str]:
    """Return all elements in random order, without changing the order within each of the sequences."""
    order = [iter(sequence) for sequence in sequences]
    turns = [index for index, sequence in enumerate(sequences) for _ in sequence]
    random.shuffle(turns)
    return [next(order[index]) for index in turns]


class Subject:
    """A table, and the snapshots to which its branches referred after each step of the history.

    An upgrade changes the table only if `upgraded`.
    """

    def __init__(self, spark: SparkSession, name: str, version: int, upgraded: bool) -> None:
        self.spark, self.name, self.upgraded = spark, name, upgraded
        self.heads: list[dict[str, int]] = []
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in PROPERTIES.items())
        spark.sql(
            f"CREATE TABLE {name} (id BIGINT, p STRING, n INT) USING iceberg "
            f"TBLPROPERTIES ('format-version' = '{version}', {listed})"
        )

    def run(self, step: str, kept: int) -> None:
        """Run a step. A rollback makes the snapshot current that was current after the step `kept`."""
        if step == ROLLBACK:
            self.spark.sql(f"CALL system.set_current_snapshot('{self.name}', {self.heads[kept]['main']})")
        elif step != UPGRADE:
            self.spark.sql(step.format(t=self.name))
        elif self.upgraded:
            self.spark.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ('format-version' = '4')")
        self.heads.append({row["name"]: row["snapshot_id"] for row in self.spark.table(f"{self.name}.refs").collect()})

    def retained(self) -> set[int]:
        return {row["snapshot_id"] for row in self.spark.table(f"{self.name}.snapshots").collect()}

    def rows_at(self, snapshot_id: int) -> Rows:
        """Return the rows of a snapshot, as Spark reads them."""
        found = self.spark.sql(f"SELECT * FROM {self.name} VERSION AS OF {snapshot_id}")
        return comparable([row.asDict() for row in found.collect()])


def kept_steps(subjects: list[Subject]) -> list[int]:
    """Return the numbers of the steps after which the current snapshots were ones that all tables still have."""
    retained = [subject.retained() for subject in subjects]
    steps = zip(*(subject.heads for subject in subjects))
    return [n for n, heads in enumerate(steps) if all(h["main"] in kept for h, kept in zip(heads, retained))]


def theirs(table: StaticTable, snapshot_id: int) -> Rows:
    """Return the rows of a snapshot, as PyIceberg reads them."""
    return comparable(table.scan(snapshot_id=snapshot_id).to_arrow().to_pylist())


def comparable(rows: list[dict[str, Any]]) -> Rows:
    """Return sorted rows that do not depend on the schema of the snapshot: without nulls, with the first names.

    A step can create a snapshot in only one of the tables, for example if only one has manifests to rewrite. Then the
    snapshots of the tables have the same rows, but may have an earlier and a later schema.
    """
    return sorted(
        sorted(("x" if name == "y" else name, value) for name, value in row.items() if value is not None)
        for row in rows
    )


@pytest.fixture
def reference(spark: SparkSession, table: str) -> Iterator[str]:
    """Return the name of a second table, which is dropped at the end of the test."""
    yield f"{table}_reference"
    spark.sql(f"DROP TABLE IF EXISTS {table}_reference PURGE")


@pytest.mark.slow
@pytest.mark.parametrize("version", [2, 3, 4])
def test_version_4_has_the_rows_that_pyiceberg_reads_from_version_3(
    spark: SparkSession, table: str, reference: str, version: int
) -> None:
    random = Random(SEED + version)
    steps = history(random)
    subjects = [Subject(spark, table, version, upgraded=version < 4), Subject(spark, reference, 3, upgraded=False)]
    for step in steps:
        kept = random.choice(kept_steps(subjects)) if step == ROLLBACK else 0
        for subject in subjects:
            subject.run(step, kept)
    retained = [subject.retained() for subject in subjects]
    steps_heads = list(zip(*(subject.heads for subject in subjects)))
    pairs = {(own[ref], other[ref]) for own, other in steps_heads for ref in own}
    pairs = {(own, other) for own, other in pairs if own in retained[0] and other in retained[1]}
    assert len(pairs) >= 3
    assert {own for own, _ in pairs} == retained[0]
    roots = spark.table(f"{table}.snapshots").where("manifest_list LIKE '%.parquet'").collect()
    assert subjects[0].heads[-1]["main"] in {row["snapshot_id"] for row in roots}
    read = newest(spark, reference)
    assert read.metadata.format_version == 3
    for own, other in pairs:
        assert subjects[0].rows_at(own) == theirs(read, other), (SEED, steps)
