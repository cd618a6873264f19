package iceberglite.bench

import java.nio.ByteBuffer
import java.util.Locale

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.scan.TableScan
import iceberglite.spark.session.{LiteCatalog, SharedTable}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysTrue, Equal}
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps, Metrics}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, SingleValue, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._
import iceberglite.table.Table
import iceberglite.table.action.MergeAppend

/**
 * Commits data files that exist only in metadata, and plans scans of them, without Spark jobs. A benchmark outside this
 * repository (see docs/benchmarks.md) calls these methods. It performs the same operations with Apache Iceberg, on the
 * same files and metrics.
 */
object BenchHelper {
  private val RowsPerFile = 100000L
  private val FileBytes = 64L << 20
  private val PartitionColumn = "p"

  /** Loads a table. @param name the table name, including the catalog */
  def load(session: SparkSession, name: String): SharedTable = {
    val catalog +: rest = session.sessionState.sqlParser.parseMultipartIdentifier(name)
    session.sessionState.catalogManager.catalog(catalog) match {
      case lite: LiteCatalog => lite.sharedTable(Identifier.of(rest.init.toArray, rest.last))
      case other => throw new IllegalArgumentException(s"${other.name} is not a catalog of iceberg-lite")
    }
  }

  /**
   * Appends `commits` data files that exist only in metadata, each in its own commit.
   *
   * @return the time of each commit in milliseconds
   */
  def commitLoop(sharedTable: SharedTable, commits: Int): Array[Double] = Array.tabulate(commits) { i =>
    val table = sharedTable.current
    val file = metadataOnlyFile(table, i.toLong)
    Timing.of(table.transaction().add(new MergeAppend(Vector(file))).commit())._1
  }

  /**
   * Plans a new scan `times` times.
   *
   * @param kind the kind of scan: `full`, `part` (one partition) or `stats` (one file, found by its bounds)
   * @return the time to plan each scan in milliseconds, followed by the number of files in the last plan
   */
  def plan(sharedTable: SharedTable, kind: String, times: Int): Array[Double] = {
    val table = sharedTable.current
    val runs = Array.fill(times)(Timing.of {
      TableScan(table.tree(), table.currentSnapshot, filter(kind), caseSensitive = true).plan().tasks.size
    })
    runs.map(_._1) :+ runs.last._2.toDouble
  }

  private def filter(kind: String): Expression = kind match {
    case "full" => AlwaysTrue
    case "part" => Equal(Named(PartitionColumn), IntLiteral(7))
    case "stats" => Equal(Named("k"), IntLiteral(7919 * 3))
    case other => throw new IllegalArgumentException(s"The kind of scan must be full, part or stats, not $other")
  }

  private def metadataOnlyFile(table: Table, number: Long): ContentFile = ContentFile(
    Content.Data,
    s"${table.location}/data/" + "%08d-fake-9f1c2b7e-0001.parquet".formatLocal(Locale.ROOT, number),
    FileFormat.Parquet,
    table.spec.specId,
    PartitionTuple.Empty,
    RowsPerFile,
    FileBytes,
    metrics(table.schema, number),
    splitOffsets = Vector(4L)
  )

  private def metrics(schema: Schema, number: Long): Metrics = {
    val fields = schema.fields.filterNot(_.name == PartitionColumn)
    def forEachField[A](value: Int => A): Map[Int, A] = fields.map(f => f.id -> value(f.id)).toMap
    val bounds = for (f <- fields; (low, high) <- boundsOf(f.fieldType, number)) yield (f.id, low, high)
    MetricMaps(
      columnSizes = Some(forEachField(100000L + _)),
      valueCounts = Some(forEachField(_ => RowsPerFile)),
      nullValueCounts = Some(forEachField(_ => 0L)),
      nanValueCounts = None,
      lowerBounds = Some(bounds.map { case (id, low, _) => id -> encoded(low) }.toMap),
      upperBounds = Some(bounds.map { case (id, _, high) => id -> encoded(high) }.toMap)
    )
  }

  private def encoded(value: Literal): ByteBuffer = SingleValue.encode(value)

  /** Returns the bounds of a column in a file, or `None` for types that do not occur in the benchmark's tables. */
  private def boundsOf(t: Type, number: Long): Option[(Literal, Literal)] = t match {
    case LongType => Some((LongLiteral(number * RowsPerFile), LongLiteral((number + 1) * RowsPerFile - 1)))
    case IntType =>
      val low = (number * 7919 % 1000000).toInt
      Some((IntLiteral(low), IntLiteral(low + 10)))
    case DoubleType => Some((DoubleLiteral(number * 0.5), DoubleLiteral(number * 0.5 + 1000)))
    case StringType =>
      val low = s"prefix-${number % 977}"
      Some((StringLiteral(low), StringLiteral(low + "zzzz")))
    case _ => None
  }
}
