package iceberglite.spark.write.parquet

import java.nio.ByteBuffer
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.{GroupType, Type => ParquetType}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetricsRules
import iceberglite.data.WrittenFile
import iceberglite.data.parquet.ParquetSettings
import iceberglite.metrics.MetricsModes
import iceberglite.spark.SharedSession
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.write.files.{DataFileWriter, InputColumns}
import iceberglite.spec.IcebergError.{InvalidArgument, NullInRequired}
import iceberglite.spec.partition.SortOrder
import iceberglite.spec.property.ParquetCompression._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.HadoopFileIO

class ParquetDataFileSuite extends AnyFunSuite with SharedSession {

  private val nested = Schema(
    3,
    Vector(
      required(1, "id", LongType),
      optional(
        2,
        "points",
        ListType(3, StructType(Vector(required(4, "x", DoubleType), optional(5, "y", FloatType))), false)
      ),
      optional(
        6,
        "tags",
        MapType(7, StringType, 8, ListType(9, IntType, elementRequired = false), valueRequired = false)
      ),
      optional(10, "where", StructType(Vector(optional(11, "at", StructType(Vector(optional(12, "lat", IntType)))))))
    )
  )

  private val rowsOfNested: Seq[Row] = Seq(
    Row(1L, Seq(Row(1.5, 2.5f), null, Row(Double.NaN, null)), Map("a" -> Seq(1, null, 3), "b" -> null), Row(Row(7))),
    Row(2L, null, null, null),
    Row(3L, Seq.empty, Map.empty, Row(null)),
    Row(4L, Seq(Row(0.0, Float.NaN)), Map("c" -> Seq.empty, "d" -> Seq(4)), Row(Row(null)))
  )

  test("nested rows are read back unchanged, with nulls and empty lists at every level") {
    val (path, file) = write(nested, rowsOfNested)
    assert(file.recordCount == 4)
    val read = spark.read.schema(SparkTypes.toSpark(nested)).parquet(path.toString).collect().toSeq
    val expected = spark.createDataFrame(rowsOfNested.asJava, SparkTypes.toSpark(nested)).collect().toSeq
    assert(read.map(_.toString).sorted == expected.map(_.toString).sorted)
  }

  test("every field of the file schema has its field id, including list elements and map keys and values") {
    val (path, _) = write(nested, rowsOfNested)
    def ids(t: ParquetType): Seq[Int] = {
      val childIds = if (t.isPrimitive) Nil else t.asGroupType.getFields.asScala.flatMap(ids)
      Option(t.getId).map(_.intValue).toSeq ++ childIds
    }
    val schema: GroupType = footer(path).getFileMetaData.getSchema
    assert(schema.getFields.asScala.flatMap(ids).sorted == (1 to 12))
  }

  test("the footer contains the table's schema") {
    val (path, _) = write(nested, rowsOfNested)
    assert(footer(path).getFileMetaData.getKeyValueMetaData.get("iceberg.schema") == "the schema")
  }

  test("each type has the physical and logical type of the specification") {
    val types: Seq[(PrimitiveType, String)] = Seq(
      BooleanType -> "boolean",
      IntType -> "int32",
      LongType -> "int64",
      FloatType -> "float",
      DoubleType -> "double",
      DecimalType(9, 2) -> "int32 DECIMAL(9,2)",
      DecimalType(18, 2) -> "int64 DECIMAL(18,2)",
      DecimalType(20, 2) -> "fixed_len_byte_array(9) DECIMAL(20,2)",
      DateType -> "int32 DATE",
      TimeType -> "int64 TIME(MICROS,false)",
      TimestampType -> "int64 TIMESTAMP(MICROS,false)",
      TimestampTzType -> "int64 TIMESTAMP(MICROS,true)",
      TimestampNsType -> "int64 TIMESTAMP(NANOS,false)",
      TimestampTzNsType -> "int64 TIMESTAMP(NANOS,true)",
      StringType -> "binary STRING",
      UuidType -> "fixed_len_byte_array(16) UUID",
      FixedType(3) -> "fixed_len_byte_array(3)",
      BinaryType -> "binary"
    )
    val schema = Schema(0, types.zipWithIndex.map { case ((t, _), i) => optional(i + 1, s"c$i", t) }.toVector)
    val (path, _) = write(schema, Seq(Row.fromSeq(types.map(_ => null))))
    val physicalTypes = footer(path).getFileMetaData.getSchema.getFields.asScala.map { f =>
      val physical = f.asPrimitiveType
      val length = if (physical.getTypeLength > 0) s"(${physical.getTypeLength})" else ""
      val logical = Option(f.getLogicalTypeAnnotation).fold("")(" " + _.toString)
      physical.getPrimitiveTypeName.name.toLowerCase + length + logical
    }
    assert(physicalTypes == types.map(_._2))
  }

