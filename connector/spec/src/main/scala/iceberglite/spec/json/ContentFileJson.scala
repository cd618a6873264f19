package iceberglite.spec.json

import java.nio.ByteBuffer

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps, Metrics}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Literal.BinaryLiteral
import iceberglite.spec.types.Type.{BinaryType, StructType}

/**
 * The JSON form of a data file or delete file (spec: "Appendix C - Content File (Data and Delete) Serialization"), with
 * the fields of version 3. Files are written in the form that the specification defines. Apache Iceberg 1.11 and later
 * write some values in another form (`position-deletes`, `parquet`, the partition as an array). This form can also be
 * read.
 *
 * @param specs the partition specs that files may have
 * @param schema the schema that contains the source columns of the partition fields
 * @param dropsInvalidBounds whether bounds that are not hexadecimal are ignored instead of rejected
 */
final class ContentFileJson(specs: Map[Int, PartitionSpec], schema: Schema, dropsInvalidBounds: Boolean = false)
    extends JsonFormat[ContentFile] {
  import ContentFileJson._

  private val partitionTypes = specs.map { case (id, spec) => id -> spec.partitionType(schema) }

  override def read(json: JsonValue): ContentFile = {
    val specId = json.int(SpecId)
    val content = oneOf(json(ContentKey), Content.all)(_.name)
    ContentFile(
      content,
      json.string(FilePath),
      oneOf(json(Format), FileFormat.all)(_.name),
      specId,
      partition(json, specId),
      recordCount(json, content),
      json.count(FileSize),
      metrics(json, dropsInvalidBounds),
      json.optional(KeyMetadata).map(bytes),
      json.mapOf(SplitOffsets)(_.long),
      json.mapOf(EqualityIds)(_.int),
      json.optionalInt(SortOrderId),
      json.optionalCount(FirstRowId),
      json.optionalString(ReferencedDataFile),
      json.optionalCount(ContentOffset),
      json.optionalCount(ContentSize)
    )
  }

  private def recordCount(json: JsonValue, content: Content): Long =
    if (content == Content.Data && json.long(RecordCount) == ContentFile.UnknownRecords) ContentFile.UnknownRecords
    else json.count(RecordCount)

  /**
   * Reads a partition. If the partition is empty, `specs` need not contain the partition spec of the file, because the
   * file may be a delete file that applies to the whole table.
   */
  private def partition(json: JsonValue, specId: Int): PartitionTuple = {
    val values = json.optional(Partition)
    def isEmpty = values.forall(v => if (v.isArray) v.elements.isEmpty else v.entries.isEmpty)
    partitionTypes.get(specId) match {
      case None if isEmpty => PartitionTuple.Empty
      case None => json(SpecId).fail(s"The table has no partition spec $specId")
      case Some(t) =>
        values.fold(PartitionTuple(t.fields.map(_ => None)))(v => if (v.isArray) readValues(v, t) else readById(v, t))
    }
  }

  private def readById(json: JsonValue, t: StructType): PartitionTuple = {
    json.entries.foreach { case (key, value) =>
      if (!t.fields.exists(_.id.toString == key)) value.fail(s"The partition spec has no field $key")
    }
    PartitionTuple(t.fields.map(f => json.optional(f.id.toString).map(SingleValueJson.read(_, primitive(f)))))
  }

  private def readValues(json: JsonValue, t: StructType): PartitionTuple = {
    val values = json.elements
    if (values.size != t.fields.size) json.fail(s"There are ${values.size} values for ${t.fields.size} fields")
    PartitionTuple(values.zip(t.fields).map { case (value, field) =>
      if (value.isNull) None else Some(SingleValueJson.read(value, primitive(field)))
    })
  }

  override def write(file: ContentFile, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(SpecId, file.specId)
    out.writeStringField(ContentKey, file.content.name.toUpperCase(java.util.Locale.ROOT))
    out.writeStringField(FilePath, file.path)
    out.writeStringField(Format, file.format.name.toUpperCase(java.util.Locale.ROOT))
    writePartition(file, out)
    out.writeNumberField(RecordCount, file.recordCount)
    out.writeNumberField(FileSize, file.fileSizeInBytes)
    writeMetrics(file.metrics, out)
    file.keyMetadata.foreach(writeBytes(KeyMetadata, _, out))
    if (file.splitOffsets.nonEmpty) JsonFormat.writeArray(out, SplitOffsets, file.splitOffsets)(v => out.writeNumber(v))
    if (file.equalityIds.nonEmpty) JsonFormat.writeArray(out, EqualityIds, file.equalityIds)(id => out.writeNumber(id))
    file.sortOrderId.foreach(out.writeNumberField(SortOrderId, _))
    file.firstRowId.foreach(out.writeNumberField(FirstRowId, _))
    file.referencedDataFile.foreach(out.writeStringField(ReferencedDataFile, _))
    file.contentOffset.foreach(out.writeNumberField(ContentOffset, _))
    file.contentSizeInBytes.foreach(out.writeNumberField(ContentSize, _))
    out.writeEndObject()
  }

  /** Writes the partition values that are not null. */
  private def writePartition(file: ContentFile, out: JsonGenerator): Unit = {
    out.writeObjectFieldStart(Partition)
    for {
      partitionType <- partitionTypes.get(file.specId)
      (field, Some(value)) <- partitionType.fields.zip(file.partition.values)
    } {
      out.writeFieldName(field.id.toString)
      SingleValueJson.write(value, out)
    }
    out.writeEndObject()
  }
}

