package iceberglite.catalog

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.catalog.CatalogFixture.{Id, Store}
import iceberglite.catalog.hive.HiveFixture
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError._
import iceberglite.spec.partition.{Bucket, UnboundPartitionField}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{LongType, StringType}
import iceberglite.storage.FileIO
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, UpdateProperties}

/** Tests the behavior that all catalogs share. */
class CatalogSuite extends AnyFunSuite {

  private def onAll(name: String)(body: (Catalog, Store) => Unit): Unit = on(CatalogFixture.allWithRest, name)(body)

  /**
   * Returns no tag, or the tags of a slow test for Hive and S3, whose calls are slow. Most runs of the slow tier omit
   * these tests (see [[Sampling]]), because Hive and S3 also have suites of their own.
   */
  private def slow(fixture: CatalogFixture): Seq[Tag] =
    Sampling.slowInSomeRunsUnless(fixture != HiveFixture && fixture != S3Fixture)

  private def onNested(name: String)(body: (Catalog, Store) => Unit): Unit =
    on(CatalogFixture.allWithRest.filter(_.isNested), name)(body)

  private def on(fixtures: Seq[CatalogFixture], name: String)(body: (Catalog, Store) => Unit): Unit =
    for (fixture <- fixtures) test(s"$name (${fixture.kind})", slow(fixture): _*) {
      fixture.withStore { store =>
        val catalog = fixture.open(store, store.files)
        try body(catalog, store)
        finally catalog.close()
      }
    }

  private def append(table: Table, path: String): Table =
    table.transaction(Map.empty, environment).add(new FastAppend(Vector(file(path)))).commit()

  onAll("a table can be created, listed, loaded and dropped") { (catalog, store) =>
    catalog.createNamespace(Vector("db"), Map.empty)
    assert(!catalog.tableExists(Id))
    val table = catalog.create(Id, unpartitioned("a" -> "b"))
    assert(table.name == "lite.db.t" && table.location == s"${store.place}/wh/db/t")
    assert(table.properties("a") == "b" && table.metadata.formatVersion == FormatVersion.V2)
    assert(catalog.tableExists(Id) && catalog.listTables(Vector("db")) == Vector(Id))
    assert(catalog.table(Id).metadata == table.metadata)
    assert(catalog.drop(Id, purge = false))
    assert(!catalog.tableExists(Id) && !catalog.drop(Id, purge = false))
    intercept[NotFound](catalog.table(Id))
    assert(catalog.listTables(Vector("db")).isEmpty)
    assert(store.files.paths.forall(p => !p.endsWith("version-hint.text")))
  }

  onNested("creating a table creates its namespace") { (catalog, _) =>
    catalog.create(TableIdentifier(Vector("x", "y"), "t"), unpartitioned())
    assert(catalog.namespaceExists(Vector("x")) && catalog.namespaceExists(Vector("x", "y")))
    assert(catalog.listNamespaces(Vector.empty) == Vector(Vector("x")))
    assert(catalog.listNamespaces(Vector("x")) == Vector(Vector("x", "y")))
    assert(catalog.listTables(Vector("x")).isEmpty)
  }

  onAll("creating an existing table fails") { (catalog, _) =>
    val table = catalog.create(Id, unpartitioned())
    val error = intercept[AlreadyExists](catalog.create(Id, unpartitioned()))
    assert(error.getMessage.contains("lite.db.t"))
    assert(catalog.table(Id).metadata.uuid == table.metadata.uuid)
  }

  onAll("namespaces can be created, and can be dropped only when they are empty") { (catalog, _) =>
    catalog.createNamespace(Vector("db"), Map.empty)
    intercept[AlreadyExists](catalog.createNamespace(Vector("db"), Map.empty))
    catalog.create(Id, unpartitioned())
    val error = intercept[ValidationFailed](catalog.dropNamespace(Vector("db")))
    assert(error.getMessage.contains("It contains t"))
    catalog.drop(Id, purge = false)
    assert(catalog.dropNamespace(Vector("db")))
    assert(!catalog.dropNamespace(Vector("db")) && !catalog.namespaceExists(Vector("db")))
    intercept[NotFound](catalog.listTables(Vector("db")))
    intercept[NotFound](catalog.loadNamespace(Vector("db")))
  }

  onNested("a namespace that contains namespaces cannot be dropped") { (catalog, _) =>
    catalog.createNamespace(Vector("a"), Map.empty)
    catalog.createNamespace(Vector("a", "b"), Map.empty)
    intercept[ValidationFailed](catalog.dropNamespace(Vector("a")))
  }

  onAll("a staged table is not visible before it is committed") { (catalog, store) =>
    val staged = catalog.stage(Id, unpartitioned(), StageMode.Create)
    staged.table.transaction(Map("spark.app.id" -> "app"), environment).add(new FastAppend(Vector(file("x")))).commit()
    assert(!catalog.tableExists(Id) && !store.files.paths.exists(_.contains("/t/")))
    val table = staged.commit(Map("engine-name" -> "test"))
    assert(liveFiles(table) == Vector("x"))
    assert(table.metadata.metadataLog.isEmpty, "one commit")
    val summary = table.currentSnapshot.get.summary
    assert(summary("engine-name") == "test" && summary("spark.app.id") == "app")
  }

