package iceberglite.catalog.rest

import java.net.URI

/**
 * An outgoing request. `toString` omits the headers, because they may contain secrets.
 *
 * @param body the body; the headers contain its content type
 */
final private[catalog] case class HttpCall(
    method: String,
    uri: URI,
    headers: Vector[(String, String)] = Vector.empty,
    body: Option[Array[Byte]] = None
) {

  /** Returns the request with the given header, which replaces existing headers of the same name. */
  def set(name: String, value: String): HttpCall =
    copy(headers = headers.filterNot(_._1.equalsIgnoreCase(name)) :+ (name -> value))

  /**
   * Returns the request with the given header. If the request already has a header of this name, it is returned
   * unchanged.
   */
  def setIfAbsent(name: String, value: String): HttpCall = if (header(name).isDefined) this else set(name, value)

  def header(name: String): Option[String] = headers.collectFirst { case (n, v) if n.equalsIgnoreCase(name) => v }

  override def toString: String = s"$method ${RestSettings.redacted(uri)}"
}

/** A response. @param headers the headers by lower-case name; if a header is repeated, only its first value */
final private[catalog] case class RestResponse(status: Int, headers: Map[String, String], body: Array[Byte]) {
  override def toString: String = s"$status with ${body.length} bytes"
}

/** The result of sending a request. */
sealed private[catalog] trait SendResult

private[catalog] object SendResult {
  final case class Responded(response: RestResponse) extends SendResult

  /** The server has not received the request. @param isTransient whether the reason may be temporary */
  final case class NotSent(reason: String, isTransient: Boolean) extends SendResult

  /** It is unknown whether the server processed the request. */
  final case class NoResponse(reason: String) extends SendResult
}

/** Sends requests to servers, with limits on time and size. */
private[catalog] trait Transport {
  def send(call: HttpCall): SendResult
}
