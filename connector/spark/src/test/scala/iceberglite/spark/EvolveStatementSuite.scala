package iceberglite.spark

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.connector.catalog.TableChange.ColumnPosition
import org.apache.spark.sql.types.{IntegerType, LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.table.Table

/** Checks changes of a table's metadata in one commit, through the Scala API and the procedure `alter_table`. */
class EvolveStatementSuite extends AnyFunSuite with StatementFixture {

  private def tableOf(name: String): IcebergTable = IcebergTable.forName(spark, name)

  private def commits(name: String): Int = live(name).metadata.metadataLog.size

  private def created(): String = {
    val name = newTable()
    sql(s"CREATE TABLE $name (id BIGINT NOT NULL, n INT, s STRUCT<a: INT>, ts TIMESTAMP) USING iceberg " +
      "TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO $name VALUES (1, 10, struct(5), TIMESTAMP '2026-01-01 00:00:00')")
    name
  }

  test("changes of many kinds are one commit, and each change sees the result of the previous changes", Slow) {
    val name = created()
    val before = commits(name)
    tableOf(name).evolve()
      .addColumn("city", StringType, comment = Some("it's a city"), default = Some("'Rome'"))
      .addColumn("s.`b.c`", IntegerType, position = Some(ColumnPosition.first))
      .renameColumn("city", "place")
      .moveColumn("place", ColumnPosition.after("id"))
      .changeType("n", LongType)
      .setComment("n", "number")
      .setNullable("id", nullable = true)
      .setNullable("place", nullable = false)
      .addPartitionField("days(ts)")
      .addPartitionField("bucket(4, place)", Some("the place"))
      .sortedBy("place DESC", "id")
      .setProperty("team", "data")
      .execute()
    assert(commits(name) == before + 1)
    val table = live(name)
    assert(table.schema.fields.map(_.name) == Vector("id", "place", "n", "s", "ts"))
    assert(table.schema.names.values.toSet.contains("s.b.c") && table.metadata.schemas.size == 2)
    assert(table.spec.fields.map(_.name) == Vector("ts_day", "the place"))
    assert(table.sortOrder.fields.size == 2 && table.properties("team") == "data")
    assert(sorted(s"SELECT place, n, s.a FROM $name") == Seq("[Rome,10,5]"))
    assert(sorted(s"SELECT place, n, s.a FROM ${inApacheIceberg(name)}") == Seq("[Rome,10,5]"))
  }

  test("columns, partition fields, sort fields, identifier fields and properties are removed in one commit") {
    val name = created()
    tableOf(name).evolve().setIdentifierFields("id").addPartitionField("n").sortedBy("n").setProperty("a", "b")
      .execute()
    assert(live(name).schema.identifierFieldIds.size == 1)
    val before = commits(name)
    tableOf(name).evolve()
      .renameColumn("n", "m")
      .replacePartitionField("m", "truncate(10, m)")
      .sortedBy()
      .dropIdentifierFields("id")
      .unsetProperty("a")
      .dropColumn("s")
      .dropColumn("nothing", ifExists = true)
      .setDefault("m", "7")
      .execute()
    val table = live(name)
    assert(commits(name) == before + 1)
    assert(table.spec.fields.map(_.transform.toString) == Vector("truncate[10]"))
    assert(!table.sortOrder.isSorted && table.schema.identifierFieldIds.isEmpty && !table.properties.contains("a"))
    sql(s"INSERT INTO $name (id) VALUES (2)")
    assert(sorted(s"SELECT * FROM $name WHERE id = 2") == Seq("[2,7,null]"))
    tableOf(name).evolve().dropDefault("m").dropPartitionField("truncate(10, m)").execute()
    assert(live(name).spec.fields.isEmpty && live(name).schema.fields(1).writeDefault.isEmpty)
  }

  /** Calls the procedure `alter_table`. The changes must not contain double quotes. */
  private def alter(name: String, changes: String*): Unit = {
    val texts = changes.map(change => s""""$change"""").mkString("array(", ", ", ")")
    sql(s"CALL ${name.takeWhile(_ != '.')}.system.alter_table('$name', $texts)")
    ()
  }

  test("alter_table makes changes of properties and columns in the given order, in one commit", Slow) {
    val name = newTable()
    sql(s"CREATE TABLE $name (id BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    sql(s"INSERT INTO $name VALUES (1)")
    val before = commits(name)
    alter(name, "SET TBLPROPERTIES ('format-version' = '3')", "ADD COLUMN x INT DEFAULT 5", "RENAME COLUMN x TO y")
    assert(commits(name) == before + 1)
    assert(sorted(s"SELECT id, y FROM $name") == Seq("[1,5]"))
    assert(sorted(s"SELECT id, y FROM ${inApacheIceberg(name)}") == Seq("[1,5]"))
  }

  test("an invalid change changes nothing") {
    val name = created()
    val before = commits(name)
    val evolution = tableOf(name).evolve().addColumn("extra", IntegerType)
    Seq(
      (evolution.dropColumn("nothing"), "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "nothing"),
      (evolution.addPartitionField("nothing"), "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "nothing"),
      (evolution.changeType("id", IntegerType), "ICEBERG_LITE.VALIDATION_FAILED", "Cannot change column id"),
      (evolution.sql("CREATE BRANCH b"), "INVALID_PARAMETER_VALUE", "cannot be combined with other changes"),
      (evolution.sql("NO SUCH CHANGE"), "PARSE_SYNTAX_ERROR", "NO"),
      (tableOf(name).evolve(), "INVALID_PARAMETER_VALUE", "at least one change")
    ).foreach { case (statement, condition, text) =>
      val error = intercept[AnalysisException](statement.execute())
      assert(error.getErrorClass == condition && messages(error).contains(text))
    }
    inSession(SharedSession.withoutExtensions) { plain =>
      val error = intercept[AnalysisException](IcebergTable.forName(plain, name).evolve().dropColumn("n").execute())
      assert(error.getErrorClass == "ICEBERG_LITE.UNSUPPORTED" && messages(error).contains("spark.sql.extensions"))
    }
    assert(commits(name) == before)
  }

  test(
    "alter_table sets properties that another session changed, and describe_table shows columns that it added",
    Slow
  ) {
    val name = created()
    sql(s"ALTER TABLE $name SET TBLPROPERTIES ('a' = 'ours')")
    sql(s"ALTER TABLE ${inApacheIceberg(name)} SET TBLPROPERTIES ('a' = 'theirs')")
    alter(name, "SET TBLPROPERTIES ('a' = 'ours')")
    assert(sorted(s"SHOW TBLPROPERTIES ${inApacheIceberg(name)} ('a')") == Seq("[a,ours]"))
    sql(s"ALTER TABLE ${inApacheIceberg(name)} ADD COLUMN theirs INT")
    val described = rows(s"CALL ${name.takeWhile(_ != '.')}.system.describe_table('$name')").head
    assert(described.getAs[String]("schema").contains("theirs"))
  }

  test("changes keep columns and rows that another writer added after the session loaded the table", Slow) {
    val name = created()
    tableOf(name).toDF.count()
    sql(s"ALTER TABLE ${inApacheIceberg(name)} ADD COLUMN theirs INT")
    sql(s"INSERT INTO ${inApacheIceberg(name)} VALUES (2, 20, named_struct('a', 6), NULL, 9)")
    tableOf(name).evolve().addColumn("ours", IntegerType).addPartitionField("ours").sortedBy("ours").execute()
    val table: Table = live(name)
    assert(table.schema.fields.map(_.name).takeRight(2) == Vector("theirs", "ours"))
    assert(table.spec.fields.map(_.name) == Vector("ours") && count(name) == 2)
  }
}
