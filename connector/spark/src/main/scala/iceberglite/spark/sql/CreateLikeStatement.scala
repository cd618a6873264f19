package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.spark.catalog.Providers
import iceberglite.spark.session.{CatalogNames, LiteCatalog}

/**
 * Parses `CREATE TABLE ... LIKE` if the new table is an iceberg-lite table. Spark itself supports the statement only
 * for tables of its session catalog. In this catalog, the new table is an iceberg-lite table if USING says so or,
 * without USING, if the source is an iceberg-lite table.
 */
final private[sql] class CreateLikeStatement(session: SparkSession) {

  /**
   * Parses the statement. The result is absent for all other statements.
   *
   * @param reader a reader at the beginning of the statement
   */
  def parse(reader: SqlReader): Option[LogicalPlan] = if (!reader.skip("CREATE", "TABLE")) None
  else {
    val ifNotExists = reader.skip("IF", "NOT", "EXISTS")
    reader.multipartIfAny().filter(_ => reader.skip("LIKE")).flatMap(liteTarget).flatMap { case (catalog, ident) =>
      parse(reader, catalog, ident, ifNotExists)
    }
  }

  private def liteTarget(target: Seq[String]): Option[(LiteCatalog, Identifier)] =
    CatalogNames.resolve(session, target) match {
      case (catalog: LiteCatalog, ident) => Some((catalog, ident))
      case _ => None
    }

  private def parse(
      reader: SqlReader,
      catalog: LiteCatalog,
      ident: Identifier,
      ifNotExists: Boolean
  ): Option[LogicalPlan] = {
    val first = reader.peek
    val source = reader.multipart("the name of a table or view")
    val child = reader.node(first)(UnresolvedTableOrView(source, "CREATE TABLE ... LIKE", allowTempView = true))
    clausesOfLite(reader, catalog, source).map { clauses =>
      LikeClauses.rejectHive(reader)
      reader.end()
      CreateTableLike(catalog, ident, child, clauses, ifNotExists)
    }
  }

  /** Parses the clauses. The result is absent if the new table is a table of Spark's own session catalog. */
  private def clausesOfLite(reader: SqlReader, catalog: LiteCatalog, source: Seq[String]): Option[LikeClauses] =
    if (catalog.name != CatalogNames.SessionCatalog) Some(LikeClauses.read(reader))
    else
      // Spark's parser reports the errors of its own statements.
      try Some(LikeClauses.read(reader)).filter { clauses =>
          clauses.provider.fold(!LikeClauses.isHiveNext(reader) && isIceberg(source))(name =>
            Providers.isOwn(name.toLowerCase)
          )
        }
      catch { case _: ParseException => None }

  private def isIceberg(source: Seq[String]): Boolean = CatalogNames.resolve(session, source) match {
    case (catalog: LiteCatalog, ident) =>
      !session.sessionState.catalog.isTempView(source) && catalog.isIcebergTable(ident)
    case _ => false
  }
}
