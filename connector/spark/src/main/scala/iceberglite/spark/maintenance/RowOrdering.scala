package iceberglite.spark.maintenance

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Ascending, Expression => SparkExpression, NullsFirst, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}

import iceberglite.maintenance.Choices
import iceberglite.maintenance.cluster.ClusterColumns
import iceberglite.maintenance.compact.RewriteOptions
import iceberglite.spark.function.OrderedBytes
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.Table

/** The order of the rows in the files that a rewrite creates. */
sealed private[iceberglite] trait RowOrdering {

  /** The columns by which the new files are clustered along a Hilbert curve. */
  def clustering: Option[ClusterColumns] = None
}

private[iceberglite] object RowOrdering {

  /**
   * The rows keep the order that they have in the old files, unless the rows of a file group may belong to several
   * partitions of the new files.
   */
  case object Kept extends RowOrdering

  /**
   * The number of shuffle partitions of a sort. If there are more shuffle partitions than files, each task sorts fewer
   * rows.
   *
   * @param compression the expected ratio of the size of the new files to the size of the old files
   * @param perFile the number of shuffle partitions whose rows are written to each new file, one after the other
   */
  final case class Partitions(compression: Double = 1.0, perFile: Int = 1) {

    /** Returns the number of new files. @param bytes the size of the old files, in bytes */
    def files(bytes: Long, options: RewriteOptions): Int =
      options.group.outputFiles(math.max(1L, (bytes * compression).toLong))
  }

  /**
   * The rows of each file group are sorted.
   *
   * @param ordersOf returns the sort orders for the columns of a plan; they may be unresolved
   */
  final case class Sorted(ordersOf: LogicalPlan => Seq[SortOrder], partitions: Partitions) extends RowOrdering

  /**
   * The rows of each file group are sorted along a Hilbert curve.
   *
   * @param onlyUnclustered whether files that are already clustered by the columns are not rewritten
   */
  final case class Hilbert(columns: ClusterColumns, partitions: Partitions, onlyUnclustered: Boolean)
      extends RowOrdering {
    override def clustering: Option[ClusterColumns] = Some(columns)
  }

  private val CompressionFactor = "compression-factor"
  private val ShufflePartitionsPerFile = "shuffle-partitions-per-file"
  private val VariableLengthContribution = "var-length-contribution"
  private val MaxOutputSize = "max-output-size"

  /** The options that this object reads, in addition to the options of every rewrite. */
  val optionNames: Seq[String] =
    Seq(CompressionFactor, ShufflePartitionsPerFile, VariableLengthContribution, MaxOutputSize)

  /**
   * Returns the ordering of a rewrite without arguments: a Hilbert curve if the table has clustering columns;
   * otherwise, the rows keep their order.
   *
   * @throws InvalidArgument if the table's clustering columns are not valid
   */
  def default(table: Table): RowOrdering =
    ClusterColumns.of(table.metadata).fold[RowOrdering](Kept)(Hilbert(_, Partitions(), onlyUnclustered = true))

  /**
   * Returns the ordering that a user requests.
   *
   * @param strategy `binpack` or `sort`. If absent, the default is `sort` if a sort order is given, a Hilbert curve if
   *   the table has clustering columns, and otherwise `binpack`
   * @param sortOrder sort orders as in ORDER BY, `zorder(column, ...)` or `hilbert(column, ...)`; if absent, `sort`
   *   uses the sort order of the table
   * @throws InvalidArgument if the arguments contradict each other, or are not valid
   */
  def of(
      session: SparkSession,
      table: Table,
      strategy: Option[String],
      sortOrder: Option[String],
      options: Map[String, String]
  ): RowOrdering = (strategy.map(_.toLowerCase), sortOrder) match {
    case (None, None) =>
      ClusterColumns.of(table.metadata).fold(kept(options))(Hilbert(_, partitions(options), onlyUnclustered = true))
    case (Some("binpack"), None) => kept(options)
    case (Some("binpack"), Some(text)) =>
      throw InvalidArgument("argument sort_order", text, "The strategy binpack does not sort; use the strategy sort")
    case (Some("sort"), None) => Sorted(ordersOfTable(table), partitions(options))
    case (Some("sort") | None, Some(text)) => parse(session, table, text, options)
    case (Some(other), _) => throw Choices.rejected("argument strategy", other, Seq("binpack", "sort"))
  }

  /**
   * Returns the ordering along a Z-order curve.
   *
   * @param columns the columns, which Spark has resolved
   * @throws InvalidArgument if the values of a column cannot be ordered
   */
  def zOrder(columns: Seq[SparkExpression]): RowOrdering = {
    columns.find(column => !OrderedBytes.isSupported(column.dataType)).foreach { column =>
      throw InvalidArgument(
        "column of ZORDER BY",
        column.sql,
        s"Columns of type ${column.dataType.sql} cannot be Z-ordered; choose other columns"
      )
    }
    Sorted(_ => Seq(zOrderOf(columns.map(ColumnsByName(_)), Map.empty)), Partitions())
  }

  private def kept(options: Map[String, String]): RowOrdering = {
    optionNames.find(options.contains).foreach { name =>
      throw InvalidArgument("option name", name, "It has an effect only with the strategy sort")
    }
    Kept
  }

  private def partitions(options: Map[String, String]): Partitions = Partitions(
    number(options, CompressionFactor, 1.0, 0.001, 1000.0),
    number(options, ShufflePartitionsPerFile, 1.0, 1.0, 1000.0).toInt
  )

  private def number(options: Map[String, String], name: String, default: Double, min: Double, max: Double): Double =
    options.get(name).fold(default) { text =>
      Try(text.trim.toDouble).toOption.filter(n => n >= min && n <= max).getOrElse(
        throw InvalidArgument(s"option $name", text, f"It must be a number from $min%s to $max%.0f")
      )
    }

  private def ordersOfTable(table: Table): LogicalPlan => Seq[SortOrder] = {
    if (!table.sortOrder.isSorted) throw InvalidArgument(
      "argument strategy",
      "sort",
      s"${table.name} has no sort order: set sort_order, or use ALTER TABLE ... WRITE ORDERED BY first"
    )
    RewriteSortOrders.of(table.schema, table.sortOrder).getOrElse(throw InvalidArgument(
      "argument strategy",
      "sort",
      s"Spark cannot compute a term of the sort order of ${table.name}; set sort_order"
    ))
  }

  private def parse(session: SparkSession, table: Table, text: String, options: Map[String, String]): RowOrdering = {
    def reject(hint: String): Nothing = throw InvalidArgument("argument sort_order", text, hint)
    val orders = Try(session.sessionState.sqlParser.parsePlan(s"SELECT * FROM t ORDER BY $text")).toOption.collect {
      case Sort(orders, true, _) => orders
    }.getOrElse(reject("It must be a list as in ORDER BY, zorder(column, ...) or hilbert(column, ...)"))
    orders.map(_.child).collectFirst { case Curve(name, arguments) => (name, arguments) } match {
      case None => Sorted(SortOrderArgument.of(session, table, orders), partitions(options))
      case Some((name, arguments)) =>
        if (orders.size > 1) reject(s"$name cannot be combined with other sort orders")
        if (arguments.isEmpty) reject(s"$name needs at least one column")
        val columns = arguments.map {
          case column: UnresolvedAttribute => column
          case other => reject(s"$name takes columns, and ${other.sql} is not a column")
        }
        if (name == ZOrder) {
          zOrder(SortOrderArgument.resolved(session, table, columns.map(SortOrder(_, Ascending))).map(_.child))
          Sorted(_ => Seq(zOrderOf(columns, options)), partitions(options))
        } else {
          val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
          val clustering =
            ClusterColumns.require(
              table.schema,
              columns.map(_.nameParts.toVector),
              caseSensitive,
              "argument sort_order"
            )
          Hilbert(clustering, partitions(options), onlyUnclustered = false)
        }
    }
  }

  private val ZOrder = "zorder"

  /** Matches the call of a space-filling curve, and returns the name of the curve and the columns. */
  private object Curve {
    private val names = Seq(ZOrder, "hilbert")

    def unapply(function: UnresolvedFunction): Option[(String, Seq[SparkExpression])] =
      names.find(name => function.nameParts.lastOption.exists(_.equalsIgnoreCase(name))).map(_ -> function.arguments)
  }

  private def zOrderOf(columns: Seq[SparkExpression], options: Map[String, String]): SortOrder = {
    val variableBytes = number(options, VariableLengthContribution, 8, 1, 1000).toInt
    val maxBytes = number(options, MaxOutputSize, Int.MaxValue.toDouble, 1, Int.MaxValue.toDouble).toInt
    SortOrder(ZOrderKey(columns, variableBytes, maxBytes), Ascending, NullsFirst, Nil)
  }
}
