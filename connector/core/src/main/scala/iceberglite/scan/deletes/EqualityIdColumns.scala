package iceberglite.scan.deletes

import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.file.{ContentFile, KeyOverlap, Metrics}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type._
import iceberglite.data.ReadColumns

/**
 * Finds the columns of `equality_ids` (spec: "Equality Delete Files"). The specification forbids columns of type float
 * and double, but this class accepts such columns, because Flink writes them if they are part of an upsert key, and
 * Apache Iceberg reads them. A column that was dropped from the table is still compared. The type of a dropped column
 * is taken from the schemas that contain the column. A dropped column is optional, because files that were written
 * after the drop do not contain it.
 *
 * @param current the schema of the scan
 * @param schemas all schemas of the table
 */
final private[scan] class EqualityIdColumns(current: Schema, schemas: Vector[Schema]) {
  private val keysByIds = new ConcurrentHashMap[Vector[Int], Either[InvalidMetadata, EqualityKey]]

  /**
   * Returns the key columns of an equality delete file. Files with the same `equality_ids` share an instance.
   *
   * @throws InvalidMetadata if the file's `equality_ids` are invalid
   */
  def of(deletes: ContentFile): EqualityKey = keyOf(deletes).fold(e => throw e.copy(file = deletes.path), identity)

  /**
   * Returns the key columns of an equality delete file, or the error if its `equality_ids` are invalid. The error is
   * returned and not thrown, because invalid ids matter only if the deletes apply to a data file.
   */
  def keyOf(deletes: ContentFile): Either[InvalidMetadata, EqualityKey] =
    keysByIds.computeIfAbsent(
      deletes.equalityIds,
      ids =>
        try Right(new EqualityKey(columns(ids, deletes)))
        catch { case e: InvalidMetadata => Left(e) }
    )

  private def columns(ids: Vector[Int], deletes: ContentFile): Vector[EqualityColumn] =
    if (ids.nonEmpty) ids.map(column(_, deletes))
    else throw invalid(deletes, "It is empty, but an equality delete file must have delete columns")

  private def column(id: Int, deletes: ContentFile): EqualityColumn = {
    val found = ReadColumns.path(current, id).orElse(dropped(id))
      .getOrElse(throw invalid(deletes, s"No schema of the table has a field with the id $id"))
    found.init.map(_.fieldType).foreach {
      case _: StructType => ()
      case _ => throw notAKey(deletes, found, "is inside a list or a map")
    }
    found.last.fieldType match {
      case t @ VariantType => throw notAKey(deletes, found, s"is a $t")
      case _: NestedType => throw notAKey(deletes, found, "is a struct, a list or a map")
      case _: PrimitiveType => EqualityColumn(found)
    }
  }

  /**
   * Returns the path of a dropped column. If the column had several types, the path has the widest type, because all
   * files can be read as this type.
   */
  private def dropped(id: Int): Option[Vector[NestedField]] = {
    val paths = schemas.sortBy(-_.schemaId).flatMap(ReadColumns.path(_, id))
    paths.reduceOption { (a, b) =>
      if (canPromote(a.last.fieldType, b.last.fieldType, FormatVersion.V3)) b else a
    }.map(_.map(_.copy(required = false))).map(ReadColumns.pruneToPath)
  }

  private def notAKey(deletes: ContentFile, path: Vector[NestedField], reason: String): InvalidMetadata = invalid(
    deletes,
    s"The delete column ${path.map(_.name).mkString(".")} (field id ${path.last.id}) $reason; " +
      "the values of such columns cannot be compared. " +
      "Rewrite the table's deletes with the engine that wrote them"
  )

  private def invalid(deletes: ContentFile, reason: String): InvalidMetadata =
    InvalidMetadata(deletes.path, "$.equality_ids", reason)
}

/**
 * The columns that equality delete files compare. The metrics of these columns show to which data files the deletes
 * cannot apply.
 */
final private[scan] class EqualityKey(val columns: Vector[EqualityColumn]) {
  private val compared = columns.filterNot(_.isNested).map(_.field).filterNot(f => EqualityKey.isFloating(f.fieldType))
  private val ids = compared.map(_.id).toSet
  val overlap: KeyOverlap = new KeyOverlap(compared)

  /**
   * Returns the metrics of the key columns in a delete file. The metrics of other columns are not used, because a
   * deleted row may have other values in these columns than the delete file.
   */
  def metricsOf(deletes: ContentFile): Metrics = deletes.metrics.only(ids)
}

private object EqualityKey {

  /**
   * Returns whether a type is a floating-point type. The bounds of such columns are not used, because they do not cover
   * NaN, and because some writers write zero instead of negative zero.
   */
  def isFloating(t: Type): Boolean = t == FloatType || t == DoubleType
}
