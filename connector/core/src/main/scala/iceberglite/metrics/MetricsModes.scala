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
   * Mode of the columns in the sort order and of the clustering columns, if the default mode stores no bounds or
   * applies only to the first columns. The bounds of these columns are useful even if no bounds are stored for other
   * columns.
   */
  private val SortedColumnMode = Truncate(16)

  /**
   * Returns the modes for position delete files. The bounds of the columns `file_path` and `pos` are never truncated,
   * because they are used to find the deletes of a data file. The columns of deleted rows have the same modes as in
   * data files (spec: "Delete File Stats").
   */
  def ofPositionDeletes(ofTable: MetricsModes): MetricsModes =
    MetricsModes(ofTable.byId ++ Seq(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition).map(_.id -> Full))

  /**
   * Returns the modes of a table's columns. A property can set the mode of a column. Otherwise, a column has the
   * table's default mode, except that clustering columns, and columns to which the sort order applies an
   * order-preserving transform, always have bounds. If no default mode is set, only the first columns of a very wide
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

  /**
   * Returns the number of columns. As in Apache Iceberg, a primitive map key is counted only if the map value is
   * primitive.
   */
  private def columnCount(t: Type): Int = t match {
    case StructType(fields) => fields.map(f => if (isPrimitive(f.fieldType)) 1 else columnCount(f.fieldType)).sum
    case list: ListType => if (isPrimitive(list.element)) 1 else columnCount(list.element)
    case map: MapType => columnCount(map.key) + (if (isPrimitive(map.value)) 2 else columnCount(map.value))
    case _: PrimitiveType => 0
  }

  private def isPrimitive(t: Type): Boolean = t.isInstanceOf[PrimitiveType]

  /**
   * Returns the ids of the primitive fields of a struct, followed by the ids of the primitive fields in its nested
   * fields.
   */
  private def leavesInOrder(t: Type): Vector[Int] = t match {
    case nested: NestedType =>
      val primitives = nested.fields.filter(f => isPrimitive(f.fieldType)).map(_.id)
      primitives ++ nested.fields.flatMap(f => leavesInOrder(f.fieldType))
    case _: PrimitiveType => Vector.empty
  }
}
