package iceberglite.storage

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.nio.file.{Files, Path}
import java.util.concurrent.{Callable, ExecutorService, Executors}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{CommitStateUnknown, StorageFailed, UnreadableFile, Unsupported}

class HadoopFileIOSuite extends AnyFunSuite with TemporaryDirectory {

  /** Returns a FileIO that uses a custom file system class for the scheme `file`, instead of direct local access. */
  private def withCustomClass(): HadoopFileIO = {
    val conf = new Configuration(false)
    conf.set("fs.file.impl", classOf[CountingFileSystem].getName)
    // Hadoop's cache of file systems ignores the configuration.
    conf.setBoolean("fs.file.impl.disable.cache", true)
    new HadoopFileIO(conf)
  }
  private def withSyncing() = new HadoopFileIO(new SerializableConfiguration(new Configuration(false)), syncs = true)

  private val systems: Seq[(String, () => HadoopFileIO)] = Seq(
    "java.nio" -> (() => new HadoopFileIO(new Configuration(false))),
    "java.nio with syncing" -> (() => withSyncing()),
    "a custom file system class" -> (() => withCustomClass())
  )
  private def content(text: String): Array[Byte] = text.getBytes("UTF-8")
  private def read(io: FileIO, path: String): String = new String(io.read(path), "UTF-8")
  private def names(path: Path): Set[String] = Files.list(path).iterator.asScala.map(_.getFileName.toString).toSet

  private def race(io: FileIO, path: String, pool: ExecutorService): Unit = {
    def writer(i: Int): Callable[(Int, Boolean)] = () => (i, io.createExclusively(path, content(s"writer $i")))
    val work = (1 to 8).map(writer)
    val winners = pool.invokeAll(work.asJava).asScala.map(_.get).filter(_._2).map(_._1)
    assert(winners.size == 1)
    assert(read(io, path) == s"writer ${winners.head}")
    ()
  }

  test("a synced data file contains everything written to it, and can be closed twice") {
    val path = s"$directory/data/f.parquet"
    val out = DataOutput.of(withSyncing(), path).create(0)
    (1 to 100000).foreach(i => out.write(i))
    out.close()
    out.close()
    val bytes = Files.readAllBytes(directory.resolve("data/f.parquet"))
    assert(out.getPos == 100000 && bytes.toSeq == (1 to 100000).map(_.toByte))
  }

