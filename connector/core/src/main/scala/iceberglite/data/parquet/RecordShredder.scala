package iceberglite.data.parquet

import org.apache.parquet.schema.MessageType

import iceberglite.data.{RecordField, RecordSource}
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
  }
}
