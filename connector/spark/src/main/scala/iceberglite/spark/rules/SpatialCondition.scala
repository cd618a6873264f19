package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.objects.Invoke
import org.apache.spark.sql.catalyst.expressions.{ApplyFunctionExpression, EqualTo, Expression, Literal}

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.function.{Geometries, SpatialFunctions}
import iceberglite.spec.geo.BoundingBox

/** A condition that a column and a constant geometry intersect: `system.st_intersects(geom, system.st_box(...))`. */
private[rules] object SpatialCondition {

  /** Returns the column, and the box that contains the constant geometry. */
  def unapply(e: Expression): Option[(Expression, BoundingBox)] = e match {
    case Invoke(
          Literal(SpatialFunctions.Intersects, _),
          _,
          _,
          Seq(PushableColumn(column), Constant(box)),
          _,
          _,
          _,
          _
        ) =>
      Some(column -> box)
    case Invoke(
          Literal(SpatialFunctions.Intersects, _),
          _,
          _,
          Seq(Constant(box), PushableColumn(column)),
          _,
          _,
          _,
          _
        ) =>
      Some(column -> box)
    case _ => None
  }

  /**
   * Returns a condition by which a scan can skip files. It is true for each row whose geometry intersects the box, but
   * may also be true for other rows.
   */
  def test(column: Expression, box: BoundingBox): Expression = {
    val sides = Seq(box.xMin, box.yMin, box.xMax, box.yMax).map(Literal(_))
    EqualTo(ApplyFunctionExpression(SpatialFunctions.BoxTest, column +: sides), Literal(1))
  }

  /** A constant that is neither null nor an empty geometry. Spark has already computed constant calls of functions. */
  private object Constant {
    def unapply(e: Expression): Option[BoundingBox] = e match {
      case Literal(wkb: Array[Byte], _) => SparkErrors.in(SpatialFunctions.Intersects.name)(Geometries.box(wkb))
      case _ => None
    }
  }

  /**
   * Matches a call of `st_intersects` whose first argument is constant, and returns the call with swapped arguments.
   */
  object ConstantFirst {
    def unapply(e: Expression): Option[Expression] = e match {
      case call @ Invoke(Literal(SpatialFunctions.Intersects, _), _, _, Seq(first: Literal, other), _, _, _, _)
          if !other.isInstanceOf[Literal] => Some(call.copy(arguments = Seq(other, first)))
      case _ => None
    }
  }
}
