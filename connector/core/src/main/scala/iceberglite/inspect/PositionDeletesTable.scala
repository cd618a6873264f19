package iceberglite.inspect

import scala.collection.mutable

import iceberglite.data.{DataFormats, DataSource, PositionDeleteFiles}
import iceberglite.puffin.{DeletionVector, DeletionVectorFiles}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile, ManifestContent}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, StringType, StructType}
import iceberglite.storage.FileIO
import iceberglite.table.Table
import iceberglite.tree.{BoundedEntries, FilePart, MetadataPool, SnapshotFiles}

/**
 * The positions in the position delete files and deletion vectors of a snapshot. Equality deletes have no positions and
 * are not shown.
 */
object PositionDeletesTable extends GroupedTable {
  override val name = "position_deletes"
  override val showsOneSnapshot = true

  override def schema(table: Table): Schema = layout(table).schema

  private[inspect] def layout(table: Table): PositionDeleteColumns = new PositionDeleteColumns(
    new PartitionStruct(table.metadata),
    table.schema,
    table.metadata.lastColumnId,
    hasContentRange = table.metadata.formatVersion.number >= FormatVersion.V3.number
  )

  /**
   * Returns groups of delete files, which the tasks find in the manifests again. Therefore the memory of the driver
   * does not depend on the number of delete files.
   */
  override def groupsOf(table: Table, snapshot: Option[Snapshot], request: RowRequest): Vector[MetadataRows] = {
    val columns = layout(table)
    val parts = FileScope.OneSnapshot.parts(table, snapshot, Seq(ManifestContent.Deletes), EntryLayout.LiveFiles)
    val cached = parts.headOption.flatMap { case (files, _) => BoundedEntries.cached(files, parts.map(_._2)) }
    MetadataPool.map(parts) { case (_, part) =>
      val source = PositionDeletePart(part, table.io, columns, request, cached)
      DeleteFileRange.divide(source.files).map(new PositionDeleteRows(source, _))
    }.flatten
  }
}

/**
 * The position delete files of one part of a metadata tree that may have requested rows.
 *
 * @param cached the snapshot whose cached entries are used; absent on executors, which do not cache parts
 */
final private[inspect] case class PositionDeletePart(
    part: FilePart,
    io: FileIO,
    columns: PositionDeleteColumns,
    request: RowRequest,
    cached: Option[SnapshotFiles]
) {
  def files: Iterator[ContentFile] = {
    val selection = new RequestedRows(columns.schema, request)
    BoundedEntries.of(part, io, cached)
      .filter(e => e.isLive && e.file.content == Content.PositionDeletes).map(_.file)
      .filter(columns.mightMatch(_, request, selection))
  }

  def forReading: PositionDeletePart = copy(part = part.forReading, cached = None)
}

/**
 * Consecutive delete files of a part.
 *
 * @param first the number of the first file, counted from 0
 * @param rows the number of positions in the files
 */
final private[inspect] case class DeleteFileRange(first: Long, files: Int, bytes: Long, rows: Long) {
  def +(file: ContentFile): DeleteFileRange =
    DeleteFileRange(first, files + 1, bytes + DeleteFileRange.sizeOf(file), rows + file.recordCountOrZero)

  /** The number of the first file after the range. */
  def end: Long = first + files

  /** Returns this range with the one that follows it. */
  def ++(next: DeleteFileRange): DeleteFileRange =
    DeleteFileRange(first, files + next.files, bytes + next.bytes, rows + next.rows)
}

private[inspect] object DeleteFileRange {
  private val MaxBytes = 8L << 20

  private def sizeOf(file: ContentFile): Long = file.contentSizeInBytes.getOrElse(file.fileSizeInBytes)

  /** Divides files into ranges, each of which ends when it has `maxBytes` bytes. */
  def divide(files: Iterator[ContentFile], maxBytes: Long = MaxBytes): Vector[DeleteFileRange] = {
    val full = Vector.newBuilder[DeleteFileRange]
    var current = DeleteFileRange(0, 0, 0, 0)
    files.foreach { file =>
      current += file
      if (current.bytes >= maxBytes) {
        full += current
        current = DeleteFileRange(current.end, 0, 0, 0)
      }
    }
    (if (current.files == 0) full else full += current).result()
  }
}

/**
 * The columns of the metadata table: the path, the position and the deleted row first, then columns with one value for
 * each delete file. The class is serializable, because executors read delete files.
 *
 * @param table the columns of the table, for the deleted row
 * @param hasContentRange whether there are columns for the position of a deletion vector in its file
 */
