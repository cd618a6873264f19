package iceberglite.spark.write

import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks write options and session settings for the format of data files, and for the codec and other properties. */
class FormatOptionsSuite extends AnyFunSuite with FormatFixture {

  test("the option write-format takes precedence over the table property, and a table can have files of all formats") {
    val t = create("id BIGINT", "avro")
    Seq("parquet", "orc", "avro").foreach(f => spark.range(5).writeTo(t).option("write-format", f).append())
    spark.range(5).writeTo(t).append()
    assert(listed(t, "file_format").map(_.getString(0).toLowerCase).distinct.sorted == Seq("avro", "orc", "parquet"))
    Seq(t, inApacheIceberg(t)).foreach(table =>
      assert(rows(s"SELECT count(*), sum(id) FROM $table").head == Row(20L, 40L))
    )
    val error = intercept[AnalysisException](spark.range(5).writeTo(t).option("write-format", "csv").append())
    assert(error.getMessage.contains("parquet, orc or avro"))
  }

  test("the codec of ORC and Avro files comes from the option, else from the session, else from the table property") {
    val tableCodecs = Map("write.orc.compression-codec" -> "lz4", "write.avro.compression-codec" -> "snappy")
    val t = create("id BIGINT", "orc", more = tableCodecs)
    def write(options: (String, String)*): Unit =
      spark.range(0, 5, 1, 1).writeTo(t).options(options.toMap).append()
    write()
    assert(codecs(t) == Set("LZ4"))
    write("write-format" -> "avro")
    assert(codecs(t) == Set("LZ4", "snappy"))
    withConf("spark.sql.iceberg.compression-codec" -> "zstd") {
      write()
      write("write-format" -> "avro")
      write("compression-codec" -> "none")
      write("write-format" -> "avro", "compression-codec" -> "gzip", "compression-level" -> "1")
    }
    assert(codecs(t) == Set("LZ4", "snappy", "ZSTD", "zstandard", "NONE", "deflate"))
  }

  test("an invalid codec, level or strategy is rejected with the values that the format supports") {
    val t = create("id BIGINT", "orc")
    def rejection(options: (String, String)*): String =
      intercept[AnalysisException](spark.range(5).writeTo(t).options(options.toMap).append()).getMessage
    val orcError = rejection("compression-codec" -> "gzip")
    assert(orcError.contains("option compression-codec") && orcError.contains("none, zlib, snappy, lzo, lz4, zstd"))
    val avroError = rejection("write-format" -> "avro", "compression-codec" -> "zlib")
    assert(avroError.contains("uncompressed, snappy, gzip, zstd"))
    assert(rejection("compression-strategy" -> "harder").contains("speed, compression"))
    assert(rejection("write-format" -> "avro", "compression-level" -> "high").contains("compression-level"))
    assert(listed(t).isEmpty)
  }

  test("the strategy of ORC files comes from the option, else from the session, else from the table property", Slow) {
    val t = create("id BIGINT, s STRING", "orc")
    def write(options: (String, String)*): Long = {
      val sizeBefore = listed(t, "file_size_in_bytes").map(_.getLong(0)).sum
      spark.range(0, 50000, 1, 1).selectExpr("id * 7919 % 10007 AS id", "concat('text ', id * 31 % 5003) AS s")
        .writeTo(t).options(options.toMap).append()
      listed(t, "file_size_in_bytes").map(_.getLong(0)).sum - sizeBefore
    }
    val defaultSize = write()
    val compressedSize = write("compression-strategy" -> "compression")
    assert(compressedSize < defaultSize)
    withConf("spark.sql.iceberg.compression-strategy" -> "compression")(assert(write() == compressedSize))
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.orc.compression-strategy' = 'compression')")
    assert(write() == compressedSize)
  }
}