  for ((name, newFileIO) <- systems) {
    test(s"a file can be written, read, listed and deleted (FileIO with $name)") {
      val io = newFileIO()
      val path = s"$directory/a b/c%20d/x=1/f.txt"
      assert(!io.exists(path) && io.info(path).isEmpty)
      io.write(path, content("hello"))
      assert(read(io, path) == "hello" && new String(io.open(path).readAllBytes()) == "hello")
      assert(Files.exists(directory.resolve("a b/c%20d/x=1/f.txt")))
      val info = io.info(path).toList.head
      assert(info.path == s"file:$path" && info.length == 5 && !info.isDirectory)
      assert(io.list(s"$directory/a b/c%20d/x=1").map(_.path) == Vector(s"file:$path"))
      assert(io.listBelow(s"$directory/a b").map(_.path).toVector == Vector(s"file:$path"))
      assert(io.listBelow(s"$directory/none").isEmpty)
      val parents = io.list(s"$directory/a b").map(i => (i.path, i.isDirectory))
      assert(parents == Vector((s"file:$directory/a b/c%20d", true)))
      io.delete(path)
      assert(!io.exists(path) && io.list(s"$directory/a b/c%20d/x=1").isEmpty)
      io.delete(path)
    }

    test(s"a range of a file is read, and a range beyond its end is an error (FileIO with $name)") {
      val io = newFileIO()
      val path = s"$directory/f"
      io.write(path, content("0123456789"))
      def part(offset: Long, length: Int): String = new String(io.readRange(path, offset, length), "UTF-8")
      assert(part(0, 10) == "0123456789" && part(3, 4) == "3456" && part(9, 1) == "9" && part(10, 0) == "")
      Seq(0L -> 11, 10L -> 1, 9L -> Int.MaxValue, Long.MaxValue - 5 -> 5).foreach { case (offset, length) =>
        assert(intercept[UnreadableFile](part(offset, length)).file == path)
      }
      assert(intercept[UnreadableFile](io.readRange(s"$directory/none", 0, 1)).reason == "It does not exist")
    }

    test(s"a local path with or without the scheme file is the same file (FileIO with $name)") {
      val io = newFileIO()
      io.write(s"$directory/f", content("1"))
      Seq(s"$directory/f", s"file:$directory/f", s"file://$directory/f").foreach(p => assert(read(io, p) == "1", p))
    }

    test(s"a write to an existing path fails, and the file keeps its contents (FileIO with $name)") {
      val io = newFileIO()
      io.write(s"$directory/f", content("1"))
      val error = intercept[StorageFailed](io.write(s"$directory/f", content("2")))
      assert(error.getMessage.contains(s"$directory/f") && read(io, s"$directory/f") == "1")
    }

    test(s"if eight threads create the same file, exactly one succeeds, in each of 50 rounds (FileIO with $name)") {
      val io = newFileIO()
      val pool = Executors.newFixedThreadPool(8)
      val rounds = 1 to 50
      try rounds.foreach(round => race(io, s"$directory/metadata/v$round.metadata.json", pool))
      finally pool.shutdown()
      val remaining = names(directory.resolve("metadata"))
      assert(remaining == rounds.map(i => s"v$i.metadata.json").toSet)
    }

    test(s"replacing a file also deletes Hadoop's checksum file of the old contents (FileIO with $name)") {
      val io = newFileIO()
      val path = s"$directory/version-hint.text"
      val hadoop = org.apache.hadoop.fs.FileSystem.getLocal(new Configuration(false))
      val out = hadoop.create(new org.apache.hadoop.fs.Path(path))
      out.write(content("1"))
      out.close()
      assert(names(directory) == Set("version-hint.text", ".version-hint.text.crc"))
      io.replace(path, content("2"))
      assert(read(io, path) == "2" && names(directory) == Set("version-hint.text"))
      io.replace(s"$directory/new/hint", content("3"))
      assert(read(io, s"$directory/new/hint") == "3")
    }

    test(s"directories are created, moved and removed recursively (FileIO with $name)") {
      val io = newFileIO()
      io.makeDirectory(s"$directory/ns")
      io.makeDirectory(s"$directory/ns")
      assert(io.info(s"$directory/ns").exists(_.isDirectory))
      io.write(s"$directory/ns/t/metadata/v1", content("1"))
      io.renameDirectory(s"$directory/ns/t", s"$directory/other/u")
      assert(read(io, s"$directory/other/u/metadata/v1") == "1" && !io.exists(s"$directory/ns/t"))
      io.write(s"$directory/ns/t/x", content("1"))
      assertThrows[StorageFailed](io.renameDirectory(s"$directory/ns/t", s"$directory/other/u"))
      assert(io.exists(s"$directory/ns/t/x") && !io.exists(s"$directory/other/u/t"))
      io.deleteDirectory(s"$directory/other")
      io.deleteDirectory(s"$directory/other")
      assert(!io.exists(s"$directory/other"))
    }

    test(s"a directory is removed non-recursively only if it is empty (FileIO with $name)") {
      val io = newFileIO()
      io.write(s"$directory/empty/ns/.hidden", content("1"))
      assertThrows[StorageFailed](io.deleteEmptyDirectory(s"$directory/empty/ns"))
      assert(read(io, s"$directory/empty/ns/.hidden") == "1")
      io.delete(s"$directory/empty/ns/.hidden")
      io.deleteEmptyDirectory(s"$directory/empty/ns")
      io.deleteEmptyDirectory(s"$directory/empty/ns")
      assert(!io.exists(s"$directory/empty/ns") && io.exists(s"$directory/empty"))
    }

    test(s"reading a missing file throws UnreadableFile with the reason (FileIO with $name)") {
      val io = newFileIO()
      Seq[String => Any](io.read(_), io.open(_)).foreach { reading =>
        val error = intercept[UnreadableFile](reading(s"$directory/none"))
        assert(error.role == "file" && error.reason == "It does not exist" && error.file == s"$directory/none")
      }
      io.write(s"$directory/f", content("1"))
      assert(!io.exists(s"$directory/f/below") && io.list(s"$directory/none").isEmpty)
      assertThrows[UnreadableFile](io.read(""))
      assertThrows[StorageFailed](io.write(s"$directory/f/below", content("1")))
    }

    test(s"a FileIO works after it is serialized and deserialized ($name)") {
      val io = newFileIO()
      val out = new ByteArrayOutputStream
      new ObjectOutputStream(out).writeObject(io)
      val copy = new ObjectInputStream(new ByteArrayInputStream(out.toByteArray)).readObject().asInstanceOf[FileIO]
      copy.write(s"$directory/f", content("sent"))
      assert(read(io, s"$directory/f") == "sent")
    }
  }

