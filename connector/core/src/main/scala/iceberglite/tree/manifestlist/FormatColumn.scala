package iceberglite.tree.manifestlist

import java.nio.charset.StandardCharsets.US_ASCII
import java.util.Locale

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type.STRING

import iceberglite.avro.{AvroFault, AvroInput, AvroOutput, ColumnType, FieldDecoder, StructColumn}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.FileFormat
import iceberglite.spec.types.Type

/** The name of the file format. The name is written in upper case, as other writers do, and read case-insensitively. */
private[manifestlist] object FormatColumn extends ColumnType[FileFormat] {
  private val formats = FileFormat.all.toArray
  private val lowerNames = formats.map(_.name.getBytes(US_ASCII))

  /** The bit that converts an upper-case ASCII letter to lower case. */
  private val LowerCaseBit = 0x20

  override def icebergType(version: FormatVersion): Type = Type.StringType

  override def write(format: FileFormat, out: AvroOutput, version: FormatVersion): Unit =
    out.writeText(format.name.toUpperCase(Locale.ROOT))

  override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
    if (schema.getType == STRING) ColumnType.decoding(schema)((in, row, slot) => row.setObject(slot, read(in)))
    else mismatch(schema, column)

  private def read(in: AvroInput): FileFormat = {
    val length = in.readLength()
    val start = in.position
    in.skip(length)
    var i = 0
    while (i < formats.length) {
      if (isName(lowerNames(i), in.bytes, start, length)) return formats(i)
      i += 1
    }
    throw AvroFault(s"A file has the unknown format ${new String(in.bytes, start, math.min(length, 100), US_ASCII)}")
  }

  private def isName(name: Array[Byte], bytes: Array[Byte], start: Int, length: Int): Boolean = {
    var i = 0
    while (i < length && length == name.length && (bytes(start + i) | LowerCaseBit) == name(i)) i += 1
    i == name.length && length == name.length
  }
}
