package iceberglite.spark.read.files

import scala.annotation.nowarn
import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.{Fuzz, MoreRoundsInSlowTierTag}
import iceberglite.data.{DataFormat, DataSource, DataTarget, Record, RecordGenerators, WrittenFile}
import iceberglite.metrics.MetricsModes
import iceberglite.puffin.DeletionVector
import iceberglite.scan.deletes.RowDeletes
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.deletes.FileDeletes
import iceberglite.spark.read.formats.{BatchFormat, FileReadParameters}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.expr.{Bind, Expression, Term}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.table.MemoryFileIO

/** Tests of a file format's batch reader, which must return the same rows as the record reader of the core module. */
abstract class FileBatchTests(format: DataFormat) extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 30)

  protected def reader: BatchFormat

  /**
   * Returns the value that is read back from a file. A subclass overrides this method if its format cannot store all
   * values of a type exactly.
   */
  protected def storedValue(value: AnyRef, @nowarn("cat=unused") t: Type): AnyRef = value

  /** Table properties that limit the size of stripes (ORC) or blocks (Avro), so that a file has many of them. */
  protected def manyParts: Map[String, String] = Map.empty

  protected val capacity = 1000

  final protected class TestFile(
      val schema: Schema,
      rows: Seq[Record],
      properties: Map[String, String] = Map.empty,
      bytes: Option[Array[Byte]] = None
  ) {
    val io = new MemoryFileIO
    private val path = s"mem:/f.${format.format.name}"
    private val length: Long = bytes match {
      case Some(damagedBytes) =>
        io.write(path, damagedBytes)
        damagedBytes.length.toLong
      case None => write().fileSizeInBytes
    }
    private def write(): WrittenFile = {
      val writer = format.write(DataTarget(io, path, schema, properties, MetricsModes(Map.empty)))
      rows.foreach(writer.write)
      writer.close()
    }

    def content: Array[Byte] = io.read(path)

    def task(start: Long = 0L, end: Long = length, filter: Expression = AlwaysTrue): FileTask = FileTask(
      path,
      start,
      end - start,
      0,
      PartitionTuple.Empty,
      filter,
      Set.empty,
      Some(1000000L),
      7L,
      format = format.format,
      fileLength = length
    )

    /** Returns scan tasks that split the file into parts of the given size in bytes, in the order of the file. */
    def splits(size: Long): Vector[FileTask] =
      (0L until length by size).map(start => task(start, math.min(start + size, length))).toVector

    def batches(
        task: FileTask,
        fields: Vector[NestedField],
        deletes: RowDeletes = RowDeletes.None
    ): Vector[UnsafeRow] = {
      val metadata = fields.map(_.id).filter(_ > MetadataColumns.PartitionId - 1000).toSet
      val fileDeletes = new FileDeletes(ScanColumns(fields, metadata), deletes)
      val values = new FileValues(Map(0 -> PartitionSpec.Unpartitioned), fileDeletes.columns.metadataIds, capacity)
      val copy = projection(fields)
      val batches = open(task, fileDeletes.columns.fields, values, Some(fileDeletes).filterNot(_.isEmpty))
      try Iterator.continually(batches).takeWhile(_.next()).flatMap(_.batch.rowIterator().asScala.map(copy)).toVector
      finally batches.close()
    }

    def open(
        task: FileTask,
        fields: Vector[NestedField],
        values: FileValues,
        deletes: Option[FileDeletes] = None
    ): FileBatches = {
      val settings = BatchSettings(columnar = true, capacity, offHeap = false)
      reader.open(task, FileReadParameters(fields, None, values, deletes, settings, new Configuration(false), io, "t"))
    }

    def expected(fields: Vector[NestedField]): Vector[UnsafeRow] = {
      val records = format.read(DataSource(io, path, length), StructType(fields))
      val (toRow, copy) = (RecordRows.of(fields), projection(fields))
      try records.map(r => copy(toRow(r))).toVector
      finally records.close()
    }

    private val expectedByFields = scala.collection.mutable.Map.empty[Vector[NestedField], Vector[UnsafeRow]]

    /** Returns the expected rows of a scan of these fields. For each list of fields, they are computed only once. */
    def cachedExpected(fields: Vector[NestedField]): Vector[UnsafeRow] =
      expectedByFields.getOrElseUpdate(fields, expected(fields))

    private def projection(fields: Vector[NestedField]): InternalRow => UnsafeRow = {
      val toUnsafe = UnsafeProjection.create(SparkTypes.toSpark(fields.map(_.copy(required = false))))
      row => toUnsafe(row).copy()
    }
  }

  private def records(schema: Schema, maxCount: Int = 30): Gen[Vector[Record]] =
    RecordGenerators.records(schema, maxCount).map(_.map(storedValue(_, schema.asStruct).asInstanceOf[Record]))

  protected def randomRecords(schema: Schema, count: Int, random: Random): Vector[Record] = {
    val record = RecordGenerators.record(schema.asStruct)
    Vector.fill(count)(record.pureApply(Gen.Parameters.default, Seed(random.nextLong())))
      .map(storedValue(_, schema.asStruct).asInstanceOf[Record])
  }

  private val cases: Gen[(Schema, Vector[Record])] = RecordGenerators.schema().flatMap(s => records(s).map(s -> _))

  test("random rows of random schemas are the same if read in batches and as records") {
    forAll(cases) { case (schema, rows) =>
      val file = new TestFile(schema, rows)
      assert(file.batches(file.task(), schema.fields) == file.expected(schema.fields))
    }
  }

  test("many rows of all types, with and without nulls, are the same if read in batches and as records") {
    val schema = RecordGenerators.flat(RecordGenerators.all)
    forAll(records(schema, maxCount = 60), minSuccessful(5)) { distinctRows =>
      whenever(distinctRows.nonEmpty) {
        val file = new TestFile(schema, Vector.tabulate(2500)(i => distinctRows(i % distinctRows.size)))
        assert(file.batches(file.task(), schema.fields) == file.expected(schema.fields))
      }
    }
  }

  test("after changes to the schema, columns and nested fields are found by id") {
    val evolvedCases = for {
      (schema, rows) <- cases
      evolved <- RecordGenerators.evolved(schema)
    } yield (schema, rows, evolved)
    forAll(evolvedCases) { case (schema, rows, evolved) =>
      val file = new TestFile(schema, rows)
      assert(file.batches(file.task(), evolved.fields) == file.expected(evolved.fields))
    }
  }

  private val simple = Schema(
    0,
    Vector(
      required(1, "id", LongType),
      optional(2, "text", StringType),
      optional(3, "l", ListType(4, IntType, elementRequired = false))
    )
  )
  private lazy val manyRows: Vector[Record] = {
    val random = new Random(5)
    Vector.tabulate(30000) { i =>
      Record.of(i.toLong, if (i % 7 == 0) null else random.alphanumeric.take(i % 30).mkString, Vector(Int.box(i), null))
    }
  }
  private lazy val large = new TestFile(simple, manyRows, manyParts)
  private lazy val fieldsWithPosition = simple.fields ++ Vector(MetadataColumns.Position, MetadataColumns.RowId)

  test("any split of a file returns each row exactly once, with its position", Slow) {
    val allRows = large.batches(large.task(), fieldsWithPosition)
    assert(allRows.size == manyRows.size)
    assert(allRows.indices.forall(i => allRows(i).getLong(3) == i && allRows(i).getLong(4) == 1000000L + i))
    for (size <- Seq(100000L, 33333L, 121001L)) {
      val parts = large.splits(size).map(large.batches(_, fieldsWithPosition))
      assert(parts.flatten == allRows, size)
      assert(parts.count(_.nonEmpty) > 2, size)
      assert(large.splits(size).flatMap(large.batches(_, simple.fields)) == large.expected(simple.fields), size)
    }
  }

  test("no split returns rows at deleted positions, and row ids are unchanged", Slow) {
    val random = new Random(3)
    val deleted = (0 until manyRows.size).filter(i => random.nextInt(3) == 0 || i > 9000 && i < 13000).map(_.toLong)
    val deletes = new RowDeletes(DeletionVector.of(deleted: _*), Vector.empty)
    val live = large.batches(large.task(), fieldsWithPosition).filterNot(row => deleted.contains(row.getLong(3)))
    assert(large.splits(50000L).flatMap(large.batches(_, fieldsWithPosition, deletes)) == live)
    val ids = large.splits(70000L).flatMap(large.batches(_, Vector(simple.fields(0)), deletes)).map(_.getLong(0))
    assert(ids == live.map(_.getLong(0)))
  }

  test("batches of rows with long strings have fewer rows than the capacity", Slow) {
    val schema = Schema(0, Vector(required(1, "text", StringType)))
    val file = new TestFile(schema, Seq.fill(200)(Record.of("x" * 500000)), manyParts)
    val read = file.open(file.task(), schema.fields, new FileValues(Map.empty, Set.empty, capacity))
    try {
      val sizes = Iterator.continually(read).takeWhile(_.next()).map(_.batch.numRows).toVector
      assert(sizes.sum == 200 && sizes.max < 150)
    } finally read.close()
  }

  test("a read without columns returns the correct number of rows") {
    assert(large.batches(large.task(), Vector.empty).size == manyRows.size)
  }

  test("reading a damaged file returns rows or fails with an error that contains the path", MoreRoundsInSlowTierTag) {
    val schema = RecordGenerators.flat(RecordGenerators.all)
    val nested = Schema(
      1,
      Vector(
        optional(1, "l", ListType(2, StructType(Vector(optional(3, "x", StringType))), elementRequired = false)),
        optional(4, "m", MapType(5, StringType, 6, DoubleType, valueRequired = false))
      )
    )
    for (testSchema <- Seq(schema, nested)) {
      val random = new Random(17)
      val files = Seq(1, 300).map(n => new TestFile(testSchema, randomRecords(testSchema, n, random)))
      checkDamaged(testSchema, files.map(_.content).toIndexedSeq, rounds = 150)
    }
  }

  protected def checkDamaged(schema: Schema, valid: IndexedSeq[Array[Byte]], rounds: Int): Unit = {
    val filter = Bind(Expression.NotNull(Term.Named(schema.fields.head.name)), schema, caseSensitive = true)
    Fuzz.bytes(s"batches of ${format.format.name}", rounds, valid) { bytes =>
      val file = new TestFile(schema, Seq.empty, bytes = Some(bytes))
      try file.batches(file.task(filter = filter), schema.fields :+ MetadataColumns.Position)
      catch {
        case e: UnreadableFile =>
          assert(e.getMessage.contains("mem:/f"))
          throw e
      }
    }
  }
}
