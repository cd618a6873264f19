package iceberglite.catalog.jdbc

import java.net.URLDecoder
import java.sql.SQLException

import scala.annotation.tailrec
import scala.util.Try

/**
 * The URL of a catalog's database. Its passwords are hidden in messages.
 *
 * @param settings the settings that the user configured for the driver
 */
final private[catalog] class JdbcUrl(val text: String, settings: Map[String, String]) {
  import JdbcUrl._

  val isSqlite: Boolean = text.startsWith("jdbc:sqlite:")

  /**
   * Returns the parts of the URL that contain no password: the URL without its parameters or, if it may contain a user,
   * only its first two parts, such as `jdbc:oracle:***`.
   */
  override def toString: String = {
    val withoutParameters = text.takeWhile(c => c != '?' && c != ';')
    if (text.contains('@') && !isSqlite) text.split(':').take(2).mkString("", ":", ":***") else withoutParameters
  }

  /**
   * Returns the settings that the user configured, and those settings in `defaults` that neither the user nor the URL
   * sets.
   */
  def settings(defaults: Map[String, String]): Map[String, String] =
    defaults.filterNot(d => text.contains(d._1)) ++ settings

  /** Returns a message without secrets. */
  def redacted(message: String): String =
    secrets.foldLeft(message.replace(text, toString))((shown, secret) => shown.replace(secret, Mask))

  /**
   * Returns a failure without secrets. If the message of the failure or of a cause contains a secret, the result has no
   * causes.
   */
  def redacted(failure: SQLException): SQLException =
    if (messages(failure).forall(m => redacted(m) == m)) failure
    else new SQLException(redacted(String.valueOf(failure.getMessage)), failure.getSQLState, failure.getErrorCode)

  private lazy val secrets: Vector[String] = {
    val parameters = text.split("[?;&]").drop(1).toVector.map(_.span(_ != '=')).map { case (k, v) => k -> v.drop(1) }
    val values = (parameters ++ settings).collect { case (key, value) if Secret.findFirstIn(key).isDefined => value }
    (values ++ passwordInAuthority).flatMap(v => Vector(v, decode(v))).distinct.filter(_.nonEmpty).sortBy(-_.length)
  }

  /** Returns the password in `//user:password@host`, and in Oracle's `user/password@host`. */
  private def passwordInAuthority: Option[String] = {
    val user = text.take(text.lastIndexOf('@'))
    val start = if (user.contains("//")) user.substring(user.indexOf("//") + 2) else user.split(":", 4).last
    if (isSqlite || user.isEmpty) None else Some(start.dropWhile(c => c != ':' && c != '/').drop(1))
  }
}

private[catalog] object JdbcUrl {
  private val Mask = "***"
  private val Secret = "(?i)passw|pwd|secret|token|credential|key".r

  private def decode(value: String): String = Try(URLDecoder.decode(value, "UTF-8")).getOrElse(value)

  private def messages(failure: Throwable): Vector[String] = {
    @tailrec
    def collect(cause: Option[Throwable], found: Vector[String]): Vector[String] = cause match {
      case Some(e) if found.size < 20 => collect(Option(e.getCause), found :+ e.toString)
      case _ => found
    }
    collect(Some(failure), Vector.empty)
  }
}
