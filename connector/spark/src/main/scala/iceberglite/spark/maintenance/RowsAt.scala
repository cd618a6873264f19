package iceberglite.spark.maintenance

import java.util.{HashMap => JavaMap}

import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{BooleanType, DataType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.puffin.DeletionVector

/** Positions of rows in data files, in a serializable form that Spark tasks can use. */
final private[maintenance] class FilePositions private (vectors: Vector[(String, Array[Byte])]) extends Serializable {
  @transient private lazy val byFile = {
    val result = new JavaMap[UTF8String, DeletionVector]
    vectors.foreach { case (file, bytes) =>
      result.put(UTF8String.fromString(file), DeletionVector.parse(file, file, bytes))
    }
    result
  }

  def contain(file: UTF8String, position: Long): Boolean = {
    val ofFile = byFile.get(file)
    ofFile != null && ofFile.isDeleted(position)
  }

  override def toString: String = s"positions in ${vectors.size} files"
}

private[maintenance] object FilePositions {
  def of(vectors: Iterable[(String, DeletionVector)]): FilePositions =
    new FilePositions(vectors.iterator.map { case (file, vector) => (file, vector.toBytes) }.toVector)
}

/**
 * A predicate that is true if a row is at one of the given positions of its file.
 *
 * @param left path of the row's file
 * @param right position of the row
 */
final private[maintenance] case class RowsAt(left: Expression, right: Expression, positions: FilePositions)
    extends BinaryExpression
    with CodegenFallback {

  override def dataType: DataType = BooleanType

  override def prettyName: String = "rows_at"

  override protected def nullSafeEval(file: Any, position: Any): Any = (file, position) match {
    case (path: UTF8String, number: Long) => positions.contain(path, number)
    case other => throw new IllegalStateException(s"Unexpected file and position $other")
  }

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): Expression =
    copy(left = newLeft, right = newRight)
}
