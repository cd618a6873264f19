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
   * Returns the schema with new ids, and the highest assigned field id. A column that the old table has under the same
   * name keeps its id if the old type can be promoted to the new one, so that time travel and rollback remain
   * meaningful.
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

    def fields(requested: Vector[NestedField], known: Vector[NestedField]): Vector[NestedField] = {
      val pairs = requested.map(f => (f, known.find(k => k.name == f.name && canPromoteTo(k.fieldType, f.fieldType))))
      // Spec, "Default values": only a column that is added to existing rows has an initial default, and it never
      // changes.
      val numbered = pairs.map { case (f, k) => f.copy(id = knownOrNextId(k), initialDefault = initialDefault(f, k)) }
      numbered.zip(pairs).map { case (f, (_, k)) => f.copy(fieldType = assignParts(f.fieldType, k.map(_.fieldType))) }
    }

    private def initialDefault(requested: NestedField, known: Option[NestedField]): Option[DefaultValue] =
      known.flatMap(_.initialDefault).map(DefaultValue.promote(requested.name, _, requested.fieldType))

    private def knownOrNextId(known: Option[NestedField]): Int = known.fold(next())(_.id)

    private def next(): Int = {
      last += 1
      last
    }

    private def assignParts(requested: Type, known: Option[Type]): Type = (requested, known) match {
      case (StructType(fs), Some(StructType(ks))) => StructType(fields(fs, ks))
      case (StructType(fs), _) => StructType(fields(fs, Vector.empty))
      case (list: ListType, _) =>
        val element = known.collect { case k: ListType => k.elementField }
          .filter(k => canPromoteTo(k.fieldType, list.element))
        val elementId = knownOrNextId(element)
        ListType(elementId, assignParts(list.element, element.map(_.fieldType)), list.elementRequired)
      case (map: MapType, _) =>
        val key = known.collect { case k: MapType => k.keyField }.filter(k => canPromoteTo(k.fieldType, map.key))
        val value = known.collect { case k: MapType => k.valueField }.filter(k => canPromoteTo(k.fieldType, map.value))
        val (keyId, valueId) = (knownOrNextId(key), knownOrNextId(value))
        val keyType = assignParts(map.key, key.map(_.fieldType))
        MapType(keyId, keyType, valueId, assignParts(map.value, value.map(_.fieldType)), map.valueRequired)
      case (primitive: PrimitiveType, _) => primitive
    }

    /**
     * Whether the type `known` can be promoted to `requested`, or both are nested types of the same kind. The
     * promotions of version 3 are excluded, because the promotion of a date to a timestamp changes partition values.
     */
    private def canPromoteTo(known: Type, requested: Type): Boolean = (known, requested) match {
      case (_: StructType, _: StructType) | (_: ListType, _: ListType) | (_: MapType, _: MapType) => true
      case (a: PrimitiveType, b: PrimitiveType) => canPromote(a, b, FormatVersion.V2)
      case _ => false
    }
  }
}
