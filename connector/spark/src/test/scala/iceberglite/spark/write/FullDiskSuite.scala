package iceberglite.spark.write

import java.io.{IOException, OutputStream}
import java.util.concurrent.atomic.AtomicLong

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataOutputStream, LocalFileSystem, Path}
import org.apache.hadoop.util.Progressable
import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.{SharedSession, SparkCatalog}

/** If the storage is full, a write fails with the file, the table and what to do. */
class FullDiskSuite extends AnyFunSuite with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.alone

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

  private def fails(t: String, statement: String, room: FullDisk.Room): Unit = {
    val before = sorted(s"SELECT count(*), sum(id) FROM $t")
    FullDisk.room.set(room)
    val message =
      try messages(intercept[Exception](sql(statement)))
      finally FullDisk.room.set(FullDisk.Enough)
    assert(message.contains("No space left on device") && message.contains(t), statement)
    assert(message.matches("(?s).*Cannot (write|close) file:\\S*/data/\\S+ .*"), s"$statement: $message")
    assert(message.contains("Free space on that storage"), statement)
    assert(sorted(s"SELECT count(*), sum(id) FROM $t") == before, statement)
  }

  for (format <- Seq("parquet", "orc", "avro")) {
    test(s"a full disk is reported for data files in $format") {
      val t = create(s"'write.format.default' = '$format'")
      val statement = s"INSERT INTO $t SELECT id, uuid() FROM range(0, 50000, 1, 1)"
      Seq(FullDisk.NoRoom, FullDisk.After(100000), FullDisk.AtClose).foreach(fails(t, statement, _))
    }

    test(s"a full disk is reported for position delete files in $format") {
      val t = create(s"'write.delete.mode' = 'merge-on-read', 'write.delete.format.default' = '$format'")
      Seq(FullDisk.NoRoom, FullDisk.AtClose).foreach(fails(t, s"DELETE FROM $t WHERE id % 3 = 1", _))
    }
  }

  test("a full disk is reported for copy-on-write files and deletion vectors") {
    val copied = create("'write.update.mode' = 'copy-on-write'")
    fails(copied, s"UPDATE $copied SET s = 'y' WHERE id = 3", FullDisk.AtClose)
    val vectors = create("'write.delete.mode' = 'merge-on-read', 'format-version' = '3'")
    fails(vectors, s"DELETE FROM $vectors WHERE id % 3 = 1", FullDisk.NoRoom)
  }
}

/** The local file system, with limited space for data files. */
class FullDisk extends LocalFileSystem {
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
  sealed trait Room
  case object Enough extends Room
  case object NoRoom extends Room
  final case class After(bytes: Long) extends Room
  case object AtClose extends Room

  val room = new java.util.concurrent.atomic.AtomicReference[Room](Enough)

  private class Stream(file: OutputStream) extends OutputStream {
    private val written = new AtomicLong

    override def write(b: Int): Unit = write(Array(b.toByte), 0, 1)

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
      val total = written.addAndGet(length.toLong)
      room.get match {
        case NoRoom => full()
        case After(bytes) if total > bytes => full()
        case _ => file.write(bytes, offset, length)
      }
    }

    override def flush(): Unit = file.flush()

    override def close(): Unit = {
      file.close()
      if (room.get == AtClose) full()
    }

    private def full(): Nothing = throw new IOException("No space left on device")
  }
}
