package iceberglite.spark.read.aggregate

import java.util.UUID

import scala.util.Random

import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.data.{DataFileOf, DataTarget, Record, RecordValues}
import iceberglite.metrics.MetricsModes
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.scan.{FileScanTask, TableScan}
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile, FileFormat}
import iceberglite.spec.partition.{Identity, PartitionTuple}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type.StructType
import iceberglite.table.{Action, Table}
import iceberglite.table.action.{FastAppend, RowDelta}

/**
 * A random table. Its files have several formats, partition specs and schemas, and it has row-level deletes of every
 * kind that its format version supports. The values include nulls, NaN, 0.0, -0.0, and strings that are so long that
 * their bounds are truncated.
 *
 * @param name the table name with catalog and namespace
 */
final class RandomTable(val name: String, version: Int, random: Random, sql: String => Any)(catalog: LiteCatalog) {
  private var nextId = 0L
  private var steps = Vector.empty[String]

  /** The statements and commits that have changed the table so far, for assertion messages. */
  def description: String = steps.mkString("; ")

  def table: Table = {
    val parts = name.split('.')
    val shared = catalog.sharedTable(Identifier.of(Array(parts(1)), parts(2)))
    shared.refresh()
    shared.current
  }

  def files: Vector[FileScanTask] = {
    val current = table
    TableScan(current.tree(), current.currentSnapshot, AlwaysTrue, caseSensitive = true).plan().tasks
  }

  def build(): this.type = {
    run(
      s"""CREATE TABLE $name (id bigint, k int, x double, f float, name string, d date, ts timestamp,
         |amount decimal(9,2), flag boolean, s struct<a: int, t: string>, p string) USING iceberg ${oneOf(
          RandomTable.partitionings
        )}
         |TBLPROPERTIES ('format-version' = '$version')""".stripMargin
    )
    append()
    (0 until 3 + random.nextInt(5)).foreach(_ => oneOf(changes)())
    sql(s"REFRESH TABLE $name")
    this
  }

  private def changes: Vector[() => Unit] = {
    val deletes: Vector[() => Unit] = version match {
      case 1 => Vector.empty
      case 2 => Vector(() => commitPositionDelete(), () => commitEqualityDelete())
      case _ => Vector(() => commitDeletionVector(), () => commitDeletionVector(), () => commitEqualityDelete())
    }
    Vector(() => append(), () => append(), () => alterTable(), () => alterTable()) ++ deletes ++ deletes
  }

  private def oneOf[A](items: Seq[A]): A = items(random.nextInt(items.size))

  private def run(statement: String): Unit = {
    steps :+= statement.replaceAll("\\s+", " ")
    sql(statement)
    ()
  }

  private def commit(summary: String, action: Action): Unit = {
    steps :+= summary
    table.transaction().add(action).commit()
    ()
  }

  private def alterTable(): Unit = {
    val columns = table.schema.fields.map(_.name).toSet
    val identities = table.spec.fields.filter(_.transform == Identity).map(_.name).toSet
    val statements = Seq(
      Some(s"ALTER TABLE $name ALTER COLUMN k TYPE bigint"),
      Some(s"ALTER TABLE $name ALTER COLUMN f TYPE double"),
      Some(s"ALTER TABLE $name ADD COLUMN late int").filterNot(_ => columns("late")),
      Some(s"ALTER TABLE $name ADD COLUMN given int DEFAULT 7").filter(_ => version == 3 && !columns("given")),
      Some(s"ALTER TABLE $name DROP PARTITION FIELD p").filter(_ => identities("p")),
      Some(s"ALTER TABLE $name ADD PARTITION FIELD k").filterNot(_ => identities("k")),
      Some(s"ALTER TABLE $name ADD PARTITION FIELD p").filterNot(_ => identities("p")),
      Some(s"ALTER TABLE $name SET TBLPROPERTIES ('write.metadata.metrics.default' = '${oneOf(RandomTable.modes)}')")
    )
    oneOf(statements.flatten.map(s => () => run(s)))()
  }

  /** Commits random rows in one file per partition. Some commits to an unpartitioned table add a file without rows. */
  private def append(): Unit = {
    val current = table
    val format = oneOf(RandomTable.formats)
    val rows = Vector.fill(random.nextInt(12))(record(current.schema.asStruct))
    val parts = rows.groupBy(r => partitionOf(current, r)).toVector.sortBy(_._1.toString)
    val files = parts.map { case (partition, rows) => write(current, format, current.schema, partition, rows) }
    val empty = if (current.spec.fields.isEmpty && random.nextInt(4) == 0) {
      Vector(write(current, FileFormat.Parquet, current.schema, PartitionTuple.Empty, Vector.empty))
    } else Vector.empty
    commit(s"append ${rows.size} rows in ${format.name}", new FastAppend(files ++ empty))
  }

