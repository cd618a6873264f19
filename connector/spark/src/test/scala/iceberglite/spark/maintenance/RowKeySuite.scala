package iceberglite.spark.maintenance

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckFailure
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, Literal}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Tests [[RowKey]], a hash that is equal for two rows if and only if their values are equal. */
class RowKeySuite extends AnyFunSuite {
  private val struct = new StructType().add("a", IntegerType).add("b", StringType)
  private val map = MapType(StringType, IntegerType)

  private def text(value: String): UTF8String = UTF8String.fromString(value)

  private def key(values: (Any, DataType)*): Seq[Byte] =
    RowKey(values.map { case (value, dataType) => Literal(value, dataType) }).eval() match {
      case bytes: Array[Byte] => bytes.toSeq
      case other => fail(s"unexpected key $other")
    }

  private def mapOf(entries: (String, Any)*): ArrayBasedMapData = new ArrayBasedMapData(
    new GenericArrayData(entries.map(e => text(e._1)).toArray[Any]),
    new GenericArrayData(entries.map(_._2).toArray[Any])
  )

  private def rowOf(values: Any*): InternalRow = new GenericInternalRow(values.toArray)

  test("equal values have equal keys: any NaN, decimals of any scale, and maps in any order") {
    val otherNaN = java.lang.Double.longBitsToDouble(0x7ff8000000000001L)
    assert(key(Double.NaN -> DoubleType) == key(otherNaN -> DoubleType))
    assert(key(Float.NaN -> FloatType) == key(java.lang.Float.intBitsToFloat(0x7fc00001) -> FloatType))
    assert(key(Decimal("1.5") -> DecimalType(10, 3)) == key(Decimal("1.500") -> DecimalType(10, 3)))
    assert(key(mapOf("a" -> 1, "b" -> null) -> map) == key(mapOf("b" -> null, "a" -> 1) -> map))
  }

  test("different values have different keys") {
    val array = ArrayType(StringType)
    def strings(values: String*) = new GenericArrayData(values.map(v => Option(v).map(text).orNull).toArray[Any])
    val keys = Seq(
      key(0.0 -> DoubleType),
      key(-0.0 -> DoubleType),
      key((null, DoubleType)),
      key(text("ab") -> StringType, text("c") -> StringType),
      key(text("a") -> StringType, text("bc") -> StringType),
      key(text("") -> StringType, (null, StringType)),
      key((null, StringType), text("") -> StringType),
      key((null, struct), (null, StringType)),
      key(rowOf(null, null) -> struct, (null, StringType)),
      key(strings("a", null) -> array),
      key(strings("a") -> array),
      key(strings(null, "a") -> array),
      key(mapOf("a" -> 1, "b" -> 2) -> map),
      key(mapOf("a" -> 2, "b" -> 1) -> map),
      key(mapOf() -> map)
    )
    assert(keys.distinct.size == keys.size)
  }

  test("types whose values cannot be compared are rejected") {
    val column = Literal(null, new StructType().add("i", CalendarIntervalType))
    assert(RowKey(Seq(column)).checkInputDataTypes().isInstanceOf[TypeCheckFailure])
  }
}
