package iceberglite.avro

import java.util.HashMap

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

/** Rejects writer schemas that would exhaust the memory of a reader. */
private[iceberglite] object AvroSchemaCheck {

  /**
   * Maximum number of nodes in a schema. Each type is a node, whether it is nested or not. The schemas of
   * manifests are far smaller. For example, the schema of a manifest with 600 partition fields has about 2000 nodes.
   */
  private val MaxNodes = 20000L

  /**
   * Rejects recursive schemas, and schemas that have too many nodes after references to named types are replaced by the
   * types. A decoder has an object for each of these nodes.
   *
   * @throws AvroFault if the schema is rejected; the message describes the problem
   */
  def check(schema: AvroSchema): Unit = {
    val nodes = new NodeCounter().of(schema)
    if (nodes > MaxNodes) {
      throw AvroFault(s"The Avro schema has more than $MaxNodes nodes after named types are expanded")
    }
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

  /** Counts the nodes of a schema. The nodes of a named record are counted at each place where the record is used. */
  final private class NodeCounter {
    private val nodesOfRecords = new HashMap[String, java.lang.Long]

    /** The count of a record whose nodes are still being counted. */
    private val InProgress = -1L

    def of(schema: AvroSchema): Long = schema.getType match {
      case RECORD => ofRecord(schema)
      case ARRAY => 1 + of(schema.getElementType)
      case MAP => 1 + of(schema.getValueType)
      case UNION => 1 + sum(schema.getTypes.asScala)
      case _ => 1
    }

    private def ofRecord(schema: AvroSchema): Long = {
      val name = schema.getFullName
      Option(nodesOfRecords.get(name)).map(_.longValue) match {
        case Some(InProgress) => throw AvroFault(s"The Avro record $name contains itself, which is not supported")
        case Some(known) => known
        case None =>
          nodesOfRecords.put(name, InProgress)
          val nodes = 1 + sum(schema.getFields.asScala.map(_.schema))
          nodesOfRecords.put(name, nodes)
          nodes
      }
    }

    private def sum(schemas: Iterable[AvroSchema]): Long =
      schemas.foldLeft(0L)((nodes, schema) => math.min(MaxNodes + 1, nodes + of(schema)))
  }
}
