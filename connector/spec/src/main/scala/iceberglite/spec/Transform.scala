package iceberglite.spec

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Expression, Predicate}
import iceberglite.spec.transform._

/**
 * How a partition or sort value comes from a column (spec: "Partition Transforms"). Open by design: a transform is one
 * file that holds all of its behaviour, and one line in [[Transforms.all]]; nobody outside matches on them.
 *
 * Null gives null for every transform, so the methods take and give values that are there.
 */
trait Transform extends Serializable {

  /** As in the JSON of a spec: `bucket[16]`. */
  def name: String

  /** Whether columns of this type may be transformed. */
  def canTransform(source: Type): Boolean

  /** The type of the partition values from a column of type `source`. */
  def resultType(source: PrimitiveType): PrimitiveType

  /** The partition value; `None` stands for null. */
  def apply(value: Literal): Option[Literal]

  /** Whether `a <= b` gives `apply(a) <= apply(b)`. */
  def preservesOrder: Boolean

  /**
   * The inclusive projection: a predicate on `target` that is true for the partition of every row that `predicate`, bound
   * to the source column, is true for. `None` when nothing can be said.
   */
  def project(target: NestedField, predicate: Predicate): Option[Expression]

  /**
   * The strict projection: a predicate on `target` that is true only for partitions all of whose rows `predicate` is true
   * for. `None` when nothing can be said.
   */
  def projectStrict(target: NestedField, predicate: Predicate): Option[Expression]

  /** The value as it stands in a partition path, before URL encoding. */
  def toHuman(value: Literal): String

  /** The name a partition field gets that was given none: `ts_day`. */
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

  /** The transform whose JSON name this is. */
  def parse(json: String): Option[Transform]
}

object Transforms {

  /** All transforms there are; [[UnknownTransform]] stands for the rest. */
  val all: Seq[TransformFamily] = Seq(Identity, Bucket, Truncate, Year, Month, Day, Hour, Void)

  /** By its JSON name; one that nobody knows is kept (spec: readers ignore unknown transforms). */
  def parse(json: String): Transform = all.flatMap(_.parse(json)).headOption.getOrElse(UnknownTransform(json))

  /** `name[width]`, the form of the transforms with a parameter. */
  private[spec] def parameter(family: String, json: String): Option[Int] = {
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
