package iceberglite.spark.read.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.schema.LogicalTypeAnnotation.{
  ListLogicalTypeAnnotation,
  MapKeyValueTypeAnnotation,
  MapLogicalTypeAnnotation
}
import org.apache.parquet.schema.Type.Repetition.REPEATED
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}

import iceberglite.spec.{MappedField, NameMapping}

/** How Parquet nests (parquet-format, LogicalTypes: "Nested Types"), and where the field ids of a file come from. */
private[read] object FileSchema {

  /** A list's group, by how its elements are stored. */
  sealed trait Shape
  case object Struct extends Shape

  /** @param twoLevel whether the repeated field itself is the element, as old writers had it */
  final case class ListShape(repeated: ParquetType, twoLevel: Boolean) extends Shape {
    def element: ParquetType = if (twoLevel) repeated else repeated.asGroupType.getType(0)
  }
  final case class MapShape(keyValue: GroupType) extends Shape

  /** @return absent for a group that is none of the three, such as a list without its repeated field */
  def shapeOf(group: GroupType): Option[Shape] = group.getLogicalTypeAnnotation match {
    case null => Some(Struct)
    case _: ListLogicalTypeAnnotation => onlyRepeated(group).map(r => ListShape(r, isElement(r, group.getName)))
    case _: MapLogicalTypeAnnotation | _: MapKeyValueTypeAnnotation =>
      onlyRepeated(group).collect { case keyValue: GroupType if keyValue.getFieldCount == 2 => MapShape(keyValue) }
    case _ => None
  }

  def childrenOf(group: GroupType): Vector[ParquetType] = group.getFields.asScala.toVector

  def withChildren(group: GroupType, children: Vector[ParquetType]): GroupType = group.withNewFields(children.asJava)

  def idOf(t: ParquetType): Option[Int] = Option(t.getId).map(_.intValue)

  /**
   * The schema with a field id wherever there is one for a field: the file's own or, in a file that holds none at all,
   * those of the table's name mapping (spec: "Column Projection").
   */
  def withIds(file: MessageType, mapping: => Option[NameMapping]): MessageType =
    if (childrenOf(file).exists(hasIds)) file
    else mapping.fold(file)(m => new MessageType(file.getName, mapped(childrenOf(file), m.fields).asJava))

  private def hasIds(t: ParquetType): Boolean = t.getId != null || (t match {
    case group: GroupType => childrenOf(group).exists(hasIds)
    case _ => false
  })

  private def mapped(children: Vector[ParquetType], mapping: Vector[MappedField]): Vector[ParquetType] =
    children.map(c => mapping.find(_.names.contains(c.getName)).fold(c)(withId(c, _)))

  private def withId(t: ParquetType, mapping: MappedField): ParquetType = {
    val inside = t match {
      case group: GroupType => inGroup(group, mapping)
      case primitive: ParquetPrimitive => primitive
    }
    mapping.id.fold(inside)(inside.withId)
  }

  /** The mapping speaks of `element`, `key` and `value`, whatever the file calls them. */
  private def inGroup(group: GroupType, mapping: MappedField): GroupType = {
    def part(t: ParquetType, name: String): ParquetType =
      mapping.fields.find(_.names.contains(name)).fold(t)(withId(t, _))
    shapeOf(group) match {
      case Some(ListShape(repeated, true)) => withChildren(group, Vector(part(repeated, "element")))
      case Some(ListShape(repeated, false)) =>
        val element = part(repeated.asGroupType.getType(0), "element")
        withChildren(group, Vector(withChildren(repeated.asGroupType, Vector(element))))
      case Some(MapShape(keyValue)) =>
        val parts = Vector(part(keyValue.getType(0), "key"), part(keyValue.getType(1), "value"))
        withChildren(group, Vector(withChildren(keyValue, parts)))
      case Some(Struct) | None => withChildren(group, mapped(childrenOf(group), mapping.fields))
    }
  }

  private def onlyRepeated(group: GroupType): Option[ParquetType] =
    if (group.getFieldCount == 1 && group.getType(0).isRepetition(REPEATED)) Some(group.getType(0)) else None

  /** The rules for lists of two levels; Spark's reader has the same, and must come to the same result. */
  private def isElement(repeated: ParquetType, listName: String): Boolean = repeated match {
    case _: ParquetPrimitive => true
    case group: GroupType =>
      group.getFieldCount > 1 || group.getName == "array" || group.getName == s"${listName}_tuple"
  }
}
