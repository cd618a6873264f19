package iceberglite.spark.write

import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks the options of writes. */
class WriteOptionsSuite extends AnyFunSuite with WriteFixture {

  test("a misspelled option is rejected with a suggestion, and an unknown option is ignored") {
    val t = filledTable()
    val error = intercept[AnalysisException](tenRows.writeTo(t).option("target-file-size-byte", "1000").append())
    assert(error.getMessage.contains("did you mean target-file-size-bytes"))
    intercept[AnalysisException](tenRows.writeTo(t).option("fan-out-enabled", "true").append())
    tenRows.writeTo(t).option("something-else", "1").append()
  }

  test("an invalid value of a write option is rejected with the valid values or the reason") {
    val t = filledTable()
    def rejection(key: String, value: String): String =
      intercept[AnalysisException](tenRows.writeTo(t).option(key, value).append()).getMessage
    assert(rejection("distribution-mode", "sideways").contains("none, hash, range"))
    assert(rejection("target-file-size-bytes", "0").contains("positive"))
    assert(rejection("compression-codec", "zip").contains("zstd"))
    assert(rejection("compression-codec", "lzo").contains("codec is not available"))
    assert(rejection("isolation-level", "chaos").contains("serializable, snapshot"))
    assert(rejection("output-spec-id", "7").contains("0"))
    assert(rejection("overwrite-mode", "sometimes").contains("dynamic or static"))
  }

  test("rewritten-file-scan-task-set-id is rejected rather than ignored") {
    val error = intercept[AnalysisException](
      tenRows.writeTo(filledTable()).option("rewritten-file-scan-task-set-id", "x").append()
    )
    assert(error.getMessage.contains("rewritten-file-scan-task-set-id"))
  }