  test("local files are written without checksum files") {
    new HadoopFileIO(new Configuration(false)).write(s"$directory/f", content("1"))
    assert(names(directory) == Set("f"))
  }

  test("a custom class for the scheme file receives every call, but Hadoop's own class for this scheme receives none") {
    val io = withCustomClass()
    CountingFileSystem.calls.clear()
    assert(io.createExclusively(s"$directory/v1", content("1")))
    io.read(s"$directory/v1")
    io.delete(s"$directory/v1")
    val calls = CountingFileSystem.calls.asScala.toVector
    assert(calls.count(_ == "create") == 1 && calls.count(_ == "open") == 1 && calls.count(_ == "delete") == 1)
    val withHadoopClass = new Configuration(false)
    withHadoopClass.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem")
    CountingFileSystem.calls.clear()
    new HadoopFileIO(withHadoopClass).write(s"$directory/f", content("1"))
    assert(CountingFileSystem.calls.isEmpty && names(directory) == Set("f"))
  }

  /** Returns a FileIO that stores the files of another scheme on the local disk. */
  private def store(scheme: String): HadoopFileIO = {
    val conf = new Configuration(false)
    conf.set(s"fs.$scheme.impl", classOf[RenamingFileSystem].getName)
    conf.setBoolean(s"fs.$scheme.impl.disable.cache", true)
    new HadoopFileIO(conf)
  }

  test("if renames fail when the target exists, a file is created exclusively by renaming a temporary file") {
    val io = store("hdfs")
    val path = s"hdfs://name$directory/v1"
    assert(io.createExclusively(path, content("1")))
    assert(!io.createExclusively(path, content("2")))
    assert(read(io, path) == "1" && io.list(s"hdfs://name$directory").map(_.path) == Vector(path))
    io.replace(s"hdfs://name$directory/hint", content("1"))
    io.replace(s"hdfs://name$directory/hint", content("2"))
    assert(read(io, s"hdfs://name$directory/hint") == "2")
  }

  test("if renames may overwrite the target, an exclusive create is rejected, and the error suggests other catalogs") {
    val io = store("s3a")
    val error = intercept[Unsupported](io.createExclusively(s"s3a://bucket$directory/v1", content("1")))
    assert(error.getMessage.contains("s3a") && error.getMessage.contains("JDBC"))
    io.replace(s"s3a://bucket$directory/hint", content("1"))
    io.replace(s"s3a://bucket$directory/hint", content("2"))
    assert(read(io, s"s3a://bucket$directory/hint") == "2")
  }

  test("after a rename with a lost response, the existence of the source file shows whether the rename happened") {
    val io = store("hdfs")
    val path = s"hdfs://name$directory/v1"
    RenamingFileSystem.failing = Some(RenamingFileSystem.AfterRename)
    try assert(io.createExclusively(path, content("1")))
    finally RenamingFileSystem.failing = None
    assert(read(io, path) == "1")
    RenamingFileSystem.failing = Some(RenamingFileSystem.BeforeRename)
    try assertThrows[StorageFailed](io.createExclusively(s"$path.2", content("1")))
    finally RenamingFileSystem.failing = None
    RenamingFileSystem.failing = Some(RenamingFileSystem.BeforeRenameOrDelete)
    try {
      val unknown = intercept[CommitStateUnknown](io.createExclusively(s"$path.3", content("1")))
      assert(unknown.metadataFile.contains(s"$path.3"))
    } finally RenamingFileSystem.failing = None
  }

  test("the error for a scheme without a file system contains the scheme and mentions a missing jar") {
    val io = new HadoopFileIO(new Configuration(false))
    val error = intercept[StorageFailed](io.exists("s3a://bucket/f"))
    assert(error.getMessage.contains("s3a") && error.getMessage.contains("jar"))
  }

  test("denied access is distinguished from a missing file") {
    val denied = new java.nio.file.AccessDeniedException("/wh/f")
    val error = intercept[StorageFailed](StorageErrors.wrapErrors("write", "/wh/f")(throw denied))
    assert(error.reason.contains("Access was denied to the user"))
    val permissionDenied = new java.io.FileNotFoundException("/wh/f (Permission denied)")
    val reading = intercept[UnreadableFile](StorageErrors.wrapReadErrors("/wh/f")(throw permissionDenied))
    assert(reading.reason.contains("Access was denied") && !StorageErrors.isMissing(permissionDenied))
  }
}
