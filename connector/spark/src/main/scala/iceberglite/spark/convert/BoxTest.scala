package iceberglite.spark.convert

import org.apache.spark.sql.connector.expressions.{
  Expression => SparkExpression,
  Literal => SparkLiteral,
  NamedReference,
  UserDefinedScalarFunc
}

import iceberglite.spec.geo.BoundingBox

/** Recognizes the test of a box that the optimizer derives from `system.st_intersects`. */
private[iceberglite] object BoxTest {

  /** The name of the function, which is the same in all catalogs. */
  val CanonicalName = "iceberg.st_boxtest(binary,double,double,double,double)"

  def unapply(e: SparkExpression): Option[(NamedReference, BoundingBox)] = e match {
    case function: UserDefinedScalarFunc if function.canonicalName == CanonicalName =>
      function.children match {
        case Array(reference: NamedReference, Side(xMin), Side(yMin), Side(xMax), Side(yMax)) =>
          BoundingBox.of(xMin, yMin, xMax, yMax).map(reference -> _)
        case _ => None
      }
    case _ => None
  }

  private object Side {
    def unapply(e: SparkExpression): Option[Double] = e match {
      case side: SparkLiteral[_] => Option(side.value).collect { case v: Double => v }
      case _ => None
    }
  }
}
