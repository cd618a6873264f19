package iceberglite.spark.catalog

import org.apache.spark.sql.connector.catalog.TableChange
import org.apache.spark.sql.connector.catalog.TableChange._

import iceberglite.spark.convert.{DeclaredTypes, SparkDefaults, SparkTypes}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported}
import iceberglite.spec.ObjectKind
import iceberglite.spec.property.{CheckConstraint, TableProperty}
import iceberglite.spec.schema.{ColumnPath, GeneratedColumn}
import iceberglite.spec.types.{DefaultValue, Type}
import iceberglite.spec.update.SchemaChanges
import iceberglite.table.Action
import iceberglite.table.action.{
  CherryPick,
  DropGenerationExpression,
  SetCurrentSnapshot,
  UpdateLocation,
  UpdateProperties,
  UpdateSchema,
  UpgradeVersion
}

/** Converts the changes in an ALTER TABLE statement to actions of one commit. */
object AlterTableChanges {

  /**
   * Returns the actions of one commit for the changes.
   *
   * @throws iceberglite.spec.IcebergError if a change is not possible
   */
  def actions(changes: Seq[TableChange], caseSensitive: Boolean): Seq[Action] = {
    val columns = changes.collect { case change: ColumnChange => change }
    def editAll(update: SchemaChanges): SchemaChanges = columns.foldLeft(update)(edit(_, _, caseSensitive))
    val schema = if (columns.isEmpty) Nil
    else Seq(new ConstrainedColumns(editAll, caseSensitive), new UpdateSchema(editAll, caseSensitive))
    schema ++ propertyActions(changes, caseSensitive)
  }

  private def edit(update: SchemaChanges, change: ColumnChange, caseSensitive: Boolean): SchemaChanges = {
    val path = change.fieldNames.toVector
    change match {
      case add: AddColumn => addColumn(update, path, add)
      case rename: RenameColumn => update.renameColumn(path, rename.newName)
      case retype: UpdateColumnType =>
        update.updateType(path, SparkTypes.fromSpark(retype.newDataType, name(path)))
          .declareType(path, DeclaredTypes.text(retype.newDataType))
      case nullable: UpdateColumnNullability =>
        if (nullable.nullable) update.makeOptional(path) else update.requireColumn(path)
      case comment: UpdateColumnComment => update.updateDoc(path, Option(comment.newComment).filter(_.nonEmpty))
      case move: UpdateColumnPosition => moveColumn(update, path, move.position)
      case delete: DeleteColumn => dropColumn(update, path, delete.ifExists)
      case default: UpdateColumnDefaultValue =>
        val column = ColumnPath.require(update.schema, path, caseSensitive).last
        update.updateDefault(path, defaultOf(default.newDefaultValue, path, column.fieldType))
      case other => throw Unsupported(s"the change $other of column ${name(path)}", "Remove this change")
    }
  }

  private def addColumn(update: SchemaChanges, path: Vector[String], add: AddColumn): SchemaChanges = {
    val columnType = SparkTypes.fromSpark(add.dataType, name(path))
    val default = Option(add.defaultValue).flatMap(d => defaultOf(d.getSql, path, columnType))
    val doc = Option(add.comment).filter(_.nonEmpty)
    val extended = update.addColumn(path.init, path.last, columnType, doc, required = !add.isNullable, default)
    // The path is taken from the schema, because the statement omits `element` and `value` from the path of a struct in
    // a list or map.
    val id = update.lastColumnId + 1
    val declared = DeclaredTypes.parts(add.dataType, extended.schema.byId(id)).foldLeft(extended) {
      case (edited, (part, text)) => edited.declareType(extended.schema.paths(id) ++ part, Some(text))
    }
    Option(add.position).fold(declared)(moveColumn(declared, path, _))
  }

  private def moveColumn(update: SchemaChanges, path: Vector[String], position: ColumnPosition): SchemaChanges =
    position match {
      case after: After => update.moveAfter(path, after.column)
      case _: First => update.moveFirst(path)
      case other => throw Unsupported(s"the position $other of column ${name(path)}", "Use FIRST or AFTER a column")
    }

  private def dropColumn(update: SchemaChanges, path: Vector[String], ifExists: Boolean): SchemaChanges =
    try update.dropColumn(path)
    catch { case NotFound(ObjectKind.Column, _, _) if ifExists => update }

  /** Parses a column default. @param sql the expression; empty if the statement drops the default */
  private def defaultOf(sql: String, path: Vector[String], t: Type): Option[DefaultValue] =
    if (sql.isEmpty) None else SparkDefaults.of(sql, name(path), SparkTypes.toSpark(t), t, "ALTER TABLE")

  private def name(path: Vector[String]): String = path.mkString(".")

