package iceberglite.spark.write

import java.io.{IOException, OutputStream}
import java.util.concurrent.atomic.AtomicLong

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataOutputStream, LocalFileSystem, Path}
import org.apache.hadoop.util.Progressable
import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.storage.RawLocalDisk

/** Checks that a write to full storage fails with a message that contains the file, the table and what to do. */
class FullDiskSuite extends AnyFunSuite with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private lazy val catalog: String = {
    val settings = Seq(
      "type" -> "hadoop",
      "warehouse" -> newDirectory().toUri.toString,
      "hadoop.fs.file.impl" -> classOf[FullDisk].getName,
      "hadoop.fs.file.impl.disable.cache" -> "true"
    )
    SharedSession.catalogConf("fulldisk", classOf[SparkCatalog].getName, settings: _*)
      .foreach { case (key, value) => spark.conf.set(key, value) }
    sql("CREATE NAMESPACE fulldisk.db")
    "fulldisk"
  }

  private def create(properties: String): String = {
    val t = s"$catalog.db.t_${SharedSession.counter.incrementAndGet()}"
    sql(s"CREATE TABLE $t (id BIGINT, s STRING) USING iceberg TBLPROPERTIES ($properties)")
    sql(s"INSERT INTO $t SELECT id, 'x' FROM range(0, 1000, 1, 1)")
    t
  }

  private def assertReported(t: String, statement: String, availableSpace: FullDisk.AvailableSpace): Unit = {
    val rowsBefore = sorted(s"SELECT count(*), sum(id) FROM $t")
    FullDisk.availableSpace.set(availableSpace)
    val message =
      try messages(intercept[Exception](sql(statement)))
      finally FullDisk.availableSpace.set(FullDisk.Unlimited)
    assert(message.contains("No space left on device") && message.contains(t), statement)
    assert(message.matches("(?s).*Cannot (write|close) file:\\S*/data/\\S+ .*"), s"$statement: $message")
    assert(message.contains("Free space on that storage"), statement)
    assert(sorted(s"SELECT count(*), sum(id) FROM $t") == rowsBefore, statement)
  }

  for (format <- Seq("parquet", "orc", "avro")) {
    test(s"a full disk is reported for data files in $format", Sampling.slowInSomeRunsUnless(format == "parquet"): _*) {
      val t = create(s"'write.format.default' = '$format'")
      val statement = s"INSERT INTO $t SELECT id, uuid() FROM range(0, 50000, 1, 1)"
      Seq(FullDisk.NoSpace, FullDisk.LimitedTo(100000), FullDisk.FullAtClose).foreach(assertReported(t, statement, _))
    }

    test(
      s"a full disk is reported for position delete files in $format",
      Sampling.slowInSomeRunsUnless(format == "orc"): _*
    ) {
      val t = create(s"'write.delete.mode' = 'merge-on-read', 'write.delete.format.default' = '$format'")
      Seq(FullDisk.NoSpace, FullDisk.FullAtClose).foreach(assertReported(t, s"DELETE FROM $t WHERE id % 3 = 1", _))
    }
  }

  test("a full disk is reported for rewritten data files and deletion vectors", Slow) {
    val copyOnWrite = create("'write.update.mode' = 'copy-on-write'")
    assertReported(copyOnWrite, s"UPDATE $copyOnWrite SET s = 'y' WHERE id = 3", FullDisk.FullAtClose)
    val vectors = create("'write.delete.mode' = 'merge-on-read', 'format-version' = '3'")
    assertReported(vectors, s"DELETE FROM $vectors WHERE id % 3 = 1", FullDisk.NoSpace)
  }
}

/** The local file system with a simulated limit on the space for data files. */
class FullDisk extends LocalFileSystem(new RawLocalDisk) {
  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    val file = super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
    if (path.toString.contains("/data/")) new FSDataOutputStream(new FullDisk.Stream(file), null) else file
  }
}

object FullDisk {
  sealed trait AvailableSpace
  case object Unlimited extends AvailableSpace
  case object NoSpace extends AvailableSpace
  final case class LimitedTo(bytes: Long) extends AvailableSpace
  case object FullAtClose extends AvailableSpace

  val availableSpace = new java.util.concurrent.atomic.AtomicReference[AvailableSpace](Unlimited)

  private class Stream(file: OutputStream) extends OutputStream {
    private val written = new AtomicLong

    override def write(b: Int): Unit = write(Array(b.toByte), 0, 1)

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
      val total = written.addAndGet(length.toLong)
      availableSpace.get match {
        case NoSpace => failFull()
        case LimitedTo(bytes) if total > bytes => failFull()
        case _ => file.write(bytes, offset, length)
      }
    }

    override def flush(): Unit = file.flush()

    override def close(): Unit = {
      file.close()
      if (availableSpace.get == FullAtClose) failFull()
    }

    private def failFull(): Nothing = throw new IOException("No space left on device")
  }
}
