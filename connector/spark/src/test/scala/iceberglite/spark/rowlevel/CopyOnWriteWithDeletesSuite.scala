package iceberglite.spark.rowlevel

import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{MoreRoundsInSlowTier, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/**
 * Checks that copy-on-write statements on files with equality deletes, position deletes or deletion vectors do not
 * restore deleted rows.
 */
@MoreRoundsInSlowTier
class CopyOnWriteWithDeletesSuite extends AnyFunSuite with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions
  private val seed = sys.env.get("ICEBERG_LITE_SEED").fold(20240229L)(_.toLong)

  /** Creates a table in which some rows were deleted in merge-on-read mode, and others were replaced by an upsert. */
  private def withDeletes(version: Int, partitioning: String): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, p INT, n INT) USING iceberg $partitioning TBLPROPERTIES (" +
      s"'format-version' = '$version', 'write.delete.mode' = 'merge-on-read')")
    sql(s"INSERT INTO $t SELECT CAST(id AS INT), CAST(id % 3 AS INT), 0 FROM range(0, 60, 1, 1)")
    sql(s"DELETE FROM $t WHERE id IN (7, 8)")
    spark.range(40, 50).selectExpr("CAST(id AS INT) AS id", "CAST(id % 3 AS INT) AS p", "1 AS n")
      .writeTo(t).option("upsert-keys", "id").append()
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.delete.mode' = 'copy-on-write')")
    t
  }

  private val statements = Seq(
    "DELETE FROM %s WHERE id < 3" -> ((id: Int, _: Int) => id >= 3),
    "DELETE FROM %s WHERE id IN (SELECT 1)" -> ((id: Int, _: Int) => id != 1),
    "UPDATE %s SET n = n WHERE id = 1" -> ((_: Int, _: Int) => true),
    "UPDATE %s SET n = n WHERE p = 2 AND id < 20" -> ((_: Int, _: Int) => true),
    "MERGE INTO %s t USING (SELECT 45 AS id) u ON t.id = u.id AND t.id > 44 WHEN MATCHED THEN UPDATE SET n = t.n " +
      "WHEN NOT MATCHED BY SOURCE AND t.id = 50 THEN DELETE" -> ((id: Int, _: Int) => id != 50)
  )

  for (version <- Seq(2, 3))
    test(
      s"deleted and replaced rows do not reappear after copy-on-write statements, version $version",
      Sampling.slowUnless(version == 3): _*
    ) {
      val random = new Random(seed + version)
      for ((statement, remains) <- if (Sampling.isFast) statements.takeRight(1) else statements) {
        val partitioning = Seq("", "PARTITIONED BY (p)", "PARTITIONED BY (bucket(2, id))")(random.nextInt(3))
        val t = withDeletes(version, partitioning)
        sql(statement.format(t))
        val expected = (0 until 60).filter(i => i != 7 && i != 8 && remains(i, i % 3))
          .map(i => s"[$i,${i % 3},${if (i / 10 == 4) 1 else 0}]").sorted
        assert(sorted(s"SELECT * FROM $t") == expected, s"$statement $partitioning")
        assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == expected, s"$statement $partitioning")
      }
      val t = withDeletes(version, "")
      spark.sql("SELECT 100 AS id, 0 AS p, 0 AS n").writeTo(t).overwrite(org.apache.spark.sql.functions.expr("id < 39"))
      assert(rows(s"SELECT id FROM $t ORDER BY id").map(_.getInt(0)) == (39 until 60) :+ 100)
    }
}
