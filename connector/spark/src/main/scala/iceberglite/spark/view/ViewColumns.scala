package iceberglite.spark.view

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.iceberglite.ViewChecks
import org.apache.spark.sql.types.{StructField, StructType}

import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.json.{JsonFormat, JsonValue}
import iceberglite.spec.schema.Schema
import iceberglite.spec.view.{ViewMetadata, ViewVersion}

/** The columns of a view, and the names of the corresponding columns of its query. */
private[view] object ViewColumns {

  /**
   * The key under which the names of the query's columns are stored. The value is a list separated by commas. Apache
   * Iceberg stores it as a property of the view. This connector also stores it in the summary of each version, because
   * the names belong to the version.
   */
  val QueryColumnNames = "spark.query-column-names"

  /**
   * The key under which the summary of a version contains the names of the query's columns as a JSON array. It is set
   * only if a name contains a comma, such as `coalesce(a, b)`.
   */
  private val QueryColumnList = "spark.query-column-list"

  /**
   * Returns the view's columns.
   *
   * @param columns the names and comments in the statement; empty if the statement has no list of columns
   */
  def schema(query: Seq[Attribute], columns: Seq[(String, Option[String])]): Schema = {
    val fields = query.zipWithIndex.map { case (attribute, i) =>
      val (name, comment) = columns.lift(i).getOrElse((attribute.name, None))
      val source = StructField(attribute.name, attribute.dataType, nullable = true, attribute.metadata)
      val field = StructField(name, ViewChecks.nullable(attribute.dataType))
      comment.orElse(source.getComment()).fold(field)(field.withComment)
    }
    Schema(0, SparkTypes.fromSpark(StructType(fields)))
  }

  /**
   * Returns the names as a value of [[QueryColumnNames]]. If a name contains a comma, the names cannot be recovered
   * from this value.
   */
  def joinedNames(query: Seq[Attribute]): String = query.map(_.name).mkString(",")

  /** Returns the entries of a version's summary that contain the names of the query's columns. */
  def summary(query: Seq[Attribute]): Map[String, String] = {
    val names = query.map(_.name)
    val list = if (names.exists(_.contains(","))) Map(QueryColumnList -> jsonArray(names)) else Map.empty
    Map(QueryColumnNames -> joinedNames(query)) ++ list
  }

  private def jsonArray(names: Seq[String]): String = JsonFormat.text { out =>
    out.writeStartArray()
    names.foreach(name => out.writeString(name))
    out.writeEndArray()
  }

  /**
   * Returns the names of the query's columns that are stored in the summary of the version or in the properties of the
   * view.
   *
   * @param columns the columns of the view
   * @return absent if no names are stored, or if there are not as many names as columns
   */
  def queryNames(view: ViewMetadata, version: ViewVersion, columns: StructType): Option[Seq[String]] = {
    val listed = version.summary.get(QueryColumnList)
      .map(JsonValue.parse(s"$QueryColumnList of the view at ${view.location}", _).map(_.string))
    val joined = version.summary.get(QueryColumnNames).orElse(view.properties.get(QueryColumnNames))
    listed.orElse(joined.map(_.split(",", -1).toSeq)).filter(_.size == columns.size)
  }

  /**
   * Returns the names of the query's columns for a view without stored names: the names in the query, if the query
   * still has as many columns as the view; otherwise, the names of the view's columns.
   */
  def queryNames(query: LogicalPlan, columns: StructType): Seq[String] =
    if (query.resolved && query.output.size == columns.size) query.output.map(_.name) else columns.fieldNames.toSeq
}
