package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.internal.VariableSubstitution
import org.apache.spark.sql.types.{DataType, StructType}

import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spark.view.ViewStatements

/**
 * Adds the connector's statements to a session's SQL. This parser handles the statements of [[AlterTableStatement.all]]
 * and [[TableStatement.all]] on tables of iceberg-lite catalogs, CREATE TABLE LIKE in such catalogs, and CALL of their
 * procedures. It replaces Spark's statements on views of iceberg-lite catalogs, and SHOW TABLE EXTENDED. It passes all
 * other statements to the previous parser, which is Spark's parser or the parser of another extension. If a statement
 * changes rows of an iceberg-lite table, this parser first parses and removes the connector's own syntax.
 */
final class SqlParser(session: SparkSession, delegate: ParserInterface) extends ParserInterface {

  private val calls = new CallStatement(session, delegate)
  private val createLike = new CreateLikeStatement(session)
  private val tableStatements = new TableStatements(session, delegate)
  private val viewStatements = new ViewStatements(session)
  private val partitionNames = new PartitionNames(session)
  private val alteredColumns = new AlteredColumns(session)
  private val newTypeColumns = new NewTypeColumns(session)
  private val showTables = new ShowTablesStatement(session)
  private val hold = new HoldRowLevelCommands(session)
  private val rowStatements = new RowStatements(session, delegate, isIcebergTable)

  override def parsePlan(sqlText: String): LogicalPlan = {
    val substituted = new VariableSubstitution().substitute(sqlText)
    new SqlReader(substituted).nodeToEnd {
      parseOwnStatement(substituted).getOrElse {
        val parsed = newTypeColumns.parse(substituted)(delegate.parsePlan(sqlText))
        val plan = alteredColumns(partitionNames(showTables(viewStatements(parsed))))
        hold(MetadataAssignments.checked(plan))
      }
    }
  }

  private def parseOwnStatement(sql: String): Option[LogicalPlan] = {
    val reader = new SqlReader(sql)
    val plan = if (reader.skip("CALL")) calls.parse(reader) else parseAlterTable(reader)
    plan.foreach(_ => reader.end())
    plan.orElse(createLike.parse(new SqlReader(reader.sql))).orElse(tableStatements.parse(new SqlReader(reader.sql)))
      .orElse(rowStatements.parse(reader))
  }

  private def parseAlterTable(reader: SqlReader): Option[LogicalPlan] = AlterTableStatement.begin(reader).collect {
    case (table, statement) if isIcebergTable(table) => reader.nodeToEnd(statement.parse(table, reader))
  }

  private def isIcebergTable(table: Seq[String]): Boolean =
    CatalogNames.resolve(session, table)._1.isInstanceOf[LiteCatalog]

  override def parseExpression(sqlText: String): Expression = delegate.parseExpression(sqlText)
  override def parseTableIdentifier(sqlText: String): TableIdentifier = delegate.parseTableIdentifier(sqlText)
  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sqlText)
  override def parseMultipartIdentifier(sqlText: String): Seq[String] = delegate.parseMultipartIdentifier(sqlText)
  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)
  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)
  override def parseQuery(sqlText: String): LogicalPlan = delegate.parseQuery(sqlText)
}
