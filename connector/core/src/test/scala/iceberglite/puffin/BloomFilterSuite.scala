package iceberglite.puffin

import scala.util.Random

import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz

/** Tests the Bloom filter of one data file. */
class BloomFilterSuite extends AnyFunSuite {
  private def filterOf(hashes: Iterable[Long], maxBytes: Long = 1 << 20): BloomFilter = {
    val builder = new BloomFilter.Builder(maxBytes)
    hashes.foreach(builder += _)
    builder.result()
  }

  private def hashes(random: Random, count: Int): Vector[Long] = Vector.fill(count)(random.nextLong())

  private def falsePositives(filter: BloomFilter, random: Random): Double =
    hashes(random, 20000).count(filter.mayContain) / 20000.0

  test("a filter contains all hashes, and excludes about 99% of the others, for any number of hashes") {
    val random = new Random(Fuzz.seed)
    Seq(1, 2, 25, 26, 1000, 1023, 1024, 1025, 50000).foreach { count =>
      val added = hashes(random, count)
      val filter = filterOf(added)
      assert(added.forall(filter.mayContain), count)
      assert(falsePositives(filter, random) < (if (count > 100) 0.015 else 0.04), count)
      assert(filter.size <= count * 1.25 + 32 && filter.size % 32 == 0, count)
    }
    assert(hashes(random, 100).forall(!filterOf(Nil).mayContain(_)) && filterOf(Nil).size == 32)
  }

  test("a filter has the bits of a Bloom filter in a Parquet file") {
    val random = new Random(Fuzz.seed)
    Seq(1 -> 32, 50 -> 64, 400 -> 512, 3000 -> 4096).foreach { case (count, size) =>
      val added = hashes(random, count)
      val peer = new BlockSplitBloomFilter(size)
      added.foreach(peer.insertHash)
      val out = new java.io.ByteArrayOutputStream
      peer.writeTo(out)
      val parsed = BloomFilter.parse(out.toByteArray).get
      assert((added ++ hashes(random, 5000)).forall(h => parsed.mayContain(h) == peer.findHash(h)))
      // 10 bits for each value need exactly these sizes.
      val own = filterOf(hashes(new Random(7), size * 8 / 10))
      assert(own.size == size)
      val same = new BlockSplitBloomFilter(size)
      hashes(new Random(7), size * 8 / 10).foreach(same.insertHash)
      val expected = new java.io.ByteArrayOutputStream
      same.writeTo(expected)
      assert(own.toBytes.sameElements(expected.toByteArray))
    }
  }

  test("repeated values do not count, and the order of values does not matter") {
    val random = new Random(Fuzz.seed)
    val distinct = hashes(random, 3000)
    val repeated = random.shuffle(Vector.fill(50)(distinct).flatten)
    assert(filterOf(repeated).toBytes.sameElements(filterOf(distinct).toBytes))
  }

  test("a filter never exceeds the maximum size, and excludes nothing if it has far too many values") {
    val random = new Random(Fuzz.seed)
    Seq(32L, 33L, 1000L, 4096L).foreach { maxBytes =>
      val most = maxBytes.toInt / 32 * 32 * 3 / 2
      Seq(most / 2, most - 1, most, most + 1, most * 2, 100000).foreach { count =>
        val added = hashes(random, count)
        val filter = filterOf(added, maxBytes)
        assert(filter.size <= math.max(32L, maxBytes) && added.forall(filter.mayContain), s"$count of $maxBytes")
        assert(filter.size <= BloomFilter.maxSize(count.toLong, maxBytes))
        val rate = falsePositives(filter, random)
        if (count <= most) assert(rate < 0.25, s"$count of $maxBytes") else assert(rate == 1.0, s"$count of $maxBytes")
      }
    }
  }

  test("bytes are parsed as a filter only if their length is a positive multiple of 32") {
    Seq(0, 1, 31, 33, 48).foreach(size => assert(BloomFilter.parse(new Array[Byte](size)).isEmpty))
    Seq(32, 64, 96).foreach(size => assert(BloomFilter.parse(new Array[Byte](size)).exists(!_.mayContain(5))))
  }
}
