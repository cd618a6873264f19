package iceberglite.avro

import java.util.Locale

/**
 * Names of columns in files. Characters that a file format or its tools do not support are escaped as in Apache
 * Iceberg: `_x2E` for a dot, `_1` for a leading 1. Readers are not affected, because they identify columns by field id.
 */
private[iceberglite] object FileFieldNames {

  /**
   * Escapes the characters of a name that Avro does not allow. The Avro specification allows only ASCII letters, digits
   * and underscores, and some Avro implementations enforce this.
   */
  def avro(name: String): String = escaped(name)(c => isAsciiLetter(c), c => isAsciiLetter(c) || isAsciiDigit(c))

  /**
   * Escapes a leading digit, and all characters other than letters, digits and underscores, as Apache Iceberg does for
   * Parquet files. The Parquet format allows any name, but Parquet tools interpret a dot as a path separator.
   */
  def parquet(name: String): String = escaped(name)(c => Character.isLetter(c), c => Character.isLetterOrDigit(c))

  private def escaped(name: String)(first: Char => Boolean, rest: Char => Boolean): String = {
    def isAllowed(c: Char, i: Int): Boolean = c == '_' || (if (i == 0) first(c) else rest(c))
    if (name.indices.forall(i => isAllowed(name.charAt(i), i))) name
    else name.zipWithIndex.map { case (c, i) => if (isAllowed(c, i)) c.toString else escape(c) }.mkString
  }

  private def escape(c: Char): String =
    if (Character.isDigit(c)) s"_$c" else "_x" + Integer.toHexString(c.toInt).toUpperCase(Locale.ROOT)

  private def isAsciiLetter(c: Char): Boolean = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')

  private def isAsciiDigit(c: Char): Boolean = c >= '0' && c <= '9'
}
