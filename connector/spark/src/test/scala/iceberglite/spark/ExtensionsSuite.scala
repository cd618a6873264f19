package iceberglite.spark

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.error.OperationError

/** Checks sessions with the extensions of iceberg-lite and Apache Iceberg, and sessions without extensions. */
class ExtensionsSuite extends AnyFunSuite with SharedSession {

  private def create(catalog: String): String = {
    val t = newTable(catalog = catalog)
    sql(s"CREATE TABLE $t (id INT NOT NULL, ts TIMESTAMP) USING iceberg")
    t
  }

  private def partitioning(table: String): Seq[String] = {
    val parts = table.split('.')
    val catalog = spark.sessionState.catalogManager.catalog(parts.head).asInstanceOf[TableCatalog]
    catalog.loadTable(Identifier.of(Array(parts(1)), parts(2))).partitioning.map(_.describe).toSeq
  }

  test("the extensions of each connector handle the statements for its own tables") {
    Seq("lite", "ice").foreach { catalog =>
      val t = create(catalog)
      sql(s"ALTER TABLE $t ADD PARTITION FIELD days(ts) AS day")
      sql(s"ALTER TABLE $t REPLACE PARTITION FIELD day WITH months(ts)")
      sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(4, id)")
      assert(partitioning(t) == Seq("months(ts)", "bucket(4, id)"), catalog)
      sql(s"ALTER TABLE $t DROP PARTITION FIELD bucket(4, id)")
      assert(partitioning(t) == Seq("months(ts)"), catalog)
    }
  }

  test("statements for tables of Apache Iceberg are passed on to its extensions") {
    val t = create("ice")
    sql(s"ALTER TABLE $t WRITE ORDERED BY id DESC")
    sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id").collect()
    sql(s"INSERT INTO $t VALUES (1, NULL)")
    sql(s"ALTER TABLE $t CREATE TAG here")
    assert(rows(s"SELECT type FROM $t.refs WHERE name = 'here'") == Seq(Row("TAG")))
    val properties = rows(s"SHOW TBLPROPERTIES $t").map(r => r.getString(0) -> r.getString(1)).toMap
    assert(properties.get("sort-order").contains("id DESC NULLS LAST"))
    assert(properties.get("identifier-fields").contains("[id]"))
    assert(rows(s"CALL ice.system.ancestors_of('${t.stripPrefix("ice.")}')").size == 1)
  }

  test("statements of the extensions resolve names in the current namespace, in backticks and with variables") {
    val t = create("lite")
    val session = spark.newSession()
    session.sql(s"USE lite.$ns")
    session.conf.set("mine.field", "id")
    session.sql(s"ALTER TABLE `${t.split('.').last}` ADD PARTITION FIELD $${mine.field}")
    spark.sql(s"REFRESH TABLE $t")
    assert(partitioning(t) == Seq("id"))
  }

  test("a syntax error in a statement of the extensions has its line and position") {
    val t = create("lite")
    val e = intercept[ParseException](sql(s"ALTER TABLE $t\nADD PARTITION FIELD bucket(4 id)"))
    assert((e.line, e.startPosition) == ((Some(2), Some(29))))
    assert(e.getMessage.contains("== SQL ==") && e.getMessage.contains("^^^"))
  }

  test("statements fail for tables of other sources; the error for a missing table is TABLE_OR_VIEW_NOT_FOUND") {
    val missing = intercept[AnalysisException](sql(s"ALTER TABLE lite.$ns.nothing ADD PARTITION FIELD id"))
    assert(missing.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND")
    assert(missing.getMessage.contains(s"lite.$ns.nothing"))
    sql("CREATE TABLE spark_catalog.default.plain (id INT) USING parquet")
    try {
      // Apache Iceberg's extensions parse the statement, and cannot plan it for a table of another source.
      intercept[SparkException](sql("ALTER TABLE spark_catalog.default.plain ADD PARTITION FIELD id"))
    } finally sql("DROP TABLE spark_catalog.default.plain")
  }

  test("if two sessions change the partitioning of a table concurrently, one of the changes fails") {
    val t = create("lite")
    val otherSession = spark.newSession()
    otherSession.table(t)
    // Iceberg-lite is not notified of commits by Apache Iceberg or by other machines.
    sql(s"ALTER TABLE ${inApacheIceberg(t)} ADD PARTITION FIELD id")
    val e = intercept[OperationError](otherSession.sql(s"ALTER TABLE $t ADD PARTITION FIELD days(ts)"))
    assert(e.getErrorClass == "ICEBERG_LITE.COMMIT_CONFLICT" && e.getMessage.contains(t))
    sql(s"REFRESH TABLE $t")
    assert(partitioning(t) == Seq("id"))
  }

  test("without the extensions, their statements are syntax errors of Spark, and other statements work") {
    val session = SharedSession.withoutExtensions.newSession()
    val t = newTable()
    session.sql(s"CREATE TABLE $t (id INT, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts))")
    session.sql(s"INSERT INTO $t VALUES (1, TIMESTAMP '2024-01-01 00:00:00')")
    session.sql(s"ALTER TABLE $t ADD COLUMN x INT")
    val result = session.sql(s"SELECT id, x FROM $t WHERE ts > TIMESTAMP '2023-01-01 00:00:00'").collect().toSeq
    assert(result == Seq(Row(1, null)))
    session.sql(s"DELETE FROM $t WHERE ts < TIMESTAMP '2024-01-02 00:00:00'")
    assert(session.table(t).count() == 0)
    intercept[ParseException](session.sql(s"ALTER TABLE $t ADD PARTITION FIELD id"))
    val e = intercept[AnalysisException](session.table(t + "x"))
    assert(e.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND")
  }

  test("SHOW PARTITIONS and ALTER TABLE DROP PARTITION need no extensions") {
    val session = SharedSession.withoutExtensions.newSession()
    val t = newTable()
    session.sql(s"CREATE TABLE $t (id INT, p INT) USING iceberg PARTITIONED BY (p)")
    session.sql(s"INSERT INTO $t VALUES (2, 1)")
    assert(session.sql(s"SHOW PARTITIONS $t").collect().toSeq == Seq(Row("p=1")))
    session.sql(s"ALTER TABLE $t DROP PARTITION (p = 1)")
    assert(session.table(t).isEmpty)
  }

  test("statements of Spark that begin like statements of the extensions still run as statements of Spark") {
    sql("CREATE TABLE spark_catalog.default.parts (id INT, field INT) USING parquet PARTITIONED BY (field)")
    try {
      sql("ALTER TABLE spark_catalog.default.parts ADD PARTITION (field = 1)")
      assert(rows("SHOW PARTITIONS spark_catalog.default.parts") == Seq(Row("field=1")))
      sql("ALTER TABLE spark_catalog.default.parts DROP PARTITION (field = 1)")
      assert(rows("SHOW PARTITIONS spark_catalog.default.parts").isEmpty)
    } finally sql("DROP TABLE spark_catalog.default.parts")
  }
}
