package iceberglite.spark.write

import java.nio.file.Files

import scala.concurrent.duration._

import org.apache.spark.SparkException
import org.apache.spark.sql.functions.{col, udf}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.error.OperationError

/** Checks that a write that fails leaves the table and its directory unchanged. */
class WriteFailureSuite extends AnyFunSuite with WriteFixture {

  private val failAt = udf((id: Long) => if (id == 3500) throw new IllegalStateException("no more") else id)

  test("after a task failure, neither the failed task nor finished tasks leave files", Slow) {
    Seq("hash", "none").foreach { mode =>
      val t = partitioned()
      assertUnchanged(t) {
        val error = intercept[Exception] {
          spark.range(0, 4000, 1, 8).select(failAt(col("id")).as("id"), (col("id") % 3).as("part")).writeTo(t)
            .option("distribution-mode", mode).append()
        }
        assert(messages(error).contains("no more"))
      }
    }
  }

  test("a task that fails after it has buffered rows of many partitions leaves no file") {
    val t = partitioned()
    assertUnchanged(t) {
      val error = intercept[SparkException] {
        spark.range(0, 4000, 1, 1).select(failAt(col("id")).as("id"), (col("id") % 300).as("part")).writeTo(t)
          .option("distribution-mode", "none").append()
      }
      assert(messages(error).contains("no more"))
    }
  }

  test("a null for a NOT NULL column fails the statement and changes nothing") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT NOT NULL, s STRUCT<x: INT NOT NULL>) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1, named_struct('x', 1))")
    assertUnchanged(t) {
      for (values <- Seq("if(id = 7, NULL, id), named_struct('x', 1)", "id, named_struct('x', if(id = 7, NULL, 1))")) {
        val error = intercept[OperationError](sql(s"INSERT INTO $t SELECT $values FROM range(10)"))
        assert(messages(error).contains("is NOT NULL"), values)
      }
    }
  }

  test("a CREATE TABLE AS SELECT that fails leaves no table and no file") {
    val t = newTable()
    spark.udf.register("fail_at", failAt)
    val error = intercept[SparkException] {
      sql(s"CREATE TABLE $t USING iceberg AS SELECT fail_at(id) AS id FROM range(0, 4000, 1, 4)")
    }
    assert(messages(error).contains("no more"))
    assert(!spark.catalog.tableExists(t))
    eventually(timeout(10.seconds))(assert(filesOf(t).isEmpty))
    sql(s"CREATE TABLE $t USING iceberg AS SELECT id FROM range(3)")
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 3)
  }

  test("a REPLACE TABLE AS SELECT that fails leaves the old table") {
    val t = partitioned()
    spark.udf.register("fail_at", failAt)
    assertUnchanged(t) {
      val error = intercept[SparkException] {
        sql(s"REPLACE TABLE $t USING iceberg AS SELECT fail_at(id) AS id FROM range(0, 4000, 1, 4)")
      }
      assert(messages(error).contains("no more"))
    }
  }

  test("the error for a data directory that cannot be written contains its path") {
    val t = newTable()
    val regularFile = Files.createFile(newDirectory().resolve("no-directory"))
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg TBLPROPERTIES ('write.data.path' = '$regularFile')")
    assertUnchanged(t) {
      assert(messages(intercept[Exception](sql(s"INSERT INTO $t VALUES (1)"))).contains(regularFile.toString))
    }
  }

  private def partitioned(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, part BIGINT) USING iceberg PARTITIONED BY (part)")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    t
  }
}
