package iceberglite.spark.read.planning

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FSDataInputStream, Path}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.storage.RenamingFileSystem

/** Tests how often a query reads the manifests of its table. */
class PlannedOnceSuite extends AnyFunSuite with SharedSession {

  /** Runs a query, and returns how often it opened each manifest. */
  private def opened(query: String): Seq[Int] = {
    OpenedFiles.names.clear()
    assert(rows(query).nonEmpty)
    OpenedFiles.names.asScala.toSeq.filter(_.matches(".*-m\\d+\\.avro")).groupBy(identity).values.map(_.size).toSeq
  }

  test("a query without a manifest cache plans its files once: it opens each manifest once for each scan") {
    val settings = SharedSession.catalogConf(
      "opened",
      classOf[SparkCatalog].getName,
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:${newDirectory("opened")}/catalog.db",
      "warehouse" -> s"opened://wh${newDirectory("opened")}",
      "hadoop.fs.opened.impl" -> classOf[OpenedFiles].getName,
      "io.manifest.cache-enabled" -> "false"
    )
    withConf(settings.toSeq: _*) {
      sql("CREATE NAMESPACE opened.db")
      val t = "opened.db.t"
      sql(s"CREATE TABLE $t (id BIGINT, p BIGINT) USING iceberg PARTITIONED BY (p)")
      for (i <- 1 to 2) sql(s"INSERT INTO $t SELECT id, id % 2 FROM range(${i * 10}, ${i * 10 + 10}, 1, 1)")
      assert(opened(s"SELECT p, count(DISTINCT id) FROM $t WHERE id > 3 GROUP BY p") == Seq(1, 1))
      assert(opened(s"SELECT id FROM $t WHERE p = 1 ORDER BY id LIMIT 3") == Seq(1, 1))
      assert(opened(s"SELECT count(*) FROM $t a JOIN $t b ON a.id = b.id WHERE a.p = 1") == Seq(2, 2))
    }
  }
}

/** A file system that records the names of the files that are opened. */
class OpenedFiles extends RenamingFileSystem {
  override def getScheme: String = getUri.getScheme

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    OpenedFiles.names.add(path.getName)
    super.open(path, bufferSize)
  }
}

object OpenedFiles {
  val names = new ConcurrentLinkedQueue[String]
}
