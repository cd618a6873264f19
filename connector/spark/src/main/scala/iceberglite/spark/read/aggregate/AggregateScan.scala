package iceberglite.spark.read.aggregate

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation
import org.apache.spark.sql.connector.read.{LocalScan, Statistics, SupportsReportStatistics}
import org.apache.spark.sql.types.{StructField, StructType}

import iceberglite.scan.{FileScanTask, ScanPlan}
import iceberglite.spark.convert.{SparkTypes, SparkValues}
import iceberglite.spark.read.partitioning.SizeEstimate
import iceberglite.spark.read.stats.{FileRowCount, StatisticsColumn}
import iceberglite.spec.expr.Expression
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType}

/** The result of a query with aggregates, computed from metadata, without opening a data file. */
final private[read] class AggregateScan private (schema: StructType, resultRows: Array[InternalRow], details: String)
    extends LocalScan
    with SupportsReportStatistics {
  override def readSchema(): StructType = schema

  override def rows(): Array[InternalRow] = resultRows

  override def estimateStatistics(): Statistics = SizeEstimate.of(resultRows.length.toLong, schema).statistics()

  override def description(): String = details

  override def toString: String = details
}

private[read] object AggregateScan {

  /**
   * Returns a scan with the result of an aggregation.
   *
   * @param metadata the metadata of the table
   * @param plan plans the scan and keeps the metrics of the columns with the given ids. The filter of the scan must be
   *   true for all rows of each planned file. The function is called only if metadata may give an exact result.
   * @return absent if metadata does not give an exact result
   */
  def of(
      aggregation: Aggregation,
      metadata: TableMetadata,
      schema: Schema,
      caseSensitive: Boolean,
      plan: Set[Int] => ScanPlan
  ): Option[AggregateScan] = {
    val groupColumns = aggregation.groupByExpressions.toVector.map(StatisticsColumn.of(_, schema, caseSensitive))
    val functions = aggregation.aggregateExpressions.toVector
      .map(PushedAggregate.of(_, metadata, StatisticsColumn.of(_, schema, caseSensitive)))
    val query = new AggregateQuery(groupColumns.flatten, functions.flatten)
    val allSupported = groupColumns.forall(_.isDefined) && functions.forall(_.isDefined)
    if (allSupported && query.canGroupByPartition(metadata)) query.resultOf(plan(query.metricsColumns)) else None
  }

  private[aggregate] def apply(query: AggregateQuery, rows: Array[InternalRow], plan: ScanPlan): AggregateScan = {
    val report = plan.report
    val filters = Expression.conjuncts(plan.filter).mkString(" AND ")
    val details = Seq(
      Some(query.functions.map(_.name).mkString(", ")).filter(_.nonEmpty).map(f => s"aggregates=$f"),
      Some(query.groupColumns.map(_.name).mkString(", ")).filter(_.nonEmpty).map(g => s"group by=$g"),
      Some(filters).filter(_.nonEmpty).map(f => s"filters=$f"),
      Some("files=0 opened")
    )
    val snapshot = report.snapshotId.fold("no snapshot")(id => s"snapshot $id")
    val text = s"iceberg-lite ${report.table} ($snapshot) ${details.flatten.mkString("[", ", ", "]")}"
    new AggregateScan(query.schema, rows, text)
  }
}

/** The aggregates of a query, and its GROUP BY columns. */
final private[aggregate] class AggregateQuery(
    val groupColumns: Vector[StatisticsColumn],
    val functions: Vector[PushedAggregate]
) {

  /** Returns the schema: the columns of GROUP BY, then the aggregates. */
  def schema: StructType = StructType(
    groupColumns.map(g => StructField(g.name, SparkTypes.toSpark(g.fieldType), g.mayBeNull)) ++
      functions.map(f => StructField(f.name, SparkTypes.toSpark(f.valueType), f.mayBeNull))
  )

  /** Returns the ids of the columns whose metrics are needed. */
  def metricsColumns: Set[Int] = functions.flatMap(_.metricsColumn).map(_.id).toSet

  /**
   * Whether partition metadata can contain the GROUP BY keys: at least one partition spec has all GROUP BY columns as
   * identity fields.
   */
  def canGroupByPartition(metadata: TableMetadata): Boolean =
    metadata.specs.exists(spec => groupColumns.forall(g => spec.identityPositions.contains(g.id)))

  /**
   * Computes the result of the query from the metadata of the planned files; absent if metadata does not determine the
   * result exactly.
   */
  def resultOf(plan: ScanPlan): Option[AggregateScan] = {
    val keys = new GroupKeys(groupColumns)
    val groupsByKey = mutable.LinkedHashMap.empty[Vector[Option[Literal]], Group]
    // Without GROUP BY there is one row, even if there are no files.
    if (groupColumns.isEmpty) groupsByKey.put(Vector.empty, new Group)
    val allGrouped = plan.tasks.forall { task =>
      keys.of(task).exists { key =>
        groupsByKey.getOrElseUpdate(key, new Group).add(task)
        true
      }
    }
    if (allGrouped && groupsByKey.values.forall(_.isExact)) {
      val rows = groupsByKey.iterator.collect {
        case (key, group) if groupColumns.isEmpty || group.hasLiveRows => row(key, group)
      }
      Some(AggregateScan(this, rows.toArray, plan))
    } else None
  }

  private def row(key: Vector[Option[Literal]], group: Group): InternalRow = {
    val types = groupColumns.map(_.fieldType) ++ functions.map(_.valueType)
    val values = key ++ group.values
    new GenericInternalRow(values.zip(types).map { case (v, t) => AggregateQuery.sparkValue(v, t) }.toArray)
  }

  /** The aggregates over the files of one GROUP BY key. */
  final private class Group {
    private val tallies = functions.map(_.tally)
    private var minRowCount = 0L
    private var hasExactCount = true

    def add(task: FileScanTask): Unit = {
      val rows = FileRowCount.of(task)
      minRowCount += rows.minCount
      hasExactCount = hasExactCount && rows.exactCount.isDefined
      tallies.foreach(_.add(task))
    }

    /** Whether the group certainly has a row that is not deleted. */
    def hasLiveRows: Boolean = minRowCount > 0

    def isExact: Boolean = (groupColumns.isEmpty || hasLiveRows || hasExactCount) && tallies.forall(_.isExact)

    def values: Vector[Option[Literal]] = tallies.map(_.value)
  }
}

private object AggregateQuery {
  def sparkValue(value: Option[Literal], t: PrimitiveType): Any = value.map(SparkValues.toSpark(_, t)).orNull
}
