package iceberglite.io

import iceberglite.spec.{
  MetadataColumns,
  MetricsMode,
  NestedType,
  PrimitiveType,
  Schema,
  SortOrder,
  TableProperty,
  Type
}
import iceberglite.spec.MetricsMode.{Counts, Full, NoMetrics, Truncate}
import iceberglite.spec.Type.{ListType, MapType, StructType}

/** What a writer keeps of each column's values, by field id; of a field that is not in it, nothing. */
final case class MetricsModes(byId: Map[Int, MetricsMode]) {
  def of(id: Int): MetricsMode = byId.getOrElse(id, NoMetrics)
}

object MetricsModes {

  /** A sorted column is worth its bounds also where others are not. */
  private val OfSorted = Truncate(16)

  /**
   * The modes of position delete files: paths and positions are never cut, so that a file's deletes are found by them;
   * columns of deleted rows are as in data files (spec: "Delete File Stats").
   */
  def ofPositionDeletes(ofTable: MetricsModes): MetricsModes =
    MetricsModes(ofTable.byId ++ Seq(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition).map(_.id -> Full))

  /**
   * The modes of a table: those set for a column, else bounds for the columns it is sorted by, else the table's
   * default. Where that is not set either, only the first columns of a very wide table get any.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument that names the property
   */
  def of(properties: Map[String, String], schema: Schema, sortOrder: SortOrder): MetricsModes = {
    val default = TableProperty.of(TableProperty.MetricsDefault, properties)
    val leaves = schema.byId.values.filter(f => isPlain(f.fieldType)).map(_.id).toVector
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
    if (properties.contains(TableProperty.MetricsDefault.key) || columnCount(schema.asStruct) <= limit) None
    else Some(leavesInOrder(schema.asStruct).take(limit).toSet)
  }

  /** How many columns a table has; Apache Iceberg counts the plain key of a map with a plain value only. */
  private def columnCount(t: Type): Int = t match {
    case StructType(fields) => fields.map(f => if (isPlain(f.fieldType)) 1 else columnCount(f.fieldType)).sum
    case list: ListType => if (isPlain(list.element)) 1 else columnCount(list.element)
    case map: MapType => columnCount(map.key) + (if (isPlain(map.value)) 2 else columnCount(map.value))
    case _: PrimitiveType => 0
  }

  private def isPlain(t: Type): Boolean = t.isInstanceOf[PrimitiveType]

  /** The plain columns of a struct come before those inside of its nested ones. */
  private def leavesInOrder(t: Type): Vector[Int] = t match {
    case nested: NestedType =>
      val plain = nested.fields.filter(f => isPlain(f.fieldType)).map(_.id)
      plain ++ nested.fields.flatMap(f => leavesInOrder(f.fieldType))
    case _: PrimitiveType => Vector.empty
  }
}
