package iceberglite.spark.view

import org.apache.spark.sql.connector.catalog.{TableCatalog, ViewCatalog => SparkViewCatalog}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.view.ViewMetadata

/** The parts of a view that `DESCRIBE`, `SHOW CREATE TABLE` and `SHOW TBLPROPERTIES` show. */
private[view] object ViewDescription {

  /** The keys of properties that users cannot set: the connector sets them, or computes them from other metadata. */
  val Reserved: Set[String] = Set(ViewColumns.QueryColumnNames, TableCatalog.PROP_LOCATION, TableCatalog.PROP_PROVIDER)

  def columns(view: ViewMetadata): StructType = SparkTypes.toSpark(view.schema)

  def comment(view: ViewMetadata): Option[String] = view.properties.get(SparkViewCatalog.PROP_COMMENT)

  /** Returns the properties that the user has set, sorted by key. */
  def properties(view: ViewMetadata): Seq[(String, String)] =
    view.properties.toVector.filterNot { case (key, _) => Reserved(key) }.sorted

  /** Returns the query in Spark's dialect or, if there is none, in the first dialect. */
  def text(view: ViewMetadata): String =
    view.currentVersion.sql(ViewQuery.Dialect).orElse {
      view.currentVersion.dialects.headOption.flatMap(view.currentVersion.sql)
    }.getOrElse("")

  /** Returns rows of `DESCRIBE EXTENDED`: the names and values of the view's details. */
  def details(name: ViewName, view: ViewMetadata): Seq[(String, String)] = {
    val version = view.currentVersion
    val defaults = version.defaultCatalog.getOrElse(name.catalog.name) +: version.defaultNamespace
    val queryNames = ViewColumns.queryNames(view, version, columns(view)).getOrElse(Seq.empty)
    Seq(
      "Catalog" -> name.catalog.name,
      "Namespace" -> name.ident.namespace.mkString("."),
      "View" -> name.ident.name,
      "Type" -> "VIEW"
    ) ++ comment(view).map("Comment" -> _) ++ Seq(
      "View Text" -> text(view),
      "View Catalog and Namespace" -> defaults.mkString("."),
      "View Query Output Columns" -> queryNames.mkString("[", ", ", "]"),
      "View Properties" -> properties(view).map { case (key, value) => s"'$key' = '$value'" }.mkString("[", ", ", "]"),
      "Location" -> view.location,
      "View Version" -> version.versionId.toString,
      "View Dialects" -> version.dialects.mkString(", "),
      "Created By" -> engine(version.summary)
    )
  }

  private def engine(summary: Map[String, String]): String =
    Seq("engine-name", "engine-version").flatMap(summary.get).mkString(" ")

  /** Returns a statement that creates the view. */
  def createStatement(name: ViewName, view: ViewMetadata): String = {
    val columnList = columns(view).map { field =>
      quoted(field.name) + field.getComment().fold("")(c => s" COMMENT ${literal(c)}")
    }.mkString("(\n  ", ",\n  ", ")\n")
    val commentClause = comment(view).fold("")(c => s"COMMENT ${literal(c)}\n")
    val pairs = properties(view).filter(_._1 != SparkViewCatalog.PROP_COMMENT)
      .map { case (key, value) => s"${literal(key)} = ${literal(value)}" }
    val propertyClause = if (pairs.isEmpty) "" else pairs.mkString("TBLPROPERTIES (\n  ", ",\n  ", ")\n")
    s"CREATE VIEW ${name.sql} $columnList$commentClause${propertyClause}AS\n${text(view)}\n"
  }

  private def quoted(part: String): String = "`" + part.replace("`", "``") + "`"

  private def literal(text: String): String = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
}
