package iceberglite.spark.write

import java.nio.file.{Files, Path, Paths}

import scala.annotation.nowarn

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.data.{DataFormat, DataSource, DataTarget, Record, RecordGenerators, WrittenFile}
import iceberglite.metrics.MetricsModes
import iceberglite.spark.convert.{SparkTypes, VariantForm}
import iceberglite.spark.read.files.RecordRows
import iceberglite.spark.write.files.{DataFileFormat, InputColumns, InputField}
import iceberglite.spec.IcebergError.{InvalidArgument, NullInRequired, Unsupported}
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.partition.SortOrder
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{PrimitiveType, Type}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{FileIO, HadoopFileIO}
import iceberglite.table.MemoryFileIO

/**
 * Tests of a format's writer for Spark rows, which must write the same rows and metrics as the record writer of the
 * core module.
 */
abstract class RowFormatTests(core: DataFormat) extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 30)

  private[write] def format(
      input: Vector[InputField],
      modes: MetricsModes,
      properties: Map[String, String],
      io: FileIO
  ): DataFileFormat

  /**
   * Returns the value that is read back from a file. A subclass overrides this method if its format cannot store all
   * values of a type exactly.
   */
  protected def storedValue(value: AnyRef, @nowarn("cat=unused") t: Type): AnyRef = value

  /** All types except those for which only null can be written. */
  private val types = RecordGenerators.all.filter(t => (t: Type) != UnknownType)

  protected def inputOf(schema: Schema): Vector[InputField] =
    new InputColumns("t", schema, true, false).of(SparkTypes.toSpark(schema))

  /** A file in memory, written from Spark rows. All rows use the same memory, one after the other, as in Spark. */
  final protected class Run(schema: Schema, rows: Seq[Record], properties: Map[String, String] = Map.empty) {
    val io = new MemoryFileIO
    val path: String = s"mem:/f.${core.format.name}"
    private val modes = MetricsModes.of(properties, schema, SortOrder.Unsorted)

    val finished: WrittenFile = {
      val writer = format(inputOf(schema), modes, properties, io).newFiles().open(path)
      converted(schema, rows).foreach(writer.write)
      writer.finish()
    }

    def records: Vector[Record] = {
      val read = core.read(DataSource(io, path, finished.fileSizeInBytes), schema.asStruct)
      try read.toVector
      finally read.close()
    }

    /** The file that the record writer of the core module writes for the same rows. */
    lazy val writtenByCore: WrittenFile = {
      val writer = core.write(DataTarget(new MemoryFileIO, path, schema, properties, modes))
      rows.foreach(writer.write)
      writer.close()
    }
  }

  protected def converted(schema: Schema, rows: Seq[Record]): Iterator[InternalRow] = {
    val project = UnsafeProjection.create(SparkTypes.toSpark(schema.fields.map(_.copy(required = false))))
    val toRow = RecordRows.of(schema.fields, VariantForm.Exact)
    rows.iterator.map(r => project(toRow(r)))
  }

  private def records(schema: Schema, maxCount: Int = 30): Gen[Vector[Record]] =
    RecordGenerators.records(schema, maxCount).map(_.map(storedValue(_, schema.asStruct).asInstanceOf[Record]))

  private val cases: Gen[(Schema, Vector[Record])] =
    RecordGenerators.schema(types).flatMap(s => records(s).map(s -> _))

  private def checkSameAsCore(run: Run, rows: Seq[Record]): Unit = {
    assert(run.records.map(RecordGenerators.comparable) == rows.map(RecordGenerators.comparable))
    assert(run.finished.recordCount == rows.size && run.finished.fileSizeInBytes == run.io.read(run.path).length)
    val Seq(bySpark, byCore) = Seq(run.finished, run.writtenByCore).map(_.metrics.asInstanceOf[MetricMaps])
    assert(bySpark.copy(columnSizes = None) == byCore.copy(columnSizes = None))
    assert(bySpark.columnSizes.map(_.keySet) == byCore.columnSizes.map(_.keySet))
    ()
  }

  test("random rows of random schemas are read back, and have the same metrics as if written as records") {
    forAll(cases) { case (schema, rows) => checkSameAsCore(new Run(schema, rows), rows) }
  }

  test("many rows of all types are read back, and have the same metrics as records, in every metrics mode", Slow) {
    val schema = RecordGenerators.flat(types)
    val modes = Gen.oneOf("none", "counts", "truncate(3)", "full").map(m => Map("write.metadata.metrics.default" -> m))
    forAll(records(schema, maxCount = 60), modes, minSuccessful(6)) { (distinctRows, properties) =>
      whenever(distinctRows.nonEmpty) {
        val rows = Vector.tabulate(1100)(i => distinctRows(i % distinctRows.size))
        checkSameAsCore(new Run(schema, rows, properties), rows)
      }
    }
  }

  private val nested = Schema(
    3,
    Vector(
      required(1, "id", LongType),
      optional(
        2,
        "points",
        ListType(3, StructType(Vector(required(4, "x", DoubleType), optional(5, "y", FloatType))), false)
      ),
      optional(6, "at", StructType(Vector(required(7, "lat", IntType), optional(8, "note", StringType))))
    )
  )

  /**
   * Writes an invalid row, and returns the error. The row is not an unsafe row, because unsafe rows cannot have a null
   * in a required field.
   */
  private def nullFailure(schema: Schema, row: Record): NullInRequired = intercept[NullInRequired] {
    val io = new MemoryFileIO
    val writer = format(inputOf(schema), MetricsModes(Map.empty), Map.empty, io).newFiles().open("mem:/f")
    writer.write(RecordRows.of(schema.fields)(row))
  }

  test("a null in a required field fails with the full name of the field") {
    assert(nullFailure(nested, Record.of(null, null, null)).getMessage.contains("Column id is NOT NULL"))
    val inList = Record.of(1L, Vector(Record.of(null, 1f)), null)
    assert(nullFailure(nested, inList).getMessage.contains("Column points.element.x is NOT NULL"))
    assert(nullFailure(nested, Record.of(1L, null, Record.of(null, "n"))).getMessage.contains(
      "Column at.lat is NOT NULL"
    ))
  }

  test("the fields of a null struct are counted as null") {
    val run = new Run(nested, Seq(Record.of(1L, null, null), Record.of(2L, Vector.empty, Record.of(5, "b"))))
    assert(run.finished.metrics.nullValueCounts.get == Map(1 -> 0L, 7 -> 1L, 8 -> 1L))
    assert(run.finished.metrics.valueCounts.get == Map(1 -> 2L, 7 -> 2L, 8 -> 2L))
  }

  test("the error for an invalid value of a type contains the column name or the type") {
    def rejection(t: PrimitiveType, value: Any): String = intercept[InvalidArgument] {
      val schema = Schema(0, Vector(optional(1, "c", t)))
      val writer = format(inputOf(schema), MetricsModes(Map.empty), Map.empty, new MemoryFileIO).newFiles()
        .open("mem:/f")
      writer.write(InternalRow(value))
    }.getMessage
    assert(rejection(FixedType(3), Array[Byte](1, 2)).contains("fixed[3]"))
    assert(rejection(TimeType, 86400000000L).contains("column c"))
    assert(rejection(UuidType, org.apache.spark.unsafe.types.UTF8String.fromString("none")).contains("column c"))
  }

  test("columns of a type that cannot be written accept only nulls") {
    val schema = Schema(
      0,
      Vector(optional(1, "v", LongType), optional(2, "any", ListType(3, UnknownType, elementRequired = false)))
    )
    assert(new Run(schema, Seq(Record.of(1L, null))).records == Seq(Record.of(1L, null)))
    val error = intercept[Unsupported] {
      val writer = format(inputOf(schema), MetricsModes(Map.empty), Map.empty, new MemoryFileIO).newFiles()
        .open("mem:/f")
      writer.write(InternalRow(1L, new GenericArrayData(Array[Any](null))))
    }
    assert(error.getMessage.contains("column any of type list<unknown>"))
  }

  test("an abandoned file can be removed") {
    val directory = Files.createTempDirectory("abandoned")
    val path = Paths.get(directory.toString, "new", "f")
    val io = new HadoopFileIO(new Configuration())
    val writer = format(inputOf(nested), MetricsModes(Map.empty), Map.empty, io).newFiles().open(path.toString)
    converted(nested, (1 to 5000).map(i => Record.of(i.toLong, null, null))).foreach(writer.write)
    writer.abandon()
    assert(Files.deleteIfExists(path))
    removeEmpty(path.getParent, directory)
  }

  private def removeEmpty(directories: Path*): Unit = directories.foreach(Files.delete)

  /** Returns rows with incompressible strings. */
  protected def randomRows(count: Int, length: Int): Vector[Record] = {
    val random = new scala.util.Random(3)
    Vector.tabulate(count)(i => Record.of(i.toLong, random.alphanumeric.take(length).mkString))
  }

  protected val simple: Schema = Schema(0, Vector(required(1, "id", LongType), optional(2, "text", StringType)))
}
