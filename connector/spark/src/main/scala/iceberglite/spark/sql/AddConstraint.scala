package iceberglite.spark.sql

import scala.annotation.tailrec

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Alias, Cast, EvalMode, Literal, Not}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Limit, LogicalPlan, Project}
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.iceberglite.Statements
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.catalog.CachedPlans
import iceberglite.spark.conf.{EngineSummary, TimeTravel}
import iceberglite.spark.constraint.{ConstraintExpression, RowCondition, RowRule}
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.CommitConflict
import iceberglite.spec.property.CheckConstraint
import iceberglite.table.Table
import iceberglite.table.action.AddCheckConstraint

/**
 * `ALTER TABLE t ADD CONSTRAINT name CHECK (condition)`: adds a CHECK constraint if the rows of all branches satisfy
 * it. If another commit changes a branch while the rows are checked, the rows are checked again.
 */
final case class AddConstraint(table: Seq[String], constraint: CheckConstraint) extends NamedTableCommand {

  override protected def change(session: SparkSession, catalog: LiteCatalog, ident: Identifier): Unit = {
    val shared = catalog.sharedTable(ident)

    @tailrec
    def attempt(number: Int): Unit = {
      shared.refresh()
      val before = shared.current
      AddCheckConstraint.requireNew(constraint, before.metadata, before.name)
      checkRows(session, before)
      committed(session, before) match {
        case Right(after) => CachedPlans.refresh(session, catalog, ident, before.metadata, after.metadata)
        case Left(conflict) => if (number < AddConstraint.MaxAttempts) attempt(number + 1) else throw conflict
      }
    }
    attempt(1)
  }

  private def committed(session: SparkSession, checked: Table): Either[CommitConflict, Table] = {
    val transaction = checked.transaction(EngineSummary.of(session))
    transaction.add(new AddCheckConstraint(constraint, checked.metadata))
    try Right(transaction.commit())
    catch { case conflict: CommitConflict => Left(conflict) }
  }

  /** @throws iceberglite.spec.IcebergError.CheckViolated if a row of a branch does not satisfy the condition */
  private def checkRows(session: SparkSession, version: Table): Unit = {
    ConstraintExpression.requireSameInAllSessions(constraint, version.name)
    val columns = ConstraintExpression.columns(version.schema, version.properties)
    ConstraintExpression.resolve(constraint, columns, version.name)
    val heads = AddCheckConstraint.heads(version.metadata).collect { case (branch, Some(id)) => id -> branch }
    heads.toMap.values.toVector.sorted.foreach(checkBranch(session, version, _))
  }

  private def checkBranch(session: SparkSession, version: Table, branch: String): Unit = {
    val source = new SparkTable(() => version, TimeTravel.OnBranch(branch))
    val relation = DataSourceV2Relation.create(source, None, None, CaseInsensitiveStringMap.empty)
    val condition = ConstraintExpression.resolve(constraint, relation.output, version.name)
    val zone = Some(session.sessionState.conf.sessionLocalTimeZone)
    val texts = ConstraintExpression.used(condition).map { case (path, value) =>
      Alias(Cast(value, StringType, zone, EvalMode.LEGACY), path.mkString("."))()
    }
    // A row for which the condition is null satisfies the constraint, and does not pass this filter. Spark pushes the
    // filter down, so that files without violations are not read.
    val violations = Filter(Not(condition), relation)
    val rows = Statements.dataset(session, Limit(Literal(1), Project(texts, violations))).collect()
    rows.headOption.foreach { row =>
      val values = texts.indices.map(i => texts(i).name -> Option(row.getString(i)))
      throw RowCondition.violated(version.name, RowRule.Satisfies(constraint), values)
    }
  }
}

object AddConstraint extends AlterTableStatement {

  /** Maximum number of times that the rows are checked if other commits change them. */
  private val MaxAttempts = 5

  override val words: Seq[String] = Seq("ADD", "CONSTRAINT")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan = {
    val name = reader.identifier("a name for the constraint")
    reader.expectWord("CHECK")
    val first = reader.ahead(1)
    if (!reader.skipParentheses()) reader.fail("expected a condition in parentheses")
    AddConstraint(table, CheckConstraint(name, reader.textSince(first).dropRight(1).trim))
  }
}