object ContentFileJson {
  private val SpecId = "spec-id"
  private val ContentKey = "content"
  private val FilePath = "file-path"
  private val Format = "file-format"
  private val Partition = "partition"
  private val RecordCount = "record-count"
  private val FileSize = "file-size-in-bytes"
  private val ColumnSizes = "column-sizes"
  private val ValueCounts = "value-counts"
  private val NullValueCounts = "null-value-counts"
  private val NanValueCounts = "nan-value-counts"
  private val LowerBounds = "lower-bounds"
  private val UpperBounds = "upper-bounds"
  private val KeyMetadata = "key-metadata"
  private val SplitOffsets = "split-offsets"
  private val EqualityIds = "equality-ids"
  private val SortOrderId = "sort-order-id"
  private val FirstRowId = "first-row-id"
  private val ReferencedDataFile = "referenced-data-file"
  private val ContentOffset = "content-offset"
  private val ContentSize = "content-size-in-bytes"
  private val Keys = "keys"
  private val Values = "values"

  private def primitive(field: NestedField): PrimitiveType = field.fieldType match {
    case primitive: PrimitiveType => primitive
    case _: NestedType => Type.StringType
  }

  private def oneOf[A](json: JsonValue, all: Seq[A])(name: A => String): A = {
    val normalized = json.lowerCase.replace('-', '_')
    all.find(name(_) == normalized)
      .getOrElse(json.fail(s"Must be one of ${all.map(name).mkString(", ")}, found ${json.string}"))
  }

  private def metrics(json: JsonValue, dropsInvalidBounds: Boolean): Metrics = MetricMaps(
    json.optional(ColumnSizes).map(byColumn(_)(_.long)),
    json.optional(ValueCounts).map(byColumn(_)(_.long)),
    json.optional(NullValueCounts).map(byColumn(_)(_.long)),
    json.optional(NanValueCounts).map(byColumn(_)(_.long)),
    json.optional(LowerBounds).map(bounds(_, dropsInvalidBounds)),
    json.optional(UpperBounds).map(bounds(_, dropsInvalidBounds))
  )

  private def bounds(json: JsonValue, dropsInvalid: Boolean): Map[Int, ByteBuffer] = {
    def bound(value: JsonValue): Option[ByteBuffer] =
      try Some(bytes(value))
      catch { case _: InvalidMetadata if dropsInvalid => None }
    byColumn(json)(bound).collect { case (id, Some(bytes)) => id -> bytes }
  }

  private def byColumn[A](json: JsonValue)(read: JsonValue => A): Map[Int, A] = {
    val (keys, values) = (json(Keys).map(_.int), json(Values).map(read))
    if (keys.size != values.size) json.fail(s"There are ${keys.size} keys and ${values.size} values")
    json.requireUnique(keys)(id => s"Column $id occurs twice")
    keys.zip(values).toMap
  }

  private def bytes(json: JsonValue): ByteBuffer = SingleValueJson.read(json, BinaryType) match {
    case BinaryLiteral(bytes) => bytes
    case _ => json.fail("Not a hexadecimal string")
  }

  private def writeMetrics(metrics: Metrics, out: JsonGenerator): Unit = {
    def counts(key: String, map: Option[Map[Int, Long]]): Unit = columns(key, map)(v => out.writeNumber(v))
    def bounds(key: String, map: Option[Map[Int, ByteBuffer]]): Unit =
      columns(key, map)(v => SingleValueJson.write(BinaryLiteral(v), out))
    def columns[A](key: String, map: Option[Map[Int, A]])(write: A => Unit): Unit = map.foreach { m =>
      val sorted = m.toVector.sortBy(_._1)
      out.writeObjectFieldStart(key)
      JsonFormat.writeArray(out, Keys, sorted)(e => out.writeNumber(e._1))
      JsonFormat.writeArray(out, Values, sorted)(e => write(e._2))
      out.writeEndObject()
    }
    counts(ColumnSizes, metrics.columnSizes)
    counts(ValueCounts, metrics.valueCounts)
    counts(NullValueCounts, metrics.nullValueCounts)
    counts(NanValueCounts, metrics.nanValueCounts)
    bounds(LowerBounds, metrics.lowerBounds)
    bounds(UpperBounds, metrics.upperBounds)
  }

  private def writeBytes(key: String, bytes: ByteBuffer, out: JsonGenerator): Unit = {
    out.writeFieldName(key)
    SingleValueJson.write(BinaryLiteral(bytes), out)
  }
}
