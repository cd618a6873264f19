package iceberglite.encryption

import java.nio.ByteBuffer

import org.apache.iceberg.encryption.PeerEncryption
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.catalog.FileIOWrapper
import iceberglite.conformance.MetadataRules
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.storage.{DataInput, DataOutput, EncryptedFileIO, GcmInput, GcmOutput, ReadBounds}
import iceberglite.table.MemoryFileIO

/** Tests key metadata and encrypted files together with Apache Iceberg, and with changed bytes. */
class GcmStreamPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val Block = 1 << 20
  private val path = "t/metadata/f"

  private def bytes(length: Int): Array[Byte] = Array.tabulate(length)(i => (i * 31 + i / 251).toByte)

  private val contents: Seq[Array[Byte]] =
    Seq(0, 1, 1000, Block - 1, Block, Block + 1, 2 * Block, 2 * Block + 77).map(bytes)

  private val keys: Gen[FileKey] = for {
    keyLength <- Gen.oneOf(16, 24, 32)
    length <- Gen.option(Gen.choose(0L, Long.MaxValue))
  } yield {
    val key = FileKey.random(keyLength)
    length.fold(key)(key.withLength)
  }

  test(
    "both libraries write the same key metadata, and read the key metadata of the other",
    MetadataRules.keyMetadata
  ) {
    forAll(keys) { key =>
      assert(key.encode == PeerEncryption.encode(key.key, key.aadPrefix, key.fileLength))
      val (peerKey, aadPrefix, length) = PeerEncryption.decode(key.encode)
      assert(new FileKey(peerKey, aadPrefix, length) == key)
      assert(FileKey.decode(path, key.encode) == key)
    }
  }

  test(
    "damaged key metadata always causes an UnreadableFile error without a cause, because a cause could show the key",
    MetadataRules.keyMetadata
  ) {
    val encoded = FileKey.random(16).withLength(12345L).encode.array
    val truncated = encoded.indices.map(encoded.take)
    val others = Seq(encoded :+ 0.toByte, 9.toByte +: encoded.tail) ++
      Seq(Int.MaxValue, -2, 17, 64).map(n => Array(1.toByte) ++ zigZag(n) ++ bytes(20))
    (truncated ++ others).foreach { damaged =>
      val error = intercept[UnreadableFile](FileKey.decode(path, ByteBuffer.wrap(damaged)))
      assert(error.file == path && error.cause.isEmpty)
    }
  }

  private def zigZag(n: Int): Array[Byte] = {
    val out = new java.io.ByteArrayOutputStream
    val encoder = org.apache.avro.io.EncoderFactory.get.directBinaryEncoder(out, null)
    encoder.writeLong(n.toLong)
    out.toByteArray
  }

  test("the result of toString of a key does not contain the key") {
    val key = FileKey.random(16)
    assert(key.toString == "FileKey(***)" && s"${Some(key)}" == "Some(FileKey(***))")
  }

  private def keyOf(stored: Array[Byte], key: FileKey): FileKey = key.withLength(stored.length.toLong)

  test(
    "files that Apache Iceberg encrypts are read, as a whole, in ranges, and as a stream",
    MetadataRules.gcmStreams
  ) {
    contents.foreach { content =>
      val key = FileKey.random(16)
      val stored = PeerEncryption.encrypt(Seq(content), key.key, key.aadPrefix)
      val storage = new MemoryFileIO
      storage.write(path, stored)
      val io = EncryptedFileIO(storage, path, keyOf(stored, key))
      assert(io.read(path).sameElements(content))
      assert(DataInput.of(io, path).getLength == content.length)
      if (content.length > 10) {
        val offset = content.length - 10
        assert(io.readRange(path, offset.toLong, 10).sameElements(content.drop(offset)))
      }
      val in = DataInput.of(io, path).newStream()
      in.seek(content.length / 2L)
      assert(in.readAllBytes.sameElements(content.drop(content.length / 2)))
      in.seek(0)
      assert(in.readAllBytes.sameElements(content))
    }
  }

  test(
    "Apache Iceberg reads the files that this library encrypts, as a whole and as a stream",
    MetadataRules.gcmStreams
  ) {
    contents.foreach { content =>
      val key = FileKey.random(32)
      val whole = EncryptedFileIO.encrypt(content, key)
      assert(PeerEncryption.decrypt(whole, key.key, key.aadPrefix).sameElements(content))
      val storage = new MemoryFileIO
      val output = new GcmOutput(DataOutput.of(storage, path), key)
      val out = output.create(0)
      content.grouped(300000).foreach(out.write)
      assert(out.getPos == content.length)
      out.close()
      val streamed = storage.read(path)
      assert(output.finishedKey.fileLength.contains(streamed.length.toLong) && streamed.length == whole.length)
      assert(PeerEncryption.decrypt(streamed, key.key, key.aadPrefix).sameElements(content))
    }
  }

  /** Asserts that reading the whole file fails, and that reading it completely as a stream fails too. */
  private def assertRejected(stored: Array[Byte], key: FileKey): Unit = {
    val storage = new MemoryFileIO
    storage.write(path, stored)
    val io = EncryptedFileIO(storage, path, key)
    val errors = Seq(
      intercept[UnreadableFile](io.read(path)),
      intercept[UnreadableFile](new GcmInput(DataInput.of(storage, path), path, key).newStream().readAllBytes())
    )
    assert(errors.forall(e => e.file == path && e.cause.isEmpty))
  }

  test(
    "a changed bit, a wrong key, swapped or missing blocks, and swapped files are detected",
    MetadataRules.gcmStreams
  ) {
    val content = bytes(2 * Block + 100)
    val key = FileKey.random(16)
    val stored = EncryptedFileIO.encrypt(content, key)
    val trusted = keyOf(stored, key)
    val (header, blocks) = (stored.take(8), stored.drop(8).grouped(Block + 28).toVector)
    Seq(0, 5, 8, 19, 20, 5000, 8 + Block + 28, stored.length - 1).foreach { i =>
      assertRejected(stored.updated(i, (stored(i) ^ 4).toByte), trusted)
    }
    assertRejected(stored, keyOf(stored, FileKey.random(16)))
    assertRejected(stored, new FileKey(key.key, FileKey.random(16).aadPrefix, trusted.fileLength))
    assertRejected(header ++ blocks(1) ++ blocks(0) ++ blocks(2), trusted)
    Seq(0, 7, 8, 35, 8 + Block + 28, stored.length - 1).foreach(n => assertRejected(stored.take(n), trusted))
    assertRejected(stored ++ bytes(28), trusted)
    // A key without the length of the file is rejected, even for the complete file: with such a key, missing blocks at
    // the end would not be detected.
    Seq(stored, header ++ blocks(0)).foreach(assertRejected(_, key))
  }

  test("a range of an encrypted file is read by one request, and damage in it is detected", MetadataRules.gcmStreams) {
    val content = bytes(2 * Block + 100)
    val key = FileKey.random(16)
    val stored = EncryptedFileIO.encrypt(content, key)
    val memory = new MemoryFileIO
    memory.write(path, stored)
    var requests = Vector.empty[(Long, Int)]
    val counting = new FileIOWrapper(memory) {
      override def read(path: String): Array[Byte] = fail("a whole file is read")
      override def readRange(path: String, offset: Long, length: Int): Array[Byte] = {
        requests :+= offset -> length
        memory.readRange(path, offset, length)
      }
    }
    val io = EncryptedFileIO(counting, path, keyOf(stored, key))
    val ends = Seq(0, 1, Block - 1, Block, Block + 1, 2 * Block - 1, 2 * Block, 2 * Block + 99, 2 * Block + 100)
    for (from <- ends; to <- ends if from < to) {
      requests = Vector.empty
      assert(io.readRange(path, from.toLong, to - from).sameElements(content.slice(from, to)), s"$from to $to")
      assert(requests.size == 1 && requests.map(_._2).sum <= to - from + 2 * (Block + 28))
    }
    val plainIO = EncryptedFileIO(memory, path, keyOf(stored, key))
    Seq(content.length - 5L, Long.MaxValue - 2).foreach { offset =>
      intercept[UnreadableFile](plainIO.readRange(path, offset, 6))
    }
    for (position <- Seq(20, 8 + Block + 28 + 5)) {
      val changed = new MemoryFileIO
      changed.write(path, stored.updated(position, (stored(position) ^ 1).toByte))
      val damaged = EncryptedFileIO(changed, path, keyOf(stored, key))
      intercept[UnreadableFile](damaged.readRange(path, 0L, 2 * Block))
      assert(damaged.readRange(path, 2L * Block, 50).sameElements(content.slice(2 * Block, 2 * Block + 50)))
    }
    val cut = new MemoryFileIO
    cut.write(path, stored.take(8 + Block + 28))
    intercept[UnreadableFile](EncryptedFileIO(cut, path, keyOf(stored, key)).readRange(path, Block.toLong, 10))
  }

  test("a file that replaces an encrypted file is read only up to the length of the encrypted file") {
    val stored = EncryptedFileIO.encrypt(bytes(1000), FileKey.random(16))
    var limit = Long.MaxValue
    val storage = new FileIOWrapper(new MemoryFileIO) {
      override private[iceberglite] def read(path: String, bounds: ReadBounds): Array[Byte] = {
        limit = bounds.maxBytes
        assert(bounds.hasMagic(stored) && !bounds.hasMagic(bytes(100)))
        super.read(path, bounds)
      }
    }
    storage.write(path, bytes(30 << 20))
    intercept[UnreadableFile](EncryptedFileIO(storage, path, keyOf(stored, FileKey.random(16))).read(path))
    assert(limit == stored.length)
  }

  test("changes at random positions are detected") {
    val key = FileKey.random(16)
    val stored = EncryptedFileIO.encrypt(bytes(3000), key)
    forAll(Gen.choose(0, stored.length - 1), Gen.choose(1, 255)) { (position, change) =>
      assertRejected(stored.updated(position, (stored(position) ^ change).toByte), keyOf(stored, key))
    }
  }

  test("block lengths that are not positive or exceed 16 MiB are rejected, before memory is allocated") {
    val stored = EncryptedFileIO.encrypt(bytes(100), FileKey.random(16))
    Seq(0, -1, (16 << 20) + 1, Int.MaxValue).foreach { length =>
      val header = ByteBuffer.allocate(8).order(java.nio.ByteOrder.LITTLE_ENDIAN).put(stored, 0, 4).putInt(length)
      assert(GcmBlocks.of(header.array).isEmpty)
    }
  }

  test("the length of the content follows from the stored length") {
    val blocks = GcmBlocks.Standard
    forAll(Gen.choose(0L, 1L << 45)) { length =>
      assert(blocks.contentLength(blocks.storedLength(length)).contains(length))
    }
    assert(Seq(0L, 8L, 35L, 8L + Block + 28 + 28).flatMap(blocks.contentLength).isEmpty)
  }
}
