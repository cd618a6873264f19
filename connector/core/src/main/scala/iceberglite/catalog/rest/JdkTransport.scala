package iceberglite.catalog.rest

import java.io.{ByteArrayInputStream, IOException}
import java.net.http.HttpClient.{Redirect, Version}
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.{HttpClient, HttpConnectTimeoutException, HttpRequest, HttpResponse}
import java.net.{ConnectException, InetSocketAddress, ProxySelector}
import java.nio.channels.UnresolvedAddressException
import java.time.Duration
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}
import java.util.zip.GZIPInputStream
import javax.net.ssl.{SSLHandshakeException, SSLPeerUnverifiedException}

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import iceberglite.catalog.rest.SendResult.{NoResponse, NotSent, Responded}
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Sends requests with the HTTP client of the JDK. Redirects are not followed, because credentials must be sent only to
 * the configured server. The duration of requests and the size of responses are limited.
 *
 * @param maxBytes maximum size of a response body, before and after decompression, in bytes
 */
final private[catalog] class JdkTransport(settings: RestSettings, maxBytes: Int = JdkTransport.MaxBytes)
    extends Transport {
  private val connectMs = settings.number(RestProperty.ConnectTimeoutMs, 1)
  private val timeoutMs = settings.number(RestProperty.TimeoutMs, 1)

  private lazy val client: HttpClient = {
    val builder = HttpClient.newBuilder.version(Version.HTTP_1_1).followRedirects(Redirect.NEVER)
      .connectTimeout(Duration.ofMillis(connectMs))
    settings.text(RestProperty.ProxyHost).foreach { host =>
      val port = settings.optionalNumber(RestProperty.ProxyPort, 1).filter(_ < 65536).getOrElse(throw InvalidArgument(
        s"${RestProperty.ProxyPort.key} of catalog ${settings.catalog}",
        "(not set)",
        s"The port is required, because ${RestProperty.ProxyHost.key} is set"
      ))
      builder.proxy(ProxySelector.of(new InetSocketAddress(host, port.toInt)))
    }
    builder.build()
  }

  override def send(call: HttpCall): SendResult = {
    val body = new BoundedBody(maxBytes)
    val future =
      client.sendAsync(request(call.setIfAbsent("Accept-Encoding", "gzip")), (_: HttpResponse.ResponseInfo) => body)
    try Responded(decompress(future.get(timeoutMs, TimeUnit.MILLISECONDS)))
    catch {
      case e: ExecutionException => toSendResult(Option(e.getCause).getOrElse(e))
      case _: TimeoutException =>
        abandon(future, body)
        NoResponse(s"there was no response within $timeoutMs ms (${RestProperty.TimeoutMs.key})")
      case _: InterruptedException =>
        abandon(future, body)
        Thread.currentThread.interrupt()
        NoResponse("the thread was interrupted")
      case e: IOException => NoResponse(reason(e))
    }
  }

  private def abandon(future: CompletableFuture[_], body: BoundedBody): Unit = {
    future.cancel(true)
    body.cancel()
  }

  private def request(call: HttpCall): HttpRequest = {
    val builder = HttpRequest.newBuilder(call.uri)
    call.headers.foreach { case (name, value) =>
      try builder.setHeader(name, value)
      catch {
        // The JDK's exception is not used as the cause, because its message contains the value of the header, which may
        // be a secret.
        case _: IllegalArgumentException => throw InvalidArgument(
            s"header $name of catalog ${settings.catalog}".replaceAll("\\p{Cntrl}", "?"),
            "(not shown)",
            "HTTP does not allow a header with this name or value"
          )
      }
    }
    builder.method(call.method, call.body.fold(BodyPublishers.noBody())(BodyPublishers.ofByteArray)).build()
  }

  private def decompress(response: HttpResponse[Array[Byte]]): RestResponse = {
    val headers = response.headers.map.asScala.collect {
      case (name, values) if !values.isEmpty =>
        name.toLowerCase -> values.get(0)
    }.toMap
    val isCompressed = headers.get("content-encoding").exists(_.equalsIgnoreCase("gzip")) && response.body.nonEmpty
    RestResponse(response.statusCode, headers, if (isCompressed) gunzip(response.body) else response.body)
  }

  private def gunzip(body: Array[Byte]): Array[Byte] = {
    val plain = new GZIPInputStream(new ByteArrayInputStream(body)).readNBytes(maxBytes + 1)
    if (plain.length > maxBytes) throw BoundedBody.tooLong(maxBytes)
    plain
  }

  @tailrec
  private def toSendResult(e: Throwable): SendResult = e match {
    case wrapped: java.util.concurrent.CompletionException if Option(wrapped.getCause).isDefined =>
      toSendResult(wrapped.getCause)
    case _: HttpConnectTimeoutException => NotSent(s"no connection within $connectMs ms", isTransient = true)
    case c: ConnectException if isUnresolved(c) => NotSent("its host name is unknown", isTransient = false)
    case c: ConnectException => NotSent(s"no connection (${reason(c)})", isTransient = true)
    // Later errors of a secure connection can occur after the server has processed the request.
    case s @ (_: SSLHandshakeException | _: SSLPeerUnverifiedException) =>
      NotSent(s"no secure connection (${reason(s)})", isTransient = false)
    case NonFatal(other) => NoResponse(reason(other))
    case fatal => throw fatal
  }

  private def isUnresolved(e: Throwable): Boolean =
    Iterator.iterate(Option(e))(_.flatMap(c => Option(c.getCause))).takeWhile(_.isDefined).flatten
      .exists(_.isInstanceOf[UnresolvedAddressException])

  private def reason(e: Throwable): String = Option(e.getMessage).getOrElse(e.getClass.getSimpleName)
}

private[catalog] object JdkTransport {

  /** The default maximum size of a response body. It is far larger than the metadata of any usable table. */
  val MaxBytes: Int = 256 << 20
}
