package iceberglite.spark.maintenance

import scala.collection.mutable

import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  BloomFilterMightContain,
  Cast,
  EvalMode,
  Expression,
  If,
  LessThan,
  Literal
}
import org.apache.spark.sql.catalyst.expressions.aggregate.BloomFilterAggregate
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions.{coalesce, col, count, lit, not, row_number, sum, xxhash64}
import org.apache.spark.sql.iceberglite.Statements
import org.apache.spark.sql.types.{BinaryType, LongType, StringType, StructField, StructType}
import org.apache.spark.storage.StorageLevel

import iceberglite.maintenance.compact.RowFinder
import iceberglite.puffin.DeletionVector
import iceberglite.scan.{FileScanTask, Splits}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, serialize}
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.MetadataColumns
import iceberglite.table.Table

/**
 * Searches the new files of a rewrite, with Spark jobs, for the rows that other commits have deleted from the replaced
 * files in the meantime. Rows are found by their row ids; rows of files without row ids are found by their values.
 *
 * Rows without row ids have no identity (spec, version 3: "Row Lineage"). If n of several equal rows were deleted, any
 * n equal rows of the new files may be deleted instead. The live rows are the same in both cases. Later equality
 * deletes also apply to all equal rows in the same way, because all new files have the same partition spec and sequence
 * number. Replaced and new files are read with the same schema, so default values, promoted types and values from
 * partitions compare as equal. If a row is not found, the search fails; no other row is deleted.
 *
 * @param table the table at the version that the rewrite has read
 * @param snapshot the snapshot that the rewrite has read
 * @param replaced the replaced files; each task covers a whole file and has the deletes that the rewrite has applied
 * @param written the new files whose rows do not have the same order as in the replaced files
 * @param maxFew the maximum number of keys that the driver holds or receives; a search with more keys uses a shuffle
 */
