package iceberglite.data.parquet.shred

import scala.collection.JavaConverters._

import org.apache.parquet.schema.{GroupType, MessageType, Type => ParquetType, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY
import org.apache.parquet.schema.Type.Repetition.{OPTIONAL, REQUIRED}

import iceberglite.data.VariantShape
import iceberglite.parquet.ParquetSchemas
import iceberglite.spec.types.VariantFields

/** The groups of shredded variants in the schema of a file (Parquet: "Variant Shredding"). */
private[iceberglite] object VariantGroups {

  /** Returns the schema of a file whose variants are shredded. @param shapes the shapes of columns, by field id */
  def shredded(file: MessageType, shapes: Map[Int, VariantShape]): MessageType =
    new MessageType(file.getName, file.getFields.asScala.map(field(_, shapes)).asJava)

  private def field(f: ParquetType, shapes: Map[Int, VariantShape]): ParquetType = f match {
    case group: GroupType => Option(group.getId).flatMap(id => shapes.get(id.intValue)) match {
        case Some(shape) => group.withNewFields(group.getType(VariantFields.Metadata), value, typed(shape))
        case None => group.withNewFields(group.getFields.asScala.map(field(_, shapes)).asJava)
      }
    case leaf => leaf
  }

  private def value: ParquetType = Types.optional(BINARY).named(VariantFields.Value)

  private def typed(shape: VariantShape): ParquetType = shape match {
    case VariantShape.Values(t) => ParquetSchemas.optionalLeaf(t, VariantFields.TypedValue)
    case VariantShape.Elements(element) =>
      Types.list(OPTIONAL).element(part("element", element)).named(VariantFields.TypedValue)
    case VariantShape.Fields(fields) =>
      val parts = fields.map { case (name, shape) => part(name, shape) }
      Types.buildGroup(OPTIONAL).addFields(parts: _*).named(VariantFields.TypedValue)
  }

  private def part(name: String, shape: VariantShape): ParquetType =
    Types.buildGroup(REQUIRED).addFields(value, typed(shape)).named(name)
}
