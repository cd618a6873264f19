package iceberglite.tree.manifestlist

import java.io.ByteArrayOutputStream

import org.apache.avro.file.DataFileWriter
import org.apache.avro.generic.{GenericData, GenericDatumWriter, GenericRecord}
import org.apache.avro.{Schema => AvroSchema}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ManifestRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.{FieldSummary, FileFormat}
import iceberglite.spec.file.ManifestContent.Data
import iceberglite.spec.partition.{Day, Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples._

class PartitionCodecSuite extends AnyFunSuite {

  /** Writes a file with the tuple using `spec` and `written`, and returns its tuple read with `specs` and `now`. */
  private def roundTrip(tuple: PartitionTuple, spec: PartitionSpec, written: Schema, now: Schema): PartitionTuple = {
    val io = new MemoryFileIO
    val file = dataFile("a").copy(specId = spec.specId, partition = tuple)
    val manifest = Manifests.write(io, "m.avro", V2, Data, written, spec, 7L, Iterator(added(file)))
    Manifests.read(io, committed(manifest, 1L), Map(spec.specId -> spec), now).next().file.partition
  }

  private def table(t: PrimitiveType): Schema = Schema(0, Vector(NestedField.optional(1, "c", t)))
  private val byC: PartitionSpec = PartitionSpec(0, Vector(PartitionField(1, 1000, "c", Identity)))
  private def of(value: Literal): PartitionTuple = PartitionTuple(Vector(Some(value)))

  test("values of every type round-trip", ManifestRules.partitionTypes) {
    val tuple = PartitionTuple(everyType.map { case (_, value) => Some(value) })
    assert(roundTrip(tuple, wideSpec, wideSchema, wideSchema) == tuple)
    val nulls = PartitionTuple(everyType.map(_ => None))
    assert(roundTrip(nulls, wideSpec, wideSchema, wideSchema) == nulls)
  }

  test("values of a promoted column are read as the new type", ManifestRules.partitionTypes) {
    val cases: Seq[(PrimitiveType, Literal, PrimitiveType, Literal)] = Seq(
      (IntType, IntLiteral(-5), LongType, LongLiteral(-5L)),
      (FloatType, FloatLiteral(1.5f), DoubleType, DoubleLiteral(1.5)),
      (DateType, DateLiteral(-1), TimestampType, TimestampLiteral(-86400000000L)),
      (DateType, DateLiteral(1), TimestampNsType, TimestampNsLiteral(86400000000000L)),
      (
        DecimalType(5, 2),
        DecimalLiteral(new java.math.BigDecimal("-1.50")),
        DecimalType(20, 2),
        DecimalLiteral(new java.math.BigDecimal("-1.50"))
      )
    )
    cases.foreach { case (before, value, after, expected) =>
      assert(roundTrip(of(value), byC, table(before), table(after)) == of(expected), s"$before to $after")
    }
  }

  test("a day is written as a date, and an int from older writers is also read", ManifestRules.partitionTypes) {
    val byDay = PartitionSpec(0, Vector(PartitionField(1, 1000, "c_day", Day)))
    val asInt = PartitionSpec(0, Vector(PartitionField(1, 1000, "c_day", Identity)))
    assert(roundTrip(of(DateLiteral(17)), byDay, table(TimestampType), table(TimestampType)) == of(DateLiteral(17)))
    val io = new MemoryFileIO
    val file = dataFile("a").copy(partition = of(IntLiteral(17)))
    val manifest = Manifests.write(io, "m.avro", V2, Data, table(IntType), asInt, 7L, Iterator(added(file)))
    val back = Manifests.read(io, committed(manifest, 1L), Map(0 -> byDay), table(TimestampType)).next()
    assert(back.file.partition == of(DateLiteral(17)))
  }

  test(
    "values of a dropped column keep their type in the file, even when they are rewritten",
    ManifestRules.partitionTypes
  ) {
    val gone = Schema(1, Vector(NestedField.optional(2, "other", LongType)))
    val once = roundTrip(of(IntLiteral(5)), byC, table(IntType), gone)
    assert(once == of(IntLiteral(5)))
    assert(roundTrip(once, byC, gone, gone) == once)
    val decimal = of(DecimalLiteral(new java.math.BigDecimal("123.45")))
    assert(roundTrip(decimal, byC, gone, gone) == decimal)
  }

  test(
    "fields are found by id, whatever their order in the spec",
    ManifestRules.fieldsById,
    ManifestRules.partitionTypes
  ) {
    val schema =
      Schema(0, Vector(NestedField.optional(1, "a", LongType), NestedField.optional(2, "b", StringType)))
    val fields = Vector(PartitionField(1, 1000, "a", Identity), PartitionField(2, 1001, "b", Identity))
    val tuple = PartitionTuple(Vector(Some(LongLiteral(1)), Some(StringLiteral("x"))))
    val io = new MemoryFileIO
    val file = dataFile("a").copy(partition = tuple)
    val manifest =
      Manifests.write(io, "m.avro", V2, Data, schema, PartitionSpec(0, fields), 7L, Iterator(added(file)))
    val reordered = PartitionSpec(0, PartitionField(1, 1005, "new", Identity) +: fields.reverse)
    val back = Manifests.read(io, committed(manifest, 1L), Map(0 -> reordered), schema).next().file.partition
    assert(back == PartitionTuple(Vector(None, Some(StringLiteral("x")), Some(LongLiteral(1)))))
  }

  test(
    "version 1 files without any ids are read by name, and their partitions by position",
    ManifestRules.namesWithoutIds,
    ManifestRules.formatWithoutCase
  ) {
    val json =
      """{"type":"record","name":"manifest_entry","fields":[
        |{"name":"status","type":"int"},{"name":"snapshot_id","type":"long"},
        |{"name":"data_file","type":{"type":"record","name":"r2","fields":[
        |  {"name":"file_path","type":"string"},{"name":"file_format","type":"string"},
        |  {"name":"partition","type":{"type":"record","name":"r102","fields":[
        |    {"name":"old_name","type":["null","int"]},{"name":"second","type":["string","null"]}]}},
        |  {"name":"record_count","type":"long"},{"name":"file_size_in_bytes","type":"long"}]}}]}""".stripMargin
    val avro = new AvroSchema.Parser().parse(json)
    val fileSchema = avro.getField("data_file").schema
    val partition = new GenericData.Record(fileSchema.getField("partition").schema)
    partition.put("old_name", 4)
    partition.put("second", "x")
    val file = new GenericData.Record(fileSchema)
    Seq("file_path" -> "/t/a.parquet", "file_format" -> "parquet", "record_count" -> 3L, "file_size_in_bytes" -> 4L)
      .foreach { case (name, value) => file.put(name, value) }
    file.put("partition", partition)
    val entry = new GenericData.Record(avro)
    entry.put("status", 1)
    entry.put("snapshot_id", 9L)
    entry.put("data_file", file)
    val out = new ByteArrayOutputStream
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](avro)).create(avro, out)
    writer.append(entry)
    writer.close()
    val io = new MemoryFileIO
    io.write("m.avro", out.toByteArray)
    val schema = Schema(0, Vector(NestedField.optional(1, "a", LongType), NestedField.optional(2, "b", StringType)))
    val spec =
      PartitionSpec(0, Vector(PartitionField(1, 1000, "a", Identity), PartitionField(2, 1001, "b", Identity)))
    val empty = Manifests.write(io, "e.avro", FormatVersion.V1, Data, schema, spec, 7L, Iterator.empty)
    val listed = committed(empty.copy(path = "m.avro", length = 1L), 0L)
    val back = Manifests.read(io, listed, Map(0 -> spec), schema).toVector.head
    assert(back.file.partition == PartitionTuple(Vector(Some(LongLiteral(4L)), Some(StringLiteral("x")))))
    assert(back.file.format == FileFormat.Parquet && back.snapshotId.contains(9L) && back.sequenceNumber.contains(0L))
    assert(back.file.metrics.valueCounts.isEmpty && back.file.splitOffsets.isEmpty)
  }

  test("values written before a promotion are summarized in the new type", ManifestRules.summaries) {
    val io = new MemoryFileIO
    val values = Seq(IntLiteral(5), LongLiteral(1L << 40))
    val entries = values.map(v => added(dataFile("a").copy(partition = of(v))))
    val manifest = Manifests.write(io, "m.avro", V2, Data, table(LongType), byC, 7L, entries.iterator)
    val summary = manifest.partitions.toVector.flatten.head
    assert(summary.lowerBound.contains(SingleValue.encode(LongLiteral(5L))))
    assert(summary.upperBound.contains(SingleValue.encode(LongLiteral(1L << 40))))
    val decimal = FieldSummary(containsNull = false, Some(false), Some(bytes(0, 0x96)), Some(bytes(0, 0x96)))
    val scaled = added(dataFile("a").copy(partition = of(DecimalLiteral(new java.math.BigDecimal("1.5")))))
    val ofDecimal = table(DecimalType(9, 2))
    val written = Manifests.write(io, "d.avro", V2, Data, ofDecimal, byC, 7L, Iterator(scaled))
    assert(written.partitions.contains(Vector(decimal)))
  }

  test("the error for a value of another type than its field names it") {
    val error = intercept[InvalidArgument](roundTrip(of(StringLiteral("x")), byC, table(IntType), table(IntType)))
    assert(error.getMessage.contains("partition field c") && error.getMessage.contains("int"))
    assertThrows[InvalidArgument](roundTrip(PartitionTuple.Empty, byC, table(IntType), table(IntType)))
    val tooBig = of(DecimalLiteral(new java.math.BigDecimal("12345.678")))
    assertThrows[InvalidArgument](roundTrip(tooBig, byC, table(DecimalType(9, 2)), table(DecimalType(9, 2))))
  }
}
