"""What the code of guides needs besides the page: tables before a block, and other values instead of examples.

A guide runs in a session of its own, with the catalogs `lite` (the default), `cat` with the same tables, and `prod`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from pyspark_iceberg import Table


@dataclass(frozen=True)
class SetUp:
    """The set-up of a page.

    Attributes:
        before: SQL statements that run before a block, by the first line of the block.
        replaced: texts in blocks, and the expressions of Python whose values replace them.
        values: the statements of Python that run after the first statements of SQL, and define names for blocks of
            Python and for `replaced`.
        holds: an expression of Python that is true after the page, when all streams have processed their rows.
        omitted: the blocks that do not run, by their first lines, with the reasons.
    """

    before: Mapping[str, str]
    replaced: Mapping[str, str] = field(default_factory=dict)
    values: str = ""
    holds: str = "True"
    omitted: Mapping[str, str] = field(default_factory=dict)


def new_session(spark: SparkSession, folder: Path) -> SparkSession:
    """Return a session whose catalogs have warehouses in a directory, with the namespace `db`, which is the current."""
    session = spark.newSession()
    for catalog, warehouse in (("lite", "lite"), ("cat", "lite"), ("prod", "prod")):
        session.conf.set(f"spark.sql.catalog.{catalog}", "iceberglite.spark.SparkCatalog")
        session.conf.set(f"spark.sql.catalog.{catalog}.type", "hadoop")
        session.conf.set(f"spark.sql.catalog.{catalog}.warehouse", str(folder / warehouse))
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.db")
    session.conf.set("spark.sql.defaultCatalog", "lite")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.sql("USE lite.db")
    return session


def names(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Return the names that each block of Python and each `replaced` can use."""
    return {"spark": spark, "folder": folder, "Table": Table, "Path": Path}


_FIRST = 'first = list(Table(spark, "lite.db.t").snapshots())[0].snapshot_id'
_ID = {"5781947118336215154": "first"}
_S3 = "it needs files in a store of S3"
_T = "DROP TABLE IF EXISTS lite.db.t PURGE; "

