package iceberglite.puffin

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.StatisticsRules
import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile}
import iceberglite.spec.file.{Content, ContentFile, FileFormat}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.table.MemoryFileIO

/** Tests of the section "Deletion vectors" of the specification, version 3. */
class DeletionVectorFilesSuite extends AnyFunSuite {
  private val path = "t/data/d.puffin"
  private val inA = PartitionTuple(Vector(Some(StringLiteral("a"))))
  private val rows = Vector(
    DeletedRows("t/data/1.parquet", 0, inA, DeletionVector.of(1, 2, 3)),
    DeletedRows("t/data/2.orc", 1, PartitionTuple.Empty, DeletionVector.of(0L to 999L: _*)),
    DeletedRows("t/data/3.avro", 0, inA, DeletionVector.Empty)
  )

  private def writeVectors: (MemoryFileIO, Vector[ContentFile]) = {
    val io = new MemoryFileIO
    (io, DeletionVectorFiles.write(io, path, rows))
  }

  test(
    "one Puffin file contains the vectors of several data files, each with its own delete file entry",
    StatisticsRules.vectorEntry,
    StatisticsRules.oneVectorOfAFile
  ) {
    val (io, files) = writeVectors
    assert(files.map(_.referencedDataFile) == Vector(Some("t/data/1.parquet"), Some("t/data/2.orc")))
    assert(files.forall(f => f.content == Content.PositionDeletes && f.format == FileFormat.Puffin && f.path == path))
    assert(files.map(_.recordCount) == Vector(3L, 1000L))
    assert(files.map(f => (f.specId, f.partition)) == Vector((0, inA), (1, PartitionTuple.Empty)))
    assert(files.forall(_.fileSizeInBytes == io.read(path).length))
    val blobs = PuffinFile.open(io, path).blobs
    assert(blobs.map(b => (Some(b.offset), Some(b.length))) == files.map(f => (f.contentOffset, f.contentSizeInBytes)))
    assert(files.map(DeletionVectorFiles.read(io, _)) == rows.take(2).map(_.positions))
  }

  test(
    "the blob of a vector is uncompressed, and its properties contain the data file and the cardinality",
    StatisticsRules.vectorBlob
  ) {
    val (io, _) = writeVectors
    val blob = PuffinFile.open(io, path).blobs.head
    assert(blob.compressionCodec.isEmpty && blob.metadata.blobType == "deletion-vector-v1")
    assert(blob.metadata.snapshotId == -1L && blob.metadata.sequenceNumber == -1L)
    assert(blob.metadata.fields == Vector(2147483645))
    assert(blob.metadata.properties == Map("referenced-data-file" -> "t/data/1.parquet", "cardinality" -> "3"))
  }

  test("two vectors of one data file are rejected", StatisticsRules.oneVectorOfAFile) {
    val io = new MemoryFileIO
    val error = intercept[InvalidArgument](DeletionVectorFiles.write(io, path, rows :+ rows.head))
    assert(error.getMessage.contains("t/data/1.parquet") && io.paths.isEmpty)
  }

  test("no file is written if no row is deleted") {
    val io = new MemoryFileIO
    assert(DeletionVectorFiles.write(io, path, rows.drop(2)).isEmpty && io.paths.isEmpty)
  }

  test(
    "the error for a manifest entry that contradicts its deletion vector describes the contradiction",
    StatisticsRules.vectorIsChecked
  ) {
    val (io, files) = writeVectors
    val file = files.head
    def rejection(changed: ContentFile): String = {
      val error = intercept[UnreadableFile](DeletionVectorFiles.read(io, changed))
      assert(error.getMessage.contains("deletion vector of") && error.file == changed.path)
      error.reason
    }
    assert(rejection(file.copy(recordCount = 4)) == "The vector deletes 3 rows, but its manifest entry states 4")
    assert(rejection(file.copy(format = FileFormat.Parquet)).contains("format parquet"))
    assert(rejection(file.copy(content = Content.EqualityDeletes)).contains("content equality_deletes"))
    assert(rejection(file.copy(referencedDataFile = None)).contains("no referenced_data_file"))
    assert(rejection(file.copy(contentOffset = None)).contains("no content_offset"))
    assert(rejection(file.copy(contentSizeInBytes = None)).contains("no content_size_in_bytes"))
    assert(rejection(file.copy(contentOffset = Some(5L))).contains("The blob states a length of"))
    Seq(-1L, Long.MaxValue).foreach(o =>
      assert(rejection(file.copy(contentOffset = Some(o))).contains("The manifest entry states"))
    )
    Seq(-1L, Long.MaxValue, Int.MaxValue.toLong).foreach { size =>
      assert(rejection(file.copy(contentSizeInBytes = Some(size))).contains("The manifest entry states"))
    }
    val withHugeSize = file.copy(contentSizeInBytes = Some(Int.MaxValue.toLong), fileSizeInBytes = Long.MaxValue)
    assert(rejection(withHugeSize).contains("does not begin like a deletion vector"))
    assert(rejection(file.copy(path = "t/data/gone.puffin")).contains("does not exist"))
  }
}