final private[inspect] class PositionDeleteColumns(
    partition: PartitionStruct,
    table: Schema,
    lastColumnId: Int,
    hasContentRange: Boolean
) extends Serializable {
  import PositionDeleteColumns._

  val row: NestedField = NestedField.optional(RowId, "row", table.asStruct, "Values of the deleted row")

  private val ofFile: Vector[NestedField] = {
    // The partition fields get other ids here, because their own ids could equal the ids of columns in a deleted row.
    val tuple = StructType(partition.structType.fields.map(f => f.copy(id = lastColumnId + f.id)))
    val key = NestedField.required(MetadataColumns.PartitionId, "partition", tuple, "Partition of the delete file")
    val file = Vector(
      NestedField.required(MetadataColumns.SpecId.id, "spec_id", IntType, "Id of the partition spec"),
      NestedField.required(MetadataColumns.FilePath.id, "delete_file_path", StringType, "Path of the delete file")
    )
    val range = Vector(
      NestedField.optional(OffsetId, "content_offset", LongType, "Offset of the deletion vector in its file"),
      NestedField.optional(SizeId, "content_size_in_bytes", LongType, "Size of the deletion vector in bytes")
    )
    (if (partition.isEmpty) Vector.empty else Vector(key)) ++ file ++ (if (hasContentRange) range else Vector.empty)
  }

  val schema: Schema = Schema(0, (PositionDeleteFiles.Struct.fields :+ row) ++ ofFile)

  /** Returns the values of a delete file for the columns after [[row]]. */
  def valuesOf(file: ContentFile): Vector[Any] =
    (if (partition.isEmpty) Vector.empty else Vector(partition.row(file.specId, file.partition))) ++
      Vector(file.specId, file.path) ++
      (if (hasContentRange) Vector(file.contentOffset, file.contentSizeInBytes) else Vector.empty)

  /** Whether a delete file may have rows that satisfy the filter, according to its manifest entry. */
  def mightMatch(file: ContentFile, request: RowRequest, selection: RequestedRows): Boolean = {
    lazy val values = valuesOf(file)
    def value(position: Int): Any = if (position == 0) file.referencedDataFile else values(position - FileValues)
    request.mightMatch { p =>
      val isKnown = selection.positionOf(p).exists(i => i >= FileValues || i == 0 && file.referencedDataFile.isDefined)
      !isKnown || selection.predicate(p)(value)
    }
  }
}

private object PositionDeleteColumns {

  /** The id of the column `row` of position delete files (spec: "Position Delete Files"). */
  private val RowId = Int.MaxValue - 103
  private val OffsetId = Int.MaxValue - 6
  private val SizeId = Int.MaxValue - 7

  /** The position of the first column with one value for each delete file. */
  val FileValues = 3
}

/** The rows of a range of position delete files and deletion vectors, of which one is in memory at a time. */
final private[inspect] class PositionDeleteRows(
    private val source: PositionDeletePart,
    private val range: DeleteFileRange
) extends MetadataRows {
  import source.{columns, io, request}

  override def bytes: Long = range.bytes
  override def estimatedRows: Long = range.rows
  override def forReading: MetadataRows = new PositionDeleteRows(source.forReading, range)

  /** Ranges of the same part are combined, because each group reads the part. */
  override private[inspect] def followedBy(next: MetadataRows): Option[MetadataRows] = next match {
    case that: PositionDeleteRows if (that.source eq source) && that.range.first == range.end =>
      Some(new PositionDeleteRows(source, range ++ that.range))
    case _ => None
  }

  override def rows(): GroupRows = new GroupRows {
    private val files = filesOfRange
    private var current = Option.empty[GroupRows]

    override def hasNext: Boolean = {
      while (!current.exists(_.hasNext) && files.hasNext) current = Some(rowsOf(files.next()))
      current.exists(_.hasNext)
    }

    override def next(): MetadataRow = if (hasNext) current.get.next() else Iterator.empty.next()

    /** Closes the files. The part is read to its end, because this closes its file. */
    override def close(): Unit = {
      current.foreach(_.close())
      files.foreach(_ => ())
    }
  }

  private def filesOfRange: Iterator[ContentFile] = {
    var number = -1L
    source.files.filter { _ =>
      number += 1
      number >= range.first && number < range.end
    }
  }

  private def rowsOf(file: ContentFile): GroupRows = {
    val selection = new RequestedRows(columns.schema, request)
    val ofFile = columns.valuesOf(file)
    def selected(path: String, position: Long, row: => Option[MetadataRow]): Option[MetadataRow] = selection {
      case 0 => path
      case 1 => position
      case 2 => row
      case i => ofFile(i - PositionDeleteColumns.FileValues)
    }
    if (file.isDeletionVector) {
      val path = file.referencedDataFile.getOrElse("")
      GroupRows(new VectorPositions(DeletionVectorFiles.read(io, file)).flatMap(selected(path, _, None)))
    } else {
      val needsRow = request.needs(columns.row)
      val struct =
        StructType(PositionDeleteFiles.Struct.fields ++ (if (needsRow) Vector(columns.row) else Vector.empty))
      val opened = DataSource.of(io, file, Some(PositionDeleteFiles.Names))
      val records = DataFormats.of(file.format).read(opened, struct)
      val convert = RecordRows.of(struct)
      val rows = records.map(convert).flatMap { case MetadataRow(values) =>
        selected(values(0).toString, values(1).asInstanceOf[Long], RecordRows.structAt(values, 2))
      }
      GroupRows(rows, records)
    }
  }
}

/** The positions of a deletion vector. Only a part of the positions is in an array at a time. */
final private class VectorPositions(vector: DeletionVector) extends Iterator[Long] {
  private val Window = 1L << 20
  private var from = 0L
  private var left = vector.cardinality
  private var current = Iterator[Long]()

  override def hasNext: Boolean = {
    while (!current.hasNext && left > 0) {
      // A window begins at a position of the vector, because the positions can be far apart.
      from = vector.firstFrom(from).getOrElse(from)
      val positions = new mutable.ArrayBuilder.ofLong
      var count = 0L
      vector.foreachIn(from, from + Window) { position =>
        positions += position
        count += 1
      }
      from += Window
      left -= count
      current = positions.result().iterator
    }
    current.hasNext
  }

  override def next(): Long = if (hasNext) current.next() else Iterator.empty.next()
}