  private val CherryPickSnapshotId = "cherry-pick-snapshot-id"
  private val snapshotKeys = Seq(TableDescription.CurrentSnapshotId, CherryPickSnapshotId)

  /**
   * Returns the last change to each property. Spellings of a key of [[metadataActions]] that differ only in case count
   * as one key.
   */
  private def lastChanges(changes: Seq[TableChange]): Map[String, Option[String]] = {
    def canonicalKey(key: String): String = metadataActions.keys.find(_.equalsIgnoreCase(key)).getOrElse(key)
    changes.foldLeft(Map.empty[String, Option[String]]) {
      case (result, set: SetProperty) => result + (canonicalKey(set.property) -> Some(set.value))
      case (result, remove: RemoveProperty) => result + (canonicalKey(remove.property) -> None)
      case (result, _) => result
    }
  }

  private def propertyActions(changes: Seq[TableChange], caseSensitive: Boolean): Seq[Action] = {
    val (metadataKeys, otherChanges) = lastChanges(changes).partition { case (key, _) => metadataActions.contains(key) }
    val actions = metadataKeys.toSeq.map {
      case (key, Some(value)) => metadataActions(key)(value)
      case (key, None) => throw InvalidArgument(
          "table property key",
          key,
          "It is derived from the table metadata and cannot be removed"
        )
    }
    checkKeys(metadataKeys.keySet ++ otherChanges.keySet)
    val (generated, stored) = otherChanges.partition { case (key, _) => GeneratedColumn.isKey(key) }
    val allActions = actions ++ generated.toSeq.map { case (key, value) =>
      generationAction(key, value, caseSensitive)
    }
    if (stored.isEmpty) allActions
    else {
      val set = stored.collect { case (key, Some(value)) => key -> value }
      allActions :+ new UpdateProperties(set, stored.keySet -- set.keySet)
    }
  }

  private def checkKeys(keys: Set[String]): Unit = {
    if (snapshotKeys.forall(keys)) {
      throw InvalidArgument(
        "table properties",
        snapshotKeys.mkString(" and "),
        "Set only one of these properties, because the result depends on the order in which they are set"
      )
    }
    keys.find(CheckConstraint.isKey).foreach { key =>
      throw InvalidArgument(
        "table property key",
        key,
        "It is a CHECK constraint: use ALTER TABLE ... ADD CONSTRAINT, which checks the rows, or DROP CONSTRAINT"
      )
    }
  }

  /** Returns the action for a change to the property of a generated column. @param key ends with the column's name */
  private def generationAction(key: String, value: Option[String], caseSensitive: Boolean): Action = value match {
    case None => new DropGenerationExpression(key.stripPrefix(GeneratedColumn.Prefix), caseSensitive)
    case Some(expression) => throw InvalidArgument(
        s"table property $key",
        expression,
        "An existing column cannot become a generated column, because the statement does not read the rows: create a " +
          "table with the generated column"
      )
  }

  /**
   * The property keys that are not stored as table properties, such as `location`. Each key has a function that
   * converts the new value to an action, or rejects it.
   */
  private val metadataActions: Map[String, String => Action] = Map(
    TableDescription.Location -> (value => new UpdateLocation(TableDefinition.absolute(value))),
    TableDescription.FormatVersion -> (value => new UpgradeVersion(TableProperty.Version.read(value))),
    TableDescription.CurrentSnapshotId ->
      (value => new SetCurrentSnapshot(snapshotId(TableDescription.CurrentSnapshotId, value))),
    CherryPickSnapshotId -> (value => new CherryPick(snapshotId(CherryPickSnapshotId, value))),
    TableDescription.SortOrder -> (value =>
      throw InvalidArgument(
        "table property sort-order",
        value,
        "It is computed from the table's sort order, which ALTER TABLE ... WRITE ORDERED BY sets"
      )
    ),
    TableDescription.IdentifierFields -> (value =>
      throw InvalidArgument(
        "table property identifier-fields",
        value,
        "It is computed from the schema; set the identifier fields with ALTER TABLE ... SET IDENTIFIER FIELDS"
      )
    ),
    TableDescription.Format -> (value =>
      throw InvalidArgument(
        "table property format",
        value,
        "It is computed from write.format.default; set the property write.format.default instead"
      )
    )
  )

  private def snapshotId(key: String, value: String): Long = scala.util.Try(value.trim.toLong).getOrElse(
    throw InvalidArgument(s"table property $key", value, "It must be the id of a snapshot")
  )

  /**
   * Whether a change refers to a snapshot. Another writer may have committed this snapshot after the table was loaded.
   */
  def namesSnapshot(changes: Seq[TableChange]): Boolean = changes.exists {
    case set: SetProperty => snapshotKeys.exists(_.equalsIgnoreCase(set.property))
    case _ => false
  }
}
