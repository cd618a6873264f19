package iceberglite.catalog.jdbc

import java.sql.Connection
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.annotation.tailrec
import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.catalog.{Catalog, Catalogs}
import iceberglite.servers.{JdbcDatabase, Servers}
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend
import iceberglite.table.{Environment, MemoryFileIO, Table, TableCreation}

/** Tests a JDBC catalog on a real server that closes or refuses connections, locks rows and cancels statements. */
class PostgresSuite extends AnyFunSuite {
  private val manyRetries = Map("commit.retry.num-retries" -> "1000", "commit.retry.min-wait-ms" -> "1")

  /** @param client the `ApplicationName` of the catalog's connections, by which the tests find them on the server */
  final private class Fixture(database: JdbcDatabase, client: String) {
    val files = new MemoryFileIO

    def open(
        options: String = "",
        environment: Environment = environment,
        properties: Map[String, String] = Map.empty
    ): Catalog = {
      val parameters = s"ApplicationName=$client" + (if (options.isEmpty) "" else s"&options=$options")
      val url = database.url + (if (database.url.contains('?')) "&" else "?") + parameters
      val all = TestDatabase.properties(database.copy(url = url)) ++ properties + ("warehouse" -> "mem://wh")
      Catalogs.open("lite", all, files, environment)
    }

    private def number(connection: Connection, sql: String): Int = {
      val results = connection.createStatement().executeQuery(sql)
      results.next()
      results.getInt(1)
    }

    private val activity = s"FROM pg_stat_activity WHERE application_name = '$client'"

    def connections(): Int = TestDatabase.run(database)(number(_, s"SELECT count(*) $activity"))

    /** Terminates the catalog's connections. @return the number of terminated connections */
    def terminate(): Int = TestDatabase.run(database)(terminate)

    private def terminate(connection: Connection): Int =
      number(connection, s"SELECT count(pg_terminate_backend(pid)) $activity")

    /** Runs `body` with a lock on the table's row in `iceberg_tables`, for which statements of the catalog wait. */
    def whileLocked[A](body: Locked => A): A = TestDatabase.run(database) { connection =>
      connection.setAutoCommit(false)
      connection.createStatement().executeQuery("SELECT * FROM iceberg_tables FOR UPDATE").next()
      body(new Locked(connection))
    }

    final class Locked(connection: Connection) {
      def release(): Unit = connection.commit()

      /** Waits until a statement of the catalog waits for the lock, and terminates the catalog's connections. */
      @tailrec
      def terminateWaiting(): Unit = TestDatabase.run(database) { other =>
        val waiting = number(other, s"SELECT count(*) $activity AND wait_event_type = 'Lock'") > 0
        if (waiting) terminate(other) else Thread.sleep(5)
        waiting
      } match {
        case true => ()
        case false => terminateWaiting()
      }
    }
  }

  private def withServer(name: String)(body: Fixture => Unit): Unit =
    test(name)(TestDatabase.Postgres.withNew(d => body(new Fixture(d, s"test_${name.hashCode}"))))

  private def append(table: Table, path: String): Table =
    table.transaction(Map.empty, environment).add(new FastAppend(Vector(file(path)))).commit()

  private def inParallel(bodies: Seq[() => Any]): Unit = {
    val pool = Executors.newFixedThreadPool(bodies.size)
    try {
      val tasks = bodies.map(body => new Callable[Any] { override def call(): Any = body() })
      pool.invokeAll(tasks.asJava, 2, TimeUnit.MINUTES).asScala.foreach(_.get)
    } finally pool.shutdownNow()
  }

  /** Runs `body` while `writing` runs in another thread. */
  private def during(writing: => Any)(body: => Unit): Unit = inParallel(Seq(() => writing, () => body))

  withServer("after the server closed idle connections, the catalog opens new connections") { f =>
    val catalog = f.open()
    val table = catalog.create(Id, unpartitioned())
    assert(f.terminate() > 0)
    assert(liveFiles(catalog.table(Id)).isEmpty)
    f.terminate()
    val second = append(table, "x")
    f.terminate()
    catalog.createNamespace(Vector("other"), Map("a" -> "b"))
    f.terminate()
    catalog.rename(Id, Id.copy(name = "u"))
    assert(f.files.paths == reachable(f.files, catalog.table(Id.copy(name = "u")).version))
    f.terminate()
    assert(catalog.drop(Id.copy(name = "u"), purge = false) && second.metadata.snapshots.size == 1)
  }

