package org.apache.iceberg

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.iceberg.encryption.PlaintextEncryptionManager
import org.apache.iceberg.inmemory.InMemoryFileIO
import org.apache.iceberg.types.Types.StructType

/** Gives access to Apache Iceberg's manifest entries and manifest lists, which are private to its package. */
object PeerManifests {

  /** A manifest entry as a reader of Apache Iceberg returns it, including inherited values. */
  final case class Row(
      status: Int,
      snapshotId: Option[Long],
      sequenceNumber: Option[Long],
      fileSequenceNumber: Option[Long],
      file: ContentFile[_]
  )

  def rows(manifest: ManifestFile, io: InMemoryFileIO, specs: Map[Int, PartitionSpec]): Vector[Row] = {
    val byId = specs.map { case (id, spec) => Int.box(id) -> spec }.asJava
    if (manifest.content == ManifestContent.DATA) rows(ManifestFiles.read(manifest, io, byId))
    else rows(ManifestFiles.readDeleteManifest(manifest, io, byId))
  }

  private def rows[F <: ContentFile[F]](reader: ManifestReader[F]): Vector[Row] =
    try reader.entries.asScala.map(_.copy()).map { e =>
        val number = Option(e.dataSequenceNumber).map(_.longValue)
        val fileNumber = Option(e.fileSequenceNumber).map(_.longValue)
        Row(e.status.id, Option(e.snapshotId).map(_.longValue), number, fileNumber, e.file)
      }.toVector
    finally reader.close()

  def partition(partitionType: StructType, values: Seq[Option[Any]]): PartitionData = {
    val data = new PartitionData(partitionType)
    values.zipWithIndex.foreach { case (value, i) => value.foreach(data.set(i, _)) }
    data
  }

  def readList(io: InMemoryFileIO, path: String): Vector[ManifestFile] =
    ManifestLists.read(io.newInputFile(path)).asScala.map(_.copy()).toVector

  def writeList(
      io: InMemoryFileIO,
      path: String,
      version: Int,
      snapshotId: Long,
      sequenceNumber: Long,
      firstRowId: Option[Long],
      manifests: Seq[ManifestFile]
  ): Unit = {
    val encryption = PlaintextEncryptionManager.instance
    val parent = Long.box(snapshotId - 1)
    // Apache Iceberg expects null for a format version without row ids.
    val rowId = firstRowId.map(Long.box).orNull
    val output = io.newOutputFile(path)
    val writer = ManifestLists.write(version, output, encryption, snapshotId, parent, sequenceNumber, rowId)
    try manifests.foreach(m => writer.add(m))
    finally writer.close()
  }

  /**
   * Creates a manifest.
   *
   * @param numbers the sequence number and the minimum sequence number
   * @param files the counts of added, existing and deleted files
   * @param rows the counts of rows in added, existing and deleted files
   */
  def manifest(
      path: String,
      length: Long,
      specId: Int,
      isData: Boolean,
      numbers: (Long, Long),
      snapshotId: Long,
      partitions: Option[Vector[ManifestFile.PartitionFieldSummary]],
      keyMetadata: Option[ByteBuffer],
      files: Seq[Option[Int]],
      rows: Seq[Option[Long]],
      firstRowId: Option[Long]
  ): ManifestFile = new GenericManifestFile(
    path,
    length,
    specId,
    if (isData) ManifestContent.DATA else ManifestContent.DELETES,
    numbers._1,
    numbers._2,
    Long.box(snapshotId),
    partitions.map(_.asJava).orNull,
    keyMetadata.orNull,
    boxed(files(0)),
    boxedLong(rows(0)),
    boxed(files(1)),
    boxedLong(rows(1)),
    boxed(files(2)),
    boxedLong(rows(2)),
    boxedLong(firstRowId)
  )

  private def boxed(value: Option[Int]): Integer = value.map(Int.box).orNull

  private def boxedLong(value: Option[Long]): java.lang.Long = value.map(Long.box).orNull

  def summary(
      containsNull: Boolean,
      containsNan: Option[Boolean],
      lower: Option[ByteBuffer],
      upper: Option[ByteBuffer]
  ): ManifestFile.PartitionFieldSummary = containsNan match {
    case Some(nan) => new GenericPartitionFieldSummary(containsNull, nan, lower.orNull, upper.orNull)
    case None => new GenericPartitionFieldSummary(containsNull, lower.orNull, upper.orNull)
  }
}
