package iceberglite.catalog.jdbc

import java.sql.SQLException

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.catalog.FaultyDriver
import iceberglite.spec.IcebergError._
import iceberglite.table.TestTables._

/** Tests that a commit with a database fault succeeds, fails without leaving files, or reports an unknown outcome. */
class JdbcFaultSuite extends JdbcTests {

  onEach("a connection that breaks during a query is opened again") { f =>
    val catalog = f.open()
    append(catalog.create(Id, unpartitioned()), "x")
    FaultyDriver.breaks = Vector("SELECT metadata_location" -> FaultyDriver.Before)
    assert(liveFiles(catalog.table(Id)) == Vector("x"))
    FaultyDriver.breaks = Vector.fill(20)("SELECT metadata_location" -> FaultyDriver.Before)
    assert(intercept[StorageFailed](catalog.table(Id)).getMessage.contains("catalog database"))
  }

  for (break <- Seq(FaultyDriver.Before, FaultyDriver.After))
    onEach(s"a commit whose connection breaks succeeds: $break") { f =>
      val catalog = f.open()
      val table = catalog.create(Id, unpartitioned())
      FaultyDriver.breaks = Vector(swap -> break)
      val committed = append(table, "x")
      assert(liveFiles(committed) == Vector("x") && committed.metadataLocation == catalog.table(Id).metadataLocation)
      assert(f.files.paths == reachable(f.files, committed.version))
    }

  for (break <- Seq(FaultyDriver.Before, FaultyDriver.After))
    onEach(
      s"a table creation whose connection breaks succeeds if the database can be queried: $break"
    ) { f =>
      val catalog = f.open()
      catalog.createNamespace(Vector("db"), Map.empty)
      FaultyDriver.breaks = Vector("INSERT INTO iceberg_tables" -> break)
      val table = catalog.create(Id, unpartitioned())
      assert(catalog.table(Id).metadata == table.metadata && f.files.paths == Set(table.metadataLocation))
    }

  for (break <- Seq(FaultyDriver.Before, FaultyDriver.After))
    onEach(s"if another writer commits after a broken connection, both commits are applied exactly once: $break") { f =>
      val catalog = f.open()
      val other = f.open()
      val table = catalog.create(Id, unpartitioned())
      other.table(Id)
      FaultyDriver.breaks = Vector(swap -> break)
      FaultyDriver.beforeConnection(append(other.table(Id), "theirs"))
      val committed = append(table, "mine")
      val newest = catalog.table(Id)
      assert(liveFiles(newest) == Vector("mine", "theirs"))
      assert(newest.metadata.snapshots.size == 2, "no append must be applied twice")
      assert(liveFiles(committed).contains("mine"))
      assert(f.files.paths == reachable(f.files, newest.version))
    }

  onEach("if nothing shows the outcome of a commit, it is unknown, and its metadata file is kept") { f =>
    val catalog = f.open()
    val other = f.open()
    val table = catalog.create(Id, unpartitioned("write.metadata.previous-versions-max" -> "1"))
    FaultyDriver.breaks = Vector(swap -> FaultyDriver.Before)
    FaultyDriver.beforeConnection(Seq("a", "b", "c").foldLeft(other.table(Id))(append))
    val error = intercept[CommitStateUnknown](append(table, "mine"))
    assert(error.metadataFile.exists(f.files.exists(_)))
  }

  onEach("if the table is renamed after the connection broke, the outcome is unknown and its files are kept") { f =>
    val catalog = f.open()
    val other = f.open()
    val table = catalog.create(Id, unpartitioned())
    FaultyDriver.breaks = Vector(swap -> FaultyDriver.After)
    FaultyDriver.beforeConnection(other.rename(Id, Id.copy(name = "u")))
    intercept[CommitStateUnknown](append(table, "x"))
    assert(liveFiles(catalog.table(Id.copy(name = "u"))) == Vector("x"))
  }

  onEach("if the database is busy after the connection broke, the query is repeated until it responds") { f =>
    val catalog = f.open()
    val table = catalog.create(Id, unpartitioned())
    val busy = swap -> FaultyDriver.DatabaseError(f.kind.busy)
    FaultyDriver.breaks = Vector(swap -> FaultyDriver.After, busy, busy)
    val committed = append(table, "x")
    assert(liveFiles(catalog.table(Id)) == Vector("x") && committed.metadata.snapshots.size == 1)
    assert(f.files.paths == reachable(f.files, committed.version))
  }

