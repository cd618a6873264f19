package iceberglite.tree.root

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.Record
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.{ContentFile, MetricMaps, Metrics}
import iceberglite.spec.types.SingleValue
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.tree.{EntrySizeEstimates, TestTable}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests [[LeafStatistics]], which decodes the statistics of a leaf's files column by column. */
class LeafStatisticsSuite extends AnyFunSuite {
  private def measured(name: String, id: Long): ContentFile = TestTable.file(name).copy(metrics =
    MetricMaps(
      valueCounts = Some(Map(1 -> 10L, 2 -> 10L)),
      nullValueCounts = Some(Map(1 -> 0L, 2 -> id)),
      lowerBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(id)), 2 -> SingleValue.encode(StringLiteral(name)))),
      upperBounds =
        Some(Map(1 -> SingleValue.encode(LongLiteral(id + 5)), 2 -> SingleValue.encode(StringLiteral(name))))
    )
  )

  private def newTable(): RootTable = {
    val table = new RootTable(ManifestSamples.schema)
    table.commit(Seq("a", "b", "c", "d").zipWithIndex.map { case (name, i) => measured(name, i.toLong) })
    table
  }

  private def metricsOf(table: RootTable): Map[String, Metrics] =
    table.live.map(e => TestTable.nameOf(e.file) -> e.file.metrics).toMap

  test("the counts and bounds of each file are those that were written") {
    val c = metricsOf(newTable())("c")
    assert(c.valueCount(1).contains(10L) && c.nullValueCount(2).contains(2L) && c.nanValueCount(1).isEmpty)
    assert(c.lowerNumber(1, 8) == 2L && c.upperNumber(1, 8) == 7L && c.lowerNumber(1, 4) == Long.MinValue)
    assert(c.lowerBound(2).contains(SingleValue.encode(StringLiteral("c"))) && c.lowerBound(3).isEmpty)
    assert(c.valueCount(77).isEmpty && c.columnSizes.isEmpty)
    assert(c.nullValueCounts.contains(Map(1 -> 0L, 2 -> 2L)))
  }

  test("the estimated size of an entry that was read from a leaf grows with its statistics") {
    val file = newTable().live.head.file
    val sizes = Seq(Metrics.Empty, file.metrics.only(Set(1)), file.metrics)
      .map(metrics => EntrySizeEstimates.encodedBytes(file.copy(metrics = metrics)))
    assert(sizes(1) < sizes(2) && sizes(2) == sizes(1) + 18 + 2 * TestTable.nameOf(file).length)
  }

  test("the retained metrics of one column and the serialized metrics are those of the file") {
    val b = metricsOf(newTable())("b")
    val kept = b.only(Set(1))
    assert(kept.lowerNumber(1, 8) == 1L && kept.lowerBound(2).isEmpty && (b.only(Set(3)) eq Metrics.Empty))
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(b)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject() match {
      case read: MetricMaps => assert(read.lowerBounds == b.lowerBounds && read.nullValueCounts == b.nullValueCounts)
      case other => fail(s"$other is not a MetricMaps")
    }
  }

  test("a leaf is read once for all of its columns") {
    val table = newTable()
    val metrics = metricsOf(table)
    val before = table.io.reads.get
    assert(metrics.values.forall(m => m.lowerBounds.isDefined && m.lowerNumber(1, 8) >= 0))
    assert(table.io.reads.get == before)
  }

  test("the statistics of all retained columns are decoded together") {
    val table = newTable()
    val leaf = table.root.find(_.manifest.isDefined).get
    val file = RootManifests.load(table.io, leaf.location, leaf.fileSizeInBytes.get).get
    val opened = new AtomicInteger
    val statistics = new LeafStatistics(
      leaf.location,
      { expected =>
        opened.incrementAndGet()
        file.open(expected)
      },
      RootSamples.columnsOf(table.testTable.metadata)
    )
    val kept = statistics.metrics(3, Set.empty[Int]).only(Set(1, 2, 3))
    assert(opened.get == 1 && kept.lowerNumber(1, 8) == 3L && kept.nullValueCount(2).contains(3L))
    assert(statistics.metrics(0, Set.empty[Int]).only(Set(2)).nullValueCount(2).contains(0L) && opened.get == 1)
  }

  test("metrics without columns decode no statistics and need no memory") {
    val columns = RootSamples.columnsOf(newTable().testTable.metadata)
    val unread = new LeafStatistics("mem:/t/leaf", _ => fail("no statistics are needed"), columns)
    assert(unread.metrics(0, Set.empty[Int]).only(Set.empty) eq Metrics.Empty)
  }

  test("numbers and flags of entries are decoded without creating objects") {
    object Sample extends RecordStruct[(Boolean, Int, Long)] {
      private val codecs = Vector[RecordColumn[(Boolean, Int, Long), _]](
        required(1, "flag", RecordCodec.Flag)(_._1),
        required(2, "int", RecordCodec.Int32)(_._2),
        required(3, "long", RecordCodec.Int64)(_._3)
      )
      def decoded(row: Record): Vector[Any] = codecs.map(_.value(row))
    }
    val row = Sample.record((true, 100000, 1L << 40))
    assert(Sample.decoded(row).zip(row.values).forall {
      case (value: AnyRef, stored) => value eq stored
      case _ => false
    })
    intercept[EntryFault](Sample.decoded(new Record(Array[AnyRef](Int.box(1), Int.box(1), Int.box(1)))))
  }

  test("the estimated heap size of cached entries includes the decoded statistics of the whole leaf") {
    val entries = newTable().live.toArray
    def heapBytes(length: Long) = EntrySizeEstimates.heapBytes(entries, length)
    assert(entries.length == 4 && heapBytes(1000L) - heapBytes(0L) == 20000L)
  }

  test("damaged statistics of a column cause an error that names the leaf when they are requested") {
    val table = newTable()
    val leaf = table.root.find(_.manifest.isDefined).get.location
    val bytes = table.io.read(leaf)
    val name = "lower_bound".getBytes("US-ASCII")
    // The footer is the last part of the file, so that the pages of the columns are before the first name.
    val pages = bytes.indexOfSlice(name)
    val outcomes = (pages / 2 until pages by 7).map { i =>
      val damaged = bytes.clone()
      damaged(i) = (damaged(i) ^ 0x55).toByte
      table.io.delete(leaf)
      table.io.write(leaf, damaged)
      try {
        metricsOf(table).values.foreach(m => (m.lowerBounds, m.valueCounts))
        ""
      } catch { case e: UnreadableFile => e.file }
    }
    assert(outcomes.contains(leaf) && outcomes.forall(path => path.isEmpty || path == leaf))
  }
}
