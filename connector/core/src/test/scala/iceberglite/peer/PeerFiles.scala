package iceberglite.peer

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.{List => JavaList, Map => JavaMap, UUID}

import scala.collection.JavaConverters._

import org.apache.iceberg.{DataFile, DataFiles, DeleteFile, FileMetadata, PeerManifests}
import org.apache.iceberg.{PartitionSpecParser, SchemaParser}
import org.apache.iceberg.{ContentFile => PeerFile, ManifestFile => PeerManifest, Metrics => PeerMetrics}
import org.apache.iceberg.{PartitionSpec => PeerSpec, Schema => PeerSchema}

import iceberglite.spec.file.{Content, ContentFile, FieldSummary, FileFormat, ManifestContent, ManifestFile, MetricMaps}
import iceberglite.spec.json.{PartitionSpecJson, SchemaJson}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * Converts content files and manifests to and from the classes of Apache Iceberg, and schemas and partition specs to
 * these classes.
 */
object PeerFiles {
  def schema(schema: Schema): PeerSchema = SchemaParser.fromJson(SchemaJson.toJson(schema))

  def spec(spec: PartitionSpec, tableSchema: Schema): PeerSpec =
    PartitionSpecParser.fromJson(schema(tableSchema), PartitionSpecJson.toJson(spec))

  def toPeer(file: ContentFile, spec: PeerSpec): PeerFile[_] = file.content match {
    case Content.Data => dataFile(file, spec)
    case Content.PositionDeletes | Content.EqualityDeletes => deleteFile(file, spec)
  }

  def dataFile(file: ContentFile, spec: PeerSpec): DataFile = {
    val builder = DataFiles.builder(spec).withPath(file.path).withFormat(file.format.name)
      .withPartition(partition(file, spec)).withFileSizeInBytes(file.fileSizeInBytes).withMetrics(metrics(file))
    file.keyMetadata.foreach(builder.withEncryptionKeyMetadata(_: ByteBuffer))
    file.sortOrderId.foreach(builder.withSortOrderId)
    file.firstRowId.foreach(id => builder.withFirstRowId(id))
    if (file.splitOffsets.nonEmpty) builder.withSplitOffsets(file.splitOffsets.map(Long.box).asJava)
    builder.build()
  }

  def deleteFile(file: ContentFile, spec: PeerSpec): DeleteFile = {
    val builder = FileMetadata.deleteFileBuilder(spec).withPath(file.path).withFormat(file.format.name)
      .withPartition(partition(file, spec)).withFileSizeInBytes(file.fileSizeInBytes).withMetrics(metrics(file))
    if (file.content == Content.PositionDeletes) builder.ofPositionDeletes()
    else builder.ofEqualityDeletes(file.equalityIds: _*)
    file.keyMetadata.foreach(builder.withEncryptionKeyMetadata(_: ByteBuffer))
    file.referencedDataFile.foreach(builder.withReferencedDataFile(_))
    file.contentOffset.foreach(builder.withContentOffset(_))
    file.contentSizeInBytes.foreach(builder.withContentSizeInBytes(_))
    if (file.splitOffsets.nonEmpty) builder.withSplitOffsets(file.splitOffsets.map(Long.box).asJava)
    builder.build()
  }

  private def partition(file: ContentFile, spec: PeerSpec) =
    PeerManifests.partition(spec.partitionType, file.partition.values.map(_.map(Literal.javaValue)))

  private def metrics(file: ContentFile): PeerMetrics = {
    val m = file.metrics
    new PeerMetrics(
      file.recordCount,
      boxed(m.columnSizes)(Long.box),
      boxed(m.valueCounts)(Long.box),
      boxed(m.nullValueCounts)(Long.box),
      boxed(m.nanValueCounts)(Long.box),
      boxed(m.lowerBounds)(identity),
      boxed(m.upperBounds)(identity)
    )
  }

  /** Converts the map to a Java map, or to null if it is `None`. */
  private def boxed[A, B](map: Option[Map[Int, A]])(value: A => B): JavaMap[Integer, B] =
    map.map(_.map { case (id, v) => Int.box(id) -> value(v) }.asJava).orNull

