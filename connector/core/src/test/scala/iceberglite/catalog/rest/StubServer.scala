package iceberglite.catalog.rest

import java.net.{InetAddress, InetSocketAddress}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, Executors}

import scala.collection.JavaConverters._

import com.sun.net.httpserver.{HttpExchange, HttpServer}

import iceberglite.catalog.Catalogs
import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.FileIO
import iceberglite.table.{Environment, MemoryFileIO, TestTables}

/** An HTTP server that sends scripted responses and records the requests. */
final class StubServer extends AutoCloseable {
  import StubServer._

  private val scripts = new ConcurrentHashMap[String, ConcurrentLinkedQueue[Reply]]
  private val received = new ConcurrentLinkedQueue[Request]
  private val waitTimes = new ConcurrentLinkedQueue[Long]
  private val threads = Executors.newCachedThreadPool()
  @volatile var nowMs: Long = 1700000000000L

  private val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
  server.setExecutor(threads)
  server.createContext("/", exchange => serve(exchange))
  server.start()
  on("GET /v1/config")(json("""{"defaults":{},"overrides":{}}"""))

  val uri: String = s"http://127.0.0.1:${server.getAddress.getPort}"

  /**
   * Sets the responses to a request, in order. The last response is repeated.
   *
   * @param request a method, or a method and a path with or without its query, for example `GET /v1/config`
   */
  def on(request: String)(replies: Reply*): StubServer = {
    scripts.put(request, new ConcurrentLinkedQueue(replies.asJava))
    this
  }

  def requests: Vector[Request] = received.asScala.toVector

  /** Method, path and query of all requests, except requests for the configuration. */
  def lines: Vector[String] = requests.map(_.line).filterNot(_.startsWith("GET /v1/config"))

  /** How long the catalogs would have waited, in milliseconds, in the order of the waits. */
  def waits: Vector[Long] = waitTimes.asScala.toVector

  /** An environment whose clock is [[nowMs]]. It records wait times in [[waits]] instead of waiting. */
  val environment: Environment = TestTables.environment.copy(
    nowMs = () => nowMs,
    randomFraction = () => 0.0,
    sleep = ms => {
      waitTimes.add(ms)
      ()
    }
  )

  def catalog(properties: (String, String)*): RestCatalog = on(new MemoryFileIO, properties: _*)

  /** Returns a catalog that sends no metrics, unless the properties enable them. */
  def on(io: FileIO, properties: (String, String)*): RestCatalog =
    Catalogs.open("lite", StubServer.defaults ++ Map("uri" -> uri) ++ properties, io, environment) match {
      case rest: RestCatalog => rest
      case other => throw new IllegalStateException(other.toString)
    }

  private def serve(exchange: HttpExchange): Unit = {
    val body = new String(exchange.getRequestBody.readAllBytes(), UTF_8)
    val target = exchange.getRequestURI.toString
    val headers =
      exchange.getRequestHeaders.asScala.map { case (k, v) => k.toLowerCase -> v.asScala.mkString(",") }.toMap
    val request = Request(exchange.getRequestMethod, target, headers, body)
    received.add(request)
    val keys = Seq(request.line, s"${request.method} ${target.takeWhile(_ != '?')}", request.method)
    val script = keys.flatMap(k => Option(scripts.get(k))).headOption
    val reply = script.map(queue => queue.synchronized(if (queue.size > 1) queue.poll() else queue.peek()))
    try reply.getOrElse(refuse(404, "NoSuchPageException", s"no script for ${request.line}")).send(exchange)
    finally exchange.close()
  }

  override def close(): Unit = {
    server.stop(0)
    threads.shutdownNow()
    ()
  }
}

object StubServer {
  private val defaults = Map("type" -> "rest", "rest-metrics-reporting-enabled" -> "false")

  final case class Request(method: String, target: String, headers: Map[String, String], body: String) {
    def line: String = s"$method $target"
  }

  trait Reply { self =>
    def send(exchange: HttpExchange): Unit

    def withHeader(header: (String, String)): Reply = new Reply {
      override def send(exchange: HttpExchange): Unit = {
        exchange.getResponseHeaders.set(header._1, header._2)
        self.send(exchange)
      }
    }
  }

  def bytes(status: Int, body: Array[Byte]): Reply = new Reply {
    override def send(exchange: HttpExchange): Unit = {
      val none = exchange.getRequestMethod == "HEAD" || body.isEmpty
      exchange.sendResponseHeaders(status, if (none) -1 else body.length.toLong)
      if (!none) exchange.getResponseBody.write(body)
    }
  }

  def answer(status: Int, body: String = ""): Reply = bytes(status, body.getBytes(UTF_8))
  def json(body: String): Reply = answer(200, body)

  def refuse(status: Int, kind: String, message: String): Reply =
    answer(status, s"""{"error":{"message":"$message","type":"$kind","code":$status}}""")

  /** A reply that closes the connection without a response. */
  val broken: Reply = new Reply {
    override def send(exchange: HttpExchange): Unit = throw new java.io.IOException("broken by the test")
  }

  def table(metadata: TableMetadata, location: String, more: String = ""): Reply = json(
    s"""{"metadata-location":"$location","metadata":${new String(TableMetadataJson.write(metadata), UTF_8)}$more}"""
  )

  def withStub[A](body: StubServer => A): A = {
    val stub = new StubServer
    try body(stub)
    finally stub.close()
  }
}
