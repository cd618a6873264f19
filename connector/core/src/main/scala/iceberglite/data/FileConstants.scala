package iceberglite.data

import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/**
 * Computes the values of columns that are constant in a file and known from metadata. Values are returned by field id,
 * in the Java types of [[iceberglite.data.Record]].
 */
private[iceberglite] object FileConstants {

  /**
   * Returns the values of the requested columns that are sources of identity partition fields (spec: "Column
   * Projection").
   */
  def identities(spec: PartitionSpec, partition: PartitionTuple, requested: StructType): Map[Int, AnyRef] = {
    val positions = spec.identityPositions
    if (positions.isEmpty) Map.empty
    else Schema.fieldsOf(requested).flatMap(f => value(f, positions, partition).map(f.id -> _)).toMap
  }

  private def value(field: NestedField, positions: Map[Int, Int], partition: PartitionTuple): Option[AnyRef] =
    (positions.get(field.id), field.fieldType) match {
      case (Some(position), t: PrimitiveType) =>
        partition.values.lift(position).map(_.map(RecordValues.primitive(_, t)).orNull)
      case _ => None
    }

  /**
   * Returns the file's partition as a struct with the partition fields of several partition specs. Fields that the
   * file's partition spec does not have are null.
   */
  def partition(struct: StructType, spec: PartitionSpec, tuple: PartitionTuple): Record = {
    val byId = spec.fields.map(_.fieldId).zip(tuple.values).toMap
    new Record(struct.fields.map { f =>
      (byId.get(f.id).flatten, f.fieldType) match {
        case (Some(value), t: PrimitiveType) => RecordValues.primitive(value, t)
        case _ => RecordValues.nullValue
      }
    }.toArray)
  }
}
