package iceberglite.spark.read.soundness

import java.util.UUID

import scala.util.Random

import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.data.{DataFileOf, DataTarget, Record, RecordValues}
import iceberglite.metrics.MetricsModes
import iceberglite.spark.read.soundness.EvolvingTable._
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.partition.{PartitionTuple, Transform, Transforms}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._
import iceberglite.table.{Action, Table}
import iceberglite.table.action.{FastAppend, UpdateSchema}

/**
 * The parameters of a random table.
 *
 * @param version format version of the table
 * @param maxGroups maximum number of groups of rows in an append. Each group is written to one file per partition.
 * @param runsPerGroup number of runs in a group. A run is a sequence of rows with similar values.
 * @param maxRowsPerRun maximum number of rows in a run
 * @param hasTypesWithoutSparkName whether to add columns of the types for which Spark SQL has no name. Some of these
 *   types need version 3, and Apache Iceberg cannot read some of them in Spark.
 * @param hasLists whether to add columns of list and map types
 * @param properties table properties
 */
final private[soundness] case class TableShape(
    version: Int,
    maxGroups: Int = 3,
    runsPerGroup: Int = 1,
    maxRowsPerRun: Int = 6,
    hasTypesWithoutSparkName: Boolean = false,
    hasLists: Boolean = false,
    properties: Map[String, String] = Map.empty
)

/**
 * A random table. It has columns of every primitive Iceberg type that Spark SQL has a name for, and files of random
 * formats with similar values in adjacent rows. The schema and the partition spec change between files, and some rows
 * are deleted by row-level deletes.
 *
 * @param name the table name with catalog and namespace
 */
