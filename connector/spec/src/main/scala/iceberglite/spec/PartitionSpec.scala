package iceberglite.spec

import iceberglite.spec.Type.StructType
import iceberglite.spec.transform.{Identity, UnknownTransform, Void}

/**
 * One value of a partition tuple (spec: "Partitioning").
 *
 * @param sourceIds the columns the value comes from; more than one only with a multi-argument transform
 * @param fieldId unique across all specs of the table, 1000 and up
 */
final case class PartitionField(sourceIds: Vector[Int], fieldId: Int, name: String, transform: Transform) {
  def sourceId: Int = sourceIds.head

  /** Whether the two stand for the same values of the same columns, whatever they are called. */
  def sameValues(that: PartitionField): Boolean = sourceIds == that.sourceIds && transform == that.transform
}

object PartitionField {
  def apply(sourceId: Int, fieldId: Int, name: String, transform: Transform): PartitionField =
    PartitionField(Vector(sourceId), fieldId, name, transform)
}

/** How the rows of a file share one partition tuple. A spec never changes; evolution adds another. */
final case class PartitionSpec(specId: Int, fields: Vector[PartitionField]) {
  def isPartitioned: Boolean = fields.exists(_.transform != Void)

  def hasUnknownTransform: Boolean = fields.exists(_.transform.isInstanceOf[UnknownTransform])

  /**
   * The partition tuple as a struct of optional fields, with the partition field ids. Where no schema has the source
   * column any more its type is unknown, as with Apache Iceberg: the values that manifests hold tell theirs.
   */
  def partitionType(schema: Schema): StructType = StructType(fields.map { f =>
    val source = schema.byId.get(f.sourceId).map(_.fieldType)
    val result = source match {
      case Some(p: PrimitiveType) => f.transform.resultType(p)
      case _ => f.transform.resultType(Type.UnknownType)
    }
    NestedField.optional(f.fieldId, f.name, result)
  })

  /** Equivalent by the spec: the same fields, sources, transforms and names, in order. */
  def compatibleWith(that: PartitionSpec): Boolean =
    fields.size == that.fields.size && fields.zip(that.fields).forall { case (a, b) =>
      a.sameValues(b) && a.name == b.name
    }

  /** Positions of the identity fields in the tuple, by source column id. */
  def identityPositions: Map[Int, Int] =
    fields.zipWithIndex.collect { case (f, i) if f.transform == Identity => f.sourceId -> i }.toMap

  override def toString: String =
    if (fields.isEmpty) "unpartitioned" else fields.map(f => s"${f.name}=${f.transform}(${f.sourceId})").mkString(", ")
}

object PartitionSpec {
  val FirstFieldId = 1000
  val Unpartitioned: PartitionSpec = PartitionSpec(0, Vector.empty)
}

/** The partition values of a file, in the order of its spec; `None` is null. */
final case class PartitionTuple(values: Vector[Option[Literal]])

object PartitionTuple {
  val Empty: PartitionTuple = PartitionTuple(Vector.empty)
}
