package iceberglite.tree.manifestlist

import iceberglite.avro.{
  AvroCodec,
  AvroContainer,
  AvroContainerReader,
  AvroContainerWriter,
  AvroFault,
  AvroRow,
  AvroSchemas,
  Memo,
  RecordDecoder
}
import iceberglite.encryption.FileKey
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.{ManifestContent, ManifestFile}
import iceberglite.spec.metadata.Snapshot
import iceberglite.storage.{EncryptedFileIO, FileIO, FileSink}

/** Reads and writes manifest lists (spec: "Manifest Lists"). */
object ManifestLists {
  private val Role = "manifest list"
  private val Advice = "If the file cannot be restored, roll the table back to another snapshot"

  private val schemas = new Memo[FormatVersion, String](FormatVersion.all.size + 1)(version =>
    AvroSchemas.of(ManifestFileColumns.struct(version), ManifestFileColumns.name).toString
  )

  /**
   * Returns the manifests of a snapshot in the order of the manifest list.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist, is incomplete or is not a manifest
   *   list
   */
  def read(io: FileIO, path: String): Vector[ManifestFile] = AvroFault.guard(path, Role, Advice) {
    val file = AvroContainerReader.open(io.read(path, AvroContainer.Bounds))
    val record = RecordDecoder.of(file.schema, ManifestFileColumns)
    val row = new AvroRow(ManifestFileColumns.columns.size)
    file.records { in =>
      record.read(in, row)
      ManifestFileColumns.fromRow(row)
    }.toVector
  }

  /**
   * Writes the manifest list of a snapshot. In version 2 and later, manifests that the snapshot adds get its sequence
   * number. In version 3, data manifests without a first row id get a first row id.
   *
   * @param manifests the manifests of the snapshot; in version 2 and later, they must have all counts
   * @param key encrypts the manifest list; absent if the table is not encrypted
   * @return the length of the file, and the manifests with the assigned values
   */
  def write(
      to: FileSink,
      path: String,
      header: ManifestListHeader,
      manifests: Seq[ManifestFile],
      codec: AvroCodec = AvroCodec.Default,
      key: Option[FileKey] = None
  ): (Long, Vector[ManifestFile]) = {
    val numbered = manifests.toVector.map(withNumbers(_, header))
    val assigned =
      if (header.version < FormatVersion.V3) numbered.map(_.copy(firstRowId = None))
      else withRowIds(numbered, header.firstRowId)
    (writeAssigned(to, path, header, assigned, codec, key), assigned)
  }

  /**
   * Writes a manifest list of an existing snapshot. All values of the manifests are written as they are. In particular,
   * manifests without a first row id get none, because a snapshot before the upgrade to version 3 has no row ids.
   */
  private[manifestlist] def writeCopy(
      to: FileSink,
      path: String,
      version: FormatVersion,
      snapshot: Snapshot,
      manifests: Vector[ManifestFile],
      codec: AvroCodec
  ): Unit = {
    writeAssigned(to, path, ManifestListHeader.of(version, snapshot), manifests, codec, None)
    ()
  }

  private def writeAssigned(
      to: FileSink,
      path: String,
      header: ManifestListHeader,
      manifests: Vector[ManifestFile],
      codec: AvroCodec,
      key: Option[FileKey]
  ): Long = {
    val writer = new AvroContainerWriter(schemas(header.version), header.keyValues, codec)
    manifests.foreach(m => writer.add(ManifestFileColumns.write(m, _, header.version)))
    val bytes = writer.finish()
    val stored = key.fold(bytes)(EncryptedFileIO.encrypt(bytes, _))
    to.write(path, stored)
    stored.length.toLong
  }

  private def withNumbers(manifest: ManifestFile, header: ManifestListHeader): ManifestFile =
    if (header.version == FormatVersion.V1) {
      if (manifest.content != ManifestContent.Data) {
        throw InvalidArgument(
          "manifest",
          manifest.path,
          "Format version 1 does not allow delete files; upgrade the table to version 2"
        )
      }
      manifest.copy(sequenceNumber = 0L, minSequenceNumber = 0L)
    } else {
      val unassigned = manifest.sequenceNumber == Manifests.Unassigned
      if (unassigned && manifest.addedSnapshotId != header.snapshotId) {
        throw InvalidArgument(
          "manifest",
          manifest.path,
          s"Snapshot ${manifest.addedSnapshotId} and not ${header.snapshotId} added it, so it must have a sequence " +
            "number"
        )
      }
      manifest.copy(
        sequenceNumber = if (unassigned) header.sequenceNumber else manifest.sequenceNumber,
        minSequenceNumber =
          if (manifest.minSequenceNumber == Manifests.Unassigned) header.sequenceNumber else manifest.minSequenceNumber
      )
    }

  /**
   * Assigns first row ids to the data manifests that have none. The ranges of row ids also include existing rows,
   * because files that were added before the upgrade to version 3 have no row ids yet.
   */
  private def withRowIds(manifests: Vector[ManifestFile], first: Option[Long]): Vector[ManifestFile] = {
    var next = first.getOrElse(
      throw InvalidArgument("first row id", "none", "Every snapshot of a version 3 table must have a first row id")
    )
    manifests.map { manifest =>
      if (manifest.content != ManifestContent.Data) manifest.copy(firstRowId = None)
      else if (manifest.firstRowId.isDefined) manifest
      else {
        val firstRowId = next
        next += manifest.addedRowsCount.getOrElse(0L) + manifest.existingRowsCount.getOrElse(0L)
        manifest.copy(firstRowId = Some(firstRowId))
      }
    }
  }
}
