package iceberglite.spark.sql

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spark.{SharedSession, SparkSessionCatalog}

/** Checks SHOW TABLE EXTENDED, also in comparison with the same statement on Spark's own tables. */
class ShowTablesExtendedSuite extends AnyFunSuite with StatementFixture {

  private def shown(session: SparkSession, namespace: String, pattern: String): Seq[Row] =
    session.sql(s"SHOW TABLE EXTENDED IN $namespace LIKE '$pattern'").collect().toSeq

  /** Returns the entries of the column `information`, with the tree of columns as the last entry. */
  private def entries(row: Row): Map[String, String] = {
    val Array(details, columns) = row.getString(3).split("Schema: ", 2)
    details.split("\n").map(_.split(": ", 2)).collect { case Array(key, value) => key -> value }.toMap +
      ("Schema" -> columns.trim)
  }

  test("the result for tables, views and temporary views has the columns of Spark's own statement") {
    val session = spark.newSession()
    val namespace = s"lite.$ns.shown"
    session.sql(s"CREATE NAMESPACE $namespace")
    session.sql(s"CREATE TABLE $namespace.a_table (id INT COMMENT 'who', s STRUCT<x: STRING>) USING iceberg")
    session.sql(s"CREATE VIEW $namespace.a_view AS SELECT id FROM $namespace.a_table")
    session.sql("CREATE TEMPORARY VIEW a_temporary AS SELECT 1 AS id")
    session.sql(s"CREATE DATABASE spark_catalog.$ns")
    session.sql(s"CREATE TABLE spark_catalog.$ns.a_table (id INT COMMENT 'who', s STRUCT<x: STRING>) USING parquet")
    val own = shown(session, namespace, "A_*")
    assert(own.map(r => (r.getString(0), r.getString(1), r.getBoolean(2))) == Seq(
      (s"$ns.shown", "a_table", false),
      (s"$ns.shown", "a_view", false),
      ("", "a_temporary", true)
    ))
    val sparks = shown(session, s"spark_catalog.$ns", "a_table|a_temporary")
    assert(own.head.schema == sparks.head.schema)
    assert(own.last.getString(3).linesIterator.exists(_.contains("id")) && sparks.exists(_.getBoolean(2)))
    val (table, sparkTable) = (entries(own.head), entries(sparks.head))
    Seq("Schema", "Type", "Table").foreach(key => assert(table(key) == sparkTable(key), key))
    assert(entries(own(1))("Type") == "VIEW")
    session.sql(s"DROP NAMESPACE $namespace CASCADE")
    session.sql(s"DROP DATABASE spark_catalog.$ns CASCADE")
  }

  test("the session catalog shows iceberg-lite tables next to tables of Spark, each once") {
    val session = spark.newSession()
    val settings = Seq("type" -> "hadoop", "warehouse" -> newDirectory().toUri.toString)
    SharedSession.catalogConf("spark_catalog", classOf[SparkSessionCatalog].getName, settings: _*)
      .foreach { case (key, value) => session.conf.set(key, value) }
    val database = s"${ns}_mixed"
    session.sql(s"CREATE DATABASE $database")
    session.sql(s"CREATE TABLE $database.mine (id INT) USING iceberg")
    session.sql(s"CREATE TABLE $database.theirs (id INT) USING parquet")
    val found = shown(session, database, "*")
    assert(found.map(r => r.getString(1) -> entries(r)("Provider")) == Seq("mine" -> "iceberg", "theirs" -> "parquet"))
    Seq("mine", "theirs").foreach(t => session.sql(s"DROP TABLE $database.$t"))
    session.sql(s"DROP DATABASE $database")
  }
}