  test("counts, NaN counts and bounds are those of the written values, and every column has a size") {
    val schema = Schema(
      0,
      Vector(
        optional(1, "d", DoubleType),
        optional(2, "f", FloatType),
        optional(3, "s", StringType),
        optional(4, "n", DecimalType(20, 1)),
        optional(5, "u", UuidType)
      )
    )
    val uuids = Seq("00000000-0000-0000-0000-000000000001", "f0000000-0000-0000-0000-000000000000")
    val (_, file) = write(
      schema,
      Seq(
        Row(1.5, Float.NaN, "b", new java.math.BigDecimal("-7.5"), uuids.head),
        Row(-2.5, Float.NaN, null, new java.math.BigDecimal("123456789012345678.9"), uuids.last),
        Row(null, 0f, "a", null, null)
      )
    )
    val m = file.metrics
    assert(m.valueCounts.get == (1 to 5).map(_ -> 3L).toMap)
    assert(m.nullValueCounts.get == Map(1 -> 1L, 2 -> 0L, 3 -> 1L, 4 -> 1L, 5 -> 1L))
    assert(m.nanValueCounts.get == Map(1 -> 0L, 2 -> 2L))
    def bounds(id: Int, t: PrimitiveType) =
      (m.lowerBound(id).map(SingleValue.decode(t, _)), m.upperBound(id).map(SingleValue.decode(t, _)))
    assert(bounds(1, DoubleType) == ((Some(DoubleLiteral(-2.5)), Some(DoubleLiteral(1.5)))))
    assert(bounds(3, StringType) == ((Some(StringLiteral("a")), Some(StringLiteral("b")))))
    assert(bounds(4, DecimalType(20, 1))._2.contains(DecimalLiteral(new java.math.BigDecimal("123456789012345678.9"))))
    assert(bounds(5, UuidType)._1.contains(UuidLiteral(java.util.UUID.fromString(uuids.head))))
    assert(m.columnSizes.get.keySet == (1 to 5).toSet && m.columnSizes.get.values.forall(_ > 0))
  }

  test("bounds of floating-point columns ignore NaN", MetricsRules.nans) {
    val schema =
      Schema(0, Vector(optional(1, "d", DoubleType), optional(2, "f", FloatType), optional(3, "nan", FloatType)))
    val (_, file) = write(
      schema,
      Seq(
        Row(Double.NaN, -0.0f, Float.NaN),
        Row(3.5, Float.NaN, null),
        Row(-1.0, 0.0f, Float.NaN),
        Row(null, null, Float.NaN)
      )
    )
    val m = file.metrics
    assert(m.nanValueCounts.get == Map(1 -> 1L, 2 -> 1L, 3 -> 3L))
    assert(m.lowerBounds.get == Map(1 -> DoubleLiteral(-1.0), 2 -> FloatLiteral(-0.0f)).map { case (k, v) =>
      k -> SingleValue.encode(v)
    })
    assert(m.upperBounds.get == Map(1 -> DoubleLiteral(3.5), 2 -> FloatLiteral(0.0f)).map { case (k, v) =>
      k -> SingleValue.encode(v)
    })
  }

  test("a row group ends when it has the configured size, and each row group starts at a split offset") {
    val schema = Schema(0, Vector(optional(1, "s", StringType)))
    val random = new scala.util.Random(1)
    val (path, file) = write(
      schema,
      (1 to 5000).map(_ => Row(random.alphanumeric.take(100).mkString)),
      settings = settings.copy(rowGroupSize = 100000)
    )
    val blocks = footer(path).getBlocks.asScala
    assert(blocks.size >= 4 && blocks.map(_.getRowCount).sum == 5000)
    assert(file.splitOffsets == blocks.map(_.getStartingPos).toVector)
    assert(blocks.init.forall(b => b.getTotalByteSize > 80000 && b.getTotalByteSize < 160000))
  }