SET_UPS = {
    "bloom-index": SetUp(
        before={
            "ALTER TABLE db.t SET BLOOM INDEX (id, email);      -- top-level columns; replaces those of the index": (
                "CREATE TABLE db.t (id INT, email STRING); INSERT INTO db.t VALUES (5, 'e')"
            ),
        },
    ),
    "branches": SetUp(
        before={
            "ALTER TABLE db.t CREATE BRANCH work;                                -- at the current snapshot": (
                "CREATE TABLE db.t (id INT, p STRING) PARTITIONED BY (p); INSERT INTO db.t VALUES (7, 'a')"
            ),
            "SELECT * FROM db.t.branch_work;": "ALTER TABLE db.t CREATE BRANCH work",
            "ALTER TABLE db.t SET TBLPROPERTIES ('write.wap.enabled' = 'true');": (
                _T + "CREATE TABLE db.t (id INT, price INT); INSERT INTO db.t VALUES (1, 2);"
                "CREATE TEMPORARY VIEW incoming AS SELECT 2 AS id, 3 AS price"
            ),
        },
        replaced=_ID,
        values=_FIRST + "\ndf = spark.sql(\"SELECT 9 AS id, 'b' AS p\")",
    ),
    "changes": SetUp(
        before={
            'df = spark.read.option("start-snapshot-id", "5781947118336215154").table("db.t")': (
                "CREATE TABLE db.t (id BIGINT NOT NULL, address STRUCT<zip: STRING>) "
                "TBLPROPERTIES ('format-version' = '3'); ALTER TABLE db.t SET IDENTIFIER FIELDS id;"
                "INSERT INTO db.t VALUES (1, struct('1')); INSERT INTO db.t VALUES (2, struct('2'));"
                "ALTER TABLE db.t CREATE BRANCH audit"
            ),
        },
        replaced={
            **_ID,
            "1735689600000": "int(snapshots[0].committed_at.timestamp() * 1000)",
            "1735776000000": "int(snapshots[1].committed_at.timestamp() * 1000) + 1",
        },
        values=_FIRST + '\nsnapshots = list(Table(spark, "lite.db.t").snapshots())',
    ),
    "deployment": SetUp(before={}),
    "index": SetUp(before={}, replaced={'iceberg_session(warehouse="warehouse")': '"spark"'}),
    "joins": SetUp(before={}),
    "maintenance": SetUp(
        before={
            "CALL lite.system.rewrite_data_files('db.t');": (
                "CREATE TABLE db.t (customer INT, ts TIMESTAMP); INSERT INTO db.t VALUES (1, now()), (2, now())"
            ),
        },
        replaced={"s3a://old/db/t": 'Table(spark, "lite.db.t").location.removeprefix("file:")'},
        omitted={
            "CALL lite.system.add_files('db.t', 'parquet.`/data/events`', map('day', '2024-06-01'));": (
                "it needs tables of Hive; docs/tutorials/import.md runs these procedures"
            ),
        },
    ),
    "procedures": SetUp(
        before={
            "CALL lite.system.rollback_to_snapshot('db.t', 5781947118336215154);": (
                "CREATE TABLE db.t (id INT); INSERT INTO db.t VALUES (1); INSERT INTO db.t VALUES (2)"
            ),
            "from pyspark_iceberg import Table, register_table": "INSERT INTO db.t VALUES (3)",
        },
        replaced={
            **_ID,
            "current_timestamp() - INTERVAL 1 DAY": "f\"TIMESTAMP '{committed + timedelta(milliseconds=1)}'\"",
            "lite.db.copy": '"registry.db.copy"',
            "/data/t/metadata/00003-5f2b.metadata.json": (
                'list(Table(spark, "lite.db.t").metadata("metadata_log_entries").collect())[-1]["file"]'
            ),
        },
        values=(
            "from datetime import timedelta\n"
            'committed = list(Table(spark, "lite.db.t").snapshots())[0].committed_at.astimezone()\n' + _FIRST + "\n"
            # File-system catalogs do not register tables.
            'registry = "spark.sql.catalog.registry"\n'
            'spark.conf.set(registry, "iceberglite.spark.SparkCatalog")\n'
            'spark.conf.set(f"{registry}.type", "jdbc")\n'
            'spark.conf.set(f"{registry}.uri", f"jdbc:sqlite:{folder}/catalog.db")\n'
            'spark.conf.set(f"{registry}.warehouse", f"{folder}/registry")'
        ),
        holds=(
            # The copy begins with the version before the rollback.
            'sorted(row.id for row in spark.table("registry.db.copy").collect()) == [1, 3] '
            'and [row.id for row in spark.table("lite.db.t").collect()] == [1]'
        ),
    ),
    "pushdown": SetUp(
        before={
            "SELECT count(*), count(id), min(ts), max(ts) FROM db.t;": (
                "CREATE TABLE db.t (id INT, ts TIMESTAMP, region STRING, day DATE) "
                "PARTITIONED BY (region, day); INSERT INTO db.t VALUES (5, now(), 'r', current_date())"
            ),
        },
    ),
    "reference": SetUp(
        before={
            "SELECT * FROM db.t VERSION AS OF 5781947118336215154;      -- a snapshot": (
                "CREATE TABLE db.t (id INT NOT NULL, ts TIMESTAMP, category STRING, price INT, customer STRING, "
                "email STRING, address STRUCT<street: STRING NOT NULL> NOT NULL);"
                "INSERT INTO db.t VALUES (1, now(), 'c', 2, 'Ada', 'e', struct('s')); ALTER TABLE db.t CREATE TAG v1"
            ),
            "ALTER TABLE t ADD PARTITION FIELD bucket(16, id);": "ALTER TABLE t DROP TAG v1; CREATE TABLE s (id INT)",
            'df.writeTo("lite.db.t").option("merge-schema", "true").append()': (
                "ALTER TABLE t SET TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')"
            ),
        },
        replaced={
            **_ID,
            "2024-06-01 12:00:00": "committed + timedelta(milliseconds=1)",
            "1717243200": "int(committed.timestamp()) + 1",
            "/data/t": 'Table(spark, "lite.db.t").location.removeprefix("file:")',
            "VERSION 42": 'f"VERSION {first}"',
            "'db.t', 42": "f\"'db.t', {first}\"",
        },
        values=(
            "from datetime import timedelta\n"
            'committed = list(Table(spark, "lite.db.t").snapshots())[0].committed_at.astimezone()\n' + _FIRST + "\n"
            'df = spark.sql("SELECT *, 5 AS extra FROM db.t")\n'
            'spark.sql("CREATE TABLE shop.broken AS SELECT 1 AS id")\n'
            'broken = Table(spark, "lite.shop.broken").files().first().path\n'
            'Path(broken.removeprefix("file:")).write_bytes(b"PAR1")'
        ),
        holds='{row.extra for row in spark.table("lite.db.t").collect()} == {None, 5}',
    ),
    "reports": SetUp(
        before={
            "from pyspark_iceberg import Table": (
                "CREATE TABLE db.events (id INT); INSERT INTO db.events VALUES (1); "
                "ALTER TABLE db.events CREATE TAG first; INSERT INTO db.events VALUES (2)"
            ),
        },
        holds='(folder / "report.html").exists() and (folder / "growth.png").exists()',
    ),
    "row-changes": SetUp(
        before={
            "DELETE FROM t WHERE id IN (SELECT id FROM gone);": (
                "CREATE TABLE t (id BIGINT, price INT, address STRUCT<city: STRING>, day DATE);"
                "INSERT INTO t VALUES (1, 2, struct('Bonn'), DATE '2026-01-01');"
                "CREATE TEMPORARY VIEW gone AS SELECT 9L AS id;"
                "CREATE TEMPORARY VIEW s AS SELECT 1L AS id, 3 AS price, struct('Rom' AS city) AS address, "
                "DATE '2026-01-02' AS day, false AS gone"
            ),
            "DELETE FROM t WITH ('branch' = 'b') WHERE id = 1;": (
                _T + "CREATE TABLE t (id INT, n INT, day DATE); INSERT INTO t VALUES (1, 1, DATE '2026-01-01');"
                "ALTER TABLE t CREATE BRANCH b; ALTER TABLE t DROP COLUMN day;"
                "CREATE OR REPLACE TEMPORARY VIEW s AS SELECT 1 AS id, 5 AS n"
            ),
            "from pyspark_iceberg import Table": "ALTER TABLE t ADD COLUMN day DATE",
        },
        values=(
            "from pyspark.sql import functions as F\n"
            "df = spark.table('t').limit(1)\n"
            "changes = df\n"
            'source = spark.sql("SELECT 1 AS id, 7 AS n, false AS gone, CAST(NULL AS DATE) AS day")'
        ),
    ),
    "streaming": SetUp(
        before={
            "(": (
                "CREATE TABLE prod.db.events (id BIGINT) TBLPROPERTIES ('format-version' = '3');"
                "INSERT INTO prod.db.events VALUES (1); CREATE TABLE db.orders (id BIGINT);"
                "CREATE TABLE db.events (id BIGINT)"
            ),
        },
        replaced={
            "s3://bucket/checkpoints": 'folder / "prod-checkpoints"',
            "/checkpoints/": 'f"{folder}/checkpoints/"',
            "30 seconds": '"0 seconds"',
        },
        values=('def process(rows, batch):\n    rows.collect()\n\nstream = spark.readStream.table("prod.db.events")'),
    ),
    "v4": SetUp(
        before={
            "SELECT level, content, length, entries, deleted_entries, overlapping_manifests FROM db.events.tree;": (
                "INSERT INTO db.events VALUES (1, now())"
            ),
        },
    ),
    "variants": SetUp(before={}),
    "views": SetUp(
        before={
            "CREATE VIEW prod.sales.totals (customer COMMENT 'id of the customer', total)": (
                "CREATE TABLE prod.sales.orders (customer_id INT, amount INT)"
            ),
            "CALL prod.system.rollback_view('sales.totals', 1);": (
                "ALTER VIEW prod.sales.totals AS SELECT customer_id AS customer, max(amount) AS total "
                "FROM prod.sales.orders GROUP BY customer_id"
            ),
        },
        omitted={
            "CALL prod.system.register_view('sales.totals', "
            "'s3://bucket/wh/sales/totals/metadata/00003-....gz.metadata.json');": _S3,
        },
    ),
}

# Pages with code that this module does not run, with the tests that run it.
RUN_ELSEWHERE = {
    "catalogs/jdbc.md": "test_page_services.py runs it with PostgreSQL",
    "catalogs/rest.md": "test_page_services.py runs it with a REST server",
    "encryption.md": "test_page_services.py runs it with a key store",
    "python.md": "test_docs.py runs it",
    "spark-checklist.md": "DocumentedCodeSuite and the SQL scenarios run its code",
}
