package iceberglite.spec.partition

import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type.StructType

/**
 * A field of a partition spec (spec: "Partitioning").
 *
 * @param sourceIds the field ids of the source columns; there are several only if the transform has several arguments
 * @param fieldId the partition field id; new ids start at 1000. In version 2 and later, different partition fields of a
 *   table have different ids
 */
final case class PartitionField(sourceIds: Vector[Int], fieldId: Int, name: String, transform: Transform) {
  def sourceId: Int = sourceIds.head

  /** Whether two fields have the same transform and source columns, regardless of their names. */
  def sameValues(that: PartitionField): Boolean = sourceIds == that.sourceIds && transform == that.transform
}

object PartitionField {
  def apply(sourceId: Int, fieldId: Int, name: String, transform: Transform): PartitionField =
    PartitionField(Vector(sourceId), fieldId, name, transform)
}

/**
 * A partition spec. All rows of a file have the same partition tuple. A partition spec never changes, because partition
 * evolution adds another partition spec.
 */
final case class PartitionSpec(specId: Int, fields: Vector[PartitionField]) {
  def isPartitioned: Boolean = fields.exists(_.transform != Void)

  def hasUnknownTransform: Boolean = fields.exists(_.transform.isInstanceOf[UnknownTransform])

  /**
   * Returns the type of the partition tuples: a struct of optional fields with the partition field ids. If the schema
   * lacks the source column of a field, the source type is `unknown`, as in Apache Iceberg. This does not prevent
   * manifests from being read, because the Avro schema of a manifest contains the types of the partition values.
   */
  def partitionType(schema: Schema): StructType = StructType(fields.map { f =>
    val source = schema.byId.get(f.sourceId).map(_.fieldType)
    val result = source match {
      case Some(p: PrimitiveType) => f.transform.resultType(p)
      case _ => f.transform.resultType(Type.UnknownType)
    }
    NestedField.optional(f.fieldId, f.name, result)
  })

  /**
   * Whether two partition specs are equivalent according to the specification. This means that their fields have the
   * same source columns, transforms and names, in the same order.
   */
  def compatibleWith(that: PartitionSpec): Boolean =
    fields.size == that.fields.size && fields.zip(that.fields).forall { case (a, b) =>
      a.sameValues(b) && a.name == b.name
    }

  /**
   * Returns the position in the partition tuple of each field with the identity transform, by the id of the field's
   * source column.
   */
  def identityPositions: Map[Int, Int] =
    fields.zipWithIndex.collect { case (f, i) if f.transform == Identity => f.sourceId -> i }.toMap

  override def toString: String =
    if (fields.isEmpty) "unpartitioned" else fields.map(f => s"${f.name}=${f.transform}(${f.sourceId})").mkString(", ")
}

object PartitionSpec {
  val FirstFieldId = 1000
  val Unpartitioned: PartitionSpec = PartitionSpec(0, Vector.empty)
}

/** The partition values of a file, in the order of the fields of its partition spec. `None` represents null. */
final case class PartitionTuple(values: Vector[Option[Literal]])

object PartitionTuple {
  val Empty: PartitionTuple = PartitionTuple(Vector.empty)
}
