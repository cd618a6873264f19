package iceberglite.maintenance.compact

import iceberglite.puffin.DeletionVector
import iceberglite.scan.{FileScanTask, TableRows}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.{MetadataColumns, NameMapping, Schema}
import iceberglite.storage.FileIO
import iceberglite.table.Table

/**
 * Reads the row ids in data files (spec, version 3: "Row Lineage"). Serializable, so that Spark tasks can read them.
 *
 * @param schema schema of the table
 */
final case class RowIds(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    nameMapping: Option[NameMapping],
    schema: Schema
) {

  /** Returns the ids of the rows of a committed data file at the given positions. */
  def of(file: ContentFile, positions: DeletionVector): DeletionVector = {
    val ids = DeletionVector.newBuilder
    foreachRow(file)((position, id) => if (positions.isDeleted(position)) ids += id)
    ids.result()
  }

  /** Returns the positions of the rows of a new data file that have one of the given ids. */
  def positions(file: ContentFile, ids: DeletionVector): DeletionVector = {
    val found = DeletionVector.newBuilder
    foreachRow(file.copy(firstRowId = Some(RowIds.NoId)))((position, id) => if (ids.isDeleted(id)) found += position)
    found.result()
  }

  /** Calls `f` with the position and the id of each row. */
  private def foreachRow(file: ContentFile)(f: (Long, Long) => Unit): Unit = {
    val columns = Vector(MetadataColumns.Position, MetadataColumns.RowId)
    val rows = new TableRows(io, specs, nameMapping, schema, columns, filtered = false)
    val all = rows.of(FileScanTask(file, 0L, specs(file.specId), AlwaysTrue, 0L, file.fileSizeInBytes))
    try all.foreach(row => f(RowIds.long(row(0)), RowIds.long(row(1))))
    finally all.close()
  }
}

object RowIds {

  /**
   * The first row id of a new file, which gets its first row id only when it is committed. It is so small that rows
   * without a stored id match no id.
   */
  private val NoId = Long.MinValue

  /** Returns the reader of the files of a table. */
  def of(table: Table): RowIds =
    RowIds(table.io, table.metadata.specsById, table.nameMapping, table.schema)

  private def long(value: AnyRef): Long = value.asInstanceOf[java.lang.Long].longValue
}
