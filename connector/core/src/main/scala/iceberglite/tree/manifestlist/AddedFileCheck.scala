package iceberglite.tree.manifestlist

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}
import iceberglite.tree.{NewSnapshotHeader, TreeTable}

/** Checks that the files that a commit adds conform to the specification ("Manifests", "Delete Formats"). */
private[iceberglite] object AddedFileCheck {

  /**
   * Checks the entry of an added file.
   *
   * @throws ValidationFailed if the file violates a rule; the message names the file and the rule
   */
  def check(entry: ManifestEntry, header: NewSnapshotHeader, table: TreeTable): Unit = {
    val version = table.metadata.formatVersion
    val file = entry.file
    if (!table.specs.byId.contains(file.specId)) {
      refuse(file, s"has partition spec ${file.specId}, which the table does not have. Write the file again")
    }
    checkEncryption(file, table)
    entry.sequenceNumber.foreach { n =>
      if (n < 0 || n > header.sequenceNumber) {
        refuse(
          file,
          s"has the data sequence number $n, which is not between 0 and ${header.sequenceNumber}, the sequence " +
            "number of the commit"
        )
      }
    }
    file.content match {
      case Content.Data => checkRecords(file, version)
      case Content.PositionDeletes =>
        checkVersion(file, version)
        if (file.isDeletionVector) checkVector(file, version)
        else if (version >= FormatVersion.V3) {
          refuse(file, s"is a position delete file, and version $version allows only deletion vectors")
        }
      case Content.EqualityDeletes =>
        checkVersion(file, version)
        if (file.equalityIds.isEmpty) refuse(file, "is an equality delete file without equality ids")
    }
  }

  private def checkEncryption(file: ContentFile, table: TreeTable): Unit =
    if (table.keys.isDefined && file.keyMetadata.isEmpty) {
      refuse(file, "is not encrypted, and the table is encrypted. Insert its rows instead")
    } else if (table.keys.isEmpty && file.keyMetadata.isDefined) {
      refuse(file, "is encrypted, and the table is not encrypted. Insert its rows instead")
    }

  /**
   * Checks that the row count of an existing file is known, because versions 3 and later assign row ids according to
   * this count (spec version 3: "Row lineage").
   *
   * @throws ValidationFailed if the file has no valid row count
   */
  def checkExisting(file: ContentFile): Unit = if (!file.hasRecordCount) throw ValidationFailed(
    s"Cannot assign row ids, which format versions 3 and later require, to the rows of ${file.path}: its manifest " +
      s"entry has no valid row count (record_count ${file.recordCount}). Delete or overwrite the rows of its " +
      "partition to remove the file"
  )

  private def checkRecords(file: ContentFile, version: FormatVersion): Unit =
    if (!file.hasRecordCount && (version >= FormatVersion.V3 || file.recordCount != ContentFile.UnknownRecords)) {
      refuse(file, s"has the invalid record count ${file.recordCount}. Write the file again")
    }

  private def checkVersion(file: ContentFile, version: FormatVersion): Unit =
    if (version == FormatVersion.V1) {
      refuse(file, "is a delete file, which version 1 does not allow. Set the table property format-version to 2")
    }

  private def checkVector(file: ContentFile, version: FormatVersion): Unit = {
    if (version < FormatVersion.V3) {
      refuse(
        file,
        s"is a deletion vector, which version $version does not allow. Set the table property format-version to 3"
      )
    }
    if (file.referencedDataFile.isEmpty) refuse(file, "is a deletion vector without a referenced data file")
    if (file.contentOffset.isEmpty || file.contentSizeInBytes.isEmpty) {
      refuse(file, "is a deletion vector without its offset and size in the Puffin file")
    }
  }

  /** @param violation completes a sentence about the file, such as "is a deletion vector without ..." */
  private def refuse(file: ContentFile, violation: String): Nothing =
    throw ValidationFailed(s"Cannot add ${file.path}: it $violation")
}
