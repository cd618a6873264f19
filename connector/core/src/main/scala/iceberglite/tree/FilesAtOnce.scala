package iceberglite.tree

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import iceberglite.io.{FileIO, FileSink}

/**
 * The new files of a commit. A storage behind a network gets them at once, as what one holds is known before another is
 * there: it is waited for about once, and not for each file. Where files are near, each is written when it comes.
 *
 * @param directory of the files
 */
final private[tree] class FilesAtOnce(io: FileIO, directory: String) extends FileSink {
  private val isRemote = io.isRemote(directory)
  private val begun = new ConcurrentLinkedQueue[InParallel.Begun]

  override def write(path: String, contents: Array[Byte]): Unit =
    if (isRemote) begun.add(InParallel.begin(io.write(path, contents))) else io.write(path, contents)

  /** Returns when all are there; of several failures, the first is thrown. */
  def await(): Unit = {
    settle()
    begun.asScala.foreach(_.await())
  }

  /** Returns when none is being written any more. */
  def settle(): Unit = begun.asScala.foreach(_.settle())
}
