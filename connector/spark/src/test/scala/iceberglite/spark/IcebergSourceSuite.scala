package iceberglite.spark

import java.sql.Timestamp

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.analysis.{NoSuchTableException, TableAlreadyExistsException}
import org.apache.spark.sql.{AnalysisException, DataFrame, DataFrameReader, SaveMode}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks reads and writes with the data source `iceberg-lite`, by table names and by paths. */
class IcebergSourceSuite extends AnyFunSuite with SharedSession {

  private def ids(numbers: Int*): DataFrame = {
    val session = spark
    import session.implicits._
    numbers.toDF("id")
  }

  private def save(frame: DataFrame, target: String, mode: SaveMode): Unit =
    frame.write.format("iceberg-lite").mode(mode).save(target)

  private def reader: DataFrameReader = spark.read.format("iceberg-lite")

  private def readIds(frame: DataFrame): Seq[Int] = frame.collect().map(_.getInt(0)).toSeq.sorted

  private def load(target: String): Seq[Int] = readIds(reader.load(target))

  private def snapshots(table: String): Seq[Long] =
    rows(s"SELECT snapshot_id FROM $table.snapshots ORDER BY committed_at").map(_.getLong(0))

  private def firstTime(table: String): Timestamp =
    rows(s"SELECT min(committed_at) FROM $table.snapshots").head.getTimestamp(0)

  test(
    "save creates a table at a path, and for an existing table fails, ignores, appends or overwrites by its mode",
    Slow
  ) {
    val path = newDirectory().resolve("t").toString
    save(ids(1), path, SaveMode.ErrorIfExists)
    assert(load(path) == Seq(1))
    intercept[TableAlreadyExistsException](save(ids(2), path, SaveMode.ErrorIfExists))
    save(ids(2), path, SaveMode.Ignore)
    assert(load(path) == Seq(1))
    save(ids(2), path, SaveMode.Append)
    assert(load(path) == Seq(1, 2))
    save(ids(3), path, SaveMode.Overwrite)
    assert(load(path) == Seq(3))
  }

  test("a path with a scheme and the same path without a scheme select the same table") {
    val directory = newDirectory()
    save(ids(1), directory.resolve("t").toString, SaveMode.ErrorIfExists)
    assert(load(directory.toUri.toString + "t") == Seq(1) && load(directory.resolve("t").toString + "/") == Seq(1))
  }

  test("a table can be created at a path without an iceberg-lite catalog, with the partitioning of the writer", Slow) {
    inSession(SharedSession.withoutExtensions.newSession()) { session =>
      val path = newDirectory().resolve("t").toString
      session.range(4).selectExpr("id", "id % 2 AS p").write.format("iceberg-lite").partitionBy("p").save(path)
      val table = session.read.format("iceberg-lite").load(path)
      assert(table.where("p = 1").count() == 2)
      assert(session.read.format("iceberg-lite").load(s"$path#partitions").count() == 2)
    }
  }

  test("a table name is resolved in the catalog that it starts with, or in the current catalog") {
    val t = newTable()
    save(ids(1), t, SaveMode.ErrorIfExists)
    assert(load(t) == Seq(1))
    save(ids(2), t, SaveMode.Append)
    inSession(spark.newSession()) { session =>
      session.sql(s"USE lite.$ns")
      assert(readIds(session.read.format("iceberg-lite").load(t.split('.').last)) == Seq(1, 2))
      assert(readIds(session.read.format("iceberg-lite").load(s"$ns.${t.split('.').last}")) == Seq(1, 2))
    }
    assert(reader.load(s"$t.files").count() == 2)
  }

  test("errors for an unknown table name, a path without a table, no path and two paths name the cause") {
    val unknownName = intercept[AnalysisException](reader.load("some.table"))
    assert(unknownName.getMessage.contains("some.table"))
    assert(unknownName.getMessage.contains(classOf[SparkCatalog].getName))
    val missingTable = intercept[NoSuchTableException](reader.load("/no/table/here"))
    assert(missingTable.getMessage.contains("/no/table/here"))
    val noPath = intercept[AnalysisException](reader.load())
    assert(noPath.getMessage.contains("one path (with a slash) or the name of one table"))
    val twoPaths = intercept[AnalysisException](reader.load("/a/b", "/c/d"))
    assert(twoPaths.getMessage.contains("/c/d"))
  }

  test("options select the snapshot, branch or tag to read", Slow) {
    val t = newTable()
    save(ids(1), t, SaveMode.ErrorIfExists)
    // Time travel selects the last snapshot at or before a timestamp, so the two snapshots need different timestamps.
    val between = firstTime(t)
    while (System.currentTimeMillis <= between.getTime) Thread.onSpinWait()
    save(ids(2), t, SaveMode.Append)
    val Seq(first, second) = snapshots(t)
    sql(s"ALTER TABLE ${inApacheIceberg(t)} CREATE TAG one AS OF VERSION $first")
    sql(s"ALTER TABLE ${inApacheIceberg(t)} CREATE BRANCH work AS OF VERSION $first")
    sql(s"REFRESH TABLE $t")
    def read(key: String, value: Any): Seq[Int] = readIds(reader.option(key, value.toString).load(t))
    Seq(
      "snapshot-id" -> first,
      "as-of-timestamp" -> between.getTime,
      "versionAsOf" -> first,
      "versionAsOf" -> "one",
      "timestampAsOf" -> between,
      "tag" -> "one",
      "branch" -> "work"
    ).foreach { case (key, value) =>
      withConf("spark.sql.session.timeZone" -> java.time.ZoneId.systemDefault.getId) {
        assert(read(key, value) == Seq(1), key)
      }
    }
    assert(read("snapshot-id", second) == Seq(1, 2) && read("branch", "main") == Seq(1, 2))
    assert(readIds(spark.read.option("snapshot-id", first.toString).table(t)) == Seq(1))
    assert(load(s"$t.tag_one") == Seq(1) && load(s"$t.branch_work") == Seq(1))
    assert(readIds(sql(s"SELECT * FROM $t VERSION AS OF 'one'")) == Seq(1))
  }

