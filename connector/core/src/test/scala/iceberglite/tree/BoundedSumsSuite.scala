package iceberglite.tree

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz

/** A key of which all objects have the same hash code. */
final private case class Colliding(n: Int) {
  override def hashCode: Int = 7
}

class BoundedSumsSuite extends AnyFunSuite {
  final private class Sum(var value: Long)

  /** Sums values, and returns the sums of each pass. */
  private def passes[K](values: Seq[(K, Long)], maxKeys: Int): Vector[Map[K, Long]] =
    BoundedSums.passes[K, Sum](maxKeys) { sums =>
      values.foreach { case (key, value) => sums.at(key)(new Sum(0)).foreach(_.value += value) }
    }.map(_.iterator.map { case (key, sum) => key -> sum.value }.toMap).toVector

  test("the passes have the sums of all keys, each key in one pass, and each pass has at most the allowed keys") {
    val random = new Random(Fuzz.seed)
    for (_ <- 1 to Fuzz.rounds(50)) {
      val values = Vector.fill(random.nextInt(300))(s"key${random.nextInt(100)}" -> random.nextInt(10).toLong)
      val expected = values.groupBy(_._1).map { case (key, same) => key -> same.map(_._2).sum }
      val maxKeys = 1 + random.nextInt(40)
      val found = passes(values, maxKeys)
      assert(found.forall(_.size <= maxKeys) && found.map(_.size).sum == expected.size)
      assert(found.flatten.toMap == expected)
      assert(found.size == 1 || expected.size > maxKeys)
    }
  }

  test("keys with the same hash code, which no pass can separate, are summed") {
    val values = (0 until 10).map(i => Colliding(i) -> 1L)
    assert(passes(values, 3).flatten.toMap == values.toMap)
  }

  test("all hash values are divided into ranges by the number of keys") {
    assert(HashRange.divide(10, 10) == Vector(HashRange.All))
    val ranges = HashRange.divide(1000, 10)
    assert(ranges.size == 128)
    val random = new Random(Fuzz.seed)
    for (_ <- 1 to 100) {
      val hash = random.nextInt()
      assert(ranges.count(_.contains(hash)) == 1)
    }
  }
}
