package iceberglite.spec

import scala.util.matching.Regex

/** Hides passwords and secret parameters of URLs in a text, so that messages and logs do not contain them. */
object Redaction {

  /** The user and password in a URL such as `scheme://user:password@host`. */
  private val UserInfo = """(://[^/\s:@?#]*):[^/\s@]*@""".r

  /**
   * A parameter of a URL whose name indicates a secret value, or is that of an Azure signature (`sig`). The lookahead
   * rejects a name without a value. Otherwise the regular expression would search for every secret word in such a name
   * by backtracking.
   */
  private val Parameter = ("""(?i)([?&;](?=[^=&;?\s]*+=)(?:sig=|[^=&;?\s]*?""" +
    """(?:password|passwd|pwd|secret|token|credential|signature|access[._-]?key)[^=&;?\s]*+=))[^&;\s]*""").r

  private val Hidden = "***"

  /**
   * The patterns of secrets, with their replacements. The search for each pattern takes time linear in the length of
   * the text.
   */
  private[spec] val secrets: Vector[(Regex, String)] =
    Vector(UserInfo -> s"$$1:$Hidden@", Parameter -> s"$$1$Hidden")

  def apply(text: String): String =
    if (text.contains("://") || text.indexOf('=') >= 0) {
      secrets.foldLeft(text) { case (shown, (secret, replacement)) => secret.replaceAllIn(shown, replacement) }
    } else text
}
