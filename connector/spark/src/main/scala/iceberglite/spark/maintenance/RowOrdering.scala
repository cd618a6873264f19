package iceberglite.spark.maintenance

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Expression => SparkExpression,
  NullsFirst,
  SortOrder,
  V2ExpressionUtils
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}

import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.write.RowRequirements
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.property.DistributionMode
import iceberglite.table.Table

/** The order of the rows in the files that a rewrite creates. */
sealed private[iceberglite] trait RowOrdering

private[iceberglite] object RowOrdering {

  /** The rows keep the order that they have in the old files. */
  case object Kept extends RowOrdering

  /**
   * The rows of each file group are sorted.
   *
   * @param ordersOf returns the sort orders for the columns of a plan; they may be unresolved
   * @param compression the expected ratio of the size of the new files to that of the old files
   * @param partitionsPerFile the number of shuffle partitions for each new file
   */
  final case class Sorted(
      ordersOf: LogicalPlan => Seq[SortOrder],
      compression: Double,
      partitionsPerFile: Int
  ) extends RowOrdering

  private val CompressionFactor = "compression-factor"
  private val ShufflePartitionsPerFile = "shuffle-partitions-per-file"
  private val VariableLengthContribution = "var-length-contribution"
  private val MaxOutputSize = "max-output-size"

  /** The options that this object reads, in addition to those of every rewrite. */
  val optionNames: Seq[String] =
    Seq(CompressionFactor, ShufflePartitionsPerFile, VariableLengthContribution, MaxOutputSize)

  /**
   * Returns the ordering that a user requests.
   *
   * @param strategy `binpack` or `sort`; absent for `sort` if there is a sort order, and otherwise for `binpack`
   * @param sortOrder sort orders as in ORDER BY, or `zorder(column, ...)`; absent for the sort order of the table
   * @throws InvalidArgument the arguments contradict each other, or are not valid
   */
  def of(
      session: SparkSession,
      catalog: LiteCatalog,
      table: Table,
      strategy: Option[String],
      sortOrder: Option[String],
      options: Map[String, String]
  ): RowOrdering = strategy.map(_.toLowerCase).getOrElse(if (sortOrder.isDefined) "sort" else "binpack") match {
    case "binpack" =>
      sortOrder.foreach { text =>
        throw InvalidArgument("argument sort_order", text, "The strategy binpack does not sort; use the strategy sort")
      }
      optionNames.find(options.contains).foreach { name =>
        throw InvalidArgument("option", name, "It has an effect only with the strategy sort")
      }
      Kept
    case "sort" =>
      val orders = sortOrder.fold(ordersOfTable(catalog, table))(text => parse(session, text, options))
      Sorted(
        orders,
        number(options, CompressionFactor, 1.0, 0.001, 1000.0),
        number(options, ShufflePartitionsPerFile, 1.0, 1.0, 1000.0).toInt
      )
    case other => throw InvalidArgument("argument strategy", other, "It must be binpack or sort")
  }

  /**
   * Returns the ordering along a Z-order curve.
   *
   * @param columns the columns, which Spark has resolved
   * @throws InvalidArgument the values of a column cannot be ordered
   */
  def zOrder(columns: Seq[SparkExpression]): RowOrdering = {
    columns.find(column => !ZOrderKey.isSupported(column.dataType)).foreach { column =>
      throw InvalidArgument(
        "column of ZORDER BY",
        column.sql,
        s"Its type ${column.dataType.sql} has no place in a Z-order"
      )
    }
    Sorted(_ => Seq(zOrderOf(columns.map(ColumnsByName(_)), Map.empty)), compression = 1.0, partitionsPerFile = 1)
  }

  private def number(options: Map[String, String], name: String, default: Double, min: Double, max: Double): Double =
    options.get(name).fold(default) { text =>
      Try(text.trim.toDouble).toOption.filter(n => n >= min && n <= max).getOrElse(
        throw InvalidArgument(s"option $name", text, f"It must be a number from $min%s to $max%.0f")
      )
    }

  private def ordersOfTable(catalog: LiteCatalog, table: Table): LogicalPlan => Seq[SortOrder] = {
    if (!table.sortOrder.isSorted) throw InvalidArgument(
      "argument strategy",
      "sort",
      s"${table.name} has no sort order: set sort_order, or use ALTER TABLE ... WRITE ORDERED BY first"
    )
    val requirements = RowRequirements.of(
      table.schema,
      PartitionSpec.Unpartitioned,
      table.sortOrder,
      Some(DistributionMode.NoDistribution),
      fanout = true
    )
    if (!requirements.sorted) throw InvalidArgument(
      "argument strategy",
      "sort",
      s"Spark cannot compute a term of the sort order of ${table.name}; set sort_order"
    )
    rows => V2ExpressionUtils.toCatalystOrdering(requirements.ordering, rows, Some(catalog))
  }

  private def parse(
      session: SparkSession,
      text: String,
      options: Map[String, String]
  ): LogicalPlan => Seq[SortOrder] = {
    def reject(hint: String): Nothing = throw InvalidArgument("argument sort_order", text, hint)
    val orders = Try(session.sessionState.sqlParser.parsePlan(s"SELECT * FROM t ORDER BY $text")).toOption.collect {
      case Sort(orders, true, _) => orders
    }.getOrElse(reject("It must be a list as in ORDER BY, or zorder(column, ...)"))
    val zOrders = orders.map(_.child).collect { case f: UnresolvedFunction if isZOrder(f) => f }
    zOrders match {
      case Seq() => _ => orders
      case Seq(zOrder) if orders.size == 1 =>
        val columns = zOrder.arguments.map {
          case column: UnresolvedAttribute => column
          case other => reject(s"zorder takes columns, and ${other.sql} is not a column")
        }
        if (columns.isEmpty) reject("zorder needs at least one column")
        _ => Seq(zOrderOf(columns, options))
      case _ => reject("zorder cannot be combined with other sort orders")
    }
  }

  private def isZOrder(function: UnresolvedFunction): Boolean =
    function.nameParts.lastOption.exists(_.equalsIgnoreCase("zorder"))

  private def zOrderOf(columns: Seq[SparkExpression], options: Map[String, String]): SortOrder = {
    val variableBytes = number(options, VariableLengthContribution, 8, 1, 1000).toInt
    val maxBytes = number(options, MaxOutputSize, Int.MaxValue.toDouble, 1, Int.MaxValue.toDouble).toInt
    SortOrder(ZOrderKey(columns, variableBytes, maxBytes), Ascending, NullsFirst, Nil)
  }
}
