package iceberglite.scan

import java.io.File
import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.file.{Files, Path}
import java.util.UUID

import scala.util.Try

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.ScanRules
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._
import iceberglite.scan.deletes.{EqualityColumn, InMemoryKeys, KeyBuffer, KeySet, KeySetBuilder, SpilledKeys}

/** Tests sets of the keys in equality delete files, which are in memory or on disk. */
class KeySetSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val directory: Path = Files.createTempDirectory("keys")
  directory.toFile.deleteOnExit()

  private def columns(types: PrimitiveType*): Vector[EqualityColumn] = types.zipWithIndex.map { case (t, i) =>
    EqualityColumn(Vector(NestedField.optional(i + 1, s"c$i", t)))
  }.toVector

  private def setOf(
      columns: Vector[EqualityColumn],
      keys: Seq[Array[AnyRef]],
      maxBytes: Long,
      encrypts: Boolean = false
  ): KeySet = {
    val builder = new KeySetBuilder(columns, maxBytes, directory.toString, encrypts)
    keys.foreach(builder += _)
    builder.result()
  }

  private def contains(set: KeySet, key: Array[AnyRef]): Boolean = {
    val buffer = new KeyBuffer
    key.foreach(buffer.put)
    set.contains(buffer)
  }

  private def files: Int = directory.toFile.list().length

  private val longs: Gen[AnyRef] =
    Gen.oneOf(Gen.choose(-20L, 20L), Gen.oneOf(0L, Long.MinValue, Long.MaxValue, -1L), Gen.long).map(Long.box)
  private val strings: Gen[AnyRef] = Gen.oneOf(Gen.alphaStr.map(_.take(3)), Gen.const(""), Gen.const("a😀\u0000"))
  private val otherTypes: Gen[AnyRef] = Gen.oneOf(
    Gen.oneOf(true, false).map(Boolean.box),
    Gen.choose(-3L, 3L).map(v => BigDecimal.valueOf(v, 2)),
    Gen.choose(0L, 5L).map(new UUID(0, _)),
    Gen.listOfN(2, Gen.choose(0, 2)).map(bytes => ByteBuffer.wrap(bytes.map(_.toByte).toArray))
  )

  private def orNull(gen: Gen[AnyRef]): Gen[AnyRef] = Gen.frequency(9 -> gen, 1 -> Gen.const(null))

  private def check(columns: Vector[EqualityColumn], key: Gen[Array[AnyRef]]): Unit =
    forAll(Gen.listOf(key), Gen.listOf(key), Gen.oneOf(0L, 600L, 1L << 20)) { (in, absentOrAdded, maxBytes) =>
      val set = setOf(columns, in, maxBytes)
      val expected = in.map(_.toSeq).toSet
      assert(set.isEmpty == in.isEmpty)
      (in ++ absentOrAdded).foreach(k => assert(contains(set, k) == expected(k.toSeq), k.mkString(", ")))
    }

  test(
    "a key set with one long column contains exactly the added keys, including null, zero and the extreme values",
    ScanRules.nullEqualsNull
  ) {
    check(columns(LongType), orNull(longs).map(v => Array[AnyRef](v)))
  }

  test(
    "a key set with several columns, or with one string column, contains exactly the added keys",
    ScanRules.allColumnsEqual,
    ScanRules.nullEqualsNull
  ) {
    val key = for { a <- orNull(longs); b <- orNull(strings) } yield Array[AnyRef](a, b)
    check(columns(LongType, StringType), key)
    check(columns(StringType), orNull(strings).map(v => Array[AnyRef](v)))
  }

  test("keys are distinct if a value has another Java type, is null, or is in another column") {
    val key = for { a <- orNull(otherTypes); b <- orNull(otherTypes) } yield Array[AnyRef](a, b)
    check(columns(BinaryType, BinaryType), key)
  }

  test("keys above the memory limit are written to a file, which is unlinked once it is open") {
    val keys = (0 until 20000).map(i => Array[AnyRef](s"key number $i"))
    val before = files
    val set = setOf(columns(StringType), keys ++ keys.take(5000), maxBytes = 64 << 10)
    assert(set.isInstanceOf[SpilledKeys] && set.bytes < (64 << 10) && files == before)
    keys.foreach(k => assert(contains(set, k)))
    (20000 until 25000).foreach(i => assert(!contains(set, Array[AnyRef](s"key number $i"))))
    val inMemory = setOf(columns(StringType), keys, maxBytes = 64 << 20)
    assert(inMemory.isInstanceOf[InMemoryKeys] && inMemory.bytes > (64 << 10))
  }

  for (encrypts <- Seq(false, true))
    test(s"a very small memory limit creates many runs, which are merged into one file; encrypted: $encrypts") {
      val keys = (0 until 60000).map(i => Array[AnyRef](s"key number ${i % 50000}"))
      val set = setOf(columns(StringType), keys, maxBytes = 1 << 10, encrypts)
      assert(set.isInstanceOf[SpilledKeys] && files == 0)
      (0 until 100000 by 7).foreach(i => assert(contains(set, Array[AnyRef](s"key number $i")) == i < 50000, i))
    }

  /** Adds keys of equality deletes of an encrypted table until there is a file, and returns the file. */
  private def encryptedRun(builder: KeySetBuilder): Path = {
    var i = 0
    while (files == 0) {
      builder += Array[AnyRef](s"secret key $i")
      i += 1
    }
    directory.toFile.listFiles().head.toPath
  }

  test("the keys of encrypted delete files are encrypted on the disk, and changes of the file are detected") {
    val changes = Seq[Array[Byte] => Array[Byte]](
      bytes => bytes.updated(bytes.length / 2, (bytes(bytes.length / 2) ^ 1).toByte),
      bytes => bytes.dropRight(3),
      bytes => bytes.drop(1),
      // The first and the second group are exchanged.
      bytes => {
        val first = 4 + ByteBuffer.wrap(bytes).getInt
        val second = first + 4 + ByteBuffer.wrap(bytes, first, 4).getInt
        bytes.slice(first, second) ++ bytes.take(first) ++ bytes.drop(second)
      }
    )
    changes.foreach { change =>
      val builder = new KeySetBuilder(columns(StringType), 64 << 10, directory.toString, encrypts = true)
      val run = encryptedRun(builder)
      val stored = Files.readAllBytes(run)
      assert(stored.length > 10000 && !new String(stored, "ISO-8859-1").contains("secret"))
      Files.write(run, change(stored))
      intercept[StorageFailed](builder.result())
      assert(files == 0)
    }
    // The merged file is unlinked, but can be read through the open file.
    val builder = new KeySetBuilder(columns(StringType), 1 << 10, directory.toString, encrypts = true)
    encryptedRun(builder)
    val set = builder.result()
    assert(set.isInstanceOf[SpilledKeys] && contains(set, Array[AnyRef]("secret key 0")))
    assert(!contains(set, Array[AnyRef]("secret key x")))
  }

  test("integer keys are also written to a file, and several threads can query it") {
    val keys = (0 until 30000).map(i => Array[AnyRef](Int.box(i * 3)))
    val set = setOf(columns(IntType), keys, maxBytes = 32 << 10)
    assert(set.isInstanceOf[SpilledKeys])
    val wrongAnswers = (0 until 4).par.map { t =>
      (t until 90000 by 16).count(i => contains(set, Array[AnyRef](Int.box(i))) != (i % 3 == 0))
    }
    assert(wrongAnswers.sum == 0)
  }

  test("a truncated file of keys on disk is an error, because rows with the missing keys would reappear") {
    val builder = new KeySetBuilder(columns(StringType), 1 << 10, directory.toString, encrypts = false)
    var i = 0
    while (files == 0) {
      builder += Array[AnyRef](s"key $i")
      i += 1
    }
    val run = directory.toFile.listFiles().head.toPath
    Files.write(run, Files.readAllBytes(run).dropRight(3))
    assert(intercept[StorageFailed](builder.result()).getMessage.contains("was truncated"))
    assert(files == 0)
  }

  test("if a file of keys on disk has been deleted, the other files are closed and deleted") {
    val builder = new KeySetBuilder(columns(StringType), 1 << 10, directory.toString, encrypts = false)
    var i = 0
    def addUntil(count: Int): Unit = while (files < count) {
      builder += Array[AnyRef](s"key $i")
      i += 1
    }
    addUntil(1)
    val first = directory.toFile.list().toSet
    addUntil(2)
    // The first file is opened before the second one.
    directory.toFile.listFiles().filterNot(file => first(file.getName)).foreach(_.delete())
    // The key sets of other tests may still be open.
    val before = openFiles
    intercept[StorageFailed](builder.result())
    assert(files == 0 && (openFiles -- before).isEmpty)
  }

  /** Returns the open files in the directory. Only Linux lists the open files of a process. */
  private def openFiles: Set[String] =
    Option(new File("/proc/self/fd").listFiles()).toSet.flatten[File].map(_.toPath)
      .flatMap(path => Try(Files.readSymbolicLink(path).toString).toOption).filter(_.startsWith(directory.toString))

  test("the error for a file of keys that cannot be written contains its directory and mentions equality deletes") {
    val missing = directory.resolve("missing").toString
    val builder = new KeySetBuilder(columns(StringType), 1000, missing, encrypts = false)
    val e = intercept[StorageFailed]((0 until 1000).foreach(i => builder += Array[AnyRef](s"key $i")))
    assert(e.getMessage.contains(missing) && e.getMessage.contains("quality deletes"))
  }
}
