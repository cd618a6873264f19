package iceberglite.peer

import java.nio.ByteBuffer
import java.util.function.{Function => JavaFunction}

import scala.collection.JavaConverters._
import scala.collection.mutable

import org.apache.iceberg.deletes.{Deletes, PositionDeleteIndex}
import org.apache.iceberg.encryption.EncryptionUtil
import org.apache.iceberg.inmemory.{InMemoryInputFile, InMemoryOutputFile}
import org.apache.iceberg.io.CloseableIterable
import org.apache.iceberg.puffin.Puffin
import org.apache.iceberg.{DeleteFile, FileFormat => PeerFormat, FileMetadata, PartitionSpec => PeerSpec}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.StatisticsRules
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.table.MemoryFileIO

/** Tests that iceberg-lite and Apache Iceberg write equal deletion vectors, and read each other's deletion vectors. */
class DeletionVectorPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val path = "t/data/d.puffin"
  private val dataFile = "t/data/1.parquet"

  /**
   * Generates positions whose upper 32 bits (the key) are small, because Apache Iceberg allocates a bitmap for every
   * key up to the highest one.
   */
  private val position: Gen[Long] = Gen.frequency(
    20 -> Gen.choose(0L, 300L),
    20 -> Gen.choose(0L, 200000L),
    5 -> Gen.choose(0L, 1L << 36),
    1 -> Gen.oneOf(0L, Int.MaxValue.toLong, 1L << 31, (1L << 32) - 1, 1L << 32)
  )

  private val rows: Gen[Set[Long]] = for {
    single <- Gen.containerOf[Set, Long](position)
    starts <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, Gen.choose(0L, 1L << 33)))
    lengths <- Gen.listOfN(starts.size, Gen.choose(1L, 9000L))
  } yield single ++ starts.zip(lengths).flatMap { case (start, length) => start until start + length }

  private val someRows: Gen[List[Set[Long]]] =
    Gen.choose(1, 5).flatMap(Gen.listOfN(_, rows.filter(_.nonEmpty)))

  private def bytes(buffer: ByteBuffer): Array[Byte] = {
    val copy = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(copy)
    copy
  }

  private def peerIndex(positions: Set[Long]): PositionDeleteIndex =
    Deletes.toPositionIndex(CloseableIterable.withNoopClose(positions.toSeq.map(Long.box).asJava))

  private def positions(index: PositionDeleteIndex): Set[Long] = {
    val found = mutable.Set.empty[Long]
    index.forEach(p => found += p)
    found.toSet
  }

  private def peerFile(size: Long, offset: Long, length: Long, count: Long): DeleteFile =
    FileMetadata.deleteFileBuilder(PeerSpec.unpartitioned).ofPositionDeletes().withFormat(PeerFormat.PUFFIN)
      .withPath(path).withFileSizeInBytes(size).withReferencedDataFile(dataFile).withContentOffset(offset)
      .withContentSizeInBytes(length).withRecordCount(count).build()

  test("this library and Apache Iceberg write the same bytes for the same deleted rows", StatisticsRules.vectorLayout) {
    forAll(rows, minSuccessful(200)) { deleted =>
      whenever(deleted.nonEmpty) {
        val ours = DeletionVector.of(deleted.toSeq: _*).toBytes
        assert(ours.sameElements(bytes(peerIndex(deleted).serialize())))
      }
    }
  }

  test("this library and Apache Iceberg read each other's deletion vectors", StatisticsRules.vectorLayout) {
    forAll(rows, rows) { (a, b) =>
      val vector = DeletionVector.of(a.toSeq: _*)
      val ours = vector.toBytes
      val entry = peerFile(1000000L, 4L, ours.length.toLong, a.size.toLong)
      assert(positions(PositionDeleteIndex.deserialize(ours, entry)) == a)
      val merged = peerIndex(a)
      if (b.nonEmpty) merged.merge(peerIndex(b))
      whenever((a ++ b).nonEmpty) {
        val read = DeletionVector.parse(path, dataFile, bytes(merged.serialize()))
        assert(read == vector.union(DeletionVector.of(b.toSeq: _*)))
      }
    }
  }

  test(
    "Apache Iceberg reads the Puffin files that this library writes, by their delete file entries",
    StatisticsRules.vectorEntry,
    StatisticsRules.vectorBlob
  ) {
    forAll(someRows, minSuccessful(40)) { files =>
      val io = new MemoryFileIO
      val deleted = files.zipWithIndex.map { case (rows, i) =>
        DeletedRows(s"t/data/$i.parquet", 0, PartitionTuple.Empty, DeletionVector.of(rows.toSeq: _*))
      }
      val entries = DeletionVectorFiles.write(io, path, deleted)
      val reader = Puffin.read(new InMemoryInputFile(io.read(path))).build()
      val blobs = reader.readAll(reader.fileMetadata.blobs).asScala.toVector
      assert(blobs.size == files.size)
      blobs.zip(entries).zip(files).foreach { case ((blob, entry), rows) =>
        val m = blob.first
        assert(entry.contentOffset.contains(m.offset) && entry.contentSizeInBytes.contains(m.length))
        assert(entry.referencedDataFile.contains(m.properties.get("referenced-data-file")))
        assert(m.properties.get("cardinality") == rows.size.toString)
        val file = peerFile(entry.fileSizeInBytes, m.offset, m.length, entry.recordCount)
        assert(positions(PositionDeleteIndex.deserialize(bytes(blob.second), file)) == rows)
      }
    }
  }

  test(
    "this library reads the Puffin files that Apache Iceberg writes, by their delete file entries",
    Slow,
    StatisticsRules.vectorEntry,
    StatisticsRules.vectorsMerge
  ) {
    forAll(someRows, rows, minSuccessful(40)) { (files, before) =>
      val out = new InMemoryOutputFile(path)
      val previous: JavaFunction[String, PositionDeleteIndex] = _ => peerIndex(before)
      val writer = Deletes.writeDVs(EncryptionUtil.plainAsEncryptedOutput(out), previous)
      files.zipWithIndex.foreach { case (rows, i) =>
        rows.foreach(writer.delete(s"t/data/$i.parquet", _, PeerSpec.unpartitioned, null))
      }
      writer.close()
      val io = new MemoryFileIO
      io.write(path, out.toByteArray)
      val read = writer.result.deleteFiles.asScala.map { f =>
        f.referencedDataFile -> DeletionVectorFiles.read(io, fromPeer(f))
      }.toMap
      val expected = files.zipWithIndex.map { case (rows, i) =>
        s"t/data/$i.parquet" -> DeletionVector.of((rows ++ before).toSeq: _*)
      }.toMap
      assert(read == expected)
    }
  }

  private def fromPeer(f: DeleteFile): ContentFile = ContentFile(
    Content.PositionDeletes,
    f.location,
    FileFormat.Puffin,
    f.specId,
    PartitionTuple.Empty,
    f.recordCount,
    f.fileSizeInBytes,
    Metrics.Empty,
    referencedDataFile = Some(f.referencedDataFile),
    contentOffset = Some(f.contentOffset.longValue),
    contentSizeInBytes = Some(f.contentSizeInBytes.longValue)
  )
}
