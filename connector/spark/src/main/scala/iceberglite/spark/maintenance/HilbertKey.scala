package iceberglite.spark.maintenance

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Ascending,
  Expression,
  Literal,
  NullsFirst,
  SortOrder,
  Substring
}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sample}
import org.apache.spark.sql.types._

import iceberglite.maintenance.cluster.HilbertCurve

/**
 * The position of a row on the Hilbert curve through the ordinals of several columns. Rows that are close in all
 * columns have close positions. The position is a bigint, which Spark sorts without comparing rows.
 *
 * @param children the columns
 * @param ordinals the ordinals of each column
 */
final private[maintenance] case class HilbertKey(
    children: Seq[Expression],
    ordinals: Vector[ColumnOrdinals],
    curve: HilbertCurve
) extends Expression {

  override def dataType: DataType = LongType

  override def nullable: Boolean = false

  override def prettyName: String = "hilbert"

  override protected def flatArguments: Iterator[Any] = children.iterator

  @transient private lazy val cell = new Array[Int](children.size)

  override def eval(input: InternalRow): Any = {
    var i = 0
    while (i < cell.length) {
      val value = children(i).eval(input)
      cell(i) =
        if (value == null) 0
        else ordinals(i) match {
          case numbers: NumberOrdinals => numbers.of(ColumnOrdinals.longOf(value))
          case values: ValueOrdinals => values.of(value)
        }
      i += 1
    }
    curve.index(cell)
  }

  /** Generates code that allocates no objects for a row, apart from those that Spark allocates to read a value. */
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val cell = ctx.addMutableState("int[]", "cell", name => s"$name = new int[${children.size}];")
    val curveName = ctx.addReferenceObj("curve", curve, classOf[HilbertCurve].getName)
    val coordinates = children.zip(ordinals).zipWithIndex.map { case ((child, column), i) =>
      val value = child.genCode(ctx)
      val columnName = ctx.addReferenceObj("ordinals", column, column.getClass.getName)
      val ordinal = child.dataType match {
        case _ if column.isInstanceOf[ValueOrdinals] => s"$columnName.of(${value.value})"
        case BooleanType => s"$columnName.of(${value.value} ? 1L : 0L)"
        case FloatType | DoubleType => s"$columnName.ofReal(${value.value})"
        case _: DecimalType => s"$columnName.of(${value.value}.toUnscaledLong())"
        case _ => s"$columnName.of((long) ${value.value})"
      }
      code"""
        ${value.code}
        $cell[$i] = ${value.isNull} ? 0 : $ordinal;
      """
    }
    val index = code"final long ${ev.value} = $curveName.index($cell);"
    ev.copy(code = coordinates.reduce(_ + _) + index, isNull = FalseLiteral)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(children = newChildren)
}

private[maintenance] object HilbertKey {

  /** The expected number of rows of a sample: about 5 rows for each ordinal of 12 bits. */
  private val SampleRows = 20000

  /** An arbitrary number. If `rand` generated values with the same seed, such as 1, the sample would depend on them. */
  private val Seed = 0x5deece66d1f3aL

  /** The number of characters or bytes of a value that determine its ordinal, so that a sample of long values is small. */
  private val PrefixLength = 256

  /**
   * Returns a sort order along the Hilbert curve. A Spark job reads a sample of the rows, to determine the ordinals.
   *
   * @param columns expressions that refer to columns of `rows`; they may be unresolved
   * @param rows the rows that will be sorted; the job does not read other columns than those of the plan
   * @param count the number of rows, at least approximately
   */
  def order(session: SparkSession, columns: Seq[Expression], rows: LogicalPlan, count: Long): SortOrder = {
    val curve = HilbertCurve.ofColumns(columns.size)
    val named = columns.zipWithIndex.map { case (column, i) => Alias(column, s"c$i")() }
    val fraction = math.min(1.0, SampleRows.toDouble / math.max(1L, count))
    val all =
      session.sessionState.executePlan(Sample(0.0, fraction, withReplacement = false, Seed, Project(named, rows)))
    val prefixes = all.analyzed.output.map(column => Alias(prefix(column), column.name)())
    val plan = session.sessionState.executePlan(Project(prefixes, all.analyzed))
    val types = plan.analyzed.output.map(_.dataType).toArray
    val sample = collect(plan.toRdd)
    val ordinals = types.indices.map { i =>
      val values = sample.map[Any, Array[Any]](row => if (row.isNullAt(i)) null else row.get(i, types(i)))
      ColumnOrdinals.of(types(i), values, curve.bits)
    }
    SortOrder(HilbertKey(columns, ordinals.toVector, curve), Ascending, NullsFirst, Nil)
  }

  private def prefix(column: Expression): Expression = column.dataType match {
    case StringType | BinaryType => Substring(column, Literal(1), Literal(PrefixLength))
    case _ => column
  }

  /** Returns the rows, but only the first ones of each partition if the stated number of rows was far too low. */
  private def collect(rows: RDD[InternalRow]): Array[InternalRow] = {
    val limit = 100 + 4 * SampleRows / math.max(1, rows.getNumPartitions)
    rows.mapPartitions(_.take(limit).map(_.copy())).collect()
  }
}