  onEach("if the connection broke and the server is unreachable, the catalog waits until it is reachable again") { f =>
    var waits = 0
    val waiting = environment.copy(sleep = _ => {
      waits += 1
      if (waits == 2) FaultyDriver.down = false
    })
    val catalog = f.openIn(waiting)
    val table = catalog.create(Id, unpartitioned())
    FaultyDriver.breaks = Vector(swap -> FaultyDriver.Before)
    FaultyDriver.down = true
    val committed = append(table, "x")
    assert(waits == 2 && liveFiles(catalog.table(Id)) == Vector("x"))
    assert(f.files.paths == reachable(f.files, committed.version))
  }

  onEach("a server that is unreachable before the commit is a definite failure that leaves no files") { f =>
    val catalog = f.open()
    val table = catalog.create(Id, unpartitioned("commit.retry.num-retries" -> "1"))
    val before = f.files.paths
    catalog.close()
    FaultyDriver.down = true
    assert(intercept[StorageFailed](append(table, "x")).getMessage.startsWith("Cannot connect in the catalog database"))
    assert(f.files.paths == before)
    FaultyDriver.reset()
    assert(liveFiles(f.open().table(Id)).isEmpty)
  }

  onEach("if the database cannot be queried, the outcome is unknown and every file is kept") { f =>
    val catalog = f.open()
    val table = catalog.create(Id, unpartitioned())
    val before = f.files.paths
    FaultyDriver.breaks = Vector(swap -> FaultyDriver.After, swap -> FaultyDriver.Before)
    FaultyDriver.down = true
    val error = intercept[CommitStateUnknown](append(table, "x"))
    assert(error.metadataFile.exists(_.contains("/00001-")))
    assert((f.files.paths -- before).size == 3, "metadata file, manifest list and manifest must be kept")
    FaultyDriver.reset()
    assert(liveFiles(catalog.table(Id)) == Vector("x"), "the commit must have been applied")
  }

  onEach("a commit is retried while the database is busy, and leaves no files when the retries are exhausted") { f =>
    val catalog = f.open()
    val table = catalog.create(Id, unpartitioned("commit.retry.num-retries" -> "2"))
    val busy = FaultyDriver.DatabaseError(f.kind.busy)
    FaultyDriver.breaks = Vector.fill(2)(swap -> busy)
    val committed = append(table, "x")
    assert(f.files.paths == reachable(f.files, committed.version))
    FaultyDriver.breaks = Vector.fill(3)(swap -> busy)
    val before = f.files.paths
    assert(intercept[CommitConflict](append(committed, "y")).getMessage.contains("busy"))
    assert(f.files.paths == before)
  }

  onEach("an error of the database is a definite failure that leaves no files") { f =>
    val catalog = f.open()
    val table = catalog.create(Id, unpartitioned())
    val before = f.files.paths
    FaultyDriver.breaks = Vector(swap -> FaultyDriver.DatabaseError(new SQLException("by the test: read-only")))
    assert(intercept[StorageFailed](append(table, "x")).getMessage.contains("read-only"))
    assert(f.files.paths == before)
  }

  onEach("a commit to a table that was dropped and recreated is rejected because of its new UUID") { f =>
    val catalog = f.open()
    val old = append(catalog.create(Id, unpartitioned()), "x")
    catalog.drop(Id, purge = false)
    catalog.create(Id, unpartitioned())
    intercept[ValidationFailed](append(old, "mine"))
    assert(liveFiles(catalog.table(Id)).isEmpty)
  }

  onEach("SQL states that the user configures are treated as a lost connection") { f =>
    val failover = FaultyDriver.DatabaseError(new SQLException("by the test: failing over", "XX123"))
    val withoutProperty = f.open()
    withoutProperty.create(Id, unpartitioned())
    FaultyDriver.breaks = Vector("SELECT metadata_location" -> failover)
    intercept[StorageFailed](withoutProperty.table(Id))
    val catalog = f.open("retryable_status_codes" -> "57000, XX123")
    FaultyDriver.breaks = Vector("SELECT metadata_location" -> failover)
    val table = catalog.table(Id)
    FaultyDriver.breaks = Vector(swap -> failover)
    assert(liveFiles(append(table, "x")) == Vector("x"))
  }
}
