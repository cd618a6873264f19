package iceberglite.spark.read.soundness

import java.nio.ByteBuffer
import java.util.UUID

import scala.util.Random

import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.data.{DataFileOf, DataTarget, Record, RecordValues}
import iceberglite.io.MetricsModes
import iceberglite.spark.LiteCatalog
import iceberglite.spark.read.soundness.EvolvingTable._
import iceberglite.spec._
import iceberglite.spec.Type.{IntType, StructType}
import iceberglite.table.Table
import iceberglite.table.action.FastAppend

/**
 * A table that came about by chance: columns of every type that Spark has, files of all formats whose values lie close
 * together, and a schema and a partition spec that have changed between them.
 *
 * @param name with its catalog and namespace
 */
final class EvolvingTable(val name: String, version: Int, random: Random, sql: String => Any)(catalog: LiteCatalog) {
  private var nextId = 0
  private var nextName = 0
  private var steps = Vector.empty[String]

  /** What was done, for messages. */
  def story: String = steps.mkString("; ")

  def table: Table = {
    val parts = name.split('.')
    val live = catalog.liveTable(Identifier.of(Array(parts(1)), parts(2)))
    live.refresh()
    live.current
  }

  def build(): this.type = {
    run(
      s"""CREATE TABLE $name (id int, b boolean, i int, l bigint, f float, x double, dec decimal(9,2),
         |wide decimal(38,10), d date, ts timestamp, ntz timestamp_ntz, t string, bin binary,
         |s struct<a: int, t: string, in: struct<x: double, ts: timestamp>>) USING iceberg
         |TBLPROPERTIES ('format-version' = '$version')""".stripMargin
    )
    (0 until random.nextInt(3)).foreach(_ => partition())
    append()
    (0 until 5 + random.nextInt(4)).foreach(_ => oneOf(Vector(() => append(), () => append(), () => evolve()))())
    append()
    sql(s"REFRESH TABLE $name")
    this
  }

  private def oneOf[A](of: Seq[A]): A = of(random.nextInt(of.size))

  private def run(statement: String): Unit = {
    sql(statement)
    steps :+= statement.replaceAll("\\s+", " ")
  }

  private def evolve(): Unit =
    oneOf(Vector(() => partition(), () => partition(), () => unpartition(), () => columns()))()

  /** The columns of rows, those in structs too, by their names in SQL. */
  private def leaves: Vector[(String, PrimitiveType)] = leavesOf(table.schema)

  private def partition(): Unit = {
    val (column, t) = oneOf(leaves.filter(_._1 != "id"))
    val transforms = Seq("identity", s"bucket[${oneOf(Seq(2, 5))}]", s"truncate[${oneOf(Seq(1, 2, 10))}]") ++
      Seq("year", "month", "day", "hour")
    val transform = oneOf(transforms.map(Transforms.parse).filter(_.canTransform(t)))
    val now = table
    val source = now.schema.byId.values.find(f => now.schema.names(f.id) == column).get.id
    val others = now.spec.fields.filter(_.sourceId == source).map(_.transform)
    if (!others.exists(o => o == transform || isTime(o) && isTime(transform))) {
      nextName += 1
      run(s"ALTER TABLE $name ADD PARTITION FIELD ${call(transform, column)} AS part$nextName")
    }
  }

  private def unpartition(): Unit = table.spec.fields.filterNot(_.transform.name == "void") match {
    case Seq() => ()
    case some => run(s"ALTER TABLE $name DROP PARTITION FIELD ${oneOf(some).name}")
  }

  /** A column that partitions come from cannot be dropped. */
  private def columns(): Unit = {
    val now = table
    val free = now.schema.fields.map(_.name).filter(_ != "id")
      .filterNot(n => now.metadata.specs.flatMap(_.fields).exists(f => rootOf(now.schema, f.sourceId) == n))
    val column = oneOf(free)
    val t = now.schema.fields.find(_.name == column).get.fieldType
    nextName += 1
    val widened = wider(now.schema).map(c => s"ALTER COLUMN ${c._1} TYPE ${c._2}")
    val default = if (version == 3 && random.nextBoolean()) "int DEFAULT 10" else "bigint"
    val changes = widened.map(Seq(_)) ++
      Vector(Seq(s"RENAME COLUMN $column TO ${column}_$nextName"), Seq(s"ADD COLUMN new$nextName $default")) ++
      (if (t.isInstanceOf[PrimitiveType]) Vector(Seq(s"DROP COLUMN $column", s"ADD COLUMN $column string")) else Nil)
    oneOf(changes).foreach(change => run(s"ALTER TABLE $name $change"))
  }

