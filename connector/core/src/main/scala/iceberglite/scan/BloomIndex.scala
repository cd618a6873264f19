package iceberglite.scan

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.IdentityHashMap
import java.util.concurrent.ConcurrentHashMap

import scala.util.Try

import org.slf4j.LoggerFactory

import iceberglite.puffin.{BloomEntry, BloomFilter, BloomIndexBlob, BloomFileKey, BloomScope, NewBlob, ValueForm}
import iceberglite.spec.IcebergError
import iceberglite.spec.expr.{ColumnRange, Expression, RangeEvaluator, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.metadata.{BlobMetadata, BlobProperty, BlobType, Encryption, Snapshot, StatisticsFile}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.Identity
import iceberglite.spec.property.{BloomIndexProperty, TableProperty}
import iceberglite.spec.types.{Literal, NestedField, NestedType, PrimitiveType}
import iceberglite.tree.{MetadataPool, TreeTable}

/**
 * Excludes data files from a scan by the Bloom filters in a statistics file. The filters describe all rows of a file,
 * including deleted rows, so that they are valid for each snapshot that contains the file. They are only advice: if
 * they cannot be read, no file is excluded.
 *
 * @param bound the filter of the scan
 * @param columns the statistics files with the Bloom filters, by the field id of the indexed column. Only columns that
 *   the filter of the scan compares with values are included
 */
final class BloomIndex private (table: TreeTable, bound: Expression, columns: Map[Int, StatisticsFile]) {
  import BloomIndex._

  /**
   * Returns a function that returns false only for files in which no row matches.
   *
   * @param tasks the files that the function is applied to
   */
  def filter(tasks: Vector[FileScanTask]): FileScanTask => Boolean =
    if (tasks.size < MinFiles) _ => true
    else
      unlessDamaged(table, (_: FileScanTask) => true) {
        val keys = tasks.map(task => BloomFileKey.of(task.file))
        val byTask = new IdentityHashMap[FileScanTask, BloomFileKey](tasks.size)
        tasks.indices.foreach(i => byTask.put(tasks(i), keys(i)))
        val blobs = open(table, columns, math.min(maxBytes, tasks.iterator.map(_.length).sum))
        val entries = affordable(blobs.map(_.entriesOf(keys)), maxBytes - blobs.map(_.directoryBytes).sum)
        val ranges = blobs.zip(entries).map { case (blob, found) =>
          blob.scope.fieldId -> new FilterRange(blob.scope, byTask, load(blob, found))
        }.toMap
        if (ranges.isEmpty) _ => true
        else RangeEvaluator.mightMatch[FileScanTask](bound, term => ranges.get(term.field.id))
      }

  /**
   * Returns as many of the Bloom filters as a size limit allows, the smallest ones first. The data files of the other
   * filters are not excluded from the scan.
   *
   * @param entries the filters of each column
   * @param bytes the limit of the total size
   */
  private def affordable(entries: Vector[Vector[BloomEntry]], bytes: Long): Vector[Vector[BloomEntry]] = {
    val sizes = entries.iterator.flatten.map(_.length.toLong).toArray.sorted
    val sums = sizes.scanLeft(0L)(_ + _)
    val count = sums.lastIndexWhere(_ <= bytes)
    if (count == sizes.length) entries
    else {
      log.warn(s"${sizes.length - count} of ${sizes.length} Bloom filters of ${table.name} are not used, because " +
        s"${BloomIndexProperty.MaxReadBytes.key} is $maxBytes. The query reads their files")
      val smallest = entries.zipWithIndex.flatMap { case (ofColumn, i) => ofColumn.map(i -> _) }
        .sortBy(_._2.length).take(count).groupBy(_._1)
      entries.indices.toVector.map(i => smallest.getOrElse(i, Vector.empty).map(_._2))
    }
  }

  private def load(blob: BloomIndexBlob, entries: Vector[BloomEntry]): Map[BloomFileKey, BloomFilter] =
    MetadataPool.map(BloomIndexBlob.runs(entries))(blob.read).iterator.flatten.toMap

  private def maxBytes: Long = TableProperty.of(BloomIndexProperty.MaxReadBytes, table.metadata.properties)
}

object BloomIndex {
  private val log = LoggerFactory.getLogger("iceberglite.scan.BloomIndex")

  /** The minimum number of files for which the index is read. */
  private val MinFiles = 2

  /** The maximum number of indexed columns. The ids of more columns may not fit into the name of a file. */
  private[iceberglite] val MaxColumns = 16

  /**
   * The maximum number of values in an `IN` condition. With more values, false positives of the Bloom filter would
   * include nearly all files.
   */
  private val MaxValues = 100

  /**
   * Returns the index for a filter; absent if the table has no index of a column that the filter compares with values.
   *
   * @param bound the filter, bound to the scan's schema
   */
  def of(table: TreeTable, snapshot: Option[Snapshot], bound: Expression): Option[BloomIndex] =
    if (table.metadata.statistics.isEmpty) None
    else
      unlessDamaged(table, Option.empty[BloomIndex]) {
        val compared = comparedColumns(bound)
        val indexed = columns(table.metadata).map(_.id).filter(compared)
        val files = indexed.flatMap(id => fileOf(table.metadata, snapshot, id).map(id -> _)).toMap
        if (files.isEmpty) None else Some(new BloomIndex(table, bound, files))
      }

  /** Whether a table has filters of a column. */
  def isIndexed(table: TreeTable, fieldId: Int): Boolean = unlessDamaged(table, false) {
    table.metadata.statistics.nonEmpty && columns(table.metadata).exists(_.id == fieldId) &&
    fileOf(table.metadata, None, fieldId).isDefined
  }

  /**
   * Returns the indexed columns. Names in the property that no column has, for example after a column was dropped by
   * another engine, are ignored, as are columns beyond the maximum number.
   *
   * @throws IcebergError.InvalidArgument if the value of the property is invalid
   */
  def columns(metadata: TableMetadata): Vector[NestedField] =
    TableProperty.of(BloomIndexProperty.Columns, metadata.properties).getOrElse(Vector.empty).distinct
      .flatMap(name => metadata.schema.fields.find(_.name == name)).filter(formOf(_).isDefined)
      .take(MaxColumns)

  /** Returns the form of the values of a column; absent if columns of its type cannot be indexed. */
  private[iceberglite] def formOf(column: NestedField): Option[ValueForm] = column.fieldType match {
    case t: PrimitiveType => ValueForm.of(t)
    case _: NestedType => None
  }

  /** Returns a value that uses the index, or another value if the index or its properties cannot be read. */
  private def unlessDamaged[A](table: TreeTable, otherwise: A)(body: => A): A =
    try body
    catch {
      case e: IcebergError =>
        log.warn(s"The Bloom index of ${table.name} is not used. Call compute_table_stats to write it again: " +
          e.getMessage)
        otherwise
    }

  /**
   * Returns the statistics file with the filters of a column: that of the snapshot or of its nearest ancestor that has
   * one. If there is none, the file of the newest snapshot is returned, because snapshots have files in common. In an
   * encrypted table, files without a key are ignored, because forged filters would exclude files.
   */
  private[iceberglite] def fileOf(
      metadata: TableMetadata,
      snapshot: Option[Snapshot],
      fieldId: Int
  ): Option[StatisticsFile] = {
    val files =
      metadata.statistics.filter(f => fieldIdsOf(f).contains(fieldId) && Encryption.isReadable(metadata, f))
    if (files.isEmpty) None
    else {
      val bySnapshot = files.map(file => file.snapshotId -> file).toMap
      val ofAncestors = snapshot.orElse(metadata.currentSnapshot).iterator.flatMap(metadata.ancestors)
        .flatMap(s => bySnapshot.get(s.snapshotId))
      if (ofAncestors.hasNext) Some(ofAncestors.next())
      else Some(files.maxBy(f => metadata.snapshotsById.get(f.snapshotId).map(_.sequenceNumber)))
    }
  }

  private def isIndexOf(blob: BlobMetadata, fieldId: Int): Boolean =
    blob.blobType == BlobType.BloomIndex && blob.fields == Vector(fieldId)

  private val NameStart = "-bloom-"
  private val NameEnd = ".stats"
  private val PartialMark = "part-"

  /** The maximum length of the part of a name that lists columns. */
  private val MaxNamePart = MaxColumns * 11 + NameStart.length + PartialMark.length + NameEnd.length

  /** Returns the blob with a mark, which states that the index lacks filters of files that were not read. */
  private[iceberglite] def withPartialMark(blob: NewBlob): NewBlob =
    blob.copy(metadata = blob.metadata.copy(properties = blob.metadata.properties + (BlobProperty.Partial -> "true")))

  /**
   * Returns the part of a statistics file's name that lists the indexed columns. The table metadata does not list the
   * blobs of the index, because PyIceberg rejects metadata with blobs of unknown types.
   */
  private[iceberglite] def namePart(blobs: Vector[BlobMetadata]): String = {
    val index = blobs.filter(_.blobType == BlobType.BloomIndex)
    val mark = if (index.exists(_.properties.contains(BlobProperty.Partial))) PartialMark else ""
    if (index.isEmpty) "" else index.flatMap(_.fields).mkString(NameStart + mark, "-", "")
  }

  /** Whether the index of a file lacks filters of files that were not read, according to the file's name. */
  private[iceberglite] def isPartial(file: StatisticsFile): Boolean =
    namePartOf(file).exists(_.startsWith(PartialMark))

  /** Returns the ids of the indexed columns; empty if the name of the file does not end with [[namePart]]. */
  private[scan] def fieldIdsOf(file: StatisticsFile): Set[Int] = {
    val ids = namePartOf(file).toVector.flatMap(_.stripPrefix(PartialMark).split("-", -1)).map { id =>
      if (id.nonEmpty && id.forall(c => c >= '0' && c <= '9')) Try(id.toInt).toOption else None
    }
    if (ids.forall(_.isDefined)) ids.flatten.toSet else Set.empty
  }

  private def namePartOf(file: StatisticsFile): Option[String] = {
    val end = file.statisticsPath.takeRight(MaxNamePart)
    val start = end.lastIndexOf(NameStart)
    if (start < 0 || !end.endsWith(NameEnd)) None
    else Some(end.substring(start + NameStart.length, end.length - NameEnd.length))
  }

  /** Identifies the table's name mapping, which determines the columns of files without field ids. */
  private[iceberglite] def nameMappingOf(metadata: TableMetadata): String =
    TableProperty.of(TableProperty.NameMappingDefault, metadata.properties).fold("") { mapping =>
      MessageDigest.getInstance("SHA-256").digest(mapping.getBytes(UTF_8)).map(b => f"$b%02x").mkString
    }

  /**
   * Opens the blobs with the filters of columns. Each blob begins with a directory, which lists the filters. A blob is
   * omitted if the directories would be too large, or if the rows that the filters describe were read with another name
   * mapping.
   *
   * @param columns the statistics files by field id
   * @param maxBytes the maximum total size of the directories
   * @throws IcebergError if a file is damaged or does not exist
   */
  private[iceberglite] def open(
      table: TreeTable,
      columns: Map[Int, StatisticsFile],
      maxBytes: Long
  ): Vector[BloomIndexBlob] =
    columns.groupBy(_._2).toVector.sortBy(_._2.keys.min).foldLeft(Vector.empty[BloomIndexBlob]) {
      case (others, (statistics, ids)) =>
        val file = table.openStatistics(statistics)
        ids.keys.toVector.sorted.flatMap(id => file.blobs.find(b => isIndexOf(b.metadata, id)))
          .foldLeft(others) { (opened, blob) =>
            opened ++ BloomIndexBlob.open(
              table.statisticsIO(statistics),
              file,
              blob,
              maxBytes - opened.map(_.directoryBytes).sum
            )
          }
    }.filter(_.scope.nameMapping == nameMappingOf(table.metadata))

  /**
   * Whether the value of a column is a partition value of the file. If so, this value may differ from the values in the
   * file, and the key of the file in the index does not depend on it.
   */
  private[iceberglite] def isConstant(task: FileScanTask, fieldId: Int): Boolean =
    task.spec.fields.exists(f => f.transform == Identity && f.sourceIds.contains(fieldId))

  /** Returns the ids of the columns that the filter compares with a few values. */
  private def comparedColumns(e: Expression): Set[Int] = e match {
    case And(l, r) => comparedColumns(l) ++ comparedColumns(r)
    case Or(l, r) => comparedColumns(l) ++ comparedColumns(r)
    case Equal(Term.Bound(field, _), _) => Set(field.id)
    case In(Term.Bound(field, _), values) if values.size <= MaxValues => Set(field.id)
    case _ => Set.empty
  }

  /**
   * The values of a column in a file, according to its Bloom filter. Tasks without a key are not excluded.
   *
   * @param keys the keys of the files of the tasks, which are compared by identity
   */
  final private class FilterRange(
      scope: BloomScope,
      keys: IdentityHashMap[FileScanTask, BloomFileKey],
      filters: Map[BloomFileKey, BloomFilter]
  ) extends ColumnRange[FileScanTask] {
    private val hashes = new ConcurrentHashMap[Literal, Option[java.lang.Long]]

    override def mayBeNull(task: FileScanTask): Boolean = true
    override def mayBeNan(task: FileScanTask): Boolean = true
    override def mayBeOrdinary(task: FileScanTask): Boolean = true
    override def lower(task: FileScanTask): Option[Literal] = None
    override def upper(task: FileScanTask): Option[Literal] = None

    override val mayContain: (FileScanTask, Literal) => Boolean = (task, value) =>
      isConstant(task, scope.fieldId) || hashOf(value).forall(hash => filterOf(task).forall(_.mayContain(hash)))

    private def filterOf(task: FileScanTask): Option[BloomFilter] = Option(keys.get(task)).flatMap(filters.get)

    /** Returns the hash of a value; absent if the values of the filters have another form. */
    private def hashOf(value: Literal): Option[java.lang.Long] = hashes.computeIfAbsent(
      value,
      v => if (scope.form.includes(v)) Some(Long.box(scope.form.hash(v))) else None
    )
  }
}
