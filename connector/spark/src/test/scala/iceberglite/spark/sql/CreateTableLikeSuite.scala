package iceberglite.spark.sql

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spark.{SharedSession, SparkSessionCatalog}

/** Checks tables that CREATE TABLE LIKE creates, also in comparison with Spark's own statement on its own tables. */
class CreateTableLikeSuite extends AnyFunSuite with StatementFixture {

  /** Creates a Parquet table of Spark, and another table from it with Spark's own CREATE TABLE LIKE. */
  private def sparkTables(definition: String): (String, String) = {
    val Seq(source, like) = Seq("source", "like").map(name => s"default.${ns}_$name")
    Seq(source, like).foreach(t => sql(s"DROP TABLE IF EXISTS spark_catalog.$t"))
    sql(s"CREATE TABLE spark_catalog.$source $definition")
    sql(s"CREATE TABLE $like LIKE $source")
    (s"spark_catalog.$source", s"spark_catalog.$like")
  }

  private def schemaOf(table: String): StructType = spark.table(table).schema

  private def properties(table: String): Map[String, String] =
    rows(s"SHOW TBLPROPERTIES $table").map(r => r.getString(0) -> r.getString(1)).toMap

  test("a table like a Parquet table has the same columns, comments and partitions as the one that Spark creates") {
    val (source, sparkLike) = sparkTables(
      "(id BIGINT COMMENT 'who', s STRUCT<x: INT COMMENT 'left', a: ARRAY<STRUCT<y: CHAR(3)>>>, c VARCHAR(4), p INT, " +
        "q STRING) USING parquet PARTITIONED BY (p, q) COMMENT 'text' TBLPROPERTIES ('team' = 'x')"
    )
    val t = newTable()
    sql(s"CREATE TABLE $t LIKE $source")
    val columns = s"DESCRIBE TABLE $t"
    val names = schemaOf(t).fieldNames.toSeq
    def described(table: String) = rows(s"DESCRIBE TABLE $table").take(names.size)
    assert(names == schemaOf(sparkLike).fieldNames.toSeq)
    assert(rows(columns).take(names.size) == described(sparkLike))
    assert(live(t).spec.fields.map(_.name) == Vector("p", "q"))
    Seq("team", "comment").foreach(key => assert(!properties(t).contains(key) && !properties(sparkLike).contains(key)))
  }

  test("a table like an Iceberg table is empty, and Apache Iceberg describes it as it describes the source") {
    val s = create(
      "id BIGINT NOT NULL, n STRUCT<x: INT COMMENT 'left', y: STRING>, d DATE",
      2,
      "merge-on-read",
      "write.format.default" -> "avro"
    )
    sql(s"ALTER TABLE $s ADD PARTITION FIELD bucket(8, id) AS shard")
    sql(s"ALTER TABLE $s ADD PARTITION FIELD months(d)")
    sql(s"ALTER TABLE $s WRITE ORDERED BY n.x DESC NULLS LAST, id")
    sql(s"INSERT INTO $s VALUES (1, NULL, DATE '2024-01-01')")
    val t = newTable()
    sql(s"CREATE TABLE $t LIKE $s")
    def definition(table: String): Seq[String] =
      rows(s"DESCRIBE TABLE ${inApacheIceberg(table)}").map(_.toString) ++
        Seq("sort-order", "format", "format-version").map(properties(inApacheIceberg(table)))
    assert(definition(t) == definition(s))
    assert(live(t).spec.fields.map(_.name) == Vector("shard", "d_month"))
    assert(live(t).metadata.uuid != live(s).metadata.uuid && live(t).metadata.snapshots.isEmpty)
    assert(live(t).location != live(s).location)
    assert(!properties(t).contains("write.delete.mode"))
  }

  test("LOCATION, TBLPROPERTIES and USING apply to the new table, in any order") {
    val s = create("id BIGINT", 1, "copy-on-write")
    val directory = newDirectory()
    val located = newTable(catalog = "litejdbc")
    sql(s"CREATE TABLE $located LIKE $s LOCATION '$directory' TBLPROPERTIES ('k' = 'v') USING orc")
    val found = properties(located)
    assert(live(located).location.endsWith(directory.toString) && found("k") == "v" && found("format") == "iceberg/orc")
    assert(found("format-version") == "1")
    val t = newTable()
    sql(s"CREATE TABLE $t LIKE $s TBLPROPERTIES ('format-version' = '3')")
    assert(properties(t)("format-version") == "3")
  }

  test("a table like an Iceberg view has the columns and comments of the view") {
    val s = create("id BIGINT", 2, "merge-on-read")
    val view = newTable("v")
    sql(s"CREATE VIEW $view (k COMMENT 'the key') AS SELECT id + 1 FROM $s")
    val t = newTable()
    sql(s"CREATE TABLE $t LIKE $view")
    assert(schemaOf(t).map(f => (f.name, f.dataType.sql, f.getComment())) == Seq(("k", "BIGINT", Some("the key"))))
  }

  test(
    "in the session catalog, the format of the new table is that in USING or, without USING, that of the source",
    Slow
  ) {
    val session = spark.newSession()
    val settings = Seq("type" -> "hadoop", "warehouse" -> newDirectory().toUri.toString)
    SharedSession.catalogConf("spark_catalog", classOf[SparkSessionCatalog].getName, settings: _*)
      .foreach { case (key, value) => session.conf.set(key, value) }
    def provider(table: String): String =
      session.sql(s"DESCRIBE TABLE EXTENDED $table").collect().find(_.getString(0) == "Provider").get.getString(1)
    val database = s"${ns}_session"
    session.sql(s"CREATE DATABASE $database")
    session.sql(s"USE $database")
    session.sql("CREATE TABLE mine (id INT, p INT) USING iceberg PARTITIONED BY (p)")
    session.sql("CREATE TABLE theirs (id INT, p INT) USING parquet PARTITIONED BY (p)")
    val made = Seq(
      ("a", "mine", "", "iceberg"),
      ("b", "theirs", "", "parquet"),
      ("c", "theirs", "USING iceberg", "iceberg"),
      ("d", "theirs", "USING orc TBLPROPERTIES (a = 1.5)", "orc")
    )
    made.foreach { case (name, source, clauses, expected) =>
      session.sql(s"CREATE TABLE $name LIKE $source $clauses")
      assert(provider(name) == expected, name)
    }
    Seq("a", "b", "c").foreach { t =>
      session.sql(s"INSERT INTO $t VALUES (1, 1), (2, 2)")
      session.sql(s"ALTER TABLE $t DROP PARTITION (p = 1)")
      assert(session.sql(s"SHOW PARTITIONS $t").collect().map(_.getString(0)).toSeq == Seq("p=2"), t)
    }
    (made.map(_._1) ++ Seq("mine", "theirs")).foreach(t => session.sql(s"DROP TABLE $t"))
    session.sql("USE default")
    session.sql(s"DROP DATABASE $database")
  }
}
