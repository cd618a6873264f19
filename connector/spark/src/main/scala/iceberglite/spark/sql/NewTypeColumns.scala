package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.parser.{ParseException, SqlBaseParser}
import org.apache.spark.sql.catalyst.plans.logical.{AddColumns, CreateTable, LogicalPlan, ReplaceTable, TableSpecBase}
import org.apache.spark.sql.execution.{SparkSqlAstBuilder, SparkSqlParser}
import org.apache.spark.sql.types.DataType

import iceberglite.spark.catalog.Providers
import iceberglite.spark.convert.{SpatialUdt, VariantUdt}
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.{CatalogNames, LiteCatalog}

/**
 * Parses `CREATE TABLE`, `REPLACE TABLE` and `ALTER TABLE ... ADD COLUMN` with columns of types that Spark 3.5 does not
 * have, if the table is an iceberg-lite table: `VARIANT`, `GEOMETRY`, `GEOMETRY('crs')`, `GEOGRAPHY` and
 * `GEOGRAPHY('crs', 'edges')`. Spark's parser parses all other statements, and rejects the types.
 */
final private[sql] class NewTypeColumns(session: SparkSession) {
  import NewTypeColumns._

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
        val types = ListedTypes.in(sql)
        Some(new ParserOfTypes(types.listed).parsePlan(types.sql)).filter {
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
    while (reader.peek.kind != SqlToken.End && !Names.exists(reader.peek.isWord)) reader.take()
    reader.peek.kind != SqlToken.End
  }

  private def isOwn(spec: TableSpecBase, inSessionCatalog: Boolean): Boolean =
    !inSessionCatalog || spec.provider.exists(name => Providers.isOwn(name.toLowerCase))
}

private object NewTypeColumns {
  private val Variant = "VARIANT"
  private val Spatial = Seq(SpatialUdt.Geometry, SpatialUdt.Geography)
  private val Names = Variant +: Spatial

  /** Spark's parser with the types. @param listed the types to which numbers in parentheses refer */
  final private class ParserOfTypes(listed: Vector[SpatialUdt]) extends SparkSqlParser {
    override val astBuilder: SparkSqlAstBuilder = new SparkSqlAstBuilder {
      override def visitPrimitiveDataType(ctx: SqlBaseParser.PrimitiveDataTypeContext): DataType = {
        val name = ctx.getStart.getText.toUpperCase
        val parameters = (0 until ctx.INTEGER_VALUE.size).map(ctx.INTEGER_VALUE(_).getText.toInt)
        if (ctx.getText.equalsIgnoreCase(Variant)) new VariantUdt
        else if (Spatial.contains(name) && parameters.isEmpty) SpatialUdt.of(name, Vector.empty)
        else if (Spatial.contains(name) && parameters.size == 1 && listed.isDefinedAt(parameters.head))
          listed(parameters.head)
        else super.visitPrimitiveDataType(ctx)
      }
    }
  }

  /**
   * A statement in which the parameters of types are replaced by numbers: Spark's grammar permits only numbers there.
   *
   * @param listed the types with parameters, to which the numbers refer
   */
  final private case class ListedTypes(sql: String, listed: Vector[SpatialUdt])

  private object ListedTypes {

    /** @throws iceberglite.spark.error.StatementError if the parameters of a type are not valid */
    def in(sql: String): ListedTypes = {
      val reader = new SqlReader(sql)
      val text = new StringBuilder
      var listed = Vector.empty[SpatialUdt]
      var copied = 0
      while (reader.peek.kind != SqlToken.End) {
        val name = reader.take()
        if (Spatial.exists(name.isWord) && isList(reader)) {
          text.append(sql.substring(copied, name.end)).append(s"(${listed.size})")
          val parameters = list(reader)
          listed :+= SparkErrors.in(reader.textSince(name))(SpatialUdt.of(name.text.toUpperCase, parameters))
          copied = reader.last.end
        }
      }
      ListedTypes(text.append(sql.substring(copied)).toString, listed)
    }

    private def isList(reader: SqlReader): Boolean = reader.peek.isSymbol("(") && reader.ahead(1).kind == SqlToken.Text

    private def list(reader: SqlReader): Vector[String] = {
      reader.expectSymbol("(")
      var texts = reader.textIfAny().toVector
      while (reader.skipSymbol(","))
        texts :+= reader.textIfAny().getOrElse(reader.fail("expected a text in quotes"))
      reader.expectSymbol(")")
      texts
    }
  }
}
