package iceberglite.storage

import java.net.{InetAddress, InetSocketAddress, URLDecoder}
import java.security.MessageDigest
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, Executors}

import scala.collection.JavaConverters._

import com.sun.net.httpserver.{HttpExchange, HttpServer}

/** An HTTP server that implements the S3 requests of commits and deletions, and injects scripted faults. */
final class StubS3 extends AutoCloseable {
  import StubS3._

  /**
   * Faults of the next PUT requests with If-None-Match, one per request. Later requests have no fault. Requests that
   * test whether the store obeys If-None-Match never have a fault.
   */
  val faults: ConcurrentLinkedQueue[Fault] = new ConcurrentLinkedQueue[Fault]

  /** Whether the store obeys the If-None-Match header. */
  @volatile var honours: Boolean = true

  /** The key of each delete request, or the body of each bulk delete request. */
  val deleted: ConcurrentLinkedQueue[String] = new ConcurrentLinkedQueue[String]

  /** The response to all bulk delete requests of a store that does not support them; absent if it supports them. */
  @volatile var refusesBulkDeletion: Option[Refuses] = None

  /**
   * For each object whose deletion is refused, the number of bulk delete requests that still refuse it. A request that
   * deletes only this object is refused as long as the number is positive.
   */
  val refusedDeletions: ConcurrentHashMap[String, Int] = new ConcurrentHashMap[String, Int]

  /** Changes the keys in the errors of bulk delete requests; without a key if it returns an empty text. */
  @volatile var reportedKey: String => String = identity

  /** The headers of the last PUT of each key, with names in lower case. */
  val headers: ConcurrentHashMap[String, Map[String, String]] = new ConcurrentHashMap[String, Map[String, String]]

  private val objects = new ConcurrentHashMap[String, Array[Byte]]
  private val pool = Executors.newCachedThreadPool()
  private val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
  server.setExecutor(pool)
  server.createContext(
    "/",
    exchange =>
      try respond(exchange)
      finally exchange.close()
  )
  server.start()

  def endpoint: String = s"http://127.0.0.1:${server.getAddress.getPort}"
  def settings: Map[String, String] = S3Storage.settings(endpoint, "key", "secret")
  def keys: Set[String] = objects.keySet.asScala.toSet

  override def close(): Unit = {
    server.stop(0)
    pool.shutdownNow()
    ()
  }

  /** Responds to a request for `/bucket/key`. */
  private def respond(exchange: HttpExchange): Unit = {
    val key = URLDecoder.decode(exchange.getRequestURI.getRawPath.replace("+", "%2B"), "UTF-8")
    val query = Option(exchange.getRequestURI.getRawQuery).getOrElse("")
    exchange.getRequestMethod match {
      case "GET" if query.contains("list-type=2") => list(exchange, key, query)
      case "HEAD" => withObject(exchange, key)(contents => send(exchange, 200, contents, body = false))
      case "GET" => withObject(exchange, key)(contents => send(exchange, 200, contents))
      case "PUT" => put(exchange, key)
      case "DELETE" if refusedDeletions.getOrDefault(key, 0) > 0 => error(exchange, 403, "AccessDenied")
      case "DELETE" =>
        objects.remove(key)
        deleted.add(key)
        send(exchange, 204, Array.emptyByteArray, body = false)
      case _ =>
        val request = new String(exchange.getRequestBody.readAllBytes(), "UTF-8")
        deleted.add(request)
        refusesBulkDeletion.fold(deleteTogether(exchange, key, request))(r => error(exchange, r.status, r.code))
    }
  }

  /** Stores empty objects. @param keys each begins with a slash and the bucket */
  def add(keys: Iterable[String]): Unit = keys.foreach(objects.put(_, Array.emptyByteArray))

  /** Responds to a request that deletes several objects. */
  private def deleteTogether(exchange: HttpExchange, bucket: String, request: String): Unit = {
    val names = "<Key>(.*?)</Key>".r.findAllMatchIn(request).map(_.group(1)).toVector
    val (refused, accepted) = names.partition { name =>
      refusedDeletions.getOrDefault(pathOf(bucket, name), 0) > 0
    }
    accepted.foreach(name => objects.remove(pathOf(bucket, name)))
    refused.foreach(name => refusedDeletions.computeIfPresent(pathOf(bucket, name), (_, count) => count - 1))
    val errors = refused.map { name =>
      val key = Some(reportedKey(name)).filter(_.nonEmpty).fold("")(reported => s"<Key>$reported</Key>")
      s"<Error>$key<Code>SlowDown</Code><Message>Reduce the rate</Message></Error>"
    }
    send(exchange, 200, errors.mkString("<DeleteResult>", "", "</DeleteResult>").getBytes("UTF-8"))
  }

