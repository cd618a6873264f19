package iceberglite.spark.types

import java.nio.ByteBuffer
import java.nio.file.{Files, Paths}

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.{DataFiles, FileFormat, SchemaParser, Table => PeerTable}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.io.api.Binary
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.data.{DataTarget, Record, Variant}
import iceberglite.data.avro.AvroData
import iceberglite.data.orc.OrcData
import iceberglite.data.parquet.{EncodedParquet, EncodedRecords}
import iceberglite.metrics.MetricsModes
import iceberglite.spark.read.parquet.ParquetFile
import iceberglite.spark.read.parquet.ParquetFile.comparable
import iceberglite.spec.json.SchemaJson
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type.{IntType, VariantType}
import iceberglite.storage.HadoopFileIO

/** Checks reads of tables with data files that Spark's vectorized reader cannot decode. */
class EncodedFilesSuite extends AnyFunSuite with JavaTables {
  private val rows = EncodedRecords.some(3000, seed = 11)

  /** Encodes all columns except `i` with byte-stream-split. Apache Iceberg must read `i` to find the rows to delete. */
  private val splitEncoder: EncodedParquet.Encoder = column =>
    if (column.getPath.sameElements(Array("i"))) None else EncodedParquet.split(column)

  private val io = new HadoopFileIO(new Configuration(false))

  private def append(table: PeerTable, encoder: EncodedParquet.Encoder, from: Int, until: Int): Unit = {
    val path = ParquetFile.newPath()
    EncodedParquet.write(io, path, EncodedRecords.schema, rows.slice(from, until), WriterVersion.PARQUET_2_0)(encoder)
    add(table, path, FileFormat.PARQUET, until - from)
  }

  private def add(table: PeerTable, path: String, format: FileFormat, rows: Int): Unit = {
    val file = DataFiles.builder(table.spec).withPath(Paths.get(path).toUri.toString).withFormat(format)
      .withFileSizeInBytes(Files.size(Paths.get(path))).withRecordCount(rows.toLong).build()
    table.newAppend().appendFile(file).commit()
  }

  /** Creates a table with a file that `encoder` encodes and a file in the default encoding. */
  private def tableOf(encoder: EncodedParquet.Encoder, version: Int): String = {
    val t = newTable()
    val schema = SchemaParser.fromJson(SchemaJson.toJson(EncodedRecords.schema))
    val properties = Map("format-version" -> version.toString, "write.delete.mode" -> "merge-on-read")
    val table = javaTable(t, schema, properties = properties)
    append(table, encoder, 0, 2000)
    append(table, _ => None, 2000, 3000)
    sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE i % 7 = 0 AND i < 2500")
    t
  }

  private def filesByRows(df: DataFrame): Long = {
    df.collect()
    df.queryExecution.executedPlan.collect { case scan: BatchScanExec => scan.metrics("filesReadByRows").value }.sum
  }

  for ((version, lineage) <- Seq(2 -> "", 3 -> ", _row_id, _last_updated_sequence_number"))
    test(
      s"a file with columns that cannot be read as vectors is read row by row, with the same rows, version $version",
      Sampling.slowInSomeRunsUnless(version == 3): _*
    ) {
      val (encoded, defaultEncoded) = (tableOf(splitEncoder, version), tableOf(_ => None, version))
      Seq(s"SELECT *, _pos, _spec_id$lineage FROM %s", "SELECT f, s.l, m FROM %s WHERE i > 1500 AND l > 0").foreach {
        query =>
          val (actual, expected) =
            (rows(s"${query.format(encoded)} ORDER BY i"), rows(s"${query.format(defaultEncoded)} ORDER BY i"))
          assert(comparable(actual) == comparable(expected))
          assert(filesByRows(sql(query.format(encoded))) == 1)
          assert(filesByRows(sql(query.format(defaultEncoded))) == 0)
      }
      assert(rows(s"SELECT count(d30) FROM $encoded") == rows(s"SELECT count(d30) FROM $defaultEncoded"))
      assert(filesByRows(sql(s"SELECT i, t FROM $encoded")) == 0)
      withConf("spark.sql.iceberg.vectorization.enabled" -> "false") {
        assert(filesByRows(sql(s"SELECT d FROM $encoded")) == 1)
      }
    }

  test("shredded variants are read together with files of other formats") {
    val metadata = Array[Byte](1, 0, 0)
    val text = Array[Byte]((2 << 2) | 1, 'h', 'i')
    val schema = Schema(0, Vector(required(1, "id", IntType), optional(2, "v", VariantType)))
    val t = newTable()
    val table = javaTable(t, SchemaParser.fromJson(SchemaJson.toJson(schema)))
    val shredded = ParquetFile.write(
      """message m { required int32 id = 1; optional group v = 2 { required binary metadata; optional binary value;
        |  optional int64 typed_value; } }""".stripMargin
    ) { g =>
      g.append("id", 1)
      g.addGroup("v").append("metadata", Binary.fromConstantByteArray(metadata)).append("typed_value", 7L)
    }
    add(table, shredded.path, FileFormat.PARQUET, 1)
    for ((format, peerFormat) <- Seq(AvroData -> FileFormat.AVRO, OrcData -> FileFormat.ORC)) {
      val path = ParquetFile.newPath()
      val writer = format.write(DataTarget(io, path, schema, Map.empty, MetricsModes(Map.empty)))
      writer.write(Record.of(2, Variant(ByteBuffer.wrap(metadata), ByteBuffer.wrap(text))))
      writer.close()
      add(table, path, peerFormat, 1)
    }
    assert(rows(s"SELECT v FROM $t ORDER BY id").map(_.getString(0)) == Seq("7", "\"hi\"", "\"hi\""))
  }
}
