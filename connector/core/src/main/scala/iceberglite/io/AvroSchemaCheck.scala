package iceberglite.io

import java.util.HashMap

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

/** What the schema of a file may not do to its reader. */
private[iceberglite] object AvroSchemaCheck {

  /** Far more than the widest manifest has: six hundred partition fields come to about two thousand. */
  private val MaxParts = 20000L

  /**
   * Refuses schemas that a decoder cannot be made of: a record that holds itself, and records that hold the same other
   * one so often that writing them all out would never end.
   *
   * @throws AvroFault with what is wrong
   */
  def check(schema: AvroSchema): Unit = {
    val parts = new Parts().of(schema)
    if (parts > MaxParts) throw AvroFault(s"Its schema has more than $MaxParts parts when written out")
  }

  /** Whether each value of the type takes no byte at all; the schema has been checked. */
  def isEmpty(schema: AvroSchema): Boolean = schema.getType match {
    case NULL => true
    case FIXED => schema.getFixedSize == 0
    case RECORD => schema.getFields.asScala.forall(f => isEmpty(f.schema))
    case _ => false
  }

  /** A schema for a message. */
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
