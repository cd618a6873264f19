package iceberglite.spark.encryption

/** Finds any of many secrets in texts, in one pass over each text. Secrets have at least two characters below 256. */
final class SecretSearch(secrets: Seq[String]) {
  private val byStart: Map[Int, Seq[String]] = secrets.groupBy(secret => index(secret, 0))
  private val starts = new Array[Boolean](1 << 16)
  byStart.keys.foreach(starts(_) = true)

  private def index(text: String, at: Int): Int = (text.charAt(at) & 0xff) << 8 | text.charAt(at + 1) & 0xff

  def isIn(text: String): Boolean = {
    var at = 0
    var found = false
    while (!found && at < text.length - 1) {
      val start = index(text, at)
      found = starts(start) && byStart(start).exists(text.startsWith(_, at))
      at += 1
    }
    found
  }
}
