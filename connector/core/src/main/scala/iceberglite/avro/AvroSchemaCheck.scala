package iceberglite.avro

import java.util.HashMap

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

/** Rejects writer schemas that would exhaust the memory of a reader. */
private[iceberglite] object AvroSchemaCheck {

  /**
   * Maximum number of nodes in a schema. The schemas of manifests are far smaller: 600 partition fields result in about
   * 2000 nodes.
   */
  private val MaxParts = 20000L

  /**
   * Rejects schemas for which no decoder can be created. These are recursive schemas, and schemas that have too many
   * nodes after named types are expanded.
   *
   * @throws AvroFault with a description of the problem
   */
  def check(schema: AvroSchema): Unit = {
    val parts = new Parts().of(schema)
    if (parts > MaxParts) throw AvroFault(s"Its schema has more than $MaxParts nodes after named types are expanded")
  }

  /** Returns whether every value of the type is encoded in zero bytes. The schema must have passed the check. */
  def isEmpty(schema: AvroSchema): Boolean = schema.getType match {
    case NULL => true
    case FIXED => schema.getFixedSize == 0
    case RECORD => schema.getFields.asScala.forall(f => isEmpty(f.schema))
    case _ => false
  }

  /** Returns a short description of a schema for messages. */
  def describe(schema: AvroSchema): String = {
    val text = schema.toString
    if (text.length <= 200) text else text.take(200) + "..."
  }

  final private class Parts {
    private val ofRecords = new HashMap[String, java.lang.Long]
    private val Open = -1L

    def of(schema: AvroSchema): Long = schema.getType match {
      case RECORD => ofRecord(schema)
      case ARRAY => 1 + of(schema.getElementType)
      case MAP => 1 + of(schema.getValueType)
      case UNION => 1 + sum(schema.getTypes.asScala)
      case _ => 1
    }

    private def ofRecord(schema: AvroSchema): Long = {
      val name = schema.getFullName
      Option(ofRecords.get(name)).map(_.longValue) match {
        case Some(Open) => throw AvroFault(s"Its record $name contains itself")
        case Some(known) => known
        case None =>
          ofRecords.put(name, Open)
          val parts = 1 + sum(schema.getFields.asScala.map(_.schema))
          ofRecords.put(name, parts)
          parts
      }
    }

    private def sum(schemas: Seq[AvroSchema]): Long =
      schemas.foldLeft(0L)((parts, schema) => math.min(MaxParts + 1, parts + of(schema)))
  }
}
