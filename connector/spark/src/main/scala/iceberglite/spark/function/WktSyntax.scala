package iceberglite.spark.function

import iceberglite.spec.geo.Wkb

/**
 * The form of well-known text (WKT) that is checked before JTS parses it. JTS uses a stack frame for each open
 * parenthesis, ignores the text after the first geometry, and skips comments.
 */
private[function] object WktSyntax {
  private val Start = """\s*[A-Za-z]+(\s+([Zz]|[Mm]|[Zz][Mm]))?\s*(\(|[Ee][Mm][Pp][Tt][Yy]\s*$)""".r

  /**
   * The maximum number of open parentheses: one for each of the permitted levels of nested collections, and three for a
   * multipolygon in the innermost collection.
   */
  private val MaxParentheses = Wkb.MaxDepth + 3

  /** Returns the reason why a text is not a geometry; absent if JTS may parse it. */
  def fault(wkt: String): Option[String] =
    if (wkt.indexOf('#') >= 0) Some("It contains the character #")
    else if (Start.findPrefixOf(wkt).isEmpty)
      Some("It must have one type, which is followed by coordinates in parentheses or by EMPTY")
    else if (wkt.indexOf('(') < 0) None
    else faultOfParentheses(wkt)

  private def faultOfParentheses(wkt: String): Option[String] = {
    var depth = 0
    var i = wkt.indexOf('(')
    do {
      if (wkt.charAt(i) == '(') depth += 1 else if (wkt.charAt(i) == ')') depth -= 1
      i += 1
    } while (i < wkt.length && depth > 0 && depth <= MaxParentheses)
    if (depth > MaxParentheses) Some(s"More than $MaxParentheses parentheses contain each other")
    else if (depth == 0 && !wkt.substring(i).trim.isEmpty)
      Some(s"Text follows the geometry: ${wkt.substring(i).trim}")
    else None
  }
}
