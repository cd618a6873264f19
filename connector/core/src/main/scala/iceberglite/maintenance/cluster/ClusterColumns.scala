package iceberglite.maintenance.cluster

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.ColumnExtents
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/**
 * The columns by which rows are clustered along a Hilbert curve. A table stores the field ids of its columns in a table
 * property, so that they can be renamed by any engine.
 *
 * @param fields the columns in the order of the statement
 * @param paths the path of each column in the schema
 */
final case class ClusterColumns(fields: Vector[NestedField], paths: Vector[Vector[String]]) {

  /** The value of the table property, and of the summary of a snapshot whose files are clustered by these columns. */
  def ids: String = fields.map(_.id).mkString(",")

  override def toString: String = paths.map(_.mkString(".")).mkString(", ")
}

object ClusterColumns {

  /** With more columns, each of them would hardly reduce the number of files to read. */
  private val MaxColumns = 8

  /**
   * Returns the columns with these paths.
   *
   * @param what where the columns are stated, for messages
   * @throws iceberglite.spec.IcebergError.NotFound a column does not exist
   * @throws InvalidArgument there are too many columns, or rows cannot be clustered by one of them
   */
  def require(
      schema: Schema,
      paths: Seq[Vector[String]],
      caseSensitive: Boolean,
      what: String = "CLUSTER BY"
  ): ClusterColumns =
    of(schema, paths.map(ColumnPath.require(schema, _, caseSensitive).last.id).toVector, what)

  /**
   * Returns the columns by which a table is clustered; absent if it is not.
   *
   * @throws InvalidArgument a column has been dropped, or the property is invalid
   */
  def of(metadata: TableMetadata): Option[ClusterColumns] =
    TableProperty.of(TableProperty.ClusterBy, metadata.properties).map { ids =>
      val what = s"table property ${TableProperty.ClusterBy.key}"
      ids.find(!metadata.schema.byId.contains(_)).foreach { id =>
        throw InvalidArgument(
          what,
          ids.mkString(","),
          s"The column with the field id $id has been dropped. Use ALTER TABLE ... CLUSTER BY to set other columns, or " +
            "CLUSTER BY NONE"
        )
      }
      of(metadata.schema, ids, what)
    }

  private def of(schema: Schema, ids: Vector[Int], what: String): ClusterColumns = {
    val names = ids.map(schema.names)
    def reject(reason: String): Nothing = throw InvalidArgument(what, names.mkString(", "), reason)
    if (ids.size > MaxColumns) reject(s"There can be at most $MaxColumns columns")
    names.diff(names.distinct).headOption.foreach(name => reject(s"The column $name occurs twice"))
    ids.foreach { id =>
      val column = schema.byId(id)
      val parent = schema.ancestors(id).find(!_.fieldType.isInstanceOf[StructType])
      parent.foreach(p => reject(s"The column ${schema.names(id)} is inside of ${schema.names(p.id)}, a ${p.fieldType}"))
      if (!column.fieldType.isInstanceOf[PrimitiveType] || !ColumnExtents.hasBounds(column))
        reject(s"Rows cannot be clustered by ${schema.names(id)}, because values of type ${column.fieldType} have no order")
    }
    ClusterColumns(ids.map(schema.byId), ids.map(schema.paths))
  }
}
