package iceberglite.data.parquet.shred

import java.nio.ByteBuffer
import java.util.HashMap

import scala.collection.JavaConverters._

import org.apache.parquet.column.{ColumnWriteStore, ColumnWriter}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{INT32, INT64}
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}

import iceberglite.data.{RowSource, VariantEncoding, VariantJson, VariantNode, VariantShape}
import iceberglite.parquet.ParquetShapes.{ListShape, shapeOf}
import iceberglite.parquet.SchemaOfParquet
import iceberglite.spec.types.{Literal, PrimitiveType, VariantFields}
import iceberglite.spec.types.Literal._

/**
 * A field whose variants are partly in typed columns (Parquet: "Variant Shredding").
 *
 * @param read returns the variant at an ordinal of a row, which is not null
 */
final private[iceberglite] class VariantShredder[V] private (
    place: GroupPlace,
    rows: RowSource[V],
    metadata: VariantColumn,
    part: PartShredder,
    read: (V, Int) => VariantNode
) extends StoredShredder[V](place.name, place.optional, place.definition, rows) {

  override def write(values: V, ordinal: Int, repetition: Int): Unit =
    if (rows.isNull(values, ordinal)) writeNull(repetition)
    else {
      val variant = read(values, ordinal)
      val names = VariantEncoding.namesOf(variant)
      // Readers that need the whole variant reject a larger one, even if its parts are in several columns.
      names.check(variant)
      metadata.write(names.metadata, repetition)
      part.write(variant, names, repetition)
    }

  override def writeAbsent(repetition: Int, level: Int): Unit = {
    metadata.writeAbsent(repetition, level)
    part.writeAbsent(repetition, level)
  }

  override def leaves: Vector[FileColumn] = metadata +: part.leaves
}

private[iceberglite] object VariantShredder {

  /** Returns the shredder of a column whose group in the file has the field `typed_value`. */
  private[iceberglite] def of[V](
      file: MessageType,
      place: ParquetPlace,
      fieldId: Int,
      rows: RowSource[V],
      read: (V, Int) => VariantNode
  ): VariantShredder[V] = {
    val columns = new Builder(file, fieldId, place.name)
    val metadata = columns.column(place.path :+ VariantFields.Metadata)
    val part = columns.part(place.group, place.path, place.definition, place.repetition)
    new VariantShredder(place.ofGroup, rows, metadata, part, read)
  }

  final private class Builder(file: MessageType, fieldId: Int, name: String) {
    def column(path: Vector[String]): VariantColumn =
      new VariantColumn(LeafColumn(file.getColumnDescription(path.toArray), fieldId, name, optional = true))

    /** @param level the definition level at which the group is present */
    def part(group: GroupType, path: Vector[String], level: Int, repetition: Int): PartShredder = {
      val typedPath = path :+ VariantFields.TypedValue
      new PartShredder(
        column(path :+ VariantFields.Value),
        typed(group.getType(VariantFields.TypedValue), typedPath, level + 1, repetition),
        level
      )
    }

    private def typed(field: ParquetType, path: Vector[String], level: Int, repetition: Int): TypedShredder =
      field match {
        case leaf: ParquetPrimitive => new ValueShredder(column(path), typeOf(leaf))
        case group: GroupType => shapeOf(group) match {
            case Some(list @ ListShape(_, false)) =>
              val element = list.element.asGroupType
              val inner = path :+ group.getType(0).getName :+ element.getName
              new ElementShredder(part(element, inner, level + 1, repetition + 1), level, repetition + 1)
            case _ =>
              val fields = group.getFields.asScala.toVector.map { f =>
                f.getName -> part(f.asGroupType, path :+ f.getName, level, repetition)
              }
              new ObjectShredder(fields, level)
          }
      }

    private def typeOf(leaf: ParquetPrimitive): PrimitiveType = SchemaOfParquet.primitiveOf(leaf).getOrElse(
      throw new IllegalStateException(s"A typed column of a variant has the type $leaf")
    )
  }
}

/** A column of a shredded variant. */
final private[shred] class VariantColumn(target: LeafColumn) extends FileColumn {
  private val definition = target.descriptor.getMaxDefinitionLevel
  private val physical = target.descriptor.getPrimitiveType
  private var column: ColumnWriter = _

  override def fieldId: Int = target.fieldId

  override def attach(store: ColumnWriteStore): Unit = column = store.getColumnWriter(target.descriptor)

  def writeAbsent(repetition: Int, level: Int): Unit = column.writeNull(repetition, level)

  def write(bytes: ByteBuffer, repetition: Int): Unit =
    column.write(Binary.fromConstantByteBuffer(bytes), repetition, definition)

  def write(value: Literal, repetition: Int): Unit = value match {
    case BooleanLiteral(v) => column.write(v, repetition, definition)
    case IntLiteral(v) => column.write(v, repetition, definition)
    case DateLiteral(v) => column.write(v, repetition, definition)
    case LongLiteral(v) => column.write(v, repetition, definition)
    case TimeLiteral(v) => column.write(v, repetition, definition)
    case TimestampLiteral(v) => column.write(v, repetition, definition)
    case TimestampTzLiteral(v) => column.write(v, repetition, definition)
    case TimestampNsLiteral(v) => column.write(v, repetition, definition)
    case TimestampTzNsLiteral(v) => column.write(v, repetition, definition)
    case FloatLiteral(v) => column.write(v, repetition, definition)
    case DoubleLiteral(v) => column.write(v, repetition, definition)
    case StringLiteral(v) => column.write(Binary.fromString(v), repetition, definition)
    case BinaryLiteral(v) => write(v, repetition)
    case FixedLiteral(v) => write(v, repetition)
    case DecimalLiteral(v) => writeDecimal(v.unscaledValue, repetition)
    case UuidLiteral(v) =>
      val bytes = ByteBuffer.allocate(16)
      bytes.putLong(v.getMostSignificantBits).putLong(v.getLeastSignificantBits).flip()
      write(bytes, repetition)
  }

  private def writeDecimal(unscaled: java.math.BigInteger, repetition: Int): Unit =
    physical.getPrimitiveTypeName match {
      case INT32 => column.write(unscaled.intValueExact, repetition, definition)
      case INT64 => column.write(unscaled.longValueExact, repetition, definition)
      case _ =>
        val digits = unscaled.toByteArray
        val sign: Byte = if (unscaled.signum < 0) -1 else 0
        val bytes = Array.fill(physical.getTypeLength - digits.length)(sign) ++ digits
        write(ByteBuffer.wrap(bytes), repetition)
    }
}

