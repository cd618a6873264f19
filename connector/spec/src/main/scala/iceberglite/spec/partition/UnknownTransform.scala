package iceberglite.spec.partition

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.expr.{Expression, Predicate}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type.StringType

/**
 * A transform of a later version of the specification. It is preserved in table metadata. Filters are not projected to
 * a partition field with this transform, and no data is written with a partition spec that uses it (spec:
 * "Partitioning").
 */
final case class UnknownTransform(name: String) extends Transform {

  /** Returns true, because the writer of the partition spec has checked the type. */
  override def canTransform(source: Type): Boolean = true

  override def resultType(source: PrimitiveType): PrimitiveType = StringType

  override def apply(value: Literal): Option[Literal] = throw Unsupported(
    s"the partition transform $name",
    "The transform comes from a later version of Iceberg. This release can read the table, but can write only with a " +
      "partition spec that does not use the transform"
  )

  override def preservesOrder: Boolean = false

  override def project(target: NestedField, predicate: Predicate): Option[Expression] = None

  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] = None

  override def toHuman(value: Literal): String = Identity.toHuman(value)

  override def defaultFieldName(source: String): String = s"${source}_$name"
}
