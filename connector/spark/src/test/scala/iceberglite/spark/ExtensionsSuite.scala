package iceberglite.spark

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite

/** Sessions with our extensions, with both our extensions and the peer's, and without extensions. */
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

  test("our statements change iceberg-lite tables, and the peer's statements change the peer's tables") {
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

  test("statements of the peer that iceberg-lite does not have still reach the peer") {
    val t = create("ice")
    sql(s"ALTER TABLE $t WRITE ORDERED BY id")
    sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id").collect()
    sql(s"INSERT INTO $t VALUES (1, NULL)")
    sql(s"ALTER TABLE $t CREATE TAG here")
    assert(rows(s"CALL ice.system.ancestors_of('${t.stripPrefix("ice.")}')").size == 1)
  }

  test("names are resolved as in any statement: in the current namespace, in backticks, with variables") {
    val t = create("lite")
    val session = spark.newSession()
    session.sql(s"USE lite.$ns")
    session.conf.set("mine.field", "id")
    session.sql(s"ALTER TABLE `${t.split('.').last}` ADD PARTITION FIELD $${mine.field}")
    spark.sql(s"REFRESH TABLE $t")
    assert(partitioning(t) == Seq("id"))
  }

  test("a syntax error in our statements points at its position") {
    val t = create("lite")
    val e = intercept[ParseException](sql(s"ALTER TABLE $t\nADD PARTITION FIELD bucket(4 id)"))
    assert((e.line, e.startPosition) == ((Some(2), Some(29))))
    assert(e.getMessage.contains("== SQL ==") && e.getMessage.contains("^^^"))
  }

  test("a missing table and a table of another source are distinguished") {
    val missing = intercept[AnalysisException](sql(s"ALTER TABLE lite.$ns.nothing ADD PARTITION FIELD id"))
    assert(missing.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND")
    assert(missing.getMessage.contains(s"lite.$ns.nothing"))
    sql("CREATE TABLE spark_catalog.default.plain (id INT) USING parquet")
    try intercept[Exception](sql("ALTER TABLE spark_catalog.default.plain ADD PARTITION FIELD id"))
    finally sql("DROP TABLE spark_catalog.default.plain")
  }

  test("of two concurrent changes of a table's partitioning, one fails") {
    val t = create("lite")
    val other = spark.newSession()
    other.table(t)
    // This JVM is not notified of the peer's commits, as if they came from another machine.
    sql(s"ALTER TABLE ${peer(t)} ADD PARTITION FIELD id")
    val e = intercept[Exception](other.sql(s"ALTER TABLE $t ADD PARTITION FIELD days(ts)"))
    assert(e.getMessage.contains(t))
    sql(s"REFRESH TABLE $t")
    assert(partitioning(t) == Seq("id"))
  }

  test("without the extensions our statements are syntax errors of Spark, and everything else works") {
    val session = SharedSession.plain.newSession()
    val t = newTable()
    session.sql(s"CREATE TABLE $t (id INT, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts))")
    session.sql(s"INSERT INTO $t VALUES (1, TIMESTAMP '2024-01-01 00:00:00')")
    session.sql(s"ALTER TABLE $t ADD COLUMN x INT")
    val found = session.sql(s"SELECT id, x FROM $t WHERE ts > TIMESTAMP '2023-01-01 00:00:00'").collect().toSeq
    assert(found == Seq(Row(1, null)))
    session.sql(s"DELETE FROM $t WHERE ts < TIMESTAMP '2024-01-02 00:00:00'")
    assert(session.table(t).count() == 0)
    intercept[ParseException](session.sql(s"ALTER TABLE $t ADD PARTITION FIELD id"))
    val e = intercept[AnalysisException](session.table(t + "x"))
    assert(e.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND")
  }

  test("Spark's statements with a similar beginning pass through unchanged") {
    sql("CREATE TABLE spark_catalog.default.parts (id INT, field INT) USING parquet PARTITIONED BY (field)")
    try {
      sql("ALTER TABLE spark_catalog.default.parts ADD PARTITION (field = 1)")
      assert(rows("SHOW PARTITIONS spark_catalog.default.parts") == Seq(Row("field=1")))
      sql("ALTER TABLE spark_catalog.default.parts DROP PARTITION (field = 1)")
      assert(rows("SHOW PARTITIONS spark_catalog.default.parts").isEmpty)
    } finally sql("DROP TABLE spark_catalog.default.parts")
  }
}
