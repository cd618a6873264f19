package iceberglite.catalog

import java.io.InputStream

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError._
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.storage.FileIO
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, MergeAppend, UpdateLocation, UpdateProperties}
import iceberglite.tree.TreeReader

class HadoopCatalogSuite extends AnyFunSuite {
  private val metadata = "mem://wh/db/t/metadata"
  private val hint = s"$metadata/version-hint.text"

  private def withCatalog(body: (Catalog, MemoryFileIO) => Unit): Unit = {
    val files = new MemoryFileIO
    body(opened(files), files)
  }

  private def opened(io: FileIO, clock: Environment = environment): Catalog =
    Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> "mem://wh"), io, clock)

  private def append(table: Table, path: String, clock: Environment = environment): Table =
    table.transaction(Map.empty, clock).add(new FastAppend(Vector(file(path)))).commit()

  private def tableWithCommits(catalog: Catalog, commits: Int, properties: (String, String)*): Table =
    (1 to commits).foldLeft(catalog.create(Id, unpartitioned(properties: _*)))((t, i) => append(t, f"f$i%03d"))

  test("each version is a metadata file with the next number, and the version hint contains the newest number") {
    withCatalog { (catalog, files) =>
      tableWithCommits(catalog, 2)
      assert(files.paths.filter(_.endsWith(".json")) == Set(1, 2, 3).map(v => s"$metadata/v$v.metadata.json"))
      assert(new String(files.read(hint), "UTF-8") == "3")
    }
  }

  Seq(
    "absent" -> ((files: MemoryFileIO) => files.delete(hint)),
    "stale" -> ((files: MemoryFileIO) => files.replace(hint, "2".getBytes)),
    "very stale" -> ((files: MemoryFileIO) => files.replace(hint, "1".getBytes)),
    "too high" -> ((files: MemoryFileIO) => files.replace(hint, "999".getBytes)),
    "garbage" -> ((files: MemoryFileIO) => files.replace(hint, "\u0000\u0001 not a number".getBytes)),
    "negative" -> ((files: MemoryFileIO) => files.replace(hint, "-5".getBytes)),
    "empty" -> ((files: MemoryFileIO) => files.replace(hint, Array.emptyByteArray)),
    "a file name" -> ((files: MemoryFileIO) => files.replace(hint, "v20.metadata.json".getBytes)),
    "followed by a new line" -> ((files: MemoryFileIO) => files.replace(hint, "31\n".getBytes))
  ).foreach { case (state, damage) =>
    test(s"the newest version is found, and accepts a commit, if the hint is $state") {
      withCatalog { (catalog, files) =>
        val table = tableWithCommits(catalog, 30)
        damage(files)
        val loaded = opened(files).table(Id)
        assert(loaded.metadataLocation == table.metadataLocation)
        assert(append(loaded, "more").metadataLocation.endsWith("/v32.metadata.json"))
        assert(new String(files.read(hint), "UTF-8") == "32")
      }
    }
  }

  test("the newest version is found even if versions between the hint and the newest version were deleted") {
    withCatalog { (catalog, files) =>
      tableWithCommits(catalog, 30)
      files.replace(hint, "1".getBytes)
      (20 to 24).foreach(v => files.delete(s"$metadata/v$v.metadata.json"))
      assert(opened(files).table(Id).metadataLocation.endsWith("/v31.metadata.json"))
    }
  }

  test("a failure to write the hint does not fail the commit") {
    withCatalog { (_, files) =>
      val broken = new FileIOWrapper(files) {
        override def replace(path: String, contents: Array[Byte]): Unit =
          throw StorageFailed.at("replace", path, "by the test")
      }
      assert(liveFiles(tableWithCommits(opened(broken), 3)).size == 3)
      assert(!files.exists(hint) && liveFiles(opened(files).table(Id)).size == 3)
    }
  }

  test("a commit whose acknowledgement was lost succeeds if the metadata file has the commit's contents") {
    withCatalog { (catalog, files) =>
      val table = tableWithCommits(catalog, 1)
      val lossy = new FileIOWrapper(files) {
        override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
          files.createExclusively(path, contents)
          throw StorageFailed.at("create", path, "by the test: the response was lost")
        }
      }
      assert(liveFiles(append(opened(lossy).table(Id), "mine")).size == 2)
      val retrying = new FileIOWrapper(files) {
        override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
          files.createExclusively(path, contents)
          false
        }
      }
      assert(liveFiles(append(opened(retrying).table(Id), "mine2")).size == 3)
      assert(table.refresh().metadataLocation.endsWith("v4.metadata.json"))
    }
  }

  test("if it is unknown whether the storage created the metadata file, the creation is repeated") {
    withCatalog { (catalog, files) =>
      tableWithCommits(catalog, 1)
      Seq(true, false).foreach { happens =>
        var first = true
        val uncertain = new FileIOWrapper(files) {
          override def createExclusively(path: String, contents: Array[Byte]): Boolean =
            if (first) {
              first = false
              if (happens) files.createExclusively(path, contents)
              throw CommitStateUnknown(path, Some(path), "by the test", None)
            } else files.createExclusively(path, contents)
        }
        val before = liveFiles(opened(files).table(Id)).size
        assert(liveFiles(append(opened(uncertain).table(Id), s"mine$happens")).size == before + 1)
      }
    }
  }

  test("if another writer creates the version and the acknowledgement is lost, the commit is retried") {
    withCatalog { (catalog, files) =>
      tableWithCommits(catalog, 1)
      var first = true
      val overtaken = new FileIOWrapper(files) {
        override def createExclusively(path: String, contents: Array[Byte]): Boolean =
          if (first) {
            first = false
            append(opened(files).table(Id), "theirs")
            throw CommitStateUnknown(path, Some(path), "by the test", None)
          } else files.createExclusively(path, contents)
      }
      assert(liveFiles(append(opened(overtaken).table(Id), "mine")) == Vector("f001", "mine", "theirs"))
    }
  }

  test("a commit's status is unknown if later commits delete the file and the metadata log entry of its base version") {
    withCatalog { (catalog, files) =>
      val settings = Seq(
        "write.metadata.delete-after-commit.enabled" -> "true",
        "write.metadata.previous-versions-max" -> "1"
      )
      val base = tableWithCommits(catalog, 3, settings: _*).metadataLocation
      var created = false
      var overtaken = false
      val racing = new FileIOWrapper(files) {
        override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
          created = true
          files.createExclusively(path, contents)
        }
        override def open(path: String): InputStream = {
          if (created && !overtaken && path == base) {
            overtaken = true
            (1 to 3).foreach(i => append(opened(files).table(Id), s"later$i"))
          }
          files.open(path)
        }
      }
      val versions = new VersionedTable(racing, "mem://wh/db/t", "db.t")
      val before = versions.newest().get
      val change = Change(Vector(SetProperties(Map("a" -> "b"))), Vector.empty)
      intercept[CommitStateUnknown] {
        versions.commit(Some(before), NextVersion.of("db.t", Some(before), change, before.metadata.lastUpdatedMs + 1))
      }
      assert(overtaken && opened(files).table(Id).properties("a") == "b")
    }
  }

  test("a commit based on a version whose next version was deleted does not fork the history") {
    withCatalog { (catalog, files) =>
      val old = tableWithCommits(
        catalog,
        1,
        "write.metadata.delete-after-commit.enabled" -> "true",
        "write.metadata.previous-versions-max" -> "1"
      )
      (1 to 5).foldLeft(old)((t, i) => append(t, s"later$i"))
      assert(!files.exists(s"$metadata/v3.metadata.json"))
      val table = append(old, "mine")
      assert(liveFiles(table).size == 7 && table.metadataLocation.endsWith("v8.metadata.json"))
      assert(!files.exists(s"$metadata/v3.metadata.json"), "the metadata file of the failed attempt must be deleted")
      assert(liveFiles(opened(files).table(Id)).size == 7)
    }
  }

  test("a hint that a delayed writer sets to a deleted version does not fork the history") {
    withCatalog { (catalog, files) =>
      val old = tableWithCommits(
        catalog,
        1,
        "write.metadata.delete-after-commit.enabled" -> "true",
        "write.metadata.previous-versions-max" -> "1"
      )
      (1 to 5).foldLeft(old)((t, i) => append(t, s"later$i"))
      files.replace(hint, "3".getBytes)
      assert(liveFiles(opened(files).table(Id)).size == 6)
      assert(liveFiles(append(old, "mine")).size == 7)
      files.replace(hint, "3".getBytes)
      assert(liveFiles(opened(files).table(Id)).size == 7)
    }
  }

  test("a commit based on a very old version does not fork the history if only the next metadata file was deleted") {
    val files = new MemoryFileIO
    var now = 1700000000000L
    val clock = environment.copy(nowMs = () => {
      now += 1
      now
    })
    val catalog = opened(files, clock)
    val old = append(catalog.create(Id, unpartitioned()), "f1", clock)
    now += 3600 * 1000
    (1 to 5).foldLeft(old)((t, i) => append(t, s"later$i", clock))
    files.delete(s"$metadata/v3.metadata.json")
    val table = append(old, "mine", clock)
    assert(liveFiles(table).size == 7 && table.metadataLocation.endsWith("v8.metadata.json"))
  }

  test("a commit to a dropped table fails if a recreated table has the same version number") {
    val files = new MemoryFileIO
    var now = 1700000000000L
    val clock = environment.copy(nowMs = () => now)
    val catalog = opened(files, clock)
    val old = append(catalog.create(Id, unpartitioned()), "f1", clock)
    now += 60 * 1000
    catalog.drop(Id, purge = false)
    val newTable = append(catalog.create(Id, unpartitioned()), "other", clock)
    assert(newTable.metadataLocation == old.metadataLocation)
    val before = files.paths
    val error = intercept[ValidationFailed](append(old, "mine", clock))
    assert(error.getMessage.contains("UUID"))
    assert(files.paths == before && liveFiles(newTable.refresh()) == Vector("other"))
  }

  for {
    versions <- Seq(0, 1, 2)
    change = Seq("dropped", "dropped and recreated with fewer versions", "dropped and recreated")(versions)
  } test(s"a commit based on an old version detects that the table was $change since then") {
    var now = 1700000000000L
    val files = new MemoryFileIO(() => now)
    val clock = environment.copy(nowMs = () => now)
    val catalog = opened(files, clock)
    val old = append(catalog.create(Id, unpartitioned()), "f1", clock)
    now += 300
    catalog.drop(Id, purge = false)
    if (versions > 0) catalog.create(Id, unpartitioned())
    if (versions > 1) append(catalog.table(Id), "other", clock)
    val before = files.paths
    intercept[IcebergError](append(old, "mine", clock)) match {
      case dropped: NotFound => assert(versions == 0, dropped)
      case other => assert(other.isInstanceOf[ValidationFailed] && other.getMessage.contains("UUID"), other)
    }
    assert(files.paths == before)
    if (versions > 0) assert(liveFiles(catalog.table(Id)) == Vector("other").take(versions - 1))
  }

  test("after a conflict with a commit that sets the metadata codec, the repeated commit uses this codec") {
    withCatalog { (catalog, files) =>
      val table = tableWithCommits(catalog, 1)
      val compressed = table.transaction(Map.empty, environment)
        .add(new UpdateProperties(Map("write.metadata.compression-codec" -> "gzip"))).commit()
      assert(compressed.metadataLocation.endsWith("/v3.metadata.json"))
      assert(liveFiles(append(table, "mine")) == Vector("f001", "mine"))
      assert(files.exists(s"$metadata/v4.gz.metadata.json"))
    }
  }

  test("compressed metadata files named v2.metadata.json.gz, as in early Iceberg releases, are found") {
    withCatalog { (catalog, files) =>
      val table = tableWithCommits(catalog, 1, "write.metadata.compression-codec" -> "gzip")
      files.write(s"$metadata/v2.metadata.json.gz", files.read(table.metadataLocation))
      files.delete(table.metadataLocation)
      assert(liveFiles(opened(files).table(Id)) == Vector("f001"))
      files.delete(hint)
      assert(append(opened(files).table(Id), "more").metadataLocation.endsWith("/v3.gz.metadata.json"))
    }
  }

  test("committing an append makes at most six storage calls, and loading a table at most four") {
    withCatalog { (catalog, files) =>
      val table = tableWithCommits(catalog, 3)
      val counting = new FaultyFileIO(files, Int.MaxValue, Fault.Refused)
      val countedCatalog = opened(counting)
      append(new Table(table.id, table.name, table.version, counting, countedCatalog), "more")
      assert(counting.calls <= 6, "expected: parent's list, manifest, manifest list, metadata, version check, hint")
      val loading = new FaultyFileIO(files, Int.MaxValue, Fault.Refused)
      opened(loading).table(Id)
      assert(loading.calls <= 4, "expected: hint, metadata, and two names of a newer version")
    }
  }

  for (version <- Seq("1", "2", "3"))
    test(
      s"of many small appends to a table of version $version, only those that merge manifests make more than 6 calls"
    ) {
      withCatalog { (_, files) =>
        val counting = new FaultyFileIO(files, Int.MaxValue, Fault.Refused)
        val properties = Seq("format-version" -> version, "commit.manifest.min-count-to-merge" -> "20")
        var table = opened(counting).create(Id, unpartitioned(properties: _*))
        val (calls, manifests) = (1 to 200).map { i =>
          val before = counting.calls
          table = table.transaction(Map.empty, environment).add(new MergeAppend(Vector(file(f"f$i%03d")))).commit()
          val made = counting.calls - before
          (made, new TreeReader(table.io, table.metadata).manifests(table.currentSnapshot.get).size)
        }.unzip
        assert(calls.count(_ > 6) <= 11 && calls.takeRight(50).sum <= calls.slice(50, 100).sum + 50, calls)
        assert(manifests.max <= 20 && liveFiles(table).size == 200)
      }
    }

  test("a file-system catalog rejects renames, registrations, other locations, and names that contain a slash") {
    withCatalog { (catalog, _) =>
      val table = tableWithCommits(catalog, 1)
      assert(intercept[Unsupported](catalog.rename(Id, Id.copy(name = "u"))).getMessage.contains("renaming lite.db.t"))
      intercept[Unsupported](catalog.register(Id.copy(name = "u"), table.metadataLocation))
      val properties = intercept[Unsupported](catalog.alterNamespace(Vector("db"), Map("a" -> "b"), Set.empty))
      assert(properties.getMessage.contains("namespace properties in a file-system catalog: a of lite.db"))
      intercept[Unsupported](catalog.createNamespace(Vector("x"), Map("a" -> "b")))
      catalog.createNamespace(Vector("x"), Map("owner" -> "somebody"))
      val elsewhere = unpartitioned().copy(location = Some("mem://elsewhere/t"))
      val error = intercept[Unsupported](catalog.create(Id.copy(name = "u"), elsewhere))
      assert(error.getMessage.contains("mem://elsewhere/t") && error.getMessage.contains("mem://wh/db/u"))
      intercept[Unsupported](
        table.transaction(Map.empty, environment).add(new UpdateLocation("mem://elsewhere")).commit()
      )
      intercept[Unsupported](
        catalog.create(Id.copy(name = "u"), unpartitioned("write.metadata.path" -> "mem://elsewhere"))
      )
      intercept[InvalidArgument](catalog.create(Id.copy(name = "a/b"), unpartitioned()))
      intercept[InvalidArgument](catalog.table(Id.copy(name = "..")))
      catalog.create(Id.copy(name = "a.b"), unpartitioned())
      assert(catalog.listTables(Vector("db")).map(_.name) == Vector("a.b", "t"))
    }
  }

  test("a directory with table metadata is a table and not a namespace") {
    withCatalog { (catalog, files) =>
      tableWithCommits(catalog, 1)
      catalog.createNamespace(Vector("db", "inner"), Map.empty)
      assert(catalog.listNamespaces(Vector("db")) == Vector(Vector("db", "inner")))
      assert(catalog.listTables(Vector("db")) == Vector(Id))
      assert(!catalog.namespaceExists(Vector("db", "t")))
      intercept[AlreadyExists](catalog.createNamespace(Vector("db", "t"), Map.empty))
      files.write("mem://wh/db/no/metadata/notes.txt", Array.emptyByteArray)
      assert(catalog.listTables(Vector("db")) == Vector(Id))
    }
  }
}
