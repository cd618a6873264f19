package iceberglite.spark.convert

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.Literal

/** Converts calls of transforms in SQL, such as `bucket(16, id)`. */
object TransformCall {

  /**
   * Returns the column and the transform.
   *
   * @param reject throws the error for a call whose arguments are not columns and numbers
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the transform does not exist or does not have these
   *   arguments
   */
  def term(call: UnresolvedFunction)(reject: String => Nothing): PartitionTerm = {
    val arguments = call.arguments.map {
      case Literal(number: Int, _) => PartitionTerm.Number(number)
      case column: UnresolvedAttribute => PartitionTerm.Column(column.nameParts.toVector)
      case _ => reject("The arguments of a transform are a column and a number")
    }
    PartitionTerm.of(call.nameParts.last, arguments)
  }
}
