package iceberglite.spark.maintenance

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{BinaryType, DataType}

import iceberglite.spark.function.OrderedBytes

/**
 * The position of a row on the Z-order curve through the values of several columns. Rows that are close in all columns
 * usually have close positions. Positions are compared as unsigned bytes. A null is less than or equal to every value.
 *
 * @param children the columns
 * @param variableBytes the number of bytes that a string or binary column contributes
 * @param maxBytes maximum length of the result
 */
final private[maintenance] case class ZOrderKey(children: Seq[Expression], variableBytes: Int, maxBytes: Int)
    extends Expression
    with CodegenFallback {

  override def dataType: DataType = BinaryType

  override def nullable: Boolean = false

  override def prettyName: String = "zorder"

  override def checkInputDataTypes(): TypeCheckResult =
    children.find(c => !OrderedBytes.isSupported(c.dataType)) match {
      case Some(column) =>
        TypeCheckFailure(s"the column ${column.sql} of type ${column.dataType.sql} cannot be Z-ordered")
      case None => TypeCheckSuccess
    }

  private lazy val converters: Array[Any => Array[Byte]] =
    children.map(c => OrderedBytes.converter(c.dataType, variableBytes)).toArray

  override def eval(input: InternalRow): Any = {
    val columns = new Array[Array[Byte]](converters.length)
    var i = 0
    while (i < columns.length) {
      columns(i) = converters(i)(children(i).eval(input))
      i += 1
    }
    OrderedBytes.interleave(columns, maxBytes)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(children = newChildren)
}
