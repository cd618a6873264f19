package iceberglite.peer

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.iceberg.inmemory.{InMemoryInputFile, InMemoryOutputFile}
import org.apache.iceberg.puffin.{Blob, Puffin, PuffinCompressionCodec}
import org.apache.iceberg.shaded.org.apache.datasketches.common.Family
import org.apache.iceberg.shaded.org.apache.datasketches.theta.UpdateSketch
import org.apache.iceberg.types.{Conversions, Type => PeerType, Types}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.StatisticsRules
import iceberglite.puffin.{NewBlob, PuffinCodec, PuffinFile, PuffinWriter, ThetaSketch}
import iceberglite.spec.metadata.BlobMetadata
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._
import iceberglite.table.MemoryFileIO

/**
 * Compares Puffin files with Apache Iceberg, and Theta sketches with Apache DataSketches. The codec LZ4 is excluded,
 * because Apache Iceberg does not support it.
 */
class PuffinPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val path = "t/metadata/s.puffin"

  private def bytes(buffer: ByteBuffer): Array[Byte] = {
    val copy = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(copy)
    copy
  }

  private val metadata: Gen[BlobMetadata] = for {
    blobType <- Gen.alphaStr
    snapshotId <- Gen.choose(-1L, Long.MaxValue)
    number <- Gen.choose(-1L, Long.MaxValue)
    fields <- Gen.listOf(Gen.choose(1, Int.MaxValue))
    properties <- Gen.mapOf(Gen.zip(Gen.alphaStr, Gen.asciiPrintableStr))
  } yield BlobMetadata(blobType, snapshotId, number, fields.toVector, properties)

  private val blob: Gen[NewBlob] = for {
    m <- metadata
    contents <- Gen.containerOf[Array, Byte](Gen.choose[Byte](-128, 127))
    repeats <- Gen.oneOf(1, 1, 200)
    codec <- Gen.oneOf(PuffinCodec.Uncompressed, PuffinCodec.ZStandard)
  } yield NewBlob(m, Array.fill(repeats)(contents).flatten, codec)

  private val blobs: Gen[List[NewBlob]] = Gen.choose(0, 5).flatMap(Gen.listOfN(_, blob))

  test(
    "Apache Iceberg reads the Puffin files that this library writes",
    StatisticsRules.puffinLayout,
    StatisticsRules.puffinCodecs
  ) {
    forAll(blobs) { newBlobs =>
      val io = new MemoryFileIO
      val written = PuffinWriter.write(io, path, newBlobs.iterator, Map("k" -> "v"))
      val footerSizes = Seq(Option.empty[Long], Some(written.footerSizeInBytes))
      footerSizes.foreach { footerSize =>
        val building = Puffin.read(new InMemoryInputFile(io.read(path)))
        val reader = footerSize.fold(building)(building.withFooterSize(_)).build()
        val theirs = reader.fileMetadata
        assert(theirs.properties.asScala == Map("created-by" -> "iceberg-lite", "k" -> "v"))
        assert(theirs.blobs.asScala.map(b => (b.offset, b.length)) == written.blobs.map(b => (b.offset, b.length)))
        assert(theirs.blobs.asScala.map(fromPeer) == newBlobs.map(_.metadata))
        val contents = reader.readAll(theirs.blobs).asScala.map(pair => bytes(pair.second)).toVector
        assert(contents.size == newBlobs.size)
        assert(contents.zip(newBlobs).forall { case (a, b) => a.sameElements(b.contents) })
      }
    }
  }

  private def fromPeer(b: org.apache.iceberg.puffin.BlobMetadata): BlobMetadata = BlobMetadata(
    b.`type`,
    b.snapshotId,
    b.sequenceNumber,
    b.inputFields.asScala.map(_.intValue).toVector,
    b.properties.asScala.toMap
  )

  test(
    "this library reads the Puffin files that Apache Iceberg writes",
    StatisticsRules.puffinLayout,
    StatisticsRules.puffinCodecs
  ) {
    forAll(blobs) { newBlobs =>
      val out = new InMemoryOutputFile
      val writer = Puffin.write(out).createdBy("them").build()
      newBlobs.foreach { b =>
        val codec =
          if (b.codec == PuffinCodec.Uncompressed) PuffinCompressionCodec.NONE else PuffinCompressionCodec.ZSTD
        val m = b.metadata
        val fields = m.fields.map(Int.box).asJava
        val contents = ByteBuffer.wrap(b.contents)
        writer.add(new Blob(m.blobType, fields, m.snapshotId, m.sequenceNumber, contents, codec, m.properties.asJava))
      }
      writer.finish()
      val (size, footerSize) = (writer.fileSize, writer.footerSize)
      writer.close()
      val io = new MemoryFileIO
      io.write(path, out.toByteArray)
      val ours = PuffinFile.open(io, path, Some(size))
      assert(ours.footer.properties == Map("created-by" -> "them") && ours.footerSizeInBytes == footerSize)
      assert(ours.blobs.map(_.metadata) == newBlobs.map(_.metadata))
      assert(ours.blobs.zip(newBlobs).forall { case (b, expected) => ours.read(b).sameElements(expected.contents) })
    }
  }

  private val columns: Seq[(PeerType, Int => (AnyRef, Literal))] = Seq(
    (Types.IntegerType.get, i => (Int.box(i), IntLiteral(i))),
    (Types.LongType.get, i => (Long.box(i.toLong << 20), LongLiteral(i.toLong << 20))),
    (Types.DoubleType.get, i => (Double.box(i / 7.0), DoubleLiteral(i / 7.0))),
    (Types.FloatType.get, i => (Float.box(i / 7.0f), FloatLiteral(i / 7.0f))),
    (Types.DateType.get, i => (Int.box(i), DateLiteral(i))),
    (Types.TimestampType.withZone, i => (Long.box(i * 1000L), TimestampTzLiteral(i * 1000L))),
    (Types.StringType.get, i => (s"värde $i", StringLiteral(s"värde $i"))),
    (
      Types.DecimalType.of(20, 2),
      i => {
        val value = java.math.BigDecimal.valueOf(i * 977L - 100000, 2)
        (value, DecimalLiteral(value))
      }
    ),
    (
      Types.BinaryType.get,
      i => {
        val value = ByteBuffer.wrap(Array(i, i >> 8, i >> 16, 1).map(_.toByte))
        (value, BinaryLiteral(value))
      }
    ),
    (
      Types.UUIDType.get,
      i => {
        val value = new java.util.UUID(i.toLong, ~i.toLong)
        (value, UuidLiteral(value))
      }
    )
  )

  test("the same values give a sketch with the same bytes as in Apache DataSketches", StatisticsRules.thetaSketch) {
    for ((t, value) <- columns; size <- Seq(0, 1, 2, 1000, 20000)) {
      val theirs = UpdateSketch.builder.setFamily(Family.ALPHA).build
      val ours = ThetaSketch.newBuilder
      (0 until size).foreach { i =>
        val (peer, literal) = value(i)
        theirs.update(Conversions.toByteBuffer(t, peer))
        ours += literal
      }
      val (sketch, compact) = (ours.result(), theirs.compact())
      assert(sketch.estimate == compact.getEstimate, s"$t, $size values")
      assert(sketch.toBytes.sameElements(compact.toByteArray), s"$t, $size values")
      assert(ThetaSketch.parse(path, compact.toByteArray).estimate == compact.getEstimate)
    }
  }
}
