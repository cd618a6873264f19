package iceberglite.spark.rules

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.error.{Causes, StatementError}
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError.NullInRequired

/** Checks the errors for nulls in required columns. */
class RequireValuesSuite extends AnyFunSuite with StatementFixture {
  import RequireValuesSuite.Item

  private def causesOf(write: => Any): Vector[Throwable] = Causes.of(intercept[Exception](write)).toVector

  private def rejectedColumn(write: => Any): Option[String] = {
    val causes = causesOf(write)
    val conditions = causes.collect { case e: StatementError => e.getErrorClass }
    assert(conditions.headOption.contains("ICEBERG_LITE.NOT_NULL_VIOLATION"), causes)
    causes.collectFirst { case e: NullInRequired => e.column }
  }

  test("a null in a required column has its own error condition, even if the table has generated columns") {
    val t = create(
      "id BIGINT NOT NULL, n BIGINT, twice BIGINT GENERATED ALWAYS AS (n * 2), s STRUCT<a: INT NOT NULL>",
      2,
      "merge-on-read"
    )
    sql(s"INSERT INTO $t (id, n, s) VALUES (1, 1, named_struct('a', 1))")
    val rows = "FROM range(0, 3, 1, 1)"
    val struct = "named_struct('a', 1)"
    Seq(
      s"INSERT INTO $t (id, n, s) SELECT nullif(id, 1), id, $struct $rows" -> "id",
      s"INSERT INTO $t BY NAME SELECT nullif(id, 1) AS id, id AS n, $struct AS s $rows" -> "id",
      s"INSERT INTO $t (id, n, s) SELECT id, id, named_struct('a', CAST(nullif(id, 1) AS INT)) $rows" -> "s.a",
      s"UPDATE $t SET id = nullif(id, 1), n = 5" -> "id",
      s"MERGE INTO $t t USING (SELECT id + 100 AS id $rows) s ON t.id = s.id " +
        s"WHEN NOT MATCHED THEN INSERT (id, n, s) VALUES (nullif(s.id, 101), 1, $struct)" -> "id"
    ).foreach { case (write, column) => assert(rejectedColumn(sql(write)).contains(column), write) }
    assert(count(t) == 1)
  }

  test("the checks of a typed Dataset, which do not concern a column of the table, keep their own error") {
    val session = spark
    import session.implicits._
    val t = create("id BIGINT NOT NULL, name STRING", 2, "copy-on-write")
    val items = spark.range(0, 3, 1, 1).map(id => if (id == 1) Option.empty[Item].orNull else Item(id, "x"))
    for (
      write <- Seq[() => Unit](() => items.writeTo(t).append(), () => items.select("id", "name").writeTo(t).append())
    ) {
      val causes = causesOf(write())
      assert(!causes.exists(_.isInstanceOf[NullInRequired]) && causes.exists(_.isInstanceOf[NullPointerException]))
      assert(causes.exists(e => Option(e.getMessage).exists(_.contains("top level Product or row object"))), causes)
    }
    assert(count(t) == 0)
  }
}

object RequireValuesSuite {
  final case class Item(id: Long, name: String)
}
