package iceberglite.catalog.jdbc

import java.net.{InetAddress, ServerSocket}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.Catalogs
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.MemoryFileIO
import iceberglite.table.TestTables.environment

/** A database server that is not there. */
class JdbcAwaySuite extends AnyFunSuite {

  /** What a catalog waits in all for a server at a URL, in milliseconds. */
  private def waited(url: String): Long = {
    var total = 0L
    val counting = environment.copy(sleep = ms => total += ms)
    val properties = Map("type" -> "jdbc", "uri" -> url, "warehouse" -> "mem://wh")
    val catalog = Catalogs.open("lite", properties, new MemoryFileIO, counting)
    try intercept[StorageFailed](catalog.listNamespaces(Vector.empty))
    finally catalog.close()
    total
  }

  test("a first connection that is refused is tried again for ten seconds") {
    val socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    val port = socket.getLocalPort
    socket.close()
    val ms = waited(s"jdbc:postgresql://127.0.0.1:$port/none")
    assert(ms > 9000 && ms <= 10000)
  }

  test("a host that does not exist is an error at once") {
    assert(waited("jdbc:postgresql://no-such-host.invalid/none") == 0)
  }
}
