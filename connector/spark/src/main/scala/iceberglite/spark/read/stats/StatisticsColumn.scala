package iceberglite.spark.read.stats

import org.apache.spark.sql.connector.expressions.{Expression, NamedReference}

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/**
 * A column of a table, or a field of a struct, for which metadata may contain statistics.
 *
 * @param path the column of the table, followed by the nested fields that lead to the field
 */
final private[read] case class StatisticsColumn(path: Vector[NestedField], fieldType: PrimitiveType) {
  def field: NestedField = path.last

  def id: Int = field.id

  def name: String = path.map(_.name).mkString(".")

  def mayBeNull: Boolean = path.exists(_.optional)

  def isNested: Boolean = path.size > 1
}

private[read] object StatisticsColumn {

  /**
   * Returns the column that an expression refers to; absent for other expressions, metadata columns, and fields in
   * lists and maps.
   */
  def of(e: Expression, schema: Schema, caseSensitive: Boolean): Option[StatisticsColumn] = e match {
    case reference: NamedReference =>
      find(reference, schema, caseSensitive = true).orElse(find(reference, schema, caseSensitive)).flatMap(column)
    case _ => None
  }

  private def find(reference: NamedReference, schema: Schema, caseSensitive: Boolean): Option[Vector[NestedField]] =
    try Some(ColumnPath.require(schema, reference.fieldNames.toVector, caseSensitive))
    catch { case _: NotFound | _: InvalidArgument => None }

  private def column(path: Vector[NestedField]): Option[StatisticsColumn] = path.last.fieldType match {
    case t: PrimitiveType if path.init.forall(_.fieldType.isInstanceOf[StructType]) => Some(StatisticsColumn(path, t))
    case _: PrimitiveType | _: NestedType => None
  }
}
