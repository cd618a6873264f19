package iceberglite.spec.partition

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.expr.{Expression, Predicate}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type.StringType

/**
 * A transform of a later version: it is preserved, ignored in filters, and never used for writes (spec:
 * "Partitioning").
 */
final case class UnknownTransform(name: String) extends Transform {

  /** Returns true, because the writer of the spec has checked the type. */
  override def canTransform(source: Type): Boolean = true

  override def resultType(source: PrimitiveType): PrimitiveType = StringType

  override def apply(value: Literal): Option[Literal] = throw Unsupported(
    s"the partition transform $name",
    "It comes from a later version of Iceberg. Read the table, or write with a partition spec that does not use it"
  )

  override def preservesOrder: Boolean = false

  override def project(target: NestedField, predicate: Predicate): Option[Expression] = None

  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] = None

  override def toHuman(value: Literal): String = Identity.toHuman(value)

  override def defaultFieldName(source: String): String = s"${source}_$name"
}
