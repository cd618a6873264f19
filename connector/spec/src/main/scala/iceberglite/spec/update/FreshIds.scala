package iceberglite.spec.update

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{DefaultValue, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType, canPromote}

/** Assigns the column ids of a table that is created or replaced. */
private[iceberglite] object FreshIds {

  /**
   * Returns the schema with new ids, and the highest assigned field id. If the old table has a column with the same
   * name, and its type can be promoted to the new type, the new column gets the id of the old column. Therefore
   * time travel and rollback treat the two columns as one column.
   */
  def of(schema: Schema, old: Option[TableMetadata]): (Schema, Int) = {
    val assignment = new IdAssignment(old)
    val fresh = Schema(0, assignment.fields(schema.fields, old.fold(Vector.empty[NestedField])(_.schema.fields)))
    val identifiers = schema.identifierFieldIds.map { id =>
      def unknown = InvalidArgument("identifier field", id.toString, "No column has this id")
      val path = schema.paths.getOrElse(id, throw unknown)
      ColumnPath.require(fresh, path, caseSensitive = true).last.id
    }
    (fresh.copy(identifierFieldIds = identifiers), assignment.lastId)
  }

  /** Numbers the fields of one schema, breadth-first within each struct, as in Apache Iceberg. */
  final private class IdAssignment(old: Option[TableMetadata]) {
    private var last: Int = old.fold(0)(_.lastColumnId)

    def lastId: Int = last

    def fields(requested: Vector[NestedField], existing: Vector[NestedField]): Vector[NestedField] = {
      val pairs = requested.map { f =>
        (f, existing.find(e => e.name == f.name && canPromoteTo(e.fieldType, f.fieldType)))
      }
      // Spec, "Default values": an initial default is set only when a column is added to a table with existing rows,
      // and it never changes. Therefore a new column has no initial default here, and an existing column keeps its
      // initial default.
      val numbered = pairs.map { case (f, e) =>
        f.copy(id = existingOrNextId(e), initialDefault = initialDefault(f, e))
      }
      numbered.zip(pairs).map { case (f, (_, e)) =>
        f.copy(fieldType = assignNestedIds(f.fieldType, e.map(_.fieldType)))
      }
    }

    private def initialDefault(requested: NestedField, existing: Option[NestedField]): Option[DefaultValue] =
      existing.flatMap(_.initialDefault).map(DefaultValue.promote(requested.name, _, requested.fieldType))

    private def existingOrNextId(existing: Option[NestedField]): Int = existing.fold(next())(_.id)

    private def next(): Int = {
      last += 1
      last
    }

    private def assignNestedIds(requested: Type, existing: Option[Type]): Type = (requested, existing) match {
      case (StructType(fs), Some(StructType(es))) => StructType(fields(fs, es))
      case (StructType(fs), _) => StructType(fields(fs, Vector.empty))
      case (list: ListType, _) =>
        val element = existing.collect { case e: ListType => e.elementField }
          .filter(e => canPromoteTo(e.fieldType, list.element))
        val elementId = existingOrNextId(element)
        ListType(elementId, assignNestedIds(list.element, element.map(_.fieldType)), list.elementRequired)
      case (map: MapType, _) =>
        val key = existing.collect { case e: MapType => e.keyField }.filter(e => canPromoteTo(e.fieldType, map.key))
        val value = existing.collect { case e: MapType => e.valueField }
          .filter(e => canPromoteTo(e.fieldType, map.value))
        val (keyId, valueId) = (existingOrNextId(key), existingOrNextId(value))
        val keyType = assignNestedIds(map.key, key.map(_.fieldType))
        MapType(keyId, keyType, valueId, assignNestedIds(map.value, value.map(_.fieldType)), map.valueRequired)
      case (primitive: PrimitiveType, _) => primitive
    }

    /**
     * Whether the type `existing` can be promoted to `requested`, or both are nested types of the same kind. The
     * promotions of version 3 are excluded, because the promotion of a date to a timestamp changes partition values.
     */
    private def canPromoteTo(existing: Type, requested: Type): Boolean = (existing, requested) match {
      case (_: StructType, _: StructType) | (_: ListType, _: ListType) | (_: MapType, _: MapType) => true
      case (a: PrimitiveType, b: PrimitiveType) => canPromote(a, b, FormatVersion.V2)
      case _ => false
    }
  }
}
