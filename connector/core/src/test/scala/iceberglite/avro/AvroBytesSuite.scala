package iceberglite.avro

import java.io.ByteArrayOutputStream

import org.apache.avro.io.{DecoderFactory, EncoderFactory}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.Allocation

class AvroBytesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val longs = Gen.oneOf(
    Gen.choose(-1000L, 1000L),
    Gen.long,
    Gen.oneOf(Long.MinValue, Long.MaxValue, Int.MinValue.toLong, Int.MaxValue.toLong, 0L, -1L)
  )

  private def input(bytes: Array[Byte]): AvroInput = new AvroInput(bytes, 0, bytes.length)

  test("numbers are read and written like Avro's own encoder") {
    forAll(longs) { n =>
      val out = new ByteArrayOutputStream
      val encoder = EncoderFactory.get.binaryEncoder(out, null)
      encoder.writeLong(n)
      encoder.writeDouble(n.toDouble)
      encoder.writeFloat(n.toFloat)
      encoder.flush()
      val ours = new AvroOutput(1)
      ours.writeLong(n)
      ours.writeDouble(n.toDouble)
      ours.writeFloat(n.toFloat)
      assert(ours.toBytes.toSeq == out.toByteArray.toSeq)
      val in = input(out.toByteArray)
      assert(in.readLong() == n)
      assert(in.readDouble() == n.toDouble)
      assert(in.readFloat() == n.toFloat)
      assert(in.remaining == 0)
    }
  }

  test("strings are read and written like Avro's own encoder") {
    forAll(Gen.alphaStr, Gen.oneOf("", "é€", "\uD83E\uDDCA")) { (a, b) =>
      val out = new AvroOutput(1)
      out.writeText(a + b)
      assert(DecoderFactory.get.binaryDecoder(out.toBytes, null).readString() == a + b)
      assert(input(out.toBytes).readText() == a + b)
    }
  }

  test("numbers are skipped without being decoded") {
    forAll(Gen.listOf(longs)) { numbers =>
      val out = new AvroOutput
      numbers.foreach(out.writeLong)
      out.writeLong(42)
      val in = input(out.toBytes)
      in.skipNumbers(numbers.size)
      assert(in.readLong() == 42)
    }
  }

  /** Memory allowance of a fault: its message and stack trace. */
  private val MostBytes = 1L << 20

  /** Checks that a read is a fault, and that it allocates little memory. */
  private def isFault(read: => Any): Unit = {
    // The first call loads classes.
    assertThrows[AvroFault](read)
    val (_, allocated) = Allocation.of(assertThrows[AvroFault](read))
    assert(allocated < MostBytes, s"$allocated bytes")
  }

  test("truncated input and implausible lengths are faults, without allocating the claimed length") {
    val huge = new AvroOutput
    huge.writeLong(Long.MaxValue)
    // A length that could be allocated.
    val large = new AvroOutput
    large.writeLong(1L << 26)
    val negative = new AvroOutput
    negative.writeLong(-5)
    val endless = Array.fill(11)(0x80.toByte)
    isFault(input(Array.emptyByteArray).readLong())
    isFault(input(Array(0x80.toByte)).readLong())
    isFault(input(endless).readLong())
    isFault(input(huge.toBytes).readInt())
    isFault(input(negative.toBytes).readBytes())
    Seq(huge, large).foreach { claimed =>
      isFault(input(claimed.toBytes).readText())
      isFault(input(claimed.toBytes).readBytes())
      isFault(input(claimed.toBytes).skipBytes())
      isFault(input(claimed.toBytes).readBlockCount())
    }
    Seq(3, 1 << 26, Int.MaxValue).foreach(length => isFault(input(Array[Byte](1, 2)).readFixed(length)))
    isFault(input(Array[Byte](1)).skipNumbers(2))
  }

  test("a block with its size in bytes is read like one without") {
    val out = new AvroOutput
    out.writeLong(-2)
    out.writeLong(2)
    out.writeLong(5)
    out.writeLong(6)
    out.writeLong(0)
    val in = input(out.toBytes)
    var sum = 0L
    FieldDecoder.items(in)(sum += in.readLong())
    assert(sum == 11 && in.remaining == 0)
  }
}
