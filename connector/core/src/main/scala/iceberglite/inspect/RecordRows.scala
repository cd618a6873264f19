package iceberglite.inspect

import iceberglite.data.Record
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/** Converts records of files to rows of metadata tables. */
private[inspect] object RecordRows {

  /** Returns the converter for records of a struct. */
  def of(struct: StructType): Record => MetadataRow = {
    val converters = struct.fields.map(field).toArray
    record => MetadataRow(converters.indices.iterator.map(i => converters(i)(record(i))).toVector)
  }

  /** Returns the optional struct at a position of a row; absent if the row has no such position. */
  def structAt(values: Vector[Any], position: Int): Option[MetadataRow] = values.lift(position).flatMap {
    case Some(row: MetadataRow) => Some(row)
    case _ => None
  }

  private def field(f: NestedField): AnyRef => Any = {
    val convert = value(f.fieldType)
    if (f.required) convert else v => Option(v).map(convert)
  }

  private def value(t: Type): AnyRef => Any = t match {
    case struct: StructType =>
      val convert = of(struct)
      v => convert(v.asInstanceOf[Record])
    case list: ListType =>
      val convert = field(list.elementField)
      v => v.asInstanceOf[Vector[AnyRef]].map(convert)
    case map: MapType =>
      val (key, value) = (field(map.keyField), field(map.valueField))
      v => v.asInstanceOf[Vector[(AnyRef, AnyRef)]].map { case (k, x) => key(k) -> value(x) }.toMap
    case _ => identity
  }
}
