package iceberglite.data.avro

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.avro.{JsonProperties, Schema => AvroSchema}
import org.apache.avro.Schema.Type._

import iceberglite.avro.AvroSchemas
import iceberglite.spec.schema.{MappedField, NameMapping}

/**
 * Determines the field ids at one level of an Avro file's schema. The ids are those in the schema or, if the schema has
 * no ids, those in a name mapping.
 */
sealed private[avro] trait FieldIds {

  /** Returns the id of a field at this level. */
  def of(field: AvroSchema.Field): Option[Int]

  /** Returns the ids at the level below a field of a record. */
  def nestedIn(field: AvroSchema.Field): FieldIds

  /** Returns the ids at the level below the `element` of a list, or below the `key` or `value` of a map. */
  def nestedInPart(name: String): FieldIds
}

/** Assigns field ids to Avro files that have none (spec: "Column Projection"). */
object AvroNameMapping {

  /**
   * Returns the field ids of a file. If any field of the file has an id, only the ids in the file are used.
   *
   * @param mapping used if the file has no ids at all
   */
  private[avro] def ids(file: AvroSchema, mapping: => NameMapping): FieldIds =
    if (hasIds(file)) InFile else new ByName(mapping.find)

  /** Returns whether any field at any depth has an id. The schema must not be recursive. */
  def hasIds(schema: AvroSchema): Boolean = schema.getType match {
    case RECORD => schema.getFields.asScala.exists(f => idOf(f).isDefined || hasIds(f.schema))
    case UNION => schema.getTypes.asScala.exists(hasIds)
    case ARRAY => idOf(schema, AvroSchemas.ElementIdKey).isDefined || hasIds(schema.getElementType)
    case MAP =>
      Seq(AvroSchemas.KeyIdKey, AvroSchemas.ValueIdKey).exists(idOf(schema, _).isDefined) || hasIds(schema.getValueType)
    case _ => false
  }

  private[avro] def idOf(field: AvroSchema.Field): Option[Int] = idOf(field, AvroSchemas.FieldIdKey)

  /** Returns the id of a node. Ids are numbers, but some writers store them as text. */
  private[avro] def idOf(node: JsonProperties, key: String): Option[Int] = Option(node.getObjectProp(key)).flatMap {
    case n: java.lang.Number => Some(n.intValue)
    case text: String => Try(text.toInt).toOption
    case _ => None
  }

  private object InFile extends FieldIds {
    override def of(field: AvroSchema.Field): Option[Int] = idOf(field)
    override def nestedIn(field: AvroSchema.Field): FieldIds = this
    override def nestedInPart(name: String): FieldIds = this
  }

  final private class ByName(find: String => Option[MappedField]) extends FieldIds {
    override def of(field: AvroSchema.Field): Option[Int] = find(field.name).flatMap(_.id)
    override def nestedIn(field: AvroSchema.Field): FieldIds = nestedInPart(field.name)
    override def nestedInPart(name: String): FieldIds = new ByName(below => find(name).flatMap(_.find(below)))
  }
}
