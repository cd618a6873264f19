package iceberglite.spark.read.parquet

import java.nio.ByteBuffer
import java.util.UUID

import org.apache.parquet.schema.{GroupType, PrimitiveType => ParquetPrimitive, Type => ParquetType}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{ArrayType, BinaryType => SparkBinary, DataType, StructField, StructType}
import org.apache.spark.sql.vectorized.ColumnVector

import iceberglite.parquet.{ParquetShapes, SchemaOfParquet}
import iceberglite.parquet.ParquetShapes.{ListShape, childrenOf}
import iceberglite.spark.convert.VariantForm
import iceberglite.spark.read.parquet.ColumnConversion.Converted
import iceberglite.spark.read.vector.{ShreddedColumn, VariantStrings}
import iceberglite.spec.types.{Literal, PrimitiveType, VariantFields}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * Reads variants as strings, because Spark 3.5 has no variant type. Shredded variants are reassembled (Parquet:
 * "Variant Shredding").
 */
private[parquet] object VariantConversion {

  /**
   * Matches a group of the file to the type variant.
   *
   * @param selected selects the fields of the group to read
   * @param form the form of the strings
   * @param unreadable creates the error for bytes that are not a variant
   * @return absent if the group does not have the fields of a variant
   */
  def of(
      group: GroupType,
      selected: GroupType => GroupType,
      form: VariantForm,
      unreadable: String => Throwable
  ): Option[MatchedNode] =
    for {
      _ <- shreddedPart(group, withMetadata = true).filter(_ => group.containsField(VariantFields.Metadata))
      read = selected(group)
      metadata = childrenOf(read).indexWhere(_.getName == VariantFields.Metadata)
      value <- shreddedPart(read, withMetadata = true)
    } yield MatchedNode(
      read,
      value.dataType,
      Converted { v =>
        val names = if (metadata < 0) None else Some(v.getChild(metadata))
        new VariantStrings(v, names, value.column(v), form, unreadable)
      }
    )

  /**
   * A part of a variant.
   *
   * @param dataType the type in which Spark reads the part
   * @param column converts the vector that was read
   */
  final private case class Part[A](dataType: DataType, column: ColumnVector => A)

  /**
   * Matches a struct of `value`, which is the encoded part of a variant, and `typed_value`, which is the shredded part.
   * Either field may be missing.
   */
  private def shreddedPart(group: GroupType, withMetadata: Boolean): Option[Part[ShreddedColumn]] = {
    val children = childrenOf(group).map { child =>
      child.getName -> (child.getName match {
        case VariantFields.Metadata if withMetadata => Some(encodedPart(child))
        case VariantFields.Value => Some(encodedPart(child))
        case VariantFields.TypedValue => typedPart(child)
        case _ => None
      })
    }
    def indexOf(name: String): Int = children.indexWhere(_._1 == name)
    if (!children.forall(_._2.isDefined)) None
    else {
      val parts = children.flatMap { case (name, part) => part.map(name -> _) }
      val struct = StructType(parts.map { case (name, part) => StructField(name, part.dataType) })
      val (value, typedValue) = (indexOf(VariantFields.Value), indexOf(VariantFields.TypedValue))
      Some(Part(
        struct,
        vector =>
          ShreddedColumn(
            if (value < 0) None else Some(vector.getChild(value)),
            if (typedValue < 0) None else parts(typedValue)._2.column(vector.getChild(typedValue))
          )
      ))
    }
  }

  private type Typed = Option[ShreddedColumn.Typed]

  private def encodedPart(file: ParquetType): Part[Typed] =
    if (file.isPrimitive) Part(SparkBinary, _ => None) else Part(UnrequestedNodes.whole(file).dataType, _ => None)

  private def typedPart(file: ParquetType): Option[Part[Typed]] = file match {
    case primitive: ParquetPrimitive => leaf(primitive)
    case group: GroupType => ParquetShapes.shapeOf(group) match {
        case Some(ParquetShapes.Struct) => fields(group)
        case Some(shape @ ListShape(_, false)) => elements(shape)
        case _ => None
      }
  }

  private def fields(group: GroupType): Option[Part[Typed]] = {
    val children = childrenOf(group).map {
      case child: GroupType => shreddedPart(child, withMetadata = false).map(child.getName -> _)
      case _ => None
    }
    if (!children.forall(_.isDefined)) None
    else {
      val parts = children.flatten
      val struct = StructType(parts.map { case (name, part) => StructField(name, part.dataType) })
      Some(Part(
        struct,
        vector =>
          Some(ShreddedColumn.Fields(
            vector,
            parts.zipWithIndex.map { case ((name, part), i) => name -> part.column(vector.getChild(i)) }
          ))
      ))
    }
  }

  private def elements(shape: ListShape): Option[Part[Typed]] = shape.element match {
    case element: GroupType => shreddedPart(element, withMetadata = false).map { part =>
        Part(
          ArrayType(part.dataType),
          {
            case list: WritableColumnVector => Some(ShreddedColumn.Elements(list, part.column(list.getChild(0))))
            case other => throw new IllegalStateException(s"Elements cannot be read from ${other.getClass.getName}")
          }
        )
      }
    case _ => None
  }

  private def leaf(file: ParquetPrimitive): Option[Part[Typed]] =
    for {
      t <- SchemaOfParquet.primitiveOf(file)
      (dataType, conversion) <- PrimitiveConversion.of(file, t)
    } yield Part(
      dataType,
      vector => {
        val read = conversion match {
          case Converted(convert) => convert(vector)
          case _ => vector
        }
        Some(ShreddedColumn.Values(read, literal(t)))
      }
    )

  private def literal(t: PrimitiveType): (ColumnVector, Int) => Literal = t match {
    case BooleanType => (v, i) => BooleanLiteral(v.getBoolean(i))
    case IntType => (v, i) => IntLiteral(v.getInt(i))
    case LongType => (v, i) => LongLiteral(v.getLong(i))
    case FloatType => (v, i) => FloatLiteral(v.getFloat(i))
    case DoubleType => (v, i) => DoubleLiteral(v.getDouble(i))
    case DecimalType(p, s) => (v, i) => DecimalLiteral(v.getDecimal(i, p, s).toJavaBigDecimal)
    case DateType => (v, i) => DateLiteral(v.getInt(i))
    case TimeType => (v, i) => TimeLiteral(v.getLong(i))
    case TimestampType => (v, i) => TimestampLiteral(v.getLong(i))
    case TimestampTzType => (v, i) => TimestampTzLiteral(v.getLong(i))
    case TimestampNsType => (v, i) => TimestampNsLiteral(v.getLong(i))
    case TimestampTzNsType => (v, i) => TimestampTzNsLiteral(v.getLong(i))
    case StringType => (v, i) => StringLiteral(v.getUTF8String(i).toString)
    case UuidType => (v, i) => UuidLiteral(UUID.fromString(v.getUTF8String(i).toString))
    case FixedType(_) | BinaryType | UnknownType | VariantType | _: GeometryType | _: GeographyType =>
      (v, i) => BinaryLiteral(ByteBuffer.wrap(v.getBinary(i)))
  }
}