  withServer("a commit whose connection the server closes succeeds and is applied only once") { f =>
    val catalog = f.open()
    val table = catalog.create(Id, unpartitioned())
    f.whileLocked { row =>
      during(append(table, "x")) {
        row.terminateWaiting()
        row.release()
      }
    }
    val committed = catalog.table(Id)
    assert(liveFiles(committed) == Vector("x") && committed.metadata.snapshots.size == 1)
    assert(f.files.paths == reachable(f.files, committed.version))
  }

  withServer("if a row stays locked for longer than lock_timeout, the commit is retried") { f =>
    val table = f.open().create(Id, unpartitioned())
    f.whileLocked { row =>
      val waiting = environment.copy(sleep = _ => row.release())
      val catalog = f.open(options = "-c%20lock_timeout=50")
      val committed = catalog.table(Id).transaction(Map.empty, waiting).add(new FastAppend(Vector(file("x")))).commit()
      assert(liveFiles(committed) == Vector("x") && committed.metadataLocation.contains("/00001-"))
      assert(f.files.paths == reachable(f.files, committed.version))
    }
    assert(liveFiles(table.refresh()) == Vector("x"))
  }

  withServer("a statement that the server cancels is a definite failure that leaves no files") { f =>
    f.open().create(Id, unpartitioned())
    val before = f.files.paths
    f.whileLocked { row =>
      val catalog = f.open(options = "-c%20statement_timeout=3000")
      val error = intercept[StorageFailed](append(catalog.table(Id), "x"))
      assert(error.getMessage.contains("Cannot commit lite.db.t") && error.getMessage.contains("statement timeout"))
      assert(f.files.paths == before)
      row.release()
      assert(liveFiles(append(catalog.table(Id), "y")) == Vector("y"))
    }
  }

  withServer("6 concurrent writers lose no rows if the server rejects serialization conflicts") { f =>
    val options = "-c%20default_transaction_isolation=serializable"
    val first = f.open(options)
    first.create(Id, TableCreation(schema, properties = manyRetries))
    val catalogs = Seq.fill(6)(f.open(options, Environment.system))
    inParallel(catalogs.zipWithIndex.map { case (catalog, writer) =>
      () => (1 to 8).foldLeft(catalog.table(Id))((table, i) => append(table, s"w$writer-$i"))
    })
    val table = first.table(Id)
    assert(liveFiles(table) == (for (w <- 0 until 6; i <- 1 to 8) yield s"w$w-$i").sorted.toVector)
    assert(f.files.paths == reachable(f.files, table.version))
  }

  withServer("a catalog opens at most as many connections as the property clients allows") { f =>
    val catalog = f.open(properties = Map("clients" -> "3"))
    catalog.create(Id, TableCreation(schema, properties = manyRetries))
    inParallel((1 to 8).map(w => () => (1 to 4).foldLeft(catalog.table(Id))((table, i) => append(table, s"w$w-$i"))))
    assert(liveFiles(catalog.table(Id)).size == 32)
    assert((1 to 3).contains(f.connections()))
    catalog.close()
  }

  test("a commit waits until a server that refuses connections during the commit accepts them again") {
    val (database, other) = (Servers.postgres.newDatabase(), Servers.postgres.newDatabase())
    val name = database.url.split('/').last
    def accept(connections: Boolean): Unit =
      TestDatabase.update(other)(s"ALTER DATABASE $name ALLOW_CONNECTIONS $connections")
    val f = new Fixture(database, "restarted")
    @volatile var waits = 0
    val waiting = environment.copy(sleep = _ => {
      waits += 1
      if (waits == 3) accept(connections = true)
    })
    val catalog = f.open(environment = waiting)
    val table = catalog.create(Id, unpartitioned())
    f.whileLocked { row =>
      during(append(table, "x")) {
        accept(connections = false)
        TestDatabase.run(other) { connection =>
          val ofCatalog = s"FROM pg_stat_activity WHERE application_name = 'restarted'"
          while ({
            val waiting = s"SELECT count(*) $ofCatalog AND wait_event_type = 'Lock'"
            val results = connection.createStatement().executeQuery(waiting)
            results.next() && results.getInt(1) == 0
          }) Thread.sleep(5)
          connection.createStatement().executeQuery(s"SELECT pg_terminate_backend(pid) $ofCatalog").next()
        }
        row.release()
      }
    }
    assert(waits >= 3 && liveFiles(catalog.table(Id)) == Vector("x"))
    assert(f.files.paths == reachable(f.files, catalog.table(Id).version))
  }
}
