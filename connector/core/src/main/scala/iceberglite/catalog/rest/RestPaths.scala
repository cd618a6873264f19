package iceberglite.catalog.rest

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.TableIdentifier

/**
 * The paths of requests to a server. All special characters of names are percent-encoded, so that a name cannot add
 * segments to the path or change a header.
 *
 * @param prefix the prefix of all paths, from the server's configuration. Its percent-encoded characters are kept, so a
 *   server that needs encoded characters sends them encoded, such as `main%7Csales`
 * @param separator the separator of namespace levels, percent-encoded
 */
final private[catalog] class RestPaths(prefix: Option[String], separator: String) {
  import RestPaths._

  private val decodedSeparator = Try(URLDecoder.decode(separator.replace("+", "%2B"), "UTF-8")).toOption
    .filter(decoded => decoded.nonEmpty && separator.matches(EncodedText))
    .getOrElse(throw InvalidArgument(RestProperty.NamespaceSeparator.key, separator, "It must be percent-encoded text"))

  private val root =
    "/v1" + prefix.map(_.split('/').filter(_.nonEmpty).map(p => s"/${prefixSegment(p)}").mkString).getOrElse("")

  def namespaces: String = s"$root/namespaces"
  def namespace(levels: Vector[String]): String = s"$namespaces/${encode(levels)}"
  def properties(levels: Vector[String]): String = s"${namespace(levels)}/properties"
  def tables(levels: Vector[String]): String = s"${namespace(levels)}/tables"
  def table(id: TableIdentifier): String = s"${tables(id.namespace)}/${name(id)}"
  def register(levels: Vector[String]): String = s"${namespace(levels)}/register"
  def registerView(levels: Vector[String]): String = s"${namespace(levels)}/register-view"
  def views(levels: Vector[String]): String = s"${namespace(levels)}/views"
  def view(id: TableIdentifier): String = s"${views(id.namespace)}/${name(id)}"
  def renameTable: String = s"$root/tables/rename"
  def renameView: String = s"$root/views/rename"
  def transaction: String = s"$root/transactions/commit"

  private def name(id: TableIdentifier): String = {
    if (id.name.isEmpty) throw InvalidArgument("table name", id.toString, "The name must not be empty")
    segment(id.name)
  }

  /** Returns the levels of a namespace as a single path segment. */
  private def encode(levels: Vector[String]): String = checkLevels(levels).map(segment).mkString(separator)

  /** Returns the levels of a namespace as the value of a query parameter. The caller must percent-encode the value. */
  def parameter(levels: Vector[String]): String = checkLevels(levels).mkString(decodedSeparator)

  private def checkLevels(levels: Vector[String]): Vector[String] = {
    if (levels.isEmpty) throw InvalidArgument("namespace", "", "A table must be in a namespace; specify its namespace")
    levels.foreach { level =>
      if (level.isEmpty) throw InvalidArgument("namespace", levels.mkString("."), "One of its levels is empty")
      if (level.contains(decodedSeparator)) {
        throw InvalidArgument(
          "namespace",
          levels.mkString("."),
          s"The level $level contains the namespace separator of this server; choose another name"
        )
      }
    }
    levels
  }
}

private[catalog] object RestPaths {
  private val EncodedText = "(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9._~-])+"
  private val NotInPath = "%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~!$&'()*+,;=:@%-]+".r
  private val Unreserved = (('A' to 'Z') ++ ('a' to 'z') ++ ('0' to '9') ++ "-._~").map(_.toByte).toSet

  /** Returns a path segment. The segments `.` and `..` are also encoded, because they would change the path. */
  def segment(text: String): String = if (text == "." || text == "..") text.replace(".", "%2E") else percentEncode(text)

  /**
   * Returns a segment of the prefix. Existing percent-encoded characters and all characters that a path segment may
   * contain (RFC 3986, section 3.3: `pchar`) are kept. Other characters are percent-encoded.
   */
  private def prefixSegment(text: String): String =
    if (text == "." || text == "..") segment(text)
    else NotInPath.replaceAllIn(text, found => percentEncode(found.matched))

  def percentEncode(text: String): String =
    text.getBytes(UTF_8).map(b => if (Unreserved(b)) b.toChar.toString else "%%%02X".format(b & 0xff)).mkString

  /** Returns the query of a URI, such as `?a=b&c=d`; empty if there are no parameters. */
  def query(parameters: Vector[(String, String)]): String =
    if (parameters.isEmpty) "" else s"?${formEncode(parameters)}"

  /** Returns the parameters as the body of a form. */
  def formEncode(parameters: Vector[(String, String)]): String =
    parameters.map { case (key, value) => s"${percentEncode(key)}=${percentEncode(value)}" }.mkString("&")
}
