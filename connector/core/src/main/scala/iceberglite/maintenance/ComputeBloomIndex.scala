package iceberglite.maintenance

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import iceberglite.data.{DataFormats, DataSource, RecordValues}
import iceberglite.puffin.{BloomFilter, BloomIndexBlob, BloomScope, BloomFileKey, NewBlob, ValueForm}
import iceberglite.scan.{BloomIndex, FileScanTask, StatsToKeep, TableRows, TableScan}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile, ValidationFailed}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.property.{BloomIndexProperty, TableProperty}
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.storage.FileIO
import iceberglite.table.Table

/**
 * Computes the Bloom filters of data files; the object itself contains no filters. It can be sent to executors.
 *
 * @param columns the columns with filters
 * @param maxFilterBytes the maximum size of one filter
 */
final class FileFilters(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    nameMapping: Option[NameMapping],
    schema: Schema,
    columns: Vector[NestedField],
    maxFilterBytes: Long
) extends Serializable {

  /**
   * Returns the filter of each column for the rows of a file, including deleted rows. A column whose values do not only
   * depend on the file gets a filter that excludes nothing: a column that is found by its name, or whose value is a
   * partition value.
   *
   * @throws UnreadableFile if a value does not have the type of its column, because a filter without the value would be
   *   wrong
   */
  def of(task: FileScanTask): Vector[BloomFilter] = {
    val types = columns.map(_.fieldType.asInstanceOf[PrimitiveType])
    val forms = types.map(ValueForm.of(_).get)
    val source = DataSource.of(io, task.file, nameMapping)
    // A file that is read by column names yields the values of another column after a rename.
    if (DataFormats.of(task.file.format).isReadByNames(source)) columns.map(_ => BloomFilter.ofEverything)
    else columns.zip(filters(task, types, forms)).map { case (column, filter) =>
      if (BloomIndex.isConstant(task, column.id)) BloomFilter.ofEverything else filter
    }
  }

  private def filters(
      task: FileScanTask,
      types: Vector[PrimitiveType],
      forms: Vector[ValueForm]
  ): Vector[BloomFilter] = {
    val builders = columns.map(_ => new BloomFilter.Builder(maxFilterBytes))
    val rows = new TableRows(io, specs, nameMapping, schema, columns, filtered = false)
      .of(task.copy(deletes = Vector.empty))
    try rows.foreach { row =>
        var i = 0
        while (i < builders.size) {
          val value = row(i)
          if (value != null) builders(i) += forms(i).hash(literal(task, value, types(i)))
          i += 1
        }
      }
    finally rows.close()
    builders.map(_.result())
  }

  private def literal(task: FileScanTask, value: AnyRef, t: PrimitiveType): Literal =
    RecordValues.literal(value, t).getOrElse(
      throw UnreadableFile(
        task.file.path,
        "data file",
        s"A value of a column of type $t is a ${value.getClass.getName}"
      )
    )
}

/** Computes Bloom filters of many data files, for example with a cluster. */
trait FileFilterJob {

  /**
   * Returns the filters of the files, in the order of the files; see [[FileFilters.of]].
   *
   * @param filters computes the filters of one file
   */
  def compute(filters: FileFilters, tasks: Vector[FileScanTask]): Vector[Vector[BloomFilter]]
}

object FileFilterJob {

  /** Computes the filters in this JVM. */
  object Local extends FileFilterJob {
    override def compute(filters: FileFilters, tasks: Vector[FileScanTask]): Vector[Vector[BloomFilter]] =
      tasks.map(filters.of)
  }
}

/**
 * Creates the Bloom index of a snapshot: the filters of its data files, for the columns that a property lists. Filters
 * in an earlier statistics file are used again.
 *
 * @param added the paths of the files to compute filters for, unless they already have filters; `None` means all files
 *   of the snapshot
 * @param job computes the filters of the files that have none
 */
