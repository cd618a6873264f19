package iceberglite.catalog

import java.nio.file.{Files, Path, Paths}

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.metadata.{MetadataLogEntry, StatisticsFile, TableMetadata}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{SetStatistics, UpdateProperties}

/** Malicious metadata cannot delete files of another table. */
class HostileMetadataSuite extends AnyFunSuite with HostileTables {

  private def ofEvil(file: Path): Boolean =
    isDatabase(file) || file.startsWith(directory.resolve("outside")) || file.startsWith(warehouse.resolve("db/evil"))

  /** Registers each copy under each name and purges it. */
  private def registered(catalog: Catalog, metadata: TableMetadata, id: TableIdentifier = Evil): Unit =
    copies(metadata).foreach { copy =>
      val table = catalog.register(id, forged(copy))
      assertFilesKept(catalog.drop(id, purge = true), ofEvil)
      // After another commit, the metadata file is in the directory that the metadata names.
      catalog.register(id, forged(copy))
      assertFilesKept(
        Try(append(catalog.table(id), data(s"file:$directory/outside", s"${table.hashCode}.parquet"))),
        ofEvil
      )
      val written = Try(catalog.table(id).metadataLocation).toOption
      assertFilesKept(Try(catalog.drop(id, purge = true)), f => ofEvil(f) || written.contains(s"file:$f"))
    }

