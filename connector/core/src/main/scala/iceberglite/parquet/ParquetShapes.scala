package iceberglite.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.schema.LogicalTypeAnnotation.{
  ListLogicalTypeAnnotation,
  MapKeyValueTypeAnnotation,
  MapLogicalTypeAnnotation
}
import org.apache.parquet.schema.Type.Repetition.REPEATED
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}

/** The layouts of nested types in Parquet (parquet-format, LogicalTypes: "Nested Types"). */
object ParquetShapes {

  /** The layout of a Parquet group: struct, list or map. */
  sealed trait Shape
  case object Struct extends Shape

  /** A list. @param twoLevel whether the repeated field is itself the element, as in files of old writers */
  final case class ListShape(repeated: ParquetType, twoLevel: Boolean) extends Shape {
    def element: ParquetType = if (twoLevel) repeated else repeated.asGroupType.getType(0)
  }
  final case class MapShape(keyValue: GroupType) extends Shape

  /**
   * Returns the shape of a group; absent if the group is neither a struct nor a valid list or map, for example if it is
   * a list without a repeated field.
   */
  def shapeOf(group: GroupType): Option[Shape] = Option(group.getLogicalTypeAnnotation) match {
    case None => Some(Struct)
    case Some(_: ListLogicalTypeAnnotation) =>
      onlyRepeated(group).map(r => ListShape(r, isElement(r, group.getName)))
    case Some(_: MapLogicalTypeAnnotation | _: MapKeyValueTypeAnnotation) =>
      onlyRepeated(group).collect { case keyValue: GroupType if keyValue.getFieldCount == 2 => MapShape(keyValue) }
    case Some(_) => None
  }

  def childrenOf(group: GroupType): Vector[ParquetType] = group.getFields.asScala.toVector

  def withChildren(group: GroupType, children: Vector[ParquetType]): GroupType = group.withNewFields(children.asJava)

  def withChildren(file: MessageType, children: Vector[ParquetType]): MessageType =
    new MessageType(file.getName, children.asJava)

  def idOf(t: ParquetType): Option[Int] = Option(t.getId).map(_.intValue)

  /** Returns whether any field at any depth has an id. */
  def hasIds(file: MessageType): Boolean = childrenOf(file).exists(nodeHasIds)

  private def nodeHasIds(t: ParquetType): Boolean = idOf(t).isDefined || (t match {
    case group: GroupType => childrenOf(group).exists(nodeHasIds)
    case _ => false
  })

  private def onlyRepeated(group: GroupType): Option[ParquetType] =
    if (group.getFieldCount == 1 && group.getType(0).isRepetition(REPEATED)) Some(group.getType(0)) else None

  /**
   * Returns whether the repeated field is the element of a two-level list, according to Parquet's
   * backward-compatibility rules. Spark's reader must give the same result, because the connector reads some files with
   * Spark's reader and some with this one.
   */
  private def isElement(repeated: ParquetType, listName: String): Boolean = repeated match {
    case _: ParquetPrimitive => true
    case group: GroupType =>
      group.getFieldCount > 1 || group.getName == "array" || group.getName == s"${listName}_tuple"
  }
}
