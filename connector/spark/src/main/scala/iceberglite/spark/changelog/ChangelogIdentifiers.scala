package iceberglite.spark.changelog

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.Type

/**
 * Finds the columns that identify the rows of a changelog.
 *
 * @param setting the argument or the option with the names of the columns, for messages
 */
final private[iceberglite] class ChangelogIdentifiers(schema: Schema, session: SparkSession, setting: String) {
  private val caseSensitive = session.sessionState.conf.getConf(SQLConf.CASE_SENSITIVE)

  /**
   * Returns the identifier columns.
   *
   * @param names the names of top-level columns, or paths in SQL syntax; absent for the identifier fields of the table
   * @throws InvalidArgument if a column is in a list or map, or if there are no identifier columns
   * @throws iceberglite.spec.IcebergError.NotFound if there is no such column
   */
  def of(names: Option[Seq[String]]): Seq[ChangelogView.Identifier] = {
    val paths = names.map(_.map(path)).getOrElse(schema.identifierFieldIds.toSeq.sorted.map(schema.paths))
    if (paths.isEmpty) throw InvalidArgument(
      setting,
      "(not set)",
      "Updates cannot be identified without identifier columns. Name the columns, or run ALTER TABLE ... SET " +
        "IDENTIFIER FIELDS"
    )
    paths.distinct.map(identifier)
  }

  private def path(column: String): Vector[String] =
    if (ColumnPath.child(schema.fields, column, caseSensitive).isDefined) Vector(column)
    else Try(session.sessionState.sqlParser.parseMultipartIdentifier(column).toVector).getOrElse(Vector(column))

  private def identifier(path: Vector[String]): ChangelogView.Identifier = {
    val nodes = ColumnPath.require(schema, path, caseSensitive)
    val name = nodes.map(_.name).mkString(".")
    val structs = schema.asStruct +: nodes.init.map(_.fieldType match {
      case struct: Type.StructType => struct
      case _ => throw InvalidArgument(
          setting,
          name,
          "A column inside a list or map cannot identify a row, because it can hold several values per row"
        )
    })
    val positions = structs.zip(nodes).map { case (struct, f) => struct.fields.indexWhere(_.id == f.id) }
    ChangelogView.Identifier(name, positions)
  }
}
