package iceberglite.data

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.partition.ColumnSource
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/** The source of the values of a requested field. */
sealed private[iceberglite] trait FieldSource[+V]

private[iceberglite] object FieldSource {

  /** The value is stored in the file, in the field at this index of the file's struct. */
  final case class Stored(index: Int) extends FieldSource[Nothing]

  /** The value is the same for all rows of the file. */
  final case class Constant[V](value: V) extends FieldSource[V]

  /** The value is the position of the row in the file. */
  case object RowPosition extends FieldSource[Nothing]
}

/**
 * Matches the requested fields to the fields of a file by id (spec: "Column Projection").
 *
 * @param file the path of the file, for messages
 * @param absent returns the value of a field that is not in the file, in the caller's representation. Returns `Left`
 *   with the path of a required field that has no value: the field itself, or a field in a struct whose default is
 *   `{}`. The path begins with the name of the absent field
 */
final private[iceberglite] class Projection[V](file: String, absent: NestedField => Either[Vector[String], V]) {

  /**
   * Returns the source of each requested field of a struct.
   *
   * @param ids ids of the fields of the file's struct, in file order
   * @param structPath path of the struct, for messages
   * @throws UnreadableFile if the file has the id of a requested field more than once, or lacks a required field
   */
  def sources(expected: StructType, ids: Vector[Option[Int]], structPath: Vector[String]): Array[FieldSource[V]] = {
    val indexes = ids.zipWithIndex.collect { case (Some(id), i) => id -> i }.groupBy(_._1)
    expected.fields.map { field =>
      val sources = indexes.getOrElse(field.id, Vector.empty)
      if (sources.size > 1) fail(structPath :+ field.name, s"The file has the field id ${field.id} more than once")
      if (field.id == MetadataColumns.Position.id) FieldSource.RowPosition
      else sources.headOption.fold[FieldSource[V]](FieldSource.Constant(missing(field, structPath)))(storedField =>
        FieldSource.Stored(storedField._2)
      )
    }.toArray
  }

  /** Returns the value of a field that the file lacks. */
  private def missing(field: NestedField, structPath: Vector[String]): V =
    absent(field) match {
      case Right(value) => value
      case Left(path) =>
        fail(structPath ++ path, "The file lacks this column, which is required and has no initial default")
    }

  /** Throws an `UnreadableFile` for a column that cannot be read. */
  def fail(column: Vector[String], reason: String): Nothing =
    throw UnreadableFile(file, FileFaults.Role, s"Column ${FileFaults.column(column)}: $reason")
}

private[data] object Projection {

  /**
   * Returns a projection for records.
   *
   * @param constants values of columns from metadata, by field id
   */
  def ofRecords(file: String, constants: Map[Int, AnyRef]): Projection[AnyRef] =
    new Projection(file, ColumnSource.valueOf[AnyRef](_, f => constants.get(f.id), RecordValues))
}
