package iceberglite.encryption

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.data.{DataFormats, Record}
import iceberglite.data.parquet.ParquetData
import iceberglite.parquet.{ParquetEncryption, ParquetInput}
import iceberglite.table.MemoryFileIO

/** Changes bytes of encrypted data files, and swaps their pages and blocks. */
class EncryptedFilesFuzzSuite extends AnyFunSuite with EncryptedRowFiles {
  for (format <- DataFormats.all) {
    val name = format.format.name

    test(s"a $name file with changed bytes gives its rows or an error without values, one without its end the error") {
      val io = new MemoryFileIO
      val file = contentFile(write(io, "a", format, rows(1500)))
      val valid = io.read("a")
      val random = new Random(Fuzz.seed)
      val flipped = (0 until Fuzz.rounds(400, 60)).count { _ =>
        val bytes = valid.clone
        val at = random.nextInt(bytes.length)
        bytes(at) = (bytes(at) ^ (1 << random.nextInt(8))).toByte
        check(bytes, file, rows(1500))
      }
      assert(flipped > 0)
      (0 until Fuzz.rounds(100, 20)).foreach { _ =>
        assert(check(valid.take(random.nextInt(valid.length)), file, Vector.empty))
      }
      (0 until Fuzz.rounds(200, 40)).foreach { _ =>
        val length = 1 + random.nextInt(200)
        val Seq(from, to) = Seq.fill(2)(random.nextInt(valid.length - length))
        val bytes = valid.clone
        System.arraycopy(valid, from, bytes, to, length)
        check(bytes, file, rows(1500))
      }
    }
  }

  test("swapped pages of a column, of two columns, and of two row groups are rejected") {
    val io = new MemoryFileIO
    val file = contentFile(write(io, "a", ParquetData, rows(20000)))
    val key = FileKey.of(file)
    val options = ParquetEncryption.withKey(ParquetReadOptions.builder(), key).build()
    val reader = ParquetFileReader.open(ParquetInput.of(io, "a", key), options)
    val pages =
      try {
        for {
          (group, g) <- reader.getFooter.getBlocks.asScala.toVector.zipWithIndex
          (chunk, c) <- group.getColumns.asScala.toVector.zipWithIndex
          index = reader.readOffsetIndex(chunk)
          page <- 0 until index.getPageCount
        } yield (g, c, index.getOffset(page), index.getCompressedPageSize(page))
      } finally reader.close()
    assert(pages.map(_._1).distinct.size > 1)
    val valid = io.read("a")
    val pairs = for {
      (first, i) <- pages.zipWithIndex
      second <- pages.drop(i + 1)
      if first._4 == second._4
    } yield (first, second)
    val kinds = pairs.groupBy { case (a, b) => (a._1 == b._1, a._2 == b._2) }
    assert(kinds.keySet.size == 4)
    kinds.values.foreach { same =>
      new Random(Fuzz.seed).shuffle(same).take(Fuzz.rounds(40, 5)).foreach { case ((_, _, a, length), (_, _, b, _)) =>
        val bytes = valid.clone
        System.arraycopy(valid, a.toInt, bytes, b.toInt, length)
        System.arraycopy(valid, b.toInt, bytes, a.toInt, length)
        assert(check(bytes, file, Vector.empty))
      }
    }
  }

  for (format <- DataFormats.all.filter(_ != ParquetData))
    test(s"swapped, repeated and removed blocks of a ${format.format.name} file are rejected") {
      val io = new MemoryFileIO
      val large = (0 until 40000).map(i => Record.of(i, i, Marker * 10 + i)).toVector
      val file = contentFile(write(io, "a", format, large))
      val valid = io.read("a")
      val stored = (1 << 20) + AesGcm.Overhead
      def block(i: Int): Array[Byte] = valid.slice(8 + i * stored, 8 + (i + 1) * stored)
      val count = (valid.length - 8 + stored - 1) / stored
      assert(count >= 3)
      val original = (0 until count).map(block)
      val changes = Seq(
        original.updated(0, original(1)).updated(1, original(0)),
        original.updated(1, original(0)),
        original.init,
        original.patch(1, Nil, 1)
      )
      changes.foreach(blocks => assert(check(valid.take(8) ++ blocks.flatten, file, Vector.empty)))
    }
}
