package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{BooleanType, StringType}
import iceberglite.table.{KnownProperties, Table}

/**
 * The properties of the table: the properties that are set, and the other properties that the connector supports, with
 * their default values. Apache Iceberg has no such metadata table.
 */
object PropertiesTable extends MetadataTable {
  override val name = "properties"
  override val showsOneSnapshot = false

  private val columns = Schema(
    0,
    Vector(
      NestedField.required(1, "key", StringType, "Key of the property"),
      NestedField.optional(2, "value", StringType, "Value that is set, or otherwise the default"),
      NestedField.required(3, "is_set", BooleanType, "Whether the property is set"),
      NestedField.required(4, "is_known", BooleanType, "Whether this connector supports the property"),
      NestedField.optional(5, "default_value", StringType, "Default; null if there is no constant default"),
      NestedField.optional(6, "description", StringType, "Description of a supported property")
    )
  )

  override def schema(table: Table): Schema = columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val version = TableProperty.Version.key -> table.metadata.formatVersion.number.toString
    val set = table.properties + version
    (set.keySet ++ KnownProperties.all.map(_.key)).toVector.sorted.iterator.map { key =>
      val known = KnownProperties.find(key)
      val value = set.get(key).orElse(known.flatMap(_.default))
      MetadataRow.of(key, value, set.contains(key), known.isDefined, known.flatMap(_.default), known.map(_.doc))
    }
  }
}
