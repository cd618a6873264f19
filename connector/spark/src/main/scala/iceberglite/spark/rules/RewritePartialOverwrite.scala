package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.V2ExpressionBuilder
import org.apache.spark.sql.connector.expressions.filter.{Predicate => V2Predicate}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.iceberglite.Statements

import iceberglite.spark.conf.StatementOptions
import iceberglite.spark.table.{RerunAfterRewrite, SparkTable}
import iceberglite.spec.schema.MetadataColumns.FilePath

/**
 * Supports `df.writeTo(t).overwrite(condition)` if only some rows of a file satisfy the condition. The other rows of
 * such files are rewritten, together with the new rows. Spark itself replaces only whole files.
 */
object RewritePartialOverwrite extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case write: OverwriteByExpression if write.resolved && write.outputResolved && write.write.isEmpty =>
      write.table match {
        case relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _)
            if write.deleteExpr != TrueLiteral && !mergesColumns(relation, write.query) =>
          val options = StatementOptions(table.statementOptions.values ++ write.writeOptions)
          val target = table.changedWith(options)
          val condition = folded(RewriteCharPadding.padded(NullConditions.castNulls(write.deleteExpr), relation, table))
          if (table.in(options.isDynamic) || options.mergesSchema || hasWholeFiles(target, condition))
            write
          else replaced(target, relation, condition, write)
        case _ => write
      }
  }

  /**
   * Whether a write may add columns to a table that accepts any schema. Only the write can check the types of such
   * columns.
   */
  private def mergesColumns(relation: DataSourceV2Relation, query: LogicalPlan): Boolean =
    relation.skipSchemaResolution && (query.output.size != relation.output.size ||
      query.output.zip(relation.output).exists { case (value, column) =>
        value.name != column.name || !Cast.canUpCast(value.dataType, column.dataType)
      })

  /**
   * Evaluates the constant parts of the condition, as the optimizer would. In Spark's plans, the values of static
   * partitions are casts of constants.
   */
  private def folded(condition: Expression): Expression = condition.transformUp {
    case e if e.foldable && e.deterministic && !e.exists(_.isInstanceOf[Unevaluable]) =>
      Literal.create(e.eval(), e.dataType)
  }

  private def hasWholeFiles(table: SparkTable, condition: Expression): Boolean = {
    val predicates = splitConjunctivePredicates(condition).map { part =>
      new V2ExpressionBuilder(part, true).build().collect { case p: V2Predicate => p }
    }
    predicates.forall(_.isDefined) && table.canDeleteWhere(predicates.flatten.toArray)
  }

  private def replaced(
      table: SparkTable,
      relation: DataSourceV2Relation,
      condition: Expression,
      write: OverwriteByExpression
  ): LogicalPlan = {
    val query = write.query
    val operation = table.overwrite(RerunAfterRewrite.of(write, namedMetadata = Nil))
    val writtenRelation =
      RewriteCharPadding.withoutCharMetadata(relation.copy(table = Statements.rowLevelTable(table, operation)))
    val lineage = new CarriedColumns(table.lineage, relation).columns
    val fileColumn = relation.metadataOutput.filter(_.name == FilePath.name)
    val onKeptRows = new ExactVariants(table.table.schema, relation).ofUser(condition)
    val keptRows = Filter(
      Not(EqualNullSafe(onKeptRows, TrueLiteral)),
      writtenRelation.copy(output = writtenRelation.output ++ lineage ++ fileColumn)
    )
    val values = query.output.zip(relation.output).map { case (value, column) =>
      Alias(if (value.dataType == column.dataType) value else Cast(value, column.dataType), column.name)()
    }
    val nulls = (lineage ++ fileColumn).map(a => Alias(Literal(null, a.dataType), a.name)())
    ReplaceData(
      writtenRelation.copy(output = writtenRelation.output ++ lineage),
      condition,
      Union(keptRows, Project(values ++ nulls, query)),
      relation.copy(table = table),
      Some(condition)
    )
  }
}
