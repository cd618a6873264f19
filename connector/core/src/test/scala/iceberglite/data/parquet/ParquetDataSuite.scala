package iceberglite.data.parquet

import java.nio.ByteBuffer
import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.api.Binary
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.{MetricsRules, ParquetRules}
import iceberglite.data.{DataTarget, Record, RecordGenerators, Variant}
import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile, Unsupported, ValidationFailed}
import iceberglite.spec.geo.{Extent, Wkb}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{DefaultValue, Literal, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{DataInput, TemporaryDirectory}

class ParquetDataSuite extends AnyFunSuite with ScalaCheckPropertyChecks with TemporaryDirectory with ParquetFiles {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 50)

  private val nested = schemaOf(
    required(1, "id", LongType),
    optional(
      2,
      "points",
      ListType(3, StructType(Vector(required(4, "x", FloatType), optional(5, "y", IntType))), elementRequired = false)
    ),
    optional(6, "tags", MapType(7, StringType, 8, IntType, valueRequired = false)),
    optional(10, "where", StructType(Vector(optional(11, "lat", IntType), optional(12, "lon", IntType))))
  )
  private val rows = Vector(
    Record.of(1L, Vector(Record.of(1.5f, 2), null), Vector(("a", 1), ("b", null)), Record.of(7, 8)),
    Record.of(2L, Vector.empty, Vector.empty, null),
    Record.of(3L, null, null, Record.of(null, 9))
  )

  test("fields are found by id at every level, under new names and in a new order", ParquetRules.columnsById) {
    val evolved = schemaOf(
      optional(10, "place", StructType(Vector(optional(12, "east", IntType), optional(11, "north", IntType)))),
      optional(6, "labels", MapType(7, StringType, 8, IntType, valueRequired = false)),
      optional(
        2,
        "path",
        ListType(
          3,
          StructType(Vector(optional(5, "why", IntType), required(4, "ex", FloatType))),
          elementRequired = false
        )
      )
    )
    val read = this.read(write(nested, rows).path, evolved)
    assert(read == Vector(
      Record.of(Record.of(8, 7), Vector(("a", 1), ("b", null)), Vector(Record.of(2, 1.5f), null)),
      Record.of(null, Vector.empty, Vector.empty),
      Record.of(Record.of(9, null), null, null)
    ))
  }

  test("narrower types are read as the promoted type of the column", ParquetRules.promoted) {
    val old = schemaOf(
      optional(1, "i", IntType),
      optional(2, "f", FloatType),
      optional(3, "d", DecimalType(9, 2)),
      optional(4, "wide", DecimalType(18, 2)),
      optional(5, "day", DateType),
      optional(6, "dayNs", DateType),
      optional(7, "l", ListType(8, IntType, elementRequired = false))
    )
    val promoted = schemaOf(
      optional(1, "i", LongType),
      optional(2, "f", DoubleType),
      optional(3, "d", DecimalType(18, 2)),
      optional(4, "wide", DecimalType(38, 2)),
      optional(5, "day", TimestampType),
      optional(6, "dayNs", TimestampNsType),
      optional(7, "l", ListType(8, LongType, elementRequired = false)),
      optional(9, "unknown", UnknownType)
    )
    def decimal(text: String) = new java.math.BigDecimal(text)
    val file = write(old, Seq(Record.of(-1, 1.5f, decimal("1.25"), decimal("-9.99"), -1, 1, Vector(1, null))))
    val micros = -86400000000L
    val expected =
      Record.of(-1L, 1.5, decimal("1.25"), decimal("-9.99"), micros, 86400000000000L, Vector(1L, null), null)
    assert(read(file.path, promoted) == Vector(expected))
    val tooLate = write(old, Seq(new Record(Array[AnyRef](null, null, null, null, null, Int.box(Int.MaxValue), null))))
    val error = intercept[UnreadableFile](read(tooLate.path, promoted))
    assert(error.getMessage.contains(tooLate.path) && error.getMessage.contains("Column dayNs"))
  }

  test("the error for a type that cannot be promoted to the column type contains the column") {
    val file = write(schemaOf(optional(1, "s", StringType)), Seq(Record.of("x")))
    val error = intercept[UnreadableFile](read(file.path, schemaOf(optional(1, "n", LongType))))
    assert(error.getMessage.contains("Column n: The Parquet type") && error.getMessage.contains(file.path))
  }

  test(
    "a field that the file lacks is a constant, its initial default, null, or an error",
    ParquetRules.missingColumns
  ) {
    val path = write(schemaOf(required(1, "id", LongType)), Seq(Record.of(1L))).path
    val default = DefaultValue.OfPrimitive(StringLiteral("d"))
    val later = schemaOf(
      optional(2, "part", IntType),
      optional(3, "added", StringType).copy(initialDefault = Some(default)),
      optional(4, "none", StringType),
      optional(5, "s", StructType(Vector(optional(6, "in", StringType).copy(initialDefault = Some(default)))))
        .copy(initialDefault = Some(DefaultValue.EmptyStruct))
    )
    assert(read(path, later, Map(2 -> Int.box(7))) == Vector(Record.of(7, "d", null, Record.of("d"))))
    val error = intercept[UnreadableFile] {
      read(path, schemaOf(required(7, "must", StructType(Vector(required(8, "be", IntType))))))
    }
    assert(error.getMessage.contains("Column must") && error.getMessage.contains(path))
  }

  test("a column in the file takes precedence over a constant with the same field id") {
    val schema = schemaOf(optional(1, "id", LongType))
    assert(read(write(schema, Seq(Record.of(1L))).path, schema, Map(1 -> Long.box(9))) == Vector(Record.of(1L)))
  }

  test("a struct without any projected field is null where the file has null", ParquetRules.structsKept) {
    val projection = schemaOf(optional(10, "where", StructType(Vector(optional(99, "alt", IntType)))))
    assert(read(write(nested, rows).path, projection) == Vector(
      Record.of(Record.of(null)),
      Record.of(null),
      Record.of(Record.of(null))
    ))
    val inList = schemaOf(
      optional(2, "points", ListType(3, StructType(Vector(optional(98, "z", IntType))), elementRequired = false))
    )
    assert(read(write(nested, rows).path, inList).head == Record.of(Vector(Record.of(null), null)))
  }

  test("_pos is the position in the whole file, and can be the only projected column", ParquetRules.positions) {
    val schema = schemaOf(required(1, "s", StringType))
    val many = (0 until 3000).map(i => Record.of(s"$i" * 30))
    val file = write(schema, many, Map("write.parquet.row-group-size-bytes" -> "20000"))
    assert(file.splitOffsets.size > 2)
    val withPosition = Schema(0, MetadataColumns.Position +: schema.fields)
    assert(read(file.path, withPosition) == many.zipWithIndex.map { case (r, i) => Record.of(i.toLong, r(0)) })
    val only = read(file.path, Schema(0, Vector(MetadataColumns.Position)))
    assert(only == (0 until 3000).map(i => Record.of(i.toLong)))
    assert(read(file.path, Schema.Empty).size == 3000)
  }

  test("the error for a null in a required field contains the path of the field", ParquetRules.requiredValues) {
    val error = intercept[ValidationFailed](write(nested, Seq(Record.of(1L, Vector(Record.of(null, 1)), null, null))))
    assert(error.getMessage.contains("Column points.element.x is required"))
    val keys = schemaOf(optional(6, "tags", MapType(7, StringType, 8, IntType, valueRequired = false)))
    assert(intercept[ValidationFailed](write(keys, Seq(Record.of(Vector((null, 1)))))).getMessage.contains("tags.key"))
  }

  test("writing a struct or list without any stored field is rejected", ParquetRules.unknownNotStored) {
    Seq(StructType(Vector(optional(2, "u", UnknownType))), ListType(2, UnknownType, elementRequired = false)).foreach {
      t =>
        assert(intercept[Unsupported](write(schemaOf(optional(1, "c", t)), Seq.empty)).getMessage.nonEmpty)
    }
  }

  test("the compression codec follows the table property, and an unknown codec is rejected") {
    val schema = schemaOf(required(1, "s", StringType))
    Seq("zstd", "gzip", "snappy", "uncompressed").foreach { codec =>
      val properties =
        Map(
          "write.parquet.compression-codec" -> codec,
          "write.parquet.compression-level" -> "2",
          "write.parquet.page-row-limit" -> "10"
        )
      val file = write(schema, (1 to 100).map(i => Record.of(s"v$i")), properties)
      assert(footer(file.path).getBlocks.get(0).getColumns.get(0).getCodec.name.equalsIgnoreCase(codec))
      assert(read(file.path, schema).size == 100)
    }
    val error = intercept[InvalidArgument](write(schema, Seq.empty, Map("write.parquet.compression-codec" -> "lzo")))
    assert(error.getMessage.contains("write.parquet.compression-codec"))
  }

  test("an aborted file is deleted, the writer reports the length so far, and key-value metadata is written") {
    val schema = schemaOf(required(1, "l", LongType))
    val path = newPath()
    val writer = ParquetData.write(DataTarget(io, path, schema, Map.empty, full(schema), Map("a key" -> "a value")))
    (1 to 100000).foreach(i => writer.write(Record.of(i * 7919L)))
    assert(writer.length > 100000)
    writer.abort()
    assert(!Files.exists(Paths.get(path)))
    val again = ParquetData.write(DataTarget(io, path, schema, Map.empty, full(schema), Map("a key" -> "a value")))
    again.write(Record.of(1L))
    again.close()
    assert(footer(path).getFileMetaData.getKeyValueMetaData.asScala.get("a key").contains("a value"))
  }

  test(
    "the bounds of floating-point columns ignore NaN and keep the sign of zeros",
    MetricsRules.nans,
    MetricsRules.zeros,
    MetricsRules.counts
  ) {
    val schema = schemaOf(
      optional(1, "mixed", DoubleType),
      optional(2, "nans", FloatType),
      optional(3, "negative", DoubleType),
      optional(4, "zeros", FloatType),
      optional(5, "infinite", DoubleType),
      optional(6, "nulls", FloatType)
    )
    val file = write(
      schema,
      Seq(
        Record.of(Double.NaN, Float.NaN, -0.0, 0.0f, Double.NegativeInfinity, null),
        Record.of(2.5, Float.NaN, -0.0, -0.0f, Double.PositiveInfinity, null),
        Record.of(-1.5, null, -0.0, 0.0f, Double.NaN, null)
      )
    )
    val m = file.metrics
    assert(m.nanValueCounts.contains(Map(1 -> 1L, 2 -> 2L, 3 -> 0L, 4 -> 0L, 5 -> 1L, 6 -> 0L)))
    assert(m.nullValueCounts.contains(Map(1 -> 0L, 2 -> 1L, 3 -> 0L, 4 -> 0L, 5 -> 0L, 6 -> 3L)))
    assert(m.valueCounts.get.values.toSet == Set(3L) && m.columnSizes.get.keySet == (1 to 6).toSet)
    def bounds(id: Int) = for (l <- m.lowerBound(id); u <- m.upperBound(id)) yield (l, u)
    def encoded(lower: Literal, upper: Literal) = Some((SingleValue.encode(lower), SingleValue.encode(upper)))
    assert(bounds(1) == encoded(DoubleLiteral(-1.5), DoubleLiteral(2.5)))
    assert(bounds(2).isEmpty && bounds(6).isEmpty)
    assert(bounds(3) == encoded(DoubleLiteral(-0.0), DoubleLiteral(-0.0)))
    assert(bounds(4) == encoded(FloatLiteral(-0.0f), FloatLiteral(0.0f)))
    assert(bounds(5) == encoded(DoubleLiteral(Double.NegativeInfinity), DoubleLiteral(Double.PositiveInfinity)))
  }

  test(
    "geometries have counts and bounds, and variants without typed columns have counts",
    MetricsRules.spatialBounds,
    ParquetRules.variantParts
  ) {
    val schema =
      schemaOf(optional(1, "v", VariantType), optional(2, "g", GeometryType(DefaultCrs)), optional(3, "i", IntType))
    forAll(Gen.listOfN(5, RecordGenerators.record(schema.asStruct))) { rows =>
      val m = write(schema, rows).metrics
      assert(m.valueCounts.get == Map(1 -> 5L, 2 -> 5L, 3 -> 5L) && !m.lowerBounds.get.contains(1))
      assert(m.nullValueCounts.get(1) == rows.count(_(0) == null))
      val extent = new Extent
      rows.flatMap(r => Option(r(1))).foreach(wkb => Wkb.addTo(extent, wkb.asInstanceOf[ByteBuffer]))
      val bounds = for (low <- m.lowerBounds.get.get(2); high <- m.upperBounds.get.get(2)) yield (low, high)
      assert(bounds == extent.geometryBounds.map { case (low, high) => (low.encode, high.encode) })
    }
  }

  test("a missing variant value is read as variant null, and errors tell shredded and damaged variants apart") {
    def bytes(values: Int*) = Binary.fromConstantByteArray(values.map(_.toByte).toArray)
    def variants(fill: Group => Any) = {
      val fields = "optional binary metadata; optional binary value; optional int32 typed_value;"
      val path = writeForeign(s"optional group v = 1 { $fields }")(row => fill(row.addGroup("v")))
      read(path, schemaOf(optional(1, "v", VariantType)))
    }
    val Seq(v: Variant) = variants(_.append("metadata", bytes(1, 0, 0))).head.values.toSeq
    assert(v.value == ByteBuffer.wrap(Array[Byte](0)) && v.metadata == ByteBuffer.wrap(Array[Byte](1, 0, 0)))
    val shredded = intercept[Unsupported](variants(_.append("metadata", bytes(1, 0, 0)).append("typed_value", 1)))
    assert(shredded.what == "the shredded variant column v")
    val damaged = intercept[UnreadableFile](variants(_.append("value", bytes(0))))
    assert(damaged.reason.contains("The variant column v has a value without the required field metadata"))
  }

  private def footer(path: String): ParquetMetadata = {
    val reader = ParquetFileReader.open(DataInput.of(io, path))
    try reader.getFooter
    finally reader.close()
  }
}
