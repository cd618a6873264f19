package iceberglite.spark.maintenance

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.security.MessageDigest
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * A key of 16 bytes that is equal for two rows if and only if their values are equal: the first half of the SHA-256
 * hash of the values. The probability that two different rows have the same key is negligible, as for random UUIDs.
 *
 * All NaN values are equal, because the NaN that is read from a file may differ from the NaN that was written. -0.0 and
 * 0.0 are different values, because files preserve the sign. The order of the entries of a map does not matter. A null
 * is not equal to a struct whose fields are null.
 *
 * @param children the columns
 */
final private[maintenance] case class RowKey(children: Seq[Expression]) extends Expression with CodegenFallback {

  override def dataType: DataType = BinaryType

  override def nullable: Boolean = false

  override def prettyName: String = "row_key"

  override def checkInputDataTypes(): TypeCheckResult = children.find(c => !RowKey.isSupported(c.dataType)) match {
    case Some(column) =>
      TypeCheckFailure(s"values of the type ${column.dataType.sql} of ${column.sql} cannot be compared")
    case None => TypeCheckSuccess
  }

  @transient private lazy val encoding = new RowEncoding
  @transient private lazy val digest = MessageDigest.getInstance("SHA-256")

  override def eval(input: InternalRow): Any = {
    encoding.reset()
    children.foreach(child => encoding.add(child.eval(input), child.dataType))
    Arrays.copyOf(digest.digest(encoding.bytes), RowKey.Length)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(children = newChildren)
}

private[maintenance] object RowKey {
  private val Length = 16

  def isSupported(dataType: DataType): Boolean = dataType match {
    case StructType(fields) => fields.forall(f => isSupported(f.dataType))
    case ArrayType(element, _) => isSupported(element)
    case MapType(key, value, _) => isSupported(key) && isSupported(value)
    case _: NumericType | BooleanType | DateType | TimestampType | TimestampNTZType | BinaryType => true
    case StringType | _: CharType | _: VarcharType => true
    case _ => false
  }
}

/**
 * Encodes Spark's values as bytes. The encoding of each value begins with a flag for null, and has a fixed length or
 * contains its length. Therefore, two lists of values of the same types have the same bytes only if the lists are
 * equal.
 */
final private class RowEncoding {
  private val buffer = new ByteArrayOutputStream
  private val out = new DataOutputStream(buffer)

  def reset(): Unit = buffer.reset()

  def bytes: Array[Byte] = buffer.toByteArray

  def add(value: Any, dataType: DataType): Unit = {
    out.writeBoolean(value != null)
    (value, dataType) match {
      case (null, _) => ()
      case (real: Double, _) => out.writeLong(java.lang.Double.doubleToLongBits(real))
      case (real: Float, _) => out.writeInt(java.lang.Float.floatToIntBits(real))
      case (number: Number, _) => out.writeLong(number.longValue)
      case (boolean: Boolean, _) => out.writeBoolean(boolean)
      case (decimal: Decimal, t: DecimalType) =>
        addBytes(decimal.toJavaBigDecimal.setScale(t.scale).unscaledValue.toByteArray)
      case (text: UTF8String, _) => addBytes(text.getBytes)
      case (binary: Array[Byte], _) => addBytes(binary)
      case (struct: InternalRow, StructType(fields)) =>
        fields.indices.foreach(i => add(struct.get(i, fields(i).dataType), fields(i).dataType))
      case (array: ArrayData, ArrayType(element, _)) => addArray(array, element)
      case (map: MapData, t: MapType) => addMap(map, t)
      case _ => throw new IllegalStateException(s"Unexpected value of the type ${dataType.sql}")
    }
  }

  private def addBytes(value: Array[Byte]): Unit = {
    out.writeInt(value.length)
    out.write(value)
  }

  private def addArray(array: ArrayData, element: DataType): Unit = {
    out.writeInt(array.numElements())
    array.foreach(element, (_, value) => add(value, element))
  }

  /** Adds the entries of a map, sorted by their bytes. */
  private def addMap(map: MapData, t: MapType): Unit = {
    out.writeInt(map.numElements())
    val (keys, values) = (map.keyArray(), map.valueArray())
    val entries = Array.tabulate(map.numElements()) { i =>
      val entry = new RowEncoding
      entry.add(keys.get(i, t.keyType), t.keyType)
      entry.add(if (values.isNullAt(i)) null else values.get(i, t.valueType), t.valueType)
      entry.bytes
    }
    Arrays.sort(entries, (a: Array[Byte], b: Array[Byte]) => Arrays.compare(a, b))
    entries.foreach(out.write)
  }
}