final class ComputeBloomIndex private (
    table: Table,
    snapshot: Snapshot,
    indexed: Vector[NestedField],
    added: Option[Set[String]],
    job: FileFilterJob
) {
  import ComputeBloomIndex._

  private val maxFilterBytes = TableProperty.of(BloomIndexProperty.MaxFilterBytes, table.properties)

  /** The maximum total size of the filters of one column. */
  private val maxColumnBytes = MaxTotalBytes / indexed.size

  private val fileFilters =
    new FileFilters(table.io, table.metadata.specsById, table.nameMapping, table.schema, indexed, maxFilterBytes)

  private type ByFile = Map[BloomFileKey, Vector[BloomFilter]]

  /** Returns the blobs of the index. */
  def blobs(): Vector[NewBlob] = {
    val tasks = TableScan(table.tree(), Some(snapshot), AlwaysTrue, caseSensitive = true)
      .copy(statsToKeep = StatsToKeep.Of(Set.empty)).plan().tasks
      .map(_.copy(deletes = Vector.empty))
    val byKey = tasks.map(task => BloomFileKey.of(task.file) -> task).toMap
    val known = existing(byKey.keySet)
    val withoutFilters = byKey.toVector.filterNot { case (key, _) => known.contains(key) }.sortBy(_._2.file.path)
    val toCompute = withoutFilters.filter { case (_, task) => added.forall(_(task.file.path)) }
    val all = compute(known, sizeOf(known.values), toCompute)
    warn(all, known.size + toCompute.size)
    indexed.indices.toVector.map { i =>
      val blob =
        BloomIndexBlob.write(scopeOf(indexed(i)), snapshot, all.map { case (key, columns) => key -> columns(i) })
      if (toCompute.size == withoutFilters.size) blob else BloomIndex.withPartialMark(blob)
    }
  }

  /** @param wanted the number of files that the index would have without the limit on its size */
  private def warn(all: ByFile, wanted: Int): Unit = {
    if (all.size < wanted) log.warn(
      s"The Bloom index of ${table.name} has filters of only ${all.size} of $wanted files, because it is " +
        s"limited to $MaxTotalBytes bytes. All queries read the other files. Index fewer columns, or reduce " +
        BloomIndexProperty.MaxFilterBytes.key
    )
    indexed.zipWithIndex.foreach { case (column, i) =>
      val useless = all.valuesIterator.count(_(i).excludesNothing)
      if (useless > 0) log.warn(
        s"The Bloom index of ${table.name} never excludes $useless of ${all.size} files for the column " +
          s"${column.name}: they have too many distinct values for ${BloomIndexProperty.MaxFilterBytes.key}, are " +
          "partitioned by the column, or have no field ids"
      )
    }
  }

  private def scopeOf(column: NestedField): BloomScope = BloomScope(
    column.id,
    BloomIndex.formOf(column).get,
    BloomIndex.nameMappingOf(table.metadata),
    maxFilterBytes
  )

  /** Returns the size of the filters of the column with the largest filters. */
  private def sizeOf(filters: Iterable[Vector[BloomFilter]]): Long =
    if (filters.isEmpty) 0L else indexed.indices.map(i => filters.iterator.map(_(i).size.toLong).sum).max

  /**
   * Computes filters until all files have filters, or until the index has its maximum size.
   *
   * @param used the size of the known filters, or an upper bound of it
   * @param toCompute the files without filters
   */
  @tailrec
  private def compute(known: ByFile, used: Long, toCompute: Vector[(BloomFileKey, FileScanTask)]): ByFile = {
    var total = used
    val now = toCompute.take(MaxBatch).takeWhile { case (_, task) =>
      total += BloomFilter.maxSize(task.file.recordCountOrZero, maxFilterBytes)
      total <= maxColumnBytes
    }
    if (now.isEmpty) known
    else {
      val computed = withinLimit(used, now.map(_._1).zip(job.compute(fileFilters, now.map(_._2))))
      compute(known ++ computed, used + sizeOf(computed.map(_._2)), toCompute.drop(now.size))
    }
  }

  /**
   * Returns the first filters until the index has its maximum size. This method checks the real sizes, because
   * [[compute]] estimates them from the record counts of files, which may be wrong.
   */
  private def withinLimit(
      used: Long,
      computed: Vector[(BloomFileKey, Vector[BloomFilter])]
  ): Vector[(BloomFileKey, Vector[BloomFilter])] = {
    var total = used
    computed.takeWhile { case (_, ofFile) =>
      total += ofFile.map(_.size.toLong).max
      total <= maxColumnBytes
    }
  }

  /** Returns the filters of files that an earlier statistics file contains for all columns, up to the maximum size. */
  private def existing(keys: Set[BloomFileKey]): ByFile =
    try {
      val files = indexed.flatMap { column =>
        BloomIndex.fileOf(table.metadata, Some(snapshot), column.id).map(column.id -> _)
      }
      val byColumn = BloomIndex.open(table.tree(), files.toMap, MaxTotalBytes).map(blob => blob.scope -> blob).toMap
      val columns = indexed.map(column => byColumn.get(scopeOf(column)).fold(none(column))(read(_, keys)))
      columns.map(_.keySet).reduce(_ & _).iterator.map(key => key -> columns.map(_(key))).toMap
    } catch {
      case e: IcebergError if added.isEmpty =>
        log.warn(s"All Bloom filters of ${table.name} are computed again: ${e.getMessage}")
        Map.empty
    }

  /**
   * Returns no filters for a column that has no index, or whose index was computed with other settings.
   *
   * @throws ValidationFailed if an index would be replaced by an index of only the added files
   */
  private def none(column: NestedField): Map[BloomFileKey, BloomFilter] =
    if (added.isEmpty) Map.empty
    else throw ValidationFailed(
      s"The Bloom index of column ${column.name} was computed with another value of " +
        s"${BloomIndexProperty.MaxFilterBytes.key} or another name mapping. Run compute_table_stats with " +
        "bloom_index_only => true"
    )

  private def read(blob: BloomIndexBlob, keys: Set[BloomFileKey]): Map[BloomFileKey, BloomFilter] = {
    var total = 0L
    val entries = blob.entriesOf(keys).sortBy(_.length).takeWhile { entry =>
      total += entry.length
      total <= maxColumnBytes
    }
    BloomIndexBlob.runs(entries).flatMap(blob.read).toMap
  }
}

