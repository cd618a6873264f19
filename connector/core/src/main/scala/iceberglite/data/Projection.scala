package iceberglite.data

import iceberglite.spec.{ColumnSource, MetadataColumns, NestedField}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.Type.StructType

/** Where the values of a wanted field come from. */
sealed private[iceberglite] trait FieldPlace[+V]

private[iceberglite] object FieldPlace {

  /** The n-th field of the file's struct. */
  final case class Stored(index: Int) extends FieldPlace[Nothing]

  /** One value in all rows. */
  final case class Same[V](value: V) extends FieldPlace[V]

  /** The ordinal of the row in the file. */
  case object Ordinal extends FieldPlace[Nothing]
}

/**
 * Finds the fields of wanted structs in one file, by id (spec: "Column Projection").
 *
 * @param file for messages
 * @param absent what stands for a field that the file lacks, as whoever reads it holds values; left the path below it of
 *   a required field that has no value
 */
final private[iceberglite] class Projection[V](file: String, absent: NestedField => Either[Vector[String], V]) {

  /**
   * @param ids of the fields of the file's struct, in their order
   * @param where the path of the struct
   * @throws UnreadableFile for a field that the file has twice, or a required one that it lacks
   */
  def places(wanted: StructType, ids: Vector[Option[Int]], where: Vector[String]): Array[FieldPlace[V]] = {
    val indexes = ids.zipWithIndex.collect { case (Some(id), i) => id -> i }.groupBy(_._1)
    wanted.fields.map { field =>
      val places = indexes.getOrElse(field.id, Vector.empty)
      if (places.size > 1) fail(where :+ field.name, s"It has the field id ${field.id} more than once")
      if (field.id == MetadataColumns.Position.id) FieldPlace.Ordinal
      else places.headOption.fold[FieldPlace[V]](FieldPlace.Same(missing(field, where)))(p => FieldPlace.Stored(p._2))
    }.toArray
  }

  /** The value of a field that the file lacks. */
  private def missing(field: NestedField, where: Vector[String]): V =
    absent(field) match {
      case Right(value) => value
      case Left(path) => fail(where ++ path, s"It lacks the column, which is required and has no initial default")
    }

  /** @throws UnreadableFile of a column that cannot be read */
  def fail(column: Vector[String], reason: String): Nothing =
    throw UnreadableFile(file, FileFaults.Role, s"Column ${FileFaults.column(column)}: $reason")
}

private[data] object Projection {

  /** For records. @param constants what metadata says of columns, by field id */
  def ofRecords(file: String, constants: Map[Int, AnyRef]): Projection[AnyRef] =
    new Projection(file, ColumnSource.valueOf[AnyRef](_, f => constants.get(f.id), RecordValues))
}
