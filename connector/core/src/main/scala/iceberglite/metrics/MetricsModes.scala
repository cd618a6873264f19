package iceberglite.metrics

import iceberglite.spec.partition.SortOrder
import iceberglite.spec.property.{MetricsMode, TableProperty}
import iceberglite.spec.property.MetricsMode.{Counts, Full, NoMetrics, Truncate}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/** The metrics modes of the columns by field id. A field that is not in the map has no metrics. */
final case class MetricsModes(byId: Map[Int, MetricsMode]) {
  def of(id: Int): MetricsMode = byId.getOrElse(id, NoMetrics)
}

object MetricsModes {

  /**
   * Mode of the columns in the sort order and of the clustering columns, for which bounds are useful even if bounds of
   * other columns are not stored.
   */
  private val SortedColumnMode = Truncate(16)

  /**
   * Returns the modes for position delete files. Bounds of paths and positions are never truncated, because they are
   * used to find the deletes of a data file. The columns of deleted rows have the modes of data files (spec: "Delete
   * File Stats").
   */
  def ofPositionDeletes(ofTable: MetricsModes): MetricsModes =
    MetricsModes(ofTable.byId ++ Seq(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition).map(_.id -> Full))

  /**
   * Returns the modes of a table's columns. The mode of a column is the mode that a property sets for this column.
   * Without such a property, it is the mode of sorted columns if the column is in the sort order or if the table is
   * clustered by it, and otherwise the table's default. If no default is set, only the first columns of a very wide
   * table have metrics.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if a property is invalid; the error names the property
   */
  def of(properties: Map[String, String], schema: Schema, sortOrder: SortOrder): MetricsModes = {
    val default = TableProperty.of(TableProperty.MetricsDefault, properties)
    val leaves = schema.byId.values.filter(f => isPrimitive(f.fieldType)).map(_.id).toVector
    val inferred = inferredColumns(properties, schema)
    val defaults = leaves.map(id => id -> (if (inferred.forall(_.contains(id))) default else NoMetrics)).toMap
    val sortedMode = if (inferred.isDefined || default == NoMetrics || default == Counts) SortedColumnMode else default
    val clustered = TableProperty.of(TableProperty.ClusterBy, properties).getOrElse(Vector.empty)
    val sorted = (sortOrder.fields.filter(_.transform.preservesOrder).map(_.sourceId) ++ clustered)
      .filter(defaults.contains).map(_ -> sortedMode)
    val configured = leaves.flatMap { id =>
      schema.names.get(id).flatMap(TableProperty.metricsModeOf(_, properties)).map(id -> _)
    }
    MetricsModes(defaults ++ sorted ++ configured)
  }

  /** Returns the columns that get metrics by default; `None` if all columns get metrics. */
  private def inferredColumns(properties: Map[String, String], schema: Schema): Option[Set[Int]] = {
    val limit = TableProperty.of(TableProperty.MetricsMaxInferredColumns, properties)
    if (properties.contains(TableProperty.MetricsDefault.key) || columnCount(schema.asStruct) <= limit) None
    else Some(leavesInOrder(schema.asStruct).take(limit).toSet)
  }

  /** Returns the number of columns. Like Apache Iceberg, counts a primitive map key only if the value is primitive. */
  private def columnCount(t: Type): Int = t match {
    case StructType(fields) => fields.map(f => if (isPrimitive(f.fieldType)) 1 else columnCount(f.fieldType)).sum
    case list: ListType => if (isPrimitive(list.element)) 1 else columnCount(list.element)
    case map: MapType => columnCount(map.key) + (if (isPrimitive(map.value)) 2 else columnCount(map.value))
    case _: PrimitiveType => 0
  }

  private def isPrimitive(t: Type): Boolean = t.isInstanceOf[PrimitiveType]

  /** Returns the primitive fields of a struct, followed by those of its nested fields. */
  private def leavesInOrder(t: Type): Vector[Int] = t match {
    case nested: NestedType =>
      val primitives = nested.fields.filter(f => isPrimitive(f.fieldType)).map(_.id)
      primitives ++ nested.fields.flatMap(f => leavesInOrder(f.fieldType))
    case _: PrimitiveType => Vector.empty
  }
}
