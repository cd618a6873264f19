package iceberglite.puffin

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.StatisticsRules
import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile}

/** Tests of the section "Deletion vectors" of the specification, version 3. */
class DeletionVectorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def bytes(hex: String): Array[Byte] =
    hex.filterNot(_.isWhitespace).grouped(2).map(Integer.parseInt(_, 16).toByte).toArray

  private def hex(bytes: Array[Byte]): String = bytes.map(b => f"$b%02x").mkString

  private def positions(vector: DeletionVector): Vector[Long] = {
    val found = mutable.ArrayBuffer.empty[Long]
    vector.foreach(found += _)
    found.toVector
  }

  private def parse(blob: Array[Byte]): DeletionVector = DeletionVector.parse("dv.puffin", "data.parquet", blob)

  private def rejection(blob: Array[Byte]): String = {
    val error = intercept[UnreadableFile](parse(blob))
    assert(error.getMessage.startsWith("Cannot read deletion vector of data.parquet in dv.puffin: "))
    error.reason
  }

  /** Returns a blob with the given content, and with its correct length and checksum. */
  private def blobOf(inside: Array[Byte]): Array[Byte] = {
    val crc = new java.util.zip.CRC32
    crc.update(inside)
    java.nio.ByteBuffer.allocate(inside.length + 8).putInt(inside.length).put(inside).putInt(crc.getValue.toInt).array
  }

  private val threeRows =
    "00000026 d1d33964 0100000000000000 00000000 3a30000001000000 00000200 10000000 010003000500 5a9e5d39"

  test(
    "the bytes of a vector are length, magic, bitmap count, keys, portable bitmaps and checksum, as specified",
    StatisticsRules.vectorLayout
  ) {
    assert(hex(DeletionVector.of(5, 1, 3, 3).toBytes) == threeRows.replace(" ", ""))
    assert(positions(parse(bytes(threeRows))) == Vector(1L, 3L, 5L))
    assert(hex(DeletionVector.Empty.toBytes) == "0000000cd1d339640000000000000000bf18480c")
    assert(parse(DeletionVector.Empty.toBytes).isEmpty)
  }

  test(
    "runs of positions are written as run containers if these are shorter, and every key has its own bitmap",
    StatisticsRules.vectorLayout
  ) {
    val runs = "00000035 d1d33964 0200000000000000 00000000 3b300000 01 00000900 0100 00000900" +
      "01000000 3a30000001000000 00000000 10000000 0700 8add69f4"
    val builder = DeletionVector.newBuilder
    (0L until 10L).foreach(builder += _)
    builder += (1L << 32 | 7)
    assert(hex(builder.result().toBytes) == runs.replace(" ", ""))
    assert(positions(parse(bytes(runs))) == (0L until 10L) :+ (1L << 32 | 7))
  }

  private val position: Gen[Long] = Gen.frequency(
    20 -> Gen.choose(0L, 300L),
    20 -> Gen.choose(0L, 200000L),
    5 -> Gen.choose(0L, 1L << 34),
    2 -> Gen.choose(0L, Long.MaxValue),
    1 -> Gen.oneOf(0L, Int.MaxValue.toLong, 1L << 31, (1L << 32) - 1, 1L << 32, Long.MaxValue)
  )

  private val rows: Gen[Set[Long]] = for {
    single <- Gen.containerOf[Set, Long](position)
    starts <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, Gen.choose(0L, 1L << 33)))
    lengths <- Gen.listOfN(starts.size, Gen.choose(1L, 9000L))
  } yield single ++ starts.zip(lengths).flatMap { case (start, length) => start until start + length }

  test("a vector that is parsed from its bytes has the same deleted positions", StatisticsRules.vectorLayout) {
    forAll(rows) { deleted =>
      val vector = DeletionVector.of(deleted.toSeq: _*)
      val read = parse(vector.toBytes)
      assert(read == vector && read.hashCode == vector.hashCode)
      assert(positions(read) == deleted.toVector.sorted && read.cardinality == deleted.size)
      assert(deleted.forall(read.isDeleted) && deleted.forall(p => deleted(p + 1) == read.isDeleted(p + 1)))
    }
  }

  test("a union contains the positions of both vectors, and changes neither of them", StatisticsRules.vectorsMerge) {
    forAll(rows, rows) { (a, b) =>
      val (one, other) = (DeletionVector.of(a.toSeq: _*), DeletionVector.of(b.toSeq: _*))
      val before = one.toBytes
      assert(positions(one.union(other)) == (a ++ b).toVector.sorted)
      assert(one.toBytes.sameElements(before) && one.cardinality == a.size)
    }
  }

  test("a vector is a subset of another vector if the other contains all of its positions") {
    forAll(rows, rows) { (a, b) =>
      val (one, other) = (DeletionVector.of(a.toSeq: _*), DeletionVector.of(b.toSeq: _*))
      assert(one.isSubsetOf(other) == a.subsetOf(b) && one.isSubsetOf(one.union(other)))
    }
  }

  test("foreachIn visits the positions in the given range in ascending order") {
    forAll(rows, position, position) { (deleted, a, b) =>
      val (from, until) = (math.min(a, b), math.max(a, b))
      val found = mutable.ArrayBuffer.empty[Long]
      DeletionVector.of(deleted.toSeq: _*).foreachIn(from, until)(found += _)
      assert(found.toVector == deleted.filter(p => p >= from && p < until).toVector.sorted)
    }
  }

  test("firstFrom returns the first position that is not before the given position") {
    forAll(rows, position) { (deleted, from) =>
      val expected = deleted.filter(_ >= from).toVector.sorted.headOption
      assert(DeletionVector.of(deleted.toSeq: _*).firstFrom(from) == expected)
    }
    assert(DeletionVector.of(7L, 1L << 60).firstFrom(8).contains(1L << 60))
  }

  test("the top bit of a position must be 0", StatisticsRules.vectorPositions) {
    intercept[InvalidArgument](DeletionVector.of(-1L))
    assert(parse(DeletionVector.of(Long.MaxValue).toBytes).isDeleted(Long.MaxValue))
    val bitmap = "3a30000001000000 00000000 10000000 0700"
    assert(rejection(blobOf(bytes(s"d1d33964 0100000000000000 00000080 $bitmap"))).contains("negative positions"))
  }

  test(
    "a wrong length, magic or checksum, and a truncated or extended blob, are rejected",
    StatisticsRules.vectorIsChecked
  ) {
    val validBlob = bytes(threeRows)
    validBlob.indices.foreach(length => rejection(validBlob.take(length)))
    rejection(validBlob :+ 0.toByte)
    assert(rejection(validBlob.updated(3, 0x27.toByte)).contains("a length of 39 bytes, but 38 bytes"))
    assert(rejection(validBlob.updated(4, 0xd2.toByte)).contains("magic"))
    assert(rejection(validBlob.updated(36, 9.toByte)).contains("checksum"))
    assert(rejection(validBlob.updated(validBlob.length - 1, 0.toByte)).contains("checksum"))
  }

  test(
    "unordered keys, too many bitmaps and unsorted bitmaps are rejected even if the checksum is correct",
    StatisticsRules.vectorIsChecked
  ) {
    val head = "d1d33964"
    val bitmap = "3a30000001000000 00000000 10000000 0700"
    def rejectionOf(text: String): String = rejection(blobOf(bytes(head + text)))
    assert(rejectionOf("ffffffffffffff7f" + "0" * 60).contains("bitmaps, but"))
    assert(rejectionOf("ffffffffffffffff" + "0" * 60).contains("bitmaps, but"))
    assert(rejectionOf(s"0200000000000000 01000000 $bitmap 00000000 $bitmap").contains(
      "keys are not sorted: 0 comes after 1"
    ))
    assert(rejectionOf(s"0200000000000000 01000000 $bitmap 01000000 $bitmap").contains(
      "keys are not sorted: 1 comes after 1"
    ))
    assert(rejectionOf(s"0100000000000000 01000000 $bitmap 01000000").contains("bytes follow the last bitmap"))
    assert(rejectionOf("0100000000000000 00000000 3a300000ffffffff").contains("-1 containers"))
    assert(rejectionOf("0100000000000000 00000000 3a30000000000100").contains("middle of a bitmap"))
    assert(rejectionOf("0100000000000000 00000000 3c30000001000000").contains("cookie"))
    assert(rejectionOf("0100000000000000 00000000 3a30000001000000 00000100 10000000 05000300").contains("not sorted"))
    assert(
      rejectionOf("0100000000000000 00000000 3b300000 01 00000900 0100 00000800").contains("9 values, but claims 10")
    )
    assert(rejectionOf("0100000000000000 00000000 3b300000 01 00000900 0100 feff0900").contains("past its container"))
    assert(rejectionOf("0100000000000000 00000000 3b300000 01 00000900 0200 00000700 05000100").contains("not sorted"))
  }

  test("a vector with the lowest and the highest position stores no bitmaps for the positions between them") {
    assert(DeletionVector.of(0L, Long.MaxValue).toBytes.length < 100)
  }

  test("the difference of two vectors has the positions that are only in the first vector") {
    val position = Gen.oneOf(Gen.choose(0L, 200L), Gen.choose(65000L, 66000L), Gen.choose(1L << 32, (1L << 32) + 50))
    forAll(Gen.listOf(position), Gen.listOf(position)) { (first, second) =>
      val (one, other) = (DeletionVector.of(first: _*), DeletionVector.of(second: _*))
      val expected = first.toSet -- second
      assert(one.without(other) == DeletionVector.of(expected.toSeq: _*))
      assert(
        positions(one).toSet == first.toSet && positions(other).toSet == second.toSet,
        "the arguments are unchanged"
      )
    }
  }
}
