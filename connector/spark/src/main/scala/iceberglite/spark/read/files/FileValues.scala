package iceberglite.spark.read.files

import org.apache.spark.sql.types.{DataType, StructType => SparkStruct}
import org.apache.spark.sql.vectorized.ColumnVector

import iceberglite.spark.convert.{SparkTypes, SparkValueFactory}
import iceberglite.spark.read.vector.ConstantVectors
import iceberglite.spec.partition.{ColumnSource, PartitionSpec}
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.{Literal, NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type.StructType

/**
 * Provides the columns of a data file whose values are in the table's metadata and not in the file.
 *
 * @param metadataIds the ids of the requested metadata columns
 * @param capacity maximum number of rows in a batch
 */
final private[iceberglite] class FileValues(specs: Map[Int, PartitionSpec], metadataIds: Set[Int], capacity: Int) {

  def isMetadata(id: Int): Boolean = metadataIds.contains(id)

  /**
   * Returns the column that replaces a field that the file does not contain. [[ColumnSource]] determines its value.
   *
   * @return Left if `field`, or a field nested in it, is required and has no value. Left contains the path of the field
   *   without a value; the path begins with the name of `field`
   */
  def replacement(field: NestedField, task: FileTask): Either[Vector[String], ColumnVector] =
    ColumnSource.valueOf(field, partitionValue(_, task), SparkValueFactory)
      .map(ConstantVectors.of(SparkTypes.toSpark(field.fieldType), _, capacity))

  /** Returns a metadata column that has one value for all rows of the file. */
  def metadata(field: NestedField, task: FileTask): ColumnVector = (field.id, field.fieldType) match {
    case (MetadataColumns.FilePath.id, _) => constant(field, Some(Literal.StringLiteral(task.path)))
    case (MetadataColumns.SpecId.id, _) => constant(field, Some(Literal.IntLiteral(task.specId)))
    case (MetadataColumns.Deleted.id, _) => constant(field, Some(Literal.BooleanLiteral(false)))
    case (id, _) if CommitScan.changelogColumns.exists(_.id == id) =>
      constant(field, task.change.flatMap(CommitScan.value(id)))
    case (MetadataColumns.LastUpdatedSequenceNumber.id, _) =>
      constant(field, task.firstRowId.map(_ => Literal.LongLiteral(task.dataSequenceNumber)))
    // `_partition` is null for a table that was never partitioned.
    case (MetadataColumns.PartitionId, struct: StructType) if struct.fields.nonEmpty => partition(struct, task)
    case _ => constant(field, None)
  }

  private def constant(field: NestedField, value: Option[Literal]): ColumnVector =
    ConstantVectors.of(dataTypeOf(field), value.flatMap(sparkValue(_, field.fieldType)), capacity)

  private def dataTypeOf(field: NestedField): DataType = SparkTypes.toSpark(field.fieldType)

  /**
   * Returns the file's partition as a struct of the partition fields of all partition specs. Fields that the file's
   * partition spec does not have are null.
   */
  private def partition(struct: StructType, task: FileTask): ColumnVector = {
    val fieldIds = specs.get(task.specId).fold(Vector.empty[Int])(_.fields.map(_.fieldId))
    val byId = fieldIds.zip(task.partition.values).toMap
    val values = struct.fields.map(f => byId.get(f.id).flatten.flatMap(sparkValue(_, f.fieldType)))
    ConstantVectors.struct(SparkTypes.toSpark(struct).asInstanceOf[SparkStruct], values, capacity)
  }

  /**
   * Returns the column's value from the file's partition; absent if the file's partition spec has no identity field for
   * the column.
   */
  private def partitionValue(field: NestedField, task: FileTask): Option[Option[Any]] =
    for {
      spec <- specs.get(task.specId)
      position <- spec.identityPositions.get(field.id)
      value <- task.partition.values.lift(position)
    } yield value.flatMap(sparkValue(_, field.fieldType))

  private def sparkValue(value: Literal, t: Type): Option[Any] = t match {
    case primitive: PrimitiveType => SparkValueFactory.primitive(value, primitive)
    case _: NestedType => None
  }
}
