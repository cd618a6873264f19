package iceberglite.spec.property

import iceberglite.spec.file.FileFormat
import iceberglite.spec.property.TableProperty.{memberOf, optional, property, size}

/** The table properties of DELETE, UPDATE and MERGE. */
object RowLevelProperty {

  /** The table properties of one command. @param command the name of the command in the keys, such as `delete` */
  final class PerCommand private[RowLevelProperty] (command: String) {
    val Mode: TableProperty[RowLevelMode] = property(
      s"write.$command.mode",
      RowLevelMode.CopyOnWrite.name,
      s"It must be one of ${RowLevelMode.all.mkString(", ")}",
      s"How ${command.toUpperCase} changes rows: by rewriting the data files (copy-on-write), or by writing delete " +
        "files (merge-on-read)",
      text => RowLevelMode.all.find(_.name.equalsIgnoreCase(text.trim))
    )
    val Isolation: TableProperty[IsolationLevel] = memberOf(
      s"write.$command.isolation-level",
      IsolationLevel.Serializable,
      s"Isolation level at which ${command.toUpperCase} is validated against concurrent commits",
      IsolationLevel.all
    )
    val Distribution: TableProperty[Option[DistributionMode]] = optional(
      s"write.$command.distribution-mode",
      s"It must be one of ${DistributionMode.all.mkString(", ")}",
      s"Distribution of the rows of ${command.toUpperCase} over tasks before they are written",
      DistributionMode.parse
    )

    private[RowLevelProperty] def all: Seq[TableProperty[_]] = Seq(Mode, Isolation, Distribution)
  }

  val Delete = new PerCommand("delete")
  val Update = new PerCommand("update")
  val Merge = new PerCommand("merge")

  val Granularity: TableProperty[DeleteGranularity] = property(
    "write.delete.granularity",
    DeleteGranularity.OfFile.name,
    s"It must be one of ${DeleteGranularity.all.mkString(", ")}",
    "Whether a position delete file covers one data file or all data files of a partition; a deletion vector " +
      "(version 3) always covers one data file",
    text => DeleteGranularity.all.find(_.name.equalsIgnoreCase(text.trim))
  )
  val DeleteFormat: TableProperty[Option[FileFormat]] = optional(
    "write.delete.format.default",
    "It must be parquet, orc or avro",
    "Format of position delete files; by default the format of data files",
    FileFormat.parseOfRows
  )
  val DeleteTargetSize: TableProperty[Long] =
    size("write.delete.target-file-size-bytes", 64L << 20, "Target size of position delete files")

  /** Returns the format of position delete files. @throws IcebergError.InvalidArgument if a property is invalid */
  def deleteFormat(properties: Map[String, String]): FileFormat =
    TableProperty.of(DeleteFormat, properties).getOrElse(TableProperty.of(TableProperty.WriteFormat, properties))

  /** All properties, in the order of the documentation. */
  private[iceberglite] def all: Seq[TableProperty[_]] =
    Delete.all ++ Update.all ++ Merge.all ++ Seq(Granularity, DeleteFormat, DeleteTargetSize)
}
