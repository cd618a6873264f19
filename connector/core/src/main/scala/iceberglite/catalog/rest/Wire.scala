package iceberglite.catalog.rest

import java.net.URI

/**
 * A request as it goes out. Its headers may hold secrets, so that it shows none.
 *
 * @param body with its content type among the headers
 */
final private[catalog] case class Call(
    method: String,
    uri: URI,
    headers: Vector[(String, String)] = Vector.empty,
    body: Option[Array[Byte]] = None
) {

  /** With a header in the place of those of the same name. */
  def set(name: String, value: String): Call =
    copy(headers = headers.filterNot(_._1.equalsIgnoreCase(name)) :+ (name -> value))

  /** With a header, unless one of the name is there. */
  def default(name: String, value: String): Call = if (header(name).isDefined) this else set(name, value)

  def header(name: String): Option[String] = headers.collectFirst { case (n, v) if n.equalsIgnoreCase(name) => v }

  override def toString: String = s"$method ${RestSettings.shown(uri)}"
}

/** @param headers by their names in lower case; of repeated ones the first */
final private[catalog] case class Answer(status: Int, headers: Map[String, String], body: Array[Byte]) {
  override def toString: String = s"$status with ${body.length} bytes"
}

/** What became of a request. */
sealed private[catalog] trait Delivery

private[catalog] object Delivery {
  final case class Answered(answer: Answer) extends Delivery

  /** The server has not seen it. @param passing whether it may be different soon */
  final case class NotSent(reason: String, passing: Boolean) extends Delivery

  /** Nobody knows what the server did with it. */
  final case class Lost(reason: String) extends Delivery
}

/** Takes requests to servers, each within its time and bounds. */
private[catalog] trait Wire {
  def send(call: Call): Delivery
}
