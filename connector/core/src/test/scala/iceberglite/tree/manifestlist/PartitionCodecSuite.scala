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

  /** Writes a partition tuple with the schema `written`, and reads and returns it with the schema `current`. */
  private def roundTrip(
      tuple: PartitionTuple,
      spec: PartitionSpec,
      written: Schema,
      current: Schema
  ): PartitionTuple = {
    val io = new MemoryFileIO
    val file = dataFile("a").copy(specId = spec.specId, partition = tuple)
    val manifest = Manifests.write(io, "m.avro", ManifestHeader(V2, Data, written, spec, 7L), Iterator(added(file)))
    Manifests.read(io, committed(manifest, 1L), Map(spec.specId -> spec), current).next().file.partition
  }

  private def table(t: PrimitiveType): Schema = Schema(0, Vector(NestedField.optional(1, "c", t)))
  private val byC: PartitionSpec = PartitionSpec(0, Vector(PartitionField(1, 1000, "c", Identity)))
  private def tupleOf(value: Literal): PartitionTuple = PartitionTuple(Vector(Some(value)))

  test("partition values of every type are read as written", ManifestRules.partitionTypes) {
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
      assert(roundTrip(tupleOf(value), byC, table(before), table(after)) == tupleOf(expected), s"$before to $after")
    }
  }

  test(
    "a day partition value is written as a date, and is also read if it was written as an int",
    ManifestRules.partitionTypes
  ) {
    val byDay = PartitionSpec(0, Vector(PartitionField(1, 1000, "c_day", Day)))
    val asInt = PartitionSpec(0, Vector(PartitionField(1, 1000, "c_day", Identity)))
    val date = tupleOf(DateLiteral(17))
    assert(roundTrip(date, byDay, table(TimestampType), table(TimestampType)) == date)
    val io = new MemoryFileIO
    val file = dataFile("a").copy(partition = tupleOf(IntLiteral(17)))
    val manifest = Manifests.write(
      io,
      "m.avro",
      ManifestHeader(V2, Data, table(IntType), asInt, 7L),
      Iterator(added(file))
    )
    val readBack = Manifests.read(io, committed(manifest, 1L), Map(0 -> byDay), table(TimestampType)).next()
    assert(readBack.file.partition == date)
  }

  test(
    "partition values of a dropped column keep their written type, even when their manifest is rewritten",
    ManifestRules.partitionTypes
  ) {
    val withoutColumn = Schema(1, Vector(NestedField.optional(2, "other", LongType)))
    val readBack = roundTrip(tupleOf(IntLiteral(5)), byC, table(IntType), withoutColumn)
    assert(readBack == tupleOf(IntLiteral(5)))
    assert(roundTrip(readBack, byC, withoutColumn, withoutColumn) == readBack)
    val decimal = tupleOf(DecimalLiteral(new java.math.BigDecimal("123.45")))
    assert(roundTrip(decimal, byC, withoutColumn, withoutColumn) == decimal)
  }

  test(
    "partition fields are matched by id, independent of their order in the partition spec",
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
      Manifests.write(
        io,
        "m.avro",
        ManifestHeader(V2, Data, schema, PartitionSpec(0, fields), 7L),
        Iterator(added(file))
      )
    val reordered = PartitionSpec(0, PartitionField(1, 1005, "new", Identity) +: fields.reverse)
    val readBack = Manifests.read(io, committed(manifest, 1L), Map(0 -> reordered), schema).next().file.partition
    assert(readBack == PartitionTuple(Vector(None, Some(StringLiteral("x")), Some(LongLiteral(1)))))
  }

  test(
    "version 1 manifests without any field ids are read by name, and their partition values by position",
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
    val empty = Manifests.write(
      io,
      "e.avro",
      ManifestHeader(FormatVersion.V1, Data, schema, spec, 7L),
      Iterator.empty
    )
    val listed = committed(empty.copy(path = "m.avro", length = 1L), 0L)
    val readBack = Manifests.read(io, listed, Map(0 -> spec), schema).toVector.head
    assert(readBack.file.partition == PartitionTuple(Vector(Some(LongLiteral(4L)), Some(StringLiteral("x")))))
    assert(readBack.file.format == FileFormat.Parquet)
    assert(readBack.snapshotId.contains(9L) && readBack.sequenceNumber.contains(0L))
    assert(readBack.file.metrics.valueCounts.isEmpty && readBack.file.splitOffsets.isEmpty)
  }

  test(
    "partition summaries have the promoted type, even for values from before the promotion",
    ManifestRules.summaries
  ) {
    val io = new MemoryFileIO
    val values = Seq(IntLiteral(5), LongLiteral(1L << 40))
    val entries = values.map(v => added(dataFile("a").copy(partition = tupleOf(v))))
    val manifest = Manifests.write(
      io,
      "m.avro",
      ManifestHeader(V2, Data, table(LongType), byC, 7L),
      entries.iterator
    )
    val summary = manifest.partitions.toVector.flatten.head
    assert(summary.lowerBound.contains(SingleValue.encode(LongLiteral(5L))))
    assert(summary.upperBound.contains(SingleValue.encode(LongLiteral(1L << 40))))
    val decimal = FieldSummary(containsNull = false, Some(false), Some(bytes(0, 0x96)), Some(bytes(0, 0x96)))
    val scaled = added(dataFile("a").copy(partition = tupleOf(DecimalLiteral(new java.math.BigDecimal("1.5")))))
    val ofDecimal = table(DecimalType(9, 2))
    val written = Manifests.write(io, "d.avro", ManifestHeader(V2, Data, ofDecimal, byC, 7L), Iterator(scaled))
    assert(written.partitions.contains(Vector(decimal)))
  }

  test("the error for a partition value with a wrong type contains the field and its type") {
    val error = intercept[InvalidArgument](roundTrip(tupleOf(StringLiteral("x")), byC, table(IntType), table(IntType)))
    assert(error.getMessage.contains("partition field c") && error.getMessage.contains("int"))
    assertThrows[InvalidArgument](roundTrip(PartitionTuple.Empty, byC, table(IntType), table(IntType)))
    val tooBig = tupleOf(DecimalLiteral(new java.math.BigDecimal("12345.678")))
    assertThrows[InvalidArgument](roundTrip(tooBig, byC, table(DecimalType(9, 2)), table(DecimalType(9, 2))))
  }
}