  private def write(
      table: Table,
      format: FileFormat,
      schema: Schema,
      partition: PartitionTuple,
      rows: Seq[Record]
  ): ContentFile = {
    val modes = MetricsModes.of(table.properties, schema, table.sortOrder)
    val path = s"${table.location}/data/${new UUID(random.nextLong(), random.nextLong())}${format.extension}"
    DataFileOf(DataTarget(table.io, path, schema, Map.empty, modes), format, table.spec.specId, partition, rows)
  }

  private def partitionOf(table: Table, row: Record): PartitionTuple = PartitionTuple(table.spec.fields.map { field =>
    val position = table.schema.fields.indexWhere(_.id == field.sourceId)
    val column = table.schema.fields(position).fieldType.asInstanceOf[PrimitiveType]
    RecordValues.literal(row(position), column).flatMap(field.transform(_))
  })

  private def record(struct: StructType): Record = new Record(struct.fields.map(value).toArray)

  private def value(field: NestedField): AnyRef = field.name match {
    case "id" =>
      nextId += 1
      Long.box(nextId)
    case "s" => if (random.nextInt(4) == 0) null else record(field.fieldType.asInstanceOf[StructType])
    case "p" => oneOf(Seq("a", "b", null))
    case _ if random.nextInt(5) == 0 => null
    case "k" if field.fieldType == Type.LongType => Long.box(oneOf(Seq(0L, 1L, 1L << 40)))
    case "k" => Int.box(random.nextInt(3))
    case "f" if field.fieldType == Type.DoubleType => Double.box(random.nextInt(9) + 0.1)
    case "f" => Float.box(random.nextInt(9).toFloat)
    case "x" => Double.box(oneOf(Seq(Double.NaN, -0.0, 0.0, -2.5, 7.25, Double.PositiveInfinity, 1.5, 1.5)))
    case "name" => oneOf(Seq("", "ab", "x" * 30 + "1", "x" * 30 + "2", "é", "\uD83D\uDE00", "\uFFEE"))
    case "d" => Int.box(18000 + random.nextInt(10) - (if (random.nextInt(9) == 0) 30000 else 0))
    case "ts" => Long.box(1500000000000000L + random.nextInt(1000) * 1001L)
    case "amount" => java.math.BigDecimal.valueOf(random.nextInt(2000) - 1000L, 2)
    case "flag" => Boolean.box(random.nextBoolean())
    case "t" => oneOf(Seq("", "t"))
    case _ => Int.box(random.nextInt(20))
  }

  private def filesWithRows: Vector[FileScanTask] = files.filter(_.file.recordCount > 0)

  /** Deletes rows of a file with a new deletion vector, which also contains the positions in the previous vector. */
  private def commitDeletionVector(): Unit = filesWithRows match {
    case Seq() => ()
    case tasks =>
      val task = oneOf(tasks)
      val current = table
      val previous = task.deletes.find(_.isVector).map(_.file)
      val deleted = DeletionVector.newBuilder
      previous.foreach(v => deleted ++= DeletionVectorFiles.read(current.io, v))
      val deletedShare = oneOf(Seq(2, 4, 1))
      (0L until task.file.recordCount).filter(_ => random.nextInt(deletedShare) == 0).foreach(deleted += _)
      val rows = DeletedRows(task.file.path, task.spec.specId, task.file.partition, deleted.result())
      val path = s"${current.location}/data/${new UUID(random.nextLong(), random.nextLong())}.puffin"
      val vectors = DeletionVectorFiles.write(current.io, path, Seq(rows))
      vectors.foreach { v =>
        commit(s"deletion vector with ${v.recordCount} rows", new RowDelta(vectors, previous.toVector))
      }
  }

  private def commitPositionDelete(): Unit = filesWithRows match {
    case Seq() => ()
    case tasks =>
      val task = oneOf(tasks)
      val columns = Schema(0, Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition))
      val rows = Vector(Record.of(task.file.path, random.nextInt(task.file.recordCount.toInt).toLong))
      val file = write(table, FileFormat.Parquet, columns, task.file.partition, rows)
      val deletes = file.copy(content = Content.PositionDeletes, specId = task.spec.specId)
      commit("delete a position", new RowDelta(Vector(deletes)))
  }

  private def commitEqualityDelete(): Unit = filesWithRows match {
    case Seq() => ()
    case tasks =>
      val task = oneOf(tasks)
      val id = table.schema.fields.filter(_.name == "id")
      val rows = Vector.fill(2)(Record.of(1L + random.nextInt(nextId.toInt)))
      val file = write(table, FileFormat.Parquet, Schema(0, id), task.file.partition, rows)
      val deletes = file.copy(
        content = Content.EqualityDeletes,
        specId = task.spec.specId,
        equalityIds = id.map(_.id)
      )
      commit("delete two keys", new RowDelta(Vector(deletes)))
  }
}

object RandomTable {
  private val partitionings =
    Seq("", "PARTITIONED BY (p)", "PARTITIONED BY (p)", "PARTITIONED BY (k, p)", "PARTITIONED BY (bucket(2, id))")
  private val modes = Seq("truncate(16)", "truncate(2)", "counts", "full", "none")
  private val formats =
    Seq(FileFormat.Parquet, FileFormat.Parquet, FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro)
}
