package iceberglite.maintenance.cluster

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks
import org.scalatest.tagobjects.Slow

class HilbertCurveSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** Returns the cell at the given index of the curve. Inverts [[HilbertCurve.index]], and shares no code with it. */
  private def cellOf(curve: HilbertCurve, index: Long): Array[Int] = {
    val (n, bits) = (curve.dimensions, curve.bits)
    val digits = Array.fill(n)(0)
    for (position <- 0 until n * bits) {
      val bit = ((index >>> (n * bits - 1 - position)) & 1).toInt
      digits(position % n) |= bit << (bits - 1 - position / n)
    }
    // At each level of the curve, the bits of the cell's coordinates are the Gray code of the digit of the index, up to
    // reflections and exchanges of dimensions. The next lines compute this code for all levels at once; the loop over
    // the levels then applies the reflections and exchanges.
    val carry = digits(n - 1) >> 1
    for (i <- n - 1 until 0 by -1) digits(i) ^= digits(i - 1)
    digits(0) ^= carry
    for (level <- 1 until bits; i <- n - 1 to 0 by -1) {
      val lower = (1 << level) - 1
      if ((digits(i) >> level & 1) == 1) digits(0) ^= lower
      else {
        val difference = (digits(0) ^ digits(i)) & lower
        digits(0) ^= difference
        digits(i) ^= difference
      }
    }
    digits
  }

  private def longs(cell: Seq[Int]): Array[Long] = cell.map(_.toLong).toArray

  private def isNeighbour(a: Seq[Int], b: Seq[Int]): Boolean =
    a.zip(b).map { case (x, y) => math.abs(x.toLong - y) }.sum == 1

  private def cells(dimensions: Int, size: Int): Iterator[Vector[Int]] =
    if (dimensions == 0) Iterator(Vector.empty)
    else cells(dimensions - 1, size).flatMap(cell => (0 until size).iterator.map(cell :+ _))

  test("the curve visits each cell of a grid once, and consecutive cells differ by one in one coordinate") {
    for ((dimensions, bits) <- Seq(1 -> 1, 1 -> 7, 2 -> 1, 2 -> 2, 2 -> 6, 3 -> 1, 3 -> 4, 4 -> 3, 5 -> 2, 8 -> 1)) {
      val curve = new HilbertCurve(dimensions, bits)
      val byIndex = cells(dimensions, 1 << bits).map(cell => curve.index(longs(cell)) -> cell).toVector.sortBy(_._1)
      val path = byIndex.map(_._2)
      assert(byIndex.map(_._1) == (0L until (1L << (dimensions * bits))), s"$dimensions dimensions, $bits bits")
      assert(path.zip(path.drop(1)).forall { case (a, b) => isNeighbour(a, b) }, s"$dimensions dimensions, $bits bits")
    }
  }

  test("in large grids, each index has a cell, and the next index has a neighbour of this cell") {
    val grids = for {
      dimensions <- Gen.choose(1, 10)
      bits <- Gen.choose(1, math.min(31, HilbertCurve.IndexBits / dimensions))
      index <- Gen.choose(0L, (1L << (dimensions * bits) - 1) * 2 - 2)
    } yield (new HilbertCurve(dimensions, bits), index)
    forAll(grids, minSuccessful(2000)) { case (curve, index) =>
      val (cell, next) = (cellOf(curve, index), cellOf(curve, index + 1))
      assert(cell.forall(c => c >= 0 && c.toLong < (1L << curve.bits)) && isNeighbour(cell, next))
      assert(curve.index(longs(cell)) == index && curve.index(longs(next)) == index + 1)
    }
  }

  test("with 64-bit coordinates, the leading bits of a position on the curve are the index in a coarser grid") {
    val cells = for {
      dimensions <- Gen.choose(1, 8)
      bits <- Gen.choose(1, HilbertCurve.IndexBits / dimensions)
      cell <- Gen.listOfN(dimensions, Gen.long)
    } yield (dimensions, bits, cell)
    forAll(cells, minSuccessful(1000)) { case (dimensions, bits, cell) =>
      val digits = cell.toArray
      new HilbertCurve(dimensions, 64).toDigits(digits)
      val first = (0 until bits).flatMap(bit => digits.map(digit => (digit >>> (63 - bit)) & 1L))
      val coarse = cell.map(_ >>> (64 - bits)).toArray
      assert(new HilbertCurve(dimensions, bits).index(coarse) == first.foldLeft(0L)((index, bit) => index << 1 | bit))
    }
  }

  test("with one dimension, the index is the coordinate") {
    val curve = new HilbertCurve(1, 31)
    forAll(Gen.choose(0, Int.MaxValue))(value => assert(curve.index(Array(value.toLong)) == value))
  }

  test("the keys of 1 to 63 columns are not negative, and each column has at most 12 bits") {
    for (columns <- 1 to 63) {
      val curve = HilbertCurve.ofColumns(columns)
      assert(curve.index(Array.fill(columns)((1L << curve.bits) - 1)) >= 0 && curve.bits <= 12)
    }
  }

  test("in each column, files along the curve overlap less than 2.2 times as much as in an ideal grid", Slow) {
    val random = new Random(7)
    for (columns <- 1 to 3; files <- Seq(4 << columns, 8 << columns, 500)) {
      val curve = HilbertCurve.ofColumns(columns)
      val points = Vector.fill(files * 50)(Vector.fill(columns)(random.nextInt(1 << curve.bits)))
      val parts = points.sortBy(p => curve.index(longs(p))).grouped(50).toVector
      val boxes = parts.map(part => Box(part.transpose.map(_.min), part.transpose.map(_.max)))
      for (column <- 0 until columns) {
        val share = boxes.map(b => boxes.count(_.overlapsIn(column, b)) - 1).sum.toDouble / (files * (files - 1))
        val ideal = math.pow(files.toDouble, -1.0 / columns)
        assert(share < 2.2 * ideal, s"$files files, column $column of $columns")
      }
    }
  }
}
