package iceberglite.maintenance.cluster

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.ColumnExtents
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/**
 * The columns by which rows are clustered along a Hilbert curve. A table property contains the field ids of these
 * columns and not their names, so that any engine can rename the columns.
 *
 * @param fields the columns in the order in which `CLUSTER BY` lists them
 * @param paths the path of each column in the schema
 */
final case class ClusterColumns(fields: Vector[NestedField], paths: Vector[Vector[String]]) {

  /**
   * The field ids as text. This is the value of the table property, and of an entry in the summary of each snapshot
   * whose files are clustered by these columns.
   */
  def ids: String = fields.map(_.id).mkString(",")

  override def toString: String = paths.map(_.mkString(".")).mkString(", ")
}

object ClusterColumns {

  /**
   * The maximum number of clustering columns. With more columns, a filter on one of them would hardly reduce the number
   * of files to read.
   */
  private val MaxColumns = 8

  /**
   * Returns the columns with these paths.
   *
   * @param what the name of the clause or argument that lists the columns, for messages
   * @throws iceberglite.spec.IcebergError.NotFound if a column does not exist
   * @throws InvalidArgument if there are too many columns, or if rows cannot be clustered by one of the columns
   */
  def require(
      schema: Schema,
      paths: Seq[Vector[String]],
      caseSensitive: Boolean,
      what: String = "CLUSTER BY"
  ): ClusterColumns = {
    val ids = paths.map(ColumnPath.require(schema, _, caseSensitive).last.id).toVector
    of(schema, ids, reason => throw InvalidArgument(what, paths.map(_.mkString(".")).mkString(", "), reason))
  }

  /**
   * Returns the columns by which a table is clustered; absent if the table is not clustered.
   *
   * @throws InvalidArgument if a column has been dropped, or the property is invalid
   */
  def of(metadata: TableMetadata): Option[ClusterColumns] =
    TableProperty.of(TableProperty.ClusterBy, metadata.properties).map { ids =>
      def reject(reason: String): Nothing = throw InvalidArgument(
        s"table property ${TableProperty.ClusterBy.key}",
        if (ids.size > MaxColumns) s"${ids.size} field ids" else ids.mkString(","),
        s"$reason. Use ALTER TABLE ... CLUSTER BY to set other columns, or CLUSTER BY NONE"
      )
      of(metadata.schema, ids, reject)
    }

  private def of(schema: Schema, ids: Vector[Int], reject: String => Nothing): ClusterColumns = {
    if (ids.size > MaxColumns) reject(s"There can be at most $MaxColumns columns")
    ids.find(!schema.byId.contains(_)).foreach { id =>
      reject(s"There is no column with the field id $id; it may have been dropped")
    }
    ids.diff(ids.distinct).headOption.foreach(id => reject(s"The column ${schema.names(id)} occurs twice"))
    ids.foreach { id =>
      val (column, name) = (schema.byId(id), schema.names(id))
      schema.ancestors(id).find(!_.fieldType.isInstanceOf[StructType]).foreach { parent =>
        reject(s"The column $name is inside ${schema.names(parent.id)}, a ${parent.fieldType}")
      }
      if (!column.fieldType.isInstanceOf[PrimitiveType] || !ColumnExtents.hasBounds(column))
        reject(s"Rows cannot be clustered by $name, because values of type ${column.fieldType} have no order")
    }
    ClusterColumns(ids.map(schema.byId), ids.map(schema.paths))
  }
}
