package iceberglite.data

import iceberglite.spec.file.{Content, ContentFile, FileFormat}
import iceberglite.spec.partition.PartitionTuple

/** Writes a data file for a test, and returns it as a `ContentFile`. */
object DataFileOf {
  def apply(
      target: DataTarget,
      format: FileFormat,
      specId: Int,
      partition: PartitionTuple,
      rows: Seq[Record]
  ): ContentFile = {
    val writer = DataFormats.of(format).write(target)
    rows.foreach(writer.write)
    val file = writer.close()
    ContentFile(
      Content.Data,
      file.path,
      format,
      specId,
      partition,
      file.recordCount,
      file.fileSizeInBytes,
      file.metrics,
      splitOffsets = file.splitOffsets
    )
  }
}
