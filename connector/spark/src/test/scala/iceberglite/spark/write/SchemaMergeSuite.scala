package iceberglite.spark.write

import scala.util.Try

import org.apache.spark.SparkException
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.session.{LiteCatalog, SharedTable}
import iceberglite.spec.json.SchemaJson
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type
import iceberglite.spec.types.Type.{IntType, StringType}
import iceberglite.table.action.{UpdateProperties, UpdateSchema}

/** Checks that writes with new columns or wider types change the schema as in Apache Iceberg. */
class SchemaMergeSuite extends AnyFunSuite with WriteFixture {

  /** Returns a table of either catalog with its current metadata. Both catalogs have the same warehouse directory. */
  private def live(table: String): SharedTable = {
    val catalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
    val sharedTable = catalog.sharedTable(Identifier.of(Array(ns), table.split('.').last))
    sharedTable.refresh()
    sharedTable
  }

  private def columns(table: String): String =
    SchemaJson.toJson(live(table).current.schema.copy(schemaId = 0))

  private def openTable(columns: String, clauses: String = ""): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t ($columns) USING iceberg $clauses")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    t
  }

  /** Appends rows. Apache Iceberg accepts columns in another order only if the option check-ordering is false. */
  private def append(table: String, rows: DataFrame): Unit =
    rows.writeTo(table).option("merge-schema", "true").option("check-ordering", "false").append()

  private def inMergingSession(body: => Any): Unit = {
    withConf("spark.sql.iceberg.merge-schema" -> "true")(body)
    ()
  }

  /**
   * Runs the same writes on a table with iceberg-lite and on another table with Apache Iceberg. Checks that the columns
   * and their ids are equal after each write, and the rows at the end.
   *
   * @return the table of iceberg-lite
   */
  private def sameAsPeer(columns: String, clauses: String = "")(writes: (String => Unit)*): String = {
    val (liteTable, peerTable) = (openTable(columns, clauses), openTable(columns, clauses))
    writes.zipWithIndex.foreach { case (write, i) =>
      val results = Seq(liteTable, inApacheIceberg(peerTable)).map(t => Try(write(t)))
      assert(results.map(_.isSuccess).distinct.size == 1, s"$i: $results")
      sql(s"REFRESH TABLE $peerTable")
      assert(this.columns(liteTable) == this.columns(peerTable), s"$i: $results")
    }
    val read = Seq(liteTable, inApacheIceberg(liteTable), peerTable).map(t => sorted(s"SELECT * FROM $t"))
    assert(read.distinct.size == 1 && read.head.nonEmpty)
    liteTable
  }

  private def appends(select: String): String => Unit = append(_, sql(s"SELECT $select"))

  test("columns and nested fields are added, can be omitted, and can be in any order", Slow) {
    val t = sameAsPeer("id BIGINT, s STRUCT<a: INT>, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<y: INT>>")(
      appends("1L AS id, 'new' AS data"),
      appends("named_struct('b', 'x', 'a', 1) AS s, 2L AS id"),
      appends("3L AS id, array(named_struct('z', 1, 'x', 2)) AS l, map('k', named_struct('w', 1)) AS m"),
      appends("4L AS id, named_struct('c', named_struct('d', array(1))) AS s, current_date() > DATE '1970-01-01' AS f"),
      appends("true AS f")
    )
    assert(live(t).current.schema.fields.map(_.name) == Seq("id", "s", "l", "m", "data", "f"))
    // Apache Iceberg is not compared, because it has no type for this column.
    append(t, sql("SELECT 5L AS id, NULL AS data"))
    assert(rows(s"SELECT data FROM $t WHERE id = 5").map(_.toString) == Seq("[null]"))
  }

  test(
    "columns are widened if the promotion is allowed, narrower values are accepted, other types are rejected",
    Slow
  ) {
    val wide = "w BIGINT, x DOUBLE, e DECIMAL(12, 2)"
    val t = sameAsPeer(s"i INT, f FLOAT, d DECIMAL(9, 2), s STRUCT<i: INT>, l ARRAY<INT>, $wide")(
      appends("1 AS i, CAST(1.5 AS FLOAT) AS f, 1.25BD AS d, named_struct('i', 1) AS s, array(1) AS l"),
      appends("7 AS w, CAST(7.5 AS FLOAT) AS x, CAST(7.25 AS DECIMAL(9, 2)) AS e"),
      appends("CAST(2 AS TINYINT) AS i, CAST(9 AS SMALLINT) AS w"),
      appends("3000000000 AS i, 2.5D AS f, CAST(2.25 AS DECIMAL(20, 2)) AS d"),
      appends("named_struct('i', 4000000000) AS s, array(5000000000) AS l"),
      appends("5 AS i, CAST(1.5 AS FLOAT) AS f, CAST(3.25 AS DECIMAL(4, 2)) AS d"),
      appends("'text' AS i"),
      appends("1.5D AS i"),
      appends("CAST(1 AS DECIMAL(20, 3)) AS d"),
      appends("1 AS s"),
      appends("TIMESTAMP '2024-01-01 00:00:00' AS f")
    )
    assert(live(t).current.schema.fields.map(_.fieldType.toString).take(3) == Seq("long", "double", "decimal(20, 2)"))
    assertFindsOneRow(t)("i = 3000000000", "i = 5", "w = 7", "w = 9", "e = 7.25", "x > 7", "d < 2", "s.i = 4000000000")
  }

  /** Checks that each condition finds one row in iceberg-lite, and the same row in Apache Iceberg. */
  private def assertFindsOneRow(table: String)(conditions: String*): Unit = conditions.foreach { where =>
    val results = Seq(table, inApacheIceberg(table)).map(t => sorted(s"SELECT * FROM $t WHERE $where"))
    assert(results.distinct.size == 1 && results.head.size == 1, where)
  }

  // Apache Iceberg is not compared, because its writer fails for these values with a ClassCastException.
  test("values narrower than the partition source columns are written to the right partitions", Slow) {
    val t = openTable("i INT, w BIGINT, e DECIMAL(12, 2)", "PARTITIONED BY (i, bucket(4, w), truncate(10, e), w)")
    append(t, sql("SELECT 1 AS i, 2L AS w, CAST(3.25 AS DECIMAL(12, 2)) AS e"))
    append(t, sql("SELECT 3000000000 AS i, 4 AS w, CAST(5.25 AS DECIMAL(4, 2)) AS e"))
    append(t, sql("SELECT CAST(6 AS TINYINT) AS i, CAST(7 AS SMALLINT) AS w, CAST(8.25 AS DECIMAL(9, 2)) AS e"))
    Seq("orc" -> 21, "avro" -> 22).foreach { case (format, n) =>
      sql(s"SELECT $n AS i, $n AS w, CAST($n AS DECIMAL(4, 2)) AS e").writeTo(t).option("write-format", format).append()
      assertFindsOneRow(t)(s"i = $n", s"w = $n", s"e = $n")
    }
    assertFindsOneRow(t)("i = 1", "i = 3000000000", "i = 6", "w = 2", "w = 4", "w = 7")
    assertFindsOneRow(t)("e = 3.25", "e = 5.25", "e = 8.25")
    assert(
      rows(s"SELECT partition.i, partition.w FROM ${inApacheIceberg(t)}.files ORDER BY partition.i").map(_.toString) ==
        Seq("[1,2]", "[6,7]", "[21,21]", "[22,22]", "[3000000000,4]")
    )
  }

  test("columns that are nullable in the rows become nullable in the table") {
    sameAsPeer("id BIGINT NOT NULL, n INT NOT NULL")(
      append(_, spark.range(1).selectExpr("id", "1 AS n")),
      append(_, spark.range(2).selectExpr("id", "if(id = 0, NULL, 2) AS n", "3 AS more"))
    )
  }

  test("overwrites of partitions and overwrites by condition also merge the schema", Slow) {
    sameAsPeer("id BIGINT, p INT", "PARTITIONED BY (p)")(
      appends("1L AS id, 1 AS p"),
      appends("2L AS id, 2 AS p"),
      t => sql("SELECT 3L AS id, 1 AS p, 'a' AS data").writeTo(t).option("merge-schema", "true").overwritePartitions(),
      t => sql("SELECT 4L AS id, 2L AS p").writeTo(t).option("mergeSchema", "true").overwrite(col("p") === 2),
      t => inMergingSession(sql(s"INSERT INTO $t SELECT 5L AS id, 9L AS p, 1.5D AS v"))
    )
    val copy = newTable()
    inMergingSession(sql(s"CREATE TABLE $copy USING iceberg AS SELECT 1 AS id, named_struct('a', 2) AS s"))
    inMergingSession(sql(s"CREATE OR REPLACE TABLE $copy USING iceberg AS SELECT 1L AS id, 'x' AS data"))
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(copy)}") == Seq("[1,x]"))
  }

  test("new columns and rows are committed together, and the snapshot has the id of the new schema") {
    val t = openTable("id BIGINT")
    val log = live(t).current.metadata.metadataLog.size
    append(t, spark.range(1).selectExpr("id", "'a' AS data"))
    val metadata = live(t).current.metadata
    assert(metadata.metadataLog.size == log + 1)
    assert(metadata.currentSnapshot.flatMap(_.schemaId).contains(metadata.currentSchemaId))
    append(t, spark.range(1).selectExpr("id", "'a' AS data"))
    assert(live(t).current.metadata.schemas.size == 2)
  }

  test("a write that fails, and EXPLAIN of a write, do not change the columns") {
    val t = openTable("id BIGINT")
    append(t, spark.range(3).toDF("id"))
    val columnsBefore = columns(t)
    assertUnchanged(t) {
      val fails = udf((id: Long) => if (id == 2) throw new IllegalStateException("on purpose") else id)
      val error = intercept[SparkException](append(t, spark.range(3).withColumn("more", fails(col("id")))))
      assert(messages(error).contains("on purpose"))
      inMergingSession(sql(s"EXPLAIN EXTENDED INSERT INTO $t SELECT 1L AS id, 2 AS more").collect())
    }
    assert(columns(t) == columnsBefore)
  }

  /** Appends rows with a new column `more`, and makes the given change while the rows are written. */
  private def writeWhile(table: String)(change: => Unit): Unit = {
    val previousAction = SchemaMergeSuite.concurrentChange
    SchemaMergeSuite.concurrentChange = () => change
    try {
      val pass = udf { (id: Long) => SchemaMergeSuite.callSerialized(); id.toInt }
      append(table, spark.range(0, 2, 1, 1).withColumn("more", pass(col("id"))))
    } finally SchemaMergeSuite.concurrentChange = previousAction
  }

  private def addColumn(table: String, column: String, columnType: Type): Unit = {
    live(table).current.transaction().add(new UpdateSchema(_.addColumn(Vector.empty, column, columnType))).commit()
    ()
  }

  test("a write uses a concurrently added column with the same name and type, and fails if another column was added") {
    val t = openTable("id BIGINT")
    writeWhile(t)(addColumn(t, "more", IntType))
    val merged: Schema = live(t).current.schema
    assert(merged.fields.map(_.name) == Seq("id", "more"))
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == Seq("[0,0]", "[1,1]"))

    val u = openTable("id BIGINT")
    val error = intercept[Exception](writeWhile(u)(addColumn(u, "other", StringType)))
    assert(messages(error).contains("another id, name or type for column more than the table"))
    assert(live(u).current.schema.fields.map(_.name) == Seq("id", "other") && dataFilesOf(u).isEmpty)

    val v = openTable("id BIGINT")
    writeWhile(v) {
      live(v).current.transaction().add(new UpdateProperties(Map("a" -> "b"))).commit()
      ()
    }
    assert(live(v).current.properties.get("a").contains("b") && columns(v) == columns(t))
  }

  test("without the option merge-schema, the error for a new column mentions the option") {
    val t = openTable("id BIGINT")
    val rows = spark.range(1).selectExpr("id", "1 AS more")
    val error = intercept[Exception](rows.writeTo(t).append())
    assert(messages(error).contains("Column not found: more") && messages(error).contains("merge-schema"))
    intercept[AnalysisException](rows.writeTo(t).option("merge-schema", "maybe").append())
    sql(s"ALTER TABLE $t UNSET TBLPROPERTIES ('write.spark.accept-any-schema')")
    intercept[AnalysisException](append(t, rows))
    assert(live(t).current.schema.fields.size == 1)
  }
}

object SchemaMergeSuite {
  @volatile private var concurrentChange: () => Unit = () => ()

  private def callSerialized(): Unit = synchronized {
    val change = concurrentChange
    concurrentChange = () => ()
    change()
  }
}
