package iceberglite.spark.write

import java.net.URI
import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import org.apache.iceberg.SchemaParser
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.{DataFrame, Row}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.data.{Record, RecordGenerators}
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.error.OperationError
import iceberglite.spark.read.files.RecordRows
import iceberglite.spark.types.JavaTables
import iceberglite.spec.json.SchemaJson
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type.TimeType

/** Checks that iceberg-lite and Apache Iceberg read the ORC and Avro files that iceberg-lite writes. */
class WrittenFormatsSuite extends AnyFunSuite with FormatFixture with JavaTables {
  private val formats = Seq("orc", "avro")

  /** The types of format version 2 that Apache Iceberg's Spark integration can read. */
  private val types = RecordGenerators.ofVersion2.filter(_ != TimeType)

  private def sample[A](gen: Gen[A], seed: Long): A = gen.pureApply(Gen.Parameters.default, Seed(seed))

  private def frame(schema: Schema, records: Seq[Record]): DataFrame = {
    val sparkSchema = SparkTypes.toSpark(schema)
    val toRow = RecordRows.of(schema.fields)
    val toScala = CatalystTypeConverters.createToScalaConverter(sparkSchema)
    spark.createDataFrame(records.map(r => toScala(toRow(r)).asInstanceOf[Row]).asJava, sparkSchema)
  }

  /** Returns the rows as text, such that equal values have equal text. */
  private def asText(values: DataFrame): Seq[String] = values.collect().map(text).sorted.toSeq

  private def text(value: Any): String = value match {
    case row: Row => row.toSeq.map(text).mkString("[", ", ", "]")
    case bytes: Array[Byte] => bytes.map(b => f"$b%02x").mkString("x", "", "")
    case map: scala.collection.Map[_, _] =>
      map.toSeq.map { case (k, v) => s"${text(k)} -> ${text(v)}" }.sorted.mkString("{", ", ", "}")
    case elements: Seq[_] => elements.map(text).mkString("(", ", ", ")")
    case other => String.valueOf(other)
  }

  private def readRowByRow(table: String): DataFrame = spark.read.option("vectorization-enabled", "false").table(table)

