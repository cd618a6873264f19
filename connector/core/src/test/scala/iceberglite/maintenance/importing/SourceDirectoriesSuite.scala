package iceberglite.maintenance.importing

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.FileFormat
import iceberglite.table.MemoryFileIO

/** Tests [[SourceDirectories]], which lists the files that an import adds to a table. */
class SourceDirectoriesSuite extends AnyFunSuite {

  private def storage(paths: String*): MemoryFileIO = {
    val io = new MemoryFileIO
    paths.foreach(path => io.write(path, if (path.endsWith("empty")) Array.emptyByteArray else Array[Byte](1)))
    io
  }

  private def listed(io: MemoryFileIO, accepts: (String, Option[String]) => Boolean = (_, _) => true) =
    new SourceDirectories(io, FileFormat.Parquet).below("/src")(accepts)
      .map(p => p.values.map { case (k, v) => s"$k=${v.orNull}" }.mkString("/") -> p.files.map(_.path)).toMap

  test("partitions are found by directory names, with escaped characters and null") {
    val found = listed(storage(
      "/src/p=a%2Fb%25/q%3D=__HIVE_DEFAULT_PARTITION__/1",
      "/src/p=a%2Fb%25/q%3D=%zz/2",
      "/src/_temporary/x",
      "/src/.hidden=1/x",
      "/src/_SUCCESS"
    ))
    assert(found == Map(
      "p=a/b%/q==null" -> Vector("/src/p=a%2Fb%25/q%3D=__HIVE_DEFAULT_PARTITION__/1"),
      "p=a/b%/q==%zz" -> Vector("/src/p=a%2Fb%25/q%3D=%zz/2")
    ))
  }

  test("hidden files, empty files and other subdirectories are skipped") {
    assert(listed(storage("/src/1", "/src/2.empty", "/src/_metadata", "/src/.1.crc", "/src/3._COPYING_", "/src/d/4")) ==
      Map("" -> Vector("/src/1")))
    assert(new SourceDirectories(storage("/src/1"), FileFormat.Orc).below("/src/1")((_, _) => true)
      .map(_.files.map(_.path)) == Vector(Vector("/src/1")))
  }

  test("partitions that are not accepted are not listed") {
    val io = storage("/src/p=1/q=1/a", "/src/p=2/q=1/b", "/src/p=2/q=2/c")
    assert(listed(io, (k, v) => k != "p" || v.contains("2")).keySet == Set("p=2/q=1", "p=2/q=2"))
    assert(listed(io, (_, _) => false).isEmpty)
  }

  test("a source whose files have no clear partition is rejected") {
    def message(paths: String*): String =
      intercept[InvalidArgument](listed(storage(paths: _*))).getMessage
    assert(message("/other/1").contains("There is no such file or directory"))
    assert(message("/src/p=1/a", "/src/b").contains("also the file b"))
    assert(message("/src/p=1/a", "/src/p=2/q=1/b").contains("different partition columns: p and p/q"))
  }

  test("a missing directory is an error unless it is ignored") {
    val source = new SourceDirectories(storage("/src/1"), FileFormat.Avro)
    assert(source.filesIn("/src", ignoresMissing = false).map(_.path) == Vector("/src/1"))
    assert(source.filesIn("/missing", ignoresMissing = true).isEmpty)
    assert(
      intercept[InvalidArgument](source.filesIn("/missing", ignoresMissing = false)).getMessage.contains("/missing")
    )
  }
}
