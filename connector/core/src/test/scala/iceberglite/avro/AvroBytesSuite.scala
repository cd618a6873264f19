package iceberglite.avro

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

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

  test("numbers are written as by Avro's own encoder, and are read as they were written") {
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

  test("Avro's own decoder reads the strings that are written, and strings are read as they were written") {
    forAll(Gen.alphaStr, Gen.oneOf("", "é€", "\uD83E\uDDCA")) { (a, b) =>
      val out = new AvroOutput(1)
      out.writeText(a + b)
      assert(DecoderFactory.get.binaryDecoder(out.toBytes, null).readString() == a + b)
      assert(input(out.toBytes).readText() == a + b)
    }
  }

  test("skipNumbers skips the given count of numbers") {
    forAll(Gen.listOf(longs)) { numbers =>
      val out = new AvroOutput
      numbers.foreach(out.writeLong)
      out.writeLong(42)
      val in = input(out.toBytes)
      in.skipNumbers(numbers.size)
      assert(in.readLong() == 42)
    }
  }

  /** The maximum number of bytes that a failed read may allocate, including its message and stack trace. */
  private val MaxAllocatedBytes = 1L << 20

  /** Checks that a read fails with `AvroFault`, and that it allocates at most `MaxAllocatedBytes`. */
  private def assertFault(read: => Any): Unit = {
    // The first call loads classes, so that their memory is not measured.
    assertThrows[AvroFault](read)
    val (_, allocated) = Allocation.of(assertThrows[AvroFault](read))
    assert(allocated < MaxAllocatedBytes, s"the failed read allocated $allocated bytes")
  }

  test("truncated input and impossible lengths are rejected without allocating the claimed length") {
    val huge = new AvroOutput
    huge.writeLong(Long.MaxValue)
    // A length of 64 MiB, which the JVM could allocate.
    val large = new AvroOutput
    large.writeLong(1L << 26)
    val negative = new AvroOutput
    negative.writeLong(-5)
    val endless = Array.fill(11)(0x80.toByte)
    assertFault(input(Array.emptyByteArray).readLong())
    assertFault(input(Array(0x80.toByte)).readLong())
    assertFault(input(endless).readLong())
    assertFault(input(huge.toBytes).readInt())
    assertFault(input(negative.toBytes).readBytes())
    Seq(huge, large).foreach { claimed =>
      assertFault(input(claimed.toBytes).readText())
      assertFault(input(claimed.toBytes).readBytes())
      assertFault(input(claimed.toBytes).skipBytes())
      assertFault(input(claimed.toBytes).readBlockCount())
    }
    Seq(3, 1 << 26, Int.MaxValue).foreach(length => assertFault(input(Array[Byte](1, 2)).readFixed(length)))
    assertFault(input(Array[Byte](1)).skipNumbers(2))
  }

  test("items that take no bytes can be skipped in any number, and can be read up to a limit for each input") {
    def array(counts: Long*): Array[Byte] = {
      val out = new AvroOutput
      (counts :+ 0L).foreach(out.writeLong)
      out.toBytes
    }
    val skipped = input(array(Long.MaxValue, 3))
    skipped.skipEmptyItems()
    assert(skipped.remaining == 0)
    assertFault(input(array(Long.MinValue)).skipEmptyItems())
    val read = input(array(1000, 500))
    var items = 0
    FieldDecoder.items(read, areEmpty = true)(items += 1)
    assert(items == 1500 && read.remaining == 0 && read.consumed == 1500 + read.position)
    val limit = AvroInput.MaxEmptyItems.toLong
    assertFault(input(array(limit + 1)).readEmptyItemsCount())
    assertFault {
      val in = input(array(limit, 1))
      assert(in.readEmptyItemsCount() == limit)
      in.readEmptyItemsCount()
    }
  }

  test("a seek beyond the end of a stream leaves no bytes, and the position is the length of the stream") {
    val stream = AvroSource.of("f", new ByteArrayInputStream(new Array[Byte](1000000)))
    stream.fill(10)
    stream.seek(500000)
    assert(stream.position == 500000)
    stream.seek(2000000)
    assert(stream.isEmpty && stream.position == 1000000)
  }

  test("a block whose header also contains its size in bytes is read") {
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