final private[soundness] class EvolvingTable(
    val name: String,
    val shape: TableShape,
    random: Random,
    sql: String => Any
)(catalog: LiteCatalog) {
  private var nextId = 0
  private var nextName = 0
  private var steps = Vector.empty[String]
  private var files = Map.empty[String, (Schema, Vector[Record])]
  private var equalityDeleteColumns = Set.empty[Int]

  /** The file path and the position of each live row, by the row's id. */
  var livePositions: Map[Int, (String, Long)] = Map.empty

  /** The table name in Apache Iceberg's catalog. */
  def peerName: String = "ice" + name.stripPrefix("lite")

  /** Returns the schema of the data file, and all rows that were written to it, including deleted rows. */
  def writtenRows(path: String): (Schema, Vector[Record]) = files(path)

  def idOf(row: Record): Int = row(0).asInstanceOf[Integer]

  /** Records that the rows with these ids were deleted. */
  def recordDeleted(ids: Set[Int]): Unit = livePositions = livePositions.filterNot { case (id, _) => ids(id) }

  /**
   * Records columns that equality deletes compare. The columns must not be dropped, because Apache Iceberg fails on
   * equality deletes with dropped columns.
   */
  def recordEqualityDeleteColumns(ids: Set[Int]): Unit = equalityDeleteColumns ++= ids

  /** The statements and commits that have changed the table so far, for assertion messages. */
  def description: String = steps.mkString("; ")

  def table: Table = {
    val parts = name.split('.')
    val shared = catalog.sharedTable(Identifier.of(Array(parts(1)), parts(2)))
    shared.refresh()
    shared.current
  }

  def build(): this.type = {
    create()
    (0 until random.nextInt(3)).foreach(_ => addPartitionField())
    append()
    val deletes = new RandomDeletes(this, random)
    val steps = Vector(() => append(), () => append(), () => changeSchemaOrSpec()) ++
      (if (shape.version > 1) Vector(() => deletes.next()) else Vector.empty)
    (0 until 5 + random.nextInt(4)).foreach(_ => oneOf(steps)())
    append()
    if (shape.version > 1) deletes.next()
    sql(s"REFRESH TABLE $name")
    this
  }

  /**
   * Builds the table with one Parquet file of random rows, whose ids ascend from 1. Apache Iceberg then deletes every
   * tenth row. Therefore the table must have version 2 or later, and no columns of types for which Spark SQL has no
   * name.
   */
  def buildOrdered(rows: Int): this.type = {
    create()
    append(FileFormat.Parquet, Vector(new RandomRows(table.schema, random, () => freshId()).make(rows)))
    run(s"DELETE FROM $peerName WHERE id % 10 = 3")
    recordDeleted(livePositions.keySet.filter(_ % 10 == 3))
    sql(s"REFRESH TABLE $name")
    this
  }

  private def create(): Unit = {
    val lists = if (shape.hasLists) ", li array<int>, m map<int, string>, r array<struct<y: double, u: string>>" else ""
    val properties = shape.properties ++ Seq(
      "format-version" -> shape.version.toString,
      "write.delete.mode" -> "merge-on-read",
      "write.delete.granularity" -> oneOf(Seq("file", "partition")),
      "write.delete.format.default" -> oneOf(Seq("parquet", "orc", "avro"))
    )
    run(
      s"""CREATE TABLE $name (id int, b boolean, i int, l bigint, f float, x double, dec decimal(9,2),
         |wide decimal(38,10), d date, ts timestamp, ntz timestamp_ntz, t string, bin binary,
         |s struct<a: int, t: string, in: struct<x: double, ts: timestamp>>$lists) USING iceberg
         |TBLPROPERTIES (${properties.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")})""".stripMargin
    )
    if (shape.hasTypesWithoutSparkName) {
      val columns = typesWithoutSparkName.zipWithIndex
      commit(
        s"add ${columns.map(_._1).mkString(", ")}",
        new UpdateSchema(now => columns.foldLeft(now) { case (u, (t, i)) => u.addColumn(Vector.empty, s"n$i", t) })
      )
    }
  }

  private def oneOf[A](items: Seq[A]): A = items(random.nextInt(items.size))

  def run(statement: String): Unit = {
    sql(statement)
    steps :+= statement.replaceAll("\\s+", " ")
  }

  def commit(summary: String, action: Action): Unit = {
    table.transaction().add(action).commit()
    steps :+= summary
  }

  private def changeSchemaOrSpec(): Unit = {
    val changes =
      Vector(() => addPartitionField(), () => addPartitionField(), () => dropPartitionField(), () => changeColumn())
    oneOf(changes)()
  }

  /** The primitive columns outside lists and maps, with their names in SQL. */
  private def leaves: Vector[(String, PrimitiveType)] = leavesOf(table.schema)

  private def addPartitionField(): Unit = {
    val (column, t) = oneOf(leaves.filter(_._1 != "id"))
    val transforms = Seq("identity", s"bucket[${oneOf(Seq(2, 5))}]", s"truncate[${oneOf(Seq(1, 2, 10))}]") ++
      Seq("year", "month", "day", "hour")
    val transform = oneOf(transforms.map(Transforms.parse).filter(_.canTransform(t)))
    val current = table
    val source = current.schema.byId.values.find(f => current.schema.names(f.id) == column).get.id
    val existing = current.spec.fields.filter(_.sourceId == source).map(_.transform)
    if (!existing.exists(e => e == transform || isTimeTransform(e) && isTimeTransform(transform))) {
      nextName += 1
      run(s"ALTER TABLE $name ADD PARTITION FIELD ${toSql(transform, column)} AS part$nextName")
    }
  }

  private def dropPartitionField(): Unit = table.spec.fields.filterNot(_.transform.name == "void") match {
    case Seq() => ()
    case fields => run(s"ALTER TABLE $name DROP PARTITION FIELD ${oneOf(fields).name}")
  }

  /**
   * Widens, renames, adds or replaces a column. To replace a column, this method drops it and adds a column with the
   * same name. Source columns of partition fields, and columns that equality deletes compare, are neither renamed nor
   * replaced, because they cannot be dropped.
   */
  private def changeColumn(): Unit = {
    val current = table
    val changeable = current.schema.fields.filterNot(f => equalityDeleteColumns(f.id)).map(_.name).filter(_ != "id")
      .filterNot(n => current.metadata.specs.flatMap(_.fields).exists(f => rootOf(current.schema, f.sourceId) == n))
    val column = oneOf(changeable)
    val t = current.schema.fields.find(_.name == column).get.fieldType
    nextName += 1
    val widened = widerTypes(current.schema).map(c => s"ALTER COLUMN ${c._1} TYPE ${c._2}")
    val default = if (shape.version == 3 && random.nextBoolean()) "int DEFAULT 10" else "bigint"
    val changes = widened.map(Seq(_)) ++
      Vector(Seq(s"RENAME COLUMN $column TO ${column}_$nextName"), Seq(s"ADD COLUMN new$nextName $default")) ++
      (if (t.isInstanceOf[PrimitiveType]) Vector(Seq(s"DROP COLUMN $column", s"ADD COLUMN $column string")) else Nil)
    oneOf(changes).foreach(change => run(s"ALTER TABLE $name $change"))
  }

  private def rootOf(schema: Schema, id: Int): String = schema.names(id).takeWhile(_ != '.')

  /** Commits groups of random rows. Adjacent rows of a group have similar values. */
  private def append(): Unit = {
    val schema = table.schema
    val format = oneOf(Seq(FileFormat.Parquet, FileFormat.Parquet, FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro))
    append(
      format,
      Vector.fill(1 + random.nextInt(shape.maxGroups)) {
        val runs = Vector.fill(shape.runsPerGroup) {
          new RandomRows(schema, random, () => freshId()).make(1 + random.nextInt(shape.maxRowsPerRun))
        }
        runs.flatten
      }
    )
  }

  /** Commits the groups of rows. Each group is written to one file per partition. */
  private def append(format: FileFormat, groups: Vector[Vector[Record]]): Unit = {
    val current = table
    val newFiles = groups.flatMap { group =>
      group.groupBy(partitionOf(current, _)).toVector.map { case (p, rs) => write(format, current.schema, p, rs) -> rs }
    }
    newFiles.foreach { case (file, rows) =>
      files += file.path -> (current.schema -> rows)
      livePositions ++= rows.zipWithIndex.map { case (row, position) => idOf(row) -> (file.path -> position.toLong) }
    }
    val rows = newFiles.map(_._1.recordCount).mkString("+")
    commit(s"append $rows rows in ${format.name}", new FastAppend(newFiles.map(_._1)))
  }

  private def freshId(): Int = {
    nextId += 1
    nextId
  }

  /**
   * Writes a file with a new name to the table's location.
   *
   * @param schema the schema of the file
   */
  def write(format: FileFormat, schema: Schema, partition: PartitionTuple, rows: Seq[Record]): ContentFile = {
    val current = table
    val modes = MetricsModes.of(current.properties, current.schema, current.sortOrder)
    val path = s"${current.location}/data/${new UUID(random.nextLong(), random.nextLong())}${format.extension}"
    val target = DataTarget(current.io, path, schema, current.properties, modes)
    DataFileOf(target, format, current.spec.specId, partition, rows)
  }

  private def partitionOf(table: Table, row: Record): PartitionTuple = PartitionTuple(table.spec.fields.map { field =>
    val t = table.schema.byId.get(field.sourceId).map(_.fieldType)
    t.collect { case p: PrimitiveType => p }
      .flatMap(p => value(row, table.schema.asStruct, field.sourceId).flatMap(RecordValues.literal(_, p)))
      .flatMap(field.transform(_))
  })

  private def value(row: Record, struct: StructType, id: Int): Option[AnyRef] =
    struct.fields.zipWithIndex.flatMap { case (f, i) =>
      f.fieldType match {
        case _ if f.id == id => Option(row(i))
        case inner: StructType => Option(row(i)).flatMap(r => value(r.asInstanceOf[Record], inner, id))
        case _ => None
      }
    }.headOption
}

