package iceberglite.spark.read.vector

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.vectorized.{
  Dictionary,
  OffHeapColumnVector,
  OnHeapColumnVector,
  WritableColumnVector
}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spark.read.parquet.BatchPositions

/** Checks that moving selected rows to the front of vectors gives the same rows as [[SelectedVector]]. */
class RowCompactorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val types: Vector[DataType] = Vector(
    BooleanType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    DateType,
    TimestampType,
    TimestampNTZType,
    DecimalType(9, 2),
    DecimalType(18, 0),
    DecimalType(38, 5),
    StringType,
    BinaryType
  )

  private val nested: Vector[DataType] = Vector(
    StructType(Seq(StructField("a", IntegerType), StructField("b", StringType))),
    StructType(Seq(StructField(
      "c",
      StructType(Seq(StructField("d", LongType), StructField("e", ArrayType(LongType))))
    ))),
    ArrayType(IntegerType),
    ArrayType(StructType(Seq(StructField("x", StringType), StructField("y", DoubleType)))),
    MapType(StringType, IntegerType)
  )

  private val schema = StructType((types ++ nested).zipWithIndex.map { case (t, i) => StructField(s"f$i", t) })

  private def bytes(n: Int): Array[Byte] = s"text $n ${"é" * (n % 5)}".getBytes(UTF_8)

  /** Appends a value that depends on `n`, or null if `nulls` selects `n`. */
  private def append(to: WritableColumnVector, n: Int, nulls: Int => Boolean): Unit = to.dataType match {
    case struct: StructType =>
      to.appendStruct(nulls(n))
      if (!nulls(n)) (0 until struct.size).foreach(i => append(to.getChild(i), n * 3 + i, nulls))
    case _ if nulls(n) => to.appendNull()
    case BooleanType => to.appendBoolean(n % 2 == 0)
    case IntegerType | DateType => to.appendInt(n)
    case LongType | TimestampType | TimestampNTZType => to.appendLong(n.toLong << 33)
    case FloatType => to.appendFloat(n / 3f)
    case DoubleType => to.appendDouble(n / 3d)
    case d: DecimalType if d.precision <= 9 => to.appendInt(n)
    case d: DecimalType if d.precision <= 18 => to.appendLong(n.toLong << 20)
    case _: DecimalType =>
      val unscaled = BigInt(n).pow(4).toByteArray
      to.appendByteArray(unscaled, 0, unscaled.length)
    case StringType | BinaryType => to.appendByteArray(bytes(n), 0, bytes(n).length)
    case _: ArrayType =>
      to.appendArray(n % 4)
      (0 until n % 4).foreach(i => append(to.getChild(0), n + i, nulls))
    case _: MapType =>
      to.appendArray(n % 3)
      (0 until n % 3).foreach { i =>
        append(to.getChild(0), n + i, _ => false)
        append(to.getChild(1), n * i, nulls)
      }
    case other => fail(other.sql)
  }

  private def rowsOf(vectors: Array[ColumnVector], schema: StructType, count: Int): Seq[UnsafeRow] = {
    val batch = new ColumnarBatch(vectors, count)
    val copy = UnsafeProjection.create(schema)
    (0 until count).map(i => copy(batch.getRow(i)).copy())
  }

  private val batches = for {
    rows <- Gen.choose(1, 60)
    share <- Gen.oneOf(0.02, 0.5, 0.98)
    live <- Gen.listOfN(rows, Gen.choose(0d, 1d)).map(_.zipWithIndex.collect { case (x, i) if x >= share => i })
    nulls <- Gen.oneOf(0, 1, 2, 3)
    offHeap <- Gen.oneOf(true, false)
  } yield (rows, live.toArray, nulls, offHeap)

  test("compaction moves values of all types, nulls and nested values together with their rows") {
    forAll(batches) { case (rows, live, nulls, offHeap) =>
      val vectors: Array[WritableColumnVector] =
        if (offHeap) OffHeapColumnVector.allocateColumns(rows, schema).toArray
        else OnHeapColumnVector.allocateColumns(rows, schema).toArray
      for (vector <- vectors; row <- 0 until rows)
        append(vector, row + 1, n => nulls == 3 || nulls > 0 && n % (nulls * 2) == 0)
      val columns = vectors.toArray[ColumnVector]
      val expected = rowsOf(columns.map(new SelectedVector(_, live)), schema, live.length)
      RowCompactor.of(new ColumnarBatch(columns), None).moveToFront(live, live.length)
      assert(rowsOf(columns, schema, live.length) == expected)
      vectors.foreach(_.close())
    }
  }

  test("vectors with a dictionary keep the dictionary when they are compacted") {
    object Words extends Dictionary {
      override def decodeToInt(id: Int): Int = id * 100
      override def decodeToLong(id: Int): Long = fail("only ints and bytes are decoded")
      override def decodeToFloat(id: Int): Float = fail("only ints and bytes are decoded")
      override def decodeToDouble(id: Int): Double = fail("only ints and bytes are decoded")
      override def decodeToBinary(id: Int): Array[Byte] = bytes(id)
    }
    forAll(batches) { case (rows, live, nulls, _) =>
      val vectors = Array(IntegerType, StringType).map(new OnHeapColumnVector(rows, _))
      vectors.foreach { vector =>
        val ids = vector.reserveDictionaryIds(rows)
        (0 until rows).foreach(i => if (nulls > 0 && i % nulls == 1) vector.putNull(i) else ids.putInt(i, i % 7))
        vector.setDictionary(Words)
      }
      val schema = StructType(Seq(StructField("n", IntegerType), StructField("s", StringType)))
      val expected = rowsOf(vectors.map(new SelectedVector(_, live)), schema, live.length)
      RowCompactor.of(new ColumnarBatch(vectors.toArray[ColumnVector]), None).moveToFront(live, live.length)
      assert(vectors.forall(_.hasDictionary))
      assert(rowsOf(vectors.toArray[ColumnVector], schema, live.length) == expected)
    }
  }

  test("if only some row groups are read, each row keeps its position in the file") {
    val positions = BatchPositions.ofGroups(Seq((100L, 5L), (1000L, 0L), (2000L, 2L)), capacity = 4)
    def next(rows: Int): Seq[Long] = {
      positions.fill(rows)
      (0 until rows).map(positions.vector.getLong)
    }
    assert(next(4) == (100L to 103L) && next(1) == Seq(104L) && next(0).isEmpty && next(2) == Seq(2000L, 2001L))
    intercept[NoSuchElementException](next(1))
    intercept[IllegalStateException](BatchPositions.ofGroups(Seq((0L, 3L)), capacity = 4).fill(4))
  }
}
