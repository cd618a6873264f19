package iceberglite.spark.types

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.conformance.MetricsRules
import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/** Tests statements and compactions that copy geometries of other writers, which may not be WKB. */
class SpatialCopiesSuite extends AnyFunSuite with JavaTables with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private val foreign = "0101000020E6100000000000000000F03F0000000000000040"

  private def pointAt(x: Int): String = s"lite.system.st_point($x, $x)"

  private def geometries(t: String): Map[Long, String] =
    rows(s"SELECT id, hex(g) FROM $t").map(r => r.getLong(0) -> r.getString(1)).toMap

  /** The lower bounds of the column g in the files of a table. */
  private def bounds(t: String): Seq[Option[ByteBuffer]] =
    loaded(t).newScan.includeColumnStats.planFiles.asScala.toSeq
      .map(task => Option(task.file.lowerBounds).flatMap(b => Option(b.get(2))))

  /** Returns a table with six rows whose geometries are not WKB. */
  private def foreignTable(format: String): String = {
    val t = newTable()
    sql(s"""CREATE TABLE $t (id BIGINT, g GEOMETRY, s STRUCT<z: GEOGRAPHY>, l ARRAY<GEOMETRY>, m MAP<INT, GEOMETRY>)
        USING iceberg TBLPROPERTIES ('format-version' = '3', 'write.format.default' = '$format',
        'write.delete.mode' = 'copy-on-write', 'write.update.mode' = 'copy-on-write',
        'write.merge.mode' = 'copy-on-write')""")
    val bytes = ByteBuffer.wrap(foreign.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray)
    append(loaded(t), (1L to 6L).map(id => Seq(id, bytes.duplicate(), null, null, null)))
    sql(s"REFRESH TABLE $t")
    t
  }

  private val source = s"(SELECT id, ${pointAt(1)} AS p FROM VALUES (4L), (7L) AS v(id)) AS u"

  for (format <- Seq("parquet", "orc", "avro")) {
    test(
      s"rows that are only copied may have geometries that are not WKB, in $format",
      MetricsRules.spatialBounds +: Sampling.slowUnless(format == "parquet"): _*
    ) {
      val t = foreignTable(format)
      def assertCopied(ids: Long*): Unit = {
        val stored = geometries(t)
        ids.foreach(id => assert(stored.get(id).contains(foreign), id))
        assert(bounds(t).contains(None))
      }
      sql(s"DELETE FROM $t WHERE id = 6")
      assertCopied(1, 2, 3, 4, 5)
      sql(s"UPDATE $t SET g = ${pointAt(5)} WHERE id = 5")
      assertCopied(1, 2, 3, 4)
      sql(s"MERGE INTO $t USING $source ON $t.id = u.id WHEN MATCHED THEN UPDATE SET g = p " +
        "WHEN NOT MATCHED THEN INSERT (id, g) VALUES (u.id, p)")
      assertCopied(1, 2, 3)
      sql(s"INSERT INTO $t REPLACE WHERE id = 3 SELECT 3, ${pointAt(3)}, NULL, NULL, NULL")
      assertCopied(1, 2)
      def rewrite(arguments: String) = sql(s"CALL lite.system.rewrite_data_files(table => " +
        s"'${t.stripPrefix("lite.")}', $arguments, options => map('rewrite-all', 'true'))")
      rewrite("strategy => 'sort', sort_order => 'id DESC'")
      assertCopied(1, 2)
      rewrite("strategy => 'sort', sort_order => 'zorder(id)'")
      assertCopied(1, 2)
      sql(s"DELETE FROM $t WHERE id < 3")
      rewrite("strategy => 'sort', sort_order => 'id'")
      assert(bounds(t).forall(_.isDefined) && geometries(t).size == 4)
    }

    test(
      s"new rows may not have geometries that are not WKB, in $format",
      MetricsRules.spatialBounds +: Sampling.slowInSomeRuns(isAlwaysRun = format == "parquet"): _*
    ) {
      val t = foreignTable(format)
      sql(s"INSERT INTO $t REPLACE WHERE id = 3 SELECT 3, ${pointAt(3)}, NULL, NULL, NULL")
      assertUnchanged(t, "id, hex(g)") {
        val invalid = Seq(
          s"UPDATE $t SET g = X'01' WHERE id = 3" -> "g",
          s"UPDATE $t SET s = named_struct('z', X'01') WHERE id = 3" -> "s.z",
          s"UPDATE $t SET l = array(${pointAt(1)}, X'01') WHERE id = 3" -> "l",
          s"UPDATE $t SET m = map(1, X'01') WHERE id = 3" -> "m",
          s"MERGE INTO $t USING $source ON $t.id = u.id WHEN MATCHED THEN UPDATE SET g = X'01'" -> "g",
          s"MERGE INTO $t USING $source ON $t.id = u.id + 1000 WHEN MATCHED THEN DELETE " +
            "WHEN NOT MATCHED THEN INSERT (id, g) VALUES (1, X'01')" -> "g",
          s"INSERT INTO $t REPLACE WHERE id = 3 SELECT 3, X'01', NULL, NULL, NULL" -> "g"
        )
        invalid.foreach { case (statement, column) =>
          val error = messages(intercept[Exception](sql(statement)))
          assert(error.contains(s"geometry in column $column") && error.contains("INVALID_PARAMETER_VALUE"), error)
        }
      }
    }
  }
}
