package iceberglite

import java.io.IOException
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{FileVisitResult, Files, NoSuchFileException, Path, SimpleFileVisitor}

import iceberglite.table.Environment

/**
 * Lists the files below a directory, after the clean-up of earlier commits of this process. Other threads may
 * concurrently create and delete files, for example version hints.
 */
object FilesBelow {

  /** Returns all files; empty if the directory does not exist. */
  def of(directory: Path): Set[Path] = allPaths(directory).filter(Files.isRegularFile(_))

  /**
   * Returns all files except version hints and their temporary and checksum files, because a hint is written
   * asynchronously shortly after its commit.
   */
  def withoutHints(directory: Path): Set[Path] =
    of(directory).filterNot(_.getFileName.toString.contains("version-hint.text"))

  /** Returns all files and directories below the directory, without the directory itself. */
  def allPaths(directory: Path): Set[Path] = {
    Environment.system.cleanup.await()
    val found = Set.newBuilder[Path]
    Files.walkFileTree(
      directory,
      new SimpleFileVisitor[Path] {
        override def visitFile(file: Path, attributes: BasicFileAttributes): FileVisitResult = {
          found += file
          FileVisitResult.CONTINUE
        }
        override def visitFileFailed(file: Path, error: IOException): FileVisitResult = error match {
          case _: NoSuchFileException => FileVisitResult.CONTINUE
          case _ => throw error
        }
        override def postVisitDirectory(d: Path, error: IOException): FileVisitResult = {
          if (d != directory) found += d
          super.postVisitDirectory(d, error)
        }
      }
    )
    found.result()
  }
}
