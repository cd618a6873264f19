package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.{DescribeColumn, LogicalPlan}
import org.apache.spark.sql.connector.catalog.{CatalogPlugin, Identifier}

import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spec.Spelling

/**
 * Parses the statements in [[TableStatement.all]] on tables of iceberg-lite catalogs. Other connectors have statements
 * with the same words. Therefore, statements on tables of other catalogs are passed to the previous parser, and are
 * rejected if the previous parser does not know them either, or takes them for a statement on a table that does not
 * exist.
 *
 * @param delegate the previous parser
 */
final private[sql] class TableStatements(session: SparkSession, delegate: ParserInterface) {
  private val expressions = new SqlExpressions(delegate)

  /**
   * Parses one of the statements; absent for all other statements.
   *
   * @param reader a reader at the beginning of the statement
   */
  def parse(reader: SqlReader): Option[LogicalPlan] =
    if (reader.skip("ANALYZE", "TABLE")) rejectPartitions(reader)
    else TableStatement.all.find(_.begin(reader)).flatMap(parse(_, reader))

  private def parse(statement: TableStatement, reader: SqlReader): Option[LogicalPlan] = {
    val (lastWord, first) = (reader.last.text, reader.peek)
    reader.multipartIfAny().map(name => name -> CatalogNames.resolve(session, name)) match {
      case Some((name, (catalog: LiteCatalog, ident))) =>
        val describesColumn =
          statement == DescribeHistory && (!mayDescribeHistory(reader) ||
            !reader.peek.isWord("LIMIT") && exists(lastWord) && !catalog.isIcebergTable(ident))
        if (describesColumn) None
        else {
          val table = reader.node(first)(UnresolvedTable(name, statement.name, None))
          val plan = reader.node(first)(statement.parse(table, reader, expressions))
          reader.end()
          Some(plan)
        }
      case Some((name, other)) => ofOtherCatalog(statement, reader, first, notSupported(statement, name, other))
      case None => ofOtherCatalog(statement, reader, first, "expected the name of a table")
    }
  }

  /**
   * Parses a statement with the previous parser. Spark reads `DESCRIBE HISTORY t` as a statement about the column `t`
   * of a table `HISTORY`; this is an error if there is no such table.
   *
   * @param problem the error message if the previous parser does not know the statement
   */
  private def ofOtherCatalog(
      statement: TableStatement,
      reader: SqlReader,
      first: SqlToken,
      problem: => String
  ): Option[LogicalPlan] =
    if (statement == DescribeHistory) delegate.parsePlan(reader.sql) match {
      case _: DescribeColumn if mayDescribeHistory(reader) && !exists("history") => reader.failAt(first, problem)
      case plan => Some(plan)
    }
    else
      try Some(delegate.parsePlan(reader.sql))
      catch { case _: ParseException => reader.failAt(first, problem) }

  /** Whether the text after `DESCRIBE HISTORY name` is valid for this connector's statement. */
  private def mayDescribeHistory(reader: SqlReader): Boolean =
    reader.peek.kind == SqlToken.End || reader.peek.isSymbol(";") || reader.peek.isWord("LIMIT")

  private def exists(table: String): Boolean = session.catalog.tableExists(table)

  private def notSupported(
      statement: TableStatement,
      name: Seq[String],
      resolved: (CatalogPlugin, Identifier)
  ): String = {
    val catalogs = session.conf.getAll.keys.collect { case TableStatements.CatalogKey(catalog) => catalog }
    val near = name.headOption.filter(_ => name.size > 1).flatMap(Spelling.closest(_, catalogs))
    s"${statement.name} supports only tables of iceberg-lite catalogs, but ${name.mkString(".")} is in the catalog " +
      s"${resolved._1.name}${near.fold("")(n => s"; did you mean the catalog $n?")}"
  }

  /** Rejects a partition in `ANALYZE TABLE`, which Spark would ignore. */
  private def rejectPartitions(reader: SqlReader): Option[LogicalPlan] = {
    reader.multipartIfAny().filter(_ => reader.peek.isWord("PARTITION")).map(CatalogNames.resolve(session, _)).foreach {
      case (catalog: LiteCatalog, ident) if catalog.isIcebergTable(ident) =>
        reader.fail(AnalyzeTableCommand.NoPartitions)
      case _ =>
    }
    None
  }
}

private object TableStatements {
  private val CatalogKey = """spark\.sql\.catalog\.([^.]+)""".r
}
