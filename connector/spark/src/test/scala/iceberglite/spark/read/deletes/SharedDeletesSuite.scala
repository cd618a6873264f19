package iceberglite.spark.read.deletes

import java.nio.file.{Files, Paths}
import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FSDataInputStream, LocalFileSystem, Path}
import org.apache.iceberg.FileFormat
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.scan.deletes.DeleteCache
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.storage.RawLocalDisk

/** Checks how often the tasks on one executor read the delete files that they share, and which rows they return. */
class SharedDeletesSuite extends AnyFunSuite with SharedSession {
  private val Cache = "spark.sql.iceberg.executor-cache"

  /** The name of a catalog with the same tables as `lite`, on a file system that counts how often files are opened. */
  private val Counted = "countedfiles"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val hadoop =
      Seq("hadoop.fs.file.impl" -> classOf[OpenCounts].getName, "hadoop.fs.file.impl.disable.cache" -> "true")
    val settings = Seq("type" -> "hadoop", "warehouse" -> SharedSession.warehouse.toUri.toString) ++ hadoop
    SharedSession.catalogConf(Counted, classOf[SparkCatalog].getName, settings: _*).foreach { case (key, value) =>
      spark.conf.set(key, value)
    }
  }

  /** Creates a table with one file per commit and at most one file per task. */
  private def create(version: Int, files: Int): String = {
    val table = newTable()
    sql(
      s"""CREATE TABLE ${inApacheIceberg(
          table
        )} (id bigint, name string) USING iceberg TBLPROPERTIES ('format-version' = '$version',
         |  'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition',
         |  'read.split.open-file-cost' = '100000000')""".stripMargin
    )
    (0 until files).foreach { i =>
      sql(
        s"INSERT INTO ${inApacheIceberg(table)} SELECT id, concat('n', id) FROM range(${i * 100}, " +
          s"${i * 100 + 100}, 1, 1)"
      )
    }
    table
  }

  private def inCountedCatalog(table: String): String = Counted + table.stripPrefix("lite")

  private def deleteFiles(table: String): Seq[String] =
    rows(s"SELECT DISTINCT file_path FROM ${inApacheIceberg(table)}.delete_files").map(_.getString(0))

  /** Returns the rows of the table, and how often the tasks read each of its delete files. */
  private def read(table: String, filter: String = "true"): (Seq[String], Seq[Int]) = {
    sql(s"REFRESH TABLE ${inCountedCatalog(table)}")
    OpenCounts.clear()
    val result = sorted(s"SELECT * FROM ${inCountedCatalog(table)} WHERE $filter")
    (result, deleteFiles(table).map(path => OpenCounts.of(path) / expectedOpens(path)))
  }

  /** Returns how often a file is opened to read it once. A Parquet file is opened for the footer and for the rows. */
  private def expectedOpens(path: String): Int = if (path.endsWith(".parquet")) 2 else 1

  private def expected(table: String): Seq[String] = sorted(s"SELECT * FROM ${inApacheIceberg(table)}")

  test("a position delete file is read once for all data files and queries", Slow) {
    val table = create(version = 2, files = 5)
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 9 = 2")
    assert(deleteFiles(table).size == 1)
    assert(read(table, "id < 100")._2 == Seq(1), "one task must read the delete file once")
    assert(read(table) == ((expected(table), Seq(0))), "five tasks must use the cached deletes")
    withConf(s"$Cache.enabled" -> "false")(assert(read(table) == ((expected(table), Seq(5)))))
    withConf(s"$Cache.max-total-size" -> "1")(assert(read(table)._1 == expected(table)))
    withConf(s"$Cache.max-entry-size" -> "1") {
      assert(read(table)._1 == expected(table), "each task must use the deletes of its own file")
    }
  }

  test("equality delete files are read once, and deletes of several commits apply together", Slow) {
    val table = create(version = 2, files = 3)
    val deletes = new PeerEqualityDeletes(spark, inApacheIceberg(table))
    deletes.commit(Seq("id"))(Seq(5L), Seq(105L), Seq(250L))
    deletes.commit(Seq("id"), FileFormat.AVRO)((0L until 40L).map(i => Seq(i * 7)): _*)
    deletes.commit(Seq("name", "id"))(Seq("n11", 11L), Seq("n12", 13L), Seq(null, 14L))
    val (result, opened) = read(table)
    assert(result == expected(table) && opened.forall(_ == 1), opened)
    assert(read(table)._2.forall(_ == 0))
  }

  test("equality deletes that exceed the cache's max-entry-size remove the same rows", Slow) {
    val table = create(version = 2, files = 3)
    val deletes = new PeerEqualityDeletes(spark, inApacheIceberg(table))
    deletes.commit(Seq("id"))((0L until 200L).filter(_ % 3 != 1).map(i => Seq(i)): _*)
    deletes.commit(Seq("name"))((200L until 290L).map(i => Seq(s"n$i")) :+ Seq(null): _*)
    deletes.commit(Seq("name", "id"))(Seq("n291", 291L), Seq("n292", 0L))
    withConf(s"$Cache.max-entry-size" -> "100") {
      val (result, _) = read(table)
      assert(result == expected(table) && result.size == 67 + 9)
      withConf("spark.sql.iceberg.vectorization.enabled" -> "false")(assert(read(table)._1 == expected(table)))
    }
  }

  test("deletion vectors are read once, even if a file is read in several splits") {
    val table = create(version = 3, files = 1)
    sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT id, repeat(uuid(), 20) FROM range(1000, 9000, 1, 1)")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 7 = 3")
    assert(read(table) == ((expected(table), Seq(2))), "two deletion vectors must be read from one Puffin file")
    assert(read(table)._2 == Seq(0))
  }

  test("the error of a query contains the damaged delete file, and the next query reads the file again", Slow) {
    val table = create(version = 2, files = 4)
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 9 = 2")
    val file = Paths.get(java.net.URI.create(deleteFiles(table).head.replaceFirst("^file:/+", "file:///")))
    val content = Files.readAllBytes(file)
    val checksum = file.resolveSibling(s".${file.getFileName}.crc")
    Files.deleteIfExists(checksum)
    Files.write(file, content.take(content.length / 2))
    (0 until 2).foreach { _ =>
      val e = intercept[Exception](read(table))
      assert(e.getMessage.contains(file.getFileName.toString), e.getMessage)
      assert(
        e.getMessage.contains("Cannot read delete file of table ") && e.getMessage.contains("Restore the file"),
        e.getMessage
      )
    }
    Files.write(file, content)
    assert(read(table)._1 == expected(table))
  }

  test("the cache respects the size limit of the session", Slow) {
    val tables = (0 until 3).map { _ =>
      val table = create(version = 2, files = 1)
      sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT id, 'x' FROM range(1000, 6000, 1, 1)")
      sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 2 = 0")
      table
    }
    withConf(s"$Cache.max-total-size" -> "2000", s"$Cache.timeout" -> "1h") {
      tables.foreach { table =>
        assert(read(table)._1 == expected(table))
        assert(DeleteCache.shared.bytes <= 2000)
      }
    }
    val e = intercept[Exception](withConf(s"$Cache.timeout" -> "soon")(rows(s"SELECT * FROM ${tables.head}")))
    assert(e.getMessage.contains(s"$Cache.timeout") && e.getMessage.contains("soon"))
  }
}

/** A local file system that counts how often each file is opened. */
class OpenCounts extends LocalFileSystem(new RawLocalDisk) {
  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    OpenCounts.add(path)
    super.open(path, bufferSize)
  }
}

object OpenCounts {
  private val counts = new ConcurrentHashMap[String, Int]

  def clear(): Unit = counts.clear()

  def add(path: Path): Unit = {
    counts.merge(path.getName, 1, (a: Int, b: Int) => a + b)
    ()
  }

  /** Returns how often the file was opened since the counts were cleared. */
  def of(path: String): Int = counts.asScala.getOrElse(path.split('/').last, 0)
}