  private def rootOf(schema: Schema, id: Int): String = schema.names(id).takeWhile(_ != '.')

  /** One commit of a few files, each with values that lie close together. */
  private def append(): Unit = {
    val now = table
    val format = oneOf(Seq(FileFormat.Parquet, FileFormat.Parquet, FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro))
    val files = (0 to random.nextInt(3)).flatMap { _ =>
      val rows = new CloseRows(now.schema)
      rows.make(1 + random.nextInt(6)).groupBy(tuple(now, _)).toVector.map { case (p, rs) => write(now, format, p, rs) }
    }
    table.transaction().add(new FastAppend(files.toVector)).commit()
    steps :+= s"append ${files.map(_.recordCount).mkString("+")} rows in ${format.name}"
  }

  private def write(to: Table, format: FileFormat, partition: PartitionTuple, rows: Seq[Record]): ContentFile = {
    val modes = MetricsModes.of(to.properties, to.schema, to.sortOrder)
    val path = s"${to.location}/data/${new UUID(random.nextLong(), random.nextLong())}${format.extension}"
    DataFileOf(DataTarget(to.io, path, to.schema, Map.empty, modes), format, to.spec.specId, partition, rows)
  }

  private def tuple(of: Table, row: Record): PartitionTuple = PartitionTuple(of.spec.fields.map { field =>
    val t = of.schema.byId.get(field.sourceId).map(_.fieldType)
    t.collect { case p: PrimitiveType => p }
      .flatMap(p => value(row, of.schema.asStruct, field.sourceId).flatMap(RecordValues.literal(_, p)))
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

  /** The rows of one file: a column has a few neighbours of its type's pool, and more or fewer nulls. */
  private class CloseRows(schema: Schema) {
    private val near = schema.byId.values.collect { case f @ NestedField(_, _, p: PrimitiveType, _, _, _, _) =>
      val pool = Pools.of(p)
      val from = random.nextInt(pool.size)
      f.id -> pool.slice(from, from + 1 + random.nextInt(4))
    }.toMap
    private val nulls = schema.byId.keys.map(_ -> oneOf(Seq(0, 0, 2, 2, 10))).toMap

    def make(count: Int): Vector[Record] = Vector.fill(count)(record(schema.asStruct))

    private def record(struct: StructType): Record = new Record(struct.fields.map { f =>
      f.fieldType match {
        case IntType if f.name == "id" =>
          nextId += 1
          Int.box(nextId)
        case _ if random.nextInt(10) < nulls(f.id) => null
        case inner: StructType => record(inner)
        case _ => plain(oneOf(near(f.id)))
      }
    }.toArray)

    private def plain(value: Literal): AnyRef = Literal.plain(value) match {
      case bytes: ByteBuffer => bytes.duplicate()
      case other => other
    }
  }
}

object EvolvingTable {

  def leavesOf(schema: Schema): Vector[(String, PrimitiveType)] =
    schema.byId.values.toVector.sortBy(_.id).collect { case f @ NestedField(_, _, p: PrimitiveType, _, _, _, _) =>
      (schema.names(f.id), p)
    }

  private def isTime(t: Transform): Boolean = Set("year", "month", "day", "hour").contains(t.name)

  private def call(t: Transform, column: String): String = t.name match {
    case "identity" => column
    case parametrized if parametrized.endsWith("]") =>
      val Array(function, width) = parametrized.stripSuffix("]").split('[')
      s"$function($width, $column)"
    case time => s"${time}s($column)"
  }

  private def wider(schema: Schema): Vector[(String, String)] = leavesOf(schema).filter(_._1 != "id").collect {
    case (column, IntType) => column -> "bigint"
    case (column, Type.FloatType) => column -> "double"
    case (column, Type.DecimalType(9, s)) => column -> s"decimal(18, $s)"
  }
}
