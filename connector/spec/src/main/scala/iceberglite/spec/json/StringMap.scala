package iceberglite.spec.json

import iceberglite.spec.ReadMostlyMap

/**
 * A small map of strings in the order of the JSON document, such as the summary of a snapshot. The map is optimized for
 * fast construction, because only a few summaries of a long history are read.
 */
final private[json] class StringMap(keys: Array[String], texts: Array[String])
    extends ReadMostlyMap[String, String] {

  override def size: Int = keys.length

  override def get(key: String): Option[String] = {
    var i = 0
    while (i < keys.length && keys(i) != key) i += 1
    if (i < keys.length) Some(texts(i)) else None
  }

  override def iterator: Iterator[(String, String)] = keys.indices.iterator.map(i => keys(i) -> texts(i))
}

private[json] object StringMap {

  /** The maximum size for which a linear search is faster than a hash lookup. */
  private val MaxLinearSize = 24

  /**
   * Creates a map.
   *
   * @param keys the keys, which must be distinct
   * @param texts the values, in the order of the keys
   */
  def apply(keys: Array[String], texts: Array[String]): Map[String, String] =
    if (keys.isEmpty) Map.empty
    else if (keys.length <= MaxLinearSize) new StringMap(keys, texts)
    else keys.iterator.zip(texts.iterator).toMap
}
