package iceberglite.data

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier}
import iceberglite.conformance.FormatRules
import iceberglite.data.avro.AvroData
import iceberglite.data.orc.OrcData
import iceberglite.metrics.MetricsModes
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.table.MemoryFileIO

/** Tests that reading a damaged file returns rows or throws an error that contains the path of the file. */
@MoreRoundsInSlowTier
class RowFileFuzzSuite extends AnyFunSuite {
  private val random = new Random(11)

  private val positionDeletes = Schema(0, Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition))
  private val equalityDeletes = Schema(
    1,
    Vector(
      required(1, "id", LongType),
      optional(2, "name", StringType),
      optional(3, "at", TimestampTzType),
      optional(4, "amount", DecimalType(12, 2))
    )
  )
  private val nested = Schema(
    2,
    Vector(
      optional(1, "l", ListType(2, StructType(Vector(optional(3, "x", BinaryType))), elementRequired = false)),
      optional(4, "m", MapType(5, IntType, 6, DoubleType, valueRequired = false)),
      optional(7, "u", UuidType),
      optional(8, "b", BooleanType),
      optional(9, "v", VariantType),
      required(10, "d", DateType)
    )
  )

  private def rows(schema: Schema, count: Int): Seq[Record] =
    if (schema == positionDeletes)
      (0 until count).map(i => Record.of(s"s3://bucket/table/data/${i / 50}.parquet", i.toLong))
    else {
      val record = RecordGenerators.record(schema.asStruct)
      Seq.fill(count)(record.pureApply(Gen.Parameters.default, Seed(random.nextLong())))
        .map(RecordGenerators.withoutLastSecondOf1969(_, schema.asStruct).asInstanceOf[Record])
    }

  private def file(format: DataFormat, schema: Schema, count: Int, properties: Map[String, String]): Array[Byte] = {
    val io = new MemoryFileIO
    val modes = MetricsModes(schema.byId.map { case (id, _) => id -> MetricsMode.Full })
    val writer = format.write(DataTarget(io, "mem:/f", schema, properties, modes))
    rows(schema, count).foreach(writer.write)
    writer.close()
    io.read("mem:/f")
  }

  private def readAll(format: DataFormat, schema: Schema)(bytes: Array[Byte]): Int = {
    val io = new MemoryFileIO
    io.write("mem:/f", bytes)
    try {
      val read = format.read(DataSource(io, "mem:/f", bytes.length.toLong), schema.asStruct)
      try read.size
      finally read.close()
    } catch {
      case e: UnreadableFile =>
        assert(e.getMessage.contains("mem:/f"))
        throw e
      case e: IcebergError => throw new AssertionError("The error for a damaged file must be an UnreadableFile", e)
    }
  }

  private def fuzz(format: DataFormat, codecs: Seq[Map[String, String]], rounds: Int): Unit =
    for {
      (schema, content) <-
        Seq(positionDeletes -> "position deletes", equalityDeletes -> "equality deletes", nested -> "rows")
    } {
      val valid = codecs.flatMap(codec => Seq(1, 300).map(file(format, schema, _, codec))).toIndexedSeq
      Fuzz.bytes(s"$content in ${format.format.name}", rounds, valid)(readAll(format, schema))
    }

  test("reading a damaged Avro file of rows or deletes returns rows or throws UnreadableFile", FormatRules.avroDamage) {
    fuzz(AvroData, Seq("uncompressed", "gzip", "zstd").map(c => Map("write.avro.compression-codec" -> c)), 400)
  }

  test("reading a damaged ORC file of rows or deletes returns rows or throws UnreadableFile", FormatRules.orcDamage) {
    fuzz(OrcData, Seq("none", "zlib", "zstd").map(c => Map("write.orc.compression-codec" -> c)), 400)
  }
}
