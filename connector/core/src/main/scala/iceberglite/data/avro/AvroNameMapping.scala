package iceberglite.data.avro

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.avro.{JsonProperties, Schema => AvroSchema}
import org.apache.avro.Schema.Type._

import iceberglite.io.AvroSchemas
import iceberglite.spec.{MappedField, NameMapping}

/** Which fields the columns of an Avro file are: by the ids in its schema or, where it has none, by a name mapping. */
sealed private[avro] trait FieldIds {
  def of(field: AvroSchema.Field): Option[Int]

  /** Those of what is inside of a field of a record. */
  def inside(field: AvroSchema.Field): FieldIds

  /** Those of what is inside of the `element` of a list, or the `key` or `value` of a map. */
  def part(name: String): FieldIds
}

/** Field ids for Avro files that hold none (spec: "Column Projection"). */
object AvroNameMapping {

  /** @param mapping for a file that has no id anywhere; a file that has one goes by its ids alone */
  private[avro] def ids(file: AvroSchema, mapping: => NameMapping): FieldIds =
    if (hasIds(file)) InFile else new ByName(mapping.find)

  /** Whether any field at any depth has an id; the schema does not hold itself. */
  def hasIds(schema: AvroSchema): Boolean = schema.getType match {
    case RECORD => schema.getFields.asScala.exists(f => idOf(f).isDefined || hasIds(f.schema))
    case UNION => schema.getTypes.asScala.exists(hasIds)
    case ARRAY => idOf(schema, AvroSchemas.ElementIdKey).isDefined || hasIds(schema.getElementType)
    case MAP =>
      Seq(AvroSchemas.KeyIdKey, AvroSchemas.ValueIdKey).exists(idOf(schema, _).isDefined) || hasIds(schema.getValueType)
    case _ => false
  }

  private[avro] def idOf(field: AvroSchema.Field): Option[Int] = idOf(field, AvroSchemas.FieldIdKey)

  /** Ids are numbers; some writers have them as text. */
  private[avro] def idOf(node: JsonProperties, key: String): Option[Int] = Option(node.getObjectProp(key)).flatMap {
    case n: java.lang.Number => Some(n.intValue)
    case text: String => Try(text.toInt).toOption
    case _ => None
  }

  private object InFile extends FieldIds {
    override def of(field: AvroSchema.Field): Option[Int] = idOf(field)
    override def inside(field: AvroSchema.Field): FieldIds = this
    override def part(name: String): FieldIds = this
  }

  final private class ByName(find: String => Option[MappedField]) extends FieldIds {
    override def of(field: AvroSchema.Field): Option[Int] = find(field.name).flatMap(_.id)
    override def inside(field: AvroSchema.Field): FieldIds = part(field.name)
    override def part(name: String): FieldIds = new ByName(below => find(name).flatMap(_.find(below)))
  }
}