final private[maintenance] class RowSearch(
    session: SparkSession,
    table: Table,
    snapshot: Snapshot,
    replaced: Vector[FileScanTask],
    written: Vector[ContentFile],
    maxFew: Long = DriverRowSearch.MaxRows
) extends RowFinder
    with AutoCloseable {
  private val tasks = replaced.map(task => task.file.path -> task).toMap
  private val newFiles = written.map(file => file.path -> file).toMap
  private val hasLineage = table.metadata.formatVersion >= FormatVersion.V3
  private val newTasks = written.map { file =>
    // A file gets its first row id when it is committed. The search uses `Long.MinValue` as the first row id instead.
    // Rows without a stored id thus get negative ids, which `idOrNull` turns into null. Such rows are searched by
    // value.
    val readable = if (hasLineage) file.copy(firstRowId = Some(Long.MinValue)) else file
    FileScanTask.whole(readable, 0L, table.metadata.specsById(file.specId), AlwaysTrue)
  }
  private val newGroups = RowSearch.groups(newTasks)
  private val byId = new Search(_ => RowSearch.RowId, _.head, keysPerRow = 1)
  private val byValue =
    if (!hasLineage) new Search(comparable, RowKey(_), keysPerRow = newGroups.size)
    // The row id is part of the value, because a row with a row id is not equal to a row without a row id.
    else new Search(
      RowSearch.RowId ++ comparable(_),
      columns => RowKey(RowSearch.idOrNull(columns.head) +: columns.tail),
      keysPerRow = newGroups.size
    )

  override def find(
      rows: Vector[(ContentFile, DeletionVector)],
      taken: Map[String, DeletionVector]
  ): Vector[(ContentFile, DeletionVector)] = {
    checkNames()
    val description = s"Finding deleted rows in new files of ${table.name}"
    ClusterJob.withDescription(session.sparkContext, description)(ClusterJob.withTaskErrors {
      val (withIds, others) = rows.partition { case (file, _) => file.firstRowId.isDefined }
      byId.find(withIds, taken) ++ byValue.find(others, taken)
    })
  }

  /** Rejects columns that hide the metadata columns of the same name. */
  private def checkNames(): Unit = table.schema.fields.map(_.name).find(RowSearch.isMetadata)
    .foreach(name => fail(s"the column $name has the name of a metadata column"))

  /** Returns the columns of a schema, and checks that their values can be compared. */
  private def comparable(schema: StructType): Seq[StructField] = schema.map { f =>
    if (RowKey.isSupported(f.dataType)) f
    else fail(s"values of the type ${f.dataType.sql} of the column ${f.name} cannot be compared")
  }

  private def fail(reason: String): Nothing = throw ValidationFailed(
    s"Cannot rewrite files of ${table.name}: other commits deleted rows of these files in the meantime, and the rows " +
      s"cannot be found in the new files: $reason. Nothing was changed; run the rewrite again while no other writer " +
      "deletes rows"
  )

  /** Removes the keys of the new files from the cache. */
  override def close(): Unit = Seq(byId, byValue).foreach(_.close())

  /**
   * Searches rows by a key.
   *
   * @param keyColumns selects the columns of the key from all columns of the table
   * @param key returns the key expression for the columns of the key
   * @param keysPerRow the maximum number of keys that the driver receives for each row to find: 1 for row ids, which
   *   are unique; for values, the number of tasks, because each task may find an equal row
   */
  final private class Search(
      keyColumns: StructType => Seq[StructField],
      key: Seq[Expression] => Expression,
      keysPerRow: Int
  ) extends AutoCloseable {
    private lazy val newRows = keyed(newGroups)
    private var searches = 0

    def find(
        rows: Vector[(ContentFile, DeletionVector)],
        taken: Map[String, DeletionVector]
    ): Vector[(ContentFile, DeletionVector)] = if (rows.isEmpty) Vector.empty
    else {
      // The keys of the new files are cached from the second search on: it fills the cache, which may be on disk, and
      // later searches read it.
      if (searches == 1) newRows.persist(StorageLevel.MEMORY_AND_DISK)
      searches += 1
      val files = rows.map { case (file, vector) => (file.path, vector) }
      val wanted = keyed(RowSearch.groups(rows.map { case (file, _) => tasks(file.path) })).filter(RowSearch.at(files))
      val atMost = rows.map(_._2.cardinality).sum
      val found =
        if (atMost * math.max(1, keysPerRow) <= maxFew) findFew(wanted, taken)
        else findMany(wanted, atMost, taken)
      found.map { case (path, positions) => (newFiles(path), positions) }
    }

    private def findFew(wanted: DataFrame, taken: Map[String, DeletionVector]): Vector[(String, DeletionVector)] = {
      val keys = DriverRowSearch.keysOf(wanted.select(RowSearch.KeyBytes, RowSearch.KeyHash))
      if (keys.isEmpty) Vector.empty
      else {
        val rows = candidates(keys.bloom, taken).select(RowSearch.KeyBytes, col("file"), col("position"))
        checked(DriverRowSearch.find(rows, keys), keys.size.toLong)
      }
    }

    private def findMany(
        wanted: DataFrame,
        atMost: Long,
        taken: Map[String, DeletionVector]
    ): Vector[(String, DeletionVector)] = {
      val counts = wanted.groupBy("key").agg(count(lit(1)).as("wanted")).persist(StorageLevel.MEMORY_AND_DISK)
      try {
        val bloom = new BloomFilterAggregate(RowSearch.KeyHash.expr, Literal(atMost)).toAggregateExpression()
        val summary = counts.agg(coalesce(sum("wanted"), lit(0L)), new Column(bloom)).head()
        val total = summary.getLong(0)
        if (total == 0) Vector.empty
        else {
          // If more rows have a key than are to be found, those with the lowest file path and position are chosen.
          val number = row_number().over(Window.partitionBy("key").orderBy("file", "position"))
          val chosen = candidates(summary.getAs[Array[Byte]](1), taken).join(counts, "key")
            .withColumn("number", number).filter("number <= wanted")
          checked(RowSearch.collect(chosen), total)
        }
      } finally {
        counts.unpersist()
        ()
      }
    }

    /** Returns the rows of the new files whose keys are in a Bloom filter, without rows that were found earlier. */
    private def candidates(bloom: Array[Byte], taken: Map[String, DeletionVector]): DataFrame =
      newRows.filter(new Column(BloomFilterMightContain(Literal(bloom), RowSearch.KeyHash.expr)))
        .filter(not(RowSearch.at(taken)))

    private def checked(found: Vector[(String, DeletionVector)], total: Long): Vector[(String, DeletionVector)] = {
      val count = found.map(_._2.cardinality).sum
      if (count != total) fail(
        s"only $count of $total rows are in them. The files are damaged, or a value changed when it was written again"
      )
      found
    }

    /** Returns the key, the file and the position of the rows in files. */
    private def keyed(groups: Vector[Vector[FileScanTask]]): DataFrame = {
      val plan = RewriteScan.plan(session, table, snapshot, groups) { schema =>
        StructType(keyColumns(schema)).add(RowSearch.File, StringType).add(RowSearch.Position, LongType)
      }
      val Seq(file, position) = plan.output.takeRight(2)
      val columns =
        Seq(Alias(key(plan.output.dropRight(2)), "key")(), Alias(file, "file")(), Alias(position, "position")())
      Statements.dataset(session, Project(columns, plan))
    }

    override def close(): Unit = if (searches > 1) {
      newRows.unpersist()
      ()
    }
  }
}

