package iceberglite.catalog.hive

import java.util.Collections

import org.apache.hadoop.hive.metastore.IMetaStoreClient
import org.apache.hadoop.hive.metastore.api._
import org.scalatest.tags.Slow

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.catalog.hive.ThriftProxy._
import iceberglite.servers.Servers
import iceberglite.spec.IcebergError._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{LongType, StringType}
import iceberglite.table.{TableCreation, TableIdentifier}
import iceberglite.table.TestTables._
import iceberglite.table.action.{UpdateProperties, UpdateSchema}

/** Tests the Metastore lock that a commit holds, and failures of calls to the Metastore. */
@Slow
class HiveCommitSuite extends HiveTests {
  private val other = TableIdentifier(Vector("db"), "u")
  private val Alter = "alter_table_with_environment_context"
  private val shortTimeout = Seq("hadoop.iceberg.hive.lock-timeout-ms" -> "50")
  private val noRetries = Map("commit.retry.num-retries" -> "0", "commit.status-check.min-wait-ms" -> "1")

  /** Acquires the lock of a table, as another process would do, and returns the lock id. */
  private def lock(client: IMetaStoreClient, table: String = Id.name): Long = {
    val component = new LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "db")
    component.setTablename(table)
    component.setOperationType(DataOperationType.NO_TXN)
    val answer = client.lock(new LockRequest(Collections.singletonList(component), "somebody", "somewhere"))
    assert(answer.getState == LockState.ACQUIRED)
    answer.getLockid
  }

  private def locks(client: IMetaStoreClient): Int =
    client.showLocks(new ShowLocksRequest).getLocks.size

  onHive("a commit acquires the lock and releases it") { hive =>
    val proxy = hive.proxy()
    val catalog = hive.open("uri" -> proxy.address)
    val table = catalog.create(Id, unpartitioned())
    val before = proxy.calls.size
    append(table, "x")
    val calls = proxy.calls.drop(before).filterNot(Set("set_ugi", "heartbeat"))
    assert(calls == Vector("lock", "get_table", Alter, "unlock"))
    assert(locks(hive.client) == 0)
  }

  onHive("while another process holds the lock, nothing is committed, renamed or purged") { hive =>
    val catalog = hive.open(shortTimeout: _*)
    val table = catalog.create(Id, TableCreation(schema, properties = noRetries))
    val lockId = lock(hive.client)
    val files = hive.files(".metadata.json")
    val error = intercept[CommitConflict](append(table, "x"))
    assert(error.getMessage.contains("other writers held the lock for 50 ms"))
    hive.client.heartbeat(0, lockId)
    assert(intercept[StorageFailed](catalog.rename(Id, other)).getMessage.contains("other writers held the lock"))
    hive.client.heartbeat(0, lockId)
    intercept[StorageFailed](catalog.drop(Id, purge = true))
    assert(hive.files(".metadata.json") == files && catalog.table(Id).metadata == table.metadata)
    assert(locks(hive.client) == 1, "only the lock of the other process must remain")
    hive.client.unlock(lockId)
    assert(liveFiles(append(table, "x")) == Vector("x"))
  }

  onHive("renames and drops of a table with engine.hive.lock-enabled=false acquire no lock") { hive =>
    val proxy = hive.proxy()
    val catalog = hive.open("uri" -> proxy.address)
    hive.open().create(Id, unpartitioned("engine.hive.lock-enabled" -> "false"))
    catalog.rename(Id, other)
    assert(catalog.drop(other, purge = false) && !proxy.calls.contains("lock"))
  }

  onHive("renames and drops of a table with engine.hive.lock-enabled=true acquire the lock in every session") { hive =>
    hive.open().create(Id, unpartitioned("engine.hive.lock-enabled" -> "true"))
    val catalog = hive.open(shortTimeout :+ ("hadoop.iceberg.engine.hive.lock-enabled" -> "false"): _*)
    val lockId = lock(hive.client)
    intercept[StorageFailed](catalog.rename(Id, other))
    hive.client.heartbeat(0, lockId)
    intercept[StorageFailed](catalog.drop(Id, purge = false))
    hive.client.unlock(lockId)
    assert(catalog.drop(Id, purge = false))
  }

  onHive("the lock of a dead writer expires, and the next writer acquires the lock") { hive =>
    val table = hive.open().create(Id, unpartitioned())
    val deadWriter = HiveFixture.connect(Servers.hive.uri)
    lock(deadWriter)
    deadWriter.close()
    assert(liveFiles(append(table, "x")) == Vector("x"))
  }

  onHive("a commit that takes long renews its lock with heartbeats, and stops them after the unlock") { hive =>
    val proxy = hive.proxy()
    val catalog = hive.open("uri" -> proxy.address, "hadoop.iceberg.hive.lock-heartbeat-interval-ms" -> "100")
    val table = catalog.create(Id, unpartitioned())
    proxy.next(Alter, RunFirst(() => while (!proxy.calls.contains("heartbeat")) Thread.sleep(10)))
    assert(liveFiles(append(table, "x")) == Vector("x"))
    // A heartbeat that has begun when the commit ends may reach the server after the unlock.
    Thread.sleep(500)
    val calls = proxy.calls
    assert(calls.drop(calls.lastIndexOf("unlock")).count(_ == "heartbeat") <= 1)
  }

  onHive("a commit that lost its lock before the swap fails, and leaves no files") { hive =>
    val proxy = hive.proxy()
    val catalog = hive.open("uri" -> proxy.address, "hadoop.iceberg.hive.lock-heartbeat-interval-ms" -> "20")
    val table = catalog.create(Id, TableCreation(schema, properties = noRetries))
    val files = hive.files(".metadata.json")
    def releaseLock(): Unit = {
      hive.client.showLocks(new ShowLocksRequest).getLocks
        .forEach(l => hive.client.unlock(l.getLockid))
      val beats = proxy.calls.count(_ == "heartbeat")
      while (proxy.calls.count(_ == "heartbeat") < beats + 3) Thread.sleep(10)
    }
    proxy.next("get_table", RunFirst(() => releaseLock()))
    val error = intercept[CommitConflict](append(table, "x"))
    assert(error.getMessage.contains("the lock was lost before the commit"))
    assert(hive.files(".metadata.json") == files && hive.open().table(Id).metadata == table.metadata)
  }

  for {
    call <- Seq("lock", "check_lock", "get_table", Alter, "unlock")
    fault <- Seq(Before, After)
  } onHive(s"a commit is applied exactly once if the connection breaks at the call $call ($fault)") { hive =>
    val proxy = hive.proxy()
    val table = hive.open("uri" -> proxy.address).create(Id, TableCreation(schema, properties = noRetries))
    val lockId = if (call == "check_lock") Some(lock(hive.client)) else None
    proxy.next(call, fault)
    lockId.foreach(id => proxy.next("check_lock", RunFirst(() => hive.client.unlock(id))))
    assert(liveFiles(append(table, "x")) == Vector("x"))
    assert(hive.open().table(Id).metadata.snapshots.size == 1)
    val referenced = Set(table.metadataLocation, hive.parameters()("metadata_location"))
    assert(hive.files(".metadata.json") == referenced.map(_.replaceFirst("^file:/+", "/")))
    assert(locks(hive.client) == 0)
  }

  for (fault <- Seq(Before, After)) onHive(s"no DDL is applied twice if the connection breaks ($fault)") { hive =>
    val proxy = hive.proxy()
    val catalog = hive.open("uri" -> proxy.address)
    proxy.next("create_table_with_environment_context", fault)
    catalog.create(Id, TableCreation(schema, properties = noRetries))
    assert(catalog.listTables(Vector("db")) == Vector(Id) && hive.files(".metadata.json").size == 1)
    proxy.next(Alter, fault)
    if (fault == After) catalog.rename(Id, other) else intercept[StorageFailed](catalog.rename(Id, other))
    val currentName = if (fault == After) other else Id
    proxy.next("drop_table_with_environment_context", fault)
    if (fault == After) assert(catalog.drop(currentName, purge = false))
    else intercept[StorageFailed](catalog.drop(currentName, purge = false))
    assert(catalog.tableExists(currentName) == (fault == Before))
  }

  onHive("a commit with a lost response is found in the metadata log if another commit follows it") { hive =>
    val proxy = hive.proxy()
    val table = hive.open("uri" -> proxy.address).create(Id, TableCreation(schema, properties = noRetries))
    proxy.next(Alter, After)
    // The first attempt succeeds, but its response is lost. Another writer commits before the first writer requests the
    // lock for the second time.
    proxy.next("lock", RunFirst(() => ()))
    proxy.next("lock", RunFirst(() => { append(hive.open().table(Id), "other"); () }))
    assert(liveFiles(append(table, "x")).contains("x"))
    assert(liveFiles(hive.open().table(Id)) == Vector("other", "x"))
  }

  onHive("after a conflict with a concurrent commit, the change is retried on the new version") { hive =>
    val proxy = hive.proxy()
    val table = hive.open("uri" -> proxy.address).create(Id, unpartitioned())
    proxy.next("lock", RunFirst(() => { append(hive.open().table(Id), "other"); () }))
    assert(liveFiles(append(table, "x")) == Vector("other", "x"))
  }

  onHive("commits without a lock are rejected if the Metastore does not support compare-and-swap") { hive =>
    val table = hive.open().create(Id, unpartitioned())
    val unlocked = hive.open("hadoop.iceberg.engine.hive.lock-enabled" -> "false")
    val error = intercept[Unsupported](append(unlocked.table(Id), "x"))
    assert(error.getMessage.contains("Hive 2.3.10"))
    assert(hive.open().table(Id).metadata == table.metadata && hive.stored().getPartitionKeys.isEmpty)
    table.transaction().add(new UpdateProperties(Map("engine.hive.lock-enabled" -> "false"))).commit()
    intercept[Unsupported](append(hive.open().table(Id), "x"))
    assert(hive.files(".metadata.json").size == 2)
  }

  onHive("the error for an unreachable server contains its address") { hive =>
    val proxy = hive.proxy()
    proxy.close()
    val conf = "hadoop.hive.metastore.connect.retries" -> "1"
    val error = intercept[StorageFailed](hive.open("uri" -> proxy.address, conf).listTables(Vector("db")))
    assert(error.getMessage.contains(s"Cannot connect to the Hive Metastore ${proxy.address}"))
  }

  onHive("a column can be dropped even if the Metastore rejects the change because of the columns' positions") { hive =>
    val catalog = hive.open()
    val columns = Vector(NestedField.optional(1, "text", StringType), NestedField.optional(2, "number", LongType))
    val table = catalog.create(Id, TableCreation(Schema(0, columns), properties = noRetries))
    table.transaction().add(new UpdateSchema(_.dropColumn(Vector("text")))).commit()
    assert(catalog.table(Id).schema.fields.map(_.name) == Vector("number"))
    assert(hive.stored().getSd.getColsSize == 2 && !hive.parameters()("current-schema").contains("text"))
    assert(liveFiles(append(catalog.table(Id), "x")) == Vector("x"))
  }
}
