package iceberglite.io

import java.util.Locale

/**
 * The names that columns get inside of files. Files are read by field id, so a name that a format cannot hold is
 * escaped as Apache Iceberg does it: `_x2E` for a dot, `_1` for a leading 1.
 */
private[iceberglite] object FileFieldNames {

  /** By the Avro specification, which allows ASCII only, as some of its implementations enforce. */
  def avro(name: String): String = escaped(name)(c => isAsciiLetter(c), c => isAsciiLetter(c) || isAsciiDigit(c))

  /** Parquet holds any name, but its tools take a dot for a step into a group. */
  def parquet(name: String): String = escaped(name)(c => Character.isLetter(c), c => Character.isLetterOrDigit(c))

  private def escaped(name: String)(first: Char => Boolean, rest: Char => Boolean): String = {
    def kept(c: Char, i: Int): Boolean = c == '_' || (if (i == 0) first(c) else rest(c))
    if (name.indices.forall(i => kept(name.charAt(i), i))) name
    else name.zipWithIndex.map { case (c, i) => if (kept(c, i)) c.toString else escape(c) }.mkString
  }

  private def escape(c: Char): String =
    if (Character.isDigit(c)) s"_$c" else "_x" + Integer.toHexString(c.toInt).toUpperCase(Locale.ROOT)

  private def isAsciiLetter(c: Char): Boolean = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')

  private def isAsciiDigit(c: Char): Boolean = c >= '0' && c <= '9'
}