private object RowSearch {
  private val File = MetadataColumns.FilePath.name
  private val Position = MetadataColumns.Position.name
  private val RowId = Vector(StructField(MetadataColumns.RowId.name, LongType))

  /** The target number of bytes of files that a Spark task reads. */
  private val TaskBytes = 128L << 20
  private val OpenCost = 4L << 20
  private val Lookback = 10

  private val KeyHash = xxhash64(col("key"))
  private val KeyBytes = new Column(Cast(col("key").expr, BinaryType, evalMode = EvalMode.LEGACY))

  /** Divides files into Spark tasks. */
  private def groups(files: Vector[FileScanTask]): Vector[Vector[FileScanTask]] =
    Splits.of(files, TaskBytes, OpenCost, Lookback)

  private def isMetadata(name: String): Boolean =
    (Seq(File, Position) ++ RowId.map(_.name)).exists(_.equalsIgnoreCase(name))

  private def idOrNull(id: Expression): Expression =
    If(LessThan(id, Literal(0L)), Literal.create(None.orNull, LongType), id)

  /** Returns the condition that a row is at one of the positions. */
  private def at(positions: Iterable[(String, DeletionVector)]): Column =
    new Column(RowsAt(col("file").expr, col("position").expr, FilePositions.of(positions)))

  /** Returns the positions of rows by file. Each task returns one bitmap for each file instead of the rows. */
  private def collect(rows: DataFrame): Vector[(String, DeletionVector)] = {
    val results = rows.select("file", "position").queryExecution.toRdd.mapPartitions(positionsByFile).collect().toVector
    results.flatMap(deserialize[Vector[(String, Array[Byte])]](_)).groupBy(_._1).toVector.sortBy(_._1).map {
      case (file, vectors) =>
        file -> vectors.map { case (_, bytes) => DeletionVector.parse(file, file, bytes) }.reduce(_ union _)
    }
  }

  private def positionsByFile(rows: Iterator[InternalRow]): Iterator[Array[Byte]] = {
    val builders = mutable.LinkedHashMap.empty[String, DeletionVector.Builder]
    rows.foreach(row => builders.getOrElseUpdate(row.getString(0), DeletionVector.newBuilder) += row.getLong(1))
    val vectors = builders.iterator.map { case (file, builder) => (file, builder.result().toBytes) }.toVector
    Iterator(serialize(vectors))
  }
}
