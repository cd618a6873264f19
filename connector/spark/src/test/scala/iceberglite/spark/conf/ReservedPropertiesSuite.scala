package iceberglite.spark.conf

import java.net.URI
import java.nio.file.{Files, Paths}

import scala.io.Source
import scala.util.{Failure, Success, Try}

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.catalog.SettingWarnings
import iceberglite.spark.{LoggedWarnings, SharedSession}
import iceberglite.spec.property.TableProperty

/**
 * Checks what happens when a statement sets a table property whose key Spark or Apache Iceberg reserves. The resource
 * `reserved-properties.tsv` lists the effect in Apache Iceberg and in iceberg-lite:
 *
 *   - rejected: the statement fails
 *   - stored: the property is in the metadata file
 *   - applied: the part of the metadata that the key names has the value
 *   - ignored: none of these
 *
 * `warned` after an effect of iceberg-lite means that a warning names the key.
 */
class ReservedPropertiesSuite extends AnyFunSuite with SharedSession {

  private case class Effects(statement: String, key: String, inApacheIceberg: String, inIcebergLite: String)

  private val listed: Vector[Effects] = {
    val source = Source.fromResource("reserved-properties.tsv", getClass.getClassLoader)("UTF-8")
    try source.getLines().drop(1).map(_.split('\t')).map(row => Effects(row(0), row(1), row(2), row(3))).toVector
    finally source.close()
  }

  /** The fields of the metadata file to which keys refer. */
  private val fields = Map(
    "format-version" -> "format-version",
    "location" -> "location",
    "uuid" -> "table-uuid",
    "current-snapshot-id" -> "current-snapshot-id",
    "current-schema" -> "current-schema-id",
    "default-partition-spec" -> "default-spec-id",
    "default-sort-order" -> "default-sort-order-id"
  )

  private val keys: Vector[String] =
    (TableProperty.Reserved.toVector ++ Vector("sort-order", "identifier-fields", "provider", "location", "owner") ++
      Vector("comment", "external", "is_managed_location", s"${TableCatalog.OPTION_PREFIX}k")).sorted

  private val statements = Seq("CREATE TABLE", "ALTER TABLE SET", "ALTER TABLE UNSET", "DataFrameWriterV2")

  /** Runs the statement with the key in a new table, and returns the value of the property. */
  private def run(session: SparkSession, statement: String, t: String, key: String): String = {
    val create = s"CREATE TABLE $t (id BIGINT) USING iceberg"
    if (statement.startsWith("ALTER")) session.sql(create)
    val value = key match {
      case "format-version" => "3"
      case "location" => newDirectory("reserved").toUri.toString.stripSuffix("/")
      case "current-snapshot-id" if statement == "ALTER TABLE SET" => olderSnapshot(session, t)
      case _ => "17"
    }
    statement match {
      case "CREATE TABLE" => session.sql(s"$create TBLPROPERTIES ('$key' = '$value')")
      case "ALTER TABLE SET" => session.sql(s"ALTER TABLE $t SET TBLPROPERTIES ('$key' = '$value')")
      case "ALTER TABLE UNSET" => session.sql(s"ALTER TABLE $t UNSET TBLPROPERTIES ('$key')")
      case "DataFrameWriterV2" => session.range(1).writeTo(t).using("iceberg").tableProperty(key, value).create()
    }
    value
  }

  /** Writes two snapshots, and returns the id of the first one. */
  private def olderSnapshot(session: SparkSession, t: String): String = {
    def current = session.sql(s"SELECT snapshot_id FROM $t.refs").head().getLong(0).toString
    session.sql(s"INSERT INTO $t VALUES (1)")
    val first = current
    session.sql(s"INSERT INTO $t VALUES (2)")
    assert(current != first)
    first
  }

  private def metadata(t: String): JsonNode = {
    val newest = "ORDER BY timestamp DESC, latest_sequence_number DESC, file DESC LIMIT 1"
    val file = rows(s"SELECT file FROM lite.${t.split("\\.", 2)(1)}.metadata_log_entries $newest").head.getString(0)
    val path = if (file.startsWith("/")) Paths.get(file) else Paths.get(URI.create(file))
    new ObjectMapper().readTree(Files.readAllBytes(path))
  }

  private def effect(statement: String, t: String, key: String): String = {
    var value: Try[String] = Failure(new IllegalStateException)
    val warnings = LoggedWarnings.of(SettingWarnings.LoggerName) {
      // A session warns once about each key.
      value = inSession(spark.newSession())(session => Try(run(session, statement, t, key)))
    }
    val result = value match {
      case Failure(_) => "rejected"
      case Success(set) =>
        val json = metadata(t)
        if (json.path("properties").has(key)) "stored"
        else if (fields.get(key).exists(field => json.path(field).asText == set)) "applied"
        else "ignored"
    }
    if (warnings.exists(_.contains(s" $key "))) s"$result, warned" else result
  }

  test("the effects of reserved keys of properties are those in reserved-properties.tsv", Slow) {
    val found =
      for (statement <- statements; key <- keys) yield Effects(
        statement,
        key,
        inApacheIceberg = effect(statement, newTable(catalog = "ice"), key),
        inIcebergLite = effect(statement, newTable(), key)
      )
    val lines = found.map(e => Seq(e.statement, e.key, e.inApacheIceberg, e.inIcebergLite).mkString("\t"))
    assert(found == listed, lines.mkString("\n", "\n", "\n"))
  }
}
