package iceberglite.data.parquet.shred

import java.util.HashMap

import scala.collection.JavaConverters._

import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnPath, ParquetMetadata}
import org.apache.parquet.schema.MessageType

import iceberglite.parquet.RowGroupChunks
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
      val columns = new VariantColumns(file)
      val mightMatch = RangeEvaluator.mightMatch[RowGroup](filter, columns.rangeOf)
      val blocks = footer.getBlocks.asScala.filter(block => mightMatch(new RowGroup(block)))
      if (blocks.size == footer.getBlocks.size) footer
      else new ParquetMetadata(footer.getFileMetaData, blocks.asJava)
    }

  /** The ranges of the columns of variants of a file. */
  final private class VariantColumns(file: MessageType) {
    private val ranges = new HashMap[Int, Option[ColumnRange[RowGroup]]]

    def rangeOf(column: Term.Bound): Option[ColumnRange[RowGroup]] =
      if (column.field.fieldType == VariantType) ranges.computeIfAbsent(column.field.id, of(_)) else None

    private def of(fieldId: Int): Option[ColumnRange[RowGroup]] = TypedPart.groupOf(file, fieldId).map {
      case (group, names) => new VariantColumnRange(TypedPart.all(group, names))
    }
  }

  /** The statistics of a row group. */
  final private class RowGroup(block: BlockMetaData) {
    private val chunks = new RowGroupChunks(Seq(block))
    private val values = new HashMap[ColumnPath, TypedPart.Values]

    def valuesOf(part: TypedPart): TypedPart.Values = values.computeIfAbsent(part.typed, _ => part.valuesIn(chunks))
  }

  /** A column of variants, about which only the values of its parts are known. */
  final private class VariantColumnRange(parts: Vector[TypedPart]) extends ColumnRange[RowGroup] {
    override def mayBeNull(rows: RowGroup): Boolean = true
    override def mayBeNan(rows: RowGroup): Boolean = false
    override def mayBeOrdinary(rows: RowGroup): Boolean = true
    override def lower(rows: RowGroup): Option[Literal] = None
    override def upper(rows: RowGroup): Option[Literal] = None

    override def part: (Vector[String], PrimitiveType) => Option[ColumnRange[RowGroup]] = (path, t) =>
      parts.find(_.path == path).map(new TypedPartRange(_, t))
  }

  final private class TypedPartRange(part: TypedPart, t: PrimitiveType) extends PartRange[RowGroup](t) {
    override def mayBeOrdinary(rows: RowGroup): Boolean = rows.valuesOf(part) != TypedPart.Absent

    override protected def bounds(rows: RowGroup): (Option[Literal], Option[Literal]) = rows.valuesOf(part) match {
      case TypedPart.Range(low, high) => (Some(low), Some(high))
      case TypedPart.Unknown | TypedPart.Absent => (None, None)
    }
  }
}
