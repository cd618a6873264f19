package iceberglite.spark.stream.source

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.CheckpointFileManager

import iceberglite.spec.IcebergError.StorageFailed

/** A small file in the checkpoint of a query, which is written completely or not at all. */
final private[source] class CheckpointFile(file: Path, conf: Configuration) {
  private lazy val files = CheckpointFileManager.create(file.getParent, conf)

  /** Returns the contents; absent if there is no file. @throws StorageFailed if the file cannot be read */
  def read(): Option[String] = access("read") {
    if (!files.exists(file)) None
    else {
      val in = files.open(file)
      try Some(new String(in.readAllBytes(), UTF_8))
      finally in.close()
    }
  }

  /** @throws StorageFailed if the file cannot be written, or if it exists and `replaces` is false */
  def write(contents: String, replaces: Boolean): Unit = access("write") {
    files.mkdirs(file.getParent)
    val out = files.createAtomic(file, overwriteIfPossible = replaces)
    try {
      out.write(contents.getBytes(UTF_8))
      out.close()
    } catch {
      case e: IOException =>
        out.cancel()
        throw e
    }
  }

  private def access[A](operation: String)(body: => A): A =
    try body
    catch { case e: IOException => throw StorageFailed.at(operation, file.toString, e.toString, Some(e)) }

  override def toString: String = file.toString
}
