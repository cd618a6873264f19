package iceberglite.catalog.rest

import java.net.URI

/**
 * An outgoing request. Its text form omits headers, which may contain secrets.
 *
 * @param body the body; the headers contain its content type
 */
final private[catalog] case class Call(
    method: String,
    uri: URI,
    headers: Vector[(String, String)] = Vector.empty,
    body: Option[Array[Byte]] = None
) {

  /** Returns the request with a header that replaces existing headers of the same name. */
  def set(name: String, value: String): Call =
    copy(headers = headers.filterNot(_._1.equalsIgnoreCase(name)) :+ (name -> value))

  /** Returns the request with a header, unless the request already has a header of this name. */
  def default(name: String, value: String): Call = if (header(name).isDefined) this else set(name, value)

  def header(name: String): Option[String] = headers.collectFirst { case (n, v) if n.equalsIgnoreCase(name) => v }

  override def toString: String = s"$method ${RestSettings.shown(uri)}"
}

/** A response. @param headers the headers by lower-case name; of repeated headers, only the first */
final private[catalog] case class Answer(status: Int, headers: Map[String, String], body: Array[Byte]) {
  override def toString: String = s"$status with ${body.length} bytes"
}

/** The result of sending a request. */
sealed private[catalog] trait Delivery

private[catalog] object Delivery {
  final case class Answered(answer: Answer) extends Delivery

  /** The server has not received the request. @param passing whether the reason may be temporary */
  final case class NotSent(reason: String, passing: Boolean) extends Delivery

  /** It is unknown whether the server processed the request. */
  final case class Lost(reason: String) extends Delivery
}

/** Sends requests to servers, with limits on time and size. */
private[catalog] trait Wire {
  def send(call: Call): Delivery
}
