package iceberglite.spec.metadata

/**
 * The bytes of a JSON value within a document, from `from` (inclusive) to `until` (exclusive). The array is shared and
 * must not be modified.
 */
final private[iceberglite] case class JsonSlice(bytes: Array[Byte], from: Int, until: Int)

/** The JSON form of an immutable value, cached after it has been read or written. */
final private[iceberglite] class CachedJson {
  @volatile private var cached: Option[JsonSlice] = None

  def put(json: JsonSlice): Unit = cached = Some(json)

  /** Returns the cached JSON, or renders and caches it. Two threads may both render it, with the same result. */
  def getOrRender(render: => Array[Byte]): JsonSlice = cached.getOrElse {
    val bytes = render
    val json = JsonSlice(bytes, 0, bytes.length)
    put(json)
    json
  }
}
