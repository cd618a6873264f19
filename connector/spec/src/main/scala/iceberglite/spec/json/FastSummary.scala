package iceberglite.spec.json

import iceberglite.spec.ReadMostlyMap

/**
 * A snapshot's summary that is parsed on first use, because only a few summaries of a long history are read.
 *
 * @param document the metadata file; the summary must be an object of strings, without escapes and without duplicate
 *   keys
 * @param from the position of the summary's opening brace in the document
 * @param size the number of keys
 */
final private[json] class FastSummary(document: Array[Byte], from: Int, override val size: Int)
    extends ReadMostlyMap[String, String] {

  private lazy val parsed: Map[String, String] = {
    val (keys, texts) = (new Array[String](size), new Array[String](size))
    val in = new FastJson(document, from)
    in.expect('{')
    (0 until size).foreach { i =>
      keys(i) = in.text(in.string()).intern()
      in.expect(':')
      texts(i) = in.text(in.string())
      in.skipSeparator('}')
    }
    StringMap(keys, texts)
  }

  override def get(key: String): Option[String] = parsed.get(key)
  override def iterator: Iterator[(String, String)] = parsed.iterator
  override protected def toStandardMap: Map[String, String] = parsed

  /** Makes Java serialize the parsed map instead of the document, which contains the metadata of the whole table. */
  private def writeReplace(): AnyRef = parsed
}
