package iceberglite.data.orc

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, UUID}

import org.apache.hadoop.hive.ql.exec.vector._

import iceberglite.avro.AvroSchemas
import iceberglite.data.{FieldSource, Record, Variant}

/** Reads the values of one column from the library's vectors to the representation of [[Record]]. */
abstract private[orc] class OrcValues {
  final def read(vector: ColumnVector, row: Int): AnyRef = {
    val index = if (vector.isRepeating) 0 else row
    if (!vector.noNulls && vector.isNull(index)) null else readNonNull(vector, index)
  }

  protected def readNonNull(vector: ColumnVector, row: Int): AnyRef
}

private[orc] object OrcValues {

  /**
   * Reports an invalid value. The code that catches this exception creates the error that names the file and the
   * column.
   */
  final class InvalidValue(val column: String, val reason: String) extends RuntimeException(reason)

  private def long(vector: ColumnVector, row: Int): Long = vector.asInstanceOf[LongColumnVector].vector(row)

  private def bytes(vector: ColumnVector, row: Int): ByteBuffer = {
    val column = vector.asInstanceOf[BytesColumnVector]
    val start = column.start(row)
    // The bytes are copied, because the library reuses the vector for the next batch.
    ByteBuffer.wrap(Arrays.copyOfRange(column.vector(row), start, start + column.length(row)))
  }

  object Booleans extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = Boolean.box(long(v, row) != 0)
  }

  object Ints extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = Int.box(long(v, row).toInt)
  }

  object Longs extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = Long.box(long(v, row))
  }

  object Floats extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef =
      Float.box(v.asInstanceOf[DoubleColumnVector].vector(row).toFloat)
  }

  object Doubles extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef =
      Double.box(v.asInstanceOf[DoubleColumnVector].vector(row))
  }

  object Strings extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = {
      val column = v.asInstanceOf[BytesColumnVector]
      new String(column.vector(row), column.start(row), column.length(row), UTF_8)
    }
  }

  object Binaries extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = bytes(v, row)
  }

  /**
   * Bytes of a fixed length. The length is checked here, because ORC stores the bytes as binary, without a fixed
   * length.
   */
  final class Fixed(length: Int, column: String) extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = {
      val value = bytes(v, row)
      if (value.remaining != length) {
        throw new InvalidValue(column, s"A value has ${value.remaining} bytes, but must have $length bytes")
      }
      value
    }
  }

  final class Uuids(column: String) extends OrcValues {
    private val fixed = new Fixed(AvroSchemas.UuidSize, column)
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = fixed.read(v, row) match {
      case value: ByteBuffer => new UUID(value.getLong(0), value.getLong(java.lang.Long.BYTES))
    }
  }

  final class Decimals(precision: Int, scale: Int, column: String) extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = {
      val value = v.asInstanceOf[DecimalColumnVector].vector(row).getHiveDecimal.bigDecimalValue
      // The library removes trailing zeros, so the scale of the value may be smaller than the scale of the column.
      val scaled = if (value.scale <= scale) value.setScale(scale) else refuse(value)
      if (scaled.precision > precision) refuse(value) else scaled
    }

    private def refuse(value: BigDecimal): Nothing =
      throw new InvalidValue(column, s"The value $value does not fit decimal($precision, $scale)")
  }

  /** Timestamps. The values in the file may be out of the range of a long in the column's unit. */
  sealed abstract private[orc] class Times(column: String) extends OrcValues {
    protected def exactly(v: ColumnVector, row: Int): Long

    final override protected def readNonNull(v: ColumnVector, row: Int): AnyRef =
      try Long.box(exactly(v, row))
      catch { case _: ArithmeticException => throw new InvalidValue(column, "A value is out of the range of the type") }
  }

  final class Timestamps(unitsPerSecond: Long, column: String) extends Times(column) {
    override protected def exactly(v: ColumnVector, row: Int): Long =
      OrcTimestamp.exactly(v.asInstanceOf[TimestampColumnVector], row, unitsPerSecond)
  }

  /** Dates of a column that was promoted to a timestamp. */
  final class Days(unitsPerDay: Long, column: String) extends Times(column) {
    override protected def exactly(v: ColumnVector, row: Int): Long = Math.multiplyExact(long(v, row), unitsPerDay)
  }

  final class Lists(element: OrcValues) extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = {
      val list = v.asInstanceOf[ListColumnVector]
      val start = list.offsets(row).toInt
      Vector.tabulate(list.lengths(row).toInt)(i => element.read(list.child, start + i))
    }
  }

  final class Maps(key: OrcValues, value: OrcValues) extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = {
      val map = v.asInstanceOf[MapColumnVector]
      val start = map.offsets(row).toInt
      Vector.tabulate(map.lengths(row).toInt)(i => (key.read(map.keys, start + i), value.read(map.values, start + i)))
    }
  }

  final class Variants(metadata: Int, value: Int) extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef = {
      val fields = v.asInstanceOf[StructColumnVector].fields
      (Binaries.read(fields(metadata), row), Binaries.read(fields(value), row)) match {
        case (m: ByteBuffer, v: ByteBuffer) => Variant(m, v)
        case _ => null
      }
    }
  }

  /** Reads structs. @param readers the readers of the fields; not used for fields that are not in the file */
  final class Structs(sources: Array[FieldSource[AnyRef]], readers: Array[OrcValues]) extends OrcValues {
    override protected def readNonNull(v: ColumnVector, row: Int): AnyRef =
      record(v.asInstanceOf[StructColumnVector].fields, row, ordinal = 0L)

    /** Returns the record of a row. @param ordinal position of the row in the file */
    def record(vectors: Array[ColumnVector], row: Int, ordinal: Long): Record = {
      val values = new Array[AnyRef](sources.length)
      var i = 0
      while (i < sources.length) {
        values(i) = sources(i) match {
          case FieldSource.Stored(index) => readers(i).read(vectors(index), row)
          case FieldSource.Constant(value) => value
          case FieldSource.RowPosition => Long.box(ordinal)
        }
        i += 1
      }
      new Record(values)
    }
  }

  def of(struct: OrcColumn.Struct[AnyRef]): Structs = {
    val readers = struct.sources.map {
      case FieldSource.Stored(index) => of(struct.stored(index))
      case FieldSource.Constant(_) | FieldSource.RowPosition => Booleans
    }
    new Structs(struct.sources.toArray, readers.toArray)
  }

  private def of(column: OrcColumn[AnyRef]): OrcValues = column match {
    case struct: OrcColumn.Struct[AnyRef] => of(struct)
    case OrcColumn.OfList(element) => new Lists(of(element))
    case OrcColumn.OfMap(key, value) => new Maps(of(key), of(value))
    case OrcColumn.OfVariant(metadata, value, _) => new Variants(metadata, value)
    case OrcColumn.Leaf(kind, name) => leaf(kind, name)
  }

  private def leaf(kind: OrcLeaf, column: String): OrcValues = kind match {
    case OrcLeaf.Booleans => Booleans
    case OrcLeaf.Ints => Ints
    case OrcLeaf.Longs => Longs
    case OrcLeaf.Floats => Floats
    case OrcLeaf.Doubles => Doubles
    case OrcLeaf.Decimals(precision, scale) => new Decimals(precision, scale, column)
    case OrcLeaf.Strings => Strings
    case OrcLeaf.Binaries => Binaries
    case OrcLeaf.Fixed(length) => new Fixed(length, column)
    case OrcLeaf.Uuids => new Uuids(column)
    case OrcLeaf.Timestamps(unitsPerSecond) => new Timestamps(unitsPerSecond, column)
    case OrcLeaf.Days(unitsPerDay) => new Days(unitsPerDay, column)
  }
}
