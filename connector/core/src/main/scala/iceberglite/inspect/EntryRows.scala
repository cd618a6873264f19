package iceberglite.inspect

import iceberglite.spec.expr.{Evaluate, Predicate, Term}
import iceberglite.spec.file.{Content, ManifestContent, ManifestEntry, ManifestEvaluator, PartSummary}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField}
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.FileIO
import iceberglite.tree.{BoundedEntries, DataFileFields, FilePart, PartFilter, PartitionSpecs, SnapshotFiles}

/** A column of a metadata table with one row for each manifest entry. */
final private[inspect] case class EntryColumn(field: NestedField, value: ManifestEntry => Any)

/** The columns and rows of a metadata table with one row for each manifest entry. */
sealed private[inspect] trait EntryLayout extends Product with Serializable {

  /** Returns the columns. @param request determines which values are needed; absent if all of them are */
  def columns(files: ContentFileColumns, metrics: ReadableMetrics, request: Option[RowRequest]): Vector[EntryColumn]

  /** Whether the metadata table has a row for an entry. */
  def shows(entry: ManifestEntry): Boolean

  /**
   * Returns the parts of a metadata tree (manifests in format versions 1 to 3) that are shown in addition to
   * [[SnapshotFiles.parts]]: the metadata table also shows the entries of these parts.
   */
  def partsBesides(files: SnapshotFiles): Vector[FilePart]

  final protected def readable(
      metrics: ReadableMetrics,
      others: Vector[NestedField],
      request: Option[RowRequest]
  ): EntryColumn = {
    val field = metrics.field(ContentFileColumns.idsAbove(others))
    val values = metrics.values(field, request)
    EntryColumn(field, e => values(e.file))
  }
}

private[inspect] object EntryLayout {

  /** One row for each live file, with the fields of `data_file` as columns. */
  case object LiveFiles extends EntryLayout {
    override def columns(
        files: ContentFileColumns,
        metrics: ReadableMetrics,
        request: Option[RowRequest]
    ): Vector[EntryColumn] =
      files.columns.map(c => EntryColumn(c.field, e => c.value(e.file))) :+ readable(metrics, files.fields, request)

    override def shows(entry: ManifestEntry): Boolean = entry.isLive

    override def partsBesides(files: SnapshotFiles): Vector[FilePart] = Vector.empty
  }

  /** One row for each entry, with the fields of `manifest_entry` as columns. */
  case object Entries extends EntryLayout {
    override def columns(
        files: ContentFileColumns,
        metrics: ReadableMetrics,
        request: Option[RowRequest]
    ): Vector[EntryColumn] = {
      val columns = Vector(
        EntryColumn(DataFileFields.Status, _.status.code),
        EntryColumn(DataFileFields.SnapshotId, _.snapshotId),
        EntryColumn(DataFileFields.SequenceNumber, _.sequenceNumber),
        EntryColumn(DataFileFields.FileSequenceNumber, _.fileSequenceNumber),
        EntryColumn(DataFileFields.dataFile(StructType(files.fields)), e => MetadataRow(files.values(e.file)))
      )
      columns :+ readable(metrics, columns.map(_.field), request)
    }

    override def shows(entry: ManifestEntry): Boolean = true

    override def partsBesides(files: SnapshotFiles): Vector[FilePart] = files.removedParts
  }
}

/**
 * Converts entries to the requested rows of a metadata table. The class is serializable, because executors convert
 * entries.
 *
 * @param table the columns of the table, for `readable_metrics`
 */
final private[inspect] class EntryRows(
    layout: EntryLayout,
    partition: PartitionStruct,
    table: Schema,
    request: RowRequest
) extends Serializable {
  @transient private lazy val columns: Array[EntryColumn] =
    layout.columns(new ContentFileColumns(partition), new ReadableMetrics(table), Some(request)).toArray
  @transient private lazy val selection = new RequestedRows(Schema(0, columns.toVector.map(_.field)), request)

  def of(entries: Iterator[ManifestEntry]): Iterator[MetadataRow] =
    entries.filter(layout.shows).flatMap(e => selection(columns(_).value(e)))
}

/**
 * The rows of one part of a metadata tree.
 *
 * @param cached the snapshot whose cached entries are used; absent on executors, which do not cache parts
 */
final private[inspect] class PartRows(part: FilePart, io: FileIO, entryRows: EntryRows, cached: Option[SnapshotFiles])
    extends MetadataRows {
  override def bytes: Long = part.length
  override def estimatedRows: Long = part.estimatedLiveFiles
  override def rows(): GroupRows = GroupRows(entryRows.of(BoundedEntries.of(part, io, cached)))
  override def forReading: MetadataRows = new PartRows(part.forReading, io, entryRows, None)
}

/** Determines which parts may list entries that satisfy the filter of a request on a metadata table. */
final private[inspect] class EntryPruning(request: RowRequest, specs: PartitionSpecs) extends PartFilter {
  override def mightMatch(part: PartSummary): Boolean = request.mightMatch { p =>
    p.term match {
      case Term.Bound(DataFileFields.Content, _) => contentsOf(part).exists(c => holds(p, IntLiteral(c.code)))
      case Term.Bound(DataFileFields.SpecId, _) => holds(p, IntLiteral(part.specId))
      case Term.Bound(field, _) => mightHavePartition(p, field, part)
      case _: Term.Transformed | _: Term.Part | _: Term.Named => true
    }
  }

  private def contentsOf(part: PartSummary): Seq[Content] = part.content match {
    case ManifestContent.Data => Seq(Content.Data)
    case ManifestContent.Deletes => Seq(Content.PositionDeletes, Content.EqualityDeletes)
  }

  private def holds(p: Predicate, value: Literal): Boolean =
    Evaluate.rows[Option[Literal]](p, _ => identity)(Some(value))

  /** Tests a predicate on a partition field with the partition summaries; true for predicates on other fields. */
  private def mightHavePartition(p: Predicate, field: NestedField, part: PartSummary): Boolean = {
    val spec = specs.of(part)
    val tuple = spec.partitionType(specs.sources)
    !tuple.fields.exists(f => f.id == field.id && f.fieldType == field.fieldType) ||
    new ManifestEvaluator(p, spec, tuple).mightMatch(part)
  }
}
