package iceberglite.spark.sql

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.connector.catalog.{Identifier, Table}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.{ScenarioRunner, SharedSession, SparkCatalog}
import iceberglite.spark.error.Causes
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError.InvalidArgument

/** Checks the columns that ALTER TABLE names, before Spark resolves the statement. */
class AlteredColumnsSuite extends AnyFunSuite with StatementFixture {

  test("the error for a column name that matches several columns has an error condition and names the columns") {
    val t = newTable()
    withConf("spark.sql.caseSensitive" -> "true") {
      sql(s"CREATE TABLE $t (id BIGINT, ID BIGINT, s STRUCT<a: INT, A: INT>) USING iceberg")
    }
    val changes =
      Seq(
        "RENAME COLUMN id TO key" -> "id and ID",
        "DROP COLUMN s.a" -> "a and A",
        "ALTER COLUMN Id DROP NOT NULL" -> "id and ID"
      )
    changes.foreach { case (change, names) =>
      val error = intercept[AnalysisException](sql(s"ALTER TABLE $t $change"))
      assert(error.getErrorClass == "INVALID_PARAMETER_VALUE" && error.line.contains(1), change)
      val reason = Causes.of(error).collectFirst { case e: InvalidArgument => e.reason }
      assert(reason.exists(_.contains(names)) && messages(error).contains(t), change)
    }
    withConf("spark.sql.caseSensitive" -> "true")(sql(s"ALTER TABLE $t RENAME COLUMN id TO key"))
    assert(live(t).schema.fields.map(_.name) == Vector("key", "ID", "s"))
  }

  test("the parser loads a table only for a statement that requires an existing column") {
    val catalog = classOf[LoadCountingCatalog].getName
    val session = SharedSession.sessionWithCatalog(spark, catalog, newDirectory())
    inSession(session) { s =>
      val t = s"${ScenarioRunner.CatalogName}.db.t"
      s.sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
      def loads(change: String): Int = {
        val before = LoadCountingCatalog.loads.get
        s.sessionState.sqlParser.parsePlan(s"ALTER TABLE $t $change")
        LoadCountingCatalog.loads.get - before
      }
      assert(loads("ADD COLUMN n INT") == 0 && loads("SET TBLPROPERTIES ('a' = 'b')") == 0)
      assert(loads("RENAME TO other") == 0 && loads("DROP COLUMN IF EXISTS id") == 0)
      assert(loads("RENAME COLUMN id TO key") == 1 && loads("DROP COLUMN id") == 1)
    }
  }
}

/** Counts the tables that are loaded. */
class LoadCountingCatalog extends SparkCatalog {
  override def loadTable(ident: Identifier): Table = {
    LoadCountingCatalog.loads.incrementAndGet()
    super.loadTable(ident)
  }
}

private object LoadCountingCatalog {
  val loads = new AtomicInteger
}
