package iceberglite.tree.manifestlist

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier}
import iceberglite.data.Record
import iceberglite.data.parquet.ParquetMetadataFiles
import iceberglite.spec.file.{ManifestContent, ManifestFile}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type.StructType
import iceberglite.table.MemoryFileIO
import iceberglite.tree.{DataFileFields => F}
import iceberglite.tree.manifestlist.ManifestSamples.{byId, bytes, schema}

/** Tests that reading damaged Parquet manifests of Apache Iceberg 1.12 succeeds or throws an `IcebergError`. */
@MoreRoundsInSlowTier
class ColumnarManifestFuzzSuite extends AnyFunSuite {
  private val path = "m.parquet"

  private val fileType: StructType = StructType(Vector(
    F.Content,
    F.FilePath,
    F.FileFormat,
    F.partition(byId.partitionType(schema)),
    F.RecordCount,
    F.FileSize,
    F.ValueCounts.field,
    F.LowerBounds.field,
    F.SplitOffsets,
    F.FirstRowId
  ))
  private val entryType =
    Vector(F.Status, F.SnapshotId, F.SequenceNumber, F.FileSequenceNumber, F.dataFile(fileType))

  private def long(value: Long): AnyRef = Long.box(value)

  private def row(i: Int): Record = Record.of(
    Int.box(i % 3),
    long(7L),
    long(3L),
    long(3L),
    Record.of(
      Int.box(0),
      s"file:/wh/db/t/data/f$i.parquet",
      "parquet",
      Record.of(long(i.toLong)),
      long(10L),
      long(1000L),
      Vector(Int.box(1) -> long(10L), Int.box(2) -> long(10L)),
      Vector(Int.box(1) -> bytes(1, 0, 0, 0, 0, 0, 0, 0)),
      Vector(long(4L), long(100L)),
      long(100L * i)
    )
  )

  private val listed = ManifestFile(
    path,
    length = 0L,
    byId.specId,
    ManifestContent.Data,
    sequenceNumber = 3L,
    minSequenceNumber = 3L,
    addedSnapshotId = 7L,
    addedFilesCount = Some(10),
    existingFilesCount = Some(10),
    deletedFilesCount = Some(10),
    addedRowsCount = None,
    existingRowsCount = None,
    deletedRowsCount = None,
    partitions = None
  )

  test("reading a damaged Parquet manifest succeeds or throws an IcebergError") {
    val valid =
      ParquetMetadataFiles.write(path, Schema(0, entryType), Map("content" -> "data"), (0 until 30).iterator.map(row))
    Fuzz.bytes("Parquet manifest", 400, Vector(valid)) { damaged =>
      val io = new MemoryFileIO
      io.write(path, damaged)
      Manifests.read(io, listed, Map(0 -> byId), schema).foreach(e => e.file.metrics.lowerBounds)
    }
  }
}
