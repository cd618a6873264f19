package iceberglite.io

import iceberglite.spec.{MetricsMode, NestedType, PrimitiveType, Schema, SortOrder, TableProperty, Type}
import iceberglite.spec.MetricsMode.{Counts, NoMetrics, Truncate}

/** What a writer keeps of each column's values, by field id; of a field that is not in it, nothing. */
final case class MetricsModes(byId: Map[Int, MetricsMode]) {
  def of(id: Int): MetricsMode = byId.getOrElse(id, NoMetrics)
}

object MetricsModes {

  /** A sorted column is worth its bounds also where others are not. */
  private val OfSorted = Truncate(16)

  /**
   * The modes of a table: those set for a column, else bounds for the columns it is sorted by, else the table's
   * default. Where that is not set either, only the first columns of a very wide table get any.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument that names the property
   */
  def of(properties: Map[String, String], schema: Schema, sortOrder: SortOrder): MetricsModes = {
    val default = TableProperty.of(TableProperty.MetricsDefault, properties)
    val leaves = schema.byId.values.filter(_.fieldType.isInstanceOf[PrimitiveType]).map(_.id).toVector
    val inferred = inferredColumns(properties, schema)
    val usual = leaves.map(id => id -> (if (inferred.forall(_.contains(id))) default else NoMetrics)).toMap
    val ofSorted = if (inferred.isDefined || default == NoMetrics || default == Counts) OfSorted else default
    val sorted = sortOrder.fields.filter(_.transform.preservesOrder).map(_.sourceId)
      .filter(usual.contains).map(_ -> ofSorted)
    val own = leaves.flatMap { id =>
      schema.names.get(id).flatMap(TableProperty.metricsModeOf(_, properties)).map(id -> _)
    }
    MetricsModes(usual ++ sorted ++ own)
  }

  /** Absent: all of them. */
  private def inferredColumns(properties: Map[String, String], schema: Schema): Option[Set[Int]] = {
    val limit = TableProperty.of(TableProperty.MetricsMaxInferredColumns, properties)
    if (properties.contains(TableProperty.MetricsDefault.key) || schema.byId.size <= limit) None
    else Some(leavesInOrder(schema.asStruct).take(limit).toSet)
  }

  /** The plain columns of a struct come before those inside of its nested ones. */
  private def leavesInOrder(t: Type): Vector[Int] = t match {
    case nested: NestedType =>
      val plain = nested.fields.filter(_.fieldType.isInstanceOf[PrimitiveType]).map(_.id)
      plain ++ nested.fields.flatMap(f => leavesInOrder(f.fieldType))
    case _: PrimitiveType => Vector.empty
  }
}
