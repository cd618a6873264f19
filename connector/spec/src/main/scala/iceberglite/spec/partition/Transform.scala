package iceberglite.spec.partition

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Expression, Predicate}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, Type}

/**
 * A transform from a column to a partition or sort value (spec: "Partition Transforms"). [[Transforms.all]] lists the
 * families of transforms.
 *
 * Every transform maps null to null. Therefore the methods are called only for values that are not null.
 */
trait Transform extends Serializable {

  /** The name of the transform in the JSON of a partition spec, such as `bucket[16]`. */
  def name: String

  /** Whether the transform supports columns of the given type. */
  def canTransform(source: Type): Boolean

  /** The type of the partition values, if the source column has the type `source`. */
  def resultType(source: PrimitiveType): PrimitiveType

  /** Returns the partition value; `None` represents null. */
  def apply(value: Literal): Option[Literal]

  /** Whether `a <= b` implies `apply(a) <= apply(b)`, unless one of the results overflows. */
  def preservesOrder: Boolean

  /**
   * Returns the inclusive projection of a predicate: an expression that is true for the partition of every row for
   * which the predicate is true.
   *
   * @param target the partition field of the result
   * @param predicate a predicate on the source column
   * @return absent if the partition values do not determine a useful expression
   */
  def project(target: NestedField, predicate: Predicate): Option[Expression]

  /**
   * Returns the strict projection of a predicate: an expression that is true only for partitions in which the predicate
   * is true for all rows.
   *
   * @param target the partition field of the result
   * @param predicate a predicate on the source column
   * @return absent if the partition values do not determine a useful expression
   */
  def projectStrict(target: NestedField, predicate: Predicate): Option[Expression]

  /** Formats a partition value for the path of a partition. The result is not yet URL-encoded. */
  def toHuman(value: Literal): String

  /** Returns the default name of a partition field, such as `ts_day`. @param source the name of the source column */
  def defaultFieldName(source: String): String

  override def toString: String = name
  override def equals(that: Any): Boolean = that match {
    case t: Transform => t.name == name
    case _ => false
  }
  override def hashCode: Int = name.hashCode
}

/**
 * A family of transforms that differ only in their parameter, such as `bucket[16]` and `bucket[32]`. A transform
 * without a parameter is the only member of its family.
 */
trait TransformFamily {

  /**
   * The name of the family, such as `bucket`. This is the name of the transform in SQL. In JSON, the name of a
   * transform consists of the name of the family and the parameter.
   */
  def name: String

  /** Returns the transform with the given name in JSON; absent if the name does not belong to this family. */
  def parse(json: String): Option[Transform]
}

object Transforms {

  /** The families of all transforms that this release supports. */
  val all: Seq[TransformFamily] = Seq(Identity, Bucket, Truncate, Year, Month, Day, Hour, Void)

  /**
   * Returns the transform with the given name in JSON. An unsupported transform is represented by an
   * [[UnknownTransform]], because readers must ignore unknown transforms (spec: "Partition Transforms").
   *
   * @throws InvalidArgument if the parameter of a supported transform is not a positive int
   */
  def parse(json: String): Transform = all.flatMap(_.parse(json)).headOption.getOrElse(UnknownTransform(json))

  /** Returns the parameter in a name such as `bucket[16]`; absent if the name does not belong to the family. */
  private[iceberglite] def parseParameter(family: String, json: String): Option[Int] = {
    val pattern = (java.util.regex.Pattern.quote(family) + """\[(\d+)\]""").r
    json match {
      case pattern(digits) =>
        Some(scala.util.Try(digits.toInt).toOption.filter(_ > 0).getOrElse(
          throw InvalidArgument("transform", json, s"The parameter must be a number from 1 to ${Int.MaxValue}")
        ))
      case _ => None
    }
  }
}
