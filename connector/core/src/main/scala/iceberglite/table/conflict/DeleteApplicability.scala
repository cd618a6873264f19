package iceberglite.table.conflict

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import iceberglite.spec.file.{Content, ContentFile, KeyOverlap, ManifestContent, PartSummary}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.PrimitiveType

/** Determines which data files a delete file may apply to, from its manifest entry (spec: "Scan Planning"). */
private[table] object DeleteApplicability {

  /**
   * Returns one of the data files that a delete file may apply to; `None` if it applies to none of them. Sequence
   * numbers are not compared; the callers determine which data files are relevant.
   *
   * @param data the data files, by path
   */
  def affectedFile(file: ContentFile, data: Map[String, ContentFile], base: TableMetadata): Option[ContentFile] = {
    def isInSamePartition(d: ContentFile): Boolean = d.specId == file.specId && d.partition == file.partition
    file.content match {
      case Content.Data => None
      case Content.PositionDeletes => file.onlyDataFile match {
          case Some(path) => data.get(path)
          case None => data.values.find(d => isInSamePartition(d) && isWithinPathBounds(file, d.path))
        }
      case Content.EqualityDeletes =>
        lazy val keys = keysOf(file, base)
        lazy val deleted = keys.keysOf(file)
        data.values.find(d => (isGlobal(file, base) || isInSamePartition(d)) && deleted.mayOverlap(keys.keysOf(d)))
    }
  }

  /**
   * Returns the ranges of the values in those equality delete columns that the schema still has. Columns that were
   * dropped can be ignored, because keys with fewer columns match at least as many rows.
   */
  private def keysOf(file: ContentFile, base: TableMetadata): KeyOverlap =
    new KeyOverlap(base.schema.fields.filter(f => file.equalityIds.contains(f.id)).filter(_.fieldType match {
      case _: PrimitiveType => true
      case _ => false
    }))

  /** Returns whether the file has equality deletes of an unpartitioned spec, which apply to all partitions. */
  def isGlobal(file: ContentFile, base: TableMetadata): Boolean =
    file.content == Content.EqualityDeletes && base.specsById.get(file.specId).forall(!_.isPartitioned)

  def mayBeGlobal(part: PartSummary, base: TableMetadata): Boolean =
    part.content == ManifestContent.Deletes && base.specsById.get(part.specId).forall(!_.isPartitioned)

  private def isWithinPathBounds(file: ContentFile, path: String): Boolean = {
    val bytes = path.getBytes(UTF_8)
    low(file).forall(Arrays.compareUnsigned(_, bytes) <= 0) && high(file).forall(Arrays.compareUnsigned(_, bytes) >= 0)
  }

  private def low(file: ContentFile): Option[Array[Byte]] =
    file.metrics.lowerBound(MetadataColumns.DeleteFilePath.id).map(bytes)

  private def high(file: ContentFile): Option[Array[Byte]] =
    file.metrics.upperBound(MetadataColumns.DeleteFilePath.id).map(bytes)

  private def bytes(bound: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](bound.remaining)
    bound.duplicate().get(array)
    array
  }
}
