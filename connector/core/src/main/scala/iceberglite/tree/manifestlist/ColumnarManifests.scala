package iceberglite.tree.manifestlist

import java.nio.ByteBuffer

import iceberglite.avro.AvroFault
import iceberglite.data.{DataSource, Record, RecordValues}
import iceberglite.data.parquet.ParquetMetadataFiles
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, FileFormat, ManifestEntry, ManifestFile, MetricMaps}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.FileIO
import iceberglite.tree.{DataFileFields => F, SharedTuples}

/**
 * Reads the manifests that Apache Iceberg 1.12 writes for tables of version 4. They are Parquet files with the columns
 * of version 3 manifests, and manifest lists refer to them. Leaf manifests, to which root manifests refer, have other
 * columns.
 */
private[manifestlist] object ColumnarManifests {

  /** Returns whether a manifest is a Parquet file. Apache Iceberg also decides this by the end of the file name. */
  def isColumnar(path: String): Boolean = path.endsWith(".parquet")

  /**
   * Returns the entries of a manifest with all inherited values.
   *
   * @param partitionType the partition type of the manifest's partition spec
   * @throws AvroFault if a value is missing or invalid
   */
  def read(io: FileIO, manifest: ManifestFile, partitionType: StructType): Vector[ManifestEntry] = {
    val columns = new EntryReader(manifest, partitionType)
    val rows = ParquetMetadataFiles.open(DataSource(io, manifest.path, 0L), columns.entryType)
    try {
      rows.keyValues.get(ManifestHeader.ContentKey).filter(_ != manifest.content.name).foreach { other =>
        throw AvroFault(s"It lists $other, but according to the manifest list, it lists ${manifest.content.name}")
      }
      val shared = new SharedTuples
      rows.map(row => shared.share(columns.entry(row))).toVector
    } finally rows.close()
  }

  /** A struct whose values are read by field. Columns that the file does not have are null. */
  final private class Fields(val struct: StructType) {
    private val ordinals = struct.fields.map(_.id).zipWithIndex.toMap

    private def read[V](row: Record, field: NestedField)(decode: PartialFunction[AnyRef, V]): Option[V] =
      ordinals.get(field.id).flatMap(i => Option(row(i))).map(
        decode.applyOrElse(
          _,
          (other: AnyRef) => throw AvroFault(s"The ${field.name} (field ${field.id}) has the invalid value $other")
        )
      )

    def int(row: Record, field: NestedField): Option[Int] = read(row, field) { case v: Integer => v.intValue }
    def long(row: Record, field: NestedField): Option[Long] =
      read(row, field) { case v: java.lang.Long => v.longValue }
    def text(row: Record, field: NestedField): Option[String] = read(row, field) { case v: String => v }
    def bytes(row: Record, field: NestedField): Option[ByteBuffer] = read(row, field) { case v: ByteBuffer => v }
    def record(row: Record, field: NestedField): Option[Record] = read(row, field) { case v: Record => v }

    def longs(row: Record, field: NestedField): Vector[Long] = read(row, field) { case v: Vector[_] =>
      v.collect { case element: java.lang.Long => element.longValue }
    }.getOrElse(Vector.empty)

    def ints(row: Record, field: NestedField): Vector[Int] = read(row, field) { case v: Vector[_] =>
      v.collect { case element: Integer => element.intValue }
    }.getOrElse(Vector.empty)

    def counts(row: Record, by: F.ByColumn): Option[Map[Int, Long]] = read(row, by.field) {
      case entries: Vector[_] => entries.collect { case (k: Integer, v: java.lang.Long) =>
          k.intValue -> v.longValue
        }.toMap
    }

    def bounds(row: Record, by: F.ByColumn): Option[Map[Int, ByteBuffer]] = read(row, by.field) {
      case entries: Vector[_] => entries.collect { case (k: Integer, v: ByteBuffer) => k.intValue -> v }.toMap
    }

    def required[V](value: Option[V], field: NestedField): V =
      value.getOrElse(throw AvroFault(s"An entry has no ${field.name} (field ${field.id})"))
  }

  /** Reads the entries of one manifest. */
  final private class EntryReader(manifest: ManifestFile, partitionType: StructType) {
    // An unpartitioned spec has an empty struct, which Parquet files cannot contain.
    private val partitionField =
      if (partitionType.fields.isEmpty) Vector.empty else Vector(F.partition(partitionType).copy(required = false))
    private val files = new Fields(StructType(
      Vector(F.Content, F.FilePath, F.FileFormat) ++ partitionField ++ Vector(F.RecordCount, F.FileSize) ++
        Vector(F.ColumnSizes, F.ValueCounts, F.NullValueCounts, F.NanValueCounts, F.LowerBounds, F.UpperBounds).map(
          _.field
        ) ++
        Vector(F.KeyMetadata, F.SplitOffsets, F.EqualityIds, F.SortOrderId, F.FirstRowId) ++
        Vector(F.ReferencedDataFile, F.ContentOffset, F.ContentSize)
    ))
    private val dataFileField = F.dataFile(files.struct)
    private val entries =
      new Fields(StructType(Vector(F.Status, F.SnapshotId, F.SequenceNumber, F.FileSequenceNumber, dataFileField)))
    private val inheritance = new Inheritance(manifest, hasSequenceNumbers = true)

    def entryType: StructType = entries.struct

    def entry(row: Record): ManifestEntry = {
      val status = DataFileChecks.status(entries.required(entries.int(row, F.Status), F.Status))
      val file = entries.required(entries.record(row, dataFileField), dataFileField)
      inheritance.entry(
        status,
        entries.long(row, F.SnapshotId),
        entries.long(row, F.SequenceNumber),
        entries.long(row, F.FileSequenceNumber),
        fileOf(file, status)
      )
    }

    private def fileOf(row: Record, status: EntryStatus): ContentFile = {
      val rows = files.required(files.long(row, F.RecordCount), F.RecordCount)
      val firstRowId = files.long(row, F.FirstRowId)
      val file = ContentFile(
        content = files.int(row, F.Content).map(DataFileChecks.content).getOrElse(Content.Data),
        path = files.required(files.text(row, F.FilePath), F.FilePath),
        format = formatOf(files.required(files.text(row, F.FileFormat), F.FileFormat)),
        specId = manifest.partitionSpecId,
        partition = tuple(row),
        recordCount = rows,
        fileSizeInBytes = files.required(files.long(row, F.FileSize), F.FileSize),
        metrics = metrics(row),
        keyMetadata = files.bytes(row, F.KeyMetadata),
        splitOffsets = files.longs(row, F.SplitOffsets),
        equalityIds = files.ints(row, F.EqualityIds),
        sortOrderId = files.int(row, F.SortOrderId),
        firstRowId = inheritance.firstRowId(status, firstRowId, rows),
        referencedDataFile = files.text(row, F.ReferencedDataFile),
        contentOffset = files.long(row, F.ContentOffset),
        contentSizeInBytes = files.long(row, F.ContentSize)
      )
      DataFileChecks.check(file, firstRowId)
      file
    }

    private def metrics(row: Record): MetricMaps = MetricMaps(
      columnSizes = files.counts(row, F.ColumnSizes),
      valueCounts = files.counts(row, F.ValueCounts),
      nullValueCounts = files.counts(row, F.NullValueCounts),
      nanValueCounts = files.counts(row, F.NanValueCounts),
      lowerBounds = files.bounds(row, F.LowerBounds),
      upperBounds = files.bounds(row, F.UpperBounds)
    )

    private def tuple(row: Record): PartitionTuple = {
      val values = partitionField.headOption.flatMap(files.record(row, _))
      PartitionTuple(partitionType.fields.zipWithIndex.map { case (field, i) =>
        values.flatMap(record => Option(record(i))).flatMap(literal(_, field))
      })
    }

    private def literal(value: AnyRef, field: NestedField): Option[Literal] = field.fieldType match {
      case t: PrimitiveType => RecordValues.literal(value, t)
      case other => throw AvroFault(s"The partition field ${field.name} has the type $other, which is not primitive")
    }
  }

  private def formatOf(name: String): FileFormat =
    FileFormat.parse(name).getOrElse(throw AvroFault(s"A file has the unknown format $name"))
}
