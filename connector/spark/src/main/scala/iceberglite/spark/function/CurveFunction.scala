package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.{BinaryType, DataType, StructType}

import iceberglite.maintenance.cluster.HilbertCurve

/**
 * A function that returns the position of a row on a space-filling curve through the values of one or more columns.
 * Rows that are close in all columns usually have close positions. Therefore, filters on each of the columns can skip
 * files of rows that are sorted by position.
 *
 * The function uses the whole value of a number, date or timestamp, and the first 8 bytes of a string or binary value.
 * A decimal is converted to a double. The position depends only on the row. Positions are compared as unsigned bytes,
 * as Spark compares binary values.
 */
sealed abstract class CurveFunction(override val name: String, curve: String) extends UnboundFunction {

  /** Returns the position of a row. @param columns the ordered bytes of each column; the method may overwrite them */
  private[function] def position(columns: Array[Array[Byte]]): Array[Byte]

  override def description: String =
    s"$name - the position of a row on the $curve curve through one or more columns, $name(column, ...)"

  override def bind(inputType: StructType): BoundFunction = {
    def reject(reason: String): Nothing = throw RejectedArguments.of(
      name,
      inputType,
      Nil,
      s"$reason; use $name(column, ...) with columns of primitive types"
    )
    if (inputType.isEmpty) reject(s"$name needs at least one column")
    inputType.find(field => !OrderedBytes.isSupported(field.dataType)).foreach { field =>
      reject(s"$name does not support columns of type ${field.dataType.catalogString}")
    }
    CurveFunction.OfColumns(this, inputType.fields.map(_.dataType).toVector)
  }
}

object CurveFunction {

  /** The number of bytes of a string or binary value in a position, as by default in a Z-order rewrite. */
  private val VariableBytes = OrderedBytes.NumberBytes

  /** The functions of all curves. */
  val all: Seq[CurveFunction] = Seq(ZOrder, Hilbert)

  /** `zorder(a, b)`: the position by which `rewrite_data_files` sorts rows for the sort order `zorder(a, b)`. */
  case object ZOrder extends CurveFunction("zorder", "Z-order") {
    override private[function] def position(columns: Array[Array[Byte]]): Array[Byte] =
      OrderedBytes.interleave(columns, Int.MaxValue)
  }

  /**
   * `hilbert(a, b)`: the position on the Hilbert curve through the values. The sort order `hilbert(a, b)` of
   * `rewrite_data_files` also uses the Hilbert curve, but through ranks of values in a sample of the table.
   */
  case object Hilbert extends CurveFunction("hilbert", "Hilbert") {
    override private[function] def position(columns: Array[Array[Byte]]): Array[Byte] = {
      val cell = columns.map(OrderedBytes.toLong)
      new HilbertCurve(cell.length, java.lang.Long.SIZE).toDigits(cell)
      OrderedBytes.interleave(cell.map(OrderedBytes.ofLong), Int.MaxValue)
    }
  }

  /** The function of a curve for columns of given types. */
  final private case class OfColumns(function: CurveFunction, types: Vector[DataType])
      extends ScalarFunction[Array[Byte]] {
    @transient private lazy val converters = types.map(OrderedBytes.converter(_, VariableBytes)).toArray

    override def name: String = function.name
    override def canonicalName: String = s"iceberglite.$name(${types.map(_.catalogString).mkString(",")})"
    override def inputTypes: Array[DataType] = types.toArray
    override def resultType: DataType = BinaryType
    override def isResultNullable: Boolean = false

    override def produceResult(input: InternalRow): Array[Byte] = {
      val columns = new Array[Array[Byte]](converters.length)
      var i = 0
      while (i < columns.length) {
        columns(i) = converters(i)(if (input.isNullAt(i)) null else input.get(i, types(i)))
        i += 1
      }
      function.position(columns)
    }
  }
}
