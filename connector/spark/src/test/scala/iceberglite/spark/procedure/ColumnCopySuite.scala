package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/**
 * Tests bin-packing of Parquet files that have no deleted rows. The column chunks of these files are copied, and their
 * rows are not decoded.
 */
class ColumnCopySuite extends AnyFunSuite with RewriteFixture {
  private val values = Seq(
    "BOOLEAN" -> "id % 2 = 0",
    "INT" -> "-id",
    "FLOAT" -> "IF(id % 3 = 0, float('NaN'), id / 3)",
    "DOUBLE" -> "IF(id % 3 = 0, -0.0D, id / 7)",
    "DECIMAL(9, 2)" -> "-id / 100",
    "DECIMAL(38, 10)" -> "-id / 7",
    "DATE" -> "date_add(date'1500-01-01', CAST(id * 100 AS INT))",
    "TIMESTAMP" -> "timestamp_seconds(-id * 1000000)",
    "STRING" -> "IF(id % 4 = 0, '', concat('\u00e9', id % 50))",
    "BINARY" -> "encode(id, 'UTF-8')",
    "STRUCT<a: INT, b: STRUCT<c: STRING>>" -> "named_struct('a', IF(id % 2 = 0, NULL, 1), 'b', named_struct('c', id))",
    "ARRAY<STRUCT<a: STRING>>" -> "transform(sequence(1, id % 3), i -> IF(i = 2, NULL, named_struct('a', i)))",
    "MAP<STRING, ARRAY<INT>>" -> "map('k', array(id, NULL), concat('l', id), NULL)"
  )

  /**
   * Creates a table with 1,200 rows in the given number of files. The column `id` is required in the files, because
   * Spark knows that the rows have no null in it.
   */
  private def table(version: Int, files: Int, byPeer: Boolean = false): String = {
    val definitions = values.zipWithIndex.map { case ((dataType, _), i) => s"c$i $dataType" }.mkString(", ")
    val t = create(s"id BIGINT, $definitions", version, "copy-on-write", "write.distribution-mode" -> "none")
    val row = values.map { case (dataType, value) => s"IF(id % 5 = 0, NULL, CAST($value AS $dataType))" }.mkString(", ")
    val (target, rows) = (if (byPeer) inApacheIceberg(t) else t, 1200 / files)
    for (i <- 0 until files)
      sql(s"INSERT INTO $target SELECT id, $row FROM range(${i * rows}, ${(i + 1) * rows}, 1, 1)")
    sql(s"REFRESH TABLE $t")
    t
  }

  private def metrics(t: String): Seq[Row] = rows(
    "SELECT record_count, value_counts, null_value_counts, nan_value_counts, lower_bounds, upper_bounds " +
      s"FROM $t.files WHERE content = 0"
  )

  for (version <- Seq(2, 3); byPeer <- Seq(false, true))
    test(
      s"a file of copied columns keeps the rows and has the metrics of a file written row by row, version $version" +
        (if (byPeer) ", files of Apache Iceberg" else ""),
      Slow
    ) {
      val t = table(version, files = 4, byPeer)
      val before = contents(t, version)
      assert(counts(call(t, "options => map('min-input-files', '2')")).take(2) == Seq(4, 1))
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      assert(contents(t, version) == before && contents(inApacheIceberg(t), version) == before)
      val Seq(copied) = metrics(t)
      val Seq(expected) = metrics(table(version, files = 1))
      // In version 3, copied files also have metrics of row ids and sequence numbers, which new files do not have.
      val own = copied.toSeq.map {
        case counts: scala.collection.Map[_, _] => counts.filter { case (id, _) => id.toString.toInt < 1000 }
        case other => other
      }
      assert(own.map(comparable) == expected.toSeq.map(comparable))
    }

  private def comparable(value: Any): Any = value match {
    case bounds: scala.collection.Map[_, _] => bounds.map { case (id, v) => (id, comparable(v)) }.toMap
    case bytes: Array[Byte] => bytes.toSeq
    case other => other
  }

  test("stored and inherited row lineage is kept when files with both are copied", Slow) {
    val t = table(3, files = 4)
    sql(s"UPDATE ${inApacheIceberg(t)} SET c1 = 7 WHERE id % 100 = 1 AND id < 400")
    sql(s"INSERT INTO ${inApacheIceberg(t)} SELECT * FROM ${inApacheIceberg(t)} WHERE id < 300")
    sql(s"REFRESH TABLE $t")
    val order = "SELECT *, _row_id, _last_updated_sequence_number FROM %s ORDER BY _row_id"
    val before = rows(order.format(t))
    call(t, "options => map('rewrite-all', 'true')")
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    assert(rows(order.format(t)) == before && rows(order.format(inApacheIceberg(t))) == before)
  }

  test("bin-packing after a change of the schema keeps the rows, although columns cannot be copied", Slow) {
    for (change <- Seq("ADD COLUMN d INT", "RENAME COLUMN c1 TO d", "ALTER COLUMN c1 TYPE BIGINT", "DROP COLUMN c1")) {
      val t = table(2, files = 4)
      sql(s"ALTER TABLE $t $change")
      val before = contents(t, 2)
      assert(counts(call(t, "options => map('min-input-files', '2')")).take(2) == Seq(4, 1), change)
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      assert(contents(t, 2) == before && contents(inApacheIceberg(t), 2) == before, change)
    }
  }
}
