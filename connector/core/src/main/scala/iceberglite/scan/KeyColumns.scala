package iceberglite.scan

import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.file.{ContentFile, KeyOverlap, Metrics}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/**
 * The columns of `equality_ids` (spec: "Equality Delete Files"). The specification forbids float and double, but Flink
 * writes such columns if they are part of an upsert key, and Apache Iceberg reads them. Therefore this class accepts
 * them. A column that was dropped from the table is still compared. Its type is taken from the schemas that contain it,
 * and it is optional because later files do not have it.
 *
 * @param current the schema of the scan
 * @param schemas all schemas of the table
 */
final private[scan] class KeyColumns(current: Schema, schemas: Vector[Schema]) {
  private val known = new ConcurrentHashMap[Vector[Int], Either[InvalidMetadata, EqualityKey]]

  /**
   * Returns the key columns of an equality delete file. Files with the same `equality_ids` share an instance.
   *
   * @throws InvalidMetadata the file's `equality_ids` are invalid
   */
  def of(deletes: ContentFile): EqualityKey = keyOf(deletes).fold(e => throw e.copy(file = deletes.path), identity)

  /**
   * Like [[of]], but returns invalid `equality_ids` as `Left`, because they are an error only if the deletes apply to a
   * data file.
   */
  def keyOf(deletes: ContentFile): Either[InvalidMetadata, EqualityKey] =
    known.computeIfAbsent(
      deletes.equalityIds,
      ids =>
        try Right(new EqualityKey(columns(ids, deletes)))
        catch { case e: InvalidMetadata => Left(e) }
    )

  private def columns(ids: Vector[Int], deletes: ContentFile): Vector[EqualityColumn] =
    if (ids.nonEmpty) ids.map(column(_, deletes))
    else throw invalid(deletes, "An equality delete file must name its delete columns")

  private def column(id: Int, deletes: ContentFile): EqualityColumn = {
    val found = ReadColumns.path(current, id).orElse(dropped(id))
      .getOrElse(throw invalid(deletes, s"No schema of the table has a field with the id $id"))
    found.init.map(_.fieldType).foreach {
      case _: StructType => ()
      case other => throw notAKey(deletes, found, s"is inside a ${other.getClass.getSimpleName.stripSuffix("Type")}")
    }
    found.last.fieldType match {
      case t @ VariantType => throw notAKey(deletes, found, s"is a $t")
      case _: NestedType => throw notAKey(deletes, found, "has parts")
      case _: PrimitiveType => EqualityColumn(found)
    }
  }

  /**
   * Returns the path of a dropped column. If it had several types, the widest type is used, because all files can be
   * read with it.
   */
  private def dropped(id: Int): Option[Vector[NestedField]] = {
    val paths = schemas.sortBy(-_.schemaId).flatMap(ReadColumns.path(_, id))
    paths.reduceOption { (a, b) =>
      if (canPromote(a.last.fieldType, b.last.fieldType, FormatVersion.V3)) b else a
    }.map(_.map(_.copy(required = false))).map(ReadColumns.pruneToPath)
  }

  private def notAKey(deletes: ContentFile, path: Vector[NestedField], reason: String): InvalidMetadata = invalid(
    deletes,
    s"The delete column ${path.map(_.name).mkString(".")} (field id ${path.last.id}) $reason; such columns cannot be compared. " +
      "Rewrite the table's deletes with the engine that wrote them"
  )

  private def invalid(deletes: ContentFile, reason: String): InvalidMetadata =
    InvalidMetadata(deletes.path, "$.equality_ids", reason)
}

/**
 * The columns that equality delete files compare. The metrics of these columns exclude data files to which the deletes
 * cannot apply.
 */
final private[scan] class EqualityKey(val columns: Vector[EqualityColumn]) {
  private val compared = columns.filterNot(_.isNested).map(_.field).filterNot(f => EqualityKey.isFloating(f.fieldType))
  private val ids = compared.map(_.id).toSet
  val overlap: KeyOverlap = new KeyOverlap(compared)

  /**
   * Returns the metrics of the key columns. The metrics of other columns are not used, because rows with the same key
   * may have different values.
   */
  def metricsOf(deletes: ContentFile): Metrics = deletes.metrics.only(ids)
}

private object EqualityKey {

  /**
   * Bounds of floating-point columns are not used, because they do not cover NaN, and because some writers write zero
   * instead of negative zero.
   */
  def isFloating(t: Type): Boolean = t == FloatType || t == DoubleType
}
