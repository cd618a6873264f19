package iceberglite.spark.sql

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.analysis.{UnresolvedNamespace, UnresolvedPartitionSpec}
import org.apache.spark.sql.catalyst.catalog.CatalogTypes.TablePartitionSpec
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, ShowTableExtended}
import org.apache.spark.sql.catalyst.util.StringUtils
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.apache.spark.sql.execution.command.{LeafRunnableCommand, ShowTablesCommand}
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.convert.PartitionTerm
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spark.table.SparkTable
import iceberglite.spark.view.{SessionViews, ViewName}
import iceberglite.spec.IcebergError.Unsupported

/**
 * `SHOW TABLE EXTENDED [IN namespace] LIKE 'pattern'`: shows the tables and views of a namespace, and the temporary
 * views of the session, with their properties and columns. The description of a table has the same entries as in Spark
 * 4, whose statement supports all catalogs. Spark 3.5 supports only its session catalog.
 *
 * @param partition the values of the clause PARTITION, which only tables of Spark support
 */
final case class ShowTablesExtended(
    catalog: LiteCatalog,
    namespace: Seq[String],
    pattern: String,
    partition: Option[TablePartitionSpec],
    override val output: Seq[Attribute]
) extends LeafRunnableCommand
    with ErrorBoundary {

  override protected def errorName: String = (catalog.name +: namespace).mkString(".")

  override def run(session: SparkSession): Seq[Row] = in {
    val names = namesOf(catalog.listTables(namespace.toArray).toSeq.map(_.name))
    val tables = if (isSessionCatalog) names.filter(name => catalog.isIcebergTable(identifier(name))) else names
    if (tables.nonEmpty && partition.isDefined) throw Unsupported(
      "SHOW TABLE EXTENDED of a partition",
      "Use SHOW PARTITIONS, or the metadata table partitions, which has the numbers of rows and files of each partition"
    )
    val own = tables.map(name => row(name, tableDetails(session, name))) ++ views.flatMap { view =>
      for (details <- view.details; columns <- view.columns)
        yield row(view.ident.name, details :+ ("Schema" -> columns.treeString))
    }
    val (temporary, permanent) = sparkRows(session).partition(_.getBoolean(2))
    val others = permanent.filterNot(r => own.exists(_.getString(1) == r.getString(1)))
    (own ++ others).sortBy(_.getString(1)) ++ temporary
  }

  private def namesOf(all: Seq[String]): Seq[String] = StringUtils.filterPattern(all, pattern)

  /** Whether the namespace can also have tables of Spark. */
  private def isSessionCatalog: Boolean = catalog.name == CatalogNames.SessionCatalog

  private def identifier(name: String): Identifier = Identifier.of(namespace.toArray, name)

  private def views: Seq[ViewName] = for {
    viewCatalog <- catalog.viewCatalog.toSeq
    name <- namesOf(SessionViews.names(catalog, namespace))
  } yield ViewName(catalog, viewCatalog, identifier(name))

  /** Returns Spark's rows: the temporary views and, in the session catalog, the tables and views of Spark. */
  private def sparkRows(session: SparkSession): Seq[Row] =
    if (isSessionCatalog)
      ShowTablesCommand(Some(namespace.mkString(".")), Some(pattern), output, isExtended = true, partition).run(session)
    else
      session.sessionState.catalog.listLocalTempViews(pattern).map { name =>
        val schema = session.sessionState.catalog.getTempViewOrPermanentTableMetadata(name)
        Row("", name.table, true, s"${schema.simpleString}\n")
      }

  private def row(name: String, details: Seq[(String, String)]): Row =
    Row(namespace.mkString("."), name, false, details.map { case (k, v) => s"$k: $v" }.mkString("", "\n", "\n"))

  private def tableDetails(session: SparkSession, name: String): Seq[(String, String)] =
    catalog.loadTable(identifier(name)) match {
      case table: SparkTable =>
        val all = session.sessionState.conf.redactOptions(table.properties.asScala.toMap)
        val (reserved, properties) = all.toSeq.sorted.partition { case (key, _) =>
          ShowTablesExtended.reserved.contains(key)
        }
        Seq("Catalog" -> catalog.name, "Namespace" -> namespace.mkString("."), "Table" -> name, "Type" -> "MANAGED") ++
          ShowTablesExtended.reserved.flatMap(key => reserved.find(_._1 == key)).map { case (k, v) =>
            k.capitalize -> v
          } ++
          Seq("Table Properties" -> properties.map { case (k, v) => s"$k=$v" }.mkString("[", ",", "]")) ++
          partitionColumns(table) :+ ("Schema" -> table.schema.treeString.stripTrailing)
      case other => throw Unsupported(s"SHOW TABLE EXTENDED of ${other.name}", "It is not an iceberg-lite table")
    }

  private def partitionColumns(table: SparkTable): Seq[(String, String)] = {
    val names = table.partitionSchema.fieldNames
    if (names.isEmpty) Nil
    else Seq(
      "Partition Provider" -> "Catalog",
      "Partition Columns" -> names.map(n => PartitionTerm.quoted(Seq(n))).mkString("[", ", ", "]")
    )
  }
}

private object ShowTablesExtended {

  /** The properties that have entries of their own, in this order. */
  val reserved: Seq[String] =
    Seq(TableCatalog.PROP_COMMENT, TableCatalog.PROP_LOCATION, TableCatalog.PROP_PROVIDER, TableCatalog.PROP_OWNER)
}

/**
 * Replaces SHOW TABLE EXTENDED for namespaces of iceberg-lite catalogs. The parser does this, because Spark 3.5
 * replaces the statement for its session catalog, and rejects it for other catalogs, when it resolves the namespace.
 */
final private[sql] class ShowTablesStatement(session: SparkSession) {
  def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case statement @ ShowTableExtended(UnresolvedNamespace(parts), pattern, partition, output) =>
      CatalogNames.resolveNamespace(session, parts) match {
        case (catalog: LiteCatalog, namespace) =>
          val values = partition.collect { case UnresolvedPartitionSpec(spec, _) => spec }
          ShowTablesExtended(catalog, namespace, pattern, values, output)
        case _ => statement
      }
    case other => other
  }
}
