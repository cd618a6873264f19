package iceberglite.spark.read.parquet

import java.io.File
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.{DataTarget, Record}
import iceberglite.data.parquet.ParquetData
import iceberglite.encryption.{EncryptedStorage, FileKey}
import iceberglite.metrics.MetricsModes
import iceberglite.parquet.DamagedFooter
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.Equal
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal.{IntLiteral, StringLiteral}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}

/**
 * Tests the vectorized reader and the reader by rows with encrypted files that have several row groups and pages,
 * dictionaries, page indexes and Bloom filters.
 */
class EncryptedBatchesSuite extends AnyFunSuite with TemporaryDirectory {
  private val io = new HadoopFileIO(new Configuration(false))
  private val nested = StructType(Vector(optional(5, "x", IntType)))

  private val schema = Schema(
    0,
    Vector(
      required(1, "id", IntType),
      optional(2, "name", StringType),
      optional(3, "list", ListType(4, nested, elementRequired = false))
    )
  )

  private def rows(count: Int): Vector[Record] = (0 until count).map { i =>
    Record.of(i, if (i % 5 == 0) null else s"name-${i % 300}", Vector(Record.of(Int.box(i)), null))
  }.toVector

  private def write(count: Int, properties: (String, String)*): (ParquetFile, FileKey) = {
    val path = s"$directory/${UUID.randomUUID}.parquet"
    val settings = Map(
      "write.parquet.row-group-size-bytes" -> "30000",
      "write.parquet.row-group-check-min-record-count" -> "100",
      "write.parquet.page-row-limit" -> "200"
    ) ++ properties
    val target = DataTarget(EncryptedStorage.of(io), path, schema, settings, MetricsModes(Map.empty))
    val writer = ParquetData.write(target)
    rows(count).foreach(writer.write)
    (new ParquetFile(path), FileKey.of(writer.close().dataFile(0, PartitionTuple.Empty, 0)).get)
  }

  private def scan(key: FileKey): ParquetFile.Scan =
    ParquetFile.Scan(schema.fields, batchRows = 500, task = _.copy(key = Some(key)))

  private def expected(count: Int): Seq[Row] =
    (0 until count).map(i => Row(i, if (i % 5 == 0) null else s"name-${i % 300}", Seq(Row(i), null)))

  private def equal(id: Int, literal: Literal): Expression =
    Equal(Term.Bound(schema.byId(id), schema.byId(id).name), literal)

  for (version <- Seq("v1", "v2"))
    test(s"all rows of an encrypted file are read as vectors and row by row: pages of version $version") {
      val (file, key) = write(10000, "write.parquet.page-version" -> version)
      assert(file.read(scan(key)) == expected(10000))
    }

  test("filters skip row groups and pages of an encrypted file") {
    val (file, key) = write(10000, "write.parquet.bloom-filter-enabled.column.name" -> "true")
    val found = file.read(scan(key).withFilter(equal(1, IntLiteral(7777))))
    assert(found.contains(expected(10000)(7777)) && found.size < 1000)
    assert(file.read(scan(key).withFilter(equal(2, StringLiteral("no-such-name")))).isEmpty)
  }

  test("the splits of an encrypted file have all rows, each once") {
    val (file, key) = write(10000)
    val length = new File(file.path).length
    val parts = (0L until length by length / 7 + 1).map { start =>
      file.read(scan(key).copy(task = _.copy(key = Some(key), start = start, length = length / 7 + 1)))
    }
    assert(parts.count(_.nonEmpty) > 2 && parts.flatten == expected(10000))
  }

  test("a file with another key, or without its key, is not read") {
    val (file, key) = write(100)
    val (_, other) = write(100)
    Seq(scan(other), scan(key).copy(task = identity)).foreach { wrong =>
      intercept[DamagedFooter](file.read(wrong))
    }
  }
}
