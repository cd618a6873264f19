package iceberglite.data.parquet.shred

import scala.collection.JavaConverters._

import org.apache.parquet.hadoop.metadata.{BlockMetaData, ParquetMetadata}
import org.apache.parquet.schema.MessageType

import iceberglite.spec.expr.{ColumnRange, Expression, PartRange, RangeEvaluator, Term}
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Type.VariantType

/** Selects row groups by the statistics of typed columns of variants. */
private[iceberglite] object RowGroupParts {

  /**
   * Returns the footer with only the row groups that may have a row that matches a filter, according to its tests of
   * parts of variants.
   *
   * @param file the schema of the file, with field ids
   */
  def matching(footer: ParquetMetadata, file: => MessageType, filter: Expression): ParquetMetadata =
    if (!filter.testsVariants) footer
    else {
      val mightMatch = RangeEvaluator.mightMatch[BlockMetaData](filter, rangeOf(file)(_))
      val blocks = footer.getBlocks.asScala.filter(mightMatch)
      if (blocks.size == footer.getBlocks.size) footer
      else new ParquetMetadata(footer.getFileMetaData, blocks.asJava)
    }

  private def rangeOf(file: MessageType)(column: Term.Bound): Option[ColumnRange[BlockMetaData]] =
    if (column.field.fieldType != VariantType) None
    else TypedPart.groupOf(file, column.field.id).map { case (group, names) =>
      new VariantColumnRange(TypedPart.all(group, names))
    }

  /** A column of variants, about which only the values of its parts are known. */
  final private class VariantColumnRange(parts: Vector[TypedPart]) extends ColumnRange[BlockMetaData] {
    override def mayBeNull(rows: BlockMetaData): Boolean = true
    override def mayBeNan(rows: BlockMetaData): Boolean = false
    override def mayBeOrdinary(rows: BlockMetaData): Boolean = true
    override def lower(rows: BlockMetaData): Option[Literal] = None
    override def upper(rows: BlockMetaData): Option[Literal] = None

    override def part: (Vector[String], PrimitiveType) => Option[ColumnRange[BlockMetaData]] = (path, t) =>
      parts.find(_.path == path).map(new TypedPartRange(_, t))
  }

  final private class TypedPartRange(part: TypedPart, t: PrimitiveType) extends PartRange[BlockMetaData](t) {
    override def mayBeOrdinary(rows: BlockMetaData): Boolean = part.valuesIn(Seq(rows)) != TypedPart.Absent

    override protected def bounds(rows: BlockMetaData): (Option[Literal], Option[Literal]) =
      part.valuesIn(Seq(rows)) match {
        case TypedPart.Range(low, high) => (Some(low), Some(high))
        case TypedPart.Unknown | TypedPart.Absent => (None, None)
      }
  }
}