object ComputeBloomIndex {
  private val log = LoggerFactory.getLogger("iceberglite.maintenance.ComputeBloomIndex")

  /** The maximum total size of the filters in a statistics file. Further files have no filter. */
  private val MaxTotalBytes = 64L << 20

  /** The maximum number of files whose filters are computed before their real size is known. */
  private[maintenance] val MaxBatch = 1000

  /** Returns the blobs of the index; none if the table has no indexed columns. */
  def apply(table: Table, snapshot: Snapshot, job: FileFilterJob): Vector[NewBlob] = {
    val indexed = BloomIndex.columns(table.metadata)
    if (indexed.isEmpty) Vector.empty else new ComputeBloomIndex(table, snapshot, indexed, None, job).blobs()
  }

  /**
   * Returns the blobs of the index with the existing filters and the filters of added files; no blobs if the table has
   * no indexed columns, or if one of these columns has no index yet. Other files without filters are not read.
   *
   * @param added the paths of the added files
   */
  def extended(table: Table, snapshot: Snapshot, added: Set[String], job: FileFilterJob): Vector[NewBlob] = {
    val indexed = BloomIndex.columns(table.metadata)
    val exists = indexed.nonEmpty &&
      indexed.forall(column => BloomIndex.fileOf(table.metadata, Some(snapshot), column.id).isDefined)
    if (exists) new ComputeBloomIndex(table, snapshot, indexed, Some(added), job).blobs() else Vector.empty
  }

  /**
   * Checks the columns of a Bloom index, and returns their names in the form in which the table property stores them.
   *
   * @throws IcebergError.NotFound if a column does not exist, or is not a top-level column
   * @throws InvalidArgument if there are too many columns, or if a column cannot be indexed because of its type or name
   */
  def require(schema: Schema, names: Vector[Vector[String]], caseSensitive: Boolean): Vector[String] = {
    if (names.size > BloomIndex.MaxColumns) throw InvalidArgument(
      "columns of a Bloom index",
      names.map(_.mkString(".")).mkString(", "),
      s"An index has at most ${BloomIndex.MaxColumns} columns; choose the columns of point queries and joins"
    )
    names.map { path =>
      val name = path.mkString(".")
      val found = ComputeTableStatistics.columns(schema, Seq(name), caseSensitive).head
      if (BloomIndex.formOf(found).isEmpty) throw InvalidArgument(
        "column of a Bloom index",
        name,
        s"Columns of type ${found.fieldType} cannot be indexed; use a column of integers, decimals, dates, times, " +
          "strings, UUIDs or binaries"
      )
      if (found.name.contains(",") || found.name.trim != found.name) throw InvalidArgument(
        "column of a Bloom index",
        name,
        "The name contains a comma, or begins or ends with a space, and the table property separates names by commas" +
          "; rename the column"
      )
      found.name
    }.distinct
  }
}
