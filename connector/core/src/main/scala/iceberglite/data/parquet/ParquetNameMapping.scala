package iceberglite.data.parquet

import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}

import iceberglite.parquet.ParquetShapes._
import iceberglite.spec.schema.{MappedField, NameMapping}
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/** Assigns field ids to Parquet files that have none (spec: "Column Projection"). */
object ParquetNameMapping {

  /**
   * Returns the schema of the file with field ids. If any field of the file has an id, only the ids in the file are
   * used. If no field has an id, the ids are taken from the table's name mapping. If there is no name mapping either,
   * the first column of the file gets the id 1, the second column the id 2, and so on, as in Apache Iceberg, and nested
   * fields are matched by name.
   *
   * @param expected the columns to read
   */
  def withIds(file: MessageType, mapping: => Option[NameMapping], expected: StructType): MessageType =
    if (hasIds(file)) file
    else mapping match {
      case Some(names) => withChildren(file, mapped(childrenOf(file), names.fields))
      case None =>
        val numbered = childrenOf(file).zipWithIndex.map { case (column, i) =>
          val id = i + 1
          expected.fields.find(_.id == id).fold(column)(f => withIdsByName(column, f.fieldType)).withId(id)
        }
        withChildren(file, numbered)
    }

  private def mapped(children: Vector[ParquetType], mapping: Vector[MappedField]): Vector[ParquetType] =
    children.map(c => mapping.find(_.names.contains(c.getName)).fold(c)(withMapped(c, _)))

  private def withMapped(t: ParquetType, mapping: MappedField): ParquetType = {
    val withNestedIds = t match {
      case group: GroupType => mapParts(group, mapped(_, mapping.fields)) { (part, name) =>
          mapping.fields.find(_.names.contains(name)).fold(part)(withMapped(part, _))
        }
      case primitive: ParquetPrimitive => primitive
    }
    mapping.id.fold(withNestedIds)(withNestedIds.withId)
  }

  /** Returns the node with the ids of the requested fields, matched by name. */
  private def withIdsByName(t: ParquetType, expected: Type): ParquetType = {
    def withField(part: ParquetType, field: NestedField): ParquetType =
      withIdsByName(part, field.fieldType).withId(field.id)
    (t, expected) match {
      case (group: GroupType, struct: StructType) => mapParts(
          group,
          _.map(c => struct.fields.find(_.name == c.getName).fold(c)(withField(c, _)))
        )((part, _) => part)
      case (group: GroupType, list: ListType) =>
        mapParts(group, identity)((part, _) => withField(part, list.elementField))
      case (group: GroupType, map: MapType) => mapParts(group, identity) { (part, name) =>
          withField(part, if (name == "key") map.keyField else map.valueField)
        }
      case _ => t
    }
  }

  /**
   * Applies functions to the parts of a struct, list or map.
   *
   * @param mapFields maps the fields of a struct
   * @param mapPart maps the element of a list, or the key or value of a map. The second argument is `element`, `key`
   *   or `value`, regardless of the name in the file
   */
  private def mapParts(group: GroupType, mapFields: Vector[ParquetType] => Vector[ParquetType])(
      mapPart: (ParquetType, String) => ParquetType
  ): GroupType = shapeOf(group) match {
    case Some(ListShape(repeated, true)) => withChildren(group, Vector(mapPart(repeated, "element")))
    case Some(ListShape(repeated, false)) =>
      val element = mapPart(repeated.asGroupType.getType(0), "element")
      withChildren(group, Vector(withChildren(repeated.asGroupType, Vector(element))))
    case Some(MapShape(keyValue)) =>
      val keyAndValue = Vector(mapPart(keyValue.getType(0), "key"), mapPart(keyValue.getType(1), "value"))
      withChildren(group, Vector(withChildren(keyValue, keyAndValue)))
    case Some(Struct) | None => withChildren(group, mapFields(childrenOf(group)))
  }
}