  test("register_table with another table's location, then DROP PURGE, in a JDBC catalog") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    registered(catalog, victim.metadata)
    assert(liveFiles(catalog.table(Victim)).size == 2)
    catalog.close()
  }

  test("register_table with another table's data path, then DROP PURGE, in a JDBC catalog") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    val place = s"file:$directory/outside/t"
    val keys = Seq("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")
    for (key <- keys; directory <- Seq("data", "metadata", "")) {
      val properties = Map(key -> s"${victim.location}/$directory")
      registered(catalog, victim.metadata.copy(location = place, properties = properties))
    }
    catalog.close()
  }

  private def writeMetadata(metadata: TableMetadata, at: Path): Unit = {
    forged(metadata, at.resolve("metadata/v1.metadata.json"))
    ()
  }

  test("another table's location in the metadata of a table of a file-system catalog, then DROP PURGE") {
    val catalog = hadoop()
    val victim = filled(catalog, Victim)
    copies(victim.metadata).foreach { copy =>
      writeMetadata(copy, warehouse.resolve("db/evil"))
      assertFilesKept(assert(catalog.drop(Evil, purge = true)), ofEvil)
      assert(!catalog.tableExists(Evil))
    }
    assert(liveFiles(catalog.table(Victim)).size == 2)
  }

  test("another table's data path in the metadata of a table of a file-system catalog, then DROP PURGE") {
    val catalog = hadoop()
    val victim = filled(catalog, Victim)
    val place = s"file:$warehouse/db/evil"
    val hostile =
      victim.metadata.copy(location = place, properties = Map("write.data.path" -> s"${victim.location}/data"))
    copies(hostile).foreach { copy =>
      writeMetadata(copy, warehouse.resolve("db/evil"))
      assertFilesKept(assert(catalog.drop(Evil, purge = true)), ofEvil)
    }
  }

  test("another table's location or data path in the metadata of a table at a path, then DROP without PURGE") {
    val paths = new PathTables(io)
    val victim = filled(hadoop(), Victim)
    val evil = directory.resolve("outside/evil")
    val hostile = victim.metadata.copy(
      location = s"file:$evil",
      properties = Map("write.data.path" -> s"${victim.location}/data")
    )
    for (copy <- copies(victim.metadata) ++ copies(hostile); purge <- Seq(false, true)) {
      writeMetadata(copy, evil)
      assertFilesKept(assert(paths.drop(s"file:$evil", purge)), ofEvil)
      assert(!paths.exists(s"file:$evil"))
    }
  }

  private def withLog(metadata: TableMetadata, files: Vector[String]): TableMetadata = metadata.copy(
    metadataLog = files.map(f => MetadataLogEntry(metadata.lastUpdatedMs, f)),
    properties = metadata.properties ++ Expiring
  )

  private def metadataFiles(of: Table): Vector[String] =
    io.list(s"${of.location}/metadata").map(_.path).filter(_.endsWith(".metadata.json")).sorted

  test("INSERT with delete-after-commit and another table's metadata files in the log, in a JDBC catalog") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    for {
      copy <- copies(victim.metadata)
      place <- Seq(victim.location, s"file:$directory/outside/t", s"file:$warehouse/db/evil")
    } {
      val log = metadataFiles(victim) ++ metadataFiles(victim)
      catalog.register(Evil, forged(withLog(copy.copy(location = place), log)))
      assertFilesKept((1 to 4).foreach(i => append(catalog.table(Evil), s"f$i")), ofEvil)
      assert(liveFiles(catalog.table(Victim)).size == 2)
      catalog.drop(Evil, purge = false)
      metadataFiles(victim).filterNot(log.contains).foreach(io.delete)
    }
    catalog.close()
  }

  test("INSERT with delete-after-commit and another table's metadata files in the log, in a file-system catalog") {
    val catalog = hadoop()
    val victim = filled(catalog, Victim)
    val evil = warehouse.resolve("db/evil")
    for (copy <- copies(victim.metadata)) {
      writeMetadata(withLog(copy.copy(location = s"file:$evil"), metadataFiles(victim) ++ metadataFiles(victim)), evil)
      assertFilesKept((1 to 4).foreach(i => append(catalog.table(Evil), s"f$i")), ofEvil)
      catalog.drop(Evil, purge = false)
      writeMetadata(withLog(copy.copy(location = s"file:$evil"), metadataFiles(victim)), evil)
      val path = new PathTables(io)
      assertFilesKept((1 to 4).foreach(i => append(path.table(s"file:$evil"), s"f$i")), ofEvil)
      catalog.drop(Evil, purge = false)
    }
    assert(liveFiles(catalog.table(Victim)).size == 2)
  }

  test("a table of another catalog on the same warehouse keeps its files, even if the names are equal") {
    val others = Seq[(String, () => Catalog)]("hadoop" -> (() => hadoop()), "jdbc" -> (() => jdbc("b")))
    for (((kind, open), i) <- others.zipWithIndex) {
      val id = Victim.copy(name = s"victim_$kind")
      val owner = open()
      val victim = filled(owner, id)
      val catalog = jdbc(s"a$i")
      copies(victim.metadata).zipWithIndex.foreach { case (copy, n) =>
        for (name <- Seq(Evil, id)) {
          catalog.register(name, forged(copy))
          // Two entries with equal name, location and UUID are one table.
          if (!(kind == "jdbc" && name == id && n == 1)) assertFilesKept(catalog.drop(name, purge = true), ofEvil)
          else catalog.drop(name, purge = false)
        }
      }
      assert(liveFiles(owner.table(id)).size == 2)
      owner.close()
      catalog.close()
    }
  }

  test("a table of a catalog with pointers cannot be dropped by path or by a file-system catalog") {
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
        withNewUuid(victim.metadata).copy(location = s"${victim.location}/data"),
        warehouse.resolve("db/victim/data")
      )
      assertFilesKept(owner.drop(inside, purge), isInner)
    }
    val pointed = jdbc("a")
    pointed.register(inside, forged(withNewUuid(victim.metadata)))
    assertFilesKept(pointed.drop(inside, purge = true), isInner)
    val other = filled(pointed, TableIdentifier(Vector("db"), "pointed"))
    val within = TableIdentifier(Vector("db", "pointed"), "data")
    pointed.register(within, forged(withNewUuid(other.metadata)))
    assertFilesKept(pointed.drop(within, purge = true), ofEvil)
    pointed.close()
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
      assertFilesKept(catalog.drop(Victim, purge = true), ofEvil)
    }
    val again = filled(catalog, Victim.copy(name = "v2"))
    catalog.rename(again.id, Victim.copy(name = "v3"))
    assert(catalog.drop(Victim.copy(name = "v3"), purge = true))
    assert(!Files.exists(warehouse.resolve("db/v2/data/x.parquet")), "a renamed table is purged where it is")
    catalog.create(Victim, unpartitioned())
    catalog.drop(Victim, purge = true)
    assert(liveFiles(catalog.table(renamed)).forall(io.exists) && io.exists(catalog.table(renamed).metadataLocation))
    catalog.close()
  }

  test("other spellings of a path do not reach files of another table") {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    val place = victim.location.stripPrefix("file:")
    val evil = catalog.create(Evil, unpartitioned())
    val own = evil.location.stripPrefix("file:")
    val spellings = Seq(
      s"$place/data/x.parquet",
      s"file://$place/data/x.parquet",
      s"FILE:$place/data/x.parquet",
      s"file:/$place/data/x.parquet",
      s"//$place/data/x.parquet",
      s"$own/../victim/data/x.parquet",
      s"$own/data/../../victim/data/x.parquet",
      s"$own/data/%2e%2e/%2E%2E/victim/data/x.parquet",
      s"file:$own/./../victim//data/x.parquet",
      s"$own//../victim/data/x.parquet/",
      s"${own}2/data/x.parquet",
      s"hdfs://$place/data/x.parquet",
      place.stripPrefix("/") + "/data/x.parquet",
      Paths.get("").toAbsolutePath.relativize(Paths.get(place)).toString + "/data/x.parquet",
      s"$place/data",
      place
    )
    data(s"file:${own}2/data")
    append(evil, spellings.map(path => path): _*)
    assertFilesKept(catalog.drop(Evil, purge = true), ofEvil)
    catalog.close()
  }

  test("links in a table's directory do not reach files elsewhere") {
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
    assertFilesKept(catalog.drop(Evil, purge = true), ofEvil)
    assert(!Files.exists(place.resolve("data/x.parquet")), "its own files are deleted")
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

  test("a table directory or a namespace that links to another table's directory does not reach its files") {
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
        catalog.register(Evil, forged(hostile.copy(uuid = copy.uuid, location = s"file:$link")))
        // The attacker's own metadata directory is now the victim's directory.
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

  test("a location that links to another table, its parent, a child or the root deletes no files of it") {
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
        at <- Seq(directory.resolve("outside"), Paths.get(place.stripPrefix("file://"), "metadata"))
        if Files.isWritable(at.getParent)
      ) {
        val file = forged(copy.copy(location = place), at.resolve(name))
        catalog.register(Evil, file)
        assertFilesKept(catalog.drop(Evil, purge = true), f => ofEvil(f) || f.endsWith(name))
        io.delete(file)
      }
    }
    catalog.close()
  }

  test("a manifest list, a version 1 manifest, statistics and delete files of another table are not deleted") {
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
    val hostile = current.copy(snapshots =
      current.snapshots.dropRight(2) :+ snapshot.copy(manifestList = Some(list)) :+
        current.snapshots.last.copy(manifestList = None, manifests = manifests)
    )
    catalog.drop(Evil, purge = false)
    catalog.register(Evil, forged(hostile, warehouse.resolve("db/evil/metadata/00008-evil.metadata.json")))
    assertFilesKept(catalog.drop(Evil, purge = true), ofEvil)
    catalog.close()
  }

  test("imported and cloned files are never deleted") {
    val catalog = jdbc("a")
    val source = filled(catalog, Victim)
    val imported = data(s"file:$directory/imported")
    val clone = catalog.create(Evil, unpartitioned())
    append(clone, liveFiles(source) :+ imported: _*)
    assertFilesKept(catalog.drop(Evil, purge = true), ofEvil)
    catalog.close()
  }

  test("a table's own old metadata is still deleted, at any table location") {
    for (catalog <- Seq(jdbc("a"), hadoop())) {
      val elsewhere = if (catalog.isInstanceOf[HadoopCatalog]) None else Some(s"file:$directory/elsewhere/t")
      for (location <- Seq(None, elsewhere).distinct; gzip <- Seq("none", "gzip")) {
        val creation = unpartitioned(Expiring.toSeq :+ ("write.metadata.compression-codec" -> gzip): _*)
        val table = catalog.create(Evil, creation.copy(location = location))
        (1 to 4).foreach(i => append(catalog.table(Evil), s"f$i"))
        val left = io.list(s"${table.location}/metadata").map(_.path).filter(_.endsWith(".metadata.json"))
        assert(left.size == 2, s"$location $gzip $left")
        catalog.table(Evil).transaction().add(new UpdateProperties(Map("a" -> "b"))).commit()
        catalog.drop(Evil, purge = true)
      }
      catalog.close()
    }
  }
}