  test("at most one option can select a snapshot, branch, tag or time, and its value must be valid") {
    val t = newTable()
    save(ids(1), t, SaveMode.ErrorIfExists)
    def error(options: (String, String)*): String =
      intercept[AnalysisException](reader.options(options.toMap).load(t).collect()).getMessage
    assert(error("snapshot-id" -> "1", "tag" -> "x").contains("snapshot-id=1, tag=x"))
    assert(error("snapshot-id" -> "one").contains("option snapshot-id: one. It must be a whole number"))
    assert(error("snapshot-id" -> "9".repeat(20)).contains(s"from ${Long.MinValue} to ${Long.MaxValue}"))
    assert(error("batch-size" -> Int.MaxValue.toString).contains("It must be 1 to 1048576"))
    assert(error("timestampAsOf" -> "yesterday").contains("timestampAsOf: yesterday"))
    assert(error("snapshot-id" -> "7").contains("Snapshot not found: 7"))
    assert(error("tag" -> "x").contains("Tag not found: x"))
    assert(error("branch" -> "x").contains("Branch not found: x"))
  }

  test("a snapshot is read with the schema of its commit, and a branch with the current schema of the table") {
    val t = newTable()
    save(ids(1), t, SaveMode.ErrorIfExists)
    val Seq(first) = snapshots(t)
    sql(s"ALTER TABLE ${inApacheIceberg(t)} CREATE BRANCH work")
    sql(s"REFRESH TABLE $t")
    sql(s"ALTER TABLE $t RENAME COLUMN id TO renamed")
    assert(reader.option("snapshot-id", first.toString).load(t).columns.toSeq == Seq("id"))
    assert(reader.option("branch", "work").load(t).columns.toSeq == Seq("renamed"))
    assert(readIds(reader.option("branch", "work").load(t)) == Seq(1))
  }

  test("the parts of a path after # select a snapshot and a metadata table") {
    val path = newDirectory().resolve("t").toString
    save(ids(1), path, SaveMode.ErrorIfExists)
    save(ids(2), path, SaveMode.Append)
    val first = reader.load(s"$path#snapshots").orderBy("committed_at").head().getLong(1)
    assert(load(s"$path#snapshot_id_$first") == Seq(1))
    assert(reader.load(s"$path#snapshot_id_$first,files").count() == 1)
    assert(reader.load(s"$path#files").count() == 2)
  }

  test("a write to a snapshot or tag of a table is rejected") {
    val t = newTable()
    save(ids(1), t, SaveMode.ErrorIfExists)
    val e = intercept[AnalysisException](save(ids(2), s"$t.snapshot_id_${snapshots(t).head}", SaveMode.Append))
    assert(e.getMessage.contains("Only the table itself and its branches can be changed"))
  }

  test("rows written to a branch are visible in the branch, and not in the table") {
    val t = newTable()
    save(ids(1), t, SaveMode.ErrorIfExists)
    sql(s"ALTER TABLE ${inApacheIceberg(t)} CREATE BRANCH work")
    sql(s"REFRESH TABLE $t")
    sql(s"INSERT INTO $t.branch_work VALUES (2)")
    ids(3).write.format("iceberg-lite").option("branch", "work").mode(SaveMode.Append).save(t)
    ids(4).writeTo(t).option("branch", "work").append()
    assert(load(t) == Seq(1) && load(s"$t.branch_work") == Seq(1, 2, 3, 4))
    assert(readIds(sql(s"SELECT * FROM ${inApacheIceberg(t)} VERSION AS OF 'work'")) == Seq(1, 2, 3, 4))
    val e = intercept[AnalysisException](ids(5).writeTo(s"$t.branch_work").option("branch", "main").append())
    assert(e.getMessage.contains("remove one of the two"))
  }

  test("saveAsTable, insertInto and writeTo write to the same tables") {
    val t = newTable()
    ids(1).write.format("iceberg-lite").saveAsTable(t)
    ids(2).write.insertInto(t)
    ids(3).writeTo(t).append()
    assert(load(t) == Seq(1, 2, 3))
    ids(4).writeTo(t).using("iceberg").createOrReplace()
    ids(5).write.format("iceberg-lite").mode(SaveMode.Append).saveAsTable(t)
    assert(load(t) == Seq(4, 5))
    ids(6).write.format("iceberg-lite").mode(SaveMode.Overwrite).saveAsTable(t)
    assert(load(t) == Seq(6))
  }

  test("the source name iceberg selects iceberg-lite if Apache Iceberg is not on the class path") {
    val path = newDirectory().resolve("t").toString
    save(ids(1), path, SaveMode.ErrorIfExists)
    val loader = Thread.currentThread.getContextClassLoader
    Thread.currentThread.setContextClassLoader(new ClassLoaderWithoutPeer(loader))
    try assert(readIds(spark.read.format("iceberg").load(path)) == Seq(1))
    finally Thread.currentThread.setContextClassLoader(loader)
  }

  /** A class loader that hides the data sources that the jar of Apache Iceberg registers. */
  private class ClassLoaderWithoutPeer(parent: ClassLoader) extends ClassLoader(parent) {
    override def getResources(name: String): java.util.Enumeration[java.net.URL] = {
      val all = super.getResources(name).asScala
      (if (name.endsWith("DataSourceRegister")) all.filterNot(_.toString.contains("iceberg-spark-runtime")) else all)
        .asJavaEnumeration
    }
  }
}
