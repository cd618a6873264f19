package iceberglite.catalog.jdbc

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.Catalogs
import iceberglite.servers.RefusingPort
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.MemoryFileIO
import iceberglite.table.TestTables.environment

/** Tests a JDBC catalog whose database server is unreachable. */
class UnreachableDatabaseSuite extends AnyFunSuite {

  /** Returns the total time in milliseconds that a catalog waits for a server before it reports an error. */
  private def waitTimeMs(url: String): Long = {
    var total = 0L
    val counting = environment.copy(sleep = ms => total += ms)
    val properties = Map("type" -> "jdbc", "uri" -> url, "warehouse" -> "mem://wh")
    val catalog = Catalogs.open("lite", properties, new MemoryFileIO, counting)
    try intercept[StorageFailed](catalog.listNamespaces(Vector.empty))
    finally catalog.close()
    total
  }

  test("if the first connection is refused, it is retried for ten seconds") {
    RefusingPort.use { port =>
      val ms = waitTimeMs(s"jdbc:postgresql://127.0.0.1:$port/none")
      assert(ms > 9000 && ms <= 10000)
    }
  }

  test("an unknown host name is an error without retries") {
    assert(waitTimeMs("jdbc:postgresql://no-such-host.invalid/none") == 0)
  }
}
