package iceberglite.spark.inspect

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.rowlevel.StatementFixture

/** Tests statistics of columns with special characters in their names, and the Z-order of fields of structs. */
class ColumnNameStatisticsSuite extends AnyFunSuite with StatementFixture {
  private val names = Seq("a.b", "a b", "a/b", "größe", "a-b", "%41", "1st")

  test(
    "statistics of columns with special characters are shown by iceberg-lite and Apache Iceberg, and used by filters"
  ) {
    val t = create(names.map(n => s"`$n` INT").mkString(", ") + ", s STRUCT<`x.y`: INT>", 2, "copy-on-write")
    sql(
      s"INSERT INTO $t SELECT ${names.map(_ => "CAST(id AS INT)").mkString(", ")}, named_struct('x.y', CAST(id AS " +
        "INT)) FROM range(5, 15, 1, 1)"
    )
    for (table <- Seq(t, inApacheIceberg(t)); name <- names) {
      val metrics = s"readable_metrics.`$name`"
      val row = rows(
        s"SELECT $metrics.lower_bound, $metrics.upper_bound, $metrics.value_count FROM $table.files"
      ).head
      assert(row.toSeq == Seq(5, 14, 10L), s"$table $name")
    }
    val nested = rows(s"SELECT readable_metrics.`s.x.y`.lower_bound FROM $t.files").head
    assert(nested.getInt(0) == 5)
    for (name <- names) {
      val plan = sql(s"EXPLAIN SELECT * FROM $t WHERE `$name` > 100").head.getString(0)
      assert(plan.contains("files=0 of 1"), s"$name: $plan")
    }
  }

  test("rewrite_data_files orders rows by the Z-order of fields of structs") {
    val t = create("id BIGINT, s STRUCT<x: INT, y: INT>", 2, "copy-on-write")
    sql(
      s"INSERT INTO $t SELECT id, named_struct('x', CAST(id % 8 AS INT), 'y', CAST(id DIV 8 AS INT)) " +
        "FROM range(0, 64, 1, 1)"
    )
    sql(
      s"CALL lite.system.rewrite_data_files(table => '$t', strategy => 'sort', sort_order => 'zorder(s.x, s.y)', " +
        "options => map('rewrite-all', 'true'))"
    )
    val ordered = rows(s"SELECT s.x, s.y FROM $t").map(r => (r.getInt(0), r.getInt(1)))
    // The first quarter of a Z-order is the quarter of the square with the smallest values.
    assert(ordered.take(16).toSet == (for (x <- 0 until 4; y <- 0 until 4) yield (x, y)).toSet)
  }
}
