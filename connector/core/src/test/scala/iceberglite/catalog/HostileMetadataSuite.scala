package iceberglite.catalog

import java.nio.file.{Files, Path, Paths}

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.spec.metadata.{MetadataLogEntry, StatisticsFile, TableMetadata}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{SetStatistics, UpdateProperties}

/** Tests that operations on tables with malicious metadata do not delete files of another table. */
class HostileMetadataSuite extends AnyFunSuite with HostileTables {

  private def isAttackersFile(file: Path): Boolean =
    isDatabase(file) || file.startsWith(directory.resolve("outside")) || file.startsWith(warehouse.resolve("db/evil"))

  /**
   * Registers forged copies of the metadata under the name `id`, purges the registered tables, and checks that only
   * files of the attacker are deleted.
   */
  private def registerAndPurge(catalog: Catalog, metadata: TableMetadata, id: TableIdentifier = Evil): Unit =
    copies(metadata).foreach { copy =>
      val table = catalog.register(id, forged(copy))
      assertFilesKept(catalog.drop(id, purge = true), isAttackersFile)
      // A commit writes the next metadata file below the table location that the forged metadata states.
      catalog.register(id, forged(copy))
      assertFilesKept(
        Try(append(catalog.table(id), data(s"file:$directory/outside", s"${table.hashCode}.parquet"))),
        isAttackersFile
      )
      val written = Try(catalog.table(id).metadataLocation).toOption
      assertFilesKept(Try(catalog.drop(id, purge = true)), f => isAttackersFile(f) || written.contains(s"file:$f"))
    }

