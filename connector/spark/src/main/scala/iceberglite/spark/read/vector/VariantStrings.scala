package iceberglite.spark.read.vector

import java.nio.ByteBuffer

import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.{Variant, VariantEncoding, VariantJson, VariantNode}
import iceberglite.spark.convert.{VariantForm, VariantText}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.Literal

/**
 * A column of variants as Spark's strings.
 *
 * @param struct the struct column of the file that contains the variants
 * @param metadata the metadata of the variants, which contains the names of object fields; absent if no encoded value
 *   is read
 * @param column the values of the variants, which may be shredded
 * @param form the form of the strings
 * @param unreadable creates the error for bytes that are not a valid variant; its argument is the reason
 */
final private[read] class VariantStrings(
    struct: ColumnVector,
    metadata: Option[ColumnVector],
    column: ShreddedColumn,
    form: VariantForm,
    unreadable: String => Throwable
) extends ForwardingVector(struct, StringType) {

  override def getUTF8String(rowId: Int): UTF8String =
    if (struct.isNullAt(rowId)) null
    else {
      if (metadata.exists(_.isNullAt(rowId))) throw unreadable("It has no metadata")
      try {
        val names = metadata.fold(VariantJson.noNames)(m => ByteBuffer.wrap(m.getBinary(rowId)))
        form match {
          case VariantForm.Json => UTF8String.fromString(column.text(rowId, names).getOrElse(VariantJson.Null))
          case VariantForm.Exact => VariantText.exact(column.variant(rowId, names))
        }
      } catch { case InvalidArgument(_, _, reason) => throw unreadable(reason) }
    }
}

/**
 * A variant or a part of a variant, which may be shredded (Parquet: "Variant Shredding").
 *
 * @param value the encoded value; for an object, the fields that are not in `typed`
 * @param typed the shredded value
 */
final private[read] case class ShreddedColumn(value: Option[ColumnVector], typed: Option[ShreddedColumn.Typed]) {

  /** Returns the JSON text of a row; absent if this is an object field that the row's object does not have. */
  def text(row: Int, metadata: ByteBuffer): Option[String] = {
    val rest = encoded(row)
    typed.filterNot(_.vector.isNullAt(row)) match {
      case Some(shredded) => Some(shredded.text(row, metadata, rest))
      case None => rest.map(VariantJson.text(metadata, _))
    }
  }

  /** Returns the variant of a row, which has the value null if there is no value. */
  def variant(row: Int, metadata: ByteBuffer): Variant = (typed.filterNot(_.vector.isNullAt(row)), encoded(row)) match {
    case (None, Some(value)) => Variant(metadata, value)
    case _ => VariantEncoding.encode(node(row, metadata).getOrElse(VariantNode.Null))
  }

  /** Like [[text]], but returns the parts of the variant. */
  def node(row: Int, metadata: ByteBuffer): Option[VariantNode] = {
    val rest = encoded(row).map(VariantJson.node(metadata, _))
    typed.filterNot(_.vector.isNullAt(row)).map(_.node(row, metadata, rest)).orElse(rest)
  }

  private def encoded(row: Int): Option[ByteBuffer] =
    value.filterNot(_.isNullAt(row)).map(v => ByteBuffer.wrap(v.getBinary(row)))
}

private[read] object ShreddedColumn {

  /** The shredded values of a variant: the Parquet field `typed_value`. */
  sealed private[read] trait Typed {
    def vector: ColumnVector

    /** Returns the JSON text of a row. @param rest the encoded fields of the object that are not shredded */
    def text(row: Int, metadata: ByteBuffer, rest: Option[ByteBuffer]): String

    /** Returns the parts of the variant of a row. @param rest the parts of the object that are not shredded */
    def node(row: Int, metadata: ByteBuffer, rest: Option[VariantNode]): VariantNode
  }

  /** Primitive values. @param literal returns the value of a vector at an index */
  final case class Values(vector: ColumnVector, literal: (ColumnVector, Int) => Literal) extends Typed {
    override def text(row: Int, metadata: ByteBuffer, rest: Option[ByteBuffer]): String =
      VariantJson.of(literal(vector, row))

    override def node(row: Int, metadata: ByteBuffer, rest: Option[VariantNode]): VariantNode =
      VariantNode.of(literal(vector, row))
  }

  /** Objects. @param fields the shredded fields by name */
  final case class Fields(vector: ColumnVector, fields: Vector[(String, ShreddedColumn)]) extends Typed {
    override def text(row: Int, metadata: ByteBuffer, rest: Option[ByteBuffer]): String = {
      val shredded = fields.flatMap { case (name, column) => column.text(row, metadata).map(name -> _) }
      val others = rest.flatMap(VariantJson.fields(metadata, _)).getOrElse(Vector.empty)
      VariantJson.ofFields((shredded ++ others).sortBy(_._1))
    }

    override def node(row: Int, metadata: ByteBuffer, rest: Option[VariantNode]): VariantNode = {
      val shredded = fields.flatMap { case (name, column) => column.node(row, metadata).map(name -> _) }
      val others = rest.collect { case VariantNode.Fields(found) => found }
      VariantNode.Fields(shredded ++ others.getOrElse(Vector.empty))
    }
  }

  /** The lists of a shredded variant. @param element the elements of the lists of all rows */
  final case class Elements(vector: WritableColumnVector, element: ShreddedColumn) extends Typed {
    override def text(row: Int, metadata: ByteBuffer, rest: Option[ByteBuffer]): String = {
      val first = vector.getArrayOffset(row)
      VariantJson.ofElements((first until first + vector.getArrayLength(row)).map { i =>
        element.text(i, metadata).getOrElse(VariantJson.Null)
      })
    }

    override def node(row: Int, metadata: ByteBuffer, rest: Option[VariantNode]): VariantNode = {
      val first = vector.getArrayOffset(row)
      VariantNode.Elements(Vector.tabulate(vector.getArrayLength(row)) { i =>
        element.node(first + i, metadata).getOrElse(VariantNode.Null)
      })
    }
  }
}