  onAll("aborting a staged table deletes the data files that were written for it") { (catalog, store) =>
    val staged = catalog.stage(Id, unpartitioned(), StageMode.Create)
    store.files.write(s"${store.place}/wh/db/t/data/x.parquet", Array.emptyByteArray)
    append(staged.table, s"${store.place}/wh/db/t/data/x.parquet")
    staged.abort()
    assert(store.files.paths.isEmpty)
    intercept[NotFound](catalog.table(Id))
  }

  onAll("aborting a staged table after its commit does not affect the table") { (catalog, store) =>
    val staged = catalog.stage(Id, unpartitioned(), StageMode.Create)
    store.files.write(s"${store.place}/wh/db/t/data/x.parquet", Array.emptyByteArray)
    append(staged.table, s"${store.place}/wh/db/t/data/x.parquet")
    staged.commit()
    staged.abort()
    assert(store.files.exists(s"${store.place}/wh/db/t/data/x.parquet"))
  }

  onAll(
    "if two writers create a table concurrently, one succeeds, and the other fails and leaves no files"
  ) { (catalog, store) =>
    val slow = catalog.stage(Id, unpartitioned(), StageMode.Create)
    append(slow.table, "slow")
    val quick = append(catalog.create(Id, unpartitioned()), "quick")
    val before = store.files.paths
    intercept[AlreadyExists](slow.commit())
    assert(store.files.paths == before)
    assert(liveFiles(catalog.table(Id)) == Vector("quick") && catalog.table(Id).metadata == quick.metadata)
  }

  onAll("a replaced table keeps its UUID and its history") { (catalog, _) =>
    val old = append(append(catalog.create(Id, unpartitioned("kept" -> "yes")), "x"), "y")
    val columns = Vector(NestedField.optional(1, "other", LongType), NestedField.optional(2, "id", StringType))
    val creation = TableCreation(Schema(0, columns), Vector(UnboundPartitionField(Vector("other"), Bucket(4))))
    val staged = catalog.stage(Id, creation, StageMode.Replace)
    val table = staged.commit()
    assert(table.metadata.uuid == old.metadata.uuid && table.location == old.location)
    assert(table.currentSnapshot.isEmpty && table.schema.fields.map(_.name) == Vector("other", "id"))
    assert(table.properties("kept") == "yes")
    assert(table.metadata.snapshots.map(_.snapshotId) == old.metadata.snapshots.map(_.snapshotId))
    assert(liveFiles(table.io, table.metadata, table.metadata.snapshots.lastOption) == Vector("x", "y"))
    assert(table.metadata.metadataLog.last.metadataFile == old.metadataLocation)
  }

  onAll("replacing a table with new data is one commit, whose snapshot has no parent") { (catalog, _) =>
    val old = append(catalog.create(Id, unpartitioned()), "x")
    val staged = catalog.stage(Id, unpartitioned(), StageMode.CreateOrReplace)
    append(staged.table, "new")
    val table = staged.commit()
    assert(liveFiles(table) == Vector("new"))
    assert(table.currentSnapshot.get.parentSnapshotId.isEmpty)
    assert(table.currentSnapshot.get.sequenceNumber == old.metadata.lastSequenceNumber + 1)
    assert(table.metadata.metadataLog.last.metadataFile == old.metadataLocation)
  }

  onAll("a table can be replaced while another writer appends to it") { (catalog, _) =>
    val table = append(catalog.create(Id, unpartitioned()), "x")
    val staged = catalog.stage(Id, unpartitioned(), StageMode.Replace)
    append(staged.table, "new")
    append(table, "y")
    val replaced = staged.commit()
    assert(liveFiles(replaced) == Vector("new"))
    assert(replaced.metadata.snapshots.size == 3, "no snapshot must be lost")
  }

  onAll("replacing a table that does not exist fails") { (catalog, _) =>
    intercept[NotFound](catalog.stage(Id, unpartitioned(), StageMode.Replace))
    assert(catalog.stage(Id, unpartitioned(), StageMode.CreateOrReplace).commit().metadata.snapshots.isEmpty)
  }

  onAll("DROP ... PURGE deletes the table's files in its directory, and no file outside of it") { (catalog, store) =>
    val ownFiles = Vector("wh/db/t/data/y", "wh/db/t/data/a=b/y").map(path => s"${store.place}/$path.parquet")
    val otherFiles =
      Vector("other/z", "wh/db/u/z", "wh/db/t2/z", "elsewhere/t/x").map(path => s"${store.place}/$path.parquet")
    (ownFiles ++ otherFiles).foreach(store.files.write(_, Array.emptyByteArray))
    val table = catalog.create(
      Id,
      unpartitioned("commit.manifest-merge.enabled" -> "false", "write.data.path" -> s"${store.place}/elsewhere/t")
    )
    (ownFiles ++ otherFiles).foldLeft(table)(append)
    assert(catalog.drop(Id, purge = true))
    assert(store.files.paths == otherFiles.toSet)
  }