/**
 * A variant or a part of it, in the columns `value` and `typed_value`.
 *
 * @param level the definition level at which the group of these columns is present
 */
final private[shred] class PartShredder(value: VariantColumn, typed: TypedShredder, level: Int) {

  def write(node: VariantNode, names: VariantEncoding.Names, repetition: Int): Unit =
    typed.write(node, names, repetition, level) match {
      case Some(rest) => value.write(names.encode(rest), repetition)
      case None => value.writeAbsent(repetition, level)
    }

  def writeAbsent(repetition: Int, absentLevel: Int): Unit = {
    value.writeAbsent(repetition, absentLevel)
    typed.writeAbsent(repetition, absentLevel)
  }

  def leaves: Vector[FileColumn] = value +: typed.leaves
}

/** The typed columns of a variant or of a part of it. */
sealed abstract private[shred] class TypedShredder {

  /**
   * Writes the parts of a value that the columns can contain.
   *
   * @param absentLevel the definition level of the columns if they contain no part of the value
   * @return the rest of the value, which is not in the typed columns
   */
  def write(
      node: VariantNode,
      names: VariantEncoding.Names,
      repetition: Int,
      absentLevel: Int
  ): Option[VariantNode]

  def writeAbsent(repetition: Int, level: Int): Unit

  def leaves: Vector[FileColumn]

  final protected def writeOther(node: VariantNode, repetition: Int, absentLevel: Int): Option[VariantNode] = {
    writeAbsent(repetition, absentLevel)
    Some(node)
  }
}

final private[shred] class ValueShredder(column: VariantColumn, t: PrimitiveType) extends TypedShredder {

  override def write(
      node: VariantNode,
      names: VariantEncoding.Names,
      repetition: Int,
      absentLevel: Int
  ): Option[VariantNode] = {
    val literal = node match {
      case VariantNode.Scalar(encoded) => VariantJson.literal(encoded).flatMap(VariantShape.valueIn(t, _))
      case _ => None
    }
    literal match {
      case Some(value) =>
        column.write(value, repetition)
        None
      case None => writeOther(node, repetition, absentLevel)
    }
  }

  override def writeAbsent(repetition: Int, level: Int): Unit = column.writeAbsent(repetition, level)

  override def leaves: Vector[FileColumn] = Vector(column)
}

/**
 * @param level the definition level at which the list is present
 * @param repeated the repetition level of all elements except the first one
 */
final private[shred] class ElementShredder(element: PartShredder, level: Int, repeated: Int) extends TypedShredder {

  override def write(
      node: VariantNode,
      names: VariantEncoding.Names,
      repetition: Int,
      absentLevel: Int
  ): Option[VariantNode] = node match {
    case VariantNode.Elements(elements) =>
      if (elements.isEmpty) element.writeAbsent(repetition, level)
      elements.iterator.zipWithIndex.foreach { case (part, i) =>
        element.write(part, names, if (i == 0) repetition else repeated)
      }
      None
    case _ => writeOther(node, repetition, absentLevel)
  }

  override def writeAbsent(repetition: Int, absentLevel: Int): Unit = element.writeAbsent(repetition, absentLevel)

  override def leaves: Vector[FileColumn] = element.leaves
}

/** @param level the definition level at which the object is present */
final private[shred] class ObjectShredder(fields: Vector[(String, PartShredder)], level: Int) extends TypedShredder {
  private val indexes = new HashMap[String, Integer]
  fields.zipWithIndex.foreach { case ((name, _), i) => indexes.put(name, i) }
  private val parts = fields.map(_._2).toArray

  override def write(
      node: VariantNode,
      names: VariantEncoding.Names,
      repetition: Int,
      absentLevel: Int
  ): Option[VariantNode] = node match {
    case VariantNode.Fields(all) =>
      val found = new Array[VariantNode](parts.length)
      val rest = all.filter { case (name, value) =>
        val index = indexes.get(name)
        if (index != null) found(index) = value
        index == null
      }
      parts.indices.foreach { i =>
        if (found(i) == null) parts(i).writeAbsent(repetition, level) else parts(i).write(found(i), names, repetition)
      }
      if (rest.isEmpty) None else Some(VariantNode.Fields(rest))
    case _ => writeOther(node, repetition, absentLevel)
  }

  override def writeAbsent(repetition: Int, absentLevel: Int): Unit =
    parts.foreach(_.writeAbsent(repetition, absentLevel))

  override def leaves: Vector[FileColumn] = fields.flatMap(_._2.leaves)
}
