package iceberglite.data.parquet.shred

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ColumnPath}
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}

import iceberglite.parquet.{ColumnChunks, ParquetShapes, RowGroupChunks, SchemaOfParquet}
import iceberglite.spec.types.{Literal, PrimitiveType, VariantFields}

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
  def valuesIn(groups: RowGroupChunks): TypedPart.Values = {
    val hasNoOthers = value.forall(groups.complete(_).exists(_.forall(TypedPart.hasOnlyNulls)))
    val chunks = groups.complete(typed).filter(_ => hasNoOthers).map(new ColumnChunks(_, leaf))
    if (chunks.exists(_.hasOnlyNulls.contains(true))) TypedPart.Absent
    else
      chunks.flatMap(_.bounds(valueType)).fold[TypedPart.Values](TypedPart.Unknown) { case (low, high) =>
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
    val inTyped = columns :+ VariantFields.TypedValue
    field(group, VariantFields.TypedValue).toVector.flatMap {
      case leaf: ParquetPrimitive => SchemaOfParquet.primitiveOf(leaf).map { t =>
          val value = field(group, VariantFields.Value).map(_ => columnPath(columns :+ VariantFields.Value))
          TypedPart(path, value, columnPath(inTyped), leaf, t)
        }
      case fields: GroupType if ParquetShapes.shapeOf(fields).contains(ParquetShapes.Struct) =>
        ParquetShapes.childrenOf(fields).collect {
          case part: GroupType => parts(part, inTyped :+ part.getName, path :+ part.getName)
        }.flatten
      case _ => Vector.empty
    }
  }

  private[shred] def field(group: GroupType, name: String): Option[ParquetType] =
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
