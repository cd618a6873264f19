package iceberglite.spark.encryption

/** Finds any of many secrets in texts, in one pass over each text. Secrets have at least two characters below 256. */
final class SecretSearch(secrets: Seq[String]) {
  private val byStart: Map[Int, Seq[String]] = secrets.groupBy(secret => index(secret, 0))
  private val starts = new Array[Boolean](1 << 16)
  byStart.keys.foreach(starts(_) = true)

  private def index(text: String, at: Int): Int = (text.charAt(at) & 0xff) << 8 | text.charAt(at + 1) & 0xff

  def isIn(text: String): Boolean = in(text).isDefined

  /** Returns the first secret in a text, with the characters around it. */
  def in(text: String): Option[String] = {
    var at = 0
    var found = Option.empty[String]
    while (found.isEmpty && at < text.length - 1) {
      val start = index(text, at)
      if (starts(start) && byStart(start).exists(text.startsWith(_, at))) {
        found = Some(text.substring(math.max(0, at - 300), math.min(text.length, at + 200)))
      }
      at += 1
    }
    found
  }
}
