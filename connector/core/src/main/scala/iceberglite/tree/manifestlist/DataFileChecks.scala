package iceberglite.tree.manifestlist

import iceberglite.avro.AvroFault
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, FileFormat}
import iceberglite.spec.types.NestedField
import iceberglite.tree.DataFileFields

/** Checks the values of the structs `manifest_entry` and `data_file` that were read from a manifest. */
private[manifestlist] object DataFileChecks {

  /**
   * Checks a file.
   *
   * @param firstRowId the first row id in the entry of the file, before it inherits one
   * @throws AvroFault if a value is missing or invalid
   */
  def check(file: ContentFile, firstRowId: Option[Long]): Unit = {
    if (file.content == Content.EqualityDeletes && file.equalityIds.isEmpty) missing(file, DataFileFields.EqualityIds)
    if (file.format == FileFormat.Puffin) checkVector(file)
    if (file.content != Content.Data || file.recordCount != ContentFile.UnknownRecords) {
      requireNotNegative(file, DataFileFields.RecordCount, file.recordCount)
    }
    requireNotNegative(file, DataFileFields.FileSize, file.fileSizeInBytes)
    firstRowId.foreach(requireNotNegative(file, DataFileFields.FirstRowId, _))
  }

  /**
   * Checks the fields that locate a deletion vector: the referenced data file, the content offset and the content size
   * (spec version 3).
   */
  private def checkVector(file: ContentFile): Unit = {
    import DataFileFields.{ContentOffset, ContentSize, ReferencedDataFile}
    if (file.referencedDataFile.isEmpty) missing(file, ReferencedDataFile)
    requireNotNegative(file, ContentOffset, file.contentOffset.getOrElse(missing(file, ContentOffset)))
    requireNotNegative(file, ContentSize, file.contentSizeInBytes.getOrElse(missing(file, ContentSize)))
  }

  private def requireNotNegative(file: ContentFile, field: NestedField, value: Long): Unit =
    if (value < 0)
      throw AvroFault(s"The ${field.name} (field ${field.id}) of ${file.path} must not be negative, but is $value")

  private def missing(file: ContentFile, field: NestedField): Nothing =
    throw AvroFault(s"The entry of ${file.path} (${file.content.name}) has no ${field.name} (field ${field.id})")

  def content(code: Int): Content = code match {
    case Content.Data.code => Content.Data
    case Content.PositionDeletes.code => Content.PositionDeletes
    case Content.EqualityDeletes.code => Content.EqualityDeletes
    case _ => throw AvroFault(s"A file has the unknown content $code")
  }

  def status(code: Int): EntryStatus = code match {
    case EntryStatus.Existing.code => EntryStatus.Existing
    case EntryStatus.Added.code => EntryStatus.Added
    case EntryStatus.Deleted.code => EntryStatus.Deleted
    case _ => throw AvroFault(s"An entry has the unknown status $code")
  }
}