private[soundness] object EvolvingTable {

  /** Returns the primitive columns outside lists and maps, with their names in SQL. */
  def leavesOf(schema: Schema): Vector[(String, PrimitiveType)] = leavesOf(schema.asStruct).map { case (field, t) =>
    (schema.names(field.id), t)
  }

  private def leavesOf(struct: StructType): Vector[(NestedField, PrimitiveType)] = struct.fields.flatMap { f =>
    f.fieldType match {
      case primitive: PrimitiveType => Vector(f -> primitive)
      case inner: StructType => leavesOf(inner)
      case _ => Vector.empty
    }
  }

  private val typesWithoutSparkName: Vector[PrimitiveType] =
    Vector(UuidType, FixedType(3), TimeType, TimestampNsType, TimestampTzNsType)

  private def isTimeTransform(t: Transform): Boolean = Set("year", "month", "day", "hour").contains(t.name)

  private def toSql(t: Transform, column: String): String = t.name match {
    case "identity" => column
    case parametrized if parametrized.endsWith("]") =>
      val Array(function, width) = parametrized.stripSuffix("]").split('[')
      s"$function($width, $column)"
    case time => s"${time}s($column)"
  }

  /** Returns the names of the columns that can be widened, each with the wider type in SQL. */
  private def widerTypes(schema: Schema): Vector[(String, String)] = leavesOf(schema).filter(_._1 != "id").collect {
    case (column, IntType) => column -> "bigint"
    case (column, FloatType) => column -> "double"
    case (column, DecimalType(9, s)) => column -> s"decimal(18, $s)"
  }
}
