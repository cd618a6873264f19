package iceberglite.spec

/** Hides what looks like a secret in a text that people or logs will see. */
object Redaction {

  /** `scheme://user:password@host`. */
  private val UserInfo = """(://[^/\s:@?#]*):[^/\s@]*@""".r

  /** A parameter of a URL whose name says that its value is nobody's business. */
  private val Parameter =
    """(?i)([?&;][^=&;?\s]*(?:password|passwd|pwd|secret|token|credential|signature|access[._-]?key)[^=&;?\s]*=)[^&;\s]*""".r

  private val Hidden = "***"

  def apply(text: String): String =
    if (text.contains("://") || text.indexOf('=') >= 0) {
      Parameter.replaceAllIn(UserInfo.replaceAllIn(text, s"$$1:$Hidden@"), s"$$1$Hidden")
    } else text
}
