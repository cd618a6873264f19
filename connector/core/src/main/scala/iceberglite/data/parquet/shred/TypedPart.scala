package iceberglite.data.parquet.shred

import scala.collection.JavaConverters._

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData, ColumnPath}
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}

import iceberglite.metrics.ColumnBounds
import iceberglite.parquet.{ParquetShapes, ParquetValues, SchemaOfParquet}
import iceberglite.spec.types.{Literal, PrimitiveType}

/**
 * A part of the variants of a column that a file stores in a typed column, outside of arrays.
 *
 * @param path the names of the fields that lead to the part
 * @param value the column with the values of the part that have another type; absent if there are none
 * @param typed the column with the other values
 */
final private[iceberglite] case class TypedPart(
    path: Vector[String],
    value: Option[ColumnPath],
    typed: ColumnPath,
    leaf: ParquetPrimitive,
    valueType: PrimitiveType
) {

  /** Returns the values of the part in row groups, according to their statistics. */
  def valuesIn(blocks: Seq[BlockMetaData]): TypedPart.Values = {
    def chunks(path: ColumnPath): Seq[ColumnChunkMetaData] =
      blocks.flatMap(_.getColumns.asScala.find(_.getPath == path))
    val all = chunks(typed)
    val statistics = all.map(c => Option[Statistics[_]](c.getStatistics))
    val isComplete = all.size == blocks.size && statistics.forall(_.exists(s => !s.isEmpty && s.isNumNullsSet))
    val others = value.fold(Seq.empty[ColumnChunkMetaData])(chunks)
    if (!isComplete || value.exists(_ => others.size != blocks.size) || !others.forall(TypedPart.hasOnlyNulls))
      TypedPart.Unknown
    else {
      val present = statistics.flatten.zip(all).collect { case (s, c) if s.getNumNulls < c.getValueCount => s }
      if (present.isEmpty) TypedPart.Absent
      else if (present.forall(_.hasNonNullValue)) range(present)
      else TypedPart.Unknown
    }
  }

  private def range(statistics: Seq[Statistics[_]]): TypedPart.Values = {
    val lowers = statistics.map(s => ParquetValues.literal(s.genericGetMin, leaf, valueType))
    val uppers = statistics.map(s => ParquetValues.literal(s.genericGetMax, leaf, valueType))
    if ((lowers ++ uppers).exists(_.forall(ColumnBounds.isNan))) TypedPart.Unknown
    else {
      val (low, high) =
        ColumnBounds.ofStatistics(lowers.flatten.min(Literal.ordering), uppers.flatten.max(Literal.ordering))
      TypedPart.Range(low, high)
    }
  }
}

private[iceberglite] object TypedPart {

  /** What statistics tell about the values of a part. */
  sealed trait Values

  /** The values may have several types, or any value. */
  case object Unknown extends Values

  /** The part is null or missing in all rows. */
  case object Absent extends Values

  /** All values of the part have its type, and are in a range. */
  final case class Range(low: Literal, high: Literal) extends Values

  /** The encoded value null of a variant. */
  private val NullVariant: Byte = 0

  /**
   * Returns the parts of a variant in typed columns.
   *
   * @param group the group of the variant in the file
   * @param columns the names that lead to the group in the file
   */
  def all(group: GroupType, columns: Vector[String]): Vector[TypedPart] = parts(group, columns, Vector.empty)

  private def parts(group: GroupType, columns: Vector[String], path: Vector[String]): Vector[TypedPart] = {
    val inTyped = columns :+ VariantGroups.TypedValue
    field(group, VariantGroups.TypedValue).toVector.flatMap {
      case leaf: ParquetPrimitive => SchemaOfParquet.primitiveOf(leaf).map { t =>
          val value = field(group, VariantGroups.Value).map(_ => columnPath(columns :+ VariantGroups.Value))
          TypedPart(path, value, columnPath(inTyped), leaf, t)
        }
      case fields: GroupType if ParquetShapes.shapeOf(fields).contains(ParquetShapes.Struct) =>
        ParquetShapes.childrenOf(fields).collect {
          case part: GroupType => parts(part, inTyped :+ part.getName, path :+ part.getName)
        }.flatten
      case _ => Vector.empty
    }
  }

  private def field(group: GroupType, name: String): Option[ParquetType] =
    if (group.containsField(name)) Some(group.getType(name)) else None

  private def columnPath(names: Vector[String]): ColumnPath = ColumnPath.get(names: _*)

  /** Returns the group of a field that is neither in a list nor in a map, and the names that lead to it in the file. */
  def groupOf(file: MessageType, fieldId: Int): Option[(GroupType, Vector[String])] = {
    def in(group: GroupType, columns: Vector[String]): Option[(GroupType, Vector[String])] =
      ParquetShapes.childrenOf(group).iterator.collect { case child: GroupType => child }.flatMap { child =>
        val names = columns :+ child.getName
        if (ParquetShapes.idOf(child).contains(fieldId)) Some((child, names))
        else if (ParquetShapes.shapeOf(child).contains(ParquetShapes.Struct)) in(child, names)
        else None
      }.take(1).toVector.headOption
    in(file, Vector.empty)
  }

  /** Whether a column has only nulls and encoded values null, according to its statistics. */
  private def hasOnlyNulls(chunk: ColumnChunkMetaData): Boolean =
    Option[Statistics[_]](chunk.getStatistics).exists { s =>
      !s.isEmpty && s.isNumNullsSet && (s.getNumNulls == chunk.getValueCount || s.hasNonNullValue &&
        Seq(s.getMinBytes, s.getMaxBytes).forall(bytes => bytes.length == 1 && bytes.head == NullVariant))
    }
}