  for (format <- formats) {
    test(
      s"$format: random rows are read back in batches, row by row and by Apache Iceberg",
      Sampling.slowInSomeRuns(isAlwaysRun = format == "orc"): _*
    ) {
      withConf("spark.sql.datetime.java8API.enabled" -> "true") {
        (1L to 7L).foreach { seed =>
          val schema = sample(RecordGenerators.schema(types), seed)
          val records = sample(RecordGenerators.records(schema, most = 40), seed)
            .map(RecordGenerators.withoutLastSecondOf1969(_, schema.asStruct).asInstanceOf[Record])
          val t = newTable()
          javaTable(t, SchemaParser.fromJson(SchemaJson.toJson(schema)), properties = Map("format-version" -> "2"))
          val rows = frame(schema, records).coalesce(1)
          rows.writeTo(t).option("write-format", format).append()
          val expected = asText(rows)
          assert(asText(spark.table(t)) == expected, s"seed $seed")
          assert(asText(readRowByRow(t)) == expected, s"seed $seed")
          assert(asText(spark.table(inApacheIceberg(t))) == expected, s"seed $seed")
        }
      }
    }

    test(
      s"$format: manifests match the files of a partitioned table, for sorted rows and with fan-out",
      Sampling.slowInSomeRuns(isAlwaysRun = format == "avro"): _*
    ) {
      val t = create("id BIGINT, part STRING, at TIMESTAMP", format, "PARTITIONED BY (part, days(at), bucket(2, id))")
      sql(s"ALTER TABLE ${inApacheIceberg(t)} WRITE ORDERED BY id")
      sql(s"REFRESH TABLE $t")
      val rows = spark.range(0, 800, 1, 2)
        .selectExpr("id", "if(id % 5 = 0, NULL, concat('p', id % 3)) AS part", "timestamp_seconds(id * 200) AS at")
      rows.writeTo(t).append()
      rows.writeTo(t).option("use-table-distribution-and-ordering", "false").append()
      val columns = "file_path, file_format, file_size_in_bytes, record_count, sort_order_id, split_offsets"
      val files = listed(t, columns)
      assert(files.nonEmpty && files.map(_.getLong(3)).sum == 1600)
      files.foreach { f =>
        val path = Paths.get(URI.create(f.getString(0)).getPath)
        assert(path.toString.endsWith(s".$format") && f.getString(1).equalsIgnoreCase(format))
        assert(Files.size(path) == f.getLong(2) && rowsIn(path.toString, format) == f.getLong(3))
        assert(offsets(f, 5) == (if (format == "orc") stripes(path.toString) else Seq.empty))
      }
      assert(files.map(f => if (f.isNullAt(4)) 0 else f.getInt(4)).toSet == Set(0, 1))
      assert(
        asText(spark.table(t)) == asText(rows.union(rows)) && asText(spark.table(inApacheIceberg(t))) == asText(
          spark.table(t)
        )
      )
      val day = "at >= TIMESTAMP '1970-01-02 00:00:00' AND part = 'p1'"
      assert(asText(spark.table(t).where(day)) == asText(rows.union(rows).where(day)))
    }

    test(
      s"$format: a dynamic overwrite replaces the partitions of the new rows, a static overwrite the given one",
      Sampling.slowInSomeRunsUnless(format == "orc"): _*
    ) {
      val t = create("id BIGINT, part INT", format, "PARTITIONED BY (part)")
      sql(s"INSERT INTO $t SELECT id, CAST(id % 3 AS INT) FROM range(30)")
      withConf("spark.sql.sources.partitionOverwriteMode" -> "dynamic") {
        sql(s"INSERT OVERWRITE $t VALUES (100, 1), (101, 7)")
      }
      assert(rows(s"SELECT part, count(*) FROM ${inApacheIceberg(t)} GROUP BY part ORDER BY part").map(_.toString) ==
        Seq("[0,10]", "[1,1]", "[2,10]", "[7,1]"))
      sql(s"INSERT OVERWRITE $t PARTITION (part = 0) VALUES (200)")
      assert(rows(s"SELECT part, count(*) FROM ${inApacheIceberg(t)} GROUP BY part ORDER BY part").map(_.toString) ==
        Seq("[0,1]", "[1,1]", "[2,10]", "[7,1]"))
      assert(listed(t, "file_format").forall(_.getString(0).equalsIgnoreCase(format)))
    }

    test(
      s"$format: a write that omits a column stores the column's default",
      Sampling.slowInSomeRunsUnless(format == "avro"): _*
    ) {
      val t = newTable()
      sql(s"""CREATE TABLE $t (id INT, s STRING DEFAULT 'd', n INT) USING iceberg
        TBLPROPERTIES ('format-version' = '3', 'write.format.default' = '$format')""")
      sql(s"INSERT INTO $t (id) VALUES (1)")
      sql(s"INSERT INTO $t VALUES (2, NULL, 7)")
      Seq(t, inApacheIceberg(t)).foreach(table =>
        assert(sorted(s"SELECT * FROM $table") == Seq("[1,d,null]", "[2,null,7]"))
      )
      assert(rows(s"SELECT id, _row_id FROM ${inApacheIceberg(t)} ORDER BY id").map(_.toString) == Seq(
        "[1,0]",
        "[2,1]"
      ))
    }

    test(
      s"$format: when a file has reached the target size, a new file is opened",
      Sampling.slowInSomeRunsUnless(format == "orc"): _*
    ) {
      val t = create("id BIGINT, name STRING", format)
      spark.range(0, 40000, 1, 1).selectExpr("id", "sha2(CAST(id AS STRING), 256) AS name").writeTo(t)
        .option("target-file-size-bytes", "300000").append()
      val sizes = listed(t, "file_size_in_bytes").map(_.getLong(0))
      assert(sizes.size > 2 && sizes.count(s => s > 200000 && s < 400000) >= sizes.size - 1, sizes)
      assert(rows(s"SELECT count(DISTINCT name) FROM ${inApacheIceberg(t)}").head.getLong(0) == 40000)
    }

    test(
      s"$format: neither a failed task nor a null in a NOT NULL column leaves a file",
      Sampling.slowInSomeRunsUnless(format == "avro"): _*
    ) {
      val failAt = udf((id: Long) => if (id == 3500) throw new IllegalStateException("no more") else id)
      val t = create("id BIGINT NOT NULL, part BIGINT", format, "PARTITIONED BY (part)")
      sql(s"INSERT INTO $t VALUES (1, 1)")
      assertUnchanged(t) {
        val error = intercept[Exception] {
          spark.range(0, 4000, 1, 8).select(failAt(col("id")).as("id"), (col("id") % 100).as("part")).writeTo(t)
            .option("distribution-mode", "none").option("check-nullability", "false").append()
        }
        assert(messages(error).contains("no more"))
        val missing = intercept[OperationError] {
          sql(s"INSERT INTO $t SELECT if(id = 7, NULL, id), id % 3 FROM range(10)")
        }
        assert(messages(missing).contains("is NOT NULL"))
      }
    }

    test(
      s"$format: if check-nullability is false, the error at the first null contains the column name",
      Sampling.slowInSomeRunsUnless(format == "orc"): _*
    ) {
      val t = newTable()
      sql(s"CREATE TABLE $t (id BIGINT NOT NULL) USING iceberg TBLPROPERTIES " +
        s"('write.spark.accept-any-schema' = 'true', 'write.format.default' = '$format')")
      assertUnchanged(t) {
        val error = intercept[Exception] {
          spark.range(10).selectExpr("if(id = 5, NULL, id) AS id").writeTo(t).option("check-nullability", "false")
            .append()
        }
        assert(messages(error).contains("Column id is NOT NULL"))
      }
    }
  }

  test("the format in CREATE TABLE ... USING is the format of the table's files") {
    for (format <- formats) {
      val t = newTable()
      sql(s"CREATE TABLE $t (id INT) USING $format")
      sql(s"INSERT INTO $t VALUES (1)")
      assert(
        rows(s"SELECT file_format FROM ${inApacheIceberg(t)}.files").map(_.getString(0)) == Seq(format.toUpperCase)
      )
      assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == Seq("[1]"))
    }
  }
}
