package iceberglite.spark

import org.apache.spark.sql.catalyst.analysis.{UnresolvedFieldName, UnresolvedFieldPosition}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.QualifiedColType
import org.apache.spark.sql.connector.catalog.TableChange
import org.apache.spark.sql.connector.catalog.TableChange.ColumnPosition
import org.apache.spark.sql.types.DataType

import iceberglite.spark.catalog.TableEvolution
import iceberglite.spark.catalog.TableEvolution.{Changes, Step}
import iceberglite.spark.convert.PartitionTerm

/**
 * An immutable builder of changes to the columns, the partitioning, the sort order, the identifier fields and the
 * properties of a table. `execute` makes all changes in one commit. Each change is applied to the result of the
 * previous changes. If one of the changes is not possible, no change is made.
 *
 * A field of a struct has a name such as `address.city`. A part of a name that contains dots is quoted with backticks.
 * Partition and sort terms are SQL: a column, or a transform such as `days(ts)`.
 */
final class EvolveStatement private (table: IcebergTable, steps: Vector[TableEvolution => Step]) {
  private[iceberglite] def this(table: IcebergTable) = this(table, Vector.empty)

  /**
   * Adds a column, by default at the end of the table or of the struct.
   *
   * @param default the default value as SQL, which is also the value of existing rows. A default requires format
   *   version 3
   * @param position `ColumnPosition.first` or `ColumnPosition.after(name)`
   */
  def addColumn(
      name: String,
      dataType: DataType,
      nullable: Boolean = true,
      comment: Option[String] = None,
      default: Option[String] = None,
      position: Option[ColumnPosition] = None
  ): EvolveStatement = {
    val path = pathOf(name)
    val parent = Some(path.init).filter(_.nonEmpty).map(UnresolvedFieldName(_))
    val place = position.map(UnresolvedFieldPosition(_))
    change(TableEvolution.addition(
      QualifiedColType(parent, path.last, dataType, nullable, comment, place, default)
    ))
  }

  def dropColumn(name: String, ifExists: Boolean = false): EvolveStatement =
    change(TableChange.deleteColumn(pathOf(name).toArray, ifExists))

  /** Renames a column. @param newName the new name without the names of enclosing structs */
  def renameColumn(name: String, newName: String): EvolveStatement =
    change(TableChange.renameColumn(pathOf(name).toArray, newName))

  /** Promotes a column to a wider type (spec: "Schema Evolution"). */
  def changeType(name: String, dataType: DataType): EvolveStatement =
    change(TableChange.updateColumnType(pathOf(name).toArray, dataType))

  /**
   * Sets whether a column may have nulls. An existing column that may have nulls cannot be changed to one that may not.
   */
  def setNullable(name: String, nullable: Boolean): EvolveStatement =
    change(TableChange.updateColumnNullability(pathOf(name).toArray, nullable))

  /** Sets the description of a column; the empty text removes the description. */
  def setComment(name: String, comment: String): EvolveStatement =
    change(TableChange.updateColumnComment(pathOf(name).toArray, comment))

  /** Sets the default value for later writes. @param default the value as SQL */
  def setDefault(name: String, default: String): EvolveStatement =
    change(TableChange.updateColumnDefaultValue(pathOf(name).toArray, default))

  def dropDefault(name: String): EvolveStatement = setDefault(name, "")

  /** Moves a column within its struct. */
  def moveColumn(name: String, position: ColumnPosition): EvolveStatement =
    change(TableChange.updateColumnPosition(pathOf(name).toArray, position))

  /** Adds a partition field. @param name the name of the field; by default derived from the column and the transform */
  def addPartitionField(term: String, name: Option[String] = None): EvolveStatement =
    sql(s"ADD PARTITION FIELD $term${as(name)}")

  /** Drops a partition field. @param term the column or transform of the field, or the name of the field */
  def dropPartitionField(term: String): EvolveStatement = sql(s"DROP PARTITION FIELD $term")

  def replacePartitionField(term: String, newTerm: String, name: Option[String] = None): EvolveStatement =
    sql(s"REPLACE PARTITION FIELD $term WITH $newTerm${as(name)}")

  /**
   * Sets the sort order of later writes.
   *
   * @param terms columns or transforms, each optionally followed by a direction and null order such as `DESC NULLS
   *   LAST`; without terms, the table becomes unsorted
   */
  def sortedBy(terms: String*): EvolveStatement =
    sql(if (terms.isEmpty) "WRITE UNORDERED" else s"WRITE ORDERED BY ${terms.mkString(", ")}")

  /** Sets the columns that identify a row. They must not be nullable. */
  def setIdentifierFields(columns: String*): EvolveStatement = sql(s"SET IDENTIFIER FIELDS ${columns.mkString(", ")}")

  /** Removes columns from the columns that identify a row. */
  def dropIdentifierFields(columns: String*): EvolveStatement =
    sql(s"DROP IDENTIFIER FIELDS ${columns.mkString(", ")}")

  def setProperty(key: String, value: String): EvolveStatement = change(TableChange.setProperty(key, value))

  def unsetProperty(key: String): EvolveStatement = change(TableChange.removeProperty(key))

  /** Adds any other change: the part of an ALTER TABLE statement after the name of the table. */
  def sql(change: String): EvolveStatement = add(_.parse(change))

  /**
   * Makes the changes in one commit.
   *
   * @throws iceberglite.spark.error.StatementError if a change is not possible
   * @throws iceberglite.spark.error.OperationError if another commit has changed the same parts of the table's metadata
   */
  def execute(): Unit = table.commit(steps)

  private def change(change: TableChange): EvolveStatement = add(_ => Changes(Vector(change)))

  private def add(step: TableEvolution => Step): EvolveStatement = new EvolveStatement(table, steps :+ step)

  private def pathOf(name: String): Seq[String] = CatalystSqlParser.parseMultipartIdentifier(name)

  private def as(name: Option[String]): String =
    name.fold("")(n => s" AS ${PartitionTerm.quoted(Seq(n))}")
}
