package iceberglite.spark.catalog

import scala.util.DynamicVariable

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.FieldPosition
import org.apache.spark.sql.catalyst.plans.logical.{
  AddColumns,
  AlterColumn,
  DropColumns,
  LogicalPlan,
  QualifiedColType,
  RenameColumn,
  SetTableProperties,
  UnsetTableProperties
}
import org.apache.spark.sql.connector.catalog.{Identifier, TableChange}

import iceberglite.spark.conf.{EngineSummary, SessionSettings, TablePropertyCheck}
import iceberglite.spark.convert.PartitionTerm
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{Action, Change, CommitContext, MetadataAction, Table}

/**
 * Changes to the columns, the partitioning, the sort order, the identifier fields and the properties of a table, in one
 * commit. Each change is applied to the result of the previous changes.
 *
 * @param catalog the catalog of the table
 */
final class TableEvolution(session: SparkSession, catalog: LiteCatalog, ident: Identifier) {
  import TableEvolution._

  private val name = PartitionTerm.quoted(catalog.name +: ident.namespace.toVector :+ ident.name)

  /**
   * Commits changes to the newest version of the table, and refreshes the cached plans that read the table. The newest
   * version is needed because a change is skipped if the version to which it is applied already has the change. If that
   * version were older, another writer could have reverted the change in the meantime.
   *
   * @return the table after the commit
   * @throws iceberglite.spec.IcebergError.CommitConflict if another commit changed the same parts of the metadata
   * @throws iceberglite.spec.IcebergError if a change is not possible. In this case, no change is made
   */
  def commit(steps: Seq[Step]): Table = {
    if (steps.isEmpty) throw InvalidArgument("changes", "none", "Specify at least one change")
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    val shared = catalog.sharedTable(ident)
    shared.refresh()
    val before = shared.current
    val changes = merged(steps)
    changes.collect { case Changes(all) => checkProperties(before.name, all) }
    val transaction = before.transaction(EngineSummary.of(session))
    changes.flatMap(_.actions(caseSensitive)).foreach(transaction.add)
    val after = transaction.commit()
    CachedPlans.refresh(session, catalog, ident, before.metadata, after.metadata)
    after
  }

  /** Parses a change: the part of an ALTER TABLE statement after the name of the table. */
  def parse(change: String): Step =
    TableEvolution.parsing.withValue(true)(
      session.sessionState.sqlParser.parsePlan(s"ALTER TABLE $name $change")
    ) match {
      case statement: MetadataStatement => Statement(statement)
      case plan => Changes(changesOf(plan).getOrElse(throw InvalidArgument(
          "change",
          change,
          "It cannot be combined with other changes in one commit. The possible changes are ADD, DROP, RENAME and " +
            "ALTER COLUMN, ADD, DROP and REPLACE PARTITION FIELD, WRITE ... ORDERED BY, CLUSTER BY, SET and DROP " +
            "IDENTIFIER FIELDS, DROP CONSTRAINT, SET and UNSET TBLPROPERTIES"
        )).toVector)
    }

  private def checkProperties(table: String, changes: Seq[TableChange]): Unit = {
    if (AlterTableChanges.namesSnapshot(changes)) throw InvalidArgument(
      "table properties",
      "current-snapshot-id or cherry-pick-snapshot-id",
      "Set this property with an ALTER TABLE statement of its own"
    )
    val properties = changes.collect { case set: TableChange.SetProperty => set.property -> set.value }.toMap
    TablePropertyCheck.check(table, properties, SessionSettings.warnings(session))
  }
}

object TableEvolution {

  /**
   * Whether this thread parses a change that is applied to the result of previous changes. Such a change may name a
   * column that the table does not have yet.
   */
  private[iceberglite] val parsing = new DynamicVariable[Boolean](false)

  /** One or more changes that are applied to the table at the same time. */
  sealed trait Step {
    private[catalog] def actions(caseSensitive: Boolean): Seq[Action]
  }

  /** Changes in Spark's form. */
  final case class Changes(changes: Vector[TableChange]) extends Step {
    override private[catalog] def actions(caseSensitive: Boolean): Seq[Action] =
      AlterTableChanges.actions(changes, caseSensitive)
  }

  /** A statement of this connector. */
  final case class Statement(statement: MetadataStatement) extends Step {
    override private[catalog] def actions(caseSensitive: Boolean): Seq[Action] =
      Seq(new StatementAction(statement, caseSensitive))
  }

  /**
   * Merges consecutive changes in Spark's form, so that the table gets one new schema for all of them. Merged changes
   * of properties are made after merged changes of columns. Therefore, a change of columns is not merged into an
   * earlier change of properties.
   */
  private def merged(steps: Seq[Step]): Vector[Step] = steps.foldLeft(Vector.empty[Step]) {
    case (init :+ Changes(earlier), Changes(later)) if earlier.forall(isColumn) || !later.exists(isColumn) =>
      init :+ Changes(earlier ++ later)
    case (earlier, step) => earlier :+ step
  }

  private def isColumn(change: TableChange): Boolean = change.isInstanceOf[TableChange.ColumnChange]

  /** Converts a plan of Spark. Its names need not be resolved. The result is absent if the plan is not supported. */
  private def changesOf(plan: LogicalPlan): Option[Seq[TableChange]] = plan match {
    case AddColumns(_, columns) => Some(columns.map(addition))
    case RenameColumn(_, column, newName) => Some(Seq(TableChange.renameColumn(column.name.toArray, newName)))
    case DropColumns(_, columns, ifExists) =>
      Some(columns.map(column => TableChange.deleteColumn(column.name.toArray, ifExists)))
    case alter: AlterColumn => Some(alterations(alter))
    case SetTableProperties(_, properties) =>
      Some(properties.toSeq.map { case (key, value) => TableChange.setProperty(key, value) })
    case UnsetTableProperties(_, keys, _) => Some(keys.map(TableChange.removeProperty))
    case _ => None
  }

  /** Converts the addition of a column. The column's name need not be resolved. */
  def addition(column: QualifiedColType): TableChange = TableChange.addColumn(
    column.name.toArray,
    column.dataType,
    column.nullable,
    column.comment.orNull,
    column.position.map(_.position).orNull,
    column.getV2Default
  )

  private def alterations(alter: AlterColumn): Seq[TableChange] = {
    val column = alter.column.name.toArray
    Seq(
      alter.dataType.map(TableChange.updateColumnType(column, _)),
      alter.nullable.map(TableChange.updateColumnNullability(column, _)),
      alter.comment.map(TableChange.updateColumnComment(column, _)),
      alter.position.map((p: FieldPosition) => TableChange.updateColumnPosition(column, p.position)),
      alter.setDefaultExpression.map(TableChange.updateColumnDefaultValue(column, _))
    ).flatten
  }
}

/** The actions of a statement, which are created for the result of the previous changes. */
final private class StatementAction(statement: MetadataStatement, caseSensitive: Boolean) extends MetadataAction {

  /** The actions of the first attempt. They remember their requirements, so that a later attempt detects conflicts. */
  private var created: Option[Seq[MetadataAction]] = None

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val actions = created.getOrElse(statement.metadataActions(base, caseSensitive))
    created = Some(actions)
    actions.map(_.changeFor(base, context)).foldLeft(Change(Vector.empty, Vector.empty))(_ ++ _)
  }
}
