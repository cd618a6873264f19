package iceberglite.spec

import scala.util.matching.Regex

/** Hides secrets in texts for messages and logs. */
object Redaction {

  /** `scheme://user:password@host`. */
  private val UserInfo = """(://[^/\s:@?#]*):[^/\s@]*@""".r

  /**
   * A parameter of a URL whose name indicates a secret value. The lookahead rejects a name without a value, so that the
   * rest of the pattern, which would otherwise try every word in the name, is matched without backtracking.
   */
  private val Parameter = ("""(?i)([?&;](?=[^=&;?\s]*+=)[^=&;?\s]*?""" +
    """(?:password|passwd|pwd|secret|token|credential|signature|access[._-]?key)[^=&;?\s]*+=)[^&;\s]*""").r

  private val Hidden = "***"

  /** The secrets that are hidden, with their replacements. Each is found in time linear in the length of the text. */
  private[spec] val secrets: Vector[(Regex, String)] =
    Vector(UserInfo -> s"$$1:$Hidden@", Parameter -> s"$$1$Hidden")

  def apply(text: String): String =
    if (text.contains("://") || text.indexOf('=') >= 0) {
      secrets.foldLeft(text) { case (shown, (secret, replacement)) => secret.replaceAllIn(shown, replacement) }
    } else text
}
