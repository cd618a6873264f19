package iceberglite.spark.write.partition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{StructType => SparkStruct}

import iceberglite.spark.write.files.{InputField, InputSource}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.partition.{PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.types.PrimitiveType

/** Computes the partition values of rows for a partition spec. */
final private[write] class Partitioner(columns: Array[PartitionColumn]) {
  def newKey(): PartitionKey = new PartitionKey(columns.length)

  /** Computes the partition values of a row, and puts them into a key. */
  def read(row: InternalRow, key: PartitionKey): Unit = {
    var i = 0
    while (i < columns.length) {
      columns(i).read(row, key, i)
      i += 1
    }
  }

  def tuple(key: PartitionKey): PartitionTuple =
    PartitionTuple(columns.indices.map(i => columns(i).literal(key, i)).toVector)
}

private[write] object Partitioner {

  /**
   * Creates a partitioner.
   *
   * @param input the columns of the rows
   * @throws Unsupported if a partition field has an unknown transform, several source columns, or a source column whose
   *   type is not primitive
   */
  def of(spec: PartitionSpec, input: Vector[InputField]): Partitioner = {
    if (spec.hasUnknownTransform) {
      throw Unsupported(
        s"writing with the partition spec $spec",
        "It has a transform that only a later release supports"
      )
    }
    new Partitioner(spec.fields.map { field =>
      if (field.sourceIds.size != 1) {
        throw Unsupported(
          s"writing with the partition field ${field.name} of several columns",
          "This release can only read files of such a partition spec; write with another spec"
        )
      }
      columnOf(field, input)
    }.toArray)
  }

  private def columnOf(field: PartitionField, input: Vector[InputField]): PartitionColumn =
    pathTo(field.sourceId, input) match {
      case Some(path) =>
        val name = path.map(_.field.name).mkString(".")
        val access = accessTo(path)
        path.last.field.fieldType match {
          case t: PrimitiveType => new RowTransforms(name, t, path.last.dataType, access).of(field.transform)
          case t =>
            throw Unsupported(s"partitioning by column $name, a $t", "Partition by a column of a primitive type")
        }
      case None => PartitionColumn.AlwaysNull
    }

  private def pathTo(id: Int, fields: Vector[InputField]): Option[Vector[InputField]] = fields.flatMap { f =>
    if (f.field.id == id) Some(Vector(f))
    else if (f.dataType.isInstanceOf[SparkStruct]) pathTo(id, f.parts).map(f +: _)
    else None
  }.headOption

  private def accessTo(path: Vector[InputField]): ColumnAccess = {
    val sources = path.map(_.source).map {
      case InputSource.Rows(ordinal) => (ordinal, null)
      case InputSource.Constant(value) => (0, new GenericInternalRow(Array[Any](value.orNull)))
    }
    ColumnAccess(sources.map(_._1).toArray, path.init.map(sizeOf).toArray, sources.map(_._2: InternalRow).toArray)
  }

  private def sizeOf(struct: InputField): Int = struct.dataType match {
    case s: SparkStruct => s.length
    case _ => struct.parts.size
  }
}
