package iceberglite.spark.procedure

import java.nio.file.Files

import org.apache.spark.{SparkException, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

/** Tests the error conditions and SQL states of procedure calls that fail. */
class CallConditionsSuite extends AnyFunSuite with ImportFixture {
  private lazy val table: String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, day DATE) USING iceberg PARTITIONED BY (day)")
    sql(s"INSERT INTO $t SELECT id, DATE '2024-01-01' FROM range(10)")
    t
  }

  private lazy val kept: String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg TBLPROPERTIES ('gc.enabled' = 'false')")
    sql(s"INSERT INTO $t SELECT id FROM range(10)")
    t
  }

  override protected def afterAll(): Unit =
    try sql(s"ALTER TABLE $kept SET TBLPROPERTIES ('gc.enabled' = 'true')")
    finally super.afterAll()

  private def failureOf(statement: String): Throwable with SparkThrowable =
    try {
      sql(statement)
      fail(s"$statement does not fail")
    } catch {
      case e: AnalysisException => e
      case e: SparkException => e
    }

  private def inCatalog(table: String): String = table.stripPrefix("lite.")

  /** Returns a message if the error of the statement has another condition or another SQL state. */
  private def mismatch(statement: String, condition: String, sqlState: String): Option[String] = {
    val error = failureOf(statement)
    val found = (error.getErrorClass, error.getSqlState)
    if (found == ((condition, sqlState))) None else Some(s"$statement: $found\n${error.getMessage}")
  }

  /** Returns a value for a required parameter of a procedure. No table has the name `none`. */
  private def valueOf(parameter: Parameter[_]): String = parameter.parameterType match {
    case ParameterType.Text if parameter.name.endsWith("prefix") => s"'file:/${parameter.name}'"
    case ParameterType.Text => s"'$ns.none'"
    case ParameterType.Texts if parameter.name == "changes" => "array('DROP COLUMN x')"
    case ParameterType.Texts => s"array('$ns.none')"
    case ParameterType.Id | ParameterType.Count => "7"
    case ParameterType.Time => "current_timestamp()"
    case other => fail(s"no value of the type $other")
  }

  /** The expected conditions of procedures that need a view, or that fail for another reason than a missing table. */
  private val earlier: Map[String, (String, String)] = Map(
    "restore" -> ("INVALID_PARAMETER_VALUE" -> "22023"),
    "register_table" -> ("ICEBERG_LITE.UNREADABLE_FILE" -> "58030"),
    "register_view" -> ("ICEBERG_LITE.UNREADABLE_FILE" -> "58030"),
    "migrate" -> ("ICEBERG_LITE.UNSUPPORTED" -> "0A000"),
    "rollback_view" -> ("VIEW_NOT_FOUND" -> "42P01")
  )

  for (procedure <- Procedures.all) test(s"${procedure.name} has the expected error condition for unknown names") {
    val arguments = procedure.parameters.filter(_.required).map(p => s"${p.name} => ${valueOf(p)}")
    val (condition, sqlState) = earlier.getOrElse(procedure.name, "TABLE_OR_VIEW_NOT_FOUND" -> "42P01")
    val wrong = mismatch(s"CALL litejdbc.system.${procedure.name}(${arguments.mkString(", ")})", condition, sqlState)
    assert(wrong.isEmpty)
  }

  private val notFound = "42704"

  private lazy val failures: Seq[(String, String, String)] = Seq(
    ("rollback_to_snapshot('T', 7)", "ICEBERG_LITE.SNAPSHOT_NOT_FOUND", notFound),
    ("rollback_to_timestamp('T', TIMESTAMP '1999-01-01')", "INVALID_PARAMETER_VALUE", "22023"),
    ("cherrypick_snapshot('T', 7)", "ICEBERG_LITE.SNAPSHOT_NOT_FOUND", notFound),
    ("publish_changes('T', 'x')", "ICEBERG_LITE.WAP_ID_NOT_FOUND", notFound),
    ("fast_forward('T', 'main', 'x')", "ICEBERG_LITE.BRANCH_OR_TAG_NOT_FOUND", notFound),
    ("ancestors_of('T', 7)", "ICEBERG_LITE.SNAPSHOT_NOT_FOUND", notFound),
    ("clone('T', 'T')", "TABLE_OR_VIEW_ALREADY_EXISTS", "42P07"),
    ("compute_table_stats(table => 'T', snapshot_id => 7)", "ICEBERG_LITE.SNAPSHOT_NOT_FOUND", notFound),
    ("compute_table_stats(table => 'T', columns => array('x'))", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "42703"),
    ("compute_partition_stats('T', 7)", "ICEBERG_LITE.SNAPSHOT_NOT_FOUND", notFound),
    ("compute_partition_stats('KEPT')", "ICEBERG_LITE.VALIDATION_FAILED", "55000"),
    ("expire_snapshots('KEPT')", "ICEBERG_LITE.VALIDATION_FAILED", "55000"),
    ("remove_orphan_files('KEPT')", "ICEBERG_LITE.VALIDATION_FAILED", "55000"),
    ("remove_orphan_files(table => 'T', location => 'file:/nowhere')", "INVALID_PARAMETER_VALUE", "22023"),
    ("rewrite_manifests(table => 'T', spec_id => 77)", "ICEBERG_LITE.PARTITION_SPEC_NOT_FOUND", notFound),
    ("rewrite_table_path('T', 'file:/a', 'file:/b')", "ICEBERG_LITE.VALIDATION_FAILED", "55000"),
    ("add_files('T', 'parquet.`/nowhere`')", "INVALID_PARAMETER_VALUE", "22023"),
    ("maintain(table => 'T', options => map('x', '1'))", "INVALID_PARAMETER_VALUE", "22023")
  )

  test("errors in the table or the arguments have a condition and a SQL state, and the calls change nothing") {
    val tables = Seq(table, kept)
    val before = tables.map(live(_).metadataLocation)
    val wrong = failures.flatMap { case (call, condition, sqlState) =>
      val named = call.replace("'T'", s"'${inCatalog(table)}'").replace("'KEPT'", s"'${inCatalog(kept)}'")
      mismatch(s"CALL lite.system.$named", condition, sqlState)
    }
    assert(wrong.isEmpty, wrong.mkString("\n"))
    assert(tables.map(live(_).metadataLocation) == before)
  }

  test("the error of a call whose Spark job fails has a condition, a SQL state and the message of its cause") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
    (0 until 2).foreach(i => sql(s"INSERT INTO $t VALUES ($i)"))
    val all = "options => map('rewrite-all', 'true')"
    val failing = """sort_order => 'IF(id = 1, raise_error("on purpose"), id)'"""
    val error = failureOf(s"CALL lite.system.rewrite_data_files(table => '${inCatalog(t)}', $failing, $all)")
    assert(error.getErrorClass != null && error.getSqlState != null && error.getMessage.contains("on purpose"))
    Files.delete(dataFilesOf(t).minBy(_.toString))
    val statement = s"CALL lite.system.rewrite_data_files(table => '${inCatalog(t)}', $all)"
    assert(mismatch(statement, "ICEBERG_LITE.UNREADABLE_FILE", "58030").isEmpty)
  }
}