  test("when a file has reached the target size, a new file is opened") {
    val t = filledTable()
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.parquet.row-group-size-bytes' = '40000')")
    spark.range(0, 20000, 1, 1).selectExpr("id", "sha2(CAST(id AS STRING), 256) AS name").writeTo(t)
      .option("target-file-size-bytes", "300000").append()
    val sizes = listed(t, "file_size_in_bytes, record_count").filter(_.getLong(1) > 10).map(_.getLong(0))
    assert(sizes.size > 2 && sizes.count(s => s > 240000 && s < 400000) >= sizes.size - 1, sizes)
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 20010)
  }

  test("the codec of Parquet files comes from the option, else from the session, else from the table property") {
    val t = filledTable()
    assert(codecs(t) == Set("ZSTD"))
    withConf("spark.sql.iceberg.compression-codec" -> "snappy")(tenRows.writeTo(t).append())
    assert(codecs(t) == Set("ZSTD", "SNAPPY"))
    withConf("spark.sql.iceberg.compression-codec" -> "snappy") {
      tenRows.writeTo(t).option("compression-codec", "gzip").option("compression-level", "9").append()
    }
    assert(codecs(t) == Set("ZSTD", "SNAPPY", "GZIP"))
  }

  test("output-spec-id writes with an earlier partition spec") {
    val t = filledTable()
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    tenRows.writeTo(t).append()
    tenRows.writeTo(t).option("output-spec-id", "0").append()
    assert(listed(t, "spec_id").map(_.getInt(0)).toSet == Set(0, 1))
    assert(listed(t, "spec_id, partition.id_bucket_2").filter(_.getInt(0) == 0).forall(_.isNullAt(1)))
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 30)
  }

  test("the option branch writes to an existing branch") {
    val t = filledTable()
    sql(s"ALTER TABLE ${inApacheIceberg(t)} CREATE BRANCH audit")
    sql(s"REFRESH TABLE $t")
    tenRows.writeTo(t).option("branch", "audit").append()
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)} VERSION AS OF 'audit'").head.getLong(0) == 20)
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 10)
    assertUnchanged(t) {
      val error = messages(intercept[Exception](tenRows.writeTo(t).option("branch", "nowhere").append()))
      assert(error.contains("Branch not found: nowhere"), error)
    }
  }

  test("an overwrite with isolation-level=serializable fails if rows were added after validate-from-snapshot-id") {
    val t = filledTable()
    val firstSnapshot = rows(s"SELECT snapshot_id FROM ${inApacheIceberg(t)}.snapshots").head.getLong(0).toString
    def overwrite(): Unit = tenRows.writeTo(t).option("isolation-level", "serializable")
      .option("validate-from-snapshot-id", firstSnapshot).overwrite(org.apache.spark.sql.functions.lit(true))
    sql(s"INSERT INTO $t VALUES (77, 'new')")
    assertUnchanged(t) {
      assert(messages(intercept[Exception](overwrite())).contains("isolation level serializable"))
    }
  }

  test("files of a table with a sort order are sorted and have the id of the sort order", Slow) {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg PARTITIONED BY (bucket(2, id))")
    sql(s"ALTER TABLE ${inApacheIceberg(t)} WRITE ORDERED BY name DESC NULLS LAST, id")
    sql(s"REFRESH TABLE $t")
    val name = "if(id % 10 = 0, NULL, concat('n', id * 7919 % 100)) AS name"
    spark.range(0, 1000, 1, 4).selectExpr("id", name).writeTo(t).append()
    val files = listed(t, "sort_order_id, file_path")
    assert(files.nonEmpty && files.forall(_.getInt(0) == 1))
    files.foreach { f =>
      val fileRows = spark.read.parquet(f.getString(1)).selectExpr("name", "id").collect()
        .map(r => (Option(r.getString(0)), r.getLong(1)))
      val names = fileRows.flatMap(_._1)
      assert(names.toSeq == names.sorted.reverse.toSeq && fileRows.dropWhile(_._1.isDefined).forall(_._1.isEmpty))
    }
    spark.range(5).selectExpr("id", "'x' AS name").writeTo(t).option("use-table-distribution-and-ordering", "false")
      .append()
    assert(listed(t, "sort_order_id").map(r => if (r.isNullAt(0)) 0 else r.getInt(0)).toSet == Set(0, 1))
  }

  test("rows for a table that accepts any schema are written by column name, and unknown columns are rejected") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT NOT NULL, name STRING, s STRUCT<x: INT, y: INT>) USING iceberg " +
      "TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    spark.range(2).selectExpr("named_struct('y', 2, 'x', 1) AS s", "id").writeTo(t).append()
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == Seq("[0,null,[1,2]]", "[1,null,[1,2]]"))
    def rejection(columns: String*): String =
      messages(intercept[Exception](spark.range(2).selectExpr(columns: _*).writeTo(t).append()))
    assert(rejection("id", "1 AS other").contains("Column not found: other"))
    assert(rejection("'a' AS name").contains("the column id, which is NOT NULL"))
    assert(rejection("if(id = 0, NULL, id) AS id").contains("check-nullability"))
    assert(rejection("CAST(id AS STRING) AS id").contains("Cast the values"))
  }

  test("if check-nullability is false, a write fails at the first null for a required column and changes nothing") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT NOT NULL) USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    def write(count: Long): Unit = spark.range(count).selectExpr("if(id = 5, NULL, id) AS id").writeTo(t)
      .option("check-nullability", "false").append()
    write(5)
    assertUnchanged(t)(assert(messages(intercept[Exception](write(10))).contains("Column id is NOT NULL")))
  }

  private def tenRows: DataFrame = spark.range(10).selectExpr("id", "concat('n', id) AS name")

  private def filledTable(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg")
    tenRows.coalesce(1).writeTo(t).append()
    t
  }

  private def codecs(table: String): Set[String] = listed(table, "file_path").map { row =>
    val file = HadoopInputFile.fromPath(new HadoopPath(row.getString(0)), new Configuration())
    val reader = ParquetFileReader.open(file)
    try reader.getFooter.getBlocks.get(0).getColumns.get(0).getCodec.name
    finally reader.close()
  }.toSet
}
