package iceberglite.catalog

import java.io.ByteArrayOutputStream
import java.nio.file.{Files, Path}
import java.util.zip.GZIPOutputStream

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{InvalidArgument, StorageFailed, Unsupported, ValidationFailed}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.storage.{HadoopFileIO, StorageSettings, TemporaryDirectory}
import iceberglite.table.{DataLocations, _}
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend

/** Tests names, locations, DROP and aborted creations in the file-system catalog, where each table is a directory. */
class DirectoryCatalogSuite extends AnyFunSuite with TemporaryDirectory {
  private val io = new HadoopFileIO(StorageSettings.configuration(new Configuration(false), Map.empty))

  private def open(warehouse: String): Catalog =
    Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> warehouse), io, environment)

  private def append(table: Table, path: String): Table =
    table.transaction().add(new FastAppend(Vector(file(path)))).commit()

  /** Returns the relative paths of all files and directories below the root. */
  private def tree(root: Path): Set[String] = FilesBelow.allPaths(root).map(root.relativize(_).toString)

  test("an empty name, or a name with a slash, a control character or a leading dot, is rejected") {
    val outside = directory.resolve("outside")
    Files.createDirectories(outside.resolve("metadata"))
    val catalog = open(s"$directory/wh")
    catalog.createNamespace(Vector("db"), Map.empty)
    val before = tree(directory)
    val invalidNames =
      Seq("..", ".", "", "/", "../outside", "a/../../outside", "a/b", "/etc", "..\u0000", ".hidden", "a\nb")
    for (name <- invalidNames) {
      Seq[() => Any](
        () => catalog.create(TableIdentifier(Vector("db"), name), unpartitioned()),
        () => catalog.create(TableIdentifier(Vector("db", name), "t"), unpartitioned()),
        () => catalog.drop(TableIdentifier(Vector("db"), name), purge = true),
        () => catalog.tableExists(TableIdentifier(Vector(name), "outside")),
        () => catalog.createNamespace(Vector(name), Map.empty),
        () => catalog.dropNamespace(Vector(name)),
        () => catalog.listTables(Vector("db", name)),
        () => catalog.table(TableIdentifier(Vector("db"), name))
      ).foreach(attempt => intercept[InvalidArgument](attempt()))
    }
    assert(tree(directory) == before)
  }

  test(
    "a namespace is dropped only if its directory is empty, because its files may belong to another catalog's table"
  ) {
    val catalog = open(s"$directory/wh")
    val database = s"jdbc:sqlite:$directory/catalog.db"
    val other = Catalogs.open("other", Map("type" -> "jdbc", "uri" -> database, "warehouse" -> s"$directory/wh"), io)
    val table = append(other.create(TableIdentifier(Vector("db"), "t"), unpartitioned()), "x")
    io.write(s"$directory/wh/files/.hidden", Array.emptyByteArray)
    val before = tree(directory)
    assert(!catalog.dropNamespace(Vector("db", "t")), "the directory of a table is not a namespace")
    Seq(Vector("db", "t", "metadata"), Vector("db"), Vector("files")).foreach { namespace =>
      val error = intercept[ValidationFailed](catalog.dropNamespace(namespace))
      assert(error.getMessage.contains("is not empty. It contains "), namespace)
    }
    assert(tree(directory) == before && other.table(table.id).metadata == table.metadata)
  }

  test("a table that is created while its namespace is dropped is kept") {
    var created = false
    val other = open(s"$directory/wh")
    val racing = new FileIOWrapper(io) {
      override def deleteEmptyDirectory(path: String): Unit = {
        other.create(TableIdentifier(Vector("db"), "t"), unpartitioned())
        created = true
        super.deleteEmptyDirectory(path)
      }
    }
    val catalog = Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> s"$directory/wh"), racing)
    catalog.createNamespace(Vector("db"), Map.empty)
    intercept[StorageFailed](catalog.dropNamespace(Vector("db")))
    assert(created && catalog.tableExists(TableIdentifier(Vector("db"), "t")))
  }

  test("a name is used literally as directory name, even if it has special characters") {
    val names =
      Seq("%2e%2e", "%2F", "a b", "a%20b", "x=1", "ü", "a:b", "#1", "?", "a+b", "..x", "~", "$HOME", "C:\\x", "*")
    val catalog = open(s"$directory/wh")
    names.filterNot(_.startsWith(".")).foreach { name =>
      val id = TableIdentifier(Vector("db " + name), name)
      val table = append(append(catalog.create(id, unpartitioned()), "x"), "y")
      assert(Files.isRegularFile(directory.resolve(s"wh/db $name/$name/metadata/v3.metadata.json")), name)
      assert(liveFiles(catalog.table(id)) == Vector("x", "y") && catalog.listTables(id.namespace) == Vector(id))
      assert(new PathTables(io).table(table.location).metadata == table.metadata)
    }
    assert(
      catalog.listNamespaces(Vector.empty).map(_.last).toSet == names.filterNot(_.startsWith(".")).map("db " + _).toSet
    )
  }

  test("a warehouse location may have special characters, no scheme or a trailing slash") {
    val places = Seq("a b", "a%20b", "ü#1", "x?y=1&z", "p+q", "a:b", "plain/")
    for (place <- places; prefix <- Seq("", "file:", "file://")) {
      val catalog = open(s"$prefix$directory/$place")
      val id = TableIdentifier(Vector("db"), "t" + prefix.length)
      val table = append(catalog.create(id, unpartitioned("write.data.path" -> s"$directory/$place/data dir/")), "x")
      assert(Files.isDirectory(directory.resolve(place).resolve("db").resolve(id.name)), place)
      assert(liveFiles(open(s"$directory/$place").table(id)) == Vector("x"), place)
      val data = DataLocations.of(table.location, table.properties)
      val file = data.path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, "f")
      io.write(file, "z".getBytes)
      assert(Files.isRegularFile(directory.resolve(place).resolve("data dir/f")), place)
      io.delete(file)
    }
  }

  test("a table with gc.enabled=false is not dropped, because this would delete its directory") {
    val catalog = open(s"$directory/wh")
    val table = append(catalog.create(Id, unpartitioned("gc.enabled" -> "false")), "x")
    val before = tree(directory)
    val paths = new PathTables(io)
    Seq(true, false).foreach { purge =>
      val errors = Seq(
        intercept[ValidationFailed](catalog.drop(Id, purge)),
        intercept[ValidationFailed](paths.drop(table.location, purge))
      )
      errors.foreach(e => assert(e.getMessage.contains("gc.enabled") && e.getMessage.contains(s"$directory/wh/db/t")))
    }
    assert(withoutHint(tree(directory)) == withoutHint(before))
  }

  test("a table with broken metadata can be dropped, but not purged") {
    val catalog = open(s"$directory/wh")
    val file = directory.resolve("wh/db/t/metadata/v1.metadata.json")
    def truncatedGzip: Array[Byte] = {
      val whole = new ByteArrayOutputStream
      val zip = new GZIPOutputStream(whole)
      zip.write(Files.readAllBytes(file))
      zip.close()
      whole.toByteArray.dropRight(20)
    }
    for {
      version <- Seq("2", "4")
      damage <- Seq[() => Array[Byte]](() => "{".getBytes, () => Array.emptyByteArray, () => truncatedGzip)
    } {
      val table = catalog.create(Id, unpartitioned("format-version" -> version))
      append(table, s"${table.location}/data/missing.parquet")
      Files.delete(file.resolveSibling("v2.metadata.json"))
      Files.write(file, damage())
      intercept[IcebergError](catalog.drop(Id, purge = true))
      assert(catalog.tableExists(Id) && catalog.drop(Id, purge = false) && !io.exists(table.location))
    }
  }

  test("an aborted creation leaves no directories, and keeps the namespace") {
    val catalog = open(s"$directory/wh")
    catalog.createNamespace(Vector("db"), Map.empty)
    val before = tree(directory)
    val staged = catalog.stage(Id, unpartitioned(), StageMode.Create)
    val data = s"${staged.table.location}/data"
    io.write(s"$data/a=1/b=2/x.parquet", Array.emptyByteArray)
    append(staged.table, s"$data/a=1/b=2/x.parquet")
    // If a failed task deletes its data file, an empty partition directory like this one remains.
    io.makeDirectory(s"$data/a=2")
    staged.abort()
    assert(tree(directory) == before && catalog.listNamespaces(Vector("db")).isEmpty)
  }

  test("commits delete old temporary metadata files, which killed writers left, and keep recent and other files") {
    val catalog = open(s"$directory/wh")
    val table = catalog.create(Id, unpartitioned())
    val metadata = directory.resolve("wh/db/t/metadata")
    def temporary(name: String, days: Int): Path = {
      val file = Files.write(metadata.resolve(s".$name.${java.util.UUID.randomUUID}.tmp"), Array[Byte](1))
      val ms = System.currentTimeMillis - days * 24L * 60 * 60 * 1000
      Files.setLastModifiedTime(file, java.nio.file.attribute.FileTime.fromMillis(ms))
    }
    val stale = Seq("v3.metadata.json", "v2.gz.metadata.json", "version-hint.text").map(temporary(_, 2))
    val kept = Seq(
      temporary("v9.metadata.json", 0),
      temporary("photo", 9),
      Files.write(metadata.resolve(".x.tmp"), Array[Byte](1))
    )
    (2 to 10).foldLeft(table)((t, i) => append(t, s"f$i"))
    assert(stale.forall(!Files.exists(_)) && kept.forall(Files.exists(_)))
    assert(liveFiles(catalog.table(Id)).size == 9)
  }

  /** Returns the files without the version hint, which may be written later than the commit. */
  private def withoutHint(files: Set[String]): Set[String] = files.filterNot(_.contains("version-hint"))

  test("aborting a creation keeps files that it did not write, and aborting a replacement does not change the table") {
    val catalog = open(s"$directory/wh")
    val staged = catalog.stage(Id, unpartitioned(), StageMode.Create)
    val other = s"${staged.table.location}/data/other.parquet"
    io.write(other, Array.emptyByteArray)
    io.makeDirectory(s"${staged.table.location}/mine")
    staged.abort()
    assert(io.exists(other) && io.exists(s"${staged.table.location}/mine"))
    val table = append(catalog.create(Id, unpartitioned()), "x")
    io.makeDirectory(s"${table.location}/data/empty")
    val before = withoutHint(tree(directory))
    catalog.stage(Id, unpartitioned(), StageMode.Replace).abort()
    assert(withoutHint(tree(directory)) == before)
  }

  test("a table with a custom location or a custom metadata directory cannot be created") {
    val catalog = open(s"$directory/wh")
    intercept[Unsupported](catalog.create(Id, unpartitioned("write.metadata.path" -> s"$directory/x")))
    intercept[Unsupported](catalog.create(Id, unpartitioned().copy(location = Some(s"$directory/x"))))
    assert(!io.exists(s"$directory/x"))
  }
}
