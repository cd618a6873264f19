package iceberglite.spark.read.files

import org.apache.spark.sql.connector.expressions.{Expression, NamedReference}

import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.ColumnWidened
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType, canPromote}

/**
 * The columns whose type was widened between the creation of a DataFrame and the snapshot that it reads. Files,
 * partitions and column metrics of the snapshot may contain values that the DataFrame's type cannot represent.
 *
 * Planning does not use such columns, but it does not fail. A statement that changes a table also makes Spark plan
 * cached DataFrames of that table again.
 *
 * @param readSchema the columns of the DataFrame
 * @param snapshotSchema the columns of the snapshot
 */
final private[iceberglite] class WidenedColumns(tableName: String, readSchema: Schema, snapshotSchema: Schema) {
  private lazy val ids: Set[Int] =
    if (readSchema.fields == snapshotSchema.fields) Set.empty
    else readSchema.byId.values.filter { field =>
      snapshotSchema.byId.get(field.id).exists(now => isWider(field.fieldType, now.fieldType))
    }.map(_.id).toSet

  private def isWider(before: Type, now: Type): Boolean = (before, now) match {
    case (a: PrimitiveType, b: PrimitiveType) => a != b && canPromote(a, b, FormatVersion.V3)
    case _ => false
  }

  /** The columns of the DataFrame with their wider types, which are the types of values in manifests. */
  lazy val planned: Schema =
    if (ids.isEmpty) readSchema else Schema(readSchema.schemaId, readSchema.fields.map(widened))

  private def widened(field: NestedField): NestedField = field.copy(fieldType =
    if (ids(field.id)) snapshotSchema.byId(field.id).fieldType
    else field.fieldType match {
      case primitive: PrimitiveType => primitive
      case StructType(fields) => StructType(fields.map(widened))
      case list: ListType => list.copy(element = widened(list.elementField).fieldType)
      case map: MapType =>
        map.copy(key = widened(map.keyField).fieldType, value = widened(map.valueField).fieldType)
    }
  )

  /** The columns of the table that are, or contain, one of these fields. */
  private lazy val columns: Vector[NestedField] = readSchema.fields.filter(holds)

  private def holds(field: NestedField): Boolean = ids.nonEmpty && Schema(0, Vector(field)).byId.keys.exists(ids)

  /** Returns the columns without the widened ones. */
  def without(fields: Vector[NestedField]): Vector[NestedField] = if (ids.isEmpty) fields else fields.filterNot(holds)

  /** Whether an expression uses one of these columns. */
  def isIn(expression: Expression): Boolean = ids.nonEmpty && expression.references.exists(isColumn)

  private def isColumn(reference: NamedReference): Boolean =
    columns.exists(_.name.equalsIgnoreCase(reference.fieldNames.head))

  /** Checks the columns to read. @throws ColumnWidened for one of these columns */
  def check(wanted: Vector[NestedField]): Unit = if (ids.nonEmpty) {
    Schema(0, wanted).byId.keys.toVector.sorted.find(ids).foreach { id =>
      def typeIn(schema: Schema) = SparkTypes.toSpark(schema.byId(id).fieldType).simpleString
      throw ColumnWidened(tableName, readSchema.names(id), typeIn(readSchema), typeIn(snapshotSchema))
    }
  }
}

private[iceberglite] object WidenedColumns {

  /** Returns the widened columns. @param snapshot absent for a table without rows */
  def of(tableName: String, metadata: TableMetadata, snapshot: Option[Snapshot], readSchema: Schema): WidenedColumns =
    new WidenedColumns(tableName, readSchema, snapshot.fold(readSchema)(metadata.schemaOf))
}
