package iceberglite.spark.read.deletes

import java.nio.ByteBuffer
import java.util.{Arrays, HashSet => JavaSet, UUID}

import org.apache.spark.sql.types.{
  BinaryType,
  BooleanType,
  DataType,
  DateType,
  DecimalType,
  IntegerType,
  LongType,
  StringType,
  TimestampNTZType,
  TimestampType
}
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.scan.{DeletedKeys, ReadColumns}
import iceberglite.spec.NestedField

/** Whether rows of a batch are deleted by their keys (spec: "Equality Delete Files"). One thread's. */
private[read] trait KeyTest {

  /** @param row in the batch that the test was made for */
  def isDeleted(row: Int): Boolean
}

private[read] object KeyTest {

  /**
   * @param read the columns of the batch
   * @param vectors of those columns; the reader fills the same ones for every batch
   */
  def of(keys: DeletedKeys, read: Vector[NestedField], vectors: Array[ColumnVector]): KeyTest = {
    val columns = keys.columns.map(c => KeyVector.of(ReadColumns.place(c.path, read), vectors)).toArray
    columns match {
      case Array(only) if only.isWhole => new WholeNumberTest(only, keys)
      case _ => new AnyKeyTest(columns, keys)
    }
  }
}

/**
 * A column of keys.
 *
 * @param around the structs that hold the column, from the top
 */
final private class KeyVector(around: Array[ColumnVector], vector: ColumnVector) {
  private val dataType: DataType = vector.dataType

  val isWhole: Boolean = dataType match {
    case LongType | TimestampType | TimestampNTZType | IntegerType | DateType => true
    case _ => false
  }

  private val isInt: Boolean = dataType == IntegerType || dataType == DateType

  def isNullAt(row: Int): Boolean = {
    var i = 0
    while (i < around.length && !around(i).isNullAt(row)) i += 1
    i < around.length || vector.isNullAt(row)
  }

  def longAt(row: Int): Long = if (isInt) vector.getInt(row).toLong else vector.getLong(row)

  /** In a form that is equal where the values are; null for null. */
  def valueAt(row: Int): AnyRef =
    if (isNullAt(row)) null
    else
      dataType match {
        case _ if isWhole => Long.box(longAt(row))
        case BooleanType => Boolean.box(vector.getBoolean(row))
        case StringType => vector.getUTF8String(row)
        case BinaryType => ByteBuffer.wrap(vector.getBinary(row))
        case t: DecimalType => vector.getDecimal(row, t.precision, t.scale).toJavaBigDecimal
        case other => throw new IllegalStateException(s"Keys are no ${other.simpleString}")
      }
}

private object KeyVector {
  def of(place: Vector[Int], vectors: Array[ColumnVector]): KeyVector = {
    val path = place.tail.scanLeft(vectors(place.head))((struct, ordinal) => struct.getChild(ordinal))
    new KeyVector(path.init.toArray, path.last)
  }

  /** A value of a delete file in the form of [[KeyVector.valueAt]]. */
  def canonical(value: AnyRef): AnyRef = value match {
    case v: Integer => Long.box(v.longValue)
    case v: String => UTF8String.fromString(v)
    case v: UUID => UTF8String.fromString(v.toString)
    case v => v
  }
}

/** One column of integers, dates or times. */
final private class WholeNumberTest(column: KeyVector, keys: DeletedKeys) extends KeyTest {
  private val values = new LongSet(keys.rows.size)
  private val deletesNull: Boolean = {
    var found = false
    keys.rows.forEach(key => if (key(0) == null) found = true else values += key(0).asInstanceOf[Number].longValue)
    found
  }

  override def isDeleted(row: Int): Boolean =
    if (column.isNullAt(row)) deletesNull else values.contains(column.longAt(row))
}

/** Any columns. */
final private class AnyKeyTest(columns: Array[KeyVector], keys: DeletedKeys) extends KeyTest {
  private val known: JavaSet[RowKey] = {
    val made = new JavaSet[RowKey](keys.rows.size * 2)
    keys.rows.forEach { key =>
      made.add(new RowKey(key.values.map(KeyVector.canonical)))
      ()
    }
    made
  }
  private val asked = new RowKey(new Array[AnyRef](columns.length))

  override def isDeleted(row: Int): Boolean = {
    var i = 0
    while (i < columns.length) {
      asked.values(i) = columns(i).valueAt(row)
      i += 1
    }
    known.contains(asked)
  }
}

final private class RowKey(val values: Array[AnyRef]) {
  override def equals(that: Any): Boolean = that match {
    case other: RowKey => Arrays.equals(values, other.values)
    case _ => false
  }

  override def hashCode: Int = Arrays.hashCode(values)
}
