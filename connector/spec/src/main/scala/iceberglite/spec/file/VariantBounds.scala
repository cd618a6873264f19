package iceberglite.spec.file

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.HashMap

import iceberglite.spec.expr.{BoundDecoder, ColumnRange, PartRange, Term, VariantPart}
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Type.VariantType

/** Reads bounds of variant columns, which are variants in the binary form of metadata and value. */
trait VariantBounds {

  /** Decodes the bounds of the parts of a column's variants; absent if the bytes are not a variant. */
  def decode(bounds: ByteBuffer): Option[VariantBounds.Parts]
}

object VariantBounds {

  /** The bounds of the parts of a column's variants. */
  trait Parts {

    /**
     * Returns the bound of a part; absent if there is none, or if it is not valid.
     *
     * @param name the name of the part ([[iceberglite.spec.expr.VariantPart.nameOf]]) in UTF-8
     */
    def of(name: Array[Byte]): Option[Literal]
  }
}

/** The metrics of a file. Its bounds of variants are decoded when they are first used. Not thread-safe. */
final private[file] class FileBounds(file: HasMetrics, reader: VariantBounds) extends HasMetrics {
  private val decoded = new HashMap[Int, (Option[VariantBounds.Parts], Option[VariantBounds.Parts])]

  override def metrics: Metrics = file.metrics

  override def recordCount: Long = file.recordCount

  /** Returns the lower and the upper bounds of the parts of a column. */
  def ofVariants(id: Int): (Option[VariantBounds.Parts], Option[VariantBounds.Parts]) =
    decoded.computeIfAbsent(
      id,
      _ => (metrics.lowerBound(id).flatMap(reader.decode), metrics.upperBound(id).flatMap(reader.decode))
    )
}

/** The ranges of columns of variants in a file. Variants have no order, but parts of them may have bounds. */
private[file] object VariantRange {

  /** Returns the range of a column; for a column of variants, only its counts are known. */
  def withCounts(term: Term.Bound): Option[ColumnRange[HasMetrics]] = term.field.fieldType match {
    case VariantType => Some(new VariantCounts(term.field.id))
    case _ => FileRange.of(term)
  }

  /** Returns the range of a column; for a column of variants, also the ranges of its parts are known. */
  def withParts(term: Term.Bound): Option[ColumnRange[FileBounds]] = term.field.fieldType match {
    case VariantType => Some(new VariantParts(term.field.id))
    case _ => FileRange.of(term)
  }

  final private class VariantCounts(id: Int) extends FileRange(id, new BoundDecoder(VariantType)) {
    override def lower(rows: HasMetrics): Option[Literal] = None

    override def upper(rows: HasMetrics): Option[Literal] = None
  }

  final private class VariantParts(id: Int) extends ColumnRange[FileBounds] {
    private val counts = new VariantCounts(id)

    override def mayBeNull(rows: FileBounds): Boolean = counts.mayBeNull(rows)

    override def mayBeNan(rows: FileBounds): Boolean = counts.mayBeNan(rows)

    override def mayBeOrdinary(rows: FileBounds): Boolean = counts.mayBeOrdinary(rows)

    override def lower(rows: FileBounds): Option[Literal] = None

    override def upper(rows: FileBounds): Option[Literal] = None

    override def part: (Vector[String], PrimitiveType) => Option[ColumnRange[FileBounds]] = (path, t) => {
      val name = VariantPart.nameOf(path).getBytes(UTF_8)
      Some(new PartRange[FileBounds](t) {
        override def mayBeOrdinary(rows: FileBounds): Boolean = counts.mayBeOrdinary(rows)

        override protected def bounds(rows: FileBounds): (Option[Literal], Option[Literal]) = {
          val (lower, upper) = rows.ofVariants(id)
          (lower.flatMap(_.of(name)), upper.flatMap(_.of(name)))
        }
      })
    }
  }
}
