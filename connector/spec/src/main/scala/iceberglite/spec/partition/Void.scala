package iceberglite.spec.partition

import iceberglite.spec.expr.{Expression, Predicate}
import iceberglite.spec.types.{Literal, NestedField, NestedType, PrimitiveType, Type}

/**
 * The void transform, which always returns null. In a partition spec of a version 1 table, it replaces the transform of
 * a dropped field (spec: "Partition Evolution").
 */
object Void extends Transform with TransformFamily {
  override val name = "void"

  override def parse(json: String): Option[Transform] = if (json == name) Some(this) else None

  override def canTransform(source: Type): Boolean = source match {
    case _: PrimitiveType => true
    case _: NestedType => false
  }

  override def resultType(source: PrimitiveType): PrimitiveType = source

  override def apply(value: Literal): Option[Literal] = None

  override def preservesOrder: Boolean = false

  override def project(target: NestedField, predicate: Predicate): Option[Expression] = None

  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] = None

  override def toHuman(value: Literal): String = "null"

  override def defaultFieldName(source: String): String = s"${source}_null"
}
