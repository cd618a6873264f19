package iceberglite.spec

/** Hides secrets in texts for messages and logs. */
object Redaction {

  /** `scheme://user:password@host`. */
  private val UserInfo = """(://[^/\s:@?#]*):[^/\s@]*@""".r

  /** A parameter of a URL whose name indicates a secret value. */
  private val Parameter =
    """(?i)([?&;][^=&;?\s]*(?:password|passwd|pwd|secret|token|credential|signature|access[._-]?key)[^=&;?\s]*=)[^&;\s]*""".r

  private val Hidden = "***"

  def apply(text: String): String =
    if (text.contains("://") || text.indexOf('=') >= 0) {
      Parameter.replaceAllIn(UserInfo.replaceAllIn(text, s"$$1:$Hidden@"), s"$$1$Hidden")
    } else text
}
