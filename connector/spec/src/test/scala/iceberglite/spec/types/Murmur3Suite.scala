package iceberglite.spec.types

import java.math.BigInteger
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.PartitionRules

class Murmur3Suite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def bytes(all: Int*): Array[Byte] = all.map(_.toByte).toArray

  private def hash(all: Array[Byte]): Int = Murmur3.hashBytes(all, 0, all.length)

  test("the hashes are equal to the hashes in Appendix B", PartitionRules.hashes) {
    assert(Murmur3.hashInt(34) == 2017239379)
    assert(Murmur3.hashLong(34L) == 2017239379)
    assert(Murmur3.hashDecimal(BigInteger.valueOf(1420)) == -500754589)
    assert(Murmur3.hashInt(17486) == -653330422)
    assert(Murmur3.hashLong(81068000000L) == -662762989)
    assert(Murmur3.hashLong(1510871468000000L) == -2047944441)
    assert(Murmur3.hashLong(1510871468000001L) == -1207196810)
    assert(hash("iceberg".getBytes(UTF_8)) == 1210000089)
    assert(hash(bytes(0, 1, 2, 3)) == -188683207)
  }

  test("hashes of types that have no bucket transform also follow Appendix B", PartitionRules.hashes) {
    assert(Murmur3.hashInt(1) == 1392991556)
    assert(Murmur3.hashLong(java.lang.Double.doubleToLongBits(1.0)) == -142385009)
    assert(Murmur3.hashLong(0L) == 1669671676)
  }

  test("an int has the same hash as the long with the same value", PartitionRules.hashIntAsLong) {
    forAll((v: Int) => assert(Murmur3.hashInt(v) == Murmur3.hashLong(v.toLong)))
  }

  test("the hash of a long is the hash of its eight little-endian bytes") {
    forAll { v: Long =>
      val littleEndian = ByteBuffer.allocate(8).putLong(java.lang.Long.reverseBytes(v)).array
      assert(Murmur3.hashLong(v) == hash(littleEndian))
    }
  }

  test(
    "the hash of a decimal is the hash of the shortest big-endian bytes of its unscaled value",
    PartitionRules.hashDecimal
  ) {
    val edges = for (bits <- 0 to 70; by <- -1 to 1; sign <- Seq(1, -1))
      yield BigInteger.ONE.shiftLeft(bits).add(BigInteger.valueOf(by.toLong)).multiply(BigInteger.valueOf(sign.toLong))
    edges.foreach(v => assert(Murmur3.hashDecimal(v) == hash(v.toByteArray), v))
    forAll((v: Long) => assert(Murmur3.hashDecimal(v) == hash(BigInteger.valueOf(v).toByteArray)))
  }

  test("bytes have the same hash in an array, in part of an array, and in a heap or direct buffer") {
    forAll { content: Array[Byte] =>
      val expected = hash(content)
      val padded = Array[Byte](7, 7, 7) ++ content ++ Array[Byte](9)
      assert(Murmur3.hashBytes(padded, 3, content.length) == expected)
      val slice = ByteBuffer.wrap(padded, 3, content.length)
      val direct = ByteBuffer.allocateDirect(content.length)
      direct.put(content).flip()
      assert(Murmur3.hashBytes(slice) == expected)
      assert(Murmur3.hashBytes(slice.slice) == expected)
      assert(Murmur3.hashBytes(direct) == expected)
      assert(slice.position() == 3 && direct.position() == 0)
    }
  }
}
