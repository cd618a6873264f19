package iceberglite.spark.table

import org.apache.spark.SparkThrowable
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.error.StatementError
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError.{Unsupported, ValidationFailed}

/** Checks the statements about partitions, also in comparison with the same statements on Spark's own tables. */
class PartitionManagementSuite extends AnyFunSuite with StatementFixture {
  private val values =
    "VALUES (1, 'a', DATE '2024-01-01'), (2, 'a', DATE '2024-01-02'), (3, 'b/c', DATE '2024-01-01'), " +
      "(4, 'x=y', DATE '2024-01-01') AS v(id, p, d)"

  /** Creates an iceberg-lite table and a Parquet table of Spark with the same rows and partitions. */
  private def pair(): Seq[String] = {
    val own = newTable()
    val sparks = s"spark_catalog.default.${own.split('.').last}"
    Seq(own -> "iceberg", sparks -> "parquet").map { case (t, provider) =>
      sql(s"DROP TABLE IF EXISTS $t")
      sql(s"CREATE TABLE $t (id INT, p STRING, d DATE) USING $provider PARTITIONED BY (p, d)")
      sql(s"INSERT INTO $t SELECT * FROM $values")
      t
    }
  }

  private def condition(statement: String): String = intercept[Throwable](sql(statement)) match {
    case error: SparkThrowable => error.getErrorClass
    case other => fail(s"$statement throws an error without a condition", other)
  }

  test("SHOW PARTITIONS, DROP PARTITION and TRUNCATE PARTITION have the same effects as on Spark's own tables", Slow) {
    val Seq(own, sparks) = pair()
    def same(): Unit = Seq("SHOW PARTITIONS {t}", "SELECT id, p, d FROM {t}").foreach { query =>
      assert(sorted(query.replace("{t}", own)) == sorted(query.replace("{t}", sparks)), query)
    }
    same()
    Seq(
      "ALTER TABLE {t} DROP PARTITION (p = 'a', d = '2024-01-02')",
      "ALTER TABLE {t} DROP PARTITION (P = 'b/c', d = DATE '2024-01-01'), PARTITION (p = 'x=y', d = '2024-01-01')",
      "ALTER TABLE {t} DROP IF EXISTS PARTITION (p = 'zz', d = '2024-01-02')"
    ).foreach { statement =>
      Seq(own, sparks).foreach(t => sql(statement.replace("{t}", t)))
      same()
    }
    Seq(own, sparks).foreach(t => sql(s"TRUNCATE TABLE $t PARTITION (p = 'a', d = '2024-01-01')"))
    assert(count(own) == 0 && count(sparks) == 0)
    val missing = "PARTITION (p = 'zz', d = '2024-01-02')"
    Seq(own, sparks).foreach { t =>
      assert(condition(s"ALTER TABLE $t DROP $missing") == "PARTITIONS_NOT_FOUND")
      assert(condition(s"TRUNCATE TABLE $t $missing") == "PARTITIONS_NOT_FOUND")
    }
  }

  test("dropping a partition is one delete commit, which Apache Iceberg reads, and adds no files", Slow) {
    val own = newTable()
    sql(s"CREATE TABLE $own (id BIGINT, s STRING) USING iceberg PARTITIONED BY (bucket(4, id), truncate(1, s))")
    sql(s"INSERT INTO $own SELECT id, CAST(id % 3 AS STRING) FROM range(100)")
    val before = sorted(s"SELECT * FROM $own WHERE NOT (lite.system.bucket(4, id) = 2 AND s = '1')")
    sql(s"ALTER TABLE $own DROP PARTITION (id_bucket = 2, s_trunc = '1')")
    assert(sorted(s"SELECT * FROM $own") == before && sorted(s"SELECT * FROM ${inApacheIceberg(own)}") == before)
    assert(
      rows(s"SELECT operation, summary['added-data-files'] FROM $own.snapshots ORDER BY committed_at").last.toString
        == "[delete,null]"
    )
    assert(!sorted(s"SHOW PARTITIONS $own").exists(_.contains("id_bucket=2/s_trunc=1")))
  }

  test("a cached query shows that a partition was dropped") {
    val Seq(own, _) = pair()
    val cached = spark.table(own).cache()
    try {
      assert(cached.count() == 4)
      sql(s"ALTER TABLE $own DROP PARTITION (p = 'a', d = '2024-01-02')")
      assert(spark.table(own).count() == 3)
    } finally {
      cached.unpersist()
      ()
    }
  }

  test("TRUNCATE TABLE with PARTITION removes the rows of a partition that has a delete file") {
    val own = create("id INT, p INT", 2, "merge-on-read", "write.distribution-mode" -> "hash")
    sql(s"ALTER TABLE $own ADD PARTITION FIELD p")
    sql(s"INSERT INTO $own SELECT id, id % 2 FROM range(10)")
    sql(s"DELETE FROM $own WHERE id = 3")
    sql(s"TRUNCATE TABLE $own PARTITION (p = 1)")
    assert(count(own) == 5 && count(inApacheIceberg(own)) == 5)
  }

  test("dropping a partition whose files also have other rows fails the validation, and deletes nothing") {
    val own = create("id INT, p INT", 2, "merge-on-read")
    sql(s"INSERT INTO $own SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 1), (2, 2)")
    sql(s"ALTER TABLE $own ADD PARTITION FIELD p")
    val error = intercept[StatementError](sql(s"ALTER TABLE $own DROP PARTITION (p = 1)"))
    assert(error.error.isInstanceOf[ValidationFailed] && error.getErrorClass == "ICEBERG_LITE.VALIDATION_FAILED")
    assert(count(own) == 2)
  }

  test("the error for a name that is not a partition field has an error condition, and lists the partition fields") {
    val Seq(own, _) = pair()
    Seq(s"ALTER TABLE $own DROP PARTITION (id = 1)", s"SHOW PARTITIONS $own PARTITION (id = 1)").foreach { statement =>
      val error = intercept[StatementError](sql(statement))
      assert(error.getErrorClass == "ICEBERG_LITE.PARTITION_FIELD_NOT_FOUND")
      assert(error.getMessage.contains("are p, d."))
    }
  }

  test("ADD PARTITION, RENAME PARTITION and DROP PARTITION PURGE are rejected") {
    val Seq(own, _) = pair()
    val partition = "PARTITION (p = 'a', d = '2024-01-01')"
    Seq(
      s"ALTER TABLE $own ADD PARTITION (p = 'n', d = '2024-01-01')",
      s"ALTER TABLE $own $partition RENAME TO PARTITION (p = 'n', d = '2024-01-01')",
      s"ALTER TABLE $own DROP $partition PURGE"
    ).foreach { statement =>
      assert(intercept[StatementError](sql(statement)).error.isInstanceOf[Unsupported], statement)
    }
  }
}