  onAll("a table with gc.enabled=false is not purged") { (catalog, store) =>
    append(catalog.create(Id, unpartitioned("gc.enabled" -> "false")), "x")
    val before = store.files.paths
    val error = intercept[ValidationFailed](catalog.drop(Id, purge = true))
    assert(error.getMessage.contains("gc.enabled"))
    assert(store.files.paths == before && catalog.tableExists(Id))
  }

  onAll("old metadata files are deleted if the table property is set, and kept otherwise") { (catalog, store) =>
    Seq(true, false).foreach { delete =>
      val id = Id.copy(name = s"t_$delete")
      val table = catalog.create(
        id,
        unpartitioned(
          "write.metadata.previous-versions-max" -> "2",
          "write.metadata.delete-after-commit.enabled" -> delete.toString
        )
      )
      val last = (1 to 5).foldLeft(table)((t, i) => append(t, s"f$i"))
      assert(last.metadata.metadataLog.size == 2)
      val files = store.files.paths.filter(p => p.contains(id.name) && p.endsWith(".metadata.json"))
      assert(files.size == (if (delete) 3 else 6))
      assert(liveFiles(catalog.table(id)).size == 5)
    }
  }

  for (fixture <- CatalogFixture.allWithRest) {
    test(
      s"a failure to delete old metadata files does not fail the commit (${fixture.kind})",
      slow(fixture): _*
    ) {
      fixture.withStore { store =>
        val catalog = fixture.open(store, new Undeletable(store.files))
        val properties = Seq(
          "write.metadata.previous-versions-max" -> "1",
          "write.metadata.delete-after-commit.enabled" -> "true"
        )
        val last = (1 to 3).foldLeft(catalog.create(Id, unpartitioned(properties: _*)))((t, i) => append(t, s"f$i"))
        val loaded = catalog.table(Id)
        assert(loaded.metadata == last.metadata && liveFiles(loaded).size == 3 && loaded.metadata.metadataLog.size == 1)
        catalog.close()
      }
    }
  }

  final private class Undeletable(files: FileIO) extends FileIOWrapper(files) {
    override def delete(path: String): Unit =
      if (path.endsWith(".metadata.json")) throw StorageFailed.at("delete", path, "by the test") else super.delete(path)
  }

  onAll("metadata is compressed if the table property is set") { (catalog, store) =>
    val table = append(catalog.create(Id, unpartitioned("write.metadata.compression-codec" -> "gzip")), "x")
    assert(table.metadataLocation.endsWith(".gz.metadata.json"))
    assert(store.files.read(table.metadataLocation).take(2).toSeq == Seq(0x1f.toByte, 0x8b.toByte))
    assert(catalog.table(Id).metadata == table.metadata)
    val uncompressed = table.transaction(Map.empty, environment)
      .add(new UpdateProperties(Map("write.metadata.compression-codec" -> "none"))).commit()
    assert(!append(append(uncompressed, "y"), "z").metadataLocation.stripSuffix(".metadata.json").endsWith(".gz"))
    assert(liveFiles(catalog.table(Id)) == Vector("x", "y", "z"))
  }

  on(
    CatalogFixture.allWithRest.filter(_.readsMetadata),
    "the error for loading a table with a damaged metadata file contains the path of the file"
  ) { (catalog, store) =>
    val table = catalog.create(Id, unpartitioned())
    store.files.replace(table.metadataLocation, store.files.read(table.metadataLocation).take(100))
    val error = intercept[InvalidMetadata](catalog.table(Id))
    assert(error.getMessage.contains(table.metadataLocation))
  }

  onAll("the error for a missing namespace contains its name") { (catalog, _) =>
    assert(intercept[NotFound](catalog.listTables(Vector("nope"))).getMessage.contains("lite.nope"))
    assert(intercept[NotFound](catalog.listNamespaces(Vector("nope"))).getMessage.contains("lite.nope"))
  }

  for (fixture <- CatalogFixture.allWithRest)
    test(s"catalog properties are applied to new tables (${fixture.kind})", slow(fixture): _*) {
      fixture.withStore { store =>
        val properties = fixture.properties(store) ++ Map(
          "warehouse" -> s"${store.place}/wh/",
          "table-default.a" -> "default",
          "table-default.b" -> "default",
          "table-override.c" -> "override"
        )
        val catalog = fixture.adapted(Catalogs.open("lite", properties, store.files))
        val table = catalog.create(Id, unpartitioned("b" -> "user", "c" -> "user"))
        assert(Seq("a", "b", "c").map(table.properties) == Seq("default", "user", "override"))
        assert(table.location == s"${store.place}/wh/db/t")
        catalog.close()
      }
    }
}
