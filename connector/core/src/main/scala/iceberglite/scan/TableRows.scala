package iceberglite.scan

import iceberglite.data.{DataFormats, DataSource, Record, RecordIterator, RecordValues}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Evaluate, Expression}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.{MetadataColumns, NameMapping, Schema}
import iceberglite.spec.types.{Literal, NestedField, NestedType, PrimitiveType}
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.FileIO
import iceberglite.data.{FileConstants, ReadColumns}
import iceberglite.scan.deletes.{DeleteCacheAccess, DeleteReader, RowDeletes}

/**
 * Reads the rows of a task one by one, in any file format. Columns are matched by field id. Deleted rows are omitted
 * or, if `_deleted` is requested, marked. Not thread-safe.
 *
 * @param schema the scan's schema, which contains the columns of residual filters
 * @param requested the requested columns, with structs reduced to the requested fields, including metadata columns
 * @param filtered whether to omit rows that do not match a task's residual filter
 * @param cacheAccess the cache of decoded delete files; by default, a cache that only this reader uses
 */
final class TableRows(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    nameMapping: Option[NameMapping],
    schema: Schema,
    requested: Vector[NestedField],
    filtered: Boolean,
    cacheAccess: DeleteCacheAccess = DeleteCacheAccess.toNewCache
) {

  /** Whether `_deleted` is requested. If so, deleted rows are also returned. */
  private val marksRows: Boolean = requested.exists(_.id == MetadataColumns.Deleted.id)
  private val deleteReader = new DeleteReader(io, specs, nameMapping, cacheAccess)

  /**
   * Returns the rows in the order of the file.
   *
   * @throws InvalidArgument if the task is a split of the file; this class reads only whole files
   */
  def of(task: FileScanTask): RecordIterator = {
    if (!task.isWholeFile) throw InvalidArgument(
      s"range of ${task.file.path}",
      s"${task.start} to ${task.end}",
      "Only whole files can be read row by row"
    )
    val deletes = deleteReader.of(task.file.path, task.deletes)
    val deletesOfChangedRows = task.change.flatMap(_.deletesOfChangedRows).map(deleteReader.of(task.file.path, _))
    val output = new RowOutput(requested, task)
    val additional = deletes.columns ++ deletesOfChangedRows.toVector.flatMap(_.columns) ++ filterColumns(task)
    val columns = ReadColumns.merge(output.stored, additional)
    val hasPositionDeletes = (deletesOfChangedRows.toVector :+ deletes).exists(!_.positions.isEmpty)
    val needsPosition = hasPositionDeletes && !columns.exists(_.id == MetadataColumns.Position.id)
    val read = if (needsPosition) columns :+ MetadataColumns.Position else columns
    val source = DataSource.of(io, task.file, nameMapping, constants(task, read))
    val rows = DataFormats.of(task.file.format).read(source, StructType(read))
    val isDeleted = deleted(deletes, read)
    val marked = output.of(read, isDeleted)
    val tests = deletesOfChangedRows.map(deleted(_, read)).toVector ++
      (if (marksRows || deletes.isEmpty) Vector.empty else Vector((row: Record) => !isDeleted(row)))
    new PassingRows(rows, (tests ++ residual(task, read)).toArray, marked)
  }

  private def constants(task: FileScanTask, read: Vector[NestedField]): Map[Int, AnyRef] = {
    val metadata = read.flatMap(f => metadataValue(f, task).map(f.id -> _))
    FileConstants.identities(task.spec, task.file.partition, StructType(read)) ++ metadata
  }

  private def metadataValue(field: NestedField, task: FileScanTask): Option[AnyRef] =
    (field.id, field.fieldType) match {
      case (MetadataColumns.FilePath.id, _) => Some(task.file.path)
      case (MetadataColumns.SpecId.id, _) => Some(Int.box(task.spec.specId))
      case (MetadataColumns.Deleted.id, _) => Some(Boolean.box(false))
      case (MetadataColumns.ChangeType.id, _) => task.change.map(_.changeType.name)
      case (MetadataColumns.ChangeOrdinal.id, _) => task.change.map(c => Int.box(c.ordinal))
      case (MetadataColumns.CommitSnapshotId.id, _) => task.change.map(c => Long.box(c.snapshotId))
      // For a table that never had partition fields, `_partition` is null.
      case (MetadataColumns.PartitionId, struct: StructType) if struct.fields.nonEmpty =>
        Some(FileConstants.partition(struct, task.spec, task.file.partition))
      case _ => None
    }

  private def filterColumns(task: FileScanTask): Vector[NestedField] =
    if (filtered) task.residual.fieldIds.toVector.flatMap(ReadColumns.path(schema, _)).map(_.head)
    else Vector.empty

  private def deleted(deletes: RowDeletes, read: Vector[NestedField]): Record => Boolean = {
    val keys = deletes.keys.filterNot(_.isEmpty).map(_.toPredicate(read)).toArray
    val position = read.indexWhere(_.id == MetadataColumns.Position.id)
    row =>
      !deletes.positions.isEmpty && deletes.positions.isDeleted(TableRows.long(row(position))) || keys.exists(_(row))
  }

  private def residual(task: FileScanTask, read: Vector[NestedField]): Option[Record => Boolean] =
    if (filtered && task.residual != AlwaysTrue) Some(toPredicate(task.residual, read)) else None

  private def toPredicate(residual: Expression, read: Vector[NestedField]): Record => Boolean =
    Evaluate.rows[Record](
      residual,
      id => {
        val path = ReadColumns.path(schema, id)
          .getOrElse(throw InvalidArgument(
            "field id of the filter",
            id.toString,
            "The scan's schema has no such field"
          ))
        val ordinalPath = ReadColumns.ordinalPath(path, read).toArray
        path.last.fieldType match {
          case t: PrimitiveType => row => RecordValues.literal(ReadColumns.valueAt(row, ordinalPath), t)
          // A filter can only test whether a struct, list or map is null.
          case _: NestedType =>
            row => Option(ReadColumns.valueAt(row, ordinalPath)).map(_ => Literal.BooleanLiteral(true))
        }
      }
    )
}

private[scan] object TableRows {
  def long(value: AnyRef): Long = value.asInstanceOf[java.lang.Long].longValue

}

/** The rows of a file for which all of `tests` return true, converted by `output`. */
final private class PassingRows(
    rows: RecordIterator,
    tests: Array[Record => Boolean],
    output: Record => Record
) extends RecordIterator {
  private var nextRow: Option[Record] = None

  override def hasNext: Boolean = {
    while (nextRow.isEmpty && rows.hasNext) {
      val row = rows.next()
      if (passes(row)) nextRow = Some(row)
    }
    nextRow.isDefined
  }

  override def next(): Record = {
    if (!hasNext) throw new NoSuchElementException("The file has no more rows")
    val row = output(nextRow.get)
    nextRow = None
    row
  }

  override def close(): Unit = rows.close()

  private def passes(row: Record): Boolean = {
    var i = 0
    while (i < tests.length && tests(i)(row)) i += 1
    i == tests.length
  }
}
