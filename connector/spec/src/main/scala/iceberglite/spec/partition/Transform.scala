package iceberglite.spec.partition

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Expression, Predicate}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, Type}

/**
 * A transform from a column to a partition or sort value (spec: "Partition Transforms"). To add a transform, implement
 * this trait with all of its behavior and add its [[TransformFamily]] to [[Transforms.all]]; no other code matches on
 * transforms.
 *
 * Every transform maps null to null, so the methods use values that are not null.
 */
trait Transform extends Serializable {

  /** The name in the JSON of a spec: `bucket[16]`. */
  def name: String

  /** Whether columns of this type may be transformed. */
  def canTransform(source: Type): Boolean

  /** The type of the partition values from a column of type `source`. */
  def resultType(source: PrimitiveType): PrimitiveType

  /** Returns the partition value; `None` represents null. */
  def apply(value: Literal): Option[Literal]

  /** Whether `a <= b` implies `apply(a) <= apply(b)`. */
  def preservesOrder: Boolean

  /**
   * The inclusive projection: a predicate on `target` that is true for the partition of every row for which
   * `predicate`, bound to the source column, is true. `None` if there is no such predicate.
   */
  def project(target: NestedField, predicate: Predicate): Option[Expression]

  /**
   * The strict projection: a predicate on `target` that is true only for partitions in which `predicate` is true for
   * all rows. `None` if there is no such predicate.
   */
  def projectStrict(target: NestedField, predicate: Predicate): Option[Expression]

  /** Formats a partition value for a partition path, before URL encoding. */
  def toHuman(value: Literal): String

  /** Returns the default name of a partition field: `ts_day`. */
  def defaultFieldName(source: String): String

  override def toString: String = name
  override def equals(that: Any): Boolean = that match {
    case t: Transform => t.name == name
    case _ => false
  }
  override def hashCode: Int = name.hashCode
}

/** Parses the transforms of one family: `parse("bucket[16]")`. */
trait TransformFamily {

  /** The family's name in SQL and, without parameter, in JSON: `bucket`. */
  def name: String

  /** Parses a transform by its JSON name. */
  def parse(json: String): Option[Transform]
}

object Transforms {

  /** All known transforms; [[UnknownTransform]] represents others. */
  val all: Seq[TransformFamily] = Seq(Identity, Bucket, Truncate, Year, Month, Day, Hour, Void)

  /** Parses a transform by its JSON name; an unknown one is preserved (spec: readers ignore unknown transforms). */
  def parse(json: String): Transform = all.flatMap(_.parse(json)).headOption.getOrElse(UnknownTransform(json))

  /** Parses `name[width]`, the form of transforms with a parameter. */
  private[iceberglite] def parameter(family: String, json: String): Option[Int] = {
    val pattern = (java.util.regex.Pattern.quote(family) + """\[(\d+)\]""").r
    json match {
      case pattern(digits) =>
        Some(scala.util.Try(digits.toInt).toOption.filter(_ > 0).getOrElse(
          throw InvalidArgument("transform", json, s"Its parameter must be 1 to ${Int.MaxValue}")
        ))
      case _ => None
    }
  }
}
