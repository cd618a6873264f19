package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.parser.{ParseException, SqlBaseParser}
import org.apache.spark.sql.catalyst.plans.logical.{AddColumns, CreateTable, LogicalPlan, ReplaceTable, TableSpecBase}
import org.apache.spark.sql.connector.catalog.{CatalogPlugin, Identifier}
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
   * @param other parses other statements
   * @throws ParseException if the text is invalid
   */
  def parse(sql: String)(other: => LogicalPlan): LogicalPlan = tableWithType(sql) match {
    case Some((catalog: LiteCatalog, ident)) =>
      val parsed =
        try Right(planOf(sql, catalog, ident))
        catch { case e: ParseException => Left(e) }
      parsed match {
        case Right(plan) => plan.getOrElse(other)
        case Left(error) =>
          try other
          catch {
            // The other parser does not know the types, so it reports the first of them instead of the error.
            case _: ParseException if !isSession(catalog) => throw error.withCommand(sql)
          }
      }
    case _ => other
  }

  private def planOf(sql: String, catalog: LiteCatalog, ident: Identifier): Option[LogicalPlan] = {
    val types = ListedTypes.in(sql)
    Some(new ParserOfTypes(types).parsePlan(types.sql)).filter {
      case create: CreateTable => isOwn(create.tableSpec, isSession(catalog))
      case replace: ReplaceTable => isOwn(replace.tableSpec, isSession(catalog))
      case _: AddColumns => !isSession(catalog) || catalog.isIcebergTable(ident)
      case _ => false
    }
  }

  private def isSession(catalog: CatalogPlugin): Boolean = catalog.name == CatalogNames.SessionCatalog

  /**
   * Returns the table of a statement that may define columns and that contains the name of one of the types; absent for
   * all other statements.
   */
  private def tableWithType(sql: String): Option[(CatalogPlugin, Identifier)] =
    try {
      val reader = new SqlReader(sql)
      tableOf(reader).filter(_ => containsType(reader)).map(CatalogNames.resolve(session, _))
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

  /** Spark's parser with the types. */
  final private class ParserOfTypes(types: ListedTypes) extends SparkSqlParser {
    override val astBuilder: SparkSqlAstBuilder = new SparkSqlAstBuilder {
      override def visitPrimitiveDataType(ctx: SqlBaseParser.PrimitiveDataTypeContext): DataType = {
        val name = ctx.getStart.getText.toUpperCase
        if (ctx.getText.equalsIgnoreCase(Variant)) new VariantUdt
        else if (Spatial.contains(name) && ctx.INTEGER_VALUE.isEmpty) SpatialUdt.of(name, Vector.empty)
        else types.at(ctx.getStart.getStartIndex).getOrElse(super.visitPrimitiveDataType(ctx))
      }
    }
  }

  /**
   * A statement in which the parameters of types are replaced by a number, because Spark's grammar permits only numbers
   * there. All tokens have the same positions as in the original statement, for errors.
   *
   * @param listed the names of the types with parameters, and their parameters
   */
  final private case class ListedTypes(sql: String, listed: Vector[(SqlToken, Vector[String])]) {

    /**
     * Returns the type with parameters that begins at a position; absent if none begins there.
     *
     * @param position the number of code points before the name of the type
     *
     * @throws iceberglite.spark.error.StatementError if the parameters are not valid
     */
    def at(position: Int): Option[SpatialUdt] =
      listed.find { case (name, _) => sql.codePointCount(0, name.start) == position }.map { case (name, parameters) =>
        val text = parameters.mkString(s"${name.text}('", "', '", "')")
        SparkErrors.in(text)(SpatialUdt.of(name.text.toUpperCase, parameters))
      }
  }

  private object ListedTypes {

    /** Finds the types with parameters. Calls of functions with the same names may be among them. */
    def in(sql: String): ListedTypes = {
      val reader = new SqlReader(sql)
      val text = new StringBuilder(sql)
      var listed = Vector.empty[(SqlToken, Vector[String])]
      while (reader.peek.kind != SqlToken.End) {
        val name = reader.take()
        if (Spatial.exists(name.isWord) && isList(reader)) {
          val first = reader.ahead(1).start
          listed :+= name -> list(reader)
          replace(text, first, reader.last.start)
        }
      }
      ListedTypes(text.toString, listed)
    }

    /** Replaces the characters of a list by a number, and keeps line breaks. */
    private def replace(text: StringBuilder, from: Int, until: Int): Unit = {
      for (i <- from until until) if (!Character.isWhitespace(text(i))) text(i) = ' '
      text(from) = '0'
    }

    /** Whether texts in parentheses follow. Other parentheses are left to Spark's parser. */
    private def isList(reader: SqlReader): Boolean = {
      var i = 1
      while (reader.ahead(i).kind == SqlToken.Text && reader.ahead(i + 1).isSymbol(",")) i += 2
      reader.peek.isSymbol("(") && reader.ahead(i).kind == SqlToken.Text && reader.ahead(i + 1).isSymbol(")")
    }

    private def list(reader: SqlReader): Vector[String] = {
      reader.expectSymbol("(")
      var texts = reader.textIfAny().toVector
      while (reader.skipSymbol(",")) texts ++= reader.textIfAny()
      reader.expectSymbol(")")
      texts
    }
  }
}
