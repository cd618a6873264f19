package iceberglite.tree.manifestlist

import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.partition.{PartitionField, PartitionSpec, UnknownTransform}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType, Type}
import iceberglite.spec.types.Type.StructType

/** Determines the types of partition values to write. */
private[manifestlist] object PartitionTypes {

  /**
   * Determines the partition type of a manifest to write. If the schema does not determine the type of a field, because
   * the source column was dropped or the transform is unknown, the field gets the type of the values in the entries.
   *
   * @return the type, and an iterator over the same entries, which callers must use instead of `entries`
   */
  def ofEntries(
      spec: PartitionSpec,
      schema: Schema,
      entries: Iterator[ManifestEntry]
  ): (StructType, Iterator[ManifestEntry]) = {
    val bySchema = spec.partitionType(schema)
    val undetermined = spec.fields.indices.filter(i => isUndetermined(spec.fields(i), schema))
    if (undetermined.isEmpty) (bySchema, entries)
    else {
      val all = entries.toVector
      val fields = undetermined.foldLeft(bySchema.fields) { (fields, i) =>
        val values = all.iterator.map(_.file.partition.values.lift(i).flatten).collect { case Some(v) => v }
        values.take(1).foldLeft(fields)((_, v) => fields.updated(i, fields(i).copy(fieldType = typeOf(v))))
      }
      (StructType(fields), all.iterator)
    }
  }

  private def isUndetermined(field: PartitionField, schema: Schema): Boolean =
    !field.sourceIds.forall(schema.byId.contains) || field.transform.isInstanceOf[UnknownTransform]

  /**
   * Returns the type of a value. For a decimal, returns the type with the maximum precision, because other values of
   * the field may have a higher precision.
   */
  private def typeOf(value: Literal): PrimitiveType = value.dataType match {
    case Type.DecimalType(_, scale) => Type.DecimalType(38, scale)
    case other => other
  }
}
