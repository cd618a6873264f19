package iceberglite.data.parquet

import org.apache.parquet.schema.MessageType

import iceberglite.data.{RecordField, RecordSource, Variant, VariantJson, VariantNode}
import iceberglite.data.parquet.shred._
import iceberglite.spec.schema.Schema

private[parquet] object RecordShredder {

  /**
   * Returns the shredder of the values of records.
   *
   * @param file the Parquet schema that [[iceberglite.parquet.ParquetSchemas]] returns for the schema
   */
  def of(schema: Schema, file: MessageType): Shredder[Array[AnyRef]] =
    new Builder(file).shredder(RecordField.of(schema.fields))

  final private class Builder(file: MessageType)
      extends ShredderBuilder[RecordField, Array[AnyRef]](file, RecordSource) {
    override protected def leaf(f: RecordField, column: LeafColumn): RecordLeaf = RecordLeaf.of(f.field, column)

    override protected def variants(f: RecordField, name: String): (Array[AnyRef], Int) => VariantNode =
      (values, ordinal) =>
        values(ordinal) match {
          case Variant(metadata, value) => VariantJson.node(metadata, value)
          case other => throw new IllegalStateException(s"A record has a ${other.getClass} in the variant column $name")
        }
  }
}
