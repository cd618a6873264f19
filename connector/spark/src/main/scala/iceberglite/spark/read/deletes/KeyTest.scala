package iceberglite.spark.read.deletes

import org.apache.spark.sql.types.{
  BinaryType,
  BooleanType,
  DataType,
  DateType,
  DecimalType,
  DoubleType,
  FloatType,
  IntegerType,
  LongType,
  StringType,
  TimestampNTZType,
  TimestampType
}
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.unsafe.Platform

import iceberglite.data.ReadColumns
import iceberglite.scan.deletes.{DeletedKeys, KeyBuffer, KeySet, LongKeys}
import iceberglite.spec.types.NestedField

/** Tests which rows of a batch are deleted by equality deletes (spec: "Equality Delete Files"). Not thread-safe. */
private[read] trait KeyTest {

  /** Whether a row is deleted. @param row index of the row in the batch for which the test was created */
  def isDeleted(row: Int): Boolean
}

private[read] object KeyTest {

  /**
   * Creates a test.
   *
   * @param read the columns of the batch
   * @param vectors the vectors of those columns, which the reader reuses
   */
  def of(keys: DeletedKeys, read: Vector[NestedField], vectors: Array[ColumnVector]): KeyTest = {
    val columns = keys.columns.map(c => KeyVector.of(ReadColumns.ordinalPath(c.path, read), vectors)).toArray
    val tests = keys.sets.filterNot(_.isEmpty).map { set =>
      (columns, set) match {
        case (Array(only), longs: LongKeys) if only.isIntegral => new LongKeyTest(only, longs)
        case _ => new AnyKeyTest(columns, set)
      }
    }
    if (tests.size == 1) tests.head else new AnyOfTests(tests.toArray[KeyTest])
  }
}

/**
 * A key column.
 *
 * @param enclosing the structs that contain the column, outermost first
 */
final private class KeyVector(enclosing: Array[ColumnVector], vector: ColumnVector) {
  private val dataType: DataType = vector.dataType

  val isIntegral: Boolean = dataType match {
    case LongType | TimestampType | TimestampNTZType | IntegerType | DateType => true
    case _ => false
  }

  private val isInt: Boolean = dataType == IntegerType || dataType == DateType

  def isNullAt(row: Int): Boolean = {
    var i = 0
    while (i < enclosing.length && !enclosing(i).isNullAt(row)) i += 1
    i < enclosing.length || vector.isNullAt(row)
  }

  def longAt(row: Int): Long = if (isInt) vector.getInt(row).toLong else vector.getLong(row)

  /** Appends the value of a row to `key`, in the same form as the keys of delete files. */
  def put(row: Int, key: KeyBuffer): Unit =
    if (isNullAt(row)) key.putNull()
    else
      dataType match {
        case _ if isIntegral => key.putLong(longAt(row))
        case FloatType => key.putDouble(vector.getFloat(row).toDouble)
        case DoubleType => key.putDouble(vector.getDouble(row))
        case BooleanType => key.putBoolean(vector.getBoolean(row))
        case StringType =>
          val text = vector.getUTF8String(row)
          val offset = key.putLength(text.numBytes)
          text.writeToMemory(key.array, Platform.BYTE_ARRAY_OFFSET.toLong + offset)
        case BinaryType => key.putBytes(vector.getBinary(row))
        case t: DecimalType => key.putDecimal(vector.getDecimal(row, t.precision, t.scale).toJavaBigDecimal)
        case other =>
          throw new IllegalStateException(s"Equality deletes do not support key columns of type ${other.simpleString}")
      }
}

private object KeyVector {
  def of(ordinals: Vector[Int], vectors: Array[ColumnVector]): KeyVector = {
    val path = ordinals.tail.scanLeft(vectors(ordinals.head))((struct, ordinal) => struct.getChild(ordinal))
    new KeyVector(path.init.toArray, path.last)
  }
}

/** Tests keys that consist of one column of integers, dates, times or timestamps. */
final private class LongKeyTest(column: KeyVector, keys: LongKeys) extends KeyTest {
  override def isDeleted(row: Int): Boolean =
    if (column.isNullAt(row)) keys.hasNull else keys.contains(column.longAt(row))
}

/** Tests keys with columns of any types. */
final private class AnyKeyTest(columns: Array[KeyVector], keys: KeySet) extends KeyTest {
  private val key = new KeyBuffer

  override def isDeleted(row: Int): Boolean = {
    key.clear()
    var i = 0
    while (i < columns.length) {
      columns(i).put(row, key)
      i += 1
    }
    keys.contains(key)
  }
}

/**
 * Tests several sets of keys. A row is deleted if its key is in one of the sets. There are several sets if the delete
 * files contain too many keys for one set.
 */
final private class AnyOfTests(tests: Array[KeyTest]) extends KeyTest {
  override def isDeleted(row: Int): Boolean = {
    var i = 0
    while (i < tests.length && !tests(i).isDeleted(row)) i += 1
    i < tests.length
  }
}
