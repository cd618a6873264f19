package iceberglite.spark

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite

/** Sessions with our extensions, beside the peer's, and without any. */
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

  test("our statements change our tables, and the peer's the peer's") {
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

  test("statements of the peer that we do not have still reach the peer") {
    val t = create("ice")
    sql(s"ALTER TABLE $t WRITE ORDERED BY id")
    sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id").collect()
    sql(s"INSERT INTO $t VALUES (1, NULL)")
    sql(s"ALTER TABLE $t CREATE TAG here")
    assert(rows(s"CALL ice.system.ancestors_of('${t.stripPrefix("ice.")}')").size == 1)
  }

  test("names count as in any statement: in the current namespace, in backticks, with variables") {
    val t = create("lite")
    val session = spark.newSession()
    session.sql(s"USE lite.$ns")
    session.conf.set("mine.field", "id")
    session.sql(s"ALTER TABLE `${t.split('.').last}` ADD PARTITION FIELD $${mine.field}")
    spark.sql(s"REFRESH TABLE $t")
    assert(partitioning(t) == Seq("id"))
  }

  test("an error of our syntax points at its place in the statement") {
    val t = create("lite")
    val e = intercept[ParseException](sql(s"ALTER TABLE $t\nADD PARTITION FIELD bucket(4 id)"))
    assert((e.line, e.startPosition) == ((Some(2), Some(29))))
    assert(e.getMessage.contains("== SQL ==") && e.getMessage.contains("^^^"))
  }

  test("a table that is not there and one that is not ours are told apart") {
    val missing = intercept[AnalysisException](sql(s"ALTER TABLE lite.$ns.nothing ADD PARTITION FIELD id"))
    assert(missing.getMessage.contains(s"lite.$ns.nothing"))
    sql("CREATE TABLE spark_catalog.default.plain (id INT) USING parquet")
    try intercept[Exception](sql("ALTER TABLE spark_catalog.default.plain ADD PARTITION FIELD id"))
    finally sql("DROP TABLE spark_catalog.default.plain")
  }

  test("two changes of the partitioning of one table at the same time: one of them is told") {
    val t = create("lite")
    val other = spark.newSession()
    other.table(t)
    // The peer's commits are not heard of in this JVM, as those of other machines are not.
    sql(s"ALTER TABLE ${peer(t)} ADD PARTITION FIELD id")
    val e = intercept[Exception](other.sql(s"ALTER TABLE $t ADD PARTITION FIELD days(ts)"))
    assert(e.getMessage.contains(t))
    sql(s"REFRESH TABLE $t")
    assert(partitioning(t) == Seq("id"))
  }

  test("without the extensions our statements are Spark's syntax errors, and all else works") {
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

  test("Spark's own statements with a like beginning pass through unchanged") {
    sql("CREATE TABLE spark_catalog.default.parts (id INT, field INT) USING parquet PARTITIONED BY (field)")
    try {
      sql("ALTER TABLE spark_catalog.default.parts ADD PARTITION (field = 1)")
      sql("ALTER TABLE spark_catalog.default.parts DROP PARTITION (field = 1)")
    } finally sql("DROP TABLE spark_catalog.default.parts")
  }
}
