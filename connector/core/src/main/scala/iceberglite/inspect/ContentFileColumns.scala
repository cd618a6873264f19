package iceberglite.inspect

import java.util.Locale

import iceberglite.spec.file.ContentFile
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType
import iceberglite.tree.DataFileFields

/** The columns of metadata tables that describe a data or delete file (spec: `data_file`). */
final private[inspect] class ContentFileColumns(partition: PartitionStruct) {
  import ContentFileColumns._

  val columns: Vector[Column] =
    if (partition.isEmpty) head ++ measures
    else {
      val struct = DataFileFields.partition(partition.structType)
      (head :+ Column(struct, f => partition.row(f.specId, f.partition))) ++ measures
    }

  val fields: Vector[NestedField] = columns.map(_.field)

  def values(file: ContentFile): Vector[Any] = columns.map(_.value(file))
}

private[inspect] object ContentFileColumns {
  final case class Column(field: NestedField, value: ContentFile => Any)

  private val head: Vector[Column] = Vector(
    Column(DataFileFields.Content, f => Some(f.content.code)),
    Column(DataFileFields.FilePath, _.path),
    // The format is in upper case, as in the metadata tables of Apache Iceberg.
    Column(DataFileFields.FileFormat, _.format.name.toUpperCase(Locale.ROOT)),
    Column(DataFileFields.SpecId, f => Some(f.specId))
  )

  private val measures: Vector[Column] = Vector(
    Column(DataFileFields.RecordCount, _.recordCount),
    Column(DataFileFields.FileSize, _.fileSizeInBytes),
    Column(DataFileFields.ColumnSizes.field, _.metrics.columnSizes),
    Column(DataFileFields.ValueCounts.field, _.metrics.valueCounts),
    Column(DataFileFields.NullValueCounts.field, _.metrics.nullValueCounts),
    Column(DataFileFields.NanValueCounts.field, _.metrics.nanValueCounts),
    Column(DataFileFields.LowerBounds.field, _.metrics.lowerBounds),
    Column(DataFileFields.UpperBounds.field, _.metrics.upperBounds),
    // The key metadata of a file contains its key, so it is not shown.
    Column(DataFileFields.KeyMetadata, _ => None),
    Column(DataFileFields.SplitOffsets, f => Some(f.splitOffsets).filter(_.nonEmpty)),
    Column(DataFileFields.EqualityIds, f => Some(f.equalityIds).filter(_.nonEmpty)),
    Column(DataFileFields.SortOrderId, _.sortOrderId),
    Column(DataFileFields.FirstRowId, _.firstRowId),
    Column(DataFileFields.ReferencedDataFile, _.referencedDataFile),
    Column(DataFileFields.ContentOffset, _.contentOffset),
    Column(DataFileFields.ContentSize, _.contentSizeInBytes)
  )

  /** Returns a generator of field ids. The generated ids are greater than the ids of all given fields. */
  def idsAbove(fields: Vector[NestedField]): () => Int = {
    var last = Schema.fieldsOf(StructType(fields)).map(_.id).max
    () => {
      last += 1
      last
    }
  }
}
