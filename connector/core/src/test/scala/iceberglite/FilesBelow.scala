package iceberglite

import java.io.IOException
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{FileVisitResult, Files, NoSuchFileException, Path, SimpleFileVisitor}

/** What stands below a directory into which others may still put files, and take them away, such as a late hint. */
object FilesBelow {

  /** All files; none where there is no such directory. */
  def of(directory: Path): Set[Path] = everything(directory).filter(Files.isRegularFile(_))

  /** Without the hints of versions and what becomes of them: they come a moment after their commits. */
  def withoutHints(directory: Path): Set[Path] =
    of(directory).filterNot(_.getFileName.toString.contains("version-hint.text"))

  /** With directories, itself left out. */
  def everything(directory: Path): Set[Path] = {
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