  private def pathOf(bucket: String, name: String): String = s"${bucket.stripSuffix("/")}/$name"

  private def withObject(exchange: HttpExchange, key: String)(respond: Array[Byte] => Unit): Unit =
    Option(objects.get(key)).fold(error(exchange, 404, "NoSuchKey"))(respond)

  private def put(exchange: HttpExchange, key: String): Unit = {
    val requestBody = exchange.getRequestBody.readAllBytes()
    headers.put(key, exchange.getRequestHeaders.asScala.map { case (k, v) => k.toLowerCase -> v.get(0) }.toMap)
    val contentHash = Option(exchange.getRequestHeaders.getFirst("x-amz-content-sha256"))
    val isChunked = contentHash.exists(_.startsWith("STREAMING-"))
    val contents = if (isChunked) decodeChunks(requestBody) else requestBody
    val exclusive = Option(exchange.getRequestHeaders.getFirst("If-None-Match")).contains("*")
    val fault = if (exclusive && !key.contains(".conditional-put-")) Option(faults.poll()) else None
    fault match {
      case Some(Refuses(status, code)) => error(exchange, status, code)
      case Some(faultAfterPut) =>
        store(key, contents, exclusive)
        if (faultAfterPut == FailsAfter) error(exchange, 500, "InternalError")
      case None if store(key, contents, exclusive) => withObject(exchange, key)(send(exchange, 200, _, body = false))
      case None => error(exchange, 412, "PreconditionFailed")
    }
  }

  /** Decodes a chunked body. Before each chunk is a line with its length in hexadecimal and its signature. */
  private def decodeChunks(requestBody: Array[Byte]): Array[Byte] = {
    val text = new String(requestBody, "ISO-8859-1")
    val line = text.indexOf("\r\n")
    val length = Integer.parseInt(text.substring(0, text.indexOf(';')), 16)
    if (length == 0) Array.emptyByteArray
    else requestBody.slice(line + 2, line + 2 + length) ++ decodeChunks(requestBody.drop(line + 2 + length + 2))
  }

  private def store(key: String, contents: Array[Byte], exclusive: Boolean): Boolean =
    if (exclusive && honours) Option(objects.putIfAbsent(key, contents)).isEmpty
    else {
      objects.put(key, contents)
      true
    }

  private def list(exchange: HttpExchange, bucket: String, query: String): Unit = {
    val args = query.split('&').map(_.split("=", 2)).collect { case Array(k, v) => k -> URLDecoder.decode(v, "UTF-8") }
    val prefix = args.toMap.getOrElse("prefix", "")
    val names = keys.map(_.stripPrefix(bucket.stripSuffix("/") + "/")).filter(_.startsWith(prefix)).toVector.sorted
    val rows = names.map { name =>
      s"<Contents><Key>$name</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>e</ETag><Size>1</Size>" +
        "</Contents>"
    }
    val head = s"<Name>b</Name><Prefix>$prefix</Prefix><KeyCount>${rows.size}</KeyCount><MaxKeys>1000</MaxKeys>"
    val xml = s"<ListBucketResult>$head<IsTruncated>false</IsTruncated>${rows.mkString}</ListBucketResult>"
    send(exchange, 200, xml.getBytes("UTF-8"))
  }

  private def error(exchange: HttpExchange, status: Int, code: String): Unit = send(
    exchange,
    status,
    s"<Error><Code>$code</Code><Message>$code</Message></Error>".getBytes,
    body = exchange.getRequestMethod != "HEAD"
  )

  private def send(exchange: HttpExchange, status: Int, contents: Array[Byte], body: Boolean = true): Unit = {
    if (!body && exchange.getRequestMethod == "HEAD") {
      exchange.getResponseHeaders.add("Content-Length", contents.length.toString)
    }
    exchange.getResponseHeaders.add("ETag", "\"" + hex(contents) + "\"")
    exchange.getResponseHeaders.add("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
    exchange.sendResponseHeaders(status, if (!body || contents.isEmpty) -1L else contents.length.toLong)
    if (body && contents.nonEmpty) exchange.getResponseBody.write(contents)
  }

  private def hex(contents: Array[Byte]): String =
    MessageDigest.getInstance("MD5").digest(contents).map(b => f"$b%02x").mkString
}

object StubS3 {
  sealed trait Fault

  /** The store rejects the request and stores nothing. */
  final case class Refuses(status: Int, code: String) extends Fault

  /** The object is stored, and the response reports an error. */
  case object FailsAfter extends Fault

  /** The object is stored, and the connection closes without a response. */
  case object SilentAfter extends Fault

  def run[A](body: StubS3 => A): A = {
    val store = new StubS3
    try body(store)
    finally store.close()
  }
}
