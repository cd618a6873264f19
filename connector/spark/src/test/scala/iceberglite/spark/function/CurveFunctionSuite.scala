package iceberglite.spark.function

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.cluster.HilbertCurve
import iceberglite.spark.SharedSession

class CurveFunctionSuite extends AnyFunSuite with SharedSession {

  private val grid = "SELECT CAST(id / 16 AS INT) AS x, CAST(id % 16 AS BIGINT) AS y FROM range(256)"

  test("sorting rows by the function zorder gives the order of a Z-order rewrite, for columns of several types") {
    val t = newTable()
    sql(s"CREATE TABLE $t (a INT, b DOUBLE, c STRING, d DECIMAL(9, 2), e TIMESTAMP, f BOOLEAN) USING iceberg")
    sql(
      s"INSERT INTO $t SELECT IF(id % 11 = 0, NULL, CAST(id * 7919 % 97 - 40 AS INT)), cos(id), " +
        "IF(id % 13 = 0, NULL, concat('k', id % 30)), CAST(sin(id) AS DECIMAL(9, 2)), " +
        "timestamp_seconds(id * 100003 % 5000), id % 2 = 0 FROM range(0, 400, 1, 1)"
    )
    val byUser = rows(s"SELECT * FROM $t ORDER BY lite.system.zorder(a, b, c, d, e, f)")
    sql(
      s"CALL lite.system.rewrite_data_files(table => '${t.stripPrefix("lite.")}', strategy => 'sort', " +
        "sort_order => 'zorder(a, b, c, d, e, f)', options => map('rewrite-all', 'true'))"
    )
    val rewritten = rows(s"SELECT a, b, c, d, e, f FROM $t ORDER BY _file, _pos")
    assert(rewritten.size == 400 && byUser == rewritten)
  }

  test("hilbert visits the cells of a grid so that consecutive cells are neighbours") {
    val path =
      rows(s"SELECT x, y FROM ($grid) ORDER BY lite.system.hilbert(x, y)").map(r => (r.getInt(0), r.getLong(1)))
    assert(path.size == 256 && path.distinct.size == 256)
    assert(path.zip(path.tail).forall { case ((x, y), (x2, y2)) => math.abs(x - x2) + math.abs(y - y2) == 1 })
    assert(rows("SELECT length(lite.system.hilbert(1, 2L, 'abc'))").head.getInt(0) == 24)
  }

  test("hilbert begins with the position of the values' leading bits on the curve of the clustering rewrite") {
    val curve = new HilbertCurve(2, 12)
    rows("SELECT a, b, lite.system.hilbert(a, b) FROM (SELECT xxhash64(id) AS a, xxhash64(-id) AS b FROM range(200))")
      .foreach { row =>
        def cell(i: Int): Long = (row.getLong(i) ^ Long.MinValue) >>> 52
        val leading = row.getAs[Array[Byte]](2).take(3).foldLeft(0L)((bits, byte) => bits << 8 | (byte & 0xff))
        assert(curve.index(Array(cell(0), cell(1))) == leading)
      }
  }

  test("in the order of zorder and hilbert, nulls come first, and the functions never return null") {
    Seq("zorder", "hilbert").foreach { curve =>
      val query =
        s"SELECT v, lite.system.$curve(v) AS k FROM VALUES (CAST(NULL AS INT)), (5), (-3), (0) AS t(v) ORDER BY k"
      val result = rows(query)
      assert(result.map(row => Option(row.get(0))) == Seq(None, Some(-3), Some(0), Some(5)))
      assert(result.forall(!_.isNullAt(1)))
      assert(sql(query).schema("k").dataType.typeName == "binary")
    }
  }

  test("the error for invalid columns states what the function accepts") {
    Seq(
      "zorder()" -> "at least one column",
      "hilbert(array(1))" -> "array<int>",
      "zorder(1, map(1, 2))" -> "map<int,int>"
    )
      .foreach { case (call, expected) =>
        val message = intercept[AnalysisException](sql(s"SELECT lite.system.$call")).getMessage
        assert(message.contains(expected), call)
      }
  }
}
