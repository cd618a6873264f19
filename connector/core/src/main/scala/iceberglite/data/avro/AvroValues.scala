package iceberglite.data.avro

import iceberglite.avro.{AvroInput, AvroUnion, FieldDecoder}
import iceberglite.data.{FieldSource, Record, Variant}
import iceberglite.data.avro.AvroColumn.{Leaf, OfList, OfMap, OfVariant, ReadField, SkippedField, Struct}

/** Decodes the values of one column from an Avro file to the representation of [[Record]]. */
abstract private[iceberglite] class AvroValues {
  def read(in: AvroInput): AnyRef
}

private[avro] object AvroValues {
  object Nulls extends AvroValues {
    override def read(in: AvroInput): AnyRef = null
  }

  final class Optional(union: AvroUnion, value: AvroValues) extends AvroValues {
    override def read(in: AvroInput): AnyRef = if (union.isValue(in)) value.read(in) else null
  }

  final class Lists(element: AvroValues, hasEmptyElements: Boolean) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val elements = Vector.newBuilder[AnyRef]
      FieldDecoder.items(in, hasEmptyElements) {
        elements += element.read(in)
      }
      elements.result()
    }
  }

  final class Maps(key: AvroValues, value: AvroValues) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val entries = Vector.newBuilder[(AnyRef, AnyRef)]
      FieldDecoder.items(in) {
        val k = key.read(in)
        entries += ((k, value.read(in)))
      }
      entries.result()
    }
  }

  final class Variants(metadataFirst: Boolean) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val (first, second) = (in.readBytes(), in.readBytes())
      if (metadataFirst) Variant(first, second) else Variant(second, first)
    }
  }

  /**
   * Decodes the fields of a record in file order.
   *
   * @param readers decoders of the fields; absent for a field that is not requested
   * @param skippers functions that skip a field
   * @param targets the position of each field in the expected struct
   * @param template the values of an expected record, with the values of the fields that the file lacks, and null for
   *   all other fields
   */
  final class Structs(
      readers: Array[Option[AvroValues]],
      skippers: Array[AvroInput => Unit],
      targets: Array[Int],
      template: Array[AnyRef]
  ) extends AvroValues {
    override def read(in: AvroInput): Record = {
      val values = template.clone()
      var i = 0
      while (i < readers.length) {
        readers(i) match {
          case Some(reader) => values(targets(i)) = reader.read(in)
          case None => skippers(i)(in)
        }
        i += 1
      }
      new Record(values)
    }
  }

  def of(struct: Struct[AnyRef]): Structs = {
    val fields = struct.fields.map {
      case ReadField(target, column) => (Option(of(column)), (_: AvroInput) => (), target)
      case SkippedField(skip) => (None, skip, -1)
    }
    val template = struct.sources.map {
      case FieldSource.Constant(value) => value
      case FieldSource.Stored(_) | FieldSource.RowPosition => null
    }
    new Structs(fields.map(_._1).toArray, fields.map(_._2).toArray, fields.map(_._3).toArray, template.toArray)
  }

  private def of(column: AvroColumn[AnyRef]): AvroValues = column match {
    case AvroColumn.Nulls => Nulls
    case Leaf(values) => values
    case AvroColumn.Optional(union, value) => new Optional(union, of(value))
    case OfList(element, hasEmptyElements) => new Lists(of(element), hasEmptyElements)
    case OfMap(key, value) => new Maps(of(key), of(value))
    case OfVariant(metadataFirst, _) => new Variants(metadataFirst)
    case struct: Struct[AnyRef] => of(struct)
  }
}
