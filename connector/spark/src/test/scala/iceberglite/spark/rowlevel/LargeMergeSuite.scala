package iceberglite.spark.rowlevel

import java.nio.file.{Files, Paths}

import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.{SharedSession, SparkCatalog, SparkSessionExtensions}

/**
 * A program that deletes millions of rows by a MERGE that writes deletion vectors. It prints the number of rows that
 * remain and the number of rows that the deletion vectors delete.
 */
object LargeMerge {

  /** @param args a warehouse, a directory for the files of Spark, and a file with the number of rows */
  def main(args: Array[String]): Unit = {
    val Array(warehouse, scratch, file) = args
    val rows = Files.readString(Paths.get(file)).trim.toLong
    val spark = session(warehouse, scratch)
    spark.sql("CREATE NAMESPACE lite.db")
    spark.sql("CREATE TABLE lite.db.t (id BIGINT) USING iceberg TBLPROPERTIES " +
      "('format-version' = '3', 'write.merge.mode' = 'merge-on-read')")
    spark.range(0, rows, 1, 4).writeTo("lite.db.t").append()
    spark.sql(s"MERGE INTO lite.db.t t USING (SELECT id FROM range(0, $rows, 1, 4) WHERE hash(id) % 2 = 0) u " +
      "ON t.id = u.id WHEN MATCHED THEN DELETE")
    val left = spark.sql("SELECT count(*) FROM lite.db.t").head().getLong(0)
    val deleted =
      spark.sql("SELECT sum(record_count) FROM lite.db.t.delete_files WHERE file_format = 'PUFFIN'").head().getLong(0)
    spark.stop()
    println(s"$left $deleted")
  }

  private def session(warehouse: String, scratch: String): SparkSession = {
    val catalog =
      SharedSession.catalogConf("lite", classOf[SparkCatalog].getName, "type" -> "hadoop", "warehouse" -> warehouse)
    val conf = catalog ++ Map(
      "spark.ui.enabled" -> "false",
      "spark.local.dir" -> scratch,
      "spark.sql.shuffle.partitions" -> "2",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      // Otherwise, Spark reserves 300 MiB, and does not start with a smaller heap.
      "spark.testing.reservedMemory" -> (64L << 20).toString,
      "spark.sql.extensions" -> classOf[SparkSessionExtensions].getName
    )
    val builder = conf.foldLeft(SparkSession.builder().master("local[2]")) { case (b, (key, value)) =>
      b.config(key, value)
    }
    val spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark
  }
}

/** Checks the memory that a MERGE needs for the deleted rows, which each task holds until its end. */
class LargeMergeSuite extends AnyFunSuite with SharedSession {

  test("a task holds one bit for each row of a data file with deleted rows, even if the rows arrive in random order") {
    val (files, rowsOfFile) = (20, 100000)
    val deletes = new CollectedPositionDeletes(partitionSize = 0)
    val metadata = new GenericInternalRow(Array[Any](0, null))
    val paths = (0 until files).map(i => UTF8String.fromString(s"file:/t/data/$i.parquet"))
    val random = new Random(1L)
    (0 until files * rowsOfFile).foreach { _ =>
      deletes.add(paths(random.nextInt(files)), random.nextInt(rowsOfFile).toLong, metadata)
    }
    val bytes = deletes.byPath.map(_.positions.heapBytes).sum
    assert(deletes.count > files * rowsOfFile / 2, "most positions must be distinct")
    assert(bytes > files * rowsOfFile / 8 && bytes < files * (rowsOfFile / 8 + 8192), bytes)
  }

  test("a MERGE deletes millions of rows by deletion vectors with a heap of 192 MiB", Slow) {
    val rows = 5000000L
    val warehouse = newDirectory("warehouse").toUri.toString
    val (exit, output) = DriverProcess.run(
      LargeMerge.getClass.getName.stripSuffix("$"),
      warehouse,
      Seq(rows.toString),
      newDirectory("scratch"),
      heap = "192m"
    )
    assert(exit == 0, output)
    val Array(left, deleted) = output.trim.linesIterator.toSeq.last.split(' ').map(_.toLong)
    assert(left + deleted == rows && deleted > rows / 3, output)
  }
}
