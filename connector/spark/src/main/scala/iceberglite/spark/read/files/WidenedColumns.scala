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
 * The columns whose type was widened after a DataFrame was created and before the snapshot that it reads was committed.
 * Files, partitions and column metrics of the snapshot may contain values that the column types of the DataFrame cannot
 * represent.
 *
 * Planning does not fail for these columns, but does not use them, for example to skip files. Planning must not fail,
 * because after a statement has changed a table, Spark plans the table's cached DataFrames again, and an error in these
 * plans would fail the statement.
 *
 * @param readSchema the columns of the DataFrame
 * @param snapshotSchema the columns of the snapshot
 */
final private[iceberglite] class WidenedColumns(tableName: String, readSchema: Schema, snapshotSchema: Schema) {
  private lazy val ids: Set[Int] =
    if (readSchema.fields == snapshotSchema.fields) Set.empty
    else readSchema.byId.values.filter { field =>
      snapshotSchema.byId.get(field.id).exists(current => isWider(field.fieldType, current.fieldType))
    }.map(_.id).toSet

  private def isWider(readType: Type, snapshotType: Type): Boolean = (readType, snapshotType) match {
    case (a: PrimitiveType, b: PrimitiveType) => a != b && canPromote(a, b, FormatVersion.V3)
    case _ => false
  }

  /** The columns of the DataFrame with their wider types, which are the types of values in manifests. */
  lazy val planningSchema: Schema =
    if (ids.isEmpty) readSchema else Schema(readSchema.schemaId, readSchema.fields.map(widen))

  private def widen(field: NestedField): NestedField = field.copy(fieldType =
    if (ids(field.id)) snapshotSchema.byId(field.id).fieldType
    else field.fieldType match {
      case primitive: PrimitiveType => primitive
      case StructType(fields) => StructType(fields.map(widen))
      case list: ListType => list.copy(element = widen(list.elementField).fieldType)
      case map: MapType =>
        map.copy(key = widen(map.keyField).fieldType, value = widen(map.valueField).fieldType)
    }
  )

  /** The top-level columns that are widened or contain a widened field. */
  private lazy val columns: Vector[NestedField] = readSchema.fields.filter(isAffected)

  private def isAffected(field: NestedField): Boolean = ids.nonEmpty && Schema(0, Vector(field)).byId.keys.exists(ids)

  /** Returns the columns that are not widened and do not contain a widened field. */
  def without(fields: Vector[NestedField]): Vector[NestedField] =
    if (ids.isEmpty) fields else fields.filterNot(isAffected)

  /** Whether an expression refers to a widened column. */
  def areUsedIn(expression: Expression): Boolean = ids.nonEmpty && expression.references.exists(isColumn)

  private def isColumn(reference: NamedReference): Boolean =
    columns.exists(_.name.equalsIgnoreCase(reference.fieldNames.head))

  /** Checks the columns to read. @throws ColumnWidened if one of the columns is widened */
  def check(fields: Vector[NestedField]): Unit = if (ids.nonEmpty) {
    Schema(0, fields).byId.keys.toVector.sorted.find(ids).foreach { id =>
      def typeIn(schema: Schema) = SparkTypes.toSpark(schema.byId(id).fieldType).simpleString
      throw ColumnWidened(tableName, readSchema.names(id), typeIn(readSchema), typeIn(snapshotSchema))
    }
  }
}

private[iceberglite] object WidenedColumns {

  /** Returns the widened columns. @param snapshot absent for a table without snapshots */
  def of(tableName: String, metadata: TableMetadata, snapshot: Option[Snapshot], readSchema: Schema): WidenedColumns =
    new WidenedColumns(tableName, readSchema, snapshot.fold(readSchema)(metadata.schemaOf))
}
