package iceberglite.tree

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.avro.file.DataFileStream
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}

import iceberglite.io.FileIO
import iceberglite.spec.{EntryStatus, IcebergError, ManifestContent, ManifestEntry, ManifestFile, Snapshot}
import iceberglite.spec.IcebergError.UnreadableFile

/**
 * The manifests of a version 1 snapshot that names them in table metadata (spec: "Snapshots", `manifests`). What a
 * manifest list would say of them is taken from the manifests themselves.
 */
private[tree] object EmbeddedManifests {
  private val SpecIdKey = "partition-spec-id"
  private val Role = "manifest"

  /** @param entries reads the rows of a manifest */
  def read(
      io: FileIO,
      path: String,
      snapshot: Snapshot,
      entries: ManifestFile => Iterator[ManifestEntry]
  ): ManifestFile = {
    val bare = ManifestFile(
      path = path,
      length = io.info(path).fold(0L)(_.length),
      partitionSpecId = specId(io, path),
      content = ManifestContent.Data,
      sequenceNumber = 0L,
      minSequenceNumber = 0L,
      addedSnapshotId = snapshot.snapshotId,
      addedFilesCount = None,
      existingFilesCount = None,
      deletedFilesCount = None,
      addedRowsCount = None,
      existingRowsCount = None,
      deletedRowsCount = None,
      partitions = None
    )
    val rows = entries(bare).toVector
    // A manifest adds and deletes in its own snapshot only; one of existing files alone does not say which that is.
    val own = rows.find(_.status != EntryStatus.Existing).flatMap(_.snapshotId).getOrElse(bare.addedSnapshotId)
    ManifestCounts.counted(bare.copy(addedSnapshotId = own), rows.iterator)
  }

  /** Old writers leave the key out, and knew one spec only. */
  private def specId(io: FileIO, path: String): Int = {
    val text =
      try {
        val stream = new DataFileStream[GenericRecord](io.open(path), new GenericDatumReader[GenericRecord])
        try Option(stream.getMetaString(SpecIdKey))
        finally stream.close()
      } catch {
        case e: IcebergError => throw e
        case NonFatal(e) => throw UnreadableFile(path, Role, s"It is no Avro file: ${e.getMessage}", Some(e))
      }
    text.fold(0) { t =>
      Try(t.trim.toInt).getOrElse(throw UnreadableFile(path, Role, s"Its $SpecIdKey is $t, which is no number"))
    }
  }
}
