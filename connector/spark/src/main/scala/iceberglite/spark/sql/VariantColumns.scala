package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.parser.{ParseException, SqlBaseParser}
import org.apache.spark.sql.catalyst.plans.logical.{AddColumns, CreateTable, LogicalPlan, ReplaceTable, TableSpecBase}
import org.apache.spark.sql.execution.{SparkSqlAstBuilder, SparkSqlParser}
import org.apache.spark.sql.types.DataType

import iceberglite.spark.catalog.Providers
import iceberglite.spark.convert.VariantUdt
import iceberglite.spark.session.{CatalogNames, LiteCatalog}

/**
 * Parses `CREATE TABLE`, `REPLACE TABLE` and `ALTER TABLE ... ADD COLUMN` with columns of type `VARIANT`, which Spark
 * 3.5 does not have, if the table is an iceberg-lite table. Spark's parser parses all other statements, and rejects the
 * type.
 */
final private[sql] class VariantColumns(session: SparkSession) {
  import VariantColumns._

  /**
   * Parses a statement.
   *
   * @param sql the text, in which variables have been replaced by their values
   * @return absent for other statements and for invalid text, for which Spark's parser reports the error
   */
  def parse(sql: String): Option[LogicalPlan] =
    try {
      val reader = new SqlReader(sql)
      val table = tableOf(reader).filter(_ => containsType(reader)).map(CatalogNames.resolve(session, _))
      table.collect { case (catalog: LiteCatalog, ident) => (catalog, ident) }.flatMap { case (catalog, ident) =>
        val inSessionCatalog = catalog.name == CatalogNames.SessionCatalog
        Some(ParserOfVariants.parsePlan(sql)).filter {
          case create: CreateTable => isOwn(create.tableSpec, inSessionCatalog)
          case replace: ReplaceTable => isOwn(replace.tableSpec, inSessionCatalog)
          case _: AddColumns => !inSessionCatalog || catalog.isIcebergTable(ident)
          case _ => false
        }
      }
    } catch { case _: ParseException => None }

  private def tableOf(reader: SqlReader): Option[Seq[String]] = {
    val isTable = reader.skip("ALTER", "TABLE") || reader.skip("REPLACE", "TABLE") ||
      reader.skip("CREATE", "TABLE") || reader.skip("CREATE", "OR", "REPLACE", "TABLE")
    if (!isTable) None
    else {
      reader.skip("IF", "NOT", "EXISTS")
      reader.multipartIfAny()
    }
  }

  private def containsType(reader: SqlReader): Boolean = {
    while (reader.peek.kind != SqlToken.End && !reader.peek.isWord(TypeName)) reader.take()
    reader.peek.kind != SqlToken.End
  }

  private def isOwn(spec: TableSpecBase, inSessionCatalog: Boolean): Boolean =
    !inSessionCatalog || spec.provider.exists(name => Providers.isOwn(name.toLowerCase))
}

private object VariantColumns {
  private val TypeName = "VARIANT"

  /** Spark's parser with the type `VARIANT`. */
  private object ParserOfVariants extends SparkSqlParser {
    override val astBuilder: SparkSqlAstBuilder = new SparkSqlAstBuilder {
      override def visitPrimitiveDataType(ctx: SqlBaseParser.PrimitiveDataTypeContext): DataType =
        if (ctx.getText.equalsIgnoreCase(TypeName)) new VariantUdt else super.visitPrimitiveDataType(ctx)
    }
  }
}
