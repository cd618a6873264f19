package iceberglite.spark.maintenance

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import iceberglite.catalog.FileIOWrapper
import iceberglite.storage.{FileIO, FileInfo}

/** Records which directories and prefixes are listed, also in the tasks of Spark jobs, which run in the same JVM. */
final private[iceberglite] class CountedListings(inner: FileIO) extends FileIOWrapper(inner) {
  override def list(directory: String): Vector[FileInfo] = {
    CountedListings.listed.add(directory)
    super.list(directory)
  }

  override def listBelow(directory: String): Iterator[FileInfo] = {
    CountedListings.listedBelow.add(directory)
    inner.listBelow(directory)
  }
}

private[iceberglite] object CountedListings {
  private val listed = new ConcurrentLinkedQueue[String]
  private val listedBelow = new ConcurrentLinkedQueue[String]

  def reset(): Unit = Seq(listed, listedBelow).foreach(_.clear())

  /** The directories that were listed alone. */
  def directories: Seq[String] = listed.asScala.toVector

  /** The directories below which all paths were listed. */
  def below: Seq[String] = listedBelow.asScala.toVector
}
