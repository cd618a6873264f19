package iceberglite.spec

/** Suggests a known word for a misspelled word. */
object Spelling {

  /**
   * Returns the known word that is most similar to `word`. The two words differ in at most two letters, or in one
   * letter if either word is short.
   *
   * @return absent if `word` is a known word, or if no known word is similar
   */
  def closest(word: String, known: Iterable[String]): Option[String] = {
    val lower = word.toLowerCase
    val similar = known.map(k => k -> distance(lower, k.toLowerCase)).filter { case (k, d) => d <= tolerance(k, word) }
    if (known.exists(_ == word) || similar.isEmpty) None else Some(similar.minBy(_.swap)._1)
  }

  /**
   * Returns the maximum number of letters in which two similar words differ. The number is lower for short words,
   * because two changes in a word of four letters usually result in a different word.
   */
  private def tolerance(a: String, b: String): Int = if (math.min(a.length, b.length) <= 4) 1 else 2

  /**
   * Returns the edit distance: the number of letters that must be inserted, deleted, changed, or swapped with a
   * neighbor.
   */
  private def distance(a: String, b: String): Int = {
    val d = Array.tabulate(a.length + 1, b.length + 1)((i, j) => if (i == 0) j else if (j == 0) i else 0)
    for (i <- 1 to a.length; j <- 1 to b.length) {
      val change = if (a(i - 1) == b(j - 1)) 0 else 1
      d(i)(j) = math.min(math.min(d(i - 1)(j), d(i)(j - 1)) + 1, d(i - 1)(j - 1) + change)
      val swapped = i > 1 && j > 1 && a(i - 1) == b(j - 2) && a(i - 2) == b(j - 1)
      if (swapped) d(i)(j) = math.min(d(i)(j), d(i - 2)(j - 2) + 1)
    }
    d(a.length)(b.length)
  }
}
