package iceberglite.maintenance.importing

import scala.annotation.tailrec

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.FileFormat
import iceberglite.storage.{FileIO, FileInfo}
import iceberglite.tree.MetadataPool

/**
 * Lists the files of an import's source, several directories at a time. Files are omitted if they are empty, if their
 * names begin with `_` or `.`, such as `_SUCCESS`, or if their names end with `._COPYING_`.
 */
final class SourceDirectories(io: FileIO, format: FileFormat) {
  import SourceDirectories._

  /**
   * Lists a directory whose subdirectories have names such as `day=2024-01-01`, to the depth of the partition columns.
   * A directory without such subdirectories is a source without partitions; its other subdirectories are not listed, as
   * in Spark. A path to a single file is also accepted.
   *
   * @param accepts whether a partition with this value of a column is listed
   * @throws InvalidArgument if the path does not exist, if the partition columns differ between directories, or if a
   *   directory contains both partition directories and files
   */
  def below(root: String)(accepts: (String, Option[String]) => Boolean): Vector[SourcePartition] =
    io.info(root) match {
      case None => throw InvalidArgument(Source, root, "There is no such file or directory")
      case Some(file) if !file.isDirectory =>
        Vector(SourcePartition(Vector.empty, format, Vector(file).filter(_.length > 0)))
      case Some(_) =>
        val partitions = descend(Vector(Level(root, Vector.empty)), Vector.empty, accepts)
        val columns = partitions.map(_.values.map(_._1)).distinct
        if (columns.map(_.toSet).distinct.size > 1) throw InvalidArgument(
          Source,
          root,
          s"Its directories have different partition columns: ${columns.take(3).map(_.mkString("/")).mkString(" and ")}"
        )
        partitions
    }

  /**
   * Lists the files directly in a directory.
   *
   * @param ignoresMissing whether a directory that does not exist has no files; otherwise it is an error
   */
  def filesIn(directory: String, ignoresMissing: Boolean): Vector[FileInfo] = {
    val children = io.list(directory)
    if (children.isEmpty && !ignoresMissing && io.info(directory).isEmpty) {
      throw InvalidArgument(
        Source,
        directory,
        "The directory of the source table, or of one of its partitions, does not exist. Drop the partition, or set " +
          "ignore_missing_files to true if the procedure has this argument"
      )
    }
    visibleFiles(children)
  }

  @tailrec
  private def descend(
      level: Vector[Level],
      found: Vector[SourcePartition],
      accepts: (String, Option[String]) => Boolean
  ): Vector[SourcePartition] =
    if (level.isEmpty) found
    else {
      val listed = MetadataPool.map(level)(list(_, accepts))
      descend(listed.flatMap(_._2), found ++ listed.flatMap(_._1), accepts)
    }

  /**
   * Lists a directory. Returns its files if it has no partition directories, and otherwise its accepted partition
   * directories.
   */
  private def list(
      directory: Level,
      accepts: (String, Option[String]) => Boolean
  ): (Option[SourcePartition], Vector[Level]) = {
    val children = io.list(directory.path)
    val nested = children.filter(_.isDirectory).flatMap { child =>
      partitionValue(nameOf(child)).map { case (column, value) => (child.path, column, value) }
    }
    val files = visibleFiles(children)
    if (nested.isEmpty) (Some(SourcePartition(directory.values, format, files)), Vector.empty)
    else {
      files.headOption.foreach { file =>
        throw InvalidArgument(
          Source,
          directory.path,
          s"The directory contains partition directories and also the file ${nameOf(file)}, whose partition is " +
            "unknown. Move the file to a partition directory"
        )
      }
      val accepted = nested.collect {
        case (path, column, value) if accepts(column, value) =>
          Level(path, directory.values :+ (column -> value))
      }
      (None, accepted)
    }
  }

  private def visibleFiles(children: Vector[FileInfo]): Vector[FileInfo] =
    children.filter(f => !f.isDirectory && f.length > 0 && !isHidden(nameOf(f))).sortBy(_.path)
}

object SourceDirectories {

  /** The argument that names the source, for messages. */
  private[importing] val Source = "argument source_table"

  /** A directory and the partition values in its path. */
  final private case class Level(path: String, values: Vector[(String, Option[String])])

  private val Partition = "(?s)([^=]+)=(.*)".r
  private val Escaped = "%([0-9A-Fa-f]{2})".r

  private def nameOf(file: FileInfo): String = file.path.stripSuffix("/").split('/').last

  private def isHidden(name: String): Boolean =
    name.startsWith("_") || name.startsWith(".") || name.endsWith("._COPYING_")

  /** Returns the column and the value in the name of a partition directory. */
  private[importing] def partitionValue(name: String): Option[(String, Option[String])] = name match {
    case Partition(column, value) if !name.startsWith(".") =>
      Some(unescaped(column) -> SourcePartition.valueOf(unescaped(value)))
    case _ => None
  }

  /** Replaces escaped characters, such as `%3A`. Hive and Spark escape characters that paths may not contain. */
  private def unescaped(text: String): String = Escaped.replaceAllIn(
    text,
    found => java.util.regex.Matcher.quoteReplacement(Integer.parseInt(found.group(1), 16).toChar.toString)
  )
}