  def fromPeer(file: PeerFile[_], partitionType: StructType): ContentFile = {
    val values = partitionType.fields.indices.map { i =>
      Option(file.partition.get(i, classOf[Object])).map(literal(partitionType.fields(i).fieldType, _))
    }
    val deletes = Option(file).collect { case d: DeleteFile => d }
    ContentFile(
      Content.all.find(_.code == file.content.id).get,
      file.location,
      FileFormat.parse(file.format.name).get,
      file.specId,
      PartitionTuple(values.toVector),
      file.recordCount,
      file.fileSizeInBytes,
      MetricMaps(
        longs(file.columnSizes),
        longs(file.valueCounts),
        longs(file.nullValueCounts),
        longs(file.nanValueCounts),
        buffers(file.lowerBounds),
        buffers(file.upperBounds)
      ),
      Option(file.keyMetadata),
      numbers(file.splitOffsets).map(_.longValue),
      numbers(file.equalityFieldIds).map(_.intValue),
      Option(file.sortOrderId).map(_.intValue),
      Option(file.firstRowId).map(_.longValue),
      deletes.flatMap(d => Option(d.referencedDataFile)),
      deletes.flatMap(d => Option(d.contentOffset)).map(_.longValue),
      deletes.flatMap(d => Option(d.contentSizeInBytes)).map(_.longValue)
    )
  }

  private def numbers[A](list: JavaList[A]): Vector[A] = Option(list).fold(Vector.empty[A])(_.asScala.toVector)

  private def longs(map: JavaMap[Integer, java.lang.Long]): Option[Map[Int, Long]] =
    Option(map).map(_.asScala.map { case (id, v) => id.intValue -> v.longValue }.toMap)

  private def buffers(map: JavaMap[Integer, ByteBuffer]): Option[Map[Int, ByteBuffer]] =
    Option(map).map(_.asScala.map { case (id, v) => id.intValue -> v.duplicate() }.toMap)

  private def literal(t: Type, value: Any): Literal = (t, value) match {
    case (BooleanType, v: Boolean) => BooleanLiteral(v)
    case (IntType, v: Int) => IntLiteral(v)
    case (LongType, v: Long) => LongLiteral(v)
    case (FloatType, v: Float) => FloatLiteral(v)
    case (DoubleType, v: Double) => DoubleLiteral(v)
    case (_: DecimalType, v: BigDecimal) => DecimalLiteral(v)
    case (DateType, v: Int) => DateLiteral(v)
    case (TimeType, v: Long) => TimeLiteral(v)
    case (TimestampType, v: Long) => TimestampLiteral(v)
    case (TimestampTzType, v: Long) => TimestampTzLiteral(v)
    case (TimestampNsType, v: Long) => TimestampNsLiteral(v)
    case (TimestampTzNsType, v: Long) => TimestampTzNsLiteral(v)
    case (StringType, v: CharSequence) => StringLiteral(v.toString)
    case (UuidType, v: UUID) => UuidLiteral(v)
    case (_: FixedType, v: ByteBuffer) => FixedLiteral(v)
    case (BinaryType, v: ByteBuffer) => BinaryLiteral(v)
    case _ => throw new IllegalArgumentException(s"$value is not a value of type $t")
  }

  def toPeer(m: ManifestFile): PeerManifest = PeerManifests.manifest(
    m.path,
    m.length,
    m.partitionSpecId,
    m.content == ManifestContent.Data,
    (m.sequenceNumber, m.minSequenceNumber),
    m.addedSnapshotId,
    m.partitions.map(_.map(s => PeerManifests.summary(s.containsNull, s.containsNan, s.lowerBound, s.upperBound))),
    m.keyMetadata,
    Seq(m.addedFilesCount, m.existingFilesCount, m.deletedFilesCount),
    Seq(m.addedRowsCount, m.existingRowsCount, m.deletedRowsCount),
    m.firstRowId
  )

  def fromPeer(m: PeerManifest): ManifestFile = ManifestFile(
    m.path,
    m.length,
    m.partitionSpecId,
    ManifestContent.all.find(_.code == m.content.id).get,
    m.sequenceNumber,
    m.minSequenceNumber,
    m.snapshotId,
    Option(m.addedFilesCount).map(_.intValue),
    Option(m.existingFilesCount).map(_.intValue),
    Option(m.deletedFilesCount).map(_.intValue),
    Option(m.addedRowsCount).map(_.longValue),
    Option(m.existingRowsCount).map(_.longValue),
    Option(m.deletedRowsCount).map(_.longValue),
    Option(m.partitions).map(_.asScala.map { s =>
      FieldSummary(
        s.containsNull,
        Option(s.containsNaN).map(_.booleanValue),
        Option(s.lowerBound).map(_.duplicate()),
        Option(s.upperBound).map(_.duplicate())
      )
    }.toVector),
    Option(m.keyMetadata).map(_.duplicate()),
    Option(m.firstRowId).map(_.longValue)
  )
}
