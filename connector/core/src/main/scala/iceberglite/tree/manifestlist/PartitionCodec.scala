package iceberglite.tree.manifestlist

import java.util.Arrays

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type.RECORD

import iceberglite.avro.{
  AvroFault,
  AvroInput,
  AvroOutput,
  AvroRow,
  ColumnType,
  FieldDecoder,
  LiteralDecoder,
  LiteralWriter,
  RecordDecoder,
  StructColumn
}
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{Literal, PrimitiveType, Type}
import iceberglite.tree.SharedTuples
import iceberglite.spec.types.Type.StructType

/**
 * The struct `partition` of a data file (spec: "Manifests"). The struct has the fields of a partition spec with their
 * current types. A manifest that was written before a type promotion contains narrower types.
 */
final private[iceberglite] class PartitionCodec(val partitionType: StructType) extends ColumnType[PartitionTuple] {
  override def icebergType(version: FormatVersion): Type = partitionType

  /** Returns false for an unpartitioned spec, because writers may omit the empty struct. */
  override def isMandatory: Boolean = partitionType.fields.nonEmpty

  private lazy val writers: Vector[LiteralWriter] =
    partitionType.fields.map(f => LiteralWriter(s"partition field ${f.name}", primitive(f.fieldType)))

  override def write(tuple: PartitionTuple, out: AvroOutput, version: FormatVersion): Unit = {
    if (tuple.values.size != writers.size) {
      throw InvalidArgument(
        "partition",
        tuple.values.mkString(", "),
        s"The partition spec has ${writers.size} fields: $partitionType"
      )
    }
    var i = 0
    while (i < writers.length) {
      writers(i).writeOptional(tuple.values(i), out)
      i += 1
    }
  }

  override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder = {
    if (schema.getType != RECORD) mismatch(schema, column)
    val fields = schema.getFields.asScala.toArray
    val positions = fields.map(f => positionOf(f, fields.exists(RecordDecoder.fieldId(_).isDefined), fileHasNoIds))
    val usedPositions = positions.filter(_ >= 0)
    if (usedPositions.distinct.length < usedPositions.length)
      throw AvroFault("The partition struct of the file contains the same field id twice")
    val values = fields.zip(positions).map { case (f, position) =>
      if (position < 0) LiteralDecoder.skipping(f.schema)
      else LiteralDecoder.of(f.schema, primitive(partitionType.fields(position).fieldType), f.name)
    }
    new PartitionDecoder(values, positions, partitionType.fields.size, FieldDecoder.skipper(schema))
  }

  /**
   * Returns the position in the partition tuple of a field of the manifest; -1 if the partition spec does not have the
   * field. Fields are matched by field id. In files of version 1 without ids, the fields are in the order of the
   * partition spec (spec: "Partition Evolution").
   */
  private def positionOf(f: AvroSchema.Field, recordHasIds: Boolean, fileHasNoIds: Boolean): Int =
    if (recordHasIds) RecordDecoder.fieldId(f).fold(-1)(id => partitionType.fields.indexWhere(_.id == id))
    else if (fileHasNoIds && f.pos < partitionType.fields.size) f.pos
    else -1

  private def primitive(t: Type): PrimitiveType = t match {
    case p: PrimitiveType => p
    case other => throw InvalidArgument("partition type", other.toString, "The type of a partition value is primitive")
  }
}

private[iceberglite] object PartitionCodec {

  /** A codec that skips all partition values, for callers that do not need them. */
  val Ignored: PartitionCodec = new PartitionCodec(StructType(Vector.empty))
}

/**
 * Skips partition tuples when a row is read. [[PartitionTuples]] calls [[tuple]] later, and only if the bytes of the
 * tuple differ from those of the previous tuple.
 *
 * @param positions for each field of the file, its position in the tuple; -1 if the field is skipped
 */
final private[iceberglite] class PartitionDecoder(
    fields: Array[AvroInput => Option[Literal]],
    positions: Array[Int],
    size: Int,
    skipper: AvroInput => Unit
) extends FieldDecoder {
  private val allNull = Vector.fill(size)(Option.empty[Literal])

  override def read(in: AvroInput, row: AvroRow, slot: Int): Unit = {
    val start = in.position
    skip(in)
    row.setSkipped(slot, start, in.position, this)
  }

  override def skip(in: AvroInput): Unit = skipper(in)

  /** Decodes a tuple. */
  def tuple(in: AvroInput): PartitionTuple = {
    var values = allNull
    var i = 0
    while (i < fields.length) {
      val value = fields(i)(in)
      if (positions(i) >= 0 && value.isDefined) values = values.updated(positions(i), value)
      i += 1
    }
    PartitionTuple(values)
  }
}

/** The tuples of one manifest. Files of the same partition share one tuple. */
final private[iceberglite] class PartitionTuples {
  private val shared = new SharedTuples
  private var last = PartitionTuple.Empty
  private var lastBytes = Array.emptyByteArray
  private var lastStart = 0
  private var lastEnd = -1

  /** Returns the tuple of the row that was just read. @param block the Avro block that contains the row */
  def of(row: AvroRow, column: StructColumn[_, PartitionTuple], block: Array[Byte]): PartitionTuple =
    if (!row.has(column)) PartitionTuple.Empty
    else {
      val range = row.range(column)
      val (start, end) = ((range >>> 32).toInt, range.toInt)
      if (lastEnd < lastStart || !Arrays.equals(block, start, end, lastBytes, lastStart, lastEnd)) {
        last = row.decoderOfSkipped(column) match {
          case decoder: PartitionDecoder => shared.share(decoder.tuple(new AvroInput(block, start, end)))
          case other => throw new MatchError(other)
        }
        lastBytes = block
        lastStart = start
        lastEnd = end
      }
      last
    }
}
