"""Use branches, tags, write-audit-publish and procedures to check changes before they become visible.

Run it with `python examples/03_branches.py --warehouse DIR`.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession

from pyspark_iceberg import Table, iceberg_session


def main() -> None:
    """Run all examples on a new table of prices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouse", default="warehouse")
    spark = iceberg_session(parser.parse_args().warehouse)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shop")
    spark.sql("DROP TABLE IF EXISTS shop.prices PURGE")
    spark.sql("CREATE TABLE shop.prices (item STRING NOT NULL, price INT, day DATE) USING iceberg PARTITIONED BY (day)")
    spark.sql("ALTER TABLE shop.prices SET IDENTIFIER FIELDS item")
    spark.sql("INSERT INTO shop.prices VALUES ('apple', 3, DATE '2024-01-01'), ('pear', 4, DATE '2024-01-01')")
    table = Table(spark, "shop.prices")
    experiment(spark, table)
    audit(spark, table)
    stage(spark, table)
    undo(table)
    spark.stop()


def experiment(spark: SparkSession, table: Table) -> None:
    """Make changes on a branch, and fast-forward main to the branch."""
    spark.sql("ALTER TABLE shop.prices CREATE TAG `before sale` RETAIN 365 DAYS")
    spark.sql("ALTER TABLE shop.prices CREATE BRANCH sale RETAIN 7 DAYS WITH SNAPSHOT RETENTION 5 SNAPSHOTS")
    spark.sql("INSERT OVERWRITE shop.prices.branch_sale SELECT item, price - 1, day FROM shop.prices")
    spark.sql("INSERT INTO shop.prices.branch_sale VALUES ('plum', 1, DATE '2024-01-02')")
    print(f"on the branch: {prices(table.branch('sale'))}, in the table: {prices(table.to_df())}")
    moved = table.fast_forward("main", "sale")
    print(f"{moved.branch_updated} moved from {moved.previous_ref} to {moved.updated_ref}")
    print(f"now: {prices(table.to_df())}, before: {prices(table.as_of(version='before sale'))}")
    spark.sql("ALTER TABLE shop.prices DROP BRANCH sale")


def audit(spark: SparkSession, table: Table) -> None:
    """Write to an audit branch without changing the job, find a wrong row, and drop the branch."""
    spark.sql("ALTER TABLE shop.prices SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    spark.conf.set("spark.wap.branch", "audit")
    spark.sql("INSERT INTO shop.prices VALUES ('fig', -5, DATE '2024-01-03')")
    wrong = spark.sql("SELECT item FROM shop.prices WHERE price < 0").collect()
    spark.conf.unset("spark.wap.branch")
    print(f"wrong: {[row['item'] for row in wrong]}, so it is not published; others see {prices(table.to_df())}")
    spark.sql("ALTER TABLE shop.prices DROP BRANCH audit")


def stage(spark: SparkSession, table: Table) -> None:
    """Stage the rows of one job under an id, and publish them after another commit."""
    spark.conf.set("spark.wap.id", "load-17")
    spark.sql("INSERT INTO shop.prices VALUES ('fig', 5, DATE '2024-01-03')")
    spark.conf.unset("spark.wap.id")
    spark.sql("INSERT INTO shop.prices VALUES ('kiwi', 2, DATE '2024-01-04')")
    print(f"staged: {prices(table.to_df())}")
    table.publish_changes("load-17")
    print(f"published: {prices(table.to_df())}")


def undo(table: Table) -> None:
    """Roll the table back to the tag."""
    tag = next(ref.snapshot_id for ref in table.refs() if ref.name == "before sale")
    back = table.rollback_to_snapshot(tag)
    print(f"back at the tag ({back.current_snapshot_id}): {prices(table.to_df())}")
    print(f"ancestors: {len(table.ancestors_of())} now, {len(table.ancestors_of(back.previous_snapshot_id))} before")


def prices(frame: DataFrame) -> dict[str, int]:
    """Return the prices by item."""
    return {row["item"]: row["price"] for row in frame.orderBy("item").collect()}


if __name__ == "__main__":
    main()
