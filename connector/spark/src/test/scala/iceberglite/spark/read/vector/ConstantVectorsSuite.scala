package iceberglite.spark.read.vector

import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnVector
import org.scalatest.funsuite.AnyFunSuite

/** Checks vectors with the same value in all rows, which the reader returns for columns that a data file lacks. */
class ConstantVectorsSuite extends AnyFunSuite {

  /** Checks that the decimal of a null can be read, because Spark sometimes reads it before it checks for null. */
  private def assertNoDecimal(vector: ColumnVector, t: DecimalType): Unit = {
    assert(vector.isNullAt(0))
    assert(vector.getDecimal(0, t.precision, t.scale) == null)
  }

  for (precision <- Seq(9, 18, 19, 38)) {
    val t = DecimalType(precision, 2)

    test(s"a null ${t.simpleString} can be read without a check for null") {
      assertNoDecimal(ConstantVectors.of(t, None, 10), t)
    }

    test(s"a null ${t.simpleString} in a struct can be read without a check for null") {
      val struct = StructType(Seq(StructField("d", t)))
      assertNoDecimal(ConstantVectors.struct(struct, Seq(None), 10).getChild(0), t)
    }
  }

  test("null strings, bytes, lists, maps and structs can be read without a check for null") {
    def absent(t: DataType): ColumnVector = ConstantVectors.of(t, None, 10)
    assert(absent(StringType).getUTF8String(0) == null)
    assert(absent(BinaryType).getBinary(0) == null)
    assert(absent(ArrayType(IntegerType)).getArray(0) == null)
    assert(absent(MapType(IntegerType, IntegerType)).getMap(0) == null)
    assert(absent(StructType(Seq(StructField("a", IntegerType)))).getStruct(0) == null)
  }
}