  test("a flush writes the buffered rows, and the reported length is close to the file length") {
    val schema = Schema(0, Vector(optional(1, "v", LongType)))
    val (path, writer) = open(schema)
    val rows = converted(schema, (1 to 100000).map(i => Row(i.toLong * 7919)))
    rows.foreach(writer.write)
    assert(writer.buffered > 0 && writer.length > writer.buffered)
    writer.flush()
    assert(writer.buffered == 0)
    val reportedLength = writer.length
    val file = writer.finish()
    assert(file.fileSizeInBytes == Files.size(path) && file.fileSizeInBytes - reportedLength < 2000)
    assert(spark.read.parquet(path.toString).count() == 100000)
  }

  test("a null in a required field fails with the name of the field") {
    val error = intercept[NullInRequired] {
      // The row is not an unsafe row, because unsafe rows cannot have a null in a required field.
      val (_, writer) = open(nested)
      generic(nested, Seq(Row(1L, Seq(Row(null, 1f)), null, null))).foreach(writer.write)
    }
    assert(error.getMessage.contains("Column points.element.x is NOT NULL"))
  }

  test("the error for bytes of the wrong length for a fixed column contains the column name") {
    val schema = Schema(0, Vector(optional(1, "c", FixedType(3))))
    val (_, file) = write(schema, Seq(Row(Array[Byte](1, 2, 3))))
    assert(file.metrics.lowerBound(1).contains(ByteBuffer.wrap(Array[Byte](1, 2, 3))))
    val error = intercept[InvalidArgument](write(schema, Seq(Row(Array[Byte](1, 2)))))
    assert(error.getMessage.contains("column c") && error.getMessage.contains("fixed[3]"))
  }

  test("an abandoned file can be removed") {
    val (path, writer) = open(nested)
    converted(nested, rowsOfNested).foreach(writer.write)
    writer.abandon()
    assert(Files.exists(path) && Files.deleteIfExists(path))
  }

  test("columns of type unknown are not stored") {
    val schema = Schema(0, Vector(optional(1, "v", LongType), optional(2, "nothing", UnknownType)))
    val (path, _) = write(schema, Seq(Row(1L, null)))
    assert(footer(path).getFileMetaData.getSchema.getFields.asScala.map(_.getName) == Seq("v"))
  }

  test("every codec in Spark's distribution can be used") {
    val schema = Schema(0, Vector(optional(1, "s", StringType)))
    Seq(Zstd, Gzip, Snappy, Lz4Raw, Uncompressed).foreach { codec =>
      val (path, _) = write(schema, (1 to 100).map(_ => Row("abc")), settings.copy(codec = codec, level = Some(5)))
      assert(footer(path).getBlocks.get(0).getColumns.get(0).getCodec.name.equalsIgnoreCase(codec.name))
      assert(spark.read.parquet(path.toString).count() == 100)
    }
  }

  private val settings = ParquetSettings.of(Map("write.parquet.compression-codec" -> "zstd"))

  private def open(schema: Schema, settings: ParquetSettings = settings): (Path, DataFileWriter) = {
    val input = new InputColumns("t", schema, true, false).of(SparkTypes.toSpark(schema))
    val format = new ParquetFormat(
      input,
      schema.schemaId,
      MetricsModes.of(Map.empty, schema, SortOrder.Unsorted),
      settings,
      Map("iceberg.schema" -> "the schema"),
      new HadoopFileIO(new Configuration())
    )
    val path = Paths.get(newDirectory().toString, "new", "f.parquet")
    (path, format.newFiles().open(path.toString))
  }

  private def write(schema: Schema, rows: Seq[Row], settings: ParquetSettings = settings): (Path, WrittenFile) = {
    val (path, writer) = open(schema, settings)
    converted(schema, rows).foreach(writer.write)
    (path, writer.finish())
  }

  /** Converts rows to unsafe rows that all use the same row object, as in Spark. */
  private def converted(schema: Schema, rows: Seq[Row]): Iterator[InternalRow] = {
    val project = UnsafeProjection.create(SparkTypes.toSpark(schema))
    generic(schema, rows).map(project)
  }

  private def generic(schema: Schema, rows: Seq[Row]): Iterator[InternalRow] = {
    val toCatalyst = CatalystTypeConverters.createToCatalystConverter(SparkTypes.toSpark(schema))
    rows.iterator.map(toCatalyst(_).asInstanceOf[InternalRow])
  }

  private def footer(path: Path): ParquetMetadata = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new HadoopPath(path.toUri), new Configuration()))
    try reader.getFooter
    finally reader.close()
  }
}
