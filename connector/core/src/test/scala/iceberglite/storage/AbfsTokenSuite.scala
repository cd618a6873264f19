package iceberglite.storage

import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.azurebfs.AzureBlobFileSystem
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.UnreadableFile

/**
 * A server that answers the requests with which Hadoop's file system for Azure Data Lake Storage reads a file. It
 * refuses requests whose shared access signature is not the valid one.
 */
final private class StubAbfs(content: Array[Byte]) extends AutoCloseable {
  @volatile var valid = ""

  /** The signatures of the accepted requests. */
  val accepted = new ConcurrentLinkedQueue[String]

  private val Signature = ".*[?&]sig=([^&]*).*".r
  private val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
  server.createContext("/", answer(_))
  server.start()

  val endpoint = s"${InetAddress.getLoopbackAddress.getHostAddress}:${server.getAddress.getPort}"

  private def answer(exchange: HttpExchange): Unit = {
    val signature = s"?${exchange.getRequestURI.getRawQuery}" match {
      case Signature(text) => text
      case _ => ""
    }
    if (signature != valid) exchange.sendResponseHeaders(403, -1)
    else {
      accepted.add(signature)
      val headers = exchange.getResponseHeaders
      headers.add("ETag", "\"1\"")
      headers.add("Last-Modified", "Fri, 27 Nov 2026 10:00:00 GMT")
      headers.add("x-ms-resource-type", "file")
      if (exchange.getRequestMethod == "HEAD") {
        headers.add("Content-Length", content.length.toString)
        exchange.sendResponseHeaders(200, -1)
      } else {
        val Array(first, last) = exchange.getRequestHeaders.getFirst("Range").stripPrefix("bytes=").split('-')
        val range = content.slice(first.toInt, last.toInt + 1)
        exchange.sendResponseHeaders(206, range.length.toLong)
        exchange.getResponseBody.write(range)
      }
    }
    exchange.close()
  }

  override def close(): Unit = server.stop(0)
}

/** Returns the signature that the server accepts. It expires when the clock moves, so that it is soon renewed again. */
class AbfsSource extends CredentialSource {
  override def renew(request: String): VendedSettings = VendedSettings(
    Map("adls.sas-token.account" -> s"sv=1&sig=${AbfsSource.server.valid}"),
    Some(System.currentTimeMillis + 1)
  )
}

private object AbfsSource {
  @volatile var server: StubAbfs = _
}

/** Reads a file by Hadoop's file system for Azure Data Lake Storage, with signatures that a catalog vended. */
class AbfsTokenSuite extends AnyFunSuite {
  private val requestBytes = 16384
  private val content = Array.tabulate[Byte](5 * requestBytes)(_.toByte)

  private def io(server: StubAbfs, properties: Map[String, String]): FileIO = {
    val base = new Configuration(false)
    Map(
      "fs.abfs.impl" -> classOf[AzureBlobFileSystem].getName,
      "fs.azure.abfs.endpoint" -> server.endpoint,
      "fs.azure.always.use.https" -> "false",
      "fs.azure.account.hns.enabled" -> "true",
      "fs.azure.io.retry.max.retries" -> "0",
      "fs.azure.read.request.size" -> requestBytes.toString,
      "fs.azure.readaheadqueue.depth" -> "0"
    ).foreach { case (key, value) => base.set(key, value) }
    new HadoopFileIO(base).configured(properties + ("adls.sas-token.account" -> "sv=1&sig=first"))
  }

  private val path = "abfs://container@account.dfs.core.windows.net/db/t/data/f.parquet"

  private def withServer(body: StubAbfs => Unit): Unit = {
    val server = new StubAbfs(content)
    try {
      AbfsSource.server = server
      server.valid = "first"
      body(server)
    } finally server.close()
  }

  test("the requests of Azure's file system have the vended signature, and another signature is refused") {
    withServer { server =>
      assert(io(server, Map.empty).read(path).toSeq == content.toSeq)
      assert(server.accepted.asScala.toSet == Set("first"))
      server.valid = "other"
      val error = intercept[UnreadableFile](io(server, Map.empty).read(path))
      assert(error.file == path && server.accepted.asScala.toSet == Set("first"))
    }
  }

  test("an open file continues with the renewed signature when the first one has expired") {
    withServer { server =>
      val expired = System.currentTimeMillis
      val renewed = io(server, CredentialRenewal.settings("lite.db.t", classOf[AbfsSource], "", expired))
      val in = renewed.open(path)
      try {
        assert(in.readNBytes(requestBytes).toSeq == content.toSeq.take(requestBytes))
        assert(server.accepted.asScala.toSet == Set("first"))
        server.valid = "second"
        val changed = System.currentTimeMillis
        while (System.currentTimeMillis <= changed) Thread.onSpinWait()
        assert(in.readAllBytes().toSeq == content.toSeq.drop(requestBytes))
      } finally in.close()
      assert(server.accepted.asScala.toSet == Set("first", "second"))
    }
  }
}
