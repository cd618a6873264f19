"""Keep a second table equal to a table of orders, with other partitions, from the stream of the orders' changes.

Meanwhile, both tables are compacted, and their snapshots expire. At the end, the tables are compared row by row.

Run it with `python examples/04_continuous_feed.py --warehouse DIR`.
"""

from __future__ import annotations

import argparse
import random
import threading
from contextlib import suppress
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql.functions import col, row_number
from pyspark.sql.streaming.query import StreamingQuery

from pyspark_iceberg import CommitConflictError, Table, iceberg_session

COLUMNS = "order_id BIGINT, customer INT, amount INT, day DATE"


def main() -> None:
    """Run the feed while orders change and the tables are maintained, and compare the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouse", default="warehouse")
    parser.add_argument("--changes", type=int, default=12, help="number of commits that change the orders")
    options = parser.parse_args()
    spark = iceberg_session(options.warehouse)
    spark.conf.set("spark.sql.shuffle.partitions", "4")  # the tables are small
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shop")
    for name, partitioning in (("orders", "day"), ("customers_orders", "bucket(4, customer)")):
        spark.sql(f"DROP TABLE IF EXISTS shop.{name} PURGE")
        spark.sql(f"CREATE TABLE shop.{name} ({COLUMNS}) USING iceberg PARTITIONED BY ({partitioning})")
    # A thread without an active session needs names with the catalog.
    orders, target = Table(spark, "lite.shop.orders"), Table(spark, "lite.shop.customers_orders")
    query = start_feed(orders, target, str(Path(options.warehouse).absolute() / "checkpoints" / "orders"))
    done = threading.Event()
    maintenance = threading.Thread(target=maintain, args=([orders, target], done))
    maintenance.start()
    try:
        for number in range(options.changes):
            change(spark, number)
        query.processAllAvailable()
    finally:
        done.set()
        maintenance.join()
        query.stop()
    report(orders, target)
    spark.stop()


def start_feed(orders: Table, target: Table, checkpoint: str) -> StreamingQuery:
    """Start the query that merges the changes of the orders into the target."""

    def merge(changes: DataFrame, batch: int) -> None:
        # An updated row is deleted and inserted. Its new values are the row with the change type INSERT.
        newest = Window.partitionBy("order_id").orderBy(col("_change_type").desc())
        rows = changes.withColumn("position", row_number().over(newest)).where("position = 1")
        (
            target.merge(rows, on=["order_id"])
            .when_matched_delete(condition="source._change_type = 'DELETE'")
            .when_matched_update_all()
            .when_not_matched_insert_all(condition="source._change_type = 'INSERT'")
            .option("application-id", "orders-feed")
            .option("application-version", batch)
            .execute()
        )

    # The consumer protects the snapshots that the feed has not read from expiration.
    changes = orders.stream(changes=True, net_changes=True, consumer="orders-feed", max_files=20)
    writer = changes.writeStream.foreachBatch(merge).option("checkpointLocation", checkpoint)
    return writer.trigger(processingTime="0 seconds").start()


def change(spark: SparkSession, number: int) -> None:
    """Insert, update and delete orders, in one commit each."""
    seed = random.Random(number)
    first = number * 100
    spark.sql(
        f"INSERT INTO shop.orders SELECT id, id % 17, id % 100, date_add(DATE '2024-01-01', CAST(id % 3 AS INT)) "
        f"FROM range({first}, {first + 100}, 1, 1)"
    )
    spark.sql(f"UPDATE shop.orders SET amount = amount + 1 WHERE order_id % 7 = {seed.randrange(7)}")
    if number % 3 == 2:
        spark.sql(f"DELETE FROM shop.orders WHERE order_id % 11 = {seed.randrange(11)}")


def maintain(tables: list[Table], done: threading.Event) -> None:
    """Compact the tables and expire their snapshots until the changes have ended."""
    runs, rewritten, expired = 0, 0, 0
    while not done.is_set() or runs == 0:
        for table in tables:
            # If a statement has replaced the same files, the next run compacts what is left.
            with suppress(CommitConflictError):
                rewritten += table.rewrite_data_files(options={"min-input-files": "2"}).rewritten_data_files_count
                # Running statements read one of the newest snapshots.
                removed = table.expire_snapshots(older_than="2100-01-01 00:00:00", retain_last=5)
                expired += removed.deleted_manifest_lists_count
        runs += 1
    print(f"maintenance ran {runs} times, rewrote {rewritten} files and expired {expired} snapshots")


def report(orders: Table, target: Table) -> None:
    """Compare the tables row by row, and print the numbers."""
    missing = orders.to_df().exceptAll(target.to_df()).count()
    surplus = target.to_df().exceptAll(orders.to_df()).count()
    print(f"{orders.to_df().count()} orders, {missing} missing in the target, {surplus} surplus in the target")
    for consumer in orders.consumers():
        print(f"consumer {consumer.consumer_id} is {consumer.snapshots_behind} snapshots behind")


if __name__ == "__main__":
    main()