  test("purging a registered table with another table's location in its metadata keeps that table's files (JDBC)") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    registerAndPurge(catalog, victim.metadata)
    assert(liveFiles(catalog.table(Victim)).size == 2)
    catalog.close()
  }

  test("purging a registered table with another table's data path in its metadata keeps that table's files (JDBC)") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    val place = s"file:$directory/outside/t"
    val keys = Seq("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")
    for (key <- keys; directory <- Seq("data", "metadata", "")) {
      val properties = Map(key -> s"${victim.location}/$directory")
      registerAndPurge(catalog, victim.metadata.edited(location = place, properties = properties))
    }
    catalog.close()
  }

  private def writeMetadata(metadata: TableMetadata, tableDirectory: Path): Unit = {
    forged(metadata, tableDirectory.resolve("metadata/v1.metadata.json"))
    ()
  }

  test("purging a table whose metadata has another table's location keeps that table's files (file-system catalog)") {
    val catalog = hadoop()
    val victim = filled(catalog, Victim)
    copies(victim.metadata).foreach { copy =>
      writeMetadata(copy, warehouse.resolve("db/evil"))
      assertFilesKept(assert(catalog.drop(Evil, purge = true)), isAttackersFile)
      assert(!catalog.tableExists(Evil))
    }
    assert(liveFiles(catalog.table(Victim)).size == 2)
  }

  test("purging a table whose metadata has another table's data path keeps that table's files (file-system catalog)") {
    val catalog = hadoop()
    val victim = filled(catalog, Victim)
    val place = s"file:$warehouse/db/evil"
    val hostile =
      victim.metadata.edited(location = place, properties = Map("write.data.path" -> s"${victim.location}/data"))
    copies(hostile).foreach { copy =>
      writeMetadata(copy, warehouse.resolve("db/evil"))
      assertFilesKept(assert(catalog.drop(Evil, purge = true)), isAttackersFile)
    }
  }

  test("dropping a table by path keeps another table's files, even if it has that table's location or data path") {
    val paths = new PathTables(io)
    val victim = filled(hadoop(), Victim)
    val evil = directory.resolve("outside/evil")
    val hostile = victim.metadata.edited(
      location = s"file:$evil",
      properties = Map("write.data.path" -> s"${victim.location}/data")
    )
    for (copy <- copies(victim.metadata) ++ copies(hostile); purge <- Seq(false, true)) {
      writeMetadata(copy, evil)
      assertFilesKept(assert(paths.drop(s"file:$evil", purge)), isAttackersFile)
      assert(!paths.exists(s"file:$evil"))
    }
  }

  private def withLog(metadata: TableMetadata, files: Vector[String]): TableMetadata = metadata.edited(
    metadataLog = files.map(f => MetadataLogEntry(metadata.lastUpdatedMs, f)),
    properties = metadata.properties ++ Expiring
  )

  private def metadataFiles(of: Table): Vector[String] =
    io.list(s"${of.location}/metadata").map(_.path).filter(_.endsWith(".metadata.json")).sorted

  test("a commit keeps another table's metadata files, even if its own log lists them (JDBC catalog)") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    for {
      copy <- copies(victim.metadata)
      place <- Seq(victim.location, s"file:$directory/outside/t", s"file:$warehouse/db/evil")
    } {
      val log = metadataFiles(victim) ++ metadataFiles(victim)
      catalog.register(Evil, forged(withLog(copy.edited(location = place), log)))
      assertFilesKept((1 to 4).foreach(i => append(catalog.table(Evil), s"f$i")), isAttackersFile)
      assert(liveFiles(catalog.table(Victim)).size == 2)
      catalog.drop(Evil, purge = false)
      metadataFiles(victim).filterNot(log.contains).foreach(io.delete)
    }
    catalog.close()
  }

  test("a commit keeps another table's metadata files, even if its own log lists them (file-system catalog)") {
    val catalog = hadoop()
    val victim = filled(catalog, Victim)
    val evil = warehouse.resolve("db/evil")
    for (copy <- copies(victim.metadata)) {
      writeMetadata(
        withLog(copy.edited(location = s"file:$evil"), metadataFiles(victim) ++ metadataFiles(victim)),
        evil
      )
      assertFilesKept((1 to 4).foreach(i => append(catalog.table(Evil), s"f$i")), isAttackersFile)
      catalog.drop(Evil, purge = false)
      writeMetadata(withLog(copy.edited(location = s"file:$evil"), metadataFiles(victim)), evil)
      val path = new PathTables(io)
      assertFilesKept((1 to 4).foreach(i => append(path.table(s"file:$evil"), s"f$i")), isAttackersFile)
      catalog.drop(Evil, purge = false)
    }
    assert(liveFiles(catalog.table(Victim)).size == 2)
  }

  test("purging a table keeps the files of another catalog's table in the same warehouse, even with equal names") {
    val others = Seq[(String, () => Catalog)]("hadoop" -> (() => hadoop()), "jdbc" -> (() => jdbc("b")))
    for (((kind, open), i) <- others.zipWithIndex) {
      val id = Victim.copy(name = s"victim_$kind")
      val owner = open()
      val victim = filled(owner, id)
      val catalog = jdbc(s"a$i")
      copies(victim.metadata).zipWithIndex.foreach { case (copy, n) =>
        for (name <- Seq(Evil, id)) {
          catalog.register(name, forged(copy))
          // A table with the same name, location and UUID counts as the same table, so purging it may delete its files.
          val isSameTable = kind == "jdbc" && name == id && n == 1
          if (!isSameTable) assertFilesKept(catalog.drop(name, purge = true), isAttackersFile)
          else catalog.drop(name, purge = false)
        }
      }
      assert(liveFiles(owner.table(id)).size == 2)
      owner.close()
      catalog.close()
    }
  }

  test("dropping a JDBC catalog's table by path or through a file-system catalog keeps its files") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    for (purge <- Seq(false, true)) {
      assertFilesKept(Try(new PathTables(io).drop(victim.location, purge)), isDatabase)
      assertFilesKept(Try(hadoop().drop(Victim, purge)), isDatabase)
    }
    assert(liveFiles(catalog.table(Victim)).size == 2)
    catalog.close()
  }

  test("dropping a table in a namespace that is another table's directory keeps that table's files") {
    val inside = TableIdentifier(Vector("db", "victim"), "data")
    val owner = hadoop()
    val victim = filled(owner, Victim)
    def isInner(file: Path) = isDatabase(file) || file.startsWith(warehouse.resolve("db/victim/data/metadata"))
    for (purge <- Seq(false, true)) {
      assertFilesKept(Try(owner.create(inside, unpartitioned())))
      assertFilesKept(Try(owner.drop(inside, purge)), isInner)
      writeMetadata(
        withNewUuid(victim.metadata).edited(location = s"${victim.location}/data"),
        warehouse.resolve("db/victim/data")
      )
      assertFilesKept(owner.drop(inside, purge), isInner)
    }
    val jdbcCatalog = jdbc("a")
    jdbcCatalog.register(inside, forged(withNewUuid(victim.metadata)))
    assertFilesKept(jdbcCatalog.drop(inside, purge = true), isInner)
    val other = filled(jdbcCatalog, TableIdentifier(Vector("db"), "pointed"))
    val within = TableIdentifier(Vector("db", "pointed"), "data")
    jdbcCatalog.register(within, forged(withNewUuid(other.metadata)))
    assertFilesKept(jdbcCatalog.drop(within, purge = true), isAttackersFile)
    jdbcCatalog.close()
  }

  test("a table inside another table's directory keeps its files when the outer table is dropped") {
    val outer = TableIdentifier(Vector("db"), "outer")
    for (catalog <- Seq(hadoop(), jdbc("a")); (place, i) <- Seq("", "data/", "x/").zipWithIndex) {
      val table = filled(catalog, outer)
      val nested = new PathTables(io).create(s"${table.location}/${place}inner", unpartitioned())
      val inner = append(nested, data(s"${nested.location}/data", "i.parquet"))
      val hostile = append(table, s"${inner.location}/data/i.parquet", inner.metadataLocation)
      def isOuter(file: Path) = isDatabase(file) || file.startsWith(Paths.get(table.location.stripPrefix("file:"))) &&
        !file.startsWith(Paths.get(inner.location.stripPrefix("file:")))
      assertFilesKept(catalog.drop(hostile.id, purge = i % 2 == 0), isOuter)
      assertFilesKept(Try(new PathTables(io).drop(table.location, purge = true)), isOuter)
      io.deleteDirectory(table.location)
      catalog.close()
    }
  }

  test("a renamed table keeps its files when another table with its old name or in its directory is purged") {
    val catalog = jdbc("a")
    val renamed = TableIdentifier(Vector("db"), "renamed")
    val old = filled(catalog, Victim)
    catalog.rename(Victim, renamed)
    copies(old.metadata).foreach { copy =>
      catalog.register(Victim, forged(copy))
      assertFilesKept(catalog.drop(Victim, purge = true), isAttackersFile)
    }
    val secondVictim = filled(catalog, Victim.copy(name = "v2"))
    catalog.rename(secondVictim.id, Victim.copy(name = "v3"))
    assert(catalog.drop(Victim.copy(name = "v3"), purge = true))
    assert(!Files.exists(warehouse.resolve("db/v2/data/x.parquet")), "purging a renamed table must delete its files")
    catalog.create(Victim, unpartitioned())
    catalog.drop(Victim, purge = true)
    assert(liveFiles(catalog.table(renamed)).forall(io.exists) && io.exists(catalog.table(renamed).metadataLocation))
    catalog.close()
  }

  test("a purge keeps another table's files, even if their paths are spelled in other ways") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    val victimPath = victim.location.stripPrefix("file:")
    val evil = catalog.create(Evil, unpartitioned())
    val evilPath = evil.location.stripPrefix("file:")
    val spellings = Seq(
      s"$victimPath/data/x.parquet",
      s"file://$victimPath/data/x.parquet",
      s"FILE:$victimPath/data/x.parquet",
      s"file:/$victimPath/data/x.parquet",
      s"//$victimPath/data/x.parquet",
      s"$evilPath/../victim/data/x.parquet",
      s"$evilPath/data/../../victim/data/x.parquet",
      s"$evilPath/data/%2e%2e/%2E%2E/victim/data/x.parquet",
      s"file:$evilPath/./../victim//data/x.parquet",
      s"$evilPath//../victim/data/x.parquet/",
      s"${evilPath}2/data/x.parquet",
      s"hdfs://$victimPath/data/x.parquet",
      victimPath.stripPrefix("/") + "/data/x.parquet",
      Paths.get("").toAbsolutePath.relativize(Paths.get(victimPath)).toString + "/data/x.parquet",
      s"$victimPath/data",
      victimPath
    )
    data(s"file:${evilPath}2/data")
    append(evil, spellings.map(path => path): _*)
    assertFilesKept(catalog.drop(Evil, purge = true), isAttackersFile)
    catalog.close()
  }

  test("a purge does not delete files outside the table's directory through symbolic links") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    val evil = filled(catalog, Evil)
    val place = Paths.get(evil.location.stripPrefix("file:"))
    val target = Paths.get(victim.location.stripPrefix("file:"))
    Files.createSymbolicLink(place.resolve("link"), target)
    Files.createSymbolicLink(place.resolve("data/link"), target.resolve("data"))
    Files.createSymbolicLink(place.resolve("data/file.parquet"), target.resolve("data/x.parquet"))
    append(
      evil,
      s"$place/link/data/x.parquet",
      s"$place/link/metadata/${Paths.get(victim.metadataLocation).getFileName}",
      s"$place/data/link/y.parquet",
      s"$place/data/file.parquet"
    )
    assertFilesKept(catalog.drop(Evil, purge = true), isAttackersFile)
    assert(!Files.exists(place.resolve("data/x.parquet")), "the purged table's own files must be deleted")
    val directories = hadoop()
    directories.create(Evil.copy(name = "other"), unpartitioned())
    Files.createSymbolicLink(warehouse.resolve("db/other/data"), target)
    Files.createSymbolicLink(warehouse.resolve("db/other/loop"), warehouse.resolve("db"))
    assertFilesKept(
      directories.drop(Evil.copy(name = "other"), purge = true),
      _.startsWith(warehouse.resolve("db/other"))
    )
    catalog.close()
  }

  test("a drop keeps another table's files if the table or namespace directory is a link to that table") {
    val catalog = jdbc("a")
    val victims = Seq(filled(catalog, Victim), filled(hadoop(), Victim.copy(name = "v2")))
    for (victim <- victims; target = Paths.get(victim.location.stripPrefix("file:"))) {
      val link = Files.createSymbolicLink(warehouse.resolve("db/evil"), target)
      copies(victim.metadata).foreach { copy =>
        val names = Seq("data/x.parquet", "data/y.parquet") ++ victim.metadata.metadataLog.map(e =>
          "metadata/" + Paths.get(e.metadataFile).getFileName
        )
        val listed = names.map(name => s"file:$link/$name").toVector
        val other = catalog.create(Evil.copy(name = "other"), unpartitioned())
        val hostile = append(other, listed: _*).metadata
        catalog.register(Evil, forged(hostile.edited(uuid = copy.uuid, location = s"file:$link")))
        // The directory of the attacker's table is a symbolic link to the directory of the victim's table.
        assertFilesKept(catalog.drop(Evil, purge = true), isDatabase)
        catalog.drop(other.id, purge = false)
        io.deleteDirectory(other.location)
      }
      for (purge <- Seq(false, true)) {
        assertFilesKept(Try(hadoop().drop(Evil, purge)))
        assertFilesKept(Try(new PathTables(io).drop(s"file:$link", purge)))
      }
      Files.createSymbolicLink(warehouse.resolve("alias"), warehouse.resolve("db"))
      assertFilesKept(Try(hadoop().drop(TableIdentifier(Vector("alias"), victim.id.name), purge = false)))
      Files.delete(warehouse.resolve("alias"))
      Files.delete(link)
    }
    catalog.close()
  }

  test("a purge keeps another table's files if the location is its directory, a parent, a child, a link or the root") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    val target = Paths.get(victim.location.stripPrefix("file:"))
    Files.createDirectories(directory.resolve("outside"))
    Files.createSymbolicLink(directory.resolve("outside/link"), target)
    val places =
      Seq(s"$directory/outside/link", s"$warehouse/db", s"$warehouse", s"$target/data", "/", "file:///", s"$target/")
    for (place <- places; copy <- copies(victim.metadata)) {
      val name = s"0000${places.indexOf(place)}-evil.metadata.json"
      for (
        tableDirectory <- Seq(directory.resolve("outside"), Paths.get(place.stripPrefix("file://"), "metadata"))
        if Files.isWritable(tableDirectory.getParent)
      ) {
        val file = forged(copy.edited(location = place), tableDirectory.resolve(name))
        catalog.register(Evil, file)
        assertFilesKept(catalog.drop(Evil, purge = true), f => isAttackersFile(f) || f.endsWith(name))
        io.delete(file)
      }
    }
    catalog.close()
  }

  test("a purge keeps another table's metadata files, manifest lists and manifests that the purged table lists") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    val snapshot = victim.currentSnapshot.get
    val evil = filled(catalog, Evil)
    val list = snapshot.manifestList.get
    val manifests = io.list(s"${victim.location}/metadata").map(_.path).filter(_.endsWith(".avro"))
    val statistics = StatisticsFile(evil.currentSnapshot.get.snapshotId, list, 1L, 1L, None, Vector.empty)
    append(
      evil.transaction(Map.empty, environment).add(new SetStatistics(statistics)).commit(),
      victim.metadataLocation
    )
    val current = catalog.table(Evil).metadata
    val hostile = current.edited(snapshots =
      current.snapshots.dropRight(2) :+ snapshot.copy(manifestList = Some(list)) :+
        current.snapshots.last.copy(manifestList = None, manifests = manifests)
    )
    catalog.drop(Evil, purge = false)
    catalog.register(Evil, forged(hostile, warehouse.resolve("db/evil/metadata/00008-evil.metadata.json")))
    assertFilesKept(catalog.drop(Evil, purge = true), isAttackersFile)
    catalog.close()
  }

  test("a purge keeps imported files, and files that a clone shares with its source table") {
    val catalog = jdbc("a")
    val source = filled(catalog, Victim)
    val imported = data(s"file:$directory/imported")
    val clone = catalog.create(Evil, unpartitioned())
    append(clone, liveFiles(source) :+ imported: _*)
    assertFilesKept(catalog.drop(Evil, purge = true), isAttackersFile)
    catalog.close()
  }

  test("commits delete a table's own old metadata files, at any table location") {
    for (catalog <- Seq(jdbc("a"), hadoop())) {
      val elsewhere = if (catalog.isInstanceOf[HadoopCatalog]) None else Some(s"file:$directory/elsewhere/t")
      for (location <- Seq(None, elsewhere).distinct; gzip <- Seq("none", "gzip")) {
        val creation = unpartitioned(Expiring.toSeq :+ ("write.metadata.compression-codec" -> gzip): _*)
        val table = catalog.create(Evil, creation.copy(location = location))
        (1 to 4).foreach(i => append(catalog.table(Evil), s"f$i"))
        val remaining = io.list(s"${table.location}/metadata").map(_.path).filter(_.endsWith(".metadata.json"))
        assert(remaining.size == 2, s"$location $gzip $remaining")
        catalog.table(Evil).transaction().add(new UpdateProperties(Map("a" -> "b"))).commit()
        catalog.drop(Evil, purge = true)
      }
      catalog.close()
    }
  }
}
