package iceberglite.spark.convert

import org.apache.spark.sql.connector.expressions.{
  Expression => SparkExpression,
  Literal => SparkLiteral,
  NamedReference,
  UserDefinedScalarFunc
}
import org.apache.spark.sql.types.DataType

import iceberglite.spec.types.PrimitiveType

/** Recognizes the part of a variant that the optimizer derives from `system.variant_get`. */
private[iceberglite] object PartTest {

  /** The name of the function, which is the same in all catalogs. */
  val CanonicalName = "iceberg.variant_part(string,string)"

  /** Returns the column, the names of the fields that lead to the part, and the type to which it is cast. */
  def unapply(e: SparkExpression): Option[(NamedReference, Vector[String], PrimitiveType)] = e match {
    case function: UserDefinedScalarFunc if function.canonicalName == CanonicalName =>
      function.children.toVector match {
        case (reference: NamedReference) +: Text(typeName) +: path =>
          val names = path.collect { case Text(name) => name }
          SparkTypes.fromSpark(DataType.fromJson(typeName), "part") match {
            case t: PrimitiveType if names.size == path.size => Some((reference, names, t))
            case _ => None
          }
        case _ => None
      }
    case _ => None
  }

  private object Text {
    def unapply(e: SparkExpression): Option[String] = e match {
      case text: SparkLiteral[_] => Option(text.value).map(_.toString)
      case _ => None
    }
  }
}
