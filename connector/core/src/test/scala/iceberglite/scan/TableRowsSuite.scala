package iceberglite.scan

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTierTag}
import iceberglite.conformance.ScanRules
import iceberglite.data.{DataFileOf, DataTarget, Record}
import iceberglite.metrics.MetricsModes
import iceberglite.puffin.DeletionVector
import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile}
import iceberglite.spec.expr.{Bind, Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, And, GreaterThan, IsNull, NotNull}
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps, Metrics}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{DefaultValue, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples
import iceberglite.scan.deletes.{DeleteCache, DeleteCacheAccess, DeleteFile, DeleteReader, EqualityColumn, SpilledKeys}

/** Tests reads of data files with delete files, in all formats. */
class TableRowsSuite extends AnyFunSuite {
  private val id = optional(1, "id", LongType)
  private val category = optional(2, "category", StringType)
  private val city = optional(4, "city", StringType)
  private val place = optional(3, "place", StructType(Vector(city, optional(5, "zip", IntType))))
  private val added = optional(6, "added", IntType).copy(initialDefault = Some(DefaultValue.OfPrimitive(IntLiteral(7))))
  private val fileColumns = Vector(id, category, place)
  private val schema = Schema(0, fileColumns :+ added)
  private val byCategory = PartitionSpec(0, Vector(PartitionField(2, 1000, "category", Identity)))
  private val unpartitioned = PartitionSpec(1, Vector.empty)
  private val specs = Map(0 -> byCategory, 1 -> unpartitioned)
  private val formats = Seq(FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro)

  private class Files {
    val io = new MemoryFileIO
    private val paths = Iterator.from(1).map(n => s"mem:/f$n")

    def path(): String = paths.next()

    def write(format: FileFormat, fields: Vector[NestedField], rows: Seq[Record]): ContentFile = {
      val target = DataTarget(io, path(), Schema(0, fields), Map.empty, MetricsModes(Map.empty))
      DataFileOf(target, format, 1, PartitionTuple.Empty, rows).copy(metrics = Metrics.Empty)
    }

    def positions(format: FileFormat, of: (String, Long)*): DeleteFile = {
      val columns = Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition)
      val file = write(format, columns, of.map { case (path, position) => Record.of(path, position) })
      DeleteFile(file.copy(content = Content.PositionDeletes), 5, Vector.empty)
    }

    def keys(
        format: FileFormat,
        fields: Vector[NestedField],
        key: Vector[Vector[NestedField]]
    )(rows: Record*): DeleteFile = {
      val file = write(format, fields, rows).copy(content = Content.EqualityDeletes, equalityIds = key.map(_.last.id))
      DeleteFile(file, 5, key.map(EqualityColumn))
    }

    def vector(of: ContentFile, positions: Long*): DeleteFile = {
      val (name, blob) = (path(), DeletionVector.of(positions: _*).toBytes)
      io.write(name, Array[Byte](1, 2, 3) ++ blob ++ Array[Byte](9))
      val entry = of.copy(
        content = Content.PositionDeletes,
        path = name,
        format = FileFormat.Puffin,
        recordCount = positions.size.toLong,
        referencedDataFile = Some(of.path),
        contentOffset = Some(3L),
        contentSizeInBytes = Some(blob.length.toLong)
      )
      DeleteFile(entry, 5, Vector.empty)
    }

    def rows(
        file: ContentFile,
        deletes: Seq[DeleteFile] = Nil,
        projection: Vector[NestedField] = Vector(id),
        residual: Expression = AlwaysTrue,
        number: Long = 4
    ): Vector[Record] = {
      val bound = Bind(residual, schema, caseSensitive = true)
      val task = FileScanTask.whole(file, number, specs(file.specId), bound).copy(deletes = deletes.toVector)
      val read = new TableRows(io, specs, None, schema, projection, filtered = true).of(task)
      try read.toVector
      finally read.close()
    }
  }

  private val sampleRows: Seq[Record] = (0 until 10).map { i =>
    val where = if (i == 9) null else Record.of(s"city$i", i)
    Record.of(if (i == 8) null else i.toLong, if (i % 2 == 0) "even" else "odd", where)
  }

  private def ids(rows: Vector[Record]): Vector[Any] = rows.map(_(0))

  test("rows at deleted positions are removed, in every format", ScanRules.positionRows, ScanRules.everyFormat) {
    for (data <- formats; deletes <- formats) {
      val files = new Files
      val file = files.write(data, fileColumns, sampleRows)
      val one = files.positions(deletes, "mem:/other" -> 4L, file.path -> 0L, file.path -> 3L, file.path + "x" -> 5L)
      val two = files.positions(deletes, file.path -> 9L, file.path -> 0L, file.path -> 1000L)
      assert(ids(files.rows(file, Seq(one, two))) == Vector(1L, 2L, 4L, 5L, 6L, 7L, null))
      assert(files.rows(file, Seq(one), Vector(id, MetadataColumns.Position)).map(_(1)).take(3) == Vector(1L, 2L, 4L))
    }
  }

  test("rows at the positions of a deletion vector are removed, in every format", ScanRules.vectorScope) {
    for (format <- formats) {
      val files = new Files
      val file = files.write(format, fileColumns, sampleRows)
      assert(ids(files.rows(file, Seq(files.vector(file, 1, 2, 3, 4, 5, 9)))) == Vector(0L, 6L, 7L, null))
    }
  }

  test(
    "a deletion vector whose entry has another number of positions or an invalid offset is an error",
    ScanRules.vectorCardinality
  ) {
    val files = new Files
    val file = files.write(FileFormat.Avro, fileColumns, sampleRows)
    val vector = files.vector(file, 1, 2)
    val e = intercept[UnreadableFile](files.rows(file, Seq(vector.copy(file = vector.file.copy(recordCount = 3)))))
    assert(e.file == vector.file.path && e.getMessage.contains(file.path) && e.getMessage.contains("entry states 3"))
    Seq(Some(-1L) -> Some(3L), Some(0L) -> Some(-3L), Some(0L) -> Some(1L << 40)).foreach { case (offset, size) =>
      val entry = vector.file.copy(contentOffset = offset, contentSizeInBytes = size)
      intercept[UnreadableFile](files.rows(file, Seq(vector.copy(file = entry))))
    }
    intercept[UnreadableFile](files.rows(
      file,
      Seq(vector.copy(file = vector.file.copy(contentOffset = Some(1L << 40))))
    ))
  }

  test(
    "a row is removed if all its key columns equal a deleted key, and null equals null",
    ScanRules.allColumnsEqual,
    ScanRules.nullEqualsNull
  ) {
    for (data <- formats; deletes <- formats) {
      val files = new Files
      val file = files.write(data, fileColumns, sampleRows)
      val both = files.keys(deletes, Vector(category, id), Vector(Vector(id), Vector(category)))(
        Record.of("even", 2L),
        Record.of("even", 3L),
        Record.of("even", null)
      )
      assert(ids(files.rows(file, Seq(both))) == Vector(0L, 1L, 3L, 4L, 5L, 6L, 7L, 9L))
      // The category in the delete file is not part of the key and is ignored.
      val one =
        files.keys(deletes, Vector(id, category), Vector(Vector(id)))(Record.of(1L, "none"), Record.of(9L, null))
      assert(ids(files.rows(file, Seq(both, one))) == Vector(0L, 3L, 4L, 5L, 6L, 7L))
    }
  }

  test(
    "key columns of equality deletes may be nested in structs, even if the structs are null",
    ScanRules.allColumnsEqual,
    ScanRules.nullEqualsNull
  ) {
    for (format <- formats) {
      val files = new Files
      val file = files.write(format, fileColumns, sampleRows)
      val only = place.copy(fieldType = StructType(Vector(city)))
      val deletes =
        files.keys(format, Vector(only), Vector(Vector(only, city)))(Record.of(Record.of("city4")), Record.of(null))
      assert(ids(files.rows(file, Seq(deletes))) == Vector(0L, 1L, 2L, 3L, 5L, 6L, 7L, null))
      // The projected fields of the struct differ from the fields that the deletes need.
      val zip = place.copy(fieldType = StructType(Vector(optional(5, "zip", IntType))))
      assert(files.rows(file, Seq(deletes), Vector(zip)).take(5) == Vector(0, 1, 2, 3, 5).map(i =>
        Record.of(Record.of(i))
      ))
    }
  }

  test("rows are removed by keys of different types", ScanRules.allColumnsEqual, ScanRules.floatingKeys) {
    val values = Seq[(PrimitiveType, AnyRef, AnyRef)](
      (BooleanType, Boolean.box(true), Boolean.box(false)),
      (IntType, Int.box(1), Int.box(2)),
      (FloatType, Float.box(Float.NaN), Float.box(1)),
      (DoubleType, Double.box(0.0), Double.box(-0.0)),
      (DecimalType(20, 3), new BigDecimal("1.000"), new BigDecimal("1.001")),
      (DateType, Int.box(-5), Int.box(5)),
      (TimeType, Long.box(5), Long.box(6)),
      (TimestampType, Long.box(-5000000L), Long.box(6)),
      (TimestampTzNsType, Long.box(-5000000000L), Long.box(6)),
      (StringType, "a", "b"),
      (UuidType, new UUID(1, 2), new UUID(2, 1)),
      (FixedType(2), ByteBuffer.wrap(Array[Byte](1, 2)), ByteBuffer.wrap(Array[Byte](2, 1))),
      (BinaryType, ByteBuffer.wrap(Array[Byte](1, 2)), ByteBuffer.wrap(Array.emptyByteArray))
    )
    for (format <- formats; (t, deleted, kept) <- values) {
      val files = new Files
      val key = optional(2, "key", t)
      val file =
        files.write(format, Vector(id, key), Seq(Record.of(1L, deleted), Record.of(2L, kept), Record.of(3L, null)))
      val deletes = files.keys(format, Vector(key), Vector(Vector(key)))(new Record(Array(deleted)))
      assert(ids(files.rows(file, Seq(deletes))) == Vector(2L, 3L), s"$t in $format")
    }
  }

  test("a key column that a file lacks has the value that column projection defines", ScanRules.addedKey) {
    for (format <- formats) {
      val files = new Files
      val file = files.write(format, fileColumns, sampleRows)
      val default =
        files.keys(format, Vector(id, added), Vector(Vector(id), Vector(added)))(Record.of(1L, 7), Record.of(2L, null))
      assert(ids(files.rows(file, Seq(default))).take(3) == Vector(0L, 2L, 3L))
      // The delete file lacks two key columns. Their values are the partition value and the initial default.
      val ofPartition = files.keys(format, Vector(id), Vector(Vector(id), Vector(category), Vector(added)))(
        Record.of(3L),
        Record.of(4L)
      )
      val odd = PartitionTuple(Vector(Some(StringLiteral("odd"))))
      val deletes = ofPartition.copy(file = ofPartition.file.copy(specId = 0, partition = odd))
      assert(ids(files.rows(file, Seq(deletes))).take(4) == Vector(0L, 1L, 2L, 4L))
    }
  }

  test("metadata columns of a file, and columns that only its partition has, are read as constants") {
    val files = new Files
    val withOneColumn = files.write(FileFormat.Avro, Vector(id), Seq(Record.of(1L)))
    val file = withOneColumn.copy(specId = 0, partition = PartitionTuple(Vector(Some(StringLiteral("even")))))
    val partition =
      optional(MetadataColumns.PartitionId, "_partition", StructType(Vector(optional(1000, "category", StringType))))
    val columns =
      Vector(category, MetadataColumns.FilePath, MetadataColumns.SpecId, partition, added, MetadataColumns.Deleted)
    assert(files.rows(file, Nil, columns) == Vector(Record.of("even", file.path, 0, Record.of("even"), 7, false)))
    val empty = partition.copy(fieldType = StructType(Vector.empty))
    assert(files.rows(withOneColumn, projection = Vector(empty)) == Vector(Record.of(null)))
  }

  test(
    "row ids and last-updated sequence numbers are read from the file, or derived from its manifest entry if null",
    ScanRules.rowIds,
    ScanRules.lastUpdated,
    ScanRules.noLineage
  ) {
    val lineage = Vector(MetadataColumns.RowId, MetadataColumns.LastUpdatedSequenceNumber)
    for (format <- formats) {
      val files = new Files
      val kept = files.write(
        format,
        id +: lineage,
        Seq(Record.of(1L, 90L, 2L), Record.of(2L, null, null), Record.of(3L, 70L, null))
      )
      val fresh = files.write(format, Vector(id), Seq(Record.of(1L), Record.of(2L)))
      def read(file: ContentFile, first: Option[Long]) =
        files.rows(file.copy(firstRowId = first), projection = lineage :+ id, number = 8)
      assert(read(kept, Some(40)) == Vector(Record.of(90L, 2L, 1L), Record.of(41L, 8L, 2L), Record.of(70L, 8L, 3L)))
      assert(read(fresh, Some(40)) == Vector(Record.of(40L, 8L, 1L), Record.of(41L, 8L, 2L)))
      assert(read(kept, None).map(r => (r(0), r(1))) == Vector.fill(3)((null, null)))
      // The row ids of the remaining rows still depend on their positions in the file.
      val deletes = Seq(files.positions(format, fresh.path -> 0L))
      assert(files.rows(fresh.copy(firstRowId = Some(40)), deletes, lineage.take(1)) == Vector(Record.of(41L)))
    }
  }

  test("rows that do not match the residual are removed, even if its columns are not projected", ScanRules.residuals) {
    val files = new Files
    val file = files.write(FileFormat.Parquet, fileColumns, sampleRows)
    val filter = And(GreaterThan(Term.Named("place.zip"), IntLiteral(5)), NotNull(Term.Named("id")))
    assert(files.rows(file, residual = filter, projection = Vector(category)) == Vector(
      Record.of("even"),
      Record.of("odd")
    ))
    assert(ids(files.rows(file, residual = IsNull(Term.Named("place")))) == Vector(9L))
    assert(files.rows(file, residual = GreaterThan(Term.Named("added"), IntLiteral(7))).isEmpty)
  }

  test("deleted rows are returned and marked if _deleted is projected") {
    val files = new Files
    val file = files.write(FileFormat.Orc, fileColumns, sampleRows.take(3))
    val deletes = Seq(
      files.vector(file, 0),
      files.keys(FileFormat.Avro, Vector(id), Vector(Vector(id)))(Record.of(2L))
    )
    val marked = files.rows(file, deletes, Vector(MetadataColumns.Deleted, id))
    assert(marked == Vector(Record.of(true, 0L), Record.of(false, 1L), Record.of(true, 2L)))
  }

  test("the error for a negative position in a delete file contains the path of the delete file") {
    val files = new Files
    val file = files.write(FileFormat.Avro, fileColumns, sampleRows)
    val deletes = files.positions(FileFormat.Avro, file.path -> -1L)
    val e = intercept[UnreadableFile](files.rows(file, Seq(deletes)))
    assert(e.file == deletes.file.path && e.getMessage.contains("-1"))
  }

  test(
    "a position delete file with paths outside the bounds of its entry, or not of its referenced file, is an error",
    ScanRules.positionsAsListed
  ) {
    val files = new Files
    val file = files.write(FileFormat.Avro, fileColumns, sampleRows)
    val deletes = files.positions(FileFormat.Avro, file.path -> 0L)
    def bounds(lower: String, upper: String): ContentFile = deletes.file.copy(metrics =
      MetricMaps(
        lowerBounds = Some(Map(MetadataColumns.DeleteFilePath.id -> ManifestSamples.text(lower))),
        upperBounds = Some(Map(MetadataColumns.DeleteFilePath.id -> ManifestSamples.text(upper)))
      )
    )
    val wrongEntries = Seq(
      deletes.file.copy(referencedDataFile = Some("mem:/other")),
      bounds("mem:/a", "mem:/b"),
      bounds("mem:/y", "mem:/z")
    )
    wrongEntries.foreach { entry =>
      val e = intercept[UnreadableFile](files.rows(file, Seq(deletes.copy(file = entry))))
      assert(e.file == deletes.file.path && e.getMessage.contains(file.path))
    }
    assert(files.rows(file, Seq(deletes.copy(file = bounds(file.path, file.path)))).size == sampleRows.size - 1)
  }

  test("a file with damaged encryption key metadata is rejected, and so is a scan task for only a part of a file") {
    val files = new Files
    val file = files.write(FileFormat.Avro, fileColumns, sampleRows)
    val key = Some(ByteBuffer.wrap(Array[Byte](1)))
    assert(intercept[UnreadableFile](files.rows(file.copy(keyMetadata = key))).file == file.path)
    val deletes = files.positions(FileFormat.Avro, file.path -> 1L)
    val e = intercept[UnreadableFile](files.rows(file, Seq(deletes.copy(file = deletes.file.copy(keyMetadata = key)))))
    assert(e.file == deletes.file.path)
    val rows = new TableRows(files.io, specs, None, schema, Vector(id), filtered = false)
    val whole = FileScanTask.whole(file, 1, unpartitioned, AlwaysTrue)
    val parts = Seq(whole.copy(start = 5), whole.copy(length = file.fileSizeInBytes - 1))
    parts.foreach(part => intercept[InvalidArgument](rows.of(part)))
  }

  test("a delete file is read once for all data files of a reader") {
    val files = new Files
    val Seq(one, two) = Seq.fill(2)(files.write(FileFormat.Avro, fileColumns, sampleRows))
    val shared = files.positions(FileFormat.Avro, one.path -> 0L, two.path -> 1L)
    val reader = new DeleteReader(files.io, specs, None)
    assert(reader.of(one.path, Vector(shared)).positions == DeletionVector.of(0))
    files.io.delete(shared.file.path)
    assert(reader.of(two.path, Vector(shared)).positions == DeletionVector.of(1))
    val keys = files.keys(FileFormat.Avro, Vector(id), Vector(Vector(id)))(Record.of(1L))
    assert(reader.of(one.path, Vector(keys)).keys.head.sets == reader.of(two.path, Vector(keys)).keys.head.sets)
  }

  test("readers with the same cache and storage key read a delete file once; another storage key reads it again") {
    val files = new Files
    val file = files.write(FileFormat.Avro, fileColumns, sampleRows)
    val positions = files.positions(FileFormat.Avro, file.path -> 0L)
    val deletes =
      positions +: Vector(1L, 2L).map(k => files.keys(FileFormat.Avro, Vector(id), Vector(Vector(id)))(Record.of(k)))
    val shared = DeleteCacheAccess.toNewCache
    def read(k: String) = new DeleteReader(files.io, specs, None, shared.copy(storageKey = k)).of(file.path, deletes)
    val first = read("a")
    deletes.foreach(d => files.io.delete(d.file.path))
    assert(read("a").positions == first.positions && read("a").keys.head.sets == first.keys.head.sets)
    assert(first.keys.head.sets.size == 1)
    intercept[UnreadableFile](read("b"))
  }

  test("delete files above the memory limits remove the same rows as without limits") {
    val limits = DeleteCache.DefaultLimits.copy(maxEntryBytes = 2000, maxTotalBytes = 4000)
    formats.foreach { format =>
      val files = new Files
      val file = files.write(format, fileColumns, sampleRows)
      val positions = files.positions(format, (0 until 1000).map(i => s"mem:/d${i / 500}" -> i.toLong * 100): _*)
      val keys = files.keys(format, Vector(id), Vector(Vector(id)))((0 until 500).map(i => Record.of(i * 2L)): _*)
      val reader = new DeleteReader(files.io, specs, None, DeleteCacheAccess.toNewCache.copy(limits = limits))
      def positionsOf(reader: DeleteReader) = (0 to 2).map(i => reader.of(s"mem:/d$i", Vector(positions)).positions)
      assert(positionsOf(reader) == positionsOf(new DeleteReader(files.io, specs, None)))
      val few = files.keys(format, Vector(id), Vector(Vector(id)))(Record.of(7L))
      val deleted = reader.of(file.path, Vector(keys, few)).keys.head
      assert(deleted.sets.size == 2 && deleted.sets.exists(_.isInstanceOf[SpilledKeys]))
      val isDeleted = deleted.toPredicate(Vector(id))
      (0L until 1100L).foreach(i => assert(isDeleted(Record.of(i)) == (i < 1000 && i % 2 == 0 || i == 7), i))
    }
  }

  test("reading a damaged delete file succeeds or throws an IcebergError", MoreRoundsInSlowTierTag) {
    formats.foreach { format =>
      val files = new Files
      val positions = files.positions(format, (0 until 50).map(i => s"mem:/d${i / 20}" -> i.toLong): _*)
      val keys = files.keys(format, Vector(id, category), Vector(Vector(id), Vector(category)))(
        (0 until 50).map(i => Record.of(i.toLong, s"c$i")): _*
      )
      Seq(positions, keys).foreach { delete =>
        Fuzz.bytes(s"deletes in ${format.name}", 150, Vector(files.io.read(delete.file.path))) { bytes =>
          files.io.delete("mem:/damaged")
          files.io.write("mem:/damaged", bytes)
          val damaged =
            delete.copy(file = delete.file.copy(path = "mem:/damaged", fileSizeInBytes = bytes.length.toLong))
          new DeleteReader(files.io, specs, None).of("mem:/d1", Vector(damaged))
        }
      }
    }
  }
}
