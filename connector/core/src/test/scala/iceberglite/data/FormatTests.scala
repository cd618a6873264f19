package iceberglite.data

import java.nio.ByteBuffer
import java.nio.file.{Files, Paths}
import java.util.UUID

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.FormatRules
import iceberglite.metrics.MetricsModes
import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile, ValidationFailed}
import iceberglite.spec.file.Metrics
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.{Counts, Full, NoMetrics, Truncate}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{DefaultValue, Literal, NestedField, PrimitiveType, SingleValue, Type}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{FileIO, HadoopFileIO, TemporaryDirectory}
import iceberglite.table.MemoryFileIO

/** Tests reading and writing rows in one file format. Each format has a subclass. */
abstract class FormatTests(format: DataFormat) extends AnyFunSuite with ScalaCheckPropertyChecks
    with TemporaryDirectory {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  protected val hadoop = new HadoopFileIO(new Configuration(false))

  protected def newPath(): String = s"$directory/${UUID.randomUUID}.${format.format.name}"

  protected def full(schema: Schema): MetricsModes = MetricsModes(schema.byId.map { case (id, _) => id -> Full })

  protected def write(
      schema: Schema,
      rows: Seq[Record],
      io: FileIO = hadoop,
      properties: Map[String, String] = Map.empty,
      modes: Option[MetricsModes] = None
  ): WrittenFile = {
    val target =
      DataTarget(io, newPath(), schema, properties, modes.getOrElse(full(schema)), Map("made.by" -> "a test"))
    val writer = format.write(target)
    rows.foreach(writer.write)
    writer.close()
  }

  protected def read(path: String, projection: StructType, io: FileIO = hadoop): Vector[Record] =
    readFrom(DataSource(io, path, io.info(path).fold(0L)(_.length)), projection)

  protected def readFrom(source: DataSource, projection: StructType): Vector[Record] = {
    val rows = format.read(source, projection)
    try rows.toVector
    finally rows.close()
  }

  protected def assertSame(found: Vector[Record], expected: Vector[Record]): Unit =
    assert(found.map(RecordGenerators.comparable) == expected.map(RecordGenerators.comparable))

  /** Returns the value that is read after the value was written. Subclasses override this method if necessary. */
  protected def storedValue(value: AnyRef, @nowarn("cat=unused") t: Type): AnyRef = value

  protected def records(schema: Schema): Gen[Vector[Record]] =
    RecordGenerators.records(schema).map(_.map(storedValue(_, schema.asStruct).asInstanceOf[Record]))

  /** Generates schemas that the format can store. */
  protected def schemas: Gen[Schema] = RecordGenerators.schema()

  private val cases: Gen[(Schema, Vector[Record])] = schemas.flatMap(s => records(s).map(s -> _))

  test("random rows of random schemas are read as they were written", FormatRules.valuesKept, FormatRules.unknown) {
    forAll(cases) { case (schema, rows) =>
      val file = write(schema, rows)
      assert(file.recordCount == rows.size && file.fileSizeInBytes == Files.size(Paths.get(file.path)))
      assert(file.format == format.format)
      assertSame(read(file.path, schema.asStruct), rows)
    }
  }

  test("the counts, sizes and bounds that are read from a finished file agree with those of its writer") {
    forAll(cases) { case (schema, rows) =>
      val modes = full(schema)
      val file = write(schema, rows)
      val found = format.inspect(DataSource(hadoop, file.path, file.fileSizeInBytes), schema, modes)
      assert(found.copy(metrics = file.metrics) == file.copy(splitOffsets = found.splitOffsets))
      assert(found.splitOffsets.isEmpty || found.splitOffsets == file.splitOffsets)
      schema.byId.values.foreach { field =>
        def assertSameIfKnown(count: Metrics => Option[Long]): Unit =
          count(found.metrics).foreach(n => assert(count(file.metrics).contains(n), field))
        assertSameIfKnown(_.valueCount(field.id))
        assertSameIfKnown(_.nullValueCount(field.id))
        def bound(bytes: Option[ByteBuffer]): Option[Literal] =
          bytes.map(SingleValue.decode(field.fieldType.asInstanceOf[PrimitiveType], _))
        for (read <- bound(found.metrics.lowerBound(field.id)); actual <- bound(file.metrics.lowerBound(field.id)))
          assert(Literal.ordering.lteq(read, actual), field)
        for (read <- bound(found.metrics.upperBound(field.id)); actual <- bound(file.metrics.upperBound(field.id)))
          assert(Literal.ordering.gteq(read, actual), field)
      }
    }
  }

  test("a file whose columns do not fit the schema of the table is rejected when its metadata is read") {
    val file = write(Schema(0, Vector(optional(1, "a", IntType), optional(2, "b", StringType))), Seq(Record.of(1, "x")))
    def message(fields: NestedField*): String = intercept[UnreadableFile](
      format.inspect(
        DataSource(hadoop, file.path, file.fileSizeInBytes),
        Schema(0, fields.toVector),
        MetricsModes(Map())
      )
    ).getMessage
    assert(message(optional(1, "a", BooleanType)).contains("Column a"))
    assert(message(optional(3, "c", IntType)).contains("None of its columns (a, b)"))
    assert(message(optional(1, "a", IntType), optional(2, "c", StringType)).contains("Column b has the field id 2"))
    assert(message(required(9, "z", IntType), optional(1, "a", IntType)).contains("Column z"))
    assert(message(optional(1, "a", IntType), required(9, "z", IntType)).contains(file.path))
  }

  test(
    "rows with values of every type are read from in-memory files as they were written",
    FormatRules.valuesKept,
    FormatRules.variants
  ) {
    val schema = RecordGenerators.flat(RecordGenerators.all)
    forAll(records(schema), minSuccessful(20)) { rows =>
      val io = new MemoryFileIO
      val file = write(schema, rows, io)
      assert(io.paths == Set(file.path))
      assertSame(read(file.path, schema.asStruct, io), rows)
    }
  }

  test("rows are read in the order in which they were written, with their positions", FormatRules.positions) {
    val schema = Schema(0, Vector(required(1, "id", LongType), optional(2, "text", StringType)))
    val rows = (0 until 40000).map(i => Record.of(i.toLong * 3, if (i % 7 == 0) null else "t" * (i % 50))).toVector
    val file = write(schema, rows)
    val found = read(file.path, StructType(Vector(schema.fields(1), MetadataColumns.Position, schema.fields(0))))
    assertSame(found, rows.zipWithIndex.map { case (r, i) => Record.of(r(1), i.toLong, r(0)) })
    val onlyPositions = read(file.path, StructType(Vector(MetadataColumns.Position)))
    assertSame(onlyPositions, rows.indices.map(i => Record.of(i.toLong)).toVector)
  }

  test(
    "columns are found by id after drops, renames, moves, promotions and additions, at every level",
    FormatRules.byId,
    FormatRules.missing,
    FormatRules.promoted
  ) {
    val evolving = for {
      schema <- schemas
      rows <- records(schema)
      projection <- RecordGenerators.evolved(schema)
    } yield (schema, rows, projection)
    forAll(evolving) { case (schema, rows, projection) =>
      val file = write(schema, rows)
      val expected = rows.map(RecordGenerators.projected(_, schema.asStruct, projection.asStruct).asInstanceOf[Record])
      assertSame(read(file.path, projection.asStruct), expected)
    }
  }

  test("Column Projection: the specification's example returns its columns in the requested order", FormatRules.byId) {
    val written =
      Schema(0, Vector(optional(1, "a", IntType), optional(2, "b", StringType), optional(3, "c", DoubleType)))
    val file = write(written, Vector(Record.of(1, "x", 1.5), Record.of(null, "y", null)))
    val projection =
      StructType(Vector(
        optional(3, "measurement", DoubleType),
        optional(2, "name", StringType),
        optional(4, "a", IntType)
      ))
    assertSame(read(file.path, projection), Vector(Record.of(1.5, "x", null), Record.of(null, "y", null)))
  }

  test(
    "a column that the file lacks has the given constant, its initial default, or null",
    FormatRules.missing
  ) {
    val file = write(Schema(0, Vector(required(1, "id", LongType))), Vector(Record.of(5L)))
    val default = Some(DefaultValue.OfPrimitive(Literal.StringLiteral("d")))
    val inside =
      StructType(Vector(optional(4, "x", StringType).copy(initialDefault = default), optional(5, "y", IntType)))
    val projection = StructType(Vector(
      required(2, "part", StringType).copy(initialDefault = default),
      required(6, "also", StringType).copy(initialDefault = default),
      required(3, "s", inside).copy(initialDefault = Some(DefaultValue.EmptyStruct)),
      optional(7, "none", inside)
    ))
    val source = DataSource(hadoop, file.path, file.fileSizeInBytes, constants = Map(2 -> "p"))
    assertSame(readFrom(source, projection), Vector(Record.of("p", "d", Record.of("d", null), null)))
    val error = intercept[UnreadableFile](read(file.path, StructType(Vector(required(9, "gone", IntType)))))
    assert(error.getMessage.contains(file.path) && error.getMessage.contains("Column gone"))
  }

  test("the error for a required field that the file lacks in a nested struct contains its path", FormatRules.missing) {
    val struct = StructType(Vector(required(2, "a", IntType)))
    val file = write(Schema(0, Vector(required(1, "s", struct))), Vector(Record.of(Record.of(1))))
    val projection = StructType(Vector(required(1, "s", StructType(Vector(required(3, "b", IntType))))))
    assert(intercept[UnreadableFile](read(file.path, projection)).getMessage.contains("Column s.b"))
  }

  test(
    "a struct whose projected fields are all missing in the file is null only where the file has null",
    FormatRules.missing
  ) {
    val old = Schema(0, Vector(optional(1, "s", StructType(Vector(optional(2, "a", IntType))))))
    val file = write(old, Vector(Record.of(Record.of(1)), Record.of(null), Record.of(Record.of(null))))
    val projection = StructType(Vector(optional(1, "s", StructType(Vector(optional(3, "b", IntType))))))
    val expected = Vector(Record.of(Record.of(null)), Record.of(null), Record.of(Record.of(null)))
    assertSame(read(file.path, projection), expected)
  }

  test(
    "dates are read as timestamp_ns at midnight, and the error for a date outside its range contains the column",
    FormatRules.promoted
  ) {
    val schema = Schema(0, Vector(required(1, "d", DateType)))
    val projection = StructType(Vector(required(1, "d", TimestampNsType)))
    val inRange = write(schema, Vector(Record.of(-1)))
    assertSame(read(inRange.path, projection), Vector(Record.of(-86400000000000L)))
    val outOfRange = write(schema, Vector(Record.of(2932896)))
    val error = intercept[UnreadableFile](read(outOfRange.path, projection))
    assert(error.getMessage.contains("Column d") && error.getMessage.contains(outOfRange.path))
  }

  test("the error for a type that cannot be promoted contains the column and the expected type", FormatRules.promoted) {
    val types = Seq[(PrimitiveType, PrimitiveType, Any)](
      (LongType, IntType, 1L),
      (DoubleType, FloatType, 1.0),
      (StringType, IntType, "1"),
      (DateType, TimestampTzType, 1),
      (DecimalType(9, 2), DecimalType(9, 3), new java.math.BigDecimal("1.00")),
      (StringType, DateType, "1")
    )
    types.foreach { case (from, to, value) =>
      val file = write(Schema(0, Vector(required(1, "c", from))), Vector(Record.of(value)))
      val error = intercept[UnreadableFile](read(file.path, StructType(Vector(required(1, "c", to)))))
      assert(error.getMessage.contains("Column c") && error.getMessage.contains(to.toString))
    }
  }

  test(
    "a row without a value for a required field is rejected with the path of the field",
    FormatRules.requiredValues
  ) {
    val element = StructType(Vector(required(4, "x", IntType)))
    val schema =
      Schema(0, Vector(required(1, "id", IntType), optional(2, "l", ListType(3, element, elementRequired = true))))
    def message(row: Record): String = intercept[ValidationFailed](write(schema, Vector(row))).getMessage
    assert(message(Record.of(null, null)).contains("Column id is required"))
    assert(message(Record.of(1, Vector(null))).contains("Column l.element is required"))
    assert(message(Record.of(1, Vector(Record.of(null)))).contains("Column l.element.x is required"))
  }

  test("a value that its type cannot hold is rejected", FormatRules.orcFixed) {
    def message(t: PrimitiveType, value: Any): String =
      intercept[ValidationFailed](write(Schema(0, Vector(required(1, "c", t))), Vector(Record.of(value)))).getMessage
    assert(message(FixedType(3), ByteBuffer.wrap(new Array[Byte](2))).contains("Column c is of type fixed[3]"))
    assert(message(DecimalType(4, 2), new java.math.BigDecimal("100.00")).contains("100.00"))
    assert(message(DecimalType(4, 2), new java.math.BigDecimal("1.001")).contains("1.001"))
  }

  test("an aborted file is deleted, and an existing file is not overwritten") {
    val schema = Schema(0, Vector(required(1, "id", IntType)))
    val target = DataTarget(hadoop, newPath(), schema, Map.empty, full(schema))
    val writer = format.write(target)
    writer.write(Record.of(1))
    writer.abort()
    assert(!hadoop.exists(target.path))
    val emptyFile = format.write(target)
    emptyFile.close()
    intercept[StorageFailed](format.write(target))
    assertSame(read(target.path, schema.asStruct), Vector.empty)
    assert(Files.list(directory).iterator.asScala.map(_.getFileName.toString).toVector == Vector(
      Paths.get(target.path).getFileName.toString
    ))
  }

  test("the error for a missing file or a file of another format contains its path") {
    val projection = StructType(Vector(optional(1, "id", IntType)))
    Seq("", "P", "something else " * 100).foreach { text =>
      val path = newPath()
      hadoop.write(path, text.getBytes)
      assert(intercept[UnreadableFile](read(path, projection)).getMessage.contains(path))
    }
    assert(intercept[UnreadableFile](read("/nowhere/f", projection)).getMessage.contains("/nowhere/f"))
  }

  test("counts and bounds follow the rows and the metrics mode of each column", FormatRules.metrics) {
    val schema = Schema(
      0,
      Vector(
        optional(1, "i", IntType),
        optional(2, "d", DoubleType),
        optional(3, "s", StringType),
        optional(4, "n", StructType(Vector(required(5, "f", FloatType)))),
        optional(6, "l", ListType(7, IntType, elementRequired = true)),
        optional(8, "none", IntType),
        optional(9, "counted", IntType),
        optional(10, "b", BinaryType)
      )
    )
    val rows = Vector(
      Record.of(3, Double.NaN, "longer", Record.of(0.0f), Vector(1, 2), 1, 1, ByteBuffer.wrap(Array[Byte](-1, -1, 1))),
      Record.of(-4, 0.0, null, null, null, 1, 1, ByteBuffer.wrap(Array[Byte](1))),
      Record.of(null, -2.5, "\uffff\uffff\uffff", Record.of(Float.NaN), Vector(), 1, null, null)
    )
    val modes: Map[Int, MetricsMode] =
      Map(1 -> Full, 2 -> Full, 3 -> Truncate(2), 5 -> Full, 7 -> Full, 8 -> NoMetrics, 9 -> Counts, 10 -> Truncate(2))
    val m = write(schema, rows, modes = Some(MetricsModes(modes))).metrics
    assert(m.valueCounts.contains(Map(1 -> 3L, 2 -> 3L, 3 -> 3L, 5 -> 3L, 9 -> 3L, 10 -> 3L)))
    assert(m.nullValueCounts.contains(Map(1 -> 1L, 2 -> 0L, 3 -> 1L, 5 -> 1L, 9 -> 1L, 10 -> 1L)))
    assert(m.nanValueCounts.contains(Map(2 -> 1L, 5 -> 1L)))
    def value(bounds: Option[Map[Int, ByteBuffer]]): Map[Int, Literal] = bounds.get.map { case (id, bytes) =>
      id -> SingleValue.decode(schema.byId(id).fieldType.asInstanceOf[PrimitiveType], bytes)
    }
    assert(value(m.lowerBounds) == Map(
      1 -> Literal.IntLiteral(-4),
      2 -> Literal.DoubleLiteral(-2.5),
      3 -> Literal.StringLiteral("lo"),
      5 -> Literal.FloatLiteral(0.0f),
      10 -> Literal.BinaryLiteral(ByteBuffer.wrap(Array[Byte](1)))
    ))
    // Column 10 has no upper bound, because no value of two bytes is greater than its value ff ff 01.
    assert(value(m.upperBounds) == Map(
      1 -> Literal.IntLiteral(3),
      2 -> Literal.DoubleLiteral(0.0),
      3 -> Literal.StringLiteral("\uffff" + new String(Character.toChars(0x10000))),
      5 -> Literal.FloatLiteral(0.0f)
    ))
  }
}
