package iceberglite.spec

import iceberglite.spec.TableProperty.{oneOf, optional, property, size}

/** The table properties of DELETE, UPDATE and MERGE. */
object RowLevelProperty {

  /** Those of one command. */
  final class OfCommand private[RowLevelProperty] (command: String) {
    val Mode: TableProperty[RowLevelMode] = property(
      s"write.$command.mode",
      RowLevelMode.CopyOnWrite.name,
      s"It must be one of ${RowLevelMode.all.mkString(", ")}",
      s"Whether a ${command.toUpperCase} writes files with changed rows anew, or marks the rows in delete files",
      text => RowLevelMode.all.find(_.name.equalsIgnoreCase(text.trim))
    )
    val Isolation: TableProperty[String] = oneOf(
      s"write.$command.isolation-level",
      "serializable",
      s"What concurrent commits may not have done to the rows of a ${command.toUpperCase}",
      "serializable",
      "snapshot"
    )
    val Distribution: TableProperty[Option[DistributionMode]] = optional(
      s"write.$command.distribution-mode",
      s"It must be one of ${DistributionMode.all.mkString(", ")}",
      s"How the rows of a ${command.toUpperCase} are spread over tasks before they are written",
      DistributionMode.parse
    )

    private[RowLevelProperty] def all: Seq[TableProperty[_]] = Seq(Mode, Isolation, Distribution)
  }

  val Delete = new OfCommand("delete")
  val Update = new OfCommand("update")
  val Merge = new OfCommand("merge")

  val Granularity: TableProperty[DeleteGranularity] = property(
    "write.delete.granularity",
    DeleteGranularity.OfFile.name,
    s"It must be one of ${DeleteGranularity.all.mkString(", ")}",
    "Of how many data files a position delete file speaks; deletion vectors of version 3 are always of one",
    text => DeleteGranularity.all.find(_.name.equalsIgnoreCase(text.trim))
  )
  val DeleteFormat: TableProperty[Option[FileFormat]] = optional(
    "write.delete.format.default",
    "It must be parquet, orc or avro",
    "Format of position delete files; that of data files by default",
    text => FileFormat.parse(text).filter(_ != FileFormat.Puffin)
  )
  val DeleteTargetSize: TableProperty[Long] =
    size("write.delete.target-file-size-bytes", 64L << 20, "Size at which a position delete file is finished")

  /** Of the position delete files of a table. @throws IcebergError.InvalidArgument for a property that cannot be */
  def deleteFormat(properties: Map[String, String]): FileFormat =
    TableProperty.of(DeleteFormat, properties).getOrElse(TableProperty.of(TableProperty.WriteFormat, properties))

  /** In the order of the documentation. */
  private[spec] def all: Seq[TableProperty[_]] =
    Delete.all ++ Update.all ++ Merge.all ++ Seq(Granularity, DeleteFormat, DeleteTargetSize)
}
